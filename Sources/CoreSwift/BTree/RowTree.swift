// The tree of the rows of a class, keyed by object key: finding the leaf that covers a key, and in a
// write transaction its shape. Branches are RowBranch.swift; of leaves it knows no more than that
// they are blocks: what is in them is told by its owner, a table, which seals and opens them.
//
// Invariants in a write transaction
//   1. Every branch between the root and a transient leaf is transient.
//   2. `path` holds what `mutablePath` found last, until the tree changes its shape.
//   3. The row counts in transient branches are exact unless `hasStaleCounts`.

import CKernels

struct RowTree {
    private struct Step {
        var node: UnsafeMutableRawPointer
        var child: Int
    }

    /// Levels of branches that a tree can have.
    static let depthMax = 16

    var nodes: NodeSource
    let leafTag: BlockTag
    let branchTag: BlockTag
    /// 32 bytes that hold the root's reference.
    let rootPlace: UnsafeMutableRawPointer
    /// Branch levels above the leaves.
    private(set) var depth = 0
    /// Some transient branch has stale row counts.
    var hasStaleCounts = false
    /// Branches from the root down and the child taken in each.
    private let path: UnsafeMutablePointer<Step>

    init(_ nodes: NodeSource, classKey: ClassKey) {
        self.nodes = nodes
        leafTag = BlockTag(.rowLeaf, classKey: classKey)
        branchTag = BlockTag(.rowBranch, classKey: classKey)
        rootPlace = .allocate(byteCount: BlockReference.byteCount, alignment: 8)
        BlockReference.none.store(rootPlace)
        path = .allocate(capacity: Self.depthMax)
    }

    func deallocate() {
        rootPlace.deallocate()
        path.deallocate()
    }

    var root: BlockReference { BlockReference(rootPlace) }
    var isEmpty: Bool { root.isNone }

    /// Makes it the tree of a version.
    mutating func setRoot(_ root: BlockReference, depth: Int) {
        root.store(rootPlace)
        self.depth = depth
    }

    private var memory: UnsafeMutablePointer<TransactionMemory> {
        nodes.memory.unsafelyUnwrapped
    }

    // MARK: Descending

    @inline(__always)
    func branch(_ place: UnsafeRawPointer, _ level: Int) throws(RealmError) -> UnsafeRawPointer {
        if let node = nodes.resolved(place, branchTag), RowBranch.level(node) == level {
            return node
        }
        return try nodes.admit(BlockReference(place), branchTag, level, RowBranch.check)
    }

    /// Where the reference of the leaf stands that covers the key, and the keys that it covers
    /// (up to `high`, or all where that is the greatest). The tree is not empty.
    @inline(__always)
    func leafPlace(
        covering key: ObjectKey
    ) throws(RealmError) -> (place: UnsafeRawPointer, low: ObjectKey, high: ObjectKey) {
        var place = UnsafeRawPointer(rootPlace)
        var low = ObjectKey.min
        var high = ObjectKey.max
        for level in stride(from: depth, to: 0, by: -1) {
            let node = try branch(place, level)
            let child = RowBranch.child(node, covering: key)
            if child > 0 { low = RowBranch.key(node, child) }
            if child + 1 < RowBranch.count(node) { high = RowBranch.key(node, child + 1) }
            place = RowBranch.reference(node, child)
        }
        return (place, low, high)
    }

    // MARK: Changing

    /// Makes every branch from the root to the leaf covering `key` transient and records the
    /// path. Returns where the leaf's reference stands, and the range of keys it covers.
    func mutablePath(
        _ key: ObjectKey
    ) throws(RealmError) -> (place: UnsafeMutableRawPointer, low: ObjectKey, high: ObjectKey) {
        var place = rootPlace
        var low = ObjectKey.min
        var high = ObjectKey.max
        for level in stride(from: depth, to: 0, by: -1) {
            let node = try mutableBranch(place, level, low, high)
            let child = RowBranch.child(node, covering: key)
            path[depth - level] = Step(node: node, child: child)
            if child > 0 { low = RowBranch.key(node, child) }
            if child + 1 < RowBranch.count(node) { high = RowBranch.key(node, child + 1) }
            place = UnsafeMutableRawPointer(mutating: RowBranch.reference(node, child))
        }
        return (place, low, high)
    }

    private func mutableBranch(
        _ place: UnsafeMutableRawPointer, _ level: Int, _ low: ObjectKey, _ high: ObjectKey
    ) throws(RealmError) -> UnsafeMutableRawPointer {
        let reference = BlockReference(place)
        if reference.isTransient { return memory.pointee.blocks.pointer(reference) }
        let node = try branch(place, level)
        let count = RowBranch.count(node)
        if count > 1 {
            let first = RowBranch.key(node, 1)
            let last = RowBranch.key(node, count - 1)
            guard first > low, last < high else {
                throw outOfRange("row branch", first, last, low, high)
            }
        }
        let copy = memory.pointee.blocks.allocate(pages: 1, copying: node, Page.size)
        memory.pointee.drop(reference)
        memory.pointee.blocks.add(copy, pages: 1).store(place)
        return copy
    }

    /// What only the place of a leaf in the tree can tell, asked before it takes part in changes: its
    /// keys are in the range that its parent files it under. Reading need not know; a change that
    /// relied on it in a damaged file would put children in places where nobody finds them again.
    func checkLeaf(
        keys first: ObjectKey, _ last: ObjectKey, _ low: ObjectKey, _ high: ObjectKey
    ) throws(RealmError) {
        guard first >= low, last < high || (high == .max && last == high) else {
            throw outOfRange("row leaf", first, last, low, high)
        }
    }

    private func outOfRange(
        _ what: String, _ first: ObjectKey, _ last: ObjectKey, _ low: ObjectKey, _ high: ObjectKey
    ) -> RealmError {
        RealmError(
            .invalidDatabase,
            "class \(branchTag.rawValue >> 32): \(what) with keys \(first) to \(last) is filed "
                + "under \(low) to \(high)")
    }

    /// Inserts a child after the leaf that `mutablePath` found last. The recorded path is stale
    /// afterwards.
    mutating func insertChild(key: ObjectKey, rows: Int, reference: BlockReference) {
        insertChild(at: depth - 1, key: key, rows: rows, reference: reference)
    }

    /// `position`: index into the recorded path, 0 = root branch; -1 = the root itself splits.
    private mutating func insertChild(
        at position: Int, key: ObjectKey, rows: Int, reference: BlockReference
    ) {
        if position < 0 {
            let level = depth + 1
            let node = RowBranch.make(level: level, tag: branchTag, memory)
            RowBranch.set(node, 0, key: .min, rows: 0, reference: root)
            RowBranch.set(node, 1, key: key, rows: rows, reference: reference)
            RowBranch.setCount(node, 2)
            memory.pointee.blocks.add(node, pages: 1).store(rootPlace)
            depth = level
            return
        }
        let node = path[position].node
        let index = path[position].child + 1
        let count = RowBranch.count(node)
        if count < RowBranch.capacity {
            return RowBranch.insert(node, index, key: key, rows: rows, reference: reference)
        }
        // Appending at the right edge leaves full branches behind; elsewhere halves.
        let keep = index == count && isRightEdge(position) ? count : count / 2
        let right = RowBranch.make(level: RowBranch.level(node), tag: branchTag, memory)
        RowBranch.copy(node, keep..<count, to: right, at: 0)
        RowBranch.setCount(right, count - keep)
        RowBranch.setCount(node, keep)
        if index <= keep && keep < count {
            RowBranch.insert(node, index, key: key, rows: rows, reference: reference)
        } else {
            RowBranch.insert(right, index - keep, key: key, rows: rows, reference: reference)
        }
        let rightKey = RowBranch.key(right, 0)
        let rightReference = memory.pointee.blocks.add(right, pages: 1)
        insertChild(at: position - 1, key: rightKey, rows: 0, reference: rightReference)
    }

    private func isRightEdge(_ position: Int) -> Bool {
        for above in 0..<position where path[above].child + 1 != RowBranch.count(path[above].node) {
            return false
        }
        return true
    }

    /// Removes the leaf that `mutablePath` found last from its parent; its block is dropped by
    /// the caller. Branches that become empty go with it.
    mutating func removeChild() {
        var position = depth - 1
        while position >= 0 {
            let node = path[position].node
            let index = path[position].child
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
                ? UnsafeRawPointer(rootPlace)
                : RowBranch.reference(path[position - 1].node, path[position - 1].child)
            memory.pointee.drop(BlockReference(place))
            position -= 1
        }
        setRoot(.none, depth: 0)
    }

    /// A root branch with one child is only in the way.
    mutating func collapseRoot() {
        while depth > 0 {
            let root = root
            guard root.isTransient else { return }
            let node = memory.pointee.blocks.pointer(root)
            guard RowBranch.count(node) == 1 else { return }
            let child = BlockReference(RowBranch.reference(node, 0))
            memory.pointee.drop(root)
            setRoot(child, depth: depth - 1)
        }
    }

    // MARK: Counts

    /// Corrects the count that the parent holds for the leaf that `mutablePath` found last.
    func setRows(_ rows: Int) {
        guard depth > 0 else { return }
        RowBranch.setRows(path[depth - 1].node, path[depth - 1].child, rows)
    }

    /// Corrects the count that the root holds for a child.
    func setRows(ofRootChild index: Int, _ rows: Int) {
        RowBranch.setRows(memory.pointee.blocks.pointer(root), index, rows)
    }

    /// Recomputes the counts in transient branches, if some are stale.
    mutating func recount(_ liveRows: (UnsafeRawPointer) -> Int) {
        guard hasStaleCounts else { return }
        hasStaleCounts = false
        if depth > 0, root.isTransient { _ = recount(root, depth, liveRows) }
    }

    /// Returns the rows under a transient node.
    private func recount(
        _ reference: BlockReference, _ level: Int, _ liveRows: (UnsafeRawPointer) -> Int
    ) -> Int {
        let node = memory.pointee.blocks.pointer(reference)
        if level == 0 { return liveRows(UnsafeRawPointer(node)) }
        var total = 0
        for index in 0..<RowBranch.count(node) {
            let child = BlockReference(RowBranch.reference(node, index))
            if child.isTransient {
                RowBranch.setRows(node, index, recount(child, level - 1, liveRows))
            }
            total += RowBranch.rows(node, index)
        }
        return total
    }

    // MARK: Walking through what the transaction made

    /// Calls `body` with the transient nodes of a level, leaves at 0, and with the first key that each is filed under.
    func forEachTransient(
        atLevel wanted: Int, _ body: (UnsafeMutableRawPointer, ObjectKey) -> Void
    ) {
        visitTransient(root, depth, .min, wanted, body)
    }

    private func visitTransient(
        _ reference: BlockReference, _ level: Int, _ low: ObjectKey, _ wanted: Int,
        _ body: (UnsafeMutableRawPointer, ObjectKey) -> Void
    ) {
        guard reference.isTransient, level >= wanted else { return }
        let node = memory.pointee.blocks.pointer(reference)
        if level == wanted { return body(node, low) }
        for index in 0..<RowBranch.count(node) {
            visitTransient(
                BlockReference(RowBranch.reference(node, index)), level - 1,
                index == 0 ? low : RowBranch.key(node, index), wanted, body)
        }
    }

    /// Gives every transient block its place in the commit; see `RowBranch.placeTree`.
    func place(_ placer: any BlockPlacer, leaf: (UnsafeMutableRawPointer) -> Void) {
        RowBranch.placeTree(rootPlace, depth, memory, placer, leaf: leaf)
    }
}
