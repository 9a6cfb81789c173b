// Tells keywords from identifiers. Most words of a query are names of properties, so the length
// sorts them out before any comparison is made.

struct Keyword {
    private let word: StaticString
    private let kind: TokenKind
    /// Only all lower or all upper (L5); others in any case of letters.
    private let isUniform: Bool

    private init(_ word: StaticString, _ kind: TokenKind, isUniform: Bool = false) {
        self.word = word
        self.kind = kind
        self.isUniform = isUniform
    }

    private static let uniform: [(StaticString, TokenKind)] = [
        ("any", .any), ("some", .any), ("all", .all), ("none", .none), ("not", .not),
        ("in", .inList), ("true", .keywordTrue), ("false", .keywordFalse),
        ("first", .first), ("last", .last), ("size", .size),
    ]
    private static let others: [(StaticString, TokenKind)] = [
        ("and", .and), ("or", .or), ("null", .null), ("nil", .null), ("nan", .nan),
        ("inf", .infinity), ("infinity", .infinity), ("beginswith", .beginsWith),
        ("endswith", .endsWith), ("contains", .contains), ("like", .like), ("text", .text),
        ("between", .between), ("geowithin", .geoWithin), ("geobox", .geoBox),
        ("geopolygon", .geoPolygon), ("geocircle", .geoCircle), ("sort", .sort),
        ("distinct", .distinct), ("limit", .limit), ("offset", .offset), ("asc", .ascending),
        ("ascending", .ascending), ("desc", .descending), ("descending", .descending),
        ("bin", .binary), ("binary", .binary), ("obj", .object), ("subquery", .subquery),
        ("truepredicate", .truePredicate), ("falsepredicate", .falsePredicate),
    ]
    private static let lengthMax = 14
    private static let byLength: [[Keyword]] = {
        var byLength = [[Keyword]](repeating: [], count: lengthMax + 1)
        let all =
            uniform.map { Keyword($0, $1, isUniform: true) } + others.map { Keyword($0, $1) }
        for keyword in all { byLength[keyword.word.utf8CodeUnitCount].append(keyword) }
        return byLength
    }()

    /// The kind of the word of `length` bytes at `start`; `.identifier` if it is no keyword.
    static func kind(_ start: UnsafePointer<UInt8>, _ length: Int) -> TokenKind {
        guard length <= lengthMax else { return .identifier }
        for keyword in byLength[length] {
            guard let upper = keyword.upperLetters(start, length) else { continue }
            return !keyword.isUniform || upper == 0 || upper == length
                ? keyword.kind : .identifier
        }
        return .identifier
    }

    /// How many letters are upper-case, nil when it is another word.
    @inline(__always)
    private func upperLetters(_ start: UnsafePointer<UInt8>, _ length: Int) -> Int? {
        let expected = word.utf8Start
        var upper = 0
        for i in 0..<length {
            let byte = start[i]
            if byte == expected[i] { continue }
            guard byte ^ 0x20 == expected[i] else { return nil }
            upper += 1
        }
        return upper
    }
}
