// Says to all writers of a file, in whatever process, that somebody needs the change log: the commits
// from now on are recorded, and their log is kept. Ends with its process, however that ends.
//
// A transaction that runs already is not recorded. So who asks for the log behind a version may find
// that there is none for the first version after it, and compares.

/// One need of the change log. Used by one thread at a time.
final class LogNeed {
    private let store: Store
    private let slot: Int
    private var isOver = false
    /// The log is kept of versions behind this one.
    private(set) var version: UInt64

    /// `version`: usually the one that is pinned.
    init(_ store: Store, from version: UInt64) throws(RealmError) {
        try store.checkFork()
        guard !store.options.immutable else {
            throw RealmError(
                .illegalOperation, "'\(store.path)' was opened as immutable: it has no changes")
        }
        self.store = store
        self.version = version
        slot = try store.mutex.withLock { () throws(RealmError) in
            try store.checkUsable()
            let slot = try store.lockFile.claimSlot()
            store.lockFile.setNeed(slot, version)
            return slot
        }
    }

    deinit { end() }

    /// The log of versions up to this one is not needed any more.
    func move(to version: UInt64) {
        guard !isOver, version > self.version, !store.isInForkedChild else { return }
        self.version = version
        store.mutex.withLock {
            if !store.isClosed { store.lockFile.setNeed(slot, version) }
        }
    }

    func end() {
        guard !isOver, !store.isInForkedChild else { return }
        isOver = true
        store.mutex.withLock {
            if !store.isClosed { store.lockFile.clearSlot(slot) }
        }
    }
}
