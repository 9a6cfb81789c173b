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
    /// Where the objects come from.
    enum Base {
        /// All objects of the class, by ascending key.
        case table
        /// Objects that link to an object through a column.
        case backlinks(target: ClassKey, key: Int64, column: Int)
        /// These objects in this order; some may be gone. They were the elements of `of`.
        case snapshot([Int64], of: Results)
        /// Objects that the elements of a collection link to, in its order.
        case collection(RealmCollection)

        /// Whether the objects come from the same place.
        func isSame(as other: Base) -> Bool {
            switch (self, other) {
            case (.table, .table): return true
            case (.backlinks(let a, let b, let c), .backlinks(let x, let y, let z)):
                return a == x && b == y && c == z
            case (.snapshot(_, let mine), .snapshot(_, let others)): return mine === others
            case (.collection(let mine), .collection(let others)): return mine.isEqual(others)
            default: return false
            }
        }
    }

    /// Stands for a null link among keys; no object has it.
    static let nothing = Ordering.nullLink

    public let classKey: ClassKey
    let base: Base
    /// Conditions on the base; their own ordering is not used. Nil: none.
    let conditions: Query?
    let ordering: [OrderingStep]
    /// The collection whose elements these are, one by one: nothing is kept of it.
    private let plain: RealmCollection?
    /// The realm's generation when the results were made; compaction ends it.
    private let generation: UInt32
    private var cache = Cache()
    private let lock: Lock?

    /// When something was computed.
    struct Freshness: Equatable {
        var stamp: UInt64 = 0
        var patches = 0
    }

    private struct Cache {
        var freshness = Freshness()
        var keys: [Int64] = []
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

    init(
        _ realm: Realm, _ classKey: ClassKey, _ base: Base, conditions: Query? = nil,
        ordering: [OrderingStep] = []
    ) {
        self.classKey = classKey
        self.base = base
        self.conditions = conditions
        self.ordering = ordering
        generation = realm.session.pointee.generation
        lock = realm.isFrozen ? Lock() : nil
        if case .collection(let collection) = base, conditions == nil, ordering.isEmpty {
            plain = collection
        } else {
            plain = nil
        }
        super.init(realm, holdsValues: false)
    }

    // MARK: Validity

    /// False after the realm was closed or compacted, or the class is gone.
    public var isValid: Bool {
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

    @inline(__always) private func freshness(_ table: TableReader) -> Freshness {
        Freshness(
            stamp: realm.session.pointee.stamp.pointee,
            patches: table.table.patches)
    }

    /// The objects are the rows of the class, position by position.
    private var isWholeClass: Bool {
        guard case .table = base else { return false }
        return conditions == nil && ordering.isEmpty
    }

    // MARK: Size

    /// The number of elements, DISTINCT, LIMIT and OFFSET included.
    public func count() throws(RealmError) -> Int {
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
            let count = try countAnew(snapshot, table)
            // Counting may have settled other classes, which moves the stamp.
            cache.freshness = freshness(table)
            cache.count = count
            return count
        }
    }

    private func countAnew(
        _ snapshot: SnapshotReader, _ table: TableReader
    ) throws(RealmError) -> Int {
        guard let most = Ordering.cut(.max, by: ordering) else {
            return try allKeys(snapshot, table).count
        }
        if most == 0 { return 0 }
        let count: Int
        switch (base, conditions) {
        case (.table, nil): count = table.rowCount
        case (.table, let conditions?):
            count = try conditions.countMatches(
                snapshot, atMost: Ordering.counted(ordering))
        case (.backlinks(let target, let key, let column), nil):
            guard try snapshot.tables.table(target)?.find(key) != nil else { return 0 }
            count = try table.sourceCount(of: key, column: column)
        default: return try allKeys(snapshot, table).count
        }
        return Ordering.cut(count, by: ordering) ?? count
    }

    /// Whether elements may be null links.
    private var holdsNullLinks: Bool {
        switch base {
        case .table, .backlinks: return false
        case .collection(let collection): return collection.type == .dictionary
        case .snapshot: return true
        }
    }

    // MARK: Keys

    /// All object keys in order.
    private func allKeys(
        _ snapshot: SnapshotReader, _ table: TableReader
    ) throws(RealmError) -> [Int64] {
        try fillCache(snapshot, table, atLeast: .max)
        return cache.keys
    }

    /// Makes sure that the cache has the first `count` keys, or all.
    private func fillCache(
        _ snapshot: SnapshotReader, _ table: TableReader, atLeast count: Int
    ) throws(RealmError) {
        refreshCache(table)
        if cache.isComplete || cache.keys.count >= count { return }
        let keys: [Int64]
        var steps = ordering[...]
        var isComplete = count == .max
        switch base {
        case .table:
            // One for both: what it found out about other classes need not be found out again.
            let selection = try conditions?.selection(snapshot)
            if selection == nil, let whole = try Ordering.whole(count, ordering, table) {
                keys = whole
                steps = steps.dropFirst()
                isComplete = true
            } else if !ordering.isEmpty,
                let leading = try Ordering.leading(count, ordering, selection, table)
            {
                keys = leading.keys
                if leading.isOrdered { steps = steps.dropFirst() }
                isComplete = false
            } else if let selection {
                // Sorting needs all matches; without it the scan may stop early.
                let needed = Ordering.needed(count, before: ordering[...])
                keys = try selection.keys(limit: needed ?? .max)
                if let needed, keys.count < needed { isComplete = true }
            } else {
                keys = try Self.keys(table)
            }
        case .backlinks(let target, let key, let column):
            if try snapshot.tables.table(target)?.find(key) == nil {
                keys = []
            } else {
                let sources = try table.sources(of: key, column: column)
                keys = try conditions?.filter(sources, snapshot) ?? sources
            }
        case .snapshot(let kept, _):
            keys = try conditions?.filter(kept, snapshot) ?? kept
        case .collection(let collection):
            let all = try collection.targetKeys()
            keys = try conditions?.filter(all, snapshot) ?? all
        }
        let ordered = try Ordering.apply(
            steps, to: keys, snapshot, table, atLeast: count, hasNullLinks: holdsNullLinks)
        cache.freshness = freshness(table)
        cache.keys = ordered
        cache.isComplete = isComplete || ordered.count < count
        if cache.isComplete { cache.count = ordered.count }
    }

    /// Keys of all objects of a class.
    private static func keys(_ table: TableReader) throws(RealmError) -> [Int64] {
        let capacity = table.rowCount
        var failure: RealmError?
        let keys = [Int64](unsafeUninitializedCapacity: capacity) { buffer, count in
            do throws(RealmError) {
                try fill(buffer, &count, table)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return keys
    }

    private static func fill(
        _ buffer: UnsafeMutableBufferPointer<Int64>, _ count: inout Int, _ table: TableReader
    ) throws(RealmError) {
        guard let target = buffer.baseAddress else { return }
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let rows = leaf.rows
            guard count + leaf.liveRows <= buffer.count else {
                throw RealmError(
                    .invalidDatabase, "the leaves of a class hold more rows than its tree counts")
            }
            if leaf.tombstones == nil, leaf.keyWidth == 0 {
                let base = leaf.keyBase
                for row in 0..<rows { target[count &+ row] = base &+ Int64(row) }
                count += rows
                continue
            }
            for row in 0..<rows where !leaf.isDead(row) {
                target[count] = leaf.key(row)
                count &+= 1
            }
        }
    }

    /// Keys of all elements in order.
    func keys() throws(RealmError) -> [Int64] {
        try locked { () throws(RealmError) in
            let (snapshot, table) = try reader()
            if isWholeClass { return try Self.keys(table) }
            return try allKeys(snapshot, table)
        }
    }

    // MARK: Elements

    /// The key at a position, and its row if it was found on the way.
    private func key(
        at index: Int
    ) throws(RealmError) -> (key: Int64, leaf: LeafView?, row: Int) {
        if let plain {
            guard try checkedPlain(plain) else { throw outOfBounds(index, 0) }
            let value = try plain.get(index)
            return (value.isNull ? Self.nothing : value.linkTarget.rawValue, nil, 0)
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

    /// The element as a link; null where an element of a snapshot is gone.
    @inline(__always)
    public func get(_ index: Int) throws(RealmError) -> RawValue {
        if isNear(index) {
            let row = near.leaf.liveRow(index &- near.start)
            return .link(classKey, ObjectKey(rawValue: near.leaf.key(row)))
        }
        return try getSlowly(index)
    }

    @inline(never)
    private func getSlowly(_ index: Int) throws(RealmError) -> RawValue {
        try locked { () throws(RealmError) in
            let found = try key(at: index)
            if found.key == Self.nothing { return .null }
            if case .snapshot = base, try reader().table.row(found.key) == nil { return .null }
            return .link(classKey, ObjectKey(rawValue: found.key))
        }
    }

    /// A handle of the element; an invalid one where an element of a snapshot is gone.
    @inline(__always)
    public func object(_ index: Int) throws(RealmError) -> ObjectHandle {
        if isNear(index) {
            let row = near.leaf.liveRow(index &- near.start)
            return ObjectHandle.make(
                realm.session, near.table.unsafelyUnwrapped, near.leaf.key(row),
                RowPlace(
                    leaf: UnsafeMutableRawPointer(mutating: near.leaf.base), row: row,
                    state: .sealed))
        }
        return try objectSlowly(index)
    }

    @inline(never)
    private func objectSlowly(_ index: Int) throws(RealmError) -> ObjectHandle {
        if let object = try listed(index) { return object }
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

    /// An element of a list of keys, while the state that it was made in stands: in the leaf of
    /// the last one, as lists often follow the order of the class, else looked up.
    @inline(__always)
    private func listed(_ index: Int) throws(RealmError) -> ObjectHandle? {
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
        return ObjectHandle.make(
            realm.session, table, key,
            RowPlace(
                leaf: UnsafeMutableRawPointer(mutating: leaf.base), row: row, state: .sealed))
    }

    /// The position of an object, or nil.
    public func find(_ key: Int64) throws(RealmError) -> Int? {
        try locked { () throws(RealmError) in
            let (snapshot, table) = try reader()
            if key == Self.nothing { return nil }
            if isWholeClass { return try table.position(of: key) }
            return try allKeys(snapshot, table).firstIndex(of: key)
        }
    }

    /// The position of a value; nil for anything but a link to an element.
    public func find(_ value: RawValue) throws(RealmError) -> Int? {
        guard value.type == ValueType.link.rawValue, value.linkClass == classKey else {
            _ = try locked { () throws(RealmError) in try reader() }
            return nil
        }
        return try find(value.linkTarget.rawValue)
    }

    /// The position of an object; throws for invalid handles and objects of other classes. An
    /// object of another realm of the file is the one with its key here.
    public func find(_ object: ObjectHandle) throws(RealmError) -> Int? {
        try reading { _, _ throws(RealmError) in }
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
    ) throws(RealmError) -> [Int64]? {
        isWholeClass ? nil : try allKeys(snapshot, table)
    }
}
