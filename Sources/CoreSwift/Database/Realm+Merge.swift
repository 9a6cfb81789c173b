// Merging what a realm sees into a file that exists: each object is created there or found by its
// primary key, and takes the values it has here (`ObjectCopy`). The keys of objects differ between
// files, so a link becomes a link to the object with the same primary key. Copying into a new file,
// which is by blocks, is in `Realm+Copy`.

extension Realm {
    /// The name that the primary key of every class has to have.
    private static let mergeKey = "_id"

    /// Merges into the file at `path`, which exists. In transactions of at most 1,000 objects (and
    /// those that they link to), so an error may leave some of them done; `.brokenInvariant` comes
    /// before the first change.
    func merge(into path: String, encryptionKey: [UInt8]) throws(RealmError) {
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
        var configuration = Configuration(path: path)
        configuration.encryptionKey = encryptionKey
        let target = try Realm.open(configuration)
        defer { target.close() }
        guard target.file !== file else {
            throw RealmError(
                .illegalOperation, "'\(path)': a realm can't be merged into its own file",
                path: path)
        }
        do throws(RealmError) {
            try merge(tables, into: target)
        } catch {
            if target.isWritable { try? target.rollback() }
            throw error
        }
    }

    private static let objectsPerTransaction = 1000

    /// The target is in a write transaction from the start of the merge to its end.
    private func merge(_ tables: TableSet, into target: Realm) throws(RealmError) {
        try target.beginWrite()
        try Self.addSchema(of: tables, to: target)
        var copy = ObjectCopy(self, schema: tables.schema, into: target, .all, .objects)
        var chunk: [Link] = []
        for item in tables.schema.classes where item.kind != .embedded {
            for key in try Self.keys(tables, item.key) {
                if chunk.count == Self.objectsPerTransaction {
                    try copy.run(chunk)
                    try target.commit()
                    try target.beginWrite()
                    chunk.removeAll(keepingCapacity: true)
                }
                chunk.append(Link(item.key, key))
            }
        }
        try copy.run(chunk)
        try target.commit()
    }

    /// Classes and properties that only the source has come to the target.
    private static func addSchema(
        of source: TableSet, to target: Realm
    ) throws(RealmError) {
        let tables = try target.tablesForWriting()
        let isFirst = tables.schemaVersion == Catalog.unversioned
        try target.change(
            SchemaRequest(
                source.schema, version: isFirst ? source.schemaVersion : tables.schemaVersion,
                mode: .additiveDiscovered))
    }

    /// All at once: reading objects must not meet the iteration.
    private static func keys(
        _ tables: TableSet, _ classKey: ClassKey
    ) throws(RealmError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var leaves = try SnapshotReader(tables: tables).table(classKey).leaves()
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                keys.append(leaf.key(row))
            }
        }
        return keys
    }
}
