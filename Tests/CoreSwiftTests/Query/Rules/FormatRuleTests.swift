// Section 17 of the query language: format strings.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FormatRuleTests {
    private func string(_ text: String) -> QueryArgument { .scalar(.string(text)) }
    private func int(_ value: Int64) -> QueryArgument { .scalar(.int(value)) }

    @Test func `X1: placeholders take arguments from left to right`() throws {
        let world = try RuleWorld()
        #expect(try world.formatIds("tons > %d AND id < %lu", [int(4), int(4)]) == [1, 3])
        #expect(try world.formatIds("%K > %d", [string("berth.depth"), int(4)]) == [1])
        #expect(try world.formatIds("title == %@", [string("Éclair")]) == [2])
        #expect(
            try world.formatIds("title == %s OR draft == %f", [string("x"), .scalar(.double(1.5))])
                == [1])
        #expect(try world.formatIds("%K == 2", [string("marks.@count")]) == [4])
        #expect(try world.formatIds("%K == %d", [string("marks.@max"), int(3)]) == [1])
        #expect(try world.formatIds("title == '%@' OR id == %i", [int(2)]) == [2])
        #expect(try world.formatIds("berth.%K == %@", [string("name"), string("Oslo")]) == [1])
        #expect(try world.formatIds("extras[%K].x == %d", [string("deep"), int(1)]) == [4])
        #expect(try world.formatIds("cargo[%K] == %d", [string("#any"), int(3)]) == [4])
        #expect(
            try world.formatIds(
                "%K.@max.%K == %d", [string("crew"), string("boss.age"), int(45)]) == [3, 4])
        #expect(
            try world.ids("crew.@max.$K1 == 62", [string("name"), string("age")]) == [3, 4])
        #expect(try world.formatIds("id IN %@", [.list([.int(1), .int(4)])]) == [1, 4])
        #expect(try world.formatIds("tons BETWEEN %@", [.list([.int(2), .int(8)])]) == [1, 3])
        #expect(try world.formatIds("tons BETWEEN {%@, %@}", [int(2), int(8)]) == [1, 3])
        #expect(try world.formatIds("captain == %@", [world.link("Sailor", .string("Jo"))]) == [2])
        #expect(try world.formatIds("berth == %@", [.scalar(.null)]) == [3])
        #expect(try world.formatIds("title CONTAINS '%d %% %K' OR id == %d", [int(2)]) == [2])
        #expect(try world.formatIds("marks[%d] == %d", [int(1), int(2)]) == [1])
        #expect(try world.formatIds("extras[%@] == %@", [string("kg"), int(7)]) == [1])
        #expect(try world.formatIds("captain == obj('Sailor', %@)", [string("Jo")]) == [2])
        #expect(
            try world.formatIds(
                "TRUEPREDICATE SORT(%K DESC) LIMIT(%d)", [string("tons"), int(1)]) == [4])
        #expect(
            try world.formatIds(
                "SUBQUERY(%K, $s, $s.%K > %d).@count == %d",
                [string("crew"), string("age"), int(44), int(2)]) == [])
    }

    @Test func `X1: every letter that may follow the percent sign`() throws {
        let world = try RuleWorld()
        let integers = [
            "d", "i", "u", "ld", "lu", "lld", "llu", "hd", "hu", "zd", "zu", "x", "X", "o", "c",
            "@",
        ]
        for letters in integers {
            #expect(try world.formatIds("tons == %\(letters)", [int(5)]) == [1, 3], "\(letters)")
        }
        for letters in ["f", "lf", "e", "g", "a", "Lf", "@"] {
            #expect(
                try world.formatIds("draft == %\(letters)", [.scalar(.double(1.5))]) == [1],
                "\(letters)")
        }
        #expect(try world.formatIds("title == %s", [string("Starling")]) == [1])
        #expect(try world.formatIds("seal == %@", [.scalar(.binary([0x61, 0x62]))]) == [1])
        #expect(try world.formatIds("active == %@", [.scalar(.bool(true))]) == [1])
    }

    @Test func `X5, X8, X13: what programs with NSPredicate rely on`() throws {
        let world = try RuleWorld()
        let date = QueryArgument.scalar(.timestamp(Timestamp(seconds: 100, nanoseconds: 5)))
        let decimal = QueryArgument.scalar(.decimal128(Decimal128("1.1")!))
        for (format, arguments, found) in [
            ("built == %@", [date], [1]),
            (
                "built BETWEEN %@",
                [
                    .list([
                        .timestamp(Timestamp(seconds: 0, nanoseconds: 0)),
                        .timestamp(Timestamp(seconds: 200, nanoseconds: 0)),
                    ])
                ], [1]
            ),
            ("price <= %@", [decimal], [1]), ("beam < %f", [.scalar(.double(1))], [1]),
            ("title ==[cd] 'eclair'", [], [2]), ("title BEGINSWITH[ D c ] 'ECL'", [], [2]),
            ("title ENDSWITH[n] 'ling'", [], [1]), ("title LIKE 'S*g'", [], [1]),
            ("seal BEGINSWITH %@", [.scalar(.binary([0x61]))], [1]),
            ("title == nil", [], [3]), ("title != %@", [.scalar(.null)], [1, 2, 4]),
            ("ANY crew.age > 60", [], [3, 4]), ("crew.@count == 3", [], [1]),
            ("crew.@min.age < 21", [], [1]), ("marks.@avg == 2", [], [1, 3]),
            ("marks.@sum == 10", [], [4]),
            ("SUBQUERY(crew, $s, $s.age > 30).@count > 0", [], [1, 3, 4]),
            ("NOT (tons > 1 AND active == YES) || id IN {1}", [], [1, 2, 3, 4]),
            ("captain IN %@", [.list([.null])], [3]),
        ] as [(String, [QueryArgument], [Int64])] {
            #expect(try world.formatIds(format, arguments) == found, "\(format)")
        }
    }

    @Test func `X1, X15: too few or too many arguments, and what is left out`() throws {
        let world = try RuleWorld()
        func refuse(
            _ format: String, _ arguments: [QueryArgument], _ code: ErrorCode, _ excerpt: String
        ) {
            do {
                _ = try world.formatIds(format, arguments)
                Issue.record("\(format) was accepted")
            } catch let error as RealmError {
                #expect(error.code == code, "\(format): \(error.message)")
                #expect(error.message.contains(excerpt), "\(format): \(error.message)")
            } catch {
                Issue.record(error)
            }
        }
        refuse("tons > %d", [], .invalidQueryArg, "takes 1 arguments, 0 were given")
        refuse("tons > %d", [int(1), int(2)], .invalidQueryArg, "takes 1 arguments, 2")
        refuse("tons > 1", [int(1)], .invalidQueryArg, "takes 0 arguments, 1")
        refuse("%K > %d", [string("marks.@count")], .invalidQueryArg, "takes 2 arguments, 1")
        refuse("tons %% 2 == 1", [], .invalidQueryString, "%")
        refuse("tons > %", [int(1)], .invalidQueryString, "%")
        refuse("FETCH(tons) == 1", [], .invalidQuery, "FETCH")
        refuse("crew.@unionOfObjects.age == 1", [], .invalidQuery, "@unionOf")
        refuse("tons > %d AND id == $0", [int(1)], .invalidQueryArg, "$n and %")
        refuse("%K > 1", [int(1)], .invalidQueryArg, "key path")
        refuse("cargo[%K] == 3", [int(0)], .invalidQuery, "must be an int or a string")
        refuse("tons > %y", [int(1)], .invalidQueryString, "%")
        refuse("tons > $LIMIT", [], .invalidQueryArg, "'$LIMIT'")
        refuse("title ==[l] 'a'", [], .invalidQuery, "option")
        refuse("FUNCTION(title, 'foo') == 1", [], .invalidQuery, "FUNCTION")
        refuse("crew.@distinctUnionOfObjects.age == 1", [], .invalidQuery, "@distinctUnionOf")
        refuse("ANYKEY extras == 'k'", [], .invalidQuery, "ANYKEY")
        refuse("title UTI-EQUALS 'k'", [], .invalidQuery, "UTI")
        refuse("title := 'k'", [], .invalidQuery, ":=")
        refuse("active == 2", [], .invalidQuery, "bool")
        refuse("title AND tons > 1", [], .invalidQueryString, "stands alone")
    }

    @Test func `X2, X3, X4: keywords in any case, names, numbers`() throws {
        let world = try RuleWorld()
        #expect(try world.formatIds("active == YES") == [1])
        #expect(try world.formatIds("active == No And Not id In {1}") == [2])
        #expect(try world.formatIds("Any marks == 5 Or None crew.age > 1") == [2, 4])
        let depth = string("berth.depth")
        #expect(
            try world.formatIds("Not %K > 4 And Not %d > tons", [depth, int(-8)]) == [2, 3, 4])
        #expect(
            try world.formatIds("Not {1, 2} == id and Not $LIMIT < id", [], ["LIMIT": int(3)]) == [
                3
            ])
        #expect(
            try world.formatIds("Any %K == 5 Or All #crew.age > 60", [string("marks")]) == [
                2, 3, 4,
            ])
        #expect(try world.formatIds("active IN {YES, null}") == [1, 3, 4])
        #expect(throws: RealmError.self) { try world.formatIds("Not == 1") }
        #expect(try world.formatIds("tons-5 == 0") == [1, 3])
        #expect(
            try world.formatIds("#id == 0b11 OR id == 0o4 OR id == 0x1 OR id == 02") == [
                1, 2, 3, 4,
            ])
        #expect(
            try world.formatIds(
                "SELF == %@", [world.link("Vessel", .int(3))]) == [3])
        #expect(try world.formatIds("SELF.id == 2") == [2])
    }

    @Test func `X5: 0 and 1 are Booleans beside one`() throws {
        let world = try RuleWorld()
        #expect(try world.formatIds("active == 1") == [1])
        #expect(try world.formatIds("active == %d", [int(0)]) == [2])
        #expect(try world.formatIds("1 == active") == [1])
        #expect(try world.formatIds("active IN {0, 1}") == [1, 2])
        #expect(try world.formatIds("active == ANY {1, 5, 'x'}") == [1])
        #expect(try world.formatIds("active IN %@", [.list([.int(1), .bool(false)])]) == [1, 2])
        #expect(try world.formatIds("active BETWEEN {0, 1}") == [1, 2])
        #expect(try world.formatIds("TERNARY(id > 1, active, active) == 1") == [1])
        #expect(try world.formatIds("ANY {0, 1} == active") == [1, 2])
        #expect(try world.formatIds("active == 1 AND id IN {0, 1} AND tons > 1") == [1])
        #expect(throws: RealmError.self) { try world.ids("active == 1") }
    }

    @Test func `X6, X7: nothing contains the empty text; escapes of LIKE`() throws {
        let world = try RuleWorld()
        #expect(try world.formatIds("title CONTAINS ''") == [])
        #expect(try world.formatIds("title BEGINSWITH %@", [.scalar(.null)]) == [])
        #expect(try world.formatIds("berth.name ENDSWITH ''") == [])
        #expect(try world.formatIds("cargo CONTAINS ''") == [])
        #expect(try world.formatIds("ANY notes CONTAINS ''") == [])
        #expect(try world.formatIds("NOT title CONTAINS ''") == [1, 2, 3, 4])
        #expect(try world.formatIds("ALL notes BEGINSWITH ''") == [2])
        #expect(try world.formatIds("notes BEGINSWITH ''") == [])
        #expect(try world.formatIds("Not bin('ab') == seal") == [2, 3, 4])
        #expect(try world.formatIds("NONE notes CONTAINS %@", [.scalar(.null)]) == [1, 2, 3, 4])
        #expect(try world.formatIds("seal CONTAINS %@", [.scalar(.binary([]))]) == [])
        // Vessel 4 has an empty title.
        #expect(try world.formatIds("title CONTAINS title") == [1, 2])
        #expect(try world.formatIds("'Starling' BEGINSWITH title") == [1])
        #expect(try world.formatIds("ANY notes CONTAINS title OR id == 4") == [4])
        #expect(try world.formatIds("NONE notes CONTAINS title") == [1, 2, 3, 4])
        #expect(try world.formatIds("ALL notes CONTAINS title") == [2])
        // Wherever the empty text comes from.
        #expect(try world.formatIds("title CONTAINS ANY {'', null}") == [])
        #expect(try world.formatIds("title CONTAINS ANY {'', 'ing'}") == [1])
        #expect(try world.formatIds("title CONTAINS ALL {'', 'ing'}") == [])
        #expect(try world.formatIds("title CONTAINS NONE {'', 'ing'}") == [2, 3, 4])
        #expect(
            try world.formatIds("title BEGINSWITH %@", [.list([.string(""), .null])]) == [])
        #expect(try world.formatIds("title CONTAINS ANY notes") == [1])
        #expect(try world.formatIds("title ENDSWITH trim(' ')") == [])
        #expect(try world.formatIds("NOT title ENDSWITH lowercase(title)") == [1, 2, 3, 4])
        #expect(try world.formatIds("title BEGINSWITH[c] lowercase(title)") == [1, 2])
        #expect(try world.formatIds("cargo BEGINSWITH ANY {''}") == [])
        #expect(try world.formatIds("seal CONTAINS ANY {bin('')}") == [])
        #expect(try world.formatIds("SUBQUERY(notes, $n, $n CONTAINS '').@count > 0") == [])
        #expect(try world.ids("title CONTAINS ANY {'', 'ing'}") == [1, 2, 4])
        try world.realm.beginWrite()
        for (id, title) in [(1, "50%*"), (2, "50%x"), (3, "a\\b"), (4, "a?b")] {
            try world.realm.find("Vessel", primaryKey: .int(Int64(id)))!
                .set("title", .string(title))
        }
        try world.realm.commit()
        #expect(try world.formatIds("title LIKE '50%\\\\*'") == [1])
        #expect(try world.formatIds("title LIKE '50%*'") == [1, 2])
        #expect(try world.formatIds("title LIKE %@", [string("a\\\\b")]) == [3])
        #expect(try world.formatIds("title LIKE %@", [string("A\\?b")]) == [])
        #expect(try world.formatIds("title LIKE[c] %@", [string("A\\?b")]) == [4])
        #expect(
            try world.formatIds("title LIKE %@", [.list([.string("50\\%\\*"), .string("A*")])])
                == [])
        #expect(
            try world.formatIds("title LIKE %@", [.list([.string("50%\\*"), .string("a*b")])])
                == [1, 3, 4])
        #expect(try world.formatIds("title LIKE title") == [1, 2, 3, 4])
        #expect(try world.formatIds("title LIKE uppercase(title)") == [1])
        #expect(
            try world.formatIds("seal LIKE %@", [.scalar(.binary(Array("a\\*".utf8)))]) == [])
    }

    @Test func `X9, X10, X11, X12, X14: paths, Booleans, variables`() throws {
        let world = try RuleWorld()
        #expect(try world.formatIds("ANY extras.@allKeys == 'kg'") == [1, 3])
        #expect(try world.formatIds("marks[#any] == 5") == [4])
        #expect(try world.formatIds("crew.age < 21") == [1])
        #expect(try world.formatIds("active AND tons > 1") == [1])
        #expect(try world.formatIds("tons > $LIMIT", [], ["LIMIT": int(5)]) == [4])
        #expect(
            try world.formatIds(
                "id IN $ids AND tons > %d", [int(0)], ["ids": .list([.int(1), .int(2)])]) == [1])
        #expect(
            try world.formatIds(
                "SUBQUERY(crew, $s, $s.age > $age).@count > 1", [],
                ["age": int(19), "s": int(1)]) == [1, 4])
    }
}
