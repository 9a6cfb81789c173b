// How many pages the trees of a class take. Leaves are read only where they can refer to values in
// blocks of their own.

struct TreeSize {
    private(set) var rowPages = 0
    private(set) var leaves = 0
    private(set) var externalPages = 0
    private(set) var externalValues = 0
    /// Trees of lists, sets and dictionaries that do not stand in their rows.
    private(set) var collectionPages = 0
    private(set) var collections = 0
    /// By position among the table's indexes.
    private(set) var indexPages: [Int] = []

    static func measure(_ table: Table) throws(RealmError) -> TreeSize {
        var size = TreeSize()
        var readsLeaves = false
        for column in 0..<table.state.columnCount {
            if table.state.columns[column].kind.hasHeap { readsLeaves = true }
        }
        try size.addRows(table.state.tree.rootPlace, table.state.tree.depth, table, readsLeaves)
        for position in 0..<table.state.indexCount {
            var pages = 0
            try table.indexes[position].tree.forEachBlock { pages += $0.pageCount }
            size.indexPages.append(pages)
        }
        return size
    }

    private mutating func addRows(
        _ place: UnsafeRawPointer, _ level: Int, _ table: Table, _ readsLeaves: Bool
    ) throws(RealmError) {
        let reference = BlockReference(place)
        if reference.isNone { return }
        rowPages += reference.pageCount
        guard rowPages <= table.blocksMax else { throw table.state.nodes.endless() }
        guard level == 0 else {
            let node = try table.branch(place, level)
            for index in 0..<RowBranch.count(node) {
                try addRows(RowBranch.reference(node, index), level - 1, table, readsLeaves)
            }
            return
        }
        leaves += 1
        guard readsLeaves else { return }
        let view = LeafView(try table.leaf(place))
        try addBlocks(view, table.state.columns, table.state.columnCount, property: -1, table)
    }

    /// What only the cells of a leaf name.
    private mutating func addBlocks(
        _ view: LeafView, _ infos: UnsafePointer<ColumnInfo>, _ count: Int, property: Int,
        _ table: Table
    ) throws(RealmError) {
        view.forEachExternal(infos, count) { record in
            externalValues += 1
            externalPages += BlockReference(record).pageCount
        }
        var found: [(tree: UnsafeRawPointer, layout: ElementLayout)] = []
        try NestedCell.trees(view, infos, count, property: property) {
            tree, layout throws(RealmError) in
            found.append((tree, layout))
        }
        for item in found {
            collections += 1
            let root = CollectionRoot(item.tree)
            try addElements(
                item.tree + CollectionCell.rootOffset, root.depth, root.count, item.layout, table)
        }
    }

    private mutating func addElements(
        _ place: UnsafeRawPointer, _ level: Int, _ count: Int, _ layout: ElementLayout,
        _ table: Table
    ) throws(RealmError) {
        collectionPages += BlockReference(place).pageCount
        guard collectionPages <= table.blocksMax else { throw table.state.nodes.endless() }
        if level == 0 {
            guard layout.valueInfo.kind.hasHeap || layout.type == .dictionary else { return }
            let view = LeafView(try table.collectionLeaf(place, count, layout))
            return try addBlocks(
                view, layout.infos, layout.columnCount, property: layout.property, table)
        }
        let node = try table.collectionBranch(place, level, layout)
        for index in 0..<RowBranch.count(node) {
            try addElements(
                RowBranch.reference(node, index), level - 1, RowBranch.rows(node, index), layout,
                table)
        }
    }

}

extension TableSet {
    /// Calls `body` with the tables of the newest version, apart from any session.
    static func withNewest<R>(
        _ store: Store, _ body: (TableSet) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try with(try store.pinNewest(), store, body)
    }

    /// The same for a pinned version; the pin is given up.
    static func with<R>(
        _ pin: Store.Pin, _ store: Store, _ body: (TableSet) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let stamp = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        stamp.initialize(to: 0)
        defer { stamp.deallocate() }
        let tables = try TableSet(store: store, pin: pin, stamp: stamp)
        defer { tables.close() }
        return try body(tables)
    }
}
