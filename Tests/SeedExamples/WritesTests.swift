// The guide's chapter on writes.

import Foundation
import RealmSwift
import Testing

enum Writes {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }
    class Person: Object, LegacyDeclarations {
        @Persisted var name = ""
        @Persisted var age = 0
        let dogs = List<Dog>()
    }
    class Author: Object {
        @Persisted var name = ""
    }
    class Citizen: Object {
        @Persisted var isFirst = false
        @Persisted var planet = ""
    }
    class Book: Object {
        @Persisted var id = 0
        @Persisted var title = ""
        @Persisted var price = 0.0

        override static func primaryKey() -> String? {
            return "id"
        }
    }
}

extension Guide {
    @Suite struct WritesTests {
        typealias Dog = Writes.Dog
        typealias Person = Writes.Person
        typealias Book = Writes.Book

        @Test func creatingObjects() throws {
            try withDefaultRealm([Dog.self]) {
                var myDog = Dog()
                myDog.name = "Rex"
                myDog.age = 10

                let myOtherDog = Dog(value: ["name": "Pluto", "age": 3])

                let myThirdDog = Dog(value: ["Fido", 5])

                let realm = try! Realm()
                try! realm.write {
                    realm.add(myDog)
                }
                #expect(myOtherDog.name == "Pluto" && myOtherDog.age == 3)
                #expect(myThirdDog.name == "Fido" && myThirdDog.age == 5)
                #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
                try realm.write { myDog.age = 11 }
                #expect(realm.objects(Dog.self).first?.age == 11)
                myDog = myOtherDog
            }
        }

        @Test func nestedObjects() throws {
            try withDefaultRealm([Dog.self, Person.self]) {
                let aDog = Dog(value: ["Rex", 3])
                let anotherDog = Dog(value: ["Pluto", 4])
                let aPerson = Person(value: ["Jane", 30, [aDog, anotherDog]])

                let anotherPerson = Person(value: ["Jane", 30, [["Buster", 5], ["Buddy", 6]]])

                let realm = try Realm()
                try realm.write { realm.add([aPerson, anotherPerson]) }
                #expect(aPerson.dogs.map(\.name) == ["Rex", "Pluto"] && aDog.realm == realm)
                #expect(anotherPerson.dogs.map(\.age) == [5, 6])
                #expect(realm.objects(Dog.self).count == 4)
            }
        }

        @Test func typedUpdates() throws {
            try withDefaultRealm([Writes.Author.self]) {
                let realm = try Realm()
                let author = Writes.Author()
                try realm.write { realm.add(author) }
                try! realm.write {
                    author.name = "Thomas Pynchon"
                }
                #expect(realm.objects(Writes.Author.self).first?.name == "Thomas Pynchon")
            }
        }

        @Test func keyValueCoding() throws {
            try withDefaultRealm([Writes.Citizen.self]) {
                let realm = try Realm()
                try realm.write { for _ in 0..<3 { realm.add(Writes.Citizen()) } }
                let persons = realm.objects(Writes.Citizen.self)
                try! realm.write {
                    persons.first?.setValue(true, forKeyPath: "isFirst")
                    persons.setValue("Earth", forKeyPath: "planet")
                }
                #expect(persons.map(\.isFirst) == [true, false, false])
                #expect(persons.map(\.planet) == ["Earth", "Earth", "Earth"])
            }
        }

        @Test func updatingByPrimaryKey() throws {
            try withDefaultRealm([Book.self]) {
                let realm = try Realm()
                try realm.write {
                    realm.create(Book.self, value: ["id": 1, "title": "Old", "price": 1.0])
                }

                let cheeseBook = Book()
                cheeseBook.title = "Cheese recipes"
                cheeseBook.price = 9000
                cheeseBook.id = 1

                try! realm.write {
                    realm.add(cheeseBook, update: true)
                }
                #expect(realm.objects(Book.self).count == 1)
                #expect(realm.objects(Book.self).first?.title == "Cheese recipes")
                #expect(cheeseBook.price == 9000 && cheeseBook.realm == realm)

                try realm.write { cheeseBook.price = 1 }
                try! realm.write {
                    realm.create(Book.self, value: ["id": 1, "price": 9000.0], update: true)
                }
                #expect(cheeseBook.title == "Cheese recipes" && cheeseBook.price == 9000)

                // "If it did not exist, then a completely new Book object would be created".
                let other = Book(value: ["id": 2, "title": "Bread", "price": 5.0])
                try realm.write { realm.add(other, update: true) }
                #expect(realm.objects(Book.self).count == 2)
                try realm.write { realm.delete(other) }

                try! realm.write {
                    realm.delete(cheeseBook)
                }
                #expect(realm.isEmpty && cheeseBook.isInvalidated)
            }
        }

        @Test func deletingEverything() throws {
            try withDefaultRealm([Dog.self, Book.self]) {
                let realm = try Realm()
                try realm.write {
                    realm.add(Dog())
                    realm.add(Book())
                }
                try! realm.write {
                    realm.deleteAll()
                }
                #expect(realm.isEmpty)
            }
        }
    }
}
