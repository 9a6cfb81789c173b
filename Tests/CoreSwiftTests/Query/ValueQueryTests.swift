// Queries on decimals, object ids, UUIDs and mixed values: what the language says, by hand; then
// every way of execution (scan, dictionary, index, set, link path) against single comparisons.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ValueQueryTests {
    static let schema: Schema = {
        var properties = [PropertySchema("number", .int)]
        for (name, type) in [
            ("price", PropertyType.decimal128), ("id", .objectId), ("key", .uuid),
            ("cargo", .mixed),
        ] {
            properties.append(PropertySchema(name, type, flags: [.nullable]))
            if type != .decimal128 {
                properties.append(
                    PropertySchema("indexed_" + name, type, flags: [.nullable, .indexed]))
            }
        }
        properties.append(PropertySchema("whole", .int, flags: [.nullable]))
        properties.append(PropertySchema("draft", .double, flags: [.nullable]))
        properties.append(PropertySchema("beam", .float, flags: [.nullable]))
        properties.append(
            PropertySchema("next", .object, linkTarget: "Thing", flags: [.nullable]))
        return Schema([
            ClassSchema("Thing", properties: properties),
            ClassSchema(
                "Keyed", primaryKey: "id",
                properties: [
                    PropertySchema("id", .uuid, flags: [.primaryKey]),
                    PropertySchema("cargo", .mixed, flags: [.nullable]),
                ]),
        ])
    }()

    static func decimal(_ text: String) -> Value { .decimal128(Decimal128(text) ?? .nan) }
    static let id = ObjectId(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98)
    static let uuid = UUIDValue(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

    private func world(_ rows: [[String: Value]]) throws -> TableWorld {
        let world = try TableWorld(Self.schema)
        try world.beginWrite()
        for (number, row) in rows.enumerated() {
            var row = row
            row["number"] = .int(Int64(number))
            for name in ["id", "key", "cargo"] { row["indexed_" + name] = row[name] }
            try world.add("Thing", row)
        }
        try world.tables.commit()
        return world
    }

    private func find(
        _ world: TableWorld, _ text: String, _ arguments: [Value] = []
    ) throws -> [ObjectKey] {
        let query = try world.query("Thing", text, arguments.map { .scalar($0) })
        let found = try query.findAll(world.reader)
        #expect(try query.count(world.reader) == found.count, "\(text)")
        return found
    }

    // MARK: By hand

    static let rows: [[String: Value]] = [
        ["price": decimal("1.10"), "cargo": .int(1), "whole": .int(1), "draft": .double(1.1)],
        ["price": decimal("-2"), "cargo": .double(1), "whole": .int(-3), "draft": .double(.nan)],
        ["price": decimal("NaN"), "cargo": decimal("1.00"), "beam": .float(1.1)],
        ["cargo": .string("Star")],
        ["price": decimal("1E+20"), "cargo": .binary([0x53]), "id": .objectId(id)],
        ["cargo": .bool(true), "key": .uuid(uuid), "whole": .int(.max)],
        [
            "price": decimal("0.1"), "cargo": .timestamp(Timestamp(seconds: 5)),
            "id": .objectId(.zero),
        ],
        ["cargo": .objectId(id), "key": .uuid(.zero), "draft": .double(0.1)],
        ["cargo": .uuid(uuid)],
        ["cargo": decimal("1.1"), "price": decimal("9999999999999999999999999999999999")],
        ["cargo": .float(2.5)],
        ["cargo": .double(.nan)],
    ]

    @Test(arguments: [
        // Literals are read again at full precision, arguments and texts as decimals.
        ("price == 1.1", [0]), ("price == 1.1000000000000000000000000000001", []),
        ("price == '1.1'", [0]), ("price > 0.1", [0, 4, 9]), ("price >= 0.1", [0, 4, 6, 9]),
        ("price == 9999999999999999999999999999999999", [9]),
        ("price == 99999999999999999999", []), ("price == 100000000000000000000", [4]),
        ("price < 0", [1, 2]), ("price == nan", [2]), ("price == null", [3, 5, 7, 8, 10, 11]),
        ("price != 1.1", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("NOT price > 0", [1, 2, 3, 5, 7, 8, 10, 11]),
        ("price IN {1.1, 0.1, 'x', null}", [0, 3, 5, 6, 7, 8, 10, 11]),
        ("price BETWEEN {0.1, 2}", [0, 6]), ("price < inf", [0, 1, 2, 4, 6, 9]),
        ("id == oid(0123456789abcdeffedcba98)", [4]),
        ("id < oid(0123456789abcdeffedcba98)", [6]),
        ("id <= oid(0123456789ABCDEFFEDCBA98)", [4, 6]),
        ("id > oid(000000000000000000000000)", [4]),
        ("id IN {oid(000000000000000000000000), oid(0123456789abcdeffedcba98)}", [4, 6]),
        ("id != null", [4, 6]),
        ("key == uuid(01234567-89ab-cdef-0000-0000fedcba98)", []),
        ("key == uuid(01234567-89ab-cdef-fedc-ba9876543210)", [5]),
        ("key >= uuid(00000000-0000-0000-0000-000000000000)", [5, 7]),
        ("cargo == 1", [0, 1, 2]), ("cargo == 1.0", [0, 1, 2]), ("cargo == 1.1", [9]),
        ("cargo > 1", [9, 10]), ("cargo >= 1", [0, 1, 2, 9, 10]), ("cargo == 2.5f", [10]),
        ("cargo == 'Star'", [3]), ("cargo ==[c] 'STAR'", [3]), ("cargo BEGINSWITH 'St'", [3]),
        ("cargo CONTAINS[c] 'TA'", [3]), ("cargo LIKE '*t?r'", [3]), ("cargo ENDSWITH 'ar'", [3]),
        ("cargo == binary('S')", [4]), ("cargo == 'S'", []), ("cargo == true", [5]),
        ("cargo == T5:0", [6]), ("cargo < T6:0", [6]),
        ("cargo == oid(0123456789abcdeffedcba98)", [7]),
        ("cargo == uuid(01234567-89ab-cdef-fedc-ba9876543210)", [8]),
        ("cargo != 'Star'", [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("cargo < 'T'", [3]), ("cargo >=[c] 'sTAR'", [3]),
        ("cargo IN {1, 'Star', true}", [0, 1, 2, 3, 5]),
        ("cargo == null", []), ("cargo BETWEEN {1, 2.5}", [0, 1, 2, 9, 10]),
        ("cargo != null", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ])
    func theLanguageSaysWhichRows(text: String, numbers: [ObjectKey]) throws {
        let world = try world(Self.rows)
        #expect(try find(world, text) == numbers)
        for name in ["id", "key", "cargo"] where text.hasPrefix(name) {
            #expect(try find(world, "indexed_" + text) == numbers)
        }
    }

    @Test func argumentsOfTheseTypesAreBound() throws {
        let world = try world(Self.rows)
        #expect(try find(world, "price == $0", [.double(1.1)]) == [0])
        #expect(try find(world, "price == $0", [.float(1.1)]) == [0])
        #expect(try find(world, "price == $0", [Self.decimal("1.1")]) == [0])
        #expect(try find(world, "price > $0", [.int(1)]) == [0, 4, 9])
        #expect(try find(world, "id == $0", [.objectId(Self.id)]) == [4])
        #expect(try find(world, "key == $0", [.uuid(Self.uuid)]) == [5])
        #expect(try find(world, "cargo == $0", [.uuid(Self.uuid)]) == [8])
        #expect(try find(world, "cargo == $0", [.double(.nan)]) == [11])
        #expect(try find(world, "cargo > $0", [.double(.nan)]) == [])
        #expect(try find(world, "draft == $0", [Self.decimal("1.1")]) == [0])
        #expect(try find(world, "beam == $0", [Self.decimal("1.1")]) == [2])
        #expect(try find(world, "draft < $0", [Self.decimal("1")]) == [7])
        #expect(try find(world, "whole == $0", [Self.decimal("1.0")]) == [0])
        #expect(try find(world, "whole > $0", [Self.decimal("-2.5")]) == [0, 5])
        #expect(try find(world, "whole < $0", [Self.decimal("-2.5")]) == [1])
        #expect(
            try find(world, "whole < $0", [Self.decimal("9223372036854775807.5")]) == [0, 1, 5])
        #expect(try find(world, "whole > $0", [Self.decimal("1E+30")]) == [])
        #expect(try find(world, "whole != $0", [Self.decimal("0.5")]).count == 12)
        #expect(
            errorCode { _ = try find(world, "id == $0", [.uuid(Self.uuid)]) } == .invalidQueryArg)
        #expect(errorCode { _ = try find(world, "key == 'x'") } == .invalidQuery)
        #expect(errorCode { _ = try find(world, "price == 'x'") } == .invalidQuery)
        #expect(errorCode { _ = try find(world, "price CONTAINS 'x'") } == .invalidQuery)
        #expect(errorCode { _ = try find(world, "cargo CONTAINS 5") } == .invalidQuery)
    }

    @Test func objectsAreFoundByLinksInMixedValues() throws {
        let world = try TableWorld(Self.schema)
        try world.beginWrite()
        let keyed = world.key("Keyed")
        let first = try world.add("Keyed", ["id": .uuid(Self.uuid)])
        let link = Value.link(Link(keyed, first))
        let second = try world.add("Keyed", ["id": .uuid(.zero), "cargo": link])
        try world.tables.commit()
        func find(_ text: String, _ arguments: [QueryArgument] = []) throws -> [ObjectKey] {
            try world.query("Keyed", text, arguments).findAll(world.reader)
        }
        #expect(try find("cargo == $0", [.scalar(link)]) == [second])
        #expect(try find("cargo IN $0", [.list([link, .int(1)])]) == [second])
        #expect(
            try find("cargo == obj('Keyed', uuid(01234567-89ab-cdef-fedc-ba9876543210))") == [
                second
            ])
        #expect(
            try find("cargo != obj('Keyed', uuid(01234567-89ab-cdef-fedc-ba9876543210))") == [first]
        )
        #expect(try find("cargo == obj('Keyed', uuid(01234567-89ab-cdef-fedc-ba9876543211))") == [])
        #expect(try find("id == uuid(01234567-89ab-cdef-fedc-ba9876543210)") == [first])
        #expect(try find("id == $0", [.scalar(.uuid(.zero))]) == [second])
    }

    @Test func sortingAndDistinctFollowTheOrderOfValues() throws {
        let groups = ValueOrderTests.ordered.filter {
            if case .link = $0[0] { return false }
            return true
        }
        var rows: [[String: Value]] = []
        for (rank, group) in groups.enumerated() {
            for value in group { rows.append(["cargo": value, "whole": .int(Int64(rank))]) }
        }
        var random = Random(5)
        rows.shuffle(using: &random)
        let world = try world(rows)
        func ranks(_ keys: [ObjectKey]) -> [Value] { keys.map { rows[Int($0.rawValue)]["whole"]! } }
        let ascending = try find(world, "TRUEPREDICATE SORT(cargo ASC)")
        let expected = ascending.sorted { a, b in
            let (x, y) = (rows[Int(a.rawValue)]["whole"]!, rows[Int(b.rawValue)]["whole"]!)
            guard case .int(let p) = x, case .int(let q) = y else { return false }
            return p != q ? p < q : a < b
        }
        #expect(ascending == expected)
        let descending = try find(world, "TRUEPREDICATE SORT(indexed_cargo DESC)")
        #expect(ranks(descending) == ranks(ascending).reversed())
        let distinct = try find(world, "TRUEPREDICATE SORT(cargo ASC) DISTINCT(cargo)")
        #expect(ranks(distinct) == groups.indices.map { .int(Int64($0)) })
        let prices = try self.world(Self.rows)
        #expect(
            try find(prices, "price != null SORT(price DESC)") == [9, 4, 0, 6, 1, 2])
        #expect(try find(prices, "id != null SORT(id ASC)") == [6, 4])
        #expect(try find(prices, "key != null SORT(key DESC) LIMIT(1)") == [5])
    }

    @Test func aggregatesOfDecimalsAndMixedValues() throws {
        let world = try world(Self.rows)
        let table = try world.reader.table(world.key("Thing"))
        let item = world.schema.class_(named: "Thing")!
        func aggregate(_ kind: AggregateKind, _ name: String) throws -> Value {
            try Value(
                try Aggregate.ofTable(
                    kind, table, column: item.property(named: name)!.key.column))
        }
        let sum = "10000000000000100000000000000000000"
        #expect(try aggregate(.sum, "price") == Self.decimal(sum))
        #expect(try aggregate(.minimum, "price") == Self.decimal("-2"))
        #expect(
            try aggregate(.maximum, "price") == Self.decimal("9999999999999999999999999999999999"))
        #expect(try aggregate(.average, "price") == .decimal128(Decimal128(sum)! / Decimal128(5)))
        // 1 + 1 + 1.00 + 1.1 + 2.5, NaN left out.
        #expect(try aggregate(.sum, "cargo") == Self.decimal("6.6"))
        #expect(try aggregate(.average, "cargo") == Self.decimal("1.32"))
        #expect(try aggregate(.minimum, "cargo") == .bool(true))
        #expect(try aggregate(.maximum, "cargo") == .uuid(Self.uuid))
        #expect(errorCode { _ = try aggregate(.minimum, "id") } == .illegalOperation)
        let empty = try self.world([[:]])
        let other = try empty.reader.table(empty.key("Thing"))
        let column = item.property(named: "cargo")!.key.column
        #expect(try Value(Aggregate.ofTable(.sum, other, column: column)) == Self.decimal("0"))
        #expect(try Value(Aggregate.ofTable(.average, other, column: column)) == .null)
    }

    // MARK: Every way of execution

    private static func value(_ name: String, _ random: inout Random) -> Value {
        if random.below(6) == 0 { return .null }
        let small = Int64(random.below(30))
        switch name {
        case "price": return .decimal128(Decimal128(small) / Decimal128(4))
        case "id": return .objectId(ObjectId(high: UInt64(small) << 56, low: UInt32(small)))
        case "key": return .uuid(UUIDValue(high: UInt64(small) << 60, low: UInt64(small)))
        default:
            switch random.below(9) {
            case 0: return .int(small)
            case 1: return .double(Double(small) / 4)
            case 2: return .float(Float(small) / 10)
            case 3: return .decimal128(Decimal128(small) / Decimal128(10))
            case 4: return .string("text \(small)")
            case 5: return .bool(small > 9)
            case 6: return value("id", &random)
            case 7: return .double(.nan)
            default: return value("key", &random)
            }
        }
    }

    @Test func everyWayOfExecutionFindsTheSameRows() throws {
        var random = Random(21)
        let names = ["price", "id", "key", "cargo"]
        var rows: [[String: Value]] = []
        for _ in 0..<1500 {
            var row: [String: Value] = [:]
            for name in names { row[name] = Self.value(name, &random) }
            rows.append(row)
        }
        let world = try world(rows)
        let thing = world.key("Thing")
        // Every other one links to its predecessor.
        try world.beginWrite()
        let table = world.tables.table(thing)!
        let item = world.schema.class_(named: "Thing")!
        for key in stride(from: ObjectKey(1), to: 1500, by: 2) {
            guard let place = try table.find(key) else { continue }
            _ = try table.setValue(
                place, key, item.property(named: "next")!.key.column,
                .link(thing, key.advanced(by: -1)))
        }
        try world.tables.commit()
        let operators: [(String, ComparisonOperator)] = [
            ("==", .equal), ("<", .less), ("<=", .lessEqual), (">", .greater),
            (">=", .greaterEqual),
        ]
        for _ in 0..<120 {
            let name = names[random.below(names.count)]
            let constant = Self.value(name, &random)
            if constant == .null { continue }
            let kind = try ColumnKind(item.property(named: name)!.type)
            let (op, comparison) = operators[random.below(operators.count)]
            let expected = try rows.indices.filter { index in
                try rows[index][name]!.withRaw { value throws(RealmError) in
                    try constant.withRaw { constant throws(RealmError) in
                        ValueTest.passes(value, comparison, constant, kind)
                    }
                }
            }.map { ObjectKey($0) }
            let text = "\(name) \(op) $0"
            #expect(try find(world, text, [constant]) == expected, "\(text) \(constant)")
            if name != "price" {
                #expect(
                    try find(world, "indexed_" + text, [constant]) == expected,
                    "indexed \(text) \(constant)")
                #expect(
                    try find(world, "indexed_\(text) AND number >= 0", [constant]) == expected)
            }
            let found = Set(expected)
            let rest = rows.indices.map { ObjectKey($0) }.filter { !found.contains($0) }
            #expect(try find(world, "NOT \(text)", [constant]) == rest)
            let behind = expected.filter { $0.rawValue % 2 == 0 }.map { $0.advanced(by: 1) }
            #expect(try find(world, "next.\(text)", [constant]) == behind)
        }
        // Lists: as one set, and as single tests.
        for _ in 0..<60 {
            let name = names[random.below(names.count)]
            let members = (0..<(2 + random.below(5))).map { _ in Self.value(name, &random) }
            var expected: Set<ObjectKey> = []
            for member in members {
                expected.formUnion(try find(world, "\(name) == $0", [member]))
            }
            for prefix in name == "price" ? [""] : ["", "indexed_"] {
                let query = try world.query("Thing", "\(prefix)\(name) IN $0", [.list(members)])
                #expect(
                    try query.findAll(world.reader) == expected.sorted(), "\(name) \(members)")
            }
        }
    }
}
