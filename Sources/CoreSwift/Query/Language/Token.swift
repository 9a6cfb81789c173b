// The words of the query language. A token is a place in the text and a kind; numbers carry their
// value. Strings are decoded later, by whoever needs them, from the place alone.

enum TokenKind: UInt8 {
    case end
    case identifier
    // Constants.
    case integer, double, float, decimal, string, base64, date, uuid, objectId, objectKey
    case typedLink, infinity, nan, keywordTrue, keywordFalse, null
    // Arguments.
    case argument, keyPathArgument, formatArgument, formatKeyPath
    // Punctuation.
    case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket
    case comma, dot, plus, minus, star, slash, colon, hash
    // Comparison operators.
    case equal, notEqual, less, lessEqual, greater, greaterEqual
    // Keywords that can never be names.
    case and, or, not, any, all, none, truePredicate, falsePredicate
    case geoWithin, subquery, geoBox, geoPolygon, geoCircle, object
    // Keywords that are names wherever a name is expected.
    case beginsWith, endsWith, contains, like, between, inList, text
    case sort, distinct, limit, offset, ascending, descending, binary, first, last, size
    // Words that begin with @.
    case atCount, atSize, atMin, atMax, atSum, atAvg, atLinks, atKeys, atValues, atType
}

struct Token {
    var kind: TokenKind
    /// Integers: the value does not fit 64 bits. Strings: the text has backslashes.
    var flag = false
    /// Integers: written as `int(…)`.
    var isExact = false
    /// Byte offsets into the text.
    var start: Int32
    var end: Int32
    /// Integers: the magnitude. Doubles and floats: bits of the Double or Float. Arguments: the
    /// index. Dates: seconds. Object keys: the key.
    var payload: UInt64 = 0
    /// Dates: nanoseconds. Typed links: the class.
    var extra: Int32 = 0

    @inline(__always)
    init(_ kind: TokenKind, _ start: Int, _ end: Int) {
        self.kind = kind
        self.start = Int32(truncatingIfNeeded: start)
        self.end = Int32(truncatingIfNeeded: end)
    }
}

extension TokenKind {
    /// Whether the word may stand where a name is expected (L7).
    @inline(__always) var isName: Bool {
        self == .identifier
            || (rawValue >= TokenKind.beginsWith.rawValue && rawValue <= TokenKind.size.rawValue)
    }
}

/// Which of the two dialects a text is in; QUERY_RULES X lists what differs.
enum QueryDialect: UInt8 {
    /// `$0`-style arguments.
    case core
    /// `%@`-style format strings.
    case format
}

/// The text of a query and how its errors are worded.
struct QueryText {
    let base: UnsafePointer<UInt8>
    let count: Int

    /// Longest text accepted: offsets are 32-bit, and the parser's tables need a multiple of it.
    static let bytesMax = 1 << 28

    @inline(__always) subscript(_ index: Int) -> UInt8 { base[index] }

    func string(_ start: Int, _ end: Int) -> String {
        String(
            decoding: UnsafeBufferPointer(start: base + start, count: end - start), as: UTF8.self)
    }
    func string(_ token: Token) -> String { string(Int(token.start), Int(token.end)) }

    /// Whether the bytes from `start` to `end` are `word`, whose letters are lower-case, in any
    /// case of letters.
    func matches(_ start: Int, _ end: Int, ignoringCase word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard end - start == length else { return false }
        let expected = word.utf8Start
        for i in 0..<length {
            var byte = base[start + i]
            if byte >= 0x41 && byte <= 0x5A { byte |= 0x20 }
            if byte != expected[i] { return false }
        }
        return true
    }

    func syntaxError(at offset: Int, _ found: String, expected: String) -> RealmError {
        RealmError(
            .invalidQueryString,
            "Invalid predicate: '\(string(0, count))': syntax error at byte \(offset): "
                + "\(found); expected \(expected)")
    }
    func syntaxError(_ token: Token, expected: String) -> RealmError {
        let found =
            token.kind == .end ? "unexpected end of the query" : "unexpected '\(string(token))'"
        return syntaxError(at: Int(token.start), found, expected: expected)
    }
    /// A construct of NSPredicate that the language leaves out (X15).
    func notInLanguage(_ construct: String) -> RealmError {
        RealmError(
            .invalidQuery,
            "Invalid predicate: '\(string(0, count))': \(construct) is not supported")
    }
    func syntaxError(at offset: Int, _ problem: String) -> RealmError {
        RealmError(
            .invalidQueryString,
            "Invalid predicate: '\(string(0, count))': syntax error at byte \(offset): \(problem)")
    }
}
