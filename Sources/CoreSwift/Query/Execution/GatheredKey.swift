// The values of one sort or distinct key for a list of objects, in a form that orders and compares
// without types: numbers as words whose unsigned order is the order of the values, texts as
// pointers into the leaves. Decimals, object ids, UUIDs and mixed values are sorted once here, and
// get their rank as word: equal values the same one.

final class GatheredKey {
    /// Null and broken paths come before or behind all values (docs/C_RULES, "Order of values").
    enum Presence {
        static let null: UInt8 = 0
        static let value: UInt8 = 1
        /// The path crosses a null link, or the object is gone.
        static let broken: UInt8 = 2
    }

    let count: Int
    let isText: Bool
    let descending: Bool
    /// Numbers: the ordered word. Texts: the length.
    let words: UnsafeMutablePointer<UInt64>
    /// Timestamps with nanoseconds: those, ordered.
    private(set) var seconds: UnsafeMutablePointer<UInt32>?
    let texts: UnsafeMutablePointer<UnsafeRawPointer>
    /// Presence of each value; all values when `isUniform`.
    let presence: UnsafeMutablePointer<UInt8>
    private(set) var isUniform = true
    private let kind: ColumnKind
    private let isRanked: Bool
    /// Of ranked kinds, until they are ranked: strings and binaries point into the leaves.
    private var values: [RawValue] = []
    private let somewhere: UnsafeRawPointer

    init(
        _ key: OrderingKey, _ snapshot: SnapshotReader, _ table: TableReader,
        _ keys: UnsafeBufferPointer<ObjectKey>
    ) throws(RealmError) {
        count = keys.count
        kind = key.kind
        isText = key.kind.isText
        isRanked = [.decimal, .objectId, .uuid, .mixed].contains(key.kind)
        descending = key.descending
        words = .allocate(capacity: max(count, 1))
        presence = .allocate(capacity: max(count, 1))
        presence.initialize(repeating: Presence.value, count: count)
        somewhere = UnsafeRawPointer(words)
        texts = .allocate(capacity: isText ? max(count, 1) : 1)
        if isRanked { values = [RawValue](repeating: .null, count: count) }
        if let program = key.program {
            try evaluate(program, snapshot, table, keys)
        } else if key.hops.isEmpty {
            try gatherInHalves(table, key.column, keys)
        } else {
            try follow(key, snapshot, table, keys)
        }
        if isRanked { rank() }
        isUniform = !UnsafeBufferPointer(start: presence, count: count).contains {
            $0 != Presence.value
        }
    }

    deinit {
        words.deallocate()
        texts.deallocate()
        presence.deallocate()
        seconds?.deallocate()
    }

    /// `presence`, if values can lack.
    var mixedPresence: UnsafeMutablePointer<UInt8>? { isUniform ? nil : presence }

    // MARK: Direct properties

    /// On two cores, if there are many: each writes what its half of the keys has. What more than
    /// words and texts is kept for is left to one: values that get a rank, and nanoseconds.
    private func gatherInHalves(
        _ table: TableReader, _ column: Int, _ keys: UnsafeBufferPointer<ObjectKey>
    ) throws(RealmError) {
        if isRanked || kind == .timestamp { return try gather(table, column, keys, 0..<count) }
        _ = try table.inHalves(count) { range throws(RealmError) in
            try gather(table, column, keys, range)
        }
    }

    private func gather(
        _ table: TableReader, _ column: Int, _ keys: UnsafeBufferPointer<ObjectKey>,
        _ range: Range<Int>
    ) throws(RealmError) {
        var runs = RowRuns(table, keys, range)
        while let run = try runs.next() {
            guard let leaf = run.leaf else {
                setBroken(run.element)
                continue
            }
            if try !gatherRun(table, leaf, run, column) {
                for offset in 0..<run.count {
                    set(run.element + offset, try table.value(leaf, run.row + offset, column))
                }
            }
        }
    }

    /// Reads a run of rows in bulk; false when the column's form here needs single values.
    private func gatherRun(
        _ table: TableReader, _ leaf: LeafView, _ run: RowRun, _ index: Int
    ) throws(RealmError) -> Bool {
        let info = table.column(index)
        guard !info.isKey, !isRanked, let column = leaf.column(index, info),
            column.externals == nil
        else {
            return false
        }
        let target = words + run.element
        switch column.encoding {
        case .stringFixed, .string16, .string32, .stringDictionary:
            for row in 0..<run.count {
                let bytes = column.bytes(run.row &+ row)
                target[row] = UInt64(bytes.count)
                texts[run.element &+ row] = bytes.baseAddress ?? somewhere
            }
        default:
            guard column.orderedWords(run.row, run.count, target) else { return false }
        }
        if let nulls = column.nulls {
            for row in 0..<run.count where LeafLayout.bit(nulls, run.row &+ row) {
                setNull(run.element + row)
            }
        }
        return true
    }

    // MARK: Over links

    private func follow(
        _ key: OrderingKey, _ snapshot: SnapshotReader, _ table: TableReader,
        _ keys: UnsafeBufferPointer<ObjectKey>
    ) throws(RealmError) {
        var tables: [TableReader] = [table]
        for hop in key.hops { tables.append(try snapshot.table(hop.target)) }
        // Many objects share a target: the last one's value is kept.
        var lastKey: ObjectKey?
        var lastElement = 0
        for element in 0..<keys.count {
            var current: ObjectKey? = keys[element]
            for (level, hop) in key.hops.enumerated() {
                guard let object = current else { break }
                let link = try tables[level].value(of: object, column: Int(hop.column))
                current = link.flatMap { $0.isNull ? nil : $0.linkTarget }
            }
            guard let object = current else {
                setBroken(element)
                continue
            }
            if object == lastKey {
                copy(from: lastElement, to: element)
                continue
            }
            guard let value = try tables[key.hops.count].value(of: object, column: key.column)
            else {
                setBroken(element)
                continue
            }
            set(element, value)
            lastKey = object
            lastElement = element
        }
    }

    // MARK: Over paths that are evaluated

    private func evaluate(
        _ program: FilterProgram, _ snapshot: SnapshotReader, _ table: TableReader,
        _ keys: UnsafeBufferPointer<ObjectKey>
    ) throws(RealmError) {
        let evaluator = try ExpressionEvaluator(snapshot, program, slot: 0)
        for element in 0..<keys.count {
            guard let object = try evaluator.object(table.table, keys[element]),
                let value = try evaluator.orderingValue(program.paths, object)
            else {
                setBroken(element)
                continue
            }
            set(element, value)
        }
    }

    private func copy(from source: Int, to element: Int) {
        words[element] = words[source]
        presence[element] = presence[source]
        if let seconds { seconds[element] = seconds[source] }
        if isText { texts[element] = texts[source] }
        if isRanked { values[element] = values[source] }
    }

    // MARK: Values

    private func setNull(_ element: Int) {
        presence[element] = Presence.null
        words[element] = 0
        if isText { texts[element] = somewhere }
    }

    private func setBroken(_ element: Int) {
        setNull(element)
        presence[element] = Presence.broken
    }

    private func set(_ element: Int, _ value: RawValue) {
        if value.isNull { return setNull(element) }
        let sign: UInt64 = 1 << 63
        switch kind {
        case .int: words[element] = value.word0 ^ sign
        case .bool: words[element] = value.boolValue ? 1 : 0
        case .double: words[element] = Self.ordered(value.doubleValue)
        case .float: words[element] = Self.ordered(Double(value.floatValue))
        case .link: words[element] = value.word1 ^ sign
        case .timestamp:
            words[element] = value.word0 ^ sign
            if value.nanoseconds != 0 || seconds != nil {
                nanosecondsOf()[element] = UInt32(bitPattern: value.nanoseconds) ^ 0x8000_0000
            }
        case .string, .binary:
            words[element] = value.word1
            texts[element] = value.bytes.baseAddress ?? somewhere
        case .decimal, .objectId, .uuid, .mixed: values[element] = value
        case .collection:
            // Refused by the binder: a collection has no place in an order.
            invariant(false, "a collection as a sort key")
        }
    }

    /// Makes the places of the values in their order the words.
    private func rank() {
        let order = (0..<count).filter { presence[$0] == Presence.value }.sorted {
            ValueOrder.compare(values[$0], values[$1]) < 0
        }
        var rank: UInt64 = 0
        for (position, element) in order.enumerated() {
            if position > 0,
                !ValueOrder.equal(values[order[position - 1]], values[element])
            {
                rank += 1
            }
            words[element] = rank
        }
        values = []
    }

    private func nanosecondsOf() -> UnsafeMutablePointer<UInt32> {
        if let seconds { return seconds }
        let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: max(count, 1))
        memory.initialize(repeating: 0x8000_0000, count: count)
        seconds = memory
        return memory
    }

    /// Doubles in their order: NaN least, both zeros one value.
    @inline(__always) static func ordered(_ value: Double) -> UInt64 {
        if value != value { return 0 }
        let bits = (value + 0).bitPattern
        let sign: UInt64 = 1 << 63
        return bits & sign != 0 ? ~bits : bits | sign
    }

    // MARK: Equality

    @inline(__always) func isEqual(_ a: Int, _ b: Int) -> Bool {
        guard presence[a] == presence[b], words[a] == words[b] else { return false }
        if let seconds, seconds[a] != seconds[b] { return false }
        if isText, presence[a] == Presence.value {
            return equalBytes(texts[a], texts[b], Int(words[a]))
        }
        return true
    }

    @inline(__always) func hash(_ element: Int, _ seed: UInt64) -> UInt64 {
        let prime: UInt64 = 0x9FB2_1C65_1E98_DF25
        var hash = (seed ^ words[element] ^ UInt64(presence[element]) << 61) &* prime
        if let seconds { hash = (hash ^ UInt64(seconds[element])) &* prime }
        if isText, presence[element] == Presence.value {
            hash = ByteHash.of(texts[element], Int(words[element]), seed: hash)
        }
        return hash ^ hash >> 32
    }
}
