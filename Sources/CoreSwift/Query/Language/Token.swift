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
    case atEnding, atLinks, atKeys, atValues
}

/// What stands at some bytes of a text.
protocol Spelled {
    var start: Int32 { get }
    var end: Int32 { get }
}

struct Token: Spelled {
    var kind: TokenKind
    /// Arguments: given by name.
    var isNamed = false
    /// Integers: written as `int(…)`.
    var isExact = false
    /// Byte offsets into the text.
    var start: Int32
    var end: Int32
    /// Integers: the magnitude. Doubles and floats: bits of the Double or Float. Arguments: the
    /// index. Dates: seconds. Object keys: the key. Words at the end of paths: a `PathEnding`.
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
    /// A constant that one token spells.
    @inline(__always) var isConstant: Bool {
        rawValue >= TokenKind.integer.rawValue && rawValue <= TokenKind.null.rawValue
    }

    /// The operator that the token is, between two operands.
    var comparison: ComparisonOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessEqual: .lessEqual
        case .greater: .greater
        case .greaterEqual: .greaterEqual
        case .inList: .inList
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .contains: .contains
        case .like: .like
        case .text: .text
        default: nil
        }
    }

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

    @inline(__always) func bytes(_ place: some Spelled) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + Int(place.start), count: Int(place.end - place.start))
    }
    func string(_ place: some Spelled) -> String { string(Int(place.start), Int(place.end)) }

    /// Whether a place has `word`, whose letters are lower-case, in any case of letters.
    func matches(_ place: some Spelled, _ word: StaticString) -> Bool {
        let bytes = bytes(place)
        guard bytes.count == word.utf8CodeUnitCount else { return false }
        for (i, byte) in bytes.enumerated() {
            let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            if lower != word.utf8Start[i] { return false }
        }
        return true
    }

    /// The Boolean that a word is, in any case of letters (X2).
    func truth(_ place: some Spelled) -> Bool? {
        if matches(place, "true") || matches(place, "yes") { return true }
        return matches(place, "false") || matches(place, "no") ? false : nil
    }

    /// Whether a place begins with a quote.
    func isQuoted(_ place: some Spelled) -> Bool {
        let first = self[Int(place.start)]
        return first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
    }

    /// An error that quotes the whole text.
    func error(_ code: ErrorCode, _ problem: String) -> RealmError {
        RealmError(code, "Invalid predicate: '\(string(0, count))': \(problem)")
    }
    func syntaxError(at offset: Int, _ problem: String) -> RealmError {
        error(.invalidQueryString, "syntax error at byte \(offset): \(problem)")
    }
    func syntaxError(at offset: Int, _ found: String, expected: String) -> RealmError {
        syntaxError(at: offset, "\(found); expected \(expected)")
    }
    func syntaxError(_ token: Token, expected: String) -> RealmError {
        let found =
            token.kind == .end ? "unexpected end of the query" : "unexpected '\(string(token))'"
        return syntaxError(at: Int(token.start), found, expected: expected)
    }
    /// A construct of NSPredicate that the language leaves out (X15).
    func notInLanguage(_ construct: String) -> RealmError {
        error(.invalidQuery, "\(construct) is not supported")
    }

    /// The text of some bytes, which has an address also where there are none.
    static func with<R>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (QueryText) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        if let base = bytes.baseAddress {
            return try body(QueryText(base: base, count: bytes.count))
        }
        var empty: UInt8 = 0
        return try withUnsafePointer(to: &empty) { base throws(RealmError) in
            try body(QueryText(base: base, count: 0))
        }
    }
    static func with<R>(
        _ bytes: [UInt8], _ body: (QueryText) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in try with(buffer, body) }
    }
}
