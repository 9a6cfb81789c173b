// Rules L, Y and N1 of the query language: words, literals, precedence.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LexicalRuleTests {
    private let world: RuleWorld

    init() throws { world = try RuleWorld() }

    @Test func `L1 to L8: blanks, words and names`() throws {
        world.check([
            ("L1", "tons  ==\t5", [1, 3]), ("L1", "\r\n tons==5 \n", [1, 3]),
            ("L2", "tons==5AND id>1", [3]), ("L2", "tons>1and tons<10OR id==2", [1, 2, 3]),
            ("L4", "berth . depth == 9", [1]), ("L4", "crew [ 0 ] . age == 20", [1]),
            ("L5", "tons > 1 And id > 0", [1, 3, 4]), ("L5", "tons between {2, 8}", [1, 3]),
            ("L5", "title BeginsWith 'S'", [1]), ("L5", "tons == 5 sort(id DESCending)", [3, 1]),
            ("L5", "truePredicate Limit(1)", [1]), ("L5", "id in {1}", [1]),
            ("L5", "not tons == 5", [2, 4]), ("L5", "all marks > 1", [2, 3, 4]),
            ("L5", "marks[last] == 3", [1]), ("L5", "berth == NIL OR active == FALSE", [2, 3]),
            ("L6", "tons =< 5 && !active == true", [2, 3]),
            ("L6", "tons => 1000 || id = 1", [1, 4]),
            ("L6", "id <> 1 AND id != 2", [3, 4]),
        ])
        world.refuse([
            ("L1", "tons == 5;", .invalidQueryString, "';'"),
            ("L1", "tons == 5 ^ 3", .invalidQueryString, "'^'"),
            ("L2", "any == 1", .invalidQueryString, "=="),
            ("L2", "anyone == 1", .invalidQuery, "'anyone'"),
            ("L3", "dead\\ weight > 3", .invalidQuery, "'dead weight'"),
            ("L3", "gross-tons > 3", .invalidQuery, "'gross-tons'"),
            ("L3", "løa > 3", .invalidQuery, "'løa'"), ("L3", "$a_1 > 3", .invalidQuery, "'$a_1'"),
            ("L4", "Tons == 5", .invalidQuery, "'Tons'"),
            ("L5", "marks.@COUNT > 1", .invalidQueryString, "@"),
        ])
        // Words of the language that a property may have as its name.
        let names = [
            "beginswith", "endswith", "contains", "like", "between", "sort", "distinct", "limit",
            "asc", "ascending", "desc", "descending", "in", "text", "bin", "binary", "first",
            "last",
            "size", "oid", "uuid", "length",
        ]
        for name in names {
            world.refuse([
                ("L7", "\(name) > 3", .invalidQuery, "no property '\(name)'"),
                ("L7", "berth.\(name) > 3", .invalidQuery, "no property '\(name)'"),
                ("L7", "id > 1 SORT(\(name) ASC)", .invalidQuery, "no property '\(name)'"),
            ])
        }
        for name in [
            "any", "some", "none", "all", "and", "not", "true", "null", "nan", "obj", "O12",
        ] {
            #expect(
                errorCode { _ = try world.query("\(name) > 3", [], "Vessel") } != nil, "L8: \(name)"
            )
            let reached = errorCode {
                _ = try world.query("$K0 > 3", [.scalar(.string(name))], "Vessel")
            }
            #expect(reached == .invalidQuery, "L8: \(name) as a key path")
        }
    }

    @Test func `L9 to L13: numbers`() throws {
        world.check([
            ("L9", "tons == 0x3E8", [4]), ("L9", "tons == -7", [2]), ("L9", "tons == +5", [1, 3]),
            ("L9", "price > 99999999999999999999", []),
            ("L9", "draft < 99999999999999999999", [1, 4]),
            ("L9", "tons <= 99999999999999999999", [1, 2, 3, 4]),
            ("L9", "tons >= -99999999999999999999", [1, 2, 3, 4]),
            ("L10", "tons == 0005", [1, 3]), ("L10", "tons == 01000", [4]),
            ("L10", "marks[02] == 3", [1]), ("L10", "TRUEPREDICATE LIMIT(01)", [1]),
            ("L10", "built > T0099:00", [1]), ("L11", "tons -5 == 0", [1, 3]),
            ("L11", "tons - -5 == 10", [1, 3]), ("L11", "tons+-5 == 0", [1, 3]),
            ("L12", "draft > 1.", [1]), ("L12", "draft == 1.5e0", [1]), ("L12", "draft < .5", [4]),
            ("L12", "draft == 15E-1", [1]), ("L12", "beam == 0.1f", [1]),
            ("L12", "beam + 0.0 == 0.1", []), ("L12", "draft == +1.5", [1]),
            ("L13", "draft < +Inf", [1, 4]), ("L13", "draft > -infinity", [1, 4]),
            ("L13", "draft == nan", []), ("L13", "draft != NaN", [1, 2, 3, 4]),
        ])
        world.refuse([
            ("L9", "tons == 0x", .invalidQueryString, "x"),
            ("L12", "draft == 1e", .invalidQueryString, "e"),
        ])
    }

    @Test func `L14 to L18: texts and bytes`() throws {
        try world.realm.beginWrite()
        try world.add(5, [("title", .string("it's \"a\"\\\n"))])
        try world.add(6, [("title", .string("\u{1F600}"))])
        try world.realm.commit()
        world.check([
            ("L14", "title == \"Starling\"", [1]),
            ("L14", "title == 'it\\'s \\\"a\\\"\\\\\\n'", [5]),
            ("L14", "title == 'it\\'s \"a\"\\\\\n'", [5]), ("L14", "title CONTAINS '\\\\'", [5]),
            ("L15", "title == 'St\\u0061rling'", [1]), ("L15", "title == '\\uD83D\\uDE00'", [6]),
            ("L16", "title == B64\"U3Rhcmxpbmc=\"", [1]),
            ("L16", "title == B64\"U3Rhcmxpbmc\"", [1]),
            ("L17", "seal == bin('ab')", [1]), ("L17", "seal == BINARY(B64\"YWI=\")", [1]),
            ("L18", "cargo == oid(0123456789ABCDEF01234567)", []),
            ("L18", "cargo != uuid(01234567-89ab-CDEF-0123-456789abcdef)", [1, 2, 3, 4, 5, 6]),
        ])
        world.refuse([
            ("L14", "title == 'it''s'", .invalidQueryString, "'s'"),
            ("L14", "title == 'a\\qb'", .invalidQueryString, "\\"),
            ("L14", "title == 'open", .invalidQueryString, "open"),
            ("L15", "title == '\\ud800'", .invalidQueryString, "byte 10"),
            ("L15", "title == '\\udc00x'", .invalidQueryString, "byte 10"),
            ("L16", "title == B64\"YW*=\"", .invalidQueryString, "base64"),
            ("L18", "cargo == oid(0123)", .invalidQueryString, "oid"),
            ("L18", "cargo == uuid(01234567)", .invalidQueryString, "uuid"),
        ])
    }

    @Test func `L19 to L24: dates, objects, arguments, nothing`() throws {
        world.check([
            ("L19", "built > T-5:-2", [1, 2]), ("L19", "built == T100:5", [1]),
            ("L19", "built == T-5:-1", [2]), ("L20", "built > 1970-1-1T0:1:40", [1]),
            ("L20", "built == 1970-01-01@0:1:40:5", [1]),
            ("L20", "built == 1969-12-31T23:59:55:1", [2]), ("L22", "captain == O99", []),
            ("L22", "captain == obj('Sailor', 'Mia')", [1]),
            ("L24", "TRUEPREDICATE", [1, 2, 3, 4]),
        ])
        // A link argument is written as class and key.
        #expect(try world.ids("captain == $00", [world.link("Sailor", .string("Mia"))]) == [1])
        #expect(try world.ids("tons == $01", [.scalar(.null), .scalar(.int(5))]) == [1, 3])
        #expect(try world.ids("$K00 == 5", [.scalar(.string("tons"))]) == [1, 3])
        world.refuse([
            ("L19", "built > T5:-1", .invalidQueryString, "sign"),
            ("L20", "built > 1899-1-1T0:0:0", .invalidQuery, "1899"),
            ("L20", "built > 2021-3-4@", .invalidQueryString, "2021"),
            ("L21", "built > 2021-13-01T0:0:0", .invalidQueryString, "13"),
            ("L21", "built > 2021-2-30T0:0:0", .invalidQueryString, "30"),
            ("L21", "built > 2021-1-1T24:0:0", .invalidQueryString, "24"),
            ("L21", "built > T1:1000000000", .invalidQueryString, "1000000000"),
            ("L23", "$x == 1", .invalidQuery, "'$x'"), ("L24", "", .invalidQueryString, "empty"),
            ("L24", "  ", .invalidQueryString, "empty"),
            ("L24", "tons == 5 // five", .invalidQueryString, "byte 11"),
        ])
    }

    @Test func `Y: what binds more tightly`() throws {
        world.check([
            ("Y1", "!active == true && tons > 1", [3, 4]),
            ("Y1", "tons == 5 OR id == 2 AND tons == 5", [1, 3]),
            ("Y1", "(tons == 5 OR id == 2) AND tons == 5", [1, 3]),
            ("Y1", "id == 2 OR NOT tons == 5 AND id == 4", [2, 4]),
            ("Y1", "tons + 2 * 3 == 11", [1, 3]), ("Y1", "10 - tons - 5 == 0", [1, 3]),
            ("Y1", "20 / tons / 2 == 2", [1, 3]), ("Y2", "(tons + 1) * 2 == 12", [1, 3]),
            ("Y2", "(tons == 5)", [1, 3]), ("Y2", "((tons)) == (5)", [1, 3]),
            ("Y2", "((tons + 1) * 2 == 12) AND ((id) == 1)", [1]),
            ("Y5", "TRUEPREDICATE SORT(tons DESC)", [4, 1, 3, 2]),
            ("N1", "captain.boss.name == 'Mia'", [2, 4]), ("N1", "crew.boss.name == 'Mia'", [1]),
        ])
        world.refuse([
            ("Y3", "1 < tons < 4", .invalidQueryString, "do not chain"),
            ("Y3", "TRUEPREDICATE == true", .invalidQueryString, "=="),
            ("Y3", "(tons == 5) + 1 == 2", .invalidQueryString, "+"),
            ("Y5", "(tons > 1 SORT(tons ASC))", .invalidQueryString, "SORT"),
            ("Y5", "SORT(tons ASC)", .invalidQueryString, "expected"),
            ("Y5", "LIMIT(3) AND id == 1", .invalidQueryString, "expected"),
            (
                "Y5", "SUBQUERY(crew, $s, $s.age > 1 LIMIT(1)).@count > 0", .invalidQueryString,
                "LIMIT"
            ),
            ("Y7", "id IN {tons}", .invalidQueryString, "tons"),
            ("Y7", "id IN {{1}}", .invalidQueryString, "{"),
        ])
    }
}
