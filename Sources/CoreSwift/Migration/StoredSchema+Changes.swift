// Changes of the schema of a file, as data: what a file's classes look like afterwards. Keys of classes
// and properties are never given again; a property that goes leaves its column behind.

extension StoredSchema {
    private mutating func change(
        _ className: String, _ property: String, _ body: (inout PropertySchema) -> Void
    ) {
        schema.change(className) { item in
            guard let place = item.properties.firstIndex(where: { $0.name == property }) else {
                return
            }
            body(&item.properties[place])
        }
    }

    // MARK: Classes

    /// A new class, with a key that was never used.
    mutating func add(_ item: ClassSchema) throws(RealmError) {
        guard nextClassKey < UInt32(Self.classesMax) else {
            throw RealmError(.limitExceeded, "a file holds at most \(Self.classesMax) classes")
        }
        guard item.properties.count <= Self.propertiesMax else {
            throw RealmError(
                .limitExceeded,
                "class \(item.name) has \(item.properties.count) properties, the limit is "
                    + "\(Self.propertiesMax)")
        }
        var copy = item
        copy.computedProperties = []
        copy.vacated = []
        copy.publicName = ""
        if copy.primaryKeyProperty == nil { copy.primaryKey = "" }
        copy.key = ClassKey(rawValue: nextClassKey)
        nextClassKey += 1
        for column in copy.properties.indices {
            copy.properties[column] = bare(copy.properties[column], column)
        }
        schema.insert(copy)
    }

    /// A property as files store it, at a column, with a key that was never used.
    private mutating func bare(_ property: PropertySchema, _ column: Int) -> PropertySchema {
        var copy = property
        copy.publicName = ""
        copy.defaultValue = nil
        copy.computedDefault = nil
        copy.storage = PropertyStorage()
        copy.key = PropertyKey(column: column, serial: nextSerial)
        nextSerial += 1
        return copy
    }

    mutating func remove(className: String) {
        schema = Schema(schema.classes.filter { $0.name != className })
    }

    /// The class goes on under another name, which no class has; links follow.
    mutating func rename(className: String, to name: String) {
        var classes = schema.classes
        for place in classes.indices {
            if classes[place].name == className { classes[place].name = name }
            for column in classes[place].properties.indices
            where classes[place].properties[column].linkTarget == className {
                classes[place].properties[column].linkTarget = name
            }
        }
        schema = Schema(classes)
    }

    mutating func setKind(_ className: String, _ kind: ClassKind) {
        schema.change(className) { $0.kind = kind }
    }

    // MARK: Properties

    /// A new property, in a column behind all others; never the primary key. `initial`: what objects
    /// have that are there.
    mutating func add(
        _ property: PropertySchema, to className: String, initial: [UInt8]? = nil
    ) throws(RealmError) {
        guard let item = schema.class_(named: className) else { return }
        guard item.columnCount < Self.propertiesMax else {
            throw RealmError(
                .limitExceeded,
                "class \(className) has had \(item.columnCount) properties, which is the limit; "
                    + "copy its objects to a new class")
        }
        var copy = bare(property, item.columnCount)
        copy.flags.remove(.primaryKey)
        copy.storage.initial = initial
        schema.change(className) { $0.properties.append(copy) }
    }

    /// The property goes; its column stays vacant.
    mutating func vacate(_ className: String, _ property: String) {
        schema.change(className) { item in
            guard let place = item.properties.firstIndex(where: { $0.name == property }) else {
                return
            }
            if item.primaryKey == property { item.primaryKey = "" }
            var gone = item.properties.remove(at: place)
            gone.name = ""
            gone.linkTarget = ""
            gone.flags.formIntersection(.nullable)
            gone.storage = PropertyStorage()
            item.vacated.append(gone)
            item.vacated.sortFew { $0.key.column < $1.key.column }
        }
    }

    /// The property goes on under another name, which no property of the class has.
    mutating func rename(_ className: String, _ property: String, to name: String) {
        schema.change(className) { item in
            if item.primaryKey == property { item.primaryKey = name }
        }
        change(className, property) { $0.name = name }
    }

    /// Null becomes a value of the property; those that are there stay. Leaves without data for it hold
    /// zero, which has to be said from now on.
    mutating func makeNullable(_ className: String, _ property: String) {
        change(className, property) { property in
            property.flags.insert(.nullable)
            // Every leaf has the column of a primary key that is as old as the class.
            let isObjectKey = property.isPrimaryKey && property.type == .int
            guard property.collection == .none, property.storage.initial == nil, !isObjectKey,
                let zero = property.zero
            else { return }
            property.storage.initial = zero
        }
    }

    mutating func setIndexes(_ className: String, _ requested: PropertySchema) {
        let concerned: PropertyFlags = [.indexed, .fullTextIndexed, .fullTextUnicode]
        change(className, requested.name) { property in
            property.flags.subtract(concerned)
            property.flags.formUnion(requested.flags.intersection(concerned))
        }
    }

    // MARK: Primary keys

    /// A property becomes the primary key of objects that have their keys already.
    mutating func setPrimaryKey(_ className: String, _ property: String) {
        schema.change(className) { $0.primaryKey = property }
        change(className, property) { property in
            property.flags.insert(.primaryKey)
            property.storage.isIndexedKey = property.type == .int
        }
    }
}

extension PropertySchema {
    /// The bytes of the value that a required property has where nothing is said, as a mixed value.
    fileprivate var zero: [UInt8]? {
        let empty = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { empty.deallocate() }
        guard let kind = try? ColumnKind(type) else { return nil }
        let value = RawValue.zero(of: kind, empty)
        return value.isNull ? nil : PropertyStorage.bytes(of: value)
    }
}
