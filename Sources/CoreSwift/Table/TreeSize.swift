// How many pages the trees of a class take. Leaves are read only where they can refer to values in
// blocks of their own.

struct TreeSize {
    private(set) var rowPages = 0
    private(set) var leaves = 0
    private(set) var externalPages = 0
    private(set) var externalValues = 0
    /// By position among the table's indexes.
    private(set) var indexPages: [Int] = []

    static func measure(_ table: Table) throws(RealmError) -> TreeSize {
        var size = TreeSize()
        var readsLeaves = false
        for column in 0..<table.pointee.columnCount {
            if table.pointee.columns[column].kind.isText { readsLeaves = true }
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
