// Conditions in their general form: instructions for both operands, and what must hold between them, object
// by object. Results are the same as those of tests of columns where both can say a condition;
// `QueryFuzzTests` compares them.

extension Binder {
    mutating func emitted(_ condition: inout BoundComparison) throws(RealmError) -> Int32 {
        var test = ExpressionTest()
        test.op = condition.op == .inList ? .equal : condition.op
        if let search = condition.search {
            test.left = side(&condition.left)
            test.right = side(&condition.right)
            test.search = filter.searches.add(search)
            test.wordRules = condition.wordRules
            // No object is reached behind a null link; nulls of objects that are reached have no words.
            let code = filter.expressions.code[Int(test.left.first)]
            filter.expressions.paths[Int(code.a)].needsObject = true
            test.nullNeedleMatches = search.required.isEmpty
            return add(test)
        }
        test.options = condition.options
        test.isPositional = condition.isPositional
        test.comparesTypes = condition.comparesTypes
        test.numberKind = numberKind([condition.left, condition.right])
        let (left, right) = (condition.left, condition.right)
        test.nullIsLeast =
            (left.kind == .string && right.isConstant && isDirect(left))
            || (right.kind == .string && left.isConstant && isDirect(right))
        test.nullNeedleMatches =
            right.isConstant && isDirect(left)
            && !(test.op == .contains && left.kind == .binary
                && test.options.effective.contains(.ignoreCase))
        if condition.op == .matches {
            guard case .constant = right.form else { throw noPattern(right) }
            test.pattern = try addPattern(condition.options, right.constant)
        }
        noteEnough(condition)
        test.looksUpList = looksUp(condition)
        test.left = side(&condition.left)
        test.right = side(&condition.right)
        return add(test)
    }

    /// A property of the object at hand.
    private func isDirect(_ operand: BoundOperand) -> Bool {
        guard case .path(let place) = operand.form else { return false }
        return paths[place].isPlain && paths[place].path.count == 0
    }

    /// Whether the test asks if a value is in a list of constants.
    func looksUp(_ condition: BoundComparison) -> Bool {
        guard condition.right.isList, !condition.isPositional, !condition.comparesTypes
        else { return false }
        switch condition.right.quantifier {
        case .unspecified, .any, .none: return condition.op == .equal || condition.op == .inList
        case .all: return condition.op == .notEqual
        }
    }

    /// Whether NaN is compared as in mixed values (`ValueTest`): not beside a decimal.
    func numberKind(_ sides: [BoundOperand]) -> ColumnKind {
        let hasMixed = sides.contains { !$0.isConstant && $0.kind == .mixed }
        return hasMixed && !sides.contains { !$0.isConstant && $0.kind == .decimal }
            ? .mixed : .double
    }

    /// The instructions of an operand, written if they are not yet.
    mutating func side(_ operand: inout BoundOperand) -> ExpressionTest.Side {
        emit(&operand)
        return ExpressionTest.Side(
            first: operand.first, count: operand.count, shape: operand.shape,
            quantifier: operand.quantifier)
    }

    mutating func add(_ test: ExpressionTest) -> Int32 {
        filter.add(FilterNode(.expression(filter.expressions.tests.add(test))))
    }

    /// The compiled pattern of MATCHES (B4).
    mutating func addPattern(
        _ options: ComparisonOptions, _ constant: BoundConstant
    ) throws(RealmError) -> Int32 {
        do throws(RealmError) {
            return filter.patterns.add(
                try RegularExpression(Array(filter.text(constant.text)), options.folding))
        } catch {
            throw invalidQuery(
                "the pattern \(spelling(constant.node)) of MATCHES: \(error.message)")
        }
    }
}
