// Decimal numbers against the vectors of Python's decimal module, and where vectors do not reach.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct Decimal128Tests {
    private static let vectors: [[String]] = {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("decimal-vectors.txt")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }()

    @Test func theVectorsAreThere() { #expect(Self.vectors.count > 1000) }

    @Test(arguments: ["add", "subtract", "multiply", "divide"])
    func arithmeticGivesWhatPythonGives(name: String) throws {
        for vector in Self.vectors where vector[0] == name {
            let a = try Decimal128(parsing: vector[1])
            let b = try Decimal128(parsing: vector[2])
            let result: Decimal128
            switch name {
            case "add": result = a + b
            case "subtract": result = a - b
            case "multiply": result = a * b
            default: result = a / b
            }
            #expect(result.description == vector[4], "\(vector.joined(separator: " "))")
        }
    }

    @Test func textIsRoundedTo34DigitsAndWrittenAsPythonWritesIt() throws {
        for vector in Self.vectors where vector[0] == "parse" {
            let value = try Decimal128(parsing: vector[1])
            #expect(value.description == vector[3], "\(vector.joined(separator: " "))")
            let again = try Decimal128(parsing: value.description)
            #expect(again.low == value.low && again.high == value.high)
        }
    }

    @Test func comparisonGivesWhatPythonGives() throws {
        for vector in Self.vectors where vector[0] == "compare" {
            let a = try Decimal128(parsing: vector[1])
            let b = try Decimal128(parsing: vector[2])
            #expect(Decimal128.compare(a, b) == Int(vector[4]), "\(vector)")
            #expect(Decimal128.compare(b, a) == Int(vector[4]).map { -$0 }, "\(vector)")
            #expect((a == b) == (vector[4] == "0"))
            if a == b { #expect(a.hashValue == b.hashValue, "\(vector)") }
        }
    }

    @Test func comparisonWithDoublesLooksAtEveryDigit() throws {
        for vector in Self.vectors where vector[0] == "comparedouble" {
            let a = try Decimal128(parsing: vector[1])
            let b = try #require(Double(vector[2]))
            #expect(Decimal128.compare(a, b) == Int(vector[4]), "\(vector)")
        }
        for vector in Self.vectors where vector[0] == "todouble" {
            let a = try Decimal128(parsing: vector[1])
            #expect(a.doubleValue == Double(vector[3]), "\(vector)")
        }
    }

    @Test(
        arguments: [
            ("0", 0, 0x3040_0000_0000_0000), ("1", 1, 0x3040_0000_0000_0000),
            ("-1", 1, 0xB040_0000_0000_0000), ("0.1", 1, 0x303E_0000_0000_0000),
            ("1E+6111", 1, 0x5FFE_0000_0000_0000), ("1E-6176", 1, 0),
            ("9999999999999999999999999999999999", 0x378D_8E63_FFFF_FFFF, 0x3041_ED09_BEAD_87C0),
            ("Infinity", 0, 0x7800_0000_0000_0000), ("NaN", 0, 0x7C00_0000_0000_0000),
        ] as [(String, UInt64, UInt64)])
    func bitsAreThoseOfTheBinaryIntegerEncoding(text: String, low: UInt64, high: UInt64) throws {
        let value = try Decimal128(parsing: text)
        #expect(value.low == low && value.high == high)
        #expect(Decimal128(low: low, high: high).description == text)
    }

    @Test func bitPatternsThatAreNotCanonicalMeanWhatTheStandardSays() {
        // A coefficient of 10^34, and one in the form with bits 62 and 61 set: zeros.
        let large = Decimal128(low: 0x378D_8E64_0000_0000, high: 0x3041_ED09_BEAD_87C0)
        #expect(large.isZero && large == .zero && large.description == "0")
        let steered = Decimal128(low: 5, high: 0x6C10_0000_0000_0001)
        #expect(steered.isZero && steered.isFinite && steered == .zero)
        #expect((steered + Decimal128(7)).int64 == 7)
        // Infinities and NaNs with payload, signalling ones included.
        let infinite = Decimal128(low: 99, high: 0xFBFF_FFFF_FFFF_FFFF)
        #expect(
            infinite.isInfinite && infinite == -.infinity && infinite.description == "-Infinity")
        let signalling = Decimal128(low: 1, high: 0xFE00_0000_0000_0001)
        #expect(signalling.isNaN && signalling == .nan && signalling.description == "NaN")
        #expect(signalling.hashValue == Decimal128.nan.hashValue)
    }

    @Test func everyBitPatternCanBeComputedWith() {
        var random = Random(7)
        var values: [Decimal128] = []
        for _ in 0..<200 {
            values.append(Decimal128(low: random.next(), high: random.next()))
        }
        for a in values {
            #expect((try? Decimal128(parsing: a.description)) == a, "\(a)")
            for b in values.prefix(40) {
                for result in [a + b, a - b, a * b, a / b] {
                    #expect(result.isNaN || result.isInfinite || result.coefficient < 1 << 113)
                }
                #expect(Decimal128.compare(a, b) == -Decimal128.compare(b, a))
                #expect(Decimal128.compare(a, a.doubleValue) * 0 == 0)
            }
        }
    }

    @Test(arguments: [
        "", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10", "1,5", "infinit", "nan1",
        "--1", "1E7000", "-9E6145", "١",
    ])
    func whatIsNoNumberIsRefused(text: String) {
        #expect(errorCode { _ = try Decimal128(parsing: text) } == .invalidArgument)
        #expect(Decimal128(text) == nil)
    }

    @Test func integersAndDoublesConvert() throws {
        for number in [0, 1, -1, 10, Int64.max, Int64.min, Int64.min + 1, 1_000_000] {
            let value = Decimal128(number)
            #expect(value.int64 == number)
            #expect(value.description == "\(number)")
            #expect(Decimal128.compare(value, number) == 0)
        }
        #expect(try Decimal128(parsing: "9223372036854775808").int64 == nil)
        #expect(try Decimal128(parsing: "-9223372036854775809").int64 == nil)
        #expect(try Decimal128(parsing: "1.5").int64 == nil)
        #expect(try Decimal128(parsing: "15E+1").int64 == 150)
        #expect(try Decimal128(parsing: "1.50E+1").int64 == 15)
        #expect(Decimal128(rounding: 0.1).description == "0.1")
        #expect(Decimal128(rounding: 1.1).description == "1.1")
        #expect(Decimal128(rounding: -2.5e-300).description == "-2.5E-300")
        #expect(Decimal128(rounding: 1e22).int64 == nil)
        #expect(Decimal128(rounding: 123456789.0).description == "123456789")
        #expect(Decimal128(rounding: Float(0.1)).description == "0.1")
        #expect(Decimal128(rounding: Double.nan).isNaN)
        #expect(Decimal128(rounding: -Double.infinity) == -.infinity)
    }
}
