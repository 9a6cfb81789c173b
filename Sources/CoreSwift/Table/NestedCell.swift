// Lists and dictionaries in mixed values, and how to get from any cell to the trees below it.

/// What the elements of a collection are: of a property, or of one nested in a mixed value.
struct ElementLayout {
    let type: CollectionType
    /// Columns of the elements: the values, or keys and values.
    let infos: UnsafeMutablePointer<ColumnInfo>
    /// What the blocks of its tree carry as column in their tag.
    let tagColumn: Int

    /// Bits of the tag's column: property columns are below them.
    static let nestedList = 0x4000
    static let nestedDictionary = 0x8000
    /// Collections in collections, the outermost included.
    static let depthMax = 100

    /// Of the collection that a property is.
    init(_ info: ColumnInfo, column: Int) {
        type = info.collection
        infos = info.elements.unsafelyUnwrapped
        tagColumn = column
    }

    /// Of a collection in a mixed value of the property.
    init(nested type: CollectionType, column: Int) {
        self.type = type
        infos = type == .dictionary ? NestedCell.dictionary : NestedCell.list
        tagColumn = column | (type == .dictionary ? Self.nestedDictionary : Self.nestedList)
    }

    @inline(__always) var columnCount: Int { type == .dictionary ? 2 : 1 }
    @inline(__always) var valueColumn: Int { type == .dictionary ? 1 : 0 }
    var valueInfo: ColumnInfo { infos[valueColumn] }
    /// The column of the property that it is in.
    var property: Int { tagColumn & (Self.nestedList - 1) }
    var context: RowLeafCheck.Context {
        RowLeafCheck.Context(infos: UnsafePointer(infos), columnCount: columnCount)
    }
}

enum NestedCell {
    nonisolated(unsafe) static let list = columns([.mixed])
    nonisolated(unsafe) static let dictionary = columns([.string, .mixed])

    private static func columns(_ kinds: [ColumnKind]) -> UnsafeMutablePointer<ColumnInfo> {
        let columns = UnsafeMutablePointer<ColumnInfo>.allocate(capacity: kinds.count)
        for (index, kind) in kinds.enumerated() {
            (columns + index).initialize(
                to: ColumnInfo(
                    kind: kind, isNullable: kind == .mixed, valueType: kind.valueType.rawValue))
        }
        return columns
    }

    /// Whether the value is a nested collection, and of which type.
    @inline(__always)
    static func type(_ value: RawValue) -> CollectionType? {
        if value.type == ValueType.list.rawValue { return .list }
        return value.type == ValueType.dictionary.rawValue ? .dictionary : nil
    }

    /// The number of a stored nested collection.
    @inline(__always)
    static func number(_ value: RawValue) -> CollectionNumber {
        CollectionNumber(
            rawValue: UnsafeRawPointer(bitPattern: UInt(value.word0)).unsafelyUnwrapped.u64(0))
    }

    /// Whether the value is the nested collection with this number.
    @inline(__always)
    static func hasNumber(_ value: RawValue, _ number: CollectionNumber) -> Bool {
        type(value) != nil && self.number(value) == number
    }

    /// The position that `isIt` accepts, looked for around `hint`, `reach` positions to both sides:
    /// collections that were found once are moved by what is inserted and removed before them.
    static func position(
        near hint: Int, of count: Int, within reach: Int,
        _ isIt: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) -> Int? {
        let middle = min(max(hint, -1), count - 1)
        var below = middle
        var above = middle + 1
        while middle - below <= reach, below >= 0 || above < count {
            if below >= 0, try isIt(below) { return below }
            if above < count, try isIt(above) { return above }
            below -= 1
            above += 1
        }
        return nil
    }

    /// Its cell.
    @inline(__always)
    static func cell(_ value: RawValue) -> UnsafeRawBufferPointer {
        let start = UnsafeRawPointer(bitPattern: UInt(value.word0)).unsafelyUnwrapped
        return UnsafeRawBufferPointer(start: start + 8, count: Int(value.word1) - 8)
    }

    /// Checks the cell of a mixed value that came from a file, if it is a nested collection.
    static func check(_ bytes: UnsafeRawBufferPointer, depth: Int) throws(RealmError) {
        let value = MixedCell.decode(bytes)
        guard let type = type(value) else { return }
        guard depth < ElementLayout.depthMax else {
            throw RealmError(.invalidDatabase, "collections are nested too deep")
        }
        try CollectionCell.check(
            cell(value), infos: type == .dictionary ? dictionary : list,
            type == .dictionary ? 2 : 1, depth: depth + 1)
    }

    /// What is wrong with a mixed value in a block of its own. Nested collections are small enough
    /// for their leaf, and only the check of a leaf goes down into their cells.
    static func externalProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
        if let problem = MixedCell.problem(bytes) { return problem }
        return type(MixedCell.decode(bytes)) == nil
            ? nil : "a nested collection in a block of its own"
    }

    // MARK: Trees below a cell

    typealias Visitor = (
        _ tree: UnsafeRawPointer, _ layout: ElementLayout
    ) throws(RealmError) -> Void

    /// Calls `body` with every tree that the live rows of a leaf name in their cells, directly or
    /// from cells in cells: the address of its 48-byte cell, and what its elements are. `property`:
    /// the column of the class whose rows or elements the leaf holds; -1 for rows, each of whose
    /// columns is one.
    static func trees(
        _ view: LeafView, _ infos: UnsafePointer<ColumnInfo>, _ count: Int, property: Int,
        _ body: Visitor
    ) throws(RealmError) {
        for index in 0..<min(view.columnCount, count) {
            let info = infos[index]
            guard info.kind == .collection || info.kind == .mixed, !info.isVacated,
                let column = view.column(index), column.encoding != .absent
            else { continue }
            let owner = property < 0 ? index : property
            for row in 0..<view.rows where !view.isDead(row) {
                if info.kind == .collection {
                    // Nearly all are small ones, and a commit asks each.
                    guard CollectionCell.isTree(column.bytes(row)) || info.elementKind == .mixed
                    else { continue }
                    let layout = ElementLayout(info, column: owner)
                    try trees(column.bytes(row), layout, owner, body)
                } else if !column.isNull(row) {
                    if let externals = column.externals, LeafLayout.bit(externals, row) { continue }
                    try trees(mixed: column.bytes(row), owner, body)
                }
            }
        }
    }

    /// Whether collections in the elements of a cell have trees of their own.
    static func hasTrees(_ cell: UnsafeRawBufferPointer, _ info: ColumnInfo) -> Bool {
        var found = false
        do throws(RealmError) {
            // Which column it is says nothing about trees.
            try trees(cell, ElementLayout(info, column: 0), 0) { _, _ in found = true }
        } catch {
            // The visitor throws nothing.
            invariant(false, error.message)
        }
        return found
    }

    private static func trees(
        mixed bytes: UnsafeRawBufferPointer, _ owner: Int, _ body: Visitor
    ) throws(RealmError) {
        let value = MixedCell.decode(bytes)
        guard let type = type(value) else { return }
        try trees(cell(value), ElementLayout(nested: type, column: owner), owner, body)
    }

    private static func trees(
        _ cell: UnsafeRawBufferPointer, _ layout: ElementLayout, _ owner: Int, _ body: Visitor
    ) throws(RealmError) {
        guard cell.count > 0, let start = cell.baseAddress else { return }
        if CollectionCell.isTree(cell) { return try body(start, layout) }
        guard layout.valueInfo.kind == .mixed else { return }
        let inline = InlineCollection(start)
        let values = inline.column(layout.valueColumn, UnsafePointer(layout.infos))
        for row in 0..<inline.count where !values.isNull(row) {
            try trees(mixed: values.bytes(row), owner, body)
        }
    }
}
