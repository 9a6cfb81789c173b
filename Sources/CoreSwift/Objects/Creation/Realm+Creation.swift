// Creation from values for Swift programs that use the engine directly, and values for objects that are there.

extension Realm {
    /// As `createObject(_:from:update:ignoresUnknown:)`, with the class by name.
    package func create(
        _ className: String, from tree: ValueTree, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> DynamicObject {
        let key = try creationClass(named: className).key
        return DynamicObject(
            try createObject(key, from: tree, update: update, ignoresUnknown: ignoresUnknown))
    }

    /// The same from JSON text; `.malformedJson` when it is none.
    package func create(
        _ className: String, json: String, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> DynamicObject {
        try create(
            className, from: try JSONReader.read(json), update: update,
            ignoresUnknown: ignoresUnknown)
    }
}

extension ObjectHandle {
    /// Gives properties of the object, which is there, the values of a dictionary by name, as
    /// `Realm.createObject(_:from:)` does with an object that it finds: what is missing stays. `update` is for
    /// objects within the values, and says whether equal values are written. Throws
    /// `.modifyPrimaryKey` for another primary key than the object has. Needs a write transaction;
    /// everything is checked before anything is written.
    package func setValues(
        from tree: ValueTree, update: UpdatePolicy = .modified, ignoresUnknown: Bool = false
    ) throws(RealmError) {
        let realm = realm
        _ = try realm.tablesForWriting()
        try checkValid()
        guard case .dictionary(let entries) = tree else {
            throw RealmError(
                .propertyTypeMismatch,
                "setting values takes a dictionary of them by name, got \(tree.summary)")
        }
        let creation = Creation(realm, update, ignoresUnknown: ignoresUnknown)
        try creation.plan(entries, for: self)
        try creation.write()
    }
}
