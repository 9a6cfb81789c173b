// Asynchronous transactions of a realm, for tests: blocks are queued, and run together by `drain`.

import Glibc

@testable import CoreSwift

final class BlockGroup {
    private let realm: Realm
    private let scheduler = ThreadScheduler.ofThisThread
    private let descriptor: Int32
    private(set) var queued = 0
    private(set) var completed = 0
    private var failures: [any Error] = [] { didSet { hasFailed = hasFailed || !failures.isEmpty } }
    /// A failure was seen, here or by who sets it: the file may be unusable, and then what is left is not run.
    var hasFailed = false
    private var numbers: [UInt32] = []

    init(_ realm: Realm) throws {
        self.realm = realm
        descriptor = try scheduler.eventDescriptor()
        try realm.askScheduler()
    }

    var isIdle: Bool { queued == completed }

    /// Queues a transaction.
    func commit(allowsGrouping: Bool = true, _ body: @escaping () throws -> Void) throws {
        let number = try realm.writeAsynchronously { [self] in
            do {
                try body()
                try realm.commitAsynchronously(allowsGrouping: allowsGrouping) { failure in
                    self.completed += 1
                    if let failure { self.failures.append(failure) }
                }
            } catch {
                completed += 1
                failures.append(error)
            }
        }
        queued += 1
        numbers.append(number)
    }

    /// Queues a block that ends its transaction by itself, or leaves it to be rolled back.
    func run(_ body: @escaping () throws -> Void) throws {
        let number = try realm.writeAsynchronously { [self] in
            completed += 1
            do { try body() } catch { failures.append(error) }
        }
        queued += 1
        numbers.append(number)
    }

    /// Performs what comes, for so many milliseconds at most.
    func turn(_ milliseconds: Int32) {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&ready, 1, milliseconds) > 0 { scheduler.queue.performWork() }
    }

    /// Performs what comes until `isDone`. A sync of a busy disk takes more than a second: what never comes is
    /// known only after many of them.
    func turns(until isDone: () -> Bool) {
        for _ in 0..<6000 where !isDone() { turn(10) }
    }

    /// Until all is durable; throws the first failure.
    func drain() throws {
        var idleTurns = 0
        while !isIdle, idleTurns < (hasFailed ? 50 : 6000) {
            let before = completed
            turn(10)
            idleTurns = completed == before ? idleTurns + 1 : 0
        }
        let left = queued - completed
        let failure = failures.first
        for number in numbers where left > 0 { _ = try? realm.cancelAsynchronous(number) }
        completed = queued
        numbers = []
        failures = []
        hasFailed = false
        if let failure { throw failure }
        guard left == 0 else { throw ToyFailure(description: "\(left) blocks do not end") }
    }
}
