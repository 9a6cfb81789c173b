// The single changes that a request of the page lists: values, elements of collections, objects.

import CoreSwift

extension StudioFile {
    /// All edits of a request in one transaction, or none.
    func edit(_ request: Request) throws -> [UInt8] {
        let label = try request.text("label")
        let edits = try request.list("edits").map { try Request($0) }
        guard !edits.isEmpty else { throw StudioError.refused("the request has no edits") }
        return try change(ValueText.short(label, charactersMax: 120)) { realm in
            var created: (name: String, key: ObjectKey)?
            for edit in edits {
                if let made = try run(edit, realm) { created = made }
            }
            return { output in
                guard let created else { return }
                output.member("class", created.name)
                output.member("key", "\(created.key)")
            }
        }
    }

    /// The class and key of an object that was made.
    private func run(_ edit: Request, _ realm: Realm) throws -> (String, ObjectKey)? {
        let verb = try edit.text("do")
        if verb == "create" {
            let class_ = try class_(try edit.text("class"))
            return (class_.name, try realm.create(class_.name, json: try edit.text("json")).key)
        }
        let (class_, object) = try object(named: edit)
        defer { object.release() }
        if verb == "delete" {
            try object.delete()
            return nil
        }
        let path = try edit.list("path")
        let name = try Self.propertyName(path)
        let property = try class_.property(asked: name)
        try checkPlace(edit, property, object, path)
        switch verb {
        case "set" where path.count == 1:
            try typed(edit, property).withRaw { raw throws(RealmError) in
                try object.setValue(property.key, raw)
            }
        case "json" where path.count == 1:
            try object.setValues(
                from: .dictionary([.init(name, try JSONReader.read(try edit.text("json")))]))
        case "embed" where path.count == 1 && property.collection == .none:
            return Self.made(try object.createEmbedded(property.key), property)
        case "set": try set(edit, property, object, path)
        case "add", "embed": return try add(edit, property, object, path)
        case "remove":
            let collection = try collection(object, property, path.dropLast())
            try remove(try Self.element(path), from: collection)
        default: throw StudioError.refused("there is no edit '\(verb)' of a \(property.name)")
        }
        return nil
    }

    // MARK: Elements

    private static func element(_ path: [ValueTree]) throws -> ValueTree {
        guard path.count > 1, let last = path.last else {
            throw StudioError.refused("the path leads to no element")
        }
        return last
    }

    /// Another value for an element.
    private func set(
        _ edit: Request, _ property: PropertySchema, _ object: ObjectHandle, _ path: [ValueTree]
    ) throws {
        let collection = try collection(object, property, path.dropLast())
        let index = try Self.index(of: try Self.element(path), in: collection)
        let value = try typed(edit, property)
        switch collection.type {
        case .dictionary:
            try put(value, try Value(try collection.key(index)), collection)
        case .set:
            try collection.remove(at: index)
            try value.withRaw { raw throws(RealmError) in _ = try collection.insert(raw) }
        default:
            try value.withRaw { raw throws(RealmError) in try collection.set(raw, at: index) }
        }
    }

    /// A new element, at the end of a list; of a dictionary under the key `at`.
    private func add(
        _ edit: Request, _ property: PropertySchema, _ object: ObjectHandle, _ path: [ValueTree]
    ) throws -> (String, ObjectKey)? {
        let collection = try collection(object, property, path)
        let count = try collection.count()
        let isEmbedded = try edit.text("do") == "embed"
        if collection.type == .dictionary {
            let key = Value.string(try edit.text("at"))
            let isThere = try key.withRaw { raw throws(RealmError) in
                try collection.find(key: raw) != nil
            }
            guard !isThere else { throw StudioError.refused("the key is taken") }
            if isEmbedded {
                let made = try key.withRaw { raw throws(RealmError) in
                    try collection.insertEmbedded(key: raw)
                }
                return Self.made(made, property)
            }
            try put(try typed(edit, property), key, collection)
            return nil
        }
        if isEmbedded {
            return Self.made(try collection.insertEmbedded(at: count), property)
        }
        let value = try typed(edit, property)
        if collection.type == .set {
            let isNew = try value.withRaw { raw throws(RealmError) in
                try collection.insert(raw).isNew
            }
            guard isNew else { throw StudioError.refused("the set has this element already") }
        } else {
            try value.withRaw { raw throws(RealmError) in try collection.insert(raw, at: count) }
        }
        return nil
    }

    /// The class and key of an embedded object; its handle is released.
    private static func made(
        _ object: ObjectHandle, _ property: PropertySchema
    ) -> (String, ObjectKey) {
        defer { object.release() }
        return (property.linkTarget, object.objectKey)
    }

    /// Puts a value at a key of a dictionary.
    private func put(_ value: Value, _ key: Value, _ dictionary: RealmCollection) throws {
        try key.withRaw { key throws(RealmError) in
            try value.withRaw { raw throws(RealmError) in
                _ = try dictionary.insert(raw, key: key, takesAnyKey: true)
            }
        }
    }

    private func remove(_ element: ValueTree, from collection: RealmCollection) throws {
        let index = try Self.index(of: element, in: collection)
        guard collection.type == .dictionary else { return try collection.remove(at: index) }
        let key = try Value(try collection.key(index))
        _ = try key.withRaw { raw throws(RealmError) in try collection.remove(key: raw) }
    }

    // MARK: Values

    /// The value that was typed: null, a link to an object, or a text that is read as the property's type; of
    /// mixed properties, as the type that was chosen.
    private func typed(_ edit: Request, _ property: PropertySchema) throws -> Value {
        guard let tree = edit.tree("value"), tree != .null else { return .null }
        let value = try Request(tree)
        if let name = try value.optionalText("class") {
            let target = try class_(name)
            return .link(Link(target.key, ObjectKey(rawValue: try value.integer("key"))))
        }
        let type =
            property.type == .mixed
            ? try ValueText.type(named: try value.text("type")) : property.type
        return try ValueText.value(try value.text("text"), type)
    }
}
