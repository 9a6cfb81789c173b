// Conditions on the elements of lists, sets and dictionaries, which kernels count cell by cell,
// against the same conditions evaluated object by object: every type, nulls, empty collections, large
// ones with trees of their own, and what an open write transaction has changed.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ElementConditionTests {
    private static let types: [(name: String, type: PropertyType)] = [
        ("int", .int), ("bool", .bool), ("float", .float), ("double", .double),
        ("date", .timestamp), ("text", .string), ("data", .binary),
    ]
    private static let shapes: [(name: String, collection: CollectionType, isNullable: Bool)] = [
        ("List", .list, false), ("ListOrNull", .list, true), ("Set", .set, false),
        ("SetOrNull", .set, true), ("Map", .dictionary, false), ("MapOrNull", .dictionary, true),
    ]
    private static let box = ClassSchema(
        "Box",
        properties: [PropertySchema("number", .int)]
            + types.flatMap { type in
                shapes.map { shape in
                    PropertySchema(
                        type.name + shape.name, type.type, collection: shape.collection,
                        flags: shape.isNullable ? [.nullable] : [])
                }
            })

    private static let texts = [
        "", "a", "tag", "Tag", "tag-1", "tag-12", "long tag", "TAG-123", "élan", "ÉLAN", "straße",
        "STRASSE", "K", "\u{212A}elvin", String(repeating: "tag ", count: 40),
    ]
    private static let numbers: [Double] = [-1.5, -0.0, 0, 0.1, 1, 2.5, .infinity, 1e300]

    private static func value(_ type: PropertyType, _ random: inout Random) -> Value {
        switch type {
        case .bool: return .bool(random.below(4) == 0)
        case .float: return .float(random.below(20) == 0 ? .nan : Float(numbers[random.below(7)]))
        case .double: return .double(random.below(20) == 0 ? .nan : numbers[random.below(8)])
        case .timestamp:
            let seconds = Int64(random.below(20)) * (random.below(10) == 0 ? 1 << 33 : 1)
            return .timestamp(
                Timestamp(
                    seconds: seconds,
                    nanoseconds: random.below(3) == 0 ? Int32(random.below(3)) : 0))
        case .string: return .string(texts[random.below(texts.count)])
        case .binary:
            // A literal spells ASCII alone.
            return .binary(texts[random.below(8)].utf8.map { $0 })
        default:
            return .int(Int64(random.below(20)) << Int64([0, 0, 4, 12, 40][random.below(5)]))
        }
    }

    private static func literal(_ value: Value) -> String {
        switch value {
        case .bool(let value): return "\(value)"
        case .float(let value): return literal(.double(Double(value)))
        case .double(let value):
            return value.isNaN ? "nan" : value.isInfinite ? "inf" : "\(value)"
        case .timestamp(let value): return "T\(value.seconds):\(value.nanoseconds)"
        case .string(let value): return "'\(value)'"
        case .binary(let value): return "binary('\(String(decoding: value, as: UTF8.self))')"
        case .int(let value): return "\(value)"
        default: return "NULL"
        }
    }

    /// Puts so many elements into a collection.
    private static func fill(
        _ object: DynamicObject, _ name: String, _ type: PropertyType, _ count: Int,
        isNullable: Bool, _ random: inout Random
    ) throws {
        let collection = try object.collection(name)
        for number in 0..<count {
            let isNull = isNullable && random.below(5) == 0
            let element: Value = isNull ? .null : value(type, &random)
            try element.withRaw { raw throws(RealmError) in
                try insert(raw, number, into: collection)
            }
        }
    }

    private static func insert(
        _ element: RawValue, _ number: Int, into collection: RealmCollection
    ) throws(RealmError) {
        switch collection.type {
        case .list: try collection.insert(element, at: number)
        case .set: _ = try collection.insert(element)
        default:
            // Keys of one to many bytes, so that values begin anywhere.
            let key = Value.string(String(repeating: "k", count: number % 9) + "\(number)")
            try key.withRaw { rawKey throws(RealmError) in
                _ = try collection.insert(element, key: rawKey)
            }
        }
    }

    private static func change(_ realm: Realm, rows: Int, _ random: inout Random) throws {
        for row in 0..<rows {
            let object = try realm.create("Box", ["number": .int(Int64(row))])
            for type in types {
                for shape in shapes where random.below(4) != 0 {
                    let isLong = random.below(rows * 6) == 0
                    let count = isLong ? 1200 : random.below(random.below(9) == 0 ? 30 : 5)
                    try fill(
                        object, type.name + shape.name, type.type, count,
                        isNullable: shape.isNullable, &random)
                }
            }
        }
    }

    private static func condition(_ random: inout Random) -> String {
        let type = types[random.below(types.count)]
        let shape = shapes[random.below(shapes.count)]
        var subject = type.name + shape.name
        var constant = value(type.type, &random)
        var isText = type.type == .string || type.type == .binary
        if shape.collection == .dictionary {
            let takesKeys = random.below(4) == 0
            subject += takesKeys ? ".@keys" : ".@values"
            if takesKeys {
                isText = true
                constant = .string(["0", "k1", "kkkkkkkk8", "k"][random.below(4)])
            }
        }
        if random.below(12) == 0, shape.isNullable { constant = .null }
        var operators = ["==", "!="]
        if isText, constant != .null {
            operators += [
                "==[c]", "!=[c]", "BEGINSWITH", "BEGINSWITH[c]", "ENDSWITH", "CONTAINS",
                "CONTAINS[c]", "CONTAINS[c]", "LIKE", "CONTAINS[d]", "<", ">=",
            ]
        } else if constant != .null, type.type != .bool {
            operators += ["<", "<=", ">", ">="]
        }
        let word = ["ANY", "ALL", "NONE"][random.below(3)]
        let test: String
        if random.below(10) == 0 {
            test = "IN {\(literal(constant)), \(literal(value(type.type, &random)))}"
        } else {
            test = "\(operators[random.below(operators.count)]) \(literal(constant))"
        }
        let text = "\(word) \(subject) \(test)"
        switch random.below(6) {
        case 0: return "!(\(text))"
        case 1: return "number < 40 AND \(text)"
        case 2: return "number > 40 AND \(text)"
        default: return text
        }
    }

    /// Conditions that are refused are refused in both ways.
    private static func keys(
        _ realm: Realm, _ text: String, usesColumns: Bool
    ) throws -> [ObjectKey]? {
        guard
            let query = try? Query.parse(text, "Box", in: realm, usesColumns: usesColumns)
        else { return nil }
        let reader = SnapshotReader(tables: try realm.readTables())
        let found = try query.findAll(reader).sorted()
        #expect(try query.count(reader) == found.count, "\(text)")
        return found
    }

    private static func compare(_ realm: Realm, rounds: Int, _ random: inout Random) throws {
        var compared = 0
        for _ in 0..<rounds {
            let text = condition(&random)
            let expected = try keys(realm, text, usesColumns: false)
            let found = try keys(realm, text, usesColumns: true)
            #expect(found == expected, "\(text)")
            if let found, !found.isEmpty { compared += 1 }
        }
        #expect(compared > rounds / 3, "few conditions found anything")
    }

    @Test func `what kernels count is what objects one by one have`() throws {
        for item in Campaign("conditions on elements", seconds: 3, atLeast: 1) {
            try count(item.random, rows: 250, rounds: Campaign.rounds(250))
        }
    }

    private func count(_ start: Random, rows: Int, rounds: Int) throws {
        var random = start
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([Self.box])))
        defer { realm.close() }
        try realm.write { try Self.change(realm, rows: rows, &random) }
        try Self.compare(realm, rounds: rounds, &random)
        // Changed and deleted rows that a transaction has not committed yet.
        try realm.beginWrite()
        let all = try realm.objects("Box")
        for _ in 0..<(rows / 8) {
            let link = try all.get(random.below(try all.count())).linkTarget
            guard let object = try realm.find(all.classKey, key: link) else { continue }
            if random.below(3) == 0 {
                try object.delete()
                continue
            }
            let type = Self.types[random.below(Self.types.count)]
            let name = type.name + "List"
            try object.collection(name).removeAll()
            try Self.fill(
                object, name, type.type, random.below(6), isNullable: false, &random)
        }
        try Self.change(realm, rows: rows / 10, &random)
        try Self.compare(realm, rounds: rounds / 2, &random)
        try realm.rollback()
        try Self.compare(realm, rounds: rounds / 4, &random)
    }

    @Test func `cells that many rows share are tested once`() throws {
        let directory = TemporaryDirectory()
        var random = Random(3)
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([Self.box])))
        defer { realm.close() }
        try realm.write {
            for row in 0..<600 {
                let object = try realm.create("Box", ["number": .int(Int64(row))])
                var alike = Random(UInt64(row % 7))
                for type in Self.types {
                    for shape in Self.shapes {
                        try Self.fill(
                            object, type.name + shape.name, type.type, row % 7,
                            isNullable: shape.isNullable, &alike)
                    }
                }
            }
        }
        try Self.compare(realm, rounds: 300, &random)
    }
}
