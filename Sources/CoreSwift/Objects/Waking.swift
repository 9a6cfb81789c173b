// Has the realms of a file look at a new version on their own threads: after a commit of any realm of
// the file, those whose schedulers can deliver are refreshed, and their observers told.

/// A realm that can be woken from any thread, by way of its scheduler.
final class Waker: @unchecked Sendable {
    private weak var realm: Realm?
    private let scheduler: Scheduler
    private let lock = Lock()
    /// Work is queued that has not begun; under `lock`.
    private var isQueued = false

    init(_ realm: Realm, _ scheduler: Scheduler) {
        self.realm = realm
        self.scheduler = scheduler
    }

    /// Queues a look at the newest version, unless one is queued. On any thread.
    func wake() {
        let isFirst = lock.withLock { () -> Bool in
            defer { isQueued = true }
            return !isQueued
        }
        guard isFirst else { return }
        scheduler.schedule { [self] in
            // What comes from now on needs another look.
            lock.withLock { isQueued = false }
            realm?.lookAround()
        }
    }
}

extension Realm {
    /// Moves to the newest version and tells observers, if nothing is being written; called by the
    /// scheduler. There is nobody to throw errors at: they are logged, and come again with the next
    /// refresh.
    fileprivate func lookAround() {
        guard !isClosed, version != nil else { return }
        if isWritable {
            wasWokenWriting = true
            return
        }
        do throws(RealmError) {
            _ = try refresh()
        } catch {
            tell(.notification, .error, "'\(path)': cannot follow: \(error.message)")
        }
    }

    /// Has this realm look at what observers are to be told.
    func wakeSoon() { waker?.wake() }
}
