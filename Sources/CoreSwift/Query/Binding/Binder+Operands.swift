// Operands of expressions: instructions in the order in which a stack machine runs them, their types
// and shapes (QUERY_RULES A, R). Works with a list of what is left to do instead of recursion.

/// An operand whose instructions have been written.
struct BoundOperand {
    var kind: OperandKind
    var shape = OperandShape.single
    var quantifier = Quantifier.unspecified
    /// Range of the instructions.
    var first: Int32 = 0
    var count: Int32 = 0
    /// Only constants: the range of those that it is, unless it is a list that was computed with.
    var isConstant = false
    var constantFirst: Int32 = -1
    var constantCount: Int32 = 0
    var isList = false
    /// Of links.
    var linkClass = ClassKey.invalid
    /// A property of the object at hand.
    var isDirect = false
    /// The objects of a collection of the object at hand, one step away (Q10).
    var isDirectCollection = false
    /// Values of a dictionary of one type, or the one under a key.
    var isOfDictionary = false
    /// The syntax node.
    var node: Int32

    /// A constant whose instructions say nothing but its value.
    var isPlainConstant: Bool { isConstant && constantFirst >= 0 }
}

extension Binder {
    /// Writes the instructions of an operand.
    mutating func operand(_ root: Int32, _ scope: Int32) throws(RealmError) -> BoundOperand {
        let kind = syntax(root).kind
        guard
            kind == .add || kind == .subtract || kind == .multiply || kind == .divide
                || kind == .negate || kind == .function
        else { return try leaf(root, scope) }
        var work: [(node: Int32, isReady: Bool)] = [(root, false)]
        var stack: [BoundOperand] = []
        while let (index, isReady) = work.popLast() {
            let node = syntax(index)
            switch node.kind {
            case .add, .subtract, .multiply, .divide:
                if isReady {
                    let right = stack.removeLast()
                    let left = stack.removeLast()
                    stack.append(try arithmetic(index, left, right))
                } else {
                    work.append((index, true))
                    work.append((node.b, false))
                    work.append((node.a, false))
                }
            case .negate:
                if isReady {
                    stack.append(try negation(index, stack.removeLast()))
                } else {
                    work.append((index, true))
                    work.append((node.a, false))
                }
            case .function:
                // The condition of TERNARY is no operand: it has been bound before.
                let children = tree.children[Int(node.a)..<Int(node.a + node.b)]
                let operands = children.filter { !syntax($0).kind.isPredicate }
                let count = operands.count
                if isReady {
                    let operands = Array(stack[(stack.count - count)...])
                    stack.removeLast(count)
                    stack.append(try function(index, operands))
                } else {
                    work.append((index, true))
                    for child in operands.reversed() { work.append((child, false)) }
                }
            default: stack.append(try leaf(index, scope))
            }
            filter.expressions.stackDepth = max(filter.expressions.stackDepth, stack.count)
        }
        return stack[0]
    }

    // MARK: Leaves

    private mutating func leaf(_ index: Int32, _ scope: Int32) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        switch node.kind {
        case .path: return pathOperand(index, node)
        case .aggregate: return aggregateOperand(index)
        case .subquery: return try subqueryOperand(index, node)
        default: break
        }
        var operand = BoundOperand(kind: .null, node: index)
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        operand.isConstant = true
        operand.constantFirst = Int32(truncatingIfNeeded: filter.expressions.constants.count)
        if isList(index) {
            let members = try listMembers(index)
            filter.expressions.constants.append(contentsOf: members)
            operand.constantCount = Int32(truncatingIfNeeded: members.count)
            operand.isList = true
            operand.shape = .many
            operand.quantifier = node.quantifier
            operand.kind = Self.commonKind(members)
            filter.expressions.code.append(
                ExpressionCode(
                    kind: .list, a: operand.constantFirst, b: operand.constantCount))
            return operand
        }
        let constant = try constant(index)
        operand.kind = Self.kind(constant)
        operand.constantCount = 1
        operand.linkClass = constant.classKey
        filter.expressions.constants.append(constant)
        filter.expressions.code.append(
            ExpressionCode(kind: .constant, a: operand.constantFirst))
        return operand
    }

    static func kind(_ constant: BoundConstant) -> OperandKind {
        switch constant.kind {
        case .null: return .null
        case .int: return .int
        case .double: return .double
        case .float: return .float
        case .bool: return .bool
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .link, .objectKey, .objectWithPrimaryKey: return .link
        case .uuid: return .uuid
        case .objectId: return .objectId
        case .decimal: return .decimal
        }
    }

    /// The kind of all members, or of their sum; else mixed.
    private static func commonKind(_ members: [BoundConstant]) -> OperandKind {
        guard let first = members.first else { return .mixed }
        let common = kind(first)
        if members.allSatisfy({ kind($0) == common }) { return common }
        guard members.allSatisfy({ kind($0).isNumeric }) else { return .mixed }
        return members.reduce(common) { OperandKind.ofResult($0, kind($1)) }
    }

    private mutating func pathOperand(_ index: Int32, _ node: SyntaxNode) -> BoundOperand {
        let bound = path(index)
        var operand = BoundOperand(kind: bound.path.kind, node: index)
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        if bound.types != 0 {
            // The type of a property that is not mixed is known.
            operand.kind = .type
            operand.isConstant = true
            operand.constantFirst = Int32(truncatingIfNeeded: filter.expressions.constants.count)
            operand.constantCount = 1
            filter.expressions.constants.append(BoundConstant(.int, bound.types))
            filter.expressions.code.append(
                ExpressionCode(kind: .constant, a: operand.constantFirst))
            return operand
        }
        operand.shape = bound.path.shape
        operand.quantifier = node.quantifier
        operand.linkClass = bound.path.target
        operand.isDirect = bound.isPlain && bound.hopCount == 0
        operand.isDirectCollection =
            bound.path.value == .member && bound.path.isToMany && bound.path.count == 1
        switch bound.path.measure {
        case .none: operand.isOfDictionary = takesDictionaryValues(bound)
        case .size, .length:
            operand.kind = .int
            operand.isDirect = false
        case .type:
            operand.kind = .type
            operand.isDirect = false
        }
        let place = addPath(bound.path, in: scope(index))
        filter.expressions.code.append(ExpressionCode(kind: .path, a: place))
        return operand
    }

    /// A path that is followed for the members of a scope, from it or from one around it.
    private mutating func addPath(_ path: ExpressionPath, in scope: Int32) -> Int32 {
        var path = path
        path.outerLevels = scopes[Int(scope)].levels
        filter.expressions.paths.append(path)
        return Int32(truncatingIfNeeded: filter.expressions.paths.count - 1)
    }

    private static func aggregateKind(_ ending: PathEnding) -> AggregateKind {
        switch ending {
        case .minimum: return .minimum
        case .maximum: return .maximum
        case .average: return .average
        default: return .sum
        }
    }

    /// The type of an aggregate's result (A11).
    private static func resultKind(_ ending: PathEnding, _ kind: OperandKind) -> OperandKind {
        switch ending {
        case .sum:
            return kind == .int ? .int : kind == .float || kind == .double ? .double : .decimal
        case .average: return kind == .decimal || kind == .mixed ? .decimal : .double
        default: return kind
        }
    }

    private mutating func addAggregate(
        _ ending: PathEnding, _ path: ExpressionPath, _ inner: BoundPath?, in scope: Int32
    ) -> (place: Int32, kind: OperandKind) {
        let outerPlace = addPath(path, in: scope)
        let innerPlace = inner.map { addPath($0.path, in: scope) } ?? -1
        let kind = inner?.path.kind ?? path.kind
        filter.expressions.aggregates.append(
            ExpressionAggregate(
                path: outerPlace, inner: innerPlace, kind: Self.aggregateKind(ending),
                valueKind: kind.columnKind))
        return (
            Int32(truncatingIfNeeded: filter.expressions.aggregates.count - 1),
            Self.resultKind(ending, kind)
        )
    }

    private mutating func aggregateOperand(_ index: Int32) -> BoundOperand {
        guard case .aggregate(let place) = bound[Int(index)].meaning else {
            invariant(false, "node \(index) is no aggregate")
            return BoundOperand(kind: .null, node: index)
        }
        let aggregate = aggregates[Int(place)]
        let added = addAggregate(
            aggregate.ending, aggregate.path.path, aggregate.inner, in: scope(index))
        var operand = BoundOperand(kind: added.kind, node: index)
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        filter.expressions.code.append(ExpressionCode(kind: .aggregate, a: added.place))
        return operand
    }

    private mutating func subqueryOperand(
        _ index: Int32, _ node: SyntaxNode
    ) throws(RealmError) -> BoundOperand {
        let bound = subqueries[Int(node.a)]
        let scope = scopes[Int(bound.scope)]
        let ending = PathEnding(rawValue: node.op) ?? .size
        var operand = BoundOperand(kind: .int, node: index)
        var aggregate: Int32 = -1
        if ending != .size {
            let added = addAggregate(
                ending, bound.path.path, bound.inner, in: self.scope(index))
            aggregate = added.place
            operand.kind = added.kind
        }
        let root = filter.finish(result(tree.subqueries[Int(node.a)].predicate))
        var subquery = ExpressionSubquery(
            path: addPath(bound.path.path, in: self.scope(index)), slot: scope.slot, root: root,
            isUncorrelated: runsOnColumns(bound.scope),
            target: scope.classIndex >= 0 ? schema.classes[scope.classIndex].key : .invalid,
            aggregate: aggregate)
        noteNesting(&subquery, bound)
        filter.expressions.subqueries.append(subquery)
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        filter.expressions.code.append(
            ExpressionCode(
                kind: .subquery,
                a: Int32(truncatingIfNeeded: filter.expressions.subqueries.count - 1)))
        return operand
    }

    // MARK: Arithmetic

    private func requireNumber(
        _ operand: BoundOperand, _ sign: String, _ whole: Int32
    ) throws(RealmError) {
        if operand.kind.isNumeric || (operand.kind == .mixed && !operand.isPlainConstant) { return }
        if operand.isList, operand.kind == .mixed, operand.constantCount == 0 { return }
        // What constants came to may be null (R5), a literal may not (R4).
        if operand.kind == .null, operand.isPlainConstant,
            filter.expressions.constants[Int(operand.constantFirst)].isComputed
        {
            return
        }
        throw invalidArgument(
            "operator \(sign) in '\(spelling(whole))' needs numbers, "
                + "'\(spelling(operand.node))' is of type "
                + "'\(operand.kind.typeWord)'")
    }

    private mutating func arithmetic(
        _ index: Int32, _ left: BoundOperand, _ right: BoundOperand
    ) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        let op: ArithmeticOperator
        let sign: String
        switch node.kind {
        case .add: (op, sign) = (.add, "+")
        case .subtract: (op, sign) = (.subtract, "-")
        case .multiply: (op, sign) = (.multiply, "*")
        default: (op, sign) = (.divide, "/")
        }
        try requireNumber(left, sign, index)
        try requireNumber(right, sign, index)
        if left.shape != .single, right.shape != .single {
            throw invalidQuery(
                "operator \(sign) in '\(spelling(node))' cannot join two collections")
        }
        var result = left.shape == .single ? right : left
        result.kind = .ofResult(left.kind, right.kind)
        result.first = left.first
        result.count = left.count + right.count + 1
        result.isDirect = false
        result.isDirectCollection = false
        result.node = index
        if result.kind == .decimal {
            // A number beside a decimal is read as one, with all its digits (T5).
            for side in [left, right] where side.isPlainConstant && side.kind != .decimal {
                makeDecimal(side)
            }
        }
        if left.isPlainConstant, right.isPlainConstant, left.shape == .single,
            right.shape == .single
        {
            return fold(index, op, left, right)
        }
        result.isConstant = left.isConstant && right.isConstant
        result.constantFirst = -1
        filter.expressions.code.append(ExpressionCode(kind: .arithmetic, a: Int32(op.rawValue)))
        return result
    }

    private mutating func makeDecimal(_ operand: BoundOperand) {
        for place in operand.constantFirst..<operand.constantFirst + operand.constantCount {
            let constant = filter.expressions.constants[Int(place)]
            guard let number = decimal(constant) else { continue }
            filter.expressions.constants[Int(place)] = replacing(constant, .decimal(number))
        }
    }

    /// The constant with another value.
    func replacing(_ constant: BoundConstant, _ value: RawValue) -> BoundConstant {
        let kind: BoundConstant.Kind
        switch ValueType(rawValue: value.type) {
        case .int: kind = .int
        case .double: kind = .double
        case .float: kind = .float
        case .decimal128: kind = .decimal
        case .bool: kind = .bool
        case .timestamp: kind = .timestamp
        case .link: kind = .link
        case .objectId: kind = .objectId
        case .uuid: kind = .uuid
        default: kind = .null
        }
        var result = BoundConstant(kind, value)
        if kind == .timestamp { result.extra = value.nanoseconds }
        result.isArgument = constant.isArgument
        result.isComputed = true
        result.node = constant.node
        return result
    }

    /// An operation on constants is done here (R7).
    private mutating func fold(
        _ index: Int32, _ op: ArithmeticOperator, _ left: BoundOperand, _ right: BoundOperand
    ) -> BoundOperand {
        let (a, b) = (
            filter.expressions.constants[Int(left.constantFirst)],
            filter.expressions.constants[Int(right.constantFirst)]
        )
        let value = ExpressionArithmetic.apply(op, a.raw, b.raw)
        filter.expressions.code.removeLast(Int(left.count + right.count))
        filter.expressions.constants.removeLast(2)
        var model = a
        model.isArgument = a.isArgument || b.isArgument
        model.node = index
        return foldedOperand(index, replacing(model, value))
    }

    /// Whether a path ends with the values of a dictionary, or the one under a key.
    func takesDictionaryValues(_ bound: BoundPath) -> Bool {
        let path = bound.path
        guard path.mixedCount == 0, path.measure == .none else { return false }
        switch path.value {
        case .elementForKey: return true
        case .elements: break
        case .member where path.count > 0:
            let last = filter.expressions.steps[Int(path.first + path.count) - 1].kind
            if last == .linkForKey { return true }
            guard last == .links else { return false }
        default: return false
        }
        guard bound.classIndex >= 0 else { return false }
        let property = schema.classes[bound.classIndex].properties[bound.propertyIndex]
        return property.collection == .dictionary
    }

    /// A constant that was computed, as an operand.
    mutating func foldedOperand(_ index: Int32, _ constant: BoundConstant) -> BoundOperand {
        var operand = BoundOperand(kind: Self.kind(constant), node: index)
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        operand.isConstant = true
        operand.constantFirst = Int32(truncatingIfNeeded: filter.expressions.constants.count)
        operand.constantCount = 1
        filter.expressions.constants.append(constant)
        filter.expressions.code.append(
            ExpressionCode(kind: .constant, a: operand.constantFirst))
        return operand
    }

    private mutating func negation(
        _ index: Int32, _ inner: BoundOperand
    ) throws(RealmError) -> BoundOperand {
        try requireNumber(inner, "-", index)
        if inner.isPlainConstant, inner.shape == .single {
            let constant = filter.expressions.constants.removeLast()
            filter.expressions.code.removeLast()
            var model = constant
            model.node = index
            return foldedOperand(
                index, replacing(model, ExpressionArithmetic.negate(constant.raw)))
        }
        var result = inner
        result.count += 1
        result.node = index
        result.isDirect = false
        result.constantFirst = -1
        filter.expressions.code.append(ExpressionCode(kind: .negate, a: 0))
        return result
    }
}
