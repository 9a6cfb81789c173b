// Files that were written before schemas could change: they open, are sound, and can be migrated.
// Tests/Fixtures/before-migrations.realm has 300 persons with properties of most types, some of them
// with values in blocks of their own, departments, embedded addresses and events.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct OldFileTests {
    private let directory = TemporaryDirectory()

    private func copy() throws -> String {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/before-migrations.realm")
        let path = directory.file()
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
        return path
    }

    private func count(_ realm: Realm, _ name: String, _ text: String) throws -> Int {
        let query = try Query.parse(
            text, schema: realm.schema, classKey: realm.schema.class_(named: name)!.key)
        return try query.countMatches(SnapshotReader(tables: realm.readTables()))
    }

    @Test func theyOpenAsTheyAre() throws {
        let path = try copy()
        let realm = try Realm.open(Configuration(path: path))
        #expect(realm.schema.classes.map(\.name) == ["Address", "Dept", "Event", "Person"])
        #expect(realm.schemaVersion == 1)
        #expect(try realm.find("Person", primaryKey: .int(-17))?.get("name") == .string("person 5"))
        #expect(try count(realm, "Person", "zero == 0 AND about TEXT 'words'") == 299)
        #expect(try count(realm, "Person", "tags.@count == 600") == 1)
        #expect(try count(realm, "Person", "ANY friends.name == 'person 0'") == 299)
        #expect(try realm.check() == [])
        realm.close()
        // Nothing new is used: older versions of the library can go on with the file.
        let store = try Store.open(path: path, options: StoreOptions(), files: SystemCalls.shared)
        try TableSet.withNewest(store) { tables throws(RealmError) in
            #expect(tables.catalog.format == 1)
        }
        try store.close()
    }

    @Test func theyAreMigrated() throws {
        let path = try copy()
        let before = try Realm.open(Configuration(path: path))
        var classes = before.schema.classes
        before.close()
        let place = classes.firstIndex { $0.name == "Person" }!
        classes[place].properties.removeAll {
            ["zero", "about", "address", "tags", "rooms"].contains($0.name)
        }
        let score = classes[place].properties.firstIndex { $0.name == "score" }!
        classes[place].properties[score].flags.insert(.nullable)
        let age = classes[place].properties.firstIndex { $0.name == "age" }!
        classes[place].properties[age].flags.remove(.nullable)
        classes[place].properties.append(
            PropertySchema("city", .string, flags: [.indexed], defaultValue: .value(.string("Ulm")))
        )
        classes[place].properties.append(PropertySchema("zero", .string))
        var configuration = Configuration(path: path)
        configuration.schema = Schema(classes)
        configuration.schemaVersion = 2
        configuration.migrate = { old, new, target throws(RealmError) in
            #expect(old.schemaVersion == 1)
            #expect(try old.find("Person", primaryKey: .int(21))?.get("zero") == .int(0))
            #expect(try new.find("Person", primaryKey: .int(21))?.get("zero") == .string(""))
            return true
        }
        let realm = try Realm.open(configuration)
        #expect(try realm.check() == [])
        #expect(try count(realm, "Person", "city == 'Ulm' AND age == 0 AND zero == ''") == 300)
        #expect(try count(realm, "Person", "score == 10.5") == 1)
        #expect(try count(realm, "Person", "score == nil") == 0)
        #expect(try count(realm, "Person", "ANY friends.name == 'person 0'") == 299)
        #expect(try realm.objectCount(realm.schema.class_(named: "Address")!.key) == 0)
        realm.close()
        let again = try Realm.open(Configuration(path: path))
        #expect(try again.find("Person", primaryKey: .int(-17))?.get("city") == .string("Ulm"))
        #expect(again.schemaVersion == 2)
    }
}
