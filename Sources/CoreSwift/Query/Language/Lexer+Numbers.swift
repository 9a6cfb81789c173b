// Numbers, dates and the constants that look like words (QUERY_RULES L9–L12, L18–L22).

extension Lexer {
    /// Reads digits from `offset`; the value saturates at `UInt64.max`.
    @inline(__always)
    func digits(_ offset: inout Int) -> (value: UInt64, count: Int) {
        var value: UInt64 = 0
        var overflow = false
        let start = offset
        while offset < text.count, Lexer.isDigit(text[offset]) {
            let (product, high) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(text[offset] &- 0x30))
            overflow = overflow || high || carry
            value = sum
            offset += 1
        }
        return (overflow ? .max : value, offset - start)
    }

    /// Moves behind a letter or sign if it stands at `offset`.
    func take(_ letter: Unicode.Scalar, _ offset: inout Int) -> Bool {
        guard peek(offset) == UInt8(ascii: letter) else { return false }
        offset += 1
        return true
    }

    /// A number or a calendar date; the first byte is a digit, or a point before a digit.
    mutating func number() throws(RealmError) -> Token {
        let start = position
        var offset = start
        if text[start] == UInt8(ascii: "0") {
            switch peek(start + 1) | 0x20 {
            case UInt8(ascii: "x"): if let token = radixInteger(shift: 4) { return token }
            case UInt8(ascii: "o") where dialect == .format:
                if let token = radixInteger(shift: 3) { return token }
            case UInt8(ascii: "b") where dialect == .format:
                if let token = radixInteger(shift: 1) { return token }
            default: break
            }
        }
        let whole = digits(&offset)
        if whole.count > 0, peek(offset) == UInt8(ascii: "-"), Lexer.isDigit(peek(offset + 1)),
            let date = try calendarDate()
        {
            return date
        }
        var isFloating = take(".", &offset)
        if isFloating { _ = digits(&offset) }
        if peek(offset) | 0x20 == UInt8(ascii: "e") {
            var exponent = offset + 1
            if !take("+", &exponent) { _ = take("-", &exponent) }
            if Lexer.isDigit(peek(exponent)) {
                isFloating = true
                _ = digits(&exponent)
                offset = exponent
            }
        }
        if !isFloating { return finish(.integer, offset, whole.value) }
        let spelling = text.string(start, offset)
        if peek(offset) | 0x20 == UInt8(ascii: "f"), !isNameByte(peek(offset + 1)) {
            return finish(.float, offset + 1, UInt64((Float(spelling) ?? 0).bitPattern))
        }
        return finish(.double, offset, (Double(spelling) ?? 0).bitPattern)
    }

    /// Moves behind a token that ends at `end`.
    mutating func finish(
        _ kind: TokenKind, _ end: Int, _ payload: UInt64 = 0, extra: Int32 = 0
    ) -> Token {
        var token = Token(kind, position, end)
        token.payload = payload
        token.extra = extra
        return finish(token)
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        Lexer.isNameStart(byte) || Lexer.isDigit(byte)
    }

    static func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: return UInt64(byte - 0x30)
        case 0x41...0x46: return UInt64(byte - 0x37)
        case 0x61...0x66: return UInt64(byte - 0x57)
        default: return nil
        }
    }

    /// The digits behind `0x` and the like; nil without any.
    private mutating func radixInteger(shift: UInt64) -> Token? {
        var offset = position + 2
        var value: UInt64 = 0
        var overflow = false
        while let digit = Lexer.hexDigit(peek(offset)), digit < 1 << shift {
            overflow = overflow || value >> (64 - shift) != 0
            value = value << shift | digit
            offset += 1
        }
        if offset == position + 2 { return nil }
        return finish(.integer, offset, overflow ? .max : value)
    }

    // MARK: Dates

    private func signedDigits(_ offset: inout Int) -> Int64? {
        let negative = take("-", &offset)
        if !negative { _ = take("+", &offset) }
        let number = digits(&offset)
        guard number.count > 0 else { return nil }
        if negative {
            return number.value > UInt64(Int64.max) ? .min : -Int64(number.value)
        }
        return Int64(clamping: number.value)
    }

    /// `T<seconds>:<nanoseconds>`, nil when the word is a name.
    mutating func machineDate(nameEnd: Int) throws(RealmError) -> Token? {
        var offset = position + 1
        guard let seconds = signedDigits(&offset), take(":", &offset),
            let nanoseconds = signedDigits(&offset), offset > nameEnd
        else { return nil }
        if (seconds > 0 && nanoseconds < 0) || (seconds < 0 && nanoseconds > 0) {
            throw text.syntaxError(
                at: position, "seconds and nanoseconds of a date differ in sign",
                expected: "the same sign for both")
        }
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000 else {
            throw text.syntaxError(
                at: position, "the nanoseconds of a date are out of range",
                expected: "less than 1000000000")
        }
        return finish(
            .date, offset, UInt64(bitPattern: seconds), extra: Int32(nanoseconds))
    }

    /// `Y-M-D` with `T` or `@` and `h:m:s[:nanoseconds]` (L20), or the ISO 8601 forms of B8; nil
    /// when the digits are numbers of an arithmetic expression.
    private mutating func calendarDate() throws(RealmError) -> Token? {
        var offset = position
        var calendar = CalendarDate()
        let year = digits(&offset)
        calendar.year = Int64(clamping: year.value)
        guard take("-", &offset) else { return nil }
        let month = digits(&offset)
        calendar.month = Int64(clamping: month.value)
        guard month.count > 0, take("-", &offset) else {
            // Beside blanks, or with other digits, it is a difference.
            if dialect == .core, year.count == 4, month.count == 2, !isNameByte(peek(offset)) {
                throw text.syntaxError(at: offset, "the date is incomplete", expected: "a day")
            }
            return nil
        }
        let day = digits(&offset)
        calendar.day = Int64(clamping: day.value)
        guard day.count > 0 else { return nil }
        let separator = peek(offset)
        guard separator == UInt8(ascii: "T") || separator == UInt8(ascii: "@"),
            Lexer.isDigit(peek(offset + 1))
        else {
            // A date alone is written in full, so that differences of numbers stay what they are.
            guard year.count == 4, month.count == 2, day.count == 2,
                !isNameByte(peek(offset)), peek(offset) != UInt8(ascii: ".")
            else { return nil }
            return try date(calendar, end: offset)
        }
        offset += 1
        calendar.hour = Int64(clamping: digits(&offset).value)
        func field(_ name: String) throws(RealmError) -> Int64 {
            guard let number = number(behind: ":", &offset) else {
                throw text.syntaxError(at: offset, "the date is incomplete", expected: name)
            }
            return number
        }
        calendar.minute = try field("minutes")
        calendar.second = try field("seconds")
        if let nanoseconds = number(behind: ":", &offset) {
            calendar.nanoseconds = nanoseconds
            return try date(calendar, end: offset)
        }
        if peek(offset) == UInt8(ascii: "."), Lexer.isDigit(peek(offset + 1)) {
            calendar.isFraction = true
            offset += 1
            var scale: Int64 = 100_000_000
            while Lexer.isDigit(peek(offset)) {
                calendar.nanoseconds += Int64(text[offset] &- 0x30) * scale
                scale /= 10
                offset += 1
            }
        }
        zone(&offset, &calendar)
        return try date(calendar, end: offset)
    }

    private func number(behind sign: Unicode.Scalar, _ offset: inout Int) -> Int64? {
        guard Lexer.isDigit(peek(offset + 1)), take(sign, &offset) else { return nil }
        return Int64(clamping: digits(&offset).value)
    }

    /// `Z`, `+hh:mm` or `-hh:mm`.
    private func zone(_ offset: inout Int, _ calendar: inout CalendarDate) {
        let sign = peek(offset)
        if sign == UInt8(ascii: "Z"), !isNameByte(peek(offset + 1)) {
            offset += 1
            return
        }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return }
        var end = offset + 1
        let hours = digits(&end)
        guard hours.count == 2, peek(end) == UInt8(ascii: ":") else { return }
        end += 1
        let minutes = digits(&end)
        guard minutes.count == 2 else { return }
        let shift = Int64(hours.value) * 3600 + Int64(minutes.value) * 60
        calendar.zoneSeconds = sign == UInt8(ascii: "-") ? -shift : shift
        offset = end
    }

    private mutating func date(_ calendar: CalendarDate, end: Int) throws(RealmError) -> Token {
        if calendar.year < 1900 {
            throw text.error(
                .invalidQuery,
                "the date at byte \(position) lies before the year 1900; write it as "
                    + "T<seconds>:<nanoseconds>")
        }
        guard let timestamp = calendar.timestamp else {
            throw text.syntaxError(
                at: position, "'\(text.string(position, end))' is no date of the calendar")
        }
        return finish(
            .date, end, UInt64(bitPattern: timestamp.seconds), extra: timestamp.nanoseconds)
    }

    // MARK: Keys and hexadecimal constants

    /// `O12`, nil when the word is longer.
    mutating func objectKey(nameEnd: Int) -> Token? {
        var offset = position + 1
        let key = digits(&offset)
        guard key.count > 0, offset == nameEnd else { return nil }
        return finish(.objectKey, offset, UInt64(Int64(clamping: key.value)))
    }

    /// `L1:2`; keys of objects may be negative.
    mutating func typedLink(nameEnd: Int) -> Token? {
        var offset = position + 1
        let table = digits(&offset)
        guard table.count > 0, offset == nameEnd, take(":", &offset),
            let key = signedDigits(&offset)
        else { return nil }
        return finish(
            .typedLink, offset, UInt64(bitPattern: key), extra: Int32(clamping: table.value))
    }

    /// `uuid(…)` and `oid(…)`, nil when what follows is not such a constant.
    mutating func hexConstant(nameEnd: Int) -> Token? {
        var offset = nameEnd
        guard take("(", &offset) else { return nil }
        let groups: [Int]
        let kind: TokenKind
        if isWord("uuid", nameEnd) {
            groups = [8, 4, 4, 4, 12]
            kind = .uuid
        } else if isWord("oid", nameEnd) {
            groups = [24]
            kind = .objectId
        } else {
            return nil
        }
        for (index, length) in groups.enumerated() {
            if index > 0, !take("-", &offset) { return nil }
            for _ in 0..<length {
                guard Lexer.hexDigit(peek(offset)) != nil else { return nil }
                offset += 1
            }
        }
        return take(")", &offset) ? finish(kind, offset) : nil
    }

    /// `decimal(1.50)`, `int(5)` and `timestamp(5:0)`: values that stay of their type beside others,
    /// or that have no other spelling. Nil when what follows is no such constant.
    mutating func typedConstant(nameEnd: Int) -> Token? {
        var offset = nameEnd
        guard take("(", &offset) else { return nil }
        if isWord("decimal", nameEnd) {
            while isNumberByte(peek(offset)) { offset += 1 }
            guard Decimal128(text.string(nameEnd + 1, offset)) != nil, take(")", &offset) else {
                return nil
            }
            return finish(.decimal, offset)
        }
        let isInt = isWord("int", nameEnd)
        guard isInt || isWord("timestamp", nameEnd), let number = signedDigits(&offset) else {
            return nil
        }
        var nanoseconds: Int64?
        if !isInt {
            guard take(":", &offset) else { return nil }
            nanoseconds = signedDigits(&offset)
        }
        guard isInt || nanoseconds != nil, take(")", &offset) else { return nil }
        var token = finish(
            isInt ? .integer : .date, offset, UInt64(bitPattern: number),
            extra: Int32(clamping: nanoseconds ?? 0))
        token.isExact = isInt
        return token
    }

    private func isNumberByte(_ byte: UInt8) -> Bool {
        Lexer.isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    }

    private func isWord(_ word: StaticString, _ end: Int) -> Bool {
        guard end - position == word.utf8CodeUnitCount else { return false }
        for i in 0..<word.utf8CodeUnitCount where text[position + i] != word.utf8Start[i] {
            return false
        }
        return true
    }
}
