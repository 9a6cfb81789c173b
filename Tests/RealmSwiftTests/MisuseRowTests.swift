// Texts of misuse that the other suites only touch: with all that realm-swift says.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

private class OptionalMembers: Object {
    @Persisted var dogs: MutableSet<Dog?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredValues: Object {
    @Persisted var dogs: Map<String, Dog>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Nothing: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct MisuseRowTests {
    @Test func declarations() {
        func opening(_ types: [ObjectBase.Type]) -> String? {
            misuse { _ = try? Realm(configuration: memory(types)) }
        }
        let dogs: [ObjectBase.Type] = [Dog.self, Person.self, Address.self]
        #expect(
            opening([OptionalMembers.self] + dogs)
                == "MutableSet<Dog> property 'dogs' must not be marked as optional.")
        #expect(
            opening([RequiredValues.self] + dogs)
                == "Map<String, Dog> property 'dogs' must be marked as optional.")
        #expect(
            opening([Nothing.self])
                == "No properties are defined for 'Nothing'. Did you remember to mark them with "
                + "'@Persisted'?")
        #expect(
            opening([Person.self, Dog.self])
                == "Invalid class subset list: 'Person.address' links to class 'Address', which is "
                + "missing from the list of classes managed by the Realm")
        // Where it is asked for, it is thrown.
        #expect(throws: Realm.Misuse.self) {
            try Realm.checked { try Realm(configuration: memory([Nothing.self])) }
        }
    }

    @Test func values() throws {
        #expect(
            misuse { _ = Person(value: [1, 2, 3, 4, 5, 6, 7, 8, 9]) }
                == "Invalid array input: more values (9) than properties (6).")
        #expect(
            misuse { _ = Person(value: 5) }
                == "Invalid value '5' to initialize object of type 'Person': missing key 'id'")
        #expect(
            misuse { _ = Dog(value: ["age": "old"]) }
                == "Invalid value 'old' of type 'String' for 'int' property 'Dog.age'.")
        let ints = List<Int>()
        let set = MutableSet<Int>()
        #expect(
            misuseText(of: { let _: Int = ints.sum(ofProperty: "age") })
                == "Arrays of 'int' can only be aggregated on \"self\"; not on 'age'")
        #expect(
            misuseText(of: { let _: Int = set.sum(ofProperty: "age") })
                == "Sets of 'int' can only be aggregated on \"self\"; not on 'age'")
        #expect(misuse { let _: Int = ints.sum(ofProperty: "self") } == nil)
    }

    @Test func writingToWhatCannotBeWritten() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        for (name, body) in [
            ("Results", { realm.objects(Dog.self).setValue(3, forKey: "age") }),
            ("RLMSet", { it.dogSet.setValue(3, forKey: "age") }),
            ("RLMSet", { it.dogSet.setValue(3, forKeyPath: "best.age") }),
            ("RLMArray", { it.ints.removeAll() }), ("RLMArray", { it.ints.append(1) }),
            ("RLMDictionary", { it.scores.removeAll() }),
        ] as [(String, () -> Void)] {
            #expect(
                misuse(body) == "Cannot modify managed \(name) outside of a write transaction.")
        }
    }

    @Test func configurationsThatClash() throws {
        try withFile([Dog.self, Person.self, Address.self]) { configuration in
            let realm = try Realm(configuration: configuration)
            let path = configuration.fileURL?.path ?? ""
            func text(_ change: @escaping (inout Realm.Configuration) -> Void) -> String? {
                misuse {
                    var other = configuration
                    change(&other)
                    _ = try? Realm(configuration: other)
                }
            }
            let start = "Realm at path '\(path)' already opened with different "
            #expect(text { $0.readOnly = true } == start + "read permissions")
            #expect(text { $0.encryptionKey = Data(count: 64) } == start + "encryption key")
            #expect(text { $0.schemaVersion = 1 } == start + "schema version")
            #expect(text { $0.objectTypes = [Animal.self] } == start + "schema")
            #expect(text { _ in } == nil && realm.isEmpty)
        }
        let nowhere = try #require(URL(string: "#realm"))
        #expect(
            misuse { _ = try? Realm(configuration: .init(fileURL: nowhere)) }
                == "Realm path must not be empty")
    }

    @Test func misuseIsThrownWhereFunctionsThrow() throws {
        let realm = try Realm(configuration: memory())
        func text(_ body: () throws -> Void) -> String? {
            do {
                try realm.checked(body)
                return nil
            } catch let error as Realm.Misuse {
                return error.message
            } catch {
                return "no misuse: \(error)"
            }
        }
        let list = "This method may only be called on RLMArray instances retrieved from an RLMRealm"
        #expect(text { _ = try List<Dog>().filtered("age == 1") } == list)
        #expect(text { _ = try List<Dog>().filter(#Predicate { $0.age == 1 }) } == list)
        realm.beginWrite()
        #expect(
            text { _ = try realm.create(Mixture.self, json: "{}") }
                == "Object type 'Mixture' not managed by the Realm")
        realm.cancelWrite()
        let dogs = UncheckedBox(realm.objects(Dog.self))
        let there = onAnotherThread { () -> String? in
            do {
                try Realm.checked { _ = try dogs.value.filtered("age == 1") }
                return nil
            } catch { return (error as? Realm.Misuse)?.message }
        }
        #expect(there?.hasPrefix("Realm accessed from incorrect thread.") == true)
    }

    @Test @MainActor func misuseOfWaitingFunctionsIsThrown() async throws {
        let realm = try Realm(configuration: memory())
        func text(_ body: @MainActor () async throws -> Void) async -> String? {
            do {
                try await realm.asyncChecked(body)
                return nil
            } catch { return (error as? Realm.Misuse)?.message ?? "no misuse: \(error)" }
        }
        #expect(
            await text { try await realm.freeze().asyncWrite {} }
                == "Can't perform transactions on a frozen Realm")
        realm.beginWrite()
        #expect(
            await text { try await realm.asyncWrite {} }
                == "The Realm is already in a write transaction")
        realm.cancelWrite()
        #expect(
            await text { _ = try await Realm.open(configuration: .init(inMemoryIdentifier: "")) }
                == "In-memory identifier must not be empty")
        #expect(await text { try await realm.asyncWrite { _ = realm.create(Dog.self) } } == nil)
        let token = try Realm(configuration: memory()).objects(Dog.self).observe { _ in }
        #expect(
            await text { try realm.write(withoutNotifying: [token]) { _ = realm.create(Dog.self) } }
                == "Incorrect Realm: only notifications for the Realm being modified can be skipped."
        )
        #expect(!realm.isInWriteTransaction && realm.objects(Dog.self).count == 1)
    }
}
