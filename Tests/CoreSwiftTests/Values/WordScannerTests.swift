// How a text is cut into words for full-text indexes: Latin-1 rules, and those of all scripts.

import Testing

@testable import CoreSwift

@Suite struct WordScannerTests {
    private func words(_ text: String, _ rules: WordRules = .latin) -> [String] {
        words(Array(text.utf8), rules)
    }

    private func words(_ bytes: [UInt8], _ rules: WordRules = .latin) -> [String] {
        var found: [String] = []
        bytes.withUnsafeBytes {
            _ = WordScanner.forEachWord($0, rules) { start, count in
                found.append(
                    String(
                        decoding: UnsafeRawBufferPointer(start: start, count: count),
                        as: UTF8.self))
            }
        }
        return found
    }

    @Test func wordsAreRunsOfLettersAndDigitsInLowerCase() {
        #expect(words("") == [])
        #expect(words("  ,;") == [])
        #expect(words("Storm over REEF-7") == ["storm", "over", "reef", "7"])
        #expect(words("o'brien") == ["o", "brien"])
        #expect(words("a1_b2") == ["a1", "b2"])
        #expect(words("storm storm") == ["storm", "storm"])
    }

    @Test func accentsOfLatinLettersVanishSomeLettersStay() {
        #expect(words("Dépôt DÉPÔT depot") == ["depot", "depot", "depot"])
        #expect(
            words("ÀÁÂÃÄ ÇÈÉÊË ÌÍÎÏ ÑÒÓÔÕÖ ÙÚÛÜÝ") == ["aaaaa", "ceeee", "iiii", "nooooo", "uuuuy"])
        #expect(
            words("àáâãä çèéêë ìíîï ñòóôõö ùúûüý") == ["aaaaa", "ceeee", "iiii", "nooooo", "uuuuy"])
        #expect(words("Ångström Ærø ØÐÞ ß") == ["ångstrom", "ærø", "øðþ", "ß"])
        // The signs for multiplication and division are inside words without being part of them.
        #expect(words("2×3 4÷5 × ÷") == ["23", "45"])
        // U+00FF, other scripts and their letters separate.
        #expect(words("aÿb łódź 海") == ["a", "b", "od"])
        #expect(words("xřy") == ["x", "y"])
    }

    @Test func bytesThatAreNoUTF8Separate() {
        #expect(words([0x61, 0xC3, 0x62, 0xFF, 0x63, 0xC3]) == ["a", "b", "c"])
        #expect(words([0xC3, 0xA9, 0x80, 0xC3, 0xA9], .latin) == ["e", "e"])
        #expect(words([0x61, 0xE6, 0xB5, 0x62], .unicode) == ["a", "b"])
    }

    @Test func wordsAreCutAtTheirLimit() {
        let long = String(repeating: "a", count: 70)
        #expect(words(long + " b") == [String(repeating: "a", count: 64), "b"])
        // Not within a letter of two bytes, and nothing after the first that does not fit.
        let odd = String(repeating: "a", count: 63) + "øb"
        #expect(words(odd) == [String(repeating: "a", count: 63)])
        let greek = String(repeating: "α", count: 100)
        #expect(words(greek, .unicode) == [String(repeating: "α", count: 64)])
        #expect(words("x" + greek, .unicode) == ["x" + String(repeating: "α", count: 63)])
    }

    @Test func unicodeWordsAreFoldedInAllScripts() {
        #expect(words("Straße STRASSE", .unicode) == ["strasse", "strasse"])
        #expect(words("ΣΟΦΟΣ σοφός", .unicode) == ["σοφοσ", "σοφοσ"])
        #expect(words("Łódź Ångström", .unicode) == ["łodz", "angstrom"])
        #expect(words("e\u{301}t\u{E9} ÿ", .unicode) == ["ete", "y"])
        #expect(words("Привет, МИР!", .unicode) == ["привет", "мир"])
        #expect(words("2×3", .unicode) == ["2", "3"])
        #expect(words("٣٤ x²", .unicode) == ["٣٤", "x²"])
    }

    @Test func ideographsAreWordsOfTheirOwn() {
        #expect(words("海洋学abc", .unicode) == ["海", "洋", "学", "abc"])
        #expect(words("海\u{FE00}洋", .unicode) == ["海", "洋"])
        // A mark alone leaves nothing.
        #expect(words("\u{301} a", .unicode) == ["a"])
    }

    @Test func onlyTextsWithoutSeparatorsAreWordsToLookFor() {
        func split(_ text: String, _ rules: WordRules = .latin) -> [String]? {
            WordScanner.words(Array(text.utf8), rules)?.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(split("Storm") == ["storm"])
        #expect(split("o'brien") == nil)
        #expect(split("storm!") == nil)
        #expect(split("×") == [])
        #expect(split("") == [])
        #expect(split("海洋", .unicode) == ["海", "洋"])
        #expect(split("海") == nil)
    }
}
