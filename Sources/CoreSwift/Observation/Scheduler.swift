// Says which thread a realm belongs to and how to get work run there. A scheduler is shared by
// the realms of a thread and by whoever has work for them; it ends with the last of them.
//
// Two kinds: that of a thread, which can deliver once somebody has asked for the descriptor by which the
// thread is told of work (until then what is pending is done when the realm is refreshed), and one
// whose decisions an application makes.
//
// Called by sessions (thread check), by the notifier (delivery) and by the C ABI.

import CKernels

/// Work waiting for a scheduler's thread. Guarded by `lock`; the work itself runs outside it.
public final class WorkQueue: @unchecked Sendable {
    public typealias Work = () -> Void
    private let lock = Lock()
    private var waiting: [Work] = []
    /// Set exactly while something waits.
    private var event: EventDescriptor?
    /// The only thread that may run the work, as `ck_thread_number` names it; 0: not known here.
    private let thread: UInt64

    public init() { thread = 0 }

    fileprivate init(thread: UInt64) { self.thread = thread }

    public func add(_ work: @escaping Work) {
        lock.withLock {
            waiting.append(work)
            if waiting.count == 1 { event?.set() }
        }
    }

    /// Whether the calling thread is known to be another than that of the work.
    public var isElsewhere: Bool { thread != 0 && thread != ck_thread_number() }

    /// Runs what was queued before the call, in order. What the work adds waits for another call.
    public func performWork() {
        let work = lock.withLock { () -> [Work] in
            if !waiting.isEmpty { event?.clear() }
            defer { waiting = [] }
            return waiting
        }
        for item in work { item() }
    }

    fileprivate var hasEvent: Bool { lock.withLock { event != nil } }

    /// The descriptor that is readable while something waits, made by the first call.
    fileprivate func eventDescriptor() throws(RealmError) -> Int32 {
        try lock.withLock { () throws(RealmError) -> Int32 in
            if let event { return event.number }
            let made = try EventDescriptor()
            event = made
            if !waiting.isEmpty { made.set() }
            return made.number
        }
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

    /// Nil for the scheduler of `thread`.
    private let functions: Functions?
    private let thread: UInt64
    public let queue: WorkQueue
    /// Guards `queueHandle` and `endQueueHandle`.
    private let lock = Lock()
    /// What `notify` gets to name `queue`; nil until somebody asks.
    private var queueHandle: OpaquePointer?
    private var endQueueHandle: ((OpaquePointer) -> Void)?
    private let forkGeneration = ForkGuard.generation

    /// Of the calling thread, but not the one that `ofThisThread` gives.
    public init() {
        functions = nil
        thread = ck_thread_number()
        queue = WorkQueue(thread: thread)
    }

    /// The one that the calling thread keeps until it ends. A forked child has another: the parent's
    /// descriptor would wake the parent.
    public static var ofThisThread: Scheduler {
        let slot: UnsafeMutableRawPointer? = ck_thread_slot(Int32(CK_SLOT_SCHEDULER))
        let old = slot.map { Unmanaged<Scheduler>.fromOpaque($0) }
        if let known = old?.takeUnretainedValue(), known.forkGeneration == ForkGuard.generation {
            return known
        }
        let made = Scheduler()
        ck_set_thread_slot(
            Int32(CK_SLOT_SCHEDULER), Unmanaged.passRetained(made).toOpaque())
        ck_thread_slot_on_exit(Int32(CK_SLOT_SCHEDULER)) { raw in
            if let raw { Unmanaged<Scheduler>.fromOpaque(raw).release() }
        }
        old?.release()
        return made
    }

    /// Decided by an application. `makeHandle` gives the queue the name that `notify` passes on;
    /// `endHandle` ends that name with the scheduler.
    public init(
        _ functions: Functions, makeHandle: (WorkQueue) -> OpaquePointer,
        endHandle: @escaping (OpaquePointer) -> Void
    ) {
        self.functions = functions
        thread = 0
        queue = WorkQueue()
        queueHandle = makeHandle(queue)
        endQueueHandle = endHandle
    }

    /// The name of `queue`, made by the first call.
    public func handleOfQueue(
        makeHandle: (WorkQueue) -> OpaquePointer, endHandle: @escaping (OpaquePointer) -> Void
    ) -> OpaquePointer {
        lock.withLock {
            if let queueHandle { return queueHandle }
            let made = makeHandle(queue)
            queueHandle = made
            endQueueHandle = endHandle
            return made
        }
    }

    /// A descriptor that `poll` finds readable while work waits, for the scheduler of a thread. From the
    /// first call on it can deliver.
    public func eventDescriptor() throws(RealmError) -> Int32 {
        guard functions == nil else {
            throw RealmError(
                .illegalOperation,
                "a scheduler with callbacks has no event descriptor: its notify() tells of work")
        }
        return try queue.eventDescriptor()
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
        guard let functions else { return queue.hasEvent }
        guard functions.notify != nil else { return false }
        return functions.canDeliver?(functions.userdata) ?? false
    }

    /// Has `work` run on the scheduler's thread soon; callable on any thread. Dropped when the
    /// scheduler has no means for it.
    public func schedule(_ work: @escaping WorkQueue.Work) {
        guard let functions else {
            if queue.hasEvent { queue.add(work) }
            return
        }
        guard let notify = functions.notify else { return }
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
