// Values as texts that people read and type, both ways, where CoreSwift has none that is public: points in
// time as ISO 8601, binaries as hexadecimal digits; and the value of a property from what was typed.

import CoreSwift

enum ValueText {
    // MARK: Beginnings of texts

    /// As much of a text as fits into so many bytes. It ends between scalars, not between characters: one of those may
    /// have any number of accents, and finding where it begins takes the time of all of them.
    static func beginning(of text: String, bytesMax: Int) -> String {
        let utf8 = text.utf8
        guard utf8.count > bytesMax else { return text }
        var end = utf8.index(utf8.startIndex, offsetBy: bytesMax)
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(text[..<end])
    }

    /// What stands for a text in one line: so many characters, each of a few bytes.
    static func short(_ text: String, charactersMax: Int = 60) -> String {
        String(beginning(of: text, bytesMax: charactersMax * 8).prefix(charactersMax))
    }

    // MARK: Points in time

    /// `2024-02-29T12:30:00.25Z`; where the year has not four digits, `T<seconds>:<nanoseconds>`.
    static func text(_ time: Timestamp) -> String {
        // Before 1970 both are negative.
        let seconds = time.nanoseconds < 0 ? time.seconds - 1 : time.seconds
        // 0000-01-01 and 9999-12-31.
        guard seconds >= -62_167_219_200, seconds <= 253_402_300_799 else {
            return "T\(time.seconds):\(time.nanoseconds)"
        }
        return TextForms.date(time)
    }

    /// Year, month and day of a day since 1970, by Howard Hinnant's algorithm for the Gregorian
    /// calendar (eras of 400 years that begin in March).
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            ofYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    // MARK: Binaries

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that pairs of hexadecimal digits spell, blanks between them left out; nil for any other text.
    static func bytes(hexadecimal text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var half: UInt8?
        for character in text.utf8 where character > 0x20 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let high = half {
                bytes.append(high << 4 | digit)
                half = nil
            } else {
                half = digit
            }
        }
        return half == nil ? bytes : nil
    }

    /// `YYYY-MM-DD[(T| )hh:mm[:ss[.fraction]]][Z|±hh:mm]`, without zone as UTC; or `T<seconds>:<nanoseconds>`.
    static func timestamp(_ text: String) -> Timestamp? {
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(?:Z|([+-])(\d\d):(\d\d))?/
        if text.hasPrefix("T") {
            let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let seconds = Int64(parts[0]), let rest = Int32(parts[1]),
                abs(rest) < 1_000_000_000, rest == 0 || seconds == 0 || (rest < 0) == (seconds < 0)
            else { return nil }
            return Timestamp(seconds: seconds, nanoseconds: rest)
        }
        guard let found = text.wholeMatch(of: pattern)?.output else { return nil }
        func number(_ part: Substring?) -> Int64 { part.flatMap { Int64($0) } ?? 0 }
        let month = number(found.2)
        let day = number(found.3)
        let days = self.days(number(found.1), month, day)
        let hour = number(found.4)
        let minute = number(found.5)
        let second = number(found.6)
        // The thirtieth of February would be a day in March.
        guard (1...12).contains(month), day >= 1, civil(days).month == month, hour < 24,
            minute < 60, second < 60, number(found.9) < 24, number(found.10) < 60
        else { return nil }
        let zone = (number(found.9) * 3600 + number(found.10) * 60) * (found.8 == "-" ? -1 : 1)
        var seconds = days * 86_400 + hour * 3600 + minute * 60 + second - zone
        var nanoseconds = number(
            found.7.map { $0 + String(repeating: "0", count: 9 - $0.count) }.map { $0[...] })
        if seconds < 0, nanoseconds > 0 {
            seconds += 1
            nanoseconds -= 1_000_000_000
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    /// Days since 1970: the inverse of `civil`.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        return era * 146_097 + ofEra - 719_468
    }

    // MARK: What was typed

    /// The type that the page calls so, of a value for a mixed property.
    static func type(named name: String) throws -> PropertyType {
        let types: [String: PropertyType] = [
            "int": .int, "bool": .bool, "string": .string, "binary": .binary, "float": .float,
            "double": .double, "decimal": .decimal128, "timestamp": .timestamp,
            "objectId": .objectId, "uuid": .uuid,
        ]
        guard let type = types[name] else {
            throw StudioError.refused("there are no values of type '\(name)'")
        }
        return type
    }

    /// The value of a type that a text spells.
    static func value(_ text: String, _ type: PropertyType) throws -> Value {
        func expect(_ value: Value?, _ what: String) throws -> Value {
            guard let value else {
                throw StudioError.refused("“\(short(text))” is no \(what)")
            }
            return value
        }
        let bare = text.drop { $0.isWhitespace }
        let trimmed = String(
            bare.prefix(bare.count - bare.reversed().prefix { $0.isWhitespace }.count))
        switch type {
        case .string: return .string(text)
        case .int: return try expect(Int64(trimmed).map { .int($0) }, "integer of 64 bits")
        case .bool:
            return try expect(["true": true, "false": false][trimmed].map { .bool($0) }, "bool")
        case .float: return try expect(Float(trimmed).map { .float($0) }, "number")
        case .double: return try expect(Double(trimmed).map { .double($0) }, "number")
        case .decimal128:
            return try expect(Decimal128(trimmed).map { .decimal128($0) }, "decimal number")
        case .timestamp:
            return try expect(
                timestamp(trimmed).map { .timestamp($0) },
                "point in time, as 2024-02-29 12:30:00")
        case .binary:
            return try expect(
                bytes(hexadecimal: text).map { .binary($0) }, "pairs of hexadecimal digits")
        case .objectId: return .objectId(try ObjectId(parsing: trimmed))
        case .uuid: return .uuid(try UUIDValue(parsing: trimmed))
        default: throw StudioError.refused("a \(type) can't be typed")
        }
    }
}
