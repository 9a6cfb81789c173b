// What a file consists of, in numbers: for `realm stats` and for tests of space.

/// Sizes of a realm file at its newest version. Bytes are whole pages.
public struct RealmStatistics: Sendable {
    public var fileBytes: Int
    /// Free for the next commits.
    public var freeBytes: Int
    /// No longer part of the newest version, but still read by an older one.
    public var pendingBytes: Int
    /// Versions that somebody reads, and the newest.
    public var liveVersions: Int
    public var version: UInt64
    /// The program's schema version; nil if none was ever given.
    public var schemaVersion: UInt64?
    /// In the order of their names.
    public var classes: [ClassStatistics]
    /// The change log; nil where none is kept.
    public var changeLog: ChangeLogStatistics?
}

/// Sizes of the change log.
public struct ChangeLogStatistics: Sendable {
    /// It has what every version above this one did.
    public var from: UInt64
    /// Of its blocks.
    public var bytes: Int
    /// Of what stands in the catalog.
    public var tailBytes: Int
    /// Who has to acknowledge it, and has up to which version.
    public var consumers: [ChangeConsumer]
}

/// Sizes of one class.
public struct ClassStatistics: Sendable {
    public var name: String
    public var objects = 0
    /// The tree of rows.
    public var rowBytes = 0
    /// Values in blocks of their own.
    public var externalBytes = 0
    public var externalValues = 0
    /// Trees of lists, sets and dictionaries that are too large for their rows.
    public var collectionBytes = 0
    public var collections = 0
    public var leafCount = 0
    /// Levels of the tree above its leaves.
    public var depth = 0
    public var indexes: [IndexStatistics] = []
    public var indexBytes: Int { indexes.reduce(0) { $0 + $1.bytes } }
}

/// Sizes of the index of one property.
public struct IndexStatistics: Sendable {
    public var property: String
    /// What the index leads from to objects.
    public enum Source: String, Sendable {
        case values
        /// Link targets: to the objects that link to them.
        case backlinks
        /// Words of texts.
        case words
    }
    public var source: Source
    public var entries: Int
    public var bytes = 0
    public var depth: Int
}

extension Realm {
    /// Sizes of the file and its classes at the newest version. Reads every block of classes with
    /// text, else the inner nodes only.
    public func statistics() throws(RealmError) -> RealmStatistics {
        try statistics { _ in true }
    }

    /// The same without the classes.
    public func fileStatistics() throws(RealmError) -> RealmStatistics {
        try statistics { _ in false }
    }

    /// What the decrypted blocks of the file take in this process; nil for a plain file, and where all
    /// that was read is kept.
    public func decryptedCacheStatistics() throws(RealmError) -> DecryptedCacheStatistics? {
        try checkUsable()
        return file.store.mapping.cleartext?.statistics
    }

    /// Sizes of one class.
    public func statistics(of key: ClassKey) throws(RealmError) -> ClassStatistics {
        guard let result = try statistics({ $0 == key }).classes.first else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(key)")
        }
        return result
    }

    private func statistics(_ isWanted: (ClassKey) -> Bool) throws(RealmError) -> RealmStatistics {
        try checkUsable()
        let store = file.store
        let sizes = try store.statistics()
        return try TableSet.withNewest(store) { tables throws(RealmError) in
            var result = RealmStatistics(
                fileBytes: store.codec.bytes(pages: UInt64(sizes.filePages)),
                freeBytes: sizes.freePages << Page.shift,
                pendingBytes: sizes.pendingPages << Page.shift, liveVersions: sizes.liveVersions,
                version: tables.version,
                schemaVersion: tables.schemaVersion == Catalog.unversioned
                    ? nil : tables.schemaVersion, classes: [])
            result.changeLog = try tables.logStatistics()
            for item in tables.schema.classes where isWanted(item.key) {
                guard let table = tables.table(item.key) else { continue }
                result.classes.append(try Self.statistics(item, table))
            }
            return result
        }
    }

    private static func statistics(
        _ item: ClassSchema, _ table: Table
    ) throws(RealmError) -> ClassStatistics {
        let size = try TreeSize.measure(table)
        var result = ClassStatistics(name: item.name)
        result.objects = table.rowCount
        result.rowBytes = size.rowPages << Page.shift
        result.externalBytes = size.externalPages << Page.shift
        result.externalValues = size.externalValues
        result.collectionBytes = size.collectionPages << Page.shift
        result.collections = size.collections
        result.leafCount = size.leaves
        result.depth = table.depth
        for (position, index) in table.indexes.enumerated() {
            let property = item.properties.first { $0.key.column == index.column }
            result.indexes.append(
                IndexStatistics(
                    property: property?.name ?? "\(index.column)",
                    source: index.kind.source, entries: index.tree.count,
                    bytes: size.indexPages[position] << Page.shift, depth: index.tree.depth))
        }
        return result
    }
}

extension TableSet {
    fileprivate func logStatistics() throws(RealmError) -> ChangeLogStatistics? {
        guard let log = catalog.log else { return nil }
        return ChangeLogStatistics(
            from: log.from, bytes: try NodeSource(store: store).logPages(log.entries) << Page.shift,
            tailBytes: log.tail.count, consumers: log.consumers)
    }
}

extension IndexKind {
    fileprivate var source: IndexStatistics.Source {
        switch self {
        case .values: return .values
        case .inverse: return .backlinks
        case .words, .unicodeWords: return .words
        }
    }
}
