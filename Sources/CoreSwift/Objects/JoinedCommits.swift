// Which realm of a file in this process has commits that are not written yet, so that others do not
// look past them: those of its own thread have them written at once, those of other threads ask for
// it and wait a moment.

import CKernels

final class JoinedCommits: @unchecked Sendable {
    /// Blocks take as long as they like, and one may wait for the thread that waits here.
    static let waitMax = 10_000_000

    private let changed = Condition()
    // With the lock held.
    private weak var realm: Realm?
    private var thread: UInt = 0
    private var endings = 0
    /// For who does not hold the lock. Not 0: there are some; somebody waits for them.
    let words: UnsafeMutablePointer<UInt64>

    init() {
        words = .allocate(capacity: 2)
        words.initialize(repeating: 0, count: 2)
    }

    deinit { words.deallocate() }

    /// Somebody waits for the commits to be written.
    var isWanted: Bool { ck_load_u64(words + 1) != 0 }

    /// The realm, on its thread, has made one.
    func begin(_ realm: Realm) {
        if ck_load_u64(words) != 0 { return }
        changed.lock()
        self.realm = realm
        thread = ck_thread_pointer()
        ck_store_u64(words, 1)
        changed.unlock()
    }

    /// They are written, or lost.
    func end(_ realm: Realm) {
        changed.lock()
        if self.realm === realm {
            self.realm = nil
            thread = 0
            endings &+= 1
            ck_store_u64(words, 0)
            ck_store_u64(words + 1, 0)
        }
        changed.unlock()
        changed.wakeAll()
    }

    /// Has commits written that the caller may have been told of. `waits`: also for other threads.
    @inline(__always)
    func settle(waits: Bool = true) {
        if ck_load_u64(words) != 0 { settleSlowly(waits) }
    }

    private func settleSlowly(_ waits: Bool) {
        changed.lock()
        let owner = thread == ck_thread_pointer() ? realm : nil
        if owner == nil, waits {
            ck_store_u64(words + 1, 1)
            let seen = endings
            let end = Condition.deadline(Self.waitMax)
            while ck_load_u64(words) != 0, endings == seen, changed.wait(until: end) {}
        }
        changed.unlock()
        owner?.settleJoined()
    }
}
