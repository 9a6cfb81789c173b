// Starting from what is known without a scan: primary keys, value indexes, inverse indexes of
// links. Each source gives candidates; the other conditions test those.

extension Selection {
    /// How a test can be answered without a scan.
    enum Source {
        /// Primary keys that are the object keys.
        case keys
        /// Ranges of an ordered index; exact unless values may be cut.
        case ranges(IndexReader, [IndexReader.Range], isExact: Bool)
        /// Sources of the objects behind a link.
        case links
        /// Objects that a full-text index has for words.
        case words
        /// Sources of the objects that the links of a collection, or links back, lead to.
        case reach
    }

    func source(_ index: Int) throws(RealmError) -> Source? {
        let node = program.nodes[index]
        guard !node.negated else { return nil }
        switch node.kind {
        case .words: return .words
        case .reach: return .reach
        // Their columns are of collections, or of another class.
        case .elements, .memberCount, .expression, .and, .or: return nil
        default: break
        }
        if node.isKeyColumn {
            guard !node.matchesNull else { return nil }
            if node.kind == .intRange, node.low == node.high { return .keys }
            return node.kind == .intSet ? .keys : nil
        }
        if node.kind == .path { return node.matchesNull || node.high != 1 ? nil : .links }
        if node.kind == .linkToPrimaryKey, node.columnKind == .link {
            return node.matchesNull ? nil : .links
        }
        if node.kind == .intRange, node.columnKind == .link {
            return node.low == node.high && !node.matchesNull ? .links : nil
        }
        guard node.column >= 0, let reader = table.index(column: Int(node.column)) else {
            return nil
        }
        var isExact = true
        guard var ranges = try ranges(node, reader, &isExact) else { return nil }
        if node.matchesNull { ranges.append(IndexReader.Range(equal: [0])) }
        return .ranges(reader, ranges, isExact: isExact)
    }

    /// The ranges of an index that hold the values passing a test; nil when there are none such.
    private func ranges(
        _ node: FilterNode, _ reader: IndexReader, _ isExact: inout Bool
    ) throws(RealmError) -> [IndexReader.Range]? {
        switch node.kind {
        case .nothing: return node.matchesNull ? [] : nil
        case .intRange:
            guard reader.kind == .int || reader.kind == .bool else { return nil }
            return [
                IndexReader.Range(
                    low: try bytes(node.low, reader.kind), includesLow: true,
                    high: try bytes(node.high, reader.kind), includesHigh: true)
            ]
        case .intSet:
            var ranges: [IndexReader.Range] = []
            for member in program.members(node) {
                ranges.append(IndexReader.Range(equal: try bytes(member.0, reader.kind)))
            }
            return ranges
        case .timestampRange:
            let low = RawValue.timestamp(seconds: node.low, nanoseconds: node.lowExtra)
            let high = RawValue.timestamp(seconds: node.high, nanoseconds: node.highExtra)
            return [
                IndexReader.Range(
                    low: try IndexReader.bytes(low, .timestamp), includesLow: true,
                    high: try IndexReader.bytes(high, .timestamp), includesHigh: true)
            ]
        case .value: return try valueRanges(node, reader.kind, &isExact)
        case .valueSet:
            var ranges: [IndexReader.Range] = []
            for member in program.members(node) {
                let cell = UnsafeRawBufferPointer(
                    start: program.bytes + Int(member.0), count: Int(member.1))
                ranges.append(
                    IndexReader.Range(
                        equal: try IndexReader.bytes(MixedCell.decode(cell), reader.kind)))
            }
            isExact = reader.kind != .mixed
            return ranges
        case .text:
            guard node.folding.isEmpty else { return nil }
            let needle = program.needle(node)
            switch node.op {
            case .equal: return [equalRange(needle, &isExact)]
            case .beginsWith:
                var low: [UInt8] = [1]
                low.append(contentsOf: needle)
                guard low.count < IndexLimits.valueBytesMax else { return nil }
                return [
                    IndexReader.Range(
                        low: low, includesLow: true, high: Self.successor(low),
                        includesHigh: false)
                ]
            default: return nil
            }
        case .textSet:
            guard node.folding.isEmpty else { return nil }
            var ranges: [IndexReader.Range] = []
            for member in program.members(node) {
                let text = UnsafeRawBufferPointer(
                    start: program.bytes + Int(member.0), count: Int(member.1))
                ranges.append(equalRange(text, &isExact))
            }
            return ranges
        default: return nil
        }
    }

    /// Where an index of object ids, UUIDs or mixed values has the values that a test may pass.
    private func valueRanges(
        _ node: FilterNode, _ kind: ColumnKind, _ isExact: inout Bool
    ) throws(RealmError) -> [IndexReader.Range]? {
        guard kind == .objectId || kind == .uuid || kind == .mixed else { return nil }
        let constant = filter.constant(node)
        let bytes = try IndexReader.bytes(constant, kind)
        // All values of the constant's family begin alike.
        let family = Array(bytes[..<(kind == .mixed ? 2 : 1)])
        var bounds = (low: bytes, high: bytes)
        isExact = kind != .mixed
        if kind == .mixed, ValueOrder.family(constant) == .number {
            bounds = try numberBounds(constant)
        }
        switch node.comparison {
        case .equal:
            return [
                IndexReader.Range(
                    low: bounds.low, includesLow: true, high: bounds.high, includesHigh: true)
            ]
        case .less, .lessEqual:
            return [
                IndexReader.Range(
                    low: family, includesLow: true, high: bounds.high,
                    includesHigh: !isExact || node.comparison == .lessEqual)
            ]
        case .greater, .greaterEqual:
            return [
                IndexReader.Range(
                    low: bounds.low, includesLow: !isExact || node.comparison == .greaterEqual,
                    high: Self.successor(family), includesHigh: false)
            ]
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

    private func equalRange(
        _ text: UnsafeRawBufferPointer, _ isExact: inout Bool
    ) -> IndexReader.Range {
        let length = min(text.count, IndexLimits.valueBytesMax - 1)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 1)
        bytes.append(1)
        bytes.append(contentsOf: text[..<length])
        if IndexValue.isAmbiguous(bytes.count, .string) { isExact = false }
        return IndexReader.Range(equal: bytes)
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

    // MARK: Counting without objects

    /// The count when the whole filter is one test that an index answers exactly.
    func indexCount() throws(RealmError) -> Int? {
        if let count = try equalTextCount() { return count }
        if program.nodes[root].kind == .words {
            let count = try wordCount(program.nodes[root])
            return program.nodes[root].negated ? max(0, table.rowCount - count) : count
        }
        guard let source = try source(root) else { return nil }
        let node = program.nodes[root]
        switch source {
        case .keys, .words, .reach: return nil
        case .ranges(let reader, let ranges, let isExact):
            guard isExact else { return nil }
            var count = 0
            for range in ranges { count += try reader.count(range) }
            return count
        case .links:
            guard let targets = try linkTargets(root) else { return nil }
            var count = 0
            for target in 0..<targets.count {
                count += try table.sourceCount(of: targets.key(target), column: Int(node.column))
            }
            return count
        }
    }

    /// The commonest look-up, `text == constant`, without intermediate ranges.
    private func equalTextCount() throws(RealmError) -> Int? {
        let node = program.nodes[root]
        guard node.kind == .text, node.op == .equal, node.folding.isEmpty, !node.negated,
            !node.matchesNull, Int(node.b) + 1 < IndexLimits.valueBytesMax,
            let reader = table.index(column: Int(node.column))
        else { return nil }
        if reader.tree.isEmpty { return 0 }
        let count = Int(node.b) + 1
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 8)
        defer { bytes.deallocate() }
        bytes.put(1 as UInt8, 0)
        memcpy(bytes + 1, program.bytes + Int(node.a), count - 1)
        let start = UnsafeRawPointer(bytes)
        let low = try reader.tree.rank(IndexPosition(bytes: start, count: count, key: .min))
        return try reader.tree.rank(IndexPosition(bytes: start, count: count, key: .max)) - low
    }

    /// Inverse indexes help when few objects are meant; many are found faster by a scan.
    var targetsMax: Int { 64 + table.rowCount / 1000 }

    /// The objects that a link has to point to; nil when they are many.
    func linkTargets(_ index: Int) throws(RealmError) -> KeySet? {
        if filter.keys(index) == nil {
            let node = program.nodes[index]
            switch node.kind {
            case .intRange: filter.setKeys(index, KeySet(numbers: [node.low]))
            case .linkToPrimaryKey:
                let key = try linkKey(node)
                filter.setLink(index, key)
                filter.setKeys(index, KeySet(key.map { [$0] } ?? []))
            default: _ = try pathSet(index)
            }
        }
        return filter.keys(index).flatMap { $0.count <= targetsMax ? $0 : nil }
    }

    static func sortedUnique(_ keys: [ObjectKey]) -> [ObjectKey] {
        var previous = ObjectKey.min
        var ascends = true
        for key in keys {
            if key <= previous { ascends = false }
            previous = key
        }
        return ascends ? keys : WordKeys.union(keys)
    }
}
