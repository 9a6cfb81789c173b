// What a function is of given values.

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
        case .ceiling: return NumberFunctions.rounded(operands[0], .up)
        case .floor: return NumberFunctions.rounded(operands[0], .down)
        case .round: return NumberFunctions.rounded(operands[0], .toNearestOrAwayFromZero)
        case .trunc: return NumberFunctions.rounded(operands[0], .towardZero)
        case .sqrt, .exp, .ln, .log: return NumberFunctions.apply(self, operands[0])
        case .modulus: return NumberFunctions.modulus(operands[0], operands[1])
        case .add: return ExpressionArithmetic.apply(.add, operands[0], operands[1])
        case .subtract: return ExpressionArithmetic.apply(.subtract, operands[0], operands[1])
        case .multiply: return ExpressionArithmetic.apply(.multiply, operands[0], operands[1])
        case .divide:
            if NumberFunctions.isZero(operands[1]) { return .null }
            return ExpressionArithmetic.apply(.divide, operands[0], operands[1])
        case .power: return NumberFunctions.power(operands[0], operands[1])
        case .uppercase: return TextFunctions.mapped(operands[0], .upper, context.texts)
        case .lowercase: return TextFunctions.mapped(operands[0], .lower, context.texts)
        case .trim: return TextFunctions.trimmed(operands[0])
        case .length: return TextFunctions.length(operands[0])
        case .now: return context.now
        case .year, .month, .day, .hour, .minute, .second, .weekday: return field(operands)
        case .cast:
            // The binder puts the target's number in the place of its name.
            let number = UInt8(truncatingIfNeeded: operands[1].intValue)
            guard let target = CastTarget(rawValue: number) else { return .null }
            return Casting.cast(operands[0], target, context.texts)
        case .min, .max, .sum, .average, .count, .ternary: return .null
        }
    }

    private func field(_ operands: UnsafeBufferPointer<FunctionValue>) -> FunctionValue {
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
        return .int(DateFields(instant, shift: shift).field(self))
    }
}
