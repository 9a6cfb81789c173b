// Collections that no realm manages: what works in memory, and what is misuse.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct UnmanagedCollectionTests {
    private let people: List<Person> = {
        let list = List<Person>()
        for (name, age) in [("Ann", 30), ("Bob", 40), ("Cid", 40)] {
            // All have the primary key 0.
            let person = Person(value: ["name": name, "age": age])
            person.dogs.append(Dog(value: ["name": "\(name)'s", "age": age / 10]))
            person.address = Address(value: ["street": "\(name) street", "city": "Oslo"])
            list.append(person)
        }
        return list
    }()

    @Test func elementsAreFoundByConditions() {
        #expect(people.index(matching: "age > %@", 30) == 1)
        #expect(people.index(matching: NSPredicate(format: "name ENDSWITH[c] %@", "D")) == 2)
        #expect(people.index(matching: { $0.name == "Ann" || $0.age == 40 }) == 0)
        #expect(people.index(matching: { $0.dogs.age > 3 && $0.address.street.contains("B") }) == 1)
        #expect(people.index(matching: { ($0.dogs.age == 4).count == 1 && $0.name != "Ann" }) == 1)
        #expect(people.index(matching: "ANY dogs.name == %@", "Cid's") == 2)
        #expect(people.index(matching: "age == 50") == nil)
        #expect(List<Person>().index(matching: "age == 50") == nil)
        // Nothing of them is managed by anything afterwards.
        #expect(people.allSatisfy { $0.realm == nil && $0.dogs[0].realm == nil })
        #expect(people[0].address?.street == "Ann street" && people[2].dogs.count == 1)
    }

    @Test func objectsInConditionsAreTheirs() {
        let rex = Dog(value: ["name": "Rex"])
        let ada = Dog(value: ["name": "Ada"])
        // A circle.
        rex.best = ada
        ada.best = rex
        let dogs = List<Dog>()
        dogs.append(objectsIn: [rex, ada, rex])
        #expect(dogs.index(matching: "best == %@", rex) == 1)
        #expect(dogs.index(matching: { $0.best == ada }) == 0)
        #expect(dogs.index(matching: "best.best.name == 'Ada'") == 1)
        #expect(rex.best === ada && rex.realm == nil)
    }

    @Test func longChainsAreCopied() {
        let dogs = List<Dog>()
        var last: Dog?
        for age in 0..<20_000 {
            last = Dog(value: ["age": age, "best": last as Any])
        }
        if let last { dogs.append(last) }
        #expect(dogs.index(matching: "best.best.age == 19997") == 0)
        // Released one by one, as a chain is longer than the stack.
        while let dog = last {
            last = dog.best
            dog.best = nil
        }
    }

    @Test func managedAndUnmanagedElementsTogether() throws {
        let realm = try Realm(configuration: memory())
        let stored = Dog(value: ["name": "Rex", "age": 3])
        try realm.write { realm.add(stored) }
        let dogs = List<Dog>()
        dogs.append(objectsIn: [Dog(value: ["name": "Ada", "age": 1]), stored])
        #expect(dogs.index(matching: "age == 3") == 1)
        #expect(dogs.index(matching: { $0.age == 1 }) == 0)
        #expect(dogs.index(matching: { $0.age >= 1 }) == 0)
        dogs.swapAt(0, 1)
        #expect(dogs.index(matching: { $0.age >= 1 }) == 0)
        #expect(stored.realm == realm && realm.objects(Dog.self).count == 1)
    }

    @Test func valuesAreFound() {
        let ints = List<Int>()
        ints.append(objectsIn: [1, 5, 7])
        #expect(ints.index(matching: "SELF > 4") == 1 && ints.index(matching: { $0 == 7 }) == 2)
        let texts = MutableSet<String>()
        texts.insert(objectsIn: ["a", "Bc"])
        #expect(texts.index(matching: "SELF CONTAINS[c] 'b'") == texts.index(of: "Bc"))
        let optional = List<Int?>()
        optional.append(objectsIn: [nil, 3])
        #expect(optional.index(matching: "SELF == 3") == 1)
        #expect(optional.index(matching: "SELF == nil") == 0)
        let mixed = List<AnyRealmValue>()
        mixed.append(objectsIn: [.string("x"), .int(4)])
        #expect(mixed.index(matching: "SELF == 4") == 1)
        let places = List<Address>()
        places.append(objectsIn: [Address(value: ["street": "A"]), Address(value: ["street": "B"])])
        #expect(places.index(matching: { $0.street == "B" }) == 1)
        let dogs = MutableSet<Dog>()
        dogs.insert(Dog(value: ["age": 2]))
        #expect(dogs.index(matching: "age == 2") == 0 && dogs.index(matching: "age == 3") == nil)
        #expect(AnyRealmCollection(ints).index(matching: "SELF == 5") == 1)
    }

    @Test func allKindsOfPropertiesAreCopied() {
        let it = Everything(value: [
            "int": 3, "string": "x", "optInt": NSNull(), "float": 1.5, "color": "blue",
            "decimal": Decimal128(value: 7), "any": AnyRealmValue.fromArray([.int(1)]),
        ])
        it.ints.append(objectsIn: [1, 2])
        it.stringSet.insert("s")
        it.scores["k"] = 5
        it.dogMap["d"] = Dog(value: ["name": "Rex"])
        it.addressMap["a"] = Address(value: ["street": "S"])
        it.heat = Celsius(20)
        let friend = Everything()
        friend.any = .object(Dog(value: ["name": "Ada"]))
        it.other = friend
        let list = List<Everything>()
        list.append(it)
        for condition in [
            "int == 3 AND string == 'x' AND optInt == nil AND float == 1.5 AND color == 'blue'",
            "decimal == 7 AND ints.@sum == 3 AND stringSet CONTAINS 's'",
            "scores['k'] == 5 AND heat == 20 AND other.int == 0",
            "dogMap['d'].name == 'Rex' AND addressMap['a'].street == 'S'",
        ] { #expect(list.index(matching: condition) == 0, "\(condition)") }
        #expect(list.index(matching: { $0.color == .blue && $0.heat == Celsius(20) }) == 0)
        #expect(list.index(matching: { $0.any[0] == .int(1) }) == 0)
        #expect(list.index(matching: { $0.any[0] == .int(2) }) == nil)
        guard case .object(let dog) = friend.any else { return }
        #expect(dog.realm == nil && it.dogMap["d"]??.realm == nil)
    }

    @Test func aggregatesAndKeyValueCodingWorkInMemory() {
        #expect(people.sum(ofProperty: "age") == 110 && people.min(ofProperty: "age") == 30)
        #expect(people.max(of: \.age) == 40 && people.average(of: \.age) == 110.0 / 3)
        #expect(people.index(of: people[1]) == 1 && people.index(of: Person()) == nil)
        #expect(people.objects(at: [0, 2]).map { $0.name } == ["Ann", "Cid"])
        #expect(people.value(forKey: "name") as? [String] == ["Ann", "Bob", "Cid"])
        #expect(people.value(forKeyPath: "@max.age") as? Int == 40)
        #expect(people[0].value(forKeyPath: "dogs.@sum.age") as? Int == 3)
        #expect(people[0].value(forKeyPath: "dogs.name") as? [String] == ["Ann's"])
        people.setValue(50, forKey: "age")
        #expect(people.allSatisfy { $0.age == 50 })
        #expect(people.first?.name == "Ann" && people.last?.name == "Cid")
        #expect(people.description.hasPrefix("List<Person> <"))
        let ints = List<Int>()
        #expect(ints.sum() == 0 && ints.min() == nil && ints.average() as Double? == nil)
        ints.append(objectsIn: [4, 2])
        #expect(ints.sum() == 6 && ints.min() == 2 && ints.max() == 4)
        let set = MutableSet<Double>()
        set.insert(objectsIn: [1.5, 2.5])
        #expect(set.sum() == 4 && set.average() == 2.0)
    }

    @Test func mapsInMemory() {
        let scores = Map<String, Int>()
        scores["a"] = 1
        scores["b"] = 5
        #expect(scores.sum() == 6 && scores.min() == 1 && scores.max() == 5)
        #expect(scores.average() as Double? == 3)
        #expect(scores.value(forKey: "b") as? Int == 5 && scores.value(forKey: "c") == nil)
        #expect(scores.value(forKey: "@count") as? Int == 2)
        #expect((scores.value(forKey: "@allKeys") as? [String])?.sorted() == ["a", "b"])
        let dogs = Map<String, Dog?>()
        dogs["r"] = Dog(value: ["name": "Rex", "age": 3])
        dogs["a"] = Dog(value: ["name": "Ada", "age": 4])
        #expect(dogs.sum(ofProperty: "age") == 7 && dogs.max(of: \Dog.age) == 4)
        #expect(dogs.value(forKeyPath: "@sum.age") as? Int == 7)
        #expect(dogs.value(forKeyPath: "r.name") as? String == "Rex")
        #expect(dogs.contains { $0 == "a" && $1?.name == "Ada" })
    }

    @Test func managedMapsGiveTheSame() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        it.scores["a"] = 1
        it.scores["b"] = 5
        it.dogMap["r"] = Dog(value: ["name": "Rex", "age": 3])
        it.dogMap["n"] = .some(nil)
        try realm.write { realm.add(it) }
        #expect(it.scores.value(forKey: "b") as? Int == 5 && it.scores.value(forKey: "c") == nil)
        #expect(it.scores.value(forKey: "@count") as? Int == 2 && it.scores.sum() == 6)
        #expect((it.scores.value(forKey: "@allValues") as? [Int])?.sorted() == [1, 5])
        #expect((it.dogMap.value(forKey: "r") as? Dog)?.name == "Rex")
        #expect(it.dogMap.value(forKey: "n") == nil)
        #expect(it.dogMap.value(forKeyPath: "r.name") as? String == "Rex")
        #expect(it.dogMap.value(forKeyPath: "@sum.age") as? Int == 3)
        #expect(it.value(forKeyPath: "scores.b") as? Int == 5)
    }

    @Test func theRestIsMisuse() {
        let dogs = List<Dog>()
        let set = MutableSet<Dog>()
        let map = Map<String, Dog?>()
        func text(_ name: String) -> String {
            "This method may only be called on \(name) instances retrieved from an RLMRealm"
        }
        let ofLists: [() -> Void] = [
            { _ = dogs.filter("age == 1") }, { _ = dogs.where { $0.age == 1 } },
            { _ = dogs.sorted(byKeyPath: "age") }, { _ = dogs.distinct(by: ["age"]) },
            { _ = dogs.freeze() }, { _ = dogs.thaw() },
            { _ = try? dogs.filtered("age == 1") },
            { _ = try? dogs.filter(#Predicate { $0.age == 1 }) },
        ]
        for body in ofLists { #expect(misuse(body) == text("RLMArray")) }
        let ofSets: [() -> Void] = [
            { _ = set.filter("age == 1") }, { _ = set.sorted(byKeyPath: "age") },
            { _ = set.freeze() }, { _ = set.thaw() },
        ]
        for body in ofSets { #expect(misuse(body) == text("RLMSet")) }
        let ofMaps: [() -> Void] = [
            { _ = map.filter("age == 1") }, { _ = map.sorted(byKeyPath: "age") },
            { _ = map.freeze() }, { _ = map.thaw() },
        ]
        for body in ofMaps { #expect(misuse(body) == text("RLMDictionary")) }
        let observing = "Change notifications are only supported on managed collections."
        #expect(misuse { _ = dogs.observe { _ in } } == observing)
        #expect(misuse { _ = set.observe { _ in } } == observing)
        #expect(misuse { _ = map.observe { _ in } } == observing)
        #expect(misuse { _ = dogs.index(matching: "tail == 1") } == nil)
        dogs.append(Dog())
        #expect(
            misuse { _ = dogs.index(matching: "tail == 1") }?
                .hasPrefix("property 'tail' not found in object of type 'Dog'") == true)
    }
}
