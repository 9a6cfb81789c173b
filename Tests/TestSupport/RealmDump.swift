// Everything in a realm as plain values, to compare what came back with what was there.

@testable import CoreSwift

/// A value with all that it holds. Objects that are linked to stand by their primary keys, embedded
/// ones as they are.
indirect enum Dump: Hashable, CustomStringConvertible {
    case value(String)
    case list([Dump])
    case set(Set<Dump>)
    case dictionary([String: Dump])
    case object([String: Dump])

    var description: String {
        switch self {
        case .value(let text): String(text.prefix(60))
        case .list(let items): "list of \(items.count)"
        case .set(let items): "set of \(items.count)"
        case .dictionary(let items): "dictionary \(items.keys.sorted().prefix(5))"
        case .object(let items): "object \(items)"
        }
    }

    /// What values that could not be had are.
    static let zeros: Set<Dump> = [
        .value("null"), .value("int(0)"), .value("string(\"\")"), .list([]), .set([]),
        .dictionary([:]),
    ]

    /// Whether this is what is left of another value, with nothing in it that was not there.
    func isPart(of other: Dump) -> Bool {
        if self == other || Self.zeros.contains(self) { return true }
        switch (self, other) {
        case (.list(let own), .list(let all)):
            var next = 0
            for item in own {
                while next < all.count, !item.isPart(of: all[next]) { next += 1 }
                if next == all.count { return false }
                next += 1
            }
            return true
        case (.set(let own), .set(let all)): return own.isSubset(of: all)
        case (.dictionary(let own), .dictionary(let all)),
            (.object(let own), .object(let all)):
            return own.allSatisfy { name, item in all[name].map { item.isPart(of: $0) } ?? false }
        default: return false
        }
    }
}

struct RealmDump {
    /// By class and primary key.
    var objects: [String: [String: Dump]] = [:]
    /// Of classes without one: how often each is there.
    var anonymous: [String: [Dump: Int]] = [:]

    var count: Int {
        objects.values.reduce(0) { $0 + $1.count }
            + anonymous.values.reduce(0) { $0 + $1.values.reduce(0, +) }
    }

    init(_ realm: Realm) throws {
        for item in realm.schema.classes where item.kind != .embedded {
            var leaves = try SnapshotReader(tables: realm.readTables()).table(item.key).leaves()
            var keys: [ObjectKey] = []
            while let leaf = try leaves.next() {
                for row in 0..<leaf.rows where !leaf.isDead(row) { keys.append(leaf.key(row)) }
            }
            for key in keys {
                let object = try DynamicObject(realm.object(item.key, key))
                let dump = try Self.dump(object, item)
                if item.primaryKey.isEmpty {
                    anonymous[item.name, default: [:]][dump, default: 0] += 1
                } else {
                    objects[item.name, default: [:]][
                        try Self.text(object.get(item.primaryKey), realm)] = dump
                }
            }
        }
    }

    init(path: String, key: [UInt8] = []) throws {
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        let realm = try Realm.open(configuration)
        defer { realm.close() }
        try self.init(realm)
    }

    private static func dump(_ object: DynamicObject, _ item: ClassSchema) throws -> Dump {
        var result: [String: Dump] = [:]
        for property in item.properties {
            if property.collection != .none {
                result[property.name] = try dump(
                    object.handle.collection(property.key, property.collection), object.realm)
                continue
            }
            var raw = RawValue.null
            try object.handle.getValue(property.key, &raw)
            if let type = NestedCell.type(raw) {
                result[property.name] = try dump(
                    object.handle.collection(property.key, type), object.realm)
            } else {
                result[property.name] = try dump(raw, object.realm)
            }
        }
        return .object(result)
    }

    private static func dump(_ collection: RealmCollection, _ realm: Realm) throws -> Dump {
        var items: [Dump] = []
        var byKey: [String: Dump] = [:]
        for index in 0..<(try collection.count()) {
            let raw = try collection.get(index)
            let item =
                if let type = NestedCell.type(raw) {
                    try dump(collection.nested(index, type), realm)
                } else {
                    try dump(raw, realm)
                }
            if collection.type == .dictionary {
                byKey[try text(Value(collection.key(index)), realm)] = item
            } else {
                items.append(item)
            }
        }
        switch collection.type {
        case .dictionary: return .dictionary(byKey)
        case .set: return .set(Set(items))
        default: return .list(items)
        }
    }

    private static func dump(_ raw: RawValue, _ realm: Realm) throws -> Dump {
        if raw.type == ValueType.link.rawValue,
            let item = realm.schema.class_(raw.linkClass), item.kind == .embedded
        {
            return try dump(DynamicObject(realm.object(raw.linkClass, raw.linkTarget)), item)
        }
        return .value(try text(Value(raw), realm))
    }

    private static func text(_ value: Value, _ realm: Realm) throws -> String {
        guard case .link(let link) = value, let item = realm.schema.class_(link.classKey) else {
            return text(value)
        }
        guard !item.primaryKey.isEmpty else { return "link to \(item.name)" }
        let target = try DynamicObject(realm.object(link.classKey, link.objectKey))
        return item.name + " " + text(try target.get(item.primaryKey))
    }

    /// As interpolation writes it, without asking for names of cases and fields at run time, which takes
    /// most of a dump's time.
    static func text(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .int(let number): "int(" + String(number) + ")"
        case .bool(let value): value ? "bool(true)" : "bool(false)"
        case .string(let text): "string(" + text.debugDescription + ")"
        case .binary(let bytes): "binary(" + bytes.description + ")"
        case .timestamp(let time):
            "timestamp(CoreSwift.Timestamp(seconds: " + String(time.seconds) + ", nanoseconds: "
                + String(time.nanoseconds) + "))"
        case .float(let number): "float(" + number.description + ")"
        case .double(let number): "double(" + number.description + ")"
        case .decimal128(let number): "decimal128(" + number.description + ")"
        case .objectId(let id): "objectId(" + id.description + ")"
        case .uuid(let id): "uuid(" + id.description + ")"
        case .link: "\(value)"
        }
    }

    /// What of this is not in `other`, in sentences; values that are missing are no fault.
    func strangers(to other: RealmDump) -> [String] {
        var result: [String] = []
        for (name, items) in objects {
            for (key, dump) in items {
                guard let original = other.objects[name]?[key] else {
                    result.append("\(name) \(key) was never there")
                    continue
                }
                if !dump.isPart(of: original) {
                    result.append("\(name) \(key): \(dump) is no part of \(original)")
                }
            }
        }
        for (name, items) in anonymous {
            for (dump, count) in items where count > other.anonymous[name]?[dump] ?? 0 {
                result.append("\(name): \(count) times \(dump)")
            }
        }
        return result
    }

    /// How many objects of `other` are here, but differ.
    func changed(from other: RealmDump) -> Int {
        var result = 0
        for (name, items) in objects {
            for (key, dump) in items where other.objects[name]?[key] != dump { result += 1 }
        }
        return result
    }
}
