// Mutual exclusion between threads of this process: a thin wrapper of the C library's mutex, which
// is faster than Swift's and understood by the thread sanitizer, and a gate that one thread may
// close and another open, which a mutex does not allow.

import Glibc

/// Guards short stretches of code; not recursive.
final class ThreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always) func lock() { pthread_mutex_lock(mutex) }
    @inline(__always) func unlock() { pthread_mutex_unlock(mutex) }

    @inline(__always)
    func locked<T>(_ body: () throws(RealmError) -> T) throws(RealmError) -> T {
        lock()
        defer { unlock() }
        return try body()
    }

    fileprivate func wait(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
        pthread_cond_wait(condition, mutex)
    }
}

/// Lets one holder through at a time; enter and leave may happen on different threads.
final class ThreadGate: @unchecked Sendable {
    private let mutex = ThreadMutex()
    private let freed: UnsafeMutablePointer<pthread_cond_t>
    private var taken = false

    init() {
        freed = .allocate(capacity: 1)
        freed.initialize(to: pthread_cond_t())
        pthread_cond_init(freed, nil)
    }

    deinit {
        pthread_cond_destroy(freed)
        freed.deallocate()
    }

    /// False only if `wait` is false and another holds the gate.
    func enter(wait: Bool) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        while taken {
            guard wait else { return false }
            mutex.wait(freed)
        }
        taken = true
        return true
    }

    func leave() {
        mutex.lock()
        taken = false
        mutex.unlock()
        pthread_cond_signal(freed)
    }
}
