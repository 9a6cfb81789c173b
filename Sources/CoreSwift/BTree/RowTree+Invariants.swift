// Whether the invariants of a tree of rows hold (RowTree.swift): for tests, which ask after changes.

extension RowTree {
    /// Throws what does not hold of the branches. `leaf` says how many rows live in the leaf at a
    /// place, which covers the keys from `low` on and below `high`, and throws what does not hold of
    /// it. Returns the rows of the tree.
    func checkInvariants(
        countsAreExact: Bool,
        leaf: (_ place: UnsafeRawPointer, _ low: ObjectKey, _ high: ObjectKey) throws(RealmError) ->
            Int
    ) throws(RealmError) -> Int {
        if isEmpty {
            guard depth == 0 else { throw broken("has no root and \(depth) levels") }
            return 0
        }
        return try check(
            UnsafeRawPointer(rootPlace), depth, .min, .max, isParentTransient: nodes.memory != nil,
            countsAreExact && !hasStaleCounts, leaf)
    }

    func broken(_ fact: String) -> RealmError {
        RealmError(.runtime, "rows of class \(branchTag.rawValue >> 32): \(fact)")
    }

    private func check(
        _ place: UnsafeRawPointer, _ level: Int, _ low: ObjectKey, _ high: ObjectKey,
        isParentTransient: Bool, _ countsAreExact: Bool,
        _ leaf: (UnsafeRawPointer, ObjectKey, ObjectKey) throws(RealmError) -> Int
    ) throws(RealmError) -> Int {
        let isTransient = BlockReference(place).isTransient
        guard isParentTransient || !isTransient else {
            throw broken("1: a node from \(low) on is transient, the one above is not")
        }
        if level == 0 { return try leaf(place, low, high) }
        let node = try branch(place, level)
        let count = RowBranch.count(node)
        var total = 0
        for index in 0..<count {
            let first = index == 0 ? low : RowBranch.key(node, index)
            let end = index + 1 < count ? RowBranch.key(node, index + 1) : high
            guard index == 0 || first > low, first < end else {
                throw broken("child \(index) from \(first) to \(end) in a branch from \(low) on")
            }
            let child = RowBranch.reference(node, index)
            let rows = try check(
                child, level - 1, first, end, isParentTransient: isTransient, countsAreExact, leaf)
            let isKnown = countsAreExact || !BlockReference(child).isTransient
            guard !isKnown || rows == RowBranch.rows(node, index) else {
                throw broken("3: \(rows) rows from \(first) on, not \(RowBranch.rows(node, index))")
            }
            total += rows
        }
        return total
    }
}
