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
/// - `can_deliver_notifications` tells whether `notify` leads to anything. `nil`: that is unknown, and there are
///   no asynchronous writes; `notify` is called all the same, from another thread and a moment after the call
///   or commit that it is about.
///
/// `userdata` is freed with the last handle, configuration or realm that uses the scheduler, a moment
/// later if another thread is calling `notify`; it has to live until then.
@c @implementation
public func realm_scheduler_new(
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?,
    _ notify: realm_scheduler_notify_func_t?,
    _ is_on_thread: realm_scheduler_is_on_thread_func_t?,
    _ is_same_as: realm_scheduler_is_same_as_func_t?,
    _ can_deliver_notifications: realm_scheduler_can_deliver_notifications_func_t?
) -> OpaquePointer? {
    let callbacks = CallbackScheduler.Callbacks(
        free: userdata_free, notify: notify, isOnThread: is_on_thread, isSameAs: is_same_as,
        canDeliver: can_deliver_notifications)
    return makeHandle(.scheduler, CallbackScheduler(userdata, callbacks))
}

/// Returns a new handle to the scheduler of the calling thread, which realms have that are opened
/// without one. Until `realm_scheduler_get_event_descriptor()` was called it cannot deliver: its
/// realms advance by `realm_refresh()` and by write transactions, and so do their notifications.
@c @implementation
public func realm_scheduler_make_default() -> OpaquePointer? {
    makeHandle(.scheduler, ThreadScheduler.ofThisThread)
}

/// Returns a descriptor for `poll()`, `epoll` and event loops: readable while there is work for the
/// thread of a scheduler that `realm_scheduler_make_default()` returned. The thread then calls
/// `realm_scheduler_perform_work()` with `realm_scheduler_get_work_queue()`, which makes it
/// unreadable; the program does not read, write or close it. From the first call on the scheduler can
/// deliver to the realms that are opened after it, and to those that `realm_ask_scheduler()` is
/// called for. The descriptor is the same at
/// each call and stays until the thread has ended and nobody uses its scheduler. Returns -1 on
/// failure: RLM_ERR_ILLEGAL_OPERATION for schedulers of `realm_scheduler_new()`, RLM_ERR_SYSTEM_ERROR
/// when the process has too many descriptors.
@c @implementation
public func realm_scheduler_get_event_descriptor(_ scheduler: OpaquePointer?) -> Int32 {
    boundary(-1) { () throws(RealmError) in
        guard let thread = try heldScheduler(scheduler) as? ThreadScheduler else {
            throw RealmError(
                .illegalOperation,
                "a scheduler with callbacks has no event descriptor: its notify() tells of work")
        }
        return try thread.eventDescriptor()
    }
}

/// Returns the queue of a scheduler's work, for `realm_scheduler_perform_work()`; the same at each
/// call, and the one that `notify` gets. It is borrowed: valid as long as the scheduler.
@c @implementation
public func realm_scheduler_get_work_queue(_ scheduler: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, try queueHandle(of: heldScheduler(scheduler)))
}

/// Asks the scheduler of a realm again whether it can deliver, as opening did: when it can now, commits
/// wake the realm from here on. Fails: RLM_ERR_WRONG_THREAD, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_ask_scheduler(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).askScheduler())
}

/// Returns `nil` without an error: frozen realms need no scheduler.
@c @implementation
public func realm_scheduler_get_frozen() -> OpaquePointer? {
    nil
}

/// Runs, on the calling thread, all work that was queued before the call. The application calls
/// it on the scheduler's thread, once for each call of `notify`; more often does no harm. Leaves
/// RLM_ERR_WRONG_THREAD, without doing anything, on another thread than that of a default scheduler.
@c @implementation
public func realm_scheduler_perform_work(_ work_queue: OpaquePointer?) {
    boundary(()) { () throws(RealmError) in
        let queue = try held(work_queue, .workQueue, as: WorkQueue.self)
        guard !queue.isElsewhere else {
            throw RealmError(
                .wrongThread, "the work is that of another thread's default scheduler")
        }
        queue.performWork()
    }
}
