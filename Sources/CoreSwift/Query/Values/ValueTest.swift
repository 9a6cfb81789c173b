// Comparison of stored values with constants where no range over packed words can say it: decimals,
// object ids, UUIDs, mixed values, and binary numbers against decimal constants.
//
// The order is that of `ValueOrder`, with what the query language says beyond it:
//   * values of different families are not equal and in no order;
//   * a double meets a decimal rounded to 15 digits, a float to 7 (QUERY_RULES T4), so that 1.1 is 1.1;
//   * NaN, wherever it stands: as a decimal it is the least number and equal to itself; as a binary
//     number it equals nothing and is in no order. Where mixed values are compared, it equals
//     itself and is in no order (QUERY_RULES T11).

enum ValueComparison: UInt8 {
    case equal, less, lessEqual, greater, greaterEqual

    init(_ op: ComparisonOperator) {
        switch op {
        case .less: self = .less
        case .lessEqual: self = .lessEqual
        case .greater: self = .greater
        case .greaterEqual: self = .greaterEqual
        default: self = .equal
        }
    }

    @inline(__always) func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: return order == 0
        case .less: return order < 0
        case .lessEqual: return order <= 0
        case .greater: return order > 0
        case .greaterEqual: return order >= 0
        }
    }
}

enum ValueTest {
    /// Whether `value comparison constant` holds. `kind` is `.mixed` where mixed values are
    /// compared, which only the rules of NaN depend on.
    static func passes(
        _ value: RawValue, _ comparison: ValueComparison, _ constant: RawValue, _ kind: ColumnKind
    ) -> Bool {
        let family = ValueOrder.family(value)
        guard family == ValueOrder.family(constant) else { return false }
        guard family == .number else {
            return comparison.holds(ValueOrder.compare(value, constant))
        }
        if kind == .mixed {
            if isNaN(value) || isNaN(constant) {
                return comparison == .equal && ValueOrder.equal(value, constant)
            }
        } else if isBinaryNaN(value) || isBinaryNaN(constant) {
            return false
        }
        return comparison.holds(order(value, constant))
    }

    /// -1, 0 or 1: `ValueOrder`, with binary numbers rounded beside decimals.
    static func order(_ a: RawValue, _ b: RawValue) -> Int {
        guard ValueOrder.family(a) == .number, ValueOrder.family(b) == .number,
            (a.type == ValueType.decimal128.rawValue) != (b.type == ValueType.decimal128.rawValue)
        else { return ValueOrder.compare(a, b) }
        return Decimal128.compare(decimal(a), decimal(b))
    }

    static func isNaN(_ value: RawValue) -> Bool {
        if value.type == ValueType.decimal128.rawValue { return value.decimalValue.isNaN }
        return isBinaryNaN(value)
    }

    @inline(__always)
    static func isBinaryNaN(_ value: RawValue) -> Bool {
        switch value.type {
        case ValueType.float.rawValue: return value.floatValue.isNaN
        case ValueType.double.rawValue: return value.doubleValue.isNaN
        default: return false
        }
    }

    /// A number as a decimal: integers exactly, doubles with 15 digits, floats with 7.
    static func decimal(_ value: RawValue) -> Decimal128 {
        switch value.type {
        case ValueType.int.rawValue: return Decimal128(value.intValue)
        case ValueType.float.rawValue: return Decimal128(rounding: value.floatValue)
        case ValueType.double.rawValue: return Decimal128(rounding: value.doubleValue)
        default: return value.decimalValue
        }
    }
}
