// The guide's chapter on models: optional properties, primary keys, indexes, ignored properties, the
// cheatsheet of property types, initializers.

import Foundation
import RealmSwift
import Testing

enum Models {
    enum Basic {
        class Dog: Object {
            @Persisted var name = ""
            @Persisted var owner: Person?
        }
        class Person: Object, LegacyDeclarations {
            @Persisted var name = ""
            @Persisted var birthdate = Date(timeIntervalSince1970: 1)
            let dogs = List<Dog>()
        }
    }
    enum Required {
        class Person: Object, LegacyDeclarations {
            @Persisted var name: String? = nil

            let age = RealmOptional<Int>()
        }
    }
    enum Keyed {
        class Person: Object {
            @Persisted var id = 0
            @Persisted var name = ""

            override static func primaryKey() -> String? {
                return "id"
            }
        }
    }
    class Book: Object {
        @Persisted var price = 0
        @Persisted var title = ""

        override static func indexedProperties() -> [String] {
            return ["title"]
        }
    }
    enum Ignoring {
        class Person: Object {
            @Persisted var tmpID = 0
            var name: String {
                return "\(firstName) \(lastName)"
            }
            @Persisted var firstName = ""
            @Persisted var lastName = ""

            override static func ignoredProperties() -> [String] {
                return ["tmpID"]
            }
        }
    }
    class Cheatsheet: Object, LegacyDeclarations {
        @Persisted var bool = false
        let optBool = RealmOptional<Bool>()
        @Persisted var int = 0
        let optInt = RealmOptional<Int>()
        @Persisted var float: Float = 0.0
        let optFloat = RealmOptional<Float>()
        @Persisted var double: Double = 0.0
        let optDouble = RealmOptional<Double>()
        @Persisted var string = ""
        @Persisted var optString: String? = nil
        @Persisted var data = Data()
        @Persisted var optData: Data? = nil
        @Persisted var date = Date()
        @Persisted var optDate: Date? = nil
        @Persisted var object: Cheatsheet?
        let list = List<Int>()
        let set = MutableSet<String>()
        let map = Map<String, Int>()
        let any = RealmProperty<AnyRealmValue>()
        let links = LinkingObjects(fromType: Cheatsheet.self, property: "object")
    }
    class MyModel: Object {
        @Persisted var myValue = ""

        convenience init(myValue: String) {
            self.init()
            self.myValue = myValue
        }
    }
}

extension Guide {
    @Suite struct ModelsTests {
        @Test func basicModels() throws {
            typealias Person = Models.Basic.Person
            typealias Dog = Models.Basic.Dog
            try withDefaultRealm([Dog.self, Person.self]) {
                let realm = try Realm()
                let person = Person()
                let dog = Dog()
                dog.owner = person
                person.dogs.append(dog)
                try realm.write { realm.add(person) }
                #expect(person.isSameObject(as: realm.objects(Dog.self).first?.owner))
                #expect(realm.objects(Person.self).first?.dogs.count == 1)
                #expect(person.birthdate == Date(timeIntervalSince1970: 1))
            }
        }

        @Test func optionalNumbers() throws {
            typealias Person = Models.Required.Person
            try withDefaultRealm([Person.self]) {
                let realm = try! Realm()
                try! realm.write() {
                    var person = realm.create(Person.self, value: ["Jane", 27])
                    #expect(person.age.value == 27)
                    person.age.value = 28
                    _ = { person = $0 }
                }
                let found = realm.objects(Person.self).filter("age == 28")
                #expect(
                    found.count == 1 && found.first?.name == "Jane" && found.first?.age.value == 28)
                try realm.write { found.first?.age.value = nil }
                #expect(found.count == 0)
                #expect(realm.objects(Person.self).filter("age == nil").count == 1)
                #expect(realm.objects(Person.self).sorted(byKeyPath: "age").first?.age.value == nil)
            }
        }

        @Test func primaryKeys() throws {
            typealias Person = Models.Keyed.Person
            try withDefaultRealm([Person.self]) {
                let realm = try Realm()
                try realm.write { realm.create(Person.self, value: ["id": 7, "name": "Jane"]) }
                #expect(realm.object(ofType: Person.self, forPrimaryKey: 7)?.name == "Jane")
                #expect(realm.schema["Person"]?.primaryKeyProperty?.name == "id")
            }
        }

        @Test func indexes() throws {
            typealias Book = Models.Book
            try withDefaultRealm([Book.self]) {
                let realm = try Realm()
                #expect(realm.schema["Book"]?["title"]?.isIndexed == true)
                #expect(realm.schema["Book"]?["price"]?.isIndexed == false)
            }
        }

        @Test func ignoredProperties() throws {
            typealias Person = Models.Ignoring.Person
            try withDefaultRealm([Person.self]) {
                let realm = try Realm()
                let person = Person(value: ["firstName": "Jane", "lastName": "Doe"])
                person.tmpID = 3
                try realm.write { realm.add(person) }
                #expect(
                    realm.schema["Person"]?.properties.map(\.name) == ["firstName", "lastName"])
                #expect(person.tmpID == 3 && person.name == "Jane Doe")
                #expect(realm.objects(Person.self).first?.name == "Jane Doe")
            }
        }

        @Test func allTypesOfTheCheatsheet() throws {
            typealias Sheet = Models.Cheatsheet
            try withDefaultRealm([Sheet.self]) {
                let realm = try Realm()
                let sheet = Sheet()
                sheet.optBool.value = true
                sheet.optInt.value = 3
                sheet.optFloat.value = 1.5
                sheet.optDouble.value = 2.5
                sheet.list.append(objectsIn: [1, 2, 3])
                sheet.set.insert("a")
                sheet.map["k"] = 5
                sheet.any.value = .string("mixed")
                #expect(sheet.links.count == 0)
                try realm.write {
                    realm.add(sheet)
                    sheet.object = sheet
                }
                let found = try #require(realm.objects(Sheet.self).first)
                #expect(found !== sheet)
                #expect(found.optBool.value == true && found.optInt.value == 3)
                #expect(found.optFloat.value == 1.5 && found.optDouble.value == 2.5)
                #expect(Array(found.list) == [1, 2, 3] && found.set.contains("a"))
                #expect(found.map["k"] == 5 && found.any.value == .string("mixed"))
                #expect(found.links.count == 1 && sheet.links.first?.optInt.value == 3)
                #expect(found.optString == nil && found.optData == nil && found.optDate == nil)
                #expect(realm.objects(Sheet.self).where { $0.list.count == 3 }.count == 1)
                let copy = Sheet(value: found)
                #expect(
                    copy.realm == nil && copy.optInt.value == 3 && Array(copy.list) == [1, 2, 3])
                try realm.write { found.list.removeAll() }
                #expect(sheet.list.isEmpty && copy.list.count == 3)
                try realm.write { realm.delete(found) }
                #expect(sheet.isInvalidated)
            }
        }

        @Test func initializersOfModels() throws {
            typealias MyModel = Models.MyModel
            try withDefaultRealm([MyModel.self]) {
                let realm = try Realm()
                let persistedModelObject = MyModel(myValue: "kept")
                try realm.write { realm.add(persistedModelObject) }
                let standaloneModelObject = MyModel(value: persistedModelObject)
                #expect(
                    standaloneModelObject.realm == nil && standaloneModelObject.myValue == "kept")
            }
        }
    }
}
