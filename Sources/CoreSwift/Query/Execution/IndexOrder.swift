// The first objects in the order of an indexed property, without sorting: the index is walked from
// one end until enough objects pass. Objects with the last value read all come along, so that
// further sort keys and the order of keys decide between them as ever. Also the whole order, where
// reading the index is less work than sorting.

struct IndexOrder {
    private let reader: IndexReader
    private let table: TableReader
    private let needed: Int
    /// Tests the objects; nil when all pass.
    private let selection: Selection?
    private var passed: [Int64] = []
    /// Keys that were read but not tested yet.
    private var waiting: [Int64] = []
    private var read = 0
    /// Bytes of the value after whose last object the walk ends.
    private var last: [UInt8]?
    private var gaveUp = false

    private static let batch = 256

    /// Ascending keys that include the first `needed` passing objects in the order of `key`; nil
    /// when there is no index of it, or when too many entries would have to be read.
    static func candidates(
        _ needed: Int, by key: OrderingKey, _ selection: Selection?, _ table: TableReader
    ) throws(RealmError) -> [Int64]? {
        guard isOrdered(by: key, table), let reader = table.index(column: key.column),
            needed <= entriesMax(table) / 4
        else { return nil }
        var walk = IndexOrder(reader, table, max(needed, 1), selection)
        return try walk.run(descending: key.descending)
    }

    /// Whether the property has an index in the order that SORT has.
    static func isOrdered(by key: OrderingKey, _ table: TableReader) -> Bool {
        // A key that is an entry of a dictionary has no column of its own.
        guard key.hops.isEmpty, key.program == nil, !key.isKeyColumn,
            table.index(column: key.column) != nil
        else { return false }
        switch key.kind {
        case .int, .bool, .timestamp, .string, .binary, .objectId, .uuid: return true
        default: return false
        }
    }

    /// The objects of a class in the order of an indexed property, ties by key: all of them, or
    /// those of `ascending`, whose keys ascend. Nil when there is no index of it, or when it does
    /// not tell objects apart that further sort keys, or values it has cut, may tell apart.
    static func sorted(
        _ ascending: [Int64]?, by keys: [OrderingKey], _ table: TableReader
    ) throws(RealmError) -> [Int64]? {
        let count = ascending?.count ?? table.rowCount
        guard let key = keys.first, count >= max(1024, table.rowCount / 4),
            isOrdered(by: key, table), let reader = table.index(column: key.column),
            reader.tree.count == table.rowCount, ascending.map({ ascends($0) }) ?? true
        else { return nil }
        let wanted = count == table.rowCount ? nil : ascending.map { KeySet($0) }
        var result: [Int64] = []
        result.reserveCapacity(count)
        var runs = Runs(isText: key.kind == .string || key.kind == .binary, wanted: wanted)
        try reader.tree.visit(from: nil, to: nil) { leaf, entries throws(RealmError) in
            if wanted == nil { leaf.appendKeys(entries, to: &result) }
            return runs.take(leaf, entries, &result) && (keys.count == 1 || !runs.hasTies)
        }
        guard runs.isUsable, result.count == count, keys.count == 1 || !runs.hasTies else {
            return nil
        }
        if key.descending {
            runs.end(count)
            result.reverse()
            for run in runs.ranges {
                result[(count - run.upperBound)..<(count - run.lowerBound)].reverse()
            }
        }
        return result
    }

    /// Where objects with one value stand behind one another, found while an index is read.
    private struct Runs {
        let isText: Bool
        /// The objects that are taken; nil: all.
        let wanted: KeySet?
        var ranges: [Range<Int>] = []
        /// Some value is that of two entries.
        var hasTies = false
        /// No value is cut.
        var isUsable = true
        private var start = 0
        private var last: [UInt8] = []

        init(isText: Bool, wanted: KeySet?) {
            self.isText = isText
            self.wanted = wanted
        }

        /// Goes on with the entries of a leaf. Wanted ones are appended to `keys`, unless all are
        /// wanted and stand there.
        mutating func take(
            _ leaf: IndexLeaf, _ entries: Range<Int>, _ keys: inout [Int64]
        ) -> Bool {
            var place = wanted == nil ? keys.count - entries.count : keys.count
            for entry in entries {
                let isSame =
                    entry > entries.lowerBound
                    ? leaf.hasSameValue(entry, entry &- 1)
                    : last.withUnsafeBytes { leaf.isEqual(entry, $0) }
                if isText,
                    IndexValue.isAmbiguous(
                        leaf.prefixCount &+ leaf.suffix(entry).count, .string)
                {
                    isUsable = false
                    return false
                }
                if isSame { hasTies = true } else { end(place) }
                if let wanted {
                    let object = leaf.key(entry)
                    if !wanted.contains(object) { continue }
                    keys.append(object)
                }
                place &+= 1
            }
            last = Array(UnsafeRawBufferPointer(start: leaf.prefix, count: leaf.prefixCount))
            last.append(contentsOf: leaf.suffix(entries.upperBound - 1))
            return true
        }

        /// The objects with the value read last end here.
        @inline(__always) mutating func end(_ place: Int) {
            if place &- start > 1 { ranges.append(start..<place) }
            start = place
        }
    }

    private static func ascends(_ keys: [Int64]) -> Bool {
        keys.withUnsafeBufferPointer { keys in
            for index in 1..<max(keys.count, 1) where keys[index - 1] >= keys[index] {
                return false
            }
            return true
        }
    }

    /// Reading more entries than these costs more than one look at the whole column.
    private static func entriesMax(_ table: TableReader) -> Int { table.rowCount / 16 }

    private init(
        _ reader: IndexReader, _ table: TableReader, _ needed: Int, _ selection: Selection?
    ) {
        self.reader = reader
        self.table = table
        self.needed = needed
        self.selection = selection
    }

    private mutating func run(descending: Bool) throws(RealmError) -> [Int64]? {
        try selection?.prepare()
        var walk = self
        if descending {
            try reader.tree.visitBackwards { leaf throws(RealmError) in
                for entry in stride(from: leaf.count - 1, through: 0, by: -1)
                where try !walk.take(leaf, entry) {
                    return false
                }
                return true
            }
        } else {
            try reader.tree.visit(from: nil, to: nil) { leaf, entries throws(RealmError) in
                for entry in entries where try !walk.take(leaf, entry) { return false }
                return true
            }
        }
        if !walk.gaveUp { try walk.test() }
        if walk.gaveUp { return nil }
        return Selection.sortedUnique(walk.passed)
    }

    /// Takes in an entry; false when no more are needed.
    private mutating func take(_ leaf: IndexLeaf, _ entry: Int) throws(RealmError) -> Bool {
        if let last {
            let isSame = last.withUnsafeBytes { bytes in
                bytes.baseAddress.map { leaf.isEqual(entry, $0, bytes.count) } ?? false
            }
            guard isSame else { return false }
        }
        read += 1
        if read > Self.entriesMax(table) {
            gaveUp = true
            return false
        }
        waiting.append(leaf.key(entry))
        guard last == nil else { return true }
        if selection != nil && waiting.count == Self.batch { try test() }
        if passed.count + (selection == nil ? waiting.count : 0) >= needed {
            last = Array(UnsafeRawBufferPointer(start: leaf.prefix, count: leaf.prefixCount))
            last?.append(contentsOf: leaf.suffix(entry))
        }
        return true
    }

    private mutating func test() throws(RealmError) {
        guard let selection else {
            passed.append(contentsOf: waiting)
            waiting.removeAll()
            return
        }
        waiting.sort()
        passed.append(contentsOf: try selection.narrow(waiting))
        waiting.removeAll(keepingCapacity: true)
    }
}
