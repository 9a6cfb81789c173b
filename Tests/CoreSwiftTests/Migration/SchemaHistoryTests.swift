// Random histories of schemas: objects change, properties come, go, change and get other names, the
// file is opened again and again; a model in plain dictionaries says what has to be there. Objects are
// known by their keys, which no migration changes.

import Testing

@testable import CoreSwift

private struct History {
    static let types: [PropertyType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal128, .objectId, .uuid,
        .mixed,
    ]

    struct Owner {
        var properties: [PropertySchema] = []
        var objects: [Int64: [String: Value]] = [:]
    }

    var random: Random
    var owners: [String: Owner] = ["A": Owner(), "B": Owner()]
    var nextName = 0
    var version: UInt64 = 0

    init(_ random: Random) {
        self.random = random
        for name in ["A", "B"] {
            owners[name]?.properties = [PropertySchema("n", .int)]
            for _ in 0..<3 { add(to: name) }
        }
    }

    mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    // MARK: Values

    mutating func value(_ property: PropertySchema) -> Value {
        if property.isNullable, chance(20) { return .null }
        var type = property.type
        if type == .mixed { type = Self.types[below(Self.types.count - 1)] }
        switch type {
        case .int: return .int(Int64(below(1000)) - 500)
        case .bool: return .bool(chance(50))
        case .string: return .string(text())
        case .binary: return .binary([UInt8](text().utf8))
        case .timestamp:
            return .timestamp(
                Timestamp(seconds: Int64(below(100_000)), nanoseconds: Int32(below(2) * 500)))
        case .float: return .float(Float(below(100)) / 4)
        case .double: return .double(Double(below(100)) / 8)
        case .decimal128: return .decimal128(Decimal128(Int64(below(100))))
        case .objectId: return .objectId(ObjectId(high: UInt64(below(100)), low: 7))
        default: return .uuid(UUIDValue(high: 9, low: UInt64(below(100))))
        }
    }

    private mutating func text() -> String {
        let length = chance(5) ? 2500 : chance(10) ? 300 : below(12)
        return String(repeating: "abcdefghij"[below(10)], count: length)
    }

    static func empty(_ property: PropertySchema) -> Value {
        if property.isNullable { return .null }
        switch property.type {
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .string: return .string("")
        case .binary: return .binary([])
        case .timestamp: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        case .float: return .float(0)
        case .double: return .double(0)
        case .decimal128: return .decimal128(.zero)
        case .objectId: return .objectId(.zero)
        default: return .uuid(.zero)
        }
    }

    // MARK: Schemas

    private mutating func property(_ name: String) -> PropertySchema {
        let type = Self.types[below(Self.types.count)]
        var property = PropertySchema(name, type)
        if type == .mixed || chance(40) { property.flags.insert(.nullable) }
        if canBeIndexed(property), chance(30) { property.flags.insert(.indexed) }
        if type == .string, chance(20) { property.flags.insert(.fullTextIndexed) }
        if chance(50) {
            // Null is the default that is there anyway.
            let value = value(property)
            if value != .null { property.defaultValue = .value(value) }
        }
        return property
    }

    private func canBeIndexed(_ property: PropertySchema) -> Bool {
        switch property.type {
        case .int, .bool, .string, .timestamp, .objectId, .uuid, .mixed: return true
        default: return false
        }
    }

    private static func initial(_ property: PropertySchema) -> Value {
        if case .value(let value) = property.defaultValue { return value }
        return empty(property)
    }

    mutating func add(to name: String) {
        let made = property("p\(nextName)")
        nextName += 1
        owners[name]?.properties.append(made)
        let value = Self.initial(made)
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[made.name] = value }
    }

    /// Changes the schema of the model; returns the renames that the migration has to do.
    mutating func changeSchema() -> [(className: String, from: String, to: String)] {
        var renames: [(className: String, from: String, to: String)] = []
        for name in ["A", "B"] {
            // What happens to a property in one step is one change for the file.
            let known = Set(owners[name]!.properties.map(\.name))
            var changed: Set<String> = []
            for _ in 0..<below(4) {
                let count = owners[name]!.properties.count
                let place = below(count)
                let old = owners[name]!.properties[place]
                guard known.contains(old.name), changed.insert(old.name).inserted else { continue }
                let isFree = place > 0
                switch below(7) {
                case 0, 1: add(to: name)
                case 2 where isFree:
                    owners[name]?.properties.remove(at: place)
                    forget(old.name, in: name)
                case 3 where isFree:
                    // Another type, or the other way round with null.
                    let other = property(old.name)
                    guard other.type != old.type else { continue }
                    owners[name]?.properties[place] = other
                    set(other.name, Self.initial(other), in: name)
                case 4 where isFree && old.type != .mixed:
                    if old.isNullable {
                        owners[name]?.properties[place].flags.remove(.nullable)
                        if case .value(.null)? = old.defaultValue {
                            owners[name]?.properties[place].defaultValue = nil
                        }
                        set(old.name, Self.initial(owners[name]!.properties[place]), in: name)
                    } else {
                        owners[name]?.properties[place].flags.insert(.nullable)
                    }
                case 5 where isFree:
                    let new = "r\(nextName)"
                    nextName += 1
                    owners[name]?.properties[place].name = new
                    owners[name]?.properties[place].defaultValue = nil
                    for key in owners[name]!.objects.keys {
                        let value = owners[name]!.objects[key]![old.name]
                        owners[name]?.objects[key]?[old.name] = nil
                        owners[name]?.objects[key]?[new] = value
                    }
                    renames.append((name, old.name, new))
                case 6 where canBeIndexed(old):
                    owners[name]?.properties[place].flags.formSymmetricDifference(.indexed)
                default: break
                }
            }
        }
        return renames
    }

    private mutating func forget(_ property: String, in name: String) {
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[property] = nil }
    }

    private mutating func set(_ property: String, _ value: Value, in name: String) {
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[property] = value }
    }

    var schema: Schema {
        Schema(owners.map { ClassSchema($0.key, properties: $0.value.properties) })
    }

    // MARK: Objects

    mutating func changeObjects(_ realm: Realm) throws {
        for name in ["A", "B"] {
            let item = realm.schema.class_(named: name)!
            for _ in 0..<below(chance(10) ? 600 : 20) {
                let object = try realm.create(name)
                var values: [String: Value] = [:]
                for property in owners[name]!.properties {
                    let value = chance(30) ? Self.empty(property) : value(property)
                    values[property.name] = value
                    try object.set(property.name, value)
                }
                owners[name]?.objects[object.key.rawValue] = values
            }
            for key in owners[name]!.objects.keys.sorted() where chance(10) {
                guard let object = try realm.find(item.key, key: ObjectKey(rawValue: key)) else {
                    throw ToyFailure(description: "object \(key) of \(name) is not there")
                }
                if chance(20) {
                    try object.delete()
                    owners[name]?.objects[key] = nil
                    continue
                }
                let property = owners[name]!.properties[below(owners[name]!.properties.count)]
                let value = value(property)
                try object.set(property.name, value)
                owners[name]?.objects[key]?[property.name] = value
            }
        }
    }

    func verify(_ realm: Realm) throws {
        for (name, owner) in owners {
            let item = realm.schema.class_(named: name)!
            guard try realm.objectCount(item.key) == owner.objects.count else {
                throw ToyFailure(
                    description: "\(name) has \(try realm.objectCount(item.key)) objects, not "
                        + "\(owner.objects.count)")
            }
            for (key, values) in owner.objects {
                guard let object = try realm.find(item.key, key: ObjectKey(rawValue: key)) else {
                    throw ToyFailure(description: "object \(key) of \(name) is not there")
                }
                for (property, value) in values where try object.get(property) != value {
                    throw ToyFailure(
                        description: "\(name).\(property) of object \(key) is "
                            + "\(try object.get(property)), not \(value)")
                }
            }
            for property in owner.properties { try query(realm, item, property, owner) }
        }
    }

    /// A query over the column of each property finds what the model has, with an index or without.
    private func query(
        _ realm: Realm, _ item: ClassSchema, _ property: PropertySchema, _ owner: Owner
    ) throws {
        guard let wanted = owner.objects.min(by: { $0.key < $1.key })?.value[property.name] else {
            return
        }
        let expected = owner.objects.values.count { $0[property.name] == wanted }
        let query = try Query.parse(
            "\(property.name) == $0", arguments: [.scalar(wanted)], schema: realm.schema,
            classKey: item.key)
        let found = try query.countMatches(SnapshotReader(tables: realm.readTables()))
        // Values of mixed properties that are of different types may be equal.
        let isRight = property.type == .mixed ? found >= expected : found == expected
        guard isRight else {
            throw ToyFailure(
                description: "\(item.name).\(property.name) == \(wanted): \(found) objects, not "
                    + "\(expected)")
        }
    }
}

@Suite struct SchemaHistoryTests {
    @Test func objectsAreWhatTheModelSays() throws {
        for item in Campaign("schema histories", seconds: 6, atLeast: 4) {
            let directory = TemporaryDirectory()
            do {
                try run(directory.file(), item.random)
            } catch {
                Issue.record("seed \(item.seed): \(error)")
                return
            }
        }
    }

    private func open(
        _ path: String, _ history: History,
        _ renames: [(className: String, from: String, to: String)]
    ) throws -> Realm {
        var configuration = Configuration(path: path)
        configuration.schema = history.schema
        configuration.schemaVersion = history.version
        configuration.migrate = { _, new, target throws(RealmError) in
            for rename in renames {
                try new.renameProperty(rename.className, rename.from, to: rename.to, in: target)
            }
            return true
        }
        return try Realm.open(configuration)
    }

    private func run(_ path: String, _ random: Random) throws {
        var history = History(random)
        var renames: [(className: String, from: String, to: String)] = []
        for _ in 0..<12 {
            history.version += 1
            let realm = try open(path, history, renames)
            try history.verify(realm)
            for _ in 0..<2 {
                let before = history.owners
                try realm.beginWrite()
                try history.changeObjects(realm)
                if history.chance(20) {
                    try realm.rollback()
                    history.owners = before
                } else {
                    try realm.commit()
                }
                try history.verify(realm)
            }
            try realm.readTables().checkInvariants()
            let problems = try realm.check()
            guard problems.isEmpty else {
                throw ToyFailure(description: problems.joined(separator: "; "))
            }
            realm.close()
            renames = history.changeSchema()
        }
    }
}

extension String {
    fileprivate subscript(_ place: Int) -> Character { self[index(startIndex, offsetBy: place)] }
}
