// A lock with a condition that threads wait for, which a `Lock` does not have.

import Glibc

final class Condition: @unchecked Sendable {
    // At one address for life, as the C library demands.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        changed = .allocate(capacity: 1)
        changed.initialize(to: pthread_cond_t())
        // The clock of the day may be set.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        changed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }

    /// The moment that is so many nanoseconds from now, less than a second.
    static func deadline(_ nanoseconds: Int) -> timespec {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_nsec += nanoseconds
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_nsec -= 1_000_000_000
            end.tv_sec += 1
        }
        return end
    }

    /// Waits for so many nanoseconds, less than a second.
    static func sleep(_ nanoseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        nanosleep(&time, nil)
    }

    // With the lock held; it is free while they wait.

    func wait() { pthread_cond_wait(changed, mutex) }

    /// False when the moment came first.
    func wait(until end: timespec) -> Bool {
        var end = end
        return pthread_cond_timedwait(changed, mutex, &end) == 0
    }

    func wakeOne() { pthread_cond_signal(changed) }
    func wakeAll() { pthread_cond_broadcast(changed) }
}
