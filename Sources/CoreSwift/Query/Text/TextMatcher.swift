// One text test with everything prepared: the needle folded and kept, the pattern of LIKE taken
// apart, the expression of MATCHES compiled, memory for folded values. Testing a value does not allocate. Column tests use one matcher
// per condition and scan, the row evaluator one per operator, with a needle per row where the needle
// is a path.
//
// One matcher is used by one thread.

final class TextMatcher {
    let op: TextOperator
    let folding: TextFolding
    /// Strings consist of scalars, binary data of bytes; in binary data only ASCII letters fold (S11).
    let isString: Bool
    /// LIKE: a backslash takes `*`, `?` and itself literally (X7).
    let hasEscapes: Bool
    /// Of the values.
    private let folder = TextFolder()
    private var needle = TextBuffer()
    /// LIKE: what each byte of the needle is.
    private var kinds = TextBuffer()
    /// MATCHES.
    private let search: RegularExpression.Search?

    private enum PatternByte {
        static let literal: UInt8 = 0
        static let one: UInt8 = 1
        static let many: UInt8 = 2
    }

    init(
        _ op: TextOperator, _ folding: TextFolding = [], isString: Bool = true,
        hasEscapes: Bool = false
    ) {
        self.op = op
        self.folding = folding
        self.isString = isString
        self.hasEscapes = hasEscapes
        search = nil
    }

    /// A matcher of MATCHES.
    init(_ pattern: RegularExpression) {
        op = .matches
        folding = pattern.folding.intersection(.ignoreDiacritics)
        isString = true
        hasEscapes = false
        search = RegularExpression.Search(pattern)
    }

    /// Takes a needle, as it stands in the query or in a value, or already folded.
    func prepare(_ text: UnsafeRawBufferPointer, isFolded: Bool = false) {
        needle.clear()
        let folded = isFolded ? text : self.folded(text)
        guard op == .like else {
            needle.append(contentsOf: folded)
            return
        }
        // Folding leaves the wildcards and the backslash alone, and makes none.
        kinds.clear()
        var index = 0
        while index < folded.count {
            var byte = folded[index]
            var kind = PatternByte.literal
            index += 1
            if hasEscapes, byte == UInt8(ascii: "\\"), index < folded.count,
                Self.isSpecial(folded[index])
            {
                byte = folded[index]
                index += 1
            } else if byte == UInt8(ascii: "*") {
                kind = PatternByte.many
            } else if byte == UInt8(ascii: "?") {
                kind = PatternByte.one
            }
            needle.append(byte)
            kinds.append(kind)
        }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "*") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "\\")
    }

    /// Whether a value that is not null passes the test. Throws `.runtime` when MATCHES needs more
    /// steps than it may take.
    func passes(_ value: UnsafeRawBufferPointer) throws(RealmError) -> Bool {
        if let search { return try search.matches(folded(value)) }
        guard op == .like else { return TextMatch.passes(folded(value), op, needle.bytes) }
        if folding == .ignoreCase, isString, !TextMatch.isASCII(value) {
            let folded = folder.foldUnits(value)
            return like(folded) { folder.isUnitStart($0) }
        }
        let folded = self.folded(value)
        if isString {
            return like(folded) { folded[$0] & 0xC0 != 0x80 }
        }
        return like(folded) { _ in true }
    }

    @inline(__always)
    private func folded(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if folding.isEmpty { return text }
        if isString { return folder.fold(text, folding) }
        return folding.contains(.ignoreCase) ? folder.foldASCII(text) : text
    }

    /// `*` is any run, `?` one unit: one scalar, one byte of binary data, and with `[c]` what one
    /// scalar of the value folds to, inside of which no literal may end (S7, B2). The whole value
    /// must fit. Goes back only to the last star, so the time is at most value times pattern.
    @inline(__always)
    private func like(_ value: UnsafeRawBufferPointer, _ isStart: (Int) -> Bool) -> Bool {
        let pattern = needle.bytes
        let kinds = self.kinds.bytes
        var v = 0
        var p = 0
        var starPattern = -1
        var starValue = 0
        func next(_ offset: Int) -> Int {
            var end = offset &+ 1
            while end < value.count, !isStart(end) { end &+= 1 }
            return end
        }
        while v < value.count {
            if p < pattern.count {
                let kind = kinds[p]
                if kind == PatternByte.literal {
                    if pattern[p] == value[v] {
                        v &+= 1
                        p &+= 1
                        continue
                    }
                } else if isStart(v) {
                    p &+= 1
                    if kind == PatternByte.many {
                        starPattern = p
                        starValue = v
                    } else {
                        v = next(v)
                    }
                    continue
                }
            }
            // The last star takes one unit more.
            guard starPattern >= 0 else { return false }
            starValue = next(starValue)
            v = starValue
            p = starPattern
        }
        while p < pattern.count, kinds[p] == PatternByte.many { p &+= 1 }
        return p == pattern.count
    }
}
