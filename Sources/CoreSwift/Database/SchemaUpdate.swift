// What opening does about a requested schema: nothing, take it over, or refuse (CONTRACT 4.3).
// So far classes and indexes are added and indexes removed; everything else that would change the
// file is refused.

struct SchemaUpdate {
    /// The schema the file gets, or nil: it stays as it is.
    var stored: StoredSchema?
    /// The schema version the file gets.
    var version: UInt64
    /// The file had no schema version: data initialization runs.
    var isFirst: Bool

    /// Decides; throws what the mode says when the schema cannot be taken over.
    static func plan(
        file: StoredSchema, fileVersion: UInt64, requested: Schema, version: UInt64,
        mode: SchemaMode
    ) throws(RealmError) -> SchemaUpdate? {
        // Embedded classes that were found, but that nothing links to, are left out.
        let orphans = mode == .additiveDiscovered ? requested.embeddedOrphans : []
        let differences = file.schema.differences(to: requested).filter {
            switch $0 {
            // Classes that only the file has never count.
            case .classRemoved: return false
            case .classAdded(let item): return !orphans.contains(item.name)
            default: return true
            }
        }
        switch mode {
        case .readOnly, .immutable:
            try checkReadable(differences, fileVersion, version, mode)
            return nil
        case .automatic, .manual, .additiveDiscovered, .additiveExplicit, .softResetFile,
            .hardResetFile:
            break
        }
        let isFirst = fileVersion == Catalog.unversioned
        let isAdditive = mode == .additiveDiscovered || mode == .additiveExplicit
        if !isFirst && !isAdditive && version < fileVersion {
            throw RealmError(
                .invalidSchemaVersion,
                "schema version \(version) is lower than the file's, \(fileVersion)")
        }
        var added: [ClassSchema] = []
        var indexes: [SchemaDifference] = []
        var others: [SchemaDifference] = []
        for difference in differences {
            if case .classAdded(let item) = difference {
                added.append(item)
            } else if difference.isIndexOnly {
                indexes.append(difference)
            } else if isAdditive, case .propertyRemoved = difference {
                continue
            } else {
                others.append(difference)
            }
        }
        if !others.isEmpty {
            throw refusal(others, isBump: version > fileVersion && !isAdditive, isAdditive)
        }
        if mode == .manual && !isFirst && !(added.isEmpty && indexes.isEmpty) {
            throw mismatch(added.map { .classAdded($0) } + indexes)
        }
        // Additive modes change indexes together with something else only.
        if isAdditive && added.isEmpty && version == fileVersion { indexes = [] }
        let changes = !added.isEmpty || !indexes.isEmpty
        guard changes || version != fileVersion else { return nil }
        var stored = changes ? try extend(file, with: added) : nil
        if let extended = stored { stored = setIndexes(extended, indexes) }
        return SchemaUpdate(stored: stored, version: version, isFirst: isFirst)
    }

    /// The stored schema with the flags of indexes as requested.
    private static func setIndexes(
        _ stored: StoredSchema, _ differences: [SchemaDifference]
    ) -> StoredSchema {
        let concerned: PropertyFlags = [.indexed, .fullTextIndexed, .fullTextUnicode]
        var next = stored
        var classes = stored.schema.classes
        for difference in differences {
            guard let (name, requested) = difference.indexChange,
                let place = classes.firstIndex(where: { $0.name == name }),
                let column = classes[place].properties.firstIndex(where: {
                    $0.name == requested.name
                })
            else { continue }
            classes[place].properties[column].flags.subtract(concerned)
            classes[place].properties[column].flags.formUnion(
                requested.flags.intersection(concerned))
        }
        next.schema = Schema(classes)
        return next
    }

    private static func list(_ differences: [SchemaDifference]) -> String {
        differences.map { "\n- \($0)" }.joined()
    }

    private static func mismatch(_ differences: [SchemaDifference]) -> RealmError {
        RealmError(
            .schemaMismatch,
            "the schema of the file differs from the requested one:" + list(differences))
    }

    private static func refusal(
        _ differences: [SchemaDifference], isBump: Bool, _ isAdditive: Bool
    ) -> RealmError {
        if isBump {
            return RealmError(
                .notSupported,
                "these changes need a migration, which is not supported yet:" + list(differences))
        }
        if isAdditive {
            return RealmError(
                .invalidSchemaChange,
                "these changes are not possible in an additive mode, or not supported yet:"
                    + list(differences))
        }
        return mismatch(differences)
    }

    private static func checkReadable(
        _ differences: [SchemaDifference], _ fileVersion: UInt64, _ version: UInt64,
        _ mode: SchemaMode
    ) throws(RealmError) {
        if mode == .immutable && version != fileVersion {
            throw RealmError(
                .invalidSchemaVersion,
                "an immutable realm needs the file's schema version, \(fileVersion), not "
                    + "\(version)")
        }
        let serious = differences.filter {
            switch $0 {
            case .classAdded, .classRemoved, .classKindChanged, .propertyRemoved:
                return false
            case .indexAdded, .indexRemoved, .fullTextIndexAdded, .fullTextIndexRemoved:
                return false
            default:
                return true
            }
        }
        guard serious.isEmpty else {
            throw RealmError(
                .invalidSchemaChange,
                "the file cannot be read with the requested schema:" + list(serious))
        }
    }

    /// The stored schema with new classes, which get keys that were never used.
    private static func extend(
        _ file: StoredSchema, with added: [ClassSchema]
    ) throws(RealmError) -> StoredSchema {
        var next = file
        var classes = file.schema.classes
        for item in added {
            guard next.nextClassKey < UInt32(StoredSchema.classesMax) else {
                throw RealmError(
                    .limitExceeded, "a file holds at most \(StoredSchema.classesMax) classes")
            }
            guard item.properties.count <= StoredSchema.propertiesMax else {
                throw RealmError(
                    .limitExceeded,
                    "class \(item.name) has \(item.properties.count) properties, the limit is "
                        + "\(StoredSchema.propertiesMax)")
            }
            var copy = item
            copy.computedProperties = []
            copy.publicName = ""
            if copy.primaryKeyProperty == nil { copy.primaryKey = "" }
            copy.key = ClassKey(rawValue: next.nextClassKey)
            next.nextClassKey += 1
            for column in copy.properties.indices {
                copy.properties[column].publicName = ""
                copy.properties[column].defaultValue = nil
                copy.properties[column].computedDefault = nil
                copy.properties[column].key = PropertyKey(
                    column: column, serial: next.nextSerial)
                next.nextSerial += 1
            }
            classes.append(copy)
        }
        next.schema = Schema(classes)
        return next
    }
}
