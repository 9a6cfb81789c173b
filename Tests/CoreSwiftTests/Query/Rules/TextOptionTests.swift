// Rules B1 to B3, S7 to S11 of the query language: [c], [d], [n] on every operator, and LIKE.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct TextOptionTests {
    @Test func `C5, Q15: long lists with options find what their members find`() throws {
        let world = try RuleWorld()
        let words: [Value] = [
            .string("STARLING"), .string("eclair"), .string("ECLAIR"), .string("TEXT"),
            .string("A"), .string("BCD"), .string(""), .string("ZZ"), .string("X"),
            .string("oslo"), .string("MIA"), .string("COOK"), .string("ÉCLAIR"), .int(7),
            .double(2.5), .bool(true), .null, .binary([0x41, 0x42]), .string("straSSE"),
        ]
        let long = words + (0..<30).map { .string("word \($0)") }
        for option in ["", "[c]", "[d]", "[cd]", "[n]"] {
            for property in [
                "title", "cargo", "seal", "berth.name", "captain.boss.name", "notes[0]",
                "ANY notes", "ANY bag", "ANY crew.name", "ANY crew.skills", "ANY crew.boss.name",
                "extras.color", "ANY cargo.boxes[*].kg", "lowercase(title)", "ANY extras.@values",
            ] {
                if property == "seal", option.contains("d") { continue }
                var some: Set<Int64> = []
                for word in words {
                    some.formUnion(
                        try world.ids("\(property) IN\(option) $0", [.list([word])]))
                }
                let found = try world.ids("\(property) IN\(option) $0", [.list(long)])
                #expect(found == some.sorted(), "\(property) IN\(option)")
                let none = try world.ids("NOT \(property) IN\(option) $0", [.list(long)])
                #expect(none == [1, 2, 3, 4].filter { !some.contains($0) })
                // Where there is no value, no comparison holds (I2, I6).
                if ["ANY", "notes[", "extras."].contains(where: { property.hasPrefix($0) }) {
                    continue
                }
                for form in ["!=\(option) ALL", "==\(option) NONE"] {
                    #expect(
                        try world.ids("\(property) \(form) $0", [.list(long)]) == none,
                        "\(property) \(form)")
                }
            }
        }
        // The same of numbers and dates, where null is in the list and where it is not.
        for property in ["tons", "draft", "beam", "price", "built", "active", "berth.depth"] {
            let list: [Value] = [
                .int(5), .double(1.5), .float(0.1), .decimal128(Decimal128("1.1")!), .int(9),
                .timestamp(Timestamp(seconds: 100, nanoseconds: 5)), .bool(true), .double(.nan),
            ]
            for list in [list, list + [.null]] {
                let some = try world.ids("\(property) IN $0", [.list(list)])
                for form in ["!= ALL", "== NONE"] {
                    #expect(
                        try world.ids("\(property) \(form) $0", [.list(list)])
                            == [1, 2, 3, 4].filter { !some.contains($0) }, "\(property) \(form)")
                }
            }
        }
    }

    @Test func `C2: sets of texts hold what they were made of`() {
        var texts = (0..<3_000).map { Array("text number \($0 * 7)".utf8) }
        texts += [
            [], [0], [0, 0], Array("text number 7".utf8), Array(repeating: 0x61, count: 900),
        ]
        let all = texts.flatMap { $0 }
        all.withUnsafeBytes { buffer in
            var offset = 0
            let places = texts.map { text in
                defer { offset += text.count }
                return UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + text.count])
            }
            let set = TextSet(places)
            #expect(places.allSatisfy { set.contains($0) })
            for other in ["text number 1", "text number 70000", "a", "\0\0\0", "text number "] {
                let isFound = Array(other.utf8).withUnsafeBytes { set.contains($0) }
                #expect(!isFound, "\(other)")
            }
        }
    }

    static let titles: [String?] = [
        "STRASSE", "straße", "Stra\u{1E9E}e", "strase",  // 0–3
        "étoile", "e\u{301}toile", "ETOILE", "Étoiles",  // 4–7
        "ΟΔΟΣ", "οδος", "οδοσ",  // 8–10
        "İstanbul", "ıstanbul", "istanbul", "i\u{307}stanbul",  // 11–14
        "\u{212A}elvin", "kelvin", "ﬁre", "FIRE",  // 15–18
        "ø", "o", "łódź", "lodz",  // 19–22
        nil, "", "\u{301}",  // 23–25
        "각", "\u{1100}\u{1161}\u{11A8}", "a\u{5B0}\u{323}", "a\u{323}\u{5B0}",  // 26–29
    ]

    @Test("B2, S9: [c] folds as Unicode says, whatever way the column is read", arguments: [1, 20])
    func cases(repeats: Int) throws {
        let world = try TextWorld(Self.titles, repeats: repeats)
        #expect(try world.check("==[c]", "straße") == [0, 1, 2])
        #expect(try world.check("==[c]", "STRASSE") == [0, 1, 2])
        #expect(try world.check("CONTAINS[c]", "SS") == [0, 1, 2])
        #expect(try world.check("ENDSWITH[c]", "SE") == [0, 1, 2, 3])
        #expect(try world.check("==[c]", "οδος") == [8, 9, 10])
        #expect(try world.check("==[c]", "ISTANBUL") == [13])
        #expect(try world.check("==[c]", "i\u{307}STANBUL") == [11, 14])
        #expect(try world.check("BEGINSWITH[c]", "KEL") == [15, 16])
        #expect(try world.check("BEGINSWITH[c]", "fi") == [17, 18])
        #expect(try world.check("BEGINSWITH[c]", "f") == [17, 18])
        #expect(try world.check("==[c]", "ÉTOILE") == [4])
        #expect(try world.check("CONTAINS", "SS") == [0])
    }

    @Test("B1: [d] compares without the marks of decomposed letters", arguments: [1, 20])
    func diacritics(repeats: Int) throws {
        let world = try TextWorld(Self.titles, repeats: repeats)
        #expect(try world.check("BEGINSWITH[d]", "e") == [4, 5])
        #expect(try world.check("==[d]", "étoile") == [4, 5])
        #expect(try world.check("==[d]", "etoile") == [4, 5])
        #expect(try world.check("==[cd]", "etoile") == [4, 5, 6])
        #expect(try world.check("CONTAINS[dc]", "TÔIL") == [4, 5, 6, 7])
        #expect(try world.check("ENDSWITH[d]", "dz") == [21, 22])
        #expect(try world.check("ENDSWITH[d]", "odz") == [21, 22])
        #expect(try world.check("==[d]", "o") == [20], "ø does not decompose")
        #expect(try world.check("==[d]", "") == [24, 25])
        #expect(try world.check("==[d]", "각") == [26, 27])
        #expect(try world.check("==[d]", "a\u{5B0}") == [28, 29], "marks of other scripts stay")
        #expect(try world.check("==[cd]", "istanbul") == [11, 13, 14])
        #expect(try world.check("CONTAINS[d]", "\u{301}") == Set(0..<30).subtracting([23]))
    }

    @Test("ordering, lists and inequality take the options")
    func otherOperators() throws {
        let world = try TextWorld(["b", "É", "e", "F", nil, "éa", "ß", "tt"])
        #expect(try world.check("<[c]", "E") == [0, 4])
        #expect(try world.check("<=[c]", "E") == [0, 2, 4])
        #expect(try world.check("<[cd]", "F") == [0, 1, 2, 4, 5])
        #expect(try world.check(">[d]", "e") == [5, 6, 7])
        #expect(try world.check(">=[cd]", "e") == [1, 2, 3, 5, 6, 7])
        #expect(try world.check("<[c]", "T") == [0, 2, 3, 4, 6])
        #expect(try world.check("!=[cd]", "e") == [0, 3, 4, 5, 6, 7])
        let list = [QueryArgument.list([.string("E"), .string("SS"), .int(3), .null])]
        #expect(try world.find("tons == 1 AND title IN[c] $0", list) == [2, 4, 6])
        #expect(try world.find("tons == 1 AND title IN[cd] $0", list) == [1, 2, 4, 6])
        #expect(try world.find("tons == 1 AND indexed IN[cd] $0", list) == [1, 2, 4, 6])
        #expect(try world.find("tons == 1 AND cargo IN[cd] {'E', 'SS', null}") == [1, 2, 4, 6])
        #expect(try world.find("tons == 1 AND title ==[c] {'E', 'SS'}") == [2, 6])
        #expect(
            try world.find("tons==1 AND (title ==[c] 'E' OR title ==[c] 'SS' OR title ==[c] 'f')")
                == [2, 3, 6])
        #expect(
            try world.find("tons==1 AND (title ==[c] 'E' OR title == 'e' OR title ==[d] 'e')")
                == [2])
        #expect(try world.find("tons == 1 AND title !=[c] ALL {'E', 'SS'}") == [0, 1, 3, 4, 5, 7])
    }

    @Test("B3, X8: [n] means exact and overrides other letters; letters come in any order and case")
    func normalized() throws {
        let world = try TextWorld(["Ab", "ab", "áb"])
        #expect(try world.check("==[n]", "Ab") == [0])
        #expect(try world.check("==[cdn]", "Ab") == [0])
        #expect(try world.check("== [ D C c ]", "Ab") == [0, 1, 2])
        for option in ["[l]", "[cx]"] {
            do {
                _ = try world.find("title ==\(option) 'a'")
                Issue.record("\(option) was accepted")
            } catch let error as RealmError {
                #expect(error.code == .invalidQueryString)
                #expect(error.message.contains(option == "[l]" ? "l" : "x"))
            }
        }
    }

    @Test("S7: LIKE: ? is one scalar, * any run, the whole value must fit", arguments: [1, 20])
    func like(repeats: Int) throws {
        let titles: [String?] = ["Star", "Stair", "", nil, "é", "**", "a?b", "aab", "日本語", "\\*"]
        let world = try TextWorld(titles, repeats: repeats)
        #expect(try world.check("LIKE", "S?a*") == [0, 1])
        #expect(try world.check("LIKE", "*") == [0, 1, 2, 4, 5, 6, 7, 8, 9])
        #expect(try world.check("LIKE", "**") == [0, 1, 2, 4, 5, 6, 7, 8, 9])
        #expect(try world.check("LIKE", "") == [2])
        #expect(try world.check("LIKE", "?") == [4])
        #expect(try world.check("LIKE", "???") == [6, 7, 8])
        #expect(try world.check("LIKE", "*本*") == [8])
        #expect(try world.check("LIKE", "\\?") == [9], "no escape character in this dialect")
        #expect(try world.check("LIKE", "?本") == [])
        #expect(try world.check("LIKE[c]", "st*R") == [0, 1])
    }

    @Test("LIKE[c]: a scalar of the value is one unit, no literal ends inside what it folds to")
    func likeUnits() throws {
        let world = try TextWorld(["straße", "ß", "SS", "aßb", "ﬃ", "ΐ"])
        #expect(try world.check("LIKE[c]", "STRA?E") == [0])
        #expect(try world.check("LIKE[c]", "straS?e") == [])
        #expect(try world.check("LIKE[c]", "strasse") == [0])
        #expect(try world.check("LIKE[c]", "?") == [1, 4, 5])
        #expect(try world.check("LIKE[c]", "??") == [2])
        #expect(try world.check("LIKE[c]", "*s") == [2], "s begins inside of ß")
        #expect(try world.check("LIKE[c]", "s*") == [0, 2], "s ends inside of ß")
        #expect(try world.check("LIKE[c]", "ff?") == [])
        #expect(try world.check("LIKE[c]", "ffi") == [4])
        #expect(try world.check("LIKE[c]", "*ss*") == [0, 1, 2, 3])
    }

    @Test("LIKE[d]: ? is one scalar of the text without marks")
    func likeDiacritics() throws {
        let world = try TextWorld(["é", "e\u{301}", "ße", "É"])
        #expect(try world.check("LIKE[d]", "?") == [0, 1, 3])
        #expect(try world.check("LIKE[d]", "e") == [0, 1])
        #expect(try world.check("LIKE[cd]", "e") == [0, 1, 3])
        #expect(try world.check("LIKE[cd]", "s?e") == [2], "the folded text has three scalars")
    }

    @Test("binary data fold ASCII letters and have no [d]")
    func binaries() throws {
        let world = try TextWorld(["AB", "ab", "É", "xab"])
        #expect(try world.find("seal ==[c] binary('aB')") == [0, 1])
        #expect(try world.find("seal BEGINSWITH[c] binary('A')") == [0, 1])
        #expect(try world.find("seal CONTAINS[c] binary('B')") == [0, 1, 3])
        #expect(try world.find("seal ==[c] binary('é')") == [])
        #expect(try world.find("seal LIKE[c] binary('A?')") == [0, 1])
        #expect(try world.find("seal LIKE binary('??')") == [0, 1, 2], "units are bytes")
        for text in ["seal ==[d] binary('a')", "cargo ==[cd] binary('a')"] {
            #expect(throws: RealmError.self) { try world.find(text) }
        }
    }

    @Test("options have no effect on values that are no texts")
    func otherTypes() throws {
        let world = try TextWorld(["a", "b"])
        #expect(try world.find("row ==[cd] 1") == [1])
        #expect(try world.find("tons ==[c] 1") == [0, 1])
    }

    @Test("long values in blocks of their own are folded too")
    func longValues() throws {
        let long = String(repeating: "É", count: 5000)
        let world = try TextWorld([long, long + "x", "é"])
        #expect(try world.check("==[c]", String(repeating: "é", count: 5000)) == [0])
        #expect(try world.check("CONTAINS[cd]", "eeX") == [1])
        #expect(try world.check("LIKE[cd]", "e*e") == [0])
        #expect(try world.check("==[c]", "É") == [2])
    }
}
