// Changing an ordered index: a sorted batch of additions and removals is merged into the tree in
// one pass; touched leaves are rewritten, untouched ones stay. What comes behind all that there is, is appended.
// New nodes are transient blocks.

/// A sorted batch of changes. `load` gives operation `index`; its bytes live until the next load.
struct IndexBatch {
    struct Operation {
        var position: IndexPosition
        var isAddition: Bool
    }
    let count: Int
    let load: (Int) -> Operation

    static let none = IndexBatch(count: 0) { _ in preconditionFailure("a batch of nothing") }
}

extension IndexTree {
    /// Merges the batch, whose operations ascend strictly by position. Removing what is not there and
    /// adding what is there change nothing. If it throws, because a block is damaged, the tree is
    /// what it was.
    mutating func apply(
        _ batch: IndexBatch, memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        guard batch.count > 0 else { return }
        var editor = IndexEditor(tree: self, batch: batch, memory: memory)
        if isEmpty {
            try editor.merge(nil, 0..<batch.count, appending: true)
            editor.builder.flush()
        } else {
            try editor.rewrite(rootPlace, depth, 0..<batch.count, isRightEdge: true)
        }
        try finish(&editor)
    }

    /// Whether all entries are below a position.
    func isBelow(_ position: IndexPosition) throws(RealmError) -> Bool {
        try rank(position) == count
    }

    /// Appends what `fill` gives to a builder in its order: entries above all that the tree has. Of the tree the last
    /// node of each level is written again. If it throws the tree is what it was.
    mutating func append(
        memory: UnsafeMutablePointer<TransactionMemory>,
        _ fill: (IndexLeafBuilder) throws(RealmError) -> Void
    ) throws(RealmError) {
        var editor = IndexEditor(tree: self, batch: .none, memory: memory)
        if isEmpty {
            try fill(editor.builder)
            editor.builder.flush()
        } else {
            try editor.append(rootPlace, depth, fill)
        }
        try finish(&editor)
    }

    /// Makes a tree of the nodes that an editor has.
    private mutating func finish(_ editor: inout IndexEditor) throws(RealmError) {
        let memory = editor.memory
        for reference in editor.replaced { memory.pointee.drop(reference) }
        var top = editor.take()
        var level = isEmpty ? 0 : depth
        while top.children.count > 1 {
            level += 1
            top = IndexBranchBuilder.build(top, level: level, tag: branchTag, memory: memory)
        }
        guard let root = top.children.first else {
            BlockReference.none.store(rootPlace)
            depth = 0
            count = 0
            return
        }
        root.reference.store(rootPlace)
        depth = level
        count = root.entries
        // A root with a single child is only in the way.
        while depth > 0 {
            let branch = try branch(rootPlace, depth)
            guard branch.count == 1 else { break }
            let child = BlockReference(branch.reference(0))
            memory.pointee.drop(BlockReference(rootPlace))
            child.store(rootPlace)
            depth -= 1
        }
    }
}

private struct IndexEditor {
    let tree: IndexTree
    let batch: IndexBatch
    let memory: UnsafeMutablePointer<TransactionMemory>
    let builder: IndexLeafBuilder
    /// Nodes that the tree has until all of the batch is merged.
    var replaced: [BlockReference] = []

    init(tree: IndexTree, batch: IndexBatch, memory: UnsafeMutablePointer<TransactionMemory>) {
        self.tree = tree
        self.batch = batch
        self.memory = memory
        builder = IndexLeafBuilder(tag: tree.leafTag, memory: memory)
    }

    func take() -> IndexChildren {
        defer { builder.output = IndexChildren() }
        return builder.output
    }

    /// Replaces the node by nodes with the operations applied, appended to the builder's output.
    mutating func rewrite(
        _ place: UnsafeRawPointer, _ level: Int, _ operations: Range<Int>, isRightEdge: Bool
    ) throws(RealmError) {
        if level == 0 {
            try merge(place, operations, appending: isRightEdge)
            builder.flush()
            return
        }
        let outer = take()
        let branch = try tree.branch(place, level)
        var next = operations.lowerBound
        for index in 0..<branch.count {
            let start = next
            next =
                index + 1 < branch.count
                ? firstOperation(start..<operations.upperBound, branch.separator(index + 1))
                : operations.upperBound
            let isLast = isRightEdge && index == branch.count - 1
            if level == 1 {
                try leafChild(branch, index, start..<next, isLast)
            } else if start == next {
                builder.forgetPrevious()
                keep(branch, index)
            } else {
                try rewrite(branch.reference(index), level - 1, start..<next, isRightEdge: isLast)
            }
        }
        if level == 1 { builder.flush() }
        build(BlockReference(place), level, in: outer)
    }

    /// Replaces the last node of each level by nodes that have what `fill` gives to the builder as well, appended
    /// to the builder's output.
    mutating func append(
        _ place: UnsafeRawPointer, _ level: Int,
        _ fill: (IndexLeafBuilder) throws(RealmError) -> Void
    ) throws(RealmError) {
        if level == 0 {
            try merge(place, 0..<0, appending: true)
            try fill(builder)
            builder.flush()
            return
        }
        let outer = take()
        let branch = try tree.branch(place, level)
        for index in 0..<branch.count - 1 { keep(branch, index) }
        try append(branch.reference(branch.count - 1), level - 1, fill)
        build(BlockReference(place), level, in: outer)
    }

    /// Makes branches of the builder's output in the place of `reference`; they follow `outer` as its output.
    private mutating func build(
        _ reference: BlockReference, _ level: Int, in outer: IndexChildren
    ) {
        let children = take()
        builder.output = outer
        if !children.children.isEmpty {
            builder.output.add(
                IndexBranchBuilder.build(
                    children, level: level, tag: tree.branchTag, memory: memory))
        }
        replaced.append(reference)
    }

    /// A child leaf of a level-1 branch: kept, or merged with its operations. A rest that would
    /// make a small leaf goes on into the next child.
    private mutating func leafChild(
        _ branch: IndexBranch, _ index: Int, _ operations: Range<Int>, _ isLast: Bool
    ) throws(RealmError) {
        if operations.isEmpty {
            if builder.size >= IndexLimits.leafBytesTarget / 4 || builder.isEmpty {
                builder.flush()
                builder.forgetPrevious()
                keep(branch, index)
                return
            }
        }
        try merge(branch.reference(index), operations, appending: isLast)
        if builder.size >= IndexLimits.leafBytesTarget / 4 { builder.flush() }
    }

    private func keep(_ branch: IndexBranch, _ index: Int) {
        builder.output.add(
            branch.separator(index), entries: branch.entries(index),
            reference: BlockReference(branch.reference(index)))
    }

    private func firstOperation(_ operations: Range<Int>, _ bound: IndexPosition) -> Int {
        operations.partitionPoint { compare(batch.load($0).position, bound) < 0 }
    }

    /// Feeds the entries of the leaf at `place` (nil: none), with the operations merged in, to
    /// the builder. `appending`: nothing follows this leaf, so full leaves are better than even
    /// ones.
    mutating func merge(
        _ place: UnsafeRawPointer?, _ operations: Range<Int>, appending: Bool
    ) throws(RealmError) {
        let leaf: IndexLeaf? =
            if let place { try tree.leaf(place) } else { nil }
        builder.target = target(leaf, operations, appending)
        let scratch = UnsafeMutableRawPointer.allocate(
            byteCount: IndexLimits.valueBytesMax + 64, alignment: 16)
        defer { scratch.deallocate() }
        var prefixCount = 0
        var entries = 0
        if let leaf {
            prefixCount = min(leaf.prefixCount, IndexLimits.valueBytesMax)
            memcpy(scratch, leaf.prefix, prefixCount)
            entries = leaf.count
        }
        var entry = 0
        var operation = operations.lowerBound
        while operation < operations.upperBound {
            let current = batch.load(operation)
            // Entries below the operation.
            if let leaf, entry < entries {
                let bound = leaf.lowerBound(current.position)
                while entry < bound {
                    try add(leaf, entry, scratch, prefixCount)
                    entry += 1
                }
            }
            var isThere = false
            if let leaf, entry < entries, leaf.key(entry) == current.position.key,
                leaf.isEqual(entry, current.position.bytes, current.position.count)
            {
                isThere = true
            }
            if current.isAddition {
                builder.add(
                    current.position.bytes, current.position.count, current.position.key)
            }
            if isThere { entry += 1 }
            operation += 1
        }
        if let leaf {
            while entry < entries {
                try add(leaf, entry, scratch, prefixCount)
                entry += 1
            }
        }
        if let place { replaced.append(BlockReference(place)) }
    }

    private func add(
        _ leaf: IndexLeaf, _ index: Int, _ scratch: UnsafeMutableRawPointer, _ prefixCount: Int
    ) throws(RealmError) {
        let suffix = leaf.suffix(index)
        guard prefixCount + suffix.count <= IndexLimits.valueBytesMax + 64 else {
            throw RealmError(
                .invalidDatabase,
                "index entry of \(prefixCount + suffix.count) bytes; the limit is "
                    + "\(IndexLimits.valueBytesMax)")
        }
        memcpy(
            scratch + prefixCount, suffix.baseAddress.unsafelyUnwrapped, suffix.count)
        builder.add(scratch, prefixCount + suffix.count, leaf.key(index))
    }

    private func target(_ leaf: IndexLeaf?, _ operations: Range<Int>, _ appending: Bool) -> Int {
        let full = IndexLimits.leafBytesTarget
        guard let leaf, !appending else { return full }
        var total = Int(leaf.base.u32(BlockField.bytesUsed)) + builder.size
        for index in operations { total += batch.load(index).position.count + 4 }
        guard total > full else { return full }
        let parts = (total + full - 1) / full
        return min(full, total / parts + total / parts / 8)
    }
}
