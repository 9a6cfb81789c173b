// Histories of schemas with a realm: migrations and changes carried out, and everything compared.

@testable import CoreSwift

extension SchemaHistory {
    /// What gives a file the schema of the model.
    func request(_ steps: [Step]) -> SchemaRequest {
        var request = SchemaRequest(schema, version: version)
        request.migrate = { _, new, target throws(RealmError) in
            for step in steps {
                switch step {
                case .renameClass(let old, let name):
                    try new.renameClass(old, to: name, in: target)
                case .rename(let name, let old, let property):
                    try new.renameProperty(name, old, to: property, in: target)
                case .renumber(let name, let difference):
                    guard let item = new.schema.class_(named: name) else { return false }
                    // Defaults that were written to the objects are not in leaves yet.
                    try new.tablesForWriting().settle()
                    for key in try new.table(item.key).allKeys() {
                        guard let object = try new.find(item.key, key: key),
                            case .int(let old) = try object.get(Self.number)
                        else { return false }
                        try object.set(Self.number, .int(old + difference))
                    }
                }
            }
            return true
        }
        return request
    }

    // MARK: Objects by number

    /// The objects of a realm by the numbers that the model knows them by.
    struct Directory {
        let realm: Realm
        let model: SchemaHistory
        private var keys: [String: [Int64: ObjectKey]] = [:]
        private var numbers: [ClassKey: [ObjectKey: Int64]] = [:]

        init(_ realm: Realm, _ model: SchemaHistory) throws {
            self.realm = realm
            self.model = model
            for (name, owner) in model.owners where !owner.isHidden {
                guard let item = realm.schema.class_(named: owner.name) else {
                    throw ToyFailure(description: "there is no class \(owner.name)")
                }
                for key in try realm.table(item.key).allKeys() {
                    guard let object = try realm.find(item.key, key: key),
                        case .int(let number) = try object.get(SchemaHistory.number)
                    else { throw ToyFailure(description: "\(owner.name) \(key) has no number") }
                    try add(name, number, object)
                }
            }
        }

        mutating func add(_ name: String, _ number: Int64, _ object: DynamicObject) throws {
            guard keys[name, default: [:]].updateValue(object.key, forKey: number) == nil else {
                throw ToyFailure(description: "two objects of \(name) have number \(number)")
            }
            numbers[object.handle.classKey, default: [:]][object.key] = number
        }

        mutating func remove(_ name: String, _ number: Int64) { keys[name]?[number] = nil }

        func numbers(_ name: String) -> Set<Int64> { Set(keys[name, default: [:]].keys) }

        func class_(_ name: String) throws -> ClassSchema {
            guard let item = realm.schema.class_(named: model.owners[name]!.name) else {
                throw ToyFailure(description: "there is no class \(name)")
            }
            return item
        }

        func object(_ name: String, _ number: Int64) throws -> DynamicObject {
            guard let key = keys[name]?[number],
                let object = try realm.find(class_(name).key, key: key)
            else { throw ToyFailure(description: "object \(number) of \(name) is not there") }
            return object
        }

        /// A value of the model as the realm has it, and the other way round.
        func stored(_ value: Value) throws -> Value {
            guard case .link(let link) = value else { return value }
            return try .link(
                object(
                    SchemaHistory.names[Int(link.classKey.rawValue)], link.objectKey.rawValue
                ).link)
        }

        func modelled(_ value: Value) throws -> Value {
            guard case .link(let link) = value else { return value }
            guard let number = numbers[link.classKey]?[link.objectKey],
                let name = realm.schema.class_(link.classKey)?.name,
                let place = SchemaHistory.names.firstIndex(where: { model.owners[$0]?.name == name }
                )
            else { throw ToyFailure(description: "a link leads to \(link), which is nothing") }
            return .link(
                Link(ClassKey(rawValue: UInt32(place)), ObjectKey(rawValue: number)))
        }
    }

    // MARK: Changes

    /// In a write transaction; in order, so that each link leads to what is there.
    func run(_ operations: [Operation], _ realm: Realm) throws {
        var directory = try Directory(realm, self)
        for operation in operations {
            switch operation {
            case .create(let name, let number, let values):
                let owner = owners[name]!
                let made =
                    owner.hasKey
                    ? try realm.create(owner.name, primaryKey: .int(number))
                    : try realm.create(owner.name, [Self.number: .int(number)])
                try directory.add(name, number, made)
                for (property, value) in values.sorted(by: { $0.key < $1.key }) {
                    try made.hold(property, value, directory)
                }
            case .set(let name, let number, let property, let value):
                try directory.object(name, number).hold(property, value, directory)
            case .delete(let name, let number):
                try directory.object(name, number).delete()
                directory.remove(name, number)
            }
        }
    }

    // MARK: Comparison

    /// Throws unless the realm has these classes, properties and objects.
    func verify(_ realm: Realm) throws {
        _ = try realm.readTables()
        guard realm.schemaVersion == (version == 0 ? Catalog.unversioned : version) else {
            throw ToyFailure(description: "schema version \(realm.schemaVersion), not \(version)")
        }
        guard !owners.isEmpty else { return }
        let directory = try Directory(realm, self)
        var embedded = 0
        for (name, owner) in owners {
            for values in owner.objects.values {
                for case .embedded(.some) in values.values { embedded += 1 }
            }
            guard !owner.isHidden else { continue }
            let item = try directory.class_(name)
            guard Set(item.properties.map(\.name)) == Set(owner.properties.map(\.name)) else {
                throw ToyFailure(description: "\(owner.name) has other properties")
            }
            guard (item.primaryKeyProperty?.name == Self.number) == owner.hasKey else {
                throw ToyFailure(description: "\(owner.name) has another primary key")
            }
            guard directory.numbers(name) == Set(owner.objects.keys) else {
                let other = directory.numbers(name).symmetricDifference(owner.objects.keys)
                throw ToyFailure(
                    description: "\(owner.name) has other objects: \(other.sorted().prefix(9)) of "
                        + "\(owner.objects.count) are on one side alone")
            }
            for (number, values) in owner.objects {
                let object = try directory.object(name, number)
                for (property, value) in values {
                    let found = try object.held(property, value, directory)
                    guard found == value else {
                        throw ToyFailure(
                            description: "\(owner.name).\(property) of object \(number) is "
                                + "\(found), not \(value)")
                    }
                }
            }
            if owner.hasKey { try findByKey(realm, item, owner) }
            for property in owner.properties { try query(realm, item, property, owner) }
        }
        guard let inner = realm.schema.class_(named: Self.embeddedClass),
            try realm.objectCount(inner.key) == embedded
        else { throw ToyFailure(description: "there are not \(embedded) embedded objects") }
    }

    private func findByKey(_ realm: Realm, _ item: ClassSchema, _ owner: Owner) throws {
        guard let number = owner.objects.keys.max() else { return }
        let found = try realm.find(item.name, primaryKey: .int(number))
        guard try found?.get(Self.number) == .int(number),
            try realm.find(item.name, primaryKey: .int(number + 1)) == nil
        else { throw ToyFailure(description: "\(item.name) \(number) is not found by its key") }
    }

    /// A query over the column of each property finds what the model has, with an index or without.
    private func query(
        _ realm: Realm, _ item: ClassSchema, _ property: PropertySchema, _ owner: Owner
    ) throws {
        let text: String
        let expected: Int
        let wanted: Value
        switch owner.objects.min(by: { $0.key < $1.key })?.value[property.name] {
        case .one(let value)? where property.type != .object:
            wanted = value
            text = "\(property.name) == $0"
            expected = owner.objects.values.count { $0[property.name] == .one(value) }
        case .list(let values)? where property.type != .object:
            guard let value = values.first else { return }
            wanted = value
            text = "ANY \(property.name) == $0"
            expected = owner.objects.values.count {
                guard case .list(let all) = $0[property.name] else { return false }
                return all.contains(value)
            }
        default: return
        }
        let query = try Query.parse(
            text, arguments: [.scalar(wanted)], schema: realm.schema, classKey: item.key)
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

extension DynamicObject {
    private func key(_ name: String) throws -> (PropertyKey, CollectionType) {
        guard let property = realm.schema.class_(handle.classKey)?.property(named: name) else {
            throw ToyFailure(description: "there is no property \(name)")
        }
        return (property.key, property.collection)
    }

    /// Gives a property what the model has.
    fileprivate func hold(
        _ name: String, _ held: SchemaHistory.Held, _ directory: SchemaHistory.Directory
    ) throws {
        let (key, type) = try key(name)
        switch held {
        case .one(let value): try set(name, try directory.stored(value))
        case .embedded(nil): try set(name, .null)
        case .embedded(let x?):
            try DynamicObject(try handle.createEmbedded(key)).set("x", .int(x))
        case .list(let values):
            let list = try handle.collection(key, type)
            try list.removeAll()
            for (place, value) in values.enumerated() {
                try directory.stored(value).withRaw { raw throws(RealmError) in
                    try list.insert(raw, at: place)
                }
            }
        case .set(let values):
            let set = try handle.collection(key, type)
            try set.removeAll()
            for value in values {
                try value.withRaw { raw throws(RealmError) in _ = try set.insert(raw) }
            }
        case .dictionary(let values):
            let dictionary = try handle.collection(key, type)
            try dictionary.removeAll()
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                try Value.string(name).withRaw { key throws(RealmError) in
                    try value.withRaw { raw throws(RealmError) in
                        _ = try dictionary.insert(raw, key: key)
                    }
                }
            }
        }
    }

    /// What a property has, in the form that the model's value has.
    fileprivate func held(
        _ name: String, _ like: SchemaHistory.Held, _ directory: SchemaHistory.Directory
    ) throws -> SchemaHistory.Held {
        let (key, type) = try key(name)
        if case .embedded = like {
            guard case .int(let x)? = try linked(name)?.get("x") else { return .embedded(nil) }
            return .embedded(x)
        }
        if type == .none { return .one(try directory.modelled(try get(name))) }
        let collection = try handle.collection(key, type)
        var values: [Value] = []
        var names: [String] = []
        for place in 0..<(try collection.count()) {
            values.append(try directory.modelled(try Value(try collection.get(place))))
            if type == .dictionary, case .string(let name) = try Value(try collection.key(place)) {
                names.append(name)
            }
        }
        switch type {
        case .set: return .set(Set(values))
        case .dictionary:
            return .dictionary(Dictionary(zip(names, values), uniquingKeysWith: { a, _ in a }))
        default: return .list(values)
        }
    }
}
