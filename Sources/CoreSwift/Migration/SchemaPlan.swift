// What opening does about a requested schema: nothing, additions, a migration, a file that begins
// anew, or a refusal (docs/C_RULES, "Schema modes"). Decided from schemas and versions alone.

struct SchemaPlan {
    enum Action: Equatable {
        /// The differences are applied; no data has to be moved by the program.
        case apply
        /// The program's block runs between the two halves of the differences.
        case migrate
        /// The program's block makes the schema what it ought to be.
        case migrateByHand
        /// Everything goes; then as for a new file.
        case reset
    }

    var action: Action
    var differences: [SchemaDifference]
    /// The schema version the file gets.
    var version: UInt64
    /// The file had no schema version: data initialization runs.
    var isFirst: Bool

    /// Decides; nil: the file stays as it is. Throws what the mode says when the schema cannot be
    /// taken over.
    static func make(
        file: StoredSchema, fileVersion: UInt64, _ request: SchemaRequest
    ) throws(RealmError) -> SchemaPlan? {
        let version = request.version
        let differences = relevant(file.schema, request)
        let isFirst = fileVersion == Catalog.unversioned
        let isSame = version == fileVersion
        var plan = SchemaPlan(
            action: .apply, differences: differences, version: version, isFirst: isFirst)
        switch request.mode {
        case .readOnly, .immutable:
            try checkReadable(differences, fileVersion, version, request.mode)
            return nil
        case .additiveDiscovered, .additiveExplicit:
            return try additive(plan, isSame)
        case .softResetFile:
            let isInPlace = isSame && differences.allSatisfy { $0.isClassAdded || $0.isIndexOnly }
            if !isFirst, !isInPlace { plan.action = .reset }
        case .hardResetFile:
            if !isFirst, !isSame || !differences.isEmpty { plan.action = .reset }
        case .automatic, .manual:
            if !isFirst, version < fileVersion {
                throw RealmError(
                    .invalidSchemaVersion,
                    "schema version \(version) is lower than the file's, \(fileVersion)")
            }
            let isManual = request.mode == .manual
            if !isFirst, !isSame { plan.action = isManual ? .migrateByHand : .migrate }
            if isSame {
                let refused = differences.filter {
                    isManual || !($0.isClassAdded || $0.isIndexOnly)
                }
                if !refused.isEmpty { throw mismatch(refused, version) }
            }
        }
        return isSame && differences.isEmpty && plan.action == .apply ? nil : plan
    }

    /// The differences that count: classes that only the file has never do.
    private static func relevant(
        _ stored: Schema, _ request: SchemaRequest
    ) -> [SchemaDifference] {
        // Embedded classes that were found, but that nothing links to, are left out.
        let orphans =
            request.mode == .additiveDiscovered ? Set(request.schema.embeddedOrphans) : []
        return stored.differences(to: request.schema).filter {
            !$0.isClassRemoved && !($0.isClassAdded && orphans.contains($0.className))
        }
    }

    /// Additive modes add, and pass over what is gone.
    private static func additive(
        _ plan: SchemaPlan, _ isSame: Bool
    ) throws(RealmError) -> SchemaPlan? {
        var plan = plan
        var added: [SchemaDifference] = []
        var indexes: [SchemaDifference] = []
        var others: [SchemaDifference] = []
        for difference in plan.differences {
            switch difference {
            case .classAdded, .propertyAdded: added.append(difference)
            case .propertyRemoved: continue
            default:
                if difference.isIndexOnly {
                    indexes.append(difference)
                } else {
                    others.append(difference)
                }
            }
        }
        guard others.isEmpty else {
            throw RealmError(
                .invalidSchemaChange,
                "these changes are not possible in an additive schema mode:" + list(others))
        }
        // Indexes change together with something else only.
        if isSame && added.isEmpty { return nil }
        plan.differences = added + indexes
        return plan
    }

    static func list(_ differences: [SchemaDifference]) -> String {
        differences.map { "\n- \($0.description)" }.joined()
    }

    private static func mismatch(
        _ differences: [SchemaDifference], _ version: UInt64
    ) -> RealmError {
        RealmError(
            .schemaMismatch,
            "the schema of the file differs from the requested one, and both have version "
                + "\(version); a migration takes a higher one:" + list(differences))
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
            case .classAdded, .classRemoved, .classKindChanged, .propertyRemoved: return false
            default: return !$0.isIndexOnly
            }
        }
        guard serious.isEmpty else {
            throw RealmError(
                .invalidSchemaChange,
                "the file cannot be read with the requested schema:" + list(serious))
        }
    }
}

extension SchemaDifference {
    var isClassAdded: Bool {
        if case .classAdded = self { return true }
        return false
    }

    var isClassRemoved: Bool {
        if case .classRemoved = self { return true }
        return false
    }
}
