// Has the realms of a file look at a new version on their own threads: after a commit of any realm of
// the file, in this process or another, those whose schedulers can deliver are refreshed, and their
// observers told.

import CKernels

/// A realm that can be woken from any thread, by way of its scheduler.
final class Waker: @unchecked Sendable {
    private weak var realm: Realm?
    private let scheduler: any Scheduler
    /// The same, if nothing is known of what becomes of work.
    private let uncertain: (any UncertainScheduler)?
    private let lock = Lock()
    // Under `lock`.
    /// Work is queued that has not begun.
    private var isQueued = false
    /// A thread rests before it queues work, and somebody came since its rest began.
    private var isResting = false
    private var hasCome = false
    /// The realm is closed.
    private var hasEnded = false

    private static let rest: UInt32 = 1_000_000
    private static let restsMax = 8

    init(_ realm: Realm, _ scheduler: any Scheduler, _ uncertain: (any UncertainScheduler)?) {
        self.realm = realm
        self.scheduler = scheduler
        self.uncertain = uncertain
    }

    /// Has the realm look at the newest version; false if it is about to anyway. On any thread.
    @discardableResult
    func wake() -> Bool {
        guard let uncertain else { return queueLook() }
        let isFirst = lock.withLock { () -> Bool in
            defer { (isResting, hasCome) = (true, true) }
            return !isResting
        }
        guard isFirst else { return false }
        do throws(RealmError) {
            try ApartThread.run { [self] in
                if restUntilAlone(), !queueLook() { uncertain.remind() }
            }
        } catch {
            // Without a thread for it, at once.
            lock.withLock { isResting = false }
            if !queueLook() { uncertain.remind() }
        }
        return true
    }

    /// The realm is closed: who rests tells nobody any more. Nobody is waited for, who tells the scheduler at this
    /// moment might wait for the caller; the scheduler is kept until that is over.
    func end() { lock.withLock { hasEnded = true } }

    /// Until nobody has come for a millisecond, but for few of them; false if the realm is closed then.
    private func restUntilAlone() -> Bool {
        for _ in 0..<Self.restsMax {
            lock.withLock { hasCome = false }
            ck_rest(Self.rest)
            if !lock.withLock({ hasCome }) { break }
        }
        return lock.withLock {
            isResting = false
            return !hasEnded
        }
    }

    /// Queues a look at the newest version, unless one is queued: then false.
    private func queueLook() -> Bool {
        let isFirst = lock.withLock { () -> Bool in
            defer { isQueued = true }
            return !isQueued
        }
        guard isFirst else { return false }
        // Weak: work that nobody runs keeps neither this nor the scheduler, which keeps the work.
        scheduler.schedule { [weak self] in self?.look() }
        return true
    }

    private func look() {
        // What comes from now on needs another look.
        lock.withLock { isQueued = false }
        realm?.lookAround()
    }
}

/// The realms of a file in this process that can be woken. While there are any, a thread listens for commits
/// of other processes. Not touched in forked children, which have neither that thread nor the realms.
final class Wakers: @unchecked Sendable {
    private let lock = Lock()
    private let forkGeneration = ForkGuard.generation
    // Under `lock`.
    private var all: [Waker] = []
    private var listener: CommitListener?
    /// They will be within a millisecond.
    private var wakesSoon = false
    /// All have been woken for this version and those before it, or were made later.
    private var version: UInt64 = 0

    private var isInForkedChild: Bool { ForkGuard.generation != forkGeneration }

    /// Throws when there can be no thread; the waker is there nevertheless.
    func add(_ waker: Waker, _ store: Store) throws(RealmError) {
        guard !isInForkedChild else { return }
        try lock.withLock { () throws(RealmError) in
            all.append(waker)
            if listener == nil { try listen(store) }
        }
    }

    func remove(_ waker: Waker) {
        guard !isInForkedChild else { return }
        lock.withLock {
            all.removeAll { $0 === waker }
            if all.isEmpty { endListening() }
        }
        waker.end()
    }

    private func listen(_ store: Store) throws(RealmError) {
        version = store.newestVersion
        let lockFile = store.lockFile
        listener = try CommitListener(store) { [self] in
            // Who committed it here wakes all others, maybe a moment from now.
            lockFile.isTold($0) || wakeAll($0)
        }
    }

    private func endListening() {
        listener?.end()
        listener = nil
    }

    /// `version` is the newest; false if all are about to look anyway.
    private func wakeAll(_ version: UInt64) -> Bool {
        let sleeping = lock.withLock { () -> [Waker] in
            guard version > self.version else { return [] }
            self.version = version
            return all
        }
        var wasFirst = sleeping.isEmpty
        for waker in sleeping where waker.wake() { wasFirst = true }
        return wasFirst
    }

    /// A realm of this process made a version: the others are to look at it.
    func wakeOthers(than committer: Waker?, _ version: UInt64) {
        let others = lock.withLock { () -> [Waker] in
            self.version = max(self.version, version)
            return all
        }
        for waker in others where waker !== committer { waker.wake() }
    }

    /// A realm of this process made a version, and makes more: all are to look within a millisecond, once
    /// for those that come in that time. On a thread of its own, so that who waits for one of them is
    /// not waited for.
    func wakeAllSoon(_ version: UInt64) {
        let isFirst = lock.withLock { () -> Bool in
            self.version = max(self.version, version)
            guard all.count > 1, !wakesSoon else { return false }
            wakesSoon = true
            return true
        }
        guard isFirst else { return }
        do throws(RealmError) {
            try ApartThread.run { [self] in
                ck_rest(1_000_000)
                wakeAllNow()
            }
        } catch {
            // Without a thread for it, at once.
            wakeAllNow()
        }
    }

    private func wakeAllNow() {
        let sleeping = lock.withLock { () -> [Waker] in
            wakesSoon = false
            return all
        }
        for waker in sleeping { waker.wake() }
    }
}

/// Whether a realm shows by itself what others commit, where its scheduler delivers. One that does not has its
/// change observers called while it `isAsking` to be refreshed.
package struct Following {
    package var isOn = true
    /// The change observers are being called of a version that is not shown.
    package internal(set) var isAsking = false
    /// They were, of this one.
    fileprivate var asked: UInt64 = 0
}

extension Realm {
    /// Whether the realm shows by itself what others commit, where its scheduler delivers; frozen ones never do.
    package var isFollowing: Bool { following.isOn && !isFrozen }

    /// Has the realm show by itself what others commit, or stay where it is until it is refreshed or writes.
    package func follow(_ isOn: Bool) throws(RealmError) {
        try checkUsable()
        guard !isFrozen else {
            guard isOn else { return }
            throw RealmError(.wrongTransactionState, "a frozen realm stays at its version")
        }
        guard isOn != following.isOn else { return }
        following.isOn = isOn
        // What came meanwhile is looked at soon.
        if isOn { try askScheduler() }
    }

    /// Moves to the newest version, if it follows, and tells observers, if nothing is being written; called by the
    /// scheduler. There is nobody to throw errors at: they are logged, and come again with the next
    /// refresh.
    fileprivate func lookAround() {
        guard !isClosed, version != nil else { return }
        if isWritable {
            wasWokenWriting = true
            return
        }
        do throws(RealmError) {
            if following.isOn { _ = try moveToNewest() } else { try stay() }
        } catch {
            tell(.notification, .error, "'\(path)': cannot follow: \(error.message)")
        }
    }

    /// Tells observers of what is shown, and those of the realm that there is more; once of each version.
    private func stay() throws(RealmError) {
        try checkUsable()
        guard !isFrozen, !isAnnouncing, let tables else { return }
        let newest = tables.store.newestVersion
        if newest > max(tables.version, following.asked) {
            following.asked = newest
            following.isAsking = true
            // Not as an announcement: they may refresh.
            changeObservers.call(reached: tables.version)
            following.isAsking = false
        }
        try tellObservers()
    }

    /// The scheduler has become able to deliver, or has ceased to be: commits wake the realm from now on,
    /// or don't.
    package func askScheduler() throws(RealmError) {
        try checkUsable()
        makeWaker()
        wakeSoon()
    }

    /// Has this realm look at what observers are to be told.
    func wakeSoon() { waker?.wake() }
}
