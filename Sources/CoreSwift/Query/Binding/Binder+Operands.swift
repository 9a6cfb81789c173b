// Operands: what stands on the sides of a condition, with types and shapes (QUERY_RULES A, R). What is computed
// is written as instructions of a stack machine at once; the instruction of a constant or path by `emit`, when it
// is known that no column answers the condition. Works with a list of what is left to do instead of recursion.

/// An operand whose type is known.
struct BoundOperand {
    enum Form {
        /// `constant`, or `members`.
        case constant, list
        /// Place in the binder's `paths`.
        case path(Int)
        /// Place in the expressions' tables.
        case aggregate(Int32), subquery(Int32)
        /// An operation or a call.
        case computed
    }
    var form: Form
    var kind: OperandKind
    var shape = OperandShape.single
    var quantifier = Quantifier.unspecified
    /// Range of the instructions; empty until they are written.
    var first: Int32 = 0
    var count: Int32 = 0
    /// Only constants went into it.
    var isConstant = false
    var constant = BoundConstant(RawValue.null)
    var members: [BoundConstant] = []
    /// Where the constants stand among the expressions', once the instruction is written.
    var constantFirst: Int32 = -1
    /// Of links.
    var linkClass = ClassKey.invalid
    /// The syntax node.
    var node: Int32

    init(_ form: Form, _ kind: OperandKind, node: Int32) {
        self.form = form
        self.kind = kind
        self.node = node
    }

    init(_ constant: BoundConstant, node: Int32) {
        self.init(.constant, constant.kind, node: node)
        self.constant = constant
        linkClass = constant.classKey
        isConstant = true
    }

    var isList: Bool {
        if case .list = form { return true }
        return false
    }

    /// Constants as they stand, not what was computed of a list of them.
    var isPlainConstant: Bool {
        switch form {
        case .constant, .list: return true
        default: return false
        }
    }

    /// The constants that it is.
    var constants: [BoundConstant] { isList ? members : isPlainConstant ? [constant] : [] }
}

extension Binder {
    /// The operand at a node.
    mutating func operand(_ root: Int32) throws(RealmError) -> BoundOperand {
        let kind = syntax(root).kind
        guard kind == .arithmetic || kind == .negate || kind == .function else {
            return try leaf(root)
        }
        var work: [(node: Int32, isReady: Bool)] = [(root, false)]
        var stack: [BoundOperand] = []
        while let (index, isReady) = work.popLast() {
            let node = syntax(index)
            var made: BoundOperand
            switch node.kind {
            case .arithmetic:
                guard isReady else {
                    work.append((index, true))
                    work.append((node.b, false))
                    work.append((node.a, false))
                    continue
                }
                let right = stack.removeLast()
                made = try arithmetic(index, stack.removeLast(), right)
            case .negate:
                guard isReady else {
                    work.append((index, true))
                    work.append((node.a, false))
                    continue
                }
                made = try negation(index, stack.removeLast())
            case .function:
                // The condition of TERNARY is no operand: it has been bound before.
                let operands = tree.members(node).filter { !syntax($0).kind.isPredicate }
                guard isReady else {
                    work.append((index, true))
                    for child in operands.reversed() { work.append((child, false)) }
                    continue
                }
                let given = Array(stack[(stack.count - operands.count)...])
                stack.removeLast(operands.count)
                made = try function(index, given)
            default: made = try leaf(index)
            }
            // Operands of something stand before it.
            if index != root { emit(&made) }
            stack.append(made)
            filter.expressions.stackDepth = max(filter.expressions.stackDepth, stack.count)
        }
        return stack[0]
    }

    /// Writes the instruction of an operand that has none.
    mutating func emit(_ operand: inout BoundOperand) {
        guard operand.count == 0 else { return }
        operand.first = Int32(truncatingIfNeeded: filter.expressions.code.count)
        operand.count = 1
        let code: ExpressionCode
        switch operand.form {
        case .constant, .list:
            operand.constantFirst = Int32(truncatingIfNeeded: filter.expressions.constants.count)
            if operand.isList {
                filter.expressions.constants.append(contentsOf: operand.members)
                code = ExpressionCode(
                    kind: .list, a: operand.constantFirst, b: Int32(operand.members.count))
            } else {
                filter.expressions.constants.append(operand.constant)
                code = ExpressionCode(kind: .constant, a: operand.constantFirst)
            }
        case .path(let place):
            code = ExpressionCode(
                kind: .path, a: addPath(paths[place].path, in: scope(operand.node)))
        case .aggregate(let place): code = ExpressionCode(kind: .aggregate, a: place)
        case .subquery(let place): code = ExpressionCode(kind: .subquery, a: place)
        case .computed: return invariant(false, "an operation without instructions")
        }
        filter.expressions.code.append(code)
    }

    // MARK: Leaves

    private mutating func leaf(_ index: Int32) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        switch node.kind {
        case .path: return pathOperand(index, node)
        case .aggregate: return aggregateOperand(index)
        case .subquery: return try subqueryOperand(index, node)
        default: break
        }
        guard isList(index) else { return BoundOperand(try constant(index), node: index) }
        let members = try listMembers(index)
        var operand = BoundOperand(.list, Self.commonKind(members), node: index)
        operand.isConstant = true
        operand.members = members
        operand.shape = .many
        operand.quantifier = node.quantifier
        return operand
    }

    /// The kind of all members, or of their sum; else mixed.
    private static func commonKind(_ members: [BoundConstant]) -> OperandKind {
        guard let first = members.first else { return .mixed }
        if members.allSatisfy({ $0.kind == first.kind }) { return first.kind }
        guard members.allSatisfy({ $0.kind.isNumeric }) else { return .mixed }
        return members.reduce(first.kind) { OperandKind.ofResult($0, $1.kind) }
    }

    private mutating func pathOperand(_ index: Int32, _ node: SyntaxNode) -> BoundOperand {
        let place = place(index)
        if paths[place].types != 0 {
            // The type of a property that is not mixed is known.
            let types = BoundConstant(.int(Int64(paths[place].types)))
            var operand = BoundOperand(types, node: index)
            operand.kind = .type
            return operand
        }
        let path = paths[place].path
        var operand = BoundOperand(.path(place), path.kind, node: index)
        operand.shape = path.shape
        operand.quantifier = node.quantifier
        operand.linkClass = path.target
        switch path.measure {
        case .none: break
        case .size, .length: operand.kind = .int
        case .type: operand.kind = .type
        }
        return operand
    }

    /// A path that is followed for the members of a scope, from it or from one around it.
    private mutating func addPath(_ path: ExpressionPath, in scope: Int32) -> Int32 {
        var path = path
        path.outerLevels = scopes[Int(scope)].levels
        return filter.expressions.paths.add(path)
    }

    private mutating func addAggregate(
        _ ending: PathEnding, _ path: ExpressionPath, _ inner: BoundPath?, in scope: Int32
    ) -> (place: Int32, kind: OperandKind) {
        let outerPlace = addPath(path, in: scope)
        let innerPlace = inner.map { addPath($0.path, in: scope) } ?? -1
        let kind = inner?.path.kind ?? path.kind
        let aggregate = AggregateKind(ending)
        let place = filter.expressions.aggregates.add(
            ExpressionAggregate(
                path: outerPlace, inner: innerPlace, kind: aggregate, valueKind: kind.columnKind))
        return (place, aggregate.result(of: kind))
    }

    private mutating func aggregateOperand(_ index: Int32) -> BoundOperand {
        guard case .aggregate(let place) = bound[Int(index)].meaning else {
            invariant(false, "node \(index) is no aggregate")
            return BoundOperand(BoundConstant(RawValue.null), node: index)
        }
        let aggregate = aggregates[Int(place)]
        let added = addAggregate(
            aggregate.ending, aggregate.path.path, aggregate.inner, in: scope(index))
        return BoundOperand(.aggregate(added.place), added.kind, node: index)
    }

    private mutating func subqueryOperand(
        _ index: Int32, _ node: SyntaxNode
    ) throws(RealmError) -> BoundOperand {
        let bound = subqueries[Int(node.a)]
        let scope = scopes[Int(bound.scope)]
        let ending = node.ending
        var kind = OperandKind.int
        var aggregate: Int32 = -1
        if ending != .size {
            let added = addAggregate(
                ending, bound.path.path, bound.inner, in: self.scope(index))
            aggregate = added.place
            kind = added.kind
        }
        let root = filter.finish(result(tree.subqueries[Int(node.a)].predicate))
        var subquery = ExpressionSubquery(
            path: addPath(bound.path.path, in: self.scope(index)), slot: scope.slot, root: root,
            isUncorrelated: runsOnColumns(bound.scope),
            target: scope.classIndex >= 0 ? schema.classes[scope.classIndex].key : .invalid,
            aggregate: aggregate)
        noteNesting(&subquery, bound)
        return BoundOperand(
            .subquery(filter.expressions.subqueries.add(subquery)), kind, node: index)
    }

    // MARK: Arithmetic

    private func requireNumber(
        _ operand: BoundOperand, _ sign: String, _ whole: Int32
    ) throws(RealmError) {
        if operand.kind.isNumeric || (operand.kind == .mixed && !operand.isPlainConstant) { return }
        if operand.isList, operand.members.isEmpty { return }
        // What constants came to may be null (R5), a literal may not (R4).
        if operand.kind == .null, operand.constant.isComputed { return }
        throw invalidArgument(
            "operator \(sign) in '\(spelling(whole))' needs numbers, "
                + "'\(spelling(operand.node))' is of type "
                + "'\(operand.kind.typeWord)'")
    }

    private mutating func arithmetic(
        _ index: Int32, _ left: BoundOperand, _ right: BoundOperand
    ) throws(RealmError) -> BoundOperand {
        let node = syntax(index)
        let sign = node.operation.sign
        try requireNumber(left, sign, index)
        try requireNumber(right, sign, index)
        if left.shape != .single, right.shape != .single {
            throw invalidQuery(
                "operator \(sign) in '\(spelling(node))' cannot join two collections")
        }
        let many = left.shape == .single ? right : left
        var result = BoundOperand(.computed, .ofResult(left.kind, right.kind), node: index)
        result.shape = many.shape
        result.quantifier = many.quantifier
        result.linkClass = many.linkClass
        result.first = left.first
        result.count = left.count + right.count + 1
        if result.kind == .decimal {
            // A number beside a decimal is read as one, with all its digits (T5).
            for side in [left, right] where side.isPlainConstant && side.kind != .decimal {
                makeDecimal(side)
            }
        }
        if left.isPlainConstant, right.isPlainConstant, left.shape == .single,
            right.shape == .single
        {
            return fold(index, node.operation, left, right)
        }
        result.isConstant = left.isConstant && right.isConstant
        filter.expressions.code.append(ExpressionCode(kind: .arithmetic, a: Int32(node.op)))
        return result
    }

    private mutating func makeDecimal(_ operand: BoundOperand) {
        let count = operand.isList ? operand.members.count : 1
        for place in operand.constantFirst..<operand.constantFirst + Int32(count) {
            let constant = filter.expressions.constants[Int(place)]
            guard let number = decimal(constant) else { continue }
            filter.expressions.constants[Int(place)] = replacing(constant, .decimal(number))
        }
    }

    /// The constant with another value.
    func replacing(_ constant: BoundConstant, _ value: RawValue) -> BoundConstant {
        var result = BoundConstant(value)
        result.isArgument = constant.isArgument
        result.isComputed = true
        result.node = constant.node
        return result
    }

    /// An operation on constants is done here (R7).
    private mutating func fold(
        _ index: Int32, _ op: Predicate.Operation, _ left: BoundOperand, _ right: BoundOperand
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
        return BoundOperand(replacing(model, value), node: index)
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
        return property(bound)?.collection == .dictionary
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
            return BoundOperand(
                replacing(model, ExpressionArithmetic.negate(constant.raw)), node: index)
        }
        var result = inner
        result.form = .computed
        result.count += 1
        result.node = index
        filter.expressions.code.append(ExpressionCode(kind: .negate, a: 0))
        return result
    }
}
