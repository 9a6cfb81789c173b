// Decimal numbers of 34 digits: IEEE 754-2008 decimal128 in the binary integer encoding (BID), bit
// for bit what the C ABI's `realm_decimal128_t` holds.
//
//   high word   bit 63      sign
//               bits 62–49  exponent + 6176, unless bits 62–61 are both set
//               bits 48–0   upper part of the coefficient
//   low word                lower part of the coefficient
//
// With bits 62–61 set the number is infinite (bits 62–58 = 11110), not a number (11111), or its
// coefficient would begin with binary 100 and be above 10^34 - 1. Such coefficients are not
// canonical and mean zero, as the standard says; the bits themselves are kept.
//
// Arithmetic, text and comparison are in the files beside this one.

/// A decimal floating-point number with 34 significant digits and exponents from -6143 to 6144.
///
/// Numbers that differ only in trailing zeros, as 1.0 and 1.00, are equal but keep their digits.
/// All NaNs are equal and below every other number, so decimals have a total order.
public struct Decimal128: Sendable {
    /// `w[0]` of the C ABI's type.
    public var low: UInt64
    /// `w[1]` of the C ABI's type.
    public var high: UInt64

    /// The number with these bits; every pattern is one.
    @inline(__always) public init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    public static let zero = Decimal128(sign: false, coefficient: 0, exponent: 0)
    public static let infinity = Decimal128(low: 0, high: 0x7800_0000_0000_0000)
    public static let nan = Decimal128(low: 0, high: 0x7C00_0000_0000_0000)

    static let digitsMax = 34
    static let exponentMin = -6176
    static let exponentMax = 6111
    static let coefficientMax = PowersOfTen.power(34) - 1
    private static let bias = 6176

    /// Packs a number; the coefficient has at most 34 digits and the exponent is in range.
    init(sign: Bool, coefficient: UInt128, exponent: Int) {
        low = UInt64(truncatingIfNeeded: coefficient)
        high =
            UInt64(truncatingIfNeeded: coefficient >> 64)
            | UInt64(exponent + Self.bias) << 49 | (sign ? 1 << 63 : 0)
    }

    /// The value of an integer.
    public init(_ value: Int64) {
        self.init(sign: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
    }

    @inline(__always) public var isNegative: Bool { high >> 63 != 0 }
    @inline(__always) public var isNaN: Bool { high >> 58 & 0x1F == 0x1F }
    @inline(__always) public var isInfinite: Bool { high >> 58 & 0x1F == 0x1E }
    @inline(__always) public var isFinite: Bool { high >> 59 & 0xF != 0xF }
    public var isZero: Bool { isFinite && coefficient == 0 }

    /// The integer before the power of ten; of finite numbers.
    var coefficient: UInt128 {
        guard high >> 61 & 3 != 3 else { return 0 }
        let value = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        return value <= Self.coefficientMax ? value : 0
    }

    /// The power of ten; of finite numbers.
    var exponent: Int {
        let field = high >> 61 & 3 != 3 ? high >> 49 : high >> 47
        return Int(field & 0x3FFF) - Self.bias
    }

    /// Takes zeros from the end of a coefficient other than 0, as long as the power of ten is below `limit`.
    static func dropZeros(_ coefficient: inout UInt128, _ exponent: inout Int, below limit: Int) {
        while exponent < limit {
            let (shorter, digit) = coefficient.quotientAndRemainder(dividingBy: 10)
            if digit != 0 { break }
            coefficient = shorter
            exponent += 1
        }
    }

    public static prefix func - (value: Decimal128) -> Decimal128 {
        Decimal128(low: value.low, high: value.high ^ 1 << 63)
    }

    public var magnitude: Decimal128 { Decimal128(low: low, high: high & ~(1 << 63)) }
}
