// Sums, averages, minima and maxima of one path, by group. The rules are those of `Aggregate`: nulls and
// NaN are left out, sums of integers wrap and their averages don't, floats count as doubles, decimals and the
// numbers among mixed values are added as decimals. Sums of doubles are made in the order of the
// rows, in four interleaved parts where the numbers of groups are few: the result depends on the rows alone.

import CKernels

/// Used by one thread.
final class GroupSums {
    enum Form {
        case integers, doubles
        /// One by one: decimals and mixed values; of other types the extremes alone.
        case values
    }

    private struct ValueState {
        var count = 0
        var sum = Decimal128.zero
        var least: RawValue?
        var greatest: RawValue?
    }

    let column: GroupColumn
    let form: Form
    let needsSums: Bool
    private let needsRanges: Bool
    /// Groups there is room for.
    private var capacity: Int
    /// 4 or 1, see CKernelsGroups.h.
    private let parts: Int
    private var integerSums: UnsafeMutablePointer<ck_integer_sum>?
    private var doubleSums: UnsafeMutablePointer<ck_double_sum>?
    private var integerRanges: UnsafeMutablePointer<ck_integer_range>?
    private var doubleRanges: UnsafeMutablePointer<ck_double_range>?
    private var states: [ValueState] = []
    /// What is taken of a run: values, and the groups that they belong to.
    private let words: UnsafeMutablePointer<Int64>
    private let numbers: UnsafeMutablePointer<UInt32>

    init(
        _ column: GroupColumn, sums: Bool, ranges: Bool, capacity: Int, parts: Int
    ) {
        self.column = column
        switch column.kind {
        case .int: form = .integers
        case .float, .double: form = .doubles
        default: form = .values
        }
        needsSums = sums
        needsRanges = ranges
        self.capacity = 0
        self.parts = parts
        words = .allocate(capacity: LeafLayout.rowsMax)
        numbers = .allocate(capacity: LeafLayout.rowsMax)
        reserve(capacity)
    }

    deinit {
        words.deallocate()
        numbers.deallocate()
        integerSums?.deallocate()
        doubleSums?.deallocate()
        integerRanges?.deallocate()
        doubleRanges?.deallocate()
    }

    /// Makes room for so many groups. Tables of several parts don't grow.
    func reserve(_ count: Int) {
        guard count > capacity else { return }
        let old = capacity * parts
        capacity = max(count, capacity * 2)
        let new = capacity * parts
        switch form {
        case .integers:
            if needsSums { grow(&integerSums, old, new, ck_integer_sum()) }
            if needsRanges {
                grow(&integerRanges, old, new, ck_integer_range(least: .max, greatest: .min))
            }
        case .doubles:
            if needsSums { grow(&doubleSums, old, new, ck_double_sum()) }
            if needsRanges {
                grow(
                    &doubleRanges, old, new,
                    ck_double_range(least: .infinity, greatest: -.infinity))
            }
        case .values:
            states.append(contentsOf: repeatElement(ValueState(), count: new - old))
        }
    }

    private func grow<T>(
        _ table: inout UnsafeMutablePointer<T>?, _ old: Int, _ new: Int, _ empty: T
    ) {
        let larger = UnsafeMutablePointer<T>.allocate(capacity: new)
        if let table {
            larger.update(from: table, count: old)
            table.deallocate()
        }
        (larger + old).initialize(repeating: empty, count: new - old)
        table = larger
    }

    // MARK: Taking in

    /// Takes in the values of a run whose rows have these groups. `missing` gets one more for each row
    /// without a value, by group.
    func add(
        _ run: GroupRun, _ groups: UnsafePointer<UInt32>, missing: UnsafeMutablePointer<UInt64>?
    ) throws(RealmError) {
        if form == .values { return try addValues(run, groups) }
        guard let view = column.words(run.leaf) else { return try addSingly(run, groups, missing) }
        if run.count >= 8, !view.flags.contains(.hasNulls) {
            if form == .integers {
                readIntegers(view, run)
                return addWords(groups, run.count)
            }
            if column.kind == .double, !view.flags.contains(.hasNaN) {
                return addDoubles(
                    groups, view.data + run.row &* 8, run.count, column.ahead(view, run))
            }
        }
        var count = 0
        for offset in 0..<run.count {
            let row = run.row &+ offset
            let word = view.isNull(row) ? nil : column.word(view, row)
            take(word, groups[offset], &count, missing)
        }
        addTaken(count)
    }

    private func addSingly(
        _ run: GroupRun, _ groups: UnsafePointer<UInt32>, _ missing: UnsafeMutablePointer<UInt64>?
    ) throws(RealmError) {
        var count = 0
        for offset in 0..<run.count {
            let value = try column.value(run.leaf, run.row &+ offset)
            var word: Int64?
            if !value.isNull {
                switch column.kind {
                case .int: word = value.intValue
                case .float: word = Int64(bitPattern: Double(value.floatValue).bitPattern)
                default: word = Int64(bitPattern: value.doubleValue.bitPattern)
                }
            }
            take(word, groups[offset], &count, missing)
        }
        addTaken(count)
    }

    /// Appends a value that counts.
    @inline(__always) private func take(
        _ word: Int64?, _ group: UInt32, _ count: inout Int,
        _ missing: UnsafeMutablePointer<UInt64>?
    ) {
        guard let word, form == .integers || !Double(bitPattern: UInt64(bitPattern: word)).isNaN
        else {
            missing?[Int(group)] &+= 1
            return
        }
        words[count] = word
        numbers[count] = group
        count &+= 1
    }

    private func addTaken(_ count: Int) {
        if form == .integers {
            addWords(numbers, count)
        } else {
            addDoubles(numbers, words, count, 0)
        }
    }

    private func readIntegers(_ view: ColumnView, _ run: GroupRun) {
        let base = view.base
        let data = view.data
        switch view.width {
        case 0: for row in 0..<run.count { words[row] = base }
        case 1:
            for row in 0..<run.count {
                words[row] = base &+ Int64(data.u8(run.row &+ row))
            }
        case 2:
            for row in 0..<run.count {
                words[row] = base &+ Int64(data.u16((run.row &+ row) &* 2))
            }
        case 4:
            for row in 0..<run.count {
                words[row] = base &+ Int64(data.u32((run.row &+ row) &* 4))
            }
        default:
            for row in 0..<run.count {
                words[row] = base &+ data.i64((run.row &+ row) &* 8)
            }
        }
    }

    private var part: Int { parts == 1 ? 0 : capacity }

    private func addWords(_ groups: UnsafePointer<UInt32>, _ count: Int) {
        if needsSums { ck_group_sum_i64(groups, words, count, integerSums, part) }
        if needsRanges { ck_group_range_i64(groups, words, count, integerRanges, part) }
    }

    private func addDoubles(
        _ groups: UnsafePointer<UInt32>, _ values: UnsafeRawPointer, _ count: Int, _ ahead: Int
    ) {
        if needsSums { ck_group_sum_f64(groups, values, count, ahead, doubleSums, part) }
        if needsRanges { ck_group_range_f64(groups, values, count, ahead, doubleRanges, part) }
    }

    private func addValues(
        _ run: GroupRun, _ groups: UnsafePointer<UInt32>
    ) throws(RealmError) {
        for offset in 0..<run.count {
            let value = try column.value(run.leaf, run.row &+ offset)
            if value.isNull || ValueTest.isNaN(value) { continue }
            let group = Int(groups[offset])
            if needsRanges {
                if states[group].least.map({ ValueOrder.compare(value, $0) < 0 }) ?? true {
                    states[group].least = value
                }
                if states[group].greatest.map({ ValueOrder.compare($0, value) < 0 }) ?? true {
                    states[group].greatest = value
                }
            }
            if needsSums, ValueOrder.family(value) == .number {
                states[group].count &+= 1
                states[group].sum = states[group].sum + ValueTest.decimal(value)
            }
        }
    }

    // MARK: Results

    /// How many values a group has; of numbers with sums.
    func count(_ group: Int) -> Int {
        var count = 0
        for part in 0..<parts {
            let place = part &* capacity &+ group
            if let integerSums { count &+= Int(integerSums[place].count) }
            // Whole numbers are exact up to 2^53.
            if let doubleSums { count &+= Int(doubleSums[place].count) }
        }
        return count
    }

    /// `later`: the same of the rows behind these.
    func result(_ kind: AggregateKind, _ group: Int, later: GroupSums?) -> RawValue {
        switch form {
        case .integers: return integer(kind, group, later)
        case .doubles: return double(kind, group, later)
        case .values: return value(kind, group)
        }
    }

    private func integer(_ kind: AggregateKind, _ group: Int, _ later: GroupSums?) -> RawValue {
        var total: Int128 = 0
        var count = 0
        var least = Int64.max
        var greatest = Int64.min
        for sums in [self, later] {
            guard let sums else { continue }
            for part in 0..<sums.parts {
                let place = part * sums.capacity + group
                if let entry = sums.integerSums?[place] {
                    total += Int128(entry.upper) << 32 + Int128(entry.lower)
                    count += Int(entry.count)
                }
                if let entry = sums.integerRanges?[place] {
                    least = min(least, entry.least)
                    greatest = max(greatest, entry.greatest)
                }
            }
        }
        switch kind {
        case .sum: return .int(Int64(truncatingIfNeeded: total))
        case .average: return count == 0 ? .null : .double(Double(total) / Double(count))
        case .minimum: return greatest < least ? .null : .int(least)
        case .maximum: return greatest < least ? .null : .int(greatest)
        }
    }

    private func double(_ kind: AggregateKind, _ group: Int, _ later: GroupSums?) -> RawValue {
        var total = 0.0
        var count = 0.0
        var least = Double.infinity
        var greatest = -Double.infinity
        for sums in [self, later] {
            guard let sums else { continue }
            for part in 0..<sums.parts {
                let place = part * sums.capacity + group
                if let entry = sums.doubleSums?[place] {
                    total += entry.sum
                    count += entry.count
                }
                if let entry = sums.doubleRanges?[place] {
                    least = min(least, entry.least)
                    greatest = max(greatest, entry.greatest)
                }
            }
        }
        let isFloat = column.kind == .float
        switch kind {
        case .sum: return .double(total)
        case .average: return count == 0 ? .null : .double(total / count)
        case .minimum, .maximum:
            if greatest < least { return .null }
            let extreme = kind == .minimum ? least : greatest
            return isFloat ? .float(Float(extreme)) : .double(extreme)
        }
    }

    private func value(_ kind: AggregateKind, _ group: Int) -> RawValue {
        let state = states[group]
        switch kind {
        case .sum: return .decimal(state.sum)
        case .average:
            return state.count == 0 ? .null : .decimal(state.sum / Decimal128(Int64(state.count)))
        case .minimum: return state.least ?? .null
        case .maximum: return state.greatest ?? .null
        }
    }
}
