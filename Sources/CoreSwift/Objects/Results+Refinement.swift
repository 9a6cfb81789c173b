// Where results come from: classes, and objects that others link to.

extension Realm {
    /// All objects of a class, by ascending key.
    package func results(_ classKey: ClassKey) throws(RealmError) -> Results {
        _ = try table(classKey)
        return Results(self, ResultsDescription(classKey, .objects))
    }

    /// All objects of a class.
    public func objects(_ className: String) throws(RealmError) -> Results {
        _ = try readTables()
        return try results(try class_(className).key)
    }
}

extension ObjectHandle {
    /// A handle of an object that is not there.
    static func gone(_ session: Session, _ table: Table, _ key: ObjectKey) -> ObjectHandle {
        let nowhere = RowPlace(
            leaf: UnsafeMutableRawPointer(mutating: table.somewhere), row: 0, state: .sealed)
        let handle = make(session, table, key, nowhere)
        // No session has this stamp: the first use looks the object up and fails.
        handle.slot.storeBytes(of: 0, toByteOffset: 32, as: UInt64.self)
        return handle
    }

    /// The objects of a class that link to this one through a property.
    package func backlinks(
        from source: ClassKey, property key: PropertyKey
    ) throws(RealmError) -> Results {
        _ = try row()
        let realm = realm
        let table = try realm.table(source)
        let column = try Self.column(table, key)
        let info = table.columns[column]
        let values = info.elements.map { $0[info.valueColumn] } ?? info
        guard values.kind == .link, values.linkTarget == classKey else {
            throw RealmError(
                .invalidProperty,
                "property \(realm.schema.named(source, column: column)) does not link to "
                    + realm.schema.named(classKey))
        }
        let links = ResultsDescription.Source.backlinks(
            target: classKey, key: objectKey, column: column)
        return Results(realm, ResultsDescription(source, links))
    }
}
