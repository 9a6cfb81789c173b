// Rules D, N8, N9, B11 and B13 of the query language: suffixes, key path arguments, queries of values.
// Also chains and depths that no recursion could bear.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct OrderingRuleTests {
    @Test func `D: sort, distinct and limit`() throws {
        let world = try RuleWorld()
        world.check([
            ("D1", "TRUEPREDICATE SORT(tons DESC) SORT(title ASC)", [3, 4, 1, 2]),
            ("D3", "TRUEPREDICATE SORT(draft ASC)", [3, 2, 4, 1]),
            ("D4", "TRUEPREDICATE SORT(berth.depth ASC)", [2, 4, 1, 3]),
            ("D4", "TRUEPREDICATE SORT(berth.depth DESC)", [3, 1, 4, 2]),
            ("D5", "TRUEPREDICATE SORT(extras['kg'] DESC)", [1, 2, 3, 4]),
            ("D5", "TRUEPREDICATE SORT(extras.color ASC, id DESC)", [3, 2, 4, 1]),
            ("D5", "TRUEPREDICATE SORT(roster.cook.age ASC)", [1, 2, 3, 4]),
            ("D7", "TRUEPREDICATE SORT(tons DESC, id ASC) DISTINCT(tons)", [4, 1, 2]),
            ("D7", "TRUEPREDICATE DISTINCT(extras.color)", [1, 2, 4]),
            ("D8", "TRUEPREDICATE DISTINCT(berth.depth)", [1, 2, 4]),
            ("D10", "TRUEPREDICATE SORT(tons DESC) LIMIT(3) DISTINCT(tons) LIMIT(2)", [4, 1]),
            ("B13", "TRUEPREDICATE SORT(tons) LIMIT(1)", [2]),
            ("I9", "TRUEPREDICATE SORT(cargo.name DESC, id ASC) LIMIT(1)", [1]),
        ])
        #expect(try world.ids("TRUEPREDICATE SORT(id) LIMIT($0)", [.scalar(.int(2))]) == [1, 2])
        world.refuse([
            ("D6", "TRUEPREDICATE SORT(marks ASC)", .invalidSortDescriptor, "marks"),
            ("D6", "TRUEPREDICATE SORT(crew.age ASC)", .invalidSortDescriptor, "crew.age"),
            ("D6", "TRUEPREDICATE DISTINCT(nope)", .invalidQuery, "distinct"),
        ])
    }

    @Test func `OFFSET leaves out the first so many, in the order of the clauses`() throws {
        let world = try RuleWorld()
        world.check([
            ("D10", "TRUEPREDICATE OFFSET(1)", [2, 3, 4]),
            ("D10", "id > 1 OFFSET(1) LIMIT(1)", [3]),
            ("D10", "TRUEPREDICATE SORT(id DESC) OFFSET(1) LIMIT(2)", [3, 2]),
            ("D10", "TRUEPREDICATE SORT(id DESC) LIMIT(2) OFFSET(1)", [3]),
            ("D10", "TRUEPREDICATE offset(0)", [1, 2, 3, 4]),
            ("D10", "TRUEPREDICATE OFFSET(9223372036854775807)", []),
            ("D10", "TRUEPREDICATE LIMIT(3) OFFSET(3)", []),
            ("D10", "TRUEPREDICATE SORT(tons DESC) DISTINCT(tons) OFFSET(1)", [1, 2]),
        ])
        #expect(try world.ids("TRUEPREDICATE OFFSET($0)", [.scalar(.int(3))]) == [4])
        world.refuse([
            ("D10", "TRUEPREDICATE OFFSET(-1)", .invalidQueryString, "not negative"),
            ("D10", "TRUEPREDICATE OFFSET()", .invalidQueryString, "not negative"),
        ])
        #expect(
            errorCode { _ = try world.ids("TRUEPREDICATE OFFSET($0)", [.scalar(.int(-1))]) }
                == .invalidQueryArg)
    }

    @Test func `N8, N9: key path arguments`() throws {
        let world = try RuleWorld()
        func path(_ text: String) -> QueryArgument { .scalar(.string(text)) }
        #expect(try world.ids("$K0 > 5", [path("berth.depth")]) == [1])
        #expect(try world.ids("berth.$K0 > 5", [path("depth")]) == [1])
        #expect(try world.ids("ANY $K0 > 60", [path("crew.age")]) == [3, 4])
        #expect(try world.ids("$K0 == 3", [path("marks.@count")]) == [1])
        #expect(try world.ids("TRUEPREDICATE SORT($K0 ASC)", [path("tons")]) == [2, 1, 3, 4])
        #expect(try world.ids("extras[$0] == $1", [path("kg"), .scalar(.int(7))]) == [1])
        #expect(try world.ids("marks[$0] == 2", [.scalar(.int(1))]) == [1])
        #expect(
            errorCode { _ = try world.query("$K0 > 1", [.scalar(.int(1))], "Vessel") }
                == .invalidQueryArg)
    }

    @Test func `P: list arguments stand for list literals`() throws {
        let world = try RuleWorld()
        func list(_ values: Value...) -> QueryArgument { .list(values) }
        #expect(try world.ids("id IN $0", [list(.int(1), .string("2"), .null)]) == [1, 2])
        #expect(try world.ids("ANY marks IN $0", [list(.int(3), .int(5))]) == [1, 4])
        #expect(try world.ids("marks == $0", [list(.int(1), .int(2), .int(3))]) == [1])
        #expect(try world.ids("ALL marks IN $0", [list(.int(5), .int(2))]) == [2, 3, 4])
        #expect(try world.ids("tons == ALL $0", [list()]) == [1, 2, 3, 4])
        #expect(try world.ids("title BEGINSWITH $0", [list(.string("S"), .string("É"))]) == [1, 2])
        #expect(try world.ids("$0 IN crew", [world.link("Sailor", .string("Bob"))]) == [3, 4])
        #expect(try world.ids("crew[0] == $0", [world.link("Sailor", .string("Bob"))]) == [3])
        #expect(
            errorCode {
                _ = try world.query(
                    "captain == $0", [world.link("Harbor", .string("Oslo"))], "Vessel")
            } == .invalidQueryArg)
        #expect(
            errorCode { _ = try world.query("tons == $3", [.scalar(.null)], "Vessel") }
                == .invalidQueryArg)
    }

    @Test func `B11: values of collections are queried as SELF`() throws {
        let world = try RuleWorld()
        let vessel = try world.realm.find("Vessel", primaryKey: .int(1))!
        func values(_ name: String, _ text: String) throws -> [Value] {
            let item = world.realm.schema.class_(named: "Vessel")!.property(named: name)!
            let collection = try vessel.handle.collection(item.key, item.collection)
            let results = try collection.results() as! ValueResults
            let found = try results.filter(text)
            return try (0..<found.count()).map { try Value(found.get($0)) }
        }
        #expect(
            try values("marks", "SELF > 1 AND SELF != 7 SORT(SELF DESC)") == [.int(3), .int(2)])
        #expect(try values("marks", "SELF * 2 == 4") == [.int(2)])
        #expect(try values("notes", "SELF == null") == [.null])
        #expect(try values("notes", "SELF.@size > 1") == [.string("bcd")])
        #expect(
            try values("notes", "TRUEPREDICATE SORT(SELF DESC) LIMIT(2)") == [
                .string("bcd"), .string("a"),
            ])
        #expect(try values("bag", "SELF.@type == 'numeric'") == [.int(1), .double(2.5)])
        #expect(try values("extras", "SELF IN {7, 'x'}") == [.int(7)])
        #expect(try values("codes", "SELF BETWEEN {2, 9}") == [.int(3)])
        #expect(errorCode { _ = try values("marks", "nope > 1") } == .invalidQuery)
        #expect(errorCode { _ = try values("marks", "SELF.x > 1") } == .invalidQuery)
        // Live, also in a write transaction.
        let key = world.realm.schema.class_(named: "Vessel")!.property(named: "marks")!.key
        let marks = try vessel.handle.collection(key, .list)
        let large = try (marks.results() as! ValueResults).filter("SELF >= 3")
        #expect(try large.count() == 1)
        try world.realm.write {
            try marks.insert(.int(8), at: 0)
            #expect(try large.count() == 2)
            #expect(try Value(large.get(0)) == .int(8))
            #expect(try large.find(.int(3)) == 1)
            #expect(try large.aggregate(.sum, .invalid).value.intValue == 11)
        }
        #expect(try large.limited(1).count() == 1)
    }
}
