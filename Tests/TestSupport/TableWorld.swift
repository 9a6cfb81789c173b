// Tables without the layers above them: a store in memory, a schema, rows by value.

@testable import CoreSwift

final class TableWorld {
    let directory = TemporaryDirectory()
    let store: Store
    let tables: TableSet
    private let stamp = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

    /// Gives classes and properties their keys.
    static func keyed(_ schema: Schema) -> StoredSchema {
        var stored = StoredSchema()
        var classes: [ClassSchema] = []
        for (index, item) in schema.classes.enumerated() {
            var item = item
            item.key = ClassKey(rawValue: UInt32(index))
            for column in item.properties.indices {
                item.properties[column].key = PropertyKey(
                    column: column, serial: UInt32(index * 100 + column))
            }
            classes.append(item)
        }
        stored.schema = Schema(classes)
        stored.nextClassKey = UInt32(classes.count)
        stored.nextSerial = 1000
        return stored
    }

    init(_ schema: Schema) throws {
        store = try Store.open(
            path: directory.file(), options: StoreOptions(inMemory: true), files: SystemCalls.shared
        )
        stamp.initialize(to: 0)
        tables = try TableSet(store: store, pin: try store.pinNewest(), stamp: stamp)
        try beginWrite()
        try tables.setSchema(Self.keyed(schema), version: 1)
        try tables.commit()
    }

    deinit {
        tables.close()
        try? store.close()
        stamp.deallocate()
    }

    var schema: Schema { tables.schema }
    var reader: SnapshotReader { SnapshotReader(tables: tables) }
    func key(_ name: String) -> ClassKey { schema.class_(named: name)!.key }

    func beginWrite() throws { try tables.beginWrite(try store.beginWrite(wait: true)!) }

    /// Creates an object and sets the given properties; returns its key.
    @discardableResult
    func add(_ name: String, _ values: [String: Value]) throws -> ObjectKey {
        let item = schema.class_(named: name)!
        let table = tables.table(item.key)!
        var created: (key: ObjectKey, place: RowPlace)
        if let primary = item.primaryKeyProperty {
            created = try (values[primary.name] ?? .null).withRaw { raw throws(RealmError) in
                try table.createPrimaryKey(raw)
            }
        } else {
            created = try table.createSequential()
        }
        for property in item.properties where !property.isPrimaryKey {
            guard let value = values[property.name] else { continue }
            created.place = try value.withRaw { raw throws(RealmError) in
                try table.setValue(created.place, created.key, property.key.column, raw)
            }
        }
        return created.key
    }

    func delete(_ name: String, _ key: ObjectKey) throws {
        try tables.table(self.key(name))!.deleteRow(key)
    }

    /// A query whose conditions are all evaluated object by object.
    func plainQuery(_ name: String, _ text: String) throws -> Query {
        var bytes = Array(text.utf8)
        let count = bytes.count
        bytes.append(0)
        return try bytes.withUnsafeBufferPointer {
            try Query.parse(
                UnsafeBufferPointer(rebasing: $0[..<count]), [], schema, key(name), values: nil,
                usesColumns: false)
        }
    }

    func query(_ name: String, _ text: String, _ arguments: [QueryArgument] = []) throws -> Query {
        try Query.parse(text, arguments: arguments, schema: schema, classKey: key(name))
    }
}
