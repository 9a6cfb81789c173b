// Comparison of stored values with constants where no range over packed words can say it: decimals,
// object ids, UUIDs, mixed values, and binary numbers against decimal constants.
//
// The order is that of `ValueOrder`, with what the query language says beyond it:
//   * values of different families are not equal and in no order;
//   * a double meets a decimal rounded to 15 digits, a float to 7 (QUERY_RULES T4), so that 1.1 is 1.1;
//   * NaN, wherever it stands: as a decimal it is the least number and equal to itself; as a binary
//     number it equals nothing and is in no order. Where mixed values are compared, it equals
//     itself and is in no order (QUERY_RULES T11).

extension ComparisonOperator {
    /// Whether `==` to `>=` holds between two values.
    @inline(__always) func holds<Operand: Comparable>(_ a: Operand, _ b: Operand) -> Bool {
        switch self {
        case .equal, .inList: return a == b
        case .notEqual: return a != b
        case .less: return a < b
        case .lessEqual: return a <= b
        case .greater: return a > b
        case .greaterEqual: return a >= b
        default: return false
        }
    }
}

enum ValueTest {
    /// Whether `value op constant` holds. `kind` is `.mixed` where mixed values are compared, which only
    /// the rules of NaN depend on.
    static func passes(
        _ value: RawValue, _ op: ComparisonOperator, _ constant: RawValue, _ kind: ColumnKind
    ) -> Bool {
        if op == .notEqual { return !passes(value, .equal, constant, kind) }
        let family = ValueOrder.family(value)
        guard family == ValueOrder.family(constant) else { return false }
        guard family == .number else { return op.holds(ValueOrder.compare(value, constant), 0) }
        if kind == .mixed {
            if isNaN(value) || isNaN(constant) {
                return op == .equal && ValueOrder.equal(value, constant)
            }
        } else if isBinaryNaN(value) || isBinaryNaN(constant) {
            return false
        }
        return op.holds(order(value, constant), 0)
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
