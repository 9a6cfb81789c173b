// Words of all scripts (QUERY_RULES B14): runs of letters, marks and numbers, folded by case and stripped
// of diacritical marks; CJK ideographs one by one.

extension WordScanner {
    mutating func nextUnicode() -> Bool {
        while position < count {
            let start = position
            let (scalar, length) = UTF8Scalars.decode(text, position, count)
            position &+= length
            guard let scalar else {
                metSeparator = true
                continue
            }
            switch UnicodeTables.wordClass(scalar) {
            case .separator: metSeparator = true
            case .ideograph:
                if fold(start, position) { return true }
            case .part:
                // A variation selector chooses the shape of the ideograph or sign before it.
                if Self.isVariationSelector(scalar) { continue }
                let isASCII = skipParts(from: scalar < 0x80)
                if isASCII ? lower(start, position) : fold(start, position) { return true }
            }
        }
        return false
    }

    private static func isVariationSelector(_ scalar: UInt32) -> Bool {
        scalar &- 0xFE00 < 0x10 || scalar &- 0xE0100 < 0xF0
    }

    /// Moves to the end of the run; tells whether all of it is ASCII.
    private mutating func skipParts(from isASCII: Bool) -> Bool {
        var isASCII = isASCII
        while position < count {
            let (scalar, length) = UTF8Scalars.decode(text, position, count)
            guard let scalar, UnicodeTables.wordClass(scalar) == .part else { break }
            isASCII = isASCII && scalar < 0x80
            position &+= length
        }
        return isASCII
    }

    private mutating func lower(_ start: Int, _ end: Int) -> Bool {
        wordCount = min(end &- start, rules.wordBytesMax)
        for index in 0..<wordCount {
            let byte = text.u8(start &+ index)
            word.put(byte &- 0x41 < 26 ? byte | 0x20 : byte, index)
        }
        return true
    }

    /// False when nothing is left: the run had diacritical marks alone.
    private mutating func fold(_ start: Int, _ end: Int) -> Bool {
        let folder = folder ?? TextFolder()
        self.folder = folder
        let folded = folder.foldWord(
            UnsafeRawBufferPointer(start: text + start, count: end &- start))
        var used = min(folded.count, rules.wordBytesMax)
        // Not within a scalar.
        while used > 0, used < folded.count, folded[used] & 0xC0 == 0x80 { used &-= 1 }
        wordCount = used
        guard used > 0, let source = folded.baseAddress else { return false }
        memcpy(word, source, used)
        return true
    }
}
