// Sections, projections, collections of any type.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class DogCard: Projection<Dog> {
    @Projected(\Dog.name) var name
    @Projected(\Dog.best?.name) var friend
    @Projected(\Dog.age) var years
}

@Suite struct SectionAndProjectionTests {
    private func filled() throws -> Realm {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for (name, age) in [("Ann", 2), ("Bob", 1), ("Abe", 2), ("Cleo", 3), ("Bea", 1)] {
                realm.create(Dog.self, value: ["name": name, "age": age] as [String: Any])
            }
        }
        return realm
    }

    @Test func elementsWithOneKeyAreTogether() throws {
        let realm = try filled()
        let byAge = realm.objects(Dog.self).sectioned(by: \.age)
        #expect(byAge.allKeys == [1, 2, 3] && byAge.count == 3)
        #expect(byAge[0].map { $0.name }.sorted() == ["Bea", "Bob"] && byAge[0].key == 1)
        #expect(byAge[IndexPath(indexes: [2, 0])].name == "Cleo")
        let byLetter = realm.objects(Dog.self).sectioned(
            by: { String($0.name.prefix(1)) },
            sortDescriptors: [SortDescriptor(keyPath: "name", ascending: false)])
        #expect(byLetter.allKeys == ["C", "B", "A"])
        #expect(byLetter[2].map { $0.name } == ["Ann", "Abe"])
        let frozen = byAge.freeze()
        try realm.write {
            realm.create(Dog.self, value: ["name": "New", "age": 0] as [String: Any])
            realm.delete(realm.objects(Dog.self).where { $0.age == 3 })
        }
        #expect(byAge.allKeys == [0, 1, 2] && frozen.allKeys == [1, 2, 3])
        #expect(misuse { _ = byAge[3] } == "Index 3 is out of bounds (must be less than 3).")
        let values = Everything(value: ["ints": [1, 2, 3, 4]])
        try realm.write { realm.add(values) }
        #expect(values.ints.sectioned { $0 % 2 }.allKeys == [1, 0])
    }

    @MainActor @Test func sectionsTellWhatChanged() async throws {
        let realm = try filled()
        let log = Log()
        let token = realm.objects(Dog.self).sectioned(
            by: \.age, sortDescriptors: ["age", "name"]
        ).observe { change in
            switch change {
            case .initial(let sections): log.add("initial \(sections.count)")
            case .update(
                _, let deletions, let insertions, let modifications, let sectionsToInsert,
                let sectionsToDelete):
                func text(_ paths: [IndexPath]) -> String {
                    paths.map { "\($0[0]).\($0[1])" }.joined(separator: " ")
                }
                log.add(
                    "-\(text(deletions)) +\(text(insertions)) ~\(text(modifications)) "
                        + "\(Array(sectionsToInsert)) \(Array(sectionsToDelete))")
            }
        }
        #expect(try await log.wait(1) == ["initial 3"])
        try realm.write {
            realm.create(Dog.self, value: ["name": "New", "age": 0] as [String: Any])
            realm.delete(realm.objects(Dog.self).where { $0.age == 3 })
            realm.objects(Dog.self).where { $0.name == "Ann" }.first?.weight = 5
        }
        #expect(try await log.wait(2).last == "-2.0 +0.0 ~2.1 [0] [2]")
        token.invalidate()
    }

    @MainActor @Test func projectionsShowPartsOfObjects() async throws {
        let realm = try filled()
        let ann = try #require(realm.objects(Dog.self).where { $0.name == "Ann" }.first)
        let bob = try #require(realm.objects(Dog.self).where { $0.name == "Bob" }.first)
        try realm.write { ann.best = bob }
        let cards = realm.objects(DogCard.self).filter("name BEGINSWITH 'A'")
        #expect(cards.map { $0.name } == ["Ann", "Abe"])
        let all = realm.objects(DogCard.self)
        #expect(all.where { $0.name == "Ann" && $0.friend == "Bob" }.count == 1)
        #expect(all.sorted(by: \.name).first?.name == "Abe")
        let card = try #require(cards.first)
        #expect(card.friend == "Bob" && card.years == 2 && card.rootObject.isSameObject(as: ann))
        #expect(cards[1].friend == nil && card == DogCard(projecting: ann))
        try realm.write {
            card.years = 9
            card.friend = "Max"
        }
        #expect(ann.age == 9 && bob.name == "Max")
        let log = Log()
        let token = card.observe { change in
            if case .change(let root, let properties) = change {
                log.add("\(root.rootObject.name) \(properties.map { $0.name })")
            }
        }
        try await Task.sleep(nanoseconds: 20_000_000)
        let frozen = card.freeze()
        try realm.write { card.years = 10 }
        #expect(try await log.wait(1) == ["Ann [\"years\"]"])
        #expect(frozen.years == 9 && frozen.thaw()?.years == 10)
        token.invalidate()
        let copy = try realm.write { realm.create(Dog.self, value: card) }
        #expect(copy.name == "Ann" && copy.age == 10)
    }

    @Test func collectionsOfAnyType() throws {
        let realm = try filled()
        let person = Person(value: [1, "P", 1, [["Rex", 4]]] as [Any])
        try realm.write { realm.add(person) }
        let all = [
            AnyRealmCollection(person.dogs), AnyRealmCollection(realm.objects(Dog.self)),
            AnyRealmCollection(realm.objects(Dog.self).where { $0.age < 2 }),
        ]
        #expect(all.map { $0.count } == [1, 6, 2] && all[0][0].name == "Rex")
        #expect(all[1].where { $0.age > 2 }.count == 2 && all[1].sum(of: \.age) == 13)
        #expect(all[0] == AnyRealmCollection(person.dogs) && all[0] != all[1])
        #expect(all[0].map { $0.age } == [4] && all[0].freeze().isFrozen)
    }
}
