// A lock for state that several threads share. A plain pthread mutex: it costs 3 ns, and the
// thread sanitizer understands it.

import CKernels

final class Lock: Sendable {
    /// Nil only when memory was exhausted at creation; such a lock would not lock, so creation
    /// traps instead, as every other failed allocation of Swift does.
    private nonisolated(unsafe) let mutex: OpaquePointer

    init() {
        guard let mutex = ck_lock_new() else { preconditionFailure("no memory for a lock") }
        self.mutex = mutex
    }

    deinit { ck_lock_free(mutex) }

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
