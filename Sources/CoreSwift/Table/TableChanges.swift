// The door that every change of stored data passes. Each has a verb here (`willSet`, `willDelete`,
// ...), which whoever changes rows or collections calls once, before it begins. What follows from
// changes is kept by the verbs alone: whether a table has something to commit, how often values
// changed where they stand, and who is told of it (`Change`).
//
// With nobody listening a verb is one test. Fast paths call none: they write to open leaves, which
// only exist after a verb; while somebody listens they are not taken (`isPlain`, `appendRows`).
// Listeners that come and go all the time cost no more than their calls: the tables learn of the
// first, each when it changes, and of the last one's end only after some changes that nobody heard.
//
// Invariants
//   1. A table with a leaf of this transaction, open or sealed, is dirty.
//   2. `isQuiet` is `isDirty` without `isHeard`: a verb has nothing to do.
//   3. `isHeard` of every dirty table is that of the transaction, which is true while there are
//      listeners; of other tables it is false.
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
    /// Fast paths are not taken.
    fileprivate var isHeard = false
    /// Once there are no listeners: changes on slow ways that are left until the fast ones are
    /// taken again.
    fileprivate var slowChangesLeft = 0
    /// Objects that were created last.
    fileprivate var untold: (table: Table, keys: ClosedRange<ObjectKey>)?
}

extension TableSet {
    /// Tells the listener of all changes from now on, until it is taken out or the write
    /// transaction ends.
    func add(_ listener: any ChangeListener) throws(RealmError) {
        guard let transaction else { return invariant(false, "no write transaction") }
        try tellCreated()
        transaction.pointee.changes.listeners.append(listener)
        if transaction.pointee.changes.isHeard { return }
        transaction.pointee.changes.isHeard = true
        noteListeners()
    }

    func remove(_ listener: any ChangeListener) throws(RealmError) {
        guard let transaction else { return }
        try tellCreated()
        transaction.pointee.changes.listeners.removeAll { $0 === listener }
        guard transaction.pointee.changes.listeners.isEmpty else { return }
        // What telling all tables twice costs, about.
        transaction.pointee.changes.slowChangesLeft = 16 + 2 * tableCapacity
    }

    /// Tells what was kept back.
    func tellCreated() throws(RealmError) {
        guard let transaction, transaction.pointee.changes.untold != nil else { return }
        try transaction.pointee.tellCreated()
    }

    /// Keeps invariant 3, also of tables that are new.
    func noteListeners() {
        let isHeard = transaction?.pointee.changes.isHeard ?? false
        forEachTable { $0.hear(isHeard) }
    }
}

extension TransactionState {
    fileprivate mutating func tellCreated() throws(RealmError) {
        guard let (table, keys) = changes.untold else { return }
        changes.untold = nil
        for listener in changes.listeners { try listener.hear(.created(keys), in: table) }
    }
}

// MARK: Objects

extension Table {
    /// An object is going to be created.
    func willCreate(_ key: ObjectKey) throws(RealmError) {
        if state.changes.isQuiet { return }
        note()
        guard state.changes.isHeard, !transaction.pointee.changes.listeners.isEmpty else { return }
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
            try tell(key, column, .set(key, column: column, value, isDerived: isDerived))
        }
    }

    @inline(__always)
    func willAdd(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ delta: Int64
    ) throws(RealmError) {
        notePatch(place)
        if !state.changes.isQuiet {
            try tell(key, column, .added(key, column: column, delta: delta))
        }
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
        guard isTold(key, column),
            let collection = try StandingCollection(self, place, key, column)
        else { return }
        try tell(.collection(collection, change))
    }

    /// Whether a collection in a cell may change with nobody being told.
    @inline(__always)
    func isUnheard(_ key: ObjectKey, _ column: Int) -> Bool {
        if state.changes.isQuiet { return true }
        note()
        return state.changes.isQuiet || !isTold(key, column)
    }

    /// An element was appended to a cell in the fast way, of which nobody is told.
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
        guard isTold(collection.pointee.key, collection.pointee.column) else { return }
        try tell(.collection(try StandingCollection(collection), change))
    }

    // MARK: Telling

    @inline(__always)
    private func note() {
        if state.changes.isDirty && !state.changes.isHeard { return }
        noteSlowly()
    }

    @inline(never)
    private func noteSlowly() {
        let transaction = transaction
        if !state.changes.isDirty {
            state.changes.isDirty = true
            hear(transaction.pointee.changes.isHeard)
        } else if transaction.pointee.changes.listeners.isEmpty {
            transaction.pointee.changes.slowChangesLeft -= 1
            if transaction.pointee.changes.slowChangesLeft < 0 {
                transaction.pointee.changes.isHeard = false
                for other in 0..<state.tableCapacity { state.tables[other]?.hear(false) }
            }
        }
        state.changes.isQuiet = !state.changes.isHeard
    }

    /// Whether changes of the object are told: not while they are part of its creation, nor when
    /// nobody needs to know.
    private func isTold(_ key: ObjectKey, _ column: Int) -> Bool {
        guard state.changes.isHeard else { return false }
        if let untold = transaction.pointee.changes.untold, untold.table == self,
            untold.keys.contains(key)
        {
            return false
        }
        for listener in transaction.pointee.changes.listeners
        where listener.needs(key, column, in: self) {
            return true
        }
        return false
    }

    @inline(never)
    private func tell(_ key: ObjectKey, _ column: Int, _ change: Change) throws(RealmError) {
        note()
        if isTold(key, column) { try tell(change) }
    }

    @inline(never)
    private func tell(_ change: Change) throws(RealmError) {
        note()
        guard state.changes.isHeard else { return }
        if transaction.pointee.changes.untold != nil { try transaction.pointee.tellCreated() }
        for listener in transaction.pointee.changes.listeners {
            try listener.hear(change, in: self)
        }
    }

    /// Keeps fast paths from being taken in a table that has changed, while somebody listens.
    fileprivate func hear(_ transactionIsHeard: Bool) {
        let isHeard = transactionIsHeard && state.changes.isDirty
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
