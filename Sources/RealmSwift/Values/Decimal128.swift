// Decimal numbers of 34 digits (IEEE 754-2008).

import CoreSwift
public import Foundation

/// A decimal number with 34 digits and exponents up to 6,144; sums, products and quotients are rounded
/// to the nearest, ties to even.
public struct Decimal128: Sendable, Hashable, CustomStringConvertible {
    let core: EngineDecimal

    init(_ core: EngineDecimal) { self.core = core }

    /// Zero.
    public init() { core = .zero }

    /// From a number, or from text; what is neither is misuse.
    public init(value: Any) {
        guard let made = Decimal128(converting: value) else {
            misuse(
                "Cannot convert value '\(value)' of type '\(type(of: value))' to decimal128 value")
        }
        self = made
    }

    /// The decimal with the digits that the number is written with.
    public init(number: NSNumber) {
        core = (try? EngineDecimal(parsing: number.stringValue)) ?? EngineDecimal.nan
    }

    /// From text such as `1.25`, `-3e10`, `inf`, `nan`.
    ///
    /// - Throws: `Realm.Error` with the code `invalidInput` for other text.
    public init(string: String) throws {
        core = try asRealmError(nil, try EngineDecimal(parsing: string))
    }

    /// From any integer that has not more than 34 digits.
    public init?<T: BinaryInteger>(exactly source: T) {
        guard let core = try? EngineDecimal(parsing: String(source)),
            core.description == EngineDecimal(Int64(clamping: source)).description
                || Int64(exactly: source) == nil
        else { return nil }
        self.core = core
    }

    /// From a value of any type that holds a number; nil for others.
    init?(converting value: Any) {
        switch unwrapped(value) {
        case let decimal as Decimal128: self = decimal
        case let text as String: self.init(text: text)
        case let number as Double: self.init(EngineDecimal(rounding: number))
        case let number as Float: self.init(EngineDecimal(rounding: number))
        case let number as any BinaryInteger: self.init(text: "\(number)")
        case let decimal as Decimal: self.init(text: "\(decimal)")
        case let number as NSNumber: self.init(number: number)
        default: return nil
        }
    }

    private init?(text: String) {
        guard let core = try? EngineDecimal(parsing: text) else { return nil }
        self.core = core
    }

    /// The smallest finite number.
    public static var min: Decimal128 { Decimal128("-9.999999999999999999999999999999999E6144") }
    /// The largest finite number.
    public static var max: Decimal128 { Decimal128("9.999999999999999999999999999999999E6144") }

    /// It is no number.
    public var isNaN: Bool { core.isNaN }
    /// The same as `isNaN`, as the older library has it.
    public var isSignaling: Bool { isNaN }
    /// The same as `isNaN`, as the older library has it.
    public var isSignalingNaN: Bool { isNaN }
    /// The number without its sign.
    public var magnitude: Decimal128 { Decimal128(core.magnitude) }
    /// The nearest binary number.
    public var doubleValue: Double { core.doubleValue }
    /// The same number as Foundation has it, with 38 digits and smaller exponents; NaN where it can't.
    public var decimalValue: Decimal { Decimal(string: description) ?? .nan }
    /// The number as text.
    public var stringValue: String { core.description }
    public var description: String { core.description }

    public static func == (a: Decimal128, b: Decimal128) -> Bool { a.core == b.core }
    public func hash(into hasher: inout Hasher) { core.hash(into: &hasher) }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    public init(integerLiteral value: Int64) { core = EngineDecimal(value) }
    public init(floatLiteral value: Double) { core = EngineDecimal(rounding: value) }
    public init(stringLiteral value: String) {
        guard let core = try? EngineDecimal(parsing: value) else {
            misuse("Invalid value '\(value)' of type 'Decimal128'")
        }
        self.core = core
    }
}

extension Decimal128: Comparable, SignedNumeric, Strideable {
    public static func < (a: Decimal128, b: Decimal128) -> Bool { a.core < b.core }
    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
        Decimal128(a.core + b.core)
    }
    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 {
        Decimal128(a.core - b.core)
    }
    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
        Decimal128(a.core * b.core)
    }
    /// The quotient.
    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
        Decimal128(a.core / b.core)
    }
    public static func *= (a: inout Decimal128, b: Decimal128) { a = a * b }
    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    public func advanced(by n: Decimal128) -> Decimal128 { self + n }
}

extension Decimal128: Codable {
    /// From text, or from a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            try self.init(string: text)
        } else if let number = try? container.decode(Int64.self) {
            self.init(integerLiteral: number)
        } else if let number = try? container.decode(Double.self) {
            self.init(floatLiteral: number)
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "Cannot convert value to Decimal128")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
