// A realm while the block of a migration runs: what may be done then and at no other time. Primary
// keys may be set, and objects made of classes whose primary key is going to change.

struct MigrationState {
    /// The schema that the file will have.
    let target: Schema
    /// Classes whose primary keys were set: they are looked at when the block is done.
    var editedKeys: Set<ClassKey> = []
}

extension Realm {
    /// Lets the program set primary keys of the class; false outside of migrations. Integers that are
    /// object keys cease to be that, which rewrites the class.
    func mayEditKeys(_ table: Table) throws(RealmError) -> Bool {
        guard migration != nil else { return false }
        let isNew = migration?.editedKeys.insert(table.classKey).inserted ?? false
        guard isNew, table.hasIntegerKey else { return true }
        let tables = try tablesForWriting()
        try tables.materializeKeys(table)
        var next = tables.stored
        next.setIndexedKey(table.classKey)
        try tables.setSchema(next, version: tables.schemaVersion)
        noteSchema(tables)
        return true
    }

    /// The schema of the migration that runs gives a class another primary key than it has, or none.
    func changesKey(_ table: Table) throws(RealmError) -> Bool {
        guard let migration else { return false }
        guard let item = try tablesForWriting().schema.class_(table.classKey),
            let target = migration.target.class_(named: item.name)
        else { return false }
        return target.primaryKeyProperty?.name != item.primaryKeyProperty?.name
    }

    /// Takes the primary key from a class that the schema of the migration gives another one, or none;
    /// false: it stays, or no migration runs.
    func dropsKey(_ table: Table) throws(RealmError) -> Bool {
        guard try changesKey(table) else { return false }
        let tables = try tablesForWriting()
        guard let item = tables.schema.class_(table.classKey), item.primaryKeyProperty != nil else {
            return true
        }
        try tables.materializeKeys(table)
        var next = tables.stored
        next.dropPrimaryKey(item.name)
        try tables.setSchema(next, version: tables.schemaVersion)
        noteSchema(tables)
        return true
    }

    /// A new object of a class that will have a primary key when the migration is done; nil where
    /// that is not so.
    func createObjectBeforeKey(
        _ table: Table, _ primaryKey: RawValue
    ) throws(RealmError) -> ObjectHandle? {
        guard try dropsKey(table),
            let name = try tablesForWriting().schema.class_(table.classKey)?.name,
            let property = migration?.target.class_(named: name)?.primaryKeyProperty,
            let key = schema.class_(table.classKey)?.property(named: property.name)?.key
        else { return nil }
        let (objectKey, place) = try table.createSequential()
        let handle = ObjectHandle.make(session, table, objectKey, place)
        do throws(RealmError) {
            try handle.setValue(key, primaryKey)
        } catch {
            try handle.delete()
            handle.release()
            throw error
        }
        return handle
    }

    // MARK: Schemas of others

    /// Throws unless the realm can go on with the schema that another realm gave the file: what it
    /// shows has to be there.
    func checkExternal(_ stored: Schema) throws(RealmError) {
        guard settings.requestedSchema != nil else { return }
        var problems: [SchemaDifference] = []
        for item in schema.classes where item.key != .invalid {
            guard let found = stored.class_(named: item.name) else {
                problems.append(.classRemoved(item))
                continue
            }
            var known = item
            known.properties.removeAll { $0.key == .invalid }
            problems += known.differences(to: found).filter {
                switch $0 {
                case .propertyAdded: return false
                // Who only reads tolerates it at opening, too.
                case .classKindChanged: return !settings.isReadOnly
                default: return !$0.isIndexOnly
                }
            }
        }
        guard problems.isEmpty else {
            throw RealmError(
                .invalidSchemaChange,
                "another program changed the schema of '\(path)', which does not fit this realm "
                    + "any more; open it again with the new schema:"
                    + problems.map { "\n- \($0.description)" }.joined())
        }
    }
}
