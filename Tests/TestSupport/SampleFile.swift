// A realm file with something of everything: trees of several levels, every type, nulls, dead rows,
// values in blocks of their own, direct and indirect integer keys, string keys, indexes, links.

@testable import CoreSwift

enum SampleFile {
    static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey, .nullable]),
                PropertySchema("name", .string, flags: [.indexed]),
                PropertySchema("note", .string, flags: [.nullable, .fullTextIndexed]),
                PropertySchema("count", .int, flags: [.nullable, .indexed]),
                PropertySchema("score", .double),
                PropertySchema("ratio", .float, flags: [.nullable]),
                PropertySchema("active", .bool, flags: [.nullable]),
                PropertySchema("when", .timestamp, flags: [.nullable, .indexed]),
                PropertySchema("blob", .binary, flags: [.nullable]),
                PropertySchema("next", .object, linkTarget: "Item", flags: [.nullable]),
                PropertySchema("tag", .object, linkTarget: "Tag", flags: [.nullable]),
                PropertySchema("size", .int),
                PropertySchema("price", .decimal128, flags: [.nullable]),
                PropertySchema("code", .objectId, flags: [.indexed]),
                PropertySchema("token", .uuid, flags: [.nullable, .indexed]),
                PropertySchema("cargo", .mixed, flags: [.nullable]),
                PropertySchema("hold", .mixed, flags: [.nullable, .indexed]),
            ]),
        ClassSchema(
            "Tag", primaryKey: "key",
            properties: [
                PropertySchema("key", .string, flags: [.primaryKey]),
                PropertySchema("text", .string, flags: [.fullTextIndexed, .fullTextUnicode]),
            ]),
        ClassSchema("Event", properties: [PropertySchema("kind", .int)]),
        ClassSchema(
            "Trunk", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("numbers", .int, collection: .list),
                PropertySchema("words", .string, collection: .list, flags: [.nullable]),
                PropertySchema("unique", .int, collection: .set),
                PropertySchema("names", .string, collection: .set),
                PropertySchema("ages", .int, collection: .dictionary, flags: [.nullable]),
                PropertySchema("tags", .object, collection: .list, linkTarget: "Tag"),
                PropertySchema("circle", .object, collection: .set, linkTarget: "Trunk"),
                PropertySchema("wheels", .object, collection: .list, linkTarget: "Wheel"),
                PropertySchema(
                    "spare", .object, collection: .dictionary, linkTarget: "Wheel",
                    flags: [.nullable]),
                PropertySchema("things", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("extras", .mixed, collection: .dictionary, flags: [.nullable]),
                PropertySchema("content", .mixed, flags: [.nullable]),
            ]),
        ClassSchema("Wheel", properties: [PropertySchema("size", .int)], kind: .embedded),
    ])

    /// The columns of each class by its key, as trees of collections are found by.
    nonisolated(unsafe) static let columns: [[ColumnInfo]] =
        schema.classes.sorted { $0.name < $1.name }.map { item in
            item.properties.map { property in
                var info = ColumnInfo(
                    kind: property.collection == .none
                        ? (try? ColumnKind(property.type)) ?? .int : .collection,
                    isNullable: true, isKey: false, isPrimaryKey: false, valueType: 0,
                    linkTarget: .invalid, valueIndex: -1, inverseIndex: -1,
                    propertyKey: property.key)
                guard property.collection != .none else { return info }
                info.collection = property.collection
                let elements = UnsafeMutablePointer<ColumnInfo>.allocate(capacity: 2)
                var element = info
                element.kind = .string
                elements.initialize(to: element)
                element.kind = (try? ColumnKind(property.type)) ?? .int
                (elements + info.valueColumn).initialize(to: element)
                info.elements = elements
                return info
            }
        }

    static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = schema
        configuration.schemaVersion = 1
        return configuration
    }

    static func tagKey(_ number: Int) -> String {
        // Some are longer than the index holds, and alike for as long.
        number % 10 == 9
            ? String(repeating: "long-", count: 120) + "\(number)" : "tag-\(1000 + number)"
    }

    static func item(_ number: Int) -> Value {
        if number == 0 { return .null }
        return .int(number % 7 == 3 ? -Int64(number) : Int64(number) * 3)
    }

    /// Writes the file and closes it. `scale`: of the collections that have trees.
    static func make(
        _ path: String, items: Int = 1500, tags: Int = 60, scale: Int = 400
    ) throws {
        let realm = try Realm.open(configuration(path))
        try realm.beginWrite()
        for number in 0..<tags {
            _ = try realm.create(
                "Tag", primaryKey: .string(tagKey(number)), ["text": .string("about \(number)")])
        }
        for number in 0..<items { try addItem(realm, number, tags) }
        for number in 0..<(items / 3) {
            _ = try realm.create("Event", ["kind": .int(Int64(number % 5))])
        }
        for number in 0..<trunks { try addTrunk(realm, number, tags, scale) }
        try realm.commit()
        // Few deletions in each leaf leave dead rows; a second version leaves pending space.
        try realm.beginWrite()
        for number in stride(from: 5, to: items, by: 40) {
            try realm.find("Item", primaryKey: item(number))?.delete()
        }
        try realm.commit()
        realm.close()
    }

    private static func addItem(_ realm: Realm, _ number: Int, _ tags: Int) throws {
        let item = try realm.create(
            "Item", primaryKey: item(number),
            [
                "name": .string("item number \(number * 7919 % 10_007)"),
                "score": .double(Double(number) * 0.37 - 100),
                "size": .int(Int64(number) * 11),
            ])
        if number % 4 != 0 { try item.set("note", .string("note \(number % 20)")) }
        if number % 3 != 0 { try item.set("count", .int(Int64(number % 100))) }
        if number % 5 != 0 { try item.set("ratio", .float(Float(number) / 7)) }
        if number % 2 == 0 { try item.set("active", .bool(number % 6 == 0)) }
        if number % 8 != 0 {
            try item.set(
                "when",
                .timestamp(
                    Timestamp(seconds: Int64(number) * 86_400, nanoseconds: Int32(number % 3))))
        }
        if number % 200 == 50 {
            try item.set("blob", .binary([UInt8](repeating: UInt8(number % 251), count: 6000)))
        }
        if number > 0, number % 3 == 0 {
            try item.set("next", try realm.find("Item", primaryKey: Self.item(number / 2))!.value)
        }
        if number % 2 == 0 {
            let key = tagKey(number % tags)
            try item.set("tag", try realm.find("Tag", primaryKey: .string(key))!.value)
        }
        try addValues(realm, item, number, tags)
    }

    /// How many trunks there are; the first two have collections with trees of their own.
    static let trunks = 8

    private static func addTrunk(
        _ realm: Realm, _ number: Int, _ tags: Int, _ large: Int
    ) throws {
        let trunk = try realm.create("Trunk", primaryKey: .int(Int64(number)))
        let scale = number < 2 ? large : number % 4
        let numbers = try trunk.collection("numbers")
        for index in 0..<(scale * 100) { try numbers.insert(.int(Int64(index * 37)), at: index) }
        let words = try trunk.collection("words")
        for index in 0..<(scale * 2) {
            let length = index == 5 && scale > 4 ? 5000 : index % 40
            let word = Value.string(String(repeating: "w", count: length) + "\(index)")
            try insert(index % 9 == 4 ? .null : word, words, at: index)
        }
        let unique = try trunk.collection("unique")
        for index in 0..<(scale * 8) {
            _ = try unique.insert(.int(Int64(index * 7919 % 10_007)))
        }
        for index in 0..<scale {
            try insert(.string("name \(index * 31 % 97)"), trunk.collection("names"))
            try put(trunk.collection("ages"), "age \(index)", index % 5 == 0 ? .null : .int(9))
        }
        let links = try trunk.collection("tags")
        for index in 0..<(scale * 4) {
            let key = Value.string(tagKey(index % tags))
            try insert(realm.find("Tag", primaryKey: key)!.value, links, at: index / 2)
        }
        for other in 0..<number {
            let target = try realm.find("Trunk", primaryKey: .int(Int64(other)))!.value
            try insert(target, trunk.collection("circle"))
        }
        for index in 0..<min(scale, 50) {
            let wheel = try DynamicObject(trunk.collection("wheels").insertEmbedded(at: index))
            try wheel.set("size", .int(Int64(index)))
        }
        let spare = try trunk.collection("spare")
        try Value.string("left").withRaw { key throws(RealmError) in
            try DynamicObject(spare.insertEmbedded(key: key)).set("size", .int(3))
        }
        try fill(trunk.collection("things"), number, scale)
        try put(trunk.collection("extras"), "number", .int(Int64(number)))
        try put(trunk.collection("extras"), "note", .string("extra \(number)"))
        let property = realm.schema.class_(named: "Trunk")!.property(named: "content")!
        if number % 3 == 0 {
            try fill(trunk.handle.setCollection(property.key, .list), number, scale)
        } else {
            try trunk.set("content", .string(String(repeating: "c", count: 3000 + number)))
        }
    }

    /// Mixed elements with collections among them, one of them large.
    private static func fill(_ list: RealmCollection, _ number: Int, _ scale: Int) throws {
        try list.insert(.int(Int64(number)), at: 0)
        let inner = try list.insertNested(.list, at: 1)
        for index in 0..<(scale * 4) { try inner.insert(.int(Int64(index)), at: index) }
        let dictionary = try list.insertNested(.dictionary, at: 2)
        // Dictionaries in mixed values take keys that others refuse.
        try Value.string("a.key").withRaw { key throws(RealmError) in
            _ = try dictionary.insert(.int(Int64(number)), key: key, takesAnyKey: true)
        }
        let deeper = try Value.string("$a.deeper").withRaw { key throws(RealmError) in
            try dictionary.insertNested(.list, key: key, takesAnyKey: true)
        }
        try deeper.insert(.bool(true), at: 0)
    }

    /// Into a list at an index, or into a set.
    private static func insert(
        _ value: Value, _ collection: RealmCollection, at index: Int? = nil
    ) throws {
        try value.withRaw { raw throws(RealmError) in
            if let index {
                try collection.insert(raw, at: index)
            } else {
                _ = try collection.insert(raw)
            }
        }
    }

    static func put(_ dictionary: RealmCollection, _ key: String, _ value: Value) throws {
        try Value.string(key).withRaw { key throws(RealmError) in
            try value.withRaw { value throws(RealmError) in
                _ = try dictionary.insert(value, key: key)
            }
        }
    }

    private static func addValues(
        _ realm: Realm, _ item: DynamicObject, _ number: Int, _ tags: Int
    ) throws {
        if number % 5 != 0 {
            try item.set("price", .decimal128(Decimal128(Int64(number)) / Decimal128(16)))
        }
        try item.set("code", .objectId(ObjectId(high: UInt64(number) << 32, low: 0x0102_0304)))
        if number % 3 != 1 {
            try item.set("token", .uuid(UUIDValue(high: UInt64(number % 50) << 56, low: 9)))
        }
        let tag = try realm.find("Tag", primaryKey: .string(tagKey(number % tags)))!.value
        let long = Value.string(String(repeating: "m", count: 4000))
        let values: [Value] = [
            .int(Int64(number)), .double(Double(number) / 4), .string("text \(number % 9)"), tag,
            .decimal128(Decimal128(Int64(number))), .bool(true), .null,
            number % 250 == 57 ? long : .uuid(.zero),
        ]
        try item.set("cargo", values[number % 8])
        try item.set("hold", values[number % 8])
    }
}

extension DynamicObject {
    var value: Value { .link(link) }
}
