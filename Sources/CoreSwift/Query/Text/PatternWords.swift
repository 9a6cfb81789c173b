// What `\w`, `\W`, `\b` and `\B` mean in the patterns of MATCHES (QUERY_RULES B4): words as ICU has them, in
// which combining marks and connectors count and fractions and superscripts do not. PCRE2 knows
// letters, numbers and the underscore alone, so these escapes are written out as classes before it
// compiles a pattern. Called by `RegularExpression`.

enum PatternWords {
    /// Letters, marks, digits, connectors, joiners; the last ones are letters in circles and squares.
    private static let word =
        #"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}"#
        + #"\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"#

    /// The pattern with the escapes written out; nil when it has none. The pattern compiles.
    ///
    /// Two places keep what PCRE2 has: `\W` within brackets, for which there is no class, and
    /// patterns with comments that run to the end of a line, where brackets may stand unpaired.
    static func expanded(_ pattern: [UInt8]) -> [UInt8]? {
        let backslash = UInt8(ascii: "\\")
        guard pattern.contains(backslash), !hasLineComments(pattern) else { return nil }
        var result: [UInt8] = []
        var hasWords = false
        var isClass = false
        var index = 0
        func next(_ offset: Int) -> UInt8 {
            index + offset < pattern.count ? pattern[index + offset] : 0
        }
        /// Copies up to and with a closing sequence, or the rest.
        func copy(through end: String) {
            let end = Array(end.utf8)
            while index < pattern.count {
                result.append(pattern[index])
                index += 1
                if result.count >= end.count, result.suffix(end.count).elementsEqual(end) {
                    return
                }
            }
        }
        func put(_ text: String, _ count: Int) {
            result.append(contentsOf: text.utf8)
            index += count
        }
        while index < pattern.count {
            switch (pattern[index], next(1)) {
            case (backslash, UInt8(ascii: "Q")): copy(through: #"\E"#)
            case (backslash, UInt8(ascii: "w")):
                hasWords = true
                put(isClass ? word : "[" + word + "]", 2)
            case (backslash, UInt8(ascii: "W")) where !isClass:
                hasWords = true
                put("[^" + word + "]", 2)
            case (backslash, UInt8(ascii: "b")) where !isClass:
                hasWords = true
                put("(?:(?<=[\(word)])(?![\(word)])|(?<![\(word)])(?=[\(word)]))", 2)
            case (backslash, UInt8(ascii: "B")) where !isClass:
                hasWords = true
                put("(?:(?<=[\(word)])(?=[\(word)])|(?<![\(word)])(?![\(word)]))", 2)
            case (backslash, let escaped):
                // `\c` takes the byte behind it as well.
                for _ in 0..<(escaped == UInt8(ascii: "c") ? 3 : 2) where index < pattern.count {
                    result.append(pattern[index])
                    index += 1
                }
            case (UInt8(ascii: "["), let kind)
            where isClass && (kind == UInt8(ascii: ":") || kind == UInt8(ascii: "=")):
                copy(through: String(decoding: [kind, UInt8(ascii: "]")], as: UTF8.self))
            case (UInt8(ascii: "["), _) where !isClass:
                isClass = true
                put("[", 1)
                if next(0) == UInt8(ascii: "^") { put("^", 1) }
                // A bracket that comes first is a member.
                if next(0) == UInt8(ascii: "]") { put("]", 1) }
            case (UInt8(ascii: "]"), _) where isClass:
                isClass = false
                put("]", 1)
            case (UInt8(ascii: "("), UInt8(ascii: "?"))
            where !isClass && next(2) == UInt8(ascii: "#"):
                copy(through: ")")
            default:
                result.append(pattern[index])
                index += 1
            }
        }
        return hasWords ? result : nil
    }

    /// Whether comments may run from # to the end of a line: `(?x)` and the like occur.
    private static func hasLineComments(_ pattern: [UInt8]) -> Bool {
        guard pattern.contains(UInt8(ascii: "#")) else { return false }
        var index = 0
        while index + 1 < pattern.count {
            defer { index += 1 }
            guard pattern[index] == UInt8(ascii: "("), pattern[index + 1] == UInt8(ascii: "?")
            else { continue }
            for byte in pattern[(index + 2)...] {
                if byte == UInt8(ascii: "x") { return true }
                let isFlag =
                    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "^")
                    || (byte | 0x20) &- 0x61 < 26
                if !isFlag { break }
            }
        }
        return false
    }
}
