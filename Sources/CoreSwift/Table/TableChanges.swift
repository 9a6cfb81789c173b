// The door that every change of stored data passes. Each has a verb here (`willSet`, `willDelete`,
// ...), which whoever changes rows or collections calls once, before it begins. What follows from
// changes is kept by the verbs alone: whether a table has something to commit, how often values
// changed where they stand, and who is told of it (`Change`).
//
// With nobody listening a verb is one test. Fast paths call none: they write to open leaves, which
// only exist after a verb; while somebody listens they are not taken (`isPlain`, `appendRows`). The
// record of the commit (`CommitRecord`) is not a listener: it takes what it needs from the verbs, and
// leaves fast paths to objects that the transaction itself created behind all others. Which those are
// shows at the commit. Listeners that come and go all the time cost no more than their calls: the
// tables learn of the first, and of the record, each when it changes, and of the last one's end only
// after some changes that nobody heard.
//
// Invariants
//   1. A table with a leaf of this transaction, open or sealed, is dirty.
//   2. `isQuiet` is `isDirty` without `isHeard` and `record`: a verb has nothing to do.
//   3. `isHeard` of every dirty table is that of the transaction, which is true while there are
//      listeners, and so is `record`; other tables have neither.
//   4. `untold` names objects that are there, or whose creation failed, and nothing of which was
//      told. It is empty with neither listeners nor a record.
//   5. With a record: objects of keys from `createdFrom` on were created by the transaction. What was
//      deleted of them before they were is in the record. Rows are appended in the fast way only
//      where all keys behind the last row are such.
//   6. With a record and without listeners, open leaves with rows that are older than the transaction
//      stand in the way of the fast path of values (`hasOldRows`).

/// What a table knows of its changes in the running write transaction.
struct TableChanges {
    /// Something of the class changed.
    fileprivate(set) var isDirty = false
    fileprivate(set) var isHeard = false
    fileprivate(set) var isQuiet = false
    /// What the commit records; nil: nothing.
    fileprivate(set) var record: UnsafeMutablePointer<CommitRecord>?
    fileprivate(set) var createdFrom = ObjectKey.max
    /// One of them was deleted: appending has to look at each key.
    fileprivate(set) var hasLostCreated = false
    fileprivate(set) var hasOldRows = false

    /// The transaction is over; `hear` follows.
    mutating func end() {
        isDirty = false
        isQuiet = false
        createdFrom = .max
        hasLostCreated = false
        hasOldRows = false
    }

    /// Whether rows may be appended without a verb.
    fileprivate var canAppend: Bool {
        !isHeard && (record == nil || (createdFrom != .max && !hasLostCreated))
    }

    /// Whether values in open leaves must not be written without a verb.
    fileprivate var needsVerbs: Bool { isHeard || (record != nil && hasOldRows) }

    var problem: String? {
        if isQuiet != (isDirty && !isHeard && record == nil) {
            return "door 2: quiet, but a verb has to do something"
        }
        if !isDirty, isHeard || record != nil { return "door 3: heard, but nothing has changed" }
        return record == nil && createdFrom != .max ? "door 5: created from, with no record" : nil
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
    fileprivate(set) var record: UnsafeMutablePointer<CommitRecord>?
    /// Objects that were created last.
    fileprivate var untold: (table: Table, keys: ClosedRange<ObjectKey>)?

    /// The transaction is over.
    mutating func end() {
        record.map(CommitRecord.end)
        record = nil
    }
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

    /// Has the changes of the transaction recorded from now on; to be called before the first.
    func startRecord(_ detail: RecordDetail) {
        guard let transaction else { return }
        transaction.pointee.changes.record = CommitRecord.make(detail)
    }

    /// Tells what was kept back.
    func tellCreated() throws(RealmError) {
        guard let transaction, transaction.pointee.changes.untold != nil else { return }
        try transaction.pointee.tellCreated()
    }

    /// Keeps invariant 3, also of tables that are new.
    func noteListeners() {
        let isHeard = transaction?.pointee.changes.isHeard ?? false
        let record = transaction?.pointee.changes.record
        forEachTable { $0.hear(isHeard, record) }
    }

    /// Calls `body`, which takes back what changed since `mark` was the record's, and takes that out
    /// of the record.
    func cuttingRecord(
        to mark: Int, _ body: () throws(RealmError) -> Void
    ) throws(RealmError) {
        guard let transaction, let record = transaction.pointee.changes.record else {
            return try body()
        }
        record.pointee.isPaused = true
        defer { record.pointee.isPaused = false }
        try body()
        try tellCreated()
        record.pointee.cut(to: mark) { table($0)?.restoreCreatedFrom($1) }
        // Rows that came back may be in any leaf.
        forEachTable { $0.willOpenRows() }
    }
}

extension TransactionState {
    fileprivate mutating func tellCreated() throws(RealmError) {
        guard let (table, keys) = changes.untold else { return }
        changes.untold = nil
        for listener in changes.listeners { try listener.hear(.created(keys), in: table) }
        // The others are looked up at the commit: what becomes of them is not in the record.
        let end = table.state.changes.createdFrom
        if keys.lowerBound < end {
            changes.record?.pointee.noteCreated(
                table.classKey, keys.lowerBound...min(keys.upperBound, end.advanced(by: -1)))
        }
    }
}

// MARK: Objects

extension Table {
    /// An object is going to be created.
    func willCreate(_ key: ObjectKey) throws(RealmError) {
        if state.changes.isQuiet { return }
        note()
        if let record = state.changes.record, key < state.changes.createdFrom,
            !record.pointee.isPaused
        {
            try noteCreatedFrom(key)
        }
        guard
            state.changes.isHeard && !transaction.pointee.changes.listeners.isEmpty
                || state.changes.record != nil && key < state.changes.createdFrom
        else { return }
        if let untold = transaction.pointee.changes.untold, untold.table == self,
            untold.keys.upperBound.advanced(by: 1) == key
        {
            transaction.pointee.changes.untold = (self, untold.keys.lowerBound...key)
            return
        }
        try transaction.pointee.tellCreated()
        transaction.pointee.changes.untold = (self, key...key)
    }

    /// Moves `createdFrom` to a key that is behind all others.
    private func noteCreatedFrom(_ key: ObjectKey) throws(RealmError) {
        guard let record = state.changes.record, try isBehindAll(key) else { return }
        record.pointee.noteCreatedFrom(classKey, before: state.changes.createdFrom)
        state.changes.createdFrom = key
        noteCare()
    }

    private func isBehindAll(_ key: ObjectKey) throws(RealmError) -> Bool {
        if state.tree.isEmpty { return true }
        guard try moveFinger(key), state.fingerHigh == .max else { return false }
        if state.fingerState == .open {
            let leaf = state.fingerLeaf.assumingMemoryBound(to: OpenLeaf.self)
            if leaf.pointee.rows == 0 { return true }
            return leaf.pointee.order == nil && key > leaf.pointee.keys[leaf.pointee.rows - 1]
        }
        let view = LeafView(UnsafeRawPointer(state.fingerLeaf))
        return view.rows == 0 || key > view.key(view.rows - 1)
    }

    fileprivate func restoreCreatedFrom(_ key: ObjectKey) {
        state.changes.createdFrom = key
        noteCare()
    }

    /// An open leaf takes in rows of the file.
    @inline(__always) func willOpenRows() {
        if state.changes.record != nil, !state.changes.hasOldRows {
            state.changes.hasOldRows = true
            noteCare()
        }
    }

    /// No leaf is open any more that did.
    @inline(__always) func didSealRows() {
        if state.changes.hasOldRows {
            state.changes.hasOldRows = false
            noteCare()
        }
    }

    /// What the append leaf held in front was sealed.
    func noteSealedFront(_ leaf: UnsafeMutablePointer<OpenLeaf>) {
        guard state.changes.hasOldRows, state.openLeaves.count == 1,
            leaf.pointee.rows == 0 || leaf.pointee.keys[0] >= state.changes.createdFrom
        else { return }
        didSealRows()
    }

    /// An object is going to be deleted; links to it are gone.
    @inline(__always)
    func willDelete(_ key: ObjectKey, isOwned: Bool) throws(RealmError) {
        if !state.changes.isQuiet { try tellDeleted(key, isOwned: isOwned) }
    }

    @inline(never)
    private func tellDeleted(_ key: ObjectKey, isOwned: Bool) throws(RealmError) {
        try tell(.deleted(key, isOwned: isOwned))
        guard let record = state.changes.record else { return }
        if key < state.changes.createdFrom {
            record.pointee.noteDeleted(classKey, key, isOwned: isOwned)
        } else if !state.changes.hasLostCreated {
            state.changes.hasLostCreated = true
            noteCare()
        }
    }

    // MARK: Values

    /// A value that passed all checks is going to be stored. `isDerived`: see `Change.set`.
    @inline(__always)
    func willSet(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ value: RawValue,
        isDerived: Bool = false
    ) throws(RealmError) {
        notePatch(place)
        if state.changes.isQuiet || recordSet(key, column, isDerived) { return }
        try tellSet(key, column, value, isDerived)
    }

    /// The verb where the record of the commit is all that has to know; false where it is not. What is recorded of
    /// most values passes here and needs little of them.
    @inline(never)
    private func recordSet(_ key: ObjectKey, _ column: Int, _ isDerived: Bool) -> Bool {
        guard state.changes.isDirty, !state.changes.isHeard else { return false }
        recording(key)?.pointee.noteSet(classKey, key, column, isDerived: isDerived)
        return true
    }

    @inline(__always)
    func willAdd(
        _ place: RowPlace, _ key: ObjectKey, _ column: Int, _ delta: Int64
    ) throws(RealmError) {
        notePatch(place)
        if !state.changes.isQuiet { try tellAdded(key, column, delta) }
    }

    @inline(never)
    private func tellSet(
        _ key: ObjectKey, _ column: Int, _ value: RawValue, _ isDerived: Bool
    ) throws(RealmError) {
        note()
        if recordSet(key, column, isDerived) { return }
        recording(key)?.pointee.noteSet(classKey, key, column, isDerived: isDerived)
        if isTold(key, column) {
            try tell(.set(key, column: column, value, isDerived: isDerived))
        }
    }

    @inline(never)
    private func tellAdded(
        _ key: ObjectKey, _ column: Int, _ delta: Int64
    ) throws(RealmError) {
        note()
        recording(key)?.pointee.noteAdded(classKey, key, column, delta)
        if isTold(key, column) { try tell(.added(key, column: column, delta: delta)) }
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
        let record = recording(key)
        guard record != nil || isTold(key, column),
            let collection = try StandingCollection(self, place, key, column)
        else { return }
        try tell(collection, change, record)
    }

    /// Whether a collection in a cell may change with nobody being told.
    @inline(__always)
    func isUnheard(_ key: ObjectKey, _ column: Int) -> Bool {
        if state.changes.isQuiet { return true }
        note()
        return state.changes.isQuiet || (recording(key) == nil && !isTold(key, column))
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
        let record = recording(collection.pointee.key)
        guard record != nil || isTold(collection.pointee.key, collection.pointee.column) else {
            return
        }
        try tell(try StandingCollection(collection), change, record)
    }

    private func tell(
        _ collection: StandingCollection, _ change: CollectionChange,
        _ record: UnsafeMutablePointer<CommitRecord>?
    ) throws(RealmError) {
        if let record { try record.pointee.note(classKey, collection, change) }
        if isTold(collection.key, collection.column) {
            try tell(.collection(collection, change))
        }
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
        let record = transaction.pointee.changes.record
        if !state.changes.isDirty {
            state.changes.isDirty = true
            hear(transaction.pointee.changes.isHeard, record)
        } else if transaction.pointee.changes.listeners.isEmpty {
            transaction.pointee.changes.slowChangesLeft -= 1
            if transaction.pointee.changes.slowChangesLeft < 0 {
                transaction.pointee.changes.isHeard = false
                for other in 0..<state.tableCapacity { state.tables[other]?.hear(false, record) }
            }
        }
        state.changes.isQuiet = !state.changes.isHeard && record == nil
    }

    /// Whether listeners are told of changes of the object: not while they are part of its creation,
    /// nor when nobody needs to know.
    private func isTold(_ key: ObjectKey, _ column: Int) -> Bool {
        guard state.changes.isHeard, !isUntold(key) else { return false }
        for listener in transaction.pointee.changes.listeners
        where listener.needs(key, column, in: self) {
            return true
        }
        return false
    }

    /// What changes of the object are recorded in; nil while they are part of its creation.
    @inline(__always)
    private func recording(_ key: ObjectKey) -> UnsafeMutablePointer<CommitRecord>? {
        guard let record = state.changes.record, key < state.changes.createdFrom, !isUntold(key)
        else { return nil }
        return record
    }

    @inline(__always)
    private func isUntold(_ key: ObjectKey) -> Bool {
        guard let untold = transaction.pointee.changes.untold else { return false }
        return untold.table == self && untold.keys.contains(key)
    }

    @inline(never)
    private func tell(_ change: Change) throws(RealmError) {
        note()
        guard state.changes.isHeard || state.changes.record != nil else { return }
        if transaction.pointee.changes.untold != nil { try transaction.pointee.tellCreated() }
        for listener in transaction.pointee.changes.listeners {
            try listener.hear(change, in: self)
        }
    }

    /// Keeps fast paths from being taken in a table that has changed, while somebody listens.
    fileprivate func hear(
        _ transactionIsHeard: Bool, _ transactionRecord: UnsafeMutablePointer<CommitRecord>?
    ) {
        let isHeard = transactionIsHeard && state.changes.isDirty
        let record = state.changes.isDirty ? transactionRecord : nil
        if state.changes.isHeard == isHeard, state.changes.record == record { return }
        state.changes.isHeard = isHeard
        state.changes.record = record
        state.changes.isQuiet = state.changes.isDirty && !isHeard && record == nil
        noteCare()
    }

    /// To be called when the indexes of the table have changed, too.
    func noteCare() {
        noteAppendRows()
        let needsVerbs = state.changes.needsVerbs
        for column in 0..<state.columnCount {
            state.columns[column].needsCare = needsVerbs || state.columns[column].hasIndexes
        }
    }

    func noteAppendRows() { state.appendRows = state.changes.canAppend ? state.rowsPerLeaf : 0 }

    /// What is wrong with the fast paths that are open.
    func doorProblem() -> String? {
        if let problem = state.changes.problem { return problem }
        if !state.changes.canAppend, state.appendRows != 0 {
            return "door: rows are appended that nobody hears of"
        }
        for column in 0..<state.columnCount {
            let info = state.columns[column]
            if info.needsCare != (state.changes.needsVerbs || info.hasIndexes) {
                return "door: column \(column) gets no care"
            }
        }
        return nil
    }
}
