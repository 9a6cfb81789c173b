// One call of a function with its values.

import CKernels

/// What functions keep from call to call: memory for texts, and the time of the query. Used by one
/// thread, for one execution.
final class FunctionContext {
    let texts = TextArena()
    private let clock: QueryClock

    init(_ clock: QueryClock) { self.clock = clock }

    var now: RawValue { clock.now }
}

/// What `now()` is; one for the whole of an execution, whatever runs within it.
final class QueryClock {
    private var time: RawValue?

    /// Read when it is first asked for.
    var now: RawValue {
        if let time { return time }
        var nanoseconds: Int32 = 0
        let seconds = ck_now(&nanoseconds)
        let now = RawValue.timestamp(seconds: seconds, nanoseconds: nanoseconds)
        time = now
        return now
    }
}

/// `RawValue` means something else inside of an enumeration.
typealias FunctionValue = RawValue

extension ExpressionFunction {
    /// The function of these values; texts live in the context's memory.
    func evaluate(
        _ operands: UnsafeBufferPointer<FunctionValue>, _ context: FunctionContext
    ) -> FunctionValue {
        switch self {
        case .abs: return NumberFunctions.magnitude(operands[0])
        case .ceiling: return NumberFunctions.rounded(operands[0], .ceiling)
        case .floor: return NumberFunctions.rounded(operands[0], .floor)
        case .round: return NumberFunctions.rounded(operands[0], .round)
        case .trunc: return NumberFunctions.rounded(operands[0], .trunc)
        case .sqrt: return NumberFunctions.apply(.sqrt, operands[0])
        case .exp: return NumberFunctions.apply(.exp, operands[0])
        case .ln: return NumberFunctions.apply(.ln, operands[0])
        case .log: return NumberFunctions.apply(.log, operands[0])
        case .modulus: return NumberFunctions.modulus(operands[0], operands[1])
        case .add: return ExpressionArithmetic.apply(.add, operands[0], operands[1])
        case .subtract: return ExpressionArithmetic.apply(.subtract, operands[0], operands[1])
        case .multiply: return ExpressionArithmetic.apply(.multiply, operands[0], operands[1])
        case .divide:
            let quotient = ExpressionArithmetic.apply(.divide, operands[0], operands[1])
            return NumberFunctions.quotient(operands[0], operands[1], quotient)
        case .power: return NumberFunctions.power(operands[0], operands[1])
        case .uppercase: return TextFunctions.mapped(operands[0], .upper, context.texts)
        case .lowercase: return TextFunctions.mapped(operands[0], .lower, context.texts)
        case .trim: return TextFunctions.trimmed(operands[0])
        case .length: return TextFunctions.length(operands[0])
        case .now: return context.now
        case .year: return field(.year, operands)
        case .month: return field(.month, operands)
        case .day: return field(.day, operands)
        case .hour: return field(.hour, operands)
        case .minute: return field(.minute, operands)
        case .second: return field(.second, operands)
        case .weekday: return field(.weekday, operands)
        case .cast:
            // The binder puts the target's number in the place of its name.
            let number = UInt8(truncatingIfNeeded: operands[1].intValue)
            guard let target = CastTarget(rawValue: number) else { return .null }
            return Casting.cast(operands[0], target, context.texts)
        case .min, .max, .sum, .average, .count, .ternary: return .null
        }
    }

    private func field(
        _ name: DateFields.Name, _ operands: UnsafeBufferPointer<FunctionValue>
    ) -> FunctionValue {
        let date = operands[0]
        guard date.type == ValueType.timestamp.rawValue else { return .null }
        var shift: Int64 = 0
        if operands.count > 1 {
            let zone = operands[1]
            guard zone.type == ValueType.string.rawValue, !zone.isNull,
                let seconds = DateText.zone(zone.bytes)
            else { return .null }
            shift = seconds
        }
        let instant = Timestamp(seconds: date.seconds, nanoseconds: date.nanoseconds)
        return .int(DateFields(instant, shift: shift).field(name))
    }
}

extension ExpressionEvaluator {
    /// Replaces the last operands on the stack by the function of them; at most one of them is a
    /// collection. `code.b`: how many, and from bit 8 on the type of the first.
    func callFunction(_ code: ExpressionCode) throws(RealmError) {
        guard let function = ExpressionFunction(rawValue: code.a) else {
            throw RealmError(.runtime, "there is no function \(code.a)")
        }
        let count = Int(code.b & 0xFF)
        let base = stack.count - count
        if function.isAggregate {
            let operand = stack[base]
            stack.cut(to: base)
            var result = ExpressionOperand()
            result.value = try reduce(function, operand, code.b >> 8)
            return stack.append(result)
        }
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
        let operands = UnsafeBufferPointer(start: values.base + start, count: count)
        if collection < 0 {
            result.isPresent = isPresent
            result.value = function.evaluate(operands, functions)
        } else {
            result = stack[base + collection]
            if !isPresent {
                result.shape = .many
                result.count = 0
            }
            for place in result.first..<result.first + result.count {
                values[start + collection] = values[place]
                values[place] = function.evaluate(operands, functions)
            }
        }
        values.cut(to: start)
        stack.cut(to: base)
        stack.append(result)
    }

    /// `min`, `max`, `sum`, `average` and `count` of a collection's members.
    private func reduce(
        _ function: ExpressionFunction, _ operand: ExpressionOperand, _ kind: Int32
    ) throws(RealmError) -> RawValue {
        let aggregate: AggregateKind
        switch function {
        case .min: aggregate = .minimum
        case .max: aggregate = .maximum
        case .sum: aggregate = .sum
        case .average: aggregate = .average
        default: return .int(Int64(operand.count))
        }
        let column =
            OperandKind(rawValue: UInt8(truncatingIfNeeded: kind)).map { Binder.columnKind($0) }
        return try Aggregate.ofValues(
            aggregate, column ?? .mixed, TableReader(table: slots[slot].table)
        ) {
            add throws(RealmError) in
            for place in operand.first..<operand.first + operand.count { add(values[place]) }
        }
    }
}
