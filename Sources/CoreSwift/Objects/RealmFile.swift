// The file behind the realms of one path in this process: they share its store. `Database` keeps
// the registry of these.

import CKernels

final class RealmFile: @unchecked Sendable {
    let path: String
    let lock = Lock()
    let store: Store
    /// Realms that are open (under `lock`).
    private var users = 0
    /// Settings that every realm of the file has to share.
    private(set) var sharedSettings: SharedSettings
    /// Where messages about the file go: the sink that was current at its opening.
    let log = Log.currentSink
    /// The realm that writes and its thread; nil: none of this process does. Another realm of the same
    /// thread would wait for it in vain.
    private var writing: (realm: ObjectIdentifier, thread: UInt)?
    private var isMigrating = false
    /// Waits for the writer that their threads do not make themselves.
    private var requests: [LeaseRequest] = []
    /// Realms opened as cached ones, found again by scheduler.
    private var cached: [WeakRealm] = []

    /// Realms that can be told of commits.
    let wakers = Wakers()

    private struct WeakRealm {
        weak var realm: Realm?
    }

    /// Called when the last realm is closed.
    var onUnused: ((RealmFile) -> Void)?

    struct SharedSettings: Equatable {
        var isImmutable = false
        var isInMemory = false
        var schemaMode = SchemaMode.automatic
        var schemaVersion = UInt64.max
        var clientNumber: UInt32 = 0
    }

    /// What one of the realms has committed and not written yet.
    let joined = JoinedCommits()

    init(path: String, store: Store, sharedSettings: SharedSettings) {
        self.path = path
        self.sharedSettings = sharedSettings
        self.store = store
    }

    /// The open cached realm whose scheduler stands for the same thread.
    func cachedRealm(_ scheduler: (any Scheduler)?) -> Realm? {
        lock.withLock {
            for entry in cached {
                guard let realm = entry.realm, !realm.isClosed else { continue }
                let wanted = scheduler ?? ThreadScheduler.ofThisThread
                if let own = realm.scheduler, own.isSame(as: wanted) { return realm }
            }
            return nil
        }
    }

    func cache(_ realm: Realm) {
        lock.withLock {
            cached.removeAll { $0.realm?.isClosed ?? true }
            cached.append(WeakRealm(realm: realm))
        }
    }

    func isCached(_ realm: Realm) -> Bool {
        lock.withLock { cached.contains { $0.realm === realm } }
    }

    /// A realm gave the file another schema version.
    func noteSchemaVersion(_ version: UInt64) {
        lock.withLock { sharedSettings.schemaVersion = version }
    }

    /// A realm begins a write transaction on the calling thread.
    func noteWriting(_ realm: Realm) {
        lock.withLock { writing = (ObjectIdentifier(realm), ck_thread_pointer()) }
    }

    /// A realm's write transaction has ended; another may write already.
    func noteWritten(_ realm: Realm) {
        lock.withLock { if writing?.realm == ObjectIdentifier(realm) { writing = nil } }
    }

    /// A realm of the calling thread, which writes, begins or ends a change of the schema.
    func noteMigration(_ isRunning: Bool) { lock.withLock { isMigrating = isRunning } }

    /// Throws when a write transaction of the calling thread would wait for itself.
    func checkNotWriting() throws(RealmError) {
        let (isOwn, isMigrating) = lock.withLock {
            (writing?.thread == ck_thread_pointer(), self.isMigrating)
        }
        guard isOwn else { return }
        throw RealmError(
            .wrongTransactionState,
            isMigrating
                ? "'\(path)' is being migrated by this thread: nothing else can write it meanwhile"
                : "'\(path)' is being written by this thread, through another realm: that one's "
                    + "transaction has to end first")
    }

    func add(_ request: LeaseRequest) { lock.withLock { requests.append(request) } }
    func remove(_ request: LeaseRequest) {
        lock.withLock { requests.removeAll { $0 === request } }
    }

    /// What the calling thread waits for: a transaction that it begins takes it over.
    func requestOfThisThread() -> LeaseRequest? {
        lock.withLock {
            requests.isEmpty ? nil : requests.first { $0.thread == ck_thread_pointer() }
        }
    }

    /// Realms that have no scheduler to be woken by need no thread to listen.
    func add(_ waker: Waker) {
        do throws(RealmError) {
            try wakers.add(waker, store)
        } catch {
            log.log(
                .notification, .warning,
                "'\(path)': realms won't follow commits of other processes by themselves: "
                    + error.message)
        }
    }

    var isUsed: Bool { lock.withLock { users > 0 } }

    func enter() { lock.withLock { users += 1 } }

    func leave() {
        let isLast = lock.withLock { () -> Bool in
            users -= 1
            return users == 0
        }
        if isLast { onUnused?(self) }
    }
}

/// What opening does about a schema that differs from the file's; raw values of
/// `realm_schema_mode_e`.
public enum SchemaMode: UInt32, Sendable {
    case automatic = 0
    case immutable
    case readOnly
    case softResetFile
    case hardResetFile
    case additiveDiscovered
    case additiveExplicit
    case manual
}

/// What a realm shows beyond the requested schema; raw values of `realm_schema_subset_mode_e`.
public enum SchemaSubsetMode: UInt32, Sendable {
    case strict = 0
    case allClasses
    case allProperties
    case complete
}
