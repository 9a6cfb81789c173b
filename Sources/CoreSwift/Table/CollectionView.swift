// A list, set or dictionary of a row in a snapshot: its elements by position, by value, in
// sequence. Reads the cell in place, or descends its tree; the leaf that it read last is kept, so
// that elements one after another cost a few loads each.
//
// Good as long as the snapshot, and in a write transaction only for settled tables.

struct CollectionView {
    let table: Table
    let column: Int
    let layout: ElementLayout
    let infos: UnsafeMutablePointer<ColumnInfo>
    let columnCount: Int
    let count: Int
    private let cell: UnsafeRawPointer
    private let isTree: Bool
    private let depth: Int
    /// The leaf read last, and the positions of its elements; empty = none.
    private var fingerLeaf: UnsafeRawPointer
    private var fingerStart = 0
    private var fingerCount = 0
    /// Where the leaves are, once the view was read at many places. Only of views that somebody
    /// keeps, who calls `deallocate` in the end; copies of one must not outlive it.
    private var directory: CollectionDirectory?
    private var isKept = false
    /// Leaves that were looked for.
    private var seeks = 0

    /// Of a cell that passed the gate with its leaf.
    init(
        _ table: Table, _ column: Int, _ layout: ElementLayout, _ cell: UnsafeRawBufferPointer
    ) {
        self.table = table
        self.column = column
        self.layout = layout
        infos = layout.infos
        columnCount = layout.columnCount
        self.cell = cell.baseAddress ?? UnsafeRawPointer(table.state.tree.rootPlace)
        count = CollectionCell.count(cell)
        isTree = CollectionCell.isTree(cell)
        depth = isTree ? Int(cell[1]) : 0
        fingerLeaf = self.cell
    }

    /// Of a property that is a collection, or that is mixed and holds one of this type; else nil.
    init?(
        _ table: Table, _ place: RowPlace, _ column: Int, _ type: CollectionType
    ) throws(RealmError) {
        let info = table.state.columns[column]
        let value = try table.value(place, column, info)
        if info.kind == .collection {
            self.init(table, column, ElementLayout(info, column: column), value.bytes)
        } else {
            self.init(table, column, value, type)
        }
    }

    /// Of the collection that a mixed value is; nil when it is none of this type.
    init?(_ table: Table, _ column: Int, _ value: RawValue, _ type: CollectionType) {
        guard NestedCell.type(value) == type else { return nil }
        self.init(
            table, column, ElementLayout(nested: type, column: column), NestedCell.cell(value))
    }

    /// The collection that a mixed element of this one is.
    mutating func nested(
        _ index: Int, _ type: CollectionType
    ) throws(RealmError) -> CollectionView? {
        CollectionView(table, column, try value(index, valueColumn), type)
    }

    /// The position of the nested collection with this number, or nil.
    mutating func position(of number: CollectionNumber, near hint: Int) throws(RealmError) -> Int? {
        guard number != .none, infos[valueColumn].kind == .mixed else { return nil }
        return try NestedCell.position(near: hint, of: count, within: count) {
            index throws(RealmError) in
            try NestedCell.hasNumber(value(index, valueColumn), number)
        }
    }

    @inline(__always) var valueColumn: Int { columnCount &- 1 }

    /// This view will be read again and again: it may gather what makes that fast.
    mutating func keep() { isKept = isTree }

    /// Ends a view that was kept.
    func deallocate() { directory?.deallocate() }

    /// The directory of a large collection, for the caller to keep and to end.
    func makeDirectory() throws(RealmError) -> CollectionDirectory? {
        guard isTree else { return nil }
        return try CollectionDirectory(
            table, layout, root: cell + CollectionCell.rootOffset, depth: depth, count: count)
    }

    // MARK: Positions

    /// Element `index`, which is there; of a dictionary, its value.
    @inline(__always)
    mutating func value(_ index: Int) throws(RealmError) -> RawValue {
        try value(index, valueColumn, isLast: true)
    }

    /// Element `index`, which is there: of column 0, or of the values of a dictionary.
    @inline(__always)
    mutating func value(_ index: Int, _ column: Int) throws(RealmError) -> RawValue {
        try value(index, column, isLast: column == valueColumn)
    }

    /// `isLast`: the column is that of the values.
    @inline(__always)
    private mutating func value(
        _ index: Int, _ column: Int, isLast: Bool
    ) throws(RealmError) -> RawValue {
        if let value = smallValue(index, column) { return value }
        let row = index &- fingerStart
        if row < 0 || row >= fingerCount {
            if let directory {
                let leaf = directory.leaf(of: index)
                if isLast, let number = directory.number(leaf, index) {
                    return infos[column].kind == .int
                        ? .int(number)
                        : .link(infos[column].linkTarget, ObjectKey(rawValue: number))
                }
                try point(at: leaf, directory)
            } else {
                try seek(index)
            }
        }
        return try table.value(
            RowPlace(LeafView(fingerLeaf), index &- fingerStart), column, infos[column])
    }

    /// Element `index` of a small collection; nil of one that has a tree.
    @inline(__always)
    func smallValue(_ index: Int, _ column: Int) -> RawValue? {
        guard !isTree else { return nil }
        return InlineCollection(cell).column(column, UnsafePointer(infos))
            .value(index, infos[column])
    }

    /// Element `index` for several threads at once, which share a directory; nothing is remembered.
    func value(
        _ index: Int, _ column: Int, _ directory: CollectionDirectory
    ) throws(RealmError) -> RawValue {
        let leaf = directory.leaf(of: index)
        let block = try table.collectionLeaf(
            directory.place(leaf), directory.count(leaf), layout)
        return try table.value(
            RowPlace(LeafView(block), index &- directory.start(leaf)), column, infos[column])
    }

    /// Points the finger at a leaf of the directory.
    @inline(__always)
    private mutating func point(
        at leaf: Int, _ directory: CollectionDirectory
    ) throws(RealmError) {
        if let block = directory.block(leaf) {
            fingerLeaf = block
        } else {
            fingerLeaf = try table.collectionLeaf(
                directory.place(leaf), directory.count(leaf), layout)
            directory.note(leaf, fingerLeaf, valueColumn, infos[valueColumn].kind)
        }
        fingerStart = directory.start(leaf)
        fingerCount = directory.count(leaf)
    }

    /// The column of elements that stand in the row; nil when they have a tree.
    @inline(__always)
    func inlineColumn(_ column: Int) -> InlineColumn? {
        isTree || count == 0
            ? nil : InlineCollection(cell).column(column, UnsafePointer(infos))
    }

    /// Looks for a leaf by descending, and gets a directory when that was done often. A tree of n
    /// leaves has a directory for what n / 8 descents cost, about.
    @inline(never)
    private mutating func seek(_ index: Int) throws(RealmError) {
        seeks += 1
        if isKept, seeks >= 8, seeks >= count / (LeafLayout.rowsMax * 8),
            let made = try makeDirectory()
        {
            directory = made
            return try point(at: made.leaf(of: index), made)
        }
        var place = cell + CollectionCell.rootOffset
        var start = 0
        var elements = count
        for level in stride(from: depth, to: 0, by: -1) {
            let node = try table.collectionBranch(place, level, layout)
            let last = RowBranch.count(node) - 1
            var child = 0
            while child < last, index >= start &+ RowBranch.rows(node, child) {
                start &+= RowBranch.rows(node, child)
                child &+= 1
            }
            elements = RowBranch.rows(node, child)
            place = RowBranch.reference(node, child)
        }
        guard index - start < elements else { throw badCounts() }
        fingerLeaf = try table.collectionLeaf(place, elements, layout)
        fingerStart = start
        fingerCount = elements
    }

    private func badCounts() -> RealmError {
        RealmError(
            .invalidDatabase,
            "class \(table.state.classKey), property \(column): the counts of a "
                + "collection's tree do not add up")
    }

    // MARK: Values

    /// The first position whose element is not below `value`, and whether it is equal; of sets
    /// and dictionaries, whose column 0 ascends.
    mutating func search(_ value: RawValue) throws(RealmError) -> (index: Int, isFound: Bool) {
        guard count > 0 else { return (0, false) }
        if let column = inlineColumn(0) { return column.search(value, infos[0]) }
        // The leaf that covers the value: by the first element of each child.
        var place = cell + CollectionCell.rootOffset
        var start = 0
        var elements = count
        for level in stride(from: depth, to: 0, by: -1) {
            let node = try table.collectionBranch(place, level, layout)
            let child = try self.child(node, level, covering: value)
            for before in 0..<child { start += RowBranch.rows(node, before) }
            elements = RowBranch.rows(node, child)
            place = RowBranch.reference(node, child)
        }
        guard start + elements <= count else { throw badCounts() }
        fingerLeaf = try table.collectionLeaf(place, elements, layout)
        fingerStart = start
        fingerCount = elements
        let found = try table.search(
            RowPlace(LeafView(fingerLeaf), 0), elements, value, infos[0])
        return (start + found.index, found.isFound)
    }

    /// The last child of a branch whose first element is not above the value, or child 0.
    private func child(
        _ node: UnsafeRawPointer, _ level: Int, covering value: RawValue
    ) throws(RealmError) -> Int {
        try (1..<RowBranch.count(node)).partitionPoint { child throws(RealmError) in
            var place = RowBranch.reference(node, child)
            var elements = RowBranch.rows(node, child)
            for below in stride(from: level - 1, to: 0, by: -1) {
                let next = try table.collectionBranch(place, below, layout)
                place = RowBranch.reference(next, 0)
                elements = RowBranch.rows(next, 0)
            }
            let leaf = try table.collectionLeaf(place, elements, layout)
            let first = try table.value(RowPlace(LeafView(leaf), 0), 0, infos[0])
            return CollectionOrder.compare(first, value, infos[0].kind) <= 0
        } - 1
    }

    // MARK: Sequences

    /// The leaves of the tree in order, by what names them, with their elements; none of a small
    /// collection.
    func leafReferences() throws(RealmError) -> [(name: BlockName, count: Int)] {
        var result: [(name: BlockName, count: Int)] = []
        if isTree {
            try table.forEachLeafPlace(cell + CollectionCell.rootOffset, depth, count, layout) {
                result.append((BlockName($0), $1))
            }
        }
        return result
    }
}
