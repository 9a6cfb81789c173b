// The order of decimals, and of decimals among integers and doubles: by mathematical value, exact
// for every pair. NaN is below every number and equal to itself.

extension Decimal128: Comparable, Hashable {
    public static func == (a: Decimal128, b: Decimal128) -> Bool { compare(a, b) == 0 }
    public static func < (a: Decimal128, b: Decimal128) -> Bool { compare(a, b) < 0 }

    /// Equal numbers give equal hashes, whatever zeros they end with.
    public func hash(into hasher: inout Hasher) {
        guard isFinite else {
            hasher.combine(isNaN ? 1 : isNegative ? 2 : 3)
            return
        }
        var coefficient = coefficient
        guard coefficient != 0 else {
            hasher.combine(0)
            return
        }
        var exponent = exponent
        Self.dropZeros(&coefficient, &exponent, below: .max)
        hasher.combine(isNegative)
        hasher.combine(coefficient)
        hasher.combine(exponent)
    }

    /// -1, 0 or 1 as `a` is below, equal to or above `b`.
    public static func compare(_ a: Decimal128, _ b: Decimal128) -> Int {
        guard a.isFinite, b.isFinite else { return (a.rank - b.rank).signum() }
        let (sign, other) = (a.signum, b.signum)
        if sign != other || sign == 0 { return (sign - other).signum() }
        return compareMagnitudes(a, b) * sign
    }

    /// -2 NaN, -1 negative infinity, 0 finite, 1 infinity.
    private var rank: Int {
        if isFinite { return 0 }
        return isNaN ? -2 : isNegative ? -1 : 1
    }

    /// Of finite numbers.
    private var signum: Int { coefficient == 0 ? 0 : isNegative ? -1 : 1 }

    private static func compareMagnitudes(_ a: Decimal128, _ b: Decimal128) -> Int {
        var (left, right) = (a.coefficient, b.coefficient)
        let (low, high) = (a.exponent, b.exponent)
        let first = PowersOfTen.digitCount(left) + low
        let second = PowersOfTen.digitCount(right) + high
        if first != second { return first < second ? -1 : 1 }
        // As many digits before the point: they differ by fewer than 34 places.
        if low > high {
            left *= PowersOfTen.power(low - high)
        } else {
            right *= PowersOfTen.power(high - low)
        }
        return left == right ? 0 : left < right ? -1 : 1
    }

    /// The decimal against an integer.
    public static func compare(_ a: Decimal128, _ b: Int64) -> Int { compare(a, Decimal128(b)) }

    /// The decimal against a double, of which every digit counts: 0.1 as a decimal is below 0.1 as
    /// a double. All NaNs are equal here.
    public static func compare(_ a: Decimal128, _ b: Double) -> Int {
        guard a.isFinite, b.isFinite else {
            let rank = b.isFinite ? 0 : b.isNaN ? -2 : b < 0 ? -1 : 1
            return (a.rank - rank).signum()
        }
        let sign = a.signum
        let other = b == 0 ? 0 : b < 0 ? -1 : 1
        if sign != other || sign == 0 { return (sign - other).signum() }
        return compareMagnitude(a, b.magnitude) * sign
    }

    private static func compareMagnitude(_ a: Decimal128, _ b: Double) -> Int {
        // a = coefficient × 10^exponent is in 10^(digits - 1) ..< 10^digits,
        // b = significand × 2^power in 2^top ..< 2^(top + 1).
        let digits = PowersOfTen.digitCount(a.coefficient) + a.exponent
        let top = Int(b.exponent)
        let log = 0.301_029_995_663_981_2
        if Double(digits) < Double(top) * log - 0.001 { return -1 }
        if Double(digits - 1) > Double(top + 1) * log + 0.001 { return 1 }
        var significand = b.significandBitPattern | (b.isNormal ? 1 << 52 : 0)
        var power = b.isNormal ? top - 52 : -1074
        let zeros = significand.trailingZeroBitCount
        significand >>= UInt64(zeros)
        power += zeros
        // 10^n is 5^n × 2^n: the powers of five go to the side where their exponent is positive,
        // what is left of the powers of two as well.
        var left = BigNumber(a.coefficient)
        var right = BigNumber(UInt128(significand))
        let fives = a.exponent
        if fives >= 0 {
            left.multiplyByPowerOfFive(fives)
        } else {
            right.multiplyByPowerOfFive(-fives)
        }
        let twos = a.exponent - power
        if twos >= 0 { left.shiftLeft(twos) } else { right.shiftLeft(-twos) }
        return BigNumber.compare(left, right)
    }
}

/// A natural number of any size, for comparisons that 128 bits do not decide.
private struct BigNumber {
    /// Least significant first; the last one is not zero.
    private var words: [UInt64] = []

    init(_ value: UInt128) {
        words = [UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64)]
        trim()
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in words.indices {
            let product = words[index].multipliedFullWidth(by: factor)
            let (low, overflow) = product.low.addingReportingOverflow(carry)
            words[index] = low
            carry = product.high &+ (overflow ? 1 : 0)
        }
        if carry != 0 { words.append(carry) }
    }

    mutating func multiplyByPowerOfFive(_ exponent: Int) {
        var left = exponent
        // 5^27 is the greatest power in 64 bits.
        while left > 0 {
            let step = min(left, 27)
            var factor: UInt64 = 1
            for _ in 0..<step { factor *= 5 }
            multiply(by: factor)
            left -= step
        }
    }

    mutating func shiftLeft(_ count: Int) {
        let bits = UInt64(count & 63)
        if bits > 0 {
            var carry: UInt64 = 0
            for index in words.indices {
                let word = words[index]
                words[index] = word << bits | carry
                carry = word >> (64 - bits)
            }
            if carry != 0 { words.append(carry) }
        }
        words.insert(contentsOf: [UInt64](repeating: 0, count: count >> 6), at: 0)
    }

    static func compare(_ a: BigNumber, _ b: BigNumber) -> Int {
        if a.words.count != b.words.count { return a.words.count < b.words.count ? -1 : 1 }
        for index in a.words.indices.reversed() where a.words[index] != b.words[index] {
            return a.words[index] < b.words[index] ? -1 : 1
        }
        return 0
    }
}
