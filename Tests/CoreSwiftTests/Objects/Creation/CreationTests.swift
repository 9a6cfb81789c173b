// Objects from value trees: every type, nesting, references, and what is refused.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CreationTests {
    private let directory = TemporaryDirectory()

    /// Runs `body` in a write transaction of a fresh realm, which is checked afterwards.
    private func withRealm(_ body: (Realm) throws -> Void) throws {
        let realm = try CreationSchema.open(directory.file())
        try realm.write { try body(realm) }
        #expect(try realm.check() == [])
        realm.close()
    }

    private func text(_ object: DynamicObject) throws -> String { try object.handle.jsonText() }

    /// The message of the error that creating gives; and nothing may be left behind.
    private func refusal(
        _ realm: Realm, _ className: String, _ tree: ValueTree, _ policy: UpdatePolicy = .never
    ) throws -> String {
        let before = try ["All", "Node", "Part", "Screw", "Leaf"].map { try realm.count($0) }
        do {
            _ = try realm.create(className, from: tree, update: policy)
            return "no error"
        } catch {
            let after = try ["All", "Node", "Part", "Screw", "Leaf"].map { try realm.count($0) }
            #expect(before == after)
            return error.message
        }
    }

    /// Values for an object of `All`.
    private func object(_ name: String, _ tree: ValueTree) -> ValueTree {
        .dictionary([.init("id", 1), .init(name, tree)])
    }

    // MARK: Types

    /// A text or number for each type, and the value that it stands for.
    private static let samples: [(String, ValueTree, Value)] = [
        ("int", -5, .int(-5)), ("int", .number("12.0"), .int(12)),
        ("int", .number("1.5e1"), .int(15)), ("int", .number("9223372036854775807.0"), .int(.max)),
        ("int", ["$numberLong": "-9223372036854775808"], .int(.min)),
        ("bool", false, .bool(false)), ("string", "x", .string("x")),
        ("binary", "aGFsbG8=", .binary(Array("hallo".utf8))),
        ("binary", ["$binary": ["base64": "AA", "subType": "00"]], .binary([0])),
        (
            "timestamp", "1969-12-31T23:59:58.5Z",
            .timestamp(Timestamp(seconds: -1, nanoseconds: -500_000_000))
        ),
        ("timestamp", "2024-02-29 12:30+01:30", .timestamp(Timestamp(seconds: 1_709_204_400))),
        (
            "timestamp", ["$date": ["$numberLong": "-1500"]],
            .timestamp(Timestamp(seconds: -1, nanoseconds: -500_000_000))
        ),
        (
            "timestamp", "T9223372036854775807:999999999",
            .timestamp(Timestamp(seconds: .max, nanoseconds: 999_999_999))
        ),
        ("float", 0.1, .float(0.1)),
        ("float", .number("3.4028234e38"), .float(.greatestFiniteMagnitude)),
        ("double", 3, .double(3)), ("double", .number("5e-324"), .double(.leastNonzeroMagnitude)),
        ("double", "-Infinity", .double(-.infinity)),
        (
            "decimal", .number("0.1234567890123456789012345678901234"),
            .decimal128(Decimal128("0.1234567890123456789012345678901234")!)
        ),
        ("decimal", "1E+3", .decimal128(Decimal128("1E+3")!)),
        ("decimal", 5, .decimal128(Decimal128(5))),
        ("decimal", ["$numberDecimal": "NaN"], .decimal128(.nan)),
        (
            "objectId", "00112233445566778899aabb",
            .objectId(try! ObjectId(parsing: "00112233445566778899aabb"))
        ),
        (
            "objectId", ["$oid": "00112233445566778899aabb"],
            .objectId(try! ObjectId(parsing: "00112233445566778899aabb"))
        ),
        (
            "uuid", "123e4567-e89b-12d3-a456-426614174000",
            .uuid(try! UUIDValue(parsing: "123e4567-e89b-12d3-a456-426614174000"))
        ),
        (
            "uuid", ["$uuid": "123e4567-e89b-12d3-a456-426614174000"],
            .uuid(try! UUIDValue(parsing: "123e4567-e89b-12d3-a456-426614174000"))
        ),
    ]

    @Test func `each type reads its text form, alone and in every collection`() throws {
        try withRealm { realm in
            for (index, (name, tree, value)) in Self.samples.enumerated() {
                let object = try realm.create(
                    "All",
                    from: .dictionary([
                        .init("id", .value(.int(Int64(index)))), .init(name, tree),
                        .init(name + "N", tree), .init(name + "L", [tree, .null, tree]),
                        .init(name + "S", [tree, tree]),
                        .init(name + "D", ["k": tree, "n": .null]),
                    ]))
                #expect(try object.get(name) == value || value == .decimal128(.nan), "\(name)")
                #expect("\(try object.get(name + "N"))" == "\(value)")
                let list = try object.collection(name + "L")
                #expect(try list.count() == 3)
                #expect("\(try Value(list.get(2)))" == "\(value)")
                #expect(try Value(list.get(1)) == .null)
                #expect(try object.collection(name + "S").count() == 1)
                #expect(try object.collection(name + "D").count() == 2)
            }
        }
    }

    @Test func `what is of another type is refused, with the property, and leaves nothing`() throws
    {
        try withRealm { realm in
            let wrong: [(String, [ValueTree])] = [
                (
                    "int",
                    [
                        "1", 1.5, true, .number("1.5"), .number("1e19"), .number("1e99999999999"),
                        [:], [],
                    ]
                ),
                ("bool", [1, "true", []]), ("string", [1, true, ["$oid": "x"]]),
                ("binary", ["a", "====", "AB*=", "AB", 1, ["$binary": 1]]),
                (
                    "timestamp",
                    [
                        "2024-13-01", "2024-02-30", "x", "2024-01-01T25:00", 5, "T1:-5",
                        ["$date": "x"],
                    ]
                ),
                ("float", ["1", .number("1e39"), true]), ("double", ["1", .number("1e309"), true]),
                ("decimal", ["x", .number("1e99999"), true]),
                ("objectId", ["00", 5, ["$oid": "zz"]]), ("uuid", ["00", 5]),
            ]
            for (name, trees) in wrong {
                for tree in trees {
                    let message = try refusal(realm, "All", object(name, tree))
                    #expect(
                        message.contains("All.\(name)") || message.contains("content for $"),
                        "\(name) \(tree): \(message)")
                    _ = try refusal(realm, "All", object(name + "L", [.null, tree]))
                    _ = try refusal(realm, "All", object(name + "D", ["k": tree]))
                }
                #expect(
                    try refusal(realm, "All", object(name, .null))
                        .hasSuffix("null is no value for it"))
                #expect(try refusal(realm, "All", object(name + "S", [.null])) != "no error")
            }
            #expect(
                try refusal(realm, "All", ["id": 1, "intL": [1, "x"]])
                    == "All.intL[1] takes int?, got the string \"x\"")
            #expect(
                try refusal(realm, "All", ["id": 1, "timestampD": ["a": 5]])
                    == "All.timestampD[\"a\"] takes timestamp?, as ISO 8601 text like "
                    + "2024-02-29T12:30:00Z, got the int 5")
            #expect(
                try refusal(realm, "All", ["id": 1, "intL": 5])
                    == "All.intL takes a list (list<int?>), got the int 5")
            #expect(
                try refusal(realm, "All", ["id": 1, "intD": ["a.b": 5]]).contains("a.b"))
        }
    }

    @Test func `defaults fill what is missing in new objects, and nothing in those that are there`()
        throws
    {
        try withRealm { realm in
            let object = try realm.create("All", from: ["id": 1])
            #expect(try object.get("string") == .string("fallback"))
            #expect(try object.get("binary") == .binary([1, 2]))
            #expect(try object.get("decimal") == .decimal128(Decimal128("3.50")!))
            #expect(try object.get("intN") == .null)
            try object.set("string", .string("mine"))
            _ = try realm.create("All", from: ["id": 1, "int": 8], update: .all)
            #expect(try object.get("string") == .string("mine"))
            #expect(try object.get("int") == .int(8))
            #expect(
                try refusal(realm, "Node", ["name": "a", "part": [:]])
                    == "creating Part needs a value for label, which is string and has no default")
            #expect(
                try refusal(realm, "Node", [:])
                    == "creating Node needs a value for its primary key name")
        }
    }

    // MARK: Nesting

    @Test func `objects, collections and embedded objects come from one tree`() throws {
        try withRealm { realm in
            let node = try realm.create(
                "Node",
                json: """
                    {"name": "a", "howMany": 5,
                     "next": {"name": "b", "next": {"name": "c", "next": {"name": "a"}}},
                     "others": [{"name": "b", "weight": 1.5}, "c", {"name": "d"}],
                     "circle": ["a", "b", "a"],
                     "roles": {"x": "d", "y": null},
                     "part": {"label": "p", "screw": {"turns": 4}, "maker": "a"},
                     "parts": [{"label": "q"}, {"label": "r", "size": 9}],
                     "partMap": {"k": {"label": "s"}, "n": null},
                     "leaf": {"text": "l", "leaves": [{"text": "m"}, {"text": "n"}]},
                     "any": {"list": [1, 2.5, {"deep": [null, "x"]}], "id": {"$oid": "00112233445566778899aabb"}},
                     "anys": [[], {"$link": {"table": "Node", "key": "d"}}],
                     "anySet": [1, "1", 1.0],
                     "anyMap": {"m": {"n": {}}}}
                    """)
            #expect(
                try text(node)
                    == #"{"name":"a","next":"b","others":["b","c","d"],"circle":["a","b"],"#
                    + #""roles":{"x":"d","y":null},"weight":null,"#
                    + #""any":{"id":"00112233445566778899aabb","list":[1,2.5000000000000000e+00,"#
                    + #"{"deep":[null,"x"]}]},"anys":[[],{ "$link": {"table": "Node", "key": "d"}}],"#
                    + #""anySet":[1,"1"],"anyMap":{"m":{"n":{}}},"#
                    + #""part":{"label":"p","size":1,"screw":{"turns":4},"maker":"a"},"#
                    + #""parts":[{"label":"q","size":1,"screw":null,"maker":null},"#
                    + #"{"label":"r","size":9,"screw":null,"maker":null}],"#
                    + #""partMap":{"k":{"label":"s","size":1,"screw":null,"maker":null},"n":null},"#
                    + #""leaf":0,"count":5}"#)
            #expect(try realm.count("Node") == 4)
            #expect(try realm.count("Leaf") == 3)
            let b = try realm.find("Node", primaryKey: .string("b"))
            #expect(try b?.get("weight") == .double(1.5))
        }
    }

    @Test func `a list gives all values in declaration order`() throws {
        try withRealm { realm in
            let leaf = try realm.create(
                "Leaf", from: ["t", .null, ["name": "n"], [], ["p", 2, [8], .null], 1])
            #expect(try leaf.get("text") == .string("t"))
            #expect(try leaf.linked("node")?.get("name") == .string("n"))
            #expect(try leaf.linked("part")?.linked("screw")?.get("turns") == .int(8))
            #expect(try refusal(realm, "Leaf", ["t"]).contains("one value for each of the 6"))
        }
    }

    @Test func `objects that are there are linked to, others must be described`() throws {
        try withRealm { realm in
            let a = try realm.create("Node", from: ["name": "a"])
            let leaf = try realm.create("Leaf", from: ["node": .value(.link(a.link))])
            #expect(try leaf.linked("node")?.get("name") == .string("a"))
            let other = try realm.create(
                "Leaf", from: ["node": "a", "next": .value(.link(leaf.link))])
            #expect(try other.linked("next")?.key == leaf.key)
            #expect(
                try refusal(realm, "Leaf", ["node": "zz"])
                    == "Leaf.node: class Node has no object with primary key the string \"zz\"")
            #expect(
                try refusal(realm, "Leaf", ["node": .value(.link(leaf.link))])
                    == "Leaf.node takes objects of class Node, got one of class Leaf")
            let gone = Link(a.link.classKey, ObjectKey(rawValue: 99))
            #expect(
                try refusal(realm, "Leaf", ["node": .value(.link(gone))]).contains("no object 99"))
            #expect(try refusal(realm, "Leaf", ["next": 5]).contains("takes a dictionary of Leaf"))
            #expect(
                try refusal(realm, "Leaf", ["any": .value(.link(gone))]).contains("no object 99"))
            #expect(try refusal(realm, "Part", ["label": "x"]).contains("embedded"))
            #expect(try refusal(realm, "Node", 5).contains("dictionary"))
            #expect(errorCode { _ = try realm.create("Nope", from: [:]) } == .noSuchTable)
        }
    }

    @Test func `identifiers make cycles of objects without primary key`() throws {
        try withRealm { realm in
            let leaf = try realm.create(
                "Leaf",
                json: """
                    {"$id": "1", "text": "a", "next": {"$id": "2", "text": "b", "next": {"$ref": "1"}},
                     "leaves": [{"$ref": "2"}, {"$ref": "1"}, {"$ref": "2"}], "any": {"$ref": "2"}}
                    """)
            let next = try #require(try leaf.linked("next"))
            #expect(try next.linked("next")?.key == leaf.key)
            #expect(try realm.count("Leaf") == 2)
            #expect(try leaf.get("any") == .link(next.link))
            #expect(try refusal(realm, "Leaf", ["next": ["$ref": "7"]]).contains("$id \"7\""))
            #expect(
                try refusal(realm, "Leaf", ["$id": "1", "node": ["$ref": "1"]])
                    == "Leaf.node takes objects of class Node, got a $ref to one of class Leaf")
            #expect(
                try refusal(realm, "Leaf", ["$id": "1", "next": ["$id": "1"]]).contains(
                    "two objects"))
        }
    }

    @Test func `mentions of one primary key are one object, and the later values count`() throws {
        try withRealm { realm in
            let a = try realm.create(
                "Node",
                from: [
                    "name": "a",
                    "others": [
                        ["name": "b", "weight": 1, "count": 8], ["name": "b", "weight": 2],
                    ],
                ])
            let b = try #require(try realm.find("Node", primaryKey: .string("b")))
            #expect(try a.collection("others").count() == 2)
            #expect([.double(1), .double(2)].contains(try b.get("weight")))
            #expect(try b.get("count") == .int(8))
            // Canonically equivalent keys are two.
            _ = try realm.create("Node", from: ["name": "\u{E9}", "next": ["name": "e\u{301}"]])
            #expect(try realm.count("Node") == 4)
        }
    }

    @Test func `unknown names are refused, or passed over when asked to`() throws {
        try withRealm { realm in
            let message = try refusal(realm, "Leaf", ["text": "x", "color": "red"])
            #expect(message == "class Leaf has no property 'color'")
            #expect(
                try refusal(realm, "Node", ["name": "a", "previous": []])
                    == "Node.previous is computed; it can't be given a value")
            let leaf = try realm.create(
                "Leaf", from: ["text": "x", "color": "red"], ignoresUnknown: true)
            #expect(try leaf.get("text") == .string("x"))
        }
    }

    @Test func `collections in mixed values are bounded in depth, and sets hold none`() throws {
        try withRealm { realm in
            var tree: ValueTree = 1
            for _ in 0..<100 { tree = [tree] }
            _ = try realm.create("Node", from: ["name": "a", "any": tree])
            #expect(
                try refusal(realm, "Node", ["name": "b", "any": [tree]]).contains("nested deeper"))
            #expect(
                try refusal(realm, "Node", ["name": "b", "anys": [tree]]).contains("nested deeper"))
            #expect(
                try refusal(realm, "Node", ["name": "b", "anySet": [[1]]]).contains(
                    "Node.anySet[0]"))
            #expect(
                try refusal(realm, "Node", ["name": "b", "any": .number("1e999")]).contains(
                    "Node.any"))
            // Every text is a key there.
            let keys: ValueTree = ["$x": 1, "a.b": ["": 2]]
            _ = try realm.create("Node", from: ["name": "b", "any": keys])
            let found = try realm.objects("Node").filter(
                "#any['$x'] == 1 AND #any['a.b'][''] == 2")
            #expect(try found.count() == 1)
        }
    }

    @Test func `creation needs a write transaction`() throws {
        let realm = try CreationSchema.open(directory.file())
        #expect(errorCode { _ = try realm.create("Leaf", from: [:]) } == .wrongTransactionState)
        #expect(errorCode { _ = try realm.create("Leaf", json: "{") } == .malformedJson)
    }
}
