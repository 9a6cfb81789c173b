// Numbers, dates and the constants that look like words (QUERY_RULES L9–L12, L18–L22).

extension Lexer {
    /// Reads digits from `offset`; the value saturates at `UInt64.max`.
    @inline(__always)
    private func digits(_ offset: inout Int) -> (value: UInt64, overflow: Bool, count: Int) {
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
        return (overflow ? .max : value, overflow, offset - start)
    }

    /// A number or a calendar date; the first byte is a digit, or a point before a digit.
    mutating func number() throws(RealmError) -> Token {
        let start = position
        var offset = start
        if text[start] == UInt8(ascii: "0") {
            let letter = peek(start + 1) | 0x20
            if letter == UInt8(ascii: "x"), hexDigit(peek(start + 2)) != nil {
                return radixInteger(shift: 4)
            }
            if dialect == .format {
                if letter == UInt8(ascii: "o"), peek(start + 2) &- 0x30 < 8 {
                    return radixInteger(shift: 3)
                }
                if letter == UInt8(ascii: "b"), peek(start + 2) &- 0x30 < 2 {
                    return radixInteger(shift: 1)
                }
            }
        }
        let whole = digits(&offset)
        if whole.count > 0, peek(offset) == UInt8(ascii: "-"), Lexer.isDigit(peek(offset + 1)),
            let date = try calendarDate()
        {
            return date
        }
        var isFloating = false
        if peek(offset) == UInt8(ascii: ".") {
            isFloating = true
            offset += 1
            _ = digits(&offset)
        }
        if peek(offset) | 0x20 == UInt8(ascii: "e") {
            var exponent = offset + 1
            if peek(exponent) == UInt8(ascii: "+") || peek(exponent) == UInt8(ascii: "-") {
                exponent += 1
            }
            if Lexer.isDigit(peek(exponent)) {
                isFloating = true
                _ = digits(&exponent)
                offset = exponent
            }
        }
        if !isFloating {
            var token = Token(.integer, start, offset)
            token.payload = whole.value
            token.flag = whole.overflow
            return finish(token)
        }
        let spelling = text.string(start, offset)
        if peek(offset) | 0x20 == UInt8(ascii: "f"), !isNameByte(peek(offset + 1)) {
            var token = Token(.float, start, offset + 1)
            token.payload = UInt64((Float(spelling) ?? 0).bitPattern)
            return finish(token)
        }
        var token = Token(.double, start, offset)
        token.payload = (Double(spelling) ?? 0).bitPattern
        return finish(token)
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        Lexer.isNameStart(byte) || Lexer.isDigit(byte)
    }

    private func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: return UInt64(byte - 0x30)
        case 0x41...0x46: return UInt64(byte - 0x37)
        case 0x61...0x66: return UInt64(byte - 0x57)
        default: return nil
        }
    }

    private mutating func radixInteger(shift: Int) -> Token {
        let start = position
        var offset = start + 2
        var value: UInt64 = 0
        var overflow = false
        while let digit = hexDigit(peek(offset)), digit < 1 << UInt64(shift) {
            overflow = overflow || value >> (64 - UInt64(shift)) != 0
            value = value << UInt64(shift) | digit
            offset += 1
        }
        var token = Token(.integer, start, offset)
        token.payload = overflow ? .max : value
        token.flag = overflow
        return finish(token)
    }

    // MARK: Dates

    private func signedDigits(_ offset: inout Int) -> Int64? {
        let negative = peek(offset) == UInt8(ascii: "-")
        if negative || peek(offset) == UInt8(ascii: "+") { offset += 1 }
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
        guard let seconds = signedDigits(&offset), peek(offset) == UInt8(ascii: ":") else {
            return nil
        }
        offset += 1
        guard let nanoseconds = signedDigits(&offset), offset > nameEnd else { return nil }
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
        var token = Token(.date, position, offset)
        token.payload = UInt64(bitPattern: seconds)
        token.extra = Int32(nanoseconds)
        return finish(token)
    }

    /// `Y-M-D` with `T` or `@` and `h:m:s[:nanoseconds]` (L20), or the ISO 8601 forms of B8; nil
    /// when the digits are numbers of an arithmetic expression.
    private mutating func calendarDate() throws(RealmError) -> Token? {
        var offset = position
        var calendar = CalendarDate()
        let year = digits(&offset)
        calendar.year = Int64(clamping: year.value)
        guard peek(offset) == UInt8(ascii: "-") else { return nil }
        offset += 1
        let month = digits(&offset)
        calendar.month = Int64(clamping: month.value)
        guard month.count > 0, peek(offset) == UInt8(ascii: "-") else {
            // Beside blanks, or with other digits, it is a difference.
            if dialect == .core, year.count == 4, month.count == 2, !isNameByte(peek(offset)) {
                throw text.syntaxError(at: offset, "the date is incomplete", expected: "a day")
            }
            return nil
        }
        offset += 1
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
        guard peek(offset) == UInt8(ascii: ":"), Lexer.isDigit(peek(offset + 1)) else {
            throw text.syntaxError(at: offset, "the date is incomplete", expected: "minutes")
        }
        offset += 1
        calendar.minute = Int64(clamping: digits(&offset).value)
        guard peek(offset) == UInt8(ascii: ":"), Lexer.isDigit(peek(offset + 1)) else {
            throw text.syntaxError(at: offset, "the date is incomplete", expected: "seconds")
        }
        offset += 1
        calendar.second = Int64(clamping: digits(&offset).value)
        if peek(offset) == UInt8(ascii: ":"), Lexer.isDigit(peek(offset + 1)) {
            offset += 1
            calendar.nanoseconds = Int64(clamping: digits(&offset).value)
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
            throw RealmError(
                .invalidQuery,
                "Invalid predicate: '\(text.string(0, text.count))': the date at byte \(position) "
                    + "lies before the year 1900; write it as T<seconds>:<nanoseconds>")
        }
        guard let timestamp = calendar.timestamp else {
            throw text.syntaxError(
                at: position, "'\(text.string(position, end))' is no date of the calendar")
        }
        var token = Token(.date, position, end)
        token.payload = UInt64(bitPattern: timestamp.seconds)
        token.extra = timestamp.nanoseconds
        return finish(token)
    }

    // MARK: Keys and hexadecimal constants

    /// `O12`, nil when the word is longer.
    mutating func objectKey(nameEnd: Int) -> Token? {
        var offset = position + 1
        let key = digits(&offset)
        guard key.count > 0, offset == nameEnd else { return nil }
        var token = Token(.objectKey, position, offset)
        token.payload = UInt64(Int64(clamping: key.value))
        return finish(token)
    }

    /// `L1:2`; keys of objects may be negative.
    mutating func typedLink(nameEnd: Int) -> Token? {
        var offset = position + 1
        let table = digits(&offset)
        guard table.count > 0, offset == nameEnd, peek(offset) == UInt8(ascii: ":") else {
            return nil
        }
        offset += 1
        guard let key = signedDigits(&offset) else { return nil }
        var token = Token(.typedLink, position, offset)
        token.payload = UInt64(bitPattern: key)
        token.extra = Int32(clamping: table.value)
        return finish(token)
    }

    /// `uuid(…)` and `oid(…)`, nil when what follows is not such a constant.
    mutating func hexConstant(nameEnd: Int) -> Token? {
        let start = position
        guard peek(nameEnd) == UInt8(ascii: "(") else { return nil }
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
        var offset = nameEnd + 1
        for (index, length) in groups.enumerated() {
            if index > 0 {
                guard peek(offset) == UInt8(ascii: "-") else { return nil }
                offset += 1
            }
            for _ in 0..<length {
                guard hexDigit(peek(offset)) != nil else { return nil }
                offset += 1
            }
        }
        guard peek(offset) == UInt8(ascii: ")") else { return nil }
        return finish(Token(kind, start, offset + 1))
    }

    /// `decimal(1.50)`, `int(5)` and `timestamp(5:0)`: values that stay of their type beside others,
    /// or that have no other spelling. Nil when what follows is no such constant.
    mutating func typedConstant(nameEnd: Int) -> Token? {
        guard peek(nameEnd) == UInt8(ascii: "(") else { return nil }
        let first = nameEnd + 1
        var offset = first
        if isWord("decimal", nameEnd) {
            while isNumberByte(peek(offset)) { offset += 1 }
            guard peek(offset) == UInt8(ascii: ")"),
                Decimal128(text.string(first, offset)) != nil
            else { return nil }
            return finish(Token(.decimal, position, offset + 1))
        }
        let isInt = isWord("int", nameEnd)
        guard isInt || isWord("timestamp", nameEnd), let number = signedDigits(&offset) else {
            return nil
        }
        var token = Token(isInt ? .integer : .date, position, offset)
        token.isExact = isInt
        token.payload = UInt64(bitPattern: number)
        if !isInt {
            guard peek(offset) == UInt8(ascii: ":") else { return nil }
            offset += 1
            guard let nanoseconds = signedDigits(&offset) else { return nil }
            token.extra = Int32(clamping: nanoseconds)
        }
        guard peek(offset) == UInt8(ascii: ")") else { return nil }
        token.end = Int32(truncatingIfNeeded: offset + 1)
        return finish(token)
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
