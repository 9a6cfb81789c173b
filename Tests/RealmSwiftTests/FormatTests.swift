// Conditions as format strings: what programs for NSPredicate write, with arguments of all kinds.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct FormatTests {
    private let uuid = UUID()

    private func filled() throws -> Realm {
        let realm = try Realm(
            configuration: memory([Everything.self, Dog.self, Address.self, Person.self]))
        try realm.write {
            let it = Everything()
            it.string = "Hello"
            it.scores["a"] = 3
            it.scores["b"] = 1
            it.ints.append(objectsIn: [2, 4])
            it.anys.append(.fromDictionary(["k": .int(1)]))
            it.color = .blue
            it.data = Data([1, 2])
            it.uuid = uuid
            realm.add(it)
            let ann = Person(value: [1, "Ann", 30] as [Any])
            for (name, age) in [("Rex", 3), ("Ida", 7)] {
                ann.dogs.append(Dog(value: ["name": name, "age": age]))
            }
            realm.add([ann, Person(value: [2, "Bob", 50] as [Any])])
        }
        return realm
    }

    @Test func wordsAndPlacesOfArguments() throws {
        let all = try filled().objects(Everything.self)
        for (format, arguments) in [
            ("int == %d AND int == %i AND int == %u AND int == %hd", [0, 0, 0, 0]),
            ("int == %ld AND int == %lu AND int == %lld AND int == %llu", [0, 0, 0, 0]),
            ("double == %f and double == %lf and double == %g", [0.0, 0.0, 0.0]),
            ("string == %s AND string == %@ AND %K == 'Hello'", ["Hello", "Hello", "string"]),
            ("string != '%% %d'", []), ("bool == NO && NOT bool == YES || bool == true", []),
            ("TRUEPREDICATE AND NOT FALSEPREDICATE", []), ("int BETWEEN %@", [[0, 1]]),
            ("int in {0, 1} AND int IN %@ AND int IN %@", [[0, 1], Set([0])]),
            ("string LIKE 'H?l*' AND string LIKE[c] 'h*'", []),
            ("string MATCHES 'H.*o' AND string MATCHES[c] 'h.*O'", []),
            ("string ==[cd] 'HÉLLO' AND string contains[c] 'ELL' AND string LIKE[d] 'Héll*'", []),
            ("string BEGINSWITH 'He' AND string ENDSWITH[cd] 'LÓ'", []),
            ("scores['a'] == 3 AND scores[%@] == %d AND scores[%K] == 1", ["a", 3, "b"]),
            ("scores[%K] == 1 AND ANY scores.@allValues == 3", ["#any"]),
            ("ANY scores.@allKeys == 'b' AND NOT ANY scores.@allKeys == 'c'", []),
            ("anys[0]['k'] == 1 AND anys[%K]['k'] == 1", ["#any"]),
            ("scores.@count == 2 AND scores.@min == 1 AND scores.@max == 3", []),
            ("ints.@sum == 6 AND ints.@avg == 3 AND ALL ints > 1 AND NONE ints == 3", []),
            ("ANY ints IN %@ AND %@ IN ints", [[4, 9], 2]),
            ("int + 1 == 1 AND length(string) == 5", []),
            ("color == %@ AND color == %@", [Color.blue, "blue"]),
            ("data == %@ AND uuid == %@", [Data([1, 2]), uuid]),
            ("optInt == nil AND optInt == %@ AND optString == NULL", [NSNull()]),
        ] as [(String, [Any])] {
            var count = 0
            let text = misuse {
                count = all.filter(NSPredicate(format: format, argumentArray: arguments)).count
            }
            #expect(text == nil && count == 1, "\(format): \(text ?? "") \(count)")
        }
    }

    @Test func conditionsOverLinks() throws {
        let realm = try filled()
        let people = realm.objects(Person.self)
        func ids(_ format: String, _ arguments: Any...) -> [Int] {
            people.filter(NSPredicate(format: format, argumentArray: arguments)).map { $0.id }
        }
        let dogs = realm.objects(Dog.self)
        #expect(ids("ALL dogs.age > 2 AND dogs.@count > 0") == [1])
        #expect(ids("SUBQUERY(dogs, $dog, $dog.age > 5 AND $dog.name == 'Ida').@count == 1") == [1])
        // The element and the object that has it.
        #expect(ids("SUBQUERY(dogs, $dog, $dog.age < SELF.age).@count == 2") == [1])
        #expect(ids("ANY dogs == %@", dogs[1]) == [1] && ids("%@ IN dogs", dogs[0]) == [1])
        #expect(ids("ANY dogs IN %@", dogs.filter("age > 5")) == [1])
        #expect(ids("ANY dogs IN %@", people[0].dogs) == [1])
        #expect(ids("NOT ANY dogs IN %@", [dogs[0], dogs[1]]) == [2])
        #expect(dogs.filter("owners.@count == 1 AND ANY owners.name == 'Ann'").count == 2)
        #expect(dogs.filter("@links.Person.dogs.age == 30").count == 2)
        #expect(dogs.filter("@links.@count == 1").count == 2)
        #expect(Array(realm.objects(Everything.self)[0].ints.filter("SELF > %d", 3)) == [4])
    }

    @Test func conditionsOfBlocksAreFormats() throws {
        let all = try filled().objects(Everything.self)
        let query = Query<Everything>._constructForTesting()
        for condition in [
            query.scores["a"] == 3, query.anys.count == 1, query.color == .blue,
            query.string.contains("ELL", options: [.caseInsensitive]), query.ints.contains(1...5),
            query.scores.keys == "b", query.optInt == nil, !query.bool,
        ] {
            let (format, arguments) = condition._constructPredicate()
            #expect(
                all.filter(NSPredicate(format: format, argumentArray: arguments)).count == 1,
                "\(format)")
        }
        let (format, arguments) = (query.any.any == .int(1))._constructPredicate()
        #expect(format == "(any[%K] == %@)" && arguments.first as? String == "#any")
    }
}
