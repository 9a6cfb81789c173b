// The guide's chapter on queries: filtering, sorting, chains, live results, limits.

import Foundation
import RealmSwift
import Testing

enum Queries {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var color = ""
        @Persisted var age = 0
    }
    class Person: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var dog: Dog?
    }
    class Company: Object, LegacyDeclarations {
        @Persisted var name = ""
        @Persisted var ceo: Person?
        let employees = List<Person>()
    }
}

extension Guide {
    @Suite struct QueriesTests {
        typealias Dog = Queries.Dog
        typealias Person = Queries.Person
        typealias Company = Queries.Company

        private func withDogs(_ body: (Realm) throws -> Void) throws {
            try withDefaultRealm([Dog.self, Person.self, Company.self]) {
                let realm = try Realm()
                try realm.write {
                    for (name, color, age) in [
                        ("Bello", "tan", 4), ("Rex", "tan", 1), ("Buddy", "black", 3),
                        ("Bart", "tan", 7),
                    ] {
                        realm.create(Dog.self, value: [name, color, age])
                    }
                }
                try body(realm)
            }
        }

        @Test func allObjects() throws {
            try withDogs { realm in
                let dogs = realm.objects(Dog.self)
                #expect(dogs.count == 4)
            }
        }

        @Test func filtering() throws {
            try withDogs { realm in
                var tanDogs = realm.objects(Dog.self).filter(
                    "color = 'tan' AND name BEGINSWITH 'B'")
                #expect(tanDogs.map(\.name) == ["Bello", "Bart"])

                let predicate = NSPredicate(format: "color = %@ AND name BEGINSWITH %@", "tan", "B")
                tanDogs = realm.objects(Dog.self).filter(predicate)
                #expect(tanDogs.map(\.name) == ["Bello", "Bart"])
            }
        }

        @Test func predicatesThatTheGuideLists() throws {
            try withDogs { realm in
                let dogs = realm.objects(Dog.self)
                let rex = try #require(dogs.filter("name == 'Rex'").first)
                try realm.write {
                    let lisa = realm.create(Person.self, value: ["Lisa", 45, rex])
                    let john = realm.create(Person.self, value: ["Jo\u{308}hn", 20, NSNull()])
                    realm.create(Company.self, value: ["A", lisa, [lisa, john]])
                    realm.create(Company.self, value: ["B", NSNull(), []])
                }
                func people(_ text: String, _ args: Any...) -> Int {
                    realm.objects(Person.self).filter(
                        NSPredicate(format: text, argumentArray: args)
                    ).count
                }
                #expect(people("age == 45") == 1)
                #expect(people("age BETWEEN {20, 30}") == 1)
                #expect(people("dog == %@", rex) == 1)
                #expect(people("name CONTAINS 'is'") == 1)
                #expect(people("name LIKE '?is*'") == 1)
                #expect(people("name CONTAINS[c] 'LI'") == 1)
                #expect(people("name BEGINSWITH[d] 'Jo'") == 1)
                #expect(people("name BEGINSWITH 'L' AND age >= 32") == 1)
                #expect(people("NOT age > 30") == 1)
                #expect(people("name IN {'Lisa', 'Spike', 'Hachi'}") == 1)
                func companies(_ text: String) -> [String] {
                    realm.objects(Company.self).filter(text).map(\.name)
                }
                #expect(companies("ceo == nil") == ["B"])
                #expect(companies("ANY employees.age < 21") == ["A"])
                #expect(companies("employees.@count > 1") == ["A"])
                #expect(companies("employees.@avg.age == 32.5") == ["A"])
                #expect(companies("SUBQUERY(employees, $e, $e.age > 21).@count == 1") == ["A"])
            }
        }

        @Test func sorting() throws {
            try withDogs { realm in
                let sortedDogs = realm.objects(Dog.self).filter(
                    "color = 'tan' AND name BEGINSWITH 'B'"
                ).sorted(byKeyPath: "name")
                #expect(sortedDogs.map(\.name) == ["Bart", "Bello"])

                try realm.write {
                    for dog in realm.objects(Dog.self) {
                        realm.create(Person.self, value: ["owner of \(dog.name)", 30, dog])
                    }
                }
                let dogOwners = realm.objects(Person.self)
                let ownersByDogAge = dogOwners.sorted(byKeyPath: "dog.age")
                #expect(
                    ownersByDogAge.map(\.name) == [
                        "owner of Rex", "owner of Buddy", "owner of Bello", "owner of Bart",
                    ])
                let byTwo = realm.objects(Dog.self).sorted(by: [
                    SortDescriptor(keyPath: "color"),
                    SortDescriptor(keyPath: "age", ascending: false),
                ])
                #expect(byTwo.map(\.name) == ["Buddy", "Bart", "Bello", "Rex"])
            }
        }

        @Test func chains() throws {
            try withDogs { realm in
                let tanDogs = realm.objects(Dog.self).filter("color = 'tan'")
                let tanDogsWithBNames = tanDogs.filter("name BEGINSWITH 'B'")
                #expect(tanDogs.count == 3 && tanDogsWithBNames.count == 2)
            }
        }

        @Test func resultsAreLive() throws {
            try withDefaultRealm([Dog.self, Person.self]) {
                let realm = try Realm()
                let puppies = realm.objects(Dog.self).filter("age < 2")
                #expect(puppies.count == 0)
                try! realm.write {
                    realm.create(Dog.self, value: ["name": "Fido", "age": 1])
                    #expect(puppies.count == 1)
                }
                #expect(puppies.count == 1)

                try realm.write { for _ in 0..<3 { realm.create(Person.self, value: ["age": 10]) } }
                try! realm.write {
                    for person in realm.objects(Person.self).filter("age == 10") {
                        person.age += 1
                    }
                }
                #expect(realm.objects(Person.self).filter("age == 11").count == 3)
            }
        }

        @Test func limits() throws {
            try withDogs { realm in
                try realm.write { for age in 0..<4 { realm.create(Dog.self, value: ["age": age]) } }
                let dogs = try! Realm().objects(Dog.self)
                var ages: [Int] = []
                for i in 0..<5 {
                    let dog = dogs[i]
                    ages.append(dog.age)
                }
                #expect(ages == [4, 1, 3, 7, 0])
            }
        }
    }
}
