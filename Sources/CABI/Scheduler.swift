// Schedulers: which thread a realm belongs to, and how to get work run there.

import CRealm
import CoreSwift

/// Returns a new handle to a scheduler whose decisions are the caller's.
///
/// - `notify` runs on any thread, once for each piece of work; the application then calls
///   `realm_scheduler_perform_work()` on the scheduler's thread. `nil`: work is dropped.
/// - `is_on_thread` tells whether the caller is on that thread. `nil`: never.
/// - `is_same_as` compares the userdata of two schedulers with the same functions. `nil`: they
///   are the same when their userdata is.
/// - `can_deliver_notifications` tells whether `notify` leads to anything. `nil`: no.
///
/// `userdata` is freed with the last handle, configuration or realm that uses the scheduler.
@c @implementation
public func realm_scheduler_new(
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ notify: realm_scheduler_notify_func_t?,
    _ is_on_thread: realm_scheduler_is_on_thread_func_t?,
    _ is_same_as: realm_scheduler_is_same_as_func_t?,
    _ can_deliver_notifications: realm_scheduler_can_deliver_notifications_func_t?
) -> OpaquePointer? {
    var functions = Scheduler.Functions(userdata: userdata)
    functions.free = userdata_free
    functions.notify = notify
    functions.isOnThread = is_on_thread
    functions.isSameAs = is_same_as
    functions.canDeliver = can_deliver_notifications
    let scheduler = Scheduler(
        functions, makeHandle: { makeHandle(.workQueue, $0) },
        endHandle: { HandleSlab.releaseHolding(UnsafeMutableRawPointer($0)) })
    return makeHandle(.scheduler, scheduler)
}

/// Returns a new handle to a scheduler for the calling thread that cannot deliver: its realms
/// advance by `realm_refresh()` and by write transactions, and so do their notifications.
@c @implementation
public func realm_scheduler_make_default() -> OpaquePointer? {
    makeHandle(.scheduler, Scheduler())
}

/// Asks the scheduler of a realm again whether it can deliver, as opening did: when it can now, commits
/// wake the realm from here on. Fails: RLM_ERR_WRONG_THREAD, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_ask_scheduler(_ realm: OpaquePointer?) -> Bool {
    succeeds { () throws(RealmError) in try realmHeld(realm).askScheduler() }
}

/// Returns `nil` without an error: frozen realms need no scheduler.
@c @implementation
public func realm_scheduler_get_frozen() -> OpaquePointer? {
    nil
}

/// Runs, on the calling thread, all work that was queued before the call. The application calls
/// it on the scheduler's thread, once for each call of `notify`; more often does no harm.
@c @implementation
public func realm_scheduler_perform_work(_ work_queue: OpaquePointer?) {
    boundary(()) { () throws(RealmError) in
        try held(work_queue, .workQueue, as: WorkQueue.self).performWork()
    }
}
