// Objects that a large transaction created, while the log of its consumers has their keys and not their values. As
// long as nobody touches them they are what they were when they were created, so who reads the log finds the
// values in the version that is read. The first commit that touches one writes the values of before
// to its own record, as *earlier values*.
//
// Invariants
//   1. Objects that `LogDirectory.unwritten` names are there, and no commit has touched them since they were created.
//   2. Those that a record has left out are named there, or a later record has their earlier values, once. A
//      commit that changes the schema writes those of all.
//
// In a record (`RecordEncoder`), as one text: { version, class key, keys, values as text }.

/// What the log does not have of the objects that a version created.
struct UnwrittenObjects: Equatable {
    /// Bounds what catalogs hold of them.
    static let runsMax = 128

    let version: UInt64
    let classKey: ClassKey
    var keys: KeyRanges
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

    /// Of the objects that a version created of a class.
    struct Cursor {
        fileprivate let source: UnwrittenValues
        fileprivate let version: UInt64
        fileprivate let classKey: ClassKey
        fileprivate var earlier: [Piece]
        /// Those whose values are in the version that is read.
        fileprivate var rest: [ClosedRange<ObjectKey>]

        /// Its values are there until the next one is asked for.
        mutating func next() throws(RealmError) -> Piece? {
            if let piece = earlier.popLast() { return piece }
            guard let range = rest.popLast() else { return nil }
            // A forged record may name the greatest keys that there are.
            let more = min(
                range.upperBound.rawValue - range.lowerBound.rawValue, Int64(pieceObjects - 1))
            let last = range.lowerBound.advanced(by: Int(more))
            if last < range.upperBound { rest.append(last.advanced(by: 1)...range.upperBound) }
            return try source.make(version, classKey, range.lowerBound...last)
        }
    }

    /// Values of so many objects are made at a time.
    private static let pieceObjects = 4096

    /// The version that is read; nil: all that is asked for is in records.
    private let tables: TableSet?
    private var earlier: [Name: [Piece]] = [:]
    private var made = LogBytes()

    init(_ tables: TableSet?) { self.tables = tables }

    deinit { made.deallocate() }

    /// Notes the earlier values that a record has.
    func note(_ text: UnsafeRawBufferPointer) throws(RealmError) {
        var reader = LogByteReader(text)
        while !reader.isAtEnd {
            let version = try reader.number()
            let classKey = ClassKey(rawValue: UInt32(truncatingIfNeeded: try reader.number()))
            var keys = KeyRanges()
            try reader.keys { keys.insert($0) }
            earlier[Name(version: version, classKey: classKey), default: []].append(
                Piece(keys: keys, values: try reader.text()))
        }
    }

    func cursor(_ version: UInt64, _ classKey: ClassKey, _ keys: KeyRanges) -> Cursor {
        let known = earlier[Name(version: version, classKey: classKey)] ?? []
        var rest = keys
        for piece in known { rest.subtract(piece.keys) }
        return Cursor(
            source: self, version: version, classKey: classKey, earlier: known.reversed(),
            rest: rest.ranges.reversed())
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
        var keys = KeyRanges()
        keys.insert(range)
        made.removeAll()
        try made.initialValues(table, keys)
        return Piece(keys: keys, values: made.buffer)
    }
}

extension LogBytes {
    /// One of the earlier values of a record; `values` as `initialValues` writes them.
    mutating func earlierValues(
        _ version: UInt64, _ classKey: ClassKey, _ keys: KeyRanges, _ values: UnsafeRawBufferPointer
    ) {
        number(version)
        number(UInt64(classKey.rawValue))
        self.keys(keys)
        text(values)
    }

    /// The values of created objects that differ from those of new ones, by column.
    mutating func initialValues(_ table: Table, _ created: KeyRanges) throws(RealmError) {
        let columns = created.isEmpty ? 0 : table.columnCount
        for column in 0..<columns where !table.columns[column].isVacated {
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
