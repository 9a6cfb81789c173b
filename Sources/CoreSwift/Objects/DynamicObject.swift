// Objects for Swift programs that use the engine directly: properties by name, owned values.

/// An object of a realm. Properties are read and written by name.
public final class DynamicObject {
    package let handle: ObjectHandle
    public let realm: Realm

    /// Takes over the handle.
    package init(_ handle: ObjectHandle) {
        self.handle = handle
        realm = handle.realm
    }

    deinit { handle.release() }

    public var key: ObjectKey { handle.objectKey }
    /// The object as a value for link properties.
    public var link: Link { Link(handle.classKey, key) }
    /// False once the object was deleted or the realm closed.
    public var isValid: Bool { handle.isValid }

    private func property(_ name: String) throws(RealmError) -> PropertySchema {
        guard let owner = realm.schema.class_(handle.classKey),
            let property = owner.property(named: name)
        else {
            let owner = realm.schema.class_(handle.classKey)?.name ?? "\(handle.classKey)"
            throw RealmError(.invalidProperty, "class \(owner) has no property '\(name)'")
        }
        return property
    }

    /// The value of a property.
    public func get(_ name: String) throws(RealmError) -> Value {
        try Value(try handle.value(try property(name).key))
    }

    /// Writes a property; needs a write transaction.
    public func set(_ name: String, _ value: Value) throws(RealmError) {
        let key = try property(name).key
        try value.withRaw { raw throws(RealmError) in try handle.setValue(key, raw) }
    }

    /// The object that a link property points to.
    public func linked(_ name: String) throws(RealmError) -> DynamicObject? {
        try handle.linkedObject(try property(name).key).map { DynamicObject($0) }
    }

    /// Deletes the object; needs a write transaction.
    public func delete() throws(RealmError) { try handle.delete() }
}

extension Realm {
    /// The class of this name that the realm shows.
    func class_(_ name: String) throws(RealmError) -> ClassSchema {
        guard let found = schema.class_(named: name) else {
            throw RealmError(.noSuchTable, "'\(path)' has no class '\(name)'")
        }
        return found
    }

    /// A new object of a class without primary key, with these values.
    public func create(
        _ className: String, _ values: [String: Value] = [:]
    ) throws(RealmError) -> DynamicObject {
        let object = DynamicObject(try createObject(try class_(className).key))
        for (name, value) in values { try object.set(name, value) }
        return object
    }

    /// A new object with this primary key and these values.
    public func create(
        _ className: String, primaryKey: Value, _ values: [String: Value] = [:]
    ) throws(RealmError) -> DynamicObject {
        let key = try class_(className).key
        let handle = try primaryKey.withRaw { raw throws(RealmError) in
            try createObject(key, primaryKey: raw)
        }
        let object = DynamicObject(handle)
        for (name, value) in values { try object.set(name, value) }
        return object
    }

    /// The object with this primary key.
    public func find(
        _ className: String, primaryKey: Value
    ) throws(RealmError) -> DynamicObject? {
        let key = try class_(className).key
        return try primaryKey.withRaw { raw throws(RealmError) in
            try findObject(key, primaryKey: raw)
        }.map { DynamicObject($0) }
    }

    /// The object with this key, or nil.
    public func find(_ classKey: ClassKey, key: ObjectKey) throws(RealmError) -> DynamicObject? {
        try findObject(classKey, key).map { DynamicObject($0) }
    }
}

extension Results {
    /// The object at a position, from 0 on; `.indexOutOfBounds` behind the last one.
    public func dynamicObject(_ index: Int) throws(RealmError) -> DynamicObject {
        DynamicObject(try object(index))
    }
}
