// Small collections of a write transaction, read and changed in the cells of their rows: no element
// is decoded and nothing is allocated. What `OpenCollection` is for large ones and for collections
// of mixed values, which hold others; a collection that outgrows its cell goes over to it.
//
// A cell says what the collection holds as long as it is not in `openCollections`. Handles that
// work on the cell look at the row each time; one that opens the collection bumps the stamp.
//
// Called by `RealmCollection`, and by `Table+Collections` when objects are deleted.

extension Table {
    /// The bytes of a collection in a row.
    @inline(__always)
    func cell(_ place: RowPlace, _ index: Int) -> UnsafeRawBufferPointer {
        if place.state == .open {
            let column = place.open.pointee.columns + index
            let count = column.pointee.textLength(place.row).count
            guard count > 0, let heap = column.pointee.heap else {
                return UnsafeRawBufferPointer(start: nil, count: 0)
            }
            return UnsafeRawBufferPointer(
                start: heap + column.pointee.textOffset(place.row), count: count)
        }
        guard let column = place.view.column(index) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return column.bytes(place.row)
    }

    /// Whether the collection of a row is one that can be used where it stands.
    @inline(__always)
    func isCell(_ place: RowPlace, _ key: ObjectKey, _ index: Int) -> Bool {
        let info = state.columns[index]
        guard info.kind == .collection, info.elementKind != .mixed,
            state.openCollections.find(key, index) == nil
        else { return false }
        let cell = cell(place, index)
        // A cell of a damaged file may be longer than those that are made.
        return cell.count <= CellEditor.bufferBytes && !CollectionCell.isTree(cell)
    }

    // MARK: Reading

    /// Element `index` of a cell, which is there.
    @inline(__always)
    func element(
        _ cell: UnsafeRawBufferPointer, _ index: Int, _ column: Int,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) -> RawValue {
        InlineCollection(cell.baseAddress.unsafelyUnwrapped)
            .column(column, UnsafePointer(infos)).value(index, infos[column])
    }

    /// As `OpenCollection.search`.
    func search(
        _ cell: UnsafeRawBufferPointer, _ value: RawValue,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) -> (index: Int, isFound: Bool) {
        guard cell.count > 0, let start = cell.baseAddress else { return (0, false) }
        return InlineCollection(start).column(0, UnsafePointer(infos)).search(value, infos[0])
    }

    // MARK: Changing

    @inline(__always)
    private func editor(
        _ place: RowPlace, _ index: Int, _ infos: UnsafeMutablePointer<ColumnInfo>
    ) -> CellEditor {
        CellEditor(
            cell(place, index), to: transaction.pointee.cellBuffer, UnsafePointer(infos),
            state.columns[index].elementColumns)
    }

    /// Puts an edited cell, the first bytes of the buffer, into its row. The change has been told.
    @inline(__always)
    private func write(
        _ byteCount: Int, _ place: RowPlace, _ key: ObjectKey, _ index: Int
    ) throws(RealmError) {
        let start = UnsafeRawPointer(transaction.pointee.cellBuffer)
        if place.state == .open {
            (place.open.pointee.columns + index).pointee
                .replaceText(place.row, start, byteCount)
            return
        }
        try setCell(key, index, .binary(start, byteCount))
    }

    @inline(__always)
    private func noteElement(
        _ key: ObjectKey, _ index: Int, _ value: RawValue, isAddition: Bool
    ) {
        guard state.columns[index].inverseIndex >= 0 else { return }
        noteLink(state.columns[index], key, value, isAddition: isAddition)
    }

    /// Appends an element that passed its checks to the cell of a list, where that is the matter
    /// of a few bytes; otherwise false, and nothing has changed.
    @inline(__always)
    func appendToCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ value: RawValue,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) -> Bool {
        // Whoever listens is told first, which only slower ways can do.
        guard place.state == .open, isUnheard(key, index) else { return false }
        let column = place.open.pointee.columns + index
        guard column.pointee.appendElement(place.row, infos[0].kind, value) else { return false }
        didAppend()
        noteElement(key, index, value, isAddition: true)
        return true
    }

    /// Gives a list that is empty all its elements: those that are not null, of a fixed width and neither
    /// integers nor links, where they fit a cell and nobody is to be told. Otherwise false, and nothing has
    /// changed.
    func fillCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ count: Int,
        _ values: UnsafePointer<RawValue>
    ) -> Bool {
        guard let element = elementsToFill(place, key, index), element.kind != .link else {
            return false
        }
        for position in 0..<count {
            let value = values[position]
            guard value.type == element.valueType, !value.isNull else { return false }
        }
        let buffer = transaction.pointee.cellBuffer
        guard let bytes = CollectionCell.encode(values, count, element.kind, buffer) else {
            return false
        }
        (place.open.pointee.columns + index).pointee.setText(place.row, buffer, bytes)
        didAppend()
        return true
    }

    /// The same of integers, or of the keys of objects that the list links to.
    func fillCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ count: Int,
        numbers: UnsafePointer<Int64>
    ) throws(RealmError) -> Bool {
        let info = state.columns[index]
        guard let element = elementsToFill(place, key, index) else { return false }
        let isLinks = element.kind == .link
        guard isLinks ? info.linksAreWords && info.inverseIndex >= 0 : element.kind == .int else {
            return false
        }
        if isLinks { try checkTargets(element.linkTarget, numbers, count) }
        let buffer = transaction.pointee.cellBuffer
        guard let bytes = CollectionCell.encode(numbers, count, buffer) else { return false }
        (place.open.pointee.columns + index).pointee.setText(place.row, buffer, bytes)
        didAppend()
        if isLinks {
            (state.indexes + Int(info.inverseIndex)).pointee.pending.append(numbers, count, key)
        }
        return true
    }

    /// The element of a list that a number stands for: an integer, or a link to the object with the key.
    func element(_ index: Int, _ number: Int64) -> RawValue {
        guard let element = state.columns[index].elements?.pointee, element.kind == .link else {
            return .int(number)
        }
        return .link(element.linkTarget, ObjectKey(rawValue: number))
    }

    /// What the elements of a list are that can be filled at once: an empty cell, of which nobody is to be
    /// told.
    @inline(__always)
    private func elementsToFill(_ place: RowPlace, _ key: ObjectKey, _ index: Int) -> ColumnInfo? {
        let info = state.columns[index]
        guard place.state == .open, info.kind == .collection, info.collection == .list,
            isCell(place, key, index), cell(place, index).count == 0, isUnheard(key, index)
        else { return nil }
        return info.elements?.pointee
    }

    /// `checkTarget` for links to objects of one class.
    private func checkTargets(
        _ class_: ClassKey, _ keys: UnsafePointer<Int64>, _ count: Int
    ) throws(RealmError) {
        guard count > 0 else { return }
        try checkTarget(.link(class_, ObjectKey(rawValue: keys[0])))
        // Where targets are not looked up, that was all.
        if state.tables[class_.index]?.state.takesLinksUnseen == true { return }
        for position in 1..<count {
            try checkTarget(.link(class_, ObjectKey(rawValue: keys[position])))
        }
    }

    /// Inserts an element that passed its checks; `elementKey`: of a dictionary. False when the
    /// collection has to be opened for it; nothing has changed then.
    func insertIntoCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, at position: Int,
        elementKey: RawValue? = nil, _ value: RawValue,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) throws(RealmError) -> Bool {
        var editor = editor(place, index, infos)
        guard editor.insert(value, key: elementKey, at: position) else { return false }
        try willChange(
            place, key, index, .inserted(at: position, key: elementKey, value))
        try write(editor.byteCount, place, key, index)
        noteElement(key, index, value, isAddition: true)
        return true
    }

    /// Replaces the value of an element; an embedded object that it owned is deleted. False as
    /// `insertIntoCell`.
    func replaceInCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, at position: Int, _ value: RawValue,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) throws(RealmError) -> Bool {
        let (old, owned) = linked(place, index, position, infos)
        var editor = editor(place, index, infos)
        guard editor.replace(value, at: position) else { return false }
        try willChange(
            place, key, index, .replaced(at: position, value, isDerived: false))
        try write(editor.byteCount, place, key, index)
        noteElement(key, index, old, isAddition: false)
        noteElement(key, index, value, isAddition: true)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
        return true
    }

    /// What an element of a column of links holds, and the object that it owns; null of other columns.
    private func linked(
        _ place: RowPlace, _ index: Int, _ position: Int,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) -> (RawValue, OwnedObject?) {
        let info = state.columns[index]
        guard info.inverseIndex >= 0 else { return (.null, nil) }
        let value = element(cell(place, index), position, info.valueColumn, infos)
        return (value, ownedObject(value))
    }

    /// Removes an element; an embedded object that it owned is deleted.
    func removeFromCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, at position: Int,
        _ infos: UnsafeMutablePointer<ColumnInfo>
    ) throws(RealmError) {
        let (old, owned) = linked(place, index, position, infos)
        var editor = editor(place, index, infos)
        editor.remove(at: position)
        try willChange(place, key, index, .removed(at: position, isDerived: false))
        try write(editor.byteCount, place, key, index)
        noteElement(key, index, old, isAddition: false)
        if let owned { try owned.table.deleteRow(owned.key, isOwned: true) }
    }

    /// Removes every element, with the embedded objects that they own.
    func emptyCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, isAssignment: Bool
    ) throws(RealmError) {
        try willChange(place, key, index, .cleared(isAssignment: isAssignment))
        var owned: [OwnedObject] = []
        forgetCell(place, key, index, &owned)
        try write(0, place, key, index)
        for child in owned { try child.table.deleteRow(child.key, isOwned: true) }
    }

    // MARK: Links

    /// Takes the links of all elements out of the inverse index; names the objects they own.
    func forgetCell(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ owned: inout [OwnedObject]
    ) {
        let info = state.columns[index]
        let cell = cell(place, index)
        guard info.inverseIndex >= 0, let infos = info.elements else { return }
        for position in 0..<CollectionCell.count(cell) {
            let value = element(cell, position, info.valueColumn, infos)
            noteElement(key, index, value, isAddition: false)
            if let child = ownedObject(value) { owned.append(child) }
        }
    }

    /// Removes the links to a deleted object; in dictionaries they become null. False when the
    /// collection has to be opened for it; nothing has changed then.
    func removeLinksFromCell(
        _ link: RawValue, _ place: RowPlace, _ key: ObjectKey, _ index: Int
    ) throws(RealmError) -> Bool {
        let info = state.columns[index]
        guard let infos = info.elements else { return false }
        var editor = editor(place, index, infos)
        let source = cell(place, index)
        let isDictionary = info.collection == .dictionary
        let positions = (0..<CollectionCell.count(source)).reversed().filter {
            isSameLink(element(source, $0, info.valueColumn, infos), link)
        }
        for position in positions {
            if isDictionary {
                guard editor.replace(.null, at: position) else { return false }
            } else {
                editor.remove(at: position)
            }
        }
        if positions.isEmpty { return true }
        for position in positions {
            try willChange(
                place, key, index,
                isDictionary
                    ? .replaced(at: position, .null, isDerived: true)
                    : .removed(at: position, isDerived: true))
            noteElement(key, index, link, isAddition: false)
        }
        try write(editor.byteCount, place, key, index)
        return true
    }
}
