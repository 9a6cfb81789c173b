// Merging what a realm sees into a file that exists: each object is created there or found by its
// primary key, and takes the values it has here. The keys of objects differ between files, so a
// link becomes a link to the object with the same primary key. Copying into a new file, which is
// by blocks, is in `Realm+Copy`.

extension Realm {
    /// The name that the primary key of every class has to have.
    private static let mergeKey = "_id"

    /// Merges into the file at `path`, which exists. In transactions of at most 1,000 objects (and
    /// those that they link to), so an error may leave some of them done; `.brokenInvariant` comes
    /// before the first change.
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
            var merge = RealmMerge(self, tables, into: target)
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

    private struct Property {
        var source: Int64
        var target: Int64
        var collection: CollectionType
        /// The embedded class that it holds objects of, by its key in the source.
        var embedded: ClassKey?
    }
    private struct Class {
        var source: ClassKey
        var target: ClassKey
        /// Key of the property in the source; nil in embedded classes.
        var primaryKey: Int64?
        var properties: [Property]
    }

    private let source: Realm
    private let tables: TableSet
    private let target: Realm
    /// By class key of the source.
    private var classes: [ClassKey: Class] = [:]
    /// Objects in both realms whose values are still to be taken over: one, and then the embedded
    /// objects in it. Not by recursion, as they may be nested as deep as memory allows.
    private var waiting: [(source: ObjectHandle, target: ObjectHandle)] = []

    init(_ source: Realm, _ tables: TableSet, into target: Realm) {
        self.source = source
        self.tables = tables
        self.target = target
    }

    mutating func run() throws(RealmError) {
        defer { endWaiting() }
        try target.beginWrite()
        try addSchema()
        try matchClasses()
        var merged = 0
        for item in tables.schema.classes where item.kind != .embedded {
            for key in try keys(item.key) {
                if merged == Self.objectsPerTransaction {
                    try target.commit()
                    try target.beginWrite()
                    merged = 0
                }
                merged += 1
                let object = try source.object(item.key, key)
                waiting.append((object, try counterpart(object)))
                while let next = waiting.popLast() {
                    defer {
                        next.source.release()
                        next.target.release()
                    }
                    try takeValues(of: next.source, to: next.target)
                }
            }
        }
        try target.commit()
    }

    private mutating func endWaiting() {
        for next in waiting {
            next.source.release()
            next.target.release()
        }
        waiting = []
    }

    // MARK: Classes

    /// Classes and properties that only the source has come to the target.
    private func addSchema() throws(RealmError) {
        let tables = try target.tablesForWriting()
        let isFirst = tables.schemaVersion == Catalog.unversioned
        let update = try SchemaUpdate.plan(
            file: tables.stored, fileVersion: tables.schemaVersion, requested: self.tables.schema,
            version: isFirst ? self.tables.schemaVersion : tables.schemaVersion,
            mode: .additiveDiscovered)
        guard let update else { return }
        try tables.extendSchema(update.stored ?? tables.stored, version: update.version)
        target.noteSchema(tables)
    }

    private mutating func matchClasses() throws(RealmError) {
        let stored = try target.tablesForWriting().schema
        for item in tables.schema.classes {
            guard let match = stored.class_(named: item.name) else { continue }
            let primaryKey = item.primaryKeyProperty
            var properties: [Property] = []
            for property in item.properties where property.name != primaryKey?.name {
                guard let key = match.property(named: property.name)?.key else { continue }
                let linked = tables.schema.class_(named: property.linkTarget)
                properties.append(
                    Property(
                        source: property.key.rawValue, target: key.rawValue,
                        collection: property.collection,
                        embedded: linked?.kind == .embedded ? linked?.key : nil))
            }
            classes[item.key] = Class(
                source: item.key, target: match.key, primaryKey: primaryKey?.key.rawValue,
                properties: properties)
        }
    }

    /// All at once: reading objects must not meet the iteration.
    private func keys(_ classKey: ClassKey) throws(RealmError) -> [Int64] {
        var keys: [Int64] = []
        var leaves = try SnapshotReader(tables: tables).table(classKey).leaves()
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) { keys.append(leaf.key(row)) }
        }
        return keys
    }

    // MARK: Objects

    /// The target's object with the primary key of one of the source, created if it is not there:
    /// with defaults, it gets its values when its own turn comes.
    private func counterpart(_ object: ObjectHandle) throws(RealmError) -> ObjectHandle {
        guard let item = classes[object.classKey], let primaryKey = item.primaryKey else {
            throw RealmError(
                .brokenInvariant,
                "can't merge: class \(object.classKey.rawValue) has no primary key")
        }
        var value = RawValue.null
        var created = false
        try object.getValue(primaryKey, &value)
        return try target.getOrCreateObject(item.target, primaryKey: value, created: &created)
    }

    private mutating func takeValues(
        of object: ObjectHandle, to other: ObjectHandle
    ) throws(RealmError) {
        guard let item = classes[object.classKey] else { return }
        for property in item.properties {
            if property.collection != .none {
                try takeElements(
                    of: try object.collection(property.source, property.collection),
                    to: try other.collection(property.target, property.collection),
                    areEmbedded: property.embedded != nil)
                continue
            }
            var value = RawValue.null
            try object.getValue(property.source, &value)
            if let type = NestedCell.type(value) {
                try takeElements(
                    of: try object.collection(property.source, type),
                    to: try other.setCollection(property.target, type), areEmbedded: false)
                continue
            }
            if let embedded = property.embedded, !value.isNull {
                let child = try source.object(embedded, value.linkTarget.rawValue)
                try pair(child) { () throws(RealmError) in
                    try other.createEmbedded(property.target)
                }
            } else {
                var key = property.target
                var mapped = try mapped(value)
                try other.setValues(1, &key, &mapped)
            }
        }
    }

    /// Replaces the elements of a collection. Recursion ends with the depth that collections in mixed
    /// values can have.
    private mutating func takeElements(
        of elements: RealmCollection, to others: RealmCollection, areEmbedded: Bool
    ) throws(RealmError) {
        let isDictionary = elements.type == .dictionary
        try others.removeAll()
        for index in 0..<(try elements.count()) {
            let value = try elements.get(index)
            if areEmbedded, let child = try elements.object(index) {
                try pair(child) { () throws(RealmError) in
                    isDictionary
                        ? try others.insertEmbedded(key: try elements.key(index))
                        : try others.insertEmbedded(at: index)
                }
                continue
            }
            if let type = NestedCell.type(value) {
                let nested =
                    isDictionary
                    ? try others.insertNested(type, key: try elements.key(index))
                    : try others.insertNested(type, at: index)
                try takeElements(
                    of: try elements.nested(index, type), to: nested, areEmbedded: false)
                continue
            }
            switch elements.type {
            case .set: _ = try others.insert(try mapped(value))
            case .dictionary:
                _ = try others.insert(try mapped(value), key: try elements.key(index))
            case .list, .none: try others.insert(try mapped(value), at: index)
            }
        }
    }

    /// Notes an embedded object and its new counterpart.
    private mutating func pair(
        _ child: ObjectHandle, _ make: () throws(RealmError) -> ObjectHandle
    ) throws(RealmError) {
        do throws(RealmError) {
            waiting.append((child, try make()))
        } catch {
            child.release()
            throw error
        }
    }

    /// The value in terms of the target: a link is to the object with the same primary key.
    private func mapped(_ value: RawValue) throws(RealmError) -> RawValue {
        guard !value.isNull, value.type == ValueType.link.rawValue else { return value }
        let object = try source.object(value.linkClass, value.linkTarget.rawValue)
        defer { object.release() }
        let other = try counterpart(object)
        defer { other.release() }
        return .link(other.classKey, ObjectKey(rawValue: other.objectKey))
    }
}
