// Changes as asynchronous sequences, and observers on actors.

import CoreSwift
import Foundation

/// Changes, one after another: `for await change in results.changes { … }`. The observation begins with
/// the loop and ends with it. To be used where the realm belongs: on the main actor, or on its own.
public struct RealmChanges<Element>: AsyncSequence {
    private let begin: (@escaping (Element) -> Void) -> NotificationToken

    init(_ begin: @escaping (@escaping (Element) -> Void) -> NotificationToken) {
        self.begin = begin
    }

    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream<UncheckedBox<Element>>.makeStream()
        let token = begin { continuation.yield(UncheckedBox($0)) }
        return Iterator(iterator: stream.makeAsyncIterator(), token: token)
    }

    /// Goes through the changes; the observation ends with it.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncStream<UncheckedBox<Element>>.Iterator
        fileprivate let token: NotificationToken

        public mutating func next() async -> Element? { await iterator.next()?.value }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Never) -> Element? {
            await iterator.next(isolation: actor)?.value
        }
    }
}

extension RealmCollection {
    /// What happens to the collection, beginning with `.initial`.
    public var changes: RealmChanges<RealmCollectionChange<Self>> {
        RealmChanges { self.observe($0) }
    }
}

extension _ObservableObject {
    /// What happens to the object.
    public var changes: RealmChanges<ObjectChange<Self>> { RealmChanges { self.observe($0) } }
}

extension Realm {
    /// The transactions that the realm shows.
    public var changes: RealmChanges<Notification> {
        RealmChanges { yield in observe { notification, _ in yield(notification) } }
    }
}

// MARK: - Actors

extension Observing {
    /// Observes the counterpart of a subject on an actor: `begin` is handed that, and what tells the block of a change.
    /// Misuse where no realm manages the subject.
    static func observe<A: Actor, C: ThreadConfined, Change>(
        _ subject: C, on actor: A, _isolation: isolated (any Actor)?,
        _ block: @Sendable @escaping (isolated A, Change) -> Void,
        _ begin: @escaping (C, @escaping (Change) -> Void) -> NotificationToken
    ) async -> NotificationToken {
        guard let configuration = subject.realm?.configuration else {
            misuse(
                subject is ObjectBase
                    ? "Only objects which are managed by a Realm support change notifications"
                    : "Change notifications are only supported on managed collections.")
        }
        let reference = ThreadSafeReference(to: subject)
        let work = UncheckedBox { (actor: A) -> NotificationToken in
            let session: _RealmSession
            do {
                session = try SessionCache.open(configuration, .actor(actor))
            } catch {
                misuse("\(error)")
            }
            // Deleted meanwhile: nothing will ever be told.
            guard let there = Realm(session).resolve(reference) else { return NotificationToken() }
            return begin(there) { change in
                let call = UncheckedBox((block, change))
                // Delivered by a task on the actor.
                actor.assumeIsolated { call.value.0($0, call.value.1) }
            }
        }
        return await run(on: actor, work)
    }

    private static func run<A: Actor>(
        on actor: isolated A, _ work: UncheckedBox<(A) -> NotificationToken>
    ) async -> NotificationToken { work.value(actor) }
}

extension RealmCollection {
    /// Calls a block on an actor with what happens to the collection, beginning with `.initial`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await Observing.observe(
            self, on: actor, _isolation: _isolation, block
        ) { there, tell in
            there.observe(keyPaths: keyPaths, tell)
        }
    }
}

extension _ObservableObject where Self: ThreadConfined {
    /// Calls a block on an actor with what happens to the object.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await Observing.observe(
            self, on: actor, _isolation: _isolation, block
        ) { there, tell in
            there.observe(keyPaths: keyPaths, tell)
        }
    }
}
