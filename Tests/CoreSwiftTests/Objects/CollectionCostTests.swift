// What goes through collections once for each of many changes would take time as the square of their
// number: deleting objects that one collection holds, and building, reading and changing collections
// in mixed values. The bounds compare processor time for n and for 4 n.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CollectionCostTests {
    private static let schema = Schema([
        ClassSchema("Target", properties: [PropertySchema("id", .int)]),
        ClassSchema("Part", properties: [PropertySchema("id", .int)], kind: .embedded),
        ClassSchema(
            "Holder",
            properties: [
                PropertySchema("list", .object, collection: .list, linkTarget: "Target"),
                PropertySchema("bag", .object, collection: .set, linkTarget: "Target"),
                PropertySchema(
                    "map", .object, collection: .dictionary, linkTarget: "Target",
                    flags: [.nullable]),
                PropertySchema("mixed", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("value", .mixed, flags: [.nullable]),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            ]),
    ])

    private let directory = TemporaryDirectory()

    private func opened() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
    }

    /// Processor time for `n` of something.
    private func time(_ n: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let start = TestSettings.processorTime()
        try body(n)
        return TestSettings.processorTime() - start
    }

    /// Four times as much may take eight times as long: what goes as the square takes sixteen.
    private func expectNearlyLinear(
        _ n: Int, _ what: Comment, _ body: (Int) throws -> Double
    ) throws {
        var ratio = Double.infinity
        // The best of six: others use the machine, too.
        for _ in 0..<6 where ratio > 8 {
            let few = try body(n)
            ratio = try body(4 * n) / few
        }
        #expect(ratio <= 8, what)
    }

    /// Fills a collection with links to new objects, deletes these and returns what that took.
    private func deleting(
        _ n: Int, isShuffled: Bool = true,
        _ fill: (DynamicObject, [ObjectHandle]) throws -> RealmCollection
    ) throws -> Double {
        let realm = try opened()
        try realm.beginWrite()
        let holder = try realm.create("Holder")
        var targets = try (0..<n).map { _ in
            try realm.createObject(try #require(realm.schema.class_(named: "Target")).key)
        }
        let collection = try fill(holder, targets)
        try realm.commit()
        try realm.beginWrite()
        var random = Random(3)
        if isShuffled { targets.shuffle(using: &random) }
        let time = try time(n) { _ in
            for target in targets {
                try target.delete()
                _ = try collection.count()
            }
        }
        let isList = collection.type == .list
        #expect(try collection.count() == (isList || collection.type == .set ? 0 : n))
        try realm.rollback()
        for target in targets { target.release() }
        realm.close()
        return time
    }

    @Test func `deleting what one list holds takes time in proportion`() throws {
        try expectNearlyLinear(2000, "list") { n in
            try deleting(n) { holder, targets in
                let list = try holder.collection("list")
                for target in targets { try list.insert(target.linkValue, at: list.count()) }
                return list
            }
        }
        try expectNearlyLinear(2000, "mixed list") { n in
            try deleting(n) { holder, targets in
                let list = try holder.collection("mixed")
                for target in targets { try list.insert(target.linkValue, at: list.count()) }
                return list
            }
        }
    }

    @Test func `deleting what one set or dictionary holds takes time in proportion`() throws {
        try expectNearlyLinear(2000, "set") { n in
            try deleting(n) { holder, targets in
                let bag = try holder.collection("bag")
                for target in targets { _ = try bag.insert(target.linkValue) }
                return bag
            }
        }
        try expectNearlyLinear(2000, "dictionary") { n in
            try deleting(n) { holder, targets in
                let map = try holder.collection("map")
                for (index, target) in targets.enumerated() {
                    try Value.string("key \(index)").withRaw { key throws(RealmError) in
                        _ = try map.insert(target.linkValue, key: key)
                    }
                }
                return map
            }
        }
    }

    @Test func `deleting what lists in a list hold takes time in proportion`() throws {
        try expectNearlyLinear(2000, "nested") { n in
            try deleting(n) { holder, targets in
                let outer = try holder.setList("value")
                for (index, target) in targets.enumerated() {
                    if index % 50 == 0 { _ = try outer.insertNested(.list, at: index / 50) }
                    try outer.nested(index / 50, .list).insert(target.linkValue, at: index % 50)
                }
                return try outer.nested(0, .list)
            }
        }
    }

    @Test func `deleting the objects that a list of embedded ones holds takes time in proportion`()
        throws
    {
        try expectNearlyLinear(2000, "embedded") { n in
            let realm = try opened()
            try realm.beginWrite()
            let list = try realm.create("Holder").collection("parts")
            var parts = try (0..<n).map { try list.insertEmbedded(at: $0) }
            try realm.commit()
            try realm.beginWrite()
            var random = Random(3)
            parts.shuffle(using: &random)
            let time = try time(n) { _ in for part in parts { try part.delete() } }
            #expect(try list.count() == 0)
            try realm.rollback()
            for part in parts { part.release() }
            realm.close()
            return time
        }
    }

    // MARK: Nested collections

    /// Builds a collection in a mixed value through a handle for each element, commits,
    /// reads, changes and removes them one by one; returns what each step takes.
    private func nesting(
        _ n: Int, _ type: CollectionType, build: (RealmCollection, Int) throws -> Void,
        use: (RealmCollection, Int, Bool) throws -> Void,
        remove: (RealmCollection, Int) throws -> Void
    ) throws -> [Double] {
        let realm = try opened()
        try realm.beginWrite()
        let holder = try realm.create("Holder")
        let outer =
            type == .list ? try holder.setList("value") : try holder.setDictionary("value")
        var times: [Double] = []
        times.append(try time(n) { for index in 0..<$0 { try build(outer, index) } })
        times.append(try time(n) { _ in try realm.commit() })
        times.append(try time(n) { for index in 0..<$0 { try use(outer, index, false) } })
        try realm.beginWrite()
        times.append(try time(n) { for index in 0..<$0 { try use(outer, index, true) } })
        #expect(try outer.count() == n)
        times.append(try time(n) { for index in 0..<$0 { try remove(outer, index) } })
        #expect(try outer.count() == 0)
        try realm.rollback()
        realm.close()
        return times
    }

    private func expectNearlyLinear(
        _ n: Int, _ names: [String], _ body: (Int) throws -> [Double]
    ) throws {
        var ratios = [Double](repeating: .infinity, count: names.count)
        for _ in 0..<6 where ratios.contains(where: { $0 > 8 }) {
            let few = try body(n)
            let many = try body(4 * n)
            for index in ratios.indices {
                ratios[index] = min(ratios[index], many[index] / max(few[index], 0.001))
            }
        }
        for (name, ratio) in zip(names, ratios) { #expect(ratio <= 8, "\(name)") }
    }

    private static let steps = ["building", "committing", "reading", "changing", "removing"]

    @Test(arguments: [false, true])
    func `a list of dictionaries in a mixed value takes time in proportion`(atFront: Bool) throws {
        try expectNearlyLinear(2000, Self.steps) { n in
            try nesting(n, .list) { list, index in
                let inner = try list.insertNested(.dictionary, at: atFront ? 0 : index)
                try inner.put("number", .int(Int64(index)))
            } use: { list, index, changes in
                let inner = try list.nested(index, .dictionary)
                #expect(try inner.count() == 1)
                let number = atFront ? n - 1 - index : index
                #expect(try inner.get(0).intValue == Int64(number))
                if changes { try inner.put("number", .int(0)) }
            } remove: { list, index in
                try list.remove(at: (try list.count() - 1) / 2)
            }
        }
    }

    @Test func `handles that are kept find their collections again in proportion`() throws {
        try expectNearlyLinear(2000, ["reading", "changing"]) { n in
            let realm = try opened()
            try realm.beginWrite()
            let outer = try realm.create("Holder").setList("value")
            // Each one was at the front once.
            var kept: [RealmCollection] = []
            for index in 0..<n {
                kept.append(try outer.insertNested(.list, at: 0))
                try kept[index].insert(.int(Int64(index)), at: 0)
            }
            try realm.commit()
            let reading = try time(n) { _ in
                for (index, list) in kept.enumerated() {
                    let value = try list.get(0)
                    #expect(value.intValue == Int64(index))
                }
            }
            try realm.beginWrite()
            let changing = try time(n) { _ in for list in kept { try list.set(.null, at: 0) } }
            try realm.commit()
            let changed = try outer.nested(n / 3, .list)
            #expect(try changed.get(0).isNull)
            kept = []
            realm.close()
            return [reading, changing]
        }
    }

    @Test func `a dictionary of lists in a mixed value takes time in proportion`() throws {
        try expectNearlyLinear(2000, Self.steps) { n in
            try nesting(n, .dictionary) { dictionary, index in
                let inner = try Value.string("key \(index)").withRaw { key throws(RealmError) in
                    try dictionary.insertNested(.list, key: key)
                }
                try inner.insert(.int(Int64(index)), at: 0)
            } use: { dictionary, index, changes in
                let inner = try Value.string("key \(index)").withRaw { key throws(RealmError) in
                    try dictionary.nested(key: key, .list)
                }
                #expect(try inner.get(0).intValue == Int64(index))
                if changes { try inner.set(.null, at: 0) }
            } remove: { dictionary, index in
                let isThere = try Value.string("key \(index)").withRaw { key throws(RealmError) in
                    try dictionary.remove(key: key)
                }
                #expect(isThere)
            }
        }
    }
}

extension ObjectHandle {
    fileprivate var linkValue: RawValue { .link(classKey, objectKey) }
}

extension DynamicObject {
    private func set(_ name: String, _ type: CollectionType) throws -> RealmCollection {
        let class_ = try #require(realm.schema.class_(handle.classKey))
        let property = try #require(class_.property(named: name))
        return try handle.setCollection(property.key, type)
    }
    fileprivate func setList(_ name: String) throws -> RealmCollection { try set(name, .list) }
    fileprivate func setDictionary(_ name: String) throws -> RealmCollection {
        try set(name, .dictionary)
    }
}

extension RealmCollection {
    fileprivate func put(_ name: String, _ value: Value) throws {
        _ = try Value.string(name).withRaw { key throws(RealmError) in
            try value.withRaw { raw throws(RealmError) in try insert(raw, key: key) }
        }
    }
}
