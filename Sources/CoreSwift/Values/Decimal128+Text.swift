// Decimals as text: what IEEE 754-2008 and the General Decimal Arithmetic specification call the
// scientific string. Reading it back gives the same digits and exponent.

import CKernels

extension Decimal128: CustomStringConvertible, LosslessStringConvertible {
    /// `12.30`, `1E+3`, `-1.5E-7`, `Infinity`, `NaN`: every digit of the coefficient, without
    /// exponent where that needs no zeros beyond six behind the point.
    public var description: String {
        if isNaN { return "NaN" }
        if isInfinite { return isNegative ? "-Infinity" : "Infinity" }
        let digits = Array(String(coefficient).utf8)
        let adjusted = exponent + digits.count - 1
        var text: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
        let point = UInt8(ascii: ".")
        if exponent <= 0 && adjusted >= -6 {
            let whole = digits.count + exponent
            if whole > 0 {
                text += digits[..<whole]
                if exponent < 0 { text += [point] + digits[whole...] }
            } else {
                text += [UInt8(ascii: "0"), point]
                text += [UInt8](repeating: UInt8(ascii: "0"), count: -whole) + digits
            }
        } else {
            text.append(digits[0])
            if digits.count > 1 { text += [point] + digits[1...] }
            text += Array((adjusted < 0 ? "E" : "E+").utf8) + Array(String(adjusted).utf8)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number that a text spells, or nil. See `init(parsing:)`.
    public init?(_ description: String) {
        var text = description
        let parsed = text.withUTF8 { Self.parse($0) }
        guard case .success(let value) = parsed else { return nil }
        self = value
    }

    /// Reads `[+-]digits[.digits][E[+-]digits]`, `Infinity`, `Inf` or `NaN` in any letter case;
    /// more than 34 digits are rounded to the nearest, ties to even. Throws `.invalidArgument` for
    /// anything else, and for numbers beyond 10^6145.
    public init(parsing text: some StringProtocol) throws(RealmError) {
        var copy = String(text)
        switch copy.withUTF8({ Self.parse($0) }) {
        case .success(let value): self = value
        case .failure(let problem):
            throw RealmError(.invalidArgument, "\"\(text)\" is no decimal number: \(problem.text)")
        }
    }

    private struct Problem: Error {
        var text: String
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Result<Decimal128, Problem> {
        var position = 0
        var sign = false
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            sign = first == UInt8(ascii: "-")
            position = 1
        }
        if let word = word(text[position...]) { return .success(sign ? -word : word) }
        var number = Digits()
        var sawPoint = false
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "."), !sawPoint {
                sawPoint = true
            } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                number.add(byte &- UInt8(ascii: "0"), isFraction: sawPoint)
            } else {
                break
            }
            position += 1
        }
        guard number.sawDigit else {
            return .failure(Problem(text: "a digit is missing at position \(position)"))
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            guard let (exponent, end) = exponent(text, position + 1) else {
                return .failure(Problem(text: "the exponent has no digits"))
            }
            number.exponent += exponent
            position = end
        }
        guard position == text.count else {
            return .failure(Problem(text: "unexpected character at position \(position)"))
        }
        let value = rounded(
            sign: sign, UInt256(low: number.coefficient), number.exponent,
            isInexact: number.isInexact)
        guard value.isFinite else {
            return .failure(Problem(text: "it is beyond the greatest one, about 1E+6145"))
        }
        return .success(value)
    }

    /// Digits as they are read: 37 of them count, what follows only tells whether there is more.
    private struct Digits {
        var coefficient: UInt128 = 0
        var exponent = 0
        var isInexact = false
        var sawDigit = false
        private var count = 0

        mutating func add(_ digit: UInt8, isFraction: Bool) {
            sawDigit = true
            if count < 37 {
                coefficient = coefficient * 10 + UInt128(digit)
                if coefficient != 0 { count += 1 }
                if isFraction { exponent -= 1 }
            } else {
                if digit != 0 { isInexact = true }
                if !isFraction { exponent += 1 }
            }
        }
    }

    private static func word(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Decimal128? {
        guard let first = text.first, first | 0x20 == UInt8(ascii: "i") || first | 0x20 == 0x6E
        else { return nil }
        switch String(decoding: text.map { $0 | 0x20 }, as: UTF8.self) {
        case "inf", "infinity": return .infinity
        case "nan": return .nan
        default: return nil
        }
    }

    private static func exponent(
        _ text: UnsafeBufferPointer<UInt8>, _ start: Int
    ) -> (value: Int, end: Int)? {
        var position = start
        var isNegative = false
        if position < text.count,
            text[position] == UInt8(ascii: "-") || text[position] == UInt8(ascii: "+")
        {
            isNegative = text[position] == UInt8(ascii: "-")
            position += 1
        }
        let digits = position
        var value = 0
        while position < text.count, text[position] >= UInt8(ascii: "0"),
            text[position] <= UInt8(ascii: "9")
        {
            // Far beyond any exponent; more digits change nothing.
            value = min(value * 10 + Int(text[position] &- UInt8(ascii: "0")), 1 << 40)
            position += 1
        }
        return position > digits ? (isNegative ? -value : value, position) : nil
    }

    // MARK: Binary floating point

    /// The double rounded to `digits` significant digits: 15 is what a double holds of any
    /// decimal number, so 0.1 gives 0.1.
    public init(rounding value: Double, digits: Int = 15) {
        if value.isNaN {
            self = .nan
        } else if value.isInfinite {
            self = value < 0 ? -.infinity : .infinity
        } else {
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
                ck_format_scientific(
                    value, Int32(min(max(digits, 1), 34) - 1), buffer.baseAddress, buffer.count)
                return buffer.baseAddress.map { String(cString: $0) } ?? ""
            }
            // Digits and exponent as the format writes them always parse.
            self = (Decimal128(text) ?? .nan).withoutTrailingZeros
        }
    }

    /// The float rounded to the 7 digits that it holds of any decimal number.
    public init(rounding value: Float) { self.init(rounding: Double(value), digits: 7) }

    /// Without zeros at the end, as far as they stand behind the point.
    private var withoutTrailingZeros: Decimal128 {
        guard isFinite else { return self }
        var coefficient = coefficient
        var exponent = exponent
        if coefficient == 0 {
            return Decimal128(sign: isNegative, coefficient: 0, exponent: 0)
        }
        Self.dropZeros(&coefficient, &exponent, below: 0)
        return Decimal128(sign: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// The nearest double, ties to even; beyond the greatest one infinity.
    public var doubleValue: Double {
        if isNaN { return .nan }
        if isInfinite { return isNegative ? -.infinity : .infinity }
        let coefficient = coefficient
        let exponent = exponent
        if coefficient >> 53 == 0, exponent >= -22, exponent <= 22 {
            // Both parts are exact doubles then, and one operation rounds once.
            let number = Double(UInt64(coefficient))
            let power = Self.smallPower(abs(exponent))
            let magnitude = exponent < 0 ? number / power : number * power
            return isNegative ? -magnitude : magnitude
        }
        return Double(description) ?? .nan
    }

    /// 10^`exponent` for 0 ... 22: exact as a double.
    private static func smallPower(_ exponent: Int) -> Double {
        exponent <= 19
            ? Double(UInt64(PowersOfTen.power(exponent)))
            : Double(UInt64(PowersOfTen.power(exponent - 11))) * 1e11
    }

    /// The value as an integer, if it is one that fits.
    public var int64: Int64? {
        guard isFinite else { return nil }
        var coefficient = coefficient
        var exponent = exponent
        if coefficient == 0 { return 0 }
        Self.dropZeros(&coefficient, &exponent, below: 0)
        guard exponent >= 0, exponent < 19, coefficient < 1 << 64 else { return nil }
        let magnitude = coefficient * PowersOfTen.power(exponent)
        if isNegative {
            guard magnitude <= 1 << 63 else { return nil }
            return Int64(truncatingIfNeeded: 0 &- magnitude)
        }
        return magnitude < 1 << 63 ? Int64(magnitude) : nil
    }
}
