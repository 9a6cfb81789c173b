// The same random assignments to a managed object and to an unmanaged one: both hold the same.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// Numbers that a seed decides.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct ModelTests {
    private func value(
        _ property: Property, _ generator: inout SeededGenerator
    ) -> Any {
        if property.isOptional, Int.random(in: 0..<4, using: &generator) == 0 { return NSNull() }
        let number = Int.random(in: -100...100, using: &generator)
        switch property.type {
        case .int: return property.name == "level" ? [1, 10][abs(number) % 2] : number
        case .bool: return number > 0
        case .float: return Float(number) / 4
        case .double: return Double(number) / 8
        case .string:
            if property.name.lowercased().contains("color") {
                return ["red", "green", "blue"][abs(number) % 3]
            }
            return String(repeating: "ä\(number)", count: abs(number) % 5)
        case .data: return Data(repeating: UInt8(abs(number)), count: abs(number) % 40)
        case .date: return Date(timeIntervalSince1970: Double(number) * 12345.5)
        case .objectId: return ObjectId.generate()
        case .UUID: return UUID()
        case .decimal128: return Decimal128(floatLiteral: Double(number) / 16)
        case .any:
            return [number as Any, "\(number)", NSNull(), Double(number) / 2, true][abs(number) % 5]
        case .object, .linkingObjects: return NSNull()
        }
    }

    private func plain(_ value: Any?) -> AnyHashable? {
        guard let value else { return nil }
        if let list = value as? any _AssignableCollection {
            let content = list._rlmContent
            if let values = content as? [String: Any] {
                return AnyHashable(values.mapValues { plain(unwrapped($0)) })
            }
            let all = (content as? [Any] ?? []).map { plain(unwrapped($0)) }
            // Sets have an order of their own.
            return "\(type(of: value))".hasPrefix("MutableSet")
                ? AnyHashable(Set(all)) : AnyHashable(all)
        }
        if let level = value as? Level { return AnyHashable(level.rawValue) }
        return value as? AnyHashable
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func managedObjectsAreLikeUnmanagedOnes(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let realm = try Realm(
            configuration: memory([Everything.self, Dog.self, Person.self, Address.self]))
        let managed = Everything()
        let model = Everything(value: ["id": managed.id])
        try realm.write { realm.add(managed) }
        let properties = managed.objectSchema.properties.filter {
            $0.type != .object && $0.name != "id"
        }
        for step in 0..<60 {
            var changed: Set<String> = []
            try realm.write {
                for _ in 0..<5 {
                    guard let property = properties.randomElement(using: &generator) else { return }
                    changed.insert(property.name)
                    var made: Any = value(property, &generator)
                    if property.isArray || property.isSet {
                        let count = Int.random(in: 0...6, using: &generator)
                        made = (0..<count).map { _ in value(property, &generator) }
                    } else if property.isMap {
                        var entries: [String: Any] = [:]
                        for key in ["a", "b", "c"] where Bool.random(using: &generator) {
                            entries[key] = value(property, &generator)
                        }
                        made = entries
                    }
                    managed[property.name] = made
                    model[property.name] = made
                }
            }
            for name in changed {
                #expect(
                    plain(managed[name]) == plain(model[name]),
                    "seed \(seed), step \(step), property \(name)")
            }
        }
        // A copy into another realm holds all of it, too.
        let other = try Realm(
            configuration: memory([Everything.self, Dog.self, Person.self, Address.self]))
        let copy = try other.write { other.create(Everything.self, value: managed) }
        for property in properties {
            #expect(
                plain(copy[property.name]) == plain(model[property.name]), "copy, \(property.name)")
        }
        // Writing it again as an update changes nothing.
        try other.write { other.create(Everything.self, value: managed, update: .modified) }
        for property in properties {
            #expect(
                plain(copy[property.name]) == plain(model[property.name]),
                "update, \(property.name)")
        }
    }

    @Test func accessorsAndTokensAreGivenBack() throws {
        final class Watch { weak var session: _RealmSession? }
        let watch = Watch()
        func use() throws {
            let realm = try Realm(configuration: memory())
            watch.session = realm.session
            try realm.write {
                for index in 0..<1000 { realm.create(Person.self, value: [index, "P"] as [Any]) }
            }
            var kept: [Person] = []
            for person in realm.objects(Person.self) where person.id % 10 == 0 {
                kept.append(person)
                _ = person.dogs.count
            }
            #expect(kept.map { $0.id } == Array(stride(from: 0, to: 1000, by: 10)))
        }
        try use()
        #expect(watch.session == nil)
    }

    @Test func objectsAreCodable() throws {
        let text = #"{"name":"Rex","age":3}"#
        let dog = try JSONDecoder().decode(CodableDog.self, from: Data(text.utf8))
        #expect(dog.name == "Rex" && dog.age == 3 && dog.nick == nil)
        let back = try JSONEncoder().encode(dog)
        let read = try JSONDecoder().decode(CodableDog.self, from: back)
        #expect(read.name == "Rex" && read.age == 3)
        let realm = try Realm(configuration: memory([CodableDog.self]))
        try realm.write { realm.add(dog) }
        #expect(throws: EncodingError.self) { _ = try JSONEncoder().encode(dog) }
    }

    @Test func valuesThatAreNoCases() throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        let found = try #require(realm.dynamicObjects("Everything").first)
        try realm.write {
            found["color"] = "purple"
            found["optColor"] = "purple"
        }
        #expect(it.optColor == nil)
        #expect(
            misuse { _ = it.color } == "Invalid value 'purple' of type 'String' for enum 'Color'.")
    }

    @Test func theClassPageOfObjectiveC() throws {
        let realm = try Realm(configuration: memory())
        try realm.write {
            Person.create(in: realm, withValue: [1, "Ann", 30])
            Person.createOrUpdate(in: realm, withValue: ["id": 1, "name": "Bob"])
            Person.createOrUpdateModified(in: realm, withValue: ["id": 2, "name": "Eve"])
        }
        #expect(Person.object(in: realm, forPrimaryKey: 1)?.name == "Bob")
        #expect(Person.object(in: realm, forPrimaryKey: 1)?.age == 30)
        #expect(realm.objects(Person.self).count == 2 && Person.className() == "Person")
        #expect(autoreleasepool { 3 } == 3)
    }
}

class CodableDog: Object, Codable {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var nick: String?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
