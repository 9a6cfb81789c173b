// Rules P, E and some of T, S, Q, K, D that arguments and results have part in; public names.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ArgumentRuleTests {
    private let world: RuleWorld

    init() throws { world = try RuleWorld() }

    private func int(_ value: Int64) -> QueryArgument { .scalar(.int(value)) }
    private func string(_ text: String) -> QueryArgument { .scalar(.string(text)) }

    /// Checks that a query with arguments is refused, in both forms.
    private func refuse(
        _ rule: String, _ text: String, _ arguments: [QueryArgument], _ code: ErrorCode,
        _ excerpts: String..., of className: String = "Vessel"
    ) {
        for usesColumns in [true, false] {
            do {
                _ = try world.query(text, arguments, className, usesColumns: usesColumns)
                Issue.record("\(rule): '\(text)' was accepted")
            } catch let error as RealmError {
                #expect(error.code == code, "\(rule): \(error.message)")
                for excerpt in excerpts {
                    #expect(error.message.contains(excerpt), "\(rule): \(error.message)")
                }
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func `P: arguments stand for constants`() throws {
        // P1, P3, P6, P7, P8, P9
        #expect(try world.ids("tons == $1 OR id == $1", [int(9), int(4), int(7)]) == [4])
        #expect(try world.ids("id == $1 OR id == $0", [int(3), int(1)]) == [1, 3])
        #expect(try world.ids("id IN {$0, 3}", [int(1)]) == [1, 3])
        #expect(try world.ids("tons BETWEEN {$0, 8}", [int(2)]) == [1, 3])
        #expect(try world.ids("captain == obj('Sailor', $0)", [string("Jo")]) == [2])
        #expect(try world.ids("tons + $0 == 6", [int(1)]) == [1, 3])
        #expect(try world.ids("berth == $0", [.scalar(.null)]) == [3])
        #expect(try world.ids("$0 == draft", [.scalar(.null)]) == [3])
        #expect(try world.ids("captain == $0", [world.link("Sailor", .string("Mia"))]) == [1])
        #expect(try world.ids("marks[$0] == $1", [int(1), int(2)]) == [1])
        #expect(try world.ids("extras[$0] == $1", [string("color"), string("red")]) == [1])
        var argument = int(5)
        let query = try world.query("tons == $0", [argument], "Vessel")
        argument = int(1000)
        #expect(
            try query.count(SnapshotReader(tables: world.realm.readTables())) == 2, "\(argument)")
        // P4, P5
        #expect(try world.ids("title CONTAINS $0", [.list([.string("z"), .string("ta")])]) == [1])
        #expect(try world.ids("tons == $0", [.list([])]) == [])
        // K8, Q14
        let older = "SUBQUERY(crew, $s, $s.age > $0).@count > $1"
        #expect(try world.ids(older, [int(44), int(0)]) == [1, 3, 4])
        #expect(try world.ids("tons == ANY $0", [.list([.int(5), .int(9)])]) == [1, 3])
    }

    @Test func `P2, P5, P7, P8, T14, Q14: arguments that do not fit`() throws {
        refuse("P2", "tons == $3", [int(1)], .invalidQueryArg, "$3", "index 3", "only 1 was given")
        refuse("P2", "tons == $0", [], .invalidQueryArg, "index 0", "no arguments were given")
        refuse("P2", "tons == $7", [int(1), int(2)], .invalidQueryArg, "only 2 were given")
        refuse("P2", "$K1 == 1", [int(1)], .invalidQueryArg, "index 1")
        refuse(
            "P5", "captain == obj('Sailor', $0)", [.list([.string("Jo")])], .invalidQueryArg, "$0")
        refuse("P5", "id IN {1, $0}", [.list([.int(1)])], .invalidQueryArg, "$0", "list")
        refuse("P5", "tons + $0 IN {1}", [.list([.string("x")])], .invalidQueryArg, "string")
        refuse("P7", "active == $0", [int(1)], .invalidQueryArg, "$0", "bool")
        refuse("P7", "title == $0", [.scalar(.binary([1]))], .invalidQueryArg, "binary")
        refuse("P8", "$0[1] == 3", [int(1)], .invalidQueryString, "byte 2")
        refuse("P8", "$0.x == 3", [int(1)], .invalidQueryString, "byte 2")
        refuse("P8", "marks[$0] == 3", [.scalar(.bool(true))], .invalidQuery, "$0")
        refuse("T14", "title == $0", [int(5)], .invalidQueryArg, "$0", "5", "'int'", "'string'")
        refuse("T14", "title + '' == $0", [int(5)], .invalidQueryArg, "title")
        refuse("T14", "berth.name == $0", [int(5)], .invalidQueryArg, "$0", "5", "string")
        refuse("T14", "notes[0] == $0", [int(5)], .invalidQueryArg, "$0", "5", "string")
        refuse(
            "T15", "captain == $0", [try world.link("Harbor", .string("Oslo"))], .invalidQueryArg,
            "Sailor", "Harbor", "captain")
        refuse("Q14", "tons == ANY $0", [int(5)], .invalidQuery, "ANY")
        refuse("Q14", "tons == ANY 5", [], .invalidQueryString, "5")
        refuse("C3", "tons IN $0", [int(5)], .invalidQueryArg, "$0")
        refuse("T9", "tons < $0", [.scalar(.double(.nan))], .invalidQuery, "nan")
        refuse("N8", "$K0 == 1", [string("berth..depth")], .invalidQueryArg, "berth..depth")
        refuse("N8", "$K0 == 1", [string("")], .invalidQueryArg, "key path")
        refuse("N8", "$K0 == 1", [string("berth.depht")], .invalidQuery, "did you mean 'depth'")
    }

    @Test func `S12: texts that are no UTF-8 cannot be operands of text operators`() throws {
        for op in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "CONTAINS[c]"] {
            refuse("S12", "title \(op) B64\"/w==\"", [], .invalidQueryArg, "UTF-8")
        }
    }

    @Test func `E1 to E3: what is wrong is told when the query is parsed, in order`() throws {
        // No class of this name has objects.
        refuse("E1", "type == $9", [], .invalidQueryArg, "$9", of: "Point")
        refuse("E1", "type == 5", [], .invalidQuery, "string", of: "Point")
        refuse("E2", "nope == $9 AND", [], .invalidQueryString, "end")
        refuse("E2", "nope == $9", [], .invalidQuery, "nope")
        refuse("E2", "title == 5 AND nope == 1", [], .invalidQuery, "nope")
        refuse("E2", "nope == 1 AND never == 2", [], .invalidQuery, "nope")
        refuse("E2", "title == 5 AND tons == $9", [], .invalidQueryArg, "$9")
        refuse("E2", "title == 5 SORT(nope ASC)", [], .invalidQuery, "nope")
        refuse("E3", "title == 5", [], .invalidQuery, "title", "'string'", "'int'")
        refuse("E3", "title == $0", [int(5)], .invalidQueryArg, "title", "'string'")
    }

    @Test func `E: kinds of errors, and what their texts have`() throws {
        let table: [(String, ErrorCode, [String])] = [
            (
                "tons == ", .invalidQueryString,
                ["'tons == '", "end of the query", "expected", "byte 8"]
            ),
            ("tons ? 5", .invalidQueryString, ["'tons ? 5'", "'?'", "byte 5"]),
            ("built > T1:-1", .invalidQueryString, ["byte 8"]),
            ("SUBQUERY(crew, s, s.age > 1).@count > 0", .invalidQueryString, ["'s'", "variable"]),
            ("nope == 1", .invalidQuery, ["'Vessel'", "'nope'"]),
            ("berth.nope == 1", .invalidQuery, ["'Harbor'", "'nope'"]),
            ("captain == obj('Nope', 1)", .invalidQuery, ["'Nope'"]),
            ("title == tons", .invalidQuery, ["'string'", "'int'", "=="]),
            ("built CONTAINS 'a'", .invalidQuery, ["CONTAINS", "Vessel.built", "timestamp"]),
            ("captain < obj('Sailor', 'Jo')", .invalidQuery, ["<"]),
            ("ALL tons == 1", .invalidQuery, ["ALL", "tons"]),
            ("tons BETWEEN {1, 2, 3}", .invalidQuery, ["exactly 2", "3"]),
            ("SUBQUERY(captain, $s, $s.age > 1).@count > 0", .invalidQuery, ["Vessel.captain"]),
            ("crew == null", .invalidQuery, ["crew", "@count"]),
            ("3 == 3", .invalidQuery, ["3 == 3", "two constants"]),
            ("tons < inf", .invalidQuery, ["Vessel.tons", "inf"]),
            ("tons[0] == 1", .invalidQuery, ["Vessel.tons", "0"]),
            ("crew.@max.name == 'x'", .invalidQuery, ["@max", "Sailor.name", "string"]),
            (
                "captain GEOWITHIN geoCircle([1.0, 1.0], 1.0)", .invalidQuery, ["captain"]
            ),
            ("tons IN 5", .invalidQueryArg, ["IN", "5"]),
            ("title + 1 == 2", .invalidQueryArg, ["+", "title", "string"]),
            ("cargo.@type == 'frob'", .invalidQueryArg, ["frob", "objectid"]),
            (
                "spot GEOWITHIN geoPolygon({[0,0],[1,1],[2,0]})", .invalidQueryArg, ["closed"]
            ),
            ("TRUEPREDICATE SORT(marks ASC)", .invalidSortDescriptor, ["marks"]),
            ("TRUEPREDICATE DISTINCT(crew.age)", .invalidSortDescriptor, ["crew.age"]),
            ("title TEXT 'a'", .illegalOperation, ["Vessel.title"]),
        ]
        for (text, code, excerpts) in table {
            do {
                _ = try world.query(text, [], "Vessel")
                Issue.record("'\(text)' was accepted")
            } catch let error as RealmError {
                #expect(error.code == code, "\(error.message)")
                for excerpt in excerpts {
                    #expect(error.message.contains(excerpt), "\(error.message)")
                }
            }
        }
    }

    @Test func `D2, D9, D11 to D13: orders of results and of lists`() throws {
        let realm = world.realm
        let crew = try realm.find("Vessel", primaryKey: .int(1))!.collection("crew")
        func names(_ results: Results) throws -> [Value] {
            try (0..<results.count()).map {
                let key = try results.get($0).linkTarget
                return try realm.find(results.classKey, key: key)!.get("name")
            }
        }
        let all = try crew.results() as! Results
        #expect(try names(all.filter("age < 50")) == ["Jo", "Ann", "Jo"].map { .string($0) })
        #expect(
            try names(all.filter("age < 50 SORT(age DESC)"))
                == ["Ann", "Jo", "Jo"].map { .string($0) })
        world.check([
            ("D2", "tons > 1", [1, 3, 4]),
            ("D9", "TRUEPREDICATE DISTINCT(tons) DISTINCT(active)", [1, 2, 4]),
            ("D9", "TRUEPREDICATE DISTINCT(tons, active)", [1, 2, 3, 4]),
            ("D9", "TRUEPREDICATE DISTINCT(active) DISTINCT(tons)", [1, 2]),
            ("D11", "TRUEPREDICATE LIMIT(1)", [1]),
        ])
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let first = try world.query("id > 0 SORT(tons DESC) LIMIT(2)", [], "Vessel")
        #expect(try first.count(snapshot) == 2)
        #expect(
            try first.findFirst(snapshot)
                == first.findAll(snapshot).first)
        // D12: an order by the interface is the first one; the one before breaks its ties.
        let vessels = try realm.objects("Vessel")
        let twice = try vessels.sorted("id DESC").sorted("tons ASC")
        let once = try vessels.sorted("tons ASC, id DESC")
        let keys = { (results: Results) throws -> [Int64] in
            try (0..<results.count()).map { try results.get($0).linkTarget.rawValue }
        }
        #expect(try keys(twice) == keys(once))
        // D13: suffixes of both, those of the first before.
        let second = try world.query("id > 2 SORT(id ASC)", [], "Vessel")
        let both = try first.and(second)
        #expect(both.description == "id > 0 and id > 2 SORT(tons DESC) LIMIT(2) SORT(id ASC)")
        #expect(try both.findAll(snapshot).count == 2)
    }
}

/// Rules N2 to N5 with public names: on every step, in every clause, in messages.
@Suite struct PublicNameTests {
    private let directory = TemporaryDirectory()
    private let realm: Realm

    private static let schema = Schema([
        ClassSchema(
            "Ship", primaryKey: "nr",
            properties: [
                PropertySchema("nr", .int, flags: [.primaryKey], publicName: "number"),
                PropertySchema("weight_kg", .int, publicName: "weight"),
                PropertySchema(
                    "col_2", .object, linkTarget: "Person", flags: [.nullable],
                    publicName: "captain"),
                PropertySchema(
                    "col_3", .object, collection: .list, linkTarget: "Person", publicName: "crew"),
                PropertySchema("col_4", .int, collection: .list, publicName: "marks"),
                PropertySchema(
                    "col_5", .mixed, collection: .dictionary, flags: [.nullable],
                    publicName: "extras"),
                PropertySchema("col_6", .mixed, flags: [.nullable], publicName: "cargo"),
                PropertySchema(
                    "col_7", .string, flags: [.nullable, .fullTextIndexed],
                    publicName: "dead weight"),
            ]),
        ClassSchema(
            "Person", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("years", .int, flags: [.indexed], publicName: "age"),
            ],
            computedProperties: [
                PropertySchema(
                    "backlinks_1", .linkingObjects, collection: .list, linkTarget: "Ship",
                    linkOrigin: "col_3", publicName: "ships")
            ]),
    ])

    init() throws {
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        var people: [DynamicObject] = []
        for (id, age) in [(1, 30), (2, 60)] {
            people.append(
                try realm.create(
                    "Person", primaryKey: .int(Int64(id)), ["years": .int(Int64(age))]))
        }
        for (number, weight) in [(1, 7), (2, 3)] {
            let person = people[number - 1]
            let ship = try realm.create(
                "Ship", primaryKey: .int(Int64(number)),
                [
                    "weight_kg": .int(Int64(weight)), "col_2": person.value,
                    "col_6": person.value, "col_7": .string("old word\(number)"),
                ])
            try ship.collection("col_3").insert(.link(person.link.classKey, person.key), at: 0)
            try ship.collection("col_4").insert(.int(Int64(weight)), at: 0)
        }
        try realm.commit()
    }

    private func parse(
        _ text: String, _ arguments: [QueryArgument], _ className: String
    ) throws -> Query {
        _ = try realm.readTables()
        return try Query.parse(
            text, arguments: arguments, schema: realm.schema,
            classKey: realm.schema.class_(named: className)!.key)
    }

    /// Object keys, which are the primary keys here, found by a text and by its canonical one.
    private func keys(
        _ text: String, _ arguments: [QueryArgument] = [], of className: String = "Ship"
    ) throws -> [ObjectKey] {
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let query = try parse(text, arguments, className)
        let found = try query.findAll(snapshot)
        let canonical = query.description
        // What lies behind mixed values is only known when they are read.
        var names = ["weight", "captain", "crew", "marks", "extras", "cargo", "ships"]
        if !text.hasPrefix("cargo") { names.append("age") }
        for name in names {
            let words = canonical.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            #expect(!words.contains(Substring(name)), "\(text) as \(canonical)")
        }
        #expect(try parse(canonical, [], className).findAll(snapshot) == found, "\(canonical)")
        return found
    }

    @Test func `N4: public names stand wherever stored ones do`() throws {
        for text in [
            "weight > 3", "weight_kg > 3", "captain.age == 30", "col_2.years == 30",
            "captain.years < 40", "crew.age == 30", "ANY crew.age < 40", "weight - 4 == 3",
            "crew.@max.age == 30", "marks == 7", "marks[0] == 7", "marks.@sum == 7",
            "cargo.age == 30", "cargo.years == 30", "crew.@count == 1 AND weight == 7",
            "SUBQUERY(crew, $c, $c.age == 30).@count == 1", "number == 1",
            "SUBQUERY(crew, $c, $c.age + 0 < SELF.weight + 24).@count == 1",
            "captain.ships.weight == 7", "captain.@links.Ship.crew.weight == 7",
            "captain.@links.Ship.col_3.weight_kg == 7",
            "captain.@links.Ship.captain.@count == 1 AND number == 1",
            "dead\\ weight TEXT 'word1'", "weight BETWEEN {number + 3, 9}",
            "TRUEPREDICATE SORT(weight DESC) LIMIT(1)", "number > 0 SORT(captain.age ASC) LIMIT(1)",
            "captain == obj('Person', 1)", "extras.color == null AND weight > 3",
        ] {
            if text.hasPrefix("extras") {
                #expect(try keys(text) == [], "an empty dictionary has no values")
            } else {
                #expect(try keys(text) == [1], "\(text)")
            }
        }
        #expect(try keys("TRUEPREDICATE DISTINCT(captain.age)") == [1, 2])
        #expect(try keys("ships.weight > 3", of: "Person") == [1])
        #expect(try keys("backlinks_1.weight_kg > 3", of: "Person") == [1])
        #expect(try keys("@links.Ship.crew.weight > 3", of: "Person") == [1])
        #expect(try keys("ships.@count == 1 AND age > 50", of: "Person") == [2])
    }

    @Test func `N4, N8, N9: key path arguments take public names`() throws {
        func path(_ text: String) -> QueryArgument { .scalar(.string(text)) }
        #expect(try keys("$K0 > 3", [path("weight")]) == [1])
        #expect(try keys("$K0 == 30", [path("captain.age")]) == [1])
        #expect(try keys("captain.$K0 == 30", [path("age")]) == [1])
        #expect(try keys("$K0.age == 30", [path("captain.ships.crew")]) == [1])
        #expect(try keys("$K0 TEXT 'word2'", [path("dead weight")]) == [2])
        #expect(
            try keys("SUBQUERY($K0, $c, $c.$K1 == 30).@count > 0", [path("crew"), path("age")]) == [
                1
            ])
        #expect(
            try keys("TRUEPREDICATE SORT($K0 ASC) DISTINCT($K1)", [path("weight"), path("number")])
                == [2, 1])
        let format = try Query.parse(
            format: "%K > %d AND captain.%K == 30",
            arguments: [path("weight"), .scalar(.int(3)), path("age")],
            schema: realm.schema, classKey: realm.schema.class_(named: "Ship")!.key)
        #expect(try format.findAll(SnapshotReader(tables: realm.readTables())) == [1])
    }

    @Test func `N2, N3, N6: messages name what the user can write`() throws {
        func message(_ text: String, _ arguments: [QueryArgument] = []) -> String {
            do {
                _ = try parse(text, arguments, "Ship")
                return "accepted"
            } catch let error as RealmError {
                return error.message
            } catch {
                return "\(error)"
            }
        }
        #expect(message("wieght > 3").contains("did you mean 'weight'"))
        #expect(message("weigth_kg > 3").contains("did you mean 'weight_kg'"))
        #expect(message("captain.agee > 3").contains("'Person' has no property 'agee'"))
        #expect(message("captain.agee > 3").contains("did you mean 'age'"))
        #expect(message("captain.shisp.@count > 3").contains("did you mean 'ships'"))
        #expect(
            message("$K0 > 3", [.scalar(.string("captian.age"))]).contains("did you mean 'captain'")
        )
        #expect(message("SUBQUERY(crew, $c, $c.aeg > 1).@count > 0").contains("did you mean 'age'"))
        #expect(message("TRUEPREDICATE SORT(captain.aeg ASC)").contains("did you mean 'age'"))
        #expect(
            message("captain.@links.Ship.crow.nr > 3").contains(
                "no property 'crow' of class 'Ship'"))
        #expect(message("weight.x > 3").contains("Ship.weight"))
    }
}
