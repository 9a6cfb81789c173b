// Rules B7 and B8 of the query language: what functions make of values, before any query.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FunctionValueTests {
    private let arena = TextArena()

    private func text(_ value: RawValue) -> String? {
        value.isNull ? nil : String(decoding: value.bytes, as: UTF8.self)
    }

    /// Texts of the test, which are never cleared.
    private let kept = TextArena()
    private func string(_ text: String) -> RawValue { kept.string(text) }

    private func decimal(_ text: String) -> Decimal128 { Decimal128(text) ?? .nan }

    @Test("rounding keeps the type; halves go away from zero")
    func rounding() {
        typealias Case = (Double, Double, Double, Double, Double)
        let cases: [Case] = [
            (2.5, 3, 2, 3, 2), (-2.5, -2, -3, -3, -2), (2.4, 3, 2, 2, 2), (-0.5, 0, -1, -1, 0),
            (7, 7, 7, 7, 7),
        ]
        for (value, up, down, near, cut) in cases {
            for (rounding, expected) in [
                (FloatingPointRoundingRule.up, up), (.down, down), (.toNearestOrAwayFromZero, near),
                (.towardZero, cut),
            ] {
                #expect(
                    NumberFunctions.rounded(.double(value), rounding).doubleValue == expected)
                #expect(
                    NumberFunctions.rounded(.float(Float(value)), rounding).floatValue
                        == Float(expected))
                let exact = NumberFunctions.rounded(
                    .decimal(Decimal128(rounding: value)), rounding)
                #expect(exact.decimalValue == Decimal128(rounding: expected))
            }
        }
        #expect(NumberFunctions.rounded(.int(-7), .down).intValue == -7)
        #expect(NumberFunctions.rounded(.bool(true), .down).isNull)
        #expect(NumberFunctions.rounded(decimal("1E-40"), .up) == decimal("1"))
        #expect(NumberFunctions.rounded(decimal("0.5"), .toNearestOrAwayFromZero) == decimal("1"))
        #expect(NumberFunctions.rounded(decimal("1E+40"), .down) == decimal("1E+40"))
    }

    @Test("functions without a result give null")
    func domains() {
        #expect(NumberFunctions.apply(.sqrt, .int(9)).doubleValue == 3)
        #expect(NumberFunctions.apply(.sqrt, .int(-1)).isNull)
        #expect(NumberFunctions.apply(.ln, .int(0)).isNull)
        #expect(NumberFunctions.apply(.log, .decimal(decimal("1000"))).doubleValue == 3)
        #expect(NumberFunctions.apply(.exp, .int(0)).doubleValue == 1)
        #expect(NumberFunctions.apply(.exp, .null).isNull)
        #expect(NumberFunctions.power(.int(2), .int(-1)).doubleValue == 0.5)
        #expect(NumberFunctions.power(.int(0), .int(-1)).isNull)
        #expect(NumberFunctions.power(.double(-1), .double(0.5)).isNull)
        #expect(NumberFunctions.modulus(.int(-7), .int(3)).intValue == -1)
        #expect(NumberFunctions.modulus(.int(7), .int(-3)).intValue == 1)
        #expect(NumberFunctions.modulus(.int(.min), .int(-1)).intValue == 0)
        #expect(NumberFunctions.modulus(.int(7), .int(0)).isNull)
        #expect(NumberFunctions.modulus(.double(7.5), .int(2)).doubleValue == 1.5)
        #expect(NumberFunctions.modulus(.double(7.5), .int(0)).isNull)
        #expect(
            NumberFunctions.modulus(.decimal(decimal("-7.5")), .int(2)).decimalValue
                == decimal("-1.5"))
        #expect(NumberFunctions.magnitude(.int(-3)).intValue == 3)
        #expect(NumberFunctions.magnitude(.int(.min)).intValue == .min, "wraps")
        #expect(NumberFunctions.magnitude(string("x")).isNull)
    }

    @Test("letters map fully and whatever the locale; blanks go at both ends")
    func texts() {
        #expect(text(TextFunctions.mapped(string("straße"), .upper, arena)) == "STRASSE")
        #expect(text(TextFunctions.mapped(string("ÉÀİ"), .lower, arena)) == "éài\u{307}")
        #expect(text(TextFunctions.mapped(string("aZ09"), .upper, arena)) == "AZ09")
        #expect(text(TextFunctions.mapped(string(""), .upper, arena)) == "")
        #expect(TextFunctions.mapped(.int(1), .upper, arena).isNull)
        #expect(text(TextFunctions.trimmed(string("\u{3000} a b\t\u{85}"))) == "a b")
        #expect(text(TextFunctions.trimmed(string(" \n"))) == "")
        #expect(TextFunctions.length(string("é日😀")).intValue == 3)
        #expect(TextFunctions.length(.null).isNull)
        #expect(TextFunctions.length(.double(1)).isNull)
    }

    @Test("fields of dates, also before 1970 and in other zones")
    func dateFields() {
        let date = Timestamp(seconds: 1_714_557_600, nanoseconds: 250_000_000)
        let fields = DateFields(date)
        #expect(fields.text == "2024-05-01T10:00:00.25Z")
        #expect(fields.weekday == 3, "a Wednesday")
        #expect(DateFields(date, shift: 14 * 3600).text == "2024-05-02T00:00:00.25Z")
        #expect(DateFields(Timestamp(seconds: 0, nanoseconds: 0)).text == "1970-01-01T00:00:00Z")
        let before = DateFields(Timestamp(seconds: 0, nanoseconds: -1))
        #expect(before.text == "1969-12-31T23:59:59.999999999Z")
        #expect([before.field(.year), before.field(.minute), before.weekday] == [1969, 59, 3])
        for seconds in [Int64.min, .max, -62_135_596_800, 253_402_300_800] {
            let fields = DateFields(Timestamp(seconds: seconds))
            #expect((1...12).contains(fields.month) && (1...31).contains(fields.day))
        }
        #expect(DateFields(Timestamp(seconds: -62_167_219_201)).text == "-0001-12-31T23:59:59Z")
        #expect(DateFields(Timestamp(seconds: 253_402_300_800)).text == "+10000-01-01T00:00:00Z")
    }

    @Test("every day of 800 years has its text, and the text its day")
    func days() {
        for day in stride(from: Int64(-200_000), to: 100_000, by: 1) {
            let date = Timestamp(seconds: day * 86400 + 3723)
            let text = DateFields(date).text
            let parsed = string(text)
            if DateText.parse(parsed.bytes) != date { Issue.record("\(text)") }
        }
    }

    @Test(
        "ISO texts of dates",
        arguments: [
            ("2024-05-01", 1_714_521_600, 0), ("2024-05-01T10:00:00", 1_714_557_600, 0),
            ("2024-05-01T10:00:00.25", 1_714_557_600, 250_000_000),
            ("2024-05-01T10:00:00Z", 1_714_557_600, 0),
            ("2024-05-01T10:00:00+02:30", 1_714_548_600, 0),
            ("2024-05-01T10:00:00.0000000019-01:00", 1_714_561_200, 1),
            ("1969-12-31T23:59:59.75", 0, -250_000_000), ("2024-02-29", 1_709_164_800, 0),
        ])
    func isoTexts(text: String, seconds: Int64, nanoseconds: Int32) {
        let date = DateText.parse(string(text).bytes)
        #expect(date == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    @Test(
        "other texts are no dates",
        arguments: [
            "", "2024", "2024-5-1", "2023-02-29", "2024-13-01", "2024-05-01T", "2024-05-01T10:00",
            "2024-05-01T25:00:00", "2024-05-01T10:00:00.", "2024-05-01T10:00:00Zx",
            "2024-05-01T10:00:00+2:00", "2024-05-01 10:00:00", "24-05-01",
        ])
    func noDates(text: String) {
        #expect(DateText.parse(string(text).bytes) == nil)
    }

    @Test("zones of date functions")
    func zones() {
        #expect(DateText.zone(string("UTC").bytes) == 0)
        #expect(DateText.zone(string("UTC+05:30").bytes) == 19800)
        #expect(DateText.zone(string("UTC-01:00").bytes) == -3600)
        #expect(DateText.zone(string("CET").bytes) == nil)
        #expect(DateText.zone(string("UTC+5").bytes) == nil)
    }

    private func cast(_ value: RawValue, _ target: CastTarget) -> RawValue {
        Casting.cast(value, target, arena)
    }

    @Test("CAST to numbers and truth")
    func castNumbers() {
        #expect(cast(string(" 5 "), .int).intValue == 5)
        #expect(cast(string("5.9"), .int).intValue == 5)
        #expect(cast(string("5abc"), .int).isNull)
        #expect(cast(string("9223372036854775808"), .int).isNull)
        #expect(cast(.double(-3.9), .int).intValue == -3)
        #expect(cast(.double(1e300), .int).isNull)
        #expect(cast(.double(.nan), .int).isNull)
        #expect(cast(.bool(true), .int).intValue == 1)
        #expect(cast(string("1.5"), .double).doubleValue == 1.5)
        #expect(cast(string("0x10"), .double).isNull)
        #expect(cast(.null, .double).isNull)
        #expect(cast(.double(1.1), .decimal).decimalValue == decimal("1.1"))
        #expect(cast(string("1.10"), .nsDecimalNumber).decimalValue == decimal("1.1"))
        #expect(cast(string("7"), .nsNumber).type == ValueType.int.rawValue)
        #expect(cast(string("7.5"), .nsNumber).doubleValue == 7.5)
        #expect(cast(.int(2), .bool).boolValue)
        #expect(!cast(string("No"), .bool).boolValue)
        #expect(cast(string("maybe"), .bool).isNull)
    }

    @Test("CAST to and from dates: 1970, and 2001 under the names of NSPredicate")
    func castDates() {
        let date = RawValue.timestamp(seconds: 1_714_557_600, nanoseconds: 250_000_000)
        #expect(text(cast(date, .string)) == "2024-05-01T10:00:00.25Z")
        #expect(cast(string("2024-05-01"), .date).seconds == 1_714_521_600)
        #expect(cast(string("yesterday"), .date).isNull)
        #expect(cast(.int(5), .date).seconds == 5)
        #expect(cast(.int(5), .nsDate).seconds == 978_307_205)
        let late = cast(.double(-0.25), .date)
        #expect(late.seconds == 0 && late.nanoseconds == -250_000_000)
        let mixed = cast(.double(-0.25), .nsDate)
        #expect(mixed.seconds == 978_307_199 && mixed.nanoseconds == 750_000_000)
        #expect(cast(date, .double).doubleValue == 1_714_557_600.25)
        #expect(cast(date, .decimal).decimalValue == decimal("1714557600.25"))
        #expect(cast(date, .nsNumber).doubleValue == 736_250_400.25)
        #expect(cast(.timestamp(seconds: 0, nanoseconds: -5), .int).intValue == -1)
        #expect(cast(.int(.max), .nsDate).isNull)
        #expect(cast(.double(.infinity), .date).isNull)
    }

    @Test("CAST to texts and identifiers")
    func castOthers() throws {
        let uuid = "01234567-89ab-cdef-0123-456789abcdef"
        #expect(text(cast(cast(string(uuid), .uuid), .string)) == uuid)
        #expect(
            text(cast(cast(string("0123456789abcdef01234567"), .objectId), .nsString))
                == "0123456789abcdef01234567")
        #expect(cast(string("0123"), .objectId).isNull)
        #expect(text(cast(.double(0.1), .string)) == "0.1")
        #expect(text(cast(.decimal(decimal("1.50")), .string)) == "1.50")
        #expect(text(cast(.bool(false), .string)) == "false")
        let bytes: [UInt8] = [0x61, 0xFF]
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            #expect(text(cast(.binary(start, 1), .string)) == "a")
            #expect(cast(.binary(start, 2), .string).isNull)
        }
    }

    @Test("an arena keeps texts where they are until it is cleared")
    func arenas() {
        let arena = TextArena()
        let start = arena.mark
        for _ in 0..<3 {
            let texts = (0..<500).map { arena.string(String(repeating: "x", count: $0)) }
            let long = arena.string(String(repeating: "y", count: 100_000))
            for (index, value) in texts.enumerated() {
                #expect(text(value) == String(repeating: "x", count: index))
            }
            #expect(long.bytes.count == 100_000)
            arena.cut(to: start)
        }
    }
}
