// Realms of threads with run loops: opened before the loop runs, while it does, and without one.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// What a thread and the test say to each other.
private final class Signals: @unchecked Sendable {
    private let condition = NSCondition()
    private var given: Set<String> = []

    func give(_ name: String) {
        condition.withLock {
            given.insert(name)
            condition.broadcast()
        }
    }

    func has(_ name: String) -> Bool { condition.withLock { given.contains(name) } }

    /// False when it does not come within a minute.
    func wait(_ name: String) -> Bool {
        let end = Date(timeIntervalSinceNow: 60)
        return condition.withLock {
            while !given.contains(name) { guard condition.wait(until: end) else { return false } }
            return true
        }
    }
}

/// What a block of a loop uses, on the loop's thread.
private final class Kept: @unchecked Sendable {
    var realm: Realm?
    var token: NotificationToken?
}

@Suite struct RunLoopTests {
    /// The realm is told from the moment that the loop runs, and keeps the loop from ending.
    @Test func realmsOpenedBeforeTheirRunLoopRunsFollowFromThen() throws {
        let configuration = memory([Dog.self, Person.self, Address.self])
        let writer = try Realm(configuration: configuration)
        let (signals, log) = (Signals(), Log())
        Thread {
            defer { signals.give("ended") }
            guard let realm = try? Realm(configuration: configuration) else { return }
            let dogs = realm.objects(Dog.self)
            log.add("\(dogs.count) without a loop")
            log.add(misuse { _ = dogs.observe { _ in } } ?? "observed")
            let kept = Kept()
            kept.realm = realm
            RunLoop.current.perform {
                kept.token = kept.realm?.objects(Dog.self).observe { change in
                    log.add(change)
                    signals.give(log.all.last ?? "")
                }
            }
            // Nothing but the realm is in the loop: one without work returns at once.
            var passes = 0
            let end = Date(timeIntervalSinceNow: 60)
            while !signals.has("-[] +[1] ~[]"), Date() < end {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
                passes += 1
            }
            log.add(passes < 60 ? "slept" : "\(passes) passes")
            kept.token?.invalidate()
            // Nobody asks for it.
            signals.give("observed")
            while dogs.count < 3, Date() < end {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
            }
            log.add("\(dogs.count) in the loop")
        }.start()
        try #require(signals.wait("initial 0"))
        try writer.write { _ = writer.create(Dog.self) }
        try #require(signals.wait("-[] +[0] ~[]"))
        try writer.write { _ = writer.create(Dog.self) }
        try #require(signals.wait("observed"))
        try writer.write { _ = writer.create(Dog.self) }
        try #require(signals.wait("ended"))
        #expect(
            log.all == [
                "0 without a loop", "Can only add notification blocks from within runloops.",
                "initial 0", "-[] +[0] ~[]", "-[] +[1] ~[]", "slept", "3 in the loop",
            ])
    }

    /// Blocks that waited in front of what tells of the loop find that it runs.
    @Test func theFirstBlockOfALoopCanObserve() throws {
        let configuration = memory([Dog.self, Person.self, Address.self])
        let writer = try Realm(configuration: configuration)
        let (signals, log) = (Signals(), Log())
        Thread {
            let kept = Kept()
            RunLoop.current.perform {
                kept.token = kept.realm?.objects(Dog.self).observe { log.add($0) }
                kept.realm?.writeAsync {
                    _ = kept.realm?.create(Dog.self)
                }
            }
            kept.realm = try? Realm(configuration: configuration)
            let end = Date(timeIntervalSinceNow: 60)
            while log.all.count < 2, Date() < end {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
            }
            signals.give("ended")
        }.start()
        try #require(signals.wait("ended"))
        writer.refresh()
        #expect(writer.objects(Dog.self).count == 1)
        #expect(log.all.last == "-[] +[0] ~[]")
    }

    /// What a realm adds to the loop goes with it.
    @Test func loopsEndWithTheirRealms() throws {
        let configuration = memory([Dog.self, Person.self, Address.self])
        let writer = try Realm(configuration: configuration)
        /// What a pass of the loop takes that has a fifth of a second.
        func pass() -> Double {
            let start = Date()
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.2))
            return Date().timeIntervalSince(start)
        }
        let open = onAnotherThread { () -> Double in
            let realm = try? Realm(configuration: configuration)
            // With what tells that it runs.
            _ = pass()
            defer { withExtendedLifetime(realm) {} }
            return pass()
        }
        #expect(open >= 0.15)
        let after = onAnotherThread { () -> Double in
            do { _ = try? Realm(configuration: configuration) }
            let start = Date()
            for _ in 0..<3 {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 10))
            }
            return Date().timeIntervalSince(start)
        }
        #expect(after < 5)
        withExtendedLifetime(writer) {}
    }
}
