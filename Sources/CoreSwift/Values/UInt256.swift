// Unsigned integers of 256 bits, with just the operations that decimal arithmetic needs: products
// of two 34-digit coefficients, and their division by powers of ten. Not a general number type.

struct UInt256 {
    var high: UInt128
    var low: UInt128

    @inline(__always) init(high: UInt128 = 0, low: UInt128) {
        self.high = high
        self.low = low
    }

    /// The full product.
    @inline(__always) init(_ a: UInt128, times b: UInt128) {
        let product = a.multipliedFullWidth(by: b)
        high = product.high
        low = product.low
    }

    var isZero: Bool { high == 0 && low == 0 }

    /// The product, which the caller knows to fit.
    func times(_ factor: UInt128) -> UInt256 {
        let product = low.multipliedFullWidth(by: factor)
        return UInt256(high: product.high &+ high &* factor, low: product.low)
    }

    static func &+ (a: UInt256, b: UInt256) -> UInt256 {
        let (low, carry) = a.low.addingReportingOverflow(b.low)
        return UInt256(high: a.high &+ b.high &+ (carry ? 1 : 0), low: low)
    }

    static func &- (a: UInt256, b: UInt256) -> UInt256 {
        let (low, borrow) = a.low.subtractingReportingOverflow(b.low)
        return UInt256(high: a.high &- b.high &- (borrow ? 1 : 0), low: low)
    }

    static func < (a: UInt256, b: UInt256) -> Bool {
        a.high != b.high ? a.high < b.high : a.low < b.low
    }

    /// Quotient and remainder; `divisor` is not zero.
    func divided(by divisor: UInt128) -> (quotient: UInt256, remainder: UInt128) {
        if high == 0 {
            let (quotient, remainder) = low.quotientAndRemainder(dividingBy: divisor)
            return (UInt256(low: quotient), remainder)
        }
        let upper = high.quotientAndRemainder(dividingBy: divisor)
        let lower = divisor.dividingFullWidth((upper.remainder, low))
        return (UInt256(high: upper.quotient, low: lower.quotient), lower.remainder)
    }

    /// Decimal digits, 1 for zero. For values below 10^76.
    var digitCount: Int {
        if high == 0 { return PowersOfTen.digitCount(low) }
        return 38 + PowersOfTen.digitCount(divided(by: PowersOfTen.power(38)).quotient.low)
    }
}

enum PowersOfTen {
    /// 10^0 … 10^38, all that fit 128 bits.
    private static let table: [UInt128] = {
        var powers: [UInt128] = [1]
        for _ in 0..<38 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    /// 10^`exponent` for 0 ... 38.
    @inline(__always) static func power(_ exponent: Int) -> UInt128 { table[exponent] }

    /// Decimal digits, 1 for zero.
    static func digitCount(_ value: UInt128) -> Int {
        if value < 10 { return 1 }
        // 1233 / 4096 is just above log10(2): the estimate is right or one too low.
        let bits = 128 - value.leadingZeroBitCount
        let estimate = (bits * 1233) >> 12
        return value >= table[min(estimate, 38)] && estimate <= 38 ? estimate + 1 : estimate
    }
}
