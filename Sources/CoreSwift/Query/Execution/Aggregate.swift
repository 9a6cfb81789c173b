// Minimum, maximum, sum and average of a property (docs/C_RULES, "Aggregates"): over a whole class
// leaf by leaf, or over a list of objects. Nulls and NaN are left out.

import CKernels

struct Aggregate {
    private let kind: AggregateKind
    private let column: Int
    private let info: ColumnInfo
    private let table: TableReader
    /// The leaf that comes next, if known: its column is prefetched.
    private var upcoming: LeafView?
    /// Values taken in.
    private var count = 0
    private var integerSum: Int64 = 0
    /// For averages, which must not wrap.
    private var wideSum: Int128 = 0
    private var sum = 0.0
    private var leastInteger = Int64.max
    private var greatestInteger = Int64.min
    private var least = Double.infinity
    private var greatest = -Double.infinity
    private var leastDate: Timestamp?
    private var greatestDate: Timestamp?
    /// Decimals and mixed values; strings and binaries point into the leaves.
    private var decimalSum = Decimal128.zero
    private var leastValue: RawValue?
    private var greatestValue: RawValue?

    /// Over all objects of the class.
    static func ofTable(
        _ kind: AggregateKind, _ table: TableReader, column: Int
    ) throws(RealmError) -> RawValue {
        var aggregate = try Aggregate(kind, table, column)
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
        var aggregate = try Aggregate(kind, table, column)
        try keys.withUnsafeBufferPointer { buffer throws(RealmError) in
            guard let start = buffer.baseAddress else { return }
            var runs = RowRuns(table, start, count: buffer.count)
            while let run = try runs.next() {
                if let leaf = run.leaf { try aggregate.add(leaf, run.row, run.count) }
            }
        }
        return aggregate.result
    }

    /// Over the values that `visit` hands out, of a collection of `table` whose elements are as
    /// `info` says.
    static func ofValues(
        _ kind: AggregateKind, _ info: ColumnInfo, _ table: TableReader,
        _ visit: ((RawValue) -> Void) throws(RealmError) -> Void
    ) throws(RealmError) -> RawValue {
        var aggregate = try Aggregate(kind, table, 0, info)
        try visit { aggregate.addValue($0) }
        return aggregate.result
    }

    /// The same for values of one kind that have no column.
    static func ofValues(
        _ kind: AggregateKind, _ valueKind: ColumnKind, _ table: TableReader,
        _ visit: ((RawValue) -> Void) throws(RealmError) -> Void
    ) throws(RealmError) -> RawValue {
        let info = ColumnInfo(
            kind: valueKind, isNullable: true, isKey: false, isPrimaryKey: false,
            valueType: valueKind.valueType.rawValue, linkTarget: .invalid, valueIndex: -1,
            inverseIndex: -1, propertyKey: .invalid)
        var aggregate = try Aggregate(kind, table, 0, info)
        try visit { aggregate.addValue($0) }
        return aggregate.result
    }

    private init(
        _ kind: AggregateKind, _ table: TableReader, _ column: Int, _ elements: ColumnInfo? = nil
    ) throws(RealmError) {
        self.kind = kind
        self.column = column
        self.table = table
        info = elements ?? table.column(column)
        let isDefined: Bool
        switch info.kind {
        case .int, .float, .double, .decimal, .mixed: isDefined = true
        case .timestamp: isDefined = kind == .minimum || kind == .maximum
        default: isDefined = false
        }
        guard isDefined else {
            throw RealmError(
                .illegalOperation,
                "\(kind.word) is not defined for properties of type \(info.kind.typeWord)")
        }
    }

    /// Null when no value was there; sums are zero then.
    private var result: RawValue {
        if info.kind == .decimal || info.kind == .mixed { return valueResult }
        switch kind {
        case .sum: return info.kind == .int ? .int(integerSum) : .double(sum)
        case .average:
            if count == 0 { return .null }
            let total = info.kind == .int ? Double(wideSum) : sum
            return .double(total / Double(count))
        case .minimum, .maximum:
            if count == 0 { return .null }
            let isMinimum = kind == .minimum
            switch info.kind {
            case .int: return .int(isMinimum ? leastInteger : greatestInteger)
            case .float: return .float(Float(isMinimum ? least : greatest))
            case .timestamp:
                guard let date = isMinimum ? leastDate : greatestDate else { return .null }
                return .timestamp(seconds: date.seconds, nanoseconds: date.nanoseconds)
            default: return .double(isMinimum ? least : greatest)
            }
        }
    }

    /// Of decimals and mixed values.
    private var valueResult: RawValue {
        switch kind {
        case .sum: return .decimal(decimalSum)
        case .average:
            return count == 0 ? .null : .decimal(decimalSum / Decimal128(Int64(count)))
        case .minimum: return leastValue ?? .null
        case .maximum: return greatestValue ?? .null
        }
    }

    // MARK: Rows

    /// Takes in rows first ..< first + count of a leaf, all alive.
    private mutating func add(
        _ leaf: LeafView, _ first: Int, _ count: Int
    ) throws(RealmError) {
        guard !info.isKey, info.kind != .mixed, let view = leaf.column(column, info),
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
        switch info.kind {
        case .int:
            if isWhole, kind == .minimum || kind == .maximum {
                self.count += count
                leastInteger = min(leastInteger, view.minimumInt)
                greatestInteger = max(greatestInteger, view.maximumInt)
            } else if isPlain, kind == .sum || kind == .average {
                addIntegers(view, first, count)
            } else {
                for row in first..<first + count where !view.isNull(row) {
                    addInteger(view.packed(row))
                }
            }
        case .double:
            if isWhole, kind == .minimum || kind == .maximum, view.flags.contains(.hasBounds) {
                self.count += count
                least = min(least, view.minimumDouble)
                greatest = max(greatest, view.maximumDouble)
            } else if isPlain, !view.flags.contains(.hasNaN), kind == .sum || kind == .average {
                self.count += count
                let next = upcoming?.column(column)?.data ?? view.data
                sum += Self.sum(view.data + first &* 8, count, ahead: next - view.data)
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
                addDecimal(view.fixed(row, .decimal))
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
        switch info.kind {
        case .int: addInteger(value.intValue)
        case .float: addDouble(Double(value.floatValue))
        case .double: addDouble(value.doubleValue)
        case .decimal: addDecimal(value)
        case .mixed: addMixed(value)
        default:
            addDate(Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds))
        }
    }

    @inline(__always) private mutating func addInteger(_ value: Int64) {
        count &+= 1
        integerSum &+= value
        if kind == .average { wideSum += Int128(value) }
        leastInteger = min(leastInteger, value)
        greatestInteger = max(greatestInteger, value)
    }

    @inline(__always) private mutating func addDouble(_ value: Double) {
        if value.isNaN { return }
        count &+= 1
        sum += value
        least = value < least ? value : least
        greatest = value > greatest ? value : greatest
    }

    private mutating func addDecimal(_ value: RawValue) {
        let number = value.decimalValue
        if number.isNaN { return }
        count &+= 1
        if kind == .sum || kind == .average {
            decimalSum = decimalSum + number
        } else {
            addExtreme(value)
        }
    }

    /// Sums take the numbers among mixed values, minimum and maximum every value.
    private mutating func addMixed(_ value: RawValue) {
        if ValueTest.isNaN(value) { return }
        guard kind == .sum || kind == .average else { return addExtreme(value) }
        guard ValueOrder.family(value) == .number else { return }
        count &+= 1
        decimalSum = decimalSum + ValueTest.decimal(value)
    }

    private mutating func addExtreme(_ value: RawValue) {
        if leastValue.map({ ValueOrder.compare(value, $0) < 0 }) ?? true { leastValue = value }
        if greatestValue.map({ ValueOrder.compare($0, value) < 0 }) ?? true {
            greatestValue = value
        }
    }

    private mutating func addDate(_ value: Timestamp) {
        count &+= 1
        if leastDate.map({ value < $0 }) ?? true { leastDate = value }
        if greatestDate.map({ $0 < value }) ?? true { greatestDate = value }
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
            for row in first..<first &+ count { addInteger(view.packed(row)) }
            return
        }
        self.count &+= count
        let total = Int128(view.base) * Int128(count) + Int128(deltas)
        integerSum &+= Int64(truncatingIfNeeded: total)
        wideSum += total
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
