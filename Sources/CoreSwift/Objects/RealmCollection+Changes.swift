// Changing lists, sets and dictionaries. The order of checks is that of realm-core: the object and the
// thread, the value's type, the transaction, then the position and the target of a link. Keys and
// targets of dictionaries come before the transaction where values are inserted.

extension RealmCollection {
    /// The type check of the contract, of a collection that is there.
    @inline(__always)
    public func check(_ value: RawValue) throws(RealmError) {
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
    public func checkWritable() throws(RealmError) {
        _ = try count()
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
    public func findIfFitting(_ value: RawValue) throws(RealmError) -> Int? {
        guard fits(value) else {
            _ = try count()
            return nil
        }
        return try find(value)
    }

    private func checkPosition(
        _ index: Int, _ collection: UnsafeMutablePointer<OpenCollection>, isInsertion: Bool = false
    ) throws(RealmError) {
        try checkPosition(index, of: collection.pointee.count, isInsertion: isInsertion)
    }

    @inline(__always)
    private func checkPosition(
        _ index: Int, of count: Int, isInsertion: Bool = false
    ) throws(RealmError) {
        guard index >= 0, index < count || (isInsertion && index == count) else {
            throw outOfBounds(index, count)
        }
    }

    @inline(__always)
    private func count(_ row: RowPlace) -> Int { CollectionCell.count(table.cell(row, column)) }

    // MARK: Lists

    /// Inserts a value before element `index`, or behind the last one.
    @inline(__always)
    public func insert(_ value: RawValue, at index: Int) throws(RealmError) {
        if let row = knownCell, type == .list, isOfKnownType(value), index == count(row) {
            try table.checkElementTarget(value)
            if table.appendToCell(row, objectKey, column, value, knownInfos) { return }
        }
        try insertSlowly(value, at: index)
    }

    @inline(never)
    private func insertSlowly(_ value: RawValue, at index: Int) throws(RealmError) {
        try check(value)
        if let row = try writableCell() {
            try checkPosition(index, of: count(row), isInsertion: true)
            try table.checkElementTarget(value)
            if try table.insertIntoCell(row, objectKey, column, at: index, value, knownInfos) {
                return
            }
        }
        let collection = try writable()
        try checkPosition(index, collection, isInsertion: true)
        try table.checkElementTarget(value)
        try table.insert(collection, at: index, value)
    }

    /// Replaces element `index` of a list.
    public func set(_ value: RawValue, at index: Int) throws(RealmError) {
        try check(value)
        if let row = try writableCell() {
            try checkPosition(index, of: count(row))
            try table.checkElementTarget(value)
            if try table.replaceInCell(row, objectKey, column, at: index, value, knownInfos) {
                return
            }
        }
        let collection = try writable()
        try checkPosition(index, collection)
        try table.checkElementTarget(value)
        try table.replace(collection, at: index, value)
    }

    /// Moves an element of a list so that it ends at index `to`.
    public func move(from: Int, to: Int) throws(RealmError) {
        let collection = try writable()
        try checkPosition(from, collection)
        try checkPosition(to, collection)
        try table.move(collection, from: from, to: to)
    }

    /// Removes the element at a position; embedded objects are deleted, others stay.
    public func remove(at index: Int) throws(RealmError) {
        if let row = try writableCell() {
            try checkPosition(index, of: count(row))
            return try table.removeFromCell(row, objectKey, column, at: index, knownInfos)
        }
        let collection = try writable()
        try checkPosition(index, collection)
        try table.remove(collection, at: index)
    }

    /// Removes every element; embedded objects are deleted, others stay.
    public func removeAll() throws(RealmError) { try removeAll(isAssignment: false) }

    /// `isAssignment`: to be filled again at once, as a whole.
    func removeAll(isAssignment: Bool) throws(RealmError) {
        if let row = try writableCell() {
            return try table.emptyCell(row, objectKey, column, isAssignment: isAssignment)
        }
        try table.removeAll(try writable(), isAssignment: isAssignment)
    }

    /// Removes every element and deletes the objects that were linked to.
    public func deleteAll() throws(RealmError) {
        let collection = try writable()
        let info = collection.pointee.valueInfo
        guard info.kind == .link else {
            try table.removeAll(collection)
            return
        }
        var targets: [Int64] = []
        for index in 0..<collection.pointee.count {
            let value = try collection.pointee.value(index, collection.pointee.valueColumn).value
            if !value.isNull { targets.append(value.linkTarget.rawValue) }
        }
        try table.removeAll(collection)
        guard let target = try realm.readTables().table(info.linkTarget) else { return }
        for key in targets where try target.find(key) != nil { try target.deleteRow(key) }
        session.pointee.stamp.pointee &+= 1
    }

    // MARK: Sets

    /// Inserts a value; returns its position, and whether it was not there before.
    public func insert(_ value: RawValue) throws(RealmError) -> (index: Int, isNew: Bool) {
        try check(value)
        if let row = try writableCell() {
            try table.checkElementTarget(value)
            let place = table.search(table.cell(row, column), value, knownInfos)
            if place.isFound { return (place.index, false) }
            if try table.insertIntoCell(
                row, objectKey, column, at: place.index, value, knownInfos)
            {
                return (place.index, true)
            }
        }
        let collection = try writable()
        try table.checkElementTarget(value)
        let place = try collection.pointee.search(value)
        if place.isFound { return (place.index, false) }
        try table.insert(collection, at: place.index, value)
        return (place.index, true)
    }

    /// Removes a value of a set; false when it was not there, or is of another type.
    public func remove(_ value: RawValue) throws(RealmError) -> Bool {
        guard fits(value) else {
            _ = try count()
            return false
        }
        return try removeFound(value)
    }

    /// Removes the value of a set, or the key of a dictionary, and says whether it was there.
    private func removeFound(_ value: RawValue) throws(RealmError) -> Bool {
        if let row = try writableCell() {
            let place = table.search(table.cell(row, column), value, knownInfos)
            if place.isFound {
                try table.removeFromCell(row, objectKey, column, at: place.index, knownInfos)
            }
            return place.isFound
        }
        let collection = try writable()
        let place = try collection.pointee.search(value)
        if place.isFound { try table.remove(collection, at: place.index) }
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
    public func object(key: RawValue) throws(RealmError) -> ObjectHandle? {
        try checkIsText(key)
        return try find(key: key).flatMap { index throws(RealmError) in try object(index) }
    }

    /// The rules for keys: text that does not begin with `$` and has no `.` in it.
    func check(key: RawValue) throws(RealmError) {
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
        let bytes = key.bytes
        guard bytes.first != UInt8(ascii: "$"), !bytes.contains(UInt8(ascii: ".")) else {
            throw RealmError(
                .invalidDictionaryKey,
                "the key '\(String(decoding: bytes, as: UTF8.self))' begins with '$' or "
                    + "contains '.'")
        }
    }

    /// Inserts or replaces the value of a key; returns its position, and whether the key is new.
    public func insert(
        _ value: RawValue, key: RawValue
    ) throws(RealmError) -> (index: Int, isNew: Bool) {
        try checkIsText(key)
        try check(value)
        try check(key: key)
        if session.pointee.status != .writing { try table.checkElementTarget(value) }
        if let row = try writableCell() {
            try table.checkElementTarget(value)
            let place = table.search(table.cell(row, column), key, knownInfos)
            let isDone =
                place.isFound
                ? try table.replaceInCell(
                    row, objectKey, column, at: place.index, value, knownInfos)
                : try table.insertIntoCell(
                    row, objectKey, column, at: place.index, elementKey: key, value, knownInfos)
            if isDone { return (place.index, !place.isFound) }
        }
        let collection = try writable()
        try table.checkElementTarget(value)
        let place = try collection.pointee.search(key)
        if place.isFound {
            try table.replace(collection, at: place.index, value)
        } else {
            try table.insert(collection, at: place.index, key: key, value)
        }
        return (place.index, !place.isFound)
    }

    /// Removes a key; false when it was not there.
    public func remove(key: RawValue) throws(RealmError) -> Bool {
        guard key.type == ValueType.string.rawValue else {
            _ = try count()
            return false
        }
        try checkWritable()
        try check(key: key)
        return try removeFound(key)
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
        try body(.link(target.classKey, ObjectKey(rawValue: key)))
        return try realm.object(target.classKey, key)
    }

    /// Inserts a new embedded object before element `index` of a list.
    public func insertEmbedded(at index: Int) throws(RealmError) -> ObjectHandle {
        try checkWritable()
        try checkPosition(index, of: try count(), isInsertion: true)
        let target = try embeddedTable()
        return try createEmbedded(target) { link throws(RealmError) in
            // Creating it may have closed the collection.
            try table.insert(try writable(), at: index, link)
        }
    }

    /// Replaces element `index` of a list by a new embedded object; the old one is deleted.
    public func setEmbedded(at index: Int) throws(RealmError) -> ObjectHandle {
        try checkWritable()
        try checkPosition(index, of: try count())
        let target = try embeddedTable()
        return try createEmbedded(target) { link throws(RealmError) in
            try table.replace(try writable(), at: index, link)
        }
    }

    /// Puts a new embedded object at a key of a dictionary; one that was there is deleted. In a
    /// dictionary of objects of their own, a fresh one is created there.
    public func insertEmbedded(key: RawValue) throws(RealmError) -> ObjectHandle {
        try checkIsText(key)
        _ = try count()
        let target = try creatableTable()
        try checkWritable()
        try check(key: key)
        return try createEmbedded(target) { link throws(RealmError) in
            let collection = try writable()
            let place = try collection.pointee.search(key)
            if place.isFound {
                try table.replace(collection, at: place.index, link)
            } else {
                try table.insert(collection, at: place.index, key: key, link)
            }
        }
    }
}
