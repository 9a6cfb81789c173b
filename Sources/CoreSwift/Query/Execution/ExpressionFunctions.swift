// Functions of expressions (QUERY B7): their names and signatures, and one switch that evaluates
// them. Applied to a collection, a function applies to each member.

/// Inside the enumeration the name means something else.
typealias FunctionValue = RawValue

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

    /// The type of the result for operands of these types; nil when they do not fit.
    func resultKind(_ operands: [OperandKind]) -> OperandKind? {
        switch self {
        case .abs:
            guard operands.count == 1, let kind = operands.first else { return nil }
            return kind.isNumeric || kind == .mixed || kind == .null ? kind : nil
        case .add, .subtract, .multiply, .divide:
            guard operands.count == 2, operands.allSatisfy({ $0.isNumeric || $0 == .mixed })
            else { return nil }
            return Binder.resultKind(operands[0], operands[1])
        default: return nil
        }
    }

    /// Whether `evaluate` knows the function.
    var isReady: Bool {
        switch self {
        case .abs, .add, .subtract, .multiply, .divide: return true
        default: return false
        }
    }

    /// How it is called, for messages.
    var signature: String {
        switch self {
        case .abs: return "abs(number)"
        case .add, .subtract, .multiply, .divide: return "\(self)(number, number)"
        default: return "\(self)(…)"
        }
    }

    /// The function of these values.
    func evaluate(
        _ operands: UnsafeBufferPointer<FunctionValue>, _ evaluator: ExpressionEvaluator?
    ) throws(RealmError) -> FunctionValue {
        switch self {
        case .abs: return Self.magnitude(operands[0])
        case .add: return ExpressionArithmetic.apply(.add, operands[0], operands[1])
        case .subtract: return ExpressionArithmetic.apply(.subtract, operands[0], operands[1])
        case .multiply: return ExpressionArithmetic.apply(.multiply, operands[0], operands[1])
        case .divide: return ExpressionArithmetic.apply(.divide, operands[0], operands[1])
        default: return .null
        }
    }

    private static func magnitude(_ value: FunctionValue) -> FunctionValue {
        switch ValueOrder.family(value) {
        case .number:
            let isNegative = ValueOrder.compareNumbers(value, .int(0)) < 0
            return isNegative && !ValueTest.isNaN(value)
                ? ExpressionArithmetic.negate(value) : value
        default: return .null
        }
    }
}

extension ExpressionEvaluator {
    /// Replaces the last operands on the stack by the function of them; at most one of them is a
    /// collection.
    func callFunction(_ code: ExpressionCode) throws(RealmError) {
        guard let function = ExpressionFunction(rawValue: code.a) else {
            throw RealmError(.runtime, "there is no function \(code.a)")
        }
        let count = Int(code.b)
        let base = stack.count - count
        var result = ExpressionOperand()
        var collection = -1
        var isPresent = true
        for index in 0..<count {
            if stack[base + index].shape != .single { collection = index }
            isPresent = isPresent && stack[base + index].isPresent
        }
        // The values of one call, behind the pool's.
        let start = values.count
        for index in 0..<count { values.append(stack[base + index].value) }
        if collection < 0 {
            result.isPresent = isPresent
            result.value = try function.evaluate(
                UnsafeBufferPointer(start: values.base + start, count: count), self)
        } else {
            result = stack[base + collection]
            if !isPresent { result.count = 0 }
            for place in result.first..<result.first + result.count {
                values[start + collection] = values[place]
                values[place] = try function.evaluate(
                    UnsafeBufferPointer(start: values.base + start, count: count), self)
            }
        }
        values.cut(to: start)
        stack.cut(to: base)
        stack.append(result)
    }
}
