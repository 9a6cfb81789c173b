// What each update policy writes, counted.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct UpdatePolicyTests {
    private let directory = TemporaryDirectory()

    private func withRealm(_ body: (Realm) throws -> Void) throws {
        let realm = try CreationSchema.open(directory.file())
        try realm.write { try body(realm) }
        #expect(try realm.check() == [])
        realm.close()
    }

    /// How many properties and elements creation writes.
    private func writes(
        _ realm: Realm, _ tree: ValueTree, _ policy: UpdatePolicy, _ name: String = "Node"
    ) throws -> Int {
        let creation = Creation(realm, policy, ignoresUnknown: false)
        try creation.run(tree, try realm.creationClass(named: name)).release()
        return creation.writtenCount
    }

    private static let full: ValueTree = [
        "name": "a", "weight": 1.5, "count": 2, "others": [["name": "b"], ["name": "c"]],
        "circle": ["b", "c"], "roles": ["x": "b", "y": .null], "any": [1, ["k": "v"]],
        "anys": [1, [2], .null], "anySet": [1, "x"], "anyMap": ["a": 1, "b": [true]],
        "part": ["label": "p", "screw": ["turns": 1]], "parts": [["label": "q"], ["label": "r"]],
        "partMap": ["k": ["label": "s", "maker": "b"]], "leaf": .null,
    ]

    @Test func `modified writes nothing when nothing differs, all writes everything`() throws {
        try withRealm { realm in
            let object = try realm.create("Node", from: Self.full)
            let before = try object.handle.jsonText()
            let part = try object.linked("part")?.key
            #expect(try writes(realm, Self.full, .modified) == 0)
            #expect(try object.handle.jsonText() == before)
            #expect(try object.linked("part")?.key == part)
            #expect(try writes(realm, Self.full, .all) > 20)
            #expect(try object.handle.jsonText() == before)
            // A new embedded object took the place of the old one.
            #expect(try object.linked("part")?.key != part)
            #expect(try realm.count("Part") == 4)
            #expect(try realm.count("Screw") == 1)
        }
    }

    @Test func `modified writes exactly what differs`() throws {
        try withRealm { realm in
            let object = try realm.create("Node", from: Self.full)
            for (tree, count): (ValueTree, Int) in [
                (["name": "a", "weight": 1.5, "count": 3], 1),
                (["name": "a", "weight": .null], 1), (["name": "a", "weight": .null], 0),
                (["name": "a", "others": ["b", "b"]], 1), (["name": "a", "others": ["b"]], 1),
                (["name": "a", "others": ["b", "c", "b"]], 2),
                (["name": "a", "circle": ["c"]], 1), (["name": "a", "circle": ["a", "c"]], 1),
                (["name": "a", "roles": ["x": "b", "y": "c"]], 1),
                (["name": "a", "roles": ["z": .null]], 3),
                (["name": "a", "anys": [1, [2, 3], .null]], 1),
                (["name": "a", "anyMap": ["a": 1, "b": [false]]], 1),
                (["name": "a", "anySet": [1.0, "x"]], 0),
                (["name": "a", "part": ["label": "P"]], 1),
                (["name": "a", "part": ["screw": ["turns": 1]]], 0),
                (["name": "a", "part": ["screw": ["turns": 2]]], 1),
                (["name": "a", "parts": [["label": "q", "size": 5], ["label": "r"]]], 1),
                (["name": "a", "partMap": ["k": ["maker": .null]]], 1),
                (["name": "a", "others": .null, "partMap": .null], 4),
                (["name": "a", "next": ["name": "b", "weight": 7]], 2),
                (["name": "a", "next": ["name": "b", "weight": 7]], 0),
                (["name": "a", "weight": 0.0], 1), (["name": "a", "weight": -0.0], 1),
            ] {
                #expect(try writes(realm, tree, .modified) == count, "\(tree)")
                #expect(try writes(realm, tree, .modified) == 0, "again: \(tree)")
            }
            let part = try #require(try object.linked("part"))
            #expect(try part.get("label") == .string("P"))
            #expect(try part.linked("screw")?.get("turns") == .int(2))
            #expect(try object.linked("next")?.get("weight") == .double(7))
        }
    }

    @Test func `all sets equal values, too, and leaves alone what is not given`() throws {
        try withRealm { realm in
            let object = try realm.create("Node", from: Self.full)
            #expect(try writes(realm, ["name": "a"], .all) == 0)
            #expect(try writes(realm, ["name": "a", "weight": 1.5, "count": 2], .all) == 2)
            #expect(try object.collection("others").count() == 2)
            // Embedded objects are made anew: what is not given takes its default.
            _ = try realm.create("Node", from: ["name": "a", "part": ["label": "z"]], update: .all)
            #expect(try object.linked("part")?.linked("screw") == nil)
        }
    }

    @Test func `without policy an object that is there is an error, also one deep inside`() throws {
        try withRealm { realm in
            _ = try realm.create("Node", from: ["name": "b"])
            for tree: ValueTree in [
                ["name": "b"], ["name": "n", "next": ["name": "b"]],
                ["name": "n", "others": ["b", ["name": "b", "weight": 1]]],
            ] {
                #expect(
                    errorCode { _ = try realm.create("Node", from: tree) } == .objectAlreadyExists)
            }
            #expect(try realm.count("Node") == 1)
            _ = try realm.create("Node", from: ["name": "n", "next": "b"])
            _ = try realm.create(
                "Node", from: ["name": "n", "next": ["name": "b"]], update: .modified)
            #expect(try realm.count("Node") == 2)
        }
    }

    @Test func `an update that is refused leaves objects as they were`() throws {
        try withRealm { realm in
            let object = try realm.create("Node", from: Self.full)
            let before = try object.handle.jsonText()
            for policy in [UpdatePolicy.modified, .all] {
                for bad: ValueTree in [
                    [
                        "name": "a", "weight": 9,
                        "others": [["name": "zz"], ["name": "b", "weight": "x"]],
                    ],
                    ["name": "a", "others": [], "part": ["label": 5]],
                    ["name": "a", "any": 1, "anyMap": ["a.b": 1]],
                    ["name": "a", "count": 9, "next": "nobody"],
                ] {
                    #expect(
                        errorCode { _ = try realm.create("Node", from: bad, update: policy) } != nil
                    )
                    #expect(try object.handle.jsonText() == before)
                    #expect(try realm.count("Node") == 3)
                }
            }
        }
    }
}
