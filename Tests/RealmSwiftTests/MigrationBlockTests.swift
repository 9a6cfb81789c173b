// What a migration block can do: read every kind of property of the old objects, write the new ones, create, delete,
// rename, take classes out; and what becomes of the file where it cannot end well.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// The classes as an older program had them.
private enum Old {
    class Part: EmbeddedObject {
        @Persisted var name: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Thing: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var int: Int
        @Persisted var bool: Bool
        @Persisted var float: Float
        @Persisted var double: Double
        @Persisted var string: String
        @Persisted var data: Data
        @Persisted var date: Date
        @Persisted var objectId: ObjectId
        @Persisted var uuid: UUID
        @Persisted var decimal: Decimal128
        @Persisted var any: AnyRealmValue
        @Persisted var color: Color
        @Persisted var nick: String?
        @Persisted var number: Int?
        @Persisted var ints: List<Int>
        @Persisted var texts: List<String?>
        @Persisted var words: MutableSet<String>
        @Persisted var scores: Map<String, Int>
        @Persisted var part: Part?
        @Persisted var parts: List<Part>
        @Persisted var partMap: Map<String, Part?>
        @Persisted var friend: Thing?
        @Persisted var friends: List<Thing>
        @Persisted var friendSet: MutableSet<Thing>
        @Persisted var friendMap: Map<String, Thing?>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Gone: Object {
        @Persisted var name: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static let types: [ObjectBase.Type] = [Thing.self, Part.self, Gone.self]
}

/// The classes as the present program has them: each property of a thing has moved to another name or type.
private enum New {
    class Part: EmbeddedObject {
        @Persisted var title: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Thing: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var int: String
        @Persisted var bool: Int
        @Persisted var newFloat: Float
        @Persisted var newDouble: Double
        @Persisted var newString: String
        @Persisted var newData: Data
        @Persisted var newDate: Date
        @Persisted var newObjectId: ObjectId
        @Persisted var newUuid: UUID
        @Persisted var newDecimal: Decimal128
        @Persisted var newAny: AnyRealmValue
        @Persisted var newColor: Color
        @Persisted var newNick: String?
        @Persisted var newNumber: Int?
        @Persisted var newInts: List<Int>
        @Persisted var newTexts: List<String?>
        @Persisted var newWords: MutableSet<String>
        @Persisted var newScores: Map<String, Int>
        @Persisted var newPart: Part?
        @Persisted var newParts: List<Part>
        @Persisted var newPartMap: Map<String, Part?>
        @Persisted var newFriend: Thing?
        @Persisted var newFriends: List<Thing>
        @Persisted var newFriendSet: MutableSet<Thing>
        @Persisted var newFriendMap: Map<String, Thing?>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Added: Object {
        @Persisted(primaryKey: true) var key: String
        @Persisted var thing: Thing?
        @Persisted var note = "as declared"
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static let types: [ObjectBase.Type] = [Thing.self, Part.self, Added.self]
}

/// Small classes, for renames and keys.
private enum BoxBefore {
    class Box: Object {
        @Persisted var number: Int
        @Persisted var label: String
        @Persisted var next: Box?
        @Persisted var tags: List<String>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum BoxAfter {
    class Box: Object {
        @Persisted(indexed: true) var count: Int?
        @Persisted var label: String
        @Persisted var following: Box?
        @Persisted var words: List<String>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum BoxKeyed {
    class Box: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var label: String
        @Persisted var next: Box?
        @Persisted var tags: List<String>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// What a block did, for the test.
private final class Seen: @unchecked Sendable {
    var texts: [String?] = []
    var count = 0
}

private func mapping<T>(_ object: MigrationObject?, _ name: String, _ type: T.Type) -> T? {
    object?[name] as? T
}

@Suite struct MigrationBlockTests {
    private func fill(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            let one = Old.Thing(value: ["id": 1])
            one.int = 7
            one.bool = true
            one.float = 1.5
            one.double = 2.5
            one.string = "text"
            one.data = Data([1, 2])
            one.date = Date(timeIntervalSince1970: 3)
            one.objectId = try ObjectId(string: "0123456789abcdef01234567")
            one.uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
            one.decimal = 4.5
            one.any = .string("any")
            one.color = .blue
            one.nick = "nick"
            one.ints.append(objectsIn: [3, 1, 2])
            one.texts.append(objectsIn: ["a", nil])
            one.words.insert(objectsIn: ["x", "y"])
            one.scores["k"] = 9
            one.part = Old.Part(value: ["name": "p"])
            one.parts.append(Old.Part(value: ["name": "q"]))
            one.partMap["r"] = Old.Part(value: ["name": "s"])
            let two = Old.Thing(value: ["id": 2])
            one.friend = two
            one.friends.append(objectsIn: [two, one])
            one.friendSet.insert(two)
            one.friendMap["two"] = two
            realm.add(one)
            realm.add(Old.Gone(value: ["name": "last words"]))
        }
        realm.core.close()
    }

    @Test func everyKindOfPropertyIsReadAndWritten() throws {
        try withFile(Old.types) { configuration in
            try fill(configuration)
            let seen = Seen()
            var next = configuration
            next.objectTypes = New.types
            next.schemaVersion = 5
            next.migrationBlock = { migration, version in
                #expect(version == 0)
                migration.enumerateObjects(ofType: "Thing") { old, new in
                    seen.count += 1
                    guard let old, let new else { return seen.texts.append("an object is missing") }
                    move(old, new)
                    if old["id"] as? Int == 1 { check(old) }
                    new["newFriend"] = linked(old["friend"], migration)
                    new["newFriends"] = mapping(old, "friends", List<MigrationObject>.self)?
                        .map { linked($0, migration) as Any }
                    new["newFriendSet"] = mapping(
                        old, "friendSet", MutableSet<MigrationObject>.self)?
                        .map { linked($0, migration) as Any }
                    let map = mapping(old, "friendMap", Map<String, MigrationObject?>.self)
                    new["newFriendMap"] = map.map { map in
                        Dictionary(
                            uniqueKeysWithValues: map.keys.map {
                                ($0, linked(map[$0] as Any?, migration) as Any)
                            })
                    }
                }
            }
            let realm = try Realm(configuration: next)
            #expect(seen.count == 2 && seen.texts.isEmpty)
            let one = try #require(realm.object(ofType: New.Thing.self, forPrimaryKey: 1))
            #expect(one.int == "7" && one.bool == 1 && one.newFloat == 1.5 && one.newDouble == 2.5)
            #expect(one.newString == "text" && one.newData == Data([1, 2]))
            #expect(one.newDate == Date(timeIntervalSince1970: 3) && one.newDecimal == 4.5)
            #expect(one.newObjectId.stringValue == "0123456789abcdef01234567")
            #expect(one.newUuid.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
            #expect(one.newAny == .string("any") && one.newColor == .blue)
            #expect(one.newNick == "nick" && one.newNumber == nil)
            #expect(Array(one.newInts) == [3, 1, 2] && Array(one.newTexts) == ["a", nil])
            #expect(Set(one.newWords) == ["x", "y"] && one.newScores["k"] == 9)
            #expect(one.newPart?.title == "p" && one.newParts.map { $0.title } == ["q"])
            #expect(one.newPartMap["r"]??.title == "s" && one.newPartMap.count == 1)
            let two = try #require(realm.object(ofType: New.Thing.self, forPrimaryKey: 2))
            #expect(one.newFriend == two && Array(one.newFriends) == [two, one])
            #expect(Array(one.newFriendSet) == [two] && one.newFriendMap["two"] == .some(two))
            #expect(two.newString == "" && two.newFriend == nil && two.newParts.isEmpty)
        }
    }

    /// Values by subscript, with the types that programs cast them to.
    private func check(_ old: MigrationObject) {
        #expect(old["int"] as? Int == 7 && old["bool"] as? Bool == true)
        #expect(old["float"] as? Float == 1.5 && old["double"] as? Double == 2.5)
        #expect(old["string"] as? String == "text" && old.string as? String == "text")
        #expect(old["data"] as? Data == Data([1, 2]))
        #expect(old["date"] as? Date == Date(timeIntervalSince1970: 3))
        #expect((old["objectId"] as? ObjectId)?.stringValue.hasPrefix("0123") == true)
        #expect(old["uuid"] is UUID && old["decimal"] as? Decimal128 == 4.5)
        #expect(old["any"] as? String == "any" && old["color"] as? String == "blue")
        #expect(old["nick"] as? String == "nick" && old["number"] == nil)
        #expect((old["part"] as? MigrationObject)?["name"] as? String == "p")
        #expect(old.dynamicList("parts").map { $0["name"] as? String } == ["q"])
        #expect(old.dynamicMap("partMap")["r"]??["name"] as? String == "s")
        #expect(old.dynamicMutableSet("friendSet").map { $0["id"] as? Int } == [2])
        let friend = old["friend"] as? MigrationObject
        #expect(friend?["id"] as? Int == 2 && friend?["friend"] == nil)
        // The old objects are there to be read.
        #expect(
            misuse { old["int"] = 8 }
                == "Attempting to modify object outside of a write transaction - call "
                + "beginWriteTransaction on an RLMRealm instance first.")
    }

    private func move(_ old: MigrationObject, _ new: MigrationObject) {
        new["int"] = "\(old["int"] as? Int ?? 0)"
        new["bool"] = old["bool"] as? Bool == true ? 1 : 0
        for name in [
            "float", "double", "string", "data", "date", "objectId", "uuid", "decimal", "any",
            "color", "nick", "number", "ints", "texts", "words", "scores",
        ] {
            new["new" + name.prefix(1).uppercased() + name.dropFirst()] = old[name]
        }
        func part(_ old: Any?) -> [String: Any]? {
            (old as? MigrationObject).map { ["title": $0["name"] ?? ""] }
        }
        new["newPart"] = part(old["part"])
        new["newParts"] = old.dynamicList("parts").map { part($0) as Any }
        let map = old.dynamicMap("partMap")
        for key in map.keys { new["newPartMap"] = [key: part(map[key] as Any?) as Any] }
    }

    /// The new object for an old one.
    private func linked(_ old: Any?, _ migration: Migration) -> MigrationObject? {
        guard let old = unwrapped(old as Any) as? MigrationObject else { return nil }
        var found: MigrationObject?
        migration.enumerateObjects(ofType: "Thing") { other, new in
            if other == old || other?["id"] as? Int == old["id"] as? Int { found = new }
        }
        return found
    }

    @Test func classesComeAndGo() throws {
        try withFile(Old.types) { configuration in
            try fill(configuration)
            let seen = Seen()
            var next = configuration
            next.objectTypes = New.types
            next.schemaVersion = 1
            next.migrationBlock = { migration, _ in
                #expect(migration.oldSchema["Gone"] != nil && migration.newSchema["Gone"] == nil)
                #expect(migration.oldSchema["Added"] == nil && migration.newSchema["Added"] != nil)
                #expect(migration.newSchema["Thing"]?["int"]?.type == .string)
                #expect(migration.oldSchema["Thing"]?["int"]?.type == .int)
                migration.enumerateObjects(ofType: "Gone") { old, new in
                    seen.texts.append(new == nil ? old?["name"] as? String : "there is a new one")
                }
                migration.enumerateObjects(ofType: "Nobody") { _, _ in seen.texts.append("met") }
                migration.enumerateObjects(ofType: "Added") { _, _ in seen.texts.append("early") }
                let made: MigrationObject = migration.create("Added", value: ["key": "a"])
                migration.create("Added", value: ["b"])
                migration.enumerateObjects(ofType: "Thing") { _, new in
                    if new?["id"] as? Int == 2 { made["thing"] = new }
                }
                migration.enumerateObjects(ofType: "Added") { old, new in
                    seen.texts.append(old == nil ? new?["key"] as? String : "there is an old one")
                }
                #expect(migration.deleteData(forType: "Gone"))
                #expect(!migration.deleteData(forType: "Gone"))
                #expect(!migration.deleteData(forType: "Nobody"))
            }
            let realm = try Realm(configuration: next)
            #expect(seen.texts == ["last words", "a", "b"])
            let added = realm.objects(New.Added.self)
            #expect(added.map { $0.key } == ["a", "b"])
            #expect(added[0].thing?.id == 2 && added[1].thing == nil)
            realm.core.close()
            // The class is out of the file: an older program would find none of its objects.
            var again = configuration
            again.objectTypes = Old.types
            again.schemaVersion = 2
            again.migrationBlock = { migration, version in
                #expect(version == 1 && migration.oldSchema["Gone"] == nil)
            }
            #expect(try Realm(configuration: again).objects(Old.Gone.self).isEmpty)
        }
    }

    @Test func objectsAreDeletedWhileTheyAreEnumerated() throws {
        try withFile([BoxBefore.Box.self]) { configuration in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                for number in 0..<6 { realm.create(BoxBefore.Box.self, value: ["number": number]) }
            }
            realm.core.close()
            let seen = Seen()
            var next = configuration
            next.schemaVersion = 1
            next.migrationBlock = { migration, _ in
                var all: [MigrationObject] = []
                migration.enumerateObjects(ofType: "Box") { _, new in
                    if let new { all.append(new) }
                }
                var met: [Int] = []
                migration.enumerateObjects(ofType: "Box") { old, new in
                    let number = old?["number"] as? Int ?? -1
                    met.append(number)
                    guard let new else { return }
                    // Itself, and one that is to come.
                    if number == 1 { migration.delete(new) }
                    if number == 2 { migration.delete(all[3]) }
                    if number == 4 { migration.create("Box", value: ["number": 10]) }
                }
                seen.texts = met.map { "\($0)" }
                #expect(all[1].isInvalidated)
                #expect(
                    misuse { migration.delete(all[1]) }
                        == "Can only delete an object from the Realm it belongs to."
                        || misuse { migration.delete(all[1]) }?.hasPrefix("Object has been deleted")
                            == true
                )
            }
            let moved = try Realm(configuration: next)
            #expect(seen.texts == ["0", "1", "2", "4", "5"])
            #expect(moved.objects(BoxBefore.Box.self).map { $0.number } == [0, 2, 4, 5, 10])
        }
    }

    @Test func renamedPropertiesKeepTheirDataAndLinks() throws {
        try withFile([BoxBefore.Box.self]) { configuration in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                let last = realm.create(BoxBefore.Box.self, value: ["number": 2, "tags": ["x"]])
                realm.create(
                    BoxBefore.Box.self, value: ["number": 1, "next": last, "tags": ["y", "z"]])
            }
            realm.core.close()
            let seen = Seen()
            var next = configuration
            next.objectTypes = [BoxAfter.Box.self]
            next.schemaVersion = 1
            next.migrationBlock = { migration, _ in
                // Wrong names change nothing.
                seen.texts = [
                    misuse { migration.renameProperty(onType: "Box", from: "none", to: "count") },
                    misuse { migration.renameProperty(onType: "Box", from: "number", to: "none") },
                    misuse { migration.renameProperty(onType: "Box", from: "label", to: "count") },
                    misuse { migration.renameProperty(onType: "Nobody", from: "a", to: "b") },
                    misuse { migration.renameProperty(onType: "Box", from: "tags", to: "count") },
                ]
                migration.renameProperty(onType: "Box", from: "number", to: "count")
                migration.renameProperty(onType: "Box", from: "next", to: "following")
                migration.renameProperty(onType: "Box", from: "tags", to: "words")
                migration.enumerateObjects(ofType: "Box") { old, new in
                    #expect(old?["number"] as? Int == new?["count"] as? Int)
                }
            }
            let moved = try Realm(configuration: next)
            #expect(seen.texts.count == 5 && !seen.texts.contains(nil))
            let boxes = moved.objects(BoxAfter.Box.self).sorted(by: \.count)
            #expect(
                boxes.map { $0.count } == [1, 2]
                    && boxes[0].following?.isSameObject(as: boxes[1]) == true)
            #expect(Array(boxes[0].words) == ["y", "z"] && Array(boxes[1].words) == ["x"])
            let property = moved.schema["Box"]?["count"]
            #expect(property?.isOptional == true && property?.isIndexed == true)
            try moved.write { boxes[0].count = nil }
            #expect(moved.objects(BoxAfter.Box.self).where { $0.count == nil }.count == 1)
        }
    }

    @Test func keysThatAreNotUniqueLeaveTheFileAsItWas() throws {
        try withFile([BoxBefore.Box.self]) { configuration in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                for label in ["a", "b"] {
                    realm.create(BoxBefore.Box.self, value: ["number": 1, "label": label])
                }
            }
            realm.core.close()
            var next = configuration
            next.objectTypes = [BoxKeyed.Box.self]
            next.schemaVersion = 1
            next.migrationBlock = { migration, _ in
                migration.enumerateObjects(ofType: "Box") { _, new in new?["label"] = "changed" }
                migration.create("Box", value: ["number": 3])
            }
            do {
                _ = try Realm(configuration: next)
                Issue.record("two objects have one key")
            } catch let error as Realm.Error {
                #expect(error.code == .schemaMismatch && error.localizedDescription.contains("1"))
            }
            #expect(try schemaVersionAtURL(#require(configuration.fileURL)) == 0)
            do {
                let same = try Realm(configuration: configuration)
                #expect(same.objects(BoxBefore.Box.self).map { $0.label } == ["a", "b"])
                same.core.close()
            }
            next.migrationBlock = { migration, _ in
                var number = 0
                migration.enumerateObjects(ofType: "Box") { _, new in
                    number += 1
                    new?["number"] = number
                }
            }
            let moved = try Realm(configuration: next)
            #expect(moved.object(ofType: BoxKeyed.Box.self, forPrimaryKey: 2)?.label == "b")
        }
    }

    @Test func blocksRunOnceAndWhereThereIsAnOlderFile() throws {
        try withFile([BoxBefore.Box.self]) { configuration in
            let seen = Seen()
            var next = configuration
            next.schemaVersion = 3
            next.migrationBlock = { _, version in seen.texts.append("\(version)") }
            // A new file has nothing to migrate.
            try Realm(configuration: next).core.close()
            #expect(seen.texts.isEmpty)
            try Realm(configuration: next).core.close()
            #expect(seen.texts.isEmpty)
            next.schemaVersion = 4
            try Realm.performMigration(for: next)
            try Realm(configuration: next).core.close()
            #expect(seen.texts == ["3"])
            next.schemaVersion = 3
            #expect(throws: Realm.Error.self) { _ = try Realm(configuration: next) }
        }
    }
}
