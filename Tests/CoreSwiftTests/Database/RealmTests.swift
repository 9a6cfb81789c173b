// Transactions, versions and lifetimes of realms.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct RealmTests {
    let directory = TemporaryDirectory()

    private func age(_ realm: Realm, _ id: Int64) throws -> Value? {
        try realm.find("Dog", primaryKey: .int(id))?.get("age")
    }

    @Test func aCommitIsSeenByOthersAfterRefresh() throws {
        let a = try TestSchema.open(directory.file())
        let b = try TestSchema.open(directory.file())
        try b.beginRead()
        try a.write { _ = try a.create("Dog", primaryKey: .int(1), ["age": .int(3)]) }
        #expect(try age(b, 1) == nil)
        #expect(try b.refresh())
        #expect(try age(b, 1) == .int(3))
        #expect(try !b.refresh())
    }

    @Test func aRollbackLeavesNothing() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.write { _ = try realm.create("Dog", primaryKey: .int(1), ["age": .int(3)]) }
        try realm.beginWrite()
        let kept = try #require(try realm.find("Dog", primaryKey: .int(1)))
        try kept.set("age", .int(4))
        let fresh = try realm.create("Dog", primaryKey: .int(2))
        try realm.rollback()
        #expect(!fresh.isValid)
        #expect(try kept.get("age") == .int(3))
        #expect(try realm.find("Dog", primaryKey: .int(2)) == nil)
    }

    @Test func handlesOfRolledBackObjectsStayDeadWhenTheirKeyIsUsedAgain() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.beginWrite()
        let lost = try realm.create("Note", ["text": .string("lost")])
        try realm.rollback()
        try realm.beginWrite()
        let kept = try realm.create("Note", ["text": .string("kept")])
        #expect(kept.key == lost.key)
        #expect(kept.isValid)
        #expect(!lost.isValid)
        #expect(errorCode { _ = try lost.get("text") } == .invalidatedObject)
        try realm.commit()
    }

    @Test func versionsCountFromOneAndEveryCommitAddsOne() throws {
        let realm = try TestSchema.open(directory.file())
        #expect(realm.version == nil)
        try realm.beginRead()
        #expect(realm.version == 2)
        try realm.write {}
        #expect(realm.version == 3)
        try realm.beginWrite()
        #expect(realm.version == 3)
        try realm.rollback()
        #expect(realm.version == 3)
    }

    @Test func wrongStatesAreErrors() throws {
        let realm = try TestSchema.open(directory.file())
        #expect(errorCode { try realm.commit() } == .wrongTransactionState)
        #expect(errorCode { try realm.rollback() } == .wrongTransactionState)
        #expect(errorCode { _ = try realm.create("Note") } == .wrongTransactionState)
        try realm.beginWrite()
        #expect(errorCode { try realm.beginWrite() } == .wrongTransactionState)
        let dog = try realm.create("Dog", primaryKey: .int(1))
        try realm.commit()
        #expect(errorCode { try dog.set("age", .int(1)) } == .wrongTransactionState)
        #expect(errorCode { try dog.delete() } == .wrongTransactionState)
        realm.close()
        #expect(errorCode { try realm.beginWrite() } == .closedRealm)
        #expect(errorCode { _ = try dog.get("age") } == .invalidatedObject)
        realm.close()
    }

    @Test func valuesOfTheWrongKindAreErrors() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.beginWrite()
        let dog = try realm.create("Dog", primaryKey: .int(1))
        #expect(errorCode { try dog.set("name", .null) } == .propertyNotNullable)
        #expect(errorCode { try dog.set("age", .string("3")) } == .propertyTypeMismatch)
        #expect(errorCode { try dog.set("age", .double(3)) } == .propertyTypeMismatch)
        #expect(errorCode { try dog.set("id", .int(2)) } == .modifyPrimaryKey)
        #expect(errorCode { try dog.set("id", .int(1)) } == nil)
        #expect(errorCode { try dog.set("tail", .int(1)) } == .invalidProperty)
        #expect(errorCode { try dog.set("owner", .link(dog.link)) } == .propertyTypeMismatch)
        let person = try realm.create("Person", primaryKey: .string("Ann"))
        let link = person.link
        try person.delete()
        #expect(errorCode { try dog.set("owner", .link(link)) } == .noSuchObject)
        #expect(errorCode { _ = try realm.create("Dog") } == .missingPrimaryKey)
        #expect(
            errorCode { _ = try realm.create("Note", primaryKey: .int(1)) } == .unexpectedPrimaryKey
        )
        #expect(
            errorCode { _ = try realm.create("Dog", primaryKey: .int(1)) } == .objectAlreadyExists)
        #expect(
            errorCode { _ = try realm.create("Dog", primaryKey: .null) } == .propertyNotNullable)
        #expect(
            errorCode { _ = try realm.create("Dog", primaryKey: .string("x")) }
                == .propertyTypeMismatch)
        #expect(errorCode { _ = try realm.create("Cat") } == .noSuchTable)
        try realm.rollback()
    }

    @Test func deletingAnObjectNullifiesLinksToIt() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.write {
            let ann = try realm.create("Person", primaryKey: .string("Ann"))
            for id in 0..<2000 {
                _ = try realm.create(
                    "Dog", primaryKey: .int(Int64(id)), ["owner": .link(ann.link)])
            }
        }
        try realm.write {
            try #require(try realm.find("Person", primaryKey: .string("Ann"))).delete()
        }
        for id in stride(from: 0, to: 2000, by: 37) {
            let dog = try #require(try realm.find("Dog", primaryKey: .int(Int64(id))))
            #expect(try dog.get("owner") == .null)
            #expect(try dog.linked("owner") == nil)
        }
    }

    @Test func aFrozenRealmKeepsItsVersionOnEveryThread() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.write {
            for id in 0..<3000 {
                _ = try realm.create("Dog", primaryKey: .int(Int64(id)), ["age": .int(1)])
            }
        }
        let frozen = try realm.freeze()
        #expect(frozen.isFrozen)
        #expect(try realm.liveVersionCount() == 1)
        try realm.write {
            for id in 0..<3000 {
                try #require(try realm.find("Dog", primaryKey: .int(Int64(id)))).set("age", .int(2))
            }
        }
        #expect(try realm.liveVersionCount() == 2)
        #expect(errorCode { try frozen.beginWrite() } == .wrongTransactionState)
        let wrong = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = Random(UInt64(thread))
            for _ in 0..<2000 {
                let id = Int64(random.below(3000))
                let age = try? frozen.find("Dog", primaryKey: .int(id))?.get("age")
                if age != .int(1) { wrong.add() }
            }
        }
        #expect(wrong.value == 0)
        frozen.close()
        #expect(try realm.liveVersionCount() == 1)
    }

    @Test func aRealmBelongsToItsThread() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.write { _ = try realm.create("Dog", primaryKey: .int(1)) }
        let dog = try #require(try realm.find("Dog", primaryKey: .int(1)))
        nonisolated(unsafe) let theirs = (realm, dog)
        let codes = onAnotherThread { () -> [ErrorCode?] in
            [
                errorCode { try theirs.0.beginWrite() },
                errorCode { _ = try theirs.0.refresh() },
                errorCode { _ = try theirs.1.get("age") },
                errorCode { _ = try theirs.0.find("Dog", primaryKey: .int(1)) },
            ]
        }
        #expect(codes == [.wrongThread, .wrongThread, .wrongThread, .wrongThread])
        #expect(try dog.get("age") == .null)
    }

    @Test func tooManyLiveVersionsStopWriters() throws {
        var configuration = TestSchema.configuration(directory.file())
        configuration.versionsMax = 3
        let realm = try Realm.open(configuration)
        var pins: [Realm] = []
        for _ in 0..<3 {
            try realm.write {}
            pins.append(try realm.freeze())
        }
        try realm.write {}
        #expect(errorCode { try realm.beginWrite() } == .wrongTransactionState)
        pins.removeAll()
        try realm.write {}
    }

    @Test func anInMemoryRealmLivesAsLongAsItIsOpen() throws {
        var configuration = TestSchema.configuration(directory.file())
        configuration.isInMemory = true
        let a = try Realm.open(configuration)
        try a.write { _ = try a.create("Dog", primaryKey: .int(1)) }
        let b = try Realm.open(configuration)
        a.close()
        #expect(try b.find("Dog", primaryKey: .int(1)) != nil)
        b.close()
        let c = try Realm.open(configuration)
        #expect(try c.find("Dog", primaryKey: .int(1)) == nil)
        c.close()
        #expect(!FileManager.default.fileExists(atPath: directory.file()))
    }

    @Test func readOnlyAndImmutableRealmsRefuseWrites() throws {
        let path = directory.file()
        let writer = try TestSchema.open(path)
        try writer.write { _ = try writer.create("Dog", primaryKey: .int(1)) }
        writer.close()
        for mode in [SchemaMode.readOnly, .immutable] {
            var configuration = TestSchema.configuration(path)
            configuration.schemaMode = mode
            let realm = try Realm.open(configuration)
            #expect(try realm.find("Dog", primaryKey: .int(1)) != nil)
            #expect(errorCode { try realm.beginWrite() } == .wrongTransactionState)
            realm.close()
        }
    }

    @Test func textReadInAWriteTransactionOutlivesOtherChanges() throws {
        let realm = try TestSchema.open(directory.file())
        try realm.beginWrite()
        let dog = try realm.create("Dog", primaryKey: .int(0), ["name": .string("Rex")])
        let name = try #require(realm.schema.class_(named: "Dog")?.property(named: "name"))
        var borrowed = RawValue.null
        try dog.handle.getValue(name.key, &borrowed)
        for id in 1..<5000 {
            _ = try realm.create(
                "Dog", primaryKey: .int(Int64(id)), ["name": .string("dog number \(id)")])
        }
        #expect(try Value(borrowed) == .string("Rex"))
        try realm.commit()
    }
}

@Suite struct HandleLifetimeTests {
    let directory = TemporaryDirectory()

    @Test func objectHandlesKeepTheRealmOnceNobodyElseDoes() throws {
        var realm: Realm? = try TestSchema.open(directory.file())
        try realm?.write { _ = try realm?.create("Dog", primaryKey: .int(1), ["age": .int(5)]) }
        weak let observed = realm
        let key = try #require(realm?.schema.class_(named: "Dog"))
        let age = try #require(key.property(named: "age")).key
        let first = try #require(realm).object(key.key, 1)
        let second = first.clone()
        realm?.prepareForRelease()
        realm = nil
        #expect(observed != nil)
        var value = RawValue.null
        try first.getValue(age, &value)
        #expect(try Value(value) == .int(5))
        first.release()
        #expect(observed != nil)
        nonisolated(unsafe) let last = second
        onAnotherThread { last.release() }
        #expect(observed == nil)
    }

    @Test func aRealmWithoutHandlesGoesWithItsLastReference() throws {
        var realm: Realm? = try TestSchema.open(directory.file())
        weak let observed = realm
        try realm?.write { _ = try realm?.create("Dog", primaryKey: .int(1)) }
        realm?.prepareForRelease()
        realm = nil
        #expect(observed == nil)
    }
}
