// A list, set or dictionary of an object: what handles of the C ABI and Swift programs hold. Every
// access sees the realm's current state; the place of the elements is remembered as long as the
// session's stamp stands.
//
// In a write transaction it works on the cell in its row while it is small, else on the
// transaction's `OpenCollection`; otherwise on the cell of the snapshot. Belongs to the realm's
// thread; collections of frozen realms may be read by any (`FrozenElements`).
//
// Changing elements: RealmCollection+Changes.swift.

public final class RealmCollection {
    public let type: CollectionType
    public let propertyKey: Int64
    public private(set) var realm: Realm
    /// The object that has the collection; ended with it.
    let owner: ObjectHandle
    let column: Int
    /// Of a collection in a mixed element of another one: that one, and which of its collections;
    /// 0 for a place where none was.
    let parent: RealmCollection?
    let number: UInt64
    /// Collections in collections, the outermost included.
    let depth: Int
    /// Where it was among the parent's elements last.
    private(set) var position = 0

    private var stamp: UInt64 = 0
    /// While `stamp` stands, one of these: the collection of the write transaction, the row with
    /// its cell in there, or the view of the snapshot.
    private var open: UnsafeMutablePointer<OpenCollection>?
    private var row: RowPlace?
    private var view: UnsafeMutablePointer<CollectionView>?
    /// Where `view` points when there is one.
    private var viewMemory: UnsafeMutablePointer<CollectionView>?
    /// Columns of the elements, while `stamp` stands.
    private var infos: UnsafeMutablePointer<ColumnInfo>?
    /// In a frozen realm, instead of all these.
    private let frozen: FrozenElements?

    /// Takes over the handle, whose class has the collection in this column.
    init(_ owner: ObjectHandle, _ column: Int, _ type: CollectionType, propertyKey: Int64) {
        self.owner = owner
        self.column = column
        self.type = type
        self.propertyKey = propertyKey
        realm = owner.realm
        frozen = owner.session.pointee.isFrozen ? FrozenElements() : nil
        parent = nil
        number = 0
        depth = 1
    }

    /// The collection of a mixed element of `parent`.
    init(_ parent: RealmCollection, _ type: CollectionType, number: UInt64, position: Int) {
        owner = parent.owner.clone()
        column = parent.column
        self.type = type
        propertyKey = parent.propertyKey
        realm = parent.realm
        frozen = parent.frozen == nil ? nil : FrozenElements()
        self.parent = parent
        self.number = number
        self.position = position
        depth = parent.depth + 1
    }

    deinit {
        forgetView()
        viewMemory?.deallocate()
        frozen?.deallocate()
        owner.release()
        // Others that hold the realm see to it themselves.
        if isKnownUniquelyReferenced(&realm) { realm.prepareForRelease() }
    }

    var session: Session { owner.session }

    /// False once the object was deleted or the realm closed, and while a mixed value that it is
    /// of holds something else.
    public var isValid: Bool {
        guard owner.isValid else { return false }
        do throws(RealmError) {
            _ = try count()
            return true
        } catch {
            // Off the realm's thread, gone, or of a damaged file: nothing can be done with it.
            return false
        }
    }
    public var classKey: ClassKey { owner.classKey }
    public var objectKey: Int64 { owner.objectKey }

    /// Whether both are the same collection of one realm.
    public func isEqual(_ other: RealmCollection) -> Bool {
        propertyKey == other.propertyKey && type == other.type && number == other.number
            && owner.isEqual(other.owner)
    }

    /// Another one for the same collection.
    public func copy() -> RealmCollection {
        if let parent {
            return RealmCollection(parent, type, number: number, position: position)
        }
        return RealmCollection(owner.clone(), column, type, propertyKey: propertyKey)
    }

    /// The same collection in another realm of the file, or another version; nil when its object
    /// is not there.
    public func resolve(in other: Realm) throws(RealmError) -> RealmCollection? {
        if let parent {
            guard let there = try parent.resolve(in: other) else { return nil }
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
    private func refresh() throws(RealmError) {
        if stamp == session.pointee.stamp.pointee && session.pointee.isOnKnownThread
            && session.pointee.threadMask != 0
        {
            return
        }
        try findElements()
    }

    @inline(never)
    private func findElements() throws(RealmError) {
        let place = try owner.row()
        let table = owner.table
        if session.pointee.threadMask == 0 { return }
        open = nil
        row = nil
        forgetView()
        infos = nil
        // Nothing is remembered until all of it was found.
        stamp = 0
        if session.pointee.status != .writing {
            var found = try findView(table, place)
            found.keep()
            infos = found.infos
            let memory = viewMemory ?? .allocate(capacity: 1)
            memory.initialize(to: found)
            viewMemory = memory
            view = memory
        } else if parent == nil, table.isCell(place, objectKey, column) {
            infos = table.columns[column].elements
            row = place
        } else {
            let found = try findOpen(table, place)
            infos = found.pointee.infos
            open = found
        }
        stamp = session.pointee.stamp.pointee
    }

    /// Begins with the cell in the owner's row, which is there, where it is used by a write
    /// transaction: what `findElements` would do.
    @inline(__always)
    func useCell(_ place: RowPlace) {
        guard session.pointee.status == .writing, table.isCell(place, objectKey, column) else {
            return
        }
        infos = table.columns[column].elements
        row = place
        stamp = session.pointee.stamp.pointee
    }

    private func forgetView() {
        guard let view else { return }
        view.pointee.deallocate()
        view.deinitialize(count: 1)
        self.view = nil
    }

    /// Opens a collection that was used in its cell.
    @inline(never)
    private func openCell() throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        let found = try table.collection(objectKey, column)
        row = nil
        infos = found.pointee.infos
        open = found
        stamp = session.pointee.stamp.pointee
        return found
    }

    private func findOpen(
        _ table: Table, _ place: RowPlace
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        if let parent {
            try table.flushIfCrowded()
            guard
                let found = try table.nestedCollection(
                    try parent.writable(), number: number, type, near: position)
            else { throw gone() }
            position = found.pointee.position
            return found
        }
        if table.columns[column].kind == .mixed {
            let value = try table.value(place, column, table.columns[column])
            guard NestedCell.type(value) == type else { throw gone() }
        }
        return try table.collection(objectKey, column)
    }

    private func findView(
        _ table: Table, _ place: RowPlace
    ) throws(RealmError) -> CollectionView {
        if let parent {
            var outer = try parent.sealedView()
            guard let index = try outer.position(of: number, near: position),
                let found = try outer.nested(index, type)
            else { throw gone() }
            // Frozen realms are read by several threads: nothing is remembered there.
            if session.pointee.threadMask != 0 { position = index }
            return found
        }
        guard let found = try CollectionView(table, place, column, type) else { throw gone() }
        return found
    }

    private func gone() -> RealmError {
        RealmError(
            .invalidatedObject,
            "property \(realm.schema.named(classKey, column: column)) of object "
                + "\(objectKey) does not hold "
                + "this \(type) any more")
    }

    /// The view of a frozen realm's collection, which other threads may be reading, too.
    private func frozenView() throws(RealmError) -> UnsafeMutablePointer<CollectionView> {
        let place = try owner.row()
        guard let frozen else { throw realm.notWriting() }
        return try frozen.view { () throws(RealmError) in
            guard let table = try realm.readTables().table(classKey) else {
                throw RealmError(.invalidatedObject, "\(realm.schema.named(classKey)) is gone")
            }
            return try findView(table, place)
        }
    }

    /// The view of a collection outside write transactions.
    func sealedView() throws(RealmError) -> CollectionView {
        try refresh()
        if let view { return view.pointee.temporary() }
        return try frozenView().pointee
    }

    /// The transaction's collection; one that was used in its cell is opened.
    func writable() throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        try refresh()
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        if let open { return open }
        return try openCell()
    }

    /// The row of a collection that is changed in its cell, in a write transaction; nil when it
    /// is an open one.
    @inline(__always)
    func writableCell() throws(RealmError) -> RowPlace? {
        try refresh()
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        return row
    }

    /// The cell of a collection that a write transaction uses there.
    @inline(__always)
    private var cell: UnsafeRawBufferPointer? {
        guard let row else { return nil }
        return table.cell(row, column)
    }

    /// The columns of the elements, which were found.
    @inline(__always) var knownInfos: UnsafeMutablePointer<ColumnInfo> {
        infos ?? NestedCell.list
    }

    /// The same, if that is known already.
    @inline(__always)
    var knownCell: RowPlace? {
        guard stamp == session.pointee.stamp.pointee, session.pointee.isOnKnownThread,
            session.pointee.status == .writing
        else { return nil }
        return row
    }

    /// Whether a value is of the elements' type, as far as that can be told at once.
    @inline(__always)
    func isKnownToFit(_ value: RawValue) -> Bool {
        guard stamp == session.pointee.stamp.pointee, session.pointee.isOnKnownThread else {
            return false
        }
        return isOfKnownType(value)
    }

    /// The same, where `stamp` was found to stand.
    @inline(__always)
    func isOfKnownType(_ value: RawValue) -> Bool {
        guard let infos else { return false }
        let info = infos + (type == .dictionary ? 1 : 0)
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
    public func count() throws(RealmError) -> Int {
        try refresh()
        if let open { return open.pointee.count }
        if let view { return view.pointee.count }
        if let cell { return CollectionCell.count(cell) }
        return try frozenView().pointee.count
    }

    /// The value of element `index`; `.indexOutOfBounds` behind the end. Text is borrowed until
    /// the realm moves or changes.
    @inline(__always)
    public func get(_ index: Int) throws(RealmError) -> RawValue {
        try element(index, isKey: false)
    }

    /// The key of element `index` of a dictionary.
    public func key(_ index: Int) throws(RealmError) -> RawValue {
        try element(index, isKey: true)
    }

    @inline(__always)
    private func element(_ index: Int, isKey: Bool) throws(RealmError) -> RawValue {
        try refresh()
        if let view {
            let count = view.pointee.count
            guard index >= 0, index < count else { throw outOfBounds(index, count) }
            let column = isKey ? 0 : type == .dictionary ? 1 : 0
            return try view.pointee.value(index, column)
        }
        return try elementSlowly(index, isKey: isKey)
    }

    @inline(never)
    private func elementSlowly(_ index: Int, isKey: Bool) throws(RealmError) -> RawValue {
        let column = isKey ? 0 : type == .dictionary ? 1 : 0
        if let row, let cell {
            let count = CollectionCell.count(cell)
            guard index >= 0, index < count else { throw outOfBounds(index, count) }
            let value = table.element(cell, index, column, knownInfos)
            return row.state == .sealed || !knownInfos[column].kind.hasHeap
                ? value : realm.keep(value)
        }
        guard let open else {
            let view = try frozenView()
            let count = view.pointee.count
            guard index >= 0, index < count else { throw outOfBounds(index, count) }
            guard let frozen else { throw realm.notWriting() }
            return try frozen.value(index, column, view)
        }
        guard index >= 0, index < open.pointee.count else {
            throw outOfBounds(index, open.pointee.count)
        }
        let found = try open.pointee.value(index, column)
        return found.isStable || !open.pointee.infos[column].kind.hasHeap
            ? found.value : realm.keep(found.value)
    }

    func outOfBounds(_ index: Int, _ count: Int) -> RealmError {
        RealmError(
            .indexOutOfBounds,
            "index \(index) is out of bounds of a \(type) of \(count) elements")
    }

    /// The position of the first element with this value, or nil. The value fits the elements'
    /// type.
    public func find(_ value: RawValue) throws(RealmError) -> Int? {
        if type == .set {
            let place = try search(value)
            return place.isFound ? place.index : nil
        }
        try refresh()
        let column = type == .dictionary ? 1 : 0
        let info = try valueInfo()
        if let open {
            for index in 0..<open.pointee.count
            where CollectionOrder.compare(
                try open.pointee.value(index, column).value, value, info.kind) == 0
            {
                return index
            }
            return nil
        }
        if let view { return try view.pointee.firstIndex(value, column) }
        if let cell {
            for index in 0..<CollectionCell.count(cell)
            where CollectionOrder.compare(
                table.element(cell, index, column, knownInfos), value, info.kind) == 0
            {
                return index
            }
            return nil
        }
        var view = try frozenView().pointee
        return try view.firstIndex(value, column)
    }

    /// Where a value of a set, or a key of a dictionary, is or would be.
    func search(_ value: RawValue) throws(RealmError) -> (index: Int, isFound: Bool) {
        try refresh()
        if let open { return try open.pointee.search(value) }
        if let view { return try view.pointee.search(value) }
        if let cell { return table.search(cell, value, knownInfos) }
        var view = try frozenView().pointee
        return try view.search(value)
    }

    /// The position of a key of a dictionary, or nil; also nil for what cannot be a key.
    public func find(key: RawValue) throws(RealmError) -> Int? {
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
    public var holdsObjects: Bool {
        get throws(RealmError) { try valueInfo().kind == .link }
    }

    /// The object that element `index` links to; nil for null and for values that are no links.
    public func object(_ index: Int) throws(RealmError) -> ObjectHandle? {
        let value = try get(index)
        guard value.type == ValueType.link.rawValue else { return nil }
        return try realm.object(value.linkClass, value.linkTarget.rawValue)
    }
}

extension ObjectHandle {
    /// The list, set or dictionary of a property; `.propertyTypeMismatch` when it can hold none.
    /// Of a mixed property: what it holds now or later, as long as that is of the type; sets it never
    /// holds.
    public func collection(
        _ propertyKey: Int64, _ type: CollectionType
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
    public func setCollection(
        _ propertyKey: Int64, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection {
        _ = try row()
        let column = try Self.column(table, propertyKey)
        if table.columns[column].kind == .mixed, type != .set {
            try setValue(propertyKey, .nested(type))
        }
        return try collection(propertyKey, type)
    }
}
