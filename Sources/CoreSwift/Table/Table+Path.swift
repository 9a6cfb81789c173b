// The shape of a table's tree during a write transaction: making paths changeable, inserting and
// removing children, opening and sealing leaves.

extension Table {
    /// Makes every branch from the root to the leaf covering `key` transient and records the
    /// path. Returns where the leaf's reference stands, and the range of keys it covers.
    func mutablePath(
        _ key: Int64
    ) throws(RealmError) -> (place: UnsafeMutableRawPointer, low: Int64, high: Int64) {
        var place = state.rowPlace
        var low = Int64.min
        var high = Int64.max
        for level in stride(from: state.depth, to: 0, by: -1) {
            let node = try mutableBranch(place, level, low, high)
            let child = RowBranch.child(node, covering: key)
            state.pathNodes[state.depth - level] = node
            state.pathChildren[state.depth - level] = child
            if child > 0 { low = RowBranch.key(node, child) }
            if child + 1 < RowBranch.count(node) { high = RowBranch.key(node, child + 1) }
            place = UnsafeMutableRawPointer(mutating: RowBranch.reference(node, child))
        }
        return (place, low, high)
    }

    private func mutableBranch(
        _ place: UnsafeMutableRawPointer, _ level: Int, _ low: Int64, _ high: Int64
    ) throws(RealmError) -> UnsafeMutableRawPointer {
        let reference = BlockReference(place)
        if reference.isTransient { return memory.pointee.blocks.pointer(reference) }
        let node = try branch(place, level)
        try checkBounds(node, low, high)
        let copy = memory.pointee.blocks.allocate(pages: 1)
        memcpy(copy, node, Page.size)
        memory.pointee.drop(reference)
        memory.pointee.blocks.add(copy, pages: 1).store(place)
        return copy
    }

    /// Inserts a child after the leaf that `mutablePath` found last. The recorded path is stale
    /// afterwards.
    func insertChild(key: Int64, rows: Int, reference: BlockReference) {
        insertChild(at: state.depth - 1, key: key, rows: rows, reference: reference)
    }

    /// `position`: index into the recorded path, 0 = root branch; -1 = the root itself splits.
    private func insertChild(at position: Int, key: Int64, rows: Int, reference: BlockReference) {
        if position < 0 {
            let level = state.depth + 1
            let root = RowBranch.make(level: level, tag: state.branchTag, memory)
            RowBranch.set(
                root, 0, key: .min, rows: 0, reference: BlockReference(state.rowPlace))
            RowBranch.set(root, 1, key: key, rows: rows, reference: reference)
            RowBranch.setCount(root, 2)
            memory.pointee.blocks.add(root, pages: 1).store(state.rowPlace)
            state.depth = level
            return
        }
        let node = state.pathNodes[position]
        let index = state.pathChildren[position] + 1
        let count = RowBranch.count(node)
        if count < RowBranch.capacity {
            RowBranch.shift(node, from: index, by: 1)
            RowBranch.set(node, index, key: key, rows: rows, reference: reference)
            RowBranch.setCount(node, count + 1)
            return
        }
        // Appending at the right edge leaves full branches behind; elsewhere halves.
        let keep = index == count && isRightEdge(position) ? count : count / 2
        let right = RowBranch.make(level: RowBranch.level(node), tag: state.branchTag, memory)
        RowBranch.copy(node, keep..<count, to: right, at: 0)
        RowBranch.setCount(right, count - keep)
        RowBranch.setCount(node, keep)
        if index <= keep && keep < count {
            RowBranch.shift(node, from: index, by: 1)
            RowBranch.set(node, index, key: key, rows: rows, reference: reference)
            RowBranch.setCount(node, keep + 1)
        } else {
            RowBranch.shift(right, from: index - keep, by: 1)
            RowBranch.set(right, index - keep, key: key, rows: rows, reference: reference)
            RowBranch.setCount(right, count - keep + 1)
        }
        let rightKey = RowBranch.key(right, 0)
        let rightReference = memory.pointee.blocks.add(right, pages: 1)
        insertChild(at: position - 1, key: rightKey, rows: 0, reference: rightReference)
    }

    private func isRightEdge(_ position: Int) -> Bool {
        for above in 0..<position
        where state.pathChildren[above] + 1 != RowBranch.count(state.pathNodes[above]) {
            return false
        }
        return true
    }

    /// Removes the leaf that `mutablePath` found last from its parent; its block is dropped by
    /// the caller. Branches that become empty go with it.
    func removeChild() {
        var position = state.depth - 1
        while position >= 0 {
            let node = state.pathNodes[position]
            let index = state.pathChildren[position]
            let count = RowBranch.count(node)
            if count > 1 {
                let first = RowBranch.key(node, 0)
                RowBranch.shift(node, from: index + 1, by: -1)
                // The new first child takes over what was below it: were its own key to stay,
                // smaller ones that come later would split off behind it.
                RowBranch.setKey(node, 0, first)
                RowBranch.setCount(node, count - 1)
                return
            }
            // The branch loses its only child: it goes as well.
            let place =
                position == 0
                ? UnsafeRawPointer(state.rowPlace)
                : RowBranch.reference(
                    state.pathNodes[position - 1], state.pathChildren[position - 1])
            memory.pointee.drop(BlockReference(place))
            position -= 1
        }
        BlockReference.none.store(state.rowPlace)
        state.depth = 0
    }

    // MARK: Opening and sealing

    static var openRowsMax: Int { 2_000_000 }

    /// The open leaf that covers `key`, opened if it is not.
    func openLeaf(covering key: Int64) throws(RealmError) -> UnsafeMutablePointer<OpenLeaf> {
        if key >= state.fingerLow, key < state.fingerHigh, state.fingerState == .open {
            return state.fingerLeaf.assumingMemoryBound(to: OpenLeaf.self)
        }
        if state.openRows > Self.openRowsMax { try sealAll() }
        let (place, low, high) = try mutablePath(key)
        let reference = BlockReference(place)
        let leaf: UnsafeMutablePointer<OpenLeaf>
        if reference.isNone {
            leaf = OpenLeaf.make(
                UnsafePointer(state.columns), count: state.columnCount,
                capacity: LeafLayout.rowsMax, lowKey: low)
            leaf.pointee.reference = memory.pointee.blocks.add(leaf, pages: 0, isOpenLeaf: true)
        } else if reference.isTransient, memory.pointee.blocks.isOpenLeaf(reference) {
            leaf = memory.pointee.blocks.pointer(reference).assumingMemoryBound(
                to: OpenLeaf.self)
            pointFinger(leaf, low, high)
            return leaf
        } else {
            let view = LeafView(try self.leaf(place))
            try checkBounds(view, low, high)
            let extra = high == .max ? LeafLayout.rowsMax : max(64, view.liveRows / 2)
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
        pointFinger(leaf, low, high)
        if high == .max { state.appendLeaf = leaf }
        return leaf
    }

    private func pointFinger(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ low: Int64, _ high: Int64
    ) {
        state.fingerLeaf = UnsafeMutableRawPointer(leaf)
        state.fingerState = .open
        state.fingerLow = low
        state.fingerHigh = high
    }

    /// A leaf that holds `place`'s row as a transient sealed block with room for tombstones, so
    /// that it can be patched. The place is updated.
    func patchable(_ place: RowPlace, _ key: Int64) throws(RealmError) -> RowPlace {
        let view = place.view
        let pages = Page.count(forBytes: LeafPatch.bytesWithTombstones(view))
        let (parent, low, high) = try mutablePath(key)
        let reference = BlockReference(parent)
        if place.state == .transient, memory.pointee.blocks.pages(reference) >= pages {
            return place
        }
        if place.state == .sealed { try checkBounds(view, low, high) }
        let copy = memory.pointee.blocks.allocate(pages: pages)
        memcpy(copy, view.base, view.bytesUsed)
        let old = reference.isTransient ? memory.pointee.blocks.pages(reference) : 0
        if old > 0 {
            memory.pointee.blocks.replace(reference, with: copy, pages: pages)
        } else {
            memory.pointee.drop(reference)
            memory.pointee.blocks.add(copy, pages: pages).store(parent)
        }
        invariant(state.changes.isDirty)
        state.stamp.pointee &+= 1
        state.fingerLeaf = copy
        state.fingerState = .transient
        state.fingerLow = low
        state.fingerHigh = high
        return RowPlace(leaf: copy, row: place.row, state: .transient)
    }

    /// Seals an open leaf into as many blocks as its rows need; an empty one disappears. Frees
    /// the leaf; the caller takes it off `openLeaves`.
    private func seal(_ leaf: UnsafeMutablePointer<OpenLeaf>) throws(RealmError) {
        let (place, low, _) = try mutablePath(leaf.pointee.lowKey)
        let reference = leaf.pointee.reference
        invariant(BlockReference(place) == reference)
        let total = leaf.pointee.liveRows
        if leaf.pointee.countedRows != total { state.hasStaleCounts = true }
        if total == 0 {
            removeChild()
            memory.pointee.blocks.remove(reference)
        } else {
            let order = leaf.pointee.liveOrder()
            try sealRows(leaf, order, total, place, low)
        }
        state.openRows -= leaf.pointee.capacity
        leaf.pointee.deallocate()
        leaf.deallocate()
    }

    private func sealRows(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ order: [UInt16]?, _ total: Int,
        _ place: UnsafeMutableRawPointer, _ low: Int64
    ) throws(RealmError) {
        var encoder = LeafEncoder(
            leaf, infos: UnsafePointer(state.columns), tag: state.leafTag)
        let reference = leaf.pointee.reference
        func selection(_ start: Int, _ count: Int) -> RowSelection {
            RowSelection(list: nil, start: start, count: count)
        }
        var parts = 1
        let whole = total <= LeafLayout.rowsMax ? planned(&encoder, order, 0, total) : .max
        if whole > LeafLayout.bytesTarget + LeafLayout.bytesTarget / 8 {
            let bytes = whole == .max ? planned(&encoder, order, 0, LeafLayout.rowsMax) * 2 : whole
            parts = max(
                (bytes + LeafLayout.bytesTarget - 1) / LeafLayout.bytesTarget,
                (total + LeafLayout.rowsMax - 1) / LeafLayout.rowsMax)
        }
        var start = 0
        for part in 0..<parts {
            let end = total * (part + 1) / parts
            guard end > start else { continue }
            let size = planned(&encoder, order, start, end - start)
            let pages = Page.count(forBytes: size)
            let block = memory.pointee.blocks.allocate(pages: pages)
            written(encoder, order, start, end - start, block)
            if part == 0 {
                memory.pointee.blocks.replace(reference, with: block, pages: pages)
                setRows(place, end - start)
            } else {
                let first = leaf.pointee.keys[order.map { Int($0[start]) } ?? start]
                let added = memory.pointee.blocks.add(block, pages: pages)
                _ = try mutablePath(first)
                insertChild(key: first, rows: end - start, reference: added)
                state.hasStaleCounts = true
            }
            start = end
        }
        state.rowsPerLeaf = max(16, total / parts)
    }

    private func planned(
        _ encoder: inout LeafEncoder, _ order: [UInt16]?, _ start: Int, _ count: Int
    ) -> Int {
        guard let order else {
            return encoder.plan(RowSelection(list: nil, start: start, count: count))
        }
        return order.withUnsafeBufferPointer {
            encoder.plan(RowSelection(list: $0.baseAddress, start: start, count: count))
        }
    }

    private func written(
        _ encoder: LeafEncoder, _ order: [UInt16]?, _ start: Int, _ count: Int,
        _ block: UnsafeMutableRawPointer
    ) {
        guard let order else {
            encoder.write(RowSelection(list: nil, start: start, count: count), to: block)
            return
        }
        order.withUnsafeBufferPointer {
            encoder.write(
                RowSelection(list: $0.baseAddress, start: start, count: count), to: block)
        }
    }

    /// Corrects the row count that the parent of a leaf holds for it.
    private func setRows(_ place: UnsafeMutableRawPointer, _ rows: Int) {
        guard state.depth > 0 else { return }
        let last = state.depth - 1
        RowBranch.setRows(state.pathNodes[last], state.pathChildren[last], rows)
    }

    /// Seals every open leaf.
    func sealAll() throws(RealmError) {
        guard !state.openLeaves.isEmpty else { return }
        rowsMoved()
        state.appendLeaf = nil
        while let leaf = state.openLeaves.popLast() { try seal(leaf) }
        collapseRoot()
    }

    /// A root branch with one child is only in the way.
    func collapseRoot() {
        while state.depth > 0 {
            let root = BlockReference(state.rowPlace)
            guard root.isTransient else { return }
            let node = memory.pointee.blocks.pointer(root)
            guard RowBranch.count(node) == 1 else { return }
            let child = BlockReference(RowBranch.reference(node, 0))
            memory.pointee.drop(root)
            child.store(state.rowPlace)
            state.depth -= 1
        }
    }

    /// Seals the front of the append leaf as a full leaf and keeps the rest open.
    func sealAppended(_ leaf: UnsafeMutablePointer<OpenLeaf>) throws(RealmError) {
        guard leaf.pointee.order == nil, leaf.pointee.deadRows == 0 else {
            try sealAll()
            return
        }
        var encoder = LeafEncoder(
            leaf, infos: UnsafePointer(state.columns), tag: state.leafTag)
        var count = leaf.pointee.rows
        let target = LeafLayout.bytesTarget
        var size = encoder.plan(RowSelection(list: nil, start: 0, count: count))
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
            size = encoder.plan(RowSelection(list: nil, start: 0, count: count))
        }
        let pages = Page.count(forBytes: size)
        let block = memory.pointee.blocks.allocate(pages: pages)
        encoder.write(RowSelection(list: nil, start: 0, count: count), to: block)
        let (place, _, _) = try mutablePath(leaf.pointee.lowKey)
        let sealed = memory.pointee.blocks.add(block, pages: pages)
        sealed.store(place)
        setRows(place, count)
        state.hasStaleCounts = true
        let nextLow =
            count < leaf.pointee.rows
            ? leaf.pointee.keys[count] : leaf.pointee.keys[count - 1] + 1
        insertChild(key: nextLow, rows: 0, reference: leaf.pointee.reference)
        if count == leaf.pointee.rows {
            leaf.pointee.reset(lowKey: nextLow)
        } else {
            leaf.pointee.dropFirst(count, lowKey: nextLow)
            leaf.pointee.countedRows = 0
        }
        state.rowsPerLeaf = count + max(4, count / 64)
        rowsMoved()
    }

    // MARK: Settling

    /// Makes the tree ready for scans and for commit: every leaf sealed, counts exact, index
    /// changes merged.
    func settle() throws(RealmError) {
        try finishFresh()
        try flushCollections()
        try sealAll()
        if state.hasStaleCounts {
            _ = recount(BlockReference(state.rowPlace), state.depth)
            state.hasStaleCounts = false
        }
        for index in 0..<state.indexCount { try mergeIndex(index) }
    }

    func mergeIndex(_ index: Int) throws(RealmError) {
        try finishFresh()
        guard state.indexes[index].pending.count > 0 else { return }
        try state.indexes[index].pending.merge(
            into: &state.indexes[index].tree, memory: memory)
    }

    /// Recomputes the row counts of transient branches; returns the rows under `reference`.
    private func recount(_ reference: BlockReference, _ level: Int) -> Int {
        guard reference.isTransient else { return state.rowCount }
        let node = memory.pointee.blocks.pointer(reference)
        if level == 0 { return LeafView(UnsafeRawPointer(node)).liveRows }
        var total = 0
        for index in 0..<RowBranch.count(node) {
            let child = BlockReference(RowBranch.reference(node, index))
            if child.isTransient {
                RowBranch.setRows(node, index, recount(child, level - 1))
            }
            total += RowBranch.rows(node, index)
        }
        return total
    }
}
