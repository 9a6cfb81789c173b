// Says which thread a realm belongs to and how to get work run there. A scheduler is shared by
// the realms of a thread and by whoever has work for them; it ends with the last of them.
//
// Two kinds: confined to the thread that made it, without means to run work there (what is
// pending is then done when the realm is refreshed), and one whose decisions an application makes.
//
// Called by sessions (thread check), by the notifier (delivery) and by the C ABI.

import CKernels

/// Work waiting for a scheduler's thread. Guarded by `lock`; the work itself runs outside it.
public final class WorkQueue: @unchecked Sendable {
    public typealias Work = () -> Void
    private let lock = Lock()
    private var waiting: [Work] = []

    public init() {}

    public func add(_ work: @escaping Work) {
        lock.withLock { waiting.append(work) }
    }

    /// Runs what was queued before the call, in order. What the work adds waits for another call.
    public func performWork() {
        let work = lock.withLock { () -> [Work] in
            defer { waiting = [] }
            return waiting
        }
        for item in work { item() }
    }
}

public final class Scheduler: @unchecked Sendable {
    public typealias Userdata = UnsafeMutableRawPointer?

    /// An application's decisions, in the form of C function pointers so that two schedulers can
    /// be compared. Absent ones mean: work is dropped, never on the thread, same only for the
    /// same userdata, cannot deliver.
    public struct Functions {
        public var userdata: Userdata
        public var free: (@convention(c) (Userdata) -> Void)?
        public var notify: (@convention(c) (Userdata, OpaquePointer?) -> Void)?
        public var isOnThread: (@convention(c) (Userdata) -> Bool)?
        public var isSameAs: (@convention(c) (Userdata, Userdata) -> Bool)?
        public var canDeliver: (@convention(c) (Userdata) -> Bool)?

        public init(userdata: Userdata = nil) { self.userdata = userdata }
    }

    /// Nil for a scheduler confined to `thread`.
    private let functions: Functions?
    private let thread: UInt64
    public let queue = WorkQueue()
    /// What `notify` gets to name `queue`.
    private let queueHandle: OpaquePointer?
    private let endQueueHandle: ((OpaquePointer) -> Void)?

    /// Confined to the calling thread.
    public init() {
        functions = nil
        thread = ck_thread_number()
        queueHandle = nil
        endQueueHandle = nil
    }

    /// Decided by an application. `makeHandle` gives the queue the name that `notify` passes on;
    /// `endHandle` ends that name with the scheduler.
    public init(
        _ functions: Functions, makeHandle: (WorkQueue) -> OpaquePointer,
        endHandle: @escaping (OpaquePointer) -> Void
    ) {
        self.functions = functions
        thread = 0
        queueHandle = makeHandle(queue)
        endQueueHandle = endHandle
    }

    deinit {
        if let queueHandle { endQueueHandle?(queueHandle) }
        if let functions { functions.free?(functions.userdata) }
    }

    /// Whether the caller is on the scheduler's thread.
    @inline(__always)
    public var isOnThread: Bool {
        if let functions { return functions.isOnThread?(functions.userdata) ?? false }
        return thread == ck_thread_number()
    }

    /// Whether `schedule` leads to the work being run.
    public var canDeliver: Bool {
        guard let functions, functions.notify != nil else { return false }
        return functions.canDeliver?(functions.userdata) ?? false
    }

    /// Has `work` run on the scheduler's thread soon; callable on any thread. Dropped when the
    /// scheduler has no means for it.
    public func schedule(_ work: @escaping WorkQueue.Work) {
        guard let functions, let notify = functions.notify else { return }
        queue.add(work)
        notify(functions.userdata, queueHandle)
    }

    /// Whether both stand for the same thread.
    public func isSame(as other: Scheduler) -> Bool {
        if self === other { return true }
        switch (functions, other.functions) {
        case (nil, nil):
            return thread == other.thread
        case (let a?, let b?):
            guard a.hasSameFunctions(as: b) else { return false }
            return a.userdata == b.userdata || (a.isSameAs?(a.userdata, b.userdata) ?? false)
        default:
            return false
        }
    }
}

extension Scheduler.Functions {
    /// Function pointers have no equality in Swift; their addresses do. An optional C function
    /// pointer is one word, zero for nil.
    private var addresses: [UInt] {
        [
            unsafeBitCast(free, to: UInt.self), unsafeBitCast(notify, to: UInt.self),
            unsafeBitCast(isOnThread, to: UInt.self), unsafeBitCast(isSameAs, to: UInt.self),
            unsafeBitCast(canDeliver, to: UInt.self),
        ]
    }

    fileprivate func hasSameFunctions(as other: Scheduler.Functions) -> Bool {
        addresses == other.addresses
    }
}
