// A lock for state that several threads share. A plain pthread mutex: it costs 3 ns, and the
// thread sanitizer understands it. Used everywhere; between processes `ByteLocks` exclude.

import CKernels

/// Guards short stretches of code; not recursive.
final class Lock: Sendable {
    /// Nil only when memory was exhausted at creation; such a lock would not lock, so creation
    /// traps instead, as every other failed allocation of Swift does.
    private nonisolated(unsafe) let mutex: OpaquePointer

    convenience init() { self.init(ck_lock_new()) }

    /// A lock for state of the whole process, one that lives for ever: fork() waits until it is
    /// free, so that the child can take it. Held briefly, without calling anything unknown.
    static func forProcess() -> Lock { Lock(ck_lock_new_for_process()) }

    private init(_ mutex: OpaquePointer?) {
        guard let mutex else { preconditionFailure("no memory for a lock") }
        self.mutex = mutex
    }

    deinit { ck_lock_free(mutex) }

    /// For stretches that are no scope of their own; each is followed by `unlock` on every path.
    @inline(__always) func lock() { ck_lock_acquire(mutex) }
    @inline(__always) func unlock() { ck_lock_release(mutex) }

    @inline(__always)
    func withLock<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        ck_lock_acquire(mutex)
        defer { ck_lock_release(mutex) }
        return try body()
    }

    @inline(__always)
    func withLock<R>(_ body: () -> R) -> R {
        ck_lock_acquire(mutex)
        defer { ck_lock_release(mutex) }
        return body()
    }
}
