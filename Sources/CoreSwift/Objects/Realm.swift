// One opened realm: a snapshot of the file that its owner moves forward, and at times a write
// transaction on top of it. Belongs to the thread of its scheduler; a frozen realm belongs to all.
//
// Invariants
//   1. `tables` is nil exactly while the status is idle or closed.
//   2. The status is writing exactly while `tables.isWriting`, but where commits wait to be written
//      (Realm+Joining.swift).
//   3. While object handles exist somebody keeps the realm: its users, or the session
//      (`pinIfNeeded`).

import CKernels

public final class Realm {
    package struct Settings: Sendable {
        package var mode = SchemaMode.automatic
        package var subsetMode = SchemaSubsetMode.strict
        public var versionsMax = UInt64.max
        /// Observers are told when the scheduler can run them, not only by refreshing.
        package var notifiesAutomatically = true
        /// The classes asked for; nil shows what the file has.
        package var requestedSchema: Schema?

        package init() {}

        var isReadOnly: Bool { mode == .immutable || mode == .readOnly }
    }

    let file: RealmFile
    /// Changes when the realm takes over another schema.
    var settings: Settings
    public private(set) var scheduler: (any Scheduler)?
    let joinedWords: UnsafeMutablePointer<UInt64>
    let session: Session
    let stamp: UnsafeMutablePointer<UInt64>
    private(set) var tables: TableSet? {
        didSet { session.pointee.directory = tables?.directory }
    }
    /// Of a frozen realm: what it reads. Else what frozen realms of this one read, which it keeps for
    /// the next one.
    var frozenTables: FrozenTables?
    /// Of a cached realm: what it was frozen as last.
    weak var lastFrozen: Realm?
    /// What the realm shows; see docs/C_RULES, "What a realm shows".
    public internal(set) var schema = Schema()
    /// What creation from values knows of the classes of `schema`.
    var creationClasses: [ClassKey: CreationClass] = [:]
    /// The stored schema that `schema` was made from.
    private var shownFrom = StoredSchema()
    /// The schema of the file that fitted the realm last; read once, not with each transaction.
    private var accepted: KnownSchema?
    /// The schema version last seen in the file.
    package private(set) var schemaVersion = Catalog.unversioned
    /// Text read from the write transaction's memory.
    var borrowed = ByteArena()
    /// Number of the savepoint made last.
    var lastSavepoint: UInt64 = 0
    let changeObservers: CallbackList
    /// See `Following`; of the realm's thread.
    package var following = Following()
    let schemaObservers: CallbackList
    /// Tells observers what changed; nil before there are any.
    private(set) var notifier: Notifier? {
        didSet { settled = notifier?.settled }
    }
    /// See `Notifier.settled`; nil while there is no notifier.
    private(set) var settled: UnsafeMutablePointer<UInt64>?
    /// Nil when the scheduler cannot deliver.
    private(set) var waker: Waker?
    /// It was woken while it wrote.
    var wasWokenWriting = false
    /// The schema is being changed: the transaction is not the program's to end.
    var isChangingSchema = false {
        didSet { file.noteMigration(isChangingSchema) }
    }
    /// The block of a migration is running.
    var migration: MigrationState?
    /// Nil until the first asynchronous write.
    var asynchronous: AsynchronousWrites?
    /// Observers are running; they cannot move the realm.
    var isAnnouncing = false
    /// The schema was not looked at yet; see `Realm.open`.
    var isOpening = true
    /// What its rolled back transactions had named.
    private(set) var aborted = AbortedNames()

    init(file: RealmFile, settings: Settings, scheduler: (any Scheduler)?) {
        self.file = file
        joinedWords = file.joined.words
        self.settings = settings
        self.scheduler = scheduler
        changeObservers = CallbackList()
        schemaObservers = CallbackList()
        stamp = .allocate(capacity: 1)
        stamp.initialize(to: 1)
        session = .allocate(capacity: 1)
        session.initialize(
            to: SessionState(
                stamp: stamp, thread: ck_thread_pointer(), threadMask: .max, status: .idle,
                isFrozen: false, realm: Unmanaged.passUnretained(self)))
        if let scheduler, !scheduler.isOnThread { session.pointee.thread = 0 }
        file.enter()
        makeWaker()
    }

    /// A frozen realm, which has entered the tables that it shares.
    init(_ frozenTables: FrozenTables, of source: Realm) {
        file = source.file
        joinedWords = source.joinedWords
        settings = source.settings
        self.frozenTables = frozenTables
        changeObservers = .ofFrozen
        schemaObservers = CallbackList()
        stamp = frozenTables.stamp
        session = .allocate(capacity: 1)
        session.initialize(
            to: SessionState(
                stamp: stamp, thread: 0, threadMask: 0, status: .reading, isFrozen: true,
                realm: Unmanaged.passUnretained(self)))
        file.enter()
        isOpening = false
        tables = frozenTables.tables
        session.pointee.directory = frozenTables.tables.directory
        if let accepted = source.accepted, accepted.block == frozenTables.tables.knownSchema?.block
        {
            self.accepted = accepted
            schemaVersion = frozenTables.tables.schemaVersion
            shownFrom = source.shownFrom
            schema = source.schema
        } else {
            noteSchema(frozenTables.tables)
        }
    }

    deinit {
        close()
        // Handles that nobody pinned the realm for find it closed instead of freed memory.
        guard
            session.pointee.isFrozen
                || session.pointee.handles == Int(ck_load_u64(&session.pointee.foreignReleases))
        else { return }
        if !isFrozen { stamp.deallocate() }
        session.deinitialize(count: 1)
        session.deallocate()
    }

    /// To be called before the last reference that a program holds may go: object handles it
    /// still has keep the realm then.
    package func prepareForRelease() { session.pinIfNeeded() }

    public var path: String { file.path }
    public var isClosed: Bool { session.pointee.status == .closed }
    public var isFrozen: Bool { session.pointee.isFrozen }
    /// Whether a write transaction is open.
    public var isWritable: Bool { session.pointee.status == .writing }

    // MARK: Checks

    /// Throws unless the realm is open and the caller on its thread.
    @inline(__always)
    func checkUsable() throws(RealmError) {
        if session.pointee.isOnKnownThread && session.pointee.status != .closed { return }
        try checkUsableSlowly()
    }

    @inline(never)
    func checkUsableSlowly() throws(RealmError) {
        if isClosed {
            throw RealmError(.closedRealm, "the realm at '\(path)' was closed")
        }
        if session.pointee.isOnKnownThread { return }
        guard scheduler?.isOnThread ?? true else {
            throw RealmError(
                .wrongThread,
                "the realm at '\(path)' belongs to another thread; open it again on this one")
        }
        session.pointee.thread = ck_thread_pointer()
        // It was hidden from all who could see what is not written yet.
        if hasJoined, !isWritable { try writeJoined() }
    }

    /// The tables of the current transaction; starts a read transaction if there is none.
    @inline(__always)
    func readTables() throws(RealmError) -> TableSet {
        try checkUsable()
        if let tables { return tables }
        return try startReading()
    }

    /// The table of a class in the current transaction; starts a read transaction if need be.
    @inline(__always)
    func table(_ key: ClassKey) throws(RealmError) -> Table {
        if session.pointee.isOnKnownThread, let directory = session.pointee.directory,
            let table = directory.pointee.table(key)
        {
            return table
        }
        return try findTable(key)
    }

    @inline(never)
    private func findTable(_ key: ClassKey) throws(RealmError) -> Table {
        guard let table = try readTables().table(key) else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(key)")
        }
        return table
    }

    @inline(never)
    func startReading() throws(RealmError) -> TableSet {
        file.joined.settle()
        return try startReading(at: try file.store.pinNewest())
    }

    @discardableResult
    func startReading(at pin: Store.Pin) throws(RealmError) -> TableSet {
        let tables = try TableSet(store: file.store, pin: pin, stamp: stamp, known: accepted)
        if !isOpening, accepted?.block != tables.knownSchema?.block {
            do throws(RealmError) {
                // Somebody may have changed it while nothing was read.
                try checkExternal(tables.schema)
            } catch {
                tables.close()
                throw error
            }
        }
        tables.accepts = { [unowned self] schema throws(RealmError) in
            if !self.isOpening { try self.checkExternal(schema) }
        }
        self.tables = tables
        session.pointee.status = .reading
        noteSchema(tables)
        return tables
    }

    /// Makes the realm belong to another thread; nobody uses it meanwhile. A cached realm gives way
    /// to the one that the scheduler has already.
    func handedOver(to scheduler: any Scheduler) -> Realm {
        if isFrozen { return self }
        if file.isCached(self), let known = file.cachedRealm(scheduler) { return known }
        self.scheduler = scheduler
        session.pointee.thread = scheduler.isOnThread ? ck_thread_pointer() : 0
        notifier?.leaveThread()
        makeWaker()
        return self
    }

    // MARK: Transactions

    /// Makes sure that there is a read transaction.
    public func beginRead() throws(RealmError) { _ = try readTables() }

    /// Starts a write transaction on the newest version; waits for other writers. `givesUp` is asked
    /// when a signal interrupts the wait, and every now and then while another thread writes; if it
    /// says so, the error is `.callback`.
    public func beginWrite(givesUp: (() -> Bool)? = nil) throws(RealmError) {
        try checkMayWrite()
        if isWritable {
            throw RealmError(.wrongTransactionState, "a write transaction is open already")
        }
        // Completions run here may do anything.
        finishCommits()
        try checkUsable()
        file.joined.settle(waits: false)
        try file.checkNotWriting()
        let store = try readTables().store
        var lease = try takeRequested(givesUp: givesUp)
        if lease == nil {
            lease = try store.beginWrite(wait: true, joinsGroup: true, givesUp: givesUp)
        }
        guard let lease else {
            throw RealmError(.callback, "the wait for the writer of '\(path)' was given up")
        }
        try startWriting(lease)
    }

    func checkMayWrite() throws(RealmError) {
        try checkUsable()
        if isFrozen {
            throw RealmError(.wrongTransactionState, "a frozen realm cannot be written")
        }
        if settings.isReadOnly {
            throw RealmError(
                .wrongTransactionState, "the realm at '\(path)' was opened read-only")
        }
    }

    func checkVersionLimit(_ store: Store) throws(RealmError) {
        if settings.versionsMax == .max { return }
        let live = UInt64(store.liveVersionCount())
        guard live <= settings.versionsMax else {
            throw RealmError(
                .wrongTransactionState,
                "\(live) versions of '\(path)' are live, the limit is "
                    + "\(settings.versionsMax): some realm holds an old one")
        }
    }

    func startWriting(_ lease: WriteLease) throws(RealmError) {
        do throws(RealmError) {
            let tables = try readTables()
            try checkVersionLimit(tables.store)
            let before = tables.version
            try tables.beginWrite(lease)
            session.pointee.status = .writing
            file.noteWriting(self)
            if noteSchema(tables), !isOpening { schemaObservers.call(reached: tables.version) }
            tell(.transaction, .trace, "'\(path)': writing on version \(tables.version)")
            if tables.version != before { announce(tables.version) }
        } catch {
            lease.abandon()
            throw error
        }
        do throws(RealmError) {
            try tellObservers()
        } catch {
            if isWritable { try rollback() }
            throw error
        }
        guard isWritable else {
            if isClosed { try checkUsable() }
            throw RealmError(
                .wrongTransactionState, "an observer ended the write transaction that had begun")
        }
    }

    /// Makes the changes durable. After an error they are gone, and the realm reads the version
    /// it had.
    public func commit() throws(RealmError) { try commit(waits: true) }

    /// `waits`: until the version is on stable storage. `silent`: who is not told of the changes.
    func commit(waits: Bool, silent: SilentObservers? = nil) throws(RealmError) {
        try checkUsable()
        let tables = try writeTables("commit")
        try silent?.check(self)
        let before = tables.version
        if isChangingSchema { throw endsBySchema("committed") }
        session.pointee.status = .reading
        borrowed.clear()
        let hadJoined = hasJoined
        defer { endedWriting() }
        do throws(RealmError) { try tables.commit(waits: waits, tells: true) } catch {
            if hadJoined { failJoined(error) }
            throw error
        }
        if hadJoined { file.joined.end(self) }
        file.noteWritten(self)  // callbacks may write
        noteSchema(tables)
        wakeOthers(tables.version)
        tell(.transaction, .debug, "'\(path)': committed version \(tables.version)")
        wakeAfterWriting()
        silent?.skip(self, from: before)
        announce(tables.version, silent)
        if hadJoined, waits { startSync(waitsForOthers: false) }
    }

    private func endedWriting() {
        if !isWritable { file.noteWritten(self) }
        if asynchronous != nil { goOn() }
    }

    /// Undoes the changes.
    public func rollback() throws(RealmError) {
        try checkUsable()
        try checkMayRollBack()
        let tables = try writeTables("roll back")
        defer { endedWriting() }
        if isChangingSchema { throw endsBySchema("rolled back") }
        if hasJoined { try undoBlock(tables) } else { undo(tables) }
        session.pointee.status = .reading
        noteSchema(tables)
        wakeAfterWriting()
        tell(.transaction, .debug, "'\(path)': rolled back to version \(tables.version)")
    }

    private func endsBySchema(_ what: String) -> RealmError {
        RealmError(
            .wrongTransactionState,
            "the transaction of a schema change is \(what) when its callback has returned")
    }

    func undo(_ tables: TableSet) {
        borrowed.clear()
        let rollback = session.pointee.rollbacks
        if let first = tables.firstNumber { aborted.note(rollback, from: first) }
        let given = tables.nextKeys()
        tables.rollBack()
        for (key, next) in tables.nextKeys() {
            guard let before = given[key], before > next else { continue }
            aborted.note(rollback, key, from: next)
        }
        session.pointee.rollbacks &+= 1
    }

    private func writeTables(_ operation: String) throws(RealmError) -> TableSet {
        guard isWritable, let tables else {
            throw RealmError(
                .wrongTransactionState, "cannot \(operation): no write transaction is open")
        }
        return tables
    }

    /// The tables, for a change; throws outside a write transaction.
    @inline(__always)
    func tablesForWriting() throws(RealmError) -> TableSet {
        try checkUsable()
        guard session.pointee.status == .writing, let tables else { throw notWriting() }
        return tables
    }

    @inline(never)
    func notWriting() -> RealmError {
        RealmError(
            .wrongTransactionState, "changes need a write transaction; begin one first")
    }

    /// Moves to the newest version. True if that is another one, or if a read transaction was
    /// started.
    public func refresh() throws(RealmError) -> Bool {
        file.joined.settle()
        return try moveToNewest()
    }

    /// The same, of what is written by now.
    func moveToNewest() throws(RealmError) -> Bool {
        try checkUsable()
        if settings.mode == .immutable {
            throw RealmError(
                .wrongTransactionState, "the realm at '\(path)' is immutable: nothing to refresh")
        }
        if isFrozen || isWritable || isAnnouncing { return false }
        guard let tables else {
            _ = try startReading()
            return true
        }
        guard tables.store.newestVersion != tables.version else {
            try tellObservers()
            return false
        }
        try tables.advance(to: try tables.store.pinNewest())
        if noteSchema(tables) { schemaObservers.call(reached: tables.version) }
        tell(.transaction, .trace, "'\(path)': moved to version \(tables.version)")
        announce(tables.version)
        try tellObservers()
        return true
    }

    /// The version of the running transaction; in a write transaction the one it started from.
    package var version: UInt64? { tables?.version }

    /// Closes the realm; an open write transaction is rolled back. May be called again.
    public func close() {
        guard session.pointee.status != .closed else { return }
        endJoined()
        endAsynchronous()
        guard session.pointee.status != .closed else { return }
        session.pointee.status = .closed
        if isFrozen {
            session.pointee.stamp = SessionState.stampOfClosed
        } else {
            stamp.pointee &+= 1
        }
        if let waker { file.wakers.remove(waker) }
        waker = nil
        notifier?.endAll()
        changeObservers.removeAll()
        schemaObservers.removeAll()
        endTransaction()
        tell(.storage, .detail, "'\(path)': closed")
        file.leave()
    }

    private func endTransaction() {
        guard let tables else { return }
        borrowed.clear()
        if tables.isWriting {
            tables.rollBack()
            file.noteWritten(self)
        }
        if isFrozen {
            frozenTables?.leave()
        } else {
            tables.close()
            frozenTables?.giveUp()
            frozenTables = nil
        }
        self.tables = nil
    }

    /// Ends opening: the first access will start a transaction at the newest version.
    func endOpening() {
        isOpening = false
        guard !isWritable, !isClosed else { return }
        endTransaction()
        session.pointee.status = .idle
    }

    /// Ends the read transaction for compaction: every handle becomes invalid.
    func endReadingForGood() {
        notifier?.endAll()
        endTransaction()
        session.pointee.status = .idle
        session.pointee.generation &+= 1
        stamp.pointee &+= 1
    }

    // MARK: Schema

    /// Looks whether the stored schema changed, and what is shown with it; true if it did.
    /// `always`: what is asked for may have changed.
    @discardableResult
    func noteSchema(_ tables: TableSet, always: Bool = false) -> Bool {
        schemaVersion = tables.schemaVersion
        // Who asks always may show a schema that the next transaction has to refuse.
        accepted = always ? nil : tables.knownSchema
        guard always || tables.stored != shownFrom else { return false }
        shownFrom = tables.stored
        schema = ShownSchema.make(
            stored: tables.schema, requested: settings.requestedSchema,
            mode: settings.subsetMode, before: schema)
        creationClasses = [:]
        return true
    }

    /// Called after each commit of this realm and each time it moved to another version. Throws
    /// `.wrongTransactionState` for frozen realms.
    public func addChangeObserver(_ body: @escaping () -> Void) throws(RealmError) -> ChangeToken {
        try checkUsable()
        if isFrozen {
            throw RealmError(.wrongTransactionState, "a frozen realm never changes")
        }
        return changeObservers.add(body)
    }

    /// Calls `body` once, when the realm reaches the version that is the newest one now. Nil, and
    /// it will not be called, if the realm is there, reads nothing yet or is frozen.
    package func addRefreshObserver(
        _ body: @escaping () -> Void
    ) throws(RealmError) -> ChangeToken? {
        try checkUsable()
        guard !isFrozen, let tables else { return nil }
        let newest = tables.store.newestVersion
        guard newest > tables.version else { return nil }
        return changeObservers.add(due: newest, body)
    }

    /// The notifier, for somebody who begins to observe.
    func observers() throws(RealmError) -> Notifier {
        if let notifier { return notifier }
        let made = Notifier(self)
        notifier = made
        return made
    }

    func tellObservers() throws(RealmError) {
        guard let notifier, !isClosed else { return }
        let outer = isAnnouncing
        isAnnouncing = true
        defer { isAnnouncing = outer }
        try notifier.deliver()
    }

    /// Has commits of other realms of the file wake this one, if the scheduler can.
    func makeWaker() {
        if let waker { file.wakers.remove(waker) }
        waker = nil
        guard !isFrozen, settings.notifiesAutomatically, let scheduler else { return }
        var uncertain: (any UncertainScheduler)?
        if !scheduler.canDeliver {
            uncertain = scheduler as? any UncertainScheduler
            guard uncertain?.isUncertain ?? false else { return }
        }
        let made = Waker(self, scheduler, uncertain)
        waker = made
        file.add(made)
    }

    /// What came while it was writing was not looked at, and its own commit is to be told.
    func wakeAfterWriting() {
        if wasWokenWriting || notifier != nil { wakeSoon() }
        wasWokenWriting = false
    }

    func announce(_ version: UInt64, _ silent: SilentObservers? = nil) {
        let outer = (isAnnouncing, following.isAsking)
        (isAnnouncing, following.isAsking) = (true, false)
        changeObservers.call(reached: version, except: silent?.realmTokens ?? [])
        (isAnnouncing, following.isAsking) = outer
    }

    // MARK: Lifetime of handles

    /// The session holds the realm, or a handle of a frozen realm does.
    func keepAlive() { _ = Unmanaged.passRetained(self) }
    func letGo() { Unmanaged.passUnretained(self).release() }
}
