// Calls of functions: names, signatures, folding of constants (QUERY B7).

extension Binder {
    /// The payload becomes the function.
    mutating func resolveFunction(_ index: Int) throws(RealmError) {
        let name = spelling(tree.nodes[index])
        guard let function = ExpressionFunction.named(name) else {
            throw invalidQuery("unknown function '\(name)'")
        }
        tree.nodes[index].payload = UInt64(function.rawValue)
    }

    /// Writes the call of a function whose operands have been written.
    mutating func function(
        _ index: Int32, _ operands: [BoundOperand]
    ) throws(RealmError) -> BoundOperand {
        let node = tree.nodes[Int(index)]
        guard let function = ExpressionFunction(rawValue: Int32(truncatingIfNeeded: node.payload)),
            function.isReady
        else { throw notSupported("the function \(spelling(node))()") }
        guard let kind = function.resultKind(operands.map { $0.kind }) else {
            let kinds = operands.map { $0.kind.typeWord }.joined(separator: ", ")
            throw invalidQuery(
                "the function \(function.signature) cannot take (\(kinds))")
        }
        let collections = operands.filter { $0.shape != .single }
        guard collections.count <= 1 else {
            throw invalidQuery(
                "the function \(function.signature) takes at most one collection")
        }
        if operands.allSatisfy({ $0.isPlainConstant && $0.shape == .single && !$0.kind.isText }),
            !operands.isEmpty, kind != .string, kind != .binary
        {
            return try folded(index, function, operands)
        }
        var result = collections.first ?? BoundOperand(kind: kind, node: index)
        result.kind = kind
        result.first =
            operands.first?.first ?? Int32(truncatingIfNeeded: filter.expressions.code.count)
        result.count = operands.reduce(1) { $0 + $1.count }
        result.isConstant = operands.allSatisfy { $0.isConstant }
        result.constantFirst = -1
        result.isDirect = false
        result.isDirectCollection = false
        result.node = index
        filter.expressions.code.append(
            ExpressionCode(kind: .function, a: function.rawValue, b: Int32(operands.count)))
        return result
    }

    private mutating func folded(
        _ index: Int32, _ function: ExpressionFunction, _ operands: [BoundOperand]
    ) throws(RealmError) -> BoundOperand {
        let constants = operands.map { filter.expressions.constants[Int($0.constantFirst)] }
        let values = constants.map { $0.raw }
        let value = try values.withUnsafeBufferPointer { buffer throws(RealmError) in
            try function.evaluate(buffer, nil)
        }
        filter.expressions.code.removeLast(operands.count)
        filter.expressions.constants.removeLast(operands.count)
        var model = constants[0]
        model.isArgument = constants.contains { $0.isArgument }
        model.node = index
        return foldedOperand(index, replacing(model, value))
    }
}
