// Rules of collections: those that no realm manages, orders, texts, key-value coding, what observers are told of.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class Banner: Projection<Dog> {
    @Projected(\Dog.name.localizedUppercase) var title
    @Projected(\Dog.best?.name.count) var length
}

@Suite struct CollectionBehaviourTests {
    private let everything: [ObjectBase.Type] = [
        Everything.self, Dog.self, Address.self, Person.self,
    ]

    /// Copying all elements for each takes a quarter of an hour under the thread sanitizer.
    @Test(.timeLimit(.minutes(3))) func collectionsInMemoryGrowWithoutBeingCopied() {
        let it = Everything()
        for number in 0..<40_000 {
            it.ints.append(number)
            it.intSet.insert(number)
            it.scores["\(number)"] = number
        }
        for number in 0..<20_000 {
            it.intSet.remove(number)
            it.scores.removeObject(for: "\(number)")
        }
        #expect(it.ints.count == 40_000 && it.intSet.count == 20_000 && it.scores.count == 20_000)
        #expect(it.intSet.contains(20_000) && !it.intSet.contains(3))
        #expect(it.scores["20000"] == 20_000 && it.scores["3"] == nil)
    }

    @Test func setsInMemoryAreSets() {
        let (ours, other) = (MutableSet<Int>(), MutableSet<Int>())
        var plain: Set<Int> = []
        var random: UInt32 = 1
        for _ in 0..<2000 {
            random = random &* 1_664_525 &+ 1_013_904_223
            let number = Int(random >> 16) % 40
            if random >> 31 == 0 {
                ours.insert(number)
                plain.insert(number)
            } else {
                ours.remove(number)
                plain.remove(number)
            }
            #expect(ours.count == plain.count && Set(ours) == plain)
            #expect(ours.contains(number) == plain.contains(number))
        }
        other.insert(objectsIn: [1, 2, 3, 50])
        ours.formUnion(other)
        plain.formUnion([1, 2, 3, 50])
        #expect(Set(ours) == plain && other.isSubset(of: ours) && ours.intersects(other))
        ours.subtract(other)
        #expect(Set(ours) == plain.subtracting([1, 2, 3, 50]) && !ours.intersects(other))
        ours.insert(2)
        ours.formIntersection(other)
        #expect(Array(ours) == [2] && misuse { _ = ours[1] } != nil)
        // Objects are other ones to a set once a realm has them.
        let people = MutableSet<Person>()
        let (ann, bob) = (Person(value: [1]), Person(value: [2]))
        people.insert(objectsIn: [ann, bob, ann])
        #expect(people.count == 2)
        do {
            let realm = try Realm(configuration: memory())
            try realm.write { realm.add(ann) }
            #expect(people.contains(ann) && people.contains(realm.objects(Person.self)[0]))
            people.remove(ann)
            #expect(Array(people) == [bob])
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: [false, true]) func nothingGoesWhereTooMuchIsToBeRemoved(
        isManaged: Bool
    ) throws {
        let realm = try Realm(configuration: memory(everything))
        let it = Everything()
        it.ints.append(objectsIn: [1, 2, 3])
        realm.beginWrite()
        if isManaged { realm.add(it) }
        let text =
            "It is not possible to remove more objects (4) from a list than it already contains (3)."
        #expect(misuse { it.ints.removeFirst(4) } == text)
        #expect(misuse { it.ints.removeLast(4) } == text)
        #expect(
            misuse { it.ints.removeLast(-1) } == "Cannot pass a negative value for 'number'.")
        #expect(Array(it.ints) == [1, 2, 3])
        it.ints.removeLast(2)
        it.ints.removeFirst(0)
        #expect(Array(it.ints) == [1])
        it.intSet.insert(5)
        #expect(
            misuse { _ = it.intSet[1] } == "Index 1 is out of bounds (must be less than 1).")
        realm.cancelWrite()
    }

    @Test func theLastOrderComesFirst() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for (name, age) in [("b", 1), ("a", 2), ("c", 1), ("a", 1)] {
                realm.create(Dog.self, value: ["name": name, "age": age])
            }
        }
        let dogs = realm.objects(Dog.self)
        let sorted = dogs.sorted(byKeyPath: "name", ascending: false).sorted(byKeyPath: "age")
        #expect(sorted.map { $0.name }.joined() == "cbaa" && sorted.last?.age == 2)
        let same = dogs
        #expect(dogs == same && dogs != realm.objects(Dog.self))
        #expect(AnyRealmCollection(dogs).map { $0.age } == dogs.map { $0.age })
    }

    @Test func descriptionsEndAtAHundredElements() throws {
        let realm = try Realm(configuration: memory())
        try realm.write { for age in 0..<103 { realm.create(Dog.self, value: ["age": age]) } }
        let text = realm.objects(Dog.self).description
        #expect(text.contains("\t[99] Dog {") && !text.contains("\t[100] Dog {"))
        #expect(text.hasSuffix("\n\t... 3 objects skipped.\n)"))
        let long = Everything(value: ["string": String(repeating: "x", count: 600)])
        long.data = Data(count: 30)
        #expect(long.description.contains(String(repeating: "x", count: 512) + "…;"))
        #expect(long.description.contains("data = <\(String(repeating: "00", count: 24))… — 30 "))
    }

    @Test func keysThatEveryObjectHas() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for (id, names) in [(1, ["a", "b"]), (2, ["b"])] {
                let dogs = names.map { name in
                    realm.objects(Dog.self).first { $0.name == name } ?? Dog(value: [name])
                }
                realm.add(Person(value: [id, "P", 3, dogs] as [Any]))
            }
        }
        let people = realm.objects(Person.self)
        let ann = people[0]
        #expect(ann.value(forKey: "self") as? Person === ann)
        #expect(ann.value(forKey: "realm") as? Realm == realm)
        #expect((ann.value(forKey: "objectSchema") as? ObjectSchema)?.className == "Person")
        #expect(ann.value(forKey: "isInvalidated") as? Bool == false)
        #expect((people.value(forKey: "self") as? [Person])?.map { $0.id } == [1, 2])
        let dogs = people.value(forKeyPath: "@distinctUnionOfArrays.dogs") as? [Dog]
        #expect(dogs?.count == 3, "objects without a key are equal where they are one accessor")
        #expect((people.value(forKey: "address") as? [Any])?.allSatisfy { $0 is NSNull } == true)
        #expect(ann.dictionaryWithValues(forKeys: ["id", "address"])["address"] is NSNull)
        try realm.write { ann.setValuesForKeys(["name": "Q", "age": 4]) }
        #expect(ann.name == "Q" && ann.age == 4)
    }

    @Test func projectionsComputeWhatTheyShow() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "rex", "best": ["name": "fido"]])
        #expect(Banner(projecting: dog).title == "REX" && Banner(projecting: dog).length == 4)
        try realm.write { realm.add(dog) }
        #expect(Array(realm.objects(Banner.self).map { $0.title }) == ["REX", "FIDO"])
        #expect(realm.objects(Banner.self).last?.length == nil)
        let one = realm.objects(Banner.self)[0]
        #expect(one == Banner(projecting: dog) && one.description.hasPrefix("Banner<Dog> <0x"))
    }

    @Test @MainActor func keyPathsSayWhatCountsAsAChange() async throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            // A chain of links: a to b to c to d to e.
            var last: Dog?
            for name in ["e", "d", "c", "b", "a"] {
                let dog = Dog(value: ["name": name])
                dog.best = last
                last = dog
                realm.add(dog)
            }
        }
        let dogs = realm.objects(Dog.self)
        let first = dogs.where { $0.name == "a" }
        let log = Log()
        let all = first.observe { log.add($0) }
        let none = Log()
        let noneToken = first.observe(keyPaths: [String]()) { none.add($0) }
        _ = try await log.wait(1)
        func change(_ name: String) throws {
            let dog = try #require(dogs.where { $0.name == name }.first)
            try realm.write { dog.age += 1 }
        }
        // Four objects count: the element, and three behind each other.
        try change("d")
        #expect(try await log.wait(2).last == "-[] +[] ~[0]")
        try change("e")
        try change("a")
        #expect(try await log.wait(3).last == "-[] +[] ~[0]")
        try realm.write { realm.delete(first) }
        #expect(try await log.wait(4).last == "-[0] +[] ~[]")
        #expect(log.all.count == 4)
        #expect(try await none.wait(2) == ["initial 1", "-[0] +[] ~[]"])
        all.invalidate()
        noneToken.invalidate()
    }

    @Test @MainActor func inverseRelationshipsAreTold() async throws {
        let realm = try Realm(configuration: memory())
        let (rex, ann) = (Dog(value: ["Rex"]), Person(value: [1, "Ann"] as [Any]))
        try realm.write { realm.add(rex) }
        try realm.write { realm.add(ann) }
        let log = Log()
        let token = realm.objects(Dog.self).observe(keyPaths: [\Dog.owners]) { log.add($0) }
        let object = rex.observe(keyPaths: ["owners.name"]) { change in
            if case .change = change { log.add("name of owner") }
        }
        _ = try await log.wait(1)
        try realm.write { ann.dogs.append(rex) }
        #expect(try await log.wait(2)[1...].contains("-[] +[] ~[0]"))
        let before = log.all.filter { $0 == "name of owner" }.count
        try realm.write { ann.name = "Anne" }
        for _ in 0..<30_000 where log.all.filter({ $0 == "name of owner" }).count == before {
            try await Task.sleep(nanoseconds: 2_000_000)
        }
        #expect(log.all.filter { $0 == "name of owner" }.count == before + 1)
        token.invalidate()
        object.invalidate()
    }

    final class NamedLeaf: Object {
        @Persisted var name = ""
    }
    final class NamedTree: Object {
        @Persisted var leaves: Map<String, NamedLeaf?>
    }

    @Test func keysThatDifferInBytesAloneAreNoEndOfTheProgram() throws {
        let realm = try Realm(configuration: memory([NamedLeaf.self, NamedTree.self]))
        try realm.write {
            let tree = realm.create(NamedTree.self)
            for key in ["\u{e9}", "e\u{301}"] {
                tree.leaves[key] = realm.create(NamedLeaf.self, value: [key])
            }
            #expect(tree.leaves.count == 2)
            let known =
                realm.dynamicObjects("NamedTree")[0].dynamicMap("leaves")
                as Map<String, DynamicObject?>
            let made = realm.dynamicCreate("NamedTree", value: ["leaves": known])
            let map: Map<String, DynamicObject?> = made.dynamicMap("leaves")
            #expect(map.count == 1 && map.keys.first == "\u{e9}")
        }
    }
}
