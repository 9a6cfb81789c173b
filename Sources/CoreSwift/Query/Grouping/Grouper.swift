// Grouping: one pass over the rows. Of each run of neighbouring rows, first the number of each row's group is
// found (`GroupNumbers`), then each path's values are added to its tables (`GroupSums`). A class of many objects
// with dense numbers is cut in halves, which two cores go through at once where there are two; what
// comes out is the same where there is one.

import CKernels

struct Grouper {
    let grouping: Grouping
    let snapshot: SnapshotReader
    let table: TableReader

    /// Dense numbers go up to this; a table of that many entries is 1 MB.
    private static let denseMax = 1 << 16
    /// From so many objects on, two threads are worth starting.
    private static let halvesMin = 100_000

    /// The groups of these objects in the order of their first ones, which is that of `keys`; nil: all
    /// objects of the class. Keys of objects that are gone are left out.
    func table(of keys: [ObjectKey]?) throws(RealmError) -> GroupTable {
        let leaves = try leaves(keys)
        let ranges = denseRanges(leaves, keys?.count ?? table.rowCount)
        let first = try GroupHalf(grouping, snapshot, table, ranges)
        guard let keys else {
            guard ranges != nil, table.rowCount >= Self.halvesMin, takesHalves else {
                try first.add(leaves[...])
                return result(first, nil)
            }
            let second = try GroupHalf(grouping, snapshot, table, ranges)
            _ = try table.sharing { () throws(RealmError) in
                try TwoCores.run { half throws(RealmError) in
                    try (half == 0 ? first : second).add(leaves[leaves.indices.half(half)])
                }
            }
            return result(first, second)
        }
        try keys.withUnsafeBufferPointer { buffer throws(RealmError) in
            var runs = RowRuns(table, buffer)
            while let run = try runs.next() {
                guard let leaf = run.leaf else { continue }
                try first.add(GroupRun(leaf: leaf, row: run.row, count: run.count))
            }
        }
        return result(first, nil)
    }

    /// All leaves; none of few objects, for which looking at the bounds of all would not pay.
    private func leaves(_ keys: [ObjectKey]?) throws(RealmError) -> [LeafView] {
        if let keys, keys.count < 1024 || keys.count < table.rowCount / 16 { return [] }
        var leaves: [LeafView] = []
        var iterator = table.leaves()
        while let leaf = try iterator.next() { leaves.append(leaf) }
        return leaves
    }

    /// Two threads read nothing but leaves of the class.
    private var takesHalves: Bool {
        grouping.paths.allSatisfy {
            $0.isDirect && !table.isObjectKey($0.column)
                && ($0.kind == .int || $0.kind == .double || $0.kind == .float)
        }
    }

    // MARK: Dense numbers

    /// What lies between the bounds of each key; nil when that is too much for `count` objects, or not known.
    private func denseRanges(_ leaves: [LeafView], _ count: Int) -> [GroupNumbers.Range]? {
        if leaves.isEmpty { return nil }
        var ranges: [GroupNumbers.Range] = []
        var product = 1
        for key in grouping.keys {
            guard key.isDirect else { return nil }
            let info = table.column(key.column)
            guard !info.isKey, info.kind == .int || info.kind == .bool || info.kind == .link else {
                return nil
            }
            var bounds = Bounds()
            for leaf in leaves {
                guard bounds.add(leaf, info, key.column) else { return nil }
            }
            guard let range = bounds.range(max: Self.denseMax) else { return nil }
            product *= range.count
            guard product <= Self.denseMax else { return nil }
            ranges.append(range)
        }
        return product <= max(1024, count) ? ranges : nil
    }

    private struct Bounds {
        var least = Int64.max
        var greatest = Int64.min
        var hasNull = false

        /// False: a leaf does not tell.
        mutating func add(_ leaf: LeafView, _ info: ColumnInfo, _ column: Int) -> Bool {
            if info.kind == .bool {
                least = 0
                greatest = 1
            }
            guard let view = leaf.column(column, info), view.encoding != .absent else {
                if info.isNullable || info.kind == .link {
                    hasNull = true
                } else {
                    least = min(least, 0)
                    greatest = max(greatest, 0)
                }
                return true
            }
            if view.flags.contains(.hasNulls) { hasNull = true }
            if info.kind == .bool { return true }
            guard view.encoding == .packed else { return false }
            if view.flags.contains(.hasBounds) {
                least = min(least, view.minimumInt)
                greatest = max(greatest, view.maximumInt)
            }
            return true
        }

        func range(max most: Int) -> GroupNumbers.Range? {
            let nulls = hasNull ? 1 : 0
            guard least <= greatest else {
                return GroupNumbers.Range(least: 0, count: max(nulls, 1), hasNull: hasNull)
            }
            let (span, overflows) = greatest.subtractingReportingOverflow(least)
            guard !overflows, span < Int64(most) else { return nil }
            return GroupNumbers.Range(least: least, count: Int(span) + 1 + nulls, hasNull: hasNull)
        }
    }

    // MARK: Results

    private func result(_ half: GroupHalf, _ later: GroupHalf?) -> GroupTable {
        var order: [UInt32]
        if half.numbers.isDense {
            order = half.numbers.order
            if let later {
                let known = Set(order)
                order += later.numbers.order.filter { !known.contains($0) }
            }
        } else {
            order = (0..<half.numbers.count).map { UInt32($0) }
        }
        var values: [RawValue] = []
        values.reserveCapacity(order.count * grouping.columnCount)
        for number in order {
            let group = Int(number)
            half.numbers.append(group, to: &values)
            for aggregate in grouping.aggregates {
                switch aggregate {
                case .count:
                    values.append(.int(Int64(half.count(group) + (later?.count(group) ?? 0))))
                case .of(let kind, let path):
                    values.append(
                        half.sums[path].result(kind, group, later: later?.sums[path]))
                }
            }
        }
        return GroupTable(columnCount: grouping.columnCount, count: order.count, values)
    }
}
