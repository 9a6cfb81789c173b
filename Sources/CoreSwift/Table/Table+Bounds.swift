// How many blocks a walk can meet at most, so that a file in which blocks contain one another many
// times over does not keep a reader busy for ever.

extension Table {
    /// More leaves than this are in no sound tree.
    var blocksMax: Int { state.nodes.blocksMax }
}

extension NodeSource {
    /// Blocks that the file and the transaction can hold.
    var blocksMax: Int {
        let pages = store._withUnsafeGuaranteedRef { $0.filePages }
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
                "catalog: class \(classKey) has \(rows) rows in a file of \(pages) pages")
        }
    }
}
