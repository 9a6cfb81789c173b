// Values as texts that people read and type, where these are not the engine's: points in time, binaries as
// hexadecimal digits; and the value of a property from what was typed.

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

    /// `YYYY-MM-DD[(T| )hh:mm[:ss[.fraction]]][Z|±hh:mm]`, without zone as UTC; or `T<seconds>:<nanoseconds>`.
    static func timestamp(_ text: String) -> Timestamp? {
        let pattern =
            /(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?|T[+-]?\d+:[+-]?\d+/
        guard let found = text.wholeMatch(of: pattern)?.output else { return nil }
        // Behind a day alone there may be a zone, too.
        if let day = found.1, found.2 == nil, let zone = found.3 {
            return TextForms.timestamp("\(day)T00:00\(zone)")
        }
        return TextForms.timestamp(text)
    }

    // MARK: Binaries

    /// The bytes that pairs of hexadecimal digits spell, blanks between them left out; nil for any other text.
    static func bytes(hexadecimal text: String) -> [UInt8]? {
        guard let digits = HexText.digits(text.utf8.filter { $0 > 0x20 }), digits.count % 2 == 0
        else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
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
