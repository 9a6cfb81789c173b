// Realms and schemas: taking one over at opening, changing it later, and what a migration can do
// besides changing objects.

extension Realm {
    /// Throws for schemas that no file can have.
    static func check(_ schema: Schema, _ mode: SchemaMode) throws(RealmError) {
        try schema.validate(mode == .additiveExplicit ? .rejectEmbeddedOrphans : [])
        try schema.checkStorable()
        var keyed = schema.classes
        for index in keyed.indices {
            keyed[index].key = ClassKey(rawValue: UInt32(index))
            keyed[index].vacated = []
        }
        let candidate = Schema(keyed)
        for item in candidate.classes {
            if item.kind == .asymmetric {
                throw RealmError(
                    .notSupported,
                    "class \(item.name): asymmetric classes exist for synchronisation only")
            }
            _ = try TableLayout.columns(item, candidate)
        }
    }

    private func plan(
        _ tables: TableSet, _ request: SchemaRequest
    ) throws(RealmError) -> SchemaPlan? {
        try SchemaPlan.make(
            file: tables.stored, fileVersion: tables.schemaVersion, request)
    }

    /// Compares the requested schema with the file's and takes over what the mode allows, in a write
    /// transaction of its own if there is anything to write.
    func take(_ request: SchemaRequest) throws(RealmError) {
        let tables = try readTables()
        guard try plan(tables, request) != nil else { return }
        try beginWrite(givesUp: request.givesUp)
        do throws(RealmError) {
            let before = tables.stored.schema
            // Somebody else may have done it between reading and the writer lock.
            guard try change(request) else { return try rollback() }
            try commit()
            let differences = before.differences(to: tables.stored.schema)
            tell(
                .storage, .detail,
                "'\(path)': schema version \(request.version)"
                    + differences.map { ", \($0.description)" }.joined())
        } catch {
            if isWritable { try rollback() }
            throw error
        }
    }

    /// The same within the running write transaction; false: there is nothing to change. After an error
    /// the transaction has to be rolled back.
    @discardableResult
    func change(_ request: SchemaRequest) throws(RealmError) -> Bool {
        let tables = try tablesForWriting()
        guard let plan = try plan(tables, request) else { return false }
        isChangingSchema = true
        defer { isChangingSchema = false }
        var change = SchemaChange(self, tables, plan, request)
        try change.run()
        return true
    }

    /// Gives the open realm another schema, as opening with it does; frozen realms and those that
    /// can't write only check that it fits. Observers of the schema are told.
    /// `.wrongTransactionState` in a write transaction, which is rolled back; with
    /// `isInTransaction` it is used, and goes on.
    package func updateSchema(
        _ request: SchemaRequest, isInTransaction: Bool = false
    ) throws(RealmError) {
        try checkUsable()
        if isChangingSchema {
            throw RealmError(
                .wrongTransactionState, "the schema is being changed by a migration already")
        }
        var request = request
        request.mode = isFrozen ? .readOnly : settings.mode
        if isWritable, !isInTransaction {
            try rollback()
            throw RealmError(
                .wrongTransactionState,
                "the schema is changed outside of write transactions; this one was rolled back")
        }
        if isInTransaction, !isWritable { throw notWriting() }
        try Self.check(request.schema, request.mode)
        let before = settings.requestedSchema
        settings.requestedSchema = request.schema
        do throws(RealmError) {
            if isInTransaction {
                try change(request)
            } else {
                // What others changed has to fit the new schema, not the old one.
                isOpening = true
                defer { isOpening = false }
                try take(request)
            }
        } catch {
            settings.requestedSchema = before
            if isWritable { try rollback() }
            if let tables = try? readTables() { noteSchema(tables, always: true) }
            throw error
        }
        let tables = try readTables()
        if !isFrozen { file.noteSchemaVersion(tables.schemaVersion) }
        noteSchema(tables, always: true)
        schemaObservers.call(reached: tables.version)
    }

    /// Has `body` called when the schema of the realm has changed: by `updateSchema`, or because it
    /// moved to a version whose schema somebody else changed.
    package func addSchemaObserver(_ body: @escaping () -> Void) throws(RealmError) -> ChangeToken {
        try checkUsable()
        return schemaObservers.add(body)
    }

    // MARK: In migrations

    private func tablesForSchemaStep() throws(RealmError) -> TableSet {
        let tables = try tablesForWriting()
        guard tables.journal == nil else {
            throw RealmError(
                .illegalOperation, "the schema cannot be changed while there are savepoints")
        }
        return tables
    }

    /// Gives the data of a property to one that `target` has under another name; what that had is
    /// lost. For migrations. `.noSuchTable` for a class that the file or `target` lacks,
    /// `.illegalOperation` when `target` still has the old name or the properties do not fit,
    /// `.invalidProperty` when the file has no such property.
    package func renameProperty(
        _ className: String, _ old: String, to new: String, in target: Schema
    ) throws(RealmError) {
        let tables = try tablesForSchemaStep()
        guard let item = tables.schema.class_(named: className) else {
            throw RealmError(.noSuchTable, "the file has no class '\(className)'")
        }
        guard let wanted = target.class_(named: className) else {
            throw RealmError(.noSuchTable, "the new schema has no class '\(className)'")
        }
        let subject = "'\(className).\(old)' cannot be renamed to '\(new)'"
        guard wanted.property(named: old) == nil else {
            throw RealmError(
                .illegalOperation, "\(subject): the new schema still has a property '\(old)'")
        }
        guard let source = item.properties.first(where: { $0.name == old }) else {
            throw RealmError(.invalidProperty, "the file has no property '\(className).\(old)'")
        }
        guard !new.isEmpty, new.utf8.count <= Schema.nameBytesMax else {
            throw RealmError(.invalidName, "\(subject): the name has \(new.utf8.count) bytes")
        }
        var next = tables.stored
        if let taken = item.properties.first(where: { $0.name == new }) {
            guard source.type == taken.type, source.collection == taken.collection,
                source.linkTarget == taken.linkTarget
            else {
                throw RealmError(
                    .illegalOperation,
                    "\(subject): the old one is \(source.typeDescription), the new one "
                        + taken.typeDescription)
            }
            guard taken.isNullable || !source.isNullable else {
                throw RealmError(
                    .illegalOperation,
                    "\(subject): the old one is optional, the new one required")
            }
            next.vacate(className, new)
            next.rename(className, old, to: new)
            if taken.isNullable, !source.isNullable { next.makeNullable(className, new) }
        } else {
            next.rename(className, old, to: new)
        }
        try tables.setSchema(next, version: tables.schemaVersion)
        noteSchema(tables)
    }

    /// Has a class of the file go on under the name of one that `target` has: its objects, links to
    /// them and indexes are kept. For migrations. The new class has no objects yet. Errors as for
    /// `renameProperty`.
    package func renameClass(
        _ old: String, to new: String, in target: Schema
    ) throws(RealmError) {
        let tables = try tablesForSchemaStep()
        let subject = "class '\(old)' cannot be renamed to '\(new)'"
        guard tables.schema.class_(named: old) != nil else {
            throw RealmError(.noSuchTable, "the file has no class '\(old)'")
        }
        guard target.class_(named: new) != nil else {
            throw RealmError(.noSuchTable, "the new schema has no class '\(new)'")
        }
        guard target.class_(named: old) == nil else {
            throw RealmError(
                .illegalOperation, "\(subject): the new schema still has a class '\(old)'")
        }
        var next = tables.stored
        if let taken = tables.schema.class_(named: new) {
            guard try table(taken.key).rowCount == 0 else {
                throw RealmError(.illegalOperation, "\(subject): that class has objects")
            }
            next.remove(className: new)
        }
        next.rename(className: old, to: new)
        restoreLinks(to: new, &next)
        try tables.setSchema(next, version: tables.schemaVersion)
        noteSchema(tables)
        // The properties that only the new class has, which went with it.
        let request = SchemaRequest(target, version: tables.schemaVersion)
        let differences = tables.schema.differences(to: target).filter { $0.className == new }
        let plan = SchemaPlan(
            action: .apply, differences: differences, version: request.version, isFirst: false)
        var step = SchemaChange(self, tables, plan, request)
        try step.prepare(differences)
    }

    /// Links to the class, which seemed to be of another type as long as it had its old name, take
    /// the place of the new columns.
    private func restoreLinks(to name: String, _ next: inout StoredSchema) {
        for item in next.schema.classes {
            for property in item.properties
            where property.linkTarget == name && property.name.hasPrefix(SchemaChange.hiddenMark) {
                let shown = String(property.name.dropFirst(SchemaChange.hiddenMark.count))
                guard let fresh = item.property(named: shown), fresh.type == property.type,
                    fresh.collection == property.collection, fresh.linkTarget == name
                else { continue }
                next.vacate(item.name, shown)
                next.rename(item.name, property.name, to: shown)
            }
        }
    }

    /// Deletes a class of the file that the realm does not show, and its objects; false: there is none.
    /// `.crossTableLinkTarget` when other classes link to it.
    package func removeClass(_ name: String) throws(RealmError) -> Bool {
        guard try readTables().schema.class_(named: name) != nil else { return false }
        guard schema.class_(named: name) == nil else {
            throw RealmError(
                .invalidSchemaChange,
                "class '\(name)' is in the schema of the realm and cannot be removed")
        }
        let tables = try tablesForSchemaStep()
        var next = tables.stored
        for item in tables.schema.classes where item.name != name {
            for property in item.properties where property.linkTarget == name {
                // Unless the migration is going to drop that property anyway.
                let owner = migration?.target.class_(named: item.name)
                guard let owner, owner.property(named: property.name) == nil else {
                    throw RealmError(
                        .crossTableLinkTarget,
                        "class '\(name)' cannot be removed: '\(item.name).\(property.name)' "
                            + "links to it")
                }
                next.vacate(item.name, property.name)
            }
        }
        try tables.setSchema(next, version: tables.schemaVersion)
        next.remove(className: name)
        try tables.setSchema(next, version: tables.schemaVersion)
        noteSchema(tables)
        return true
    }

    /// Deletes all objects of a class, with what links to them.
    package func deleteObjects(of className: String) throws(RealmError) {
        let tables = try tablesForWriting()
        guard let item = tables.schema.class_(named: className), let table = tables.table(item.key)
        else { throw RealmError(.noSuchTable, "the file has no class '\(className)'") }
        try tables.settle()
        try table.deleteAllRows()
    }
}
