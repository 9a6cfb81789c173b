// Small collections, which a write transaction changes in the cells of their rows: several handles
// of one, growing out of the cell, rolling back, freezing, and what results see of it.

import Testing

@testable import CoreSwift
@testable import TestSupport

private enum Desk {
    static let pen = ClassSchema(
        "Pen", primaryKey: "id",
        properties: [
            PropertySchema("id", .int, flags: [.primaryKey]),
            PropertySchema("color", .string),
            PropertySchema("notes", .string, collection: .list),
            PropertySchema("numbers", .int, collection: .list),
            PropertySchema("marks", .int, collection: .set),
            PropertySchema("names", .string, collection: .dictionary, flags: [.nullable]),
            PropertySchema("pens", .object, collection: .list, linkTarget: "Pen"),
            PropertySchema("others", .object, collection: .set, linkTarget: "Pen"),
            PropertySchema(
                "roles", .object, collection: .dictionary, linkTarget: "Pen", flags: [.nullable]),
            PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
        ])
    static let part = ClassSchema(
        "Part", properties: [PropertySchema("size", .int)], kind: .embedded)
    static let schema = Schema([pen, part])

    static func open(_ path: String) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, schema))
    }

    /// A realm with objects 0 ..< count.
    static func filled(_ directory: TemporaryDirectory, _ count: Int = 4) throws -> Realm {
        let realm = try open(directory.file())
        try realm.write {
            for id in 0..<count { _ = try realm.create("Pen", primaryKey: .int(Int64(id))) }
        }
        return realm
    }
}

extension Realm {
    fileprivate func pen(_ id: Int64) throws -> DynamicObject {
        try #require(try find("Pen", primaryKey: .int(id)))
    }
}

extension RealmCollection {
    fileprivate func add(_ value: Value) throws {
        try value.withRaw { raw throws(RealmError) in try insert(raw, at: try count()) }
    }
    fileprivate var elements: [Value] {
        get throws { try (0..<count()).map { try Value(get($0)) } }
    }
    fileprivate func set(_ key: String, _ value: Value) throws {
        try Value.string(key).withRaw { key throws(RealmError) in
            try value.withRaw { raw throws(RealmError) in _ = try insert(raw, key: key) }
        }
    }
}

@Suite struct SmallCollectionTests {
    /// Closed collections leave their memory to the next one: it must be large enough for it.
    @Test func `a small collection is opened after a larger one of few elements went`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory)
        let texts = (0..<10).map { Value.string("note \($0)") }
        try realm.write {
            let long = try realm.pen(0).collection("notes")
            for _ in 0..<3 { try long.add(.string(String(repeating: "x", count: 450))) }
            let short = try realm.pen(1).collection("notes")
            for text in texts { try short.add(text) }
        }
        try realm.write {
            try realm.pen(0).collection("notes").remove(at: 1)
            try realm.tablesForWriting().settle()
            let short = try realm.pen(1).collection("notes")
            try short.move(from: 9, to: 0)
            try realm.tablesForWriting().checkInvariants()
            #expect(try short.elements == [texts[9]] + texts[..<9])
        }
        #expect(try realm.pen(1).collection("notes").elements == [texts[9]] + texts[..<9])
        #expect(try realm.check() == [])
    }

    @Test func `two handles of one list see each other's changes when it outgrows its cell`() throws
    {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory)
        try realm.write {
            let first = try realm.pen(1).collection("notes")
            let second = try realm.pen(1).collection("notes")
            var model: [Value] = []
            for index in 0..<200 {
                let value = Value.string("note \(index)")
                try (index % 3 == 0 ? first : second).add(value)
                model.append(value)
                #expect(try first.count() == model.count)
                #expect(try Value(second.get(model.count - 1)) == value)
            }
            #expect(try first.elements == model)
            // And back into a cell at the next commit.
            for _ in 0..<190 { try second.remove(at: 0) }
            #expect(try first.elements == Array(model[190...]))
        }
        #expect(try realm.pen(1).collection("notes").count() == 10)
        try realm.write {
            let list = try realm.pen(1).collection("notes")
            try list.add(.string("last"))
            #expect(try list.count() == 11)
        }
        #expect(try realm.check() == [])
    }

    @Test func `handles of many small lists can be used in turns`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory, 50)
        var models = [[Value]](repeating: [], count: 50)
        var random = Random(TestSettings.seed("desks"))
        for round in 0..<4 {
            try realm.write {
                let lists = try (0..<50).map { try realm.pen(Int64($0)).collection("numbers") }
                for _ in 0..<2000 {
                    let index = random.below(50)
                    let value = Value.int(Int64(random.below(70_000)) - 100)
                    try lists[index].add(value)
                    models[index].append(value)
                    if random.below(3) == 0 {
                        let place = random.below(models[index].count)
                        try lists[index].remove(at: place)
                        models[index].remove(at: place)
                    }
                    // Other values of the same rows move and change what lies beside the cells.
                    if random.below(20) == 0 {
                        let text = String(repeating: "red", count: random.below(90))
                        try realm.pen(Int64(index)).set("color", .string(text))
                    }
                }
                for (list, model) in zip(lists, models) { #expect(try list.elements == model) }
            }
            for (index, model) in models.enumerated() {
                let list = try realm.pen(Int64(index)).collection("numbers")
                #expect(try list.elements == model, "round \(round), object \(index)")
            }
        }
        #expect(try realm.check() == [])
    }

    @Test func `rolling back takes small changes back, and frozen realms never see them`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory)
        try realm.write {
            try realm.pen(0).collection("notes").add(.string("one"))
            try realm.pen(0).collection("names").set("a", .string("A"))
        }
        let frozen = try realm.freeze()
        let list = try realm.pen(0).collection("notes")
        let names = try realm.pen(0).collection("names")
        try realm.beginWrite()
        try list.add(.string("two"))
        try names.set("b", .null)
        try names.set("a", .string("AA"))
        #expect(try list.elements == [.string("one"), .string("two")])
        #expect(try names.elements == [.string("AA"), .null])
        #expect(try frozen.pen(0).collection("notes").elements == [.string("one")])
        try realm.rollback()
        #expect(try list.elements == [.string("one")])
        #expect(try names.elements == [.string("A")])
        try realm.write { try list.add(.string("three")) }
        #expect(try list.elements == [.string("one"), .string("three")])
        #expect(try frozen.pen(0).collection("notes").elements == [.string("one")])
        #expect(try frozen.pen(0).collection("names").elements == [.string("A")])
        frozen.close()
        #expect(try realm.check() == [])
    }

    @Test func `results over a small list follow its changes in the transaction`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory)
        try realm.beginWrite()
        let pens = try realm.pen(0).collection("pens")
        let results = try #require(try pens.results() as? Results)
        let notes = try realm.pen(0).collection("notes")
        let texts = try #require(try notes.results() as? ValueResults)
        let query = Array("TRUEPREDICATE SORT(id DESC)".utf8)
        let sorted = try query.withUnsafeBufferPointer { try pens.query($0).findAll() }
        for id in [1, 2, 3] as [Int64] {
            try pens.add(.link(realm.pen(id).link))
            try notes.add(.string("\(id)"))
            #expect(try results.count() == Int(id))
            #expect(try texts.count() == Int(id))
            #expect(try sorted.count() == Int(id))
            #expect(try sorted.get(0).linkTarget.rawValue == id)
        }
        try pens.remove(at: 2)
        #expect(try sorted.get(0).linkTarget.rawValue == 2)
        #expect(try Value(texts.get(1)) == .string("2"))
        try pens.removeAll()
        #expect(try results.count() == 0)
        #expect(try sorted.count() == 0)
        try realm.commit()
        #expect(try realm.check() == [])
    }

    @Test func `deleted objects leave the small collections that hold them`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory, 6)
        try realm.write {
            let pens = try realm.pen(0).collection("pens")
            for id in [1, 2, 1, 3, 1] as [Int64] { try pens.add(.link(realm.pen(id).link)) }
            let others = try realm.pen(0).collection("others")
            for id in [1, 2] as [Int64] {
                try Value.link(realm.pen(id).link).withRaw { raw throws(RealmError) in
                    _ = try others.insert(raw)
                }
            }
            try realm.pen(0).collection("roles").set("first", .link(realm.pen(1).link))
        }
        let pens = try realm.pen(0).collection("pens")
        try realm.write {
            // In the same transaction as other changes of the list, and with a handle at hand.
            try pens.add(.link(realm.pen(4).link))
            try realm.pen(1).delete()
            #expect(try pens.elements.count == 3)
            #expect(try realm.pen(0).collection("others").count() == 1)
            #expect(try realm.pen(0).collection("roles").elements == [.null])
            #expect(try holders(of: realm.pen(4)).count() == 1)
            try realm.pen(0).delete()
            #expect(try holders(of: realm.pen(4)).count() == 0)
            #expect(!pens.isValid)
        }
        #expect(try realm.check() == [])
    }

    /// The objects that hold this one in their list.
    private func holders(of pen: DynamicObject) throws -> Results {
        let owner = try #require(pen.realm.schema.class_(named: "Pen"))
        let property = try #require(owner.property(named: "pens"))
        return try pen.handle.backlinks(from: owner.key, property: property.key)
    }

    @Test func `embedded objects in a small list go with their elements`() throws {
        let directory = TemporaryDirectory()
        let realm = try Desk.filled(directory)
        let part = try #require(realm.schema.class_(named: "Part")).key
        try realm.write {
            let parts = try realm.pen(0).collection("parts")
            for index in 0..<5 { try parts.insertEmbedded(at: index).release() }
            #expect(try realm.objectCount(part) == 5)
            try parts.remove(at: 1)
            try parts.setEmbedded(at: 0).release()
            #expect(try realm.objectCount(part) == 4)
        }
        try realm.write {
            let parts = try realm.pen(0).collection("parts")
            try parts.remove(at: 3)
            #expect(try parts.count() == 3)
            #expect(try realm.objectCount(part) == 3)
            try parts.removeAll()
            #expect(try realm.objectCount(part) == 0)
            try parts.insertEmbedded(at: 0).release()
            try realm.pen(0).delete()
            #expect(try realm.objectCount(part) == 0)
        }
        #expect(try realm.check() == [])
    }
}
