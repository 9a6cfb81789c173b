// Cuts the text of a query into tokens, on demand and without allocation: bytes in, places out
// (QUERY_RULES L). The parser calls it; nobody else.
//
// A sign is always a token of its own; the parser joins it with a number where an operand may
// begin (L11).

struct Lexer {
    let text: QueryText
    let dialect: QueryDialect
    private(set) var position = 0

    init(_ text: QueryText, _ dialect: QueryDialect) {
        self.text = text
        self.dialect = dialect
    }

    /// The byte at `offset`, 0 behind the end (NUL starts no token, so the two don't mix).
    @inline(__always) func peek(_ offset: Int) -> UInt8 {
        offset < text.count ? text[offset] : 0
    }

    @inline(__always) static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inline(__always) static func isNameStart(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte == 0x5F || byte == 0x24 || byte >= 0x80
    }

    @inline(__always) private mutating func make(_ kind: TokenKind, _ length: Int) -> Token {
        let start = position
        position = start + length
        return Token(kind, start, position)
    }

    mutating func next() throws(RealmError) -> Token {
        while position < text.count {
            let byte = text[position]
            guard byte == 0x20 || (byte >= 0x09 && byte <= 0x0D && byte != 0x0B && byte != 0x0C)
            else { break }
            position += 1
        }
        guard position < text.count else { return Token(.end, text.count, text.count) }
        let byte = text[position]
        if Lexer.isNameStart(byte) { return try word() }
        if Lexer.isDigit(byte) { return try number() }
        let following = peek(position + 1)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return try string(.string, opening: 1)
        case UInt8(ascii: "."):
            return Lexer.isDigit(following) ? try number() : make(.dot, 1)
        case UInt8(ascii: "="):
            if following == UInt8(ascii: "=") { return make(.equal, 2) }
            if following == UInt8(ascii: "<") { return make(.lessEqual, 2) }
            if following == UInt8(ascii: ">") { return make(.greaterEqual, 2) }
            return make(.equal, 1)
        case UInt8(ascii: "<"):
            if following == UInt8(ascii: "=") { return make(.lessEqual, 2) }
            if following == UInt8(ascii: ">") { return make(.notEqual, 2) }
            return make(.less, 1)
        case UInt8(ascii: ">"):
            return following == UInt8(ascii: "=") ? make(.greaterEqual, 2) : make(.greater, 1)
        case UInt8(ascii: "!"):
            return following == UInt8(ascii: "=") ? make(.notEqual, 2) : make(.not, 1)
        case UInt8(ascii: "&") where following == byte: return make(.and, 2)
        case UInt8(ascii: "|") where following == byte: return make(.or, 2)
        case UInt8(ascii: "("): return make(.leftParenthesis, 1)
        case UInt8(ascii: ")"): return make(.rightParenthesis, 1)
        case UInt8(ascii: "{"): return make(.leftBrace, 1)
        case UInt8(ascii: "}"): return make(.rightBrace, 1)
        case UInt8(ascii: "["): return make(.leftBracket, 1)
        case UInt8(ascii: "]"): return make(.rightBracket, 1)
        case UInt8(ascii: ","): return make(.comma, 1)
        case UInt8(ascii: "+"): return make(.plus, 1)
        case UInt8(ascii: "-"): return make(.minus, 1)
        case UInt8(ascii: "*"): return make(.star, 1)
        case UInt8(ascii: "/"): return make(.slash, 1)
        case UInt8(ascii: ":"): return make(.colon, 1)
        case UInt8(ascii: "#"): return make(.hash, 1)
        case UInt8(ascii: "@"): return try atWord()
        case UInt8(ascii: "%") where dialect == .format: return try formatArgument()
        default:
            throw text.syntaxError(
                at: position, "unexpected character '\(describe(byte))'")
        }
    }

    private func describe(_ byte: UInt8) -> String {
        byte >= 0x20 && byte < 0x7F
            ? String(UnicodeScalar(byte)) : "\\x" + String(byte, radix: 16)
    }

    // MARK: Words

    /// The end of the name that starts at `start`.
    @inline(__always) private func nameEnd(_ start: Int) -> Int {
        var end = start
        while end < text.count {
            let byte = text[end]
            if Lexer.isNameStart(byte) || Lexer.isDigit(byte)
                || (byte == UInt8(ascii: "-") && dialect == .core)
            {
                end += 1
            } else if byte == UInt8(ascii: "\\"), isEscapedBlank(peek(end + 1)) {
                end += 2
            } else {
                break
            }
        }
        return end
    }

    private func isEscapedBlank(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "r"):
            return true
        default: return false
        }
    }

    private mutating func word() throws(RealmError) -> Token {
        let start = position
        let end = nameEnd(start)
        switch text[start] {
        case UInt8(ascii: "$"):
            if let token = argument(end) { return token }
        case UInt8(ascii: "T"):
            if let token = try machineDate(nameEnd: end) { return token }
        case UInt8(ascii: "O"):
            if let token = objectKey(nameEnd: end) { return token }
        case UInt8(ascii: "L"):
            if let token = typedLink(nameEnd: end) { return token }
        case UInt8(ascii: "B"):
            if end == start + 3, text[start + 1] == UInt8(ascii: "6"),
                text[start + 2] == UInt8(ascii: "4"), peek(end) == UInt8(ascii: "\"")
            {
                return try string(.base64, opening: 4)
            }
        case UInt8(ascii: "u"), UInt8(ascii: "o"):
            if let token = hexConstant(nameEnd: end) { return token }
        case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "t"):
            if let token = typedConstant(nameEnd: end) { return token }
        default: break
        }
        let name = UnsafeBufferPointer(start: text.base + start, count: end - start)
        if name.contains(where: { $0 >= 0x80 }), String(validating: name, as: UTF8.self) == nil {
            throw text.syntaxError(at: start, "the bytes are not UTF-8", expected: "a name")
        }
        position = end
        let kind = Keywords.kind(text.base + start, end - start)
        return Token(kind, start, end)
    }

    /// `$12` or `$K12`; other words that begin with `$` are identifiers.
    private mutating func argument(_ end: Int) -> Token? {
        var offset = position + 1
        let isKeyPath = take("K", &offset)
        let index = digits(&offset)
        guard index.count > 0, offset == end else { return nil }
        return finish(
            isKeyPath ? .keyPathArgument : .argument, end, min(index.value, UInt64(Int32.max)))
    }

    private mutating func atWord() throws(RealmError) -> Token {
        let start = position
        let end = nameEnd(start + 1)
        let word = text.string(start, end)
        var token = Token(.atEnding, start, end)
        switch word {
        case "@links": token.kind = .atLinks
        case "@keys", "@allKeys": token.kind = .atKeys
        case "@values", "@allValues": token.kind = .atValues
        case _ where word.hasPrefix("@distinctUnionOf") || word.hasPrefix("@unionOf"):
            throw text.notInLanguage(word)
        default:
            guard let ending = PathEnding.named(word) else {
                throw text.syntaxError(
                    at: start, "unexpected '\(text.string(start, max(end, start + 1)))'",
                    expected:
                        "@count, @size, @min, @max, @sum, @avg, @links, @keys, @values or @type")
            }
            token.payload = UInt64(ending.rawValue)
        }
        return finish(token)
    }

    private static let lengthLetters = Array("lhzL".utf8)
    private static let numberLetters = Array("diuxXocfega".utf8)

    /// `%@`, `%K` and the number forms of format strings (X1).
    private mutating func formatArgument() throws(RealmError) -> Token {
        let start = position
        var end = start + 1
        if peek(end) == UInt8(ascii: "K") { return make(.formatKeyPath, 2) }
        if peek(end) == UInt8(ascii: "@") || peek(end) == UInt8(ascii: "s") {
            return make(.formatArgument, 2)
        }
        while Lexer.lengthLetters.contains(peek(end)) { end += 1 }
        guard Lexer.numberLetters.contains(peek(end)) else {
            throw text.syntaxError(
                at: start, "unexpected '%'", expected: "a format argument such as %@, %K or %d")
        }
        return make(.formatArgument, end + 1 - start)
    }

    // MARK: Strings

    /// A string between quotes or in base64, which is behind `opening` bytes, the quote the last one.
    private mutating func string(
        _ kind: TokenKind, opening: Int
    ) throws(RealmError) -> Token {
        let start = position
        let quote = text[start + opening - 1]
        var end = start + opening
        var isPlain = kind == .string
        while end < text.count, text[end] != quote {
            if kind == .string, text[end] == UInt8(ascii: "\\") {
                isPlain = false
                end += 1
            }
            end += 1
        }
        guard end < text.count else {
            throw text.syntaxError(
                at: start,
                "the \(kind == .string ? "" : "base64 ")string that begins here does not end",
                expected: "a closing \(quote == UInt8(ascii: "\"") ? "double" : "single") quote")
        }
        let token = finish(Token(kind, start, end + 1))
        if !isPlain { _ = try Literals.bytes(text, token) }
        return token
    }

    /// Moves behind a token.
    @inline(__always) mutating func finish(_ token: Token) -> Token {
        position = Int(token.end)
        return token
    }
}
