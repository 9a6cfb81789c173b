// Sums, differences, products and quotients of two numbers of any types (QUERY_RULES R1–R5).

enum ExpressionArithmetic {
    /// The result is a decimal if either number is one, else a double, else a float, else an
    /// integer. Null, and what is no number, gives null; so does an integer divided by zero.
    static func apply(
        _ op: Predicate.Operation, _ a: RawValue, _ b: RawValue
    ) -> RawValue {
        if a.isNull || b.isNull { return .null }
        let int = ValueType.int.rawValue
        if a.type == int, b.type == int { return integers(op, a.intValue, b.intValue) }
        guard ValueOrder.family(a) == .number, ValueOrder.family(b) == .number else { return .null }
        let decimal = ValueType.decimal128.rawValue
        if a.type == decimal || b.type == decimal {
            let (x, y) = (ValueTest.decimal(a), ValueTest.decimal(b))
            switch op {
            case .add: return .decimal(x + y)
            case .subtract: return .decimal(x - y)
            case .multiply: return .decimal(x * y)
            default: return .decimal(x / y)
            }
        }
        let double = ValueType.double.rawValue
        if a.type == double || b.type == double {
            return .double(floating(op, self.double(a), self.double(b)))
        }
        return .float(floating(op, float(a), float(b)))
    }

    static func negate(_ value: RawValue) -> RawValue {
        if value.isNull { return .null }
        switch ValueType(rawValue: value.type) {
        case .int: return .int(0 &- value.intValue)
        case .double: return .double(-value.doubleValue)
        case .float: return .float(-value.floatValue)
        case .decimal128: return .decimal(-value.decimalValue)
        default: return .null
        }
    }

    @inline(__always)
    private static func integers(
        _ op: Predicate.Operation, _ a: Int64, _ b: Int64
    ) -> RawValue {
        switch op {
        case .add: return .int(a &+ b)
        case .subtract: return .int(a &- b)
        case .multiply: return .int(a &* b)
        default:
            // The least integer divided by -1 wraps like every overflow.
            if b == 0 { return .null }
            return .int(b == -1 ? 0 &- a : a / b)
        }
    }

    @inline(__always)
    static func floating<T: BinaryFloatingPoint>(_ op: Predicate.Operation, _ a: T, _ b: T) -> T {
        switch op {
        case .add: return a + b
        case .subtract: return a - b
        case .multiply: return a * b
        default: return a / b
        }
    }

    /// An integer, float or double as a double.
    @inline(__always) static func double(_ value: RawValue) -> Double {
        if value.type == ValueType.int.rawValue { return Double(value.intValue) }
        return value.type == ValueType.float.rawValue
            ? Double(value.floatValue) : value.doubleValue
    }

    private static func float(_ value: RawValue) -> Float {
        value.type == ValueType.int.rawValue ? Float(value.intValue) : value.floatValue
    }
}
