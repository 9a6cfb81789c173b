// The chapters of the Objective-C guide that say something else than the Swift guide: class methods that use the default
// realm, what overrides of the class declare, opening in the background, the block of objects' notifications, and copies.

import Foundation
import RealmSwift
import Testing

enum ObjectiveC {
    class Person: Object {
        @Persisted var name: String?
        @Persisted var birthday: Date?
        @Persisted var age: Int?
        @Persisted var isFirst = false
        @Persisted var planet = ""
        @Persisted var dogs: List<Dog>

        override class func requiredProperties() -> [String] { ["name"] }
    }

    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var color = ""
        @Persisted var owners: LinkingObjects<Person>

        override class func linkingObjectsProperties() -> [String: PropertyDescriptor] {
            ["owners": PropertyDescriptor(with: Person.self, propertyName: "dogs")]
        }
    }

    class Book: Object {
        @Persisted var id = 0
        @Persisted var price: Float?
        @Persisted var title: String?

        override class func primaryKey() -> String? { "id" }
        override class func indexedProperties() -> [String] { ["title"] }
        override class func defaultPropertyValues() -> [String: Any] { ["price": 0, "title": ""] }
    }

    class StepCounter: Object {
        @Persisted var steps = 0
    }

    class Node: Object {
        @Persisted var name = ""
        @Persisted var next: Node?
    }

    /// Before the migration.
    class OldVisitor: Object {
        @Persisted var firstName = ""
        @Persisted var lastName = ""
        override class func _realmObjectName() -> String? { "Visitor" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Visitor: Object {
        @Persisted var fullName = ""
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

extension Guide {
    @Suite struct ObjectiveCTests {
        typealias Person = ObjectiveC.Person
        typealias Dog = ObjectiveC.Dog
        typealias Book = ObjectiveC.Book
        typealias StepCounter = ObjectiveC.StepCounter
        typealias Node = ObjectiveC.Node

        /// "The default Realm", "Queries", "Filtering", "Sorting", "Auto-updating results".
        @Test func classesAskTheDefaultRealm() throws {
            try withDefaultRealm([Person.self, Dog.self]) {
                let realm = try Realm()
                let puppies = Dog.objects(in: realm, where: "age < 2")
                #expect(puppies.count == 0)
                try realm.write {
                    Dog.create(in: realm, withValue: ["name": "Fido", "age": 1])
                    Dog.createInDefaultRealm(withValue: ["name": "Bella", "age": 5, "color": "tan"])
                }
                #expect(puppies.count == 1)

                let dogs = Dog.allObjects()
                #expect(dogs.count == 2 && Dog.allObjects(in: realm).count == 2)
                let tanDogs = Dog.objects(where: "color = 'tan' AND name BEGINSWITH 'B'")
                #expect(tanDogs.first?.name == "Bella")
                let pred = NSPredicate(
                    format: "color = %@ AND name BEGINSWITH %@", "tan", "B")
                #expect(Dog.objects(with: pred).count == 1)
                let sortedDogs = Dog.objects(where: "age > %@", 0).sorted(byKeyPath: "name")
                #expect(sortedDogs.map(\.name) == ["Bella", "Fido"])

                let myPuppy = try #require(Dog.objects(where: "age == 1").first)
                try realm.write { myPuppy.age = 2 }
                #expect(puppies.isEmpty)
            }
        }

        /// "Required properties", "Default property values", "Indexing properties", "Inverse relationships".
        @Test func overridesOfTheClassDeclare() throws {
            try withDefaultRealm([Person.self, Dog.self, Book.self]) {
                let realm = try Realm()
                let person = try #require(realm.schema["Person"])
                #expect(
                    person["name"]?.isOptional == false && person["birthday"]?.isOptional == true)
                #expect(realm.schema["Book"]?["title"]?.isIndexed == true)
                #expect(realm.schema["Book"]?.primaryKeyProperty?.name == "id")

                let book = Book()
                #expect(book.price == 0 && book.title == "")

                let jim = Person(value: ["name": "Jim", "age": NSNull()])
                jim.dogs.append(Dog(value: ["Rex", 3]))
                try realm.write {
                    realm.add(jim)
                    jim.birthday = nil
                }
                #expect(jim.age == nil && jim.dogs[0].owners.map(\.name) == ["Jim"])
            }
        }

        /// "Objects with primary keys": parts of objects are updated, and null is a value.
        @Test func updatingByPrimaryKey() throws {
            try withDefaultRealm([Book.self]) {
                let realm = try Realm()
                let cheeseBook = Book(value: ["id": 1, "price": 9000, "title": "Cheese recipes"])
                try realm.write { realm.add(cheeseBook, update: .all) }

                try realm.write {
                    Book.createOrUpdate(in: realm, withValue: ["id": 1, "price": 9500.0])
                }
                #expect(cheeseBook.price == 9500 && cheeseBook.title == "Cheese recipes")

                try realm.write {
                    Book.createOrUpdateInDefaultRealm(withValue: ["id": 1, "title": NSNull()])
                    Book.createOrUpdateModifiedInDefaultRealm(withValue: ["id": 2, "title": "New"])
                }
                #expect(cheeseBook.title == nil && cheeseBook.price == 9500)
                #expect(Book.object(forPrimaryKey: 2)?.title == "New")
                #expect(Book.object(in: realm, forPrimaryKey: 3) == nil)
            }
        }

        /// "Key-value coding".
        @Test func valuesByKeyPath() throws {
            try withDefaultRealm([Person.self, Dog.self]) {
                let realm = try Realm()
                let persons = Person.allObjects()
                try realm.write {
                    for name in ["Jane", "Jim"] { realm.create(Person.self, value: ["name": name]) }
                    persons.first?.setValue(true, forKeyPath: "isFirst")
                    persons.setValue("Earth", forKeyPath: "planet")
                }
                #expect(persons.map(\.isFirst) == [true, false])
                #expect(persons.map(\.planet) == ["Earth", "Earth"])
            }
        }

        /// "Copying objects between Realms" says that graphs with circles cannot be copied; here they can.
        @Test func circlesAreCopied() throws {
            try withDefaultRealm([Node.self]) {
                let realm = try Realm()
                let one = Node(value: ["name": "one", "next": ["name": "two"]])
                try realm.write {
                    realm.add(one)
                    one.next?.next = one
                }
                let other = try Realm(
                    configuration: .init(inMemoryIdentifier: "circles", objectTypes: [Node.self]))
                let copy = try other.write { Node.create(in: other, withValue: one) }
                #expect(copy.next?.name == "two" && copy.isSameObject(as: copy.next?.next))
                #expect(other.objects(Node.self).count == 2)
            }
        }

        /// "Object notifications": a block with whether the object was deleted, the changes, and an error.
        @MainActor @Test func blocksWithThreeArguments() async throws {
            try await withDefaultRealm([StepCounter.self]) {
                let realm = try Realm()
                let counter = StepCounter()
                try realm.write { realm.add(counter) }
                var lines: [String] = []
                let token = counter.addNotificationBlock { deleted, changes, error in
                    if deleted {
                        lines.append("The object was deleted.")
                    } else if let error {
                        lines.append("An error occurred: \(error)")
                    } else {
                        for property in changes ?? []
                        where property.name == "steps" && (property.newValue as? Int ?? 0) > 1000 {
                            lines.append("Congratulations, you've exceeded 1000 steps.")
                        }
                    }
                }
                try realm.write { counter.steps = 1001 }
                #expect(try await comesTrue { lines.count == 1 })
                try realm.write { realm.delete(counter) }
                #expect(try await comesTrue { lines.count == 2 })
                #expect(
                    lines == [
                        "Congratulations, you've exceeded 1000 steps.", "The object was deleted.",
                    ])
                token.invalidate()
            }
        }

        /// "Asynchronously opening Realms": a migration on another thread.
        @Test func openingWithAMigrationInTheBackground() async throws {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("guide-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = folder.appendingPathComponent("visitors.realm")
            do {
                let old = try Realm(
                    configuration: .init(fileURL: url, objectTypes: [ObjectiveC.OldVisitor.self]))
                try old.write {
                    old.create(ObjectiveC.OldVisitor.self, value: ["Jane", "Doe"])
                }
            }
            var config = Realm.Configuration(fileURL: url, objectTypes: [ObjectiveC.Visitor.self])
            config.schemaVersion = 1
            config.migrationBlock = { migration, oldSchemaVersion in
                if oldSchemaVersion < 1 {
                    migration.enumerateObjects(ofType: "Visitor") { oldObject, newObject in
                        let first = oldObject?["firstName"] as? String ?? ""
                        let last = oldObject?["lastName"] as? String ?? ""
                        newObject?["fullName"] = "\(first) \(last)"
                    }
                }
            }
            let queue = DispatchQueue(label: "opened")
            let names: [String] = await withCheckedContinuation { continuation in
                Realm.asyncOpen(configuration: config, callbackQueue: queue) { result in
                    switch result {
                    case .success(let realm):
                        continuation.resume(
                            returning: realm.objects(ObjectiveC.Visitor.self).map(\.fullName))
                    case .failure(let error): continuation.resume(returning: ["\(error)"])
                    }
                }
            }
            #expect(names == ["Jane Doe"])
        }
    }
}
