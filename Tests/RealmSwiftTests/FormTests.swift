// The forms that calls have beside the usual ones: key paths of Swift, actors, names of older programs.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class NameCard: Projection<Dog> {
    @Projected(\Dog.name) var title
    @Projected(\Dog.best?.name) var friend
    @Projected(\Dog.owners.projectTo.name) var keepers: ProjectedCollection<String>
}

class Renamed: Object {
    @Persisted var name: String
    @Persisted var age: Int
    override class func _realmColumnNames() -> [String: String]? { ["age": "years"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Where realms and tokens of the test belong.
private actor Stage {
    let log = Log()
    private var realm: Realm?
    private var tokens: [NotificationToken] = []

    func open(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(
            configuration: configuration, actor: self, downloadBeforeOpen: .never)
    }

    func end() {
        for token in tokens { token.invalidate() }
        tokens = []
        realm = nil
    }

    /// Observes everything that can be observed on an actor.
    func observe() async {
        guard let realm, let dog = realm.objects(Dog.self).first,
            let it = realm.objects(Everything.self).first
        else { return }
        let dogs = realm.objects(Dog.self)
        let sections = dogs.sectioned(by: \.age)
        tokens.append(
            await dogs.observe(keyPaths: [\.name], on: self) { $0.log.add($1) })
        tokens.append(
            await dog.observe(keyPaths: [\.age], on: self) { actor, change in
                if case .change(_, let all) = change { actor.log.add("dog \(all.map { $0.name })") }
            })
        tokens.append(
            await it.dogMap.observe(on: self) { actor, change in
                if case .update(_, _, let keys, _) = change { actor.log.add("map \(keys)") }
            })
        tokens.append(
            await sections.observe(on: self) { actor, change in
                if case .update(let there, _, _, let paths, _, _) = change {
                    actor.log.add("sections \(there.allKeys) \(paths.map { Array($0) })")
                }
            })
        tokens.append(
            await sections[0].observe(on: self) { actor, change in
                if case .update(let there, _, _, let paths, _, _) = change {
                    actor.log.add("section \(there.count) \(paths.map { Array($0) })")
                }
            })
        tokens.append(
            await NameCard(projecting: dog).observe(keyPaths: [\.title], on: self) {
                actor, change in
                if case .change(let card, let all) = change {
                    actor.log.add("card \(card.title) \(all.map { $0.name })")
                }
            })
    }
}

@Suite struct FormTests {
    private let types: [ObjectBase.Type] = [
        Dog.self, Person.self, Address.self, Everything.self,
    ]

    @Test func actorsObserveAll() async throws {
        let configuration = memory(types)
        let stage = Stage()
        try await stage.open(configuration)
        try onAnotherThread {
            Result {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    realm.create(Dog.self, value: ["name": "Rex", "age": 3])
                    realm.create(Everything.self)
                }
            }
        }.get()
        await stage.observe()
        _ = try await stage.log.wait(1)
        try onAnotherThread {
            Result {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    guard let dog = realm.objects(Dog.self).first,
                        let it = realm.objects(Everything.self).first
                    else { return }
                    dog.name = "Ace"
                    dog.age = 4
                    it.dogMap["a"] = dog
                }
            }
        }.get()
        let all = try await stage.log.wait(7)
        #expect(
            Set(all) == [
                "initial 1", "-[] +[] ~[0]", "dog [\"age\"]", "map [\"a\"]",
                "sections [4] [[0, 0]]", "section 0 []", "card Ace [\"title\"]",
            ])
        await stage.end()
    }

    @MainActor @Test func projectionsAreToldByTheirNames() async throws {
        let realm = try Realm(configuration: memory(types))
        let (rex, ace) = (Dog(value: ["name": "Rex"]), Dog(value: ["name": "Ace"]))
        try realm.write { realm.add([rex, ace]) }
        let card = NameCard(projecting: rex)
        let log = Log()
        func text(_ change: ObjectChange<NameCard>) -> String {
            switch change {
            case .change(let card, let properties):
                let all = properties.map {
                    "\($0.name) \(unwrapped($0.oldValue as Any) ?? "-") \(unwrapped($0.newValue as Any) ?? "-")"
                }
                return "\(card.title): \(all.sorted().joined(separator: ", "))"
            case .deleted: return "deleted"
            case .error(let error): return "\(error)"
            }
        }
        let token = card.observe { log.add(text($0)) }
        let other = card.observe(keyPaths: [\.friend]) { log.add("friend of " + text($0)) }
        try realm.write { rex.name = "Max" }
        #expect(try await log.wait(1) == ["Max: title Rex Max"])
        try realm.write {
            rex.best = ace
            // Nothing that the projection has.
            rex.weight = 5
        }
        #expect(
            Set(try await log.wait(3).dropFirst())
                == ["Max: friend - Ace", "friend of Max: friend - Ace"])
        try realm.write { rex.age = 3 }
        try realm.write { realm.delete(rex) }
        #expect(Set(try await log.wait(5).dropFirst(3)) == ["deleted", "friend of deleted"])
        token.invalidate()
        other.invalidate()
        let _: ProjectedPropertyChange.Type = PropertyChange.self
    }

    @MainActor @Test func mapsAreLikeResults() async throws {
        let realm = try Realm(configuration: memory(types))
        let it = Everything()
        try realm.write {
            realm.add(it)
            for (key, age) in ["a": 3, "b": 1, "c": 2] {
                it.dogMap[key] = Dog(value: ["name": key, "age": age])
                it.scores[key] = age % 2
            }
        }
        let dogs = it.dogMap
        func names(_ found: Results<Dog?>) -> String { found.map { $0?.name ?? "" }.joined() }
        #expect(names(dogs.filter(NSPredicate(format: "age > 1")).sorted(byKeyPath: "age")) == "ca")
        #expect(names(dogs.sorted(by: \Dog.age)) == "bca")
        #expect(names(dogs.sorted(by: [SortDescriptor(keyPath: "age", ascending: false)])) == "acb")
        #expect(dogs.distinct(by: ["age"]).count == 3)
        #expect(dogs.distinct(by: [\Dog.weight]).count == 1)
        #expect(dogs.min(ofProperty: "age") == 1 && dogs.max(of: \Dog.age) == 3)
        #expect(dogs.sum(of: \Dog.age) == 6 && dogs.average(of: \Dog.age) == 2)
        #expect(dogs.min(of: \Dog.age) == 1 && dogs.max(ofProperty: "age") == 3)
        let sum: Int = dogs.sum(ofProperty: "age")
        let mean: Double? = dogs.average(ofProperty: "age")
        #expect(sum == 6 && mean == 2)
        #expect(Set(it.scores.distinct()) == [0, 1] && it.scores.max() == 1)
        #expect(dogs.value(forKeyPath: "@sum.age") as? Int == 6)
        #expect(dogs.value(forKeyPath: "best.name") == nil)
        let log = Log()
        let token = dogs.observe(keyPaths: [\Dog.name]) { change in
            if case .update(_, _, _, let keys) = change { log.add("\(keys)") } else { log.add("-") }
        }
        _ = try await log.wait(1)
        try realm.write { dogs["a"]??.age = 7 }
        try realm.write { dogs["b"]??.name = "B" }
        #expect(try await log.wait(2) == ["-", "[\"b\"]"])
        token.invalidate()
    }

    @MainActor @Test func realmsAreOpenedOnTheMainActor() async throws {
        let configuration = memory(types)
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        #expect(try await Realm.open(configuration: configuration) == realm)
        #expect(
            try await Realm.open(configuration: configuration, downloadBeforeOpen: .once) == realm)
    }

    @Test func columnsHaveTheNamesOfOlderPrograms() throws {
        let realm = try Realm(configuration: memory([Renamed.self]))
        try realm.write { realm.create(Renamed.self, value: ["name": "x", "age": 3]) }
        #expect(realm.schema["Renamed"]?["age"]?.columnName == "years")
        #expect(realm.objects(Renamed.self).where { $0.age == 3 }.count == 1)
    }

    @Test func namesOfOtherForms() throws {
        let made = Query<Dog>._constructForTesting()
        #expect((made.age > 2)._constructPredicate().0 == "(age > %@)")
        #expect(_name(for: \Dog.best?.name) == "best.name")
        #expect(predicateDescription(NSPredicate(format: "age > %@", 5)) == "age > %@ [5]")
        #expect(predicateDescription(NSPredicate(value: true)) == "TRUEPREDICATE")
        let number: Int = dynamicBridgeCast(fromObjectiveC: 5)
        #expect(number == 5 && dynamicBridgeCast(fromSwift: 5) as? Int == 5)
        #expect(misuse { let _: Int = dynamicBridgeCast(fromObjectiveC: "x") } != nil)
        func isSortable<T: KeypathSortable>(_ type: T.Type) -> Bool { true }
        #expect(isSortable(Dog.self) && isSortable(NameCard.self))
        let realm = try Realm(configuration: memory(types))
        try realm.write {
            realm.create(Dog.self, value: ["name": "a", "age": 1])
            realm.create(Dog.self, value: ["name": "b", "age": 2])
            realm.create(Everything.self).scores["k"] = 4
        }
        let sections = realm.objects(Dog.self).sectioned(by: \.age)
        let all: SectionedResultsIterator<Int, Dog> = sections.makeIterator()
        let one: SectionIterator<Dog> = sections[1].makeIterator()
        #expect(IteratorSequence(all).map { $0.key } == [1, 2])
        #expect(IteratorSequence(one).map { $0.name } == ["b"])
        let scores = try #require(realm.objects(Everything.self).first?.scores)
        let entries: RLMMapIterator<SingleMapEntry<String, Int>> = scores.makeIterator()
        let pairs: RLMKeyValueIterator<String, Int> = scores.asKeyValueSequence().makeIterator()
        #expect(IteratorSequence(entries).map { $0.value } == [4])
        #expect(IteratorSequence(pairs).map { $0.key } == ["k"])
        let cards = realm.objects(NameCard.self).sectioned(by: \.title)
        #expect(cards.allKeys == ["a", "b"] && cards[1].first?.title == "b")
    }
}
