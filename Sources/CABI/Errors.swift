// Errors: reading and clearing the last error of the thread, copies that outlive it, and what a
// failing callback wants its caller to find.

import CKernels
import CRealm
import CoreSwift

/// Whether the calling thread has an error; copies it to `err` if that is not `nil`. The texts
/// are borrowed until the thread's next error or `realm_clear_last_error()`. Reading does not
/// clear the error; without one nothing is written.
@c @implementation
public func realm_get_last_error(_ err: UnsafeMutablePointer<realm_error_t>?) -> Bool {
    guard let record = LastError.current else { return false }
    record.write(to: err)
    return true
}

/// Forgets the calling thread's error. Returns whether there was one.
@c @implementation
public func realm_clear_last_error() -> Bool {
    LastError.clear()
}

/// Returns a new handle to a copy of the calling thread's error, which stays, or `nil` without
/// one. The copy can be read on any thread.
@c @implementation
public func realm_get_last_error_as_async_error() -> OpaquePointer? {
    LastError.current.map { makeHandle(.asyncError, $0) }
}

/// Whether `err` holds an error; copies it to `out_err`. The texts are borrowed as long as `err`
/// is not released. False, without an error, when `err` is `nil`.
@c @implementation
public func realm_get_async_error(
    _ err: OpaquePointer?, _ out_err: UnsafeMutablePointer<realm_error_t>?
) -> Bool {
    guard let err else { return false }
    return succeeds(try held(err, .asyncError, as: ErrorRecord.self).write(to: out_err))
}

/// Called inside a migration, data initialisation or compaction callback that is going to fail:
/// the error of the failing `realm_open()` then carries `usercode_error`. The pointer is not
/// looked at.
@c @implementation
public func realm_register_user_code_callback_error(_ usercode_error: UnsafeMutableRawPointer?) {
    ck_set_thread_slot(Int32(CK_SLOT_USER_ERROR), usercode_error)
}
