// What orders the elements of a range, in codes: numbers in as few bits as their range needs, texts from
// behind their common beginning on. The number of an element has to fit into a word beside its code.

extension Sorter {
    /// Packs as much of the keys as fits into the codes of a run; returns the bits used and moves
    /// the cursor to what did not fit.
    func pack(_ range: Range<Int>, _ cursor: inout Cursor) -> Int {
        let codes = codes
        inHalves(range) { part in
            for index in part { codes[index] = 0 }
        }
        let room = 64 - Self.numberBits(range)
        var left = room
        while cursor.key < keys.count {
            let key = keys[cursor.key]
            switch cursor.part {
            case .presence:
                guard let used = packPresence(key, range, left) else { return room - left }
                left -= used
                cursor.part = key.isText ? .text : .word
                cursor.offset = 0
            case .word:
                let (used, isWhole) = packNumber(key, key.words, range, left)
                left -= used
                if !isWhole { return room - left }
                cursor.part = .nanoseconds
            case .nanoseconds:
                if let nanoseconds = key.seconds {
                    let (used, isWhole) = packNumber(key, nanoseconds, range, left)
                    left -= used
                    if !isWhole { return room - left }
                }
                cursor = Cursor(key: cursor.key + 1)
            case .text:
                guard let used = packText(key, range, left, &cursor.offset) else {
                    return room - left
                }
                left -= used
                if used == 0 { cursor.part = .length }
            case .length:
                let (used, isWhole) = packNumber(key, key.words, range, left)
                left -= used
                if !isWhole { return room - left }
                cursor = Cursor(key: cursor.key + 1)
            }
        }
        return room - left
    }

    /// Two bits when values, nulls and broken paths are mixed; nil when they do not fit.
    private func packPresence(
        _ key: GatheredKey, _ range: Range<Int>, _ left: Int
    ) -> Int? {
        if key.isUniform { return 0 }
        let first = key.presence[Int(order[range.lowerBound])]
        guard range.contains(where: { key.presence[Int(order[$0])] != first }) else { return 0 }
        guard left >= 2 else { return nil }
        for index in range {
            let presence = UInt64(key.presence[Int(order[index])])
            codes[index] = codes[index] << 2 | (key.descending ? 2 - presence : presence)
        }
        return 2
    }

    /// Numbers relative to the least one; when their range needs more bits than are left, the
    /// upper ones are packed and the number is not whole.
    private func packNumber<Number: FixedWidthInteger & UnsignedInteger>(
        _ key: GatheredKey, _ numbers: UnsafeMutablePointer<Number>, _ range: Range<Int>,
        _ left: Int
    ) -> (used: Int, isWhole: Bool) {
        let (codes, order, presence) = (codes, order, key.mixedPresence)
        let (least, greatest) = inHalves(
            range,
            { part in
                var least = UInt64.max
                var greatest: UInt64 = 0
                for index in part {
                    let element = Int(order[index])
                    if let presence, presence[element] != GatheredKey.Presence.value { continue }
                    let value = UInt64(truncatingIfNeeded: numbers[element])
                    least = value < least ? value : least
                    greatest = value > greatest ? value : greatest
                }
                return (least, greatest)
            }, { (min($0.0, $1.0), max($0.1, $1.1)) })
        guard least < greatest else { return (0, true) }
        let needed = 64 - (greatest - least).leadingZeroBitCount
        if left == 0 { return (0, false) }
        let used = min(needed, left)
        let cut = UInt64(needed - used)
        let descending = key.descending
        inHalves(range) { part in
            for index in part {
                let element = Int(order[index])
                var code: UInt64 = 0
                if presence == nil || presence?[element] == GatheredKey.Presence.value {
                    let value = UInt64(truncatingIfNeeded: numbers[element])
                    code = (descending ? greatest &- value : value &- least) >> cut
                }
                codes[index] = codes[index] << UInt64(used) | code
            }
        }
        return (used, cut == 0)
    }

    /// Bytes of the texts from `offset` on, behind what all have in common. Returns 0 when the
    /// texts have no more bytes, nil when no byte fits.
    private func packText(
        _ key: GatheredKey, _ range: Range<Int>, _ left: Int, _ offset: inout Int
    ) -> Int? {
        let (codes, order, presence) = (codes, order, key.mixedPresence)
        let (texts, lengths) = (key.texts, key.words)
        let start = offset
        let model = range.first { index in
            presence == nil || presence?[Int(order[index])] == GatheredKey.Presence.value
        }.map { texts[Int(order[$0])] }
        guard let model else { return 0 }
        let (longest, common) = inHalves(
            range,
            { part in
                var longest = 0
                var common = Int.max
                for index in part {
                    let element = Int(order[index])
                    if let presence, presence[element] != GatheredKey.Presence.value { continue }
                    let length = Int(lengths[element])
                    longest = max(longest, length)
                    common = min(common, length)
                    if common > start {
                        common = Self.commonPrefix(model, texts[element], start, common)
                    }
                }
                return (longest, common)
            }, { (max($0.0, $1.0), min($0.1, $1.1)) })
        offset = max(offset, min(common, longest))
        if offset >= longest { return 0 }
        let bytes = min(left / 8, longest - offset)
        if bytes == 0 { return nil }
        let flip: UInt64 = key.descending ? ~0 >> UInt64(64 - bytes * 8) : 0
        let from = offset
        inHalves(range) { part in
            for index in part {
                let element = Int(order[index])
                var code: UInt64 = 0
                if presence == nil || presence?[element] == GatheredKey.Presence.value {
                    code = Self.bytes(texts[element], Int(lengths[element]), from, bytes)
                }
                codes[index] = codes[index] << UInt64(bytes * 8) | code ^ flip
            }
        }
        offset += bytes
        return bytes * 8
    }

    @inline(__always)
    private static func commonPrefix(
        _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ start: Int, _ limit: Int
    ) -> Int {
        var offset = start
        while offset &+ 8 <= limit {
            let difference = a.u64(offset) ^ b.u64(offset)
            if difference != 0 { return offset &+ difference.trailingZeroBitCount / 8 }
            offset &+= 8
        }
        while offset < limit, a.u8(offset) == b.u8(offset) { offset &+= 1 }
        return offset
    }

    /// `count` bytes from `offset` on as a number, zeros behind the end.
    @inline(__always)
    private static func bytes(
        _ text: UnsafeRawPointer, _ length: Int, _ offset: Int, _ count: Int
    ) -> UInt64 {
        if offset &+ 8 <= length {
            return text.u64(offset).byteSwapped >> UInt64(64 &- count &* 8)
        }
        var code: UInt64 = 0
        for index in 0..<count {
            let place = offset &+ index
            code = code << 8 | (place < length ? UInt64(text.u8(place)) : 0)
        }
        return code
    }
}
