// The end of an open collection: its pieces become blocks, and its cell names them.

extension OpenCollection {
    /// Encodes an open piece into blocks of the target size; returns how many pieces it became.
    mutating func sealPiece(_ index: Int) -> Int {
        guard let leaf = pieces[index].open else { return 1 }
        leaf.pointee.numberRows()
        let tag = table.collectionTag(.collectionLeaf, layout.tagColumn)
        var encoder = LeafEncoder(leaf, infos: UnsafePointer(infos), tag: tag)
        let rows = leaf.pointee.rows
        let whole = encoder.plan(RowSelection(start: 0, count: rows))
        var parts = 1
        if whole > LeafLayout.bytesTarget + LeafLayout.bytesTarget / 8 {
            parts = min(rows, (whole + LeafLayout.bytesTarget - 1) / LeafLayout.bytesTarget)
        }
        var references: [(BlockReference, Int)] = []
        for part in 0..<parts {
            let start = rows * part / parts
            let end = rows * (part + 1) / parts
            for row in start..<end { leaf.pointee.keys[row] = .first.advanced(by: row - start) }
            let part = RowSelection(start: start, count: end - start)
            let block = encoder.makeBlock(part, table.memory)
            references.append(
                (
                    table.memory.pointee.blocks.add(block.memory, pages: block.pages),
                    end - start
                ))
        }
        OpenLeaf.end(leaf)
        pieces[index].open = nil
        pieces[index].reference = references[0].0
        counts[index] = Int32(references[0].1)
        for (offset, part) in references.enumerated().dropFirst() {
            insertPiece(
                at: index + offset,
                CollectionPiece(reference: part.0, open: nil, origin: -1), count: part.1)
        }
        return parts
    }

    /// Writes the collection's cell to `target`, which has room for `inlineBytesMax` bytes, with
    /// all pieces sealed; returns its length. The collection ends with this.
    mutating func makeCell(_ target: UnsafeMutableRawPointer) throws(RealmError) -> Int {
        try mergeSmallPieces()
        if count == 0 {
            dropBranches()
            return 0
        }
        if pieceCount == 1, count <= CollectionCell.inlineElementsMax {
            let leaf = try open(0, extraRows: 0)
            if let bytes = CollectionCell.encode(leaf, infos, target) {
                dropBranches()
                return bytes
            }
        }
        var index = 0
        while index < pieceCount { index += sealPiece(index) }
        let root = makeTree()
        root.store(target)
        return CollectionCell.treeBytes
    }

    mutating func dropBranches() {
        for branch in branches { table.memory.pointee.drop(branch.reference) }
        for reference in upper { table.memory.pointee.drop(reference) }
        branches = []
        upper = []
    }

    /// Joins open neighbours that fit one leaf well.
    private mutating func mergeSmallPieces() throws(RealmError) {
        var index = 0
        while index + 1 < pieceCount {
            guard let leaf = pieces[index].open, let next = pieces[index + 1].open,
                leaf.pointee.rows + next.pointee.rows <= LeafLayout.rowsMax,
                leaf.pointee.estimatedBytes() + next.pointee.estimatedBytes()
                    <= LeafLayout.bytesTarget * 3 / 4
            else {
                index += 1
                continue
            }
            let rows = next.pointee.rows
            let target = try open(index, extraRows: rows)
            next.pointee.copyRows(0..<rows, to: target)
            counts[index] += Int32(rows)
            removePiece(index + 1)
        }
    }

    private mutating func makeTree() -> CollectionRoot {
        typealias Child = (reference: BlockReference, elements: Int)
        if pieceCount == 1 {
            dropBranches()
            return CollectionRoot(reference: pieces[0].reference, depth: 0, count: count)
        }
        var level: [Child] = []
        var waiting: [Child] = []
        var piece = 0
        while piece < pieceCount {
            let origin = Int(pieces[piece].origin)
            // A few children that wait alone would make a poor node: they join the next one.
            if origin >= 0, !branches[origin].isDirty,
                waiting.isEmpty || waiting.count >= RowBranch.capacity / 4
            {
                appendNodes(waiting, level: 1, to: &level)
                waiting = []
                level.append((branches[origin].reference, branches[origin].elements))
                piece += branches[origin].children
                continue
            }
            if origin >= 0 { branches[origin].isDirty = true }
            waiting.append((pieces[piece].reference, Int(counts[piece])))
            piece += 1
        }
        appendNodes(waiting, level: 1, to: &level)
        for branch in branches where branch.isDirty {
            table.memory.pointee.drop(branch.reference)
        }
        for reference in upper { table.memory.pointee.drop(reference) }
        var depth = 1
        while level.count > 1 {
            depth += 1
            var next: [Child] = []
            appendNodes(level, level: depth, to: &next)
            level = next
        }
        return CollectionRoot(reference: level[0].reference, depth: depth, count: count)
    }

    private func appendNodes(
        _ children: [(reference: BlockReference, elements: Int)], level: Int,
        to target: inout [(reference: BlockReference, elements: Int)]
    ) {
        guard !children.isEmpty else { return }
        let nodes = (children.count + RowBranch.capacity - 1) / RowBranch.capacity
        for index in 0..<nodes {
            let start = children.count * index / nodes
            let end = children.count * (index + 1) / nodes
            let node = RowBranch.make(
                level: level, tag: table.collectionTag(.collectionBranch, layout.tagColumn),
                table.memory)
            var total = 0
            for child in start..<end {
                RowBranch.set(
                    node, child - start, key: .first.advanced(by: child - start),
                    rows: children[child].elements, reference: children[child].reference)
                total += children[child].elements
            }
            RowBranch.setCount(node, end - start)
            target.append((table.memory.pointee.blocks.add(node, pages: 1), total))
        }
    }
}
