// The wait for the writer of a file that does not hold up the thread that asks: for blocks that
// write asynchronously.

import CKernels

/// One request for the right to write. It is granted on a thread of its own, and taken by the thread
/// that asked: either to run what it was asked for, or by a write transaction that the thread wants
/// at once, which would wait for itself otherwise. A lease that nobody takes is given back.
final class LeaseRequest: @unchecked Sendable {
    /// The thread that asked and takes.
    let thread = ck_thread_pointer()
    /// Closed until the wait is over.
    private let granted = ThreadGate()
    private let lock = Lock()
    private var result: Result<WriteLease, RealmError>?
    private var isCancelled = false

    /// The lease is there already.
    init(_ lease: WriteLease) { result = .success(lease) }

    /// Waits on another thread, and calls `completion` there.
    init(
        _ store: Store, _ completion: @escaping (LeaseRequest) -> Void
    ) throws(RealmError) {
        _ = granted.enter(wait: false)
        try ApartThread.run { [self] in
            wait(store)
            completion(self)
        }
    }

    private func wait(_ store: Store) {
        let found: Result<WriteLease, RealmError>
        do throws(RealmError) {
            let lease = try store.beginWrite(
                wait: true, joinsGroup: true, isPatient: true,
                givesUp: { [self] in lock.withLock { isCancelled } })
            found =
                if let lease { .success(lease) } else {
                    .failure(RealmError(.callback, "the wait for the writer was given up"))
                }
        } catch {
            found = .failure(error)
        }
        lock.withLock { if !isCancelled { result = found } }
        granted.leave()
    }

    /// The lease, once, when it is granted; nil if it was taken, or `givesUp` ended the wait.
    func take(givesUp: (() -> Bool)? = nil) throws(RealmError) -> WriteLease? {
        guard granted.enter(wait: true, givesUp: givesUp) else { return nil }
        defer { granted.leave() }
        let found = lock.withLock {
            defer { result = nil }
            return result
        }
        return try found?.get()
    }

    /// Nobody wants it any more.
    func cancel() {
        lock.withLock {
            isCancelled = true
            result = nil
        }
    }
}
