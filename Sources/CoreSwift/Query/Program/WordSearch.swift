// The right side of TEXT (QUERY_RULES F5 to F8): words between blanks, all of which must occur; `word*`
// is the beginning of one, `-word` must not occur.

struct WordSearch {
    struct Term: Hashable {
        /// As the index has it (`WordScanner`).
        var word: [UInt8]
        var isPrefix: Bool
    }
    var required: [Term] = []
    /// An object is out if it has all terms of one of these.
    var excluded: [[Term]] = []

    /// What is wrong with a text that is no search; `invalidArgument` in the C interface.
    private static func problem(_ problem: String) -> RealmError {
        RealmError(.invalidArgument, "TEXT: \(problem)")
    }

    init(_ text: [UInt8], _ rules: WordRules) throws(RealmError) {
        var given: [[Term]] = []
        for piece in text.split(whereSeparator: { $0 == 0x20 || $0 &- 9 < 5 }) {
            var rest = piece
            let isExcluded = rest.first == UInt8(ascii: "-")
            if isExcluded { rest.removeFirst() }
            let isPrefix = rest.last == UInt8(ascii: "*")
            if isPrefix { rest.removeLast() }
            guard let words = WordScanner.words(Array(rest), rules), !words.isEmpty else {
                throw Self.problem(
                    "'\(String(decoding: piece, as: UTF8.self))' is no word: words have letters "
                        + "and digits only, '*' may follow and '-' precede them")
            }
            // One piece has several words where signs are words of their own.
            let terms = words.enumerated().map { index, word in
                Term(word: word, isPrefix: isPrefix && index == words.count - 1)
            }
            if isExcluded {
                excluded.append(terms)
            } else {
                required.append(contentsOf: terms)
                given.append(terms)
            }
        }
        if given.isEmpty, excluded.isEmpty { throw Self.problem("there is no word to look for") }
        let wanted = Set(given.map { $0.map(\.word) })
        for terms in excluded where wanted.contains(terms.map(\.word)) {
            let word = terms.map { String(decoding: $0.word, as: UTF8.self) }.joined()
            throw Self.problem("'\(word)' is both required and excluded")
        }
    }

    /// Whether a text has what is required and nothing of what is excluded.
    func matches(_ words: WordSet) -> Bool {
        required.allSatisfy { words.has($0.word, isPrefix: $0.isPrefix) }
            && !excluded.contains { terms in
                terms.allSatisfy { words.has($0.word, isPrefix: $0.isPrefix) }
            }
    }

    static func missing() -> RealmError { problem("null has no words to look for") }
}
