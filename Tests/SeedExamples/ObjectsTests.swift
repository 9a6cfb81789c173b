// The guide's chapters on objects, collections and relationships.

import Foundation
import RealmSwift
import Testing

enum Objects {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }
    class Animal: Object {
        @Persisted var age = 0
    }
    class Duck: Object {
        @Persisted var animal: Animal? = nil
        @Persisted var name = ""
    }
    class Frog: Object {
        @Persisted var animal: Animal? = nil
        @Persisted var dateProp = Date()
    }
    class MyModel: Object {
        @Persisted var value = 0
    }
    class PageDog: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted var age = 0
    }
    class ViewController {
        let collection: AnyRealmCollection<MyModel>

        init<C: RealmCollection>(collection: C) where C.ElementType == MyModel {
            self.collection = AnyRealmCollection(collection)
        }
    }
}

enum Relationships {
    class Dog: Object, LegacyDeclarations {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var owner: Person?
        let owners = LinkingObjects(fromType: Person.self, property: "dogs")
    }
    class Person: Object, LegacyDeclarations {
        @Persisted var name = ""
        let dogs = List<Dog>()
        let scores = List<Int>()
    }
}

extension Guide {
    @Suite struct ObjectsTests {
        /// What the class page has for the default realm.
        @Test func theClassPageOfTheDefaultRealm() throws {
            typealias Dog = Objects.PageDog
            try withDefaultRealm([Dog.self]) {
                let realm = try Realm()
                try realm.write {
                    Dog.createInDefaultRealm(withValue: ["name": "Fido", "age": 1])
                    Dog.createOrUpdateInDefaultRealm(withValue: ["name": "Fido", "age": 2])
                    Dog.createOrUpdateModifiedInDefaultRealm(withValue: ["name": "Rex"])
                }
                #expect(Dog.object(forPrimaryKey: "Fido")?.age == 2)
                #expect(Dog.allObjects().count == 2)
                #expect(Dog.objects(where: "age > %@", 1).first?.name == "Fido")
                #expect(Dog.objects(with: NSPredicate(format: "age == 0")).count == 1)
                #expect(Dog.objects(with: nil).count == 2)
            }
        }

        @Test func objectsUpdateThemselves() throws {
            typealias Dog = Objects.Dog
            try withDefaultRealm([Dog.self]) {
                let realm = try! Realm()
                let myDog = Dog()
                myDog.name = "Fido"
                myDog.age = 1

                try! realm.write {
                    realm.add(myDog)
                }

                let myPuppy = realm.objects(Dog.self).filter("age == 1").first
                try! realm.write {
                    myPuppy!.age = 2
                }

                print("age of my dog: \(myDog.age)")
                #expect(myDog.age == 2)
            }
        }

        @Test func modelsAreComposed() throws {
            typealias Duck = Objects.Duck
            typealias Frog = Objects.Frog
            let duck = Duck(value: ["animal": ["age": 3], "name": "Gustav"])
            #expect(duck.animal?.age == 3 && duck.name == "Gustav")
            try withDefaultRealm([Objects.Animal.self, Duck.self, Frog.self]) {
                let realm = try Realm()
                try realm.write { realm.add(duck) }
                #expect(realm.objects(Objects.Animal.self).map(\.age) == [3])
            }
        }

        @Test func genericCodeOverCollections() throws {
            typealias MyModel = Objects.MyModel
            var texts: [String] = []
            func operateOn<C: RealmCollection>(collection: C) {
                texts.append("operating on collection containing \(collection.count) objects")
            }
            try withDefaultRealm([MyModel.self]) {
                let realm = try Realm()
                try realm.write {
                    for value in 0..<3 { realm.create(MyModel.self, value: [value]) }
                }
                let all = realm.objects(MyModel.self)
                operateOn(collection: all)
                operateOn(collection: List<Int>())
                #expect(
                    texts == [
                        "operating on collection containing 3 objects",
                        "operating on collection containing 0 objects",
                    ])
                let controller = Objects.ViewController(collection: all.filter("value > 0"))
                #expect(controller.collection.count == 2)
            }
        }

        @Test func copyingBetweenRealms() throws {
            typealias Duck = Objects.Duck
            try withDefaultRealm([Objects.Animal.self, Duck.self]) {
                let realm = try Realm()
                let other = try Realm(
                    configuration: .init(
                        inMemoryIdentifier: "another",
                        objectTypes: [Objects.Animal.self, Duck.self]))
                try realm.write {
                    realm.create(Duck.self, value: ["animal": ["age": 3], "name": "Gustav"])
                }
                let original = try #require(realm.objects(Duck.self).first)
                try other.write { other.create(Duck.self, value: original) }
                #expect(other.objects(Duck.self).first?.animal?.age == 3)
                #expect(other.objects(Duck.self).first?.realm == other)
                #expect(original.realm == realm)
            }
        }

        @Test func relationships() throws {
            typealias Dog = Relationships.Dog
            typealias Person = Relationships.Person
            try withDefaultRealm([Dog.self, Person.self]) {
                let realm = try Realm()
                let jim = Person()
                let rex = Dog()
                rex.owner = jim

                try realm.write {
                    realm.add([rex])
                    realm.create(Dog.self, value: ["name": "Fido 1"])
                    realm.create(Dog.self, value: ["name": "Fido 2"])
                }
                #expect(jim.realm == realm)

                try realm.write {
                    let someDogs = realm.objects(Dog.self).filter("name contains 'Fido'")
                    jim.dogs.append(objectsIn: someDogs)
                    jim.dogs.append(rex)
                }

                #expect(jim.dogs.map(\.name) == ["Fido 1", "Fido 2", ""])
                #expect(rex.owners.count == 1 && jim.isSameObject(as: rex.owners.first))
                try realm.write { jim.dogs.append(rex) }
                #expect(jim.dogs.count == 4 && rex.isSameObject(as: jim.dogs[3]))
                try realm.write {
                    jim.dogs.removeLast(2)
                    jim.scores.append(objectsIn: [3, 1, 2])
                }
                #expect(rex.owners.isEmpty && jim.isSameObject(as: rex.owner))
                #expect(realm.objects(Person.self).filter("ANY scores > 2").count == 1)
                #expect(realm.objects(Dog.self).filter("owners.@count == 1").count == 2)
            }
        }
    }
}
