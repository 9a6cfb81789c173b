// A gate that one thread may close and another open, which a `Lock` does not allow. `Store` keeps
// the writers of one process apart with it before they ask for the lock between processes.

import CKernels
import Glibc

/// Lets one holder through at a time; enter and leave may happen on different threads.
final class ThreadGate: @unchecked Sendable {
    // At one address for life, as the C library demands.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let freed: UnsafeMutablePointer<pthread_cond_t>
    private var taken = false
    /// Threads that wait to enter, for who does not hold the mutex.
    private let waiting: UnsafeMutablePointer<UInt64>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        freed = .allocate(capacity: 1)
        freed.initialize(to: pthread_cond_t())
        pthread_cond_init(freed, nil)
        waiting = .allocate(capacity: 1)
        waiting.initialize(to: 0)
    }

    /// Whether somebody will enter as soon as the gate is free.
    var hasWaiting: Bool { ck_load_u64(waiting) != 0 }

    deinit {
        pthread_cond_destroy(freed)
        freed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        waiting.deallocate()
    }

    /// False if another holds the gate and `wait` is false, or `givesUp`, which is asked every
    /// now and then while waiting, says so.
    func enter(wait: Bool, givesUp: (() -> Bool)? = nil) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if taken, !wait { return false }
        if taken { ck_store_u64(waiting, ck_load_u64(waiting) + 1) }
        let hasWaited = taken
        defer { if hasWaited { ck_store_u64(waiting, ck_load_u64(waiting) - 1) } }
        while taken {
            guard let givesUp else {
                pthread_cond_wait(freed, mutex)
                continue
            }
            waitALittle()
            // It may wait for a lock whose holder is about to leave here.
            pthread_mutex_unlock(mutex)
            let isOver = givesUp()
            pthread_mutex_lock(mutex)
            if isOver {
                // Somebody else may be waiting for what woke this thread.
                if !taken { pthread_cond_signal(freed) }
                return false
            }
        }
        taken = true
        return true
    }

    /// Signals do not wake who waits for a condition: a tenth of a second at most.
    private func waitALittle() {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_nsec += 100_000_000
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_nsec -= 1_000_000_000
            end.tv_sec += 1
        }
        pthread_cond_timedwait(freed, mutex, &end)
    }

    func leave() {
        pthread_mutex_lock(mutex)
        taken = false
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(freed)
    }
}
