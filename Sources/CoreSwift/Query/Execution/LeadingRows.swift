// The first rows of a class in some order, without listing all of its objects. Leaves whose bounds promise the first
// values are looked at before others, and those that cannot have any more not at all.

import CKernels

struct LeadingRows {
    private let table: TableReader
    private let column: Int
    private let info: ColumnInfo
    private let kind: ColumnKind
    private let descending: Bool
    private let minimum: Int
    /// Of the rows that may be among the first ones: their values as words whose order is wanted, and keys.
    private var words: [UInt64] = []
    private var keys: [ObjectKey] = []
    /// Rows with a greater word are not.
    private var last = UInt64.max

    /// Ascending keys of the objects that can be among the first `minimum` ones by `key`; nil when
    /// this column does not tell them apart well enough.
    static func candidates(
        _ minimum: Int, by key: OrderingKey, _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        guard key.isDirect, !table.isObjectKey(key.column),
            [.int, .double, .timestamp, .link].contains(key.kind), table.rowCount > 4096
        else { return nil }
        var rows = LeadingRows(table, key, minimum)
        return try rows.run()
    }

    private init(_ table: TableReader, _ key: OrderingKey, _ minimum: Int) {
        self.table = table
        column = key.column
        info = table.column(key.column)
        kind = key.kind
        descending = key.descending
        self.minimum = minimum
    }

    private mutating func run() throws(RealmError) -> [ObjectKey]? {
        var order: [(least: UInt64, leaf: LeafView)] = []
        var leaves = table.leaves()
        while let leaf = try leaves.next() { order.append((least(leaf), leaf)) }
        order.sort { $0.least < $1.least }
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        let found = UnsafeMutablePointer<(word: UInt64, key: ObjectKey)>.allocate(
            capacity: LeafLayout.rowsMax)
        defer {
            bitmap.deallocate()
            found.deallocate()
        }
        var room = 2 * minimum + 128
        for (least, leaf) in order where least <= last {
            take(leaf, bitmap, found)
            if keys.count >= min(room, table.rowCount / 2) {
                cut()
                room = 2 * keys.count + 128
            }
            if keys.count >= table.rowCount / 2 { return nil }
        }
        cut()
        return keys.count < table.rowCount / 2 ? KeyList.union(keys) : nil
    }

    /// Leaves out what comes behind the first `minimum` rows and those that are about like the last of them.
    private mutating func cut() {
        guard keys.count > minimum else { return }
        last = words.withUnsafeBufferPointer { WordSort.bound(minimum, of: $0) }
        var kept = 0
        for place in words.indices where words[place] <= last {
            words[kept] = words[place]
            keys[kept] = keys[place]
            kept += 1
        }
        words.removeLast(words.count - kept)
        keys.removeLast(keys.count - kept)
    }

    // MARK: Leaves

    private func ordered(_ word: UInt64) -> UInt64 { descending ? ~word : word }

    /// What orders an integer, or the least of all: null.
    private func word(_ integer: Int64?) -> UInt64 {
        ordered(integer.map { UInt64(bitPattern: $0) ^ 1 << 63 } ?? 0)
    }

    private func word(_ double: Double) -> UInt64 { ordered(GatheredKey.ordered(double)) }

    /// The word of a column that a leaf does not have: of null, or of zero.
    private var absent: UInt64 {
        info.isNullable || kind == .link ? word(nil) : kind == .double ? word(0.0) : word(0)
    }

    /// No row of a leaf has a lesser word.
    private func least(_ leaf: LeafView) -> UInt64 {
        guard let view = leaf.column(column, info), view.encoding != .absent else { return absent }
        let hasLeast = !view.flags.contains(.hasNulls) && !view.flags.contains(.hasNaN)
        guard view.flags.contains(.hasBounds), descending || hasLeast else { return 0 }
        if kind == .double { return word(descending ? view.maximumDouble : view.minimumDouble) }
        return word(descending ? view.maximumInt : view.minimumInt)
    }

    /// Takes in the rows of a leaf that may be among the first ones; `found` has room for all of its rows.
    private mutating func take(
        _ leaf: LeafView, _ bitmap: Bitmap,
        _ found: UnsafeMutablePointer<(word: UInt64, key: ObjectKey)>
    ) {
        let view = leaf.column(column, info).flatMap { $0.encoding == .absent ? nil : $0 }
        Bits.live(leaf, bitmap)
        if kind != .double, let view, leaf.tombstones == nil, view.nulls == nil {
            let bound = Int64(bitPattern: ordered(last) ^ 1 << 63)
            LeafFilter.mask(view, descending ? bound : .min, descending ? .max : bound, bitmap)
        }
        var count = 0
        Bits.forEach(bitmap, Bits.words(leaf.rows)) { row in
            let word =
                if let view {
                    view.isNull(row)
                        ? word(nil)
                        : kind == .double ? word(view.double(row)) : word(view.packed(row))
                } else { absent }
            if word <= last {
                found[count] = (word, leaf.key(row))
                count &+= 1
            }
        }
        let rows = UnsafeBufferPointer(start: found, count: count)
        words.append(contentsOf: rows.lazy.map(\.word))
        keys.append(contentsOf: rows.lazy.map(\.key))
    }
}
