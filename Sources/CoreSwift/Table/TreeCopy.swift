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
            root.root = try leaves(
                table.state.tree.root, table.state.tree.depth, LeafTree(rowsOf: table))
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

    /// A tree whose leaves have rows, or elements of a collection.
    private struct LeafTree {
        let table: Table
        let leafTag: BlockTag
        let branchTag: BlockTag
        let context: RowLeafCheck.Context
        /// See `NestedCell.trees`.
        let property: Int

        init(rowsOf table: Table) {
            self.table = table
            leafTag = table.state.tree.leafTag
            branchTag = table.state.tree.branchTag
            context = RowLeafCheck.Context(infos: table.columns, columnCount: table.columnCount)
            property = -1
        }

        init(_ layout: ElementLayout, of table: Table) {
            self.table = table
            leafTag = table.collectionTag(.collectionLeaf, layout.tagColumn)
            branchTag = table.collectionTag(.collectionBranch, layout.tagColumn)
            context = layout.context
            property = layout.property
        }
    }

    private func leaves(
        _ reference: BlockReference, _ level: Int, _ tree: LeafTree
    ) throws(RealmError) -> BlockReference {
        if reference.isNone { return reference }
        let block = try block(reference, level == 0 ? tree.leafTag : tree.branchTag, tree.table)
        let bytes = pageCount(reference, tree.table) << Page.shift
        if level > 0 {
            if !reference.isTransient { try RowBranch.check(block, bytes, level) }
            let changes = try children(of: block, RowBranch.count(block)) {
                RowBranch.reference(block, $0)
            } copy: { child throws(RealmError) in
                try leaves(child, level - 1, tree)
            }
            return put(reference, block, changes, tree.table)
        }
        if !reference.isTransient { try RowLeafCheck.check(block, bytes, tree.context) }
        let changes = try cells(LeafView(block), tree)
        return put(reference, block, changes, tree.table)
    }

    /// Copies the children of a branch; returns the changes.
    private func children(
        of branch: UnsafeRawPointer, _ count: Int, at place: (Int) -> UnsafeRawPointer,
        copy: (BlockReference) throws(RealmError) -> BlockReference
    ) throws(RealmError) -> [Change] {
        var changes: [Change] = []
        for index in 0..<count {
            let child = BlockReference(place(index))
            let next = try copy(child)
            if next != child { changes.append((place(index) - branch, next)) }
        }
        return changes
    }

    /// Copies the values that a leaf's rows have in blocks of their own, and the trees that its cells name; returns
    /// the changes.
    private func cells(_ view: LeafView, _ tree: LeafTree) throws(RealmError) -> [Change] {
        var changes: [Change] = []
        let infos = tree.context.infos
        let count = tree.context.columnCount
        let tag = BlockTag(.bigValue, classKey: tree.table.classKey)
        try view.forEachExternal(infos, count) { record throws(RealmError) in
            let old = BlockReference(record)
            let next = put(old, try block(old, tag, tree.table), [], tree.table)
            if next != old { changes.append((record - view.base, next)) }
        }
        try NestedCell.trees(view, infos, count, property: tree.property) {
            cell, layout throws(RealmError) in
            let root = CollectionRoot(cell)
            let next = try leaves(root.reference, root.depth, LeafTree(layout, of: tree.table))
            if next != root.reference {
                changes.append((cell + CollectionCell.rootOffset - view.base, next))
            }
        }
        return changes
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
        let changes = try children(of: block, branch.count) {
            branch.reference($0)
        } copy: { child throws(RealmError) in
            try node(child, level - 1, tree, table)
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
        // A schema that the transaction extended has a block with other bytes, or none.
        if !tables.isWriting, !old.isNone, !moves(old) { return old }
        let block = StoredSchema.makeBlock(tables.stored.encoded())
        buffers.append(block.memory)
        if let builder { return builder.place(block.memory, pages: block.pages) }
        pages += block.pages
        if !old.isNone { replaced.append(old) }
        return old
    }
}

extension TreeCopy {
    /// Places everything and publishes the commit; the version is returned pinned.
    func publish(_ builder: CommitBuilder) throws(RealmError) -> Store.Pin {
        try builder.publish(catalog: try place(builder))
    }
}

extension CommitBuilder {
    /// `publish` with the bytes of a catalog as the payload.
    func publish(
        catalog: [UInt8], soft: Bool = false, tells: Bool = false
    ) throws(RealmError) -> Store.Pin {
        try catalog.withUnsafeBufferPointer { bytes throws(RealmError) in
            try publish(payload: UnsafeRawBufferPointer(bytes), soft: soft, tells: tells)
        }
    }
}
