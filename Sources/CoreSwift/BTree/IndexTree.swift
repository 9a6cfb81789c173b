// Reading an ordered index: look-up, ranges, ranks. See IndexNode.swift for the nodes,
// IndexTree+Apply.swift for changing one.

struct IndexTree {
    var nodes: NodeSource
    /// 32 bytes that hold the reference of the root; none = empty tree.
    let rootPlace: UnsafeMutableRawPointer
    var depth: Int
    /// Entries in the tree.
    var count: Int
    let leafTag: BlockTag
    let branchTag: BlockTag

    init(
        nodes: NodeSource, rootPlace: UnsafeMutableRawPointer, depth: Int, count: Int,
        classKey: ClassKey, column: Int
    ) {
        self.nodes = nodes
        self.rootPlace = rootPlace
        self.depth = depth
        self.count = count
        leafTag = BlockTag(.indexLeaf, classKey: classKey, column: column)
        branchTag = BlockTag(.indexBranch, classKey: classKey, column: column)
    }

    @inline(__always)
    func leaf(_ place: UnsafeRawPointer) throws(RealmError) -> IndexLeaf {
        if let node = nodes.resolved(place, leafTag) { return IndexLeaf(node) }
        return IndexLeaf(
            try nodes.admit(BlockReference(place), leafTag, 0, IndexLeaf.check))
    }

    @inline(__always)
    func branch(_ place: UnsafeRawPointer, _ level: Int) throws(RealmError) -> IndexBranch {
        if let node = nodes.resolved(place, branchTag), IndexBranch(node).level == level {
            return IndexBranch(node)
        }
        return IndexBranch(
            try nodes.admit(BlockReference(place), branchTag, level, IndexBranch.check))
    }

    var isEmpty: Bool { BlockReference(rootPlace).isNone }

    /// The number of entries below `position`.
    func rank(_ position: IndexPosition) throws(RealmError) -> Int {
        if isEmpty { return 0 }
        var place = UnsafeRawPointer(rootPlace)
        var rank = 0
        for level in stride(from: depth, to: 0, by: -1) {
            let branch = try branch(place, level)
            let child = branch.child(covering: position)
            for index in 0..<child { rank &+= branch.entries(index) }
            place = branch.reference(child)
        }
        return rank + (try leaf(place).lowerBound(position))
    }

    /// The object key of the first entry with exactly these bytes, or nil.
    func first(_ bytes: UnsafeRawPointer, _ count: Int) throws(RealmError) -> ObjectKey? {
        if isEmpty { return nil }
        let position = IndexPosition(bytes: bytes, count: count, key: .min)
        var place = UnsafeRawPointer(rootPlace)
        // Where the search goes on when the leaf has nothing from `position` on.
        var next: UnsafeRawPointer?
        var nextLevel = 0
        for level in stride(from: depth, to: 0, by: -1) {
            let branch = try branch(place, level)
            let child = branch.child(covering: position)
            if child + 1 < branch.count {
                next = branch.reference(child + 1)
                nextLevel = level - 1
            }
            place = branch.reference(child)
        }
        var leaf = try leaf(place)
        var index = leaf.lowerBound(position)
        if index == leaf.count {
            guard var place = next else { return nil }
            for level in stride(from: nextLevel, to: 0, by: -1) {
                place = try branch(place, level).reference(0)
            }
            leaf = try self.leaf(place)
            index = 0
        }
        return leaf.isEqual(index, bytes, count) ? leaf.key(index) : nil
    }

    /// Calls `body` with the blocks of the tree, children before parents.
    func forEachBlock(_ body: (BlockReference) -> Void) throws(RealmError) {
        var blocksLeft = nodes.blocksMax
        try visitBlocks(rootPlace, depth, &blocksLeft, body)
    }

    private func visitBlocks(
        _ place: UnsafeRawPointer, _ level: Int, _ blocksLeft: inout Int,
        _ body: (BlockReference) -> Void
    ) throws(RealmError) {
        let reference = BlockReference(place)
        if reference.isNone { return }
        blocksLeft -= 1
        guard blocksLeft >= 0 else { throw nodes.endless() }
        if level > 0 {
            let branch = try branch(place, level)
            for index in 0..<branch.count {
                try visitBlocks(branch.reference(index), level - 1, &blocksLeft, body)
            }
        }
        body(reference)
    }

    /// Visits the entries from `low` up to, not including, `high` (nil: to the end), leaf by
    /// leaf, in order. `body` returns false to stop.
    func visit(
        from low: IndexPosition?, to high: IndexPosition?,
        _ body: (IndexLeaf, Range<Int>) throws(RealmError) -> Bool
    ) throws(RealmError) {
        if isEmpty { return }
        // Entries ascend, so no sound tree has more leaves than entries.
        var leavesLeft = count
        _ = try visit(rootPlace, depth, low, high, &leavesLeft, body)
    }

    /// Visits all leaves from the last to the first. `body` returns false to stop.
    func visitBackwards(
        _ body: (IndexLeaf) throws(RealmError) -> Bool
    ) throws(RealmError) {
        if isEmpty { return }
        var leavesLeft = count
        _ = try visitBackwards(rootPlace, depth, &leavesLeft, body)
    }

    private func visitBackwards(
        _ place: UnsafeRawPointer, _ level: Int, _ leavesLeft: inout Int,
        _ body: (IndexLeaf) throws(RealmError) -> Bool
    ) throws(RealmError) -> Bool {
        if level == 0 {
            leavesLeft -= 1
            guard leavesLeft >= 0 else { throw nodes.endless() }
            return try body(try leaf(place))
        }
        let branch = try branch(place, level)
        for child in stride(from: branch.count - 1, through: 0, by: -1)
        where try !visitBackwards(branch.reference(child), level - 1, &leavesLeft, body) {
            return false
        }
        return true
    }

    private func visit(
        _ place: UnsafeRawPointer, _ level: Int, _ low: IndexPosition?, _ high: IndexPosition?,
        _ leavesLeft: inout Int, _ body: (IndexLeaf, Range<Int>) throws(RealmError) -> Bool
    ) throws(RealmError) -> Bool {
        if level == 0 {
            leavesLeft -= 1
            guard leavesLeft >= 0 else { throw nodes.endless() }
            let leaf = try leaf(place)
            let start = low.map { leaf.lowerBound($0) } ?? 0
            let end = high.map { leaf.lowerBound($0) } ?? leaf.count
            return start < end ? try body(leaf, start..<end) : true
        }
        let branch = try branch(place, level)
        let first = low.map { branch.child(covering: $0) } ?? 0
        let last = high.map { branch.child(covering: $0) } ?? branch.count - 1
        guard first <= last else { return true }
        for child in first...last {
            let go = try visit(
                branch.reference(child), level - 1, child == first ? low : nil,
                child == last ? high : nil, &leavesLeft, body)
            if !go { return false }
        }
        return true
    }
}
