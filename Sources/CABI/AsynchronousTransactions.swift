// Write transactions that do not hold up the thread: blocks that wait for the writer, and commits
// that wait for their sync.

import CRealm
import CoreSwift

/// Queues `callback`; it runs on the scheduler's thread, in `realm_scheduler_perform_work()`, inside a
/// write transaction at the newest version, after the blocks queued before it. The transaction ends by
/// `realm_commit()`, `realm_rollback()` or `realm_async_commit()`, or else is rolled back when
/// `callback` returns; with `notify_only` it stays open, for the program to end it later.
/// `transaction_id`, unless NULL, receives a number for `realm_async_cancel()`: they count from 0, for
/// blocks and commits of the realm together. The userdata is freed after the call, or when the block
/// is dropped: by `realm_async_cancel()`, and when the realm is closed or its last handle released. A block
/// that can't begin in its turn, because too many versions are read by then, say, is tried again until it
/// can, several times a second, and those behind it wait. Fails: as `realm_begin_write()`, except that the realm may be writing;
/// RLM_ERR_WRONG_TRANSACTION_STATE when the scheduler can't deliver, and in the callback of
/// `realm_async_commit()`.
@c @implementation
public func realm_async_begin_write(
    _ realm: OpaquePointer?, _ callback: realm_async_begin_write_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ notify_only: Bool, _ transaction_id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    let userdata = Userdata(userdata, userdata_free)
    return succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        let number = try realm.writeAsynchronously(leavesOpen: notify_only) {
            callback(userdata.pointer)
        }
        transaction_id?.pointee = number
    }
}

/// Ends the write transaction: its changes are visible at once, to all realms of the file, and are
/// made durable by a thread of the library. With `allow_grouping`, in a block while others wait, they are
/// written with those of the blocks that follow, within milliseconds, and then visible to other processes; realms
/// of other threads that are refreshed meanwhile wait for that, 10 ms at most. `callback`, unless NULL, then runs on the scheduler's
/// thread, in the order of the commits: with `error` false, or with true and a message when the sync
/// failed: whether the changes are there shows when the file has been closed and opened again, and until
/// then every call refuses. When what waits to be written with other blocks can't be, for want of space, say, none of its
/// commits is there, and their callbacks are told; a block that runs by then, on top of them, has lost its
/// transaction with them, and its next change fails. With `allow_grouping` transactions
/// that follow at once may also share the sync: all of them survive a crash, or the first ones of them.
/// What waits for the sync calls it earlier: `realm_begin_write()`, `realm_close()`, and this function
/// when the scheduler can't deliver. `transaction_id`: see `realm_async_begin_write()`. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE outside a write transaction and in the callback of a commit; as
/// `realm_commit()`.
@c @implementation
public func realm_async_commit(
    _ realm: OpaquePointer?, _ callback: realm_async_commit_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ allow_grouping: Bool, _ transaction_id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    let userdata = Userdata(userdata, userdata_free)
    return succeeds { () throws(RealmError) in
        let number = try realmHeld(realm).commitAsynchronously(allowsGrouping: allow_grouping) {
            failure in
            guard let callback else { return }
            guard let failure else { return callback(userdata.pointer, false, nil) }
            failure.message.withCString { callback(userdata.pointer, true, $0) }
        }
        transaction_id?.pointee = number
    }
}

/// Drops what was queued under the number and has not run: a block, or the callback of a commit, which
/// is made durable all the same. Its userdata is freed. `cancelled`, unless NULL, says whether there
/// was one.
@c @implementation
public func realm_async_cancel(
    _ realm: OpaquePointer?, _ token: UInt32, _ cancelled: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let found = try realmHeld(realm).cancelAsynchronous(token)
        cancelled?.pointee = found
    }
}
