// The first rows of a class in some order, without listing all of its objects: a histogram of the
// first sort key over the leaves gives a bound, and only rows within it are sorted.

import CKernels

struct LeadingRows {
    private let table: TableReader
    private let column: Int
    private let info: ColumnInfo
    private let kind: ColumnKind
    private let descending: Bool
    private let minimum: Int
    /// Least and greatest value of the column, as ordered words.
    private var least = UInt64.max
    private var greatest: UInt64 = 0
    private var shift: UInt64 = 0

    private static let bucketCount = 4096

    /// Ascending keys of the objects that can be among the first `minimum` ones by `key`; nil when
    /// this column does not tell them apart well enough.
    static func candidates(
        _ minimum: Int, by key: OrderingKey, _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        guard key.hops.isEmpty, key.program == nil, !table.isObjectKey(key.column),
            table.rowCount > 4096
        else {
            return nil
        }
        switch key.kind {
        case .int, .double, .timestamp, .link: break
        default: return nil
        }
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
        guard try findBounds() else { return nil }
        let range = greatest &- least
        let bits = range == 0 ? 1 : 64 - range.leadingZeroBitCount
        shift = UInt64(max(0, bits - 12))
        var nulls = 0
        var counts = [Int](repeating: 0, count: Self.bucketCount)
        try counts.withUnsafeMutableBufferPointer { buffer throws(RealmError) in
            guard let start = buffer.baseAddress else { return }
            nulls = try countBuckets(start)
        }
        // Nulls come first in ascending order, last in descending.
        var total = descending ? 0 : nulls
        var last = -1
        while total < minimum, last + 1 < Self.bucketCount {
            last += 1
            total += counts[descending ? Self.bucketCount - 1 - last : last]
        }
        let takesNulls = !descending || total < minimum
        if takesNulls && descending { total += nulls }
        guard total < table.rowCount / 2 else { return nil }
        return try collect(last, takesNulls, total)
    }

    // MARK: Passes

    /// Bounds of the whole column; false when some leaf has none but holds values.
    private mutating func findBounds() throws(RealmError) -> Bool {
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            guard let view = leaf.column(column, info), view.encoding != .absent else {
                if info.isNullable { continue }
                // Defaults: all zero.
                let zero = kind == .double ? GatheredKey.ordered(0) : UInt64(1) << 63
                least = min(least, zero)
                greatest = max(greatest, zero)
                continue
            }
            guard view.flags.contains(.hasBounds), !view.flags.contains(.hasNaN) else {
                return false
            }
            if kind == .double {
                least = min(least, GatheredKey.ordered(view.minimumDouble))
                greatest = max(greatest, GatheredKey.ordered(view.maximumDouble))
            } else {
                least = min(least, Self.ordered(view.minimumInt))
                greatest = max(greatest, Self.ordered(view.maximumInt))
            }
        }
        return least <= greatest
    }

    @inline(__always) private static func ordered(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: value) ^ (1 << 63)
    }

    /// Counts values by bucket; returns the number of nulls.
    private func countBuckets(_ counts: UnsafeMutablePointer<Int>) throws(RealmError) -> Int {
        var nulls = 0
        var leaves = table.leaves()
        let shift = shift
        let least = least
        while let leaf = try leaves.next() {
            guard let view = leaf.column(column, info), view.encoding != .absent else {
                if info.isNullable {
                    nulls += leaf.liveRows
                } else {
                    let zero = kind == .double ? GatheredKey.ordered(0) : UInt64(1) << 63
                    counts[Int((zero &- least) >> shift)] += leaf.liveRows
                }
                continue
            }
            let isPlain = leaf.tombstones == nil && view.nulls == nil
            if isPlain, kind != .double {
                Self.countPacked(view, counts, least, shift)
                continue
            }
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                if view.isNull(row) {
                    nulls += 1
                } else {
                    counts[Int((word(view, row) &- least) >> shift)] += 1
                }
            }
        }
        return nulls
    }

    @inline(__always)
    private static func countPacked(
        _ view: ColumnView, _ counts: UnsafeMutablePointer<Int>, _ least: UInt64, _ shift: UInt64
    ) {
        let base = ordered(view.base) &- least
        let data = view.data
        let rows = view.rows
        switch view.width {
        case 0: counts[Int(base >> shift)] &+= rows
        case 1:
            for row in 0..<rows { counts[Int((base &+ UInt64(data.u8(row))) >> shift)] &+= 1 }
        case 2:
            for row in 0..<rows {
                counts[Int((base &+ UInt64(data.u16(row &* 2))) >> shift)] &+= 1
            }
        case 4:
            for row in 0..<rows {
                counts[Int((base &+ UInt64(data.u32(row &* 4))) >> shift)] &+= 1
            }
        default:
            for row in 0..<rows { counts[Int((base &+ data.u64(row &* 8)) >> shift)] &+= 1 }
        }
    }

    @inline(__always) private func word(_ view: ColumnView, _ row: Int) -> UInt64 {
        kind == .double ? GatheredKey.ordered(view.double(row)) : Self.ordered(view.packed(row))
    }

    /// Keys of the rows in the first `last + 1` buckets (from the top in descending order).
    private func collect(
        _ last: Int, _ takesNulls: Bool, _ total: Int
    ) throws(RealmError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        keys.reserveCapacity(total)
        let low: UInt64
        let high: UInt64
        if descending {
            let bucket = UInt64(Self.bucketCount - 1 - last)
            low = last < 0 ? .max : least &+ bucket << shift
            high = .max
        } else {
            low = 0
            let (end, overflow) = (UInt64(last + 1) << shift).addingReportingOverflow(least)
            high = last < 0 ? 0 : overflow ? .max : end &- 1
        }
        let takesValues = last >= 0
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        defer { bitmap.deallocate() }
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            guard let view = leaf.column(column, info), view.encoding != .absent else {
                let zero = kind == .double ? GatheredKey.ordered(0) : UInt64(1) << 63
                let takes =
                    info.isNullable
                    ? takesNulls : takesValues && zero >= low && zero <= high
                guard takes else { continue }
                for row in 0..<leaf.rows where !leaf.isDead(row) { keys.append(leaf.key(row)) }
                continue
            }
            if kind != .double, leaf.tombstones == nil, view.nulls == nil {
                guard takesValues else { continue }
                Self.mask(view, low, high, bitmap)
                Selection.append(leaf, bitmap, &keys)
                continue
            }
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                if view.isNull(row) {
                    if takesNulls { keys.append(leaf.key(row)) }
                } else if takesValues {
                    let word = word(view, row)
                    if word >= low && word <= high { keys.append(leaf.key(row)) }
                }
            }
        }
        return keys
    }

    private static func mask(
        _ view: ColumnView, _ low: UInt64, _ high: UInt64, _ bitmap: Bitmap
    ) {
        let sign: UInt64 = 1 << 63
        LeafFilter.mask(
            view, Int64(bitPattern: low ^ sign), Int64(bitPattern: high ^ sign), bitmap)
    }
}
