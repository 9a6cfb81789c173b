// Tells keywords from identifiers. Most words of a query are names of properties, so the length
// and the first letter sort them out before any comparison is made.

struct Keywords {
    private let start: UnsafePointer<UInt8>
    private let length: Int

    /// The kind of the word of `length` bytes at `start`; `.identifier` if it is no keyword.
    @inline(__always)
    static func kind(_ start: UnsafePointer<UInt8>, _ length: Int) -> TokenKind {
        guard length >= 2 && length <= 14 else { return .identifier }
        return Keywords(start: start, length: length).kind ?? .identifier
    }

    private var kind: TokenKind? {
        switch start[0] | 0x20 {
        case UInt8(ascii: "a"):
            return word("and", .and) ?? uniform("any", .any) ?? uniform("all", .all)
                ?? word("asc", .ascending) ?? word("ascending", .ascending)
        case UInt8(ascii: "b"):
            return word("beginswith", .beginsWith) ?? word("between", .between)
                ?? word("bin", .binary) ?? word("binary", .binary)
        case UInt8(ascii: "c"): return word("contains", .contains)
        case UInt8(ascii: "d"):
            return word("distinct", .distinct) ?? word("desc", .descending)
                ?? word("descending", .descending)
        case UInt8(ascii: "e"): return word("endswith", .endsWith)
        case UInt8(ascii: "f"):
            return uniform("false", .keywordFalse) ?? uniform("first", .first)
                ?? word("falsepredicate", .falsePredicate)
        case UInt8(ascii: "g"):
            return word("geowithin", .geoWithin) ?? word("geobox", .geoBox)
                ?? word("geopolygon", .geoPolygon) ?? word("geocircle", .geoCircle)
        case UInt8(ascii: "i"):
            return uniform("in", .inList) ?? word("inf", .infinity)
                ?? word("infinity", .infinity)
        case UInt8(ascii: "l"):
            return word("like", .like) ?? word("limit", .limit) ?? uniform("last", .last)
        case UInt8(ascii: "n"):
            return uniform("not", .not) ?? uniform("none", .none) ?? word("null", .null)
                ?? word("nil", .null) ?? word("nan", .nan)
        case UInt8(ascii: "o"):
            return word("or", .or) ?? word("obj", .object) ?? word("offset", .offset)
        case UInt8(ascii: "s"):
            return uniform("some", .any) ?? word("sort", .sort) ?? uniform("size", .size)
                ?? word("subquery", .subquery)
        case UInt8(ascii: "t"):
            return uniform("true", .keywordTrue) ?? word("text", .text)
                ?? word("truepredicate", .truePredicate)
        default: return nil
        }
    }

    /// A keyword in any case of letters.
    @inline(__always)
    private func word(_ word: StaticString, _ kind: TokenKind) -> TokenKind? {
        upperLetters(word) == nil ? nil : kind
    }

    /// A keyword only all lower or all upper (L5).
    @inline(__always)
    private func uniform(_ word: StaticString, _ kind: TokenKind) -> TokenKind? {
        guard let upper = upperLetters(word) else { return nil }
        return upper == 0 || upper == length ? kind : nil
    }

    /// How many letters are upper-case, nil when it is another word.
    @inline(__always)
    private func upperLetters(_ word: StaticString) -> Int? {
        guard word.utf8CodeUnitCount == length else { return nil }
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
