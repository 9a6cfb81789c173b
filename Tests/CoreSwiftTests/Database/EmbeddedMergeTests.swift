// Merging realms with embedded objects into a file that exists: they come and go with their owners.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct EmbeddedMergeTests {
    private let directory = TemporaryDirectory()

    private static let schema = Schema([
        ClassSchema(
            "Person", primaryKey: "_id",
            properties: [
                PropertySchema("_id", .string, flags: [.primaryKey]),
                PropertySchema("home", .object, linkTarget: "Address", flags: [.nullable]),
                PropertySchema("places", .object, collection: .list, linkTarget: "Address"),
                PropertySchema(
                    "named", .object, collection: .dictionary, linkTarget: "Address",
                    flags: [.nullable]),
                PropertySchema("any", .mixed, flags: [.nullable]),
                PropertySchema("anys", .mixed, collection: .list, flags: [.nullable]),
            ]),
        ClassSchema(
            "Address",
            properties: [
                PropertySchema("street", .string),
                PropertySchema("guest", .object, linkTarget: "Person", flags: [.nullable]),
                PropertySchema("rooms", .object, collection: .list, linkTarget: "Room"),
                PropertySchema("extra", .mixed, flags: [.nullable]),
            ], kind: .embedded),
        ClassSchema(
            "Room",
            properties: [
                PropertySchema("number", .int),
                PropertySchema("tags", .string, collection: .set),
            ], kind: .embedded),
    ])

    private func open(_ name: String) throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(name), Self.schema))
    }

    private func merge(_ source: Realm, into target: Realm) throws {
        try source.convert(to: Configuration(path: target.path), merging: true)
        _ = try target.refresh()
    }

    private func text(_ realm: Realm, _ key: String) throws -> String {
        let person = try #require(try realm.find("Person", primaryKey: .string(key)))
        return try person.handle.json()
    }

    private func fill(_ realm: Realm) throws {
        _ = try realm.create(
            "Person",
            json: """
                {"_id": "a",
                 "home": {"street": "s", "guest": {"_id": "b"}, "rooms": [
                     {"number": 1, "tags": ["x", "y"]}, {"number": 2, "tags": []}],
                     "extra": {"k": [1, {"$link": {"table": "Person", "key": "a"}}]}},
                 "places": [{"street": "p", "guest": "a", "rooms": []},
                            {"street": "q", "rooms": [{"number": 3}]}],
                 "named": {"n": null, "m": {"street": "r", "guest": "b"}}}
                """)
    }

    @Test func `embedded objects come over with all that is in them, and links follow`() throws {
        let target = try open("target")
        let source = try open("source")
        // Object keys of the two files differ, so that links must go by primary key.
        try target.write {
            for name in ["x", "y", "b"] {
                _ = try target.create(
                    "Person", json: "{\"_id\": \"\(name)\", \"places\": [{\"street\": \"own\"}]}")
            }
        }
        try source.write { try fill(source) }
        try merge(source, into: target)
        #expect(try text(target, "a") == text(source, "a"))
        #expect(try text(target, "x").contains("own"))
        // Of b, the source's empty list wins.
        #expect(try !text(target, "b").contains("own"))
        #expect(try target.count("Address") == 2 + source.count("Address"))
        #expect(try target.count("Room") == source.count("Room"))
        #expect(try target.check() == [String]())
    }

    @Test func `embedded objects of the target go when others take their place`() throws {
        let target = try open("target")
        let source = try open("source")
        try source.write { try fill(source) }
        try target.write {
            try fill(target)
            let a = try #require(try target.find("Person", primaryKey: .string("a")))
            try a.linked("home")?.set("street", .string("other"))
            _ = try a.collection("places").insertEmbedded(at: 0)
        }
        let old = try #require(try target.find("Person", primaryKey: .string("a"))?.linked("home"))
        for _ in 0..<2 {
            try merge(source, into: target)
            #expect(try text(target, "a") == text(source, "a"))
            #expect(try target.count("Address") == source.count("Address"))
            #expect(try target.count("Room") == source.count("Room"))
        }
        #expect(!old.isValid)
        // What is gone in the source is gone in the target, with what it held.
        try source.write {
            let a = try #require(try source.find("Person", primaryKey: .string("a")))
            try a.set("home", .null)
            try a.collection("places").removeAll()
        }
        try merge(source, into: target)
        #expect(try text(target, "a") == text(source, "a"))
        #expect(try target.count("Address") == 1)
        #expect(try target.count("Room") == 0)
        #expect(try target.check() == [String]())
    }

    @Test func `lists and dictionaries in mixed values come over, to any depth`() throws {
        let target = try open("target")
        let source = try open("source")
        let deep = """
            {"k": [1, [["deep", {"l": {"$link": {"table": "Person", "key": "b"}}}]]]}
            """
        for (realm, extra) in [(source, deep), (target, "{\"old\": [1], \"k\": 2}")] {
            try realm.write {
                if realm === target { _ = try realm.create("Person", json: "{\"_id\": \"z\"}") }
                _ = try realm.create("Person", json: "{\"_id\": \"b\"}")
                let text = "{\"_id\": \"a\", \"any\": \(extra), \"anys\": [[\(extra)], 5]}"
                _ = try realm.create("Person", json: text)
            }
        }
        try merge(source, into: target)
        #expect(try text(target, "a") == text(source, "a"))
        #expect(try text(target, "a").contains("deep"))
        try source.write {
            let a = try #require(try source.find("Person", primaryKey: .string("a")))
            try a.set("any", .int(1))
        }
        try merge(source, into: target)
        #expect(try text(target, "a") == text(source, "a"))
        #expect(try target.check() == [String]())
    }

    @Test func `many owners go over in several transactions`() throws {
        let target = try open("target")
        let source = try open("source")
        try source.write {
            for number in 0..<1100 {
                _ = try source.create(
                    "Person",
                    json: """
                        {"_id": "\(number)", "home": {"street": "\(number)",
                         "guest": {"_id": "\((number * 7) % 1100)"}, "rooms": [{"number": \(number)}]}}
                        """, update: .modified)
            }
        }
        try merge(source, into: target)
        #expect(try target.count("Person") == 1100)
        #expect(try target.count("Room") == 1100)
        for number in [0, 999, 1000, 1099] {
            #expect(try text(target, "\(number)") == text(source, "\(number)"))
        }
        #expect(try target.check() == [String]())
    }
}
