// Collections of a table's rows in a write transaction: opening and flushing them, changing their
// elements and keeping the inverse index in step. Reading in a snapshot: CollectionView.swift.

extension Table {
    /// Collections that may be open at a time; more are flushed together. Programs that fill one
    /// collection per object meet the sealing of the row leaf first.
    static var openCollectionsMax: Int { 4096 }

    func collectionTag(_ kind: BlockKind, _ column: Int) -> BlockTag {
        BlockTag(kind, classKey: state.classKey, column: column)
    }

    // MARK: Blocks

    /// A leaf of a collection's tree with `count` elements.
    @inline(__always)
    func collectionLeaf(
        _ place: UnsafeRawPointer, _ count: Int, _ layout: ElementLayout
    ) throws(RealmError) -> UnsafeRawPointer {
        let tag = collectionTag(.collectionLeaf, layout.tagColumn)
        let block: UnsafeRawPointer
        if let known = state.nodes.resolved(place, tag) {
            block = known
        } else {
            block = try admitCollectionLeaf(place, tag, layout)
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
        _ place: UnsafeRawPointer, _ tag: BlockTag, _ layout: ElementLayout
    ) throws(RealmError) -> UnsafeRawPointer {
        try state.nodes.admit(
            BlockReference(place), tag, layout.context, RowLeafCheck.check)
    }

    func collectionBranch(
        _ place: UnsafeRawPointer, _ level: Int, _ layout: ElementLayout
    ) throws(RealmError) -> UnsafeRawPointer {
        let tag = collectionTag(.collectionBranch, layout.tagColumn)
        if let node = state.nodes.resolved(place, tag), RowBranch.level(node) == level {
            return node
        }
        return try state.nodes.admit(BlockReference(place), tag, level, RowBranch.check)
    }

    /// Calls `body` with the leaves of a collection's tree in order: where its parent names each, and with how many
    /// elements. Only branches are read.
    func forEachLeafPlace(
        _ root: UnsafeRawPointer, _ depth: Int, _ count: Int, _ layout: ElementLayout,
        _ body: (UnsafeRawPointer, Int) -> Void
    ) throws(RealmError) {
        var left = blocksMax
        try visitLeafPlaces(root, depth, count, layout, &left, body)
    }

    private func visitLeafPlaces(
        _ place: UnsafeRawPointer, _ level: Int, _ elements: Int, _ layout: ElementLayout,
        _ left: inout Int, _ body: (UnsafeRawPointer, Int) -> Void
    ) throws(RealmError) {
        left -= 1
        guard left >= 0 else { throw state.nodes.endless() }
        if level == 0 { return body(place, elements) }
        let node = try collectionBranch(place, level, layout)
        for child in 0..<RowBranch.count(node) {
            try visitLeafPlaces(
                RowBranch.reference(node, child), level - 1, RowBranch.rows(node, child), layout,
                &left, body)
        }
    }

    // MARK: Opening and flushing

    /// The collection of a live row, for reading and changing. Good until the stamp changes.
    func collection(
        _ key: ObjectKey, _ column: Int
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        if let known = state.openCollections.find(key, column) { return known }
        if state.openCollections.items.count >= Self.openCollectionsMax {
            try flushCollections()
        }
        guard let place = try find(key) else {
            throw RealmError(
                .invalidatedObject,
                "object \(key) of \(named) is not there")
        }
        let value = try value(place, key, column)
        let info = state.columns[column]
        let fresh = UnsafeMutablePointer<OpenCollection>.allocate(capacity: 1)
        if info.kind == .collection {
            let layout = ElementLayout(info, column: column)
            fresh.initialize(to: OpenCollection(self, key, column, layout))
            try load(fresh, value.bytes)
        } else {
            guard let type = NestedCell.type(value) else {
                fresh.deallocate()
                throw RealmError(
                    .invalidatedObject,
                    "property \(named(column: column)) of object \(key) "
                        + "holds no collection")
            }
            fresh.initialize(
                to: OpenCollection(
                    self, key, column, ElementLayout(nested: type, column: column),
                    number: NestedCell.number(value)))
            try load(fresh, NestedCell.cell(value))
        }
        state.openCollections.add(fresh)
        // Handles that work on the cell are to find the open collection.
        state.stamp.pointee &+= 1
        return fresh
    }

    private func load(
        _ fresh: UnsafeMutablePointer<OpenCollection>, _ cell: UnsafeRawBufferPointer
    ) throws(RealmError) {
        do throws(RealmError) {
            try fresh.pointee.load(cell)
        } catch {
            end(fresh)
            throw error
        }
    }

    /// The collection that an element of `parent` is; nil when it is none of this type. Good as
    /// long as the parent.
    func nestedCollection(
        _ parent: UnsafeMutablePointer<OpenCollection>, at index: Int, _ type: CollectionType
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection>? {
        let value = try parent.pointee.value(index, parent.pointee.valueColumn).value
        guard NestedCell.type(value) == type else { return nil }
        let number = NestedCell.number(value)
        if let known = parent.pointee.children[number] {
            known.pointee.position = index
            return known.pointee.type == type ? known : nil
        }
        let fresh = UnsafeMutablePointer<OpenCollection>.allocate(capacity: 1)
        let column = parent.pointee.column
        fresh.initialize(
            to: OpenCollection(
                self, parent.pointee.key, column, ElementLayout(nested: type, column: column),
                number: number, parent: parent))
        fresh.pointee.position = index
        state.openCollections.nestedCount += 1
        try load(fresh, NestedCell.cell(value))
        parent.pointee.children[number] = fresh
        parent.pointee.finder?.pointee.add(fresh)
        return fresh
    }

    private func end(_ collection: UnsafeMutablePointer<OpenCollection>) {
        for child in collection.pointee.children.values { end(child) }
        if collection.pointee.parent != nil { state.openCollections.nestedCount -= 1 }
        LinkFinder.leave(collection)
        collection.pointee.deallocate()
        collection.deinitialize(count: 1)
        collection.deallocate()
    }

    /// Flushes all when too many collections in mixed values are open; before a handle looks for
    /// another one.
    func flushIfCrowded() throws(RealmError) {
        if state.openCollections.nestedCount >= OpenCollectionSet.nestedMax {
            try flushCollections()
        }
    }

    /// Writes the cells of all open collections and closes them.
    func flushCollections() throws(RealmError) {
        guard !state.openCollections.isEmpty else { return }
        // In the order of the rows, so that each leaf is opened once.
        var all = state.openCollections.takeAll()
        let isSorted = zip(all, all.dropFirst()).allSatisfy { $0.pointee.key <= $1.pointee.key }
        if !isSorted { all.sort { $0.pointee.key < $1.pointee.key } }
        state.stamp.pointee &+= 1
        defer { for collection in all { end(collection) } }
        for collection in all {
            try withCell(collection) { cell throws(RealmError) in
                try setCell(collection.pointee.key, collection.pointee.column, cell)
            }
        }
    }

    /// Calls `body` with what the cell of a changed collection should be; its children come first, and end.
    private func withCell(
        _ collection: UnsafeMutablePointer<OpenCollection>,
        _ body: (RawValue) throws(RealmError) -> Void
    ) throws(RealmError) {
        let column = collection.pointee.valueColumn
        let children = try collection.pointee.placedChildren()
        collection.pointee.children = [:]
        // Those that are left after an error.
        var next = 0
        defer { for child in children[next...] { end(child) } }
        while next < children.count {
            let child = children[next]
            try withCell(child) { cell throws(RealmError) in
                let (leaf, row) = try collection.pointee.changeRow(at: child.pointee.position)
                setElement(leaf, row, column, collection.pointee.valueInfo, cell)
            }
            // As long as its memory is at hand.
            end(child)
            next += 1
        }
        guard collection.pointee.isDirty else { return }
        let cell = UnsafeMutableRawPointer.allocate(
            byteCount: CollectionCell.inlineBytesMax + 8, alignment: 8)
        defer { cell.deallocate() }
        let count = try collection.pointee.makeCell(cell + 8)
        if collection.pointee.number == .none { return try body(.binary(cell + 8, count)) }
        cell.put(collection.pointee.number, 0)
        try body(
            RawValue(
                word0: UInt64(UInt(bitPattern: cell)), word1: UInt64(count + 8),
                type: collection.pointee.type == .list ? .list : .dictionary))
    }

    func setCell(
        _ key: ObjectKey, _ column: Int, _ cell: RawValue
    ) throws(RealmError) {
        guard var place = try find(key) else { return }
        let info = state.columns[column]
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
        for collection in state.openCollections.takeAll() { end(collection) }
        state.openCollections.takeSpares().forEach(OpenLeaf.end)
    }

    // MARK: Elements

    /// A nested collection as it is stored first: empty, with a number of its own. What callers
    /// give as the value of one means no more than its type.
    @inline(__always)
    func fresh(_ value: RawValue) -> RawValue {
        guard let type = NestedCell.type(value) else { return value }
        transaction.pointee.nestedNumber += 1
        return RawValue(
            word0: 0, word1: transaction.pointee.nestedNumber,
            type: type == .list ? .list : .dictionary)
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

    @inline(__always)
    func noteLink(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ value: RawValue, isAddition: Bool
    ) {
        let info = state.columns + collection.pointee.column
        guard info.pointee.inverseIndex >= 0 else { return }
        noteLink(info.pointee, collection.pointee.key, value, isAddition: isAddition)
    }

    /// Inserts an element that passed its checks; `key`: of a dictionary.
    func insert(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int, key: RawValue? = nil,
        _ value: RawValue
    ) throws(RealmError) {
        try willChange(collection, .inserted(at: index, key: key, value))
        let (leaf, row) = try collection.pointee.insertRow(at: index)
        let infos = collection.pointee.infos
        if let key { setElement(leaf, row, 0, infos[0], key) }
        let column = collection.pointee.valueColumn
        setElement(leaf, row, column, infos[column], fresh(value))
        collection.pointee.note(value)
        noteLink(collection, value, isAddition: true)
    }

    /// Replaces the value of an element; an embedded object that it owned is deleted.
    func replace(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int, _ value: RawValue
    ) throws(RealmError) {
        let column = collection.pointee.valueColumn
        let old = try collection.pointee.value(index, column).value
        // A collection in the place of one of the same type is that one.
        if let type = NestedCell.type(value), NestedCell.type(old) == type { return }
        let owned = ownedObject(old)
        try willChange(collection, .replaced(at: index, value, isDerived: false))
        noteLink(collection, old, isAddition: false)
        try dropNested(collection, at: index, old)
        let (leaf, row) = try collection.pointee.changeRow(at: index)
        setElement(leaf, row, column, collection.pointee.valueInfo, fresh(value))
        collection.pointee.note(value)
        noteLink(collection, value, isAddition: true)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
    }

    /// Removes an element; an embedded object that it owned is deleted.
    func remove(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int
    ) throws(RealmError) {
        let old = try collection.pointee.value(index, collection.pointee.valueColumn).value
        let owned = ownedObject(old)
        try willChange(collection, .removed(at: index, isDerived: false))
        noteLink(collection, old, isAddition: false)
        try dropNested(collection, at: index, old)
        try collection.pointee.removeRow(at: index)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
    }

    /// Moves an element of a list so that it ends at index `to`.
    func move(
        _ collection: UnsafeMutablePointer<OpenCollection>, from: Int, to: Int
    ) throws(RealmError) {
        if from == to { return }
        try willChange(collection, .moved(from: from, to: to))
        let info = collection.pointee.valueInfo
        var value = try collection.pointee.value(from, 0).value
        // Removing the element takes its bytes away.
        var copy: UnsafeMutableRawPointer?
        defer { copy?.deallocate() }
        let isText =
            value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue
        if isText || NestedCell.type(value) != nil, !value.isNull {
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
        collection.pointee.note(value)
    }

    /// Removes every element, with the embedded objects that they own.
    func removeAll(
        _ collection: UnsafeMutablePointer<OpenCollection>, isAssignment: Bool = false
    ) throws(RealmError) {
        try willChange(collection, .cleared(isAssignment: isAssignment))
        var owned: [OwnedObject] = []
        try forgetLinks(collection, &owned)
        try collection.pointee.removeAll()
        for child in owned { try child.table.deleteRow(child.key, isOwned: true) }
    }

    /// Ends the collection that an element is, before it goes.
    private func dropNested(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int, _ value: RawValue
    ) throws(RealmError) {
        guard let type = NestedCell.type(value),
            let child = try nestedCollection(collection, at: index, type)
        else { return }
        // Elements of mixed collections own no objects.
        var owned: [OwnedObject] = []
        try forgetLinks(child, &owned)
        try child.pointee.removeAll()
        collection.pointee.children[child.pointee.number] = nil
        end(child)
        // Handles may remember it.
        state.stamp.pointee &+= 1
    }

    /// Takes the links of all elements out of the inverse index, with those of collections among
    /// them, which end; names the objects they own.
    private func forgetLinks(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ owned: inout [OwnedObject]
    ) throws(RealmError) {
        let info = collection.pointee.valueInfo
        guard info.kind.holdsLinks else { return }
        let column = collection.pointee.valueColumn
        var nested: [Int] = []
        try collection.pointee.forEachPiece { place, rows, start throws(RealmError) in
            var place = place
            for row in 0..<rows {
                place.row = row
                let value = try self.value(place, column, info)
                noteLink(collection, value, isAddition: false)
                if let child = ownedObject(value) { owned.append(child) }
                if NestedCell.type(value) != nil { nested.append(start + row) }
            }
            return true
        }
        for index in nested {
            let value = try collection.pointee.value(index, column).value
            try dropNested(collection, at: index, value)
        }
    }

    // MARK: Deleting objects

    /// Ends the collection of a row that is being deleted; names the embedded objects it owns.
    func dropCollection(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ owned: inout [OwnedObject]
    ) throws(RealmError) {
        let info = state.columns[column]
        if state.openCollections.find(key, column) == nil {
            let value = try value(place, column, info)
            if info.kind == .mixed {
                if NestedCell.type(value) == nil { return }
            } else {
                let cell = value.bytes
                if cell.count == 0 { return }
                if !CollectionCell.isTree(cell), info.elementKind != .mixed {
                    return forgetCell(place, key, column, &owned)
                }
            }
        }
        let collection = try self.collection(key, column)
        try forgetLinks(collection, &owned)
        try collection.pointee.removeAll()
        state.openCollections.remove(collection)
        end(collection)
        state.stamp.pointee &+= 1
    }
}
