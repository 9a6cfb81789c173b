// What a realm belongs to: a thread, a queue or an actor; how to ask whether the caller is there, and how to
// get work done there.

import CRuntime
import CoreSwift
import Foundation

/// A thread, a queue or an actor with the engine's scheduler for it.
struct Confinement {
    let scheduler: ClosureScheduler
    /// Equal for realms that can be shared. It names something that `scheduler` keeps, so that no other
    /// thread, queue or actor gets the same address while the scheduler is there.
    let id: Id
    /// Of a thread that is not the main one.
    private let loop: ThreadLoop?

    /// Observers can be told without refreshing: on threads, where the run loop runs or did.
    var delivers: Bool {
        guard let loop else { return true }
        // Blocks that waited in front of that of the loop run before it.
        if loop === ThreadLoop.current { loop.look() }
        return loop.isRunning
    }

    private init(_ scheduler: ClosureScheduler, _ id: Id, _ loop: ThreadLoop? = nil) {
        self.scheduler = scheduler
        self.id = id
        self.loop = loop
    }

    enum Id: Hashable {
        case thread(ObjectIdentifier)
        case main
        case queue(ObjectIdentifier)
        case actor(ObjectIdentifier)
    }

    private static let lock = NSLock()
    @exclusivity(unchecked) nonisolated(unsafe) private static var schedulers: [Id: WeakScheduler] =
        [:]

    private struct WeakScheduler {
        weak var scheduler: ClosureScheduler?
    }

    /// One scheduler for each queue and actor, for the engine to know them again.
    private static func shared(_ id: Id, _ make: () -> ClosureScheduler) -> ClosureScheduler {
        lock.withLock {
            if let known = schedulers[id]?.scheduler { return known }
            let made = make()
            schedulers = schedulers.filter { $0.value.scheduler != nil }
            schedulers[id] = WeakScheduler(scheduler: made)
            return made
        }
    }

    private static let mainKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// On the main thread, or on another one that runs the main queue: programs with an asynchronous `main`
    /// have no main thread after it has begun.
    private static var isMain: Bool {
        crt_is_main_thread() || DispatchQueue.getSpecific(key: mainKey) == true
    }

    /// The calling thread. The main one delivers by its queue, others by their run loops, from the moment that
    /// these run.
    static func current() -> Confinement {
        if isMain { return mainActor() }
        let plain = ThreadScheduler.ofThisThread
        let id = Id.thread(ObjectIdentifier(plain))
        let loop = ThreadLoop.current
        loop.look()
        let scheduler = shared(id) {
            let keeper = loop.makeKeeper()
            return ClosureScheduler(
                isCurrent: { plain.isOnThread }, canDeliver: { loop.isRunning },
                deliver: { keeper.perform($0) }
            )
        }
        return Confinement(scheduler, id, loop)
    }

    /// What tells a queue from others: Dispatch makes another object for the same queue at each call of
    /// `DispatchQueue.main`, here on Linux.
    private final class QueueName: Sendable {
        let key = DispatchSpecificKey<Bool>()
    }
    private static let queueName = DispatchSpecificKey<QueueName>()

    private static func isMain(_ queue: DispatchQueue) -> Bool {
        queue.getSpecific(key: mainKey) == true
    }

    private static func name(of queue: DispatchQueue) -> QueueName {
        lock.withLock {
            if let known = queue.getSpecific(key: queueName) { return known }
            let name = QueueName()
            queue.setSpecific(key: queueName, value: name)
            queue.setSpecific(key: name.key, value: true)
            return name
        }
    }

    /// A serial queue.
    static func queue(_ queue: DispatchQueue) -> Confinement {
        if isMain(queue) { return mainActor() }
        let name = name(of: queue)
        let id = Id.queue(ObjectIdentifier(name))
        let scheduler = shared(id) {
            ClosureScheduler(
                isCurrent: { DispatchQueue.getSpecific(key: name.key) == true },
                deliver: { work in queue.async { work() } }
            )
        }
        return Confinement(scheduler, id)
    }

    /// What tells an actor from later ones at its address.
    private final class ActorName: @unchecked Sendable {
        weak let actor: (any Actor)?
        init(_ actor: any Actor) { self.actor = actor }
    }
    /// By address, under `lock`.
    @exclusivity(unchecked) nonisolated(unsafe) private static var actorNames:
        [ObjectIdentifier: ActorName] = [:]

    private static func name(of actor: any Actor) -> ActorName {
        lock.withLock {
            if let known = actorNames[ObjectIdentifier(actor)], known.actor === actor {
                return known
            }
            actorNames = actorNames.filter { $0.value.actor != nil }
            let name = ActorName(actor)
            actorNames[ObjectIdentifier(actor)] = name
            return name
        }
    }

    /// An actor: work runs as a task on it. A realm can outlive it, and its address be another's then.
    static func actor(_ actor: any Actor) -> Confinement {
        if actor === MainActor.shared { return mainActor() }
        let name = name(of: actor)
        let id = Id.actor(ObjectIdentifier(name))
        let executor = unsafeBitCast(
            actor.unownedExecutor, to: (UnsafeRawPointer, UInt).self)
        let words = UncheckedBox(executor)
        let scheduler = shared(id) {
            ClosureScheduler(
                isCurrent: { crt_is_on_executor(words.value.0, words.value.1) },
                deliver: { work in
                    guard let actor = name.actor else { return }
                    Task { await run(work, on: actor) }
                }
            )
        }
        return Confinement(scheduler, id)
    }

    /// Kept for good: it is the one that is asked for most.
    private static let main = Confinement(
        ClosureScheduler(
            isCurrent: { isMain }, deliver: { work in DispatchQueue.main.async { work() } }
        ), .main)

    private static func mainActor() -> Confinement { main }

    private static func run(_ work: @Sendable () -> Void, on actor: isolated any Actor) { work() }
}

/// Something that is used in one place at a time, whatever the compiler can see.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// A scheduler of closures, which is the same as no other.
final class ClosureScheduler: EngineScheduler {
    typealias Work = @Sendable () -> Void
    private let isCurrent: @Sendable () -> Bool
    private let delivers: @Sendable () -> Bool
    private let deliver: @Sendable (@escaping Work) -> Void
    /// Tasks on an actor may change places; what they do may not.
    private let queue = WorkQueue()

    init(
        isCurrent: @escaping @Sendable () -> Bool,
        canDeliver: @escaping @Sendable () -> Bool = { true },
        deliver: @escaping @Sendable (@escaping Work) -> Void
    ) {
        self.isCurrent = isCurrent
        delivers = canDeliver
        self.deliver = deliver
    }

    var isOnThread: Bool { isCurrent() }
    var canDeliver: Bool { delivers() }

    func schedule(_ work: @escaping WorkQueue.Work) {
        queue.add(work)
        deliver { [queue] in queue.performWork() }
    }
}
