// Live results: the objects of a class, of a query or of an inverse link, in an order. Every access
// sees the realm's current state; nothing is computed before it is needed, and what was computed
// is kept until something changes.
//
// Belongs to the realm's thread; results of a frozen realm are guarded by a lock, because any
// thread may use them.
//
// Invariants
//   1. `cache` holds for the stamp and the number of patches it was made at (`Freshness`).
//   2. While the cache was made the classes read were settled, so that a later change of a value
//      either opens a leaf, which moves the stamp, or patches a sealed one, which is counted.

/// Objects of one class in an order, always up to date.
public final class Results: AnyResults {
    /// The objects are the rows of the class, position by position.
    private let isWholeClass: Bool
    /// The collection whose elements these are, one by one: nothing is kept of it.
    let plain: RealmCollection?
    private var cache = Cache()

    /// When something was computed.
    struct Freshness: Equatable {
        var stamp: UInt64 = 0
        var patches = 0
    }

    private struct Cache {
        var freshness = Freshness()
        var keys: [ObjectKey] = []
        /// The keys are all, not only the first ones.
        var isComplete = false
        var count: Int?
    }

    /// The leaf in which the last element was found. Only outside write transactions and not for
    /// frozen realms; good while the stamp stands.
    private struct Near {
        var stamp: UInt64 = 0
        var leaf = LeafView(UnsafeRawPointer(bitPattern: 64).unsafelyUnwrapped)
        /// Whole classes: positions of the leaf's rows. Lists of keys: start is Int.max.
        var start = 0
        var end = 0
        var table: Table?
    }
    private var near = Near()

    /// `plain`: the collection that is described, where the description is that of all it holds.
    init(_ realm: Realm, _ description: ResultsDescription, plain: RealmCollection? = nil) {
        if case .objects = description.source {
            isWholeClass = description.isBare
        } else {
            isWholeClass = false
        }
        self.plain = plain
        super.init(realm, description, holdsValues: false)
    }

    // MARK: Validity

    public override var isValid: Bool {
        guard !realm.isClosed, realm.session.pointee.generation == generation else { return false }
        if realm.session.pointee.status == .idle { return true }
        return realm.tables?.table(classKey) != nil
    }

    /// The state to read from; `.staleAccessor` when the results are not valid any more.
    private func reader() throws(RealmError) -> (snapshot: SnapshotReader, table: TableReader) {
        let snapshot = SnapshotReader(tables: try readableTables())
        return (snapshot, try snapshot.table(classKey))
    }

    private func readableTables() throws(RealmError) -> TableSet {
        guard !realm.isClosed, realm.session.pointee.generation == generation else { throw stale() }
        let tables = try realm.readTables()
        guard tables.table(classKey) != nil else { throw stale() }
        return tables
    }

    /// Whether the collection is there; throws when the results are not valid.
    private func checkedPlain(_ plain: RealmCollection) throws(RealmError) -> Bool {
        _ = try readableTables()
        return plain.isValid
    }

    private func stale() -> RealmError {
        RealmError(
            .staleAccessor,
            "the results of \(realm.schema.named(classKey)) of '\(realm.path)' are not valid any more"
        )
    }

    @inline(__always) private func locked<R>(
        _ body: () throws(RealmError) -> R
    ) throws(RealmError) -> R {
        guard let lock else { return try body() }
        return try lock.withLock(body)
    }

    /// Empties the cache if something changed since it was made.
    @inline(__always) private func refreshCache(_ table: TableReader) {
        let now = freshness(table)
        if cache.freshness != now {
            cache = Cache()
            cache.freshness = now
        }
    }

    @inline(__always) func freshness(_ table: TableReader) -> Freshness {
        Freshness(
            stamp: realm.session.pointee.stamp.pointee,
            patches: table.table.patches)
    }

    // MARK: Size

    public override func count() throws(RealmError) -> Int {
        try locked { () throws(RealmError) in
            if isWholeClass {
                guard isValid, let table = try realm.readTables().table(classKey) else {
                    throw stale()
                }
                return table.rowCount
            }
            if let plain { return try checkedPlain(plain) ? try plain.count() : 0 }
            let (snapshot, table) = try reader()
            refreshCache(table)
            if cache.isComplete { return cache.keys.count }
            if let count = cache.count { return count }
            let count: Int
            if let known = try description.countWithoutKeys(snapshot) {
                count = known
                realm.tell(description, "counted \(known)")
            } else {
                count = try allKeys(snapshot, table).count
            }
            // Counting may have settled other classes, which moves the stamp.
            cache.freshness = freshness(table)
            cache.count = count
            return count
        }
    }

    // MARK: Keys

    /// All object keys in order.
    private func allKeys(
        _ snapshot: SnapshotReader, _ table: TableReader
    ) throws(RealmError) -> [ObjectKey] {
        try fillCache(snapshot, table, atLeast: .max)
        return cache.keys
    }

    /// Makes sure that the cache has the first `count` keys, or all.
    private func fillCache(
        _ snapshot: SnapshotReader, _ table: TableReader, atLeast count: Int
    ) throws(RealmError) {
        refreshCache(table)
        if cache.isComplete || cache.keys.count >= count { return }
        let found = try description.find(snapshot, atLeast: count)
        cache.freshness = freshness(table)
        cache.keys = found.keys
        cache.isComplete = found.isComplete
        if found.isComplete { cache.count = found.keys.count }
        realm.tell(
            description,
            "found \(found.isComplete ? "" : "the first ")\(found.keys.count)")
    }

    /// Keys of all elements in order.
    func keys() throws(RealmError) -> [ObjectKey] {
        try locked { () throws(RealmError) in
            let (snapshot, table) = try reader()
            return isWholeClass
                ? try description.keys(snapshot) : try allKeys(snapshot, table)
        }
    }

    // MARK: Elements

    /// The key at a position, and its row if it was found on the way.
    private func key(
        at index: Int
    ) throws(RealmError) -> (key: ObjectKey, leaf: LeafView?, row: Int) {
        if let plain {
            guard try checkedPlain(plain) else { throw outOfBounds(index, 0) }
            let value = try plain.get(index)
            return (value.isNull ? Ordering.nullLink : value.linkTarget, nil, 0)
        }
        let (snapshot, table) = try reader()
        if isWholeClass {
            guard let found = try table.leaf(atPosition: index) else {
                throw outOfBounds(index, table.rowCount)
            }
            let row = found.leaf.liveRow(index - found.start)
            remember(found.leaf, table, start: found.start)
            return (found.leaf.key(row), found.leaf, row)
        }
        refreshCache(table)
        if index >= cache.keys.count, !cache.isComplete, index >= 0 {
            // The calls don't tell how far a caller will read: begin small, then double.
            let wanted = index < 100 ? 128 : index < 1 << 40 ? index * 4 : .max
            try fillCache(snapshot, table, atLeast: wanted)
            if index >= cache.keys.count, !cache.isComplete {
                try fillCache(snapshot, table, atLeast: .max)
            }
        }
        guard index >= 0, index < cache.keys.count else {
            throw outOfBounds(index, cache.keys.count)
        }
        return (cache.keys[index], nil, 0)
    }

    private func remember(_ leaf: LeafView, _ table: TableReader, start: Int) {
        guard lock == nil, !realm.isWritable else { return }
        near = Near(
            stamp: realm.session.pointee.stamp.pointee, leaf: leaf, start: start,
            end: start == .max ? 0 : start + leaf.liveRows, table: table.table)
    }

    /// Whether a position lies in the leaf of the last one.
    @inline(__always) private func isNear(_ index: Int) -> Bool {
        index >= near.start && index < near.end
            && near.stamp == realm.session.pointee.stamp.pointee
            && realm.session.pointee.isOnKnownThread
    }

    private func outOfBounds(_ index: Int, _ count: Int) -> RealmError {
        RealmError(
            .indexOutOfBounds,
            "index \(index) is out of bounds of results with \(count) elements")
    }

    @inline(__always)
    package override func get(_ index: Int) throws(RealmError) -> RawValue {
        if isNear(index) {
            let row = near.leaf.liveRow(index &- near.start)
            return .link(classKey, near.leaf.key(row))
        }
        return try getSlowly(index)
    }

    @inline(never)
    private func getSlowly(_ index: Int) throws(RealmError) -> RawValue {
        try locked { () throws(RealmError) in
            let found = try key(at: index)
            if found.key == Ordering.nullLink { return .null }
            if case .snapshot = description.source, try reader().table.row(found.key) == nil {
                return .null
            }
            return .link(classKey, found.key)
        }
    }

    /// A handle of the element; an invalid one where an element of a snapshot is gone.
    @inline(__always)
    package func object(_ index: Int) throws(RealmError) -> ObjectHandle {
        if isNear(index) {
            let row = near.leaf.liveRow(index &- near.start)
            return ObjectHandle.make(
                realm.session, near.table.unsafelyUnwrapped, near.leaf.key(row),
                Self.place(near.leaf, row))
        }
        return try objectSlowly(index)
    }

    @inline(never)
    private func objectSlowly(_ index: Int) throws(RealmError) -> ObjectHandle {
        if let found = try listed(index) {
            return ObjectHandle.make(realm.session, found.table, found.key, found.place)
        }
        return try locked { () throws(RealmError) in
            let found = try key(at: index)
            guard let table = try realm.readTables().table(classKey) else { throw stale() }
            if let place = try table.find(found.key) {
                if !isWholeClass { remember(place.view, TableReader(table: table), start: .max) }
                return ObjectHandle.make(realm.session, table, found.key, place)
            }
            return ObjectHandle.gone(realm.session, table, found.key)
        }
    }

    /// The place of an element of a list of keys, while the state that it was made in stands: in the leaf of
    /// the last one, as lists often follow the order of the class, else looked up.
    @inline(__always)
    private func listed(
        _ index: Int
    ) throws(RealmError) -> (table: Table, key: ObjectKey, place: RowPlace)? {
        guard near.start == .max, near.stamp == realm.session.pointee.stamp.pointee,
            cache.freshness.stamp == near.stamp, realm.session.pointee.isOnKnownThread,
            index >= 0, index < cache.keys.count, let table = near.table
        else { return nil }
        let key = cache.keys[index]
        var leaf = near.leaf
        var row = leaf.row(of: key)
        if row == nil, let place = try table.find(key) {
            leaf = place.view
            row = place.row
            near.leaf = leaf
        }
        guard let row, !leaf.isDead(row) else { return nil }
        return (table, key, Self.place(leaf, row))
    }

    @inline(__always)
    private static func place(_ leaf: LeafView, _ row: Int) -> RowPlace {
        RowPlace(leaf: UnsafeMutableRawPointer(mutating: leaf.base), row: row, state: .sealed)
    }

    /// Has a handle name the element at a position, which costs a fifth of making another. False where that can't be,
    /// and `object(_:)` is to be asked: the element is not near the last one, or the handle is of another realm or
    /// class, or observed.
    package func point(_ handle: ObjectHandle, at index: Int) throws(RealmError) -> Bool {
        if isNear(index) {
            let row = near.leaf.liveRow(index &- near.start)
            return handle.point(
                realm.session, near.table.unsafelyUnwrapped, near.leaf.key(row),
                Self.place(near.leaf, row))
        }
        guard let found = try listed(index) else { return false }
        return handle.point(realm.session, found.table, found.key, found.place)
    }

    /// The position of an object, or nil.
    package func find(_ key: ObjectKey) throws(RealmError) -> Int? {
        try locked { () throws(RealmError) in
            let (snapshot, table) = try reader()
            if key == Ordering.nullLink { return nil }
            if isWholeClass { return try table.position(of: key) }
            return try allKeys(snapshot, table).firstIndex(of: key)
        }
    }

    package override func find(_ value: RawValue) throws(RealmError) -> Int? {
        guard value.type == ValueType.link.rawValue, value.linkClass == classKey else {
            _ = try locked { () throws(RealmError) in try reader() }
            return nil
        }
        return try find(value.linkTarget)
    }

    /// The position of an object; throws for invalid handles and objects of other classes. An
    /// object of another realm of the file is the one with its key here.
    package override func find(_ object: ObjectHandle) throws(RealmError) -> Int? {
        try check()
        guard object.isValid else {
            throw RealmError(.staleAccessor, "the object to find was deleted")
        }
        guard object.classKey == classKey else {
            throw RealmError(
                .objectTypeMismatch,
                "an object of \(realm.schema.named(object.classKey)) cannot be among results "
                    + "of \(realm.schema.named(classKey))")
        }
        guard object.realm.file === realm.file else {
            throw RealmError(
                .objectTypeMismatch,
                "an object of '\(object.realm.path)' cannot be among results of '\(realm.path)'")
        }
        return try find(object.objectKey)
    }

    // MARK: Refining

    override func check() throws(RealmError) { try reading { _, _ throws(RealmError) in } }

    override func with(_ description: ResultsDescription) -> Self {
        unsafeDowncast(Results(realm, description), to: Self.self)
    }

    package override func query() throws(RealmError) -> LiveQuery {
        try check()
        let all =
            if let conditions = try description.conditions() { conditions } else {
                try Query.all(schema: realm.schema, classKey: classKey)
            }
        return LiveQuery(realm, all, in: description.source)
    }

    public override func explain() throws(RealmError) -> String {
        try reading { snapshot, _ throws(RealmError) in
            try description.explain(snapshot, realm.schema)
        }
    }

    /// Throws `.staleAccessor` when these results are not valid any more, and `.closedRealm`.
    package override func resolved(in target: Realm) throws(RealmError) -> Results {
        let tables = try target.readTables()
        try realm.checkSameFile(target)
        guard isValid else { throw stale() }
        guard tables.table(classKey) != nil else {
            throw RealmError(
                .noSuchTable,
                "version \(tables.version) of '\(target.path)' has no class with key "
                    + "\(classKey)")
        }
        return try target.objects(
            of: description.resolved(SnapshotReader(tables: tables)))
    }

    // MARK: Aggregates

    package override func aggregate(
        _ kind: AggregateKind, _ propertyKey: PropertyKey
    ) throws(RealmError) -> (value: RawValue, found: Bool) {
        let result: (RawValue, Bool) = try reading {
            (snapshot, table) throws(RealmError) -> (RawValue, Bool) in
            let column = try ObjectHandle.column(table.table, propertyKey)
            if let keys = try keysInside(snapshot, table) {
                let value = try Aggregate.ofObjects(kind, table, column: column, keys)
                return (value, kind == .sum ? !keys.isEmpty : !value.isNull)
            }
            let value = try Aggregate.ofTable(kind, table, column: column)
            return (value, kind == .sum ? table.rowCount > 0 : !value.isNull)
        }
        // Text of a mixed value may lie in memory that the write transaction moves.
        return realm.session.pointee.status == .writing
            ? (realm.keep(result.0), result.1) : result
    }

    // MARK: Deleting

    public override func deleteAll() throws(RealmError) {
        let keys = try keys()
        let tables = try realm.tablesForWriting()
        if let plain, plain.type == .dictionary {
            // The values of a dictionary are entries of it: they go, the objects stay.
            if plain.isValid { try plain.removeAll() }
            return
        }
        guard let table = tables.table(classKey) else { return }
        // Whatever happens on the way, remembered rows are not good any more.
        defer { realm.session.pointee.stamp.pointee &+= 1 }
        for key in keys {
            if try table.find(key) != nil { try table.deleteRow(key) }
        }
    }

    // MARK: For the extensions

    /// Runs `body` with the state to read from.
    func reading<R>(
        _ body: (SnapshotReader, TableReader) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try locked { () throws(RealmError) in
            let (snapshot, table) = try reader()
            return try body(snapshot, table)
        }
    }

    /// The keys for a body that runs in `reading`; nil when the results are the whole class.
    func keysInside(
        _ snapshot: SnapshotReader, _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        isWholeClass ? nil : try allKeys(snapshot, table)
    }
}
