// The forms of what collections, sections and projections have: each is used as programs do, with the type that it has
// to have written down, so that this file does not compile where a label, a type or an optional is another one. It is
// not run: what the members do is tested elsewhere.

import Foundation
@preconcurrency import RealmSwift

enum CollectionForms {
    /// What every collection of objects has.
    static func ofObjects<C: RealmCollection>(_ all: C, _ dog: Dog) where C.Element == Dog {
        let _: Realm? = all.realm
        let _: [Bool] = [all.isInvalidated, all.isFrozen, all.isEmpty]
        let _: [Int] = [all.count, all.startIndex, all.endIndex, all.index(after: 0)]
        let _: C = all.freeze()
        let _: C? = all.thaw()
        let _: [Dog?] = [all.first, all.last]
        let _: Dog = all[0]
        let _: String = all.description
        var iterator: RLMIterator<Dog> = all.makeIterator()
        let _: Dog? = iterator.next()

        let _: [Int?] = [
            all.index(of: dog), all.index(matching: NSPredicate(value: true)),
            all.index(matching: "age > %@ AND name != %@", 1, "x"),
            all.index(matching: "TRUEPREDICATE"),
            all.index(matching: { $0.age > 1 }),
            all.index { (element: Query<Dog>) -> Query<Bool> in element.age > 1 },
        ]
        let _: [Dog] = all.objects(at: IndexSet([0]))

        let _: [Results<Dog>] = [
            all.filter("age > %@", 1), all.filter("age > 1"), all.filter(NSPredicate(value: true)),
            all.where { $0.age > 1 }, all.sorted(byKeyPath: "age"),
            all.sorted(byKeyPath: "age", ascending: false),
            all.sorted(by: [RealmSwift.SortDescriptor(keyPath: "age")]),
            all.sorted(by: ["age", "name"]),
            all.sorted(by: \.age), all.sorted(by: \.nick, ascending: false),
            all.sorted(by: \.weight),
            all.distinct(by: ["age", "name"]), all.distinct(by: [\.age, \.name]),
        ]

        let _: Int? = all.min(ofProperty: "age")
        let _: Int? = all.max(ofProperty: "age")
        let _: Int = all.sum(ofProperty: "age")
        let _: Double? = all.average(ofProperty: "age")
        let _: Int? = all.min(of: \.age)
        let _: Double? = all.max(of: \.weight)
        let _: Int = all.sum(of: \.age)
        let _: Double? = all.average(of: \.age)

        let _: Any? = all.value(forKey: "age")
        let _: Any? = all.value(forKeyPath: "@sum.age")
        let _: Void = all.setValue(1, forKey: "age")
        let _: Void = all.setValue(nil, forKey: "nick")

        let change: (RealmCollectionChange<C>) -> Void = { change in
            switch change {
            case .initial(let all):
                let _: C = all
            case .update(
                let all, deletions: let gone, insertions: let added, modifications: let changed):
                let _: C = all
                let _: [[Int]] = [gone, added, changed]
            case .error(let error):
                let _: any Error = error
            }
        }
        let _: [NotificationToken] = [
            all.observe(change), all.observe { _ in }, all.observe(on: nil, change),
            all.observe(on: .main, change),
            all.observe(keyPaths: ["age"], change),
            all.observe(keyPaths: ["age"], on: .main, change),
            all.observe(keyPaths: [\Dog.age], change),
            all.observe(keyPaths: [\.age, \.best?.name], on: .main, change),
        ]

        let _: SectionedResults<Int, Dog> = all.sectioned(by: \.age)
        let _: SectionedResults<Int, Dog> = all.sectioned(by: \.age, ascending: false)
        let _: SectionedResults<Int, Dog> = all.sectioned(
            by: \.age, sortDescriptors: [RealmSwift.SortDescriptor(keyPath: \Dog.age)])
        let _: SectionedResults<String, Dog> = all.sectioned(
            by: { (dog: Dog) -> String in dog.name },
            sortDescriptors: [.init(keyPath: "name", ascending: false)])
        let _: AnyRealmCollection<Dog> = AnyRealmCollection(all)
        let _: ThreadSafeReference<C> = ThreadSafeReference(to: all)
        let _: Bool = all == all
        let _: LazyMapSequence<C.Elements, String> = all.lazy.map { $0.name }
        let _: LazyMapSequence<C.Elements, String> = all.map { $0.name }
        let _: LazyFilterSequence<C.Elements> = all.filter { $0.age > 1 }
    }

    /// What every collection of values has.
    static func ofValues<C: RealmCollection>(_ all: C) where C.Element == Int {
        let _: [Int?] = [
            all.min(), all.max(), all.first, all.last, all.index(of: 3),
            all.index(matching: { $0 > 2 }),
        ]
        let _: Int = all.sum()
        let _: Double? = all.average()
        let _: [Results<Int>] = [
            all.sorted(), all.sorted(ascending: false), all.distinct(), all.where { $0 > 1 },
            all.filter("SELF > %@", 1),
        ]
        let _: SectionedResults<String, Int> = all.sectioned(by: { $0 > 1 ? "many" : "few" })
        let _: SectionedResults<String, Int> = all.sectioned(
            by: { $0 > 1 ? "many" : "few" }, ascending: false)
        let _: NotificationToken = all.observe(keyPaths: nil as [String]?, on: nil) { _ in }
    }

    static func ofOptionalValues<C: RealmCollection>(_ all: C) where C.Element == Int? {
        let _: Int? = all.min()
        let _: Int? = all.max()
        let _: Int = all.sum()
        let _: Double? = all.average()
    }

    @MainActor static func onActors<C: RealmCollection & SendableMetatype>(_ all: C) async
    where C.Element == Dog {
        let block: @Sendable (isolated MainActor, RealmCollectionChange<C>) -> Void = { _, _ in }
        let _: NotificationToken = await all.observe(on: MainActor.shared, block)
        let _: NotificationToken = await all.observe(keyPaths: ["age"], on: MainActor.shared, block)
        let _: NotificationToken = await all.observe(keyPaths: [\.age], on: MainActor.shared, block)
    }

    @MainActor static func everyCollection(_ it: Everything, _ person: Person, _ dog: Dog)
        async throws
    {
        ofObjects(try Realm().objects(Dog.self), dog)
        ofObjects(person.dogs, dog)
        ofObjects(it.dogSet, dog)
        ofObjects(AnyRealmCollection(person.dogs), dog)
        await onActors(try Realm().objects(Dog.self))
        await onActors(person.dogs)
        await onActors(it.dogSet)
        await onActors(AnyRealmCollection(person.dogs))
        ofValues(it.ints)
        ofValues(it.intSet)
        ofValues(it.ints.sorted())
        ofValues(AnyRealmCollection(it.ints))
        ofOptionalValues(it.optInts)
        ofOptionalValues(it.optInts.filter("SELF != nil"))
    }

    // MARK: List, MutableSet, LinkingObjects

    static func lists(_ dogs: List<Dog>, _ dog: Dog) throws {
        let _: List<Dog> = List()
        let _: List<Int> = List<Int>()
        dogs.append(dog)
        dogs.append(objectsIn: [dog])
        dogs.append(objectsIn: dogs)
        dogs.append(contentsOf: [dog])
        dogs.insert(dog, at: 0)
        dogs.insert(contentsOf: [dog], at: 0)
        dogs.remove(at: 0)
        dogs.removeFirst()
        dogs.removeFirst(2)
        dogs.removeLast()
        dogs.removeLast(2)
        dogs.removeAll()
        dogs.removeAll(keepingCapacity: true)
        dogs.removeSubrange(0..<1)
        dogs.removeSubrange(0...1)
        dogs.removeSubrange(1...)
        dogs.replace(index: 0, object: dog)
        dogs.replaceSubrange(0..<1, with: [dog])
        dogs.replaceSubrange(...1, with: [dog])
        dogs.move(from: 0, to: 1)
        dogs.swapAt(0, 1)
        dogs.remove(atOffsets: IndexSet([0]))
        dogs.move(fromOffsets: IndexSet([0]), toOffset: 1)
        dogs[0] = dog
        let _: Slice<List<Dog>> = dogs[0..<1]
        let _: String = dogs.description
        let _: CollectionElementMapper<Dog> = dogs.projectTo
        let _: ProjectedCollection<String> = dogs.projectTo.name
        let _: Bool = dogs == dogs && Set([dogs]).contains(dogs)
        let _: Realm? = dogs.realm
        let _: List<Int> = try JSONDecoder().decode(List<Int>.self, from: Data())
        let _: Data = try JSONEncoder().encode(List<Int>())
        generic(dogs)
        func generic<T: RangeReplaceableCollection & MutableCollection & RandomAccessCollection>(
            _: T
        ) {}
    }

    static func sets(_ ints: MutableSet<Int>, _ dogs: MutableSet<Dog>) throws {
        let _: MutableSet<Int> = MutableSet()
        ints.insert(1)
        ints.insert(objectsIn: [1, 2])
        ints.insert(objectsIn: List<Int>())
        ints.remove(1)
        ints.removeAll()
        let _: [Bool] = [ints.contains(1), ints.isSubset(of: ints), ints.intersects(ints)]
        ints.formIntersection(ints)
        ints.formUnion(ints)
        ints.subtract(ints)
        let _: Int = ints[0]
        let _: ProjectedCollection<String> = dogs.projectTo.name
        let _: MutableSet<Int> = try JSONDecoder().decode(MutableSet<Int>.self, from: Data())
        let _: Data = try JSONEncoder().encode(MutableSet<Int>())
    }

    static func linking(_ owners: LinkingObjects<Person>, _ dog: Dog) {
        let _: LinkingObjects<Person> = LinkingObjects(fromType: Person.self, property: "dogs")
        let _: Person? = owners.first
        let _: Results<Person> = owners.filter("age > 3").sorted(byKeyPath: "age").distinct(by: [
            "name"
        ])
        let _: Results<Person> = owners.where { $0.age > 3 }.sorted(by: \.age)
        let _: LinkingObjects<Person>? = owners.freeze().thaw()
        let _: NotificationToken = owners.observe {
            (_: RealmCollectionChange<LinkingObjects<Person>>) in
        }
        let _: Int = owners.sum(of: \.age)
    }

    // MARK: Map

    static func keyed<M: RealmKeyedCollection>(_ map: M) where M.Key == String, M.Value == Int {
        let _: Realm? = map.realm
        let _: [Bool] = [map.isInvalidated, map.isFrozen]
        let _: Int = map.count
        let _: [String] = map.keys
        let _: [Int] = map.values
        let _: Int? = map["a"]
        map.updateValue(1, forKey: "a")
        map.removeObject(for: "a")
        map.removeAll()
        let _: [Results<Int>] = [
            map.filter(NSPredicate(value: true)),
            map.sorted(byKeyPath: "self", ascending: false),
            map.sorted(by: [RealmSwift.SortDescriptor(keyPath: "self")]),
        ]
        let _: Bool = map.contains { (key: String, value: Int) in key == "a" && value > 1 }
        let _: Int? = map.min(ofProperty: "self")
        let _: Int? = map.max(ofProperty: "self")
        let _: Int = map.sum(ofProperty: "self")
        let _: Double? = map.average(ofProperty: "self")
        let change: (RealmMapChange<M>) -> Void = { change in
            switch change {
            case .initial(let map):
                let _: M = map
            case .update(
                let map, deletions: let gone, insertions: let added, modifications: let changed):
                let _: M = map
                let _: [[String]] = [gone, added, changed]
            case .error(let error):
                let _: any Error = error
            }
        }
        let _: NotificationToken = map.observe(on: nil, change)
        let _: NotificationToken = map.observe(keyPaths: ["self"], on: .main, change)
        let _: M = map.freeze()
        let _: M? = map.thaw()
    }

    @MainActor static func maps(_ map: Map<String, Int>, _ dogs: Map<String, Dog?>, _ dog: Dog)
        async throws
    {
        keyed(map)
        let _: Map<String, Int> = Map()
        map["a"] = 1
        map["a"] = nil
        dogs["a"] = dog
        let _: Dog?? = dogs["a"]
        map.merge(["a": 1]) { old, new in old + new }
        map.merge([("a", 1)]) { _, new in new }
        map.merge(map) { old, _ in old }
        map.setValue(1, forKey: "a")
        let _: Any? = map.value(forKey: "a")
        for entry in map {
            let _: String = entry.key
            let _: Int = entry.value
        }
        for (key, value) in map.asKeyValueSequence() {
            let _: (String, Int) = (key, value)
        }
        let _: [Int?] = [map.min(), map.max()]
        let _: Int = map.sum()
        let _: Double? = map.average()
        let _: [Results<Int>] = [
            map.sorted(), map.sorted(ascending: false), map.distinct(), map.where { $0 > 1 },
        ]
        let _: Results<Dog?> = dogs.sorted(by: \Dog.age, ascending: false)
        let _: Results<Dog?> = dogs.distinct(by: ["age"])
        let _: Results<Dog?> = dogs.where { $0.age > 1 }
        let _: Int? = dogs.min(of: \Dog.age)
        let _: NotificationToken = map.observe { (_: RealmMapChange<Map<String, Int>>) in }
        let _: NotificationToken = dogs.observe(keyPaths: [\Dog.age], on: .main) { _ in }
        let _: NotificationToken = await map.observe(on: MainActor.shared) { _, _ in }
        let _: NotificationToken = await map.observe(keyPaths: ["self"], on: MainActor.shared) {
            _, _ in
        }
        let _: Map<String, Int> = try JSONDecoder().decode(Map<String, Int>.self, from: Data())
        let _: Data = try JSONEncoder().encode(map)
        let _: [String] = [map.description]
        let _: Bool = map == map && Set([map]).count == 1
    }

    // MARK: Sections

    @MainActor static func sections(_ all: SectionedResults<Int, Dog>) async {
        let _: [Int] = all.allKeys
        let _: Realm? = all.realm
        let _: [Bool] = [all.isInvalidated, all.isFrozen, all == all]
        let _: SectionedResults<Int, Dog>? = all.freeze().thaw()
        let section: ResultsSection<Int, Dog> = all[0]
        let _: Dog = all[IndexPath(indexes: [0, 0])]
        let _: Int = all.count
        let _: String = all.description
        let change: (SectionedResultsChange<SectionedResults<Int, Dog>>) -> Void = { change in
            switch change {
            case .initial(let all):
                let _: SectionedResults<Int, Dog> = all
            case .update(
                let all, deletions: let gone, insertions: let added, modifications: let changed,
                sectionsToInsert: let come, sectionsToDelete: let went):
                let _: SectionedResults<Int, Dog> = all
                let _: [[IndexPath]] = [gone, added, changed]
                let _: [IndexSet] = [come, went]
            }
        }
        let _: NotificationToken = all.observe(change)
        let _: NotificationToken = all.observe(on: .main, change)
        let _: NotificationToken = all.observe(keyPaths: ["age"], on: nil, change)
        let _: NotificationToken = all.observe(keyPaths: [\.age], change)
        let _: NotificationToken = await all.observe(on: MainActor.shared) { _, _ in }
        let _: NotificationToken = await all.observe(keyPaths: ["age"], on: MainActor.shared) {
            _, _ in
        }

        let _: [Int] = [section.key, section.id, section.count]
        let _: Dog = section[0]
        let _: [Bool] = [section.isInvalidated, section.isFrozen, section == section]
        let _: Realm? = section.realm
        let _: ResultsSection<Int, Dog>? = section.freeze().thaw()
        let _: NotificationToken = section.observe {
            (_: SectionedResultsChange<ResultsSection<Int, Dog>>) in
        }
        let _: NotificationToken = section.observe(keyPaths: ["age"], on: .main) { _ in }
        let _: NotificationToken = section.observe(keyPaths: [\.age]) { _ in }
        let _: NotificationToken = await section.observe(on: MainActor.shared) { _, _ in }
        for section in all { for dog in section { let _: Dog = dog } }
        sectioned(all)
        sectioned(section)
    }

    static func sectioned<S: RealmSectionedResult>(_ sections: S) {
        let _: Realm? = sections.realm
        let _: [Bool] = [sections.isInvalidated, sections.isFrozen, sections == sections]
        let _: S? = sections.freeze().thaw()
        let _: NotificationToken = sections.observe(keyPaths: ["age"], on: .main) {
            (_: SectionedResultsChange<S>) in
        }
    }

    // MARK: Projections

    @MainActor static func projections(_ realm: Realm, _ dog: Dog) async {
        let card = NameCard(projecting: dog)
        let _: Dog = card.rootObject
        let _: Realm? = card.realm
        let _: [Bool] = [card.isInvalidated, card.isFrozen, card == card]
        let _: NameCard? = card.freeze().thaw()
        let _: [String] = [card.title, card.description]
        let _: String? = card.friend
        card.title = "x"
        let all: Results<NameCard> = realm.objects(NameCard.self)
        let _: [Results<NameCard>] = [
            all.where { $0.title == "x" }, all.sorted(by: \.title),
            all.sorted(by: \.title, ascending: false),
            all.distinct(by: [\.title]), all.filter("name == %@", "x"),
        ]
        let _: SectionedResults<String, NameCard> = all.sectioned(by: \.title, ascending: true)
        let change: (ObjectChange<NameCard>) -> Void = { change in
            switch change {
            case .change(let card, let properties):
                let _: NameCard = card
                let _: [ProjectedPropertyChange] = properties
            case .deleted: break
            case .error(let error):
                let _: any Error = error
            }
        }
        let _: [NotificationToken] = [
            card.observe(change), card.observe(on: .main, change),
            card.observe(keyPaths: ["title"], change),
            card.observe(keyPaths: ["title"], on: .main, change),
            card.observe(keyPaths: [\.title], change),
            card.observe(keyPaths: [\NameCard.title], on: .main, change),
            all.observe(keyPaths: [\.title], on: .main) {
                (_: RealmCollectionChange<Results<NameCard>>) in
            },
        ]
        let _: NotificationToken = await card.observe(on: MainActor.shared) { _, _ in }
        let _: NotificationToken = await card.observe(keyPaths: [\.title], on: MainActor.shared) {
            _, _ in
        }
        let keepers: ProjectedCollection<String> = card.keepers
        let _: [String?] = [keepers.first, keepers.last]
        let _: Int? = keepers.index(of: "x")
        let _: NotificationToken = keepers.observe {
            (_: RealmCollectionChange<ProjectedCollection<String>>) in
        }
        let _: NotificationToken = keepers.observe(keyPaths: ["name"], on: .main) { _ in }
        let _: ProjectedCollection<String>? = keepers.freeze().thaw()
        let _: Int = keepers.count
    }
}
