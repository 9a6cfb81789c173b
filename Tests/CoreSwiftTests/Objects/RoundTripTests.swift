// Every type, required and nullable, as property, list, set, dictionary and in mixed values: the
// extremes come back bit by bit, within the transaction, from the file and from a copy of it.

import Testing

@testable import CoreSwift
@testable import TestSupport

/// What a value is, bit by bit: NaNs and zeros of both signs are told apart.
private func bits(_ value: RawValue) -> [UInt64] {
    if value.isNull { return [] }
    switch ValueType(rawValue: value.type) {
    case .string, .binary: return [UInt64(value.type)] + value.bytes.map { UInt64($0) }
    case .bool: return [UInt64(value.type), value.boolValue ? 1 : 0]
    case .float: return [UInt64(value.type), UInt64(value.floatValue.bitPattern)]
    case .timestamp:
        return [
            UInt64(value.type), UInt64(bitPattern: value.seconds),
            UInt64(bitPattern: Int64(value.nanoseconds)),
        ]
    case .objectId:
        return [UInt64(value.type), value.objectIdValue.high, UInt64(value.objectIdValue.low)]
    case .decimal128, .uuid, .link: return [UInt64(value.type), value.word0, value.word1]
    default: return [UInt64(value.type), value.word0]
    }
}

private func bits(_ value: Value) throws -> [UInt64] {
    try value.withRaw { raw throws(RealmError) in bits(raw) }
}

@Suite struct RoundTripTests {
    static let extremes: [(PropertyType, [Value])] = [
        (
            .int,
            [
                .int(0), .int(1), .int(-1), .int(.max), .int(.min), .int(255), .int(-129),
                .int(1 << 31), .int(1 << 53 + 1),
            ]
        ),
        (.bool, [.bool(false), .bool(true)]),
        (
            .string,
            [
                .string(""), .string("a"), .string("\u{0}"), .string("e\u{301}"), .string("é"),
                .string("🏴‍☠️ straße"), .string(String(repeating: "long ", count: 3000)),
            ]
        ),
        (
            .binary,
            [
                .binary([]), .binary([0]), .binary([0xFF, 0, 0x80]),
                .binary([UInt8](repeating: 7, count: 20_000)),
            ]
        ),
        (
            .float,
            [
                .float(0), .float(1.5), .float(-.greatestFiniteMagnitude), .float(.infinity),
                .float(.leastNonzeroMagnitude), .float(.nan),
            ]
        ),
        (
            .double,
            [
                .double(0), .double(0.1), .double(.greatestFiniteMagnitude), .double(-.infinity),
                .double(.leastNonzeroMagnitude), .double(.nan),
            ]
        ),
        (
            .timestamp,
            [
                .timestamp(Timestamp(seconds: 0)),
                .timestamp(Timestamp(seconds: 0, nanoseconds: 999_999_999)),
                .timestamp(Timestamp(seconds: -1, nanoseconds: -999_999_999)),
                .timestamp(Timestamp(seconds: .max, nanoseconds: 1)),
                .timestamp(Timestamp(seconds: .min)),
            ]
        ),
        (
            .decimal128,
            [
                .decimal128(.zero), .decimal128(Decimal128(-7)), .decimal128(.infinity),
                .decimal128(.nan),
                .decimal128(
                    Decimal128(
                        sign: true, coefficient: Decimal128.coefficientMax,
                        exponent: Decimal128.exponentMax)),
                .decimal128(
                    Decimal128(sign: false, coefficient: 1, exponent: Decimal128.exponentMin)),
            ]
        ),
        (
            .objectId,
            [.objectId(.zero), .objectId(ObjectId(high: .max, low: .max)), .objectId(.generate())]
        ),
        (
            .uuid,
            [
                .uuid(.zero), .uuid(UUIDValue(high: .max, low: .max)),
                .uuid(UUIDValue(high: 1, low: 0)),
            ]
        ),
    ]

    private static func schema(_ type: PropertyType, nullable: Bool) -> Schema {
        let flags: PropertyFlags = nullable || type == .mixed ? [.nullable] : []
        return Schema([
            ClassSchema(
                "Holder",
                properties: [
                    PropertySchema("value", type, flags: flags),
                    PropertySchema("list", type, collection: .list, flags: flags),
                    PropertySchema("set", type, collection: .set, flags: flags),
                    PropertySchema("map", type, collection: .dictionary, flags: flags),
                    PropertySchema("any", .mixed, flags: [.nullable]),
                ])
        ])
    }

    /// Writes each value everywhere it can be, one object for each.
    private static func write(_ realm: Realm, _ values: [Value]) throws {
        for value in values {
            let object = try realm.create("Holder", ["value": value, "any": value])
            let list = try object.collection("list")
            let set = try object.collection("set")
            let map = try object.collection("map")
            for (index, other) in values.enumerated() {
                try other.withRaw { raw throws(RealmError) in
                    try list.insert(raw, at: index / 2)
                    _ = try set.insert(raw)
                }
                try SampleFile.put(map, "key \(index)", other)
            }
            try value.withRaw { raw throws(RealmError) in try list.insert(raw, at: 0) }
        }
    }

    private static func expect(_ realm: Realm, _ values: [Value], _ note: Comment) throws {
        // What inserting in the middle makes of a list.
        var order: [Value] = []
        for (index, other) in values.enumerated() { order.insert(other, at: index / 2) }
        let results = try realm.objects("Holder")
        #expect(try results.count() == values.count, note)
        for (index, value) in values.enumerated() {
            let link = try results.get(index).linkTarget
            let object = try #require(try realm.find(results.classKey, key: link))
            for name in ["value", "any"] {
                let key = realm.schema.class_(named: "Holder")!.property(named: name)!.key
                var raw = RawValue.null
                try object.handle.getValue(key, &raw)
                #expect(bits(raw) == (try bits(value)), "\(note): \(name), \(value)")
            }
            let list = try object.collection("list")
            let expected = try ([value] + order).map { try bits($0) }
            #expect(try (0..<list.count()).map { bits(try list.get($0)) } == expected, note)
            let set = try object.collection("set")
            #expect(try set.count() == values.count, note)
            let map = try object.collection("map")
            #expect(try map.count() == values.count, note)
            for (position, other) in values.enumerated() {
                try other.withRaw { raw throws(RealmError) in
                    let found = try set.find(raw)
                    #expect(found != nil, "\(note): set lacks \(other)")
                    if let found { #expect(bits(try set.get(found)) == bits(raw), note) }
                }
                try Value.string("key \(position)").withRaw { key throws(RealmError) in
                    let found = try map.find(key: key)
                    #expect(found != nil, note)
                    let bytes = try other.withRaw { raw throws(RealmError) in bits(raw) }
                    if let found { #expect(bits(try map.get(found)) == bytes, note) }
                }
            }
        }
    }

    private static func roundTrip(_ type: PropertyType, nullable: Bool, _ values: [Value]) throws {
        let directory = TemporaryDirectory()
        let note: Comment = "\(type), \(nullable ? "nullable" : "required")"
        let configuration = TestSchema.configuration(
            directory.file(), schema(type, nullable: nullable))
        do {
            let realm = try Realm.open(configuration)
            defer { realm.close() }
            try realm.beginWrite()
            try write(realm, values)
            try expect(realm, values, note)
            try realm.commit()
            try expect(realm, values, note)
            try realm.writeCopy(to: directory.file("copy.realm"))
        }
        for path in [directory.file(), directory.file("copy.realm")] {
            let realm = try Realm.open(
                TestSchema.configuration(path, schema(type, nullable: nullable)))
            defer { realm.close() }
            try expect(realm, values, note)
            #expect(Realm.check(path: path) == [], note)
        }
    }

    @Test(arguments: extremes.indices)
    func extremesOfATypeComeBackFromEverywhere(index: Int) throws {
        let (type, values) = Self.extremes[index]
        try Self.roundTrip(type, nullable: false, values)
        try Self.roundTrip(type, nullable: true, values + [.null])
    }

    @Test func mixedValuesOfAllTypesComeBackFromEverywhere() throws {
        // Numbers that are equal are one element of a set.
        var values: [Value] = [.null]
        for (type, some) in Self.extremes where ![.float, .double, .decimal128].contains(type) {
            values += some
        }
        values += [.float(0.5), .double(0.25), .decimal128(Decimal128(3) / Decimal128(8))]
        try Self.roundTrip(.mixed, nullable: true, values)
    }

    @Test func nullIsRefusedWhereTheTypeIsRequired() throws {
        for (type, values) in Self.extremes {
            let directory = TemporaryDirectory()
            let realm = try Realm.open(
                TestSchema.configuration(
                    directory.file(), Self.schema(type, nullable: false)))
            defer { realm.close() }
            try realm.beginWrite()
            let object = try realm.create("Holder", ["value": values[0]])
            let collections = try ["list", "set", "map"].map { try object.collection($0) }
            for refused in try nullRefusals(object, collections) {
                #expect(refused == .propertyNotNullable, "\(type)")
            }
            for collection in collections { #expect(try collection.count() == 0) }
        }
    }

    /// What becomes of null as value of the property and as element of each collection.
    private func nullRefusals(
        _ object: DynamicObject, _ collections: [RealmCollection]
    ) throws -> [ErrorCode?] {
        let (list, set, map) = (collections[0], collections[1], collections[2])
        return [
            errorCode { try object.set("value", .null) },
            errorCode { try list.insert(.null, at: 0) },
            errorCode { _ = try set.insert(.null) },
            errorCode { try SampleFile.put(map, "key", .null) },
        ]
    }
}
