// Deleting objects that mixed values link to: properties, with and without index, and the elements
// of lists, sets and dictionaries. Random programs against plain Swift values.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MixedLinkTests {
    private static let schema = Schema([
        ClassSchema(
            "Target", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("value", .mixed, flags: [.nullable]),
            ]),
        ClassSchema(
            "Holder", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("value", .mixed, flags: [.nullable]),
                PropertySchema("indexed", .mixed, flags: [.nullable, .indexed]),
                PropertySchema("list", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("bag", .mixed, collection: .set, flags: [.nullable]),
                PropertySchema("map", .mixed, collection: .dictionary, flags: [.nullable]),
            ]),
    ])

    private let directory = TemporaryDirectory()

    /// What an object of class Holder is expected to hold.
    private struct Expected: Equatable {
        var any = Value.null
        var list: [Value] = []
        var bag: [Value] = []
        var map: [String: Value] = [:]

        /// As deleting the target of a link leaves it.
        mutating func forget(_ link: Value) {
            if any == link { any = .null }
            list.removeAll { $0 == link }
            bag.removeAll { $0 == link }
            for (key, value) in map where value == link { map[key] = .null }
        }
    }

    private func stored(_ object: DynamicObject) throws -> Expected {
        func values(_ name: String) throws -> [Value] {
            let collection = try object.collection(name)
            return try (0..<collection.count()).map { try Value(collection.get($0)) }
        }
        var result = Expected(any: try object.get("value"), list: try values("list"))
        result.bag = try values("bag")
        let map = try object.collection("map")
        for index in 0..<(try map.count()) {
            guard case .string(let key) = try Value(map.key(index)) else { continue }
            result.map[key] = try Value(map.get(index))
        }
        #expect(try object.get("indexed") == result.any)
        return result
    }

    private func write(_ expected: Expected, to object: DynamicObject) throws {
        try object.set("value", expected.any)
        try object.set("indexed", expected.any)
        let list = try object.collection("list")
        let bag = try object.collection("bag")
        let map = try object.collection("map")
        for (index, value) in expected.list.enumerated() {
            try value.withRaw { raw throws(RealmError) in try list.insert(raw, at: index) }
        }
        for value in expected.bag {
            try value.withRaw { raw throws(RealmError) in _ = try bag.insert(raw) }
        }
        for (key, value) in expected.map {
            try Value.string(key).withRaw { raw throws(RealmError) in
                try value.withRaw { element throws(RealmError) in
                    _ = try map.insert(element, key: raw)
                }
            }
        }
    }

    private func ids(_ realm: Realm, _ text: String) throws -> [Int64] {
        let results = try realm.query(realm.schema.class_(named: "Holder")!.key, text).findAll()
        return try (0..<results.count()).map { try results.get($0).linkTarget.rawValue }
    }

    @Test func `mixed values forget targets that are deleted`() throws {
        for item in Campaign("mixed links", seconds: 1, atLeast: 3, seed: 77) {
            try deleteTargets(item.random)
        }
    }

    private func deleteTargets(_ start: Random) throws {
        var random = start
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        var targets: [DynamicObject] = []
        var expected: [Int64: Expected] = [:]
        let others: [Value] = [.int(1), .string("x"), .null, .bool(true), .double(2.5)]
        func value() -> Value {
            Int.random(in: 0..<3, using: &random) == 0
                ? others.randomElement(using: &random)!
                : .link(targets.randomElement(using: &random)!.link)
        }
        try realm.beginWrite()
        for id in 0..<60 {
            targets.append(try realm.create("Target", primaryKey: .int(Int64(id))))
        }
        for id in 0..<200 {
            var holder = Expected(any: value())
            holder.list = (0..<Int.random(in: 0..<5, using: &random)).map { _ in value() }
            for _ in 0..<4 {
                let element = value()
                if !holder.bag.contains(element) { holder.bag.append(element) }
            }
            for key in ["a", "b", "c"].prefix(Int.random(in: 0..<4, using: &random)) {
                holder.map[key] = value()
            }
            let object = try realm.create("Holder", primaryKey: .int(Int64(id)))
            try write(holder, to: object)
            expected[Int64(id)] = try stored(object)
            #expect(
                Set(expected[Int64(id)]!.bag.map { "\($0)" }) == Set(holder.bag.map { "\($0)" }))
            #expect(expected[Int64(id)]!.list == holder.list)
        }
        // Targets that link to each other and to themselves.
        for target in targets {
            try target.set("value", .link(targets.randomElement(using: &random)!.link))
        }
        for round in 0..<20 {
            if round.isMultiple(of: 3) {
                try realm.commit()
                try realm.beginWrite()
            }
            let victim = targets.remove(at: Int.random(in: 0..<targets.count, using: &random))
            let link = Value.link(victim.link)
            try victim.delete()
            for id in expected.keys { expected[id]!.forget(link) }
            for (id, holder) in expected where id % 7 == Int64(round) % 7 {
                let object = try #require(try realm.find("Holder", primaryKey: .int(id)))
                #expect(try stored(object) == holder)
            }
            let nulls = expected.filter { $0.value.any == .null }.keys.sorted()
            #expect(try ids(realm, "value == NULL") == nulls)
            #expect(try ids(realm, "indexed == NULL") == nulls)
        }
        try realm.commit()
        #expect(try realm.check() == [String]())
        for (id, holder) in expected {
            let object = try #require(try realm.find("Holder", primaryKey: .int(id)))
            #expect(try stored(object) == holder)
        }
        for target in targets {
            // Those that are left link to objects that are there, or to nothing.
            if case .link(let link) = try target.get("value") {
                #expect(targets.contains { $0.key == link.objectKey })
            }
        }
        try realm.write {
            for target in targets { try target.delete() }
        }
        let links = try ids(realm, "value.@type == 'object' OR indexed.@type == 'object'")
        #expect(links.isEmpty)
        #expect(try realm.check() == [String]())
    }

    @Test func `a rolled back deletion leaves the links`() throws {
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        let target = try realm.create("Target", primaryKey: .int(1))
        let holder = try realm.create("Holder", primaryKey: .int(1))
        let link = Value.link(target.link)
        let full = Expected(any: link, list: [link, .int(1), link], bag: [link], map: ["k": link])
        try write(full, to: holder)
        try realm.commit()
        try realm.beginWrite()
        try target.delete()
        #expect(try stored(holder) == Expected(list: [.int(1)], map: ["k": .null]))
        try realm.rollback()
        #expect(try stored(holder) == full)
        #expect(try realm.check() == [String]())
    }
}
