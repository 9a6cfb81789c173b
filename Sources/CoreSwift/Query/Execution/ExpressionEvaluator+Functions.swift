// Calls of functions: operands from the stack, of which one may be a collection.

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
            if !isPresent { result = empty(result) }
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
        guard let aggregate = function.aggregate else { return .int(Int64(operand.count)) }
        let column =
            OperandKind(rawValue: UInt8(truncatingIfNeeded: kind)).map(\.columnKind)
        return try Aggregate.ofValues(
            aggregate, column ?? .mixed, TableReader(table: slots[slot].table)
        ) {
            add throws(RealmError) in
            for place in operand.first..<operand.first + operand.count { add(values[place]) }
        }
    }
}
