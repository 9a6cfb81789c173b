// Any text, any arguments: an error of the language's kinds or a query, never a trap, and a query's
// canonical text is a query again (QUERY E5, V1). Texts are mutations of `query-corpus.txt`.
//
// REALM_QUERY_FUZZ gives the number of texts, REALM_TEST_SEED the seed. A text that once failed goes
// into the corpus.

import Testing

@testable import CoreSwift

@Suite struct QueryTextFuzzTests {
    private static func corpus() -> [[UInt8]] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let bytes = TestSettings.readFile(folder.joined(separator: "/") + "/query-corpus.txt")
        return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

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

        mutating func argument(_ world: TableWorld) -> QueryArgument {
            switch random.below(12) {
            case 0: return .scalar(.null)
            case 1: return .scalar(.int([0, 1, -1, .max, .min][random.below(5)]))
            case 2: return .scalar(.string(["", "x", "tons", "berth.depth", "%"][random.below(5)]))
            case 3: return .scalar(.double([0.5, .nan, .infinity][random.below(3)]))
            case 4: return .scalar(.bool(true))
            case 5: return .scalar(.binary([0, 255]))
            case 6: return .scalar(.timestamp(Timestamp(seconds: 5)))
            case 7: return .list([])
            case 8: return .list([.int(1), .null, .string("a")])
            case 9: return .scalar(.decimal128(Decimal128(3)))
            case 10: return .scalar(.string("geoCircle([1, 2], 0.5)"))
            default:
                return .scalar(.link(Link(world.key("Harbor"), ObjectKey(rawValue: 0))))
            }
        }
    }

    private static let kinds: Set<ErrorCode> = [
        .invalidQueryString, .invalidQuery, .invalidQueryArg, .invalidSortDescriptor,
        .illegalOperation, .invalidArgument, .notSupported, .runtime,
    ]

    private static func world() throws -> TableWorld {
        let world = try TableWorld(shipSchema())
        try world.beginWrite()
        try world.add("Harbor", ["name": .string("Oslo"), "depth": .int(9)])
        try world.add(
            "Vessel",
            [
                "id": .int(1), "title": .string("Stárling"), "tons": .int(5),
                "draft": .double(1.5), "active": .bool(true),
            ])
        try world.add("Vessel", ["id": .int(2), "title": .null, "tons": .int(0)])
        try world.tables.commit()
        return world
    }

    private func check(
        _ text: [UInt8], _ arguments: [QueryArgument], _ world: TableWorld, isFormat: Bool
    ) {
        let name = "\(isFormat ? "format" : "text") '\(String(decoding: text, as: UTF8.self))'"
        let schema = world.reader.schema
        let classKey = world.key("Vessel")
        do {
            let query =
                isFormat
                ? try Query.parse(
                    format: text, arguments: arguments, variables: ["LIMIT": .scalar(.int(3))],
                    schema: schema, classKey: classKey)
                : try text.withUnsafeBufferPointer {
                    try Query.parse($0, arguments: arguments, schema: schema, classKey: classKey)
                }
            let found = try query.findAll(world.reader)
            #expect(try query.count(world.reader) == found.count, "\(name)")
            if isFormat { return }
            let canonical = query.description
            do {
                let again = try Query.parse(canonical, schema: schema, classKey: classKey)
                #expect(try again.findAll(world.reader) == found, "\(name) as \(canonical)")
            } catch {
                Issue.record("\(name): its canonical text \(canonical) fails: \(error)")
            }
        } catch let error as RealmError {
            #expect(Self.kinds.contains(error.code), "\(name): \(error)")
        } catch {
            Issue.record("\(name): \(error)")
        }
    }

    @Test("E5: the texts of the corpus, each with every kind of argument")
    func corpus() throws {
        let world = try Self.world()
        var mutator = Mutator(random: Random(7), corpus: Self.corpus())
        #expect(mutator.corpus.count > 20)
        for text in mutator.corpus {
            for _ in 0..<4 {
                let arguments = (0..<4).map { _ in mutator.argument(world) }
                check(text, arguments, world, isFormat: false)
                check(text, arguments, world, isFormat: true)
            }
        }
    }

    @Test("E5: mutated texts")
    func mutations() throws {
        let world = try Self.world()
        var mutator = Mutator(
            random: Random(TestSettings.seed("query text fuzzer")), corpus: Self.corpus())
        for round in 0..<TestSettings.number("REALM_QUERY_FUZZ", 3000) {
            let arguments = (0..<mutator.random.below(5)).map { _ in mutator.argument(world) }
            check(mutator.text(), arguments, world, isFormat: round % 3 == 0)
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
