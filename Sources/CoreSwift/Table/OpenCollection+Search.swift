// Finding values of sets and keys of dictionaries in an open collection, whose column 0 ascends.
//
// Integers and texts are compared by words: of an integer its value, of a text eight bytes behind
// the beginning that all elements share (that of the first and the last one). The word of a piece's
// first element is kept beside the piece, so that the pieces on the way are not touched; equal
// words of texts are settled by the whole texts.
//
// Invariants
//   1. A known word is that of an element that is above all pieces before and not above those of
//      its own piece. Elements that come and go keep it so; only the first one of a new piece sets
//      it anew.
//   2. `sharedBytes` is not above what all elements share while `sharesKnown`.

extension OpenCollection {
    /// The first position whose element is not below `value`, and whether it is equal.
    mutating func search(_ value: RawValue) throws(RealmError) -> (index: Int, isFound: Bool) {
        guard pieceCount > 0 else { return (0, false) }
        let info = infos[0]
        if !info.isNullable, !value.isNull {
            switch info.kind {
            case .int: return try searchWords(Self.word(value.intValue), value, isText: false)
            case .string, .binary:
                if !sharesKnown { try learnShared() }
                switch compareShared(value.bytes) {
                case 0:
                    return try searchWords(
                        Self.word(value.bytes, from: sharedBytes), value, isText: true)
                case ..<0: return (0, false)
                default: return (count, false)
                }
            default: break
            }
        }
        return try searchValues(value)
    }

    // MARK: By words

    @inline(__always)
    private static func word(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }

    /// Eight bytes from `start` on, the first the highest; zeros behind the end.
    @inline(__always)
    private static func word(_ text: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        let left = text.count &- start
        guard left > 0, let base = text.baseAddress else { return 0 }
        if left >= 8 { return base.u64(start).bigEndian }
        var word: UInt64 = 0
        for offset in 0..<left {
            word |= UInt64(base.u8(start &+ offset)) << UInt64(56 &- 8 &* offset)
        }
        return word
    }

    /// Negative, zero or positive as the text is below, within or above the texts that begin with
    /// what all elements share.
    @inline(__always)
    private func compareShared(_ text: UnsafeRawBufferPointer) -> Int {
        if sharedBytes == 0 { return 0 }
        let count = min(sharedBytes, text.count)
        let order = shared.withUnsafeBytes { shared in
            compareBytes(
                text.baseAddress.unsafelyUnwrapped, count,
                shared.baseAddress.unsafelyUnwrapped, sharedBytes)
        }
        return order
    }

    private mutating func learnShared() throws(RealmError) {
        let first = try value(0, 0).value.bytes
        let last = try value(count - 1, 0).value.bytes
        let limit = min(first.count, last.count)
        var length = 0
        while length < limit, first[length] == last[length] { length += 1 }
        // Other texts may share as many bytes.
        if length != sharedBytes || !first[..<length].elementsEqual(shared) {
            for piece in 0..<pieceCount { pieces[piece].hasWord = false }
            shared = [UInt8](first[..<length])
            sharedBytes = length
        }
        sharesKnown = true
    }

    /// The word of a piece's first element.
    @inline(__always)
    private mutating func word(ofPiece piece: Int, isText: Bool) throws(RealmError) -> UInt64 {
        if pieces[piece].hasWord { return pieces[piece].word }
        return try learnWord(piece, isText: isText)
    }

    @inline(never)
    private mutating func learnWord(
        _ piece: Int, isText: Bool
    ) throws(RealmError) -> UInt64 {
        let first = try table.value(try leaf(piece), 0, infos[0])
        let word =
            isText ? Self.word(first.bytes, from: sharedBytes) : Self.word(first.intValue)
        pieces[piece].word = word
        pieces[piece].hasWord = true
        return word
    }

    @inline(__always)
    private mutating func searchWords(
        _ word: UInt64, _ value: RawValue, isText: Bool
    ) throws(RealmError) -> (index: Int, isFound: Bool) {
        var low = 0
        var length = pieceCount
        while length > 1 {
            let half = length >> 1
            let first = try self.word(ofPiece: low + half, isText: isText)
            var isAbove = first > word
            if isText, first == word {
                isAbove =
                    CollectionOrder.compare(
                        try table.value(try leaf(low + half), 0, infos[0]), value, infos[0].kind)
                    > 0
            }
            low = isAbove ? low : low + half
            length -= half
        }
        pointFinger(at: low)
        guard let open = pieces[low].open, !open.pointee.hasExternals else {
            return try searchPiece(low, value)
        }
        let rows = Int(counts[low])
        let column = open.pointee.columns[0]
        let found =
            isText
            ? Self.search(column, rows, word, value.bytes, sharedBytes)
            : Self.search(column, rows, value.intValue)
        return (fingerStart + found.row, found.isEqual)
    }

    /// The row of the first number that is not below `value`.
    private static func search(
        _ column: OpenColumn, _ rows: Int, _ value: Int64
    ) -> (row: Int, isEqual: Bool) {
        var low = 0
        var length = rows
        while length > 0 {
            let half = length >> 1
            let isBelow = column.int(low &+ half) < value
            low = isBelow ? low &+ half &+ 1 : low
            length = isBelow ? length &- half &- 1 : half
        }
        return (low, low < rows && column.int(low) == value)
    }

    /// The same of texts that share their first bytes, as the value does, whose word is given.
    private static func search(
        _ column: OpenColumn, _ rows: Int, _ word: UInt64, _ value: UnsafeRawBufferPointer,
        _ shared: Int
    ) -> (row: Int, isEqual: Bool) {
        // Without a heap all texts are empty: nothing else is among them or before them.
        guard let heap = column.heap else {
            return value.count == 0 ? (0, rows > 0) : (rows, false)
        }
        var low = 0
        var length = rows
        while length > 0 {
            let half = length >> 1
            let row = low &+ half
            let text = UnsafeRawBufferPointer(
                start: heap + column.textOffset(row), count: column.textLength(row).count)
            let other = Self.word(text, from: shared)
            var isBelow = other < word
            if other == word {
                let order = compareBytes(
                    text.baseAddress.unsafelyUnwrapped, text.count,
                    value.baseAddress.unsafelyUnwrapped, value.count)
                if order == 0 { return (row, true) }
                isBelow = order < 0
            }
            low = isBelow ? row &+ 1 : low
            length = isBelow ? length &- half &- 1 : half
        }
        return (low, false)
    }

    // MARK: By values

    private mutating func searchValues(
        _ value: RawValue
    ) throws(RealmError) -> (index: Int, isFound: Bool) {
        let info = infos[0]
        let piece =
            try (1..<pieceCount).partitionPoint { piece throws(RealmError) in
                let first = try table.value(try leaf(piece), 0, info)
                return CollectionOrder.compare(first, value, info.kind) <= 0
            } - 1
        pointFinger(at: piece)
        return try searchPiece(piece, value)
    }

    private func searchPiece(
        _ piece: Int, _ value: RawValue
    ) throws(RealmError) -> (index: Int, isFound: Bool) {
        let found = try table.search(leaf(piece), Int(counts[piece]), value, infos[0])
        return (fingerStart + found.index, found.isFound)
    }
}
