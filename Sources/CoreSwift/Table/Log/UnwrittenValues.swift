// Objects that a large transaction created, while the log of its consumers has their keys and integers and not their
// other values. As long as nobody touches them they are what they were when they were created, so who reads the log
// finds the values in the version that is read. The first commit that changes a value of few bytes (numbers, links) adds
// that of before to the log (`ToldObjects`); the first that changes one that may be long, or deletes an object, adds all
// that the log does not have of it, as *earlier values*. Both stand in a record of their own in front of that of the
// commit: they supplement the record of the version that created the objects. In files of earlier libraries they
// stand in that of the commit.
//
// Integers are in the record of the load, but for those of primary keys, which nobody changes: so a commit that sets
// some adds no more to the log than what it sets. In files of earlier libraries they are left out like all else.
//
// Invariants
//   1. Objects that `LogDirectory.unwritten` names are there, and of each value of theirs that a commit has changed
//      since they were created some record tells the one of before, at the first such commit.
//   2. Those that a record has left out are named there, or a later record has their earlier values, once. A
//      commit that changes the schema writes those of all.
//
// In a record (`RecordEncoder`), as one text: { version, class key, keys, values as text }.

/// What the log does not have of the objects that a version created.
struct UnwrittenObjects: Equatable {
    /// Bounds what catalogs hold of them.
    static let runsMax = 128
    /// What objects that are touched here and there leave of the runs: there is room for those of further versions.
    static let touchedRunsMax = 112

    let version: UInt64
    let classKey: ClassKey
    var keys: KeyRanges
    /// The record of that version has their integers.
    var hasIntegers = false

    /// Whether the log has no value of the property, unless a record told it later.
    func leavesOut(_ column: Int, of table: Table) -> Bool {
        !(hasIntegers && table.isToldAtOnce(column))
    }
}

extension Table {
    /// Whether records have the property of all objects that their version created: integers that can change.
    func isToldAtOnce(_ column: Int) -> Bool {
        columns[column].kind == .int && column != primaryKeyColumn && !columns[column].isVacated
    }
}

extension [UnwrittenObjects] {
    var runs: Int { reduce(0) { $0 + $1.keys.ranges.count } }
}

/// Where the values are that records have left out.
final class UnwrittenValues {
    private struct Name: Hashable {
        let version: UInt64
        let classKey: ClassKey
    }
    /// Values of objects, by column as in a record.
    struct Piece {
        let keys: KeyRanges
        let values: UnsafeRawBufferPointer
    }
    /// Values that objects had before records set others, in the order of the records or that of the keys.
    private struct Column {
        let classKey: ClassKey
        let column: Int
        /// By object key; positions among the others.
        var items: [RadixItem] = []
        var isSorted = false
        var versions: [UInt64] = []
        var values: [LogValue] = []

        mutating func add(_ key: ObjectKey, _ version: UInt64, _ value: LogValue) {
            isSorted = false
            items.append(RadixItem(key: key.word, payload: UInt64(values.count)))
            versions.append(version)
            values.append(value)
        }
    }
    /// The first ones that were told of objects that a version created.
    fileprivate struct Told {
        let column: Int
        var keys = KeyRanges()
        var values: [LogValue] = []
    }

    /// Of the objects that a version created of a class.
    struct Cursor {
        fileprivate let source: UnwrittenValues
        fileprivate let version: UInt64
        fileprivate let classKey: ClassKey
        fileprivate let told: [Told]
        fileprivate var toldLeft: Int
        fileprivate var earlier: [Piece]
        /// Those whose values are in the version that is read, but for what was told.
        fileprivate var rest: [ClosedRange<ObjectKey>]

        /// Its values are there until the next one is asked for.
        mutating func next() throws(RealmError) -> Piece? {
            if toldLeft > 0 {
                toldLeft -= 1
                return source.make(told[toldLeft])
            }
            if let piece = earlier.popLast() { return try source.without(told, piece) }
            guard let range = rest.popLast() else { return nil }
            // A forged record may name the greatest keys that there are.
            let last = range.lowerBound.advanced(by: min(Int(range.more), pieceObjects - 1))
            if last < range.upperBound { rest.append(last.advanced(by: 1)...range.upperBound) }
            return try source.without(
                told, try source.make(version, classKey, range.lowerBound...last))
        }
    }

    /// Values of so many objects are made at a time.
    private static let pieceObjects = 4096

    /// The version that is read; nil: all that is asked for is in records.
    private let tables: TableSet?
    private var earlier: [Name: [(version: UInt64, piece: Piece)]] = [:]
    private var told: [Column] = []
    private var made = LogBytes()
    private var reduced = LogBytes()

    init(_ tables: TableSet?) { self.tables = tables }

    deinit {
        made.deallocate()
        reduced.deallocate()
    }

    /// Notes what a record tells of values from before. Records ascend.
    func note(_ version: UInt64, _ log: UnsafeRawBufferPointer) throws(RealmError) {
        let isBrief = RecordHead.flags(log) & RecordEncoder.isBrief != 0
        if let text = try RecordHead.earlierValues(log) {
            try note(version, earlier: text, isBrief: isBrief)
        }
        guard RecordHead.flags(log) & RecordEncoder.tellsBefore != 0 else { return }
        var operations = ChangeOperations([(version, log)])
        while let found = try operations.nextBefore() {
            let known = told.firstIndex {
                $0.classKey == found.classKey && $0.column == found.column
            }
            let index = known ?? told.count
            if known == nil { told.append(Column(classKey: found.classKey, column: found.column)) }
            told[index].add(found.key, version, found.value)
        }
    }

    /// Notes the earlier values that a record has, which made this version.
    func note(
        _ version: UInt64, earlier text: UnsafeRawBufferPointer, isBrief: Bool
    ) throws(RealmError) {
        var reader = LogByteReader(text, isBrief: isBrief)
        while !reader.isAtEnd {
            let creator = try reader.number()
            let classKey = ClassKey(rawValue: UInt32(truncatingIfNeeded: try reader.number()))
            var keys = KeyRanges()
            try reader.keys { keys.insert($0) }
            earlier[Name(version: creator, classKey: classKey), default: []].append(
                (version, Piece(keys: keys, values: try reader.text())))
        }
    }

    /// Once all records are noted.
    func cursor(_ version: UInt64, _ classKey: ClassKey, _ keys: KeyRanges) -> Cursor {
        let known = earlier[Name(version: version, classKey: classKey)] ?? []
        var rest = keys
        var ends: [RadixItem] = []
        for (index, item) in known.enumerated() {
            rest.subtract(item.piece.keys)
            for range in item.piece.keys.ranges {
                ends.append(RadixItem(key: range.upperBound.word, payload: UInt64(index)))
            }
        }
        RadixSort.sort(&ends)
        var told: [Told] = []
        for index in self.told.indices where self.told[index].classKey == classKey {
            if !self.told[index].isSorted { RadixSort.sort(&self.told[index].items) }
            self.told[index].isSorted = true
            // What happened behind the record that has an object's earlier values happened to another one.
            let first = Self.first(self.told[index], behind: version, keys) { key, version in
                let place = ends.partitionPoint { $0.key < key.word }
                guard place < ends.count else { return true }
                let item = known[Int(ends[place].payload)]
                return !item.piece.keys.contains(key) || version < item.version
            }
            if !first.keys.isEmpty { told.append(first) }
        }
        return Cursor(
            source: self, version: version, classKey: classKey, told: told, toldLeft: told.count,
            earlier: known.reversed().map(\.piece), rest: rest.ranges.reversed())
    }

    private static func first(
        _ column: Column, behind version: UInt64, _ keys: KeyRanges,
        _ counts: (ObjectKey, UInt64) -> Bool
    ) -> Told {
        var result = Told(column: column.column)
        for range in keys.ranges {
            var index = column.items.partitionPoint { $0.key < range.lowerBound.word }
            while index < column.items.count, column.items[index].key <= range.upperBound.word {
                let item = column.items[index]
                let key = ObjectKey(word: item.key)
                let position = Int(item.payload)
                index += 1
                guard column.versions[position] > version,
                    result.keys.ranges.last?.upperBound != key,
                    counts(key, column.versions[position])
                else { continue }
                result.keys.insert(key)
                result.values.append(column.values[position])
            }
        }
        return result
    }

    private func make(_ told: Told) -> Piece {
        made.removeAll()
        made.number(told.column + 1)
        for value in told.values { value.write(&made) }
        made.byte(0)
        return Piece(keys: told.keys, values: made.buffer)
    }

    /// The same with marks in the place of values that were told.
    private func without(_ told: [Told], _ piece: Piece) throws(RealmError) -> Piece {
        guard told.contains(where: { !piece.keys.intersection($0.keys).isEmpty }) else {
            return piece
        }
        reduced.removeAll()
        var reader = LogByteReader(piece.values)
        while true {
            let number = try reader.count()
            reduced.number(number)
            if number == 0 { break }
            let hidden = told.first { $0.column == number - 1 }?.keys ?? KeyRanges()
            try piece.keys.forEach { key throws(RealmError) in
                let value = try reader.valueBytes()
                if hidden.contains(key) {
                    reduced.byte(LogBytes.defaultMark)
                } else {
                    reduced.raw(value)
                }
            }
        }
        return Piece(keys: piece.keys, values: reduced.buffer)
    }

    private func make(
        _ version: UInt64, _ classKey: ClassKey, _ range: ClosedRange<ObjectKey>
    ) throws(RealmError) -> Piece {
        guard let table = tables?.table(classKey) else {
            throw RealmError(
                .invalidDatabase,
                "change log: has no values of objects of class \(classKey) that version \(version) created"
            )
        }
        let known = tables?.catalog.log?.unwritten.last {
            $0.version == version && $0.classKey == classKey
        }
        let objects = UnwrittenObjects(
            version: version, classKey: classKey, keys: KeyRanges(ranges: [range]),
            hasIntegers: known?.hasIntegers ?? false)
        made.removeAll()
        try made.initialValues(table, of: objects)
        return Piece(keys: objects.keys, values: made.buffer)
    }
}

extension ClosedRange<ObjectKey> {
    /// How many keys follow the first.
    var more: UInt64 { UInt64(bitPattern: upperBound.rawValue &- lowerBound.rawValue) }
}

extension LogBytes {
    /// What the log does not have of objects that nobody has touched, as one of the earlier values of a record.
    mutating func values(
        _ base: TableSet, before objects: UnwrittenObjects
    ) throws(RealmError) {
        guard let table = base.table(objects.classKey) else { return }
        var values = LogBytes()
        defer { values.deallocate() }
        try values.initialValues(table, of: objects)
        earlierValues(objects.version, objects.classKey, objects.keys, values.buffer)
    }

    /// One of the earlier values of a record; `values` as `initialValues` writes them.
    mutating func earlierValues(
        _ version: UInt64, _ classKey: ClassKey, _ keys: KeyRanges, _ values: UnsafeRawBufferPointer
    ) {
        number(version)
        number(UInt64(classKey.rawValue))
        self.keys(keys)
        text(values)
    }

    /// What the log does not have of the values of objects that differ from those of new ones, by column.
    mutating func initialValues(
        _ table: Table, of objects: UnwrittenObjects
    ) throws(RealmError) {
        let created = objects.keys
        let columns = created.isEmpty ? 0 : table.columnCount
        for column in 0..<columns
        where !table.columns[column].isVacated && objects.leavesOut(column, of: table) {
            let start = count
            number(column + 1)
            // No object has a primary key by itself.
            let orDefault = column != table.primaryKeyColumn
            if try values(table, created, column, orDefault: orDefault) { cut(to: start) }
        }
        byte(0)
    }

    /// Returns whether all are those of new objects.
    mutating func values(
        _ table: Table, _ keys: KeyRanges, _ column: Int, orDefault: Bool
    ) throws(RealmError) -> Bool {
        var isDefault = orDefault
        try table.forEachRun(keys) { run throws(RealmError) in
            if try !values(table, run, column, orDefault: orDefault) { isDefault = false }
        }
        return isDefault
    }
}
