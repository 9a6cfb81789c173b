// More of what is wrong in a program: declarations, creation, conditions and key paths.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

private class Base: Object {
    @Persisted private var title: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Its property is another one than the superclass's, which it does not see.
private class Derived: Base {
    @Persisted var title: String
}

private class Lazy: Object, LegacyDeclarations {
    @Persisted var name: String
    lazy var dogs = List<Dog>()
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class LazyIgnored: Object, LegacyDeclarations {
    @Persisted var name: String
    lazy var dogs = List<Dog>()
    override class func ignoredProperties() -> [String] { ["dogs"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class TwoKeys: Object {
    @Persisted(primaryKey: true) var first: Int
    @Persisted(primaryKey: true) var second: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class WithoutOrigin: Object {
    @Persisted var owners: LinkingObjects<Person>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Stored as a place that has a list: its members can't be compared one by one.
private struct Point: CustomPersistable {
    var place = Place()
    init() {}
    init(persistedValue: Place) { place = persistedValue }
    var persistableValue: Place { Place(value: ["coordinates": [1.0, 2.0]]) }
}

private class Mark: Object {
    @Persisted var at: Point
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Only positive numbers.
private struct Height: FailableCustomPersistable {
    var number: Int
    init?(persistedValue: Int) {
        if persistedValue <= 0 { return nil }
        number = persistedValue
    }
    init(_ number: Int) { self.number = number }
    var persistableValue: Int { number }
}

private class Tower: Object {
    @Persisted var height = Height(1)
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct MisuseTextTests {
    private func opening(_ types: [ObjectBase.Type]) -> String? {
        misuse { _ = try? Realm(configuration: memory(types)) }
    }

    @Test func declarationsThatContradictThemselves() {
        #expect(
            opening([Derived.self])
                == "Property 'title' is declared multiple times in the class hierarchy of 'Derived'"
        )
        #expect(
            opening([Lazy.self, Dog.self, Person.self, Address.self])
                == "Lazy managed property 'dogs' is not allowed on a Realm Swift object class. Either "
                + "add the property to the ignored properties list or make it non-lazy.")
        #expect(opening([LazyIgnored.self]) == nil)
        #expect(
            opening([TwoKeys.self])
                == "Properties 'first' and 'second' are both marked as the primary key of 'TwoKeys'"
        )
        #expect(
            opening([WithoutOrigin.self, Person.self, Dog.self, Address.self])
                == "LinkingObjects<Person> property 'owners' must set the origin property name with "
                + "@Persisted(originProperty: \"name\").")
    }

    @Test func places() {
        #expect(
            misuse {
                var configuration = memory()
                configuration.encryptionKey = Data(count: 63)
                _ = try? Realm(configuration: configuration)
            } == "Encryption key must be exactly 64 bytes long")
    }

    @Test func creation() throws {
        let realm = try Realm(configuration: memory())
        realm.beginWrite()
        let direct = "Embedded objects cannot be created directly"
        #expect(misuse { realm.dynamicCreate("Address", value: ["street": "x"]) } == direct)
        realm.create(Person.self, value: ["id": 1])
        let twice =
            "Attempting to create an object of type 'Person' with an existing primary key value '1'."
        #expect(misuse { realm.create(Person.self, value: ["id": 1]) } == twice)
        #expect(misuse { realm.add(Person(value: ["id": 1])) } == twice)
        #expect(misuse { realm.dynamicCreate("Person", value: ["id": 1]) } == twice)
        #expect(
            misuse { realm.create(Dog.self, value: ["name": "x"], update: .all) }
                == "'Dog' does not have a primary key and can not be updated")
        #expect(
            misuse { realm.create(Dog.self, value: ["age": "old"]) }
                == "Invalid value 'old' of type 'String' for 'int' property 'Dog.age'.")
        realm.cancelWrite()
        let towers = try Realm(configuration: memory([Tower.self]))
        let tower = Tower()
        try towers.write {
            towers.add(tower)
            towers.dynamicObjects("Tower").first?["height"] = 0
        }
        #expect(
            misuse { _ = tower.height }
                == "Failed to convert persisted value '0' to type 'Height' in a non-optional context."
        )
    }

    @Test func conditions() throws {
        let realm = try Realm(configuration: memory())
        let dogs = realm.objects(Dog.self)
        for body: () -> Void in [
            { _ = dogs.filter("tail == 1") },
            { _ = dogs.filter("best.tail == 1").count },
            { _ = dogs.filter(NSPredicate(format: "ANY owners.dogs.tail == 1")) },
        ] {
            #expect(
                misuse(body)?.components(separatedBy: "; ").first
                    == "property 'tail' not found in object of type 'Dog'")
        }
        let type = misuse { _ = dogs.filter("age == 'x'") }
        #expect(type?.contains("age") == true, "\(type ?? "")")
        #expect(misuse { _ = dogs.filter("age ==") } != nil)
        #expect(
            misuse { _ = dogs.filter(NSPredicate { _, _ in true }) }
                == "Only support compound, comparison, and constant predicates")
        #expect(
            misuse { _ = dogs.where { ($0.age == 1 && $0.name == "x").count == 1 } }
                == "Subqueries must contain a keypath starting with a collection.")
        let marks = try Realm(configuration: memory([Mark.self, Place.self]))
        #expect(
            misuse { _ = marks.objects(Mark.self).where { $0.at == Point() } }
                == "Unsupported property 'Place.coordinates' for memberwise equality query: array<double>"
        )
    }

    @Test func regions() throws {
        let realm = try Realm(
            configuration: memory([
                Shop.self, Place.self, Person.self, Dog.self, Address.self,
            ]))
        let box = try #require(GeoBox(bottomLeft: (55, 5), topRight: (65, 15)))
        func text(_ body: @escaping () -> Void) -> String? {
            misuseText(of: body)?.components(separatedBy: "; Invalid predicate").first
        }
        #expect(
            text { _ = realm.objects(Person.self).filter("address GEOWITHIN %@", box).count }
                == "Query 'address GEOWITHIN %@' links to data in the wrong format for a geoWithin "
                + "query")
        let crossed = try #require(
            GeoPolygon(outerRing: [(0, 0), (10, 10), (0, 10), (10, 0), (0, 0)]))
        #expect(
            text { _ = realm.objects(Shop.self).where { $0.place.geoWithin(crossed) }.count }
                == "Invalid region in GEOWITHIN query for parameter 'geoPolygon({[0.0, 0.0], "
                + "[10.0, 10.0], [10.0, 0.0], [0.0, 10.0], [0.0, 0.0]})': 'a ring crosses itself'")
    }

    @Test @MainActor func keyPathsThatLeadNowhere() throws {
        let realm = try Realm(configuration: memory())
        let dogs = realm.objects(Dog.self)
        func expect(
            _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
            _ body: @escaping () -> Void
        ) {
            #expect(misuse(body) == text, sourceLocation: sourceLocation)
        }
        expect("Cannot sort on key path 'name.x': property 'Dog.name' of type string is no link.") {
            _ = dogs.sorted(byKeyPath: "name.x")
        }
        expect(
            "Cannot sort on key path 'owners.name': property 'Dog.owners' of type list is not "
                + "supported."
        ) { _ = dogs.sorted(byKeyPath: "owners.name") }
        let people = realm.objects(Person.self)
        expect(
            "Cannot sort on key path 'dogs.name': property 'Person.dogs' of type list is not supported."
        ) { _ = people.sorted(byKeyPath: "dogs.name") }
        expect(
            "Cannot sort on key path 'tail': property 'Dog.tail' does not exist."
        ) { _ = dogs.sectioned(by: { $0.age }, sortDescriptors: [SortDescriptor(keyPath: "tail")]) }
        #expect(misuse { _ = dogs.distinct(by: ["name.x"]) }?.contains("Dog.name") == true)
        #expect(misuse { _ = dogs.distinct(by: ["tail"]) }?.contains("'tail'") == true)
        expect("Invalid property name 'tail' for class 'Dog'.") {
            let _: Int = dogs.sum(ofProperty: "best.tail")
        }
        expect(
            "Invalid keypath 'name.tail': Property 'Dog.name' is not a link or collection and can only "
                + "appear at the end of a keypath."
        ) { let _: Int? = dogs.max(ofProperty: "name.tail") }
        #expect((dogs.sum(ofProperty: "best.age") as Int) == 0)
        expect("Invalid property name 'tail' for class 'Dog'.") { _ = Dog().value(forKey: "tail") }
        expect("Invalid property name 'tail' for class 'String'.") {
            _ = Dog().value(forKeyPath: "name.tail")
        }
        #expect(Dog().value(forKeyPath: "best.name") == nil)
        expect("sum is not supported for string property 'Dog.name'") {
            _ = realm.dynamicObjects("Dog").value(forKeyPath: "@sum.name")
        }
        expect("Indexes for collection are out of bounds.") {
            _ = dogs.objects(at: IndexSet(integer: 3))
        }
        expect("This method may only be called on RLMArray instances retrieved from an RLMRealm") {
            _ = List<Dog>().filter("age == 1")
        }
        // Where it is asked, whatever queue it is for.
        for queue in [nil, DispatchQueue(label: "observing")] {
            let text = "key path 'name.x': 'name' is no link, nothing is behind it"
            expect(text) { _ = dogs.observe(keyPaths: ["name.x"], on: queue) { _ in } }
            #expect(
                misuse { _ = people.observe(keyPaths: ["tail"], on: queue) { _ in } }?
                    .contains("tail") == true)
        }
    }
}
