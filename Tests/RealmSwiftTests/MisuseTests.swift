// What is wrong in a program, with realm-swift's text for it.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

private class KeyOfData: Object {
    @Persisted var bytes: Data
    override class func primaryKey() -> String? { "bytes" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class KeyOfNothing: Object {
    @Persisted var name: String
    override class func primaryKey() -> String? { "title" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class OptionalElements: Object {
    @Persisted var dogs: List<Dog?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Only positive numbers.
private struct Positive: FailableCustomPersistable {
    var number: Int
    init?(persistedValue: Int) {
        if persistedValue <= 0 { return nil }
        number = persistedValue
    }
    var persistableValue: Int { number }
}

private class Numbered: Object {
    @Persisted var number: Positive
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct MisuseTests {
    private func opening(_ types: [ObjectBase.Type]) -> String? {
        misuse { _ = try? Realm(configuration: memory(types)) }
    }

    @Test func declarations() {
        #expect(
            opening([KeyOfData.self])
                == "Property 'bytes' cannot be made the primary key of 'KeyOfData' because it is not a "
                + "'string', 'int', 'objectId', or 'uuid' property.")
        #expect(
            opening([KeyOfNothing.self])
                == "Primary key property 'title' does not exist on object 'KeyOfNothing'")
        #expect(
            opening([OptionalElements.self, Dog.self])
                == "List<Dog> property 'dogs' must not be marked as optional.")
        // Its initial value is not a number that it can have.
        #expect(
            opening([Numbered.self]) == nil
                && misuse { _ = Numbered().number }
                    == "Could not convert value '0' to type 'Positive'."
        )
        #expect(
            misuse {
                var configuration = Realm.Configuration()
                configuration.objectTypes = [ObjectBase.self]
            } == "Can't add non-Object type 'ObjectBase' to a schema.")
    }

    @Test func settings() {
        func text(_ change: @escaping (inout Realm.Configuration) -> Void) -> String? {
            misuse {
                var configuration = memory()
                change(&configuration)
                _ = try? Realm(configuration: configuration)
            }
        }
        #expect(
            text {
                $0.readOnly = true
                $0.deleteRealmIfMigrationNeeded = true
            } == "Cannot set `readOnly` when `deleteRealmIfMigrationNeeded` is set.")
        #expect(
            text {
                $0.readOnly = true
                $0.shouldCompactOnLaunch = { _, _ in true }
            } == "Cannot set `readOnly` when `shouldCompactOnLaunch` is set.")
        #expect(
            text { $0.inMemoryIdentifier = "" } == "In-memory identifier must not be empty")
    }

    @Test func values() throws {
        let realm = try Realm(configuration: memory())
        #expect(
            misuse { _ = Person(value: [1, 2, 3, 4, 5, 6, 7, 8, 9]) }?
                .hasPrefix("Invalid array input: more values (9) than properties (") == true)
        #expect(
            misuse { _ = Person(value: 5) }?
                .hasPrefix("Invalid value '5' to initialize object of type 'Person'") == true)
        #expect(
            misuse { _ = Person(value: ["age": NSNull()]) }?
                .hasPrefix("Must provide a non-nil value.") == true)
        realm.beginWrite()
        let ann = realm.create(Person.self, value: ["id": 1, "address": ["street": "Main"]])
        #expect(
            misuse { realm.dynamicCreate("Person", value: ["name": "x"]) }
                == "Missing value for property 'Person.id'")
        #expect(
            misuse { _ = ann.freeze() }
                == "Cannot freeze an object in the same write transaction as it was created in.")
        let bob = realm.create(Person.self, value: ["id": 2])
        #expect(
            misuse { bob.address = ann.address }
                == "Can't set link to existing managed embedded object")
        let it = realm.create(Everything.self)
        #expect(
            misuse { it.addressMap["x"] = ann.address }
                == "Cannot add an existing managed embedded object to a Dictionary.")
        let gone = realm.create(Dog.self)
        realm.delete(gone)
        #expect(
            misuse { realm.add(gone) }
                == "Adding a deleted or invalidated object to a Realm is not permitted")
        let dogs = ann.dogs
        realm.delete(ann)
        #expect(misuse { dogs.append(Dog()) }?.hasPrefix("Collection is no longer valid") == true)
        realm.cancelWrite()
    }

    @Test func elsewhere() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog()
        try realm.write { realm.add(dog) }
        #expect(misuse { _ = Dog().thaw() } == "Unmanaged objects cannot be thawed.")
        #expect(
            misuse { _ = ThreadSafeReference(to: Dog()) }?
                .hasPrefix("Cannot construct reference to unmanaged object") == true)
        #expect(
            misuse { _ = ThreadSafe(wrappedValue: Dog()) }
                == "Only managed objects may be wrapped as thread safe.")
        let other = try Realm(configuration: memory())
        let reference = dog
        try realm.write { realm.delete(reference) }
        #expect(
            misuse { _ = ThreadSafeReference(to: reference) }
                == "Cannot construct reference to invalidated object")
        _ = other
    }

    @Test func readOnlyRealms() throws {
        try withFile { configuration in
            do { _ = try Realm(configuration: configuration) }
            var readOnly = configuration
            readOnly.readOnly = true
            let realm = try Realm(configuration: readOnly)
            #expect(
                misuse { realm.beginWrite() } == "Can't perform transactions on read-only Realms.")
            #expect(
                misuse { _ = realm.observe { _, _ in } }
                    == "Read-only Realms do not change and do not have change notifications.")
        }
    }

    @Test func keyPathsAndConditions() throws {
        let realm = try Realm(configuration: memory())
        let dogs = realm.objects(Dog.self)
        #expect(
            misuse { _ = dogs.sorted(byKeyPath: "tail") }
                == "Cannot sort on key path 'tail': property 'Dog.tail' does not exist.")
        #expect(
            misuse { _ = dogs.sorted(byKeyPath: "best.tail") }
                == "Cannot sort on key path 'best.tail': property 'Dog.tail' does not exist.")
        #expect(
            misuse { _ = dogs.sorted(byKeyPath: "best") }?
                .hasPrefix("Cannot sort on key path 'best': property 'Dog.best' of type") == true)
        #expect(
            misuse { let _: Int = dogs.sum(ofProperty: "name") }
                == "sum is not supported for string property 'Dog.name'")
        #expect(
            misuse { let _: Int? = dogs.min(ofProperty: "tail") }
                == "Invalid property name 'tail' for class 'Dog'.")
        #expect(
            misuse {
                _ = realm.objects(Everything.self).where {
                    ($0.dogSet.name == "x" && $0.scores["a"] == 1).count == 1
                }
            } == "Subqueries do not support map subscripts.")
    }

    @Test @MainActor func tokensOfOtherRealms() throws {
        let realm = try Realm(configuration: memory())
        let other = try Realm(configuration: memory())
        let token = other.objects(Dog.self).observe { _ in }
        realm.beginWrite()
        #expect(
            misuse { try? realm.commitWrite(withoutNotifying: [token]) }
                == "Incorrect Realm: only notifications for the Realm being modified can be skipped."
        )
        realm.create(Dog.self)
        #expect(
            misuse { _ = realm.objects(Dog.self).observe { _ in } }
                == "Cannot create asynchronous query after making changes in a write transaction.")
        realm.cancelWrite()
    }
}
