// What only the place of a block in its tree can tell, asked before the block takes part in changes:
// its keys are in the range that its parent files it under. Reading need not know; a change that
// relied on it in a damaged file would put children in places where nobody finds them again.
//
// And how many blocks a walk can meet at most, so that a file in which blocks contain one another
// many times over does not keep a reader busy for ever.

extension Table {
    func checkBounds(_ view: LeafView, _ low: Int64, _ high: Int64) throws(RealmError) {
        let first = view.key(0)
        let last = view.key(view.rows - 1)
        guard first >= low, last < high || (high == .max && last == high) else {
            throw outOfRange("row leaf", first, last, low, high)
        }
    }

    func checkBounds(
        _ node: UnsafeRawPointer, _ low: Int64, _ high: Int64
    ) throws(RealmError) {
        let count = RowBranch.count(node)
        guard count > 1 else { return }
        let first = RowBranch.key(node, 1)
        let last = RowBranch.key(node, count - 1)
        guard first > low, last < high else {
            throw outOfRange("row branch", first, last, low, high)
        }
    }

    private func outOfRange(
        _ what: String, _ first: Int64, _ last: Int64, _ low: Int64, _ high: Int64
    ) -> RealmError {
        RealmError(
            .invalidDatabase,
            "class \(state.classKey.rawValue): \(what) with keys \(first) to \(last) is filed "
                + "under \(low) to \(high)")
    }

    /// More leaves than this are in no sound tree.
    var blocksMax: Int { state.nodes.blocksMax }
}

extension NodeSource {
    /// Blocks that the file and the transaction can hold.
    var blocksMax: Int {
        let pages = store._withUnsafeGuaranteedRef { $0.lockFile.filePages }
        return Int(pages) + (memory?.pointee.blocks.pageTotal ?? 0)
    }

    /// A walk met more blocks than there are.
    func endless() -> RealmError {
        RealmError(
            .invalidDatabase, "a tree has more blocks than the file, or more leaves than entries",
            path: store._withUnsafeGuaranteedRef { $0.path })
    }
}

extension ClassRoot {
    /// Totals that no file of `pages` pages can have.
    func checkTotals(pages: UInt64) throws(RealmError) {
        // An entry takes at least a bit of a page: rows are at most 2,048 in a leaf, index entries
        // fewer than a block has bytes.
        let entriesMax = Int(min(pages, 1 << 40)) * Page.size
        guard rows <= entriesMax, indexes.allSatisfy({ $0.entries <= entriesMax }) else {
            throw RealmError(
                .invalidDatabase,
                "catalog: class \(classKey.rawValue) has \(rows) rows in a file of \(pages) pages")
        }
    }
}
