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
    let stamp: UnsafeMutablePointer<UInt64>
    /// The thread that last proved to be the realm's, as `ck_thread_pointer` names it.
    var thread: UInt
    /// All ones; zero for frozen realms, which any thread may use.
    var threadMask: UInt
    var status: Status
    let isFrozen: Bool
    /// Object handles taken and not released yet, as far as the realm's thread did it.
    var handles: Int = 0
    /// Handles that other threads released; atomic.
    var foreignReleases: UInt64 = 0
    /// Counts what makes all older handles invalid (compaction).
    var generation: UInt32 = 0
    /// Counts rolled back transactions.
    var rollbacks: UInt32 = 0
    /// The tables of the running transaction; nil without one.
    var directory: UnsafeMutablePointer<TableDirectory>?
    let realm: Unmanaged<Realm>

    @inline(__always) var isOnKnownThread: Bool {
        (thread ^ ck_thread_pointer()) & threadMask == 0
    }
}

typealias Session = UnsafeMutablePointer<SessionState>
