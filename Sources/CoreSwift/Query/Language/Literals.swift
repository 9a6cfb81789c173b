// Values of constants from their spelling: escapes, base64, calendar dates.

enum Literals {
    /// The bytes that a string stands for: between quotes, or in base64 behind `B64`.
    static func bytes(_ text: QueryText, _ place: some Spelled) throws(RealmError) -> [UInt8] {
        if let plain = plain(text, place) { return Array(plain) }
        return text.isQuoted(place)
            ? try string(text, Int(place.start) + 1, Int(place.end) - 1)
            : try base64(text, place)
    }

    /// The bytes of a quoted string without escapes, where they stand.
    static func plain(
        _ text: QueryText, _ place: some Spelled
    ) -> UnsafeBufferPointer<UInt8>? {
        guard text.isQuoted(place) else { return nil }
        let bytes = UnsafeBufferPointer(rebasing: text.bytes(place).dropFirst().dropLast())
        return bytes.contains(UInt8(ascii: "\\")) ? nil : bytes
    }

    /// Escapes between quotes (L14, L15).
    private static func string(
        _ text: QueryText, _ start: Int, _ end: Int
    ) throws(RealmError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - start)
        var offset = start
        while offset < end {
            let byte = text[offset]
            offset += 1
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let escape = text[offset]
            offset += 1
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"):
                bytes.append(escape)
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "0"): bytes.append(0)
            case UInt8(ascii: "u"): try unicode(text, &offset, end, &bytes)
            default:
                throw text.syntaxError(
                    at: offset - 2, "unknown escape '\(text.string(offset - 2, offset))'",
                    expected: "one of \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\0 \\uHHHH")
            }
        }
        return bytes
    }

    private static func unicode(
        _ text: QueryText, _ offset: inout Int, _ end: Int, _ bytes: inout [UInt8]
    ) throws(RealmError) {
        let start = offset - 2
        var code = try hexUnit(text, &offset, end)
        if code & 0xFC00 == 0xD800, offset + 6 <= end, text[offset] == UInt8(ascii: "\\"),
            text[offset + 1] == UInt8(ascii: "u")
        {
            offset += 2
            let low = try hexUnit(text, &offset, end)
            if low & 0xFC00 == 0xDC00 {
                code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
            }
        }
        guard let scalar = UnicodeScalar(code) else {
            throw text.syntaxError(
                at: start, "'\(text.string(start, offset))' is half of a surrogate pair",
                expected: "a high surrogate followed by a low one")
        }
        bytes.append(contentsOf: String(scalar).utf8)
    }

    private static func hexUnit(
        _ text: QueryText, _ offset: inout Int, _ end: Int
    ) throws(RealmError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard offset < end, let digit = Lexer.hexDigit(text[offset]) else {
                throw text.syntaxError(
                    at: offset, "\\u without four hexadecimal digits", expected: "a hex digit")
            }
            code = code << 4 | UInt32(digit)
            offset += 1
        }
        return code
    }

    /// What stands in `B64"…"` (L16).
    private static func base64(
        _ text: QueryText, _ place: some Spelled
    ) throws(RealmError) -> [UInt8] {
        let start = Int(place.start) + 4
        let spelled = text.bytes(place).dropFirst(4).dropLast()
        var digits = spelled
        for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard let bytes = Base64.bytes(digits) else {
            let wrong = digits.firstIndex { Base64.value($0) == nil } ?? digits.endIndex
            let offset = start + wrong - digits.startIndex
            throw text.syntaxError(
                at: offset, "'\(text.string(offset, offset + 1))' is no base64 digit",
                expected: "A-Z, a-z, 0-9, + or /")
        }
        guard digits.count % 4 != 1, digits.count == spelled.count || spelled.count % 4 == 0 else {
            throw text.syntaxError(at: start - 4, "the base64 text is incomplete")
        }
        return bytes
    }

    /// The decimal digits of an integer beyond 64 bits, which may be spelled in another radix.
    static func decimalDigits(_ spelling: String) -> String {
        var digits = Array(spelling.utf8)
        var sign = ""
        if let first = digits.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            sign = first == UInt8(ascii: "-") ? "-" : ""
            digits.removeFirst()
        }
        guard digits.count > 2, digits[0] == UInt8(ascii: "0"), digits[1] > UInt8(ascii: "9") else {
            return spelling
        }
        let radix: UInt64
        switch digits[1] | 0x20 {
        case UInt8(ascii: "x"): radix = 16
        case UInt8(ascii: "o"): radix = 8
        default: radix = 2
        }
        // No number type holds more; what is longer is infinite as well as this.
        let significant = digits.dropFirst(2).drop { $0 == UInt8(ascii: "0") }
        if significant.count > 21_000 { return sign + String(repeating: "9", count: 6200) }
        var limbs: [UInt64] = []
        for digit in significant {
            var carry = Lexer.hexDigit(digit) ?? 0
            for index in limbs.indices {
                let value = limbs[index] * radix + carry
                limbs[index] = value % 1_000_000_000_000_000
                carry = value / 1_000_000_000_000_000
            }
            if carry > 0 { limbs.append(carry) }
        }
        var text = sign + String(limbs.last ?? 0)
        for limb in limbs.dropLast().reversed() {
            let part = String(limb)
            text += String(repeating: "0", count: 15 - part.utf8.count) + part
        }
        return text
    }

    /// The name a word stands for: escaped blanks decoded (L3).
    static func name(_ text: QueryText, _ place: some Spelled) -> [UInt8] {
        var name: [UInt8] = []
        var spelled = text.bytes(place).makeIterator()
        while let byte = spelled.next() {
            guard byte == UInt8(ascii: "\\"), let blank = spelled.next() else {
                name.append(byte)
                continue
            }
            switch blank {
            case UInt8(ascii: "t"): name.append(0x09)
            case UInt8(ascii: "n"): name.append(0x0A)
            case UInt8(ascii: "r"): name.append(0x0D)
            default: name.append(blank)
            }
        }
        return name
    }
}

/// A date of the proleptic Gregorian calendar with a time of day.
struct CalendarDate {
    var year: Int64 = 0
    var month: Int64 = 1
    var day: Int64 = 1
    var hour: Int64 = 0
    var minute: Int64 = 0
    var second: Int64 = 0
    var nanoseconds: Int64 = 0
    var zoneSeconds: Int64 = 0
    /// The nanoseconds were written as a fraction: they are added also before 1970.
    var isFraction = false

    /// The instant, nil when a field is out of its range.
    var timestamp: Timestamp? {
        guard year <= 9_999_999, (1...12).contains(month), (0..<24).contains(hour),
            (0..<60).contains(minute), (0..<60).contains(second),
            nanoseconds < 1_000_000_000, zoneSeconds.magnitude <= 86400,
            day >= 1, day <= CalendarDate.days(inMonth: month, year)
        else { return nil }
        let days = CalendarDate.daysSinceEpoch(year, month, day)
        let seconds = days * 86400 + hour * 3600 + minute * 60 + second - zoneSeconds
        if seconds >= 0 || nanoseconds == 0 {
            return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
        }
        if isFraction {
            return Timestamp(
                seconds: seconds + 1, nanoseconds: Int32(nanoseconds - 1_000_000_000))
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(-nanoseconds))
    }

    static func days(inMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: return 30
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: return 31
        }
    }

    /// Days from 1970-01-01, counted in eras of 400 years that begin in March.
    static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146097 + dayOfEra - 719468
    }
}
