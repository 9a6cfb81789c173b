// A gate that one thread may close and another open, which a `Lock` does not allow. `Store` keeps
// the writers of one process apart with it before they ask for the lock between processes.

import Glibc

/// Lets one holder through at a time; enter and leave may happen on different threads.
final class ThreadGate: @unchecked Sendable {
    // At one address for life, as the C library demands.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let freed: UnsafeMutablePointer<pthread_cond_t>
    private var taken = false

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        freed = .allocate(capacity: 1)
        freed.initialize(to: pthread_cond_t())
        pthread_cond_init(freed, nil)
    }

    deinit {
        pthread_cond_destroy(freed)
        freed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// False only if `wait` is false and another holds the gate.
    func enter(wait: Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while taken {
            guard wait else { return false }
            pthread_cond_wait(freed, mutex)
        }
        taken = true
        return true
    }

    func leave() {
        pthread_mutex_lock(mutex)
        taken = false
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(freed)
    }
}
