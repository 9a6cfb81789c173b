// Getting out of a damaged file what verifies: `realm salvage`. docs/SALVAGE.md.
//
// The file is read alone, without its lock file. The newest version counts whose root, catalog and
// schema can be read. All rows that can be reached by way of intact blocks, or be proved to belong to
// that version otherwise, are written as objects to a new file; nothing else ever is. In the library
// nobody calls this, and the linker leaves it out: it costs programs nothing.

package enum Salvage {
    /// Recovers what can be had of `path` into the new file `target`. Neither `path` nor its lock file is
    /// written. Throws where nothing can be recovered at all, and `.fileAlreadyExists`.
    package static func run(
        _ path: String, key: [UInt8] = [], to target: String, targetKey: [UInt8] = []
    ) throws(RealmError) -> SalvageReport {
        try run(path, key: key, to: target, targetKey: targetKey, files: SystemCalls.shared)
    }

    static func run(
        _ path: String, key: [UInt8], to target: String, targetKey: [UInt8], files: FileSystem
    ) throws(RealmError) -> SalvageReport {
        if !targetKey.isEmpty { try FileCipher.checkSize(targetKey) }
        guard try !FileOperations.exists(target, files) else {
            throw RealmError(
                .fileAlreadyExists, "'\(target)': can't salvage into it, the file exists",
                path: target)
        }
        let real = try FileOperations.realPath(path, files)
        let file = try DamagedFile(real, key: key, files)
        var source = try SalvageSource(file)
        defer { source.close() }
        let temporary = "\(target).salvage-\(files.processID())"
        defer {
            // Best effort: what happened before counts.
            _ = try? FileOperations.remove(temporary, files)
            _ = try? FileOperations.remove(temporary + ".lock", files)
        }
        _ = try FileOperations.remove(temporary, files)
        return try write(&source, temporary, target, targetKey, files)
    }

    private static func write(
        _ source: inout SalvageSource, _ temporary: String, _ target: String, _ key: [UInt8],
        _ files: FileSystem
    ) throws(RealmError) -> SalvageReport {
        var configuration = Configuration(path: temporary)
        configuration.encryptionKey = key
        configuration.schema = source.plainSchema
        configuration.schemaVersion = source.schemaVersion
        configuration.notifiesAutomatically = false
        let realm = try Realm.open(configuration, files: files)
        defer { realm.close() }
        var copy = SalvageCopy(source, into: realm)
        try copy.run()
        source.finish(&copy.report)
        // Compact, and under its name only when it is complete.
        try realm.writeCopy(to: target, encryptionKey: key, files: files)
        return copy.report
    }
}

/// The version that is recovered, its schema and its classes.
struct SalvageSource {
    let file: DamagedFile
    let version: DamagedFile.Version
    let tables: TableSet
    private(set) var classes: [DamagedClass] = []
    private let schemaOf: UInt64?
    private let stamp: UnsafeMutablePointer<UInt64>
    private let payload: UnsafeMutableRawBufferPointer

    init(_ file: DamagedFile) throws(RealmError) {
        self.file = file
        let found = try file.versions { Self.schema($0, file) != nil }
        guard let version = found.first else {
            throw RealmError(
                .invalidDatabase,
                "'\(file.store.path)': no version of the realm can be recovered, the root of none "
                    + "is intact", path: file.store.path)
        }
        var chosen: DamagedFile.Version?
        var other: DamagedFile.Version?
        for candidate in found where chosen == nil {
            // The first version of a file has no classes, and is no help to later ones.
            if other != nil, candidate.catalog.schema.isNone { continue }
            if Self.schema(candidate, file) != nil {
                chosen = candidate
            } else if other == nil {
                other = candidate
                file.note("version \(candidate.number): its schema can't be read")
            }
        }
        // Rows of the newest version under the schema of an older one, if that still fits.
        guard let schemaVersion = chosen else {
            throw RealmError(
                .invalidDatabase,
                "'\(file.store.path)': version \(version.number) can be found, but not the block with "
                    + "its schema, without which its rows mean nothing", path: file.store.path)
        }
        self.version = other ?? schemaVersion
        schemaOf = other == nil ? nil : schemaVersion.number
        var catalog = Catalog()
        catalog.format = schemaVersion.catalog.format
        catalog.schema = schemaVersion.catalog.schema
        catalog.schemaVersion = self.version.catalog.schemaVersion
        let bytes = catalog.encoded()
        payload = .allocate(byteCount: bytes.count, alignment: 8)
        payload.copyBytes(from: bytes)
        stamp = .allocate(capacity: 1)
        stamp.initialize(to: 0)
        guard let start = payload.baseAddress else {
            throw RealmError(.outOfMemory, "no memory for a catalog")
        }
        // The tables are empty: their trees are walked here.
        tables = try TableSet(
            store: file.store,
            pin: Store.Pin(
                version: self.version.number, payload: UnsafeRawPointer(start),
                payloadCount: bytes.count, root: self.version.reference),
            stamp: stamp)
        findRows()
    }

    /// The schema of a version, if its block is intact.
    private static func schema(
        _ version: DamagedFile.Version, _ file: DamagedFile
    ) -> StoredSchema? {
        let reference = version.catalog.schema
        if reference.isNone { return StoredSchema() }
        guard reference.isStored, let block = try? file.store.admit(reference),
            block.u64(BlockField.tag)
                == BlockTag(.schema, classKey: ClassKey(rawValue: 0)).rawValue
        else { return nil }
        let used = Int(block.u32(BlockField.bytesUsed))
        guard used <= reference.pageCount << Page.shift else { return nil }
        return try? StoredSchema(block, count: used, format: version.catalog.format)
    }

    private mutating func findRows() {
        for item in tables.schema.classes {
            guard let table = tables.table(item.key) else { continue }
            let root = version.catalog.classes.first { $0.classKey == item.key }
            classes.append(DamagedClass(item, table, root, file))
        }
        guard classes.contains(where: \.hasLostBranches) else { return }
        do throws(RealmError) {
            var reached = classes.flatMap { $0.leaves.map(\.reference) + $0.branches }
            reached += [version.reference, version.catalog.schema] + version.root.written
            let found = try LeafSearch(file, version).run(
                reached: reached.filter { $0.isStored && file.contains($0) })
            for index in classes.indices where classes[index].hasLostBranches {
                for reference in found[classes[index].schema.key] ?? [] {
                    classes[index].take(reference)
                }
                classes[index].sort()
            }
        } catch {
            file.note("below damaged branches nothing can be found: \(error.message)")
        }
    }

    var schemaVersion: UInt64 {
        tables.schemaVersion == Catalog.unversioned ? 0 : tables.schemaVersion
    }

    /// The schema without what it has of this file.
    var plainSchema: Schema {
        Schema(
            tables.schema.classes.map { item in
                ClassSchema(
                    item.name, primaryKey: item.primaryKey,
                    properties: item.properties.map { property in
                        PropertySchema(
                            property.name, property.type, collection: property.collection,
                            linkTarget: property.linkTarget, flags: property.flags,
                            publicName: property.publicName)
                    }, kind: item.kind)
            })
    }

    func finish(_ report: inout SalvageReport) {
        report.damage = file.faults
        report.schemaOf = schemaOf
        if file.newestNamed > version.number { report.newestVersion = file.newestNamed }
    }

    var source: String {
        switch version.origin {
        case .header(let slot): "header slot \(slot)"
        case .syncRecord: "a sync record, which names its root"
        case .search: "a search for roots among all blocks"
        }
    }

    func close() {
        tables.close()
        payload.deallocate()
        stamp.deallocate()
    }
}
