// A gate that one thread may close and another open, which a `Lock` does not allow. `Store` keeps
// the writers of one process apart with it before they ask for the lock between processes.

import CKernels

/// Lets one holder through at a time; enter and leave may happen on different threads.
final class ThreadGate: @unchecked Sendable {
    /// How often who waits is asked whether to go on, in nanoseconds: people take that for at once.
    static let asksEvery = 20_000_000

    private let freed = Condition()
    private var taken = false
    /// Threads that wait to enter, for who does not hold the lock.
    private let waiting: UnsafeMutablePointer<UInt64>
    /// Those of them that a thread of the program waits in.
    private let impatient: UnsafeMutablePointer<UInt64>

    init() {
        waiting = .allocate(capacity: 2)
        waiting.initialize(repeating: 0, count: 2)
        impatient = waiting + 1
    }

    deinit { waiting.deallocate() }

    /// Whether somebody will enter as soon as the gate is free.
    var hasWaiting: Bool { ck_load_u64(waiting) != 0 }

    /// Whether one of those can do nothing else meanwhile.
    var hasImpatient: Bool { ck_load_u64(impatient) != 0 }

    /// False if another holds the gate and `wait` is false, or `givesUp`, which is asked every
    /// now and then while waiting, says so. `isPatient`: others may keep it a little longer.
    func enter(wait: Bool, isPatient: Bool = false, givesUp: (() -> Bool)? = nil) -> Bool {
        freed.lock()
        defer { freed.unlock() }
        guard taken else {
            taken = true
            return true
        }
        guard wait else { return false }
        ck_store_u64(waiting, ck_load_u64(waiting) + 1)
        if !isPatient { ck_store_u64(impatient, ck_load_u64(impatient) + 1) }
        defer {
            ck_store_u64(waiting, ck_load_u64(waiting) - 1)
            if !isPatient { ck_store_u64(impatient, ck_load_u64(impatient) - 1) }
        }
        while taken {
            guard let givesUp else {
                freed.wait()
                continue
            }
            // Signals do not wake who waits for a condition.
            _ = freed.wait(until: Condition.deadline(Self.asksEvery))
            // It may wait for a lock whose holder is about to leave here.
            freed.unlock()
            let isOver = givesUp()
            freed.lock()
            if isOver {
                // Somebody else may be waiting for what woke this thread.
                if !taken { freed.wakeOne() }
                return false
            }
        }
        taken = true
        return true
    }

    func leave() {
        freed.lock()
        taken = false
        freed.unlock()
        freed.wakeOne()
    }
}
