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

class Spot: EmbeddedObject {
    @Persisted var x: Double
    @Persisted var y: Double
}

/// A type of the program that is stored as an embedded object.
struct Vector: CustomPersistable {
    var x: Double
    var y: Double
    init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
    init(persistedValue: Spot) { self.init(persistedValue.x, persistedValue.y) }
    var persistableValue: Spot { Spot(value: [x, y]) }
}

enum Kind: Int, RealmEnum { case small, large }

class Ship: Object {
    @Persisted var at: Vector
    @Persisted var goal: Vector?
    @Persisted var course: List<Vector>
    @Persisted var kind: Kind
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Declared as the class page of the Objective-C class has it.
class Ticket: Object {
    @Persisted var title: String
    @Persisted var price: Int?
    @Persisted var part: Ticket?
    @Persisted var wholes: LinkingObjects<Ticket>
    override class func primaryKey() -> String? { "title" }
    override class func defaultPropertyValues() -> [String: Any] { ["price": 5, "title": "none"] }
    override class func requiredProperties() -> [String] { ["price"] }
    override class func linkingObjectsProperties() -> [String: PropertyDescriptor] {
        ["wholes": PropertyDescriptor(with: Ticket.self, propertyName: "part")]
    }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
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
        let mapper: CollectionElementMapper<Dog> = ann.dogs.projectTo
        let confined: any ThreadConfined = mapper.name
        #expect(confined.realm == ann.realm && !confined.isFrozen && confined.freeze().isFrozen)
        #expect(
            misuse { _ = ThreadSafeReference(to: mapper.name) }
                == "A projected collection cannot be passed across threads: pass the collection that it "
                + "projects.")
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
        for _ in 0..<12_000 where told.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
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

    @Test func typesOfTheProgramAreStoredAsEmbeddedObjects() throws {
        let realm = try Realm(configuration: memory([Ship.self, Spot.self]))
        let ship = Ship(value: ["at": ["x": 1, "y": 2]])
        ship.course.append(Vector(5, 6))
        #expect(ship.at == Vector(1, 2) && ship.goal == nil && ship.kind == .small)
        try realm.write {
            realm.add(ship)
            realm.create(Ship.self)
        }
        #expect(ship.at == Vector(1, 2) && ship.goal == nil && ship.course[0] == Vector(5, 6))
        try realm.write {
            ship.goal = Vector(3, 4)
            ship.course[0] = Vector(7, 8)
            ship.course.append(Vector(9, 9))
            ship.kind = .large
        }
        #expect(ship.goal == Vector(3, 4) && Array(ship.course) == [Vector(7, 8), Vector(9, 9)])
        let all = realm.objects(Ship.self)
        #expect(all.where { $0.at == Vector(1, 2) }.count == 1)
        #expect(all.where { $0.at != Vector(1, 2) }.count == 1 && all[1].at == Vector(0, 0))
        #expect(all.where { $0.kind == .large }.count == 1)
        try realm.write { ship.goal = nil }
        #expect(ship.goal == nil)
    }

    @Test func whatIsInsideMixedValuesIsAskedFor() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            let one = Everything()
            one.any = .fromArray([.int(1), .string("x")])
            let other = Everything()
            other.any = .fromDictionary(["a": .int(7)])
            realm.add([one, other])
        }
        func count(_ condition: (Query<Everything>) -> Query<Bool>) -> Int {
            realm.objects(Everything.self).where(condition).count
        }
        #expect(count { $0.any[0] == .int(1) } == 1 && count { $0.any[1] == .int(1) } == 0)
        #expect(count { $0.any["a"] == .int(7) } == 1 && count { $0.any.any == .string("x") } == 1)
    }

    @Test func collectionsAreDeleted() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            let ann = Person(value: ["id": 1])
            let it = Everything()
            realm.add(ann)
            realm.add(it)
            for name in ["a", "b", "c", "d", "e"] { ann.dogs.append(Dog(value: ["name": name])) }
            it.dogMap["x"] = ann.dogs[4]
            realm.delete(it.dogMap)
            #expect(ann.dogs.count == 4 && it.dogMap["x"] == .some(nil))
            realm.delete([ann.dogs[0], ann.dogs[1]])
            realm.delete(realm.objects(Dog.self).where { $0.name == "c" })
            #expect(ann.dogs.map { $0.name } == ["d"])
            realm.delete(ann.dogs)
            #expect(ann.dogs.isEmpty && realm.objects(Dog.self).isEmpty)
        }
    }

    @Test func theClassPageOfObjects() throws {
        let realm = try Realm(configuration: memory([Ticket.self]))
        let ticket = Ticket()
        #expect(ticket.price == 5 && ticket.title == "none" && Ticket.className() == "Ticket")
        try realm.write {
            let made = Ticket.create(in: realm, withValue: ["title": "a", "part": ["title": "b"]])
            #expect(made.price == 5 && made.part?.wholes.first?.title == "a")
            Ticket.createOrUpdate(in: realm, withValue: ["title": "b", "price": 1])
            Ticket.createOrUpdateModified(in: realm, withValue: ["title": "b", "price": 2])
            #expect(misuse { made.price = nil }?.hasPrefix("Must provide") == true)
        }
        #expect(Ticket.allObjects(in: realm).count == 2)
        #expect(Ticket.objects(in: realm, where: "price > %@", 2).first?.title == "a")
        #expect(Ticket.objects(in: realm, with: NSPredicate(format: "price < 3")).count == 1)
        let one = try #require(Ticket.object(in: realm, forPrimaryKey: "a"))
        #expect(one.isEqual(to: Ticket.object(in: realm, forPrimaryKey: "a")))
        #expect(one.isEqual(one as Any?) && one.hash == one.hashValue)
        #expect(realm.schema["Ticket"]?["price"]?.isOptional == false)
    }

    @Test @MainActor func objectsAndSectionsAreObserved() async throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for name in ["Ann", "Bob"] { realm.add(Dog(value: ["name": name, "age": 1])) }
        }
        let dog = try #require(realm.objects(Dog.self).first)
        let told = Told()
        let token = dog.addNotificationBlock { deleted, changes, error in
            #expect(!deleted && error == nil)
            told.parts += changes?.map { Double($0.name == "age" ? 1 : 0) } ?? []
        }
        let sections = realm.objects(Dog.self).sectioned(by: \.age)
        let second = sections[0].observe { change in
            guard case .update(let section, let deletions, _, let modifications, _, _) = change
            else { return }
            #expect(section.count == 1 && deletions == [IndexPath(indexes: [0, 0])])
            #expect(modifications.isEmpty)
            told.count += 1
        }
        try await Task.sleep(for: .milliseconds(20))
        try await realm.asyncWrite { dog.age = 2 }
        for _ in 0..<12_000 where told.count == 0 || told.parts.isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(told.count == 1 && told.parts == [1])
        token.invalidate()
        second.invalidate()
    }
}
