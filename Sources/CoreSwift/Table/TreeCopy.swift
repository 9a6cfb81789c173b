// Copies the trees of a session into a commit: of another file, to make a compact copy, or of the
// same file, to move its blocks. The session may be in a write transaction; its tables must be
// settled then, and what it changed is copied too.
//
// Blocks are copied as they are, with the references in them rewritten. Blocks without references
// go to the file straight from where they are, so a copy takes little memory however large the
// file: one page per branch and the leaves that refer to values in blocks of their own.
//
// Usage: `measure`, then `place` with a builder that has room for `pages`; keep the copy until the
// commit is published.

import CKernels

final class TreeCopy {
    private let tables: TableSet
    /// Which blocks of the file get a new place; blocks that refer to moved ones move as well.
    private let moves: (BlockReference) -> Bool
    /// The change log goes along: what it says of versions holds in the same file only.
    private let keepsLog: Bool
    /// Memory that the builder writes from.
    private var buffers: [UnsafeMutableRawPointer] = []
    /// Pages that `place` will write.
    private(set) var pages = 0
    /// Blocks of the file that the copy stands in for.
    private(set) var replaced: [BlockReference] = []
    /// The builder while placing; nil while measuring.
    private var builder: CommitBuilder?

    init(
        _ tables: TableSet, keepsLog: Bool = false,
        moves: @escaping (BlockReference) -> Bool = { _ in true }
    ) {
        self.tables = tables
        self.keepsLog = keepsLog
        self.moves = moves
    }

    deinit {
        for buffer in buffers { buffer.deallocate() }
    }

    // MARK: The two passes

    /// Walks all trees and counts. Throws for damaged blocks.
    func measure() throws(RealmError) {
        pages = 0
        replaced = []
        _ = try catalog()
    }

    /// Places the copies of all blocks and returns the payload for the root.
    func place(_ builder: CommitBuilder) throws(RealmError) -> [UInt8] {
        self.builder = builder
        defer { self.builder = nil }
        return try catalog().encoded()
    }

    private func catalog() throws(RealmError) -> Catalog {
        var result = Catalog()
        result.format = tables.stored.format
        result.schemaVersion = tables.schemaVersion
        result.schema = try schema()
        result.log = try log()
        for item in tables.stored.schema.classes {
            guard let table = tables.table(item.key) else { continue }
            var root = ClassRoot(classKey: item.key)
            root.depth = table.state.tree.depth
            root.nextKey = table.state.nextKey
            root.rows = table.state.rowCount
            root.root = try rows(table.state.tree.root, table.state.tree.depth, table)
            for position in 0..<table.state.indexCount {
                let index = table.state.indexes[position]
                root.indexes.append(
                    IndexRoot(
                        column: index.column, kind: index.kind, depth: index.tree.depth,
                        entries: index.tree.count,
                        root: try node(
                            BlockReference(index.tree.rootPlace), index.tree.depth, index.tree,
                            table)))
            }
            result.classes.append(root)
        }
        return result
    }

    // MARK: Blocks

    /// The block behind a reference: of the file, checked again, or of the transaction.
    private func block(
        _ reference: BlockReference, _ tag: BlockTag, _ table: Table
    ) throws(RealmError) -> UnsafeRawPointer {
        guard pages <= table.blocksMax else { throw table.state.nodes.endless() }
        if reference.isTransient {
            return UnsafeRawPointer(table.memory.pointee.blocks.pointer(reference))
        }
        let block = try tables.store.admit(reference)
        guard block.u64(BlockField.tag) == tag.rawValue else {
            throw RealmError(
                .invalidDatabase,
                "page \(reference.page): block is of kind \(block.u8(BlockField.kind)), the tree needs kind "
                    + "\(tag.kind)", path: tables.store.path)
        }
        return block
    }

    private func pageCount(_ reference: BlockReference, _ table: Table) -> Int {
        reference.isTransient
            ? table.memory.pointee.blocks.pages(reference) : reference.pageCount
    }

    /// A reference inside a block that is to be replaced: its offset and the new one.
    private typealias Change = (offset: Int, reference: BlockReference)

    /// Stands for the new place of a block while nothing is placed yet.
    private static let somewhere = BlockReference.transient(Int(BlockReference.transientBit - 1))

    /// Counts or places a block, with the changes made in a copy; a block that neither moves nor
    /// changes stays.
    private func put(
        _ reference: BlockReference, _ block: UnsafeRawPointer, _ changes: [Change], _ table: Table
    ) -> BlockReference {
        put(reference, block, changes, pages: pageCount(reference, table))
    }

    private func put(
        _ reference: BlockReference, _ block: UnsafeRawPointer, _ changes: [Change],
        pages count: Int
    ) -> BlockReference {
        if changes.isEmpty && !reference.isTransient && !moves(reference) { return reference }
        guard let builder else {
            pages += count
            if !reference.isTransient { replaced.append(reference) }
            return Self.somewhere
        }
        if changes.isEmpty { return builder.place(block, pages: count) }
        let copy = TransactionMemory.allocate(pages: count)
        buffers.append(copy)
        memcpy(copy, block, count << Page.shift)
        for change in changes { change.reference.store(copy + change.offset) }
        return builder.place(copy, pages: count)
    }

    // MARK: Trees

    private func rows(
        _ reference: BlockReference, _ level: Int, _ table: Table
    ) throws(RealmError) -> BlockReference {
        if reference.isNone { return reference }
        if level == 0 { return try leaf(reference, table) }
        let node = try block(reference, table.state.tree.branchTag, table)
        if !reference.isTransient {
            try RowBranch.check(node, reference.pageCount << Page.shift, level)
        }
        var changes: [Change] = []
        for index in 0..<RowBranch.count(node) {
            let place = RowBranch.reference(node, index)
            let child = BlockReference(place)
            let next = try rows(child, level - 1, table)
            if next != child { changes.append((place - node, next)) }
        }
        return put(reference, node, changes, table)
    }

    private func leaf(
        _ reference: BlockReference, _ table: Table
    ) throws(RealmError) -> BlockReference {
        let block = try block(reference, table.state.tree.leafTag, table)
        if !reference.isTransient {
            try RowLeafCheck.check(
                block, reference.pageCount << Page.shift,
                RowLeafCheck.Context(
                    infos: UnsafePointer(table.state.columns),
                    columnCount: table.state.columnCount))
        }
        let view = LeafView(block)
        var changes = try externals(
            view, UnsafePointer(table.state.columns), table.state.columnCount, table)
        try copyTrees(
            view, table.state.columns, table.state.columnCount, property: -1, table, &changes)
        return put(reference, block, changes, table)
    }

    /// Copies the values that a leaf's rows have in blocks of their own; returns the changes.
    private func externals(
        _ view: LeafView, _ infos: UnsafePointer<ColumnInfo>, _ count: Int, _ table: Table
    ) throws(RealmError) -> [Change] {
        var changes: [Change] = []
        for index in 0..<min(view.columnCount, count) where infos[index].kind.hasHeap {
            guard let column = view.column(index), let externals = column.externals else {
                continue
            }
            for row in 0..<view.rows where LeafLayout.bit(externals, row) && !view.isDead(row) {
                guard let record = column.bytes(row).baseAddress else { continue }
                let old = BlockReference(record)
                let value = try self.block(
                    old, BlockTag(.bigValue, classKey: table.state.classKey), table)
                let next = put(old, value, [], table)
                if next != old { changes.append((record - view.base, next)) }
            }
        }
        return changes
    }

    /// Copies the trees that the cells of a leaf name.
    private func copyTrees(
        _ view: LeafView, _ infos: UnsafePointer<ColumnInfo>, _ count: Int, property: Int,
        _ table: Table, _ changes: inout [Change]
    ) throws(RealmError) {
        var found: [Change] = []
        try NestedCell.trees(view, infos, count, property: property) {
            tree, layout throws(RealmError) in
            let root = CollectionRoot(tree)
            let next = try elements(root.reference, root.depth, layout, table)
            if next != root.reference {
                found.append((tree + CollectionCell.rootOffset - view.base, next))
            }
        }
        changes += found
    }

    /// The tree of a collection.
    private func elements(
        _ reference: BlockReference, _ level: Int, _ layout: ElementLayout, _ table: Table
    ) throws(RealmError) -> BlockReference {
        let kind: BlockKind = level == 0 ? .collectionLeaf : .collectionBranch
        let block = try block(reference, table.collectionTag(kind, layout.tagColumn), table)
        let bytes = pageCount(reference, table) << Page.shift
        if level == 0 {
            if !reference.isTransient { try RowLeafCheck.check(block, bytes, layout.context) }
            var changes = try externals(
                LeafView(block), layout.infos, layout.columnCount, table)
            if layout.valueInfo.kind == .mixed {
                try copyTrees(
                    LeafView(block), layout.infos, layout.columnCount,
                    property: layout.tagColumn & (ElementLayout.nestedList - 1), table, &changes)
            }
            return put(reference, block, changes, table)
        }
        if !reference.isTransient { try RowBranch.check(block, bytes, level) }
        var changes: [Change] = []
        for index in 0..<RowBranch.count(block) {
            let place = RowBranch.reference(block, index)
            let child = BlockReference(place)
            let next = try elements(child, level - 1, layout, table)
            if next != child { changes.append((place - block, next)) }
        }
        return put(reference, block, changes, table)
    }

    private func node(
        _ reference: BlockReference, _ level: Int, _ tree: IndexTree, _ table: Table
    ) throws(RealmError) -> BlockReference {
        if reference.isNone { return reference }
        let block = try block(reference, level == 0 ? tree.leafTag : tree.branchTag, table)
        let bytes = pageCount(reference, table) << Page.shift
        guard level > 0 else {
            if !reference.isTransient { try IndexLeaf.check(block, bytes, 0) }
            return put(reference, block, [], table)
        }
        if !reference.isTransient { try IndexBranch.check(block, bytes, level) }
        let branch = IndexBranch(block)
        var changes: [Change] = []
        for index in 0..<branch.count {
            let place = branch.reference(index)
            let child = BlockReference(place)
            let next = try node(child, level - 1, tree, table)
            if next != child { changes.append((place - block, next)) }
        }
        return put(reference, block, changes, table)
    }

    // MARK: The change log

    private func log() throws(RealmError) -> LogDirectory? {
        guard keepsLog, var directory = tables.catalog.log else { return nil }
        for index in directory.entries.indices {
            directory.entries[index].root = try logBlock(directory.entries[index])
        }
        return directory
    }

    private func logBlock(_ entry: LogEntry) throws(RealmError) -> BlockReference {
        let nodes = NodeSource(store: tables.store)
        guard pages <= nodes.blocksMax else { throw nodes.endless() }
        let block = try nodes.logBlock(entry)
        var changes: [Change] = []
        if entry.level > 0 {
            for (index, child) in LogBlock.entries(block, level: entry.level).enumerated() {
                let next = try logBlock(child)
                if next != child.root { changes.append((LogBlock.referenceOffset(index), next)) }
            }
        }
        return put(entry.root, block, changes, pages: entry.root.pageCount)
    }

    private func schema() throws(RealmError) -> BlockReference {
        let old = tables.catalog.schema
        if tables.stored == StoredSchema() { return .none }
        let bytes = tables.stored.encoded()
        let count = Page.count(forBytes: bytes.count)
        // A schema that the transaction extended has a block with other bytes, or none.
        if !tables.isWriting, !old.isNone, !moves(old) { return old }
        guard let builder else {
            pages += count
            if !old.isNone { replaced.append(old) }
            return old
        }
        let block = TransactionMemory.allocate(pages: count)
        buffers.append(block)
        memset(block, 0, count << Page.shift)
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { memcpy(block, start, source.count) }
        }
        block.put(UInt32(bytes.count), BlockField.bytesUsed)
        return builder.place(block, pages: count)
    }
}

extension TreeCopy {
    /// Places everything and publishes the commit; the version is returned pinned.
    func publish(_ builder: CommitBuilder) throws(RealmError) -> Store.Pin {
        let payload = try place(builder)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: payload.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: payload)
        return try builder.publish(payload: UnsafeRawBufferPointer(copy))
    }
}
