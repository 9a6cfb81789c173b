// What is known without a scan: primary keys, value indexes, inverse indexes of links. Each access
// gives candidates; the other conditions test those.

extension Planner {
    /// How a test can be answered without a scan.
    func access(_ index: Int) throws(RealmError) -> Access? {
        let node = program.nodes[index]
        guard !node.negated else { return nil }
        switch node.test {
        case .words(let search): return .words(search)
        case .reach: return .reach
        // Their columns are of collections, or of another class.
        case .elements, .memberCount, .expression, .and, .or: return nil
        case .path(let linked): return linked.links.count == 1 ? try links(index) : nil
        case .object where node.columnKind == .link: return try links(index)
        case .intRange(let range) where node.columnKind == .link:
            return range.isSingle ? try links(index) : nil
        default: break
        }
        guard node.column >= 0 else { return nil }
        if table.isObjectKey(Int(node.column)) { return keys(node) }
        guard let reader = table.index(column: Int(node.column)) else {
            return nil
        }
        var isExact = true
        guard var ranges = try ranges(node, reader, &isExact) else { return nil }
        if node.matchesNull { ranges.append(IndexReader.Range(equal: [0])) }
        return .ranges(reader, ranges, isExact: isExact)
    }

    /// The objects whose keys a test names.
    private func keys(_ node: FilterNode) -> Access? {
        switch node.test {
        case .intRange(let range) where !node.matchesNull && range.isSingle: .keys([range.low])
        case .intSet(let set) where !node.matchesNull: .keys(program.members(set).map { $0.0 })
        default: nil
        }
    }

    /// Inverse indexes help when few objects are meant; many are found faster by a scan.
    private func links(_ index: Int) throws(RealmError) -> Access? {
        if program.nodes[index].matchesNull { return nil }
        let targets = try linkTargets(index)
        return targets.count <= targetsMax ? .links(targets) : nil
    }

    /// How many candidates an access of a test has; nil when more than `limit`.
    func count(
        _ access: Access, of test: Int, limit: Int = .max
    ) throws(RealmError) -> Int? {
        var count = 0
        switch access {
        case .keys(let keys): count = keys.count
        case .ranges(let reader, let ranges, _):
            for range in ranges {
                count += try reader.count(range)
                if count > limit { return nil }
            }
        case .words(let search): count = try wordCountMax(program.nodes[test], search)
        case .reach: return try reachCount(test, limit: limit)
        case .links(let targets):
            return try linkCount(targets, Int(program.nodes[test].column), limit: limit)
        }
        return count <= limit ? count : nil
    }

    /// How many links of a column lead to some objects; nil when more than `limit`.
    private func linkCount(
        _ targets: KeySet, _ column: Int, limit: Int
    ) throws(RealmError) -> Int? {
        var count = 0
        for target in 0..<targets.count {
            count += try table.sourceCount(of: targets.key(target), column: column)
            if count > limit { return nil }
        }
        return count
    }

    /// How many candidates the inverse index has for a `reach` node, each counted once a link; nil
    /// when the leaves had better be asked.
    private func reachCount(_ index: Int, limit: Int) throws(RealmError) -> Int? {
        guard let hop = program.hops(program.nodes[index]).first else { return nil }
        let targets = try reachTargets(index)
        if hop.kind == .backlinks {
            let count = try reachKeys(index).count
            return count <= limit ? count : nil
        }
        guard targets.count <= targetsMax else { return nil }
        return try linkCount(targets, Int(hop.column), limit: limit)
    }

    /// So many objects are looked up in the inverse index of their links.
    var targetsMax: Int { 64 + table.rowCount / 1000 }

    /// The ranges of an index that hold the values passing a test; nil when there are none such.
    private func ranges(
        _ node: FilterNode, _ reader: IndexReader, _ isExact: inout Bool
    ) throws(RealmError) -> [IndexReader.Range]? {
        switch node.test {
        case .nothing: return node.matchesNull ? [] : nil
        case .intRange(let range):
            guard reader.kind == .int || reader.kind == .bool else { return nil }
            let low = try bytes(range.low, reader.kind)
            return [IndexReader.Range(low, through: try bytes(range.high, reader.kind))]
        case .intSet(let set):
            return try program.members(set).map { member throws(RealmError) in
                IndexReader.Range(equal: try bytes(member.0, reader.kind))
            }
        case .timestampRange(let range):
            return [IndexReader.Range(try bytes(range.low), through: try bytes(range.high))]
        case .value(let op, let cell):
            return try valueRanges(op, program.value(cell), reader.kind, &isExact)
        case .valueSet(let set):
            isExact = reader.kind != .mixed
            return try program.members(set).map { member throws(RealmError) in
                let value = MixedCell.decode(program.text(member))
                return IndexReader.Range(equal: try IndexReader.bytes(value, reader.kind))
            }
        case .text(let text):
            guard text.folding.isEmpty else { return nil }
            let needle = program.text(text.needle)
            switch text.op {
            case .equal: return [equalRange(needle, &isExact)]
            case .beginsWith:
                guard needle.count + 1 < IndexLimits.valueBytesMax else { return nil }
                return [IndexReader.Range(beginning: [1] + needle)]
            default: return nil
            }
        case .textSet(let set, let folding):
            guard folding.isEmpty else { return nil }
            return program.members(set).map { equalRange(program.text($0), &isExact) }
        default: return nil
        }
    }

    /// Where an index of object ids, UUIDs or mixed values has the values that a test may pass.
    private func valueRanges(
        _ op: ComparisonOperator, _ constant: RawValue, _ kind: ColumnKind,
        _ isExact: inout Bool
    ) throws(RealmError) -> [IndexReader.Range]? {
        guard kind == .objectId || kind == .uuid || kind == .mixed else { return nil }
        let bytes = try IndexReader.bytes(constant, kind)
        // All values of the constant's family begin alike.
        let family = Array(bytes[..<(kind == .mixed ? 2 : 1)])
        var bounds = (low: bytes, high: bytes)
        isExact = kind != .mixed
        if kind == .mixed, ValueOrder.family(constant) == .number {
            bounds = try numberBounds(constant)
        }
        switch op {
        case .less, .lessEqual:
            return [
                IndexReader.Range(
                    low: family, includesLow: true, high: bounds.high,
                    includesHigh: !isExact || op == .lessEqual)
            ]
        case .greater, .greaterEqual:
            return [
                IndexReader.Range(
                    low: bounds.low, includesLow: !isExact || op == .greaterEqual,
                    high: IndexReader.Range.successor(family), includesHigh: false)
            ]
        default: return [IndexReader.Range(bounds.low, through: bounds.high)]
        }
    }

    /// Index bytes around a number, wide enough for the rounding between decimals and binary
    /// numbers (`ValueTest`). Integers meet every number exactly.
    private func numberBounds(
        _ constant: RawValue
    ) throws(RealmError) -> (low: [UInt8], high: [UInt8]) {
        if constant.type == ValueType.int.rawValue || ValueTest.isNaN(constant) {
            let bytes = try IndexReader.bytes(constant, .mixed)
            return (bytes, bytes)
        }
        let number = ValueOrder.nearestDouble(constant)
        // A float holds 7 digits; what is rounded to them differs by less than a millionth. The
        // least numbers are rounded more coarsely.
        let span = number.isInfinite ? 0 : max(number.magnitude * 1e-6, 1e-36)
        return (
            try IndexReader.bytes(.double(number - span), .mixed),
            try IndexReader.bytes(.double(number + span), .mixed)
        )
    }

    private func bytes(_ value: Int64, _ kind: ColumnKind) throws(RealmError) -> [UInt8] {
        if kind == .bool {
            // Bounds outside 0 and 1 come from open ranges: nothing lies below false, so that the
            // end of `< false` must stand before it.
            if value < 0 { return [1] }
            return [1, value == 0 ? 0 : value == 1 ? 1 : 2]
        }
        return try IndexReader.bytes(.int(value), kind)
    }

    private func bytes(_ time: Timestamp) throws(RealmError) -> [UInt8] {
        try IndexReader.bytes(
            .timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds), .timestamp)
    }

    private func equalRange(
        _ text: UnsafeRawBufferPointer, _ isExact: inout Bool
    ) -> IndexReader.Range {
        let length = min(text.count, IndexLimits.valueBytesMax - 1)
        let bytes = [1] + text[..<length]
        if IndexValue.isAmbiguous(bytes.count, .string) { isExact = false }
        return IndexReader.Range(equal: bytes)
    }
}

extension IndexReader.Range {
    /// Both ends included.
    init(_ low: [UInt8], through high: [UInt8]) {
        self.init(low: low, includesLow: true, high: high, includesHigh: true)
    }

    /// All that begin with some bytes.
    init(beginning: [UInt8]) {
        self.init(
            low: beginning, includesLow: true, high: Self.successor(beginning),
            includesHigh: false)
    }

    /// The least byte string that is greater than every one beginning with `bytes`.
    static func successor(_ bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        while let last = result.last {
            if last < 0xFF {
                result[result.count - 1] = last + 1
                return result
            }
            result.removeLast()
        }
        return nil
    }
}
