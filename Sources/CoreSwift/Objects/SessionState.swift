// What object handles need to know of their realm at every call, in raw memory: whether remembered
// places are still good, and which thread may call.

import CKernels

struct SessionState {
    enum Status: UInt8 {
        /// Open, without a transaction; the first access starts one.
        case idle
        case reading
        case writing
        case closed
    }

    /// Changes whenever a remembered row place may be wrong: versions, transactions, moved rows.
    var stamp: UnsafeMutablePointer<UInt64>
    /// The thread that last proved to be the realm's, as `ck_thread_pointer` names it.
    var thread: UInt
    /// All ones; zero for frozen realms, which any thread may use.
    var threadMask: UInt
    var status: Status
    let isFrozen: Bool
    /// Object handles taken, less those that the realm's thread released.
    var handles: Int = 0
    /// Handles that other threads released; atomic.
    var foreignReleases: UInt64 = 0
    /// 1: the session itself keeps the realm, because object handles outlived everything else that
    /// did; atomic.
    var isPinned: UInt64 = 0
    /// Counts what makes all older handles invalid (compaction).
    var generation: UInt32 = 0
    /// Counts rolled back transactions.
    var rollbacks: UInt32 = 0
    /// The tables of the running transaction; nil without one.
    var directory: UnsafeMutablePointer<TableDirectory>?
    let realm: Unmanaged<Realm>

    /// Of frozen realms that are closed, whose tables others may still read: nothing was found at it.
    nonisolated(unsafe) static let stampOfClosed = {
        let stamp = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        stamp.initialize(to: .max)
        return stamp
    }()

    @inline(__always) var isOnKnownThread: Bool {
        (thread ^ ck_thread_pointer()) & threadMask == 0
    }
}

typealias Session = UnsafeMutablePointer<SessionState>

extension UnsafeMutablePointer where Pointee == SessionState {
    /// Keeps the realm if object handles exist: somebody is about to let go of it. Handles do not
    /// keep it one by one; counting them costs an atomic operation less at each.
    func pinIfNeeded() {
        guard pointee.threadMask != 0, pointee.handles > Int(ck_load_u64(&pointee.foreignReleases)),
            setPinned(true)
        else { return }
        pointee.realm.takeUnretainedValue().keepAlive()
        unpinIfPossible()
    }

    /// Lets go of the realm when the last object handle is gone. Both sides first count and then
    /// look, so that one of two threads that release the last two handles sees it.
    func unpinIfPossible() {
        let foreign = Int(ck_add_u64(&pointee.foreignReleases, 0))
        guard pointee.handles == foreign, setPinned(false) else { return }
        pointee.realm.takeUnretainedValue().letGo()
    }

    /// Says that the session keeps the realm, or no longer; false if that is so already.
    private func setPinned(_ isPinned: Bool) -> Bool {
        ck_cas_u64(&pointee.isPinned, isPinned ? 0 : 1, isPinned ? 1 : 0)
    }
}
