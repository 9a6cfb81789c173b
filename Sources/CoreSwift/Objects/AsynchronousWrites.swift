// What one realm writes asynchronously: blocks that wait for their turn, and commits that wait for
// their sync. Used on the realm's thread alone; other threads wait for the writer and for the sync,
// and have its scheduler go on.

import CKernels

/// What waits, in order. Taking the first one costs the same however many there are.
struct WaitingList<Element> {
    /// Nil before `start`.
    private var items: [Element?] = []
    private var start = 0

    var count: Int { items.count - start }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : items[start] }
    var last: Element? { items.last ?? nil }

    mutating func append(_ element: Element) { items.append(element) }

    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = items[start]
        items[start] = nil
        start += 1
        // Each element is moved once at most on the average.
        if start * 2 > items.count { drop() }
        return first
    }

    private mutating func drop() {
        items.removeSubrange(0..<start)
        start = 0
    }

    func firstIndex(where isWanted: (Element) -> Bool) -> Int? {
        items.firstIndex { $0.map(isWanted) ?? false }
    }

    /// From the last to the first, as long as `body` says so.
    mutating func forEachLast(_ body: (inout Element) -> Bool) {
        for index in stride(from: items.count - 1, through: start, by: -1) {
            guard var item = items[index], body(&item) else { return }
            items[index] = item
        }
    }

    subscript(index: Int) -> Element? {
        get { items[index] }
        set { items[index] = newValue }
    }

    mutating func remove(at index: Int) { items.remove(at: index) }

    mutating func removeAll() {
        let ended = items
        items = []
        start = 0
        // What they hold may run the program's code when it is let go.
        withExtendedLifetime(ended) {}
    }
}

final class AsynchronousWrites {
    struct Block {
        let number: UInt32
        /// The transaction stays open when the block has returned.
        let leavesOpen: Bool
        let body: () -> Void
    }

    struct Commit {
        let number: UInt32
        /// Until it fails the one that it made; then the one that is left.
        var version: UInt64
        /// Nothing of it is there.
        var failure: RealmError?
        /// Nil when it was cancelled.
        var completion: ((RealmError?) -> Void)?
    }

    /// How long blocks run one after another while others wait for the writer: each change of
    /// turns costs a thread that waits, and has all realms look at what was committed.
    static let turnNanoseconds: UInt64 = 1_000_000
    /// The same where nobody is held up by it but other blocks: the longer it is, the more commits
    /// share the leaves that they change.
    static let longTurnNanoseconds: UInt64 = 16_000_000
    /// The latter, which tests lengthen.
    var longTurn = longTurnNanoseconds

    /// Shared by blocks and commits.
    private var nextNumber: UInt32 = 0
    var blocks = WaitingList<Block>()
    var commits = WaitingList<Commit>()
    /// For the block that is next.
    var request: LeaseRequest?
    /// How long the next block, which could not begin, waits until it is tried again.
    static let retryNanoseconds: ClosedRange<UInt32> = 5_000_000...160_000_000
    private(set) var retryDelay: UInt32 = 0
    /// A thread waits for that.
    var isRetrying = false
    var isRunningBlock = false
    /// Blocks wait or run: what one turn needs of memory the next one will need, too.
    var isSeries = false {
        didSet {
            if isSeries == oldValue { return }
            if isSeries { BlockPool.beginSeries() } else { BlockPool.endSeries() }
        }
    }
    /// When those that run began.
    private var turnStart: UInt64 = 0
    /// Where the block that runs begins in a transaction that has joined others.
    var blockSavepoint: UInt64 = 0
    /// The version that a thread was last asked to make durable, until the completions of that were called.
    var syncing: UInt64?
    /// A completion is running: what is asynchronous can't begin in it.
    var isCompleting = false

    /// A block is running, and another one will as soon as it has ended.
    var hasMoreBlocks: Bool { isRunningBlock && !blocks.isEmpty }

    /// A commit may wait for the block behind it.
    var mayJoin: Bool { hasMoreBlocks && !(blocks.first?.leavesOpen ?? true) }

    func beginTurn() { turnStart = ck_nanoseconds() }

    /// Each wait is twice as long as the one before, since a block began.
    func lengthenRetry() {
        retryDelay = min(
            max(2 * retryDelay, Self.retryNanoseconds.lowerBound), Self.retryNanoseconds.upperBound)
    }

    /// Runs the next block, unless an observer has cancelled it, and lets go what it holds. Whether it leaves the
    /// transaction open.
    @inline(never)
    func runFirst() -> Bool {
        retryDelay = 0
        guard let block = blocks.removeFirst() else { return false }
        block.body()
        return block.leavesOpen
    }

    /// Whether the blocks that run have to be written.
    func isTurnOver(_ gate: ThreadGate) -> Bool {
        let turn = gate.hasImpatient ? Self.turnNanoseconds : longTurn
        return ck_nanoseconds() &- turnStart >= turn
    }

    /// What was committed behind a version could not be written. It is told in its turn.
    func fail(above version: UInt64, _ error: RealmError) {
        commits.forEachLast { commit in
            guard commit.version > version, commit.failure == nil else { return false }
            commit.version = version
            commit.failure = error
            return true
        }
    }

    deinit { if isSeries { BlockPool.endSeries() } }

    var isIdle: Bool { blocks.isEmpty && commits.isEmpty && !isRunningBlock }

    func takeNumber() -> UInt32 {
        defer { nextNumber &+= 1 }
        return nextNumber
    }
}

extension Realm {
    /// Whether a write transaction is open, or something asynchronous is under way.
    package var isWritingOrWaiting: Bool { isWritable || !(asynchronous?.isIdle ?? true) }

    private func checkNotCompleting(_ what: String) throws(RealmError) {
        guard asynchronous?.isCompleting ?? false else { return }
        throw RealmError(
            .wrongTransactionState, "\(what) in the completion of an asynchronous commit")
    }

    func checkMayRollBack() throws(RealmError) {
        try checkNotCompleting("nothing can be rolled back")
    }

    private var writes: AsynchronousWrites {
        if let asynchronous { return asynchronous }
        let made = AsynchronousWrites()
        asynchronous = made
        return made
    }

    /// Has `body` run on the scheduler's thread in a write transaction, after the blocks before it.
    /// What it does not end is rolled back, or with `leavesOpen` left to the program. Returns the
    /// block's number. Throws what `beginWrite` throws, and `.wrongTransactionState` if the scheduler
    /// can't deliver. A block that can't begin in its turn waits, and those behind it.
    @discardableResult
    package func writeAsynchronously(
        leavesOpen: Bool = false, _ body: @escaping () -> Void
    ) throws(RealmError) -> UInt32 {
        try checkMayWrite()
        try checkNotCompleting("no asynchronous transaction can begin")
        guard scheduler?.canDeliver ?? false else {
            throw RealmError(
                .wrongTransactionState,
                "the scheduler of '\(path)' can't run blocks: asynchronous transactions need one "
                    + "that delivers")
        }
        try checkVersionLimit(try readTables().store)
        let number = writes.takeNumber()
        writes.blocks.append(.init(number: number, leavesOpen: leavesOpen, body: body))
        writes.isSeries = true
        do throws(RealmError) {
            try requestWriter()
        } catch {
            if let index = writes.blocks.firstIndex(where: { $0.number == number }) {
                writes.blocks.remove(at: index)
            }
            throw error
        }
        return number
    }

    /// Ends the write transaction: its changes are seen at once, and made durable on another thread.
    /// `completion` runs on the scheduler's thread, or in what waits for the sync: `beginWrite`, `close`,
    /// and this call if the scheduler can't deliver. With `allowsGrouping`
    /// transactions that follow soon may share the sync. Returns the commit's number.
    @discardableResult
    package func commitAsynchronously(
        allowsGrouping: Bool = false, _ completion: ((RealmError?) -> Void)? = nil
    ) throws(RealmError) -> UInt32 {
        try checkUsable()
        try checkNotCompleting("nothing can be committed asynchronously")
        if allowsGrouping, mayJoin {
            let number = writes.takeNumber()
            try join(.init(number: number, version: 0, completion: completion ?? { _ in }))
            return number
        }
        try commit(waits: false)
        let number = writes.takeNumber()
        if let version {
            writes.commits.append(
                .init(number: number, version: version, completion: completion ?? { _ in }))
        }
        if scheduler?.canDeliver ?? false {
            startSync(waitsForOthers: allowsGrouping)
        } else {
            // Nobody would be told that it is done.
            finishCommits()
        }
        return number
    }

    /// Drops a block that did not start, or the completion of a commit; false for anything else.
    package func cancelAsynchronous(_ number: UInt32) throws(RealmError) -> Bool {
        try checkUsable()
        guard let asynchronous else { return false }
        if let index = asynchronous.blocks.firstIndex(where: { $0.number == number }) {
            asynchronous.blocks.remove(at: index)
            if asynchronous.blocks.isEmpty { endRequest() }
            return true
        }
        guard
            let index = asynchronous.commits.firstIndex(where: { $0.number == number }),
            asynchronous.commits[index]?.completion != nil
        else { return false }
        asynchronous.commits[index]?.completion = nil
        return true
    }

    // MARK: Blocks

    /// Asks for the writer if a block waits for it.
    private func requestWriter() throws(RealmError) {
        guard let asynchronous, asynchronous.request == nil, !asynchronous.blocks.isEmpty,
            !isWritable, !asynchronous.isRunningBlock
        else { return }
        let scheduler = scheduler
        let goOn = { @Sendable [weak self] (request: LeaseRequest) -> Void in
            scheduler?.schedule {
                if var realm = self { Realm.runBlocks(&realm, request) }
            }
        }
        // A block may have ended the read transaction, by compacting.
        let store = file.store
        let request: LeaseRequest
        if !store.gate.hasWaiting, let lease = try store.beginWrite(wait: false, joinsGroup: true) {
            request = LeaseRequest(lease)
            goOn(request)
        } else {
            request = try LeaseRequest(store, goOn)
        }
        asynchronous.request = request
        file.add(request)
    }

    private func endRequest() {
        asynchronous?.isSeries = false
        guard let request = asynchronous?.request else { return }
        asynchronous?.request = nil
        file.remove(request)
        request.cancel()
    }

    /// Runs blocks as long as the writer can be had without a wait; where others wait for it, for
    /// `turnNanoseconds`. `realm` is the caller's own reference: when it is the last one, the program has
    /// let the realm go, and what waits is dropped with it.
    private static func runBlocks(_ realm: inout Realm, _ request: LeaseRequest) {
        guard let asynchronous = realm.asynchronous, asynchronous.request === request,
            !realm.isClosed
        else { return }
        asynchronous.request = nil
        realm.file.remove(request)
        defer { if asynchronous.blocks.isEmpty { asynchronous.isSeries = false } }
        var failure: RealmError?
        var hasRun = false
        do throws(RealmError) {
            // Nil: a transaction of this thread needed it first.
            var next = try request.take()
            asynchronous.beginTurn()
            while next != nil || realm.hasJoined {
                let lease = next
                next = nil
                guard !realm.isClosed, !asynchronous.blocks.isEmpty else {
                    lease?.abandon()
                    break
                }
                asynchronous.isRunningBlock = true
                defer { asynchronous.isRunningBlock = false }
                if let lease { try realm.startWriting(lease) } else { try realm.startJoined() }
                hasRun = true
                let leavesOpen = asynchronous.runFirst()
                if isKnownUniquelyReferenced(&realm) { realm.close() }
                if realm.isClosed { return }
                if realm.isWritable {
                    if leavesOpen { return }
                    try realm.rollback()
                }
                guard let waiting = asynchronous.blocks.first, let store = realm.tables?.store
                else { break }
                let isOver = asynchronous.isTurnOver(store.gate)
                if realm.hasJoined {
                    if !isOver, !waiting.leavesOpen, !realm.file.joined.isWanted { continue }
                    try realm.writeJoined()
                }
                if isOver {
                    if store.gate.hasWaiting { break }
                    asynchronous.beginTurn()
                }
                next = try store.beginWrite(wait: false, joinsGroup: true)
            }
        } catch {
            failure = error
        }
        do throws(RealmError) { try realm.writeJoined() } catch { failure = error }
        if let failure, !hasRun { return realm.retryLater(failure) }
        if let failure {
            realm.tell(
                .transaction, .warning,
                "'\(realm.path)': an asynchronous write: \(failure.message)")
        }
        realm.goOn()
    }

    /// A write transaction has ended: blocks that wait are next.
    func goOn() {
        guard !isClosed else { return }
        do throws(RealmError) {
            try requestWriter()
        } catch {
            retryLater(error)
        }
    }

    /// The next block could not begin: too many versions are read, say, or there is no thread to wait on. It
    /// is tried again in a while, and with the next transaction.
    private func retryLater(_ error: RealmError) {
        guard let asynchronous, !isClosed, !asynchronous.isRetrying else { return }
        if asynchronous.retryDelay == 0 {
            tell(
                .transaction, .warning,
                "'\(path)': asynchronous writes wait (\(asynchronous.blocks.count)): \(error.message)"
            )
        }
        asynchronous.lengthenRetry()
        let delay = asynchronous.retryDelay
        let scheduler = scheduler
        asynchronous.isRetrying = true
        do throws(RealmError) {
            try ApartThread.run { [weak self] in
                ck_rest(delay)
                scheduler?.schedule {
                    self?.asynchronous?.isRetrying = false
                    self?.goOn()
                }
            }
        } catch {
            // The next transaction has to do.
            asynchronous.isRetrying = false
        }
    }

    /// The lease that this thread is waiting for asynchronously, for a transaction that can't wait.
    func takeRequested(
        givesUp: (() -> Bool)?
    ) throws(RealmError) -> WriteLease? {
        guard let request = file.requestOfThisThread() else { return nil }
        // A forked child does not have the thread that would grant it.
        try file.store.checkFork()
        guard let lease = try request.take(givesUp: givesUp) else {
            guard givesUp?() ?? false else { return nil }
            throw RealmError(.callback, "the wait for the writer of '\(path)' was given up")
        }
        return lease
    }

    /// Has other realms look at a version that this one made; at several at once while blocks wait. Called
    /// before the program's code runs: nobody else wakes them.
    func wakeOthers(_ version: UInt64) {
        if asynchronous?.hasMoreBlocks ?? false {
            file.wakers.wakeAllSoon(version)
        } else {
            file.wakers.wakeOthers(than: waker, version)
        }
    }

    // MARK: Commits

    func startSync(waitsForOthers: Bool) {
        guard let asynchronous, let last = asynchronous.commits.last, let store = tables?.store,
            !hasJoined
        else { return }
        // While blocks run, the completions of what has become durable wait, and the next sync does not.
        if let version = asynchronous.syncing,
            store.options.inMemory || store.isWaitingForSync(version)
        {
            return
        }
        let version = last.version
        asynchronous.syncing = version
        let scheduler = scheduler
        do throws(RealmError) {
            try ApartThread.run { [weak self] in
                var failure: RealmError?
                do throws(RealmError) {
                    try store.makeDurable(
                        version, waitMax: waitsForOthers ? CommitGroup.waitMax : 0)
                } catch {
                    failure = error
                }
                scheduler?.schedule { self?.completeSync(version, failure) }
            }
        } catch {
            // Without a thread for it, this one waits.
            asynchronous.syncing = nil
            finishCommits()
        }
    }

    private func completeSync(_ version: UInt64, _ failure: RealmError?) {
        if asynchronous?.syncing == version { asynchronous?.syncing = nil }
        complete(version, failure)
        startSync(waitsForOthers: true)
    }

    /// Calls the completions of commits up to a version, in their order.
    private func complete(_ version: UInt64, _ failure: RealmError?) {
        while let asynchronous, let first = asynchronous.commits.first, first.version <= version {
            _ = asynchronous.commits.removeFirst()
            let outer = asynchronous.isCompleting
            asynchronous.isCompleting = true
            first.completion?(first.failure ?? failure)
            // What the completion holds is let go behind it, where the program may do anything.
            withExtendedLifetime(first) { asynchronous.isCompleting = outer }
        }
    }

    /// Waits until all commits are durable, and calls their completions.
    func finishCommits() {
        guard let asynchronous, let last = asynchronous.commits.last, let store = tables?.store
        else { return }
        var failure: RealmError?
        do throws(RealmError) {
            try store.makeDurable(last.version, waitMax: 0)
        } catch {
            failure = error
        }
        complete(last.version, failure)
    }

    /// The realm is about to be closed.
    func endAsynchronous() {
        guard let asynchronous else { return }
        asynchronous.blocks.removeAll()
        endRequest()
        finishCommits()
    }
}
