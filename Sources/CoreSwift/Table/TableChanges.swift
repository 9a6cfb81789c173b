// The door that every change of stored data passes. Each has a verb here (`willSet`, `willDelete`,
// ...), which whoever changes rows or collections calls once, before it begins. What follows from
// changes is kept by the verbs alone: whether a table has something to commit, how often values
// changed where they stand, and who is told of it (`Change`).
//
// With nobody listening a verb is one test. Fast paths call none: they write to open leaves, which
// only exist after a verb; while somebody listens they are not taken (`isPlain`, `appendRows`).
//
// Invariants
//   1. A table with a leaf of this transaction, open or sealed, is dirty.
//   2. `isQuiet` is `isDirty` without `isHeard`: a verb has nothing to do.
//   3. `isHeard` of every table is whether the transaction has listeners.
//   4. `untold` names objects that are there, or whose creation failed, and nothing of which was
//      told. It is empty without listeners.

/// What a table knows of its changes in the running write transaction.
struct TableChanges {
    /// Something of the class changed.
    fileprivate(set) var isDirty = false
    fileprivate(set) var isHeard = false
    fileprivate(set) var isQuiet = false

    /// The transaction is over.
    mutating func end() {
        isDirty = false
        isQuiet = false
    }
}

/// What the tables of a write transaction share of their changes.
struct TransactionChanges {
    /// Changes that need not have moved a row: results look again when there are more.
    fileprivate(set) var patches = 0
    fileprivate var listeners: [any ChangeListener] = []
    /// Objects that were created last.
    fileprivate var untold: (table: Table, keys: ClosedRange<ObjectKey>)?
}

extension TableSet {
    /// Tells the listener of all changes from now on, until it is taken out or the write
    /// transaction ends.
    func add(_ listener: any ChangeListener) throws(RealmError) {
        guard let transaction else { return invariant(false, "no write transaction") }
        try transaction.pointee.tellCreated()
        transaction.pointee.changes.listeners.append(listener)
        noteListeners()
    }

    func remove(_ listener: any ChangeListener) throws(RealmError) {
        guard let transaction else { return }
        try transaction.pointee.tellCreated()
        transaction.pointee.changes.listeners.removeAll { $0 === listener }
        noteListeners()
    }

    /// Tells what was kept back.
    func tellCreated() throws(RealmError) { try transaction?.pointee.tellCreated() }

    /// Keeps invariant 3, also of tables that are new.
    func noteListeners() {
        let isHeard = transaction.map { !$0.pointee.changes.listeners.isEmpty } ?? false
        forEachTable { $0.hear(isHeard) }
    }
}

extension TransactionState {
    fileprivate mutating func tellCreated() throws(RealmError) {
        guard let (table, keys) = changes.untold else { return }
        changes.untold = nil
        try tell(.created(keys), table)
    }

    fileprivate func tell(_ change: Change, _ table: Table) throws(RealmError) {
        for listener in changes.listeners { try listener.hear(change, in: table) }
    }
}

// MARK: Objects

extension Table {
    /// An object is going to be created.
    func willCreate(_ key: ObjectKey) throws(RealmError) {
        if state.changes.isQuiet { return }
        note()
        guard state.changes.isHeard else { return }
        if let untold = transaction.pointee.changes.untold, untold.table == self,
            untold.keys.upperBound.advanced(by: 1) == key
        {
            transaction.pointee.changes.untold = (self, untold.keys.lowerBound...key)
            return
        }
        try transaction.pointee.tellCreated()
        transaction.pointee.changes.untold = (self, key...key)
    }

    /// An object is going to be deleted; links to it are gone.
    @inline(__always)
    func willDelete(_ key: ObjectKey, isOwned: Bool) throws(RealmError) {
        if !state.changes.isQuiet { try tell(.deleted(key, isOwned: isOwned)) }
    }

    // MARK: Values

    /// A value that passed all checks is going to be stored. `isDerived`: see `Change.set`.
    @inline(__always)
    func willSet(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ value: RawValue,
        isDerived: Bool = false
    ) throws(RealmError) {
        notePatch(place)
        if !state.changes.isQuiet {
            try tell(key, .set(key, column: column, value, isDerived: isDerived))
        }
    }

    @inline(__always)
    func willAdd(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ delta: Int64
    ) throws(RealmError) {
        notePatch(place)
        if !state.changes.isQuiet { try tell(key, .added(key, column: column, delta: delta)) }
    }

    /// Opening a leaf moves rows, and writing to an open one follows that.
    @inline(__always)
    private func notePatch(_ place: RowPlace) {
        if place.state != .open { transaction.pointee.changes.patches &+= 1 }
    }

    // MARK: Collections

    /// A collection is going to change in the cell of its row.
    @inline(__always)
    func willChange(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int,
        _ change: @autoclosure () -> CollectionChange
    ) throws(RealmError) {
        transaction.pointee.changes.patches &+= 1
        if !state.changes.isQuiet { try tell(place, key, column, change()) }
    }

    @inline(never)
    private func tell(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ change: CollectionChange
    ) throws(RealmError) {
        note()
        guard isTold(key), let collection = try StandingCollection(self, place, key, column)
        else { return }
        try tell(.collection(collection, change))
    }

    /// An element was appended to a cell in the fast way, which is not taken while somebody listens.
    @inline(__always) func didAppend() { transaction.pointee.changes.patches &+= 1 }

    /// A collection is going to change that the transaction has opened.
    @inline(__always)
    func willChange(
        _ collection: UnsafeMutablePointer<OpenCollection>,
        _ change: @autoclosure () -> CollectionChange
    ) throws(RealmError) {
        transaction.pointee.changes.patches &+= 1
        if !state.changes.isQuiet { try tell(collection, change()) }
    }

    @inline(never)
    private func tell(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ change: CollectionChange
    ) throws(RealmError) {
        note()
        guard isTold(collection.pointee.key) else { return }
        try tell(.collection(try StandingCollection(collection), change))
    }

    // MARK: Telling

    private func note() {
        state.changes.isDirty = true
        state.changes.isQuiet = !state.changes.isHeard
    }

    /// Whether changes of the object are told: not while they are part of its creation.
    private func isTold(_ key: ObjectKey) -> Bool {
        guard state.changes.isHeard else { return false }
        guard let untold = transaction.pointee.changes.untold else { return true }
        return untold.table != self || !untold.keys.contains(key)
    }

    @inline(never)
    private func tell(_ key: ObjectKey, _ change: Change) throws(RealmError) {
        note()
        if isTold(key) { try tell(change) }
    }

    @inline(never)
    private func tell(_ change: Change) throws(RealmError) {
        note()
        guard state.changes.isHeard else { return }
        try transaction.pointee.tellCreated()
        try transaction.pointee.tell(change, self)
    }

    /// Keeps fast paths from being taken while somebody listens.
    fileprivate func hear(_ isHeard: Bool) {
        if state.changes.isHeard == isHeard { return }
        state.changes.isHeard = isHeard
        state.changes.isQuiet = state.changes.isDirty && !isHeard
        noteCare()
    }

    /// To be called when the indexes of the table have changed, too.
    func noteCare() {
        let isHeard = state.changes.isHeard
        state.appendRows = isHeard ? 0 : state.rowsPerLeaf
        for column in 0..<state.columnCount {
            state.columns[column].needsCare = isHeard || state.columns[column].hasIndexes
        }
    }
}
