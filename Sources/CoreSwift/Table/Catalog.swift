// What a version says of its classes: the payload of the version's root block, and the schema
// block it refers to. Both are read with bounds checks; nothing here is trusted.
//
// Payload:
//   offset  size  field
//        0     4  format of the payload (1)
//        4     4  classes
//        8     8  schema version of the program, all ones: none was ever given
//       16    32  reference of the schema block, none: no schema yet
//       48        per class:
//                   class key (4), tree depth (2), indexes (2), next object key (8), rows (8),
//                   root (32)
//                   per index: column (2), `IndexKind` (1), depth (1), 0 (4), entries (8), root (32)
//
// Schema block: block header (kind schema), then next class key (4), next property serial (4),
// classes (4), per class: name, kind (1), primary key name, class key (4), properties (2), per
// property: name, public name, type (1), collection (1), flags (1), key (8), link target name.

struct IndexRoot {
    var column: Int
    var kind: IndexKind
    var depth: Int
    var entries: Int
    var root: BlockReference
}

struct ClassRoot {
    var classKey: ClassKey
    var depth = 0
    var nextKey: Int64 = 0
    var rows = 0
    var root = BlockReference.none
    var indexes: [IndexRoot] = []
}

struct Catalog {
    /// "No version was ever given": UINT64_MAX of the C ABI.
    static let unversioned = UInt64.max
    private static let format: UInt32 = 1
    /// Leaves room for more keys than any program will ever take.
    private static let nextKeyMax = IntegerKeys.indirectBase + IntegerKeys.indirectBase / 2

    var schemaVersion = Catalog.unversioned
    var schema = BlockReference.none
    var classes: [ClassRoot] = []

    init() {}

    init(_ payload: UnsafeRawPointer, count: Int) throws(RealmError) {
        if count == 0 { return }
        var reader = ByteReader(payload, count: count, subject: "catalog")
        let format = try reader.u32()
        guard format == Self.format else {
            throw RealmError(
                .unsupportedFileFormatVersion, "catalog has format \(format), not \(Self.format)")
        }
        let classCount = try reader.u32()
        schemaVersion = try reader.u64()
        schema = BlockReference(try reader.bytes(BlockReference.byteCount))
        for _ in 0..<classCount { classes.append(try Self.readClass(&reader)) }
    }

    private static func readClass(_ reader: inout ByteReader) throws(RealmError) -> ClassRoot {
        var root = ClassRoot(classKey: ClassKey(rawValue: try reader.u32()))
        root.depth = Int(try reader.u16())
        let indexCount = try reader.u16()
        root.nextKey = try reader.i64()
        let rows = try reader.u64()
        root.root = BlockReference(try reader.bytes(BlockReference.byteCount))
        guard root.depth < RowTree.depthMax, rows < UInt64(TreeLimits.entriesMax),
            root.nextKey >= 0, root.nextKey <= Self.nextKeyMax
        else {
            throw RealmError(
                .invalidDatabase,
                "catalog: class \(root.classKey.rawValue) has depth \(root.depth), \(rows) rows, "
                    + "next key \(root.nextKey)")
        }
        root.rows = Int(rows)
        try checkRoot(root.root, root.classKey)
        for _ in 0..<indexCount {
            let column = Int(try reader.u16())
            let number = try reader.u8()
            let depth = Int(try reader.u8())
            _ = try reader.u32()
            let entries = try reader.u64()
            let reference = BlockReference(try reader.bytes(BlockReference.byteCount))
            guard depth < RowTree.depthMax, entries < UInt64(TreeLimits.entriesMax) else {
                throw RealmError(
                    .invalidDatabase,
                    "catalog: index of column \(column) has depth \(depth), \(entries) entries")
            }
            guard let kind = IndexKind(rawValue: number) else {
                throw RealmError(
                    .invalidDatabase,
                    "catalog: index of column \(column) is of kind \(number), which there is not")
            }
            try checkRoot(reference, root.classKey)
            root.indexes.append(
                IndexRoot(
                    column: column, kind: kind, depth: depth, entries: Int(entries),
                    root: reference))
        }
        return root
    }

    private static func checkRoot(
        _ reference: BlockReference, _ classKey: ClassKey
    ) throws(RealmError) {
        guard reference.isNone || reference.isStored else {
            throw RealmError(
                .invalidDatabase, "catalog: class \(classKey.rawValue) has a tree that is no block")
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.u32(Self.format)
        writer.u32(UInt32(classes.count))
        writer.u64(schemaVersion)
        Self.write(schema, &writer)
        for root in classes {
            writer.u32(root.classKey.rawValue)
            writer.u16(UInt16(root.depth))
            writer.u16(UInt16(root.indexes.count))
            writer.i64(root.nextKey)
            writer.u64(UInt64(root.rows))
            Self.write(root.root, &writer)
            for index in root.indexes {
                writer.u16(UInt16(index.column))
                writer.u8(index.kind.rawValue)
                writer.u8(UInt8(index.depth))
                writer.u32(0)
                writer.u64(UInt64(index.entries))
                Self.write(index.root, &writer)
            }
        }
        return writer.bytes
    }

    private static func write(_ reference: BlockReference, _ writer: inout ByteWriter) {
        writer.u64(reference.location)
        writer.u64(reference.version)
        writer.u64(reference.check0)
        writer.u64(reference.check1)
    }
}

/// The schema of a file, with what is needed to extend it.
struct StoredSchema: Equatable {
    var schema = Schema()
    var nextClassKey: UInt32 = 0
    var nextSerial: UInt32 = 0

    static let classesMax = 1 << 16
    static let propertiesMax = 1 << 14

    init() {}

    init(_ bytes: UnsafeRawPointer, count: Int) throws(RealmError) {
        var reader = ByteReader(bytes, count: count, subject: "schema block")
        _ = try reader.bytes(16)
        nextClassKey = try reader.u32()
        nextSerial = try reader.u32()
        let classCount = try reader.u32()
        var classes: [ClassSchema] = []
        for _ in 0..<classCount { classes.append(try Self.readClass(&reader, nextClassKey)) }
        schema = Schema(classes)
        guard nextClassKey <= Self.classesMax, nextSerial < UInt32.max / 2,
            Set(classes.map(\.key)).count == classes.count,
            Set(classes.map(\.name)).count == classes.count
        else {
            throw RealmError(.invalidDatabase, "schema block: class keys or names repeat")
        }
    }

    private static func readClass(
        _ reader: inout ByteReader, _ keyLimit: UInt32
    ) throws(RealmError) -> ClassSchema {
        let name = try reader.string()
        guard let kind = ClassKind(rawValue: Int32(try reader.u8())) else {
            throw RealmError(.invalidDatabase, "schema block: class \(name) is of unknown kind")
        }
        let primaryKey = try reader.string()
        let key = try reader.u32()
        guard key < keyLimit else {
            throw RealmError(
                .invalidDatabase, "schema block: class \(name) has key \(key) of \(keyLimit)")
        }
        var properties: [PropertySchema] = []
        for column in 0..<Int(try reader.u16()) {
            properties.append(try readProperty(&reader, name, column))
        }
        guard Set(properties.map(\.name)).count == properties.count else {
            throw RealmError(.invalidDatabase, "schema block: properties of class \(name) repeat")
        }
        return ClassSchema(
            name, primaryKey: primaryKey, properties: properties, kind: kind,
            key: ClassKey(rawValue: key))
    }

    private static func readProperty(
        _ reader: inout ByteReader, _ owner: String, _ column: Int
    ) throws(RealmError) -> PropertySchema {
        let name = try reader.string()
        let publicName = try reader.string()
        let type = PropertyType(rawValue: UInt32(try reader.u8()))
        let collection = CollectionType(rawValue: UInt32(try reader.u8()))
        let flags = PropertyFlags(rawValue: Int32(try reader.u8()))
        let key = PropertyKey(rawValue: try reader.i64())
        let target = try reader.string()
        guard let type, let collection, key.column == column, !key.isComputed else {
            throw RealmError(
                .invalidDatabase, "schema block: property \(owner).\(name) is damaged")
        }
        return PropertySchema(
            name, type, collection: collection, linkTarget: target, flags: flags,
            publicName: publicName, key: key)
    }

    /// The block's bytes, header included.
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.u64(BlockTag(.schema, classKey: ClassKey(rawValue: 0)).rawValue)
        writer.u32(0)
        writer.u32(UInt32(schema.classes.count))
        writer.u32(nextClassKey)
        writer.u32(nextSerial)
        writer.u32(UInt32(schema.classes.count))
        for item in schema.classes {
            writer.string(item.name)
            writer.u8(UInt8(item.kind.rawValue))
            writer.string(item.primaryKey)
            writer.u32(item.key.rawValue)
            writer.u16(UInt16(item.properties.count))
            for property in item.properties {
                writer.string(property.name)
                writer.string(property.publicName)
                writer.u8(UInt8(property.type.rawValue))
                writer.u8(UInt8(property.collection.rawValue))
                writer.u8(UInt8(truncatingIfNeeded: property.flags.rawValue))
                writer.i64(property.key.rawValue)
                writer.string(property.linkTarget)
            }
        }
        return writer.bytes
    }
}
