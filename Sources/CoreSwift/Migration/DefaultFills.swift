// Defaults of properties that are added to classes that have objects. A value that fits leaves (a
// number, a short text, ...) is stored once, in the schema, and costs nothing per object. Others are
// given to each object: collections, embedded objects, long texts, and what a function computes, which
// is asked once for each object.

struct DefaultFills {
    private var waiting: [(className: String, property: String)] = []

    /// The bytes of the value that objects read without having it; nil: null, zero, or a value that
    /// `run` will write.
    mutating func initial(
        _ property: PropertySchema, of owner: ClassSchema, _ realm: Realm
    ) throws(RealmError) -> [UInt8]? {
        guard property.hasDefault else { return nil }
        if property.computedDefault == nil, let tree = property.defaultValue,
            let value = try Self.constant(tree, property, owner, realm)
        {
            if value == .null { return nil }
            let bytes = try value.withRaw { raw throws(RealmError) -> [UInt8]? in
                guard InitialColumn.fits(raw, property), !raw.isNull else { return nil }
                let bytes = PropertyStorage.bytes(of: raw)
                return bytes.count <= InitialColumn.bytesMax ? bytes : nil
            }
            if let bytes { return bytes }
        }
        waiting.append((owner.name, property.name))
        return nil
    }

    /// The default as a value, if it is one; throws for one that the property does not take.
    private static func constant(
        _ tree: ValueTree, _ property: PropertySchema, _ owner: ClassSchema, _ realm: Realm
    ) throws(RealmError) -> Value? {
        guard property.collection == .none, property.type != .object else { return nil }
        if property.type == .mixed {
            if case .value(let value) = tree { return value }
            return nil
        }
        // Only names the place in messages.
        var copy = owner
        for index in copy.properties.indices {
            copy.properties[index].key = PropertyKey(column: index, serial: 0)
        }
        let class_ = CreationClass(copy, realm.schema)
        var site = CreationSite(owner: class_)
        site.property = class_.properties.firstIndex { $0.name == property.name }
        guard let place = site.property else { return nil }
        return try Creation(realm, .all, ignoresUnknown: false)
            .scalar(tree, class_.properties[place], site)
    }

    /// Gives all objects the defaults that are not in the schema. The realm shows the new schema.
    mutating func run(_ realm: Realm, _ tables: TableSet) throws(RealmError) {
        let all = waiting
        waiting = []
        for (className, property) in all {
            guard let item = tables.schema.class_(named: className),
                let table = tables.table(item.key), table.rowCount > 0
            else { continue }
            let class_ = try realm.creationClass(item.key)
            guard let place = class_.properties.firstIndex(where: { $0.name == property }) else {
                continue
            }
            try tables.settle()
            if place == class_.primaryKey {
                try fillKeys(realm, table, item, property)
                continue
            }
            for key in try table.allKeys() {
                try table.didWork(1)
                let creation = Creation(realm, .all, ignoresUnknown: false)
                creation.objects = [
                    PlannedObject(class_, existing: key, CreationSite(owner: class_))
                ]
                try creation.planDefault(0, place)
                if class_.hasDefaultObjects {
                    // Which may be new ones.
                    try creation.write()
                    continue
                }
                defer { creation.endEmbedded() }
                let handle = try realm.object(item.key, key)
                defer { handle.release() }
                try creation.fill(handle, 0, isNew: false)
                try creation.fillEmbedded()
            }
        }
    }

    /// The same for a property that becomes the primary key: creation sets those of new objects only.
    private func fillKeys(
        _ realm: Realm, _ table: Table, _ stored: ClassSchema, _ name: String
    ) throws(RealmError) {
        guard let shown = realm.schema.class_(stored.key),
            let property = shown.property(named: name)
        else { return }
        for key in try table.allKeys() {
            try table.didWork(1)
            guard let tree = try property.makeDefault(),
                let value = try Self.constant(tree, property, shown, realm)
            else { return }
            let handle = try realm.object(stored.key, key)
            defer { handle.release() }
            // Not inlined: `withRaw` calls it in a dozen places, which was 20 KB of code.
            @inline(never) func set(_ raw: RawValue) throws(RealmError) {
                try handle.setValue(property.key, raw)
            }
            try value.withRaw(set)
        }
    }
}
