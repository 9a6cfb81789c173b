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
        let newPages = pageTotal - transaction.pointee.pagesLeft
        let leafPages = Page.count(forBytes: leafBytesTarget)
        let sealedPages = state.sealedFronts.count * leafPages
        // Many with one another, whatever else stays in memory, so that they mostly fill a part of the file; of each
        // class, where several are filled in turns.
        guard
            (newPages > pagesMax && sealedPages >= pagesMax / 6 * 5)
                || (pageTotal > pagesMax && sealedPages >= pagesMax)
        else { return }
        let fronts = state.sealedFronts
        var placed = 0
        // With what their cells name.
        let pages = max(sealedPages, newPages)
        let replaced = lease.writeEarly(pages: pages) { blocks in
            for low in fronts {
                placeEarly(low, blocks)
                placed += 1
                if blocks.endsPart { break }
            }
        }
        state.sealedFronts.removeFirst(placed)
        for reference in replaced { memory.pointee.blocks.remove(reference) }
        // Those that were left to the next time count as new.
        transaction.pointee.pagesLeft = max(
            0, memory.pointee.blocks.pageTotal - state.sealedFronts.count * leafPages)
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
