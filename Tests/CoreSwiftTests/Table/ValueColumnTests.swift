// Columns of every kind: what is stored comes back, through open leaves, sealed leaves, leaves that
// were opened again and leaves that were changed in place; the check agrees each time.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ValueColumnTests {
    static let types: [(name: String, type: PropertyType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary),
        ("timestamp", .timestamp), ("float", .float), ("double", .double),
        ("decimal", .decimal128), ("objectId", .objectId), ("uuid", .uuid),
    ]

    static let schema: Schema = {
        var properties: [PropertySchema] = []
        for (name, type) in types {
            properties.append(PropertySchema(name, type))
            properties.append(PropertySchema(name + "?", type, flags: [.nullable]))
        }
        properties.append(PropertySchema("mixed", .mixed, flags: [.nullable]))
        properties.append(PropertySchema("indexedMixed", .mixed, flags: [.nullable, .indexed]))
        properties.append(PropertySchema("indexedId", .objectId, flags: [.nullable, .indexed]))
        properties.append(PropertySchema("indexedUUID", .uuid, flags: [.indexed]))
        properties.append(PropertySchema("indexedBool", .bool, flags: [.nullable, .indexed]))
        properties.append(PropertySchema("indexedTime", .timestamp, flags: [.indexed]))
        return Schema([
            ClassSchema("All", properties: properties),
            ClassSchema("Target", properties: [PropertySchema("n", .int)]),
        ])
    }()

    /// Extremes of each type.
    static func extremes(_ type: PropertyType) -> [Value] {
        switch type {
        case .int: return [.int(0), .int(.min), .int(.max), .int(-1)]
        case .bool: return [.bool(false), .bool(true)]
        case .string:
            return [.string(""), .string("\0"), .string(String(repeating: "é€😀", count: 2000))]
        case .binary:
            return [.binary([]), .binary([0, 255]), .binary(.init(repeating: 7, count: 9999))]
        case .timestamp:
            return [
                .timestamp(Timestamp(seconds: .min, nanoseconds: -999_999_999)),
                .timestamp(Timestamp(seconds: .max, nanoseconds: 999_999_999)),
                .timestamp(Timestamp(seconds: 0)),
            ]
        case .float:
            return [.float(0), .float(-.infinity), .float(.leastNonzeroMagnitude)]
        case .double: return [.double(0), .double(.infinity), .double(-.leastNonzeroMagnitude)]
        case .decimal128:
            return [
                .decimal128(.zero), .decimal128(-.infinity),
                .decimal128(Decimal128(low: .max, high: 0x5FFF_ED09_BEAD_87C0)),
                .decimal128(Decimal128(low: 1, high: 0)),
            ]
        case .objectId:
            return [
                .objectId(.zero), .objectId(ObjectId(high: .max, low: .max)),
                .objectId(.generate()),
            ]
        case .uuid:
            return [.uuid(.zero), .uuid(UUIDValue(high: .max, low: .max)), .uuid(.random())]
        default:
            return [.null] + types.flatMap { extremes($0.type) }
        }
    }

    static func random(_ property: PropertySchema, _ random: inout Random) -> Value {
        if property.isNullable, random.below(4) == 0 { return .null }
        if random.below(3) == 0 {
            let values = extremes(property.type)
            return values[random.below(values.count)]
        }
        switch property.type {
        case .int: return .int(Int64(random.below(300)))
        case .bool: return .bool(random.below(2) == 0)
        case .string: return .string("text \(random.below(20))")
        case .binary: return .binary([UInt8(random.below(256))])
        case .timestamp: return .timestamp(Timestamp(seconds: Int64(random.below(100_000))))
        case .float: return .float(Float(random.below(100)))
        case .double: return .double(Double(random.below(100)) / 8)
        case .decimal128: return .decimal128(Decimal128(Int64(random.below(100))))
        case .objectId: return .objectId(ObjectId(high: random.next(), low: 1))
        case .uuid: return .uuid(UUIDValue(high: random.next(), low: random.next()))
        default:
            let type = types[random.below(types.count)].type
            var copy = PropertySchema(property.name, type)
            copy.flags = []
            return Self.random(copy, &random)
        }
    }

    private func expectSame(
        _ world: TableWorld, _ rows: [ObjectKey: [String: Value]], _ step: String
    ) throws {
        let item = world.schema.class_(named: "All")!
        let table = world.tables.table(item.key)!
        for (key, row) in rows {
            let place = try #require(try table.find(key))
            for property in item.properties {
                let raw = try table.value(place, key, property.key.column)
                let value = try Value(raw)
                let expected = row[property.name]!
                let isSame: Bool
                if case .decimal128(let a) = value, case .decimal128(let b) = expected {
                    isSame = a.low == b.low && a.high == b.high
                } else {
                    isSame = value == expected
                }
                if !isSame {
                    Issue.record("\(step): \(key).\(property.name): \(value) \(expected)")
                }
            }
        }
        #expect(try Realm.check(world.store) == [], "\(step)")
    }

    @Test func whatIsStoredComesBack() throws {
        var random = Random(3)
        let world = try TableWorld(Self.schema)
        let item = world.schema.class_(named: "All")!
        let table = world.tables.table(item.key)!
        var rows: [ObjectKey: [String: Value]] = [:]
        for step in 0..<12 {
            try world.beginWrite()
            for _ in 0..<150 {
                if random.below(3) > 0 || rows.isEmpty {
                    var row: [String: Value] = [:]
                    for property in item.properties {
                        row[property.name] = Self.random(property, &random)
                    }
                    rows[try world.add("All", row)] = row
                } else {
                    let keys = rows.keys.sorted()
                    let key = keys[random.below(keys.count)]
                    if random.below(4) == 0 {
                        try world.delete("All", key)
                        rows[key] = nil
                        continue
                    }
                    for _ in 0..<4 {
                        let property = item.properties[random.below(item.properties.count)]
                        let value = Self.random(property, &random)
                        try value.withRaw { raw throws(RealmError) in
                            let column = property.key.column
                            guard let place = try table.find(key) else { return }
                            try table.checkType(raw, column)
                            _ = try table.setValue(place, key, column, raw)
                        }
                        rows[key]![property.name] = value
                    }
                }
            }
            if step % 4 == 3 {
                try expectSame(world, rows, "open \(step)")
                try world.tables.settle()
            }
            try world.tables.commit()
            try expectSame(world, rows, "step \(step)")
        }
    }

    @Test func requiredPropertiesBeginAsZeroAndOthersAsNull() throws {
        let world = try TableWorld(Self.schema)
        try world.beginWrite()
        let key = try world.add("All", [:])
        let item = world.schema.class_(named: "All")!
        let table = world.tables.table(item.key)!
        let price = item.property(named: "decimal")!.key.column
        func text() throws -> String {
            try table.value(try #require(try table.find(key)), key, price).decimalValue.description
        }
        #expect(try text() == "0")
        // A row that takes the place of a deleted one begins anew.
        let other = try world.add("All", ["decimal": .decimal128(Decimal128(7))])
        try world.delete("All", other)
        _ = try table.createRow(other)
        let again = try #require(try table.find(other))
        #expect(try table.value(again, other, price).decimalValue.description == "0")
        try world.delete("All", other)
        try world.tables.commit()
        #expect(try text() == "0")
        let place = try #require(try table.find(key))
        func value(_ name: String) throws -> Value {
            try Value(try table.value(place, key, item.property(named: name)!.key.column))
        }
        #expect(try value("decimal") == .decimal128(.zero))
        #expect(try value("objectId") == .objectId(.zero))
        #expect(try value("uuid") == .uuid(.zero))
        for name in ["decimal?", "objectId?", "uuid?", "mixed"] {
            #expect(try value(name) == .null)
        }
    }

    @Test func deletingATargetNullifiesMixedLinksToIt() throws {
        let world = try TableWorld(Self.schema)
        let target = world.key("Target")
        let item = world.schema.class_(named: "All")!
        let table = world.tables.table(item.key)!
        let column = item.property(named: "mixed")!.key.column
        func link(_ key: ObjectKey) -> Value { .link(Link(target, key)) }
        func held(_ key: ObjectKey) throws -> Value {
            try Value(try table.value(try #require(try table.find(key)), key, column))
        }
        try world.beginWrite()
        let first = try world.add("Target", [:])
        let second = try world.add("Target", [:])
        let a = try world.add("All", ["mixed": link(first), "indexedMixed": link(first)])
        let b = try world.add("All", ["mixed": link(second)])
        let c = try world.add("All", ["mixed": .int(first.rawValue)])
        // A link of one object to another of its own class, and to itself.
        let itself = Value.link(Link(item.key, c.advanced(by: 1)))
        let d = try world.add("All", ["indexedMixed": .int(1)])
        try itself.withRaw { raw throws(RealmError) in
            guard let place = try table.find(d) else { return }
            _ = try table.setValue(place, d, column, raw)
        }
        try world.tables.commit()
        #expect(try Realm.check(world.store) == [])
        #expect(try table.sources(of: first, in: target, column: column) == [a])
        #expect(try table.sourceCount(of: second, in: target, column: column) == 1)
        try world.beginWrite()
        try world.delete("Target", first)
        try world.delete("All", d)
        #expect(try held(a) == .null)
        try world.tables.commit()
        #expect(try held(a) == .null)
        #expect(try held(b) == link(second))
        #expect(try held(c) == .int(first.rawValue))
        #expect(try Realm.check(world.store) == [])
        try world.beginWrite()
        let code = errorCode {
            _ = try world.add("All", ["mixed": link(first)])
        }
        #expect(code == .noSuchObject)
        let noClass = errorCode {
            _ = try world.add(
                "All",
                ["mixed": .link(Link(ClassKey(rawValue: 99_999), 0))])
        }
        #expect(noClass == .noSuchTable)
        world.tables.rollBack()
    }
}
