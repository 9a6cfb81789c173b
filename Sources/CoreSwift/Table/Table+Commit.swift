// The end of a write transaction: leaves with many dead rows are rewritten and small ones merged,
// then every transient block gets its place in the commit's run, children before parents.

extension Table {
    var hasPendingChanges: Bool {
        for index in 0..<state.indexCount where state.indexes[index].pending.count > 0 {
            return true
        }
        return false
    }

    // MARK: Compacting

    /// Rewrites leaves whose rows are dead to more than an eighth, merges neighbours that fit
    /// one leaf, and drops empty ones. The table is settled before and after.
    func compactLeaves() throws(RealmError) {
        guard state.changes.isDirty, isWriting else { return }
        var empty: [ObjectKey] = []
        state.tree.forEachTransient(atLevel: 0) { leaf, low in
            if LeafView(UnsafeRawPointer(leaf)).liveRows == 0 { empty.append(low) }
        }
        for key in empty {
            let (place, _, _) = try state.tree.mutablePath(key)
            let reference = BlockReference(place)
            state.tree.removeChild()
            memory.pointee.drop(reference)
        }
        rowsMoved()
        if state.tree.depth == 0 {
            compactRootLeaf(state.tree.root)
        } else {
            state.tree.forEachTransient(atLevel: 1) { node, _ in compactBranch(node) }
        }
        state.tree.collapseRoot()
    }

    private func compactRootLeaf(_ reference: BlockReference) {
        guard reference.isTransient else { return }
        let view = LeafView(UnsafeRawPointer(memory.pointee.blocks.pointer(reference)))
        guard wantsRewrite(view) else { return }
        let open = LeafDecoder.open(
            view, infos: UnsafePointer(state.columns), columnCount: state.columnCount,
            extraRows: 1, lowKey: .min)
        state.tree.setRoot(encode(open), depth: 0)
        memory.pointee.drop(reference)
    }

    private func wantsRewrite(_ view: LeafView) -> Bool {
        (view.rows - view.liveRows) * 8 > view.rows
            || liveBytes(view) < leafBytesTarget / 3
    }

    private func liveBytes(_ view: LeafView) -> Int {
        view.bytesUsed * view.liveRows / max(view.rows, 1)
    }

    /// Merges runs of neighbouring leaves of one branch.
    private func compactBranch(_ node: UnsafeMutableRawPointer) {
        let count = RowBranch.count(node)
        var kept = 0
        var index = 0
        while index < count {
            let end = endOfRun(node, index, count)
            let key = RowBranch.key(node, index)
            if end == index + 1, !isRewritable(node, index, alone: true) {
                let reference = BlockReference(RowBranch.reference(node, index))
                let rows = RowBranch.rows(node, index)
                RowBranch.set(node, kept, key: key, rows: rows, reference: reference)
            } else {
                let (reference, rows) = merge(node, index..<end)
                RowBranch.set(node, kept, key: key, rows: rows, reference: reference)
            }
            kept += 1
            index = end
        }
        RowBranch.setCount(node, kept)
    }

    private func transientLeaf(_ node: UnsafeMutableRawPointer, _ index: Int) -> LeafView? {
        let reference = BlockReference(RowBranch.reference(node, index))
        guard reference.isTransient else { return nil }
        return LeafView(UnsafeRawPointer(memory.pointee.blocks.pointer(reference)))
    }

    /// Whether the leaf is to be rewritten; a small leaf alone has nobody to merge with.
    private func isRewritable(
        _ node: UnsafeMutableRawPointer, _ index: Int, alone: Bool
    ) -> Bool {
        guard let view = transientLeaf(node, index) else { return false }
        if alone { return (view.rows - view.liveRows) * 8 > view.rows }
        return wantsRewrite(view)
    }

    /// The end of the run of leaves from `start` on that merge into one.
    private func endOfRun(_ node: UnsafeMutableRawPointer, _ start: Int, _ count: Int) -> Int {
        guard isRewritable(node, start, alone: false), let first = transientLeaf(node, start)
        else { return start + 1 }
        var bytes = liveBytes(first)
        var rows = first.liveRows
        var end = start + 1
        while end < count, isRewritable(node, end, alone: false),
            let view = transientLeaf(node, end)
        {
            bytes += liveBytes(view)
            rows += view.liveRows
            // Decoding at full width may pack worse: stay below the target.
            if bytes > leafBytesTarget || rows > LeafLayout.rowsMax { break }
            end += 1
        }
        return end
    }

    private func merge(
        _ node: UnsafeMutableRawPointer, _ range: Range<Int>
    ) -> (BlockReference, Int) {
        var rows = 0
        for index in range { rows += transientLeaf(node, index)?.liveRows ?? 0 }
        let open = OpenLeaf.make(
            UnsafePointer(state.columns), count: state.columnCount, capacity: rows + 1,
            lowKey: .min)
        for index in range {
            guard let view = transientLeaf(node, index) else { continue }
            LeafDecoder.append(view, to: open, infos: UnsafePointer(state.columns))
        }
        let result = encode(open)
        for index in range {
            memory.pointee.drop(BlockReference(RowBranch.reference(node, index)))
        }
        return (result, rows)
    }

    /// Encodes an open leaf that is in no tree into one block and frees it.
    private func encode(_ open: UnsafeMutablePointer<OpenLeaf>) -> BlockReference {
        var encoder = LeafEncoder(
            open, infos: UnsafePointer(state.columns), tag: state.tree.leafTag)
        let rows = RowSelection(start: 0, count: open.pointee.rows)
        let block = encoder.makeBlock(rows, memory)
        OpenLeaf.end(open)
        return memory.pointee.blocks.add(block.memory, pages: block.pages)
    }

    // MARK: Placing

    /// Gives every transient block of the table its place in the commit and returns the class's
    /// entry for the catalog.
    func place(_ builder: CommitBuilder) -> ClassRoot {
        var result = ClassRoot(classKey: state.classKey)
        state.tree.place(builder) { placeCells(LeafView(UnsafeRawPointer($0)), builder) }
        result.depth = state.tree.depth
        result.nextKey = state.nextKey
        result.rows = state.rowCount
        result.root = state.tree.root
        for index in 0..<state.indexCount {
            let tree = state.indexes[index].tree
            placeIndex(tree.rootPlace, tree.depth, builder)
            builder.sealWaiting()
            result.indexes.append(
                IndexRoot(
                    column: state.indexes[index].column,
                    kind: state.indexes[index].kind, depth: tree.depth,
                    entries: tree.count, root: BlockReference(tree.rootPlace)))
        }
        return result
    }

    /// Gives the transient blocks that a sealed leaf's cells name their places: values, and the trees of collections.
    func placeCells(_ view: LeafView, _ placer: any BlockPlacer) {
        placeCells(view, state.columns, state.columnCount, property: -1, placer)
    }

    private func placeCells(
        _ view: LeafView, _ infos: UnsafePointer<ColumnInfo>, _ count: Int, property: Int,
        _ placer: any BlockPlacer
    ) {
        view.forEachExternal(infos, count) { record in
            let reference = BlockReference(record)
            guard reference.isTransient else { return }
            placer.place(
                memory.pointee.blocks.pointer(reference),
                pages: memory.pointee.blocks.pages(reference),
                at: UnsafeMutableRawPointer(mutating: record))
        }
        do throws(RealmError) {
            try NestedCell.trees(view, infos, count, property: property) {
                cell, layout throws(RealmError) in
                RowBranch.placeTree(
                    UnsafeMutableRawPointer(mutating: cell + CollectionCell.rootOffset),
                    CollectionRoot(cell).depth, memory, placer
                ) {
                    placeCells(
                        LeafView(UnsafeRawPointer($0)), layout.infos, layout.columnCount,
                        property: layout.property, placer)
                }
            }
        } catch {
            // The visitor throws nothing.
            invariant(false, error.message)
        }
    }

    private func placeIndex(
        _ place: UnsafeMutableRawPointer, _ level: Int, _ builder: CommitBuilder
    ) {
        let reference = BlockReference(place)
        guard reference.isTransient else { return }
        let node = memory.pointee.blocks.pointer(reference)
        if level > 0 {
            let branch = IndexBranch(node)
            for index in 0..<branch.count {
                placeIndex(
                    UnsafeMutableRawPointer(mutating: branch.reference(index)), level - 1,
                    builder)
            }
            builder.sealWaiting()
            builder.place(node, pages: memory.pointee.blocks.pages(reference)).store(place)
        } else {
            builder.placeLeaf(node, pages: memory.pointee.blocks.pages(reference), at: place)
        }
    }

    // MARK: The end

    /// Frees what the transaction held for this table. Roots are set anew by the caller unless
    /// the transaction was committed.
    func discardTransaction() {
        state.openLeaves.forEach(OpenLeaf.end)
        state.openLeaves = []
        state.sealedFronts = []
        discardCollections()
        state.openRows = 0
        state.appendLeaf = nil
        state.changes.end()
        state.tree.hasStaleCounts = false
        state.freshKey = .invalid
        for index in 0..<state.indexCount where state.indexes[index].pending.count > 0 {
            state.indexes[index].pending.clear()
        }
        clearFinger()
    }
}
