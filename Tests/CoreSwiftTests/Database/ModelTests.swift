// A seeded random program runs against the engine and against plain dictionaries; after every
// step that could tell them apart they are compared in full.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What an object holds, by property name.
private typealias Row = [String: Value]

private struct Model {
    var items: [Value: Row] = [:]
    var events: [ObjectKey: Row] = [:]
    /// The keys in an order that depends on the program alone, to pick from.
    var itemKeys: [Value] = []
    var eventKeys: [ObjectKey] = []

    mutating func addItem(_ key: Value, _ row: Row) {
        items[key] = row
        itemKeys.append(key)
    }
    mutating func removeItem(_ key: Value) {
        items[key] = nil
        itemKeys.removeAll { $0 == key }
        let name = ModelTests.name(key)
        for (other, row) in items where row["next"] == .binary(name) {
            items[other]!["next"] = .null
        }
    }
    mutating func addEvent(_ key: ObjectKey, _ row: Row) {
        events[key] = row
        eventKeys.append(key)
    }
    mutating func removeEvent(_ key: ObjectKey, _ classKey: ClassKey) {
        events[key] = nil
        eventKeys.removeAll { $0 == key }
        let link = Value.link(Link(classKey, key))
        for (id, row) in items {
            for name in ["event", "cargo", "hold"] where row[name] == link {
                items[id]![name] = .null
            }
        }
    }
}

@Suite struct ModelTests {
    static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey, .nullable]),
                PropertySchema("name", .string, flags: [.indexed]),
                PropertySchema("note", .string, flags: [.nullable]),
                PropertySchema("count", .int, flags: [.nullable, .indexed]),
                PropertySchema("score", .double),
                PropertySchema("ratio", .float, flags: [.nullable]),
                PropertySchema("active", .bool, flags: [.nullable]),
                PropertySchema("when", .timestamp, flags: [.nullable, .indexed]),
                PropertySchema("blob", .binary, flags: [.nullable]),
                PropertySchema("next", .object, linkTarget: "Item", flags: [.nullable]),
                PropertySchema("event", .object, linkTarget: "Event", flags: [.nullable]),
                PropertySchema("price", .decimal128),
                PropertySchema("code", .objectId, flags: [.nullable, .indexed]),
                PropertySchema("token", .uuid, flags: [.nullable]),
                PropertySchema("cargo", .mixed, flags: [.nullable]),
                PropertySchema("hold", .mixed, flags: [.nullable, .indexed]),
            ]),
        ClassSchema(
            "Event",
            properties: [
                PropertySchema("kind", .int),
                PropertySchema("text", .string),
            ]),
    ])

    /// Classes are stored in the order of their names.
    private static let eventKey = ClassKey(rawValue: 0)

    private static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = schema
        configuration.schemaVersion = 1
        return configuration
    }

    @Test func randomProgramsAgreeWithPlainDictionaries() throws {
        for item in Campaign("model of objects", seconds: 12, atLeast: 4, seed: 1000) {
            try run(seed: item.seed, steps: 400)
        }
    }

    private func run(seed: UInt64, steps: Int) throws {
        let directory = TemporaryDirectory()
        var random = Random(seed)
        var realm = try Realm.open(Self.configuration(directory.file()))
        var committed = Model()
        for step in 0..<steps {
            var model = committed
            try realm.beginWrite()
            let size = [1, 3, 30, 300].randomElement(using: &random)!
            for _ in 0..<Int.random(in: 0...size, using: &random) {
                try change(realm, &model, &random)
            }
            try realm.readTables().checkInvariants()
            if Int.random(in: 0..<4, using: &random) == 0 {
                try compare(realm, model, "seed \(seed), step \(step), in the transaction")
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                try realm.rollback()
            } else {
                try realm.commit()
                committed = model
            }
            try realm.readTables().checkInvariants()
            if step % 8 == 0 || step == steps - 1 {
                try compare(realm, committed, "seed \(seed), step \(step)")
                let problems = try realm.check()
                #expect(problems == [], "seed \(seed), step \(step)")
            }
            if step % 50 == 49 {
                realm.close()
                realm = try Realm.open(Self.configuration(directory.file()))
                try compare(realm, committed, "seed \(seed), step \(step), reopened")
            }
        }
        realm.close()
    }

    // MARK: Changes

    private func key(_ random: inout Random) -> Value {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return .null
        case 1: return .int(-Int64.random(in: 1...20, using: &random))
        case 2: return .int(.max - Int64.random(in: 0...3, using: &random))
        case 3: return .int(.min)
        default: return .int(Int64.random(in: 0..<3000, using: &random))
        }
    }

    private func value(
        _ property: PropertySchema, _ model: Model, _ random: inout Random
    ) -> Value {
        if property.isNullable, Int.random(in: 0..<4, using: &random) == 0 { return .null }
        switch property.type {
        case .int:
            return .int(
                Bool.random(using: &random)
                    ? Int64.random(in: -5...5, using: &random)
                    : Int64.random(in: .min ... .max, using: &random))
        case .double:
            return .double([0, -1.5, .infinity, 3e300, 0.1].randomElement(using: &random)!)
        case .float: return .float([0, -1.5, .infinity, 0.1].randomElement(using: &random)!)
        case .bool: return .bool(Bool.random(using: &random))
        case .timestamp:
            return .timestamp(
                Timestamp(
                    seconds: Int64.random(in: 0..<5, using: &random) &* 100_000_000_000,
                    nanoseconds: Int32.random(in: 0..<3, using: &random)))
        case .binary: return .binary([UInt8](text(&random).utf8))
        case .decimal128:
            return .decimal128(
                Decimal128(Int64.random(in: -9...9, using: &random)) / Decimal128(8))
        case .objectId:
            return .objectId(ObjectId(high: random.next() >> 62, low: UInt32.max))
        case .uuid:
            return .uuid(UUIDValue(high: random.next(), low: random.next() >> 63))
        case .mixed:
            if !model.eventKeys.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                let event = model.eventKeys.randomElement(using: &random)!
                return .link(Link(Self.eventKey, event))
            }
            let types: [PropertyType] = [
                .int, .double, .float, .bool, .timestamp, .binary, .decimal128, .objectId, .uuid,
                .string,
            ]
            let type = types.randomElement(using: &random)!
            return value(PropertySchema(property.name, type), model, &random)
        default: return .string(text(&random))
        }
    }

    private func text(_ random: inout Random) -> String {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return ""
        case 1: return String(repeating: "long", count: Int.random(in: 400...2000, using: &random))
        case 2: return String(repeating: "é", count: 300)
        case 3...10: return ["red", "green", "blue"].randomElement(using: &random)!
        default: return "text-\(Int.random(in: 0..<100_000, using: &random))"
        }
    }

    private func change(
        _ realm: Realm, _ model: inout Model, _ random: inout Random
    ) throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: try createItem(realm, &model, &random)
        case 4:
            let event = try realm.create("Event")
            var row: Row = ["kind": .int(0), "text": .string("")]
            for property in realm.schema.class_(named: "Event")!.properties {
                row[property.name] = value(property, model, &random)
                try event.set(property.name, row[property.name]!)
            }
            model.addEvent(event.key, row)
        case 5: try deleteSome(realm, &model, &random)
        default: try changeItem(realm, &model, &random)
        }
    }

    private func createItem(
        _ realm: Realm, _ model: inout Model, _ random: inout Random
    ) throws {
        let id = key(&random)
        if model.items[id] != nil {
            #expect(throws: RealmError.self) { try realm.create("Item", primaryKey: id) }
            return
        }
        let item = try realm.create("Item", primaryKey: id)
        var row: Row = [
            "id": id, "name": .string(""), "note": .null, "count": .null, "score": .double(0),
            "ratio": .null, "active": .null, "when": .null, "blob": .null, "next": .null,
            "event": .null, "price": .decimal128(.zero), "code": .null, "token": .null,
            "cargo": .null, "hold": .null,
        ]
        for property in realm.schema.class_(named: "Item")!.properties
        where property.type != .object && property.name != "id"
            && Int.random(in: 0..<4, using: &random) != 0
        {
            row[property.name] = value(property, model, &random)
            try item.set(property.name, row[property.name]!)
        }
        model.addItem(id, row)
    }

    private func changeItem(
        _ realm: Realm, _ model: inout Model, _ random: inout Random
    ) throws {
        guard let id = model.itemKeys.randomElement(using: &random),
            let item = try realm.find("Item", primaryKey: id)
        else { return }
        let property = realm.schema.class_(named: "Item")!.properties.dropFirst()
            .randomElement(using: &random)!
        var new: Value
        if property.name == "next" {
            new = .null
            if let other = model.itemKeys.randomElement(using: &random) {
                let target = try #require(try realm.find("Item", primaryKey: other))
                try item.set("next", .link(target.link))
                // The model names items by their primary key.
                model.items[id]!["next"] = .binary(Self.name(other))
                return
            }
        } else if property.name == "event" {
            new = .null
            if let event = model.eventKeys.randomElement(using: &random) {
                let key = realm.schema.class_(named: "Event")!.key
                new = .link(Link(key, event))
            }
        } else {
            new = value(property, model, &random)
        }
        try item.set(property.name, new)
        model.items[id]![property.name] = new
    }

    fileprivate static func name(_ key: Value) -> [UInt8] { [UInt8]("\(key)".utf8) }

    private func deleteSome(
        _ realm: Realm, _ model: inout Model, _ random: inout Random
    ) throws {
        if Bool.random(using: &random), let event = model.eventKeys.randomElement(using: &random) {
            let key = realm.schema.class_(named: "Event")!.key
            let object = try #require(try realm.find(key, key: event))
            try object.delete()
            #expect(!object.isValid)
            model.removeEvent(event, key)
        } else if let id = model.itemKeys.randomElement(using: &random) {
            let object = try #require(try realm.find("Item", primaryKey: id))
            try object.delete()
            model.removeItem(id)
        }
    }

    // MARK: Comparing

    private func compare(_ realm: Realm, _ model: Model, _ place: String) throws {
        let item = try #require(realm.schema.class_(named: "Item"))
        let event = try #require(realm.schema.class_(named: "Event"))
        #expect(try realm.objectCount(item.key) == model.items.count, "\(place)")
        #expect(try realm.objectCount(event.key) == model.events.count, "\(place)")
        for (id, row) in model.items {
            let found = try realm.find("Item", primaryKey: id)
            let object = try #require(found, "\(place): \(id)")
            for (name, expected) in row {
                var actual = try object.get(name)
                if name == "next", case .link(let link) = actual {
                    let target = try #require(try realm.find(link.classKey, key: link.objectKey))
                    actual = .binary(Self.name(try target.get("id")))
                }
                #expect(actual == expected, "\(place): \(id).\(name)")
                if actual != expected { throw Mismatch() }
            }
        }
        for (key, row) in model.events {
            let object = try #require(
                try realm.find(event.key, key: key), "\(place): \(key)")
            for (name, expected) in row {
                #expect(try object.get(name) == expected, "\(place): \(key).\(name)")
            }
        }
    }

    struct Mismatch: Error {}
}
