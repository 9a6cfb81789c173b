// Conditions in their general form: two operands of any shape, and what must hold between them
// (QUERY_RULES T to R). Results are the same as those of column tests where both can say a condition;
// `QueryFuzzTests` compares them.

extension Binder {
    // MARK: Comparisons

    mutating func bindGeneral(_ node: SyntaxNode, _ scope: Int32) throws(RealmError) -> Int32 {
        var left = try operand(node.a, scope)
        var right = try operand(node.b, scope)
        var op = ComparisonOperator(rawValue: node.op) ?? .equal
        if op == .inList {
            guard right.shape != .single else {
                throw invalidArgument(
                    "the right side of IN must be a list, "
                        + "'\(spelling(node.b))' is none")
            }
        }
        if left.isConstant, right.isConstant { throw twoConstants(node) }
        if op == .text { return try bindWords(left, right) }
        try checkQuantifier(left)
        try checkQuantifier(right)
        var test = ExpressionTest()
        test.options = ComparisonOptions(rawValue: node.options)
        if left.shape != .single, right.shape != .single, left.quantifier == .unspecified,
            right.quantifier == .unspecified
        {
            if op == .equal, meansMembership(left, right) {
                left.quantifier = .any
                right.quantifier = .any
            } else {
                test.pairing = .positional
            }
        }
        if left.kind == .type || right.kind == .type {
            try bindTypes(&left, &right, op)
            test.comparesTypes = true
        } else {
            try bindSides(&left, &right, op, &test)
        }
        if op == .inList { op = .equal }
        test.op = op
        test.left = side(left)
        test.right = side(right)
        test.numberKind = numberKind(left, right)
        test.nullIsLeast =
            (left.isDirect && left.kind == .string && right.isConstant)
            || (right.isDirect && right.kind == .string && left.isConstant)
        test.nullNeedleMatches =
            left.isDirect && right.isConstant
            && !(op == .contains && left.kind == .binary
                && test.options.effective.contains(.ignoreCase))
        test.hasEscapes = test.options.contains(.format)
        test.emptyNeedleFails = test.options.contains(.format)
        if let bound = bindCount(test, scope) { return bound }
        noteEnough(test)
        test.looksUpList = looksUp(test, right)
        return add(test)
    }

    /// Whether the test asks if a value is in a list of constants.
    private func looksUp(_ test: ExpressionTest, _ right: BoundOperand) -> Bool {
        guard right.isList, right.isPlainConstant, test.pairing == .quantified,
            !test.comparesTypes
        else { return false }
        switch right.quantifier {
        case .unspecified, .any, .none: return test.op == .equal
        case .all: return test.op == .notEqual
        }
    }

    func twoConstants(_ node: SyntaxNode) -> RealmError {
        invalidQuery("'\(spelling(node))' compares two constants; one side must be a property")
    }

    mutating func add(_ test: ExpressionTest) -> Int32 {
        filter.expressions.tests.append(test)
        return filter.add(
            FilterNode(
                .expression(Int32(truncatingIfNeeded: filter.expressions.tests.count - 1))))
    }

    func side(_ operand: BoundOperand) -> ExpressionTest.Side {
        ExpressionTest.Side(
            first: operand.first, count: operand.count, shape: operand.shape,
            quantifier: operand.quantifier)
    }

    /// A quantifier before a single argument (Q14).
    func checkQuantifier(_ operand: BoundOperand) throws(RealmError) {
        guard operand.quantifier != .unspecified, operand.shape == .single else { return }
        throw invalidQuery(
            "the quantifier \(operand.quantifier.word) needs a collection, "
                + "'\(spelling(operand.node))' is none")
    }

    /// A collection of objects one step away `==` a list means that some member is one of it (Q10);
    /// against the empty list it stays positional (Q20).
    private func meansMembership(_ left: BoundOperand, _ right: BoundOperand) -> Bool {
        if left.isDirectCollection, right.isList { return right.constantCount != 0 }
        if right.isDirectCollection, left.isList { return left.constantCount != 0 }
        return false
    }

    /// Whether NaN is compared as in mixed values (`ValueTest`): not beside a decimal.
    private func numberKind(_ left: BoundOperand, _ right: BoundOperand) -> ColumnKind {
        let sides = [left, right].filter { !$0.isConstant }
        let hasMixed = sides.contains { $0.kind == .mixed }
        return hasMixed && !sides.contains { $0.kind == .decimal } ? .mixed : .double
    }

    // MARK: Types of the sides

    private mutating func bindSides(
        _ left: inout BoundOperand, _ right: inout BoundOperand, _ op: ComparisonOperator,
        _ test: inout ExpressionTest
    ) throws(RealmError) {
        try compareAsAny(&left, with: right, op)
        try compareAsAny(&right, with: left, op)
        if op == .matches {
            try bindPattern(left, right, &test)
        } else if op.isTextual {
            for side in [left, right] {
                try requireText(side, op)
                guard side.isPlainConstant else { continue }
                let first = Int(side.constantFirst)
                for place in first..<first + Int(side.constantCount) {
                    try checkUTF8(filter.expressions.constants[place], op)
                }
            }
        }
        if test.options.effective.contains(.ignoreDiacritics) {
            for side in [left, right] where side.kind == .binary && !side.isList {
                throw invalidQuery(
                    "the option [d] is not defined for binary data such as "
                        + "'\(spelling(side.node))'")
            }
        }
        if left.isConstant {
            try coerce(&left, to: right, op, test.pairing)
        } else if right.isConstant {
            try coerce(&right, to: left, op, test.pairing)
        } else {
            try checkTypes(left, right, op)
        }
        if op.isOrdering, left.kind == .link || right.kind == .link {
            throw invalidQuery("operator \(op.spelling) is not defined for links")
        }
    }

    /// Values of a dictionary beside what its type does not go with are compared as those of mixed
    /// ones are: nothing equals them (I6, T1).
    private mutating func compareAsAny(
        _ values: inout BoundOperand, with other: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        guard values.isOfDictionary, values.kind != .mixed else { return }
        let fits: Bool
        if op.isTextual, !values.kind.holdsText {
            fits = false
        } else if other.isPlainConstant {
            // Of lists, members that do not fit are left out anyway.
            if other.isList { return }
            let constant = filter.expressions.constants[Int(other.constantFirst)]
            fits = try coerced(constant, to: typed(values), op, inList: true) != nil
        } else {
            fits =
                other.kind == .mixed || other.kind == values.kind
                || other.kind.isNumeric && values.kind.isNumeric
        }
        if !fits { values.kind = .mixed }
    }

    /// The pattern of MATCHES is known when the query is bound (B4).
    private mutating func bindPattern(
        _ left: BoundOperand, _ right: BoundOperand, _ test: inout ExpressionTest
    ) throws(RealmError) {
        guard left.kind == .string || left.kind == .mixed else {
            throw invalidQuery(
                "operator MATCHES is not defined for "
                    + "'\(spelling(left.node))' of type \(left.kind.typeWord)")
        }
        guard right.isPlainConstant, right.shape == .single else {
            throw invalidQuery(
                "MATCHES needs a constant as its pattern, "
                    + "'\(spelling(right.node))' is none")
        }
        test.pattern = Int32(filter.patterns.count)
        filter.patterns.append(
            try pattern(test.options, filter.expressions.constants[Int(right.constantFirst)]))
    }

    private func requireText(
        _ operand: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        if operand.kind.holdsText || operand.kind == .null || operand.isList { return }
        let spelled = spelling(operand.node)
        let problem =
            "operator \(op.spelling) is not defined for '\(spelled)' of type "
            + "'\(operand.kind.typeWord)', it needs a string or binary"
        let isArgument =
            operand.isPlainConstant
            && filter.expressions.constants[Int(operand.constantFirst)].isArgument
        throw isArgument ? invalidArgument(problem) : invalidQuery(problem)
    }

    /// Two operands that are no constants.
    func checkTypes(
        _ left: BoundOperand, _ right: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        if left.kind == .mixed || right.kind == .mixed { return }
        if left.kind.isNumeric, right.kind.isNumeric { return }
        let (a, b) = (
            spelling(left.node), spelling(right.node)
        )
        guard left.kind == right.kind else {
            throw invalidQuery(
                "operator \(op.spelling) cannot compare '\(a)' of type '\(left.kind.typeWord)' "
                    + "with '\(b)' of type '\(right.kind.typeWord)'")
        }
        if left.kind == .link, left.linkClass != right.linkClass {
            throw invalidQuery(
                "'\(a)' links to class '\(className(left.linkClass))', '\(b)' to class "
                    + "'\(className(right.linkClass))'")
        }
    }

    // MARK: Constants

    /// Brings the constants of one side into the type of the other.
    mutating func coerce(
        _ side: inout BoundOperand, to other: BoundOperand, _ op: ComparisonOperator,
        _ pairing: ExpressionTest.Pairing
    ) throws(RealmError) {
        guard side.isPlainConstant else {
            return try checkTypes(side, other, op)
        }
        guard side.isList else {
            let constant = filter.expressions.constants[Int(side.constantFirst)]
            if constant.kind == .null, other.kind == .link, other.shape != .single {
                throw invalidQuery(
                    "'\(spelling(other.node))' leads to many objects and cannot be "
                        + "compared with null; compare its @count with 0")
            }
            guard let coerced = try coerced(constant, to: typed(other), op, inList: false) else {
                throw mismatch(typed(other), op, constant)
            }
            filter.expressions.constants[Int(side.constantFirst)] = coerced
            if coerced.kind != .null { side.kind = Self.kind(coerced) }
            return
        }
        // Members that cannot equal are left out (C4), unless their place counts or all must hold.
        let keeps = pairing == .positional || (side.quantifier == .all && op != .notEqual)
        var members: [BoundConstant] = []
        let range = Int(side.constantFirst)..<Int(side.constantFirst + side.constantCount)
        for constant in filter.expressions.constants[range] {
            if let coerced = try coerced(constant, to: typed(other), op, inList: true) {
                members.append(coerced)
            } else if keeps {
                members.append(constant)
            }
        }
        for (place, member) in members.enumerated() {
            filter.expressions.constants[range.lowerBound + place] = member
        }
        side.constantCount = Int32(members.count)
        filter.expressions.code[Int(side.first)].b = side.constantCount
        // Members that were kept as they are compare as values of any type.
        if other.kind == .decimal { side.kind = .decimal }
    }

    func typed(_ operand: BoundOperand) -> TypedSide {
        TypedSide(kind: operand.kind, linkClass: operand.linkClass, syntax: operand.node)
    }

    // MARK: @type

    /// The words on one side become sets of types (K10).
    private mutating func bindTypes(
        _ left: inout BoundOperand, _ right: inout BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        guard op == .equal || op == .notEqual || op == .inList else {
            throw invalidQuery("operator \(op.spelling) is not defined for @type; == and != are")
        }
        try typeWords(&left)
        try typeWords(&right)
    }

    private mutating func typeWords(_ side: inout BoundOperand) throws(RealmError) {
        if side.kind == .type { return }
        let words = TypeSet.words.map { $0.word }.joined(separator: ", ")
        guard side.isPlainConstant else {
            throw invalidArgument(
                "@type cannot be compared with '\(spelling(side.node))'; "
                    + "it is compared with @type or one of \(words)")
        }
        let range = Int(side.constantFirst)..<Int(side.constantFirst + side.constantCount)
        for place in range {
            let constant = filter.expressions.constants[place]
            guard constant.kind == .string,
                let types = TypeSet.named(
                    String(decoding: filter.text(constant.text), as: UTF8.self))
            else {
                throw invalidArgument(
                    "'\(spelling(constant.node))' is no type; one of \(words)")
            }
            filter.expressions.constants[place] = BoundConstant(.int, types)
        }
        side.kind = .type
    }

    // MARK: BETWEEN and Boolean operands

    mutating func bindGeneralBetween(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        var operand = try operand(node.a, scope)
        let bounds = try betweenBounds(node)
        if operand.isConstant {
            throw invalidQuery(
                "'\(spelling(node))' compares constants; the left side must be a property")
        }
        if operand.kind == .link || operand.kind == .type { throw notBetween(operand) }
        var test = ExpressionTest()
        test.kind = .between
        test.left = side(operand)
        var sides: [BoundOperand] = []
        for bound in bounds {
            var side = foldedOperand(node.b, bound)
            try compareAsAny(&operand, with: side, .less)
            try coerce(&side, to: operand, .less, .quantified)
            sides.append(side)
        }
        test.right = side(sides[0])
        test.upper = side(sides[1])
        test.numberKind = numberKind(operand, sides[0])
        filter.expressions.stackDepth = max(filter.expressions.stackDepth, 3)
        return add(test)
    }

    /// Whether the bounds of BETWEEN are known when the query is bound.
    func hasConstantBounds(_ node: SyntaxNode) -> Bool {
        let list = syntax(node.b)
        guard list.kind == .list else { return true }
        return tree.children[Int(list.a)..<Int(list.a + list.b)].allSatisfy {
            syntax($0).kind.isConstant
        }
    }

    /// BETWEEN with expressions as bounds. A bound that is null for an object has nothing inside.
    mutating func bindComputedBetween(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        let list = syntax(node.b)
        try checkBoundCount(Int(list.b))
        var sides: [BoundOperand] = []
        for child in [node.a, tree.children[Int(list.a)], tree.children[Int(list.a) + 1]] {
            let side = try operand(child, scope)
            if side.kind == .link || side.kind == .type { throw notBetween(side) }
            if side.isPlainConstant, !side.isList {
                try checkBound(filter.expressions.constants[Int(side.constantFirst)])
            }
            if !sides.isEmpty, side.shape != .single {
                throw invalidQuery(
                    "a bound of BETWEEN is one value, '\(spelling(child))' is a "
                        + "collection")
            }
            sides.append(side)
        }
        try checkQuantifier(sides[0])
        // Constants take the type of what is none.
        guard let model = sides.first(where: { !$0.isConstant }) else {
            throw invalidQuery("'\(spelling(node))' compares constants; one must be a property")
        }
        // One between two of them has to fit both.
        if sides[0].isPlainConstant, !sides[0].isList {
            let constant = filter.expressions.constants[Int(sides[0].constantFirst)]
            for bound in sides[1...] where bound.kind == .int && !bound.isConstant {
                _ = try coerced(constant, to: typed(bound), .less, inList: false)
            }
        }
        for place in sides.indices {
            if sides[place].isConstant {
                try coerce(&sides[place], to: model, .less, .quantified)
            } else {
                try checkTypes(model, sides[place], .less)
            }
        }
        var test = ExpressionTest()
        test.kind = .between
        test.left = side(sides[0])
        test.right = side(sides[1])
        test.upper = side(sides[2])
        let isMixed = sides.contains { $0.kind == .mixed && !$0.isConstant }
        let isDecimal = sides.contains { $0.kind == .decimal && !$0.isConstant }
        test.numberKind = isMixed && !isDecimal ? .mixed : .double
        filter.expressions.stackDepth = max(filter.expressions.stackDepth, 3)
        return add(test)
    }

    private func notBetween(_ operand: BoundOperand) -> RealmError {
        invalidQuery(
            "operator BETWEEN is not defined for '\(spelling(operand.node))' of "
                + "type \(operand.kind.typeWord)")
    }

    private func checkBoundCount(_ count: Int) throws(RealmError) {
        guard count == 2 else {
            throw invalidQuery("BETWEEN needs a list of exactly 2 values, it has \(count)")
        }
    }

    private func checkBound(_ bound: BoundConstant) throws(RealmError) {
        guard bound.kind == .null else { return }
        let problem = "a bound of BETWEEN is null"
        throw bound.isArgument ? invalidArgument(problem) : invalidQuery(problem)
    }

    /// The two bounds; neither is null.
    mutating func betweenBounds(_ node: SyntaxNode) throws(RealmError) -> [BoundConstant] {
        guard isList(node.b) else {
            throw invalidArgument(
                "BETWEEN needs a list of two values, "
                    + "'\(spelling(node.b))' is none")
        }
        let bounds = try listMembers(node.b)
        try checkBoundCount(bounds.count)
        for bound in bounds { try checkBound(bound) }
        return bounds
    }

    /// An operand that stands alone means `== true` (X11).
    mutating func bindGeneralBoolean(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        let operand = try operand(node.a, scope)
        guard operand.kind == .bool || operand.kind == .mixed else {
            throw text.syntaxError(
                at: Int(node.start),
                "\(standsAlone(node)); it is of type \(operand.kind.typeWord)")
        }
        var test = ExpressionTest()
        test.left = side(operand)
        test.right = side(foldedOperand(node.a, BoundConstant(.bool, 1)))
        return add(test)
    }
}
