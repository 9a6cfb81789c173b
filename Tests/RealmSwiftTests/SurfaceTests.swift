// What goes beyond objects and queries: places, words, JSON, projections of collections, aggregates in memory,
// observation as the standard library has it, copies into files, nested transactions, progress.

import Foundation
import Observation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class Place: EmbeddedObject {
    @Persisted var type = "Point"
    @Persisted var coordinates: List<Double>
    convenience init(_ latitude: Double, _ longitude: Double) {
        self.init()
        coordinates.append(objectsIn: [longitude, latitude])
    }
}

class Shop: Object {
    @Persisted var name: String
    @Persisted var place: Place?
    @Persisted var branches: List<Place>
    @Persisted(fullText: .unicode) var notes: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Kennel: Projection<Person> {
    @Projected(\Person.name) var keeper
    @Projected(\Person.dogs.projectTo.name) var dogs: ProjectedCollection<String>
}

class Settings: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var color: Color
    @Persisted var level = Level.high
    @Persisted var title = "untitled"
    @Persisted var nick: String? = "none"
    @Persisted var made = Date()
    @Persisted var key: UUID
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The same class as an older program had it.
class OldSettings: Object {
    @Persisted(primaryKey: true) var id: Int
    override class func _realmObjectName() -> String? { "Settings" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Told: @unchecked Sendable {
    var count = 0
    var parts: [Double] = []
}

@Suite struct SurfaceTests {
    private let shops: [ObjectBase.Type] = [Shop.self, Place.self]

    @Test func placesLieInShapes() throws {
        let realm = try Realm(configuration: memory(shops))
        try realm.write {
            for (name, latitude, longitude) in [("Oslo", 59.9, 10.7), ("Rome", 41.9, 12.5)] {
                let shop = Shop(value: ["name": name])
                shop.place = Place(latitude, longitude)
                shop.branches.append(Place(latitude + 1, longitude))
                realm.add(shop)
            }
        }
        func names(_ condition: (Query<Shop>) -> Query<Bool>) -> [String] {
            realm.objects(Shop.self).where(condition).map { $0.name }
        }
        let north = try #require(GeoBox(bottomLeft: (55, 5), topRight: (65, 15)))
        #expect(names { $0.place.geoWithin(north) } == ["Oslo"])
        let near = try #require(GeoPoint(latitude: 42, longitude: 12))
        let around = GeoCircle(center: near, radius: try #require(.kilometers(100)))
        #expect(names { $0.place.geoWithin(around) } == ["Rome"])
        #expect(names { !$0.place.geoWithin(around) } == ["Oslo"])
        let triangle = try #require(GeoPolygon(outerRing: [(30, 0), (30, 20), (50, 10), (30, 0)]))
        #expect(names { $0.place.geoWithin(triangle) } == ["Rome"])
        #expect(names { $0.branches.geoWithin(north) } == ["Oslo"])
        #expect(realm.objects(Shop.self).filter("place GEOWITHIN %@", north).count == 1)
        #expect(GeoPoint(latitude: 91, longitude: 0) == nil && Distance.miles(-1) == nil)
        #expect(abs(try #require(Distance.degrees(180)).asKilometers() - 20037.4) < 0.1)
    }

    @Test func textsAreFoundByTheirWords() throws {
        let realm = try Realm(configuration: memory(shops))
        try realm.write {
            realm.add(Shop(value: ["name": "A", "notes": "Stormy weather at the reef"]))
            realm.add(Shop(value: ["name": "B", "notes": "Calm reef"]))
        }
        let all = realm.objects(Shop.self)
        #expect(all.where { $0.notes.matchesText("reef") }.count == 2)
        #expect(all.where { $0.notes.matchesText("reef -storm*") }.first?.name == "B")
        #expect(misuse { _ = all.where { $0.name.matchesText("A") }.count } != nil)
    }

    @Test func objectsBecomeAndComeFromJSON() throws {
        let realm = try Realm(configuration: memory([Settings.self]))
        try realm.write {
            let made = try realm.create(Settings.self, json: #"{"id": 7, "title": "x"}"#)
            #expect(made.title == "x" && made.level == .high && made.color == .red)
            #expect(made.nick == "none" && abs(made.made.timeIntervalSinceNow) < 60)
            let other = try realm.create(Settings.self, json: #"{"id": 8}"#)
            #expect(other.key != made.key && other.title == "untitled")
            try realm.create(Settings.self, json: #"{"id": 7, "title": "y"}"#, update: .modified)
            #expect(made.title == "y")
            #expect(throws: Realm.Error.self) {
                try realm.create(Settings.self, json: #"{"id": "seven"}"#)
            }
            #expect(throws: Realm.Error.self) { try realm.create(Settings.self, json: "{") }
        }
        let text = realm.objects(Settings.self).json()
        let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        #expect(read?.map { $0["title"] as? String } == ["y", "untitled"])
        #expect(misuse { _ = Settings().json() }?.hasPrefix("Only managed objects") == true)
    }

    @Test func olderObjectsGetTheDefaultsOfNewProperties() throws {
        try withFile([OldSettings.self]) { configuration in
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write { for id in 1...2 { realm.create(OldSettings.self, value: [id]) } }
            }
            var newer = configuration
            newer.objectTypes = [Settings.self]
            newer.schemaVersion = 1
            let told = Told()
            newer.migrationProgress = { told.parts.append($0) }
            let all = try Realm(configuration: newer).objects(Settings.self)
            #expect(all.map { $0.title } == ["untitled", "untitled"])
            #expect(all.map { $0.color } == [.red, .red] && all[0].level == .high)
            #expect(all[0].nick == "none" && all[0].key != all[1].key)
            #expect(told.parts.last == 1)
        }
    }

    @Test func collectionsAreProjected() throws {
        let realm = try Realm(configuration: memory())
        let ann = Person(value: ["id": 1, "name": "Ann"])
        ann.dogs.append(Dog(value: ["name": "Rex"]))
        #expect(Array(ann.dogs.projectTo.name) == ["Rex"])
        try realm.write { realm.add(ann) }
        let kennel = try #require(realm.objects(Kennel.self).first)
        #expect(kennel.keeper == "Ann" && Array(kennel.dogs) == ["Rex"])
        try realm.write { ann.dogs.append(Dog(value: ["name": "Fido"])) }
        #expect(Array(kennel.dogs) == ["Rex", "Fido"])
        #expect(_name(for: \Person.dogs.projectTo.name) == "dogs.name")
    }

    @Test func unmanagedCollectionsAndLinksAreSummedUp() throws {
        let ann = Person(value: ["id": 1])
        #expect(ann.dogs.sum(of: \.age) == 0 && ann.dogs.max(of: \.age) == nil)
        for age in [3, 1] { ann.dogs.append(Dog(value: ["name": "D\(age)", "age": age])) }
        #expect(ann.dogs.sum(of: \.age) == 4 && ann.dogs.min(of: \.age) == 1)
        #expect(ann.dogs.average(of: \.age) == 2 && ann.dogs.max(ofProperty: "age") == 3)
        let it = Everything()
        it.ints.append(objectsIn: [5, 2])
        it.optInts.append(objectsIn: [nil, 4])
        it.intSet.insert(7)
        #expect(it.ints.sum() == 7 && it.ints.max() == 5 && it.ints.average() == 3.5)
        #expect(it.optInts.min() == 4 && it.intSet.sum() == 7)
        let realm = try Realm(configuration: memory())
        try realm.write {
            realm.add(ann)
            ann.dogs[0].best = ann.dogs[1]
        }
        #expect(realm.objects(Dog.self).sum(ofProperty: "best.age") == 1)
    }

    @Test @MainActor func readsAreTracked() async throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(dog) }
        let model = dog.observable
        let all = realm.objects(Dog.self).observable
        let told = Told()
        withObservationTracking {
            #expect(model.name == "Rex" && all.count == 1)
        } onChange: {
            told.count += 1
        }
        try await realm.asyncWrite { dog.name = "Max" }
        for _ in 0..<200 where told.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(told.count == 1 && model.name == "Max")
    }

    @Test func copiesAreMergedIntoFiles() throws {
        try withFile([Settings.self]) { configuration in
            let realm = try Realm(configuration: memory([Settings.self]))
            try realm.write { realm.create(Settings.self, value: ["id": 1, "title": "a"]) }
            try realm.writeCopy(configuration: configuration)
            let copy = try Realm(configuration: configuration)
            #expect(copy.objects(Settings.self).map { $0.title } == ["a"])
        }
    }

    @Test func nestedTransactionsAreUndoneAlone() throws {
        struct Stop: Error {}
        let realm = try Realm(configuration: memory([Settings.self]))
        try realm.write {
            realm.create(Settings.self, value: ["id": 1])
            #expect(throws: Stop.self) {
                try realm.writeNested {
                    realm.create(Settings.self, value: ["id": 2])
                    throw Stop()
                }
            }
            try realm.writeNested { realm.create(Settings.self, value: ["id": 3]) }
        }
        try realm.writeNested { realm.create(Settings.self, value: ["id": 4]) }
        #expect(realm.objects(Settings.self).map { $0.id } == [1, 3, 4])
    }

    @Test func iterationsGiveAccessorsAgainThatNobodyHolds() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for index in 0..<4 {
                let person = Person(value: ["id": index, "name": "P\(index)"])
                if index == 2 { person.dogs.append(Dog(value: ["name": "Rex"])) }
                realm.add(person)
            }
        }
        let all = realm.objects(Person.self)
        var kept: Person?
        var dogs: List<Dog>?
        var counts: [Int] = []
        for person in all {
            counts.append(person.dogs.count)
            if person.id == 1 { kept = person }
            if person.id == 2 { dogs = person.dogs }
        }
        #expect(counts == [0, 0, 1, 0] && kept?.name == "P1" && dogs?.first?.name == "Rex")
        #expect(Set(Array(all).map { ObjectIdentifier($0) }).count == 4)
        try realm.write { for person in all where person.id != 1 { realm.delete(person) } }
        #expect(all.map { $0.name } == ["P1"] && kept?.isInvalidated == false)
    }
}
