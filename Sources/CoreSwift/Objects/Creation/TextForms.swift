// Text forms of values that JSON has no form for, both ways: ISO 8601 for timestamps and base64 for
// binaries. Object ids, UUIDs and decimals have theirs with their types.

package enum TextForms {
    // MARK: Timestamps

    /// `2024-02-29T12:30:00.25Z`; where the year has not four digits, `T<seconds>:<nanoseconds>` as
    /// in queries.
    package static func text(_ time: Timestamp) -> String {
        // 0000-01-01 and 9999-12-31.
        guard time.seconds > -62_167_219_200, time.seconds < 253_402_300_799 else {
            return "T\(time.seconds):\(time.nanoseconds)"
        }
        return date(time)
    }

    /// `2024-02-29T12:30:00.25Z`.
    package static func date(_ time: Timestamp) -> String {
        var text = JSONText.calendar(time)
        while text.hasSuffix("0"), text.contains(".") { text.removeLast() }
        return text.replacingBlank() + "Z"
    }

    /// Reads `YYYY-MM-DD[(T| )hh:mm[:ss[.fraction]]][Z|±hh[[:]mm]]`, without zone as UTC, and
    /// `T<seconds>[:<nanoseconds>]`. Digits behind the ninth of a fraction are dropped.
    package static func timestamp(_ text: String) -> Timestamp? {
        var cursor = Cursor(bytes: Array(text.utf8))
        if cursor.take(UInt8(ascii: "T")) { return cursor.rawTimestamp() }
        guard let year = cursor.digits(4), cursor.take(UInt8(ascii: "-")),
            let month = cursor.digits(2), cursor.take(UInt8(ascii: "-")),
            let day = cursor.digits(2), (1...12).contains(month),
            day >= 1, day <= CalendarDate.days(inMonth: month, year)
        else { return nil }
        var seconds = CalendarDate.daysSinceEpoch(year, month, day) * 86_400
        var nanoseconds: Int64 = 0
        if cursor.take(UInt8(ascii: "T")) || cursor.take(0x20) {
            guard let hour = cursor.digits(2), hour < 24, cursor.take(UInt8(ascii: ":")),
                let minute = cursor.digits(2), minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            if cursor.take(UInt8(ascii: ":")) {
                guard let second = cursor.digits(2), second < 60 else { return nil }
                seconds += second
                if cursor.take(UInt8(ascii: ".")) {
                    guard let fraction = cursor.fraction() else { return nil }
                    nanoseconds = fraction
                }
            }
            guard let zone = cursor.zone() else { return nil }
            seconds -= zone
        }
        guard cursor.isAtEnd else { return nil }
        if seconds < 0 && nanoseconds > 0 {
            seconds += 1
            nanoseconds -= 1_000_000_000
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    /// The instant of a count of milliseconds since 1970.
    static func timestamp(milliseconds: Int64) -> Timestamp {
        Timestamp(
            seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
    }

    private struct Cursor {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position == bytes.count }

        mutating func take(_ byte: UInt8) -> Bool {
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            guard bytes.count - position >= count else { return nil }
            var value: Int64 = 0
            for byte in bytes[position..<position + count] {
                guard byte &- UInt8(ascii: "0") <= 9 else { return nil }
                value = value * 10 + Int64(byte &- UInt8(ascii: "0"))
            }
            position += count
            return value
        }

        mutating func fraction() -> Int64? {
            var value: Int64 = 0
            var count = 0
            while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 {
                if count < 9 { value = value * 10 + Int64(bytes[position] &- UInt8(ascii: "0")) }
                count += 1
                position += 1
            }
            guard count > 0 else { return nil }
            for _ in min(count, 9)..<9 { value *= 10 }
            return value
        }

        /// Seconds east of Greenwich.
        mutating func zone() -> Int64? {
            if isAtEnd || take(UInt8(ascii: "Z")) { return 0 }
            let isWest = take(UInt8(ascii: "-"))
            guard isWest || take(UInt8(ascii: "+")), let hours = digits(2), hours < 24 else {
                return nil
            }
            var minutes: Int64 = 0
            if !isAtEnd {
                _ = take(UInt8(ascii: ":"))
                guard let more = digits(2), more < 60 else { return nil }
                minutes = more
            }
            let seconds = hours * 3600 + minutes * 60
            return isWest ? -seconds : seconds
        }

        /// What is behind the T of `T<seconds>:<nanoseconds>`.
        mutating func rawTimestamp() -> Timestamp? {
            let parts = bytes[position...].split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first,
                let seconds = Int64(String(decoding: first, as: UTF8.self))
            else { return nil }
            guard parts.count == 2 else { return Timestamp(seconds: seconds) }
            guard let nanoseconds = Int32(String(decoding: parts[1], as: UTF8.self)),
                nanoseconds.magnitude < 1_000_000_000,
                seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0)
            else { return nil }
            return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        }
    }

    // MARK: Binaries

    /// The bytes of a base64 text (RFC 4648), padded or not; nil for anything else.
    static func base64(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        if digits.count % 4 == 0 {
            if digits.last == UInt8(ascii: "=") { digits.removeLast() }
            if digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        // What is left over must be zero, or two texts would mean the same bytes.
        let unused: [UInt8] = [0, 0, 0xF, 3]
        let last = digits.last.flatMap { Base64.value($0) } ?? 0
        guard digits.count % 4 != 1, last & unused[digits.count % 4] == 0 else { return nil }
        return Base64.bytes(digits)
    }
}

extension String {
    /// With a T for the first blank.
    fileprivate func replacingBlank() -> String {
        guard let blank = firstIndex(of: " ") else { return self }
        return self[..<blank] + "T" + self[index(after: blank)...]
    }
}
