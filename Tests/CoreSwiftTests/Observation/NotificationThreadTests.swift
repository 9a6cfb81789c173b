// Observers beside writers on other threads: commits wake the realm, tokens end anywhere.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct NotificationThreadTests {
    /// A scheduler whose work this thread runs when it looks.
    private final class Loop: Scheduler, @unchecked Sendable {
        private let queue = WorkQueue()
        let lock = Lock()
        var pending = 0

        var isOnThread: Bool { true }
        var canDeliver: Bool { true }

        func schedule(_ work: @escaping WorkQueue.Work) {
            queue.add(work)
            lock.withLock { pending += 1 }
        }

        func turn() -> Bool {
            let count = lock.withLock { () -> Int in
                defer { pending = 0 }
                return pending
            }
            for _ in 0..<count { queue.performWork() }
            return count > 0
        }
    }

    @Test func `who observed by a handle hears nothing after its end on another thread`() throws {
        let directory = TemporaryDirectory()
        let loop = Loop()
        var configuration = TestSchema.configuration(directory.file())
        configuration.scheduler = loop
        let realm = try Realm.open(configuration)
        try realm.write { _ = try realm.create("Dog", primaryKey: .int(1), ["name": .string("a")]) }
        let dog = try #require(try realm.find("Dog", primaryKey: .int(1)))
        var calls = [0, 0]
        nonisolated(unsafe) let first = dog.handle.clone()
        let token = try first.observe { _ in calls[0] += 1 }
        // A copy of an observed handle is a handle of its own.
        let copy = first.clone()
        copy.release()
        let second = dog.handle.clone()
        let other = try second.observe { _ in calls[1] += 1 }
        _ = loop.turn()
        #expect(calls == [1, 1])
        onAnotherThread { first.release() }
        try realm.write { try dog.set("name", .string("b")) }
        _ = loop.turn()
        #expect(calls == [1, 2])
        second.release()
        try realm.write { try dog.set("name", .string("c")) }
        _ = loop.turn()
        #expect(calls == [1, 2])
        token.invalidate()
        other.invalidate()
        realm.close()
    }

    @Test func `commits of other threads wake the realm and its observers`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let loop = Loop()
        var configuration = TestSchema.configuration(path)
        configuration.scheduler = loop
        let realm = try Realm.open(configuration)
        let dogs = try realm.objects("Dog")
        var seen = 0
        var calls = 0
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
        let token = try dogs.observe(handle: handle) { changes in
            calls += 1
            seen += changes.insertions.count
        }
        _ = loop.turn()
        #expect(calls == 1)
        let commits = 60
        let isDone = Loop()
        let writers = (0..<2).map { writer in
            TestThread {
                do {
                    let realm = try TestSchema.open(path)
                    for number in 0..<commits {
                        try realm.write {
                            _ = try realm.create(
                                "Dog", primaryKey: .int(Int64(writer * commits + number)),
                                ["name": .string("x")])
                        }
                    }
                    realm.close()
                } catch {
                    Issue.record("\(error)")
                }
                isDone.lock.withLock { isDone.pending += 1 }
            }
        }
        // Tokens of the observed end on other threads meanwhile.
        while isDone.lock.withLock({ isDone.pending < 2 }) {
            let more = try realm.objects("Dog")
            let handle = UnsafeRawPointer(Unmanaged.passUnretained(more).toOpaque())
            let short = try more.observe(handle: handle) { _ in }
            TestThread { short.invalidate() }.join()
            _ = loop.turn()
            more.endObservation(handle: handle)
        }
        for writer in writers { writer.join() }
        while loop.turn() {}
        #expect(seen == 2 * commits)
        #expect(try dogs.count() == 2 * commits)
        token.invalidate()
        realm.close()
    }

    @Test func `a thousand observers and none that is told`() throws {
        let directory = TemporaryDirectory()
        let realm = try TestSchema.open(directory.file())
        try realm.write {
            for id in 0..<1001 {
                _ = try realm.create("Dog", primaryKey: .int(Int64(id)), ["name": .string("x")])
            }
        }
        let dog = try #require(realm.schema.class_(named: "Dog"))
        var handles: [ObjectHandle] = []
        var tokens: [NotificationToken] = []
        var calls = 0
        for id in 0..<1000 {
            let handle = try realm.object(dog.key, ObjectKey(rawValue: Int64(id)))
            handles.append(handle)
            tokens.append(try handle.observe { _ in calls += 1 })
        }
        _ = try realm.refresh()
        #expect(calls == 1000)
        try realm.write {
            try realm.object(dog.key, ObjectKey(rawValue: 1000)).setValue(
                try #require(dog.property(named: "age")).key, .int(1))
        }
        _ = try realm.refresh()
        #expect(calls == 1000)
        // What is up to date holds one version.
        #expect(try realm.liveVersionCount() == 1)
        for handle in handles { handle.release() }
        try realm.write {
            try realm.object(dog.key, ObjectKey(rawValue: 1)).setValue(
                try #require(dog.property(named: "age")).key, .int(1))
        }
        _ = try realm.refresh()
        #expect(calls == 1000)
        withExtendedLifetime(tokens) {}
        realm.close()
    }

    @Test func `an observed query is kept up to date, not made anew`() throws {
        let directory = TemporaryDirectory()
        let realm = try TestSchema.open(directory.file())
        try realm.write {
            for id in 0..<3000 {
                _ = try realm.create(
                    "Dog", primaryKey: .int(Int64(id)),
                    ["name": .string("dog \(id % 700)"), "age": .int(Int64(id % 20))])
            }
        }
        let dog = try #require(realm.schema.class_(named: "Dog"))
        let before = try realm.freeze()
        let description = try realm.query(dog.key, "age < 10 SORT(name ASC)").findAll().description
        let keys = try description.keys(SnapshotReader(tables: try before.readTables()))
        let kept = try #require(MaintainedResults(description, keys))
        try realm.write {
            let age = try #require(dog.property(named: "age")).key
            try realm.object(dog.key, ObjectKey(rawValue: 5)).setValue(age, .int(15))
            try realm.object(dog.key, ObjectKey(rawValue: 15)).setValue(age, .int(5))
        }
        let context = try ChangeContext(
            from: try before.readTables(), to: try realm.readTables())
        let changes = try #require(try kept.changes(context, [nil]))
        #expect(changes[0].deletions.count == 1 && changes[0].insertions.count == 1)
        let after = try description.keys(SnapshotReader(tables: try realm.readTables()))
        #expect(kept.keys == after)
        before.close()
        realm.close()
    }
}
