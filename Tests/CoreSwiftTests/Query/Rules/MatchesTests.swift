// Rule B4 of the query language: MATCHES.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MatchesTests {
    static let titles: [String?] = [
        "Starling", "Stair", "", nil, "étoile", "e\u{301}toile", "a\nb", "日本12", "٣", "STAIR",
        "abab", "straße", "a",
    ]

    @Test("B4: the pattern covers the whole value", arguments: [1, 20])
    func whole(repeats: Int) throws {
        let world = try TextWorld(Self.titles, repeats: repeats)
        #expect(try world.check("MATCHES", "S[aeiou]+.*") == [])
        #expect(try world.check("MATCHES", "St[aeiou]+.*") == [0, 1])
        #expect(try world.check("MATCHES", "tai") == [])
        #expect(try world.check("MATCHES", "Sta|Stair") == [1], "the longer alternative too")
        #expect(try world.check("MATCHES", "") == [2])
        #expect(try world.check("MATCHES", ".*") == [0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12])
        #expect(try world.check("MATCHES", "(?s).*") == Set(0..<13).subtracting([3]))
        #expect(try world.check("MATCHES", "^a$") == [12])
    }

    @Test("B4: classes know Unicode; groups, look-around, back-references and flags are there")
    func dialect() throws {
        let world = try TextWorld(Self.titles)
        #expect(try world.check("MATCHES", "\\p{Han}+\\d+") == [7])
        #expect(try world.check("MATCHES", "\\d") == [8])
        #expect(try world.check("MATCHES", "\\w+") == [0, 1, 4, 5, 7, 8, 9, 10, 11, 12])
        #expect(try world.check("MATCHES", "(ab)\\1") == [10])
        #expect(try world.check("MATCHES", "(?i)stair") == [1, 9])
        #expect(try world.check("MATCHES", "(?=S)[A-Z]+") == [9])
        #expect(try world.check("MATCHES", ".*(?<=li)ng") == [0])
        #expect(try world.check("MATCHES", "a++b?") == [12])
        #expect(try world.check("MATCHES", "(?:a[^c]?){1,2}") == [10, 12])
        #expect(try world.find("title MATCHES 'St\\\\w*' AND tons == 1") == [0, 1])
    }

    @Test("[c] and [d], both, neither; lists and negation")
    func options() throws {
        let world = try TextWorld(Self.titles)
        #expect(try world.check("MATCHES[c]", "STA.*") == [0, 1, 9])
        #expect(try world.check("MATCHES[d]", "étoile") == [4, 5])
        #expect(try world.check("MATCHES[d]", "etoile") == [4, 5])
        #expect(try world.check("MATCHES[cd]", "E[sT]OILE") == [4, 5])
        #expect(try world.check("MATCHES[n]", "étoile") == [4])
        #expect(
            try world.find("tons == 1 AND NOT title MATCHES '.*'") == [3, 6])
        #expect(try world.find("tons == 1 AND title MATCHES {'a', 'S.*'}") == [0, 1, 9, 12])
    }

    @Test("values that are no strings do not match")
    func otherTypes() throws {
        let world = try TextWorld([])
        try world.world.beginWrite()
        for value: Value in [.int(1), .binary([0x61]), .string("a"), .null, .bool(true)] {
            try world.world.add("Note", ["row": .int(7), "tons": .int(1), "cargo": value])
        }
        try world.world.tables.commit()
        #expect(try world.world.query("Note", "cargo MATCHES 'a|1'").count(world.world.reader) == 1)
    }

    @Test(
        "bad patterns and operands are refused when the query is parsed",
        arguments: [
            ("title MATCHES '(a'", "at byte 2"), ("title MATCHES '[z-a]'", "range"),
            ("title MATCHES 'a\\\\C'", "\\C"), ("title MATCHES '(?<=a*)b'", "lookbehind"),
            ("title MATCHES null", "string"), ("title MATCHES 5", "string"),
            ("seal MATCHES 'a'", "MATCHES"), ("tons MATCHES 'a'", "MATCHES"),
            ("title MATCHES binary('a')", "string"),
        ])
    func refused(text: String, excerpt: String) throws {
        let world = try TextWorld([])
        do {
            _ = try world.find(text)
            Issue.record("accepted")
        } catch let error as RealmError {
            #expect(error.code == .invalidQuery)
            #expect(error.message.contains(excerpt), "\(error.message)")
        }
    }

    @Test(
        "runaway patterns end with an error, on short and on long values",
        arguments: [
            ("(a+)+[bc]", 40), ("(a|a)*[bc]", 400), (".*.*.*.*[bc]", 500),
            (".*.*.*.*[bc]", 3000), ("(a+)+[bc]", 100_000), ("(?:a?){400}(?:a){400}[bc]", 399),
            ("((((a*)*)*)*)*[bc]", 5000), ("(.*)(.*)\\1\\2[bc]", 20_000),
        ])
    func runaway(pattern: String, length: Int) throws {
        let world = try TextWorld([String(repeating: "a", count: length), "x"])
        let start = TestSettings.processorTime()
        do {
            let found = try world.find("title MATCHES $0", [.scalar(.string(pattern))])
            #expect(found.isEmpty)
        } catch let error as RealmError {
            #expect(error.code == .runtime)
            #expect(error.message.contains("MATCHES"))
        }
        #expect(TestSettings.processorTime() - start < 30)
    }

    @Test("patterns that only look bad are answered on long values")
    func longValues() throws {
        let long = String(repeating: "ab", count: 50_000)
        let world = try TextWorld([long + "foo" + long, long])
        #expect(try world.check("MATCHES", ".*foo.*") == [0])
        #expect(try world.check("MATCHES", "[ab]*") == [1])
        #expect(try world.check("MATCHES", "(?:ab)*") == [1])
        #expect(try world.check("MATCHES[cd]", "(AB)*") == [1])
    }
}
