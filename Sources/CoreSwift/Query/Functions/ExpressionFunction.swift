// The functions of expressions (QUERY_RULES B7): names, signatures, types of results. What they compute is
// in `ExpressionFunction+Evaluation` and in the files of values beside it. Applied to a collection,
// a function applies to each member; `min` to `count` make one value of a collection.

enum ExpressionFunction: Int32, CaseIterable {
    case abs, ceiling, floor, round, trunc, sqrt, exp, ln, log
    case modulus, add, subtract, multiply, divide, power
    case uppercase, lowercase, trim, length
    case now, year, month, day, hour, minute, second, weekday
    case min, max, sum, average, count
    case ternary, cast

    /// The function with this name, in any case of letters.
    static func named(_ name: String) -> ExpressionFunction? {
        let lowered = name.lowercased()
        return allCases.first { "\($0)" == lowered }
    }

    /// How it is called, for messages.
    var signature: String {
        switch self {
        case .abs, .ceiling, .floor, .round, .trunc, .sqrt, .exp, .ln, .log:
            return "\(self)(number)"
        case .modulus, .add, .subtract, .multiply, .divide, .power:
            return "\(self)(number, number)"
        case .uppercase, .lowercase, .trim: return "\(self)(string)"
        case .length: return "length(string or binary)"
        case .now: return "now()"
        case .year, .month, .day, .hour, .minute, .second, .weekday:
            return "\(self)(date [, 'UTC±hh:mm'])"
        case .min, .max: return "\(self)(collection of numbers or dates)"
        case .sum, .average: return "\(self)(collection of numbers)"
        case .count: return "count(collection)"
        case .ternary: return "TERNARY(condition, value, value)"
        case .cast: return "CAST(value, 'type')"
        }
    }

    /// What it makes of the values of a collection; `count` asks for none.
    var aggregate: AggregateKind? {
        switch self {
        case .min: return .minimum
        case .max: return .maximum
        case .sum: return .sum
        case .average: return .average
        default: return nil
        }
    }
    /// Makes one value of a collection.
    var isAggregate: Bool { aggregate != nil || self == .count }

    /// The type of the result for operands of these types; nil when they do not fit. TERNARY and
    /// CAST have rules of their own (`Binder.choice`, `Binder.cast`).
    func resultKind(_ operands: [OperandKind]) -> OperandKind? {
        func isNumber(_ kind: OperandKind) -> Bool {
            kind.isNumeric || kind == .mixed || kind == .null
        }
        func isText(_ kind: OperandKind) -> Bool {
            kind == .string || kind == .mixed || kind == .null
        }
        let first = operands.first ?? .null
        switch self {
        case .abs, .ceiling, .floor, .round, .trunc:
            return operands.count == 1 && isNumber(first) ? first : nil
        case .sqrt, .exp, .ln, .log:
            return operands.count == 1 && isNumber(first) ? .double : nil
        case .power: return operands.count == 2 && operands.allSatisfy(isNumber) ? .double : nil
        case .modulus, .add, .subtract, .multiply, .divide:
            guard operands.count == 2, operands.allSatisfy(isNumber) else { return nil }
            if operands.contains(.null) { return operands.first { $0 != .null } ?? .null }
            return OperandKind.ofResult(operands[0], operands[1])
        case .uppercase, .lowercase, .trim:
            return operands.count == 1 && isText(first) ? .string : nil
        case .length:
            return operands.count == 1 && (isText(first) || first == .binary) ? .int : nil
        case .now: return operands.isEmpty ? .timestamp : nil
        case .year, .month, .day, .hour, .minute, .second, .weekday:
            let isDate = first == .timestamp || first == .mixed || first == .null
            guard isDate, operands.count == 1 || (operands.count == 2 && isText(operands[1]))
            else { return nil }
            return .int
        case .min, .max:
            guard operands.count == 1, isNumber(first) || first == .timestamp else { return nil }
            return first
        case .sum, .average:
            guard operands.count == 1, isNumber(first) else { return nil }
            return aggregate?.result(of: first)
        case .count: return operands.count == 1 ? .int : nil
        case .ternary, .cast: return nil
        }
    }
}

extension CastTarget {
    /// The type that a cast has; nil when the operand's cannot be cast at all.
    func resultKind(_ operand: OperandKind) -> OperandKind? {
        if operand == .link || operand == .type { return nil }
        switch self {
        case .int: return .int
        case .double: return .double
        case .decimal, .nsDecimalNumber: return .decimal
        case .string, .nsString: return .string
        case .date, .nsDate: return .timestamp
        case .bool: return .bool
        case .uuid, .nsUUID: return .uuid
        case .objectId: return .objectId
        // Integers stay integers, texts may be either.
        case .nsNumber: return operand.isNumeric ? operand : .mixed
        }
    }
}
