// Creation from values for Swift programs that use the engine directly.

extension Realm {
    /// As `createObject(_:from:update:ignoresUnknown:)`, with the class by name.
    public func create(
        _ className: String, from tree: ValueTree, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> DynamicObject {
        let key = try creationClass(named: className).key
        return DynamicObject(
            try createObject(key, from: tree, update: update, ignoresUnknown: ignoresUnknown))
    }

    /// The same from JSON text; `.malformedJson` when it is none.
    public func create(
        _ className: String, json: String, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> DynamicObject {
        try create(
            className, from: try JSONReader.read(json), update: update,
            ignoresUnknown: ignoresUnknown)
    }
}
