// Copies of objects between realms and within one.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ObjectCopyTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String, _ schema: Schema = CreationSchema.schema) throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(name), schema))
    }

    /// A node that reaches everything, itself included.
    private func makeGraph(_ realm: Realm) throws -> DynamicObject {
        try realm.create(
            "Node",
            json: """
                {"name": "a", "weight": 1.5, "next": {"name": "b", "next": {"name": "c", "next": "a"}},
                 "others": ["b", "c", "b", {"name": "d", "others": ["d"]}], "circle": ["a", "c"],
                 "roles": {"x": "d", "y": null}, "any": {"l": [1, {"$link": {"table": "Node", "key": "d"}}]},
                 "anys": [[2, "x"], {"$link": {"table": "Node", "key": "a"}}, null], "anySet": [1, "1"],
                 "anyMap": {"k": {"m": [true]}},
                 "part": {"label": "p", "screw": {"turns": 4}, "maker": "a"},
                 "parts": [{"label": "q"}, {"label": "r", "maker": "d"}],
                 "partMap": {"k": {"label": "s", "screw": {"turns": 5}}, "n": null},
                 "leaf": {"$id": "1", "text": "l", "next": {"text": "m", "next": {"$ref": "1"}},
                          "leaves": [{"$ref": "1"}, {"text": "n"}], "node": "a",
                          "any": [{"$ref": "1"}], "part": {"label": "t"}}}
                """)
    }

    private static let names = ["All", "Node", "Part", "Screw", "Leaf"]

    private func counts(_ realm: Realm) throws -> [Int] {
        try Self.names.map { try realm.count($0) }
    }

    /// The text of every object of a class, in the order of their keys.
    private func texts(_ realm: Realm) throws -> [String] {
        try Self.names.flatMap { name -> [String] in
            let key = realm.schema.class_(named: name)!.key
            return try (0..<realm.objectCount(key)).map {
                let object = try realm.object(key, ObjectKey($0))
                defer { object.release() }
                return try object.jsonText()
            }
        }
    }

    @Test
    func `a graph with cycles, shared and embedded objects comes over whole, each object once`()
        throws
    {
        let source = try open("source")
        let target = try open("target")
        try source.write { _ = try makeGraph(source) }
        let original = try #require(try source.find("Node", primaryKey: .string("a")))
        try target.write {
            let copy = try original.copy(to: target)
            #expect(try counts(target) == counts(source))
            #expect(try copy.handle.jsonText() == original.handle.jsonText())
            let leaf = try #require(try copy.linked("leaf"))
            #expect(try leaf.linked("next")?.linked("next")?.key == leaf.key)
            #expect(try leaf.linked("node")?.key == copy.key)
            #expect(try copy.linked("part")?.linked("maker")?.key == copy.key)
        }
        #expect(try target.check() == [])
        // Objects were found in the order of the links, so keys without primary key are the same.
        #expect(Set(try texts(target)) == Set(try texts(source)))
    }

    @Test func `a second copy is refused, or updates what is there as the policy says`() throws {
        let source = try open("source")
        let target = try open("target")
        try source.write { _ = try makeGraph(source) }
        let original = try #require(try source.find("Node", primaryKey: .string("a")))
        try target.write { _ = try original.copy(to: target) }
        try target.write {
            let before = try counts(target)
            #expect(errorCode { _ = try original.copy(to: target) } == .objectAlreadyExists)
            #expect(try counts(target) == before)
            var again = ObjectCopy(source, into: target, .modified)
            _ = try again.run(original.handle)
            // Leaves have no primary key: they are new ones each time. Of "a" only the link to them
            // differs; of the three new leaves all is written.
            #expect(try target.count("Leaf") == 6)
            #expect(try target.count("Node") == 4)
            #expect(again.writtenCount < 20)
            _ = try original.copy(to: target, update: .all)
            #expect(try target.count("Leaf") == 9)
            #expect(try target.count("Node") == 4)
            #expect(try target.count("Part") == before[2] + 2)
        }
        #expect(try target.check() == [])
        try source.write {
            try original.set("weight", .double(9))
            try original.collection("others").remove(at: 0)
            try original.linked("part")?.set("label", .string("P"))
        }
        try target.write { _ = try original.copy(to: target, update: .modified) }
        let copy = try #require(try target.find("Node", primaryKey: .string("a")))
        #expect(try copy.get("weight") == .double(9))
        #expect(try copy.collection("others").count() == 3)
        #expect(try copy.linked("part")?.get("label") == .string("P"))
        #expect(try target.check() == [])
    }

    @Test func `in one realm objects without primary key are duplicated, keyed ones linked to`()
        throws
    {
        let realm = try open("one")
        try realm.write { _ = try makeGraph(realm) }
        try realm.write {
            let node = try #require(try realm.find("Node", primaryKey: .string("a")))
            let leaf = try #require(try node.linked("leaf"))
            let copy = try leaf.copy(to: realm)
            #expect(copy.key != leaf.key)
            #expect(try realm.count("Leaf") == 6)
            #expect(try realm.count("Node") == 4)
            #expect(try copy.linked("node")?.key == node.key)
            #expect(try copy.linked("next")?.linked("next")?.key == copy.key)
            #expect(try copy.linked("part")?.get("label") == .string("t"))
            #expect(try copy.linked("part")?.key != leaf.linked("part")?.key)
            #expect(errorCode { _ = try node.copy(to: realm) } == .objectAlreadyExists)
            #expect(try realm.count("Leaf") == 6)
        }
        #expect(try realm.check() == [])
    }

    @Test func `an object of a frozen realm goes back over the present one`() throws {
        let realm = try open("one")
        try realm.write {
            _ = try realm.create("Node", json: #"{"name":"a","count":1,"anys":[[1]]}"#)
        }
        let frozen = try realm.freeze()
        try realm.write {
            _ = try realm.create("Node", json: #"{"name":"a","count":2,"anys":[]}"#, update: .all)
        }
        let old = try #require(try frozen.find("Node", primaryKey: .string("a")))
        try realm.write { _ = try old.copy(to: realm, update: .modified) }
        let now = try #require(try realm.find("Node", primaryKey: .string("a")))
        #expect(try now.handle.jsonText() == old.handle.jsonText())
        #expect(try realm.count("Node") == 1)
    }

    @Test func `a target that lacks something is told before anything is written`() throws {
        let source = try open("source")
        try source.write { _ = try makeGraph(source) }
        let original = try #require(try source.find("Node", primaryKey: .string("a")))
        func refusal(_ name: String, _ change: (inout [ClassSchema]) -> Void) throws -> String {
            var classes = CreationSchema.schema.classes
            change(&classes)
            let target = try open(name, Schema(classes))
            try target.beginWrite()
            defer { target.close() }
            do {
                _ = try original.copy(to: target)
                return "no error"
            } catch {
                for item in target.schema.classes { #expect(try target.objectCount(item.key) == 0) }
                return error.message
            }
        }
        func index(_ classes: [ClassSchema], _ name: String) -> Int {
            classes.firstIndex { $0.name == name }!
        }
        #expect(
            try refusal("1") { classes in
                let node = index(classes, "Node")
                classes[node].properties.removeAll { $0.name == "weight" }
            }.hasSuffix("has no property Node.weight"))
        #expect(
            try refusal("2") { classes in
                let part = index(classes, "Part")
                classes[part].properties[1].type = .string
                classes[part].properties[1].defaultValue = nil
            } == "can't copy: Part.size is int here and string there")
        #expect(
            try refusal("3") { classes in
                let leaf = index(classes, "Leaf")
                classes[leaf].properties.removeAll { $0.linkTarget == "Node" }
                classes[leaf].properties.append(PropertySchema("node", .string))
            } == "can't copy: Leaf.node is Node? here and string there")
        #expect(
            try refusal("4") { classes in
                let leaf = index(classes, "Leaf")
                classes[leaf].properties.append(PropertySchema("more", .int))
            }.contains("Leaf.more is int without default"))
        #expect(
            try refusal("5") { classes in
                let node = index(classes, "Node")
                classes[node].properties.removeAll { $0.linkTarget == "Leaf" }
                classes.removeAll { $0.name == "Leaf" }
            }.contains("has no"))
        #expect(
            try refusal("6") { classes in
                let node = index(classes, "Node")
                let weight = classes[node].properties.firstIndex { $0.name == "weight" }!
                classes[node].properties[weight].flags = []
            } == "can't copy: Node.weight is double? here and double there")
        #expect(
            try refusal("7") { classes in
                let leaf = index(classes, "Leaf")
                classes[leaf].primaryKey = "text"
                classes[leaf].properties[0].flags = [.primaryKey]
            }.contains("no primary key"))
        let other = try open("8")
        #expect(errorCode { _ = try original.copy(to: other) } == .wrongTransactionState)
        try other.write {
            let part = try #require(try original.linked("part"))
            #expect(errorCode { _ = try part.copy(to: other) } == .illegalOperation)
        }
    }

    @Test func `properties that only the target has take their defaults`() throws {
        let source = try open("source")
        try source.write { _ = try makeGraph(source) }
        var classes = CreationSchema.schema.classes
        let leaf = classes.firstIndex { $0.name == "Leaf" }!
        classes[leaf].properties += [
            PropertySchema("more", .int, defaultValue: 12),
            PropertySchema(
                "extra", .object, linkTarget: "Part", flags: [.nullable],
                defaultValue: ["label": "default", "screw": ["turns": 3]]),
            PropertySchema("list", .int, collection: .list),
        ]
        let target = try open("target", Schema(classes))
        let original = try #require(
            try source.find("Node", primaryKey: .string("a"))?.linked("leaf"))
        try target.write {
            let copy = try original.copy(to: target)
            #expect(try copy.get("more") == .int(12))
            #expect(try copy.linked("extra")?.get("size") == .int(1))
            #expect(try copy.linked("extra")?.linked("screw")?.get("turns") == .int(3))
        }
        #expect(try target.check() == [])
    }

    @Test func `a long chain needs no stack`() throws {
        let source = try open("source")
        let target = try open("target")
        let count = TestSettings.number(
            "REALM_CHAIN", _isDebugAssertConfiguration() ? 5000 : 1_000_000)
        let leaf = source.schema.class_(named: "Leaf")!
        let next = leaf.property(named: "next")!.key
        try source.write {
            var last = RawValue.null
            for _ in 0..<count {
                let object = try source.createObject(leaf.key)
                try object.setValue(next, last)
                last = .link(leaf.key, object.objectKey)
                object.release()
            }
        }
        let head = try source.object(leaf.key, ObjectKey(count - 1))
        defer { head.release() }
        try target.write {
            try head.copy(to: target).release()
            #expect(try target.count("Leaf") == count)
        }
    }
}
