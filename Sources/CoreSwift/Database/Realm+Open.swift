// Opening a realm: configuration, file, schema.

extension Realm {
    /// Opens the realm at the configured path, creating the file if need be.
    ///
    /// Throws `.illegalCombination` and `.mismatchedConfig` for settings, the file errors of
    /// CONTRACT 4.2, and the schema errors of CONTRACT 4.3. Failing leaves the file as it was.
    public static func open(_ configuration: Configuration) throws(RealmError) -> Realm {
        try open(configuration, files: SystemCalls.shared)
    }

    static func open(
        _ configuration: Configuration, files: FileSystem
    ) throws(RealmError) -> Realm {
        try configuration.check()
        guard !configuration.path.isEmpty else {
            throw RealmError(.fileNotFound, "the configuration has no path", path: "")
        }
        if let schema = configuration.schema {
            let mode: SchemaValidationMode =
                configuration.schemaMode == .additiveExplicit ? .rejectEmbeddedOrphans : []
            try schema.validate(mode)
            try schema.checkStorable()
            try checkSupported(schema)
        }
        var isFirst = false
        let realm = try FileRegistry.shared.withFile(configuration, files: files) {
            file, isNew throws(RealmError) -> Realm in
            isFirst = isNew
            if configuration.isCached, let realm = file.cachedRealm(configuration.scheduler) {
                if let schema = configuration.schema, realm.settings.requestedSchema != schema {
                    throw RealmError(
                        .mismatchedConfig,
                        "the cached realm at '\(file.path)' was opened with another schema")
                }
                return realm
            }
            var settings = Settings()
            settings.mode = configuration.schemaMode
            settings.subsetMode = configuration.subsetMode
            settings.versionsMax = configuration.versionsMax
            settings.requestedSchema = configuration.schema
            let realm = Realm(
                file: file, settings: settings,
                scheduler: configuration.scheduler ?? Scheduler())
            if configuration.isCached { file.cache(realm) }
            return realm
        }
        if realm.isOpening {
            do throws(RealmError) {
                if isFirst { try realm.compactIfAsked(configuration) }
                try realm.takeSchema(configuration)
                realm.tell(
                    .storage, .detail,
                    "'\(realm.path)': opened, mode \(configuration.schemaMode), "
                        + "\(realm.schema.classes.count) classes")
            } catch {
                realm.close()
                throw error
            }
        }
        return realm
    }

    /// Property types and collections that cannot be stored yet.
    private static func checkSupported(_ schema: Schema) throws(RealmError) {
        var keyed = schema.classes
        for index in keyed.indices { keyed[index].key = ClassKey(rawValue: UInt32(index)) }
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

    /// Compares the requested schema with the file's and takes over what the mode allows.
    private func takeSchema(_ configuration: Configuration) throws(RealmError) {
        defer { endOpening() }
        let tables = try readTables()
        guard let requested = configuration.schema else {
            return
        }
        func plan() throws(RealmError) -> SchemaUpdate? {
            try SchemaUpdate.plan(
                file: tables.stored, fileVersion: tables.schemaVersion, requested: requested,
                version: configuration.schemaVersion, mode: configuration.schemaMode)
        }
        guard try plan() != nil else { return }
        try beginWrite()
        do throws(RealmError) {
            // Somebody else may have done it between reading and the writer lock.
            guard let update = try plan() else {
                try rollback()
                return
            }
            let before = tables.stored.schema
            if let stored = update.stored {
                try tables.extendSchema(stored, version: update.version)
            } else {
                try tables.extendSchema(tables.stored, version: update.version)
            }
            noteSchema(tables)
            if update.isFirst, let initialize = configuration.initializeData {
                guard try initialize(self) else {
                    throw RealmError(
                        .callback, "the data initialization callback reported failure")
                }
            }
            try commit()
            tell(
                .storage, .detail,
                "'\(path)': schema version \(update.version)"
                    + before.differences(to: tables.stored.schema).map { ", \($0)" }.joined())
        } catch {
            if isWritable { try rollback() }
            throw error
        }
    }
}
