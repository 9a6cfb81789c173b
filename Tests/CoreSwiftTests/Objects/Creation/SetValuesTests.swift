// Values from trees for objects that are there: with and without primary key, and what is refused.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct SetValuesTests {
    private let directory = TemporaryDirectory()

    private func withRealm(_ body: (Realm) throws -> Void) throws {
        let realm = try CreationSchema.open(directory.file())
        try realm.write { try body(realm) }
        #expect(try realm.check() == [])
        realm.close()
    }

    private func refusal(_ object: DynamicObject, _ tree: ValueTree) throws -> RealmError? {
        let before = try object.handle.jsonText()
        defer { #expect((try? object.handle.jsonText()) == before) }
        do throws(RealmError) {
            try object.handle.setValues(from: tree)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatIsGivenIsSetAndTheRestStays() throws {
        try withRealm { realm in
            let node = try realm.create(
                "Node", from: ["name": "a", "weight": 1.5, "part": ["label": "x", "size": 7]])
            try node.handle.setValues(
                from: [
                    "others": ["a", ["name": "b", "weight": 2.5]], "part": ["label": "y"],
                    "any": [1, "x"], "next": ["name": "a"],
                ])
            let text = try node.handle.json()
            #expect(text.contains("\"weight\":1.5") && text.contains("\"any\":[1,\"x\"]"))
            // The embedded object was changed where it is.
            #expect(text.contains("\"label\":\"y\",\"size\":7"))
            #expect(text.contains("\"next\":\"a\"") && text.contains("\"others\":[\"a\",\"b\"]"))
            #expect(try realm.find("Node", primaryKey: .string("b"))?.get("weight") == .double(2.5))
        }
    }

    @Test func anObjectWithoutPrimaryKeyIsTheSameAfterwards() throws {
        try withRealm { realm in
            let leaf = try realm.create("Leaf", from: ["text": "old"])
            let key = leaf.key
            try leaf.handle.setValues(from: ["text": "new"])
            #expect(try leaf.get("text") == .string("new") && leaf.key == key)
            #expect(try realm.count("Leaf") == 1)
        }
    }

    @Test func thePrimaryKeyMayBeGivenButStays() throws {
        try withRealm { realm in
            let node = try realm.create("Node", from: ["name": "a"])
            try node.handle.setValues(from: ["name": "a", "weight": 3])
            #expect(try node.get("weight") == .double(3))
            let error = try refusal(node, ["weight": 4, "name": "b"])
            #expect(error?.code == .modifyPrimaryKey)
            #expect(error?.message.contains("from the string \"a\" to the string \"b\"") == true)
        }
    }

    @Test func nothingIsWrittenWhereAValueDoesNotFit() throws {
        try withRealm { realm in
            let node = try realm.create("Node", from: ["name": "a", "weight": 1.5])
            #expect(try refusal(node, ["weight": 2, "nothing": 1])?.code == .invalidProperty)
            #expect(try refusal(node, ["weight": "x"])?.code == .propertyTypeMismatch)
            #expect(try refusal(node, ["weight": 2, "next": "none"])?.code == .noSuchObject)
            #expect(try refusal(node, [1, 2])?.code == .propertyTypeMismatch)
        }
    }

    @Test func anEmbeddedObjectTakesValuesWhereItIs() throws {
        try withRealm { realm in
            let node = try realm.create(
                "Node", from: ["name": "a", "part": ["label": "x", "size": 7]])
            let part = try #require(try node.linked("part"))
            try part.handle.setValues(from: ["label": "y"])
            #expect(try node.handle.json().contains("\"label\":\"y\",\"size\":7"))
            #expect(try realm.count("Part") == 1)
            // Nothing of it is left behind where a value does not fit.
            #expect(try refusal(part, ["label": "z", "size": "x"])?.code == .propertyTypeMismatch)
            #expect(try node.linked("part")?.key == part.key)
        }
    }

    @Test func objectsThatAreGoneAreRefused() throws {
        try withRealm { realm in
            let node = try realm.create("Node", from: ["name": "a", "part": ["label": "x"]])
            let part = try #require(try node.linked("part"))
            try node.delete()
            #expect(throws: RealmError.self) { try part.handle.setValues(from: ["label": "y"]) }
            #expect(throws: RealmError.self) { try node.handle.setValues(from: ["weight": 1]) }
        }
    }

    @Test func itNeedsAWriteTransaction() throws {
        let realm = try CreationSchema.open(directory.file())
        try realm.write { _ = try realm.create("Node", from: ["name": "a"]) }
        let node = try #require(try realm.find("Node", primaryKey: .string("a")))
        #expect(try refusal(node, ["weight": 1])?.code == .wrongTransactionState)
        realm.close()
    }
}
