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
                PropertySchema("note", .string, flags: [.nullable]),
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
                PropertySchema("text", .string),
            ]),
        ClassSchema("Event", properties: [PropertySchema("kind", .int)]),
    ])

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

    /// Writes the file and closes it.
    static func make(_ path: String, items: Int = 1500, tags: Int = 60) throws {
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
