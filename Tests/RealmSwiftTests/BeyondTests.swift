// What goes beyond realm-swift and is no query: misuse that is thrown, objects that may be gone, copies that any
// thread may have, old values, pages, other keys of files.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct BeyondTests {
    private let everything: [ObjectBase.Type] = [
        Everything.self, Dog.self, Address.self, Person.self,
    ]

    @Test func misuseIsThrownWhereItCan() throws {
        let realm = try Realm(configuration: memory())
        func text(_ body: () throws -> Void) -> String? {
            do {
                try body()
                return nil
            } catch let error as Realm.Misuse {
                return error.message
            } catch {
                return "\(error)"
            }
        }
        let nested = text { try realm.checked { try realm.write { try realm.write {} } } }
        #expect(nested == "The Realm is already in a write transaction")
        #expect(!realm.isInWriteTransaction)
        #expect(
            text { try realm.checked { try realm.commitWrite() } }
                == "Can't commit a non-existing write transaction")
        #expect(
            text { try realm.checked { try realm.freeze().write {} } }
                == "Can't perform transactions on a frozen Realm")
        let outside = text { try realm.checked { _ = try realm.create(Dog.self, json: "{}") } }
        #expect(outside?.hasPrefix("Can only add, remove, or create objects") == true)
        #expect(
            text {
                try Realm.checked { _ = try Realm(configuration: .init(inMemoryIdentifier: "")) }
            }
                == "In-memory identifier must not be empty")
        var other = realm.configuration
        other.schemaVersion = 7
        let clash = text { try realm.checked { _ = try Realm(configuration: other) } }
        #expect(clash?.hasSuffix("already opened with different schema version") == true)
        #expect(try realm.checked { try realm.write { 5 } } == 5)
        // Elsewhere it ends the program as before.
        #expect(
            misuse { try? realm.commitWrite() } == "Can't commit a non-existing write transaction")
        let there = UncheckedBox(realm)
        let thread = onAnotherThread { text { try Realm.checked { try there.value.write {} } } }
        #expect(thread?.hasPrefix("Realm accessed from incorrect thread.") == true)
    }

    @Test func objectsThatMayBeGoneAreRead() throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex"])
        #expect(try dog.reading(\.name) == "Rex")
        try realm.write { realm.add(dog) }
        #expect(try dog.reading(\.name) == "Rex" && dog.ifValid { $0.name } == "Rex")
        let there = UncheckedBox(dog)
        let text = onAnotherThread {
            do {
                return try there.value.reading(\.name)
            } catch {
                return "\(error)"
            }
        }
        #expect(text.hasPrefix("Realm accessed from incorrect thread."))
        try realm.write { realm.delete(dog) }
        #expect(throws: Realm.Misuse.self) { try dog.reading(\.name) }
        #expect(dog.ifValid { $0.name } == nil)
    }

    @Test func snapshotsAreCopies() throws {
        let realm = try Realm(configuration: memory(everything))
        let it = Everything(value: ["int": 3, "string": "x", "optInt": NSNull()])
        it.ints.append(objectsIn: [1, 2])
        it.stringSet.insert("s")
        it.scores["k"] = 5
        it.names["n"] = .some(nil)
        it.any = .fromDictionary(["a": .fromArray([.bool(true), .float(1.5)])])
        it.address = Address(value: ["street": "S"])
        it.color = .blue
        it.level = .high
        it.heat = Celsius(20)
        it.data = Data([1, 2])
        let friend = Everything()
        it.other = friend
        it.dogMap["d"] = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(it) }
        let snapshot: Snapshot<Everything> = it.snapshot()
        let same = it.snapshot()
        try realm.write {
            it.int = 4
            it.ints.removeAll()
            realm.delete(friend)
        }
        let read = onAnotherThread {
            [snapshot.string, "\(snapshot.int)", "\(snapshot.heat.degrees)"]
        }
        #expect(read == ["x", "3", "20.0"])
        #expect(snapshot.optInt == nil && Array(snapshot.ints) == [1, 2])
        #expect(snapshot.stringSet.contains("s") && snapshot.scores["k"] == 5)
        #expect(snapshot.names["n"] == .some(nil) && snapshot.color == .blue)
        #expect(
            snapshot.level == .high && snapshot.data == Data([1, 2]) && snapshot.date == it.date)
        #expect(snapshot.uuid == it.uuid && snapshot.decimal == it.decimal)
        #expect(snapshot["any"] == .dictionary(["a": .list([.bool(true), .float(1.5)])]))
        #expect(snapshot["address"] == .dictionary(["street": .string("S"), "city": .none]))
        #expect(snapshot["dogMap"] == .dictionary(["d": .none]) && snapshot["nothing"] == nil)
        guard case .objectId = snapshot["other"] else {
            Issue.record("\(String(describing: snapshot["other"]))")
            return
        }
        #expect(snapshot == same && snapshot.hashValue == same.hashValue)
        #expect(snapshot != it.snapshot())
        let copy = try JSONDecoder().decode(
            Snapshot<Everything>.self, from: JSONEncoder().encode(snapshot))
        #expect(copy == snapshot)
        #expect(Dog(value: ["name": "Rex"]).snapshot().name == "Rex")
        try realm.write { realm.deleteAll() }
        #expect(misuse { _ = it.snapshot() } == "Object has been deleted or invalidated.")
    }

    @Test @MainActor func observersAreGivenWhatWas() async throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for name in ["Ann", "Bob"] { realm.create(Dog.self, value: ["name": name]) }
        }
        let log = Log()
        func names(_ dogs: Results<Dog>?) -> String {
            dogs.map { dogs in "\(Array(dogs.map { $0.name }))" } ?? "-"
        }
        let token = realm.objects(Dog.self).observe(withOldValues: true) { change, before, after in
            var gone = ""
            if case .update(_, let deletions, _, _) = change {
                gone = deletions.compactMap { before?[$0].name }.joined()
            }
            log.add("\(names(before)) \(names(after)) \(gone)")
        }
        _ = try await log.wait(1)
        try realm.write {
            realm.objects(Dog.self)[1].name = "Ben"
            realm.delete(realm.objects(Dog.self)[0])
        }
        let lines = try await log.wait(2)
        #expect(lines == ["- [\"Ann\", \"Bob\"] ", "[\"Ann\", \"Bob\"] [\"Ben\"] Ann"])
        token.invalidate()
        let without = realm.objects(Dog.self).observe(withOldValues: false) { _, before, after in
            log.add("\(before == nil) \(after == nil)")
        }
        #expect(try await log.wait(3).last == "true true")
        without.invalidate()
    }

    @Test @MainActor func changesOfMapsAreASequence() async throws {
        let realm = try Realm(configuration: memory(everything))
        let it = try await realm.asyncWrite { realm.create(Everything.self) }
        var told: [String] = []
        for await change in it.scores.changes {
            switch change {
            case .initial: try await realm.asyncWrite { it.scores["a"] = 1 }
            case .update(_, _, let insertions, _): told += insertions
            case .error(let error): Issue.record("\(error)")
            }
            if !told.isEmpty { break }
        }
        #expect(told == ["a"])
    }

    @Test @MainActor func blocksTakeObjectsOfSuperclasses() async throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(dog) }
        let log = Log()
        let token = dog.observe { (change: ObjectChange<ObjectBase>) in
            if case .change(let object, let all) = change {
                log.add("\(object["name"] ?? "") \(all.map { $0.name })")
            }
        }
        let block: NotificationBlock = { notification, _ in log.add(notification.rawValue) }
        let realmToken = realm.observe(block)
        try realm.write { dog.name = "Max" }
        #expect(Set(try await log.wait(2)) == ["RLMRealmDidChangeNotification", "Max [\"name\"]"])
        token.invalidate()
        realmToken.invalidate()
    }

    @Test func resultsArePaged() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for age in 0..<5 { realm.create(Dog.self, value: ["name": "D\(age)", "age": age]) }
        }
        let all = realm.objects(Dog.self).sorted(by: \.age)
        var pages: [[Int]] = []
        var page = all.limited(2)
        while let last = page.last {
            pages.append(page.map { $0.age })
            page = all.after(last).limited(2)
        }
        #expect(pages == [[0, 1], [2, 3], [4]])
        #expect(all.where { $0.age > 2 }.after(all[0]).isEmpty)
    }

    @Test func filesGetOtherKeys() throws {
        try withFile { configuration in
            func open(_ key: Data?) throws -> Realm {
                var configuration = configuration
                configuration.encryptionKey = key
                return try Realm(configuration: configuration)
            }
            let plain = try open(nil)
            try plain.write { plain.create(Dog.self, value: ["name": "Rex"]) }
            let key = Realm.generateEncryptionKey()
            do {
                try Realm.changeEncryptionKey(for: configuration, to: key)
                Issue.record("an open file has another key")
            } catch Realm.Error.alreadyOpen {
            }
            plain.core.close()
            try Realm.changeEncryptionKey(for: configuration, to: key)
            #expect(throws: Realm.Error.self) { try open(nil) }
            let secret = try open(key)
            #expect(secret.objects(Dog.self).first?.name == "Rex")
            secret.core.close()
            var known = configuration
            known.encryptionKey = key
            try Realm.changeEncryptionKey(for: known, to: nil)
            #expect(try open(nil).objects(Dog.self).count == 1)
        }
    }
}
