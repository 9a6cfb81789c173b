// Commits that one sync makes durable together. A commit may be published before it is on stable
// storage (a soft one): everybody sees it at once, and it counts as done when a later sync has
// covered it. Until then the file keeps the last durable version whole, so that a crash leaves that
// version, or one of the group with all before it:
//
//  1. The slot with the header of the durable version is not written: all of a group have the other.
//  2. No page that the durable version or one of the group uses is used again, whoever reads them.
//     The file is not cut.
//  3. The root of each version of the group lists what the group wrote before it, too: recovery
//     takes the version only if all of it is there. So what it lists has to stay, even where it uses
//     it no more, until a version is durable that does not list it.
//
// A sync excludes that a header is written: otherwise it could cover a header in the slot without the
// blocks of its version. The blocks of the next commit may be written meanwhile, to pages that no version
// of the group uses. What another process committed last is synced by the next writer before it writes
// (`Store.beginWrite`), so groups are those of one store.

import CKernels

final class CommitGroup: @unchecked Sendable {
    // These bound the lists in the roots, and what is kept from reuse: 32 MiB.
    static let commitsMax = 64
    static let blocksMax = 4096
    static let pagesMax = 8192
    /// How long a commit waits for others to join, while somebody else is about to write: nanoseconds.
    static let waitMax = 2_000_000

    struct State {
        /// The version on stable storage, in the slot that the group does not write, and those
        /// whose blocks its root lists.
        let kept: [UInt64]
        /// The one that the group writes.
        let slot: Int
        /// Pages of the file on stable storage.
        let durablePages: UInt64
        /// The file is longer than that now.
        var hasGrown = false
        /// Published since, ascending; not empty.
        var versions: [UInt64] = []
        var digest = WrittenDigest()
        var written: [WrittenRun] = []
        var blockPages: [UInt16] = []

        /// The commit of this version has to be durable itself.
        func isFull(_ version: UInt64) -> Bool {
            versions.count + 1 >= commitsMax || blockPages.count > blocksMax
                || written.reduce(0) { $0 + $1.pages } > pagesMax
                || version - versions[0] > WrittenRun.distanceMax >> 1
        }
    }

    /// Guarded by the lock, which a commit holds while it publishes. Nobody changes it while it is synced.
    var state: State? {
        didSet { ck_store_u64(newest, state?.versions.last ?? 0) }
    }

    /// The version that this store committed last, and those before it whose blocks its root lists.
    var listed: (version: UInt64, versions: [UInt64]) = (0, [])

    private let changed = Condition()
    /// A thread syncs the group, without the lock.
    private var isSyncing = false
    /// The last version of the group, for who does not hold the lock; 0: there is none.
    private let newest: UnsafeMutablePointer<UInt64>

    init() {
        newest = .allocate(capacity: 1)
        newest.initialize(to: 0)
    }

    deinit { newest.deallocate() }

    /// Waits for a sync that is under way.
    func lock() {
        changed.lock()
        awaitSync()
    }

    /// For who needs no more than that the group stays: it may be on its way to stable storage.
    func lockBesideSync() { changed.lock() }

    func unlock() { changed.unlock() }

    /// With the lock held, which is free meanwhile.
    func awaitSync() {
        while isSyncing { changed.wait() }
    }

    /// Whether a sync is under way just now.
    var isBeingSynced: Bool {
        changed.lock()
        defer { changed.unlock() }
        return isSyncing
    }

    /// Syncs the file while the next commit writes its blocks. With the lock held, which is free meanwhile.
    func sync(_ file: OpenFile) throws(RealmError) {
        isSyncing = true
        changed.unlock()
        defer {
            changed.lock()
            isSyncing = false
            changed.wakeAll()
        }
        try file.sync()
    }

    var newestVersion: UInt64 { ck_load_u64(newest) }

    /// Whether the version is one that waits for a sync. With the lock held.
    func isOpen(_ version: UInt64) -> Bool {
        guard let versions = state?.versions, let first = versions.first, let last = versions.last
        else { return false }
        return version >= first && version <= last
    }

    /// The group has become durable, or failed. With the lock held.
    func end() {
        state = nil
        changed.wakeAll()
    }

    /// Lets others commit, until the group has ended, nobody is about to write, or the time is over.
    /// With the lock held.
    func waitForOthers(_ version: UInt64, _ gate: ThreadGate, _ waitMax: Int) {
        let end = Condition.deadline(waitMax)
        while isOpen(version), gate.hasWaiting, changed.wait(until: end) {}
    }
}

extension Store {
    /// Whether other threads are about to commit, so that one sync may do for several.
    var mayShareSync: Bool { gate.hasWaiting && !options.inMemory }

    /// The older versions whose pages a commit on top of `base` must not use. With the lock of the
    /// group held.
    func versionsKept(for base: Pin) throws(RealmError) -> [UInt64] {
        if let state = group.state { return state.kept + state.versions }
        if group.listed.version == base.version { return group.listed.versions }
        return try VersionRoot(try admit(base.root), base.root).olderVersionsListed
    }

    /// Whether the version is not known to be on stable storage yet.
    func isWaitingForSync(_ version: UInt64) -> Bool {
        group.lockBesideSync()
        defer { group.unlock() }
        return group.isOpen(version)
    }

    /// Returns when the version, which this store committed, is on stable storage. Commits that come
    /// meanwhile share the sync. An error means that it may not be there after a crash; the file
    /// refuses further work. `waitMax`: nanoseconds to wait for others who are about to commit.
    func makeDurable(
        _ version: UInt64, waitMax: Int = CommitGroup.waitMax
    ) throws(RealmError) {
        try checkFork()
        group.lock()
        defer { group.unlock() }
        if waitMax > 0 { group.waitForOthers(version, gate, waitMax) }
        try syncGroup(version)
    }

    /// Makes a group durable that the version belongs to. With the lock of the group held.
    func syncGroup(_ version: UInt64) throws(RealmError) {
        group.awaitSync()
        guard group.isOpen(version) else {
            // Somebody else did it, or tried.
            return try mutex.withLock { () throws(RealmError) in try checkFailure() }
        }
        var newest = group.newestVersion
        lockFile.noteSyncing(newest)
        do throws(RealmError) {
            try awaitOthers(newest)
            // Another thread of this store did it meanwhile, or committed on top of it.
            guard group.isOpen(version) else {
                return try mutex.withLock { () throws(RealmError) in try checkFailure() }
            }
            newest = group.newestVersion
            lockFile.noteSyncing(newest)
            try group.sync(file)
        } catch {
            fail(error)
            if let slot = group.state?.slot { wipeGroup(newest, slot) }
            group.end()
            throw error
        }
        lockFile.clearUnsynced(newest)
        if group.state?.hasGrown == true, let known = lockFile.root(of: newest) {
            noteDurable(newest, known.root, slot: known.slot)
        }
        group.end()
    }

    /// While another process syncs the version to go on from it, a sync of this one proves nothing. What one leaves
    /// that was killed, or failed, is secured as the next writer would do it. The lock of the group is given away
    /// meanwhile: a writer of this store may need it to do the same.
    private func awaitOthers(_ version: UInt64) throws(RealmError) {
        while group.isOpen(version), lockFile.isTakenOver(version) {
            if try secureLeft(version) { return }
            group.unlock()
            Condition.sleep(50_000)
            group.lock()
        }
    }

    /// False while others write.
    private func secureLeft(_ version: UInt64) throws(RealmError) -> Bool {
        guard gate.enter(wait: false) else { return false }
        defer { gate.leave() }
        guard try lockFile.lockWriter(wait: false) else { return false }
        defer { lockFile.unlockWriter() }
        if lockFile.isTakenOver(version) { try syncCommitted() }
        return true
    }

    /// Others may be going on from the group, which makes it durable; who is alone takes it back.
    private func wipeGroup(_ newest: UInt64, _ slot: Int) {
        mutex.lock()
        defer { mutex.unlock() }
        guard !isClosed, (try? lockFile.takeSessionAlone()) == true else { return }
        if lockFile.unsyncedVersion == newest { wipeHeader(slot) }
        // Only who opens the file waits for it, not for long.
        try? lockFile.shareSession()
    }

    /// After a failure that leaves open what is on disk: a program that tries the commit again shall
    /// not find it done. As well as possible; safe is what `Store+Recovery.swift` does.
    func wipeHeader(_ slot: Int) {
        try? file.writeZeros(
            FileHeader.slotBytes, at: Int64(FileHeader.slotOffset(slot)), "wipe the header")
    }
}
