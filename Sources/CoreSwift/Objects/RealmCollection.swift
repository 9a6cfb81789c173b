// A list, set or dictionary of an object: what handles of the C ABI and Swift programs hold. Every
// access sees the realm's current state; the place of the elements is remembered as long as the
// session's stamp stands.
//
// Where the elements are, and what can be done with them there, is the matter of `CollectionElements`.
// Belongs to the realm's thread; collections of frozen realms may be read by any (`FrozenElements`).
//
// Changing elements: RealmCollection+Changes.swift.

package final class RealmCollection {
    package let type: CollectionType
    package let propertyKey: PropertyKey
    package private(set) var realm: Realm
    /// The object that has the collection; ended with it.
    let owner: ObjectHandle
    let column: Int
    /// Of a collection in a mixed element of another one: that one, and which of its collections;
    /// 0 for a place where none was.
    let parent: RealmCollection?
    let number: CollectionNumber
    /// Rollbacks of the session before it was named by the number.
    private let rollbacks: UInt32
    /// Collections in collections, the outermost included.
    let depth: Int
    /// Where it was among the parent's elements last.
    private(set) var position = 0

    /// The elements, found again when the session's stamp has changed.
    var elements: CollectionElements
    /// Somebody observes it, or did.
    var isObserved = false
    /// Positions of collections in the elements by number, once one was not where it was before;
    /// for the elements as they were at `numbersStamp`.
    private var numbers: [CollectionNumber: Int]?
    private var numbersStamp: UInt64 = 0

    /// Takes over the handle, whose class has the collection in this column.
    init(_ owner: ObjectHandle, _ column: Int, _ type: CollectionType, propertyKey: PropertyKey) {
        self.owner = owner
        self.column = column
        self.type = type
        self.propertyKey = propertyKey
        realm = owner.realm
        elements = CollectionElements(
            owner.objectKey, column, type, isFrozen: owner.session.pointee.isFrozen)
        parent = nil
        number = .none
        rollbacks = 0
        depth = 1
    }

    /// The collection of a mixed element of `parent`; `rollbacks` of another one that is the same.
    init(
        _ parent: RealmCollection, _ type: CollectionType, number: CollectionNumber, position: Int,
        since rollbacks: UInt32? = nil
    ) {
        owner = parent.owner.clone()
        column = parent.column
        self.type = type
        propertyKey = parent.propertyKey
        realm = parent.realm
        elements = CollectionElements(
            owner.objectKey, column, type, isFrozen: parent.elements.isShared)
        self.parent = parent
        self.number = number
        self.rollbacks = rollbacks ?? owner.session.pointee.rollbacks
        self.position = position
        depth = parent.depth + 1
    }

    deinit {
        if isObserved { endObservation() }
        elements.deallocate()
        owner.release()
        // Others that hold the realm see to it themselves.
        if isKnownUniquelyReferenced(&realm) { realm.prepareForRelease() }
    }

    var session: Session { owner.session }

    /// False once the object was deleted or the realm closed, and while a mixed value that it is
    /// of holds something else.
    package var isValid: Bool {
        guard owner.isValid else { return false }
        do throws(RealmError) {
            _ = try count()
            return true
        } catch {
            // Off the realm's thread, gone, or of a damaged file: nothing can be done with it.
            return false
        }
    }
    /// Whether a transaction made it that was rolled back; another one may have its number by now.
    private var isAborted: Bool {
        parent != nil && rollbacks != session.pointee.rollbacks
            && realm.aborted.contain(number, since: rollbacks)
    }
    /// What any thread may ask (`ObjectHandle.isOver`).
    package var isOver: Bool { owner.isOver }
    package var classKey: ClassKey { owner.classKey }
    package var objectKey: ObjectKey { owner.objectKey }

    /// Whether both are the same collection of one realm. One that is asked for where an element is something else
    /// (`nested`) has no number, and is no other's equal.
    package func isEqual(_ other: RealmCollection) -> Bool {
        guard (parent == nil) == (other.parent == nil), parent == nil || number != .none else {
            return self === other
        }
        guard !isAborted, !other.isAborted else { return self === other }
        return propertyKey == other.propertyKey && type == other.type && number == other.number
            && owner.isEqual(other.owner)
    }

    /// Another one for the same collection.
    package func copy() -> RealmCollection {
        if let parent {
            return RealmCollection(
                parent, type, number: number, position: position, since: rollbacks)
        }
        return RealmCollection(owner.clone(), column, type, propertyKey: propertyKey)
    }

    /// The same collection in another realm of the file, or another version; nil when its object
    /// is not there.
    package func resolve(in other: Realm) throws(RealmError) -> RealmCollection? {
        if let parent {
            guard !isAborted, let there = try parent.resolve(in: other) else { return nil }
            let found = RealmCollection(there, type, number: number, position: position)
            return found.isValid ? found : nil
        }
        guard let there = try owner.resolved(in: other) else { return nil }
        defer { there.release() }
        return try there.collection(propertyKey, type)
    }

    // MARK: The elements' place

    /// Finds the elements; throws when the object is gone, the realm closed or the thread wrong.
    @inline(__always)
    func refresh() throws(RealmError) {
        if elements.stamp == session.pointee.stamp.pointee && session.pointee.isOnKnownThread
            && session.pointee.threadMask != 0
        {
            return
        }
        try findElements()
    }

    @inline(never)
    private func findElements() throws(RealmError) {
        let place = try owner.row()
        if try elements.share({ () throws(RealmError) in try self.findShared(place) }) { return }
        let table = owner.table
        // Nothing is remembered until all of it was found.
        elements.forget()
        if isAborted { throw gone() }
        if session.pointee.status != .writing {
            if let value = try elementWhereItWas(table) {
                elements.use(nested: value, type, of: table)
            } else {
                elements.use(try findView(table, place), of: table)
            }
        } else if parent == nil, table.isCell(place, objectKey, column) {
            elements.use(place, of: table)
        } else {
            elements.use(try findPieces(table, place), of: table)
        }
    }

    /// Begins with the cell in the owner's row, which is there, where it is used by a write
    /// transaction: what `findElements` would do.
    @inline(__always)
    func useCell(_ place: RowPlace) {
        guard session.pointee.status == .writing, table.isCell(place, objectKey, column) else {
            return
        }
        elements.use(place, of: table)
    }

    private func findPieces(
        _ table: Table, _ place: RowPlace
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        if let parent {
            try table.flushIfCrowded()
            try parent.refresh()
            if let known = try parent.elements.openNested(number, table) {
                guard known.pointee.type == type else { throw gone() }
                position = known.pointee.position
                return known
            }
            guard let index = try parent.position(of: number, near: position),
                let found = try parent.elements.nestedPieces(index, type, table)
            else { throw gone() }
            position = index
            return found
        }
        if table.columns[column].kind == .mixed {
            let value = try table.value(place, column, table.columns[column])
            guard NestedCell.type(value) == type else { throw gone() }
        }
        return try table.collection(objectKey, column)
    }

    /// The parent's element that this collection is, where it still is at its place.
    @inline(__always)
    private func elementWhereItWas(_ table: Table) throws(RealmError) -> RawValue? {
        guard let parent, number != .none else { return nil }
        try parent.refresh()
        guard let value = try parent.elements.nested(position, type, table),
            NestedCell.number(value) == number
        else { return nil }
        return value
    }

    private func findView(
        _ table: Table, _ place: RowPlace
    ) throws(RealmError) -> CollectionView {
        if let parent {
            try parent.refresh()
            // Frozen realms are read by several threads: nothing is remembered there.
            let index =
                elements.isShared
                ? try parent.elements.position(of: number, near: position, within: .max, table)
                : try parent.position(of: number, near: position)
            guard let index, let found = try parent.elements.nestedView(index, type, table)
            else { throw gone() }
            if !elements.isShared { position = index }
            return found
        }
        guard let found = try CollectionView(table, place, column, type) else { throw gone() }
        return found
    }

    /// How far a collection is looked for around the place where it was, before all are numbered.
    private static let nearby = 8

    /// The position of the collection with this number among the elements, which were found; nil
    /// when it is not there. Not for frozen realms.
    private func position(of number: CollectionNumber, near hint: Int) throws(RealmError) -> Int? {
        guard number != .none else { return nil }
        let table = table
        if try elements.holds(number, at: hint, table) { return hint }
        if let near = try elements.position(
            of: number, near: hint, within: Self.nearby, table)
        {
            return near
        }
        let isNumbered = numbersStamp == elements.stamp
        if !isNumbered {
            var found: [CollectionNumber: Int] = [:]
            let column = type == .dictionary ? 1 : 0
            try elements.forEach(column, from: 0, count: .max, table) { value, index in
                if NestedCell.type(value) != nil { found[NestedCell.number(value)] = index }
                return true
            }
            numbers = found
            numbersStamp = elements.stamp
        }
        guard isNumbered, elements.snapshot == nil else { return numbers?[number] }
        // In a write transaction they may have moved since.
        return try elements.position(
            of: number, near: numbers?[number] ?? hint, within: .max, table)
    }

    private func findShared(_ place: RowPlace) throws(RealmError) -> CollectionView {
        guard let table = try realm.readTables().table(classKey) else {
            throw RealmError(.invalidatedObject, "\(realm.schema.named(classKey)) is gone")
        }
        return try findView(table, place)
    }

    private func gone() -> RealmError {
        RealmError(
            .invalidatedObject,
            "property \(realm.schema.named(classKey, column: column)) of object "
                + "\(objectKey) does not hold "
                + "this \(type) any more")
    }

    /// Whether the elements are where they were found; not of frozen realms.
    @inline(__always) var isFound: Bool {
        elements.stamp == session.pointee.stamp.pointee && session.pointee.isOnKnownThread
    }

    /// Whether the elements are where they were found, in a write transaction.
    @inline(__always) var isReadyToChange: Bool {
        isFound && session.pointee.status == .writing
    }

    /// Whether a value is of the elements' type, as far as that can be told at once.
    @inline(__always)
    func isKnownToFit(_ value: RawValue) -> Bool {
        isFound && isOfKnownType(value)
    }

    /// The same, where `stamp` was found to stand.
    @inline(__always)
    func isOfKnownType(_ value: RawValue) -> Bool {
        let info = elements.valueInfo
        guard value.type == info.pointee.valueType, !value.isNull else { return false }
        if info.pointee.kind == .link { return value.linkClass == info.pointee.linkTarget }
        return !info.pointee.kind.isText || value.word1 <= UInt64(Table.textBytesMax)
    }

    /// The table of the owner, once the elements were found.
    var table: Table { owner.table }

    /// The table of the owner's class, whether the owner is there or not; what types the elements
    /// have depends on the class alone.
    @inline(__always)
    func ownerTable() throws(RealmError) -> Table {
        if session.pointee.isOnKnownThread, let directory = session.pointee.directory,
            let table = directory.pointee.table(classKey)
        {
            return table
        }
        return try findOwnerTable()
    }

    @inline(never)
    private func findOwnerTable() throws(RealmError) -> Table {
        // Throws when the realm was closed or belongs to another thread.
        _ = try owner.row()
        guard let table = try realm.readTables().table(classKey) else {
            throw RealmError(.invalidatedObject, "\(realm.schema.named(classKey)) is gone")
        }
        return table
    }

    /// Columns of the elements.
    func elementInfo(_ index: Int) throws(RealmError) -> ColumnInfo {
        let table = try ownerTable()
        guard column < table.columnCount
        else { throw RealmError(.invalidatedObject, "\(realm.schema.named(classKey)) is gone") }
        let info = table.columns[column]
        if parent == nil, info.kind == .collection {
            return ElementLayout(info, column: column).infos[index]
        }
        return ElementLayout(nested: type, column: column).infos[index]
    }

    /// The values' column: their kind, nullability and link target.
    func valueInfo() throws(RealmError) -> ColumnInfo {
        try elementInfo(type == .dictionary ? 1 : 0)
    }

    // MARK: Reading

    /// The number of elements.
    package func count() throws(RealmError) -> Int {
        try refresh()
        return elements.count(table)
    }

    /// The value of element `index`; `.indexOutOfBounds` behind the end. Text is borrowed until
    /// the realm moves or changes.
    @inline(__always)
    package func get(_ index: Int) throws(RealmError) -> RawValue {
        try refresh()
        if let view = elements.snapshot {
            let count = view.pointee.count
            guard index >= 0, index < count else { throw outOfBounds(index, count) }
            return try view.pointee.value(index)
        }
        return try elementSlowly(index, type == .dictionary ? 1 : 0)
    }

    /// The key of element `index` of a dictionary.
    package func key(_ index: Int) throws(RealmError) -> RawValue {
        try refresh()
        if let view = elements.snapshot {
            let count = view.pointee.count
            guard index >= 0, index < count else { throw outOfBounds(index, count) }
            return try view.pointee.value(index, 0)
        }
        return try elementSlowly(index, 0)
    }

    @inline(never)
    private func elementSlowly(_ index: Int, _ column: Int) throws(RealmError) -> RawValue {
        let count = elements.count(table)
        guard index >= 0, index < count else { throw outOfBounds(index, count) }
        let found = try elements.value(index, column, table)
        return found.isStable ? found.value : realm.keep(found.value)
    }

    func outOfBounds(_ index: Int, _ count: Int) -> RealmError {
        RealmError(
            .indexOutOfBounds,
            "index \(index) is out of bounds of a \(type) of \(count) elements")
    }

    /// The position of the first element with this value, or nil. The value fits the elements'
    /// type.
    package func find(_ value: RawValue) throws(RealmError) -> Int? {
        if type == .set {
            let place = try search(value)
            return place.isFound ? place.index : nil
        }
        try refresh()
        return try elements.firstIndex(of: value, table)
    }

    /// Where a value of a set, or a key of a dictionary, is or would be.
    func search(_ value: RawValue) throws(RealmError) -> (index: Int, isFound: Bool) {
        try refresh()
        return try elements.search(value, table)
    }

    /// The position of a key of a dictionary, or nil; also nil for what cannot be a key.
    package func find(key: RawValue) throws(RealmError) -> Int? {
        guard type == .dictionary, key.type == ValueType.string.rawValue, !key.isNull,
            key.word1 <= UInt64(Table.textBytesMax)
        else {
            try refresh()
            return nil
        }
        let place = try search(key)
        return place.isFound ? place.index : nil
    }

    /// Whether every element is a link of one class, or null.
    package var holdsObjects: Bool {
        get throws(RealmError) { try valueInfo().kind == .link }
    }

    /// The object that element `index` links to; nil for null and for values that are no links.
    package func object(_ index: Int) throws(RealmError) -> ObjectHandle? {
        let value = try get(index)
        guard value.type == ValueType.link.rawValue else { return nil }
        return try realm.object(value.linkClass, value.linkTarget)
    }
}

extension ObjectHandle {
    /// The list, set or dictionary of a property; `.propertyTypeMismatch` when it can hold none.
    /// Of a mixed property: what it holds now or later, as long as that is of the type; sets it never
    /// holds.
    package func collection(
        _ propertyKey: PropertyKey, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection {
        let place = try row()
        let table = table
        let column = try Self.column(table, propertyKey)
        let info = table.columns[column]
        guard info.collection == type || info.kind == .mixed else {
            throw RealmError(
                .propertyTypeMismatch,
                "property \(realm.schema.named(classKey, column: column)) is no \(type)")
        }
        let collection = RealmCollection(clone(), column, type, propertyKey: propertyKey)
        collection.useCell(place)
        return collection
    }

    /// Puts an empty list or dictionary into a mixed property, unless it holds one of the type, and
    /// returns it; of a property that is such a collection, just that.
    package func setCollection(
        _ propertyKey: PropertyKey, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection {
        _ = try row()
        let column = try Self.column(table, propertyKey)
        if table.columns[column].kind == .mixed, type != .set {
            try setValue(propertyKey, .nested(type))
        }
        return try collection(propertyKey, type)
    }
}
