// Queries: the text of `where` blocks, what they find, formats, predicates, sorting, aggregates.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct QueryTests {
    private func text<T: Object>(
        _ type: T.Type, _ condition: (Query<T>) -> Query<Bool>
    ) -> String { condition(Query<T>._root())._constructPredicate().0 }

    /// A realm with four people, of whom the first three have dogs.
    private func filled() throws -> Realm {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for index in 1...4 {
                let person = Person(value: [index, "P\(index)", index * 10] as [Any])
                for number in 0..<(4 - index) {
                    person.dogs.append(
                        Dog(value: ["D\(index)\(number)", number + index, Double(number)] as [Any]))
                }
                if index == 1 { person.address = Address(value: ["Main", "Rome"]) }
                realm.add(person)
            }
        }
        return realm
    }

    @Test func conditionsAreWrittenAsRealmSwiftWritesThem() {
        #expect(text(Person.self) { $0.age == 5 } == "(age == %@)")
        #expect(
            text(Person.self) { $0.age > 5 && $0.name != "x" } == "((age > %@) && (name != %@))")
        #expect(
            text(Person.self) { $0.name.contains("a", options: [.caseInsensitive]) || $0.age < 3 }
                == "((name CONTAINS[c] %@) || (age < %@))")
        #expect(text(Person.self) { !($0.age == 5) } == "NOT (age == %@)")
        #expect(text(Everything.self) { $0.bool } == "bool == true")
        #expect(text(Everything.self) { !$0.bool } == "bool == false")
        #expect(text(Person.self) { $0.age.contains(1...3) } == "(age BETWEEN {%@, %@})")
        #expect(text(Person.self) { $0.age.contains(1..<3) } == "((age >= %@) && (age < %@))")
        #expect(text(Person.self) { $0.age.in([1, 2]) } == "(age IN %@)")
        #expect(text(Person.self) { $0.dogs.name == "x" } == "(ANY dogs.name == %@)")
        #expect(text(Person.self) { $0.dogs.count > 2 } == "(dogs.@count > %@)")
        #expect(text(Person.self) { $0.address.city == nil } == "(address.city == %@)")
        #expect(text(Everything.self) { $0.ints.contains(3) } == "(%@ IN ints)")
        #expect(text(Everything.self) { $0.ints == 3 } == "(ANY ints == %@)")
        #expect(text(Everything.self) { $0.ints.max > 3 } == "(ints.@max > %@)")
        #expect(text(Everything.self) { $0.scores["a"] == 1 } == "(scores[%@] == %@)")
        #expect(
            text(Person.self) { ($0.dogs.age > 3 && $0.dogs.name == "x").count == 1 }
                == "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count == %@)")
        let collections = misuse { _ = text(Person.self) { $0.dogs.age == $0.dogs.age } }
        #expect(collections == "Comparing two collection columns is not permitted.")
        let subquery = misuse { _ = text(Person.self) { ($0.age == 1).count == 1 } }
        #expect(subquery == "Subqueries must contain a keypath starting with a collection.")
    }

    @Test func conditionsFindObjects() throws {
        let realm = try filled()
        let people = realm.objects(Person.self)
        func ids(_ condition: (Query<Person>) -> Query<Bool>) -> [Int] {
            people.where(condition).map { $0.id }
        }
        #expect(ids { $0.age > 10 && $0.age <= 30 } == [2, 3])
        #expect(
            ids { $0.name == "P1" || $0.name.starts(with: "p4", options: .caseInsensitive) } == [
                1, 4,
            ])
        #expect(ids { !($0.age.contains(10...20)) } == [3, 4])
        #expect(ids { $0.name.in(["P2", "P9"]) } == [2])
        #expect(ids { $0.dogs.age >= 3 } == [1, 2, 3])
        #expect(ids { $0.dogs.count == 0 } == [4])
        #expect(ids { $0.address.city == "Rome" } == [1])
        #expect(ids { $0.address == nil } == [2, 3, 4])
        #expect(ids { ($0.dogs.age > 1 && $0.dogs.weight < 2).count == 2 } == [2])
        #expect(ids { $0.name.like("?1") } == [1])
        #expect(ids { $0.name.ends(with: "3") } == [3])
        let dog = try #require(realm.objects(Dog.self).first)
        #expect(ids { $0.dogs.contains(dog) } == [1])
        #expect(realm.objects(Dog.self).where { $0.owners.name == "P2" }.count == 2)
        #expect(realm.objects(Dog.self).where { $0.owners.count == 1 }.count == 6)
    }

    @Test func conditionsOnOtherTypesFindObjects() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        it.color = .blue
        it.level = .high
        it.heat = Celsius(20)
        it.any = .int(5)
        it.ints.append(objectsIn: [1, 5])
        it.intSet.insert(3)
        it.scores["a"] = 7
        it.optDate = Date(timeIntervalSince1970: 100)
        it.uuid = UUID()
        it.decimal = "1.5"
        it.bool = true
        try realm.write {
            realm.add(it)
            realm.add(Everything())
        }
        func count(_ condition: (Query<Everything>) -> Query<Bool>) -> Int {
            realm.objects(Everything.self).where(condition).count
        }
        #expect(count { $0.color == .blue } == 1)
        #expect(count { $0.color.rawValue.contains("ed") } == 1)
        #expect(count { $0.level.rawValue > 5 } == 1)
        #expect(count { $0.heat.persistableValue > 5 } == 1)
        #expect(count { $0.any == .int(5) } == 1)
        #expect(count { $0.ints == 5 } == 1)
        #expect(count { $0.ints.contains(5) } == 1)
        #expect(count { $0.ints.sum == 6 } == 1)
        #expect(count { $0.intSet.contains(3) } == 1)
        #expect(count { $0.scores["a"] == 7 } == 1)
        #expect(count { $0.scores.values > 6 } == 1)
        #expect(count { $0.scores.keys == "a" } == 1)
        #expect(count { $0.optDate < Date() } == 1)
        #expect(count { $0.optDate == nil } == 1)
        #expect(count { $0.uuid == it.uuid } == 1)
        #expect(count { $0.id == it.id } == 1)
        #expect(count { $0.decimal >= 1 } == 1)
        #expect(count { $0.bool } == 1)
        #expect(count { !$0.bool } == 1)
        #expect(count { $0.optInt == nil } == 2)
        #expect(count { $0.ints.containsAny(in: [5, 9]) } == 1)
    }

    @Test func formatsFindObjects() throws {
        let realm = try filled()
        let people = realm.objects(Person.self)
        #expect(people.filter("age > %@ AND name != 'P4'", 10).map { $0.id } == [2, 3])
        #expect(people.filter("%K == %d", "age", 20).count == 1)
        #expect(people.filter("name IN %@", ["P1", "P3"]).count == 2)
        #expect(people.filter("ANY dogs.age < 2").count == 1)
        #expect(people.filter("age BETWEEN {20, 30}").count == 2)
        let dog = try #require(realm.objects(Dog.self).last)
        #expect(people.filter("%@ IN dogs", dog).map { $0.id } == [3])
        let predicate = NSPredicate(format: "age > %@", 20)
        #expect(people.filter(predicate).count == 2)
        let both = NSCompoundPredicate(
            andPredicateWithSubpredicates: [
                predicate, NSPredicate(format: "name == %@", argumentArray: ["P3"]),
            ])
        #expect(people.filter(both).map { $0.id } == [3])
        #expect(people.filter(NSCompoundPredicate(notPredicateWithSubpredicate: both)).count == 3)
        #expect(people.filter(NSPredicate(value: false)).isEmpty)
        #expect(predicate.evaluate(with: people[3]) && !predicate.evaluate(with: people[0]))
        #expect(people.index(matching: "age == 30") == 2)
        #expect(people.index(matching: predicate) == 2)
        #expect(people.index(matching: { $0.age == 40 }) == 3)
        #expect(misuse { _ = people.filter("nothing == 3") }?.contains("nothing") == true)
        #expect(throws: Realm.Error.self) { _ = try people.filtered("age >") }
        let block = NSPredicate { _, _ in true }
        #expect(
            misuse { _ = people.filter(block) }
                == "Only support compound, comparison, and constant predicates")
    }

    @Test func resultsAreSortedAndMadeDistinct() throws {
        let realm = try filled()
        let dogs = realm.objects(Dog.self)
        #expect(dogs.sorted(byKeyPath: "age", ascending: false).first?.age == 3)
        #expect(dogs.sorted(by: \.name, ascending: false).map { $0.name }.first == "D30")
        #expect(
            dogs.sorted(by: ["age", SortDescriptor(keyPath: "name", ascending: false)]).map {
                $0.name
            }
                == ["D10", "D20", "D11", "D30", "D21", "D12"])
        #expect(dogs.distinct(by: ["age"]).count == 3)
        #expect(dogs.distinct(by: [\Dog.age]).count == 3)
        #expect(dogs.limited(2).count == 2 && dogs.offset(4).count == 2)
        #expect(!dogs.where { $0.age > 1 }.explain().isEmpty)
        #expect(misuse { _ = dogs.sorted(byKeyPath: "nothing") }?.contains("nothing") == true)
    }

    @Test func aggregates() throws {
        let realm = try filled()
        let dogs = realm.objects(Dog.self)
        #expect(dogs.sum(ofProperty: "age") == 14)
        #expect(dogs.sum(of: \.age) == 14 && dogs.min(of: \.age) == 1 && dogs.max(of: \.age) == 3)
        #expect(dogs.average(of: \.age) == 14.0 / 6)
        #expect(dogs.average(ofProperty: "weight") == 4.0 / 6)
        let none = dogs.where { $0.age > 100 }
        #expect(none.sum(of: \.age) == 0 && none.min(of: \.age) == nil)
        #expect(none.average(of: \.age) == nil)
        let it = Everything()
        it.ints.append(objectsIn: [3, 1, 2])
        it.scores["a"] = 4
        it.scores["b"] = 6
        try realm.write { realm.add(it) }
        #expect(it.ints.sum() == 6 && it.ints.min() == 1 && it.ints.max() == 3)
        #expect(it.ints.average() == 2.0)
        #expect(Array(it.ints.sorted()) == [1, 2, 3])
        #expect(it.scores.sum() == 10 && it.scores.max() == 6)
        #expect(Array(it.ints.filter("SELF > %@", 1)) == [3, 2])
    }
}
