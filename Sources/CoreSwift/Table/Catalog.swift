// What a version says of its classes: the payload of the version's root block, and the schema
// block it refers to. Both are read with bounds checks; nothing here is trusted.
//
// Payload:
//   offset  size  field
//        0     4  format of the payload and of the schema block (1 or 2); 3, 4: with a change log
//        4     4  classes
//        8     8  schema version of the program, all ones: none was ever given
//       16    32  reference of the schema block, none: no schema yet
//       48        per class:
//                   class key (4), tree depth (2), indexes (2), next object key (8), rows (8),
//                   root (32)
//                   per index: column (2), `IndexKind` (1), depth (1), 0 (4), entries (8), root (32)
//                 from format 3 on: format of the schema block (4), the section of `LogDirectory`
//
// Schema block: block header (kind schema), then next class key (4), next property serial (4),
// classes (4), per class: name, kind (1), primary key name, class key (4), columns (2), per column:
// name, public name, type (1), collection (1), flags (1), key (8), link target name. In format 2,
// which is written only where something needs it, per column `StorageFlags` (1) and with
// `hasInitial` the length (4) and bytes of the initial value.

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
    var nextKey = ObjectKey.first
    var rows = 0
    var root = BlockReference.none
    var indexes: [IndexRoot] = []
}

struct Catalog {
    /// "No version was ever given": UINT64_MAX of the C ABI.
    static let unversioned = UInt64.max
    static let formatMax: UInt32 = 8
    /// Behind the last key that anybody gives (`ClientKeys`); leaves room to count on.
    private static let nextKeyMax = ObjectKey(rawValue: .max - 1 << ClientKeys.bits)
    /// With a change log; earlier libraries wrote 3, and 4 to 7 where the log leaves out values (`UnwrittenObjects`).
    private static let formatWithLog: UInt32 = 8
    private static let formatWithLogMin: UInt32 = 3
    private static let formatLeavingOut: UInt32 = 4
    private static let formatWithIntegers: UInt32 = 8

    /// Of the schema block: 2 where it says more than names and types.
    var format: UInt32 = 1
    /// The change log; nil where none is kept.
    var log: LogDirectory?
    var schemaVersion = Catalog.unversioned
    var schema = BlockReference.none
    var classes: [ClassRoot] = []

    init() {}

    init(_ payload: UnsafeRawPointer, count: Int) throws(RealmError) {
        if count == 0 { return }
        var reader = ByteReader(payload, count: count, subject: "catalog")
        format = try reader.u32()
        guard format >= 1, format <= Self.formatMax else {
            throw RealmError(
                .unsupportedFileFormatVersion,
                "catalog has format \(format), this version reads 1 to \(Self.formatMax)")
        }
        let classCount = try reader.u32()
        schemaVersion = try reader.u64()
        schema = try reader.reference()
        for _ in 0..<classCount { classes.append(try Self.readClass(&reader)) }
        guard format >= Self.formatWithLogMin else { return }
        let logFormat = format
        format = try reader.u32()
        guard format == 1 || format == 2 else {
            throw RealmError(.invalidDatabase, "catalog: schema of format \(format)")
        }
        log = try LogDirectory(
            &reader, leavesOut: logFormat >= Self.formatLeavingOut,
            hasIntegers: logFormat >= Self.formatWithIntegers)
    }

    private static func readClass(_ reader: inout ByteReader) throws(RealmError) -> ClassRoot {
        var root = ClassRoot(classKey: ClassKey(rawValue: try reader.u32()))
        root.depth = Int(try reader.u16())
        let indexCount = try reader.u16()
        root.nextKey = ObjectKey(rawValue: try reader.i64())
        let rows = try reader.u64()
        root.root = try reader.reference()
        guard root.depth < RowTree.depthMax, rows < UInt64(TreeLimits.entriesMax),
            root.nextKey >= .first, root.nextKey <= Self.nextKeyMax
        else {
            throw RealmError(
                .invalidDatabase,
                "catalog: class \(root.classKey) has depth \(root.depth), \(rows) rows, "
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
            let reference = try reader.reference()
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
                .invalidDatabase, "catalog: class \(classKey) has a tree that is no block")
        }
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.u32(log == nil ? format : Self.formatWithLog)
        writer.u32(UInt32(classes.count))
        writer.u64(schemaVersion)
        writer.reference(schema)
        for root in classes {
            writer.u32(root.classKey.rawValue)
            writer.u16(UInt16(root.depth))
            writer.u16(UInt16(root.indexes.count))
            writer.i64(root.nextKey.rawValue)
            writer.u64(UInt64(root.rows))
            writer.reference(root.root)
            for index in root.indexes {
                writer.u16(UInt16(index.column))
                writer.u8(index.kind.rawValue)
                writer.u8(UInt8(index.depth))
                writer.u32(0)
                writer.u64(UInt64(index.entries))
                writer.reference(index.root)
            }
        }
        if let log {
            writer.u32(format)
            log.write(&writer)
        }
        return writer.bytes
    }
}
