// Random changes of objects of any schema: every kind of property, collections and what is in them,
// embedded objects, deletions.

@testable import CoreSwift

struct RandomProgram {
    let realm: Realm
    var random: Random
    /// Classes that it does nothing with.
    var leavesOut: Set<String> = []
    private var keys: [ClassKey: [ObjectKey]] = [:]

    init(_ realm: Realm, seed: UInt64) {
        self.realm = realm
        random = Random(seed)
    }

    private mutating func oneIn(_ count: Int) -> Bool { random.below(count) == 0 }

    private var topLevel: [ClassSchema] {
        realm.schema.classes.filter { $0.kind == .topLevel && !leavesOut.contains($0.name) }
    }

    // MARK: Objects

    /// One random change, in a write transaction.
    mutating func step() throws {
        let class_ = topLevel[random.below(topLevel.count)]
        guard var object = try someObject(class_.key), !oneIn(8) else {
            return try create(class_, oneIn(6) ? 1 + random.below(40) : 1)
        }
        if oneIn(14) {
            try object.delete()
            return object.release()
        }
        var owner = class_
        // Down into embedded objects.
        while !oneIn(3), let child = try someEmbedded(object, owner) {
            object.release()
            object = child.0
            owner = child.1
        }
        defer { object.release() }
        let property = owner.properties[random.below(owner.properties.count)]
        if !property.isPrimaryKey { try changeWhileThere(object, property) }
    }

    /// Changes a property; the object may go on the way, with what one of its collections holds.
    private mutating func changeWhileThere(
        _ object: ObjectHandle, _ property: PropertySchema
    ) throws {
        do {
            try change(object, property)
        } catch let error as RealmError where error.code == .invalidatedObject {
            if object.isValid { throw error }
        }
    }

    private mutating func create(_ class_: ClassSchema, _ count: Int) throws {
        for _ in 0..<count {
            var handle: ObjectHandle
            if let key = class_.primaryKeyProperty {
                let value: Value =
                    key.type == .int
                    ? .int(Int64(random.below(400)) - 50) : .string("name \(random.below(300))")
                var created = false
                handle = try value.withRaw { raw throws(RealmError) in
                    try realm.getOrCreateObject(class_.key, primaryKey: raw, created: &created)
                }
            } else {
                handle = try realm.createObject(class_.key)
            }
            defer { handle.release() }
            keys[class_.key, default: []].append(handle.objectKey)
            for _ in 0..<random.below(4) {
                let property = class_.properties[random.below(class_.properties.count)]
                guard handle.isValid, !property.isPrimaryKey else { continue }
                try changeWhileThere(handle, property)
            }
        }
    }

    private mutating func someObject(_ key: ClassKey) throws -> ObjectHandle? {
        for _ in 0..<4 {
            guard let known = keys[key], !known.isEmpty else { return nil }
            let index = random.below(known.count)
            if try realm.readTables().table(key)?.find(known[index]) != nil {
                return try realm.object(key, known[index])
            }
            keys[key]?.remove(at: index)
        }
        return nil
    }

    private mutating func someEmbedded(
        _ object: ObjectHandle, _ owner: ClassSchema
    ) throws -> (ObjectHandle, ClassSchema)? {
        let links = owner.properties.filter { embedded($0) != nil }
        guard !links.isEmpty else { return nil }
        let property = links[random.below(links.count)]
        guard let target = embedded(property) else { return nil }
        if property.collection == .none {
            return try object.linkedObject(property.key).map { ($0, target) }
        }
        let collection = try object.collection(property.key, property.collection)
        guard try collection.count() > 0 else { return nil }
        return try collection.object(random.below(try collection.count())).map { ($0, target) }
    }

    private func embedded(_ property: PropertySchema) -> ClassSchema? {
        guard property.type == .object else { return nil }
        return realm.schema.class_(named: property.linkTarget).flatMap {
            $0.kind == .embedded ? $0 : nil
        }
    }

    // MARK: Properties

    private mutating func change(_ object: ObjectHandle, _ property: PropertySchema) throws {
        let key = property.key
        if property.collection != .none {
            let collection = try object.collection(key, property.collection)
            for _ in 0...random.below(oneIn(5) ? 60 : 4) { try change(collection, property) }
            return
        }
        if embedded(property) != nil {
            if oneIn(3) { return try object.setValue(key, .null) }
            return try object.createEmbedded(key).release()
        }
        if property.type == .mixed, !oneIn(3) {
            var held = RawValue.null
            try object.getValue(key, &held)
            let type = NestedCell.type(held) ?? (oneIn(2) ? .list : .dictionary)
            let collection = try object.setCollection(key, type)
            for _ in 0...random.below(6) { try change(collection, property) }
            return
        }
        if property.type == .int || property.type == .mixed, oneIn(3) {
            var old = RawValue.null
            try object.getValue(key, &old)
            if old.type == ValueType.int.rawValue {
                return try object.addInt(key, Int64(random.below(2000)) - 1000)
            }
        }
        try value(property, isNullable: property.isNullable || property.type == .mixed)
            .withRaw { raw throws(RealmError) in try object.setValue(key, raw) }
    }

    // MARK: Collections

    private mutating func change(
        _ collection: RealmCollection, _ property: PropertySchema, depth: Int = 1
    ) throws {
        let count = try collection.count()
        let position = random.below(max(count, 1))
        if count > 0, depth < 4, try collection.holdsMixed(), collection.type != .set, !oneIn(3),
            let type = NestedCell.type(try collection.get(position))
        {
            return try change(
                try collection.nested(position, type), property, depth: depth + 1)
        }
        switch random.below(count > 30 ? 11 : 16) {
        case 0 where oneIn(3): return try collection.removeAll()
        case 1 where oneIn(6) && property.type == .object: return try collection.deleteAll()
        case 0...3 where count > 0: return try collection.remove(at: position)
        case 4, 5:
            if collection.type == .list, count > 0 {
                return try collection.move(from: position, to: random.below(count))
            }
        default: break
        }
        try put(collection, property, position, depth)
    }

    private mutating func put(
        _ collection: RealmCollection, _ property: PropertySchema, _ position: Int, _ depth: Int
    ) throws {
        let count = try collection.count()
        let sets = count > 0 && oneIn(3)
        let index = sets ? position : oneIn(2) ? count : position
        let number = random.below(12)
        // Dictionaries in values take every key.
        let name = Value.string(depth > 1 && number % 3 == 0 ? "$key.\(number)" : "key \(number)")
        if embedded(property) != nil {
            if collection.type == .dictionary {
                return try name.withRaw { key throws(RealmError) in
                    try collection.insertEmbedded(key: key)
                }.release()
            }
            return try
                (sets
                ? collection.setEmbedded(at: index) : collection.insertEmbedded(at: index))
                .release()
        }
        if try collection.holdsMixed(), collection.type != .set, depth < 4, oneIn(3) {
            let type: CollectionType = oneIn(2) ? .list : .dictionary
            let nested =
                try collection.type == .dictionary
                ? name.withRaw { key throws(RealmError) in
                    try collection.insertNested(type, key: key, takesAnyKey: true)
                }
                : sets
                    ? collection.setNested(type, at: index)
                    : collection.insertNested(type, at: index)
            return try change(nested, property, depth: depth + 1)
        }
        let canBeNull = property.type == .mixed || (property.isNullable && property.type != .object)
        let value = try value(
            property, isNullable: canBeNull || collection.type == .dictionary && property.isNullable
        )
        if property.type == .object, value == .null, collection.type != .dictionary { return }
        try value.withRaw { raw throws(RealmError) in
            switch collection.type {
            case .set: _ = try collection.insert(raw)
            case .dictionary:
                _ = try name.withRaw { key throws(RealmError) in
                    try collection.insert(raw, key: key, takesAnyKey: true)
                }
            default:
                if sets {
                    try collection.set(raw, at: index)
                } else {
                    try collection.insert(raw, at: index)
                }
            }
        }
    }

    // MARK: Values

    private mutating func value(_ property: PropertySchema, isNullable: Bool) throws -> Value {
        if isNullable, oneIn(5) { return .null }
        let number = Int64(random.below(oneIn(4) ? 1_000_000_000 : 100))
        switch property.type {
        case .int: return .int(number - 20)
        case .bool: return .bool(number % 2 == 0)
        case .string: return .string(text(number))
        case .binary: return .binary(Array(text(number).utf8))
        case .timestamp:
            return .timestamp(Timestamp(seconds: number, nanoseconds: Int32(random.below(3))))
        case .float: return .float(Float(number) / 4)
        case .double: return .double(Double(number) / 8)
        case .decimal128: return .decimal128(try Decimal128(parsing: "\(number).5"))
        case .objectId:
            return .objectId(try ObjectId(parsing: "0123456789abcdef0123\(1000 + number % 9000)"))
        case .uuid:
            return .uuid(
                try UUIDValue(parsing: "00000000-0000-0000-0000-00000000\(1000 + number % 9000)"))
        case .object:
            guard let target = realm.schema.class_(named: property.linkTarget),
                let object = try someObject(target.key)
            else { return .null }
            defer { object.release() }
            return .link(Link(target.key, object.objectKey))
        default:
            let types: [PropertyType] = [.int, .bool, .string, .binary, .double, .uuid]
            if oneIn(3), let object = try someObject(topLevel[random.below(topLevel.count)].key) {
                defer { object.release() }
                return .link(Link(object.classKey, object.objectKey))
            }
            return try value(
                PropertySchema("any", types[random.below(types.count)]), isNullable: false)
        }
    }

    private mutating func text(_ number: Int64) -> String {
        let length = oneIn(40) ? 9000 : oneIn(4) ? 0 : random.below(30)
        return "word \(number) " + String(repeating: "x", count: length)
    }
}
