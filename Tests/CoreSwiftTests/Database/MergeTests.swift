// Merging a realm into a file that exists.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MergeTests {
    private static let city = ClassSchema(
        "City", primaryKey: "_id",
        properties: [
            PropertySchema("_id", .string, flags: [.primaryKey, .nullable]),
            PropertySchema("size", .int, flags: [.nullable]),
        ])
    private static let person = ClassSchema(
        "Person", primaryKey: "_id",
        properties: [
            PropertySchema("_id", .int, flags: [.primaryKey]),
            PropertySchema("name", .string, flags: [.indexed]),
            PropertySchema("home", .object, linkTarget: "City", flags: [.nullable]),
            PropertySchema("friend", .object, linkTarget: "Person", flags: [.nullable]),
        ])
    private static let pet = ClassSchema(
        "Pet", primaryKey: "_id",
        properties: [
            PropertySchema("_id", .int, flags: [.primaryKey]),
            PropertySchema("owner", .object, linkTarget: "Person", flags: [.nullable]),
        ])

    private static func open(_ path: String, _ classes: [ClassSchema]) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, Schema(classes)))
    }

    private static func linkedKey(_ object: DynamicObject, _ link: String) throws -> Value? {
        try object.linked(link)?.get("_id")
    }

    @Test func objectsAreCreatedOrTakenOverByPrimaryKeyAndLinksFollow() throws {
        let directory = TemporaryDirectory()
        let target = try Self.open(directory.file("target"), [Self.person, Self.city])
        try target.write {
            // Object keys of the two files differ, so links must go by primary key.
            for name in ["x", "y", "Oslo"] {
                _ = try target.create("City", primaryKey: .string(name), ["size": .int(1)])
            }
            _ = try target.create("Person", primaryKey: .int(2), ["name": .string("old two")])
            let own = try target.create("Person", primaryKey: .int(9), ["name": .string("own")])
            let two = try #require(try target.find("Person", primaryKey: .int(2)))
            try two.set("friend", .link(own.link))
        }
        let source = try Self.open(
            directory.file("source"), [Self.person, Self.city, Self.pet])
        let long = String(repeating: "long ", count: 2000)
        try source.write {
            let oslo = try source.create("City", primaryKey: .string("Oslo"), ["size": .int(7)])
            let none = try source.create("City", primaryKey: .null, ["size": .null])
            let one = try source.create(
                "Person", primaryKey: .int(1),
                ["name": .string(long), "home": .link(oslo.link)])
            let two = try source.create(
                "Person", primaryKey: .int(2),
                ["name": .string("two"), "home": .link(none.link)])
            try one.set("friend", .link(two.link))
            _ = try source.create("Pet", primaryKey: .int(-5), ["owner": .link(one.link)])
        }
        try source.beginWrite()
        _ = try source.create("Person", primaryKey: .int(3), ["name": .string("uncommitted")])
        try source.convert(
            to: Configuration(path: directory.file("target")), merging: true)
        try source.rollback()

        _ = try target.refresh()
        let one = try #require(try target.find("Person", primaryKey: .int(1)))
        #expect(try one.get("name") == .string(long))
        #expect(try Self.linkedKey(one, "home") == .string("Oslo"))
        #expect(try Self.linkedKey(one, "friend") == .int(2))
        #expect(try one.linked("home")?.get("size") == .int(7))
        let two = try #require(try target.find("Person", primaryKey: .int(2)))
        #expect(try two.get("name") == .string("two"))
        #expect(try two.linked("friend") == nil, "the null of the source wins")
        #expect(try Self.linkedKey(two, "home") == .null)
        #expect(try target.find("Person", primaryKey: .int(9))?.get("name") == .string("own"))
        #expect(
            try target.find("Person", primaryKey: .int(3))?.get("name") == .string("uncommitted"))
        target.close()

        let whole = try Self.open(
            directory.file("target"), [Self.person, Self.city, Self.pet])
        let pet = try #require(try whole.find("Pet", primaryKey: .int(-5)))
        #expect(try Self.linkedKey(pet, "owner") == .int(1))
        let city = try #require(whole.schema.class_(named: "City"))
        #expect(try whole.objectCount(city.key) == 4)
        #expect(try whole.check().isEmpty)
        whole.close()
    }

    @Test func collectionsAreReplacedAndTheirLinksFollow() throws {
        let box = ClassSchema(
            "Box", primaryKey: "_id",
            properties: [
                PropertySchema("_id", .string, flags: [.primaryKey]),
                PropertySchema("sizes", .int, collection: .list),
                PropertySchema("tags", .string, collection: .set),
                PropertySchema("inside", .object, collection: .list, linkTarget: "Box"),
                PropertySchema(
                    "named", .object, collection: .dictionary, linkTarget: "Box",
                    flags: [.nullable]),
                PropertySchema("any", .mixed, flags: [.nullable]),
            ])
        let directory = TemporaryDirectory()
        let target = try Self.open(directory.file("target"), [box])
        let source = try Self.open(directory.file("source"), [box])
        func collection(
            _ object: DynamicObject, _ name: String, _ type: CollectionType
        ) throws -> RealmCollection {
            let owner = try #require(object.realm.schema.class_(named: "Box"))
            let key = try #require(owner.property(named: name)).key
            return try object.handle.collection(key, type)
        }
        try target.write {
            _ = try target.create("Box", primaryKey: .string("other"))
            let a = try target.create("Box", primaryKey: .string("a"))
            try collection(a, "sizes", .list).insert(.int(99), at: 0)
        }
        try source.write {
            let a = try source.create("Box", primaryKey: .string("a"))
            let b = try source.create("Box", primaryKey: .string("b"))
            let link = RawValue.link(b.handle.classKey, b.key)
            for number in 0..<3000 {
                try collection(a, "sizes", .list).insert(.int(Int64(number)), at: number)
            }
            try Value.string("tag").withRaw { raw throws(RealmError) in
                _ = try a.handle.collection(
                    source.schema.class_(named: "Box")?.property(named: "tags")?.key ?? .invalid,
                    .set
                ).insert(raw)
            }
            try collection(a, "inside", .list).insert(link, at: 0)
            try collection(a, "inside", .list).insert(link, at: 1)
            let named = try collection(a, "named", .dictionary)
            try Value.string("x").withRaw { raw throws(RealmError) in
                _ = try named.insert(link, key: raw)
            }
            try Value.string("y").withRaw { raw throws(RealmError) in
                _ = try named.insert(.null, key: raw)
            }
            try a.set("any", .link(b.link))
        }
        try source.convert(to: Configuration(path: directory.file("target")), merging: true)
        _ = try target.refresh()
        let a = try #require(try target.find("Box", primaryKey: .string("a")))
        let b = try #require(try target.find("Box", primaryKey: .string("b")))
        let sizes = try collection(a, "sizes", .list)
        #expect(try sizes.count() == 3000)
        #expect(try sizes.get(2999).intValue == 2999)
        #expect(try Value(collection(a, "tags", .set).get(0)) == .string("tag"))
        let inside = try collection(a, "inside", .list)
        #expect(try inside.count() == 2)
        #expect(try inside.get(1).linkTarget == b.key)
        let named = try collection(a, "named", .dictionary)
        #expect(try Value(named.key(0)) == .string("x"))
        #expect(try named.get(0).linkTarget == b.key)
        #expect(try named.get(1).isNull)
        #expect(try a.get("any") == .link(b.link))
        #expect(try target.check().isEmpty)
    }

    @Test func aTransactionTakesAtMostAThousandObjects() throws {
        let directory = TemporaryDirectory()
        try Self.open(directory.file("target"), [Self.person, Self.city]).close()
        let source = try Self.open(directory.file("source"), [Self.person, Self.city])
        try source.write {
            for id in 0..<2500 {
                _ = try source.create("Person", primaryKey: .int(Int64(id)))
            }
        }
        let target = try Self.open(directory.file("target"), [Self.person, Self.city])
        try target.beginRead()
        let before = try #require(target.version)
        let frozen = try source.freeze()
        try frozen.convert(to: Configuration(path: directory.file("target")), merging: true)
        _ = try target.refresh()
        #expect(try #require(target.version) == before + 3)
        let person = try #require(target.schema.class_(named: "Person"))
        #expect(try target.objectCount(person.key) == 2500)
        frozen.close()
    }

    @Test func aClassThatCannotBeMatchedStopsTheMergeBeforeAnythingChanges() throws {
        let directory = TemporaryDirectory()
        let target = try Self.open(directory.file("target"), [Self.city])
        try target.beginRead()
        let before = target.version
        for odd in [
            ClassSchema("Note", properties: [PropertySchema("text", .string)]),
            ClassSchema(
                "Note", primaryKey: "id",
                properties: [PropertySchema("id", .int, flags: [.primaryKey])]),
        ] {
            let source = try Self.open(directory.file("source \(odd.primaryKey)"), [odd])
            let code = errorCode {
                try source.convert(
                    to: Configuration(path: directory.file("target")), merging: true)
            }
            #expect(code == .brokenInvariant)
        }
        _ = try target.refresh()
        #expect(target.version == before)
    }

    @Test func classesThatDifferAndTheOwnFileAreRefused() throws {
        let directory = TemporaryDirectory()
        let source = try Self.open(directory.file("source"), [Self.city])
        try source.write { _ = try source.create("City", primaryKey: .string("a")) }
        let own = errorCode {
            try source.convert(
                to: Configuration(path: directory.file("source")), merging: true)
        }
        #expect(own == .illegalOperation)
        var other = Self.city
        other.properties[1] = PropertySchema("size", .string)
        let target = try Self.open(directory.file("target"), [other])
        let differing = errorCode {
            try source.convert(
                to: Configuration(path: directory.file("target")), merging: true)
        }
        #expect(differing == .invalidSchemaChange)
        let city = try #require(target.schema.class_(named: "City"))
        #expect(try target.objectCount(city.key) == 0)
        // The writer lock was given back.
        try target.write { _ = try target.create("City", primaryKey: .string("b")) }
    }

    @Test func aTargetThatDoesNotExistIsACopy() throws {
        let directory = TemporaryDirectory()
        let source = try Realm.open(TestSchema.configuration(directory.file("source")))
        try source.convert(to: Configuration(path: directory.file("new")), merging: true)
        let copy = try Realm.open(TestSchema.configuration(directory.file("new")))
        #expect(copy.schemaVersion == 1)
    }
}
