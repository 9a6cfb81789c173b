// Rules T, U, C, S and R of the query language: values, nulls, comparisons, texts, arithmetic.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ValueRuleTests {
    @Test func `T: types and coercion`() throws {
        let world = try RuleWorld()
        world.check([
            ("T1", "tons < draft", []), ("T1", "tons > draft", [1, 4]),
            ("T1", "cargo == tons + 14", [2]), ("T3", "tons < 9007199254740993.0", [1, 2, 3, 4]),
            ("T4", "price == 1.1", [1]), ("T4", "price < draft", [1]),
            ("T5", "tons == 5.0", [1, 3]),
            ("T5", "tons == 5.5", []), ("T5", "tons > 4.5", [1, 3, 4]), ("T5", "beam == 0.1", [1]),
            ("T6", "tons == '5'", [1, 3]), ("T8", "cargo == bin('text')", []),
            ("T9", "tons == nan", []), ("T9", "tons != nan", [1, 2, 3, 4]),
            ("T10", "cargo > 6", [2]), ("T10", "cargo != 7", [1, 3, 4]),
            ("T11", "draft < 1", [4]), ("T11", "draft == draft", [1, 3, 4]),
            ("T11", "draft != draft", [2]), ("T11", "draft != 1", [1, 2, 3, 4]),
            ("T12", "active == true", [1]), ("T12", "active < true", [2]),
            ("T13", "title > 'S'", [1, 2]), ("T13", "title >= title", [1, 2, 3, 4]),
            ("T13", "built < T0:0", [2]), ("T16", "captain == captain.boss", [3]),
            ("T16", "captain.boss == captain.boss", [1, 2, 3, 4]),
            ("T17", "captain == obj('Sailor', 'ghost')", []),
            ("T17", "captain != obj('Sailor', 'ghost')", [1, 2, 3, 4]),
            ("T17", "NOT crew == obj('Sailor', 'ghost')", [1, 2, 3, 4]),
        ])
        world.refuse([
            ("T1", "title == tons", .invalidQuery, "'string'"),
            ("T2", "built == 3", .invalidQuery, "timestamp"),
            ("T6", "tons == '5abc'", .invalidQuery, "'int'"),
            ("T7", "built == '2020-01-01'", .invalidQuery, "timestamp"),
            ("T8", "seal == 'ab'", .invalidQuery, "binary"),
            ("T9", "tons < inf", .invalidQuery, "inf"),
            ("T9", "title < inf", .invalidQuery, "string"),
            ("T15", "captain < obj('Sailor', 'Mia')", .invalidQuery, "<"),
            ("T15", "captain == obj('Harbor', 'Oslo')", .invalidQueryArg, "Harbor"),
            ("T16", "captain == berth", .invalidQuery, "Harbor"),
            ("T17", "captain == obj('Nope', 1)", .invalidQuery, "Nope"),
        ])
    }

    @Test func `U: null and truth`() throws {
        let world = try RuleWorld()
        world.check([
            ("U1", "NOT draft > 1", [2, 3, 4]), ("U2", "draft == null", [3]),
            ("U2", "draft != 3.0", [1, 2, 3, 4]), ("U3", "draft >= null", [3]),
            ("U3", "draft < null", []), ("U4", "title > null", [1, 2, 4]),
            ("U4", "title >= null", [1, 2, 3, 4]), ("U4", "title < null", []),
            ("U4", "title <= null", [3]), ("U4", "null < title", [1, 2, 4]),
            ("U5", "tons == null", []), ("U5", "tons == nil", []),
            ("U6", "berth.depth == null", [2, 3]), ("U6", "berth.name != 'Oslo'", [2, 3, 4]),
            ("U6", "berth.name > null", []), ("U7", "crew.boss.age == 30", [1]),
            ("U7", "ALL crew.boss.age == 30", [1, 2]), ("U8", "crew.wage == null", [1]),
            ("U9", "notes == null", [1, 3]), ("U10", "title IN {'', null}", [3, 4]),
            ("U2", "captain == null", [3]), ("U2", "captain != null", [1, 2, 4]),
        ])
        // Behind links that are null there is no value: ALL of nothing, even for tests that fail
        // whatever the value.
        let withoutBosses = try world.ids("SUBQUERY(crew, $s, $s.boss != null).@count == 0")
        #expect(!withoutBosses.isEmpty)
        world.check([
            ("U7", "ALL crew.boss IN {}", withoutBosses),
            ("U7", "ALL crew.boss != {}", withoutBosses),
        ])
        world.refuse([
            ("U8", "crew == null", .invalidQuery, "@count"),
            ("U8", "null == crew.boss", .invalidQuery, "@count"),
        ])
    }

    @Test func `C: comparison operators`() throws {
        let world = try RuleWorld()
        world.check([
            ("C1", "5 < tons", [4]), ("C1", "5 == tons", [1, 3]), ("C2", "id IN {1, 4}", [1, 4]),
            ("C4", "draft IN {0, 'x'}", [4]), ("C5", "title IN[c] {'STARLING', 'x'}", [1]),
            ("C6", "id IN {}", []), ("C6", "id == {}", []), ("C6", "id != {}", []),
            ("C7", "tons > {1, 6}", [1, 3, 4]), ("C7", "tons != {5, -7}", [1, 2, 3, 4]),
            ("C7", "tons != ALL {5, -7}", [4]), ("C8", "tons BETWEEN {2, 8}", [1, 3]),
            ("C8", "tons BETWEEN {8, 2}", []), ("C8", "draft BETWEEN {-1, 9}", [1, 4]),
            ("C9", "title BETWEEN {'A', 'T'}", [1]), ("C9", "marks.@count BETWEEN {1, 2}", [3, 4]),
            ("C9", "marks.@max BETWEEN {2, 3}", [1, 3]), ("C9", "cargo BETWEEN {1, 10}", [2]),
            ("C10", "tons BETWEEN {0.5, 5.5}", [1, 3]),
            ("C11", "ALL marks BETWEEN {1, 9}", [1, 2, 3, 4]),
            ("B9", "id NOT IN {1, 2}", [3, 4]), ("B9", "title NOT BETWEEN {'A', 'T'}", [2, 3, 4]),
            ("B9", "title NOT IN {'Starling'}", [2, 3, 4]),
            ("B10", "ANY crew.age BETWEEN {40, 50}", [1]),
            ("B10", "NONE crew.age BETWEEN {40, 50}", [2, 3, 4]),
            ("B10", "crew.age BETWEEN {31, 44}", []), ("B10", "tons + 1 BETWEEN {6, 7}", [1, 3]),
        ])
        world.refuse([
            ("C3", "5 IN tons", .invalidQueryArg, "IN"),
            ("C3", "tons IN 5", .invalidQueryArg, "IN"),
            ("C8", "tons BETWEEN {1}", .invalidQuery, "exactly 2"),
            ("C10", "tons BETWEEN {1, null}", .invalidQuery, "null"),
            ("B10", "built BETWEEN {1, 2}", .invalidQuery, "timestamp"),
            ("Y4", "3 == 3", .invalidQuery, "two constants"),
            ("Y4", "5 IN {5}", .invalidQuery, "two constants"),
        ])
    }

    @Test func `S: strings and data`() throws {
        let world = try RuleWorld()
        world.check([
            ("S2", "title BEGINSWITH 'Sta'", [1]), ("S3", "'Starling' BEGINSWITH title", [1, 4]),
            ("S3", "title CONTAINS title", [1, 2, 4]), ("S3", "title LIKE title", [1, 2, 3, 4]),
            ("S4", "title CONTAINS ''", [1, 2, 4]), ("S5", "title ENDSWITH null", [1, 2, 3, 4]),
            ("S5", "title LIKE null", [3]), ("S6", "berth.name CONTAINS null", [1, 2, 4]),
            ("S6", "berth.name BEGINSWITH null", []), ("S6", "berth.name LIKE null", [3]),
            ("S7", "title LIKE 'S?a*'", [1]), ("S8", "title LIKE ''", [4]),
            ("S8", "title LIKE '*'", [1, 2, 4]), ("S9", "title ==[c] 'ÉCLAIR'", [2]),
            ("S10", "title CONTAINS [c] 'ST'", [1]), ("S10", "tons ==[c] 5", [1, 3]),
            ("S11", "seal BEGINSWITH bin('a')", [1]), ("S13", "notes.length > 2", [1]),
            ("S13", "notes.length == 0", [1, 3]), ("S13", "bag.length == 2", [4]),
            ("S13", "notes[*].length > 2", [1]), ("S13", "bag[*].LENGTH == 2", [4]),
            ("S13", "extras.@values.length == 3", [1]), ("S13", "extras[*].length == 4", [4]),
            ("S13", "ALL notes[*].length < 3", [2, 3, 4]),
            ("S13", "notes[*].length BETWEEN {1, 1}", [1, 4]),
            ("S3", "ANY notes CONTAINS title", [4]), ("S3", "cargo BEGINSWITH 'te'", [3]),
        ])
        world.refuse([
            ("S1", "title CONTAINS 5", .invalidQuery, "CONTAINS"),
            ("S1", "tons CONTAINS 'a'", .invalidQuery, "CONTAINS"),
            ("S1", "title CONTAINS tons", .invalidQuery, "CONTAINS"),
            ("S13", "bag[*].length CONTAINS 'a'", .invalidQuery, "'bag[*].length'"),
            ("I1", "notes[0] > 5", .invalidQuery, "'notes[0]'"),
        ])
    }

    @Test func `R: arithmetic`() throws {
        let world = try RuleWorld()
        world.check([
            ("R1", "tons * 2 > id + 5", [1, 3, 4]), ("R1", "tons + id == 6", [1]),
            ("R2", "draft * 2 == 3", [1]), ("R2", "price + 1 == 2.1", [1]),
            ("R2", "price * 2 == 2.2", [1]), ("R3", "tons / 2 == 2", [1, 3]),
            ("R3", "tons / 2.0 == 2.5", [1, 3]), ("R3", "tons / 2 == -3", [2]),
            ("R4", "draft + 1 == null", [3]), ("R4", "cargo + 1 == 8", [2]),
            ("R4", "cargo + 1 == null", [1, 3, 4]), ("R5", "tons / 0 > 1", []),
            ("R5", "tons / 0 == null", [1, 2, 3, 4]),
            ("R5", "tons + 9223372036854775807 < 0", [1, 3, 4]),
            ("R6", "ALL crew.age + 1 > 40", [2, 3]), ("R6", "ANY {4, 6} + 1 == tons", [1, 3]),
            ("R6", "marks * 10 == 30", [1]), ("R7", "tons == (1 + 2) * 3 - 4", [1, 3]),
            ("R7", "tons == 10 / 2.0", [1, 3]), ("B13", "-tons == 7", [2]),
            ("L11", "tons -5 == 0", [1, 3]), ("R1", "(tons + 1) * 2 == 12", [1, 3]),
            ("R1", "1 + berth.depth == 10", [1]), ("R2", "beam + beam == 4", [4]),
        ])
        world.refuse([
            ("R1", "title + 1 == 2", .invalidQueryArg, "title"),
            ("R4", "draft + null == 1", .invalidQueryArg, "null"),
            ("R6", "crew.age + marks > 1", .invalidQuery, "two collections"),
            ("R8", "built + 1 == built", .invalidQueryArg, "timestamp"),
        ])
    }
}
