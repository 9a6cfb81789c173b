// Asynchronous transactions: not supported yet.

import CRealm

/// Queues a block that runs on the scheduler's thread inside a write transaction. Not supported
/// yet.
@c @implementation
public func realm_async_begin_write(
    _ realm: OpaquePointer?, _ callback: realm_async_begin_write_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ notify_only: Bool, _ transaction_id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    notYet("realm_async_begin_write", false, userdata, userdata_free)
}

/// Ends the write transaction at once and makes it durable in the background; `callback` then
/// runs on the scheduler's thread. Not supported yet.
@c @implementation
public func realm_async_commit(
    _ realm: OpaquePointer?, _ callback: realm_async_commit_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ allow_grouping: Bool, _ transaction_id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    notYet("realm_async_commit", false, userdata, userdata_free)
}

/// Removes a queued block, or the callback of a pending commit. Not supported yet.
@c @implementation
public func realm_async_cancel(
    _ realm: OpaquePointer?, _ token: UInt32, _ cancelled: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_async_cancel", false)
}
