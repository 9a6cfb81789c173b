// A step of a sweep (SpaceSweep.swift): blocks at the end of the file become part of the write transaction
// that is about to be committed, as if it had changed them, and so get another place. Nobody can tell
// the version from one without it: no row, key or order is touched.
//
// It must not cost a program its commit: what can't be read is left where it is, and ends the sweep.

import CKernels

extension TableSet {
    /// Makes some of the blocks transient that the sweep is to move. The tables are settled.
    func sweepSome(_ memory: UnsafeMutablePointer<TransactionMemory>) {
        guard let position = store.sweep.position else { return }
        var walk = SweepWalk(store.sweep, store.space, memory)
        var next = position
        let classes = stored.schema.classes
        while next.ordinal < classes.count, !walk.isFull, !walk.hasFailed {
            guard let table = table(classes[next.ordinal].key), next.tree <= table.state.indexCount
            else {
                next = SweepPosition(ordinal: next.ordinal + 1)
                continue
            }
            walk.resume(next.path, table)
            if next.tree == 0 {
                let root = walk.rows(table.state.tree.rootPlace, table.state.tree.depth, table)
                root.store(table.state.tree.rootPlace)
            } else {
                let tree = table.state.indexes[next.tree - 1].tree
                walk.entries(tree.rootPlace, tree.depth, tree).store(tree.rootPlace)
            }
            next.path = walk.stop
            if walk.hasEnded { next = SweepPosition(ordinal: next.ordinal, tree: next.tree + 1) }
        }
        store.sweep = walk.sweep
        store.sweep.noteMoved(walk.moved)
        let isDone = walk.hasFailed || next.ordinal >= classes.count
        store.sweep.position = isDone ? nil : next
        if isDone { store.sweep.end(store.space?.usedPages ?? 0) }
    }
}

/// A walk through one tree after another, from the child where the last one stopped in each level.
private struct SweepWalk {
    private(set) var sweep: SpaceSweep
    private let space: SpaceMap?
    private let memory: UnsafeMutablePointer<TransactionMemory>
    private let nodesMax: Int
    private let pagesMax: Int
    private var nodes = 0
    private(set) var moved = 0
    private(set) var hasFailed = false
    /// Leaves can name blocks.
    private var readsLeaves = false
    private var start: [Int] = []
    /// By level: where to go on.
    private(set) var stop: [Int] = []

    init(
        _ sweep: SpaceSweep, _ space: SpaceMap?, _ memory: UnsafeMutablePointer<TransactionMemory>
    ) {
        self.sweep = sweep
        self.space = space
        self.memory = memory
        pagesMax = max(SpaceSweep.stepPagesMin, memory.pointee.blocks.pageTotal)
        nodesMax = SpaceSweep.stepNodes + memory.pointee.blocks.pageTotal
    }

    var isFull: Bool { moved >= pagesMax || nodes >= nodesMax }
    /// The tree is done. A root that is a leaf is, unless it has more to move.
    var hasEnded: Bool { !isFull || (stop.isEmpty && moved < pagesMax) }

    mutating func resume(_ path: [Int], _ table: Table) {
        start = path
        stop = []
        readsLeaves = (0..<table.state.columnCount).contains { table.columns[$0].kind.hasHeap }
    }

    /// Whether the block is to get another place; a large one only if there is one.
    private mutating func moves(_ reference: BlockReference) -> Bool {
        guard sweep.moves(reference) else { return false }
        let pages = reference.pageCount
        if pages <= SpaceSweep.looseBlockPagesMax { return true }
        if space?.hasRoom(UInt64(pages), below: sweep.boundary) ?? true { return true }
        sweep.noteMissed(pages)
        return false
    }

    /// A reference inside a block that is to be replaced: its offset and the new one.
    private typealias Change = (offset: Int, reference: BlockReference)

    /// The block with the changes, in memory where it moves or changes; then the reference is another one.
    private mutating func put(
        _ reference: BlockReference, _ block: UnsafeRawPointer, _ changes: [Change]
    ) -> BlockReference {
        if reference.isTransient {
            let block = UnsafeMutableRawPointer(mutating: block)
            for change in changes { change.reference.store(block + change.offset) }
            return reference
        }
        guard !changes.isEmpty || moves(reference) else { return reference }
        let pages = reference.pageCount
        moved += pages
        memory.pointee.drop(reference)
        guard !changes.isEmpty else {
            return memory.pointee.blocks.add(borrowed: block, pages: pages)
        }
        let copy: UnsafeMutableRawPointer = memory.pointee.blocks.allocate(pages: pages)
        memcpy(copy, block, pages << Page.shift)
        for change in changes { change.reference.store(copy + change.offset) }
        return memory.pointee.blocks.add(copy, pages: pages)
    }

    /// The first child to visit of a branch.
    private func first(_ level: Int) -> Int {
        start.count > level ? start[level] : 0
    }

    /// A child was visited: whether the step ends there. `again`: the child is not done.
    private mutating func isOver(_ level: Int, _ index: Int, again: Bool) -> Bool {
        start = []
        guard isFull || hasFailed else { return false }
        while stop.count <= level { stop.append(0) }
        stop[level] = again ? index : index + 1
        return true
    }

    private mutating func block(
        _ read: () throws(RealmError) -> UnsafeRawPointer
    ) -> UnsafeRawPointer? {
        do throws(RealmError) {
            nodes += 1
            return try read()
        } catch {
            // Who reads it will be told.
            hasFailed = true
            return nil
        }
    }

    // MARK: Trees

    mutating func rows(
        _ place: UnsafeRawPointer, _ level: Int, _ table: Table
    ) -> BlockReference {
        let reference = BlockReference(place)
        guard !reference.isNone else { return reference }
        if level == 0 {
            guard reference.isTransient || readsLeaves || moves(reference),
                let block = block({ () throws(RealmError) in try table.leaf(place) })
            else { return reference }
            return leaf(
                reference, block, table.columns, table.state.columnCount, property: -1, table)
        }
        guard let node = block({ () throws(RealmError) in try table.branch(place, level) })
        else { return reference }
        var changes: [Change] = []
        var index = first(level)
        while index < RowBranch.count(node) {
            let place = RowBranch.reference(node, index)
            let child = BlockReference(place)
            let next = rows(place, level - 1, table)
            if next != child { changes.append((place - node, next)) }
            if isOver(level, index, again: level > 1 || moved >= pagesMax) { break }
            index += 1
        }
        return put(reference, node, changes)
    }

    /// A leaf of rows or of elements, with the values and trees that only it names.
    private mutating func leaf(
        _ reference: BlockReference, _ block: UnsafeRawPointer,
        _ infos: UnsafePointer<ColumnInfo>, _ count: Int, property: Int, _ table: Table
    ) -> BlockReference {
        let view = LeafView(block)
        var changes: [Change] = []
        view.forEachExternal(infos, count) { record in
            let old = BlockReference(record)
            guard moved < pagesMax, !old.isTransient, moves(old), let value = value(old, table)
            else { return }
            changes.append((record - view.base, put(old, value, [])))
        }
        var trees: [(cell: UnsafeRawPointer, layout: ElementLayout)] = []
        do throws(RealmError) {
            try NestedCell.trees(view, infos, count, property: property) {
                cell, layout throws(RealmError) in trees.append((cell, layout))
            }
        } catch {
            hasFailed = true
        }
        for tree in trees where moved < pagesMax && !hasFailed {
            let root = CollectionRoot(tree.cell)
            let place = tree.cell + CollectionCell.rootOffset
            let next = elements(place, root.depth, root.count, tree.layout, table)
            if next != root.reference { changes.append((place - view.base, next)) }
        }
        return put(reference, block, changes)
    }

    private mutating func value(_ reference: BlockReference, _ table: Table) -> UnsafeRawPointer? {
        let tag = BlockTag(.bigValue, classKey: table.state.classKey)
        return block { () throws(RealmError) in
            try table.state.nodes.admit(reference, tag, 0) { _, _, _ throws(RealmError) in }
        }
    }

    private mutating func elements(
        _ place: UnsafeRawPointer, _ level: Int, _ count: Int, _ layout: ElementLayout,
        _ table: Table
    ) -> BlockReference {
        let reference = BlockReference(place)
        if level == 0 {
            guard
                let block = block({ () throws(RealmError) in
                    try table.collectionLeaf(place, count, layout)
                })
            else { return reference }
            return leaf(
                reference, block, UnsafePointer(layout.infos), layout.columnCount,
                property: layout.property, table)
        }
        guard
            let node = block({ () throws(RealmError) in
                try table.collectionBranch(place, level, layout)
            })
        else { return reference }
        var changes: [Change] = []
        for index in 0..<RowBranch.count(node) where moved < pagesMax && !hasFailed {
            let place = RowBranch.reference(node, index)
            let child = BlockReference(place)
            let next = elements(place, level - 1, RowBranch.rows(node, index), layout, table)
            if next != child { changes.append((place - node, next)) }
        }
        return put(reference, node, changes)
    }

    mutating func entries(
        _ place: UnsafeRawPointer, _ level: Int, _ tree: IndexTree
    ) -> BlockReference {
        let reference = BlockReference(place)
        guard !reference.isNone else { return reference }
        if level == 0 {
            // Whether it moves says its reference.
            guard !reference.isTransient, moves(reference),
                let block = block({ () throws(RealmError) in try tree.leaf(place).base })
            else { return reference }
            return put(reference, block, [])
        }
        guard let node = block({ () throws(RealmError) in try tree.branch(place, level).base })
        else { return reference }
        let branch = IndexBranch(node)
        var changes: [Change] = []
        var index = first(level)
        while index < branch.count {
            let place = branch.reference(index)
            let child = BlockReference(place)
            let next = entries(place, level - 1, tree)
            if next != child { changes.append((place - node, next)) }
            if isOver(level, index, again: level > 1) { break }
            index += 1
        }
        return put(reference, node, changes)
    }
}
