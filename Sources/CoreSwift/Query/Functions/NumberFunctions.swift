// Functions of numbers (QUERY_RULES B7). Null, and what is no number, gives null; so do results that do
// not exist, as the root of a negative number or a quotient by zero. Integers wrap on overflow, as
// they do in arithmetic (R5).

import CKernels

enum NumberFunctions {
    static func magnitude(_ value: RawValue) -> RawValue {
        switch ValueType(rawValue: value.type) {
        case .int: return .int(value.intValue < 0 ? 0 &- value.intValue : value.intValue)
        case .double: return .double(value.doubleValue.magnitude)
        case .float: return .float(value.floatValue.magnitude)
        case .decimal128: return .decimal(value.decimalValue.magnitude)
        default: return .null
        }
    }

    /// The integer of the same type; numbers that are not finite stay what they are.
    static func rounded(_ value: RawValue, _ rule: FloatingPointRoundingRule) -> RawValue {
        switch ValueType(rawValue: value.type) {
        case .int: return value
        case .double: return .double(value.doubleValue.rounded(rule))
        case .float: return .float(value.floatValue.rounded(rule))
        case .decimal128: return .decimal(rounded(value.decimalValue, rule))
        default: return .null
        }
    }

    /// Up, down, towards zero, or to the nearest one and halves away from zero.
    static func rounded(_ value: Decimal128, _ rule: FloatingPointRoundingRule) -> Decimal128 {
        guard value.isFinite, value.exponent < 0 else { return value }
        let digits = -value.exponent
        var whole: UInt128 = 0
        var rest = value.coefficient
        var isHalfOrMore = false
        if digits <= Decimal128.digitsMax {
            let unit = PowersOfTen.power(digits)
            (whole, rest) = rest.quotientAndRemainder(dividingBy: unit)
            isHalfOrMore = rest >= unit / 2
        }
        let isUp: Bool
        switch rule {
        case .up: isUp = rest != 0 && !value.isNegative
        case .down: isUp = rest != 0 && value.isNegative
        case .toNearestOrAwayFromZero: isUp = isHalfOrMore
        default: isUp = false
        }
        return Decimal128(
            sign: value.isNegative, coefficient: whole + (isUp ? 1 : 0), exponent: 0)
    }

    /// `sqrt`, `exp`, `ln` or `log`, a double; null where there is no result.
    static func apply(_ function: ExpressionFunction, _ value: RawValue) -> RawValue {
        guard let x = double(value) else { return .null }
        switch function {
        case .sqrt: return x < 0 ? .null : .double(x.squareRoot())
        case .exp: return .double(ck_exp(x))
        case .ln: return x <= 0 ? .null : .double(ck_log(x))
        default: return x <= 0 ? .null : .double(ck_log10(x))
        }
    }

    /// The rest of a division; it has the sign of `a`.
    static func modulus(_ a: RawValue, _ b: RawValue) -> RawValue {
        let int = ValueType.int.rawValue
        if a.type == int, b.type == int {
            // The least integer modulo -1 would trap.
            if b.intValue == 0 { return .null }
            return .int(b.intValue == -1 ? 0 : a.intValue % b.intValue)
        }
        guard let x = double(a), let y = double(b), !isZero(b) else { return .null }
        let decimal = ValueType.decimal128.rawValue
        if a.type == decimal || b.type == decimal {
            return modulus(ValueTest.decimal(a), ValueTest.decimal(b))
        }
        let result = x.truncatingRemainder(dividingBy: y)
        let isDouble = a.type == ValueType.double.rawValue || b.type == ValueType.double.rawValue
        return isDouble ? .double(result) : .float(Float(result))
    }

    /// Null where the quotient has more digits than a decimal: its rest is not known.
    private static func modulus(_ a: Decimal128, _ b: Decimal128) -> RawValue {
        guard a.isFinite, !b.isNaN else { return .decimal(.nan) }
        guard b.isFinite else { return .decimal(a) }
        let quotient = rounded(a / b, .towardZero)
        guard quotient.isFinite, quotient.exponent <= 0 else { return .null }
        var rest = a - quotient * b
        // The quotient was rounded: it may be one too large.
        if !rest.isZero, rest.isNegative != a.isNegative {
            rest = a.isNegative == b.isNegative ? rest + b : rest - b
        }
        return .decimal(rest)
    }

    /// A double; null for the roots of negative numbers and for zero to a negative power.
    static func power(_ a: RawValue, _ b: RawValue) -> RawValue {
        guard let x = double(a), let y = double(b), x != 0 || y >= 0 else { return .null }
        let result = ck_pow(x, y)
        return result.isNaN && !x.isNaN && !y.isNaN ? .null : .double(result)
    }

    static func isZero(_ value: RawValue) -> Bool {
        value.type == ValueType.decimal128.rawValue
            ? value.decimalValue.isZero : double(value) == 0
    }

    /// A number as a double; nil when it is none.
    static func double(_ value: RawValue) -> Double? {
        switch ValueType(rawValue: value.type) {
        case .int: return Double(value.intValue)
        case .double: return value.doubleValue
        case .float: return Double(value.floatValue)
        case .decimal128: return value.decimalValue.doubleValue
        default: return nil
        }
    }
}
