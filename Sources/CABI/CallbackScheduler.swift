// What handles of schedulers hold: schedulers of threads, which are the engine's, and those whose decisions
// an application makes by callbacks, which are here. Also the handles of their queues.

import CRealm
import CoreSwift

/// A scheduler whose decisions an application makes. Absent callbacks mean: work is dropped, never on the
/// thread, same only for the same userdata, cannot deliver.
final class CallbackScheduler: UncertainScheduler, @unchecked Sendable {
    struct Callbacks {
        let free: realm_free_userdata_func_t?
        let notify: realm_scheduler_notify_func_t?
        let isOnThread: realm_scheduler_is_on_thread_func_t?
        let isSameAs: realm_scheduler_is_same_as_func_t?
        let canDeliver: realm_scheduler_can_deliver_notifications_func_t?

        /// Function pointers have no equality in Swift; their addresses do. An optional C function
        /// pointer is one word, zero for nil.
        fileprivate var addresses: (UInt, UInt, UInt, UInt, UInt) {
            (
                unsafeBitCast(free, to: UInt.self), unsafeBitCast(notify, to: UInt.self),
                unsafeBitCast(isOnThread, to: UInt.self), unsafeBitCast(isSameAs, to: UInt.self),
                unsafeBitCast(canDeliver, to: UInt.self)
            )
        }
    }

    private let userdata: UnsafeMutableRawPointer?
    private let callbacks: Callbacks
    private let queue = WorkQueue()
    /// What `notify` gets to name `queue`.
    fileprivate let queueHandle: QueueHandle

    init(_ userdata: UnsafeMutableRawPointer?, _ callbacks: Callbacks) {
        self.userdata = userdata
        self.callbacks = callbacks
        queueHandle = QueueHandle(queue)
    }

    deinit { callbacks.free?(userdata) }

    var isOnThread: Bool { callbacks.isOnThread?(userdata) ?? false }

    var canDeliver: Bool {
        callbacks.notify != nil && (callbacks.canDeliver?(userdata) ?? false)
    }

    var isUncertain: Bool { callbacks.notify != nil && callbacks.canDeliver == nil }

    func remind() { callbacks.notify?(userdata, queueHandle.pointer) }

    func schedule(_ work: @escaping WorkQueue.Work) {
        guard let notify = callbacks.notify else { return }
        queue.add(work)
        notify(userdata, queueHandle.pointer)
    }

    func isSame(as other: any Scheduler) -> Bool {
        if self === other { return true }
        guard let other = other as? CallbackScheduler,
            callbacks.addresses == other.callbacks.addresses
        else { return false }
        return userdata == other.userdata
            || (callbacks.isSameAs?(userdata, other.userdata) ?? false)
    }
}

/// The handle of a queue, which ends with this. It is the scheduler's: that of a callback or of a thread.
private final class QueueHandle {
    let pointer: OpaquePointer

    init(_ queue: WorkQueue) { pointer = makeHandle(.workQueue, queue) }

    deinit { HandleSlab.releaseHolding(UnsafeMutableRawPointer(pointer)) }
}

/// The scheduler of a handle, which is one of two classes.
func heldScheduler(_ handle: UnsafeRawPointer?) throws(RealmError) -> any Scheduler {
    let object = try held(handle, .scheduler, as: AnyObject.self)
    if let thread = object as? ThreadScheduler { return thread }
    return unsafeDowncast(object, to: CallbackScheduler.self)
}

func heldScheduler(_ handle: OpaquePointer?) throws(RealmError) -> any Scheduler {
    try heldScheduler(UnsafeRawPointer(handle))
}

/// The handle of a scheduler's queue, the same at each call.
func queueHandle(of scheduler: any Scheduler) -> OpaquePointer {
    if let thread = scheduler as? ThreadScheduler {
        let made = thread.companion { QueueHandle(thread.queue) }
        return unsafeDowncast(made, to: QueueHandle.self).pointer
    }
    return unsafeDowncast(scheduler, to: CallbackScheduler.self).queueHandle.pointer
}
