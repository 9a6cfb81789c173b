// The schema of a file: the schema block, read with bounds checks, and written. Its layout stands
// in Catalog.swift.

/// A schema that was read and found sound, with the block that it stands in: as references name the
/// content of their block, an equal one stands for an equal schema.
struct KnownSchema {
    let block: BlockReference
    let schema: StoredSchema
}

/// The schema of a file, with what is needed to extend it.
struct StoredSchema: Equatable {
    var schema = Schema()
    var nextClassKey: UInt32 = 0
    var nextSerial: UInt32 = 0

    static let classesMax = 1 << 16
    /// Columns of a class, vacated ones among them.
    static let propertiesMax = 1 << 14

    private struct StorageFlags: OptionSet {
        let rawValue: UInt8
        static let isVacated = StorageFlags(rawValue: 1)
        static let isIndexedKey = StorageFlags(rawValue: 2)
        static let hasInitial = StorageFlags(rawValue: 4)
        static let all: StorageFlags = [.isVacated, .isIndexedKey, .hasInitial]
    }

    init() {}

    /// The format that the schema needs; older libraries read 1 and refuse 2.
    var format: UInt32 {
        let isPlain = schema.classes.allSatisfy {
            $0.vacated.isEmpty && $0.properties.allSatisfy { $0.storage.isPlain }
        }
        return isPlain ? 1 : 2
    }

    init(_ bytes: UnsafeRawPointer, count: Int, format: UInt32) throws(RealmError) {
        var reader = ByteReader(bytes, count: count, subject: "schema block")
        _ = try reader.bytes(16)
        nextClassKey = try reader.u32()
        nextSerial = try reader.u32()
        let classCount = try reader.u32()
        var classes: [ClassSchema] = []
        for _ in 0..<classCount {
            classes.append(try Self.readClass(&reader, nextClassKey, format))
        }
        schema = Schema(classes)
        guard nextClassKey <= Self.classesMax, nextSerial < UInt32.max / 2,
            Set(classes.map(\.key)).count == classes.count,
            Set(classes.map(\.name)).count == classes.count
        else {
            throw RealmError(.invalidDatabase, "schema block: class keys or names repeat")
        }
    }

    private static func readClass(
        _ reader: inout ByteReader, _ keyLimit: UInt32, _ format: UInt32
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
        var vacated: [PropertySchema] = []
        for column in 0..<Int(try reader.u16()) {
            var property = try readProperty(&reader, name, column)
            if format > 1, try readStorage(&reader, name, &property) {
                vacated.append(property)
            } else {
                properties.append(property)
            }
        }
        guard properties.haveDistinctNames else {
            throw RealmError(.invalidDatabase, "schema block: properties of class \(name) repeat")
        }
        var result = ClassSchema(
            name, primaryKey: primaryKey, properties: properties, kind: kind,
            key: ClassKey(rawValue: key))
        result.vacated = vacated
        return result
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

    /// Reads how a property is stored; returns whether it was dropped.
    private static func readStorage(
        _ reader: inout ByteReader, _ owner: String, _ property: inout PropertySchema
    ) throws(RealmError) -> Bool {
        let flags = StorageFlags(rawValue: try reader.u8())
        property.storage.isIndexedKey = flags.contains(.isIndexedKey)
        var problem: String? = StorageFlags.all.isSuperset(of: flags) ? nil : "has unknown flags"
        if flags.contains(.hasInitial) {
            let count = Int(try reader.u32())
            guard count <= InitialColumn.bytesMax else {
                throw RealmError(
                    .invalidDatabase,
                    "schema block: \(owner).\(property.name) has a default of \(count) bytes")
            }
            let bytes = UnsafeRawBufferPointer(start: try reader.bytes(count), count: count)
            if let found = InitialColumn.problem(bytes, property) { problem = found }
            property.storage.initial = [UInt8](bytes)
        }
        if let problem {
            throw RealmError(
                .invalidDatabase, "schema block: property \(owner).\(property.name) \(problem)")
        }
        return flags.contains(.isVacated)
    }

    /// The schema with the primary key of a class found through its index, whatever it is.
    mutating func setIndexedKey(_ key: ClassKey) {
        guard let name = schema.class_(key)?.name else { return }
        schema.change(name) { item in
            for column in item.properties.indices
            where item.properties[column].name == item.primaryKey {
                item.properties[column].storage.isIndexedKey = true
            }
        }
    }

    /// No property of the class is the primary key any more. Where the values are object keys, they
    /// have to be in the leaves before (`Table.materializeKeys`), if they are to be kept.
    mutating func dropPrimaryKey(_ className: String) {
        schema.change(className) { item in
            item.primaryKey = ""
            for column in item.properties.indices {
                item.properties[column].flags.remove(.primaryKey)
                item.properties[column].storage.isIndexedKey = false
            }
        }
    }

    /// Memory with the block that has these bytes, to be freed by the caller.
    static func makeBlock(_ bytes: [UInt8]) -> (memory: UnsafeMutableRawPointer, pages: Int) {
        let pages = Page.count(forBytes: bytes.count)
        let block = TransactionMemory.allocate(pages: pages)
        memcpy(block, bytes, bytes.count)
        block.put(UInt32(bytes.count), BlockField.bytesUsed)
        return (block, pages)
    }

    /// The block's bytes, header included.
    func encoded() -> [UInt8] {
        let format = format
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
            writer.u16(UInt16(item.columnCount))
            let vacated = Set(item.vacated.map(\.key))
            for property in item.columns {
                writer.string(property.name)
                writer.string(property.publicName)
                writer.u8(UInt8(property.type.rawValue))
                writer.u8(UInt8(property.collection.rawValue))
                writer.u8(UInt8(truncatingIfNeeded: property.flags.rawValue))
                writer.i64(property.key.rawValue)
                writer.string(property.linkTarget)
                guard format > 1 else { continue }
                Self.write(property.storage, isVacated: vacated.contains(property.key), &writer)
            }
        }
        return writer.bytes
    }

    private static func write(
        _ storage: PropertyStorage, isVacated: Bool, _ writer: inout ByteWriter
    ) {
        var flags: StorageFlags = []
        if isVacated { flags.insert(.isVacated) }
        if storage.isIndexedKey { flags.insert(.isIndexedKey) }
        if storage.initial != nil { flags.insert(.hasInitial) }
        writer.u8(flags.rawValue)
        guard let initial = storage.initial else { return }
        writer.u32(UInt32(initial.count))
        initial.withUnsafeBytes { writer.raw($0) }
    }
}
