// Calls of functions: names, signatures, folding of constants (QUERY_RULES B7, B8).

extension Binder {
    mutating func resolveFunction(_ index: Int) throws(RealmError) {
        let node = tree.nodes[index]
        let name = spelling(node)
        guard let function = ExpressionFunction.named(name) else {
            throw invalidQuery("unknown function '\(name)'")
        }
        if function == .ternary, node.b > 0 {
            let condition = tree.children[Int(node.a)]
            for inner in Int(node.extra)...Int(condition) { bound[inner].isCondition = true }
        }
        bound[index].meaning = .function(function)
    }

    private func cannotTake(
        _ function: ExpressionFunction, _ operands: [BoundOperand]
    ) -> RealmError {
        let kinds =
            operands.prefix(4).map { $0.kind.typeWord }.joined(separator: ", ")
            + (operands.count > 4 ? ", …" : "")
        return invalidQuery("the function \(function.signature) cannot take (\(kinds))")
    }

    /// Writes the call of a function whose operands have been written.
    mutating func function(
        _ index: Int32, _ operands: [BoundOperand]
    ) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        guard case .function(let function) = bound[Int(index)].meaning else {
            throw invalidQuery("unknown function '\(spelling(node))'")
        }
        if function == .ternary { return try choice(index, operands) }
        var kind = function.resultKind(operands.map { $0.kind })
        if function == .cast { kind = try castKind(operands) }
        guard let kind else { throw cannotTake(function, operands) }
        let collections = operands.filter { $0.shape != .single }
        if function.isAggregate {
            guard collections.count == 1 else { throw cannotTake(function, operands) }
        } else if collections.count > 1 {
            throw invalidQuery(
                "the function \(function.signature) takes at most one collection")
        }
        if !operands.isEmpty,
            operands.allSatisfy({ $0.isPlainConstant && $0.shape == .single && $0.kind != .link })
        {
            return try folded(index, function, operands)
        }
        let first = operands.first
        var result = BoundOperand(.computed, kind, node: index)
        if !function.isAggregate, let collection = collections.first {
            result.shape = collection.shape
            result.quantifier = collection.quantifier
        }
        if node.quantifier != .unspecified {
            result.quantifier = node.quantifier
            try checkQuantifier(result)
        }
        result.first =
            first?.first ?? Int32(truncatingIfNeeded: filter.expressions.code.count)
        result.count = operands.reduce(1) { $0 + $1.count }
        result.isConstant = !operands.isEmpty && operands.allSatisfy { $0.isConstant }
        let shape = Int32(operands.count) | Int32(first?.kind.rawValue ?? 0) << 8
        filter.expressions.code.append(
            ExpressionCode(kind: .function, a: function.rawValue, b: shape))
        return result
    }

    /// The type of a cast; its second operand becomes the target's number.
    private mutating func castKind(_ operands: [BoundOperand]) throws(RealmError) -> OperandKind? {
        guard operands.count == 2, operands[1].isPlainConstant, operands[1].shape == .single
        else { return nil }
        let place = Int(operands[1].constantFirst)
        let constant = filter.expressions.constants[place]
        guard constant.kind == .string else { return nil }
        let name = String(decoding: filter.text(constant.text), as: UTF8.self)
        guard let target = CastTarget.named(name) else {
            let names = CastTarget.names.joined(separator: ", ")
            throw invalidQuery("CAST knows no type '\(name)'; it knows \(names)")
        }
        guard let kind = target.resultKind(operands[0].kind) else { return nil }
        filter.expressions.constants[place] = BoundConstant(.int(Int64(target.rawValue)))
        return kind
    }

    /// `TERNARY(condition, a, b)`: both values, then the choice.
    private mutating func choice(
        _ index: Int32, _ operands: [BoundOperand]
    ) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        guard node.b == 3, operands.count == 2, operands.allSatisfy({ $0.shape == .single })
        else { throw cannotTake(.ternary, operands) }
        let (a, b) = (operands[0].kind, operands[1].kind)
        let kind: OperandKind
        if a == b {
            kind = a
        } else if a == .null || b == .null {
            kind = a == .null ? b : a
        } else if a.isNumeric, b.isNumeric {
            kind = .ofResult(a, b)
        } else if a == .mixed || b == .mixed {
            kind = .mixed
        } else {
            throw cannotTake(.ternary, operands)
        }
        if kind == .link, operands[0].linkClass != operands[1].linkClass, a == b {
            throw cannotTake(.ternary, operands)
        }
        let condition = filter.finish(result(tree.children[Int(node.a)]))
        var result = BoundOperand(.computed, kind, node: index)
        result.linkClass = a == .link ? operands[0].linkClass : operands[1].linkClass
        result.first = operands[0].first
        result.count = operands[0].count + operands[1].count + 1
        filter.expressions.code.append(ExpressionCode(kind: .choose, a: condition))
        return result
    }

    /// A function of constants is computed here (R7).
    private mutating func folded(
        _ index: Int32, _ function: ExpressionFunction, _ operands: [BoundOperand]
    ) throws(RealmError) -> BoundOperand {
        let constants = operands.map { filter.expressions.constants[Int($0.constantFirst)] }
        let context = FunctionContext(QueryClock())
        let values = constants.map { constant -> RawValue in
            switch constant.kind {
            case .string, .binary:
                let text = Array(filter.text(constant.text)).withUnsafeBytes {
                    context.texts.string($0)
                }
                return constant.kind == .string
                    ? text : RawValue(word0: text.word0, word1: text.word1, type: .binary)
            default: return constant.raw
            }
        }
        let value = values.withUnsafeBufferPointer { function.evaluate($0, context) }
        let isLost = value.isNull && !values[0].isNull
        if isLost, function == .cast || operands.count == 2 && operands[1].kind == .string {
            throw invalidQuery(
                "'\(spelling(operands[0].node))' has no value as "
                    + "\(function.signature) asks for")
        }
        filter.expressions.code.removeLast(operands.count)
        filter.expressions.constants.removeLast(operands.count)
        var model = constants[0]
        model.isArgument = constants.contains { $0.isArgument }
        model.node = index
        var result = replacing(model, value)
        if !value.isNull, value.type == ValueType.string.rawValue {
            result.raw = .null
            result.text = filter.addText(Array(value.bytes))
        }
        return BoundOperand(result, node: index)
    }
}
