// The guide's chapter on migrations. The classes of a version stand in an enumeration of their own.

import Foundation
import RealmSwift
import Testing

enum Migrations {
    enum First {
        class Person: Object {
            @Persisted var firstName = ""
            @Persisted var lastName = ""
            @Persisted var age = 0
        }
    }
    enum Second {
        class Person: Object {
            @Persisted var fullName = ""
            @Persisted var age = 0
        }
    }
    enum Born {
        class Person: Object {
            @Persisted var yearsSinceBirth = 0
        }
    }
    enum Aged {
        class Person: Object {
            @Persisted var age = 0
        }
    }
}

extension Guide {
    @Suite struct MigrationsTests {
        private func withOldFile(_ body: (URL) throws -> Void) throws {
            try withDefaultFile([Migrations.First.Person.self]) { url in
                try autoreleasepool {
                    let realm = try Realm()
                    try realm.write {
                        realm.create(Migrations.First.Person.self, value: ["Jane", "Doe", 30])
                        realm.create(Migrations.First.Person.self, value: ["John", "Roe", 40])
                    }
                }
                try body(url)
            }
        }

        @Test func aChangedModelNeedsAMigration() throws {
            try withOldFile { url in
                let config = Realm.Configuration(
                    fileURL: url, objectTypes: [Migrations.Second.Person.self])
                #expect(throws: (any Error).self) { try Realm(configuration: config) }
            }
        }

        @Test func theLeastMigration() throws {
            typealias Person = Migrations.Second.Person
            try withOldFile { url in
                let config = Realm.Configuration(
                    fileURL: url,
                    schemaVersion: 1,

                    migrationBlock: { migration, oldSchemaVersion in
                        if (oldSchemaVersion < 1) {
                        }
                    }, objectTypes: [Person.self])

                Realm.Configuration.defaultConfiguration = config

                let realm = try! Realm()
                #expect(realm.objects(Person.self).map(\.age) == [30, 40])
                #expect(realm.objects(Person.self).map(\.fullName) == ["", ""])
            }
        }

        @Test func updatingValues() throws {
            typealias Person = Migrations.Second.Person
            try withOldFile { url in
                Realm.Configuration.defaultConfiguration = Realm.Configuration(
                    fileURL: url,
                    schemaVersion: 1,
                    migrationBlock: { migration, oldSchemaVersion in
                        if (oldSchemaVersion < 1) {
                            migration.enumerateObjects(ofType: Person.className()) {
                                oldObject, newObject in
                                let firstName = oldObject!["firstName"] as! String
                                let lastName = oldObject!["lastName"] as! String
                                newObject!["fullName"] = "\(firstName) \(lastName)"
                            }
                        }
                    }, objectTypes: [Person.self])
                let realm = try Realm()
                #expect(realm.objects(Person.self).map(\.fullName) == ["Jane Doe", "John Roe"])
            }
        }

        @Test func renaming() throws {
            typealias Person = Migrations.Aged.Person
            try withDefaultFile([Migrations.Born.Person.self]) { url in
                try autoreleasepool {
                    let realm = try Realm()
                    try realm.write { realm.create(Migrations.Born.Person.self, value: [33]) }
                }
                Realm.Configuration.defaultConfiguration = Realm.Configuration(
                    fileURL: url,
                    schemaVersion: 1,
                    migrationBlock: { migration, oldSchemaVersion in
                        if (oldSchemaVersion < 1) {
                            migration.renameProperty(
                                onType: Person.className(), from: "yearsSinceBirth", to: "age")
                        }
                    }, objectTypes: [Person.self])
                #expect(try Realm().objects(Person.self).map(\.age) == [33])
            }
        }
    }
}
