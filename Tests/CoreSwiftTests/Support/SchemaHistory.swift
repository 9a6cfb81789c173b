// Random histories of schemas: objects change, properties come, go, change and get other names. A model in
// plain dictionaries says what has to be there. Objects are known by their keys, which no migration
// changes.

@testable import CoreSwift

struct SchemaHistory {
    static let types: [PropertyType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal128, .objectId, .uuid,
        .mixed,
    ]

    struct Owner {
        var properties: [PropertySchema] = []
        var nextKey: Int64 = 0
        var objects: [Int64: [String: Value]] = [:]
    }

    enum Operation {
        /// A new object, whose key follows from those before it.
        case create(String, Int64, [String: Value])
        case set(String, Int64, String, Value)
        case delete(String, Int64)
    }

    struct Rename {
        let className: String
        let from: String
        let to: String
    }

    /// Empty before the first schema.
    var owners: [String: Owner] = [:]
    var nextName = 0
    var version: UInt64 = 0
    private var random = Random(0)

    private mutating func below(_ limit: Int) -> Int { random.below(limit) }
    private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Runs `body` with the numbers of another generator.
    private mutating func with<R>(_ other: inout Random, _ body: (inout Self) -> R) -> R {
        random = other
        defer { other = random }
        return body(&self)
    }

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
        owners[name]!.properties.append(made)
        let value = Self.initial(made)
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[made.name] = value }
    }

    /// Changes the schema of the model; returns the renames that the migration has to do.
    mutating func changeSchema(_ random: inout Random) -> [Rename] {
        version += 1
        return with(&random) { $0.owners.isEmpty ? $0.begin() : $0.nextSchema() }
    }

    private mutating func begin() -> [Rename] {
        for name in ["A", "B"] {
            owners[name] = Owner(properties: [PropertySchema("n", .int)])
            for _ in 0..<3 { add(to: name) }
        }
        return []
    }

    private mutating func nextSchema() -> [Rename] {
        var renames: [Rename] = []
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
                    renames.append(Rename(className: name, from: old.name, to: new))
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

    /// Changes objects of the model; returns what to do with a realm.
    mutating func changeObjects(_ random: inout Random) -> [Operation] {
        with(&random) { $0.nextOperations() }
    }

    private mutating func nextOperations() -> [Operation] {
        var operations: [Operation] = []
        for name in owners.keys.sorted() {
            for _ in 0..<below(chance(10) ? 600 : 20) {
                var values: [String: Value] = [:]
                for property in owners[name]!.properties {
                    values[property.name] = chance(30) ? Self.empty(property) : value(property)
                }
                let key = owners[name]!.nextKey
                owners[name]?.nextKey += 1
                owners[name]?.objects[key] = values
                operations.append(.create(name, key, values))
            }
            for key in owners[name]!.objects.keys.sorted() where chance(10) {
                if chance(20) {
                    owners[name]?.objects[key] = nil
                    operations.append(.delete(name, key))
                    continue
                }
                let property = owners[name]!.properties[below(owners[name]!.properties.count)]
                let value = value(property)
                owners[name]?.objects[key]?[property.name] = value
                operations.append(.set(name, key, property.name, value))
            }
        }
        return operations
    }

    // MARK: With a realm

    /// What gives a file the schema of the model.
    func request(_ renames: [Rename]) -> SchemaRequest {
        var request = SchemaRequest(schema, version: version)
        request.migrate = { _, new, target throws(RealmError) in
            for rename in renames {
                try new.renameProperty(rename.className, rename.from, to: rename.to, in: target)
            }
            return true
        }
        return request
    }

    /// In a write transaction.
    static func run(_ operations: [Operation], _ realm: Realm) throws {
        func object(_ name: String, _ key: Int64) throws -> DynamicObject {
            let classKey = realm.schema.class_(named: name)!.key
            guard let object = try realm.find(classKey, key: ObjectKey(rawValue: key)) else {
                throw ToyFailure(description: "object \(key) of \(name) is not there")
            }
            return object
        }
        for operation in operations {
            switch operation {
            case .create(let name, let key, let values):
                let made = try realm.create(name, values)
                guard made.key.rawValue == key else {
                    throw ToyFailure(description: "\(name) gave key \(made.key), not \(key)")
                }
            case .set(let name, let key, let property, let value):
                try object(name, key).set(property, value)
            case .delete(let name, let key): try object(name, key).delete()
            }
        }
    }

    /// Throws unless the realm has these properties and objects.
    func verify(_ realm: Realm) throws {
        _ = try realm.readTables()
        guard Set(realm.schema.classes.map(\.name)) == Set(owners.keys),
            realm.schemaVersion == (version == 0 ? Catalog.unversioned : version)
        else {
            throw ToyFailure(description: "schema version \(realm.schemaVersion), not \(version)")
        }
        for (name, owner) in owners {
            guard let item = realm.schema.class_(named: name),
                Set(item.properties.map(\.name)) == Set(owner.properties.map(\.name))
            else {
                throw ToyFailure(description: "\(name) has other properties")
            }
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

extension String {
    fileprivate subscript(_ place: Int) -> Character { self[index(startIndex, offsetBy: place)] }
}

/// Histories for the crash and fault campaigns: each commit is a migration or a change of objects.
struct MigrationWorkload: CrashWorkload {
    enum Change {
        case schema(SchemaHistory, [SchemaHistory.Rename])
        case objects([SchemaHistory.Operation])
    }

    final class Session: CrashSession {
        let realm: Realm
        let isChecked: Bool

        init(_ realm: Realm, isChecked: Bool) {
            self.realm = realm
            self.isChecked = isChecked
        }

        var version: UInt64 { realm.version ?? 0 }

        func verify(_ model: SchemaHistory) throws {
            try model.verify(realm)
            guard isChecked else { return }
            let problems = try realm.check()
            guard problems.isEmpty else {
                throw ToyFailure(description: problems.joined(separator: "; "))
            }
        }

        func commit(_ change: Change) throws {
            switch change {
            case .schema(let model, let renames): try realm.updateSchema(model.request(renames))
            case .objects(let operations):
                try realm.write { try SchemaHistory.run(operations, realm) }
            }
        }

        func close() throws { realm.close() }
    }

    var isChecked = true
    var emptyModel: SchemaHistory { SchemaHistory() }

    func open(_ path: String, _ files: FileSystem) throws -> Session {
        let realm = try Realm.open(Configuration(path: path), files: files)
        do { try realm.beginRead() } catch {
            realm.close()
            throw error
        }
        return Session(realm, isChecked: isChecked)
    }

    mutating func plan(
        _ model: SchemaHistory, _ random: inout Random
    ) -> (change: Change, result: SchemaHistory) {
        var result = model
        if model.owners.isEmpty || random.below(2) == 0 {
            let renames = result.changeSchema(&random)
            return (.schema(result, renames), result)
        }
        return (.objects(result.changeObjects(&random)), result)
    }
}
