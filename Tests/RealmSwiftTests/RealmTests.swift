// Realms: opening, transactions, files, errors, migrations, frozen realms, other threads.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class Broken: Object {
    @Persisted(primaryKey: true) var one: Int
    @Persisted(primaryKey: true) var two: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Empty: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class RequiredLink: Object {
    @Persisted var dog: Dog
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NoOrigin: Object {
    @Persisted var dogs: LinkingObjects<Dog>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum Before {
    class Item: Object {
        @Persisted var firstName: String
        @Persisted var lastName: String
        @Persisted var years: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func _realmObjectName() -> String? { "Item" }
    }
}

enum After {
    class Item: Object {
        @Persisted var fullName: String
        @Persisted var age: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func _realmObjectName() -> String? { "Item" }
    }
}

@Suite struct RealmTests {
    @Test func openingAgainGivesTheSameRealm() throws {
        try withFile([Dog.self, Person.self, Address.self]) { configuration in
            let one = try Realm(configuration: configuration)
            let two = try Realm(configuration: configuration)
            #expect(one == two && one.configuration.fileURL == configuration.fileURL)
            let text = misuse {
                var other = configuration
                other.schemaVersion = 3
                _ = try? Realm(configuration: other)
            }
            #expect(text?.hasSuffix("already opened with different schema version") == true)
            #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
            one.core.close()
            #expect(Realm.fileExists(for: configuration))
            #expect(try Realm.deleteFiles(for: configuration))
            #expect(try !Realm.deleteFiles(for: configuration))
        }
    }

    @Test func valuesStayInTheFile() throws {
        try withFile { configuration in
            func write() throws {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
                realm.core.close()
            }
            try write()
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Dog.self).first?.name == "Rex")
            realm.core.close()
            #expect(try schemaVersionAtURL(#require(configuration.fileURL)) == 0)
        }
    }

    @Test func transactionsAreRolledBackOnErrors() throws {
        struct Stop: Error {}
        let realm = try Realm(configuration: memory())
        let dog = Dog()
        #expect(throws: Stop.self) {
            try realm.write {
                realm.add(dog)
                throw Stop()
            }
        }
        #expect(realm.isEmpty && !realm.isInWriteTransaction && dog.isInvalidated)
        let answer = try realm.write { 42 }
        #expect(answer == 42)
        try realm.write {
            realm.create(Dog.self)
            realm.cancelWrite()
        }
        #expect(realm.isEmpty)
    }

    @Test func misuseOfTransactionsHasRealmSwiftsText() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog()
        try realm.write { realm.add(dog) }
        #expect(
            misuse { dog.age = 3 }
                == "Attempting to modify object outside of a write transaction - call "
                + "beginWriteTransaction on an RLMRealm instance first.")
        #expect(
            misuse { realm.add(Dog()) }
                == "Can only add, remove, or create objects in a Realm in a write transaction - call "
                + "beginWriteTransaction on an RLMRealm instance first.")
        #expect(
            misuse { realm.delete(dog) }
                == "Can only add, remove, or create objects in a Realm in a write transaction - call "
                + "beginWriteTransaction on an RLMRealm instance first.")
        #expect(
            misuse { try? realm.commitWrite() } == "Can't commit a non-existing write transaction")
        #expect(misuse { realm.cancelWrite() } == "Can't cancel a non-existing write transaction")
        realm.beginWrite()
        #expect(misuse { realm.beginWrite() } == "The Realm is already in a write transaction")
        realm.create(Person.self, value: [1])
        #expect(
            misuse { realm.create(Person.self, value: [1]) }
                == "Attempting to create an object of type 'Person' with an existing primary key value "
                + "'1'.")
        let person = realm.objects(Person.self)[0]
        #expect(
            misuse { person.id = 2 }
                == "Primary key can't be changed after an object is inserted.")
        #expect(
            misuse { realm.create(Dog.self, update: .modified) }
                == "'Dog' does not have a primary key and can not be updated")
        realm.cancelWrite()
        let other = try Realm(configuration: memory())
        other.beginWrite()
        #expect(
            misuse { other.add(dog) }
                == "Object is already managed by another Realm. Use create instead to copy it into this "
                + "Realm.")
        #expect(
            misuse { other.delete(dog) }
                == "Can only delete an object from the Realm it belongs to.")
        other.cancelWrite()
    }

    @Test func wrongThreadsAreMisuse() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog()
        try realm.write { realm.add(dog) }
        let box = UncheckedBox(dog)
        #expect(
            onAnotherThread { misuse { _ = box.value.name } }
                == "Realm accessed from incorrect thread.")
    }

    @Test func declarationsAreChecked() {
        #expect(
            misuse { _ = try? Realm(configuration: memory([Broken.self])) }
                == "Properties 'one' and 'two' are both marked as the primary key of 'Broken'")
        #expect(
            misuse { _ = try? Realm(configuration: memory([Empty.self])) }?
                .hasPrefix("No properties are defined for 'Empty'.") == true)
        #expect(
            misuse { _ = try? Realm(configuration: memory([RequiredLink.self])) }
                == "Object property 'dog' must be marked as optional.")
        #expect(
            misuse { _ = try? Realm(configuration: memory([NoOrigin.self])) }
                == "LinkingObjects<Dog> property 'dogs' must set the origin property name with "
                + "@Persisted(originProperty: \"name\").")
        #expect(
            misuse { _ = try? Realm(configuration: memory([Person.self])) }?
                .hasPrefix("Invalid class subset list: ") == true)
        #expect(
            misuse {
                var configuration = Realm.Configuration()
                configuration.encryptionKey = Data([1])
                _ = try? Realm(configuration: configuration)
            } == "Encryption key must be exactly 64 bytes long")
    }

    @Test func errorsAreCaughtAsTheGuidesDo() throws {
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/nowhere/at/all/a.realm"))
        var caught = 0
        do {
            _ = try Realm(configuration: configuration)
        } catch let error as NSError {
            #expect(error.domain == "io.realm" && error.localizedDescription.contains("/nowhere"))
            caught += 1
        }
        do {
            _ = try Realm(configuration: configuration)
        } catch Realm.Error.fileNotFound {
            caught += 1
        } catch {
            Issue.record("\(error)")
        }
        do {
            _ = try Realm(configuration: configuration)
        } catch let error as Realm.Error where error.code == .fileNotFound {
            caught += 1
            #expect(error.fileURL?.path.hasPrefix("/nowhere") == true)
        }
        #expect(caught == 3)
    }

    @Test func migrationsMoveData() throws {
        try withFile([Before.Item.self]) { configuration in
            let old = try Realm(configuration: configuration)
            try old.write {
                for index in 0..<5 {
                    old.create(Before.Item.self, value: ["A\(index)", "B\(index)", index] as [Any])
                }
            }
            old.core.close()
            var next = configuration
            next.objectTypes = [After.Item.self]
            #expect(throws: Realm.Error.self) { _ = try Realm(configuration: next) }
            next.schemaVersion = 2
            next.migrationBlock = { migration, version in
                #expect(version == 0 && migration.oldSchema["Item"]?["years"] != nil)
                migration.renameProperty(onType: "Item", from: "years", to: "age")
                migration.enumerateObjects(ofType: "Item") { old, new in
                    let first = old?["firstName"] as? String ?? ""
                    new?["fullName"] = first + " " + (old?["lastName"] as? String ?? "")
                    if first == "A4", let new { migration.delete(new) }
                }
                migration.create("Item", value: ["fullName": "New", "age": 99])
            }
            let realm = try Realm(configuration: next)
            let items = realm.objects(After.Item.self).sorted(byKeyPath: "age")
            #expect(items.map { $0.fullName } == ["A0 B0", "A1 B1", "A2 B2", "A3 B3", "New"])
            #expect(items.map { $0.age } == [0, 1, 2, 3, 99])
            realm.core.close()
            #expect(try schemaVersionAtURL(#require(configuration.fileURL)) == 2)
            var reset = configuration
            reset.schemaVersion = 2
            reset.deleteRealmIfMigrationNeeded = true
            #expect(try Realm(configuration: reset).isEmpty)
        }
    }

    @Test func frozenThingsStayAsTheyAre() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex", "age": 1])
        let person = Person(value: [1, "Ann", 3, [dog]] as [Any])
        try realm.write { realm.add(person) }
        let frozen = dog.freeze()
        let list = person.dogs.freeze()
        let results = realm.objects(Dog.self).where { $0.age == 1 }.freeze()
        let still = realm.freeze()
        try realm.write {
            dog.age = 2
            person.dogs.removeAll()
        }
        #expect(frozen.isFrozen && frozen.age == 1 && dog.age == 2)
        #expect(list.count == 1 && list[0].age == 1 && person.dogs.isEmpty)
        #expect(results.count == 1 && realm.objects(Dog.self).where { $0.age == 1 }.isEmpty)
        #expect(still.isFrozen && still.objects(Dog.self).first?.age == 1)
        #expect(frozen.thaw()?.age == 2 && frozen.thaw()?.isSameObject(as: dog) == true)
        #expect(list.thaw()?.isEmpty == true && still.thaw() == realm)
        #expect(frozen == still.object(of: frozen))
        #expect(
            misuse { still.beginWrite() } == "Can't perform transactions on a frozen Realm")
        #expect(misuse { _ = Dog().freeze() } == "Unmanaged objects cannot be frozen.")
        let box = UncheckedBox(frozen)
        #expect(onAnotherThread { box.value.name } == "Rex")
        try realm.write { realm.delete(dog) }
        #expect(frozen.thaw() == nil && frozen.name == "Rex")
    }

    @Test func referencesLeadToTheSameThingsElsewhere() throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        let dog = Dog(value: ["name": "Rex", "age": 1])
        let person = Person(value: [1, "Ann", 3, [dog]] as [Any])
        try realm.write { realm.add(person) }
        let one = ThreadSafeReference(to: dog)
        let list = ThreadSafeReference(to: person.dogs)
        let results = ThreadSafeReference(to: realm.objects(Dog.self).where { $0.age == 1 })
        let gone = ThreadSafeReference(to: person)
        @ThreadSafe var shared: Dog? = dog
        let wrapper = _shared
        let texts = onAnotherThread { () -> [String] in
            guard let there = try? Realm(configuration: configuration) else { return [] }
            var texts: [String] = []
            texts.append(there.resolve(one)?.name ?? "nil")
            texts.append("\(there.resolve(list)?.count ?? -1)")
            texts.append("\(there.resolve(results)?.count ?? -1)")
            texts.append(wrapper.wrappedValue?.name ?? "nil")
            texts.append(misuse { _ = there.resolve(one) } ?? "none")
            try? there.write { there.delete(there.objects(Person.self)) }
            texts.append(there.resolve(gone)?.name ?? "nil")
            return texts
        }
        #expect(
            texts == [
                "Rex", "1", "1", "Rex", "Can only resolve a thread safe reference once.", "nil",
            ])
        realm.refresh()
        #expect(person.isInvalidated)
        #expect(
            misuse { _ = ThreadSafeReference(to: Dog()) }
                == "Cannot construct reference to unmanaged object, which can be passed across threads "
                + "directly")
    }

    @Test func copiesAreWritten() throws {
        try withFile { configuration in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
            let url = try #require(configuration.fileURL).appendingPathExtension("copy")
            try realm.writeCopy(toFile: url)
            #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: url) }
            let copy = try Realm(configuration: Realm.Configuration(fileURL: url))
            #expect(copy.objects(Dog.self).first?.name == "Rex")
            copy.core.close()
            var seeded = configuration
            seeded.fileURL = url.appendingPathExtension("seeded")
            seeded.seedFilePath = url
            #expect(try Realm(configuration: seeded).objects(Dog.self).count == 1)
            realm.core.close()
        }
    }

    @Test func encryptedFilesNeedTheirKey() throws {
        try withFile([Dog.self, Person.self, Address.self]) { configuration in
            var secret = configuration
            secret.encryptionKey = Realm.generateEncryptionKey()
            let realm = try Realm(configuration: secret)
            try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
            realm.core.close()
            let again = try Realm(configuration: secret)
            #expect(again.objects(Dog.self).first?.name == "Rex")
            let url = try #require(configuration.fileURL)
            let copy = Realm.Configuration(
                fileURL: url.appendingPathExtension("copy"),
                encryptionKey: Realm.generateEncryptionKey(), objectTypes: configuration.objectTypes
            )
            try again.writeCopy(
                toFile: #require(copy.fileURL), encryptionKey: copy.encryptionKey)
            again.core.close()
            let other = try Realm(configuration: copy)
            #expect(other.objects(Dog.self).first?.name == "Rex")
            other.core.close()
            #expect(try schemaVersionAtURL(url, encryptionKey: secret.encryptionKey) == 0)
            var wrong = secret
            wrong.encryptionKey = Realm.generateEncryptionKey()
            #expect(throws: Realm.Error.self) { _ = try Realm(configuration: wrong) }
            #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        }
    }

    @Test func realmsHaveAllClassesOfTheProgram() throws {
        let names = try Realm(configuration: memory()).schema.objectSchema.map { $0.className }
        #expect(Set(names).isSuperset(of: ["Person", "Dog", "Address", "Everything", "Cat"]))
        #expect(!names.contains("Mixture") && !names.contains("DynamicObject"))
        let some = try Realm(configuration: memory([Animal.self])).schema
        #expect(some.objectSchema.map { $0.className } == ["Animal"])
        #expect(
            misuse {
                _ = try? Realm(configuration: memory([Animal.self])).objects(Dog.self)
            } == "Object type 'Dog' not managed by the Realm")
    }

    /// Which one is shared is not changed here: levels are those of all tests. docs/SWIFT.md has an example.
    @Test func loggersTakeMessages() {
        let log = Log()
        let logger = Logger(level: .warn) { level, message in log.add("\(level) \(message)") }
        logger.sink.log(.app, .fatal, "a")
        logger.sink.log(.app, .off, "b")
        #expect(log.all == ["fatal a", "off b"] && logger.level == .warn)
        logger.level = .trace
        #expect(
            logger.level == .trace
                && LogLevel.allCases.map { LogLevel($0.engine) } == LogLevel.allCases)
        #expect(LogLevel.off.rawValue == 0 && LogLevel.all.rawValue == 8)
    }

    /// Of categories that nothing here logs in: levels are those of all tests. docs/SWIFT.md has an example with
    /// a transaction.
    @Test func categoriesOfMessagesAreATree() {
        let all: [any LogCategory] =
            Category.allCases + Category.Storage.allCases + Category.Sync.allCases
            + Category.Sync.Client.allCases
        let log = Log()
        let logger = Logger { level, category, message in
            log.add("\(level) \(category.rawValue) \(message)")
        }
        for category in all {
            logger.sink.log(Logger.engineCategory(category), .fatal, "m")
        }
        #expect(log.all == all.map { "fatal \($0.rawValue) m" } && Set(log.all).count == 15)

        #expect(Logger.logLevel(for: Category.Sync.all) == .info)
        Logger.setLogLevel(.debug, for: Category.Sync.Client.all)
        Logger.setLogLevel(.off, for: Category.Sync.Client.reset)
        #expect(
            Category.Sync.Client.allCases.map { Logger.logLevel(for: $0) }
                == [.debug, .debug, .debug, .debug, .off])
        #expect(Logger.logLevel(for: Category.Sync.server) == .info)
        logger.sink.log(.client, .trace, "too little")
        logger.sink.log(.client, .debug, "enough")
        logger.sink.log(.reset, .fatal, "nothing of this")
        #expect(log.all.count == 16 && log.all.last == "debug Realm.Sync.Client enough")
        Logger.setLogLevel(.info, for: Category.Sync.all)
        #expect(Category.Sync.Client.allCases.allSatisfy { Logger.logLevel(for: $0) == .info })

        struct Other: LogCategory { let rawValue = "Realm.Other" }
        #expect(
            misuse { _ = Logger.logLevel(for: Other()) }
                == "There is no log category 'Realm.Other'.")
        #expect(misuse { Logger.setLogLevel(.off, for: Other()) } != nil)
        // The level of one that is not shared and has none of its own is that of the categories.
        #expect(logger.level == Logger.logLevel(for: Category.realm))
    }

    @Test func unusualValuesOfIdentifiersAndDecimals() throws {
        #expect(throws: Realm.Error.self) { _ = try ObjectId(string: "xyz") }
        #expect(ObjectId().stringValue == String(repeating: "0", count: 24))
        #expect(ObjectId.generate() < ObjectId("ffffffffffffffffffffffff"))
        let sum: Decimal128 = "0.1" + 0.2
        #expect(sum == "0.3" && sum.doubleValue == 0.3 && Decimal128("nan").isNaN)
        #expect(throws: Realm.Error.self) { _ = try Decimal128(string: "1.2.3") }
        #expect(Decimal128(exactly: 12)?.stringValue == "12")
    }
}

extension Realm {
    /// The object that is the same as another one of a frozen realm.
    fileprivate func object(of dog: Dog) -> Dog? {
        objects(Dog.self).first { $0.isSameObject(as: dog) }
    }
}
