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
    private var states: [ValueSums] = []
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
            states.append(contentsOf: repeatElement(ValueSums(), count: new - old))
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
        let view = column.words(run.leaf)
        if run.count >= 8, let view, !view.flags.contains(.hasNulls) {
            if form == .integers {
                view.unpack(run.row, run.count, from: view.base, words)
                return addWords(groups, run.count)
            }
            if column.kind == .double, !view.flags.contains(.hasNaN) {
                return addDoubles(
                    groups, view.data + run.row &* 8, run.count, column.ahead(view, run))
            }
        }
        var count = 0
        for offset in 0..<run.count {
            let word = try column.word(view, run.leaf, run.row &+ offset)
            take(word, groups[offset], &count, missing)
        }
        if form == .integers {
            addWords(numbers, count)
        } else {
            addDoubles(numbers, words, count, 0)
        }
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
            states[Int(groups[offset])].add(
                try column.value(run.leaf, run.row &+ offset), sums: needsSums, ranges: needsRanges)
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
        case .integers:
            var all = IntegerSums()
            forEachPart(group, later) { sums, place in
                if let entry = sums.integerSums?[place] {
                    all.total += Int128(entry.upper) << 32 + Int128(entry.lower)
                    all.count += Int(entry.count)
                }
                if let entry = sums.integerRanges?[place] {
                    all.addRange(entry.least, entry.greatest)
                }
            }
            return all.result(kind)
        case .doubles:
            var all = DoubleSums()
            forEachPart(group, later) { sums, place in
                if let entry = sums.doubleSums?[place] {
                    all.total += entry.sum
                    all.count += Int(entry.count)
                }
                if let entry = sums.doubleRanges?[place] {
                    all.addRange(entry.least, entry.greatest)
                }
            }
            return all.result(kind, isFloat: column.kind == .float)
        case .values: return states[group].result(kind)
        }
    }

    /// Calls `body` with each entry that a group has: of each part, and of those behind these rows.
    private func forEachPart(_ group: Int, _ later: GroupSums?, _ body: (GroupSums, Int) -> Void) {
        for sums in [self, later] {
            guard let sums else { continue }
            for part in 0..<sums.parts { body(sums, part * sums.capacity + group) }
        }
    }
}
