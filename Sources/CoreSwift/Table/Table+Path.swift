// The leaves of a table's tree during a write transaction: opening, patching and sealing them. The
// branches above are `RowTree`'s.

extension Table {
    // MARK: Opening and sealing

    static var openRowsMax: Int { 2_000_000 }

    /// The open leaf that covers `key`, opened if it is not.
    func openLeaf(covering key: ObjectKey) throws(RealmError) -> UnsafeMutablePointer<OpenLeaf> {
        if key >= state.fingerLow, key < state.fingerHigh, state.fingerState == .open {
            return state.fingerLeaf.assumingMemoryBound(to: OpenLeaf.self)
        }
        if state.openRows > Self.openRowsMax { try sealAll() }
        let (place, low, high) = try state.tree.mutablePath(key)
        let reference = BlockReference(place)
        let leaf: UnsafeMutablePointer<OpenLeaf>
        if reference.isNone {
            leaf = makeOpenLeaf(lowKey: low)
        } else if reference.isTransient, memory.pointee.blocks.isOpenLeaf(reference) {
            leaf = memory.pointee.blocks.pointer(reference).assumingMemoryBound(
                to: OpenLeaf.self)
            pointFinger(at: leaf, .open, low, high)
            return leaf
        } else {
            let view = LeafView(try self.leaf(place))
            try checkKeys(view, low, high)
            willOpenRows()
            let extra = endsRange(key, high) ? LeafLayout.rowsMax : max(64, view.liveRows / 2)
            leaf = LeafDecoder.open(
                view, infos: UnsafePointer(state.columns), columnCount: state.columnCount,
                extraRows: extra, lowKey: low)
            leaf.pointee.countedRows = view.liveRows
            memory.pointee.drop(reference)
            leaf.pointee.reference = memory.pointee.blocks.add(leaf, pages: 0, isOpenLeaf: true)
        }
        leaf.pointee.reference.store(place)
        state.openLeaves.append(leaf)
        state.openRows += leaf.pointee.capacity
        invariant(state.changes.isDirty)
        rowsMoved()
        pointFinger(at: leaf, .open, low, high)
        if high == .max { state.appendLeaf = leaf }
        return leaf
    }

    private func checkKeys(_ view: LeafView, _ low: ObjectKey, _ high: ObjectKey) throws(RealmError)
    {
        try state.tree.checkLeaf(keys: view.key(0), view.key(view.rows - 1), low, high)
    }

    /// An empty leaf, which its parent is to name.
    func makeOpenLeaf(lowKey: ObjectKey) -> UnsafeMutablePointer<OpenLeaf> {
        let leaf = OpenLeaf.make(
            UnsafePointer(state.columns), count: state.columnCount,
            capacity: LeafLayout.rowsMax, lowKey: lowKey)
        leaf.pointee.reference = memory.pointee.blocks.add(leaf, pages: 0, isOpenLeaf: true)
        return leaf
    }

    /// A leaf that holds `place`'s row as a transient sealed block with room for tombstones, so
    /// that it can be patched. The place is updated.
    func patchable(_ place: RowPlace, _ key: ObjectKey) throws(RealmError) -> RowPlace {
        let view = place.view
        let pages = Page.count(forBytes: LeafPatch.bytesWithTombstones(view))
        let (parent, low, high) = try state.tree.mutablePath(key)
        let reference = BlockReference(parent)
        if place.state == .transient, memory.pointee.blocks.pages(reference) >= pages {
            return place
        }
        if place.state == .sealed { try checkKeys(view, low, high) }
        let copy = memory.pointee.blocks.allocate(
            pages: pages, copying: view.base, view.bytesUsed)
        let old = reference.isTransient ? memory.pointee.blocks.pages(reference) : 0
        if old > 0 {
            memory.pointee.blocks.replace(reference, with: copy, pages: pages)
        } else {
            memory.pointee.drop(reference)
            memory.pointee.blocks.add(copy, pages: pages).store(parent)
        }
        invariant(state.changes.isDirty)
        state.stamp.pointee &+= 1
        pointFinger(at: copy, .transient, low, high)
        return RowPlace(leaf: copy, row: place.row, state: .transient)
    }

    /// Seals an open leaf into as many blocks as its rows need; an empty one disappears. Frees
    /// the leaf; the caller takes it off `openLeaves`.
    private func seal(_ leaf: UnsafeMutablePointer<OpenLeaf>) throws(RealmError) {
        let (place, _, _) = try state.tree.mutablePath(leaf.pointee.lowKey)
        let reference = leaf.pointee.reference
        invariant(BlockReference(place) == reference)
        let total = leaf.pointee.liveRows
        if leaf.pointee.countedRows != total { state.tree.hasStaleCounts = true }
        if total == 0 {
            state.tree.removeChild()
            memory.pointee.blocks.remove(reference)
        } else {
            if let order = leaf.pointee.liveOrder() {
                try order.withUnsafeBufferPointer { order throws(RealmError) in
                    try sealRows(
                        leaf, RowSelection(list: order.baseAddress, start: 0, count: total))
                }
            } else {
                try sealRows(leaf, RowSelection(start: 0, count: total))
            }
        }
        state.openRows -= leaf.pointee.capacity
        OpenLeaf.end(leaf)
    }

    private func sealRows(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ rows: RowSelection
    ) throws(RealmError) {
        var encoder = LeafEncoder(
            leaf, infos: UnsafePointer(state.columns), tag: state.tree.leafTag)
        let reference = leaf.pointee.reference
        let total = rows.count
        var parts = 1
        let whole = total <= LeafLayout.rowsMax ? encoder.plan(rows) : .max
        let target = leafBytesTarget
        if whole > target + target / 8 {
            let bytes = whole == .max ? encoder.plan(rows[0..<LeafLayout.rowsMax]) * 2 : whole
            let wanted = max(
                (bytes + target - 1) / target,
                (total + LeafLayout.rowsMax - 1) / LeafLayout.rowsMax)
            // A part has a row at least: rows may be longer than a leaf should be.
            parts = max(1, min(wanted, total))
        }
        var start = 0
        for part in 0..<parts {
            let end = self.end(of: part, of: parts, total, start) { row in
                leaf.pointee.keys[rows[row]]
            }
            guard end > start else { continue }
            let own = rows[start..<end]
            let block = encoder.makeBlock(own, memory)
            if part == 0 {
                memory.pointee.blocks.replace(reference, with: block.memory, pages: block.pages)
                state.tree.setRows(end - start)
            } else {
                let first = leaf.pointee.keys[rows[start]]
                let added = memory.pointee.blocks.add(block.memory, pages: block.pages)
                _ = try state.tree.mutablePath(first)
                state.tree.insertChild(key: first, rows: end - start, reference: added)
                state.tree.hasStaleCounts = true
            }
            start = end
        }
        state.rowsPerLeaf = max(16, total / parts)
    }

    /// Where a part of the rows of a leaf ends: about as long as the others, but where the keys of
    /// another client begin (`ClientKeys`), if that is near. So each client's last leaf gets only
    /// rows behind its own, and is full in the end.
    private func end(
        of part: Int, of parts: Int, _ total: Int, _ start: Int, _ key: (Int) -> ObjectKey
    ) -> Int {
        let end = total * (part + 1) / parts
        guard end < total, isGiven(key(0)),
            ClientKeys.of(key(0)) != ClientKeys.of(key(total - 1))
        else { return end }
        let reach = total / parts / 2
        for distance in 0..<reach {
            for row in [end - distance, end + distance]
            where row > start && row < total && row - start <= LeafLayout.rowsMax
                && ClientKeys.of(key(row - 1)) != ClientKeys.of(key(row))
            {
                return row
            }
        }
        return end
    }

    /// Seals every open leaf.
    func sealAll() throws(RealmError) {
        guard !state.openLeaves.isEmpty else { return }
        rowsMoved()
        state.appendLeaf = nil
        while let leaf = state.openLeaves.popLast() { try seal(leaf) }
        didSealRows()
        state.tree.collapseRoot()
    }

    /// Seals the front of the append leaf as a full leaf and keeps the rest open.
    func sealAppended(_ leaf: UnsafeMutablePointer<OpenLeaf>) throws(RealmError) {
        guard leaf.pointee.order == nil, leaf.pointee.deadRows == 0 else {
            try sealAll()
            return
        }
        var encoder = LeafEncoder(
            leaf, infos: UnsafePointer(state.columns), tag: state.tree.leafTag)
        var count = leaf.pointee.rows
        let target = leafBytesTarget
        var size = encoder.plan(RowSelection(start: 0, count: count))
        if size < target * 15 / 16 && count < LeafLayout.rowsMax - LeafLayout.rowsMax / 32 {
            // Room for more: aim higher and go on.
            let fitting = count * (target - 256) / max(size, 1)
            state.rowsPerLeaf = min(LeafLayout.rowsMax, max(count + 16, fitting))
            return
        }
        if count > LeafLayout.rowsMax { size = .max }
        while size > target && count > 1 {
            let next = size == .max ? LeafLayout.rowsMax : count * target / size
            count = max(1, min(next, count - max(1, count / 128)))
            size = encoder.plan(RowSelection(start: 0, count: count))
        }
        let block = encoder.makeBlock(
            RowSelection(start: 0, count: count), planned: size, memory)
        let (place, _, _) = try state.tree.mutablePath(leaf.pointee.lowKey)
        let sealed = memory.pointee.blocks.add(block.memory, pages: block.pages)
        sealed.store(place)
        state.sealedFronts.append(leaf.pointee.lowKey)
        state.tree.setRows(count)
        state.tree.hasStaleCounts = true
        let nextLow =
            count < leaf.pointee.rows
            ? leaf.pointee.keys[count] : leaf.pointee.keys[count - 1].advanced(by: 1)
        state.tree.insertChild(key: nextLow, rows: 0, reference: leaf.pointee.reference)
        if count == leaf.pointee.rows {
            leaf.pointee.reset(lowKey: nextLow)
        } else {
            leaf.pointee.dropFirst(count, lowKey: nextLow)
            leaf.pointee.countedRows = 0
        }
        state.rowsPerLeaf = count + max(4, count / 64)
        noteSealedFront(leaf)
        rowsMoved()
    }

    // MARK: Settling

    /// Makes the tree ready for scans and for commit: every leaf sealed, counts exact, index
    /// changes merged.
    func settle() throws(RealmError) {
        try finishFresh()
        try flushCollections()
        try sealAll()
        state.tree.recount { LeafView($0).liveRows }
        for index in 0..<state.indexCount { try mergeIndex(index) }
    }

    func mergeIndex(_ index: Int, keepsMemory: Bool = false) throws(RealmError) {
        try finishFresh()
        guard state.indexes[index].pending.count > 0 else { return }
        try state.indexes[index].pending.merge(
            into: &state.indexes[index].tree, memory: memory, keepsMemory: keepsMemory)
    }
}
