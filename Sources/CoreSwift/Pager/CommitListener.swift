// A thread that hears of commits of other processes as soon as they are there, also in a process that only
// reads. It sleeps in the kernel meanwhile.

import CKernels

final class CommitListener: @unchecked Sendable {
    private let lockFile: LockFile
    private let bit: UInt32
    /// Not 0: the thread is to end.
    private let hasEnded: UnsafeMutablePointer<UInt64>
    private let body: (UInt64) -> Bool

    /// Calls `body` on the thread with the newest version: at once, after each commit of another
    /// process, and every second. When it answers false, all are busy already: then it is not called for
    /// a moment. Nil for files that nobody changes.
    init?(_ store: Store, _ body: @escaping (UInt64) -> Bool) throws(RealmError) {
        guard store.lockFile.file != nil else { return nil }
        lockFile = store.lockFile
        bit = lockFile.waitingBit
        self.body = body
        hasEnded = .allocate(capacity: 1)
        hasEnded.initialize(to: 0)
        try ApartThread.run { [self] in listen() }
    }

    deinit { hasEnded.deallocate() }

    /// The thread ends soon; it may be calling `body` still.
    func end() {
        ck_store_u64(hasEnded, 1)
        lockFile.wakeOwn(bit)
    }

    private func listen() {
        while true {
            // In this order: what is committed or ended after it is read changes the signal.
            let seen = lockFile.signal
            if ck_load_u64(hasEnded) != 0 { return }
            guard body(lockFile.committedVersion) else {
                // Commits that come one after the other need not wake this thread each.
                ck_wait_shared(hasEnded, 0, 1, 1_000_000)
                continue
            }
            lockFile.waitForSignal(after: seen, bit: bit)
        }
    }
}
