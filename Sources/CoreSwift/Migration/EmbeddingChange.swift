// A class becomes embedded: from then on each of its objects belongs to the one that links to it.
// Objects that nothing links to, or several do, are refused; or deleted, and copied.

struct EmbeddingChange {
    private let realm: Realm
    private let tables: TableSet
    /// The schema of the file before its change.
    private let before: StoredSchema
    private let mends: Bool

    /// A link to an object of the class.
    private struct Incoming {
        let table: Table
        let column: Int
        let key: ObjectKey
    }

    init(_ realm: Realm, _ tables: TableSet, _ before: StoredSchema, mends: Bool) {
        self.realm = realm
        self.tables = tables
        self.before = before
        self.mends = mends
    }

    private func refusal(_ name: String, _ why: String) -> RealmError {
        RealmError(.illegalOperation, "class '\(name)' cannot become embedded: \(why)")
    }

    func run(_ name: String) throws(RealmError) {
        guard let item = tables.schema.class_(named: name), let table = tables.table(item.key)
        else { return }
        if let key = before.schema.class_(item.key)?.primaryKeyProperty {
            throw refusal(name, "it has the primary key '\(key.name)'")
        }
        try tables.settle()
        for key in try table.allKeys() {
            let links = try incoming(key, of: table, name)
            if links.count == 1 { continue }
            guard mends else {
                throw refusal(
                    name,
                    "object \(key) has \(links.isEmpty ? "no" : "\(links.count)") links to it, "
                        + "and each embedded object has exactly one")
            }
            if links.isEmpty {
                try table.deleteRow(key)
                continue
            }
            for link in links.dropFirst() { try copy(key, of: item, for: link) }
        }
        var next = tables.stored
        next.setKind(name, .embedded)
        try tables.setSchema(next, version: tables.schemaVersion)
    }

    /// The links to an object, each as often as it is there.
    private func incoming(
        _ key: ObjectKey, of table: Table, _ name: String
    ) throws(RealmError) -> [Incoming] {
        var links: [Incoming] = []
        for (source, column) in table.incoming {
            guard let other = tables.table(source) else { continue }
            for linking in try other.sources(of: key, in: table.classKey, column: column) {
                if other.columns[column].valueKind == .mixed {
                    throw refusal(
                        name,
                        "object \(key) is in the mixed property \(other.named(column: column))")
                }
                links.append(Incoming(table: other, column: column, key: linking))
            }
        }
        return links
    }

    // MARK: Copies

    /// Puts a copy of an object in the place of one of the links to it.
    private func copy(
        _ key: ObjectKey, of item: ClassSchema, for link: Incoming
    ) throws(RealmError) {
        let source = try realm.object(item.key, key)
        defer { source.release() }
        let copy = try realm.createObject(item.key)
        defer { copy.release() }
        try fill(copy, from: source, item)
        let old = RawValue.link(item.key, key)
        let new = RawValue.link(item.key, copy.objectKey)
        let info = link.table.columns[link.column]
        let owner = try realm.object(link.table.classKey, link.key)
        defer { owner.release() }
        if info.kind == .link { return try owner.setValue(info.propertyKey, new) }
        let collection = try owner.collection(info.propertyKey, info.collection)
        // The last of them: the first one keeps the object.
        for index in (0..<(try collection.count())).reversed()
        where link.table.isSameLink(try collection.get(index), old) {
            if info.collection == .dictionary {
                let name = try Value(try collection.key(index))
                return try name.withRaw { raw throws(RealmError) in
                    _ = try collection.insert(new, key: raw)
                }
            }
            return try collection.set(new, at: index)
        }
    }

    /// Gives an object the values of another of its class, and copies of what that owns.
    private func fill(
        _ copy: ObjectHandle, from source: ObjectHandle, _ item: ClassSchema
    ) throws(RealmError) {
        for property in item.properties {
            let key = property.key
            let owned = property.type == .object ? embedded(property.linkTarget) : nil
            if property.collection != .none {
                try fill(
                    try copy.collection(key, property.collection),
                    from: try source.collection(key, property.collection), owned)
                continue
            }
            var value = RawValue.null
            try source.getValue(key, &value)
            if let nested = NestedCell.type(value) {
                try fill(
                    try copy.setCollection(key, nested),
                    from: try source.collection(key, nested), nil)
            } else if let owned, !value.isNull {
                let child = try realm.object(owned.key, value.linkTarget)
                defer { child.release() }
                let made = try copy.createEmbedded(key)
                defer { made.release() }
                try fill(made, from: child, owned)
            } else {
                try copy.setValue(key, value)
            }
        }
    }

    /// Fills an empty collection.
    private func fill(
        _ copy: RealmCollection, from source: RealmCollection, _ owned: ClassSchema?
    ) throws(RealmError) {
        for index in 0..<(try source.count()) {
            let value = try source.get(index)
            if copy.type == .dictionary {
                let name = try Value(try source.key(index))
                try name.withRaw { key throws(RealmError) in
                    try put(value, at: index, key: key, copy, source, owned)
                }
            } else {
                try put(value, at: index, key: nil, copy, source, owned)
            }
        }
    }

    private func put(
        _ value: RawValue, at index: Int, key: RawValue?, _ copy: RealmCollection,
        _ source: RealmCollection, _ owned: ClassSchema?
    ) throws(RealmError) {
        if let nested = NestedCell.type(value) {
            let inner = try source.nested(index, nested)
            let made =
                if let key {
                    try copy.insertNested(nested, key: key, takesAnyKey: true)
                } else {
                    try copy.insertNested(nested, at: index)
                }
            return try fill(made, from: inner, nil)
        }
        if let owned, !value.isNull {
            let child = try realm.object(owned.key, value.linkTarget)
            defer { child.release() }
            let made =
                if let key {
                    try copy.insertEmbedded(key: key)
                } else {
                    try copy.insertEmbedded(at: index)
                }
            defer { made.release() }
            return try fill(made, from: child, owned)
        }
        // What a text points to moves when the collections of its class change.
        try Value(value).withRaw { value throws(RealmError) in
            if let key {
                _ = try copy.insert(value, key: key, takesAnyKey: true)
            } else if copy.type == .set {
                _ = try copy.insert(value)
            } else {
                try copy.insert(value, at: index)
            }
        }
    }

    /// The class, if its objects are embedded already.
    private func embedded(_ name: String) -> ClassSchema? {
        guard let item = tables.schema.class_(named: name), item.kind == .embedded else {
            return nil
        }
        return item
    }
}
