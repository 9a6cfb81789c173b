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
        for column in 0..<table.pointee.columnCount {
            if table.pointee.columns[column].kind.hasHeap { readsLeaves = true }
        }
        try size.addRows(table.pointee.rowPlace, table.pointee.depth, table, readsLeaves)
        for position in 0..<table.pointee.indexCount {
            let tree = table.pointee.indexes[position].tree
            var pages = 0
            try addPages(tree.rootPlace, tree.depth, tree, &pages)
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
        guard rowPages <= table.blocksMax else { throw table.pointee.nodes.endless() }
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
        addExternals(view)
        for index in 0..<view.columnCount where table.pointee.columns[index].kind == .collection {
            guard let column = view.column(index), column.encoding != .absent else { continue }
            for row in 0..<view.rows where !view.isDead(row) {
                let cell = column.bytes(row)
                guard CollectionCell.isTree(cell), let start = cell.baseAddress else { continue }
                collections += 1
                let root = CollectionRoot(start)
                try addElements(
                    start + CollectionCell.rootOffset, root.depth, root.count, index, table)
            }
        }
    }

    private mutating func addElements(
        _ place: UnsafeRawPointer, _ level: Int, _ count: Int, _ column: Int, _ table: Table
    ) throws(RealmError) {
        collectionPages += BlockReference(place).pageCount
        guard collectionPages <= table.blocksMax else { throw table.pointee.nodes.endless() }
        if level == 0 {
            let info = table.pointee.columns[column]
            guard let elements = info.elements, elements[info.valueColumn].kind.hasHeap else {
                return
            }
            addExternals(LeafView(try table.collectionLeaf(place, count, column)))
            return
        }
        let node = try table.collectionBranch(place, level, column)
        for index in 0..<RowBranch.count(node) {
            try addElements(
                RowBranch.reference(node, index), level - 1, RowBranch.rows(node, index), column,
                table)
        }
    }

    private mutating func addExternals(_ view: LeafView) {
        for index in 0..<view.columnCount {
            guard let column = view.column(index), let externals = column.externals else {
                continue
            }
            for row in 0..<view.rows where LeafLayout.bit(externals, row) && !view.isDead(row) {
                guard let record = column.bytes(row).baseAddress else { continue }
                externalValues += 1
                externalPages += BlockReference(record).pageCount
            }
        }
    }

    private static func addPages(
        _ place: UnsafeRawPointer, _ level: Int, _ tree: IndexTree, _ total: inout Int
    ) throws(RealmError) {
        let reference = BlockReference(place)
        if reference.isNone { return }
        total += reference.pageCount
        guard total <= tree.nodes.blocksMax else { throw tree.nodes.endless() }
        guard level > 0 else { return }
        let branch = try tree.branch(place, level)
        for index in 0..<branch.count {
            try addPages(branch.reference(index), level - 1, tree, &total)
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
