// What opening does with schemas that differ from the file's.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct SchemaModeTests {
    let directory = TemporaryDirectory()

    private func changed(_ change: (inout ClassSchema) -> Void) -> Schema {
        var dog = TestSchema.dog
        change(&dog)
        return Schema([dog, TestSchema.person, TestSchema.note])
    }

    private func open(
        _ schema: Schema?, version: UInt64 = 1, mode: SchemaMode = .automatic
    ) throws -> Realm {
        var configuration = TestSchema.configuration(directory.file(), schema, version: version)
        configuration.schemaMode = mode
        return try Realm.open(configuration)
    }

    @Test func newClassesAreAddedAndKeepTheirKeys() throws {
        let first = try open(Schema([TestSchema.note]))
        try first.write { _ = try first.create("Note", ["text": .string("a")]) }
        let key = first.schema.class_(named: "Note")?.key
        first.close()
        let second = try open(TestSchema.all)
        #expect(second.schema.classes.map(\.name) == ["Dog", "Note", "Person"])
        #expect(second.schema.class_(named: "Note")?.key == key)
        try second.write { _ = try second.create("Dog", primaryKey: .int(1)) }
        second.close()
        // A file shows all it has to who asks for nothing.
        let third = try open(nil)
        #expect(third.schema.classes.map(\.name) == ["Dog", "Note", "Person"])
        #expect(third.schemaVersion == 1)
        third.close()
    }

    @Test func anOpenRealmAcceptsClassesThatAnotherAdds() throws {
        let first = try open(Schema([TestSchema.note]))
        try first.write { _ = try first.create("Note", ["text": .string("a")]) }
        let note = try #require(
            try first.find(first.schema.class_(named: "Note")!.key, key: ObjectKey(rawValue: 0)))
        let second = try open(TestSchema.all)
        try second.write { _ = try second.create("Dog", primaryKey: .int(1)) }
        #expect(try first.refresh())
        #expect(try note.get("text") == .string("a"))
        try first.write { try note.set("text", .string("b")) }
        #expect(try note.get("text") == .string("b"))
        #expect(first.schema.classes.map(\.name) == ["Note"])
    }

    @Test func differencesAreRefusedAndLeaveTheFileAsItWas() throws {
        let realm = try open(TestSchema.all)
        try realm.write { _ = try realm.create("Dog", primaryKey: .int(1), ["age": .int(4)]) }
        realm.close()
        let cases: [Schema] = [
            changed { $0.properties[2].flags = [] },
            changed { $0.properties[2].type = .string },
            changed { $0.properties.remove(at: 1) },
            changed { $0.properties.append(PropertySchema("weight", .double)) },
            changed {
                $0.primaryKey = ""
                $0.properties[0].flags = []
            },
        ]
        for schema in cases {
            #expect(errorCode { _ = try open(schema) } == .schemaMismatch)
            #expect(errorCode { _ = try open(schema, mode: .manual) } == .schemaMismatch)
        }
        #expect(errorCode { _ = try open(TestSchema.all, version: 0) } == .invalidSchemaVersion)
        let again = try open(TestSchema.all)
        #expect(try again.find("Dog", primaryKey: .int(1))?.get("age") == .int(4))
        #expect(again.schemaVersion == 1)
    }

    @Test func invalidSchemasAreRefusedBeforeAFileIsMade() throws {
        let schema = Schema([
            ClassSchema("A", properties: [PropertySchema("b", .object, linkTarget: "B")])
        ])
        #expect(errorCode { _ = try open(schema) } == .schemaValidationFailed)
        #expect(!FileManager.default.fileExists(atPath: directory.file()))
    }

    @Test func combinationsThatExcludeEachOtherAreRefused() throws {
        var configuration = Configuration(path: directory.file())
        configuration.schema = TestSchema.all
        #expect(errorCode { _ = try Realm.open(configuration) } == .illegalCombination)
        configuration.schemaVersion = 1
        configuration.isInMemory = true
        configuration.encryptionKey = [UInt8](repeating: 1, count: 64)
        #expect(errorCode { _ = try Realm.open(configuration) } == .illegalCombination)
        configuration.isInMemory = false
        configuration.encryptionKey = [1, 2, 3]
        #expect(errorCode { _ = try Realm.open(configuration) } == .invalidEncryptionKey)
    }

    @Test func theSameFileIsNotOpenedWithOtherSettings() throws {
        let realm = try open(TestSchema.all)
        #expect(errorCode { _ = try open(TestSchema.all, version: 2) } == .mismatchedConfig)
        #expect(errorCode { _ = try open(TestSchema.all, mode: .manual) } == .mismatchedConfig)
        var configuration = TestSchema.configuration(directory.file())
        configuration.isInMemory = true
        #expect(errorCode { _ = try Realm.open(configuration) } == .mismatchedConfig)
        _ = try open(nil)
        realm.close()
    }

    @Test func dataInitializationRunsOnceAndCanFail() throws {
        var configuration = TestSchema.configuration(directory.file())
        nonisolated(unsafe) var runs = 0
        configuration.initializeData = { realm throws(RealmError) in
            runs += 1
            _ = try realm.create("Dog", primaryKey: .int(7))
            return runs > 1
        }
        #expect(errorCode { _ = try Realm.open(configuration) } == .callback)
        let realm = try Realm.open(configuration)
        #expect(runs == 2)
        #expect(try realm.find("Dog", primaryKey: .int(7)) != nil)
        realm.close()
        _ = try Realm.open(configuration)
        #expect(runs == 2)
    }
}
