// Reads everything a realm file holds in every way there is, for tests of damaged files.

@testable import CoreSwift

/// A checksum over values in an order.
struct ValueDigest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x9FB2_1C65_1E98_DF25
        value ^= value >> 29
    }

    mutating func add(_ raw: RawValue) {
        add(UInt64(raw.type))
        if raw.isNull { return }
        switch ValueType(rawValue: raw.type) {
        case .string, .binary:
            add(raw.word1)
            for byte in raw.bytes { add(UInt64(byte)) }
        case .timestamp, .link, .decimal128, .uuid, .objectId:
            add(raw.word0)
            add(raw.word1)
        // Elements are read by handles; here are addresses.
        case .list, .dictionary, nil: return
        default: add(raw.word0)
        }
    }
}

enum FileReading {
    /// Every value of every object, read by scanning and again by key, with backlinks, positions
    /// and primary keys.
    static func digest(_ realm: Realm) throws(RealmError) -> UInt64 {
        let tables = try realm.readTables()
        var digest = ValueDigest()
        for item in tables.schema.classes {
            let reader = try SnapshotReader(tables: tables).table(item.key)
            digest.add(UInt64(reader.rowCount))
            try scan(reader, &digest)
            try indexes(reader, &digest)
            try collections(realm, item, reader, &digest)
        }
        return digest.value
    }

    /// Every element of every list, set and dictionary, by handles, and where each is found.
    private static func collections(
        _ realm: Realm, _ item: ClassSchema, _ reader: TableReader, _ digest: inout ValueDigest
    ) throws(RealmError) {
        let properties = item.properties.filter { $0.collection != .none || $0.type == .mixed }
        guard !properties.isEmpty else { return }
        var leaves = reader.leaves()
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                let object = try realm.object(item.key, leaf.key(row))
                defer { object.release() }
                for property in properties {
                    var type = property.collection
                    if type == .none {
                        var value = RawValue.null
                        try object.getValue(property.key, &value)
                        guard let nested = NestedCell.type(value) else { continue }
                        type = nested
                    }
                    try elements(object.collection(property.key, type), &digest)
                }
            }
        }
    }

    private static func elements(
        _ collection: RealmCollection, _ digest: inout ValueDigest
    ) throws(RealmError) {
        let count = try collection.count()
        digest.add(UInt64(count))
        for index in 0..<min(count, 20_000) {
            let value = try collection.get(index)
            if let type = NestedCell.type(value) {
                try elements(collection.nested(index, type), &digest)
                continue
            }
            digest.add(value)
            if collection.type == .dictionary {
                let key = try collection.key(index)
                digest.add(key)
                digest.add(UInt64(bitPattern: Int64(try collection.find(key: key) ?? -1)))
            } else if index % 64 == 0 {
                digest.add(UInt64(bitPattern: Int64(try collection.find(value) ?? -1)))
            }
        }
    }

    private static func scan(
        _ reader: TableReader, _ digest: inout ValueDigest
    ) throws(RealmError) {
        var leaves = reader.leaves()
        var position = 0
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                let key = leaf.key(row)
                digest.add(key.word)
                let found = try reader.row(key)
                digest.add(found.map { UInt64($0.row) } ?? .max)
                for column in 0..<reader.columnCount {
                    digest.add(try reader.value(leaf, row, column))
                    if reader.column(column).kind == .link {
                        digest.add(UInt64(try reader.sourceCount(of: key, column: column)))
                        for source in try reader.sources(of: key, column: column) {
                            digest.add(source.word)
                        }
                    }
                }
                if let column = reader.primaryKeyColumn {
                    let value = try reader.value(leaf, row, column)
                    digest.add(
                        (try reader.find(primaryKey: value, column: column) ?? .invalid).word)
                }
            }
            if leaf.liveRows > 0 {
                let place = try reader.leaf(atPosition: position)
                digest.add(UInt64(place?.start ?? 1 << 50))
                digest.add(UInt64(leaf.liveRow(leaf.liveRows - 1)))
            }
            position += leaf.liveRows
        }
    }

    private static func indexes(
        _ reader: TableReader, _ digest: inout ValueDigest
    ) throws(RealmError) {
        for column in 0..<reader.columnCount {
            let all = IndexReader.Range(low: nil, includesLow: true, high: nil, includesHigh: true)
            if let words = reader.wordIndex(column: column) {
                for key in try words.keys(all) { digest.add(key.word) }
            }
            guard let index = reader.index(column: column) else { continue }
            digest.add(UInt64(try index.count(all)))
            let keys = try index.keys(all)
            for key in keys { digest.add(key.word) }
            for key in keys.prefix(20) {
                guard let place = try reader.row(key) else { continue }
                let value = try reader.value(place.leaf, place.row, column)
                let bytes = try IndexReader.bytes(value, reader.column(column).kind)
                digest.add(UInt64(try index.count(IndexReader.Range(equal: bytes))))
            }
        }
    }

    /// Queries of all kinds on the sample's classes; numbers of matches.
    static func query(_ realm: Realm, _ digest: inout ValueDigest) throws(RealmError) {
        for text in queries {
            guard let item = realm.schema.class_(named: "Item") else { return }
            let query = try Query.parse(
                text, arguments: [], schema: realm.schema, classKey: item.key)
            let reader = SnapshotReader(tables: try realm.readTables())
            let keys = try query.findAll(reader)
            digest.add(UInt64(keys.count))
            for key in keys { digest.add(key.word) }
        }
    }

    static let queries = [
        "size > 100 AND size < 2000", "name == 'item number 5021'", "note CONTAINS '1'",
        "name BEGINSWITH 'item number 1' AND active == true", "count == null OR count >= 50",
        "score < 0.5", "ratio > 3.25", "tag.key == 'tag-1002'", "next.size > 10",
        "note LIKE[c] '*E 1?'", "blob != null", "id < 0", "id == 300", "id == null",
        "price > 2.5", "price == 1.25", "code > oid(000001000000000000000000)",
        "token == uuid(05000000-0000-0000-0000-000000000009)", "cargo > 40", "cargo == 'text 3'",
        "hold == 24", "hold CONTAINS 'ext'", "hold IN {16, 'text 3', true}",
        "TRUEPREDICATE SORT(cargo ASC, price DESC)", "TRUEPREDICATE DISTINCT(hold, token)",
        "note TEXT '7'", "note TEXT 'note -1*'", "note TEXT '-NOTE'", "tag.text TEXT 'about 3'",
        "TRUEPREDICATE SORT(name ASC) LIMIT(50)", "TRUEPREDICATE DISTINCT(note) SORT(size DESC)",
    ]
}
