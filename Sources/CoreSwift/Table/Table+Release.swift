// What properties and classes own besides their rows, given up when they are dropped from the schema:
// values in blocks of their own, trees of collections, embedded objects. Leaves that have none of
// these stay as they are; the column goes from them when they are rewritten.

extension Table {
    /// Prepares a column for being dropped: afterwards it names no block and owns no object. Reads
    /// the leaves of columns that may own something.
    func releaseColumn(_ column: Int) throws(RealmError) {
        let info = state.columns[column]
        let target = info.valueKind == .link ? table(info.linkTarget) : nil
        let ownsObjects = target?.state.isEmbedded ?? false
        guard state.rowCount > 0, info.kind.hasHeap || ownsObjects else { return }
        try settle()
        var keys: [ObjectKey] = []
        var owned: [ObjectKey] = []
        var leaves = LeafIterator(table: self)
        while let leaf = try leaves.next() {
            try didWork(leaf.rows)
            guard let view = leaf.column(column), view.encoding != .absent else { continue }
            for row in 0..<leaf.rows where !leaf.isDead(row) && !view.isNull(row) {
                if info.kind == .link {
                    owned.append(view.objectKey(row))
                } else if Self.hasBlocks(view, row, info) {
                    keys.append(leaf.key(row))
                } else if ownsObjects {
                    addLinks(view.bytes(row), info, to: &owned)
                }
            }
        }
        for key in keys { try releaseValue(key, column, info) }
        guard let target else { return }
        for key in owned { try target.deleteRow(key, isOwned: true) }
    }

    /// A change of the schema has been through so many more rows.
    @inline(__always) func didWork(_ rows: Int) throws(RealmError) {
        if let tell = state.transaction?.pointee.onProgress { try tell(rows) }
    }

    /// Whether a value is in blocks of its own, or may be.
    private static func hasBlocks(_ view: ColumnView, _ row: Int, _ info: ColumnInfo) -> Bool {
        if let externals = view.externals, LeafLayout.bit(externals, row) { return true }
        switch info.kind {
        case .collection:
            let cell = view.bytes(row)
            return cell.count > 0 && (CollectionCell.isTree(cell) || info.elementKind == .mixed)
        case .mixed: return NestedCell.type(MixedCell.decode(view.bytes(row))) != nil
        default: return false
        }
    }

    /// The links of a collection that stands in its row.
    private func addLinks(
        _ cell: UnsafeRawBufferPointer, _ info: ColumnInfo, to keys: inout [ObjectKey]
    ) {
        guard let infos = info.elements else { return }
        for position in 0..<CollectionCell.count(cell) {
            let value = element(cell, position, info.valueColumn, infos)
            if value.type == ValueType.link.rawValue { keys.append(value.linkTarget) }
        }
    }

    /// Takes a value that may be in blocks of its own out of its row, with what it owns.
    private func releaseValue(
        _ key: ObjectKey, _ column: Int, _ info: ColumnInfo
    ) throws(RealmError) {
        if info.kind == .collection { return try removeAll(try collection(key, column)) }
        guard let place = try find(key) else { return }
        let empty: RawValue =
            info.isNullable ? .null : RawValue(wordless: somewhere, info.valueType)
        try willSet(place, key, column, empty)
        if info.kind == .mixed {
            _ = try store(place, key, column, info, empty)
        } else {
            _ = try put(place, key, column, info, empty)
        }
    }

    /// Deletes every object; links to them go.
    func deleteAllRows() throws(RealmError) {
        for key in try allKeys() where try find(key) != nil { try deleteRow(key) }
    }

    /// The keys of all rows, in a write transaction; settles the table, as rows of open leaves are not in the tree.
    func allKeys() throws(RealmError) -> [ObjectKey] {
        try settle()
        var keys: [ObjectKey] = []
        keys.reserveCapacity(state.rowCount)
        var leaves = LeafIterator(table: self)
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) { keys.append(leaf.key(row)) }
        }
        return keys
    }
}

extension RawValue {
    /// A text of no bytes.
    fileprivate init(wordless address: UnsafeRawPointer, _ type: UInt32) {
        self = .string(address, 0)
        self.type = type
    }
}
