// Look-up in the tables of Unicode: case folding, canonical decomposition, combining classes, what
// words consist of. The tables are string literals, read where they lie: nothing is built when a
// program starts, nothing allocated. They do not follow the version of the Swift library, because
// the words of a full-text index in a file depend on them.
//
// Callers use `TextFolder`; the full-text index asks for classes of words.

/// A table in two stages: the index names a block for each run of scalars, the block has a cell for
/// each scalar of the run.
struct UnicodeTable {
    /// A run is `1 << shift` scalars.
    let shift: UInt32
    /// Runs; scalars behind the last have the value 0.
    let count: UInt32
    /// Digits of a cell.
    let width: Int
    let index: StaticString
    let cells: StaticString

    @inline(__always)
    subscript(scalar: UInt32) -> UInt32 {
        let run = scalar >> shift
        guard run < count else { return 0 }
        let block = UnicodeTables.digits(index, Int(run) &* 2, 2)
        let cell = block << shift | scalar & (1 << shift &- 1)
        return UnicodeTables.digits(cells, Int(cell) &* width, width)
    }
}

enum UnicodeTables {
    /// The number that `width` digits from `offset` on stand for, least digit first.
    @inline(__always)
    static func digits(_ text: StaticString, _ offset: Int, _ width: Int) -> UInt32 {
        let start = text.utf8Start + offset
        var value: UInt32 = 0
        for i in 0..<width {
            value |= UInt32(start[i] &- 0x30) << (6 &* UInt32(truncatingIfNeeded: i))
        }
        return value
    }

    /// Calls `body` with each scalar of the full case folding (CaseFolding status C and F). A rule
    /// is a distance, added or (bit 22) subtracted, or (bit 23) a place in the pool and from bit 16
    /// on the number of scalars.
    @inline(__always)
    static func forEachFolded(_ scalar: UInt32, _ body: (UInt32) -> Void) {
        if scalar < 0x80 {
            return body(scalar &- 0x41 < 26 ? scalar | 0x20 : scalar)
        }
        let number = folding[scalar]
        if number == 0 { return body(scalar) }
        let rule = digits(foldingRules, Int(number) &* 4, 4)
        let distance = rule & 0x3F_FFFF
        switch rule >> 22 {
        case 0: body(scalar &+ distance)
        case 1: body(scalar &- distance)
        default:
            let first = Int(rule & 0xFFFF)
            for place in first..<first &+ Int(distance >> 16) {
                body(digits(foldingPool, place &* 4, 4))
            }
        }
    }

    /// Calls `body` with each scalar of the canonical decomposition, not yet in canonical order.
    @inline(__always)
    static func forEachDecomposed(_ scalar: UInt32, _ body: (UInt32) -> Void) {
        if scalar < 0xC0 { return body(scalar) }
        // Hangul syllables are computed (Unicode Standard 3.12).
        let syllable = scalar &- 0xAC00
        if syllable < 11172 {
            body(0x1100 &+ syllable / 588)
            body(0x1161 &+ syllable % 588 / 28)
            if syllable % 28 != 0 { body(0x11A7 &+ syllable % 28) }
            return
        }
        let place = decomposition[scalar]
        if place == 0 { return body(scalar) }
        let first = Int(place & 0x1FFF)
        for place in first..<first &+ Int(place >> 13) {
            body(digits(decompositionPool, place &* 4, 4))
        }
    }

    /// The rank of the canonical combining class among all of them, which is all that the canonical order needs; 0
    /// for all that begins a new character.
    @inline(__always)
    static func combining(_ scalar: UInt32) -> UInt32 {
        scalar < 0x300 ? 0 : combiningRank[scalar]
    }

    /// Whether diacritic-insensitive comparison deletes the scalar (QUERY_RULES B1).
    @inline(__always)
    static func isDiacritic(_ scalar: UInt32) -> Bool {
        if scalar < 0x300 { return false }
        return scalar <= 0x36F || scalar &- 0x1AB0 < 0x50 || scalar &- 0x1DC0 < 0x40
            || scalar &- 0x20D0 < 0x30 || scalar &- 0xFE20 < 0x10
    }

    enum WordClass: UInt8 {
        case separator
        /// A letter, mark or number.
        case part
        /// A CJK ideograph, which is a word of its own.
        case ideograph
    }

    /// What the scalar is to the words of a text (QUERY_RULES B14).
    static func wordClass(_ scalar: UInt32) -> WordClass {
        if scalar < 0x80 {
            let isPart = scalar &- 0x30 < 10 || (scalar | 0x20) &- 0x61 < 26
            return isPart ? .part : .separator
        }
        // The last run that begins at or before the scalar.
        var low = 0
        var high = wordRunCount
        while low < high {
            let middle = (low &+ high) >> 1
            if digits(wordRuns, middle &* 4, 4) >> 2 <= scalar {
                low = middle &+ 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return .separator }
        return WordClass(rawValue: UInt8(digits(wordRuns, (low &- 1) &* 4, 4) & 3)) ?? .separator
    }
}
