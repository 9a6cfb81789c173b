// Decimal arithmetic: results are exact where 34 digits hold them, else rounded to the nearest,
// ties to the even digit. Exponents of results are those of IEEE 754-2008, so that 1.10 + 2.2 is
// 3.30 and 6.0 / 2 is 3.0. Overflow gives infinity, invalid operations NaN; nothing traps.

extension Decimal128 {
    public static func + (a: Decimal128, b: Decimal128) -> Decimal128 {
        guard a.isFinite, b.isFinite else {
            if a.isNaN || b.isNaN { return .nan }
            if a.isInfinite && b.isInfinite && a.isNegative != b.isNegative { return .nan }
            return (a.isInfinite ? a : b).canonical
        }
        // `upper` has the greater exponent.
        let isSwapped = a.exponent < b.exponent
        return sum(upper: isSwapped ? b : a, lower: isSwapped ? a : b)
    }

    public static func - (a: Decimal128, b: Decimal128) -> Decimal128 {
        b.isNaN ? .nan : a + -b
    }

    public static func * (a: Decimal128, b: Decimal128) -> Decimal128 {
        let sign = a.isNegative != b.isNegative
        guard a.isFinite, b.isFinite else {
            if a.isNaN || b.isNaN || a.isZero || b.isZero { return .nan }
            return sign ? -infinity : infinity
        }
        return rounded(
            sign: sign, UInt256(a.coefficient, times: b.coefficient), a.exponent + b.exponent)
    }

    public static func / (a: Decimal128, b: Decimal128) -> Decimal128 {
        let sign = a.isNegative != b.isNegative
        guard a.isFinite, b.isFinite else {
            if a.isNaN || b.isNaN || (a.isInfinite && b.isInfinite) { return .nan }
            if a.isInfinite { return sign ? -infinity : infinity }
            return Decimal128(sign: sign, coefficient: 0, exponent: exponentMin)
        }
        let divisor = b.coefficient
        if divisor == 0 {
            return a.coefficient == 0 ? .nan : sign ? -infinity : infinity
        }
        let ideal = a.exponent - b.exponent
        if a.coefficient == 0 { return rounded(sign: sign, UInt256(low: 0), ideal) }
        // The dividend is scaled so that the quotient has 35 or 36 digits, one to round by.
        let padding = digitsMax - PowersOfTen.digitCount(a.coefficient)
        let scale = PowersOfTen.digitCount(divisor) + 1
        let dividend = UInt256(
            a.coefficient * PowersOfTen.power(padding), times: PowersOfTen.power(scale))
        var exponent = ideal - padding - scale
        let (quotient, remainder) = divisor.dividingFullWidth((dividend.high, dividend.low))
        if remainder != 0 {
            return rounded(sign: sign, UInt256(low: quotient), exponent, isInexact: true)
        }
        var exact = quotient
        dropZeros(&exact, &exponent, below: ideal)
        return rounded(sign: sign, UInt256(low: exact), exponent)
    }

    private static func sum(upper: Decimal128, lower: Decimal128) -> Decimal128 {
        let big = upper.coefficient
        var small = lower.coefficient
        var exponent = lower.exponent
        if big == 0 && small == 0 {
            let sign = upper.isNegative && lower.isNegative
            return Decimal128(sign: sign, coefficient: 0, exponent: exponent)
        }
        if big == 0 { return lower.canonical }
        let digits = PowersOfTen.digitCount(big)
        if small == 0 {
            // Only zeros are added: as many as there is room for.
            let padding = min(upper.exponent - exponent, digitsMax - digits)
            return Decimal128(
                sign: upper.isNegative, coefficient: big * PowersOfTen.power(padding),
                exponent: upper.exponent - padding)
        }
        // A number far below the last digit of the result only tells on which side of a tie the
        // sum is: any other one down there does the same.
        let floor = upper.exponent + min(-1, digits - digitsMax - 2)
        if exponent + PowersOfTen.digitCount(small) - 1 < floor {
            small = 1
            exponent = floor
        }
        // At most 69 digits: see `floor`.
        let shift = upper.exponent - exponent
        var scaled = UInt256(big, times: PowersOfTen.power(min(shift, 38)))
        if shift > 38 { scaled = scaled.times(PowersOfTen.power(shift - 38)) }
        let addend = UInt256(low: small)
        if upper.isNegative == lower.isNegative {
            return rounded(sign: upper.isNegative, scaled &+ addend, exponent)
        }
        let isLess = scaled < addend
        let difference = isLess ? addend &- scaled : scaled &- addend
        let sign = !difference.isZero && (isLess ? lower.isNegative : upper.isNegative)
        return rounded(sign: sign, difference, exponent)
    }

    /// The decimal nearest to `magnitude` × 10^`exponent`. `magnitude` is below 10^76. If
    /// `isInexact`, the number is a bit above, and `magnitude` has more than 34 digits.
    static func rounded(
        sign: Bool, _ magnitude: UInt256, _ exponent: Int, isInexact: Bool = false
    ) -> Decimal128 {
        let digits = magnitude.digitCount
        let excess = max(0, digits - digitsMax, exponentMin - exponent)
        var exponent = exponent + excess
        var coefficient: UInt128
        if excess == 0 {
            coefficient = magnitude.low
        } else if excess > digits {
            coefficient = 0
        } else {
            coefficient = drop(magnitude, excess, isInexact)
            if coefficient > coefficientMax {
                coefficient /= 10
                exponent += 1
            }
        }
        if coefficient == 0 {
            return Decimal128(
                sign: sign, coefficient: 0, exponent: min(max(exponent, exponentMin), exponentMax))
        }
        if exponent > exponentMax {
            let padding = exponent - exponentMax
            guard PowersOfTen.digitCount(coefficient) + padding <= digitsMax else {
                return sign ? -infinity : infinity
            }
            coefficient *= PowersOfTen.power(padding)
            exponent = exponentMax
        }
        return Decimal128(sign: sign, coefficient: coefficient, exponent: exponent)
    }

    /// `magnitude` without its last `count` digits, rounded.
    private static func drop(_ magnitude: UInt256, _ count: Int, _ isInexact: Bool) -> UInt128 {
        var left = magnitude
        var isAbove = isInexact
        var last = count
        while last > digitsMax {
            let step = min(last - digitsMax, 38)
            let (quotient, remainder) = left.divided(by: PowersOfTen.power(step))
            left = quotient
            isAbove = isAbove || remainder != 0
            last -= step
        }
        let unit = PowersOfTen.power(last)
        let (quotient, remainder) = left.divided(by: unit)
        let half = unit / 2
        let roundsUp =
            remainder > half
            || (remainder == half && (isAbove || quotient.low & 1 != 0))
        return quotient.low + (roundsUp ? 1 : 0)
    }

    /// The same number in canonical bits.
    var canonical: Decimal128 {
        if isNaN { return .nan }
        if isInfinite { return isNegative ? -.infinity : .infinity }
        return Decimal128(
            sign: isNegative, coefficient: coefficient,
            exponent: min(max(exponent, Self.exponentMin), Self.exponentMax))
    }
}
