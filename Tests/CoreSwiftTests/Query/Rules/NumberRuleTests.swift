// Numbers that are none, constants that come to null, and digits that a canonical text keeps.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct NumberRuleTests {
    private func decimal(_ text: String) -> Value { .decimal128(Decimal128(text)!) }

    @Test func `T11: NaN of decimals is below every number, that of doubles in no order`() throws {
        let world = try RuleWorld()
        try world.realm.beginWrite()
        try world.add(
            5,
            [
                ("tons", .int(3)), ("price", .value(decimal("NaN"))),
                ("draft", .value(.double(2))), ("cargo", .value(decimal("NaN"))),
            ])
        try world.add(
            6,
            [
                ("tons", .int(3)), ("price", .value(decimal("2"))),
                ("draft", .value(.double(.nan))), ("cargo", .value(.double(.nan))),
            ])
        try world.realm.commit()
        world.check([
            ("T11", "price < 0", [5]), ("T11", "price < tons", [1, 4, 5, 6]),
            ("T11", "tons > price", [1, 4, 5, 6]), ("T11", "price <= tons + 0", [1, 4, 5, 6]),
            ("T11", "price > tons", []), ("T11", "price == price", [1, 2, 3, 4, 5, 6]),
            ("T11", "price != price", []), ("T11", "price + 1 < tons", [1, 4, 5]),
            ("T11", "price < draft", [1, 5]), ("T11", "draft > price", [1, 5]),
            ("T11", "price != draft", [1, 2, 4, 5, 6]), ("T11", "draft >= price", [1, 3, 5]),
            ("T11", "price == nan", [5]), ("T11", "price IN {nan, 3}", [4, 5]),
            ("T11", "price BETWEEN {nan, 2}", [1, 5, 6]), ("T11", "draft < tons", [1, 4, 5]),
            ("T11", "draft != tons", [1, 2, 3, 4, 5, 6]), ("T11", "cargo < 9", [2]),
            ("T11", "cargo < tons", []),
        ])
        let none = QueryArgument.scalar(decimal("NaN"))
        for (text, found) in [
            ("price == $0", [5]), ("price > $0", [1, 4, 6]), ("price <= $0", [5]),
            ("tons > $0", [1, 2, 3, 4, 5, 6]), ("tons >= $0", [1, 2, 3, 4, 5, 6]),
            ("tons < $0", []), ("tons == $0", []), ("tons != $0", [1, 2, 3, 4, 5, 6]),
            ("draft > $0", [1, 4, 5]), ("draft < $0", []), ("draft == $0", []),
            ("cargo == $0", [5]), ("cargo != $0", [1, 2, 3, 4, 6]), ("cargo < $0", []),
            ("tons + 1 > $0", [1, 2, 3, 4, 5, 6]),
        ] as [(String, [Int64])] {
            #expect(try world.ids(text, [none]) == found, "\(text)")
        }
    }

    @Test func `R5: constants that come to null are null wherever they go on`() throws {
        let world = try RuleWorld()
        world.check([
            ("R5", "1 / 0 + tons == null", [1, 2, 3, 4]),
            ("R5", "-1 / 0 + 2.0 != tons", [1, 2, 3, 4]),
            ("R5", "-(5 / 0) > draft", []), ("R5", "draft == 1 / 0", [3]),
            ("R5", "abs(1 / 0) == draft", [3]), ("R5", "draft == sqrt(-1) * 2", [3]),
            ("R5", "ANY {1, 2} + 1 / 0 == draft", [3]),
            ("R5", "price - 1 / 0 == null", [1, 2, 3, 4]),
            ("R7", "tons == 10 / (1 / 0)", []), ("R5", "title == 1 / 0", [3]),
        ])
        world.refuse([
            ("R4", "draft + null == 1", .invalidQueryArg, "null"),
            ("R4", "1 / 0 + null == draft", .invalidQueryArg, "null"),
            ("C10", "tons BETWEEN {1, 1 / 0}", .invalidQuery, "null"),
            ("T9", "inf BETWEEN {tons, draft}", .invalidQuery, "inf"),
            ("T9", "inf BETWEEN {draft, tons}", .invalidQuery, "inf"),
            ("T9", "-inf BETWEEN {draft, marks.@sum}", .invalidQuery, "inf"),
            ("Y4", "1 / 0 == null", .invalidQuery, "two constants"),
        ])
    }

    @Test func `V1: numbers are written with the digits that the other side takes`() throws {
        let world = try RuleWorld()
        try world.realm.beginWrite()
        // A double gives a decimal 15 digits, a float 7 (T4).
        for (id, price) in [(5, "9007199254740990"), (6, "9007199254740994"), (7, "16777220")] {
            try world.add(
                Int64(id),
                [("price", .value(decimal(price))), ("draft", .value(.double(0.1 + 0.2)))])
        }
        try world.realm.commit()
        let long = QueryArgument.scalar(.double(9_007_199_254_740_994))
        let float = QueryArgument.scalar(.float(16_777_216))
        #expect(try world.ids("price == $0", [long]) == [5])
        #expect(try world.ids("price - $0 == 0", [long]) == [5])
        #expect(try world.ids("price BETWEEN {$0, $0}", [long]) == [5])
        #expect(try world.ids("price BETWEEN {$0, price + 0}", [long]) == [5, 6])
        #expect(try world.ids("price == $0", [float]) == [7])
        let list = QueryArgument.list([.double(9_007_199_254_740_994), .float(16_777_216)])
        #expect(try world.ids("price IN $0", [list]) == [5, 7])
        #expect(try world.ids("ANY $0 + 0 == price", [list]) == [5, 7])
        // Beside doubles all digits count, and a decimal stays one.
        let third = QueryArgument.scalar(.double(0.1 + 0.2))
        #expect(try world.ids("draft == $0", [third]) == [5, 6, 7])
        #expect(try world.ids("draft == 0.3") == [])
        let tenths = QueryArgument.scalar(decimal("0.3"))
        #expect(try world.ids("draft == $0", [tenths]) == [5, 6, 7])
        #expect(try world.ids("draft + 0.0 == $0", [tenths]) == [5, 6, 7])
        #expect(try world.ids("cargo == $0", [.scalar(decimal("7"))]) == [2])
        #expect(try world.ids("price > 1E+400 OR price < 1e-400") == [])
        #expect(try world.ids("tons < $0", [.scalar(decimal("Infinity"))]).count == 7)
    }

    @Test func `B10: bounds of BETWEEN may be expressions`() throws {
        let world = try RuleWorld()
        world.check([
            ("B10", "tons BETWEEN {id, id + 4}", [1, 3]),
            ("B10", "tons BETWEEN {1, id * 5}", [1, 3]),
            ("B10", "5 BETWEEN {id, tons}", [1, 3, 4]), ("B10", "draft BETWEEN {0, tons}", [1, 4]),
            ("B10", "tons + 1 BETWEEN {tons, tons + 2}", [1, 2, 3, 4]),
            ("B10", "berth.depth BETWEEN {tons, 9}", [1]),
            ("B10", "tons BETWEEN {berth.depth, 2000}", [4]),
            ("B10", "ANY crew.age BETWEEN {tons * 8, 50}", [1]),
            ("B10", "ALL crew.age BETWEEN {tons, 70}", [1, 2, 3]),
            ("B10", "NONE marks BETWEEN {id, id + 1}", [2, 3]),
            ("B10", "crew.age BETWEEN {tons + 16, tons + 38}", []),
            ("B10", "marks BETWEEN {marks.@min + 1, marks.@max - 1}", [1]),
            ("B10", "title BETWEEN {'A', berth.name}", []),
            ("B10", "title BETWEEN {berth.name, 'T'}", [1]),
            ("B10", "price BETWEEN {1, draft}", [1]),
            ("B10", "tons NOT BETWEEN {id, id + 4}", [2, 4]),
            ("B10", "tons BETWEEN {1 + 1, 2 * 4}", [1, 3]),
            ("B10", "cargo BETWEEN {tons, 10}", [2]),
            ("B10", "tons BETWEEN {abs(tons), 10}", [1, 3]),
            ("B10", "tons BETWEEN { marks[9] , 10}", []),
            (
                "B10", "SUBQUERY(crew, $s, $s.age BETWEEN {SELF.tons, tons + 40}).@count > 0",
                [1]
            ),
            ("B13", "(tons + 1) * 2 BETWEEN {(id), 12}", [1, 3]),
        ])
        world.refuse([
            ("B10", "tons BETWEEN {id}", .invalidQuery, "exactly 2"),
            ("B10", "tons BETWEEN {id, 2, 3}", .invalidQuery, "exactly 2"),
            ("B10", "tons BETWEEN {id, nope}", .invalidQuery, "nope"),
            ("B10", "tons BETWEEN {id, title}", .invalidQuery, "string"),
            ("B10", "tons BETWEEN {id, 'x'}", .invalidQuery, "string"),
            ("B10", "built BETWEEN {built, 5}", .invalidQuery, "timestamp"),
            ("C10", "tons BETWEEN {id, null}", .invalidQuery, "null"),
            ("B10", "tons BETWEEN {marks, 3}", .invalidQuery, "collection"),
            ("B10", "captain BETWEEN {captain, captain.boss}", .invalidQuery, "BETWEEN"),
            ("Y4", "3 BETWEEN {1 + 1, 5}", .invalidQuery, "constants"),
            ("B10", "tons BETWEEN {(id == 3), 5}", .invalidQueryString, "value"),
            ("B10", "tons BETWEEN {TRUEPREDICATE, 5}", .invalidQueryString, "value"),
            ("B10", "tons BETWEEN {id, 5", .invalidQueryString, "'}'"),
            ("B10", "tons BETWEEN {id, 5,}", .invalidQueryString, "value"),
            ("Y7", "tons IN {id}", .invalidQueryString, "id"),
        ])
        let nested =
            String(repeating: "id BETWEEN {TERNARY(", count: 500) + "id == 1"
            + String(repeating: ", 1, 2), 3}", count: 500)
        world.refuse([("Y6", nested, .invalidQueryString, "nested")])
    }
}
