import Testing

@testable import CoreSwift
@testable import TestSupport

/// Vessels and harbors with every property type there is, null or not.
func shipSchema() -> Schema {
    Schema([
        ClassSchema(
            "Vessel", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey, .nullable]),
                PropertySchema("title", .string, flags: [.nullable]),
                PropertySchema("code", .string, flags: [.indexed, .nullable]),
                PropertySchema("tons", .int),
                PropertySchema("crewed", .int, flags: [.indexed, .nullable]),
                PropertySchema("draft", .double, flags: [.nullable]),
                PropertySchema("beam", .float, flags: [.nullable]),
                PropertySchema("built", .timestamp, flags: [.nullable]),
                PropertySchema("docked", .timestamp, flags: [.nullable, .indexed]),
                PropertySchema("seal", .binary, flags: [.nullable]),
                PropertySchema("active", .bool, flags: [.nullable]),
                PropertySchema("moored", .bool, flags: [.indexed]),
                PropertySchema("berth", .object, linkTarget: "Harbor", flags: [.nullable]),
                PropertySchema(
                    "weight_kg", .int, flags: [.nullable], publicName: "weight"),
                PropertySchema("home port", .string, flags: [.nullable]),
            ]),
        ClassSchema(
            "Harbor", primaryKey: "name",
            properties: [
                PropertySchema("name", .string, flags: [.primaryKey]),
                PropertySchema("depth", .int, flags: [.nullable]),
                PropertySchema("region", .object, linkTarget: "Region", flags: [.nullable]),
            ]),
        ClassSchema(
            "Region",
            properties: [
                PropertySchema("label", .string, flags: [.nullable]),
                PropertySchema("rank", .int),
            ]),
    ])
}

@Suite struct QueryExecutionTests {
    private let world: TableWorld
    private let harbors: [String: ObjectKey]

    init() throws {
        world = try TableWorld(shipSchema())
        try world.beginWrite()
        let north = try world.add("Region", ["label": .string("north"), "rank": .int(1)])
        let blank = try world.add("Region", ["label": .null, "rank": .int(2)])
        let region = world.key("Region")
        var harbors: [String: ObjectKey] = [:]
        harbors["Oslo"] = try world.add(
            "Harbor",
            [
                "name": .string("Oslo"), "depth": .int(9),
                "region": .link(Link(region, north)),
            ])
        harbors["Bergen"] = try world.add(
            "Harbor",
            [
                "name": .string("Bergen"), "depth": .null,
                "region": .link(Link(region, blank)),
            ])
        harbors["Hull"] = try world.add("Harbor", ["name": .string("Hull"), "depth": .int(4)])
        self.harbors = harbors
        let harbor = world.key("Harbor")
        func berth(_ name: String) -> Value {
            .link(Link(harbor, harbors[name]!))
        }
        try world.add(
            "Vessel",
            [
                "id": .int(1), "title": .string("Starling"), "code": .string("aa"),
                "tons": .int(5), "crewed": .int(3), "draft": .double(1.5), "beam": .float(0.1),
                "built": .timestamp(Timestamp(seconds: 100, nanoseconds: 5)),
                "seal": .binary([0, 1]), "active": .bool(true), "berth": berth("Oslo"),
                "weight_kg": .int(7), "home port": .string("x"),
            ])
        try world.add(
            "Vessel",
            [
                "id": .int(2), "title": .string("Éclair"), "code": .string("ab"),
                "tons": .int(-7), "crewed": .null, "draft": .double(.nan), "beam": .null,
                "built": .timestamp(Timestamp(seconds: -5, nanoseconds: -1)),
                "active": .bool(false), "berth": berth("Bergen"),
            ])
        try world.add(
            "Vessel",
            [
                "id": .int(-3), "title": .null, "code": .null, "tons": .int(5),
                "draft": .null, "berth": .null,
            ])
        try world.add(
            "Vessel",
            [
                "id": .null, "title": .string(""), "code": .string("aa"), "tons": .int(1000),
                "crewed": .int(9), "draft": .double(-0.0), "beam": .float(2),
                "seal": .binary([]), "active": .null, "berth": berth("Hull"),
            ])
        try world.tables.commit()
    }

    /// Ids of the vessels selected; null is 0.
    private func ids(_ text: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        let query = try world.query("Vessel", text, arguments)
        let table = try world.reader.table(world.key("Vessel"))
        let keys = try query.findAll(world.reader)
        #expect(try query.count(world.reader) == keys.count)
        #expect(try query.findFirst(world.reader) == keys.first)
        // The canonical text means the same.
        let again = try world.query("Vessel", query.description)
        #expect(try again.findAll(world.reader) == keys, "\(query.description)")
        return try keys.map { key in
            let place = try table.row(key)!
            let value = try table.value(place.leaf, place.row, 0)
            return value.isNull ? 0 : value.intValue
        }
    }

    @Test(
        arguments: [
            ("tons == 5", [1, -3]), ("tons != 5", [2, 0]), ("5 < tons", [0]), ("tons =< -7", [2]),
            ("tons > 4.5", [1, -3, 0]), ("tons == 5.5", []), ("tons != 5.5", [1, 2, -3, 0]),
            ("tons == '5'", [1, -3]), ("tons < 9007199254740993.0", [1, 2, -3, 0]),
            ("tons BETWEEN {0.5, 5.5}", [1, -3]), ("tons NOT BETWEEN {0, 10}", [2, 0]),
            ("tons IN {5, 1000, 'x'}", [1, -3, 0]), ("tons IN {}", []), ("tons != {}", []),
            ("tons != ALL {}", [1, 2, -3, 0]), ("tons == NONE {5, -7}", [0]),
            ("tons > {1, 6}", [1, -3, 0]), ("tons != ALL {5, 9}", [2, 0]),
            ("tons == null", []), ("tons != null", [1, 2, -3, 0]),
            ("crewed == null", [2, -3]), ("crewed != 3", [2, -3, 0]), ("crewed >= null", [2, -3]),
            ("crewed > null", []), ("crewed IN {9, null}", [2, -3, 0]), ("crewed < 5", [1]),
            ("NOT crewed > 3", [1, 2, -3]),
            ("id == 1", [1]), ("id == -3", [-3]), ("id == null", [0]), ("id > 1", [2]),
            ("id < 2", [1, -3]), ("id IN {1, -3, 99, null}", [1, -3, 0]), ("id != 1", [2, -3, 0]),
            ("draft == 1.5", [1]), ("draft < 1", [0]), ("draft != 3.0", [1, 2, -3, 0]),
            ("draft == nan", []), ("draft != nan", [1, 2, -3, 0]), ("draft == null", [-3]),
            ("draft == 0", [0]), ("draft IN {1.5, 0}", [1, 0]), ("draft < +Inf", [1, 0]),
            ("draft <= 9007199254740993", [1, 0]), ("draft == '1.5'", [1]),
            ("beam == 0.1", [1]), ("beam > 1", [0]), ("beam == 2", [0]), ("beam == 0.1f", [1]),
            ("active == true", [1]), ("active == True", [1]), ("active != true", [2, -3, 0]),
            ("active < true", [2]), ("active == null", [-3, 0]),
            ("active IN {true, null}", [1, -3, 0]),
            ("built > T100:4", [1]), ("built == T100:5", [1]), ("built < T-5:0", [2]),
            ("built BETWEEN {T-5:-1, T0:0}", [2]), ("built == null", [-3, 0]),
            ("title == 'Starling'", [1]), ("title == null", [-3]), ("title > null", [1, 2, 0]),
            ("title >= null", [1, 2, -3, 0]), ("title < null", []), ("title <= null", [-3]),
            ("title < 'T'", [1, -3, 0]), ("title != 'Starling'", [2, -3, 0]),
            ("title BETWEEN {'A','T'}", [1]), ("title CONTAINS 'arl'", [1]),
            ("title CONTAINS[c] 'ARL'", [1]), ("title BEGINSWITH 'Sta'", [1]),
            ("title ENDSWITH 'ling'", [1]), ("title LIKE 'S?a*'", [1]), ("title LIKE ''", [0]),
            ("title LIKE '*'", [1, 2, 0]), ("title LIKE '**'", [1, 2, 0]),
            ("title LIKE '?clair'", [2]),
            ("title CONTAINS ''", [1, 2, 0]), ("title CONTAINS null", [1, 2, -3, 0]),
            ("title LIKE null", [-3]), ("title ==[c] 'ÉCLAIR'", [2]),
            ("title ==[c] 'STARLING'", [1]),
            ("title IN {'Starling', null}", [1, -3]), ("title IN[c] {'STARLING'}", [1]),
            ("title == 'St\\u0061rling'", [1]), ("NOT title CONTAINS 'a'", [-3, 0]),
            ("code == 'aa'", [1, 0]), ("code BEGINSWITH 'a'", [1, 2, 0]), ("code == null", [-3]),
            ("code IN {'ab', 'zz', null}", [2, -3]), ("code == 'aa' AND tons == 5", [1]),
            ("crewed == 9 AND title == ''", [0]),
            ("seal == bin(B64\"AAE=\")", [1]), ("seal == null", [2, -3]),
            ("seal == binary('')", [0]),
            ("seal BEGINSWITH binary('')", [1, 0]),
            ("berth == null", [-3]), ("berth != null", [1, 2, 0]),
            ("berth == obj('Harbor', 'Oslo')", [1]), ("berth == obj('Harbor', 'ghost')", []),
            ("berth != obj('Harbor', 'ghost')", [1, 2, -3, 0]),
            ("berth IN {obj('Harbor', 'Oslo'), null}", [1, -3]),
            ("berth.name == 'Oslo'", [1]), ("berth.name != 'Oslo'", [2, -3, 0]),
            ("berth.depth == null", [2, -3]), ("berth.depth > 5", [1]),
            ("berth.depth != 9", [2, -3, 0]),
            ("NOT berth.depth > 5", [2, -3, 0]), ("berth.name > 'C'", [1, 0]),
            ("berth.name CONTAINS null", [1, 2, 0]), ("berth.name IN {'Hull', 'Oslo'}", [1, 0]),
            ("berth.depth BETWEEN {4, 9}", [1, 0]), ("berth.region.rank == 1", [1]),
            ("berth.region.label == null", [2, -3, 0]), ("berth.region.rank != 1", [2, -3, 0]),
            ("NOT berth.region.rank != 1", [1]), ("berth.region == null", [-3, 0]),
            ("berth.name == 'Oslo' OR tons == 1000", [1, 0]),
            ("berth.name == 'Oslo' AND tons == 5", [1]),
            ("tons == 5 AND (active == true OR title == null)", [1, -3]),
            ("NOT (tons == 5 AND active == true)", [2, -3, 0]),
            ("(tons == 5 OR tons == -7 OR tons == 1000) AND id != 2", [1, -3, 0]),
            ("weight > 3", [1]), ("weight_kg > 3", [1]), ("home\\ port == 'x'", [1]),
            ("TRUEPREDICATE", [1, 2, -3, 0]), ("FALSEPREDICATE OR tons > 900", [0]),
            ("!FALSEPREDICATE AND tons > 5", [0]),
            ("TRUEPREDICATE SORT(tons ASC)", [2, 1, -3, 0]),
            ("TRUEPREDICATE SORT(tons DESC)", [0, 1, -3, 2]),
            ("TRUEPREDICATE SORT(tons)", [2, 1, -3, 0]),
            ("TRUEPREDICATE SORT(title ASC)", [-3, 0, 1, 2]),
            ("TRUEPREDICATE SORT(draft ASC)", [-3, 2, 0, 1]),
            ("TRUEPREDICATE SORT(berth.depth ASC)", [2, 0, 1, -3]),
            ("TRUEPREDICATE SORT(berth.depth DESC)", [-3, 1, 0, 2]),
            ("TRUEPREDICATE SORT(active DESC, tons ASC)", [1, 2, -3, 0]),
            ("TRUEPREDICATE SORT(title ASC) SORT(tons ASC)", [2, -3, 1, 0]),
            ("TRUEPREDICATE SORT(built DESC)", [1, 2, -3, 0]),
            ("TRUEPREDICATE DISTINCT(tons)", [1, 2, 0]),
            ("TRUEPREDICATE DISTINCT(berth.depth)", [1, 2, 0]),
            ("TRUEPREDICATE SORT(tons DESC) DISTINCT(code)", [0, -3, 2]),
            ("TRUEPREDICATE LIMIT(2) SORT(tons DESC)", [1, 2]),
            ("TRUEPREDICATE SORT(tons DESC) LIMIT(2)", [0, 1]),
            ("tons == 5 SORT(id ASC) LIMIT(1)", [-3]),
        ] as [(String, [Int64])])
    func queriesSelectWhatTheRulesSay(text: String, expected: [Int64]) throws {
        #expect(try ids(text) == expected)
    }

    @Test func argumentsStandForConstants() throws {
        let harbor = world.key("Harbor")
        let oslo = Value.link(Link(harbor, harbors["Oslo"]!))
        #expect(
            try ids("tons == $1 OR id == $0", [.scalar(.int(2)), .scalar(.int(1000))]) == [2, 0])
        #expect(try ids("tons IN $0", [.list([.int(5), .string("1000"), .null])]) == [1, -3, 0])
        #expect(try ids("tons IN $0", [.list([])]) == [])
        #expect(try ids("tons == ALL $0", [.list([])]) == [1, 2, -3, 0])
        #expect(try ids("berth == $0", [.scalar(oslo)]) == [1])
        #expect(try ids("berth == $0", [.scalar(.null)]) == [-3])
        #expect(try ids("berth IN $0", [.list([oslo, .null])]) == [1, -3])
        #expect(try ids("$K0 > 4", [.scalar(.string("berth.depth"))]) == [1])
        #expect(try ids("tons BETWEEN $0", [.list([.int(0), .int(10)])]) == [1, -3])
        #expect(
            try ids(
                "TRUEPREDICATE SORT($K0 DESC) LIMIT($1)",
                [.scalar(.string("tons")), .scalar(.int(1))]) == [0])
        #expect(try ids("title BEGINSWITH $0", [.list([.string("S"), .string("É")])]) == [1, 2])
        #expect(try ids("draft == $0", [.scalar(.float(1.5))]) == [1])
        #expect(try ids("beam == $0", [.scalar(.double(0.1))]) == [1])
    }

    @Test(
        arguments: [
            ("nope == 1", ErrorCode.invalidQuery, "'Vessel' has no property 'nope'"),
            ("berth.nope == 1", .invalidQuery, "'Harbor' has no property 'nope'"),
            ("tons.x == 1", .invalidQuery, "'Vessel.tons'"),
            ("title == 5", .invalidQuery, "'string'"),
            ("title == tons", .invalidQuery, "'string'"),
            ("built == 3", .invalidQuery, "'timestamp'"),
            ("built == '2020-01-01'", .invalidQuery, "'timestamp'"),
            ("tons CONTAINS 'a'", .invalidQuery, "CONTAINS"),
            ("title CONTAINS 5", .invalidQuery, "CONTAINS"),
            ("berth > null", .invalidQuery, "'Vessel.berth'"),
            ("3 == 3", .invalidQuery, "two constants"),
            ("5 IN {5}", .invalidQuery, "two constants"),
            ("5 IN tons", .invalidQueryArg, "IN"), ("tons IN 5", .invalidQueryArg, "IN"),
            ("tons BETWEEN {1}", .invalidQuery, "exactly 2"),
            ("tons BETWEEN {1, null}", .invalidQuery, "null"),
            ("ALL berth.depth > 3", .invalidQuery, "ALL"),
            ("tons == $9", .invalidQueryArg, "index 9"), ("nope == $9", .invalidQuery, "nope"),
            ("tons < inf", .invalidQuery, "inf"), ("tons == '5abc'", .invalidQuery, "'int'"),
            ("title TEXT 'a'", .illegalOperation, "'Vessel.title'"),
            ("berth == obj('Nope', 1)", .invalidQuery, "Nope"),
            ("seal == 'ab'", .invalidQuery, "'binary'"),
            ("TRUEPREDICATE SORT(nope ASC)", .invalidQuery, "sort"),
            ("TRUEPREDICATE DISTINCT(nope)", .invalidQuery, "distinct"),
            ("title + 1 == 2", .invalidQueryArg, "title"),
            ("SUBQUERY(berth, $x, $x.depth > 1).@count > 0", .invalidQuery, "SUBQUERY"),
            (
                "SUBQUERY(@links.Vessel.berth, $x, $x.tons - 3).@count > 0", .invalidQueryString,
                "expected"
            ),
            ("frobnicate(tons) == 2", .invalidQuery, "unknown function"),
            ("abs(title) == 2", .invalidQuery, "abs"),
            ("@links.Vessel.berth.tons > 3", .invalidQuery, "links to class 'Vessel'"),
        ] as [(String, ErrorCode, String)])
    func badQueriesAreRefusedWithTheirCode(
        text: String, code: ErrorCode, excerpt: String
    ) throws {
        do {
            _ = try world.query("Vessel", text)
            Issue.record("'\(text)' was accepted")
        } catch let error as RealmError {
            #expect(error.code == code, "\(error.message)")
            #expect(error.message.contains(excerpt), "\(error.message)")
        }
    }

    @Test(
        arguments: [
            ("tons == $0", QueryArgument.scalar(.string("x")), ErrorCode.invalidQueryArg),
            ("title == $0", .scalar(.int(5)), .invalidQueryArg),
            ("active == $0", .scalar(.int(1)), .invalidQueryArg),
            ("tons IN $0", .scalar(.int(1)), .invalidQueryArg),
            ("tons == ANY $0", .scalar(.int(1)), .invalidQuery),
            ("tons < $0", .scalar(.double(.infinity)), .invalidQuery),
            ("tons < $0", .scalar(.double(.nan)), .invalidQuery),
            (
                "berth == $0", .scalar(.link(Link(ClassKey(rawValue: 77), 1))),
                .invalidQueryArg
            ),
            ("TRUEPREDICATE LIMIT($0)", .scalar(.int(-1)), .invalidQueryArg),
            ("$K0 == 1", .scalar(.int(1)), .invalidQueryArg),
            ("berth == obj('Harbor', $0)", .list([.string("Oslo")]), .invalidQueryArg),
        ] as [(String, QueryArgument, ErrorCode)])
    func badArgumentsAreRefusedWithTheirCode(
        text: String, argument: QueryArgument, code: ErrorCode
    ) throws {
        do {
            _ = try world.query("Vessel", text, [argument])
            Issue.record("'\(text)' was accepted")
        } catch let error as RealmError {
            #expect(error.code == code, "\(error.message)")
        }
    }

    @Test func `V1, V2: canonical texts have the shapes of the rules`() throws {
        #expect(
            try world.query(
                "Vessel", "!(tons = $0) && title contains[c] 'st' sort(tons asc) limit(3)",
                [.scalar(.int(5))]
            ).description
                == "!(tons == 5) and title CONTAINS[c] \"st\" SORT(tons ASC) LIMIT(3)")
        #expect(
            try world.query("Vessel", "weight > 1 OR title == 'a\"b'").description
                == "(weight_kg > 1 or title == B64\"YSJi\")")
        #expect(try world.query("Vessel", "tons == {1,2}").description == "tons IN {1, 2}")
        #expect(
            try world.query("Vessel", "home\\ port == nil").description == "home\\ port == NULL")
        #expect(
            try world.query("Vessel", "TRUEPREDICATE SORT(home\\ port) DISTINCT(home\\ port)")
                .description
                == "TRUEPREDICATE SORT(home\\ port ASC) DISTINCT(home\\ port)")
    }

    @Test func keysWithQuotesHaveACanonicalTextThatParses() throws {
        #expect(try ids("berth == obj('Harbor', 'a\"b')") == [])
        #expect(try ids("berth IN {obj('Harbor', B64\"T3Nsbw==\")}") == [1])
    }

    @Test func nothingIsBelowFalseOrAboveTrueInAnIndexEither() throws {
        #expect(try ids("moored < false") == [])
        #expect(try ids("moored > true") == [])
        #expect(try ids("moored <= false").count == 4)
    }

    @Test func theNullKeyOfALonelyObjectSurvivesTheNextWrite() throws {
        let world = try TableWorld(shipSchema())
        try world.beginWrite()
        try world.add("Vessel", ["id": .null])
        try world.tables.commit()
        try world.beginWrite()
        try world.add("Vessel", ["id": .int(5)])
        try world.tables.commit()
        for (text, count) in [("id == null", 1), ("id != null", 1), ("id > 5", 0)] {
            #expect(try world.query("Vessel", text).count(world.reader) == count, "\(text)")
        }
    }

    @Test func `D13: combined queries and their conditions`() throws {
        let first = try world.query("Vessel", "tons > 0 LIMIT(2)")
        let second = try world.query("Vessel", "id != 1 SORT(id ASC)")
        let both = try first.and(second)
        #expect(both.description == "tons > 0 and id != 1 LIMIT(2) SORT(id ASC)")
        #expect(try both.count(world.reader) == 2)
    }

    @Test func longChainsRun() throws {
        let count = Campaign.rounds(50_000)
        let chain = (0..<count).map { "id == \($0)" }.joined(separator: " OR ")
        #expect(try ids(chain) == [1, 2])
        let ands = (0..<count).map { "tons != \($0 + 6)" }.joined(separator: " AND ")
        #expect(try world.query("Vessel", ands).count(world.reader) == 3)
        // Alternating chains stay as deep as they were written.
        var nested = "id == 1"
        for _ in 0..<5_000 { nested = "(tons == 7 OR (tons > 0 AND \(nested)))" }
        #expect(try world.query("Vessel", nested).count(world.reader) == 1)
    }

    /// A leaf of wide integers takes any value in place, also one below its base.
    @Test func valuesBelowTheBaseOfTheirLeafAreFound() throws {
        let world = try TableWorld(shipSchema())
        try world.beginWrite()
        for index in 0..<100 {
            try world.add(
                "Vessel", ["id": .int(Int64(index)), "tons": .int(1 << 40 + Int64(index) << 34)])
        }
        try world.tables.commit()
        try world.beginWrite()
        let table = world.tables.table(world.key("Vessel"))!
        let column = world.schema.class_(named: "Vessel")!.property(named: "tons")!.key.column
        for (key, value) in [(7, -5), (9, 3)] as [(ObjectKey, Int64)] {
            _ = try table.setValue(try table.find(key)!, key, column, .int(value))
        }
        #expect(try world.query("Vessel", "tons < 100").findAll(world.reader) == [7, 9])
        #expect(try world.query("Vessel", "tons BETWEEN {-5, 2}").findAll(world.reader) == [7])
        #expect(try world.query("Vessel", "tons >= 4").count(world.reader) == 98)
        #expect(try world.query("Vessel", "tons IN {3, -5, 12}").count(world.reader) == 2)
    }
}
