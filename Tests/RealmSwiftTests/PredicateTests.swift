// `#Predicate` as a condition.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct PredicateTests {
    private func filled() throws -> Realm {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for index in 1...4 {
                let person = Person(value: [index, "P\(index)", index * 10] as [Any])
                for number in 0..<(4 - index) {
                    let dog = Dog(value: ["D\(index)\(number)", number + index] as [Any])
                    dog.nick = number == 0 ? "Bo" : nil
                    person.dogs.append(dog)
                    if number > 0 { dog.best = person.dogs[0] }
                }
                realm.add(person)
            }
        }
        return realm
    }

    @Test func expressionsFindObjects() throws {
        let realm = try filled()
        let people = realm.objects(Person.self)
        let dogs = realm.objects(Dog.self)
        func ids(_ predicate: Foundation.Predicate<Person>) throws -> [Int] {
            try people.filter(predicate).map { $0.id }
        }
        func names(_ predicate: Foundation.Predicate<Dog>) throws -> [String] {
            try dogs.filter(predicate).map { $0.name }.sorted()
        }
        let limit = 20
        let set = [10, 40]
        let range = 20..<40
        #expect(try ids(#Predicate { $0.age < limit && $0.name.contains("P") }) == [1])
        #expect(try ids(#Predicate { !($0.age == 20) || $0.name == "P2" }) == [1, 2, 3, 4])
        #expect(try ids(#Predicate { $0.age + 10 >= 40 }) == [3, 4])
        #expect(try ids(#Predicate { -$0.age > -20 }) == [1])
        #expect(try ids(#Predicate { set.contains($0.age) }) == [1, 4])
        #expect(try ids(#Predicate { range.contains($0.age) }) == [2, 3])
        #expect(try ids(#Predicate { (10...20).contains($0.age) }) == [1, 2])
        #expect(try ids(#Predicate { $0.name.starts(with: "P3") }) == [3])
        #expect(try ids(#Predicate { $0.dogs.contains { $0.age > 2 } }) == [1, 2, 3])
        #expect(try ids(#Predicate { $0.dogs.allSatisfy { $0.age > 2 } }) == [3, 4])
        #expect(try ids(#Predicate { $0.dogs.filter { $0.age > 1 }.count == 2 }) == [1, 2])
        #expect(try ids(#Predicate { $0.dogs.count == 3 }) == [1])
        #expect(try ids(#Predicate { $0.dogs.isEmpty }) == [4])
        #expect(try ids(#Predicate { _ in false }) == [])
        #expect(try names(#Predicate { $0.best?.name == "D10" }) == ["D11", "D12"])
        #expect(try names(#Predicate { $0.best != nil && $0.age == 2 }) == ["D11"])
        #expect(try names(#Predicate { ($0.nick ?? "x") == "x" }) == ["D11", "D12", "D21"])
        #expect(try names(#Predicate { $0.nick == nil && !$0.owners.isEmpty }).count == 3)
    }

    @Test func expressionsThatQueriesCannotSayAreErrors() throws {
        let realm = try filled()
        let people = realm.objects(Person.self)
        let names = ["P1"]
        do {
            _ = try people.filter(#Predicate { person in names.contains { $0 == person.name } })
            Issue.record("no error")
        } catch let error as Realm.Error {
            #expect(error.code == .invalidInput && "\(error)".contains("elements of a constant"))
        }
        #expect(throws: Realm.Error.self) { try people.filter(#Predicate { $0.name.count > 2 }) }
    }
}
