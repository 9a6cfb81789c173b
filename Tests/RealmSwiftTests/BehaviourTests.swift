// Rules of behaviour that hold for all objects and values: who may use them, what they are made from, what is written
// of them, and how transactions end.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class Badge: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var code: String?
    @Persisted var number: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Device: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var number: Int?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Slot: Object {
    @Persisted(primaryKey: true) var number: Int?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Token: Object {
    @Persisted(primaryKey: true) var id: ObjectId?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct BehaviourTests {
    private let everything: [ObjectBase.Type] = [
        Everything.self, Dog.self, Address.self, Person.self,
    ]

    // MARK: Objects

    @Test func unmanagedObjectsBelongToNoThread() throws {
        let made = onAnotherThread {
            let person = Person(value: [1, "Ann", 3] as [Any])
            person.dogs.append(Dog(value: ["Rex"]))
            return UncheckedBox(person)
        }
        made.value.name = "Ben"
        let realm = try Realm(configuration: memory())
        try realm.write { realm.add(made.value) }
        #expect(realm.objects(Person.self).first?.name == "Ben")
        #expect(made.value.dogs.first?.name == "Rex" && made.value.dogs[0].realm == realm)
    }

    /// What the guide lists under "Passing instances across threads".
    @Test func someMembersMayBeUsedOnAnyThread() throws {
        let realm = try Realm(configuration: memory())
        let person = Person(value: [1, "Ann", 3, [["Rex"]]] as [Any])
        try realm.write { realm.add(person) }
        let all = UncheckedBox((realm, person, realm.objects(Person.self), person.dogs))
        let text = onAnotherThread {
            misuse {
                let (realm, person, results, list) = all.value
                #expect(!realm.isInWriteTransaction && !realm.isFrozen && realm.autorefresh)
                #expect(realm.schema["Person"] != nil && realm.configuration.schemaVersion == 0)
                #expect(!person.isInvalidated && person.objectSchema.className == "Person")
                #expect(person.realm == realm && results.realm == realm && list.realm == realm)
                #expect(!list.isInvalidated && Person.className() == "Person")
            }
        }
        #expect(text == nil)
        let names = onAnotherThread { misuse { _ = all.value.2.count } }
        #expect(names == "Realm accessed from incorrect thread.")
        try realm.write { realm.delete(person) }
        #expect(onAnotherThread { all.value.1.isInvalidated } && person.isInvalidated)
        realm.invalidate()
        #expect(onAnotherThread { all.value.3.isInvalidated })
    }

    @Test func primaryKeysAreNotAssignedAgain() throws {
        let realm = try Realm(configuration: memory())
        let ann = Person()
        ann.id = 1
        ann.id = 2
        try realm.write { realm.add(ann) }
        let text = "Primary key can't be changed after an object is inserted."
        #expect(misuse { ann.id = 2 } == text)
        realm.beginWrite()
        #expect(misuse { ann.id = 2 } == text)
        #expect(misuse { ann.setValue(2, forKey: "id") } == text)
        realm.cancelWrite()
    }

    @Test func objectsAreFoundByKeysOfAllTypes() throws {
        let realm = try Realm(
            configuration: memory([Badge.self, Device.self, Slot.self, Token.self]))
        let (uuid, id) = (UUID(), ObjectId.generate())
        try realm.write {
            realm.create(Badge.self, value: ["code": NSNull(), "number": 1])
            realm.create(Badge.self, value: ["code": "x", "number": 2])
            realm.create(Device.self, value: ["id": uuid, "number": 3])
            for number in [nil, 0, 5] { realm.create(Slot.self, value: ["number": number as Any]) }
            for id in [nil, id] { realm.create(Token.self, value: ["id": id as Any]) }
        }
        // A realm that has not seen the classes yet, and one that has.
        for realm in [realm.freeze(), realm, realm] {
            let (none, text): (String?, String?) = (nil, "x")
            #expect(realm.object(ofType: Badge.self, forPrimaryKey: none)?.number == 1)
            #expect(realm.object(ofType: Badge.self, forPrimaryKey: text)?.number == 2)
            #expect(realm.object(ofType: Badge.self, forPrimaryKey: "x")?.number == 2)
            #expect(realm.object(ofType: Badge.self, forPrimaryKey: "y") == nil)
            #expect(realm.object(ofType: Device.self, forPrimaryKey: uuid)?.number == 3)
            #expect(realm.object(ofType: Device.self, forPrimaryKey: uuid as UUID?)?.number == 3)
            #expect(realm.object(ofType: Device.self, forPrimaryKey: UUID()) == nil)
            let (noNumber, number): (Int?, Int?) = (nil, 5)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: noNumber) != nil)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: noNumber)?.number == nil)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: number)?.number == 5)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: 0)?.number == 0)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: Int64(5))?.number == 5)
            #expect(realm.object(ofType: Slot.self, forPrimaryKey: 6) == nil)
            let (noId, someId): (ObjectId?, ObjectId?) = (nil, id)
            #expect(realm.object(ofType: Token.self, forPrimaryKey: noId) != nil)
            #expect(realm.object(ofType: Token.self, forPrimaryKey: someId)?.id == id)
            #expect(realm.object(ofType: Token.self, forPrimaryKey: id)?.id == id)
            #expect(realm.object(ofType: Token.self, forPrimaryKey: ObjectId.generate()) == nil)
            #expect(realm.dynamicObject(ofType: "Device", forPrimaryKey: uuid) != nil)
        }
        let people = try Realm(configuration: memory())
        func text(_ body: @escaping () -> Void) -> String? { misuse(body) }
        let end = "for 'int' property 'Person.id'."
        #expect(
            text { _ = people.object(ofType: Person.self, forPrimaryKey: "x") }
                == "Invalid value 'x' of type 'String' \(end)")
        #expect(
            text { _ = people.object(ofType: Person.self, forPrimaryKey: 1.5) }
                == "Invalid value '1.5' of type 'Double' \(end)")
        let nothing: Int? = nil
        #expect(
            text { _ = people.object(ofType: Person.self, forPrimaryKey: nothing) }
                == "Invalid value 'nil' of type 'Optional<Int>' \(end)")
        #expect(
            text { _ = realm.object(ofType: Device.self, forPrimaryKey: uuid.uuidString) }?
                .hasSuffix("for 'uuid' property 'Device.id'.") == true)
        for body: () -> Void in [
            { _ = people.object(ofType: Dog.self, forPrimaryKey: 1) },
            { _ = people.object(ofType: Dog.self, forPrimaryKey: ObjectId()) },
            { _ = people.dynamicObject(ofType: "Dog", forPrimaryKey: 1) },
        ] { #expect(text(body) == "'Dog' does not have a primary key") }
        let badges = realm.objects(Badge.self)
        #expect(badges[0].id == badges[0].id && badges[0].id != badges[1].id)
    }

    @Test func storedValuesThatAreNoCasesAreNilOrMisuse() throws {
        let realm = try Realm(configuration: memory(everything))
        let it = Everything()
        it.optColor = .red
        try realm.write {
            realm.add(it)
            let dynamic = realm.dynamicObjects("Everything")[0]
            dynamic["color"] = "purple"
            dynamic["optColor"] = "purple"
        }
        #expect(it.optColor == nil)
        #expect(
            misuse { _ = it.color } == "Invalid value 'purple' of type 'String' for enum 'Color'.")
    }

    // MARK: Values

    @Test func valuesAreMadeFromWhatFoundationHas() throws {
        let realm = try Realm(configuration: memory(everything))
        let uuid = UUID()
        let day = Date(timeIntervalSince1970: 86400)
        let values: [String: Any] = [
            "int": NSNumber(value: 7), "bool": NSNumber(value: true), "float": NSNumber(value: 1.5),
            "double": 3, "string": NSString("text"), "data": NSData(data: Data([1])),
            "date": NSDate(timeIntervalSince1970: 86400),
            "uuid": NSUUID(uuidString: uuid.uuidString) as Any,
            "decimal": NSNumber(value: 5), "optInt": NSNull(), "optString": String?.none as Any,
            "color": "blue", "level": 10, "heat": 20.5, "optHeat": Celsius(3),
            "ints": Set([4]), "optInts": [1, NSNull()] as NSArray, "strings": ["a", "b"].lazy,
            "intSet": 1...3, "scores": ["a": 1] as NSDictionary, "names": ["n": NSNull()],
            "address": ["street": "S"] as NSDictionary, "dogMap": ["d": ["name": "Rex"]],
        ]
        try realm.write {
            for it in [Everything(value: values), Everything(value: values as NSDictionary)] {
                realm.add(it)
            }
            realm.create(Everything.self, value: values)
        }
        let all = realm.objects(Everything.self)
        #expect(all.count == 3)
        for it in all {
            #expect(it.int == 7 && it.bool && it.float == 1.5 && it.double == 3)
            #expect(it.string == "text" && it.data == Data([1]) && it.date == day)
            #expect(it.uuid == uuid && it.decimal == 5 && it.optInt == nil && it.optString == nil)
            #expect(it.color == .blue && it.level == .high && it.heat == Celsius(20.5))
            #expect(it.optHeat == Celsius(3) && Array(it.ints) == [4])
            #expect(Array(it.optInts) == [1, nil] && Array(it.strings) == ["a", "b"])
            #expect(it.intSet.count == 3 && it.scores["a"] == 1 && it.names["n"] == .some(nil))
            #expect(it.address?.street == "S" && it.dogMap["d"]??.name == "Rex")
        }
        for wrong: [String: Any] in [
            ["int": 1.5], ["int": true], ["int": "7"], ["bool": 1], ["string": 3],
            ["date": "1970-01-02"], ["ints": ["a"]], ["scores": ["a": "b"]], ["color": "purple"],
        ] {
            let name = wrong.keys.first ?? ""
            #expect(
                misuse { _ = Everything(value: wrong) }?.contains("'Everything.\(name)'") == true)
        }
        let card = NameCard(projecting: Dog(value: ["name": "Rex", "age": 4]))
        let copy = try realm.write { realm.create(Dog.self, value: card) }
        #expect(copy.name == "Rex" && copy.age == 4)
    }

    @Test @MainActor func modifiedWritesWhatDiffers() async throws {
        let realm = try Realm(configuration: memory())
        let ann = Person(value: [1, "Ann", 30] as [Any])
        try realm.write { realm.add(ann) }
        let log = Log()
        let token = ann.observe { change in
            if case .change(_, let all) = change { log.add("\(all.map { $0.name }.sorted())") }
        }
        let same: [String: Any] = ["id": 1, "name": "Ann", "age": 31]
        try realm.write { realm.create(Person.self, value: same, update: .modified) }
        #expect(try await log.wait(1) == ["[\"age\"]"])
        try realm.write { realm.create(Person.self, value: same, update: .modified) }
        try realm.write { realm.create(Person.self, value: same, update: .all) }
        #expect(try await log.wait(2).last == "[\"age\", \"name\"]")
        #expect(log.all.count == 2)
        token.invalidate()
    }

    // MARK: Transactions

    @Test func blocksEndTheirTransactions() throws {
        let realm = try Realm(configuration: memory())
        let old = Dog(value: ["name": "Old"])
        try realm.write {
            realm.add(old)
            try realm.commitWrite()
            #expect(!realm.isInWriteTransaction)
            #expect(misuse { old.age = 1 }?.hasPrefix("Attempting to modify object") == true)
        }
        let new = Dog(value: ["name": "New"])
        try realm.write {
            realm.add(new)
            realm.delete(old)
            realm.cancelWrite()
        }
        // What was added is gone, what was deleted is found again, but not by the accessor that saw it go.
        #expect(new.isInvalidated && old.isInvalidated)
        #expect(realm.objects(Dog.self).map { $0.name } == ["Old"])
        try realm.write { realm.objects(Dog.self).first?.age = 2 }
        #expect(realm.objects(Dog.self).first?.age == 2 && old.isInvalidated)
        #expect(misuse { _ = old.age } == "Object has been deleted or invalidated.")
        #expect(old.description == "[invalid object]")
    }

    @Test @MainActor func asynchronousTransactionsRunInTheirOrder() async throws {
        let realm = try Realm(configuration: memory())
        let log = Log()
        realm.writeAsync {
            log.add("one")
            realm.create(Dog.self, value: ["name": "1"])
            realm.writeAsync { log.add("inner \(realm.objects(Dog.self).count)") }
        }
        realm.beginAsyncWrite {
            log.add("two")
            realm.create(Dog.self, value: ["name": "2"])
            // Not committed: undone.
        }
        realm.beginAsyncWrite {
            log.add("three \(realm.objects(Dog.self).count)")
            realm.create(Dog.self, value: ["name": "3"])
            realm.commitAsyncWrite(allowGrouping: true) { error in
                log.add(error == nil ? "saved" : "failed")
            }
        }
        #expect(realm.isPerformingAsynchronousWriteOperations)
        let lines = try await log.wait(5)
        #expect(lines.filter { $0 != "saved" } == ["one", "two", "three 1", "inner 2"])
        #expect(lines.contains("saved"))
        #expect(realm.objects(Dog.self).map { $0.name } == ["1", "3"])

        let task = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await realm.asyncWrite { realm.deleteAll() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(realm.objects(Dog.self).count == 2 && !realm.isInWriteTransaction)
    }

    /// Who is cancelled does not wait until others have written, and leaves nothing behind.
    @MainActor @Test func cancelledTasksDoNotWaitForTheWriter() async throws {
        let configuration = memory()
        let realm = try await Realm.open(configuration: configuration)
        let (begun, mayEnd) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            guard let other = try? Realm(configuration: configuration) else { return }
            try? other.write {
                begun.continuation.yield()
                mayEnd.wait()
                other.create(Dog.self, value: ["name": "theirs"])
            }
            begun.continuation.finish()
        }
        var others = begun.stream.makeAsyncIterator()
        await others.next()
        let task = Task { @MainActor in
            try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "never"]) }
        }
        while !realm.isPerformingAsynchronousWriteOperations { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!realm.isPerformingAsynchronousWriteOperations && realm.isEmpty)
        mayEnd.signal()
        await others.next()
        try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "ours"]) }
        #expect(realm.objects(Dog.self).map { $0.name } == ["theirs", "ours"])
    }

    @Test func threadsWithoutRunLoopsWriteAtOnce() {
        let text = onAnotherThread { () -> String? in
            guard let realm = try? Realm(configuration: memory()) else { return nil }
            return misuse { realm.writeAsync {} }
        }
        #expect(
            text == "Can only perform async transactions from within runloops or dispatch queues.")
    }

    /// As the class page has it; `@ThreadSafe` values are read there as well.
    @Test func referencesAreNotResolvedInTransactions() throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        let found = onAnotherThread { () -> (ThreadSafeReference<Dog>, ThreadSafe<Dog>)? in
            guard let there = try? Realm(configuration: configuration),
                let dog = try? there.write({ there.create(Dog.self, value: ["name": "Rex"]) })
            else { return nil }
            return (ThreadSafeReference(to: dog), ThreadSafe(wrappedValue: dog))
        }
        let (reference, safe) = try #require(found)
        realm.beginWrite()
        #expect(
            misuse { _ = realm.resolve(reference) }
                == "Cannot resolve thread safe references during a write transaction.")
        #expect(!reference.isInvalidated)
        safe.wrappedValue?.age = 6
        try realm.commitWrite()
        let dog = try #require(realm.resolve(reference))
        #expect(reference.isInvalidated && dog.age == 6)
        try realm.write { dog.age = 7 }
        #expect(realm.objects(Dog.self).first?.age == 7)
        let frozen = ThreadSafeReference(to: dog.freeze())
        realm.beginWrite()
        #expect(misuse { _ = realm.resolve(frozen) } != nil)
        realm.cancelWrite()
        #expect(realm.resolve(frozen)?.age == 7)
    }

    // MARK: Misuse

    @Test func misuseEndsTheProgramWithItsText() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            Realm.misuseHandler = { text in
                FileHandle.standardError.write(Data("told: \(text.prefix(40))\n".utf8))
            }
            let realm = try Realm(
                configuration: .init(
                    inMemoryIdentifier: UUID().uuidString, objectTypes: [Badge.self]))
            realm.create(Badge.self)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("told: Can only add, remove, or create objects \n"))
        #expect(
            text.contains(
                "*** RealmSwift: Can only add, remove, or create objects in a Realm in a write "
                    + "transaction - call beginWriteTransaction on an RLMRealm instance first."))
    }
}
