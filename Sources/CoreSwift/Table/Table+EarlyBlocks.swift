// Leaves that a long write transaction writes before it commits: those that its appended rows have filled.

extension Table {
    /// Writes the leaves that were sealed since the last time, if the transaction holds much memory. No
    /// collection is open, and nobody looks at rows.
    func writeEarly() {
        guard !state.sealedFronts.isEmpty, let transaction = state.transaction,
            let lease = transaction.pointee.earlyLease, lease.mayWriteEarly
        else { return }
        let pagesMax = lease.earlyPagesMin
        let pageTotal = memory.pointee.blocks.pageTotal
        // Many with one another, whatever else stays in memory; of each class, where several are filled in turns.
        guard
            pageTotal - transaction.pointee.pagesLeft > pagesMax
                || (pageTotal > pagesMax && state.sealedFronts.count >= pagesMax / 4)
        else { return }
        let fronts = state.sealedFronts
        state.sealedFronts = []
        let pages = fronts.count * Page.count(forBytes: leafBytesTarget)
        let replaced = lease.writeEarly(pages: pages) { blocks in
            for low in fronts { placeEarly(low, blocks) }
        }
        for reference in replaced { memory.pointee.blocks.remove(reference) }
        transaction.pointee.pagesLeft = memory.pointee.blocks.pageTotal
        rowsMoved()
    }

    /// The leaf that covers the key, if it is as it was sealed.
    private func placeEarly(_ low: ObjectKey, _ blocks: EarlyBlocks) {
        // Can't fail: branches above a transient leaf are in memory, and others are left alone.
        guard let (place, _, _) = try? state.tree.mutablePath(low) else { return }
        let reference = BlockReference(place)
        guard reference.isTransient, !memory.pointee.blocks.isOpenLeaf(reference) else { return }
        let block = memory.pointee.blocks.pointer(reference)
        let view = LeafView(UnsafeRawPointer(block))
        // One with dead rows may be rewritten at the commit.
        guard view.liveRows == view.rows else { return }
        state.tree.setRows(view.rows)
        placeCells(view, blocks)
        let pages = min(
            memory.pointee.blocks.pages(reference), Page.count(forBytes: view.bytesUsed))
        blocks.placeLeaf(block, pages: pages, at: place)
    }
}
