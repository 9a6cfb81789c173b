// The first objects in the order of an indexed property, without sorting: the index is walked from
// one end until enough objects pass. Objects with the last value read all come along, so that
// further sort keys and the order of keys decide between them as ever. Also the whole order, where
// reading the index is less work than sorting.

/// The first objects of an order, and whether they are in it already.
struct LeadingKeys {
    var keys: [ObjectKey]
    /// Nothing is left to sort; else the keys ascend.
    var isOrdered: Bool
}

struct IndexOrder {
    private let reader: IndexReader
    private let table: TableReader
    private let needed: Int
    /// Tests the objects; nil when all pass.
    private let selection: Selection?
    /// Values are texts, which the index may hold cut.
    private let isText: Bool
    /// Objects with one value stand in the index as they stand in the order: the first ones are
    /// known before all with their value are read.
    private let keepsTies: Bool
    /// Objects that passed, in the order of the index, and which of its values each has.
    private var passed: [ObjectKey] = []
    private var passedValues: [UInt32] = []
    /// What was read but not tested yet.
    private var waiting: [ObjectKey] = []
    private var waitingValues: [UInt32] = []
    private var read = 0
    /// Values read so far.
    private var value: UInt32 = 0
    /// The one read last in the leaf before.
    private var last: [UInt8] = []
    private var hasCutValues = false
    private var isEnough = false
    private var gaveUp = false

    private static let batch = 256

    /// The objects among which are the first `needed` passing ones in the order of `keys`; nil
    /// when there is no index of the first key, or when too many entries would have to be read.
    static func leading(
        _ needed: Int, by keys: [OrderingKey], _ selection: Selection?, _ table: TableReader
    ) throws(RealmError) -> LeadingKeys? {
        guard let key = keys.first, isOrdered(by: key, table),
            let reader = table.index(column: key.column), needed <= entriesMax(table) / 4
        else { return nil }
        var walk = IndexOrder(reader, table, max(needed, 1), selection, keys)
        try walk.read(backwards: key.descending)
        if !walk.gaveUp { try walk.test() }
        return walk.gaveUp ? nil : walk.result(keys)
    }

    /// Whether the property has an index in the order that SORT has.
    static func isOrdered(by key: OrderingKey, _ table: TableReader) -> Bool {
        // A key that is an entry of a dictionary has no column of its own.
        guard key.isDirect, !table.isObjectKey(key.column),
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
        _ ascending: [ObjectKey]?, by keys: [OrderingKey], _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        let count = ascending?.count ?? table.rowCount
        guard let key = keys.first, count >= max(1024, table.rowCount / 4),
            isOrdered(by: key, table), let reader = table.index(column: key.column),
            reader.tree.count == table.rowCount, ascending.map({ ascends($0) }) ?? true
        else { return nil }
        let wanted = count == table.rowCount ? nil : ascending.map { KeySet($0) }
        var result: [ObjectKey] = []
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
            _ leaf: IndexLeaf, _ entries: Range<Int>, _ keys: inout [ObjectKey]
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

    private static func ascends(_ keys: [ObjectKey]) -> Bool {
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
        _ reader: IndexReader, _ table: TableReader, _ needed: Int, _ selection: Selection?,
        _ keys: [OrderingKey]
    ) {
        self.reader = reader
        self.table = table
        self.needed = needed
        self.selection = selection
        isText = keys[0].kind == .string || keys[0].kind == .binary
        keepsTies = keys.count == 1 && !keys[0].descending && !isText
    }

    /// Reads the index from the first value or from the last one.
    private mutating func read(backwards: Bool) throws(RealmError) {
        var walk = self
        if backwards {
            try reader.tree.visitBackwards { leaf throws(RealmError) in
                try walk.take(leaf, (0..<leaf.count).reversed())
            }
        } else {
            try reader.tree.visit(from: nil, to: nil) { leaf, entries throws(RealmError) in
                try walk.take(leaf, entries)
            }
        }
        self = walk
    }

    /// Takes in the entries of a leaf; false when no more are needed.
    private mutating func take<Entries: Sequence<Int>>(
        _ leaf: IndexLeaf, _ entries: Entries
    ) throws(RealmError) -> Bool {
        var previous: Int?
        for entry in entries {
            let isSame =
                previous.map { leaf.hasSameValue(entry, $0) }
                ?? last.withUnsafeBytes { leaf.isEqual(entry, $0) }
            if try !take(leaf, entry, isSame) { return false }
            previous = entry
        }
        if let previous { note(leaf, previous) }
        return true
    }

    /// Keeps the value read last in a leaf.
    private mutating func note(_ leaf: IndexLeaf, _ entry: Int) {
        last.removeAll(keepingCapacity: true)
        last.append(
            contentsOf: UnsafeRawBufferPointer(start: leaf.prefix, count: leaf.prefixCount))
        last.append(contentsOf: leaf.suffix(entry))
    }

    /// Takes in an entry; false when no more are needed. `isSame`: it has the value of the one
    /// before.
    @inline(__always)
    private mutating func take(
        _ leaf: IndexLeaf, _ entry: Int, _ isSame: Bool
    ) throws(RealmError) -> Bool {
        if !isSame {
            if isEnough { return false }
            value &+= 1
            if isText {
                let count = leaf.prefixCount &+ leaf.suffix(entry).count
                if IndexValue.isAmbiguous(count, .string) { hasCutValues = true }
            }
        }
        read += 1
        if read > Self.entriesMax(table) {
            gaveUp = true
            return false
        }
        guard selection != nil else {
            passed.append(leaf.key(entry))
            passedValues.append(value)
            isEnough = passed.count >= needed
            return !(isEnough && keepsTies)
        }
        waiting.append(leaf.key(entry))
        waitingValues.append(value)
        if waiting.count == Self.batch { try test() }
        return !(isEnough && keepsTies)
    }

    private mutating func test() throws(RealmError) {
        guard let selection, !waiting.isEmpty else { return }
        let found = try selection.narrow(waiting.sorted())
        for (index, key) in waiting.enumerated()
        where found.hasMember({ $0 < key ? -1 : $0 == key ? 0 : 1 }) {
            passed.append(key)
            passedValues.append(waitingValues[index])
        }
        waiting.removeAll(keepingCapacity: true)
        waitingValues.removeAll(keepingCapacity: true)
        isEnough = passed.count >= needed
    }

    /// What was read in the order of `keys`, where the index decides it: the first key alone when
    /// it tells the objects apart. Objects with one value stand in the order of their keys.
    private mutating func result(_ keys: [OrderingKey]) -> LeadingKeys {
        var start = 0
        var hasTies = false
        for index in 0..<passed.count {
            let end = index &+ 1
            if end < passed.count, passedValues[end] == passedValues[index] { continue }
            if end &- start > 1 {
                hasTies = true
                if keys[0].descending { passed[start..<end].reverse() }
            }
            start = end
        }
        if hasCutValues || (hasTies && keys.count > 1) {
            return LeadingKeys(keys: KeyList.union(passed), isOrdered: false)
        }
        return LeadingKeys(keys: passed, isOrdered: true)
    }
}
