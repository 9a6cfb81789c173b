// Opening a realm: configuration, file, schema.

extension Realm {
    /// Opens the realm at the configured path, creating the file if need be.
    ///
    /// Throws `.illegalCombination` and `.mismatchedConfig` for settings, and the errors of files
    /// and of schemas (docs/C_RULES, "Opening"). Failing leaves the file as it was.
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
            try check(schema, configuration.schemaMode)
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
            settings.notifiesAutomatically = configuration.notifiesAutomatically
            let realm = Realm(
                file: file, settings: settings,
                scheduler: configuration.scheduler ?? ThreadScheduler.ofThisThread)
            if configuration.isCached { file.cache(realm) }
            return realm
        }
        if realm.isOpening {
            do throws(RealmError) {
                if isFirst { try realm.compactIfAsked(configuration) }
                defer { realm.endOpening() }
                if let request = configuration.schemaRequest {
                    try realm.take(request)
                } else {
                    try realm.beginRead()
                }
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
}
