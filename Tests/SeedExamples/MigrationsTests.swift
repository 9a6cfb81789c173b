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
    enum Third {
        class Person: Object {
            @Persisted var fullName = ""
            @Persisted var age = 0
            @Persisted var email: String?
            @Persisted var legs = 2
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
                var code: Realm.Error.Code?
                do {
                    _ = try Realm(configuration: config)
                } catch let error as Realm.Error {
                    code = error.code
                }
                #expect(code == .schemaMismatch)
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

        /// "Linear migrations": JP sees every version, Tim skips some; both end with the same.
        @Test func linearMigrations() throws {
            typealias Step = (version: UInt64, type: ObjectBase.Type)
            let steps: [Step] = [
                (1, Migrations.Second.Person.self), (2, Migrations.Third.Person.self),
                (3, Migrations.Second.Person.self), (4, Migrations.Third.Person.self),
            ]
            func open(_ url: URL, _ step: Step) throws -> Realm {
                try Realm(
                    configuration: .init(
                        fileURL: url,
                        schemaVersion: step.version,
                        migrationBlock: { migration, oldSchemaVersion in
                            if (oldSchemaVersion < 1) {
                                migration.enumerateObjects(ofType: "Person") {
                                    oldObject, newObject in
                                    let firstName = oldObject!["firstName"] as! String
                                    let lastName = oldObject!["lastName"] as! String
                                    newObject!["fullName"] = "\(firstName) \(lastName)"
                                }
                            }
                            // The addresses that were left out in version 3 are not to come back.
                            if (oldSchemaVersion < 4 && step.version >= 4) {
                                migration.enumerateObjects(ofType: "Person") { _, newObject in
                                    newObject!["email"] = nil
                                }
                            }
                        }, objectTypes: [step.type]))
            }
            func ends(_ visited: [Int]) throws -> [String] {
                var lines: [String] = []
                try withOldFile { url in
                    for (place, index) in visited.enumerated() {
                        try autoreleasepool {
                            let realm = try open(url, steps[index])
                            guard steps[index].version % 2 == 0 else { return }
                            let people = realm.objects(Migrations.Third.Person.self)
                            if place == visited.count - 1 {
                                lines = people.map {
                                    "\($0.fullName) \($0.age) \($0.email ?? "-") \($0.legs)"
                                }
                            } else {
                                try realm.write { people.setValue("old@x.org", forKey: "email") }
                            }
                        }
                    }
                }
                return lines
            }
            // The guide calls it a bug that new properties do not get their defaults; here they do.
            let both = ["Jane Doe 30 - 2", "John Roe 40 - 2"]
            #expect(try ends([0, 1, 2, 3]) == both)
            #expect(try ends([1, 3]) == both && ends([3]) == both && ends([0, 3]) == both)
        }
    }
}
