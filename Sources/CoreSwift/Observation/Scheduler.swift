// Says which thread a realm belongs to and how to get work run there. A scheduler is shared by
// the realms of a thread and by whoever has work for them; it ends with the last of them.
//
// Here is that of a thread, which can deliver once somebody has asked for the descriptor by which the
// thread is told of work (until then what is pending is done when the realm is refreshed). Others are the
// C interface's, whose decisions an application makes, and the object API's for queues, actors and run loops.
//
// Called by sessions (thread check), by the notifier (delivery) and by the C ABI.

import CKernels

/// Work waiting for a scheduler's thread. Guarded by `lock`; the work itself runs outside it.
package final class WorkQueue: @unchecked Sendable {
    package typealias Work = () -> Void
    private let lock = Lock()
    private var waiting: [Work] = []
    /// Set exactly while something waits.
    private var event: EventDescriptor?
    /// The only thread that may run the work, as `ck_thread_number` names it; 0: not known here.
    private let thread: UInt64

    package init() { thread = 0 }

    fileprivate init(thread: UInt64) { self.thread = thread }

    package func add(_ work: @escaping Work) {
        lock.withLock {
            waiting.append(work)
            if waiting.count == 1 { event?.set() }
        }
    }

    /// Whether the calling thread is known to be another than that of the work.
    package var isElsewhere: Bool { thread != 0 && thread != ck_thread_number() }

    /// Runs what was queued before the call, in order. What the work adds waits for another call.
    package func performWork() {
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

/// A thread, or what stands for one: a queue, an actor, whatever an application says.
public protocol Scheduler: AnyObject, Sendable {
    /// Whether the caller is on the scheduler's thread. Sessions ask once for each thread that calls, and
    /// remember the one that is.
    var isOnThread: Bool { get }

    /// Whether `schedule` leads to the work being run.
    var canDeliver: Bool { get }

    /// Has `work` run on the scheduler's thread soon, in the order of the calls; callable on any thread.
    /// Dropped when the scheduler has no means for it.
    func schedule(_ work: @escaping () -> Void)

    /// Whether both stand for the same thread.
    func isSame(as other: any Scheduler) -> Bool
}

extension Scheduler {
    public func isSame(as other: any Scheduler) -> Bool { self === other }
}

/// One of which it may be unknown whether `schedule` leads to the work being run. Then it cannot deliver,
/// and is told of commits all the same: from another thread, and when the call that had it told is over.
package protocol UncertainScheduler: Scheduler {
    var isUncertain: Bool { get }
    /// Says once more that work waits.
    func remind()
}

/// The scheduler of a thread.
public final class ThreadScheduler: Scheduler, @unchecked Sendable {
    private let thread: UInt64
    package let queue: WorkQueue
    private let lock = Lock()
    /// See `companion`; under `lock`.
    private var keptCompanion: AnyObject?
    private let forkGeneration = ForkGuard.generation

    /// Of the calling thread, but not the one that `ofThisThread` gives.
    public init() {
        thread = ck_thread_number()
        queue = WorkQueue(thread: thread)
    }

    /// The one that the calling thread keeps until it ends. A forked child has another: the parent's
    /// descriptor would wake the parent.
    public static var ofThisThread: ThreadScheduler {
        let slot: UnsafeMutableRawPointer? = ck_thread_slot(Int32(CK_SLOT_SCHEDULER))
        let old = slot.map { Unmanaged<ThreadScheduler>.fromOpaque($0) }
        if let known = old?.takeUnretainedValue(), known.forkGeneration == ForkGuard.generation {
            return known
        }
        let made = ThreadScheduler()
        ck_set_thread_slot(
            Int32(CK_SLOT_SCHEDULER), Unmanaged.passRetained(made).toOpaque())
        ck_thread_slot_on_exit(Int32(CK_SLOT_SCHEDULER)) { raw in
            if let raw { Unmanaged<ThreadScheduler>.fromOpaque(raw).release() }
        }
        old?.release()
        return made
    }

    /// What somebody above keeps as long as the scheduler is there, made by the first call. It may keep the
    /// queue, but not the scheduler.
    public func companion(_ make: () -> AnyObject) -> AnyObject {
        lock.withLock {
            if let keptCompanion { return keptCompanion }
            let made = make()
            keptCompanion = made
            return made
        }
    }

    /// A descriptor that `poll` finds readable while work waits. From the first call on the scheduler can
    /// deliver.
    public func eventDescriptor() throws(RealmError) -> Int32 { try queue.eventDescriptor() }

    public var isOnThread: Bool { thread == ck_thread_number() }

    public var canDeliver: Bool { queue.hasEvent }

    public func schedule(_ work: @escaping () -> Void) {
        if queue.hasEvent { queue.add(work) }
    }

    public func isSame(as other: any Scheduler) -> Bool {
        self === other || (other as? ThreadScheduler)?.thread == thread
    }
}
