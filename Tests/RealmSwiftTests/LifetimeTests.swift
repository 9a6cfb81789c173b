// What programs let go of goes, and the realm with it; and what comes to stand at the address of something
// that went is not taken for it.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

extension Keeper {
    fileprivate func has(_ other: UncheckedBox<Realm?>) -> Bool {
        realm?.session === other.value?.session
    }

    /// The realm, which outlives the actor then.
    fileprivate func giveRealm() -> UncheckedBox<Realm?> {
        defer { realm = nil }
        return UncheckedBox(realm)
    }
}

private final class Probe<Value: AnyObject>: @unchecked Sendable {
    weak var value: Value?
    init(_ value: Value) { self.value = value }
}

@Suite struct LifetimeTests {
    @Test func actorsAreNotTakenForThoseThatHadTheirAddress() async throws {
        let configuration = memory()
        var first: Keeper? = Keeper()
        let (probe, address) = (Probe(first!), ObjectIdentifier(first!))
        try await first!.open(configuration)
        let left = await first!.giveRealm()
        first = nil
        while probe.value != nil { await Task.yield() }
        // The memory comes again at once where the allocator is like most.
        var later: [Keeper] = []
        repeat {
            later.append(Keeper())
        } while ObjectIdentifier(later.last!) != address && later.count < 1000
        let keeper = later.last!
        try await keeper.open(configuration)
        #expect(await !keeper.has(left))
        await keeper.observe()
        #expect(try await keeper.log.wait(1) == ["initial 0"])
        try await keeper.add("Rex")
        #expect(try await keeper.log.wait(2).last == "-[] +[0] ~[]")
    }

    @MainActor @Test func observersAreNotTakenForThoseWhoseTokensHadTheirAddress() async throws {
        let realm = try Realm(configuration: memory())
        // Beside so many, one that has ended is not taken out at once.
        let others = (0..<20).map { _ in realm.objects(Dog.self).observe { _ in } }
        let log = Log()
        var tokens: [NotificationToken] = []
        for _ in 0..<10 {
            _ = realm.objects(Dog.self).observe { _ in }
            tokens.append(realm.objects(Person.self).observe { log.add($0) })
        }
        #expect(try await log.wait(10) == Array(repeating: "initial 0", count: 10))
        try realm.write { _ = realm.create(Person.self) }
        #expect(
            try await log.wait(20).suffix(10)
                == ArraySlice(repeating: "-[] +[0] ~[]", count: 10))
        for token in tokens + others { token.invalidate() }
    }

    /// Whether nothing keeps the realm when `use` has returned: what is in memory goes with it.
    @MainActor private func goes(_ use: (Realm) throws -> Void) throws -> Bool {
        let configuration = memory()
        func run() throws -> Probe<_RealmSession> {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                let person = realm.create(Person.self, value: ["id": 1])
                for age in 0..<5 { person.dogs.append(Dog(value: ["name": "d", "age": age])) }
                realm.add(Everything())
            }
            try use(realm)
            return Probe(realm.session)
        }
        let session = try run()
        let isOpen = SessionCache.isOpen(try configuration.path())
        let isEmpty = try Realm(configuration: configuration).isEmpty
        return session.value == nil && !isOpen && isEmpty
    }

    @MainActor private func expectGoes(
        _ at: SourceLocation = #_sourceLocation, _ use: (Realm) throws -> Void
    ) throws {
        let isGone = try goes(use)
        #expect(isGone, sourceLocation: at)
    }

    @MainActor @Test func realmsGoWithTheLastThatHoldsThem() throws {
        try expectGoes { _ in }
        var kept: [Any] = []
        let object = try goes { kept.append($0.objects(Dog.self).first!) }
        let results = try goes { kept.append($0.objects(Dog.self)) }
        let observer = try goes { kept.append($0.objects(Dog.self).observe { _ in }) }
        #expect(!object && !results && !observer && kept.count == 3)
    }

    @MainActor @Test func objectsAndCollectionsKeepNoRealm() throws {
        try expectGoes { realm in
            let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            for dog in person.dogs { #expect(dog.owners.first?.id == 1) }
            let old = realm.objects(Dog.self).where { $0.age > 2 }.sorted(by: \.age)
            #expect(old.map { $0.age } == [3, 4] && old.sum(of: \.age) == 7)
            for section in realm.objects(Dog.self).sectioned(by: \.age) { _ = section.key }
            #expect(realm.dynamicObjects("Dog").first?.name as? String == "d")
        }
        try expectGoes { realm in
            let it = try #require(realm.objects(Everything.self).first)
            try realm.write {
                it.ints.append(1)
                it.stringSet.insert("a")
                it.scores["a"] = 1
                it.other = it
                it.any = .object(it)
                it.dogMap["a"] = realm.objects(Dog.self).first
            }
            #expect(it.scores.keys == ["a"] && it.other?.other == it)
            #expect(it.dogMap["a"]??.name == "d" && it.ints.freeze().count == 1)
        }
        try expectGoes { realm in
            let frozen = realm.freeze()
            #expect(frozen.objects(Dog.self).count == 5 && frozen.thaw() == realm)
            _ = ThreadSafeReference(to: realm.objects(Dog.self).first!)
            let wrapped = ThreadSafe(wrappedValue: realm.objects(Dog.self).first)
            #expect(wrapped.wrappedValue?.name == "d")
            realm.beginWrite()
            let dog = realm.create(Dog.self)
            realm.cancelWrite()
            #expect(dog.isInvalidated)
            realm.beginWrite()
            realm.delete(realm.objects(Dog.self).first!)
            realm.cancelWrite()
        }
    }

    @MainActor @Test func endedObserversKeepNoRealm() throws {
        try expectGoes { realm in
            let dog = try #require(realm.objects(Dog.self).first)
            let it = try #require(realm.objects(Everything.self).first)
            let tokens = [
                realm.observe { _, _ in }, dog.observe { _ in _ = dog.name },
                realm.objects(Dog.self).observe { _ in _ = dog.name },
                it.ints.observe { _ in _ = it.int }, it.scores.observe { _ in },
                realm.objects(Dog.self).sectioned(by: \.age).observe { _ in },
            ]
            try realm.write { dog.age = 10 }
            realm.refresh()
            for token in tokens.dropFirst(3) { token.invalidate() }
        }
        try expectGoes { realm in
            let number = realm.beginAsyncWrite { _ = realm.create(Dog.self) }
            try realm.cancelAsyncWrite(number)
        }
    }

    @Test func observersOnQueuesKeepNoRealm() throws {
        let configuration = memory()
        let queue = DispatchQueue(label: "observers")
        func run() throws {
            let realm = try Realm(configuration: configuration)
            let log = Log()
            let token = realm.objects(Dog.self).observe(on: queue) { log.add($0) }
            queue.sync {}
            try realm.write { _ = realm.create(Dog.self) }
            token.invalidate()
        }
        try run()
        queue.sync {}
        #expect(SessionCache.isOpen(try configuration.path()) == false)
    }

    /// A loop gives the accessor of the element before again only where nobody can tell.
    @Test func accessorsThatSomebodyHasAreNotGivenAgain() throws {
        struct Unowned { unowned let dog: Dog }
        let realm = try Realm(configuration: memory())
        try realm.write {
            for age in 0..<2000 { realm.create(Dog.self, value: ["name": "d\(age)", "age": age]) }
        }
        for dogs in [realm.objects(Dog.self), realm.objects(Dog.self).where { $0.age >= 0 }] {
            var kept: [Dog] = []
            var weak: [Probe<Dog>] = []
            var unowned: [Unowned] = []
            var seen = Set<ObjectIdentifier>()
            for dog in dogs {
                seen.insert(ObjectIdentifier(dog))
                #expect(dog.name == "d\(dog.age)")
                switch dog.age % 5 {
                case 0: kept.append(dog)
                case 1: weak.append(Probe(dog))
                case 2 where unowned.count < 10:
                    kept.append(dog)
                    unowned.append(Unowned(dog: dog))
                default: break
                }
                // Gone, or the object that it was: never another.
                if let last = weak.last?.value { #expect(last.age == (weak.count - 1) * 5 + 1) }
            }
            #expect(
                kept.filter { $0.age % 5 == 0 }.map { $0.age }
                    == Array(stride(from: 0, to: 2000, by: 5)))
            #expect(unowned.map { $0.dog.age } == Array(stride(from: 2, to: 52, by: 5)))
            #expect(weak.allSatisfy { $0.value == nil })
            // And where nobody has it, it is given again.
            #expect(seen.count < 1500)
        }
    }

    /// The same in transactions, frozen, with collections and links, and where elements go.
    @Test func accessorsThatAreGivenAgainShowTheirObject() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for id in 0..<600 {
                let person = realm.create(Person.self, value: ["id": id, "name": "p\(id)"])
                for age in 0..<(id % 3) {
                    person.dogs.append(Dog(value: ["name": "d\(id)", "age": age]))
                }
            }
        }
        func check(_ people: Results<Person>) {
            var next = 0
            for person in people {
                #expect(person.id == next && person.name == "p\(next)")
                #expect(person.dogs.count == next % 3)
                #expect(person.dogs.allSatisfy { $0.name == "d\(next)" })
                #expect(person.realm == people.realm && !person.isInvalidated)
                next += 1
            }
            #expect(next == 600)
        }
        let people = realm.objects(Person.self)
        check(people)
        check(people.freeze())
        try realm.write {
            check(people)
            for person in people { person.age = person.id * 2 }
            check(people)
        }
        var sum = 0
        for person in people { sum += person.age }
        #expect(sum == 599 * 600)
        // Every second one goes while the loop is at the one before it.
        var (there, gone) = (0, 0)
        realm.beginWrite()
        for person in people {
            if person.isInvalidated {
                gone += 1
                continue
            }
            there += 1
            if let next = realm.object(ofType: Person.self, forPrimaryKey: person.id + 1) {
                realm.delete(next)
            }
        }
        realm.cancelWrite()
        #expect(there == 300 && gone == 300)
        check(people)
    }
}
