// Any text, any arguments: an error of the language's kinds or a query, never a trap, and a query's
// canonical text is a query again (QUERY_RULES E5, V1). Replays the corpus of `Tests/Fuzz`, and mutates
// the texts of `query-corpus.txt` itself.
//
// An input that once failed goes into `Tests/Fuzz/corpus.txt`.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct QueryTextFuzzTests {
    private static func lines(_ path: String) -> [[UInt8]] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let bytes = TestSettings.readFile(folder.joined(separator: "/") + "/" + path)
        return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private static func corpus() -> [[UInt8]] { lines("query-corpus.txt") }

    fileprivate static let words: [String] = [
        "AND", "OR", "NOT", "!", "(", ")", "{", "}", "[", "]", "[c]", "[cd]", ",", ".", "==", "!=",
        "<", ">=", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "TEXT",
        "GEOWITHIN", "ANY", "ALL", "NONE", "SUBQUERY(", "$x", "$0", "$1", "$K0", "$999", "%@", "%K",
        "%d", "%", "'", "\"", "\\", "null", "true", "nan", "inf", "SELF", "@count", "@max",
        "@links",
        "@type", "@keys", "tons", "title", "berth", "draft", "built", "SORT(", "LIMIT(",
        "DISTINCT(",
        "1", "-", "+", "*", "/", "0x", "1e999", "99999999999999999999", "-9223372036854775808",
        "T1:2", "2024-05-01", "B64\"", "uuid(", "abs(", "CAST(", "TERNARY(", "now()", "trim(",
        "geoBox(", "geoCircle(", "geoPolygon(", "#", "é", "\u{301}", "ß", "\u{0}", ":", ":=",
        "obj(",
    ]

    fileprivate struct Mutator {
        var random: Random
        let corpus: [[UInt8]]

        mutating func text() -> [UInt8] {
            var text = corpus[random.below(corpus.count)]
            for _ in 0..<1 + random.below(6) {
                let place = random.below(text.count + 1)
                switch random.below(8) {
                case 0: text.insert(UInt8(random.below(256)), at: place)
                case 1:
                    text.insert(
                        contentsOf: Array(words[random.below(words.count)].utf8), at: place)
                case 2 where !text.isEmpty:
                    let end = min(text.count, place + 1 + random.below(8))
                    text.removeSubrange(min(place, end)..<end)
                case 3:
                    // A part of another text.
                    let other = corpus[random.below(corpus.count)]
                    let start = random.below(other.count)
                    let end = min(other.count, start + 1 + random.below(30))
                    text.insert(contentsOf: other[start..<end], at: place)
                case 4 where !text.isEmpty:
                    let start = random.below(text.count)
                    let end = min(text.count, start + 1 + random.below(20))
                    let piece = Array(text[start..<end])
                    for _ in 0..<1 + random.below(4) { text.insert(contentsOf: piece, at: start) }
                case 5 where !text.isEmpty: text[random.below(text.count)] ^= 0x20
                case 6:
                    let word = " " + words[random.below(words.count)] + " "
                    text.insert(contentsOf: Array(word.utf8), at: place)
                default: text = Array(text[..<place])
                }
            }
            return text
        }
    }

    private static func world() throws -> TableWorld {
        let world = try TableWorld(shipSchema())
        try world.beginWrite()
        try world.add(
            "Vessel", ["id": .int(1), "title": .string("Stárling"), "tons": .int(5)])
        try world.add("Vessel", ["id": .int(2), "title": .null, "tons": .int(0)])
        try world.tables.commit()
        return world
    }

    private func record(_ bytes: [UInt8], _ check: QueryFuzzCheck) {
        if let failure = check.failure(bytes) {
            Issue.record("'\(String(decoding: bytes, as: UTF8.self))' \(failure)")
        }
    }

    private func check(_ directory: TemporaryDirectory) throws -> QueryFuzzCheck {
        try QueryFuzzCheck(QueryFuzzModel(path: directory.file()))
    }

    @Test("E5: the corpus of the fuzzer")
    func corpus() throws {
        let directory = TemporaryDirectory()
        let check = try check(directory)
        let lines = Self.lines("../../Fuzz/corpus.txt")
        #expect(lines.count > 20)
        for line in lines { record(QueryFuzzInput.decode(line: line), check) }
    }

    @Test("E5: the queries of the tests, of every kind of target, with other arguments")
    func queries() throws {
        let directory = TemporaryDirectory()
        let check = try check(directory)
        let texts = Self.corpus()
        #expect(texts.count > 20)
        for (number, text) in texts.enumerated() {
            for target in QueryFuzzInput.targets {
                for start in 0..<4 {
                    record([target.letter, UInt8((start * 7 + number) % 64)] + text, check)
                }
            }
        }
    }

    @Test("E5: mutated texts")
    func mutations() throws {
        let directory = TemporaryDirectory()
        let check = try check(directory)
        var mutator = Mutator(random: Random(0), corpus: Self.corpus())
        for item in Campaign("query texts", seconds: 1, atLeast: 500) {
            mutator.random = item.random
            let targets = QueryFuzzInput.targets
            // Objects by text and by format string most of the time.
            let target = targets[mutator.random.below(mutator.random.below(3) == 0 ? 8 : 3)]
            let start = UInt8(mutator.random.below(64))
            record([target.letter, start] + mutator.text(), check)
        }
    }

    @Test("long chains and deep nesting are bound and run, or refused")
    func size() throws {
        let world = try Self.world()
        let count = 50_000
        for (join, found) in [(" OR ", 1), (" AND ", 0)] {
            let chain = (0..<count).map { "title == '\($0 == 7 ? "Stárling" : "\($0)")'" }
            let query = try world.query("Vessel", chain.joined(separator: join))
            #expect(try query.count(world.reader) == found)
        }
        let texts: [String] = [
            String(repeating: "(", count: count) + "tons == 5"
                + String(repeating: ")", count: count),
            String(repeating: "!", count: count) + "(tons == 5)",
            String(repeating: "(tons == 5 AND (tons > 1 OR ", count: 5000) + "tons == 5"
                + String(repeating: "))", count: 5000),
            String(repeating: "1 + ", count: count) + "tons == \(count + 5)",
            String(repeating: "(1 + ", count: count) + "tons"
                + String(repeating: ")", count: count) + " == \(count + 5)",
        ]
        for text in texts {
            let query = try world.query("Vessel", text)
            #expect(try query.count(world.reader) == 1, "\(text.prefix(40))")
        }
        for text in [
            String(repeating: "abs(", count: count) + "tons" + String(repeating: ")", count: count)
                + " == 5",
            String(repeating: "TERNARY(", count: count) + "tons == 5",
        ] {
            #expect(throws: RealmError.self) { try world.query("Vessel", text) }
        }
    }
}

extension QueryTextFuzzTests.Mutator {
    fileprivate var words: [String] { QueryTextFuzzTests.words }
}
