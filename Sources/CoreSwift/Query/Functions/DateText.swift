// Dates as text (ISO 8601, UTC) and the fields of dates, of the proleptic Gregorian calendar
// (QUERY_RULES B7, B8).

/// A date's fields in some zone.
struct DateFields {
    var year: Int64
    var month: Int64
    var day: Int64
    /// Of the day.
    var seconds: Int64
    /// 0 ..< 10^9.
    var nanoseconds: Int64
    /// ISO: Monday is 1.
    var weekday: Int64

    /// `shift`: seconds east of UTC.
    init(_ date: Timestamp, shift: Int64 = 0) {
        // Before 1970 the nanoseconds are negative.
        var nanoseconds = Int64(date.nanoseconds)
        var instant = date.seconds
        if nanoseconds < 0 {
            nanoseconds += 1_000_000_000
            instant = instant == .min ? instant : instant - 1
        }
        let (shifted, overflow) = instant.addingReportingOverflow(shift)
        if !overflow { instant = shifted }
        self.nanoseconds = nanoseconds
        var days = instant / 86400
        seconds = instant % 86400
        if seconds < 0 {
            seconds += 86400
            days -= 1
        }
        // 1970-01-01 was a Thursday.
        weekday = (days % 7 + 7 + 3) % 7 + 1
        // Days of eras of 400 years, which begin in March (the inverse of `daysSinceEpoch`).
        let shiftedDays = days + 719468
        let era = (shiftedDays >= 0 ? shiftedDays : shiftedDays - 146096) / 146097
        let dayOfEra = shiftedDays - era * 146097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Whole seconds since 1970 that have passed by a date.
    static func floorSeconds(_ date: RawValue) -> Int64 {
        date.nanoseconds < 0 && date.seconds > .min ? date.seconds - 1 : date.seconds
    }

    /// What `year` to `weekday` are of it.
    func field(_ function: ExpressionFunction) -> Int64 {
        switch function {
        case .year: return year
        case .month: return month
        case .day: return day
        case .hour: return seconds / 3600
        case .minute: return seconds / 60 % 60
        case .second: return seconds % 60
        default: return weekday
        }
    }

    /// `2024-05-01T10:00:00Z`, with the fraction that the date has; years beyond four digits
    /// with a sign.
    var text: String {
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number.magnitude)
            return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
        }
        var result = year < 0 ? "-" : year > 9999 ? "+" : ""
        result += padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
        result += "T" + padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2)
        result += ":" + padded(seconds % 60, 2)
        if nanoseconds != 0 {
            var fraction = padded(nanoseconds, 9)
            while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
            result += "." + fraction
        }
        return result + "Z"
    }
}

enum DateText {
    /// `2024-05-01`, `2024-05-01T10:00:00`, a fraction, `Z` or `±hh:mm`; without a zone UTC. Nil
    /// for everything else, also for days that no calendar has. Fractions beyond nanoseconds are
    /// cut.
    static func parse(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        var reader = Reader(text: text)
        var date = CalendarDate()
        date.isFraction = true
        let isNegative = reader.take("-")
        let isLong = !isNegative && reader.take("+") || isNegative
        guard let year = reader.digits(isLong ? 4...7 : 4...4), reader.take("-"),
            let month = reader.digits(2...2), reader.take("-"), let day = reader.digits(2...2)
        else { return nil }
        (date.year, date.month, date.day) = (isNegative ? -year : year, month, day)
        if reader.isAtEnd { return date.timestamp }
        guard reader.take("T"), let hour = reader.digits(2...2), reader.take(":"),
            let minute = reader.digits(2...2), reader.take(":"),
            let second = reader.digits(2...2)
        else { return nil }
        (date.hour, date.minute, date.second) = (hour, minute, second)
        if reader.take(".") {
            guard let nanoseconds = reader.fraction() else { return nil }
            date.nanoseconds = nanoseconds
        }
        if reader.isAtEnd || (reader.take("Z") && reader.isAtEnd) { return date.timestamp }
        guard let shift = reader.zone(), reader.isAtEnd else { return nil }
        date.zoneSeconds = shift
        return date.timestamp
    }

    /// Seconds east of UTC that `UTC`, `Z` or `UTC±hh:mm` means; nil for other texts.
    static func zone(_ text: UnsafeRawBufferPointer) -> Int64? {
        var reader = Reader(text: text)
        if reader.take("Z") { return reader.isAtEnd ? 0 : nil }
        guard reader.take("U"), reader.take("T"), reader.take("C") else { return nil }
        if reader.isAtEnd { return 0 }
        guard let shift = reader.zone(), reader.isAtEnd else { return nil }
        return shift
    }

    private struct Reader {
        let text: UnsafeRawBufferPointer
        var offset = 0

        var isAtEnd: Bool { offset == text.count }

        mutating func take(_ byte: Unicode.Scalar) -> Bool {
            guard offset < text.count, UInt32(text[offset]) == byte.value else { return false }
            offset += 1
            return true
        }

        /// A number of as many digits.
        mutating func digits(_ count: ClosedRange<Int>) -> Int64? {
            var number: Int64 = 0
            var found = 0
            while found < count.upperBound, offset < text.count, text[offset] &- 0x30 < 10 {
                number = number * 10 + Int64(text[offset] - 0x30)
                offset += 1
                found += 1
            }
            return found >= count.lowerBound ? number : nil
        }

        /// The digits behind the point, as nanoseconds.
        mutating func fraction() -> Int64? {
            var nanoseconds: Int64 = 0
            var unit: Int64 = 100_000_000
            let first = offset
            while offset < text.count, text[offset] &- 0x30 < 10 {
                nanoseconds += Int64(text[offset] - 0x30) * unit
                unit /= 10
                offset += 1
            }
            return offset > first ? nanoseconds : nil
        }

        /// `+hh:mm` or `-hh:mm`.
        mutating func zone() -> Int64? {
            let isWest = take("-")
            guard isWest || take("+"), let hours = digits(2...2), take(":"),
                let minutes = digits(2...2), hours < 24, minutes < 60
            else { return nil }
            let shift = hours * 3600 + minutes * 60
            return isWest ? -shift : shift
        }
    }
}
