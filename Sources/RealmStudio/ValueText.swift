// Values as texts that people read and type, both ways, where CoreSwift has none that is public: points in
// time as ISO 8601, binaries as hexadecimal digits; and the value of a property from what was typed.

import CoreSwift

enum ValueText {
    // MARK: Points in time

    /// `2024-02-29T12:30:00.25Z`; where the year has not four digits, `T<seconds>:<nanoseconds>`.
    static func text(_ time: Timestamp) -> String {
        var seconds = time.seconds
        var nanoseconds = Int64(time.nanoseconds)
        // Before 1970 both are negative.
        if nanoseconds < 0 {
            seconds -= 1
            nanoseconds += 1_000_000_000
        }
        // 0000-01-01 and 9999-12-31.
        guard seconds >= -62_167_219_200, seconds <= 253_402_300_799 else {
            return "T\(time.seconds):\(time.nanoseconds)"
        }
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let date = civil(days)
        var text =
            padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T"
            + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":"
            + padded(rest % 60, 2)
        if nanoseconds > 0 {
            text += "." + padded(nanoseconds, 9)
            while text.hasSuffix("0") { text.removeLast() }
        }
        return text + "Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
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
}
