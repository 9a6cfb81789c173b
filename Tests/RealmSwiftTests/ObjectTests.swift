// Objects: all types of properties, unmanaged and managed; adding, creating, updating, deleting.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct ObjectTests {
    private func fill(_ it: Everything, _ dog: Dog) {
        it.int = -5
        it.int8 = -8
        it.int16 = 16
        it.int32 = -32
        it.int64 = .max
        it.bool = true
        it.float = 1.5
        it.double = -2.25
        it.string = "grüß"
        it.data = Data([1, 2, 3])
        it.date = Date(timeIntervalSince1970: 1.5)
        it.uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()
        it.objectId = ObjectId("0123456789abcdef01234567")
        it.decimal = "1.25"
        it.any = .string("any")
        it.color = .green
        it.level = .high
        it.heat = Celsius(21.5)
        it.optInt = 7
        it.optBool = false
        it.optFloat = 0.5
        it.optDouble = 0.25
        it.optString = ""
        it.optData = Data()
        it.optDate = Date(timeIntervalSince1970: -1.5)
        it.optObjectId = ObjectId("0123456789abcdef01234568")
        it.optUuid = it.uuid
        it.optDecimal = 3
        it.optColor = .blue
        it.optHeat = Celsius(-1)
        it.address = Address(value: ["street": "Main", "city": "X"])
        it.ints.append(objectsIn: [3, 1, 2])
        it.optInts.append(objectsIn: [1, nil])
        it.strings.append("a")
        it.colors.append(objectsIn: [.red, .blue])
        it.anys.append(objectsIn: [.int(1), .none, .string("x")])
        it.intSet.insert(objectsIn: [5, 5, 6])
        it.stringSet.insert("s")
        it.dogSet.insert(dog)
        it.scores["a"] = 1
        it.scores["b"] = 2
        it.names["n"] = .some(nil)
        it.dogMap["d"] = dog
        it.addressMap["w"] = Address(value: ["street": "Work"])
    }

    private func check(_ it: Everything) {
        #expect(it.int == -5 && it.int8 == -8 && it.int16 == 16 && it.int32 == -32)
        #expect(it.int64 == .max && it.bool && it.float == 1.5 && it.double == -2.25)
        #expect(it.string == "grüß" && it.data == Data([1, 2, 3]))
        #expect(it.date == Date(timeIntervalSince1970: 1.5))
        #expect(it.uuid.uuidString == "00112233-4455-6677-8899-AABBCCDDEEFF")
        #expect(it.objectId.stringValue == "0123456789abcdef01234567")
        #expect(it.decimal == "1.25" && it.any == .string("any"))
        #expect(it.color == .green && it.level == .high && it.heat.degrees == 21.5)
        #expect(it.optInt == 7 && it.optBool == false && it.optFloat == 0.5)
        #expect(it.optDouble == 0.25 && it.optString == "" && it.optData == Data())
        #expect(it.optDate == Date(timeIntervalSince1970: -1.5))
        #expect(it.optObjectId?.stringValue == "0123456789abcdef01234568")
        #expect(it.optUuid == it.uuid && it.optDecimal == 3 && it.optColor == .blue)
        #expect(it.optHeat?.degrees == -1 && it.other == nil)
        #expect(it.address?.street == "Main" && it.address?.city == "X")
        #expect(Array(it.ints) == [3, 1, 2] && Array(it.optInts) == [1, nil])
        #expect(Array(it.strings) == ["a"] && Array(it.colors) == [.red, .blue])
        #expect(Array(it.anys) == [.int(1), .none, .string("x")])
        #expect(Set(it.intSet) == [5, 6] && it.stringSet.contains("s") && it.dogSet.count == 1)
        #expect(it.scores["a"] == 1 && it.scores["b"] == 2 && it.scores["c"] == nil)
        #expect(it.names.count == 1 && it.names["n"] == .some(nil))
        #expect(it.dogMap["d"]??.name == "Rex" && it.addressMap["w"]??.street == "Work")
    }

    @Test func anUnmanagedObjectHoldsEveryTypeAndKeepsItWhenItIsAdded() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        #expect(it.int == 0 && it.string == "" && it.optInt == nil && it.color == .red)
        let dog = Dog(value: ["name": "Rex"])
        fill(it, dog)
        check(it)
        #expect(it.realm == nil)
        let list = it.ints
        try realm.write { realm.add(it) }
        #expect(it.realm == realm)
        check(it)
        #expect(list.realm == realm && Array(list) == [3, 1, 2])
        // Another accessor reads the same.
        let key = it.id
        let again = try #require(realm.object(ofType: Everything.self, forPrimaryKey: key))
        check(again)
        #expect(again !== it && again == it && again.hashValue == it.hashValue)
    }

    @Test func aManagedObjectTakesEveryType() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            let it = realm.create(Everything.self)
            let dog = realm.create(Dog.self, value: ["name": "Rex"])
            fill(it, dog)
            check(it)
        }
        let it = try #require(realm.objects(Everything.self).first)
        check(it)
        try realm.write {
            it.optInt = nil
            it.optString = nil
            it.optDate = nil
            it.optColor = nil
            it.optHeat = nil
            it.address = nil
            it.any = .none
        }
        #expect(it.optInt == nil && it.optString == nil && it.optDate == nil)
        #expect(it.optColor == nil && it.optHeat == nil && it.address == nil && it.any == .none)
    }

    @Test func datesKeepTheirValues() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        for time in [0, 0.5, -0.5, -1, 1e9 + 0.25, -1e9 - 0.75, 978_307_200, 978_307_199.5] {
            let date = Date(timeIntervalSince1970: time)
            try realm.write { it.date = date }
            #expect(it.date == date)
            #expect(realm.objects(Everything.self).filter("date == %@", date).count == 1)
        }
    }

    @Test func linkedObjectsAreAddedOnce() throws {
        let realm = try Realm(configuration: memory())
        let rex = Dog(value: ["name": "Rex"])
        let fido = Dog(value: ["name": "Fido", "best": rex] as [String: Any])
        rex.best = fido
        let person = Person(value: ["id": 1, "dogs": [rex, fido, rex]] as [String: Any])
        try realm.write { realm.add(person) }
        #expect(realm.objects(Dog.self).count == 2)
        #expect(person.dogs.map { $0.name } == ["Rex", "Fido", "Rex"])
        #expect(rex.best == nil || rex.best?.name == "Fido")
        #expect(rex.best?.best?.name == "Rex")
        #expect(rex.owners.count == 2 && rex.owners.first?.id == 1)
        #expect(person.dogs[0].isSameObject(as: rex))
        try realm.write { realm.add(person) }
        #expect(realm.objects(Person.self).count == 1)
    }

    @Test func updatesWriteWhatIsGiven() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            realm.create(Person.self, value: ["id": 1, "name": "Ann", "age": 30] as [String: Any])
            realm.create(Person.self, value: ["id": 1, "age": 31], update: .modified)
        }
        let ann = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        #expect(ann.name == "Ann" && ann.age == 31)
        try realm.write {
            let other = Person()
            other.id = 1
            other.name = "Bob"
            realm.add(other, update: .all)
            #expect(other.isSameObject(as: ann))
        }
        #expect(ann.name == "Bob" && ann.age == 0)
        try realm.write {
            realm.create(
                Person.self,
                value: ["id": 2, "dogs": [["name": "A"], ["name": "B"]]] as [String: Any])
            realm.create(Person.self, value: [3, "Cleo", 9])
        }
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 2)?.dogs.count == 2)
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 3)?.name == "Cleo")
    }

    @Test func valuesOfFoundationConvert() throws {
        let realm = try Realm(configuration: memory())
        let json = try JSONSerialization.jsonObject(
            with: Data(
                #"{"name": "Rex", "age": 3, "weight": 1.5, "nick": null}"#.utf8))
        try realm.write { realm.create(Dog.self, value: json) }
        let rex = try #require(realm.objects(Dog.self).first)
        #expect(rex.name == "Rex" && rex.age == 3 && rex.weight == 1.5 && rex.nick == nil)
        let text = misuse { _ = Dog(value: ["age": 1.5]) }
        #expect(text == "Invalid value '1.5' of type 'Double' for 'int' property 'Dog.age'.")
        #expect(misuse { _ = Dog(value: ["age": true]) }?.contains("property 'Dog.age'") == true)
    }

    @Test func copiesOfObjectsOfOtherRealmsAreMade() throws {
        let one = try Realm(configuration: memory())
        let two = try Realm(configuration: memory())
        let person = Person(value: [1, "Ann", 30, [["Rex"]]] as [Any])
        try one.write { one.add(person) }
        try two.write { two.create(Person.self, value: person) }
        let copy = try #require(two.object(ofType: Person.self, forPrimaryKey: 1))
        #expect(copy.name == "Ann" && copy.dogs.first?.name == "Rex")
        #expect(one.objects(Dog.self).count == 1 && two.objects(Dog.self).count == 1)
    }

    @Test func deletedObjectsAreInvalid() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(dog) }
        let list = Person(value: [1, "Ann", 3, [dog]] as [Any])
        try realm.write { realm.add(list) }
        try realm.write { realm.delete(dog) }
        #expect(dog.isInvalidated && list.dogs.isEmpty)
        #expect(misuse { _ = dog.name } == "Object has been deleted or invalidated.")
        #expect(dog.description == "[invalid object]")
        try realm.write { realm.deleteAll() }
        #expect(realm.isEmpty && list.isInvalidated)
    }

    @Test @MainActor func invalidatedRealmsGoOn() async throws {
        let realm = try Realm(configuration: memory())
        let person = Person(value: [1, "Ann", 3, [["name": "Rex"]]] as [Any])
        try realm.write { realm.add(person) }
        let (dog, dogs, all) = (person.dogs[0], person.dogs, realm.objects(Dog.self))
        let names = all.map { $0.name }
        let frozen = realm.freeze()
        realm.beginWrite()
        dog.name = "undone"
        realm.invalidate()
        #expect(!realm.isInWriteTransaction && person.isInvalidated && dog.isInvalidated)
        #expect(dogs.isInvalidated && all.isInvalidated && all.isEmpty && names.isEmpty)
        #expect(misuse { _ = dog.name } == "Object has been deleted or invalidated.")
        #expect(misuse { _ = dogs.count }?.hasPrefix("Collection is no longer valid") == true)
        #expect(try Realm(configuration: realm.configuration) == realm)
        #expect(realm.objects(Dog.self).map { $0.name } == ["Rex"])
        let found = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        realm.invalidate()
        realm.invalidate()
        #expect(found.isInvalidated && !realm.isEmpty)
        var told = 0
        let token = realm.observe { _, _ in told += 1 }
        realm.invalidate()
        try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
        #expect(told > 0 && realm.objects(Dog.self).count == 2)
        try await realm.asyncWrite { realm.deleteAll() }
        let before = frozen.objects(Dog.self)
        #expect(realm.isEmpty && before.first?.name == "Rex")
        frozen.invalidate()
        #expect(before.isEmpty)
        token.invalidate()
    }

    @Test func embeddedObjectsBelongToTheirOwner() throws {
        let realm = try Realm(configuration: memory())
        let person = Person(value: [1, "Ann", 3] as [Any])
        person.address = Address(value: ["A street", "X"])
        person.homes.append(Address(value: ["Home 1"]))
        try realm.write {
            realm.add(person)
            person.homes.append(Address(value: ["Home 2"]))
            person.homes.insert(Address(value: ["Home 0"]), at: 0)
        }
        #expect(person.homes.map { $0.street } == ["Home 0", "Home 1", "Home 2"])
        let old = try #require(person.address)
        try realm.write { person.address = Address(value: ["B street"]) }
        #expect(old.isInvalidated && person.address?.street == "B street")
        let text = misuse {
            realm.beginWrite()
            person.address = person.homes[0]
        }
        realm.cancelWrite()
        #expect(text == "Can't set link to existing managed embedded object")
        let other = misuse {
            realm.beginWrite()
            person.homes.append(person.homes[0])
        }
        realm.cancelWrite()
        #expect(other == "Cannot add an existing managed embedded object to a List.")
    }

    @Test func propertiesAreReachedByName() throws {
        let realm = try Realm(configuration: memory())
        let person = Person(value: [1, "Ann", 30, [["Rex"]]] as [Any])
        #expect(person["name"] as? String == "Ann")
        try realm.write { realm.add(person) }
        #expect(person["age"] as? Int == 30)
        #expect((person["dogs"] as? List<Dog>)?.count == 1)
        #expect(person.value(forKeyPath: "address.street") == nil)
        try realm.write {
            person["name"] = "Bob"
            person.setValue(NSNumber(value: 31), forKey: "age")
            person["address"] = ["street": "S"]
        }
        #expect(person.name == "Bob" && person.age == 31 && person.address?.street == "S")
        #expect(person.value(forKeyPath: "address.street") as? String == "S")
        #expect(
            misuse { _ = person["nothing"] }
                == "Invalid property name 'nothing' for class 'Person'.")
        let found = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
        #expect(found["name"] as? String == "Bob" && found.age as? Int == 31)
        #expect(found.dynamicList("dogs").first?["name"] as? String == "Rex")
        try realm.write { found.name = "Carl" }
        #expect(person.name == "Carl")
        try realm.write {
            realm.dynamicCreate("Dog", value: ["name": "Dyn", "best": ["name": "Nested"]])
        }
        #expect(realm.objects(Dog.self).filter("name == 'Dyn'").first?.best?.name == "Nested")
    }

    @Test func subclassesHaveThePropertiesOfTheirSuperclassFirst() throws {
        let realm = try Realm(configuration: memory())
        try realm.write { realm.create(Cat.self, value: [4, "Tom"]) }
        let tom = try #require(realm.objects(Cat.self).where { $0.name == "Tom" }.first)
        #expect(tom.legs == 4 && tom.objectSchema.properties.map { $0.name } == ["legs", "name"])
        #expect(tom.objectSchema.properties.last?.columnName == "cat_name")
        #expect(realm.schema["Cat"] != nil && realm.objects(Animal.self).isEmpty)
        #expect(realm.objects(Cat.self).filter("name == 'Tom'").count == 1)
    }

    @Test func otherPropertiesComeFromTheInitializer() throws {
        let realm = try Realm(configuration: memory([Mixture.self]))
        let one = Mixture(value: ["name": "x"])
        one.note = "kept"
        try realm.write { realm.add(one) }
        #expect(one.note == "kept" && one.name == "x" && one.shout == "X")
        let two = try #require(realm.objects(Mixture.self).first)
        #expect(two.note == "fresh" && two.name == "x" && two.shout == "X")
    }

    @Test func descriptionsShowProperties() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex", "age": 3])
        try realm.write { realm.add(dog) }
        let text = """
            Dog {
            \tname = Rex;
            \tage = 3;
            \tweight = 0.0;
            \tnick = (null);
            \tbest = (null);
            }
            """
        #expect(dog.description == text)
        let shown = realm.objects(Dog.self).description
        #expect(
            shown.hasPrefix("Results<Dog> <0x") && shown.contains("\t[0] Dog {\n\t\tname = Rex;"))
    }

    @Test func keyPathsHaveNames() {
        #expect(_name(for: \Person.name) == "name")
        #expect(_name(for: \Person.address?.city) == "address.city")
        #expect(_name(for: \Person.dogs[0].best?.name) == "dogs.best.name")
        #expect(_name(for: \Dog.owners) == "owners")
    }
}
