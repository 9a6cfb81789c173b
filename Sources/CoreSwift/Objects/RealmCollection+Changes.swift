// Changing lists, sets and dictionaries. The order of checks is that of realm-core: the object and the
// thread, the value's type, the transaction, then the position and the target of a link. Keys and
// targets of dictionaries come before the transaction where values are inserted.

extension RealmCollection {
    /// Whether a value fits (docs/C_RULES), of a collection that is there.
    @inline(__always)
    package func check(_ value: RawValue) throws(RealmError) {
        if isKnownToFit(value) { return }
        try checkSlowly(value)
    }

    @inline(never)
    private func checkSlowly(_ value: RawValue) throws(RealmError) {
        _ = try count()
        try ownerTable().checkType(value, column, try valueInfo())
        if NestedCell.type(value) != nil { try checkNesting() }
    }

    /// That the collection is there, and in a write transaction.
    @inline(__always)
    package func checkWritable() throws(RealmError) {
        try refresh()
        guard session.pointee.status == .writing else { throw realm.notWriting() }
    }

    private func checkNesting() throws(RealmError) {
        guard type != .set else {
            throw RealmError(
                .illegalOperation, "sets hold no collections (property \(column))")
        }
        guard depth < ElementLayout.depthMax else {
            throw RealmError(
                .limitExceeded,
                "collections are nested \(depth) deep in property \(column); the limit is "
                    + "\(ElementLayout.depthMax)")
        }
    }

    /// Whether the value could be an element, by its type.
    func fits(_ value: RawValue) -> Bool {
        do throws(RealmError) {
            try check(value)
            return true
        } catch {
            return false
        }
    }

    /// The position of the first element with this value, or nil; also nil for values that cannot
    /// be elements.
    package func findIfFitting(_ value: RawValue) throws(RealmError) -> Int? {
        guard fits(value) else {
            _ = try count()
            return nil
        }
        return try find(value)
    }

    @inline(__always)
    private func checkPosition(_ index: Int, isInsertion: Bool = false) throws(RealmError) {
        let count = elements.count(table)
        guard index >= 0, index < count || (isInsertion && index == count) else {
            throw outOfBounds(index, count)
        }
    }

    // MARK: Lists

    /// Inserts a value before element `index`, or behind the last one.
    @inline(__always)
    package func insert(_ value: RawValue, at index: Int) throws(RealmError) {
        guard isReadyToChange, type == .list, isOfKnownType(value) else {
            try check(value)
            try checkWritable()
            return try insertChecked(value, at: index)
        }
        if elements.isCell, try elements.append(value, at: index, table) { return }
        try insertChecked(value, at: index)
    }

    /// A value of the elements' type, in a write transaction.
    @inline(never)
    private func insertChecked(_ value: RawValue, at index: Int) throws(RealmError) {
        try checkPosition(index, isInsertion: true)
        try table.checkElementTarget(value)
        try elements.insert(value, at: index, table)
    }

    /// Replaces element `index` of a list.
    package func set(_ value: RawValue, at index: Int) throws(RealmError) {
        try check(value)
        try checkWritable()
        try checkPosition(index)
        try table.checkElementTarget(value)
        try elements.replace(value, at: index, table)
    }

    /// Moves an element of a list so that it ends at index `to`.
    package func move(from: Int, to: Int) throws(RealmError) {
        try checkWritable()
        try checkPosition(from)
        try checkPosition(to)
        try elements.move(from: from, to: to, table)
    }

    /// Removes the element at a position; embedded objects are deleted, others stay.
    package func remove(at index: Int) throws(RealmError) {
        try checkWritable()
        try checkPosition(index)
        try elements.remove(at: index, table)
    }

    /// Removes every element; embedded objects are deleted, others stay.
    package func removeAll() throws(RealmError) { try removeAll(isAssignment: false) }

    /// `isAssignment`: to be filled again at once, as a whole.
    func removeAll(isAssignment: Bool) throws(RealmError) {
        try checkWritable()
        try elements.removeAll(isAssignment: isAssignment, table)
    }

    /// Removes every element and deletes the objects that were linked to.
    package func deleteAll() throws(RealmError) {
        try checkWritable()
        let info = elements.valueInfo.pointee
        var targets: [ObjectKey] = []
        if info.kind == .link {
            try forEachValue(type == .dictionary ? 1 : 0, first: .max) { value in
                if !value.isNull { targets.append(value.linkTarget) }
            }
        }
        // Told as becoming empty, not as cleared: the objects go, and the links with them.
        try elements.removeAll(isAssignment: info.kind == .link, table)
        if targets.isEmpty { return }
        guard let target = try realm.readTables().table(info.linkTarget) else { return }
        for key in targets where try target.find(key) != nil { try target.deleteRow(key) }
        session.pointee.stamp.pointee &+= 1
    }

    // MARK: Sets

    /// Inserts a value; returns its position, and whether it was not there before.
    package func insert(_ value: RawValue) throws(RealmError) -> (index: Int, isNew: Bool) {
        try check(value)
        try checkWritable()
        try table.checkElementTarget(value)
        let place = try elements.search(value, table)
        if !place.isFound { try elements.insert(value, at: place.index, table) }
        return (place.index, !place.isFound)
    }

    /// Removes a value of a set; false when it was not there, or is of another type.
    package func remove(_ value: RawValue) throws(RealmError) -> Bool {
        guard fits(value) else {
            _ = try count()
            return false
        }
        return try removeFound(value)
    }

    /// Removes the value of a set, or the key of a dictionary, and says whether it was there.
    private func removeFound(_ value: RawValue) throws(RealmError) -> Bool {
        try checkWritable()
        let place = try elements.search(value, table)
        if place.isFound { try elements.remove(at: place.index, table) }
        return place.isFound
    }

    // MARK: Dictionaries

    func checkIsText(_ key: RawValue) throws(RealmError) {
        guard key.type == ValueType.string.rawValue else {
            throw RealmError(.invalidArgument, "the key of a dictionary must be a string")
        }
    }

    /// The object that the value of a key links to; nil without such a key, and for values that
    /// are no links. `.invalidArgument` for keys that are no strings.
    package func object(key: RawValue) throws(RealmError) -> ObjectHandle? {
        try checkIsText(key)
        return try find(key: key).flatMap { index throws(RealmError) in try object(index) }
    }

    /// Whether it is, or lies in, the value of a mixed property or element.
    private func isInMixedValue() throws(RealmError) -> Bool {
        if parent != nil { return true }
        return try ownerTable().columns[column].kind == .mixed
    }

    /// The rules for keys: text that does not begin with `$` and has no `.` in it. Those are the rules of key paths, which
    /// lead into properties only: with `takesAny`, dictionaries in mixed values have none.
    func check(key: RawValue, takesAny: Bool = false) throws(RealmError) {
        try checkIsText(key)
        guard !key.isNull else {
            throw RealmError(.invalidDictionaryKey, "the key of a dictionary cannot be null")
        }
        guard key.word1 <= UInt64(Table.textBytesMax) else {
            throw RealmError(
                .limitExceeded,
                "a key of \(key.word1) bytes is above the limit of "
                    + "\(Table.textBytesMax)")
        }
        if takesAny, try isInMixedValue() { return }
        let bytes = key.bytes
        guard bytes.first != UInt8(ascii: "$"), !bytes.contains(UInt8(ascii: ".")) else {
            throw RealmError(
                .invalidDictionaryKey,
                "the key '\(String(decoding: bytes, as: UTF8.self))' begins with '$' or "
                    + "contains '.'")
        }
    }

    /// Inserts or replaces the value of a key; returns its position, and whether the key is new. With `takesAnyKey`,
    /// a dictionary in a mixed value takes every text for a key.
    package func insert(
        _ value: RawValue, key: RawValue, takesAnyKey: Bool = false
    ) throws(RealmError) -> (index: Int, isNew: Bool) {
        try checkIsText(key)
        try check(value)
        try check(key: key, takesAny: takesAnyKey)
        if session.pointee.status != .writing { try table.checkElementTarget(value) }
        try checkWritable()
        try table.checkElementTarget(value)
        return try put(value, key)
    }

    /// Puts a value that passed its checks at a key.
    @inline(__always)
    private func put(
        _ value: RawValue, _ key: RawValue
    ) throws(RealmError) -> (index: Int, isNew: Bool) {
        let place = try elements.search(key, table)
        if place.isFound {
            try elements.replace(value, at: place.index, table)
        } else {
            try elements.insert(value, at: place.index, elementKey: key, table)
        }
        return (place.index, !place.isFound)
    }

    /// Removes a key; false when it was not there.
    package func remove(key: RawValue) throws(RealmError) -> Bool {
        guard key.type == ValueType.string.rawValue else {
            _ = try count()
            return false
        }
        try checkWritable()
        try check(key: key, takesAny: true)
        // What is there goes, whatever it is called.
        if try removeFound(key) { return true }
        try check(key: key)
        return false
    }

    // MARK: Embedded objects

    /// The embedded class of a list's elements.
    private func embeddedTable() throws(RealmError) -> Table {
        let info = try valueInfo()
        guard info.kind == .link, let target = try realm.readTables().table(info.linkTarget),
            target.isEmbedded
        else {
            throw RealmError(
                .illegalOperation,
                "property \(realm.schema.named(classKey, column: column)) holds no embedded objects"
            )
        }
        return target
    }

    /// The class of a dictionary's values: embedded, or one whose objects need no primary key.
    private func creatableTable() throws(RealmError) -> Table {
        let info = try valueInfo()
        guard info.kind == .link, let target = try realm.readTables().table(info.linkTarget) else {
            throw RealmError(
                .invalidTableRef,
                "property \(realm.schema.named(classKey, column: column)) holds no objects")
        }
        guard target.primaryKeyColumn < 0 else {
            throw RealmError(
                .missingPrimaryKey,
                "\(realm.schema.named(info.linkTarget)) has a primary key; objects are created "
                    + "with one"
            )
        }
        return target
    }

    private func createEmbedded(
        _ target: Table, _ body: (RawValue) throws(RealmError) -> Void
    ) throws(RealmError) -> ObjectHandle {
        let (key, _) = try target.createSequential()
        // Creating it may have moved the row.
        try refresh()
        try body(.link(target.classKey, key))
        return try realm.object(target.classKey, key)
    }

    /// Inserts a new embedded object before element `index` of a list.
    package func insertEmbedded(at index: Int) throws(RealmError) -> ObjectHandle {
        try checkWritable()
        try checkPosition(index, isInsertion: true)
        let target = try embeddedTable()
        return try createEmbedded(target) { link throws(RealmError) in
            try elements.insert(link, at: index, table)
        }
    }

    /// Replaces element `index` of a list by a new embedded object; the old one is deleted.
    package func setEmbedded(at index: Int) throws(RealmError) -> ObjectHandle {
        try checkWritable()
        try checkPosition(index)
        let target = try embeddedTable()
        return try createEmbedded(target) { link throws(RealmError) in
            try elements.replace(link, at: index, table)
        }
    }

    /// Puts a new embedded object at a key of a dictionary; one that was there is deleted. In a
    /// dictionary of objects of their own, a fresh one is created there.
    package func insertEmbedded(key: RawValue) throws(RealmError) -> ObjectHandle {
        try checkIsText(key)
        _ = try count()
        let target = try creatableTable()
        try checkWritable()
        try check(key: key)
        return try createEmbedded(target) { link throws(RealmError) in _ = try put(link, key) }
    }
}
