// Merging what a realm sees into a file that exists: each object is created there or found by its
// primary key, and takes the values it has here. The keys of objects differ between files, so a
// link becomes a link to the object with the same primary key. Copying into a new file, which is
// by blocks, is in `Realm+Copy`.

extension Realm {
    /// The name that the primary key of every class has to have.
    private static let mergeKey = "_id"

    /// Merges into the file at `path`, which exists. In transactions of at most 1,000 objects, so
    /// an error may leave some of them done; `.brokenInvariant` comes before the first change.
    func merge(into path: String) throws(RealmError) {
        let tables = try readTables()
        for item in tables.schema.classes where item.kind != .embedded {
            guard item.primaryKey == Self.mergeKey else {
                throw RealmError(
                    .brokenInvariant,
                    "'\(path)': can't merge class \(item.name), objects are matched by a primary "
                        + "key named '\(Self.mergeKey)' and it has "
                        + (item.primaryKey.isEmpty ? "none" : "'\(item.primaryKey)'"),
                    path: path)
            }
        }
        if tables.isWriting { try tables.settle() }
        let target = try Realm.open(Configuration(path: path))
        defer { target.close() }
        guard target.file !== file else {
            throw RealmError(
                .illegalOperation, "'\(path)': a realm can't be merged into its own file",
                path: path)
        }
        do throws(RealmError) {
            var merge = try RealmMerge(tables, into: target)
            try merge.run()
        } catch {
            if target.isWritable { try? target.rollback() }
            throw error
        }
    }
}

/// One merge. The target is in a write transaction from the start of `run` to its end.
private struct RealmMerge {
    private static let objectsPerTransaction = 1000

    /// A property that goes over as it is, or mapped if it is a link.
    private struct Property {
        /// Its place in the source.
        var column: Int
        var targetKey: Int64
        var isLink: Bool
        /// The class that it links to, by its key in the source.
        var linkTarget: ClassKey
    }
    private struct Class {
        var source: TableReader
        var target: ClassKey
        var primaryKey: Int
        var properties: [Property]
        var linkCount: Int
    }

    private let source: TableSet
    private let target: Realm
    private var classes: [Class] = []
    private var positions: [ClassKey: Int] = [:]
    /// Objects that the open transaction may have touched.
    private var touched = 0

    init(_ source: TableSet, into target: Realm) throws(RealmError) {
        self.source = source
        self.target = target
    }

    mutating func run() throws(RealmError) {
        try target.beginWrite()
        try addSchema()
        try matchClasses()
        for item in classes {
            var leaves = item.source.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.rows where !leaf.isDead(row) { try merge(item, leaf, row) }
            }
        }
        try target.commit()
    }

    /// Classes and properties that only the source has come to the target.
    private func addSchema() throws(RealmError) {
        let tables = try target.tablesForWriting()
        let isFirst = tables.schemaVersion == Catalog.unversioned
        let update = try SchemaUpdate.plan(
            file: tables.stored, fileVersion: tables.schemaVersion, requested: source.schema,
            version: isFirst ? source.schemaVersion : tables.schemaVersion,
            mode: .additiveDiscovered)
        guard let update else { return }
        try tables.extendSchema(update.stored ?? tables.stored, version: update.version)
        target.noteSchema(tables)
    }

    private mutating func matchClasses() throws(RealmError) {
        let stored = try target.tablesForWriting().schema
        let snapshot = SnapshotReader(tables: source)
        for item in source.schema.classes where item.kind != .embedded {
            let table = try snapshot.table(item.key)
            guard let match = stored.class_(named: item.name),
                let primaryKey = table.primaryKeyColumn
            else { continue }
            var properties: [Property] = []
            for (column, property) in item.properties.enumerated() where column != primaryKey {
                guard let key = match.property(named: property.name)?.key else { continue }
                properties.append(
                    Property(
                        column: column, targetKey: key.rawValue,
                        isLink: table.column(column).kind == .link,
                        linkTarget: table.column(column).linkTarget))
            }
            positions[item.key] = classes.count
            classes.append(
                Class(
                    source: table, target: match.key, primaryKey: primaryKey,
                    properties: properties, linkCount: properties.count { $0.isLink }))
        }
    }

    private mutating func merge(
        _ item: Class, _ leaf: LeafView, _ row: Int
    ) throws(RealmError) {
        if touched + 1 + item.linkCount > Self.objectsPerTransaction, touched > 0 {
            try target.commit()
            try target.beginWrite()
            touched = 0
        }
        var keys: [Int64] = []
        var values: [RawValue] = []
        keys.reserveCapacity(item.properties.count)
        values.reserveCapacity(item.properties.count)
        for property in item.properties {
            let value = try item.source.value(leaf, row, property.column)
            keys.append(property.targetKey)
            values.append(property.isLink ? try mapped(value, property.linkTarget) : value)
        }
        let object = try counterpart(item, leaf, row)
        defer { object.release() }
        try object.setValues(keys.count, keys, values)
    }

    /// The object of the target with the primary key of this row, created if it is not there.
    private mutating func counterpart(
        _ item: Class, _ leaf: LeafView, _ row: Int
    ) throws(RealmError) -> ObjectHandle {
        var created = false
        touched += 1
        return try target.getOrCreateObject(
            item.target, primaryKey: try item.source.value(leaf, row, item.primaryKey),
            created: &created)
    }

    /// The link in terms of the target. Its object may be created here, with defaults: it gets its
    /// values when its own turn comes.
    private mutating func mapped(
        _ value: RawValue, _ linkTarget: ClassKey
    ) throws(RealmError) -> RawValue {
        guard !value.isNull, let position = positions[linkTarget] else { return .null }
        let item = classes[position]
        guard let place = try item.source.row(value.linkTarget.rawValue) else { return .null }
        let object = try counterpart(item, place.leaf, place.row)
        defer { object.release() }
        return .link(item.target, ObjectKey(rawValue: object.objectKey))
    }
}
