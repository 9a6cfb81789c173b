// Random programs on texts with full-text indexes against a plain dictionary of the words that each
// text was put together from.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FullTextModelTests {
    /// A piece of text and the words it has by either rules.
    private struct Piece {
        var text: String
        var latin: [String]
        var unicode: [String]

        init(_ text: String, _ latin: [String], _ unicode: [String]? = nil) {
            self.text = text
            self.latin = latin
            self.unicode = unicode ?? latin
        }
    }

    private static let pieces: [Piece] =
        [
            Piece("Storm", ["storm"]), Piece("storms", ["storms"]), Piece("STORMY", ["stormy"]),
            Piece("reef", ["reef"]), Piece("Réef", ["reef"]), Piece("o'brien", ["o", "brien"]),
            Piece("Ångström", ["ångstrom"], ["angstrom"]), Piece("ß", ["ß"], ["ss"]),
            Piece("ÿ", [], ["y"]), Piece("海洋", [], ["海", "洋"]), Piece("МИР", [], ["мир"]),
            Piece("×", []), Piece("2×3", ["23"], ["2", "3"]), Piece("!?", []), Piece("a", ["a"]),
            Piece(
                String(repeating: "long", count: 40), [String(repeating: "long", count: 16)],
                [String(repeating: "long", count: 32)]),
        ] + (0..<60).map { Piece("word\($0)", ["word\($0)"]) }

    private struct Note {
        var latin: Set<String> = []
        var unicode: Set<String> = []
    }

    private static let schema = Schema([
        ClassSchema(
            "Note", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("latin", .string, flags: [.nullable, .fullTextIndexed]),
                PropertySchema("unicode", .string, flags: [.fullTextIndexed, .fullTextUnicode]),
                PropertySchema("size", .int),
            ])
    ])

    @Test func searchesFindWhatADictionaryOfWordsDoes() throws {
        for item in Campaign("model of words", seconds: 3, atLeast: 2, seed: 1000) {
            try run(seed: item.seed, steps: 25)
        }
    }

    private func run(seed: UInt64, steps: Int) throws {
        let directory = TemporaryDirectory()
        var random = Random(seed)
        let configuration = TestSchema.configuration(directory.file(), Self.schema)
        var realm = try Realm.open(configuration)
        defer { realm.close() }
        var committed: [Int64: Note] = [:]
        for step in 0..<steps {
            let place = "seed \(seed), step \(step)"
            var model = committed
            try realm.beginWrite()
            for _ in 0..<[1, 5, 60, 400][random.below(4)] {
                try change(realm, &model, &random)
            }
            if random.below(2) == 0 { try compare(realm, model, &random, place + " inside") }
            if random.below(4) == 0 {
                try realm.rollback()
            } else {
                try realm.commit()
                committed = model
            }
            try compare(realm, committed, &random, place)
            if step % 5 == 4 { #expect(try realm.check() == [], "\(place)") }
            if random.below(8) == 0 {
                realm.close()
                realm = try Realm.open(configuration)
                if random.below(2) == 0 { _ = try realm.compact() }
                try compare(realm, committed, &random, place + " reopened")
            }
        }
    }

    // MARK: Changes

    private func text(_ random: inout Random) -> (text: String, note: Note) {
        var note = Note()
        var text = ""
        let count = random.below(50) == 0 ? 800 : random.below(9)
        for _ in 0..<count {
            // The first pieces come most often.
            let piece = Self.pieces[random.below(1 + random.below(Self.pieces.count))]
            text += piece.text + [" ", ", ", "\n", "-", " … "][random.below(5)]
            note.latin.formUnion(piece.latin)
            note.unicode.formUnion(piece.unicode)
        }
        return (text, note)
    }

    private func change(
        _ realm: Realm, _ model: inout [Int64: Note], _ random: inout Random
    ) throws {
        let id = Int64(random.below(500))
        let object = try realm.find("Note", primaryKey: .int(id))
        #expect((object != nil) == (model[id] != nil))
        if let object, random.below(4) == 0 {
            try object.delete()
            model[id] = nil
            return
        }
        let target = try object ?? realm.create("Note", primaryKey: .int(id))
        var note = model[id] ?? Note()
        if random.below(5) > 0 {
            let (text, words) = text(&random)
            try target.set("latin", .string(text))
            note.latin = words.latin
        } else {
            try target.set("latin", .null)
            note.latin = []
        }
        if random.below(3) > 0 {
            let (text, words) = text(&random)
            try target.set("unicode", .string(text))
            note.unicode = words.unicode
        }
        try target.set("size", .int(id % 10))
        model[id] = note
    }

    // MARK: Searching

    private func compare(
        _ realm: Realm, _ model: [Int64: Note], _ random: inout Random, _ place: String
    ) throws {
        for _ in 0..<6 {
            let isLatin = random.below(2) == 0
            let (search, matches) = search(isLatin, &random)
            var text = "\(isLatin ? "latin" : "unicode") TEXT '\(search)'"
            var expected = model.filter { matches(isLatin ? $0.value.latin : $0.value.unicode) }
                .map(\.key)
            switch random.below(5) {
            case 0:
                text += " AND size == 3"
                expected.removeAll { $0 % 10 != 3 }
            case 1:
                text = "NOT \(text)"
                let found = Set(expected)
                expected = model.keys.filter { !found.contains($0) }
            default: break
            }
            let results = try realm.objects("Note").filter(text)
            let ids = try (0..<results.count()).map { index in
                try DynamicObject(results.object(index)).key.rawValue
            }
            #expect(ids == expected.sorted(), "\(place): \(text)")
        }
    }

    /// A search and what it means for the words of a text.
    private func search(
        _ isLatin: Bool, _ random: inout Random
    ) -> (text: String, matches: (Set<String>) -> Bool) {
        var parts: [String] = []
        var required: [(String, Bool)] = []
        var excluded: [(String, Bool)] = []
        var used: Set<String> = []
        while parts.isEmpty || random.below(2) == 0 {
            let piece = Self.pieces[random.below(1 + random.below(Self.pieces.count))]
            let words = isLatin ? piece.latin : piece.unicode
            guard words.count == 1, var word = words.first else { continue }
            let isPrefix = random.below(3) == 0
            if isPrefix { word = String(word.prefix(1 + random.below(word.count))) }
            guard used.insert(word).inserted else { continue }
            let isExcluded = random.below(3) == 0
            if isExcluded {
                excluded.append((word, isPrefix))
            } else {
                required.append((word, isPrefix))
            }
            parts.append((isExcluded ? "-" : "") + word + (isPrefix ? "*" : ""))
        }
        return (
            parts.joined(separator: " "),
            { words in
                func has(_ term: (String, Bool)) -> Bool {
                    term.1 ? words.contains { $0.hasPrefix(term.0) } : words.contains(term.0)
                }
                return required.allSatisfy(has) && !excluded.contains(where: has)
            }
        )
    }
}
