// Rules B1 to B3, S7 to S11 of the query language: [c], [d], [n] on every operator, and LIKE.

import Testing

@testable import CoreSwift

@Suite struct TextOptionTests {
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
                #expect(error.code == .invalidQuery)
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
