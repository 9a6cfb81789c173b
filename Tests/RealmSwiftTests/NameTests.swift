// Members that the other suites have no use for: each is there, and does what its name says.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// What two versions of a class have.
class Parcel: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var weight: Double
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OldParcel: Object {
    @Persisted(primaryKey: true) var id: Int
    override class func _realmObjectName() -> String? { "Parcel" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []
    func add(_ text: String) { lock.withLock { texts.append(text) } }
    var count: Int { lock.withLock { texts.count } }
}

@Suite struct NameTests {
    @Test func listsAreChangedByOffsets() throws {
        let realm = try Realm(
            configuration: memory([Everything.self, Dog.self, Address.self, Person.self]))
        let managed = try realm.write { realm.create(Everything.self, value: [String: Any]()) }
        for object in [Everything(), managed] {
            try realm.write {
                let ints = object.ints
                ints.append(objectsIn: [0, 1, 2, 3, 4, 5])
                ints.remove(atOffsets: IndexSet([1, 4]))
                #expect(Array(ints) == [0, 2, 3, 5])
                ints.move(fromOffsets: IndexSet([2, 3]), toOffset: 0)
                #expect(Array(ints) == [3, 5, 0, 2])
                ints.replace(index: 1, object: 9)
                ints.removeFirst()
                #expect(Array(ints) == [9, 0, 2])
                ints.removeFirst(2)
                #expect(Array(ints) == [2])
                ints.append(objectsIn: [7, 8])
                ints.removeSubrange(0..<2)
                #expect(Array(ints) == [8])
            }
        }
    }

    @Test func collectionsOfDynamicObjectsAreFoundByName() throws {
        let realm = try Realm(
            configuration: memory([Everything.self, Dog.self, Address.self, Person.self]))
        try realm.write {
            let dog = Dog(value: ["name": "Rex"])
            let object = realm.create(Everything.self, value: ["dogMap": ["a": dog]])
            object.dogSet.insert(dog)
        }
        let object = try #require(realm.dynamicObjects("Everything").first)
        #expect(object.dynamicMap("dogMap")["a"]??["name"] as? String == "Rex")
        #expect(object.dynamicMutableSet("dogSet").map { $0["name"] as? String } == ["Rex"])
    }

    @Test func schemasDescribeClasses() throws {
        let realm = try Realm(configuration: memory([Person.self, Dog.self, Address.self]))
        let schema: Schema = realm.schema
        let person: ObjectSchema = try #require(schema["Person"])
        #expect(person.objectClass == Person.self && !person.isEmbedded && !person.isAsymmetric)
        #expect(schema["Address"]?.isEmbedded == true && schema["Nobody"] == nil)
        #expect(person["dogs"]?.objectClassName == "Dog" && person["dogs"]?.isArray == true)
        #expect(
            person["name"]?.objectClassName == nil && person["name"]?.type == PropertyType.string)
    }

    @Test func textsAreComparedWithOptions() throws {
        let realm = try Realm(configuration: memory([Person.self, Dog.self, Address.self]))
        try realm.write {
            for name in ["Zoé", "zoe", "Ann"] { realm.add(Dog(value: ["name": name])) }
        }
        let dogs = realm.objects(Dog.self)
        func count(_ options: StringOptions) -> [Int] {
            [
                dogs.where { $0.name.equals("ZOE", options: options) }.count,
                dogs.where { $0.name.notEquals("ZOE", options: options) }.count,
            ]
        }
        #expect(count([]) == [0, 3])
        #expect(count([.caseInsensitive]) == [1, 2])
        #expect(count([.caseInsensitive, .diacriticInsensitive]) == [2, 1])
        let byName = RealmSwift.SortDescriptor(keyPath: \Dog.name)
        #expect(dogs.sorted(by: [byName]).first?.name == "Ann")
        #expect(dogs.sorted(by: [byName.reversed()]).last?.name == "Ann")
    }

    @Test func valuesHaveTheirParts() throws {
        let id = ObjectId(timestamp: Date(timeIntervalSince1970: 258), machineId: 1, processId: 2)
        #expect(
            id.stringValue.hasPrefix("00000102000001") && id.timestamp.timeIntervalSince1970 == 258)
        let value: Decimal128 = -1.5
        #expect(value.magnitude == 1.5 && value.decimalValue == Decimal(string: "-1.5"))
        #expect(value.advanced(by: 2) == 0.5 && value.distance(to: 1) == 2.5)
        #expect(AnyRealmValue.int(3).intValue == 3 && AnyRealmValue.string("3").intValue == nil)
        #expect(Int._rlmDefaultValue() == 0 && String._rlmDefaultValue().isEmpty)
        #expect(Int8._rlmType == .int && Decimal128._rlmType == .decimal128)
    }

    @Test func shapesHaveTheirParts() throws {
        let high = try #require(GeoPoint(latitude: 1, longitude: 2, altitude: 3))
        #expect(high.altitude == 3 && GeoPoint(latitude: 1, longitude: 2)?.altitude == 0)
        #expect(GeoPoint(latitude: 1, longitude: 2, altitude: -1) == nil)
        let circle = try #require(GeoCircle(center: (1, 2), radiusInRadians: 0.5))
        let distance = try #require(Distance.radians(0.5))
        #expect(
            circle.radiusInRadians == 0.5 && distance.radians == 0.5
                && abs(distance.asDegrees() - 28.648) < 0.001)
        #expect(GeoCircle(center: (1, 2), radius: distance)?.radiusInRadians == 0.5)
        #expect(GeoCircle(center: (1, 2), radiusInRadians: -0.5) == nil)
        let outer = [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (0.0, 0.0)]
        let inner = [(1.0, 2.0), (1.0, 3.0), (2.0, 3.0), (1.0, 2.0)]
        #expect(GeoPolygon(outerRing: outer, holes: [inner])?.holes?.map { $0.count } == [4])
        #expect(GeoPolygon(outerRing: outer, holes: inner)?.holes?.count == 1)
        #expect(GeoPolygon(outerRing: outer, holes: inner, inner)?.holes?.count == 2)
        #expect(GeoPolygon(outerRing: outer, holes: [[(1, 2)]]) == nil)
    }

    @Test func migrationsAreMadeWithoutOpening() throws {
        try withFile([OldParcel.self]) { configuration in
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write { _ = realm.create(OldParcel.self, value: [1]) }
                #expect(throws: Realm.Error.self) {
                    try Realm.performMigration(for: configuration)
                }
                realm.core.close()
            }
            var next = configuration
            next.objectTypes = [Parcel.self]
            next.schemaVersion = 1
            let lines = Lines()
            let block: MigrationBlock = { (migration: Migration, old) in
                lines.add("from \(old)")
                #expect(migration.newSchema["Parcel"]?["weight"] != nil)
                #expect(migration.oldSchema["Parcel"]?["weight"] == nil)
                #expect(migration.deleteData(forType: "Parcel"))
                #expect(!migration.deleteData(forType: "Nobody"))
            }
            next.migrationBlock = block
            try Realm.performMigration(for: next)
            #expect(lines.count == 1)
            let realm = try Realm(configuration: next)
            #expect(lines.count == 1 && realm.objects(Parcel.self).isEmpty)
            realm.core.close()
        }
    }

    @Test func versionsThatAreHeldAreLimited() throws {
        var configuration = memory([Parcel.self])
        configuration.maximumNumberOfActiveVersions = 3
        let realm = try Realm(configuration: configuration)
        var held: [Realm] = []
        var text: String?
        for number in 0..<8 {
            text = misuse { realm.beginWrite() }
            guard text == nil else { break }
            realm.create(Parcel.self, value: [number, 1])
            try realm.commitWrite()
            held.append(realm.freeze())
        }
        #expect(text?.contains("the limit is 3") == true && held.count >= 2)
        held = []
        try realm.write { _ = realm.create(Parcel.self, value: [9, 1]) }
    }

    @Test @MainActor func realmsOfActorsRefreshAndOpen() async throws {
        let configuration = memory([Parcel.self])
        let realm = try await Realm.open(configuration: configuration)
        #expect(realm.objects(Parcel.self).isEmpty)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async {
                do {
                    let other = try Realm(configuration: configuration)
                    try other.write { _ = other.create(Parcel.self, value: [1, 1]) }
                } catch {
                    Issue.record("\(error)")
                }
                done.resume()
            }
        }
        _ = await realm.asyncRefresh()
        #expect(realm.objects(Parcel.self).count == 1)
        #expect(await realm.asyncRefresh() == false)
    }

    @Test func loggersHaveAFunction() {
        let lines = Lines()
        let logger = Logger(level: .info, logFunction: { _, text in lines.add(text) })
        logger.sink.log(.app, .info, "told")
        #expect(lines.count == 1 && logger.level == .info)
    }

    /// Types that programs name in signatures, where the other suites leave them to inference.
    @Test func typesHaveTheirNames() throws {
        let configuration = memory([Everything.self, Dog.self, Address.self, Person.self])
        let realm = try Realm(configuration: configuration)
        let object: Everything = try realm.write {
            realm.add(Dog(value: ["name": "Rex"]))
            return realm.create(
                Everything.self, value: ["ints": [1, 2], "scores": ["a": 1]], update: .error)
        }
        let sections: SectionedResults<String, Dog> = realm.objects(Dog.self)
            .sectioned(by: { $0.name }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        let section: ResultsSection<String, Dog> = sections[0]
        #expect(section.key == "Rex" && section.count == 1)
        let entries: [SingleMapEntry<String, Int>] = Array(object.scores)
        #expect(entries.count == 1 && entries[0].key == "a")
        var iterator: RLMIterator<Int> = object.ints.makeIterator()
        #expect(iterator.next() == 1 && iterator.next() == 2 && iterator.next() == nil)
        let told: (SectionedResultsChange<SectionedResults<String, Dog>>) -> Bool = {
            if case .initial = $0 { return true } else { return false }
        }
        #expect(told(.initial(sections)))
        let toldOfMap: (RealmMapChange<Map<String, Int>>) -> Bool = {
            if case .initial = $0 { return true } else { return false }
        }
        #expect(toldOfMap(.initial(object.scores)))
        let policies: [Realm.UpdatePolicy] = [.error, .modified, .all]
        let behaviors: [Realm.OpenBehavior] = [.never, .once, .always]
        #expect(policies.count == 3 && behaviors.count == 3)
    }

    /// What generic code of programs asks of types; wrong ones do not compile.
    @Test func protocolsHaveTheirNames() {
        func stored<T: _Persistable>(_: T.Type) {}
        func optional<T: _PersistableInsideOptional>(_: T.Type) {}
        func element<T: RealmCollectionValue>(_: T.Type) {}
        func optionalElement<T: _RealmCollectionValueInsideOptional>(_: T.Type) {}
        func custom<T: _HasPersistedType>(_: T.Type) -> Any.Type { T.PersistedType.self }
        func ordered<T: MinMaxType & AddableType & SortableType & _QueryNumeric>(_: T.Type) {}
        func keyed<T: _PrimaryKey & _Indexable & _MapKey & _QueryString>(_: T.Type) {}
        func bytes<T: _QueryBinary>(_: T.Type) {}
        func fetched<T: RealmFetchable>(_: T.Type) {}
        func confined<T: ThreadConfined>(_: T.Type) {}
        func map<T: RealmKeyedCollection>(_: T.Type) -> Any.Type { T.Value.self }
        func oldOptional<T: RealmOptionalType>(_: T.Type) {}
        func oldProperty<T: RealmPropertyType>(_: T.Type) {}
        func area<T: RLMGeospatial>(_: T.Type) {}
        stored(Int?.self)
        optional(Int.self)
        element(Dog?.self)
        optionalElement(Celsius.self)
        #expect(ObjectIdentifier(custom(Celsius.self)) == ObjectIdentifier(Double.self))
        ordered(Double.self)
        keyed(String.self)
        bytes(Data.self)
        fetched(Dog.self)
        confined(List<Int>.self)
        #expect(ObjectIdentifier(map(Map<String, Int>.self)) == ObjectIdentifier(Int.self))
        oldOptional(Int.self)
        oldProperty(AnyRealmValue.self)
        area(GeoBox.self)
    }

    @Test func theDefaultFolderIsSaidByTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            setenv("XDG_DATA_HOME", "/data", 1)
            let name = ProcessInfo.processInfo.processName
            #expect(Realm.Configuration.defaultURL.path == "/data/\(name)/default.realm")
            setenv("REALM_DEFAULT_DIRECTORY", "/realms", 1)
            #expect(Realm.Configuration.defaultURL.path == "/realms/default.realm")
        }
    }
}
