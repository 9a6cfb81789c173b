// The commit signal: how a process that waits hears of commits of others. Who waits sleeps in the
// kernel as long as the low half of the signal is what it saw (a futex that processes share); a commit
// costs a system call only when somebody else waits.
//
// The word of the waiting: in its low half a bit for each store with somebody who waits (bit 31
// stands for all from the 32nd record on); in its high half the highest signal + 1 that one of them saw
// before its bit was set.
//
// Invariants
//  1. Who waits in the kernel for a signal after `seen` has its bit set, and the high half is at
//     least `seen` + 1 since then. It is set first and then asked for the signal once more, by the kernel.
//  2. Who commits first grows the signal, then looks for bits. So either it sees the bit and wakes, or the
//     one with the bit sees the signal.
//  3. Bits are cleared after waking, and only if the word has not changed and its high half is not
//     beyond the signal: whoever sleeps on then saw a later signal, and by 1 the word would say so. A
//     process that was killed waiting thus leaves a bit that costs one system call, one that was
//     killed between growing and waking leaves the bits for the next commit.

import CKernels

extension LockFile {
    /// The stores from here on share a bit, and so are woken by their own commits, too.
    private static let sharedBit: UInt32 = 31

    /// Another after each commit.
    var signal: UInt64 { ck_load_u64(word(72)) }

    /// What stands for this store among those who wait.
    var waitingBit: UInt32 { 1 << min(UInt32(max(record, 0)), Self.sharedBit) }

    /// Waits until the signal is another than `seen`, or for a second: after that, somebody may have been
    /// killed when it was about to wake.
    func waitForSignal(after seen: UInt64, bit: UInt32) {
        let now = UInt32(truncatingIfNeeded: seen)
        while true {
            let old = ck_load_u64(word(104))
            var latest = UInt32(truncatingIfNeeded: old >> 32)
            // They wrap; no two that are compared are 2^31 commits apart.
            if Int32(bitPattern: now &+ 1 &- latest) > 0 { latest = now &+ 1 }
            let new = UInt64(latest) << 32 | old & 0xFFFF_FFFF | UInt64(bit)
            if new == old || ck_cas_u64(word(104), old, new) { break }
        }
        ck_wait_shared(word(72), now, bit, 1_000_000_000)
    }

    /// After a commit: wakes those of other stores who wait.
    func wakeWaiting() {
        guard file != nil else { return }
        let own = waitingBit == 1 << Self.sharedBit ? 0 : waitingBit
        // Before the bits: what is set for a later signal stays.
        let signal = UInt32(truncatingIfNeeded: signal)
        let old = ck_load_u64(word(104))
        let others = UInt32(truncatingIfNeeded: old) & ~own
        guard others != 0 else { return }
        ck_wake_shared(word(72), others)
        let latest = UInt32(truncatingIfNeeded: old >> 32)
        guard Int32(bitPattern: latest &- signal) <= 0 else { return }
        _ = ck_cas_u64(word(104), old, old & ~UInt64(others))
    }

    /// Ends a wait of this store.
    func wakeOwn(_ bit: UInt32) {
        _ = ck_add_u64(word(72), 1)
        ck_wake_shared(word(72), bit)
    }
}
