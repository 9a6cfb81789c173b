// Minimum, maximum, sum and average of a property (docs/C_RULES, "Aggregates"): over a whole class
// leaf by leaf, or over a list of objects. Nulls and NaN are left out.

import CKernels

struct Aggregate {
    private let kind: AggregateKind
    private let valueKind: ColumnKind
    private let column: Int
    /// Of a column of the class.
    private let info: ColumnInfo?
    private let table: TableReader
    /// The leaf that comes next, if known: its column is prefetched.
    private var upcoming: LeafView?
    private var integers = IntegerSums()
    private var doubles = DoubleSums()
    private var leastDate = Timestamp(seconds: .max, nanoseconds: .max)
    private var greatestDate = Timestamp(seconds: .min, nanoseconds: .min)
    /// Decimals and mixed values; strings and binaries point into the leaves.
    private var values = ValueSums()

    /// Over all objects of the class.
    static func ofTable(
        _ kind: AggregateKind, _ table: TableReader, column: Int
    ) throws(RealmError) -> RawValue {
        var aggregate = try Aggregate(kind, table, column, table.column(column).kind)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            if leaf.tombstones == nil {
                aggregate.upcoming = leaves.upcoming
                try aggregate.add(leaf, 0, leaf.rows)
                continue
            }
            for row in 0..<leaf.rows where !leaf.isDead(row) { try aggregate.add(leaf, row, 1) }
        }
        return aggregate.result
    }

    /// Over the objects with these keys; objects that are gone don't count.
    static func ofObjects(
        _ kind: AggregateKind, _ table: TableReader, column: Int, _ keys: [ObjectKey]
    ) throws(RealmError) -> RawValue {
        var aggregate = try Aggregate(kind, table, column, table.column(column).kind)
        try keys.withUnsafeBufferPointer { buffer throws(RealmError) in
            var runs = RowRuns(table, buffer)
            while let run = try runs.next() {
                if let leaf = run.leaf { try aggregate.add(leaf, run.row, run.count) }
            }
        }
        return aggregate.result
    }

    /// Over the values of one kind that `visit` hands out.
    @inline(never)
    static func ofValues(
        _ kind: AggregateKind, _ valueKind: ColumnKind, _ table: TableReader,
        _ visit: ((RawValue) -> Void) throws(RealmError) -> Void
    ) throws(RealmError) -> RawValue {
        var aggregate = try Aggregate(kind, table, -1, valueKind)
        try visit { aggregate.addValue($0) }
        return aggregate.result
    }

    private init(
        _ kind: AggregateKind, _ table: TableReader, _ column: Int, _ valueKind: ColumnKind
    ) throws(RealmError) {
        self.kind = kind
        self.column = column
        self.table = table
        info = column < 0 ? nil : table.column(column)
        self.valueKind = valueKind
        let isDefined: Bool
        switch valueKind {
        case .int, .float, .double, .decimal, .mixed: isDefined = true
        case .timestamp: isDefined = !kind.isSum
        default: isDefined = false
        }
        guard isDefined else {
            throw RealmError(
                .illegalOperation,
                "\(kind.word) is not defined for properties of type \(valueKind.typeWord)")
        }
    }

    /// Null when no value was there; sums are zero then.
    private var result: RawValue {
        switch valueKind {
        case .int: return integers.result(kind)
        case .float, .double: return doubles.result(kind, isFloat: valueKind == .float)
        case .decimal, .mixed: return values.result(kind)
        default:
            if greatestDate < leastDate { return .null }
            let date = kind == .minimum ? leastDate : greatestDate
            return .timestamp(seconds: date.seconds, nanoseconds: date.nanoseconds)
        }
    }

    // MARK: Rows

    /// Takes in rows first ..< first + count of a leaf, all alive.
    private mutating func add(
        _ leaf: LeafView, _ first: Int, _ count: Int
    ) throws(RealmError) {
        guard let info, !info.isKey, valueKind != .mixed, let view = leaf.column(column, info),
            view.encoding != .absent
        else {
            for row in first..<first + count {
                addValue(try table.value(leaf, row, column))
            }
            return
        }
        let isPlain = !view.flags.contains(.hasNulls)
        let isWhole =
            first == 0 && count == leaf.rows && isPlain && view.flags.contains(.boundsExact)
        switch valueKind {
        case .int:
            if isWhole, !kind.isSum {
                integers.addRange(view.minimumInt, view.maximumInt)
            } else if isPlain, kind.isSum {
                addIntegers(view, first, count)
            } else {
                for row in first..<first + count where !view.isNull(row) {
                    integers.add(view.packed(row))
                }
            }
        case .double:
            if isWhole, !kind.isSum, view.flags.contains(.hasBounds) {
                doubles.addRange(view.minimumDouble, view.maximumDouble)
            } else if isPlain, !view.flags.contains(.hasNaN), kind.isSum {
                doubles.count += count
                let next = upcoming?.column(column)?.data ?? view.data
                doubles.total += Self.sum(view.data + first &* 8, count, ahead: next - view.data)
            } else {
                for row in first..<first + count where !view.isNull(row) {
                    addDouble(view.double(row))
                }
            }
        case .float:
            for row in first..<first + count where !view.isNull(row) {
                addDouble(Double(view.float(row)))
            }
        case .decimal:
            for row in first..<first + count where !view.isNull(row) {
                addValue(view.fixed(row, .decimal))
            }
        default:
            for row in first..<first + count where !view.isNull(row) {
                addDate(
                    Timestamp(seconds: view.packed(row), nanoseconds: view.nanoseconds(row)))
            }
        }
    }

    private mutating func addValue(_ value: RawValue) {
        if value.isNull { return }
        switch valueKind {
        case .int: integers.add(value.intValue)
        case .float: addDouble(Double(value.floatValue))
        case .double: addDouble(value.doubleValue)
        // Sums take the numbers among mixed values, minimum and maximum every value.
        case .decimal, .mixed: values.add(value, sums: kind.isSum, ranges: !kind.isSum)
        default: addDate(Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds))
        }
    }

    @inline(__always) private mutating func addDouble(_ value: Double) {
        if !value.isNaN { doubles.add(value) }
    }

    private mutating func addDate(_ value: Timestamp) {
        leastDate = min(leastDate, value)
        greatestDate = max(greatestDate, value)
    }

    /// Sums deltas in their width, then adds the base once for all.
    private mutating func addIntegers(_ view: ColumnView, _ first: Int, _ count: Int) {
        let data = view.data
        var deltas: UInt64 = 0
        switch view.width {
        case 0: break
        case 1: for row in first..<first &+ count { deltas &+= UInt64(data.u8(row)) }
        case 2: for row in first..<first &+ count { deltas &+= UInt64(data.u16(row &* 2)) }
        case 4: for row in first..<first &+ count { deltas &+= UInt64(data.u32(row &* 4)) }
        default:
            for row in first..<first &+ count { integers.add(view.packed(row)) }
            return
        }
        integers.count &+= count
        integers.total += Int128(view.base) * Int128(count) + Int128(deltas)
    }

    /// Eight accumulators, added up in a fixed order: the result depends on the rows alone.
    /// What lies `ahead` bytes further is prefetched.
    @inline(__always)
    private static func sum(
        _ data: UnsafeRawPointer, _ count: Int, ahead: Int
    ) -> Double {
        var a = SIMD8<Double>.zero
        var b = SIMD8<Double>.zero
        var row = 0
        while row &+ 16 <= count {
            ck_prefetch(data + (row &* 8 &+ ahead))
            ck_prefetch(data + (row &* 8 &+ ahead &+ 64))
            a += data.loadUnaligned(fromByteOffset: row &* 8, as: SIMD8<Double>.self)
            b += data.loadUnaligned(fromByteOffset: row &* 8 &+ 64, as: SIMD8<Double>.self)
            row &+= 16
        }
        let both = a + b
        var total = both.evenHalf.sum() + both.oddHalf.sum()
        while row < count {
            total += Double(bitPattern: data.u64(row &* 8))
            row &+= 1
        }
        return total
    }
}

extension AggregateKind {
    /// Sum or average.
    var isSum: Bool { self == .sum || self == .average }
}
