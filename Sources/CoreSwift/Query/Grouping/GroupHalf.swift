// What is computed of all rows of a grouping, or of those of one half (`Grouper`).

import CKernels

/// Used by one thread.
final class GroupHalf {
    let numbers: GroupNumbers
    /// One for each path of the grouping.
    let sums: [GroupSums]
    private let counting: Counting
    /// Objects by group: all, or those that `counting` does not know of.
    private var counts: UnsafeMutablePointer<UInt64>
    private var capacity: Int
    private let parts: Int
    /// Numbers of the rows of a run.
    private let scratch: UnsafeMutablePointer<UInt32>

    private enum Counting {
        /// Nobody asked.
        case none
        case all
        /// The sums at this place count the objects that have a value, `counts` the others.
        case besides(Int)
    }

    /// With so few groups, tables of four parts stay in the fast cache.
    private static let partsMax = 512

    /// `ranges`: numbers are dense.
    init(
        _ grouping: Grouping, _ snapshot: SnapshotReader, _ table: TableReader,
        _ ranges: [GroupNumbers.Range]?
    ) throws(RealmError) {
        var keys: [GroupColumn] = []
        for key in grouping.keys { keys.append(try GroupColumn(key, snapshot, table)) }
        numbers = GroupNumbers(keys, ranges ?? [])
        capacity = ranges == nil ? 64 : numbers.capacity
        parts = ranges != nil && capacity <= Self.partsMax ? 4 : 1
        var sums: [GroupSums] = []
        for (index, path) in grouping.paths.enumerated() {
            let kinds = grouping.kinds(ofPath: index)
            sums.append(
                GroupSums(
                    try GroupColumn(path, snapshot, table), sums: kinds.contains { $0.isSum },
                    ranges: kinds.contains { !$0.isSum }, capacity: capacity, parts: parts))
        }
        self.sums = sums
        if !grouping.isCounted {
            counting = .none
        } else if let first = sums.firstIndex(where: { $0.needsSums && $0.form != .values }) {
            counting = .besides(first)
        } else {
            counting = .all
        }
        counts = .allocate(capacity: capacity * parts)
        counts.initialize(repeating: 0, count: capacity * parts)
        scratch = .allocate(capacity: LeafLayout.rowsMax)
    }

    deinit {
        counts.deallocate()
        scratch.deallocate()
    }

    // MARK: Rows

    /// Takes in the rows of leaves, one after another.
    func add(_ leaves: ArraySlice<LeafView>) throws(RealmError) {
        for index in leaves.indices {
            let next = index + 1 < leaves.endIndex ? leaves[index + 1] : nil
            if index + 2 < leaves.endIndex {
                // The directory, which tells where the columns of the next leaf but one are.
                let start = leaves[index + 2].base
                ck_prefetch(start)
                ck_prefetch(start + 64)
                ck_prefetch(start + 128)
            }
            try add(leaves[index], upcoming: next)
        }
    }

    /// Takes in the rows of a leaf that are alive.
    private func add(_ leaf: LeafView, upcoming: LeafView?) throws(RealmError) {
        let rows = leaf.rows
        guard leaf.tombstones != nil else {
            return try add(GroupRun(leaf: leaf, row: 0, count: rows, upcoming: upcoming))
        }
        var row = 0
        while row < rows {
            if leaf.isDead(row) {
                row += 1
                continue
            }
            var end = row + 1
            while end < rows, !leaf.isDead(end) { end += 1 }
            try add(GroupRun(leaf: leaf, row: row, count: end - row, upcoming: nil))
            row = end
        }
    }

    func add(_ run: GroupRun) throws(RealmError) {
        if run.count == 0 { return }
        try numbers.number(run, scratch)
        if !numbers.isDense, numbers.count > capacity { grow() }
        var besides = -1
        switch counting {
        case .none: break
        case .all: ck_group_count(scratch, run.count, counts, parts == 1 ? 0 : capacity)
        case .besides(let place): besides = place
        }
        for index in sums.indices {
            try sums[index].add(run, scratch, missing: index == besides ? counts : nil)
        }
    }

    /// Numbers that are not dense have tables of one part.
    private func grow() {
        let larger = max(numbers.count, capacity * 2)
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: larger)
        memory.update(from: counts, count: capacity)
        (memory + capacity).initialize(repeating: 0, count: larger - capacity)
        counts.deallocate()
        counts = memory
        capacity = larger
        for sum in sums { sum.reserve(larger) }
    }

    // MARK: Results

    /// Objects of a group, if they are counted.
    func count(_ group: Int) -> Int {
        var count = 0
        for part in 0..<parts { count += Int(counts[part * capacity + group]) }
        if case .besides(let place) = counting { count += sums[place].count(group) }
        return count
    }
}
