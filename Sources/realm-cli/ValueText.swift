// Single values as JSON text, in the forms of docs/JSON.md: for operations of the change log, which are told
// value by value. Whole objects are written by the engine (`ObjectText`).

import CoreSwift

enum ValueText {
    /// `isTyped`: what JSON has no type for is written so that its type can be told, as in mixed values.
    static func json(_ value: Value, _ schema: Schema, isTyped: Bool) -> String {
        func typed(_ name: String, _ text: String) -> String {
            isTyped ? "{\"\(name)\":\"\(text)\"}" : "\"\(text)\""
        }
        switch value {
        case .null: return "null"
        case .int(let number): return "\(number)"
        case .bool(let flag): return flag ? "true" : "false"
        case .string(let text): return JSON.quoted(text)
        case .float(let number):
            return number.isFinite ? "\(number)" : typed("$numberFloat", special(Double(number)))
        case .double(let number):
            return number.isFinite ? "\(number)" : typed("$numberDouble", special(number))
        case .decimal128(let number): return typed("$numberDecimal", "\(number)")
        case .objectId(let id): return typed("$oid", "\(id)")
        case .uuid(let id): return typed("$uuid", "\(id)")
        case .timestamp(let time): return typed("$date", date(time))
        case .binary(let bytes):
            let text = base64(bytes)
            return isTyped
                ? "{\"$binary\":{\"base64\":\"\(text)\",\"subType\":\"00\"}}" : "\"\(text)\""
        case .link(let link):
            let name = schema.class_(link.classKey)?.name ?? "\(link.classKey)"
            return "{\"$link\":{\"table\":\(JSON.quoted(name)),\"key\":\(link.objectKey)}}"
        }
    }

    private static func special(_ number: Double) -> String {
        number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let piece = bytes[start..<min(start + 3, bytes.count)]
            var bits = 0
            for place in 0..<3 {
                bits = bits << 8 | (place < piece.count ? Int(piece[start + place]) : 0)
            }
            for place in 0..<4 {
                text.append(
                    place <= piece.count
                        ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `2024-02-29T12:30:00.25Z`; outside of the years 0 to 9999, `T<seconds>:<nanoseconds>`.
    private static func date(_ time: Timestamp) -> String {
        guard time.seconds > -62_167_219_200, time.seconds < 253_402_300_799 else {
            return "T\(time.seconds):\(time.nanoseconds)"
        }
        // Seconds downwards, so that the fraction is never negative.
        let seconds = time.nanoseconds < 0 ? time.seconds - 1 : time.seconds
        let nanoseconds =
            time.nanoseconds < 0 ? 1_000_000_000 + Int(time.nanoseconds) : Int(time.nanoseconds)
        let day = Int(seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
        let second = Int(seconds) - day * 86_400
        // Days in eras of 400 years that begin in March: leap days are at the end of years then.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let inEra = shifted - era * 146_097
        let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        var text = padded(year + era * 400 + (month >= 10 ? 1 : 0), 4)
        text += "-" + padded(month < 10 ? month + 3 : month - 9, 2)
        text += "-" + padded(inYear - (153 * month + 2) / 5 + 1, 2)
        text += "T" + padded(second / 3600, 2)
        text += ":" + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2)
        if nanoseconds > 0 {
            var fraction = padded(nanoseconds, 9)
            while fraction.last == "0" { fraction.removeLast() }
            text += "." + fraction
        }
        return text + "Z"
    }
}
