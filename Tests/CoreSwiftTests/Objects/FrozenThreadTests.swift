// Frozen realms, which share the tables of their version and hand them on.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FrozenThreadTests {
    private func add(_ realm: Realm, _ ids: ClosedRange<Int64>) throws {
        try realm.write {
            for id in ids {
                _ = try realm.create("Dog", primaryKey: .int(id), ["name": .string("dog \(id)")])
            }
        }
    }

    private func count(_ realm: Realm) throws -> Int { try realm.objects("Dog").count() }

    @Test func `each frozen realm has its version, whichever are open beside it`() throws {
        let directory = TemporaryDirectory()
        let realm = try TestSchema.open(directory.file())
        try add(realm, 1...3)
        let first = try realm.freeze()
        let second = try realm.freeze()
        #expect(first !== second)
        try add(realm, 4...4)
        let third = try realm.freeze()
        #expect(try [first, second, third, realm].map(count) == [3, 3, 4, 4])
        let dog = try #require(try first.find("Dog", primaryKey: .int(2)))
        let other = try #require(try second.find("Dog", primaryKey: .int(2)))
        first.close()
        // The tables are still there, and read by the second.
        #expect(errorCode { _ = try dog.get("name") } == .invalidatedObject)
        #expect(errorCode { _ = try count(first) } == .closedRealm)
        #expect(try other.get("name") == .string("dog 2"))
        let again = try second.freeze()
        second.close()
        #expect(errorCode { _ = try other.get("name") } == .invalidatedObject)
        #expect(try count(again) == 3)
        #expect(try realm.liveVersionCount() == 2)
        again.close()
        third.close()
        #expect(try realm.liveVersionCount() == 1)
    }

    @Test func `tables go on to the next version, also with another schema`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try TestSchema.open(path)
        for round in 1...5 {
            try add(realm, Int64(round)...Int64(round))
            for _ in 0..<3 {
                let frozen = try realm.freeze()
                #expect(try count(frozen) == round)
                #expect(frozen.version == realm.version)
                frozen.close()
            }
            #expect(try realm.liveVersionCount() == 1)
        }
        let before = try realm.freeze()
        let cat = ClassSchema("Cat", properties: [PropertySchema("lives", .int)])
        try realm.updateSchema(
            SchemaRequest(
                Schema([TestSchema.dog, TestSchema.person, TestSchema.note, cat]), version: 2,
                mode: .automatic))
        try realm.write { _ = try realm.create("Cat", ["lives": .int(9)]) }
        let after = try realm.freeze()
        #expect(before.schema.class_(named: "Cat") == nil)
        #expect(try after.objects("Cat").count() == 1)
        before.close()
        after.close()
        let last = try realm.freeze()
        #expect(try last.objects("Cat").count() == 1)
        #expect(try count(last) == 5)
    }

    @Test func `in a write transaction the version before is frozen`() throws {
        let directory = TemporaryDirectory()
        let realm = try TestSchema.open(directory.file())
        try add(realm, 1...1)
        try realm.beginWrite()
        _ = try realm.create("Dog", primaryKey: .int(2), ["name": .string("new")])
        let frozen = try realm.freeze()
        #expect(try count(frozen) == 1)
        try realm.commit()
        #expect(try count(frozen) == 1)
        #expect(try count(try realm.freeze()) == 2)
    }

    @Test func `nothing is kept of a file that is compacted or closed`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try TestSchema.open(path)
        try add(realm, 1...3)
        let frozen = try realm.freeze()
        #expect(try !realm.compact())
        frozen.close()
        #expect(try realm.compact())
        let next = try realm.freeze()
        #expect(try count(next) == 3)
        realm.close()
        #expect(try count(next) == 3)
        #expect(try count(try next.freeze()) == 3)
    }

    @Test func `a cached realm is frozen once at a version`() throws {
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file())
        configuration.isCached = true
        let realm = try Realm.open(configuration)
        try add(realm, 1...1)
        let frozen = try realm.freeze()
        #expect(try realm.freeze() === frozen)
        try add(realm, 2...2)
        let next = try realm.freeze()
        #expect(next !== frozen)
        next.close()
        #expect(try count(try realm.freeze()) == 2)
        #expect(try count(frozen) == 1)
    }

    @Test func `threads read and close frozen realms while the next ones are made`() throws {
        let directory = TemporaryDirectory()
        let realm = try TestSchema.open(directory.file())
        let wrong = Counter()
        var readers: [TestThread] = []
        for round in 1...40 {
            try add(realm, Int64(round)...Int64(round))
            for _ in 0..<2 {
                nonisolated(unsafe) let frozen = try realm.freeze()
                readers.append(
                    TestThread {
                        for _ in 0..<20 {
                            let dog = try? frozen.find("Dog", primaryKey: .int(Int64(round)))
                            if (try? dog?.get("name")) != .string("dog \(round)") { wrong.add() }
                            if (try? frozen.objects("Dog").count()) != round { wrong.add() }
                        }
                        frozen.close()
                    })
            }
        }
        for reader in readers { reader.join() }
        #expect(wrong.value == 0)
        #expect(try realm.liveVersionCount() == 1)
    }
}
