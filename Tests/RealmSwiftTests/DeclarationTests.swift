// What realm-swift declares and programs may use in a form of its own: members that models override, generic code over
// the protocols, errors and values as programs make them, types by their names. Each is used in exactly that form, and
// what it does is looked at. The plain forms are in ObjectForms, CollectionForms, QueryForms and RealmForms.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// A model that says itself what it is called, and when two are the same.
private class Planet: Object {
    @Persisted var name: String
    @Persisted var moons: Int
    override var description: String { "planet \(name)" }
    override func isEqual(_ object: Any?) -> Bool { (object as? Planet)?.name == name }
    override var hash: Int { name.hashValue }
    override subscript(key: String) -> Any? {
        get { key == "label" ? "«\(name)»" : super[key] }
        set { super[key] = newValue }
    }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Street: Projection<Address> {
    @Projected(\Address.street) var title
}

private class NamedDog: Projection<Dog>, ObjectKeyIdentifiable {
    @Projected(\Dog.name) var title
}

/// Not comparable, and in properties without a wrapper.
private enum Size: Int, RealmEnum { case small, large }

private class Crate: Object, LegacyDeclarations {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var size: Size
    let other = RealmOptional<Size>()
    let level = RealmOptional<Level>()
    let mark = RealmProperty<Level?>()
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Without a hash of its own: that of what is stored. A function is neither equatable nor hashable.
private struct Rule: CustomPersistable {
    let name: String
    let test: (Int) -> Bool
    init(persistedValue: String) { (name, test) = (persistedValue, { $0 > 0 }) }
    var persistableValue: String { name }
    static func == (a: Rule, b: Rule) -> Bool { a.name == b.name }
}

private class Log_: Object, Codable {
    @Persisted var day: Date
    @Persisted var bytes: Data
    @Persisted var price: Decimal128
    @Persisted var note: String?
    @Persisted var maybe: Date?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

// Code that knows the protocols alone.

private func total<C: RealmCollection, T: _HasPersistedType>(_ all: C, _ name: String) -> T
where T.PersistedType: AddableType { all.sum(ofProperty: name) }

private func first<B: RealmCollectionBase>(_ all: B) -> B.ElementType? { all.first }

private func numbers<M: RealmKeyedCollection>(_ map: M) -> (M.Value?, M.Value?, M.Value, Double?)
where M.Key == String, M.Value == Int {
    map.setValue(7, forKey: "z")
    return (map.min(), map.max(), map.sum(), map.average())
}

private func ages<M: RealmKeyedCollection>(_ map: M) -> [Int?] where M.Value == Dog? {
    [map.min(of: \.age), map.max(of: \.age), map.sum(of: \.age), map.average(of: \.age)]
        + map.sorted(by: \.age, ascending: false).map { $0?.age }
}

private func watch<S: RealmSectionedResult>(_ sections: S) -> NotificationToken {
    sections.observe { _ in }
}

private func watchKeyed<M: RealmKeyedCollection>(_ map: M) -> NotificationToken {
    map.observe { _ in }
}

private func isRealmEnum<E: RealmEnum>(_: E.Type) -> Bool { true }

@Suite struct DeclarationTests {
    private let types: [ObjectBase.Type] = [
        Dog.self, Person.self, Address.self, Everything.self,
    ]

    private func filled() throws -> (Realm, Everything, Person) {
        let realm = try Realm(configuration: memory(types))
        return try realm.write {
            let it = realm.create(Everything.self)
            let ann = realm.create(Person.self, value: ["id": 1, "name": "Ann"])
            for (age, name) in ["Rex", "Fido", "Ace"].enumerated() {
                ann.dogs.append(Dog(value: ["name": name, "age": age + 1, "weight": 1.5]))
                it.dogMap[name] = ann.dogs.last
                it.scores[name] = age + 1
                it.ints.append(age + 1)
            }
            return (realm, it, ann)
        }
    }

    // MARK: Objects

    @Test func modelsOverrideWhatTheyAre() throws {
        let (one, two) = (Planet(value: ["name": "Io"]), Planet(value: ["name": "Io"]))
        #expect(one == two && Set([one, two]).count == 1 && one.isEqual(two) && one !== two)
        #expect(one != Planet() && one.hashValue == two.hash)
        #expect("\(one)" == "planet Io" && one.debugDescription == "planet Io")
        let base: Object = one
        #expect(base["label"] as? String == "«Io»")
        base["moons"] = 3
        #expect(one.moons == 3)
        #expect([one].firstIndex(of: two) == 0 && !one.isSameObject(as: two))
        #expect(!Planet.isEmbedded() && Address.isEmbedded())
        // The usual ones: the instance, or the object of classes with a key.
        let (realm, it, ann) = try filled()
        let dogs = realm.objects(Dog.self)
        let (dog, same) = (dogs[0], dogs[0])
        #expect(dog != same && dog.isSameObject(as: same) && dog.freeze() == dog.freeze())
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 1) == ann)
        #expect(Set([ann, realm.objects(Person.self)[0]]).count == 1 && ann.hash == ann.hashValue)
        func keyed<Key: _MapKey>(_ object: Object) -> Map<Key, DynamicObject?> {
            object.dynamicMap("dogMap")
        }
        let map: Map<String, DynamicObject?> = keyed(it)
        #expect(map["Rex"]??["name"] as? String == "Rex")
    }

    @Test func classesAndDynamicObjectsTellTheirProperties() throws {
        let schema = try #require(Planet.sharedSchema())
        #expect(schema.className == "Planet")
        #expect(Planet._getProperties() == schema.properties)
        #expect(Planet._getProperties().map(\.name) == ["name", "moons"])
        #expect(DynamicObject.sharedSchema() == nil)
        #expect(Int.className() == "" && Level.className() == "")
        func stored<T: _CustomPersistable>(_: T.Type) -> Any.Type { T.PersistedType.self }
        #expect(ObjectIdentifier(stored(Rule.self)) == ObjectIdentifier(String.self))
        func inferred<T: OptionalProtocol>(_ value: T) -> T.Wrapped { value._rlmInferWrappedType() }
        #expect(inferred(Optional(7)) == 7)

        let realm = try Realm(
            configuration: .init(inMemoryIdentifier: "undefined", objectTypes: [Planet.self]))
        try realm.write {
            realm.add(Planet(value: ["name": "Mars", "moons": 2]))
            let object = try #require(realm.dynamicObjects("Planet").first)
            #expect(object.value(forUndefinedKey: "moons") as? Int == 2)
            object.setValue(3, forUndefinedKey: "moons")
            #expect(object.moons as? Int == 3)
        }
    }

    @Test @MainActor func objectsAreObservedAsTheirSuperclass() async throws {
        let realm = try Realm(configuration: memory([Animal.self, Cat.self]))
        let cat = try realm.write { realm.create(Cat.self, value: ["name": "Tom", "legs": 4]) }
        let log = Log()
        let tokens: [NotificationToken] = [
            cat.observe(keyPaths: [\Animal.legs]) { (change: ObjectChange<Animal>) in
                if case .change(let animal, _) = change { log.add("path \(animal.legs)") }
            },
            await cat.observe(on: MainActor.shared) { (_, change: ObjectChange<Animal>) in
                if case .change(let animal, _) = change { log.add("actor \(animal.legs)") }
            },
            await cat.observe(keyPaths: [\Animal.legs], on: MainActor.shared) {
                (_, change: ObjectChange<Animal>) in
                if case .change(let animal, _) = change { log.add("both \(animal.legs)") }
            },
        ]
        try await realm.asyncWrite { cat.legs = 3 }
        #expect(Set(try await log.wait(3)) == ["path 3", "actor 3", "both 3"])
        // Tokens are kept in sets, too, and there are such that observe nothing.
        let set: Set<NotificationToken> = Set(tokens + tokens + [NotificationToken()])
        #expect(set.count == 4)
        for token in set { token.invalidate() }
    }

    @Test func projectionsAreOfEmbeddedObjects() throws {
        let (realm, _, ann) = try filled()
        try realm.write { ann.address = Address(value: ["street": "Main"]) }
        let street = Street(projecting: try #require(ann.address))
        #expect(street.title == "Main" && Street.className() == "Address")
        try realm.write { street.title = "Side" }
        #expect(ann.address?.street == "Side" && street.freeze().title == "Side")
        let dog = NamedDog(projecting: ann.dogs[0])
        #expect(dog.id == NamedDog(projecting: realm.objects(Dog.self)[0]).id)
        #expect(dog.id != NamedDog(projecting: ann.dogs[1]).id)
        let lines = dog.description.split(separator: "\n")
        #expect(lines[0].hasPrefix("NamedDog<Dog> <0x") && lines[0].hasSuffix("> {"))
        #expect(lines[1...] == ["\t\ttitle(\\.name) = Rex;", "}"])
        func name<T: RealmFetchable>(_ type: T.Type) -> String { type.className() }
        #expect(name(NamedDog.self) == "Dog" && name(Cat.self) == "Cat")
    }

    @Test func enumerationsAreRealmEnumsAll() throws {
        #expect(Color() == .red && isRealmEnum(Color.self) && isRealmEnum(Size.self))
        let realm = try Realm(configuration: memory([Crate.self]))
        let crate = Crate(value: ["id": 1, "size": Size.large])
        #expect(crate.other.value == nil && crate.mark.description == "nil")
        try realm.write {
            realm.add(crate)
            crate.other.value = .large
            crate.level.value = .high
            crate.mark.value = .low
        }
        let all = realm.objects(Crate.self)
        #expect(all.where { $0.size == .large && $0.size.rawValue > 0 }.count == 1)
        #expect(all[0].other.value == .large && all[0].level.value == .high)
        #expect("\(all[0].mark)" == "Optional(RealmSwiftTests.Level.low)")
        let rules: Set<Rule> = [.init(persistedValue: "a"), .init(persistedValue: "a")]
        #expect(rules.count == 1 && rules.first?.test(1) == true)
    }

    // MARK: Values and errors

    @Test func errorsAreMadeAndComparedByPrograms() throws {
        let made = Realm.Error(
            Realm.Error.fileNotFound,
            userInfo: [NSFilePathErrorKey: "/a", NSLocalizedDescriptionKey: "gone"])
        #expect(made.code == .fileNotFound && made.fileURL?.path == "/a")
        #expect(made.localizedDescription == "gone" && (made as NSError).code == 5)
        let any: any Error = made
        #expect(any == Realm.Error(.fileNotFound) && !(any == CancellationError()))
        #expect(any == NSError(domain: "io.realm", code: 5))
        let failed: Result<Int, any Error> = .failure(Realm.Error.callFailed)
        #expect(throws: Realm.Error.callFailed) { try failed.get() }
        #expect(Realm.Error.callFailed.localizedDescription == "Call failed")
        #expect(Realm.Error.incompatibleSession.rawValue == 15)
        #expect(
            [.error, .all, .modified].map { (policy: Realm.UpdatePolicy) in policy.rawValue }
                == [1, 2, 3])
        #expect(Realm.UpdatePolicy(rawValue: 3) == .modified)
    }

    @Test func valuesAreCodedInTheCodersForm() throws {
        let made = Log_(value: [Date(timeIntervalSince1970: 86400), Data([1, 2]), "1.5"])
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(made), as: UTF8.self)
        #expect(
            text
                == #"{"bytes":"AQI=","day":"1970-01-02T00:00:00Z","maybe":null,"note":null,"price":"1.5"}"#
        )
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let read = try decoder.decode(
            Log_.self,
            from: Data(
                #"{"bytes":"AQI=","day":"1970-01-02T00:00:00Z","note":null,"price":2}"#.utf8))
        #expect(read.day == made.day && read.bytes == made.bytes && read.price == 2)
        #expect(read.note == nil && read.maybe == nil)
        let numbers = try decoder.decode([Decimal128].self, from: Data("[1, 1.5, \"2.5\"]".utf8))
        #expect(numbers == [1, 1.5, 2.5])
        #expect(throws: DecodingError.self) {
            try decoder.decode([Decimal128].self, from: Data("[true]".utf8))
        }
        #expect(throws: DecodingError.self) {
            try decoder.decode(Log_.self, from: Data(#"{"bytes":null,"day":"x","price":2}"#.utf8))
        }
        let optional = try decoder.decode([RealmOptional<Int>].self, from: Data("[null, 3]".utf8))
        let property = try decoder.decode([RealmProperty<Int?>].self, from: Data("[null, 3]".utf8))
        #expect(optional.map { $0.value } == [nil, 3] && property.map { $0.value } == [nil, 3])
        // One way is enough.
        struct Out: Encodable, Hashable {}
        let map = Map<String, Int>()
        map["a"] = 1
        #expect(String(decoding: try JSONEncoder().encode(map), as: UTF8.self) == #"{"a":1}"#)
        func wraps<W: OptionalCodingWrapper>(_: W.Type) -> W.WrappedType.Type { W.WrappedType.self }
        #expect(wraps(Persisted<Int?>.self) == Int?.self)
    }

    @Test func smallValues() throws {
        #expect(!Decimal128(1).isSignaling && Decimal128("nan").isSignalingNaN)
        let ring = try #require(GeoPoint(latitude: 1, longitude: 1))
        let other = try #require(GeoPoint(latitude: 2, longitude: 1))
        let outer = [ring, other, other, ring]
        #expect(GeoPolygon(outerRing: outer)?.holes == nil)
        #expect(GeoPolygon(outerRing: outer, holes: nil)?.holes == nil)
        #expect(GeoPolygon(outerRing: outer, holes: [outer])?.holes?.count == 1)
        #expect(GeoCircle(center: ring, radiusInRadians: 0.5)?.radians == 0.5)
        let raw: Int8 = StringOptions.diacriticInsensitive.rawValue
        #expect(raw == 2 && MapIndex(offset: 3).offset == 3)
        func size<T: _QueryBinary>(_: T.Type) -> Int { MemoryLayout<T>.size }
        func ofText<T: _QueryString>(_ type: T.Type) -> Int { size(type) }
        #expect(ofText(String.self) == 16)
    }

    // MARK: Collections

    @Test func aggregatesAreNumbersAndDates() throws {
        let (realm, it, ann) = try filled()
        let dogs = realm.objects(Dog.self)
        let sum: NSNumber = dogs.sum(ofProperty: "age")
        let least: NSNumber? = ann.dogs.min(ofProperty: "age")
        let mean: NSNumber? = dogs.average(ofProperty: "age")
        #expect(sum == 6 && least == 1 && mean?.doubleValue == 2)
        let none: NSNumber? = dogs.filter("age > 9").max(ofProperty: "age")
        #expect(none == nil && dogs.filter("age > 9").sum(ofProperty: "age") == NSNumber(value: 0))
        let total_: Double = total(dogs, "weight")
        let number: NSNumber = total(ann.dogs, "weight")
        #expect(total_ == 4.5 && number == 4.5)
        try realm.write { it.date = Date(timeIntervalSince1970: 5) }
        let day: NSDate? = realm.objects(Everything.self).max(ofProperty: "date")
        #expect(day?.timeIntervalSince1970 == 5)
        let mapped: NSNumber? = it.dogMap.max(ofProperty: "age")
        #expect(mapped == 3 && first(dogs)?.name == "Rex" && first(it.ints) == 1)
    }

    @Test func mapsHaveEntries() throws {
        let (realm, it, _) = try filled()
        let scores = it.scores
        let entries: Set<SingleMapEntry<String, Int>> = Set(scores)
        #expect(entries.count == 3 && entries.contains { $0.key == "Ace" && $0.value == 3 })
        #expect(scores.map(\.value).reduce(0, +) == 6)
        var pairs: [String: Int] = [:]
        for (key, value) in scores.asKeyValueSequence() { pairs[key] = value }
        #expect(pairs == ["Rex": 1, "Fido": 2, "Ace": 3])
        let sequence: Map<String, Int>.KeyValueSequence = scores.asKeyValueSequence()
        #expect(sequence.contains { $0.key == "Rex" && $0.value == 1 })
        func keys<I: IteratorProtocol>(_ iterator: I) -> [String]
        where I.Element: _RealmMapValue, I.Element.Key == String {
            var (iterator, count) = (iterator, 0)
            while iterator.next() != nil { count += 1 }
            return Array(repeating: "x", count: count)
        }
        #expect(keys(scores.makeIterator()).count == 3)
        #expect(scores.object(forKey: "Rex" as NSString as AnyObject) as? Int == 1)
        let object: AnyObject? = scores.value(forKey: "Rex")
        let path: AnyObject? = it.dogMap.value(forKeyPath: "Rex.name")
        #expect(object as? Int == 1 && path as? String == "Rex")
        #expect(ages(it.dogMap) == [1, 3, 6, 2, 3, 2, 1])
        try realm.write {
            let (least, most, sum, mean) = numbers(scores)
            #expect(least == 1 && most == 7 && sum == 13 && mean == 3.25)
            // What the iteration began with.
            for entry in scores { scores.removeObject(for: entry.key) }
            #expect(scores.count == 0)
        }
        func sorted<M: RealmKeyedCollection>(_ map: M) -> Results<M.Value> {
            map.sorted(ascending: true)
        }
        let plain = Map<String, Int>()
        plain["a"] = 1
        #expect(numbers(plain).2 == 8 && sorted(it.names).isEmpty)
        #expect(misuse { _ = sorted(it.dogMap).count } != nil)
    }

    @Test func listsGiveObjectsByName() throws {
        let (_, it, ann) = try filled()
        var names: [String] = []
        for name in ann.dogs.value(forKey: "name") { names.append(name as? String ?? "?") }
        #expect(names == ["Rex", "Fido", "Ace"])
        let ages: [AnyObject] = ann.dogs.value(forKeyPath: "age")
        let nicks: [AnyObject] = ann.dogs.value(forKey: "nick")
        #expect(ages.compactMap { $0 as? Int } == [1, 2, 3] && nicks.allSatisfy { $0 is NSNull })
        let set: [AnyObject] = it.dogSet.value(forKey: "name")
        #expect(set.isEmpty && ann.dogs.value(forKeyPath: "@sum.age") as? Int == 6)
        #expect((ann.dogs.value(forKey: "name") as? [String])?.count == 3)
        #expect(
            misuse { let _: [AnyObject] = ann.dogs.value(forKeyPath: "@sum.age") }
                == "'6' is no list of values.")
    }

    @Test func projectedCollectionsAreWritten() throws {
        let (realm, _, ann) = try filled()
        let names = ann.dogs.projectTo.name
        #expect(names.index(matching: NSPredicate(format: "age == 2")) == 1)
        #expect(
            names.description
                == "ProjectedCollection<String> {\n\t[0] Rex\n\t[1] Fido\n\t[2] Ace\n}")
        try realm.write { names[1] = "Max" }
        #expect(ann.dogs[1].name == "Max" && Array(names) == ["Rex", "Max", "Ace"])
        let ages = ann.dogs.projectTo.age
        #expect(misuse { ages[0] = 9 }?.hasPrefix("Attempting to modify object outside") == true)
    }

    @Test @MainActor func sectionsAreMadeInEveryForm() async throws {
        let (realm, it, ann) = try filled()
        let dogs = realm.objects(Dog.self)
        let byLetter = dogs.sectioned(sortDescriptors: [.init(keyPath: "name")]) {
            String($0.name.prefix(1))
        }
        #expect(byLetter.allKeys == ["A", "F", "R"])
        #expect(ann.dogs.sectioned(sortDescriptors: ["age"]) { $0.age % 2 }.allKeys == [1, 0])
        var iterator: SectionedResultsIterator<String, Dog> = byLetter.makeIterator()
        let letter: ResultsSection<String, Dog> = try #require(
            iterator.next() as ResultsSection<String, Dog>?)
        var section: SectionIterator<Dog> = letter.makeIterator()
        #expect(section.next()?.name == "Ace" && section.next() == nil)
        // Values of types that have no order of their own among those of sections.
        try realm.write { it.stringSet.insert(objectsIn: ["a", "ab", "c"]) }
        #expect(it.stringSet.sectioned(by: { $0.count }).map { $0.count } == [2, 1])
        let confined: [any ThreadConfined] = [byLetter, byLetter[0]]
        #expect(confined.allSatisfy { $0.realm == realm && !$0.isFrozen && $0.freeze().isFrozen })
        #expect(
            misuse { _ = ThreadSafeReference(to: byLetter) }?.hasPrefix("Sections cannot be passed")
                == true)
        #expect(
            misuse { _ = dogs.sectioned(by: \.age, sortDescriptors: []) }
                == "Can not section Results with empty sortDescriptor parameter.")
        #expect(
            misuse { _ = dogs.sectioned(by: \.age, sortDescriptors: ["name"]) }
                == "The section key path must match the primary sort descriptor.")
        #expect(
            misuse { _ = dogs.sectioned(sortDescriptors: []) { $0.age } }
                == "There must be at least one SortDescriptor when using SectionedResults.")
        let log = Log()
        let tokens: [NotificationToken] = [
            watch(byLetter), watch(byLetter[0]), watchKeyed(it.dogMap),
            await byLetter.observe(keyPaths: [\.age], on: MainActor.shared) { _, change in
                if case .update(_, _, _, let paths, _, _) = change { log.add("all \(paths.count)") }
            },
            await byLetter[0].observe(keyPaths: [\.age], on: MainActor.shared) { _, change in
                if case .update(let there, _, _, _, _, _) = change { log.add("one \(there.key)") }
            },
            await it.dogMap.observe(keyPaths: [\Dog.age], on: MainActor.shared) { _, change in
                if case .update(_, _, _, let keys) = change { log.add("map \(keys)") }
            },
        ]
        try await Task.sleep(for: .milliseconds(20))
        try await realm.asyncWrite { ann.dogs[2].age = 7 }
        #expect(Set(try await log.wait(3)) == ["all 1", "one A", "map [\"Ace\"]"])
        for token in tokens { token.invalidate() }
    }

    @Test func linkingObjectsAreMadeAndEncodedByProtocols() throws {
        func make<L: LinkingObjectsProtocol>(_: L.Type, _ type: L.Element.Type) -> L {
            L(fromType: type, property: "dogs")
        }
        #expect(make(LinkingObjects<Person>.self, Person.self).origin == "dogs")
        struct Names: Encodable {
            let all: AnyRealmCollection<String>
            func encode(to encoder: any Encoder) throws { try all.encode(to: encoder) }
        }
        let list = List<String>()
        list.append("a")
        let text = try JSONEncoder().encode(Names(all: AnyRealmCollection(list)))
        #expect(String(decoding: text, as: UTF8.self) == #"["a"]"#)
    }

    @Test func openingCallsBackWithWhatIsNotSendable() async throws {
        final class Box { var opened: Realm? }
        let queue = DispatchQueue(label: "declarations")
        let isOpen = await withCheckedContinuation { done in
            let box = Box()
            Realm.asyncOpen(configuration: memory(types), callbackQueue: queue) { result in
                box.opened = try? result.get()
                done.resume(returning: box.opened?.isEmpty == true)
                box.opened = nil
            }
        }
        #expect(isOpen)
    }
}
