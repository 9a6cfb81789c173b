// Collections of a table's rows in a write transaction: opening and flushing them, changing their
// elements and keeping the inverse index in step. Reading in a snapshot: CollectionView.swift.

extension UnsafeMutablePointer where Pointee == TableState {
    /// Collections that may be open at a time; more are flushed together. Programs that fill one
    /// collection per object meet the sealing of the row leaf first.
    static var openCollectionsMax: Int { 4096 }

    func collectionTag(_ kind: BlockKind, _ column: Int) -> BlockTag {
        BlockTag(kind, classKey: pointee.classKey, column: column)
    }

    // MARK: Blocks

    /// A leaf of a collection's tree with `count` elements.
    @inline(__always)
    func collectionLeaf(
        _ place: UnsafeRawPointer, _ count: Int, _ column: Int
    ) throws(RealmError) -> UnsafeRawPointer {
        let tag = collectionTag(.collectionLeaf, column)
        let block: UnsafeRawPointer
        if let known = pointee.nodes.resolved(place, tag) {
            block = known
        } else {
            block = try admitCollectionLeaf(place, tag, column)
        }
        let view = LeafView(block)
        guard view.rows == count, view.liveRows == count else {
            throw RealmError(
                .invalidDatabase,
                "page \(BlockReference(place).page): collection leaf of \(view.liveRows) "
                    + "elements, its parent says \(count)")
        }
        return block
    }

    @inline(never)
    private func admitCollectionLeaf(
        _ place: UnsafeRawPointer, _ tag: BlockTag, _ column: Int
    ) throws(RealmError) -> UnsafeRawPointer {
        try pointee.nodes.admit(
            BlockReference(place), tag, Self.elementContext(pointee.columns[column]),
            RowLeafCheck.check)
    }

    static func elementContext(_ info: ColumnInfo) -> RowLeafCheck.Context {
        RowLeafCheck.Context(
            infos: UnsafePointer(info.elements.unsafelyUnwrapped),
            columnCount: info.elementColumns)
    }

    func collectionBranch(
        _ place: UnsafeRawPointer, _ level: Int, _ column: Int
    ) throws(RealmError) -> UnsafeRawPointer {
        let tag = collectionTag(.collectionBranch, column)
        if let node = pointee.nodes.resolved(place, tag), RowBranch.level(node) == level {
            return node
        }
        return try pointee.nodes.admit(BlockReference(place), tag, level, RowBranch.check)
    }

    // MARK: Opening and flushing

    /// The collection of a live row, for reading and changing. Good until the stamp changes.
    func collection(
        _ key: Int64, _ column: Int
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        if let known = pointee.openCollections.find(key, column) { return known }
        if pointee.openCollections.items.count >= Self.openCollectionsMax {
            try flushCollections()
        }
        guard let place = try find(key) else {
            throw RealmError(
                .invalidatedObject,
                "object \(key) of class \(pointee.classKey.rawValue) is not there")
        }
        let cell = try value(place, key, column).bytes
        let fresh = UnsafeMutablePointer<OpenCollection>.allocate(capacity: 1)
        fresh.initialize(to: OpenCollection(self, key, column))
        do throws(RealmError) {
            try fresh.pointee.load(cell)
        } catch {
            end(fresh)
            throw error
        }
        pointee.openCollections.add(fresh)
        return fresh
    }

    private func end(_ collection: UnsafeMutablePointer<OpenCollection>) {
        collection.pointee.deallocate()
        collection.deinitialize(count: 1)
        collection.deallocate()
    }

    /// Writes the cells of all open collections and closes them.
    func flushCollections() throws(RealmError) {
        guard !pointee.openCollections.isEmpty else { return }
        // In the order of the rows, so that each leaf is opened once.
        let all = pointee.openCollections.takeAll().sorted { $0.pointee.key < $1.pointee.key }
        pointee.stamp.pointee &+= 1
        defer { for collection in all { end(collection) } }
        let cell = UnsafeMutableRawPointer.allocate(
            byteCount: CollectionCell.inlineBytesMax, alignment: 8)
        defer { cell.deallocate() }
        for collection in all where collection.pointee.isDirty {
            let count = try collection.pointee.makeCell(cell)
            try setCell(
                collection.pointee.key, collection.pointee.column, .binary(cell, count))
        }
    }

    private func setCell(
        _ key: Int64, _ column: Int, _ cell: RawValue
    ) throws(RealmError) {
        guard var place = try find(key) else { return }
        let info = pointee.columns[column]
        pointee.isDirty = true
        if place.state != .open {
            place = try patchable(place, key)
            if LeafPatch.set(place.view, column, info, place.row, cell) { return }
            let leaf = try openLeaf(covering: key)
            guard let row = leaf.pointee.row(of: key) else { return }
            place = RowPlace(leaf: UnsafeMutableRawPointer(leaf), row: row, state: .open)
        }
        setOpen(place.open, place.row, column, info.kind, cell)
    }

    /// Frees what the transaction held, without a trace.
    func discardCollections() {
        for collection in pointee.openCollections.takeAll() { end(collection) }
    }

    // MARK: Elements

    /// Whether the value may be an element of the collection; CONTRACT 1.8, without the target's
    /// check.
    func checkElement(_ value: RawValue, _ column: Int) throws(RealmError) {
        let info = pointee.columns[column]
        guard let elements = info.elements else { return }
        try checkType(value, column, elements[info.valueColumn])
    }

    /// Whether the object that an element links to may be linked to.
    func checkElementTarget(_ value: RawValue) throws(RealmError) {
        if value.type == ValueType.link.rawValue { try checkTarget(value) }
    }

    func setElement(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ index: Int, _ info: ColumnInfo,
        _ value: RawValue
    ) {
        if info.kind.hasHeap {
            dropExternal(leaf, row, index)
            let bytes =
                value.isNull
                ? 0 : info.kind == .mixed ? MixedCell.count(value) : value.bytes.count
            if bytes > LeafLayout.inlineBytesMax {
                setExternal(leaf, row, index, info.kind, value)
                return
            }
        }
        setOpen(leaf, row, index, info.kind, value)
    }

    /// Gives up the blocks of the values of a row in an open leaf.
    func dropExternals(_ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int) {
        guard leaf.pointee.hasExternals else { return }
        for index in 0..<leaf.pointee.columnCount
        where leaf.pointee.columns[index].kind.hasHeap {
            dropExternal(leaf, row, index)
        }
    }

    private func changed(_ collection: UnsafeMutablePointer<OpenCollection>) {
        collection.pointee.isDirty = true
        pointee.isDirty = true
        memory.pointee.patches &+= 1
    }

    private func noteLink(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ value: RawValue, isAddition: Bool
    ) {
        let info = pointee.columns[collection.pointee.column]
        guard info.inverseIndex >= 0 else { return }
        noteLink(info, collection.pointee.key, value, isAddition: isAddition)
    }

    /// Inserts an element that passed its checks; `key`: of a dictionary.
    func insert(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int, key: RawValue? = nil,
        _ value: RawValue
    ) throws(RealmError) {
        let (leaf, row) = try collection.pointee.insertRow(at: index)
        let infos = collection.pointee.infos
        if let key { setElement(leaf, row, 0, infos[0], key) }
        let column = collection.pointee.valueColumn
        setElement(leaf, row, column, infos[column], value)
        noteLink(collection, value, isAddition: true)
        changed(collection)
    }

    /// Replaces the value of an element; an embedded object that it owned is deleted.
    func replace(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int, _ value: RawValue
    ) throws(RealmError) {
        let column = collection.pointee.valueColumn
        let old = try collection.pointee.value(index, column).value
        let owned = ownedObject(old)
        noteLink(collection, old, isAddition: false)
        let (leaf, row) = try collection.pointee.changeRow(at: index)
        setElement(leaf, row, column, collection.pointee.valueInfo, value)
        noteLink(collection, value, isAddition: true)
        changed(collection)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
    }

    /// Removes an element; an embedded object that it owned is deleted.
    func remove(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int
    ) throws(RealmError) {
        let old = try collection.pointee.value(index, collection.pointee.valueColumn).value
        let owned = ownedObject(old)
        noteLink(collection, old, isAddition: false)
        try collection.pointee.removeRow(at: index)
        changed(collection)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
    }

    /// Moves an element of a list so that it ends at index `to`.
    func move(
        _ collection: UnsafeMutablePointer<OpenCollection>, from: Int, to: Int
    ) throws(RealmError) {
        if from == to { return }
        let info = collection.pointee.valueInfo
        var value = try collection.pointee.value(from, 0).value
        // Removing the element takes its bytes away.
        var copy: UnsafeMutableRawPointer?
        defer { copy?.deallocate() }
        let isText =
            value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue
        if isText, !value.isNull {
            let bytes = value.bytes
            let buffer = UnsafeMutableRawPointer.allocate(
                byteCount: bytes.count + 1, alignment: 1)
            copy = buffer
            if bytes.count > 0, let start = bytes.baseAddress {
                memcpy(buffer, start, bytes.count)
            }
            value.word0 = UInt64(UInt(bitPattern: buffer))
        }
        try collection.pointee.removeRow(at: from)
        let (leaf, row) = try collection.pointee.insertRow(at: to)
        setElement(leaf, row, 0, info, value)
        changed(collection)
    }

    /// Removes every element, with the embedded objects that they own.
    func removeAll(
        _ collection: UnsafeMutablePointer<OpenCollection>
    ) throws(RealmError) {
        var owned: [OwnedObject] = []
        try forgetLinks(collection, &owned)
        try collection.pointee.removeAll()
        changed(collection)
        for child in owned { try child.table.deleteRow(child.key, isOwned: true) }
    }

    /// Takes the links of all elements out of the inverse index; names the objects they own.
    private func forgetLinks(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ owned: inout [OwnedObject]
    ) throws(RealmError) {
        let info = collection.pointee.valueInfo
        guard info.kind.holdsLinks else { return }
        let column = collection.pointee.valueColumn
        try collection.pointee.forEachPiece { place, rows, _ throws(RealmError) in
            var place = place
            for row in 0..<rows {
                place.row = row
                let value = try self.value(place, column, info)
                noteLink(collection, value, isAddition: false)
                if let child = ownedObject(value) { owned.append(child) }
            }
            return true
        }
    }

    // MARK: Deleting objects

    /// Ends the collection of a row that is being deleted; names the embedded objects it owns.
    func dropCollection(
        _ place: RowPlace, _ key: Int64, _ column: Int, _ owned: inout [OwnedObject]
    ) throws(RealmError) {
        let info = pointee.columns[column]
        if pointee.openCollections.find(key, column) == nil {
            let cell = try value(place, column, info).bytes
            if cell.count == 0 { return }
            // Few elements that are no links leave nothing behind.
            if !CollectionCell.isTree(cell), info.inverseIndex < 0 { return }
        }
        let collection = try self.collection(key, column)
        try forgetLinks(collection, &owned)
        try collection.pointee.removeAll()
        pointee.openCollections.remove(collection)
        end(collection)
        pointee.stamp.pointee &+= 1
    }

    /// Removes the links to a deleted object from a collection; in dictionaries they become null.
    func removeLinks(
        _ link: RawValue, from source: Int64, column: Int
    ) throws(RealmError) {
        let collection = try self.collection(source, column)
        let valueColumn = collection.pointee.valueColumn
        let info = collection.pointee.valueInfo
        var positions: [Int] = []
        try collection.pointee.forEachPiece { place, rows, start throws(RealmError) in
            var place = place
            for row in 0..<rows {
                place.row = row
                let value = try self.value(place, valueColumn, info)
                if isSameLink(value, link) {
                    positions.append(start + row)
                }
            }
            return true
        }
        for index in positions.reversed() {
            noteLink(collection, link, isAddition: false)
            if collection.pointee.type == .dictionary {
                let (leaf, row) = try collection.pointee.changeRow(at: index)
                setElement(leaf, row, valueColumn, info, .null)
            } else {
                try collection.pointee.removeRow(at: index)
            }
        }
        changed(collection)
    }

    // MARK: Placing

    /// Gives the transient blocks of the trees that a sealed leaf's cells name their places.
    func placeCollections(_ view: LeafView, _ builder: CommitBuilder) {
        for index in 0..<min(view.columnCount, pointee.columnCount) {
            let info = pointee.columns[index]
            guard info.kind == .collection, let column = view.column(index),
                column.encoding != .absent
            else { continue }
            for row in 0..<view.rows where !view.isDead(row) {
                let cell = column.bytes(row)
                guard CollectionCell.isTree(cell), let start = cell.baseAddress else { continue }
                let root = CollectionRoot(start)
                placeNode(
                    UnsafeMutableRawPointer(
                        mutating: start + CollectionCell.rootOffset), root.depth, info, builder)
            }
        }
    }

    private func placeNode(
        _ place: UnsafeMutableRawPointer, _ level: Int, _ info: ColumnInfo,
        _ builder: CommitBuilder
    ) {
        let reference = BlockReference(place)
        guard reference.isTransient else { return }
        let node = memory.pointee.blocks.pointer(reference)
        if level > 0 {
            for child in 0..<RowBranch.count(node) {
                placeNode(
                    UnsafeMutableRawPointer(mutating: RowBranch.reference(node, child)),
                    level - 1, info, builder)
            }
        } else if let elements = info.elements {
            placeExternals(
                LeafView(UnsafeRawPointer(node)), elements, info.elementColumns, builder)
        }
        builder.place(node, pages: memory.pointee.blocks.pages(reference)).store(place)
    }
}
