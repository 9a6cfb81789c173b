// Lists, sets, maps and results: unmanaged and managed.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct CollectionTests {
    @Test(arguments: [false, true])
    func listsChangeAsArraysDo(isManaged: Bool) throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        realm.beginWrite()
        if isManaged { realm.add(it) }
        let list = it.ints
        var array: [Int] = []
        var generator = SystemRandomNumberGenerator()
        for step in 0..<300 {
            let value = Int.random(in: 0...9, using: &generator)
            switch Int.random(in: 0...7, using: &generator) {
            case 0...2:
                list.append(value)
                array.append(value)
            case 3:
                let index = Int.random(in: 0...array.count, using: &generator)
                list.insert(value, at: index)
                array.insert(value, at: index)
            case 4 where !array.isEmpty:
                let index = Int.random(in: 0..<array.count, using: &generator)
                #expect(list.remove(at: index) == array.remove(at: index))
            case 5 where !array.isEmpty:
                let index = Int.random(in: 0..<array.count, using: &generator)
                list[index] = value
                array[index] = value
            case 6 where array.count > 1:
                let from = Int.random(in: 0..<array.count, using: &generator)
                let to = Int.random(in: 0..<array.count, using: &generator)
                list.move(from: from, to: to)
                array.insert(array.remove(at: from), at: to)
            case 7 where array.count > 1:
                let from = Int.random(in: 0..<array.count, using: &generator)
                let to = Int.random(in: 0..<array.count, using: &generator)
                list.swapAt(from, to)
                array.swapAt(from, to)
            default: break
            }
            #expect(Array(list) == array, "step \(step)")
        }
        list.replaceSubrange(0..<min(2, array.count), with: [7, 7, 7])
        array.replaceSubrange(0..<min(2, array.count), with: [7, 7, 7])
        #expect(list.map { $0 } == array && list.first == 7 && list.count == array.count)
        list.removeLast(2)
        #expect(list.count == array.count - 2)
        list.removeAll()
        #expect(list.isEmpty && list.first == nil && list.last == nil)
        realm.cancelWrite()
    }

    @Test func listsAreLiveAndAssignmentCopies() throws {
        let realm = try Realm(configuration: memory())
        let one = Person(value: [1, "A", 1, [["Rex"], ["Fido"]]] as [Any])
        let two = Person(value: [2, "B", 1] as [Any])
        try realm.write { realm.add([one, two]) }
        let dogs = two.dogs
        try realm.write { two.dogs = one.dogs }
        #expect(dogs.count == 2 && one.dogs.count == 2 && dogs[0].isSameObject(as: one.dogs[0]))
        try realm.write { two.dogs = two.dogs }
        #expect(dogs.count == 2 && two.dogs == dogs && one.dogs != dogs)
        #expect(one.dogs.index(of: dogs[1]) == 1)
        #expect(one.dogs.filter("name == 'Fido'").count == 1)
        #expect(one.dogs.where { $0.name == "Rex" }.count == 1)
        try realm.write { realm.delete(one.dogs) }
        #expect(dogs.isEmpty && realm.objects(Dog.self).isEmpty)
    }

    @Test func loopsGoOverTheStateAtTheirBeginning() throws {
        let realm = try Realm(configuration: memory())
        try realm.write { for age in 0..<20 { realm.create(Dog.self, value: ["age": age]) } }
        var seen = 0
        for dog in realm.objects(Dog.self).where({ $0.age < 10 }) {
            try realm.write { dog.age += 10 }
            seen += 1
        }
        #expect(seen == 10 && realm.objects(Dog.self).where { $0.age < 10 }.isEmpty)
        try realm.write { for dog in realm.objects(Dog.self) { realm.delete(dog) } }
        #expect(realm.objects(Dog.self).isEmpty)
    }

    @Test(arguments: [false, true])
    func setsHoldEachElementOnce(isManaged: Bool) throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        let other = Everything()
        realm.beginWrite()
        if isManaged { realm.add([it, other]) }
        let set = it.intSet
        set.insert(objectsIn: [1, 2, 2, 3])
        #expect(set.count == 3 && set.contains(2) && !set.contains(9))
        other.intSet.insert(objectsIn: [3, 4])
        #expect(set.intersects(other.intSet) && !set.isSubset(of: other.intSet))
        set.formUnion(other.intSet)
        #expect(Set(set) == [1, 2, 3, 4])
        set.subtract(other.intSet)
        #expect(Set(set) == [1, 2])
        set.insert(3)
        set.formIntersection(other.intSet)
        #expect(Set(set) == [3])
        set.remove(3)
        set.remove(77)
        #expect(set.isEmpty)
        it.intSet = other.intSet
        #expect(Set(it.intSet) == [3, 4] && it.intSet != other.intSet)
        realm.cancelWrite()
    }

    @Test(arguments: [false, true])
    func mapsHoldValuesByKey(isManaged: Bool) throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        realm.beginWrite()
        if isManaged { realm.add(it) }
        let map = it.scores
        map["a"] = 1
        map["b"] = 2
        map.updateValue(3, forKey: "c")
        #expect(map.count == 3 && map["b"] == 2 && map["x"] == nil)
        #expect(Set(map.keys) == ["a", "b", "c"] && Set(map.values) == [1, 2, 3])
        map["a"] = nil
        map.removeObject(for: "zz")
        #expect(map.count == 2)
        map.merge([("b", 5), ("d", 4)]) { $0 + $1 }
        #expect(map["b"] == 7 && map["d"] == 4)
        var sum = 0
        for entry in map { sum += entry.value }
        #expect(sum == 14 && map.contains { key, value in key == "d" && value == 4 })
        it.addressMap["home"] = Address(value: ["S"])
        #expect(it.addressMap["home"]??.street == "S")
        map.removeAll()
        #expect(map.isEmpty)
        realm.cancelWrite()
    }

    @Test func indexesAreChecked() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        #expect(misuse { _ = it.ints[0] } == "Index 0 is out of bounds (must be less than 0).")
        #expect(misuse { _ = it.ints[-1] } == "Cannot pass a negative value for 'index'.")
        let results = realm.objects(Everything.self)
        #expect(misuse { _ = results[1] } == "Index 1 is out of bounds (must be less than 1).")
        #expect(
            misuse { _ = results.objects(at: [0, 4]) }
                == "Indexes for collection are out of bounds.")
        #expect(
            misuse { it.ints.append(1) }
                == "Cannot modify managed RLMArray outside of a write transaction.")
        #expect(
            misuse { it.intSet.insert(1) }
                == "Cannot modify managed RLMSet outside of a write transaction.")
        #expect(
            misuse { it.scores["a"] = 1 }
                == "Cannot modify managed RLMDictionary outside of a write transaction.")
        #expect(
            misuse { _ = List<Dog>().filter("age > 1") }
                == "This method may only be called on RLMArray instances retrieved from an RLMRealm"
        )
    }

    /// Lists, dictionaries and integers.
    private func text(_ value: AnyRealmValue) -> String {
        switch value {
        case .list(let list): "[" + list.map { text($0) }.joined(separator: ",") + "]"
        case .dictionary(let map):
            "{" + map.map { "\($0.key):" + text($0.value) }.sorted().joined(separator: ",") + "}"
        case .int(let number): "\(number)"
        default: "?"
        }
    }

    @Test func wholesAndPartsAreAssignedToEachOther() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        func list(
            _ elements: [AnyRealmValue], _ change: (List<AnyRealmValue>) -> Void
        ) throws -> String {
            try realm.write {
                it.anys.removeAll()
                it.anys.append(objectsIn: elements)
                change(it.anys)
            }
            return text(.list(it.anys))
        }
        func dictionary(
            _ entries: [String: AnyRealmValue], _ change: (Map<String, AnyRealmValue>) -> Void
        ) throws -> String {
            try realm.write {
                it.any = .fromDictionary(entries)
                change(it.any.dictionaryValue!)
            }
            return text(it.any)
        }
        let one = AnyRealmValue.fromArray([.int(1)])
        let two = AnyRealmValue.fromArray([.int(2)])
        #expect(try list([.int(1)]) { $0[0] = .list($0) } == "[[1]]")
        #expect(try list([one]) { $0[0] = .list($0) } == "[[[1]]]")
        #expect(try list([.int(1)]) { $0.append(.list($0)) } == "[1,[1]]")
        #expect(try list([one, two]) { $0[0] = .fromArray([$0[0], $0[1]]) } == "[[[1],[2]],[2]]")
        #expect(try list([.fromArray([one, two])]) { it.anys = $0[0].listValue! } == "[[1],[2]]")
        #expect(try list([.fromArray([one])]) { $0[0] = $0[0].listValue![0] } == "[[1]]")
        #expect(try list([one]) { $0[0] = $0[0] } == "[[1]]")
        #expect(try list([one, two]) { $0.append($0.remove(at: 0)) } == "[[2],[1]]")
        #expect(try list([one, two]) { $0.replaceSubrange(0..<1, with: $0) } == "[[1],[2],[2]]")
        #expect(
            try list([one, two]) { $0.replaceSubrange(...0, with: [$0[1], $0[0]]) }
                == "[[2],[1],[2]]")
        #expect(try list([one, two]) { $0.swapAt(0, 1) } == "[[2],[1]]")
        #expect(try dictionary(["a": .int(1)]) { $0["c"] = .dictionary($0) } == "{a:1,c:{a:1}}")
        #expect(try dictionary(["a": one]) { $0["a"] = .dictionary($0) } == "{a:{a:[1]}}")
        #expect(
            try dictionary(["a": .fromDictionary(["b": one])]) {
                $0["a"] = $0["a"]!.dictionaryValue!["b"]!
            }
                == "{a:[1]}")
        #expect(
            try dictionary(["a": .fromDictionary(["b": one])]) { it.any = $0["a"]! } == "{b:[1]}")
    }

    @Test func mixedValuesHoldListsAndDictionaries() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        it.any = .fromArray([
            .int(1), .fromDictionary(["a": .string("x"), "b": .fromArray([.none])]),
        ])
        #expect(it.any.listValue?.count == 2)
        try realm.write { realm.add(it) }
        let list = try #require(it.any.listValue)
        #expect(list.realm == realm && list[0] == .int(1))
        let inner = try #require(list[1].dictionaryValue)
        #expect(inner["a"] == .string("x") && inner["b"]?.listValue?.first == AnyRealmValue.none)
        try realm.write {
            inner["c"] = .fromArray([.int(7), .int(8)])
            list.append(.fromArray([.bool(true)]))
            list[0] = .fromDictionary(["k": .int(2)])
        }
        #expect(inner["c"]?.listValue.map { Array($0) } == [.int(7), .int(8)])
        #expect(list.count == 3 && list[2].listValue?[0] == .bool(true))
        #expect(list[0].dictionaryValue?["k"] == .int(2))
        var kinds: [String] = []
        for value in list { kinds.append(value.listValue != nil ? "list" : "dictionary") }
        #expect(kinds == ["dictionary", "dictionary", "list"])
        try realm.write { it.any = .list(list) }
        #expect(it.any.listValue?.count == 3)
        #expect(it.any.listValue?[1].dictionaryValue?["c"]?.listValue?.count == 2)
        try realm.write {
            it.anys.append(.fromArray([.int(1)]))
            it.any = .int(3)
        }
        #expect(list.isInvalidated && it.any == .int(3) && it.anys[0].listValue?.first == .int(1))
        try realm.write { realm.create(Everything.self, value: ["any": ["a": [1, "b"]]]) }
        let made = realm.objects(Everything.self).where { $0.id != it.id }.first
        #expect(made?.any.dictionaryValue?["a"]?.listValue?[1] == .string("b"))
    }

    @Test func collectionsAreCodable() throws {
        struct Holder: Codable {
            var list: List<Int>
            var map: Map<String, Int>
            var set: MutableSet<String>
        }
        let text = #"{"list":[1,2],"map":{"a":1},"set":["x"]}"#
        let holder = try JSONDecoder().decode(Holder.self, from: Data(text.utf8))
        #expect(Array(holder.list) == [1, 2] && holder.map["a"] == 1 && holder.set.contains("x"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(holder), as: UTF8.self) == text)
    }

    @Test func collectionOperatorsOfKeyPaths() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for (id, dogs) in [(1, [("Rex", 3), ("Ada", 5)]), (2, [("Rex", 3)])] {
                let person = Person(value: ["id": id, "name": "P\(id)"])
                for (name, age) in dogs {
                    person.dogs.append(Dog(value: ["name": name, "age": age]))
                }
                realm.add(person)
            }
        }
        let dogs = realm.objects(Dog.self)
        #expect(dogs.value(forKeyPath: "@count") as? Int == 3)
        #expect(dogs.value(forKeyPath: "@min.age") as? Int == 3)
        #expect(dogs.value(forKeyPath: "@max.age") as? Int == 5)
        #expect(dogs.value(forKeyPath: "@sum.age") as? Int == 11)
        #expect(dogs.value(forKeyPath: "@avg.age") as? Double == 11.0 / 3)
        #expect(
            dogs.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["Rex", "Ada", "Rex"])
        #expect(
            dogs.value(forKeyPath: "@distinctUnionOfObjects.name") as? [String] == ["Rex", "Ada"])
        let people = realm.objects(Person.self)
        #expect((people.value(forKeyPath: "@unionOfArrays.dogs") as? [Dog])?.count == 3)
        #expect(people.value(forKeyPath: "name") as? [String] == ["P1", "P2"])
        #expect(
            misuse { _ = people.value(forKeyPath: "@sum.dogs.age") }
                == "Nested key paths are not supported yet for KVC collection operators.")
        #expect(
            misuse { _ = people.value(forKeyPath: "@median.age") }
                == "Unsupported KVC collection operator found in key path '@median.age'.")
        try realm.write { dogs.setValue(7, forKeyPath: "age") }
        #expect(dogs.value(forKeyPath: "@sum.age") as? Int == 21)
        let none = dogs.filter("age == 0")
        #expect(
            none.value(forKeyPath: "@max.age") == nil
                && none.value(forKeyPath: "@sum.age") as? Int == 0)
    }
}
