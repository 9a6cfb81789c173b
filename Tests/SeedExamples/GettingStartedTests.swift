// The guide's first example.

import Foundation
import RealmSwift
import Testing

enum GettingStarted {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }
    class Person: Object, LegacyDeclarations {
        @Persisted var name = ""
        @Persisted var picture: Data? = nil
        let dogs = List<Dog>()
    }
}

extension Guide {
    @Suite struct GettingStartedTests {
        typealias Dog = GettingStarted.Dog
        typealias Person = GettingStarted.Person

        @Test func theFirstExample() throws {
            try withDefaultRealm([Dog.self, Person.self]) {
                let myDog = Dog()
                myDog.name = "Rex"
                myDog.age = 1
                print("name of dog: \(myDog.name)")

                let realm = try! Realm()

                let puppies = realm.objects(Dog.self).filter("age < 2")
                #expect(puppies.count == 0)

                try! realm.write {
                    realm.add(myDog)
                }

                #expect(puppies.count == 1)

                DispatchQueue(label: "background").async {
                    autoreleasepool {
                        let realm = try! Realm()
                        let theDog = realm.objects(Dog.self).filter("age == 1").first
                        try! realm.write {
                            theDog!.age = 3
                        }
                    }
                }

                #expect(comesTrue(realm) { myDog.age == 3 })
                #expect(puppies.count == 0)
            }
        }
    }
}
