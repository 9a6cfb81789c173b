// Conditions on two operands: whether they go together, what lists and quantifiers mean, constants in the
// type of the other side (QUERY_RULES T to Q). These rules are written here alone. What passes them is lowered
// to a test of a column (`lowered`) or, where none can say it, written as an expression (`emitted`).

/// Two operands that go together: constants are in the type of the other side.
struct BoundComparison {
    var left: BoundOperand
    var right: BoundOperand
    var op: ComparisonOperator
    var options: ComparisonOptions
    /// See `ExpressionTest`.
    var isPositional = false
    /// The operands are sets of types.
    var comparesTypes = false
    /// TEXT.
    var search: WordSearch?
    var wordRules = WordRules.latin
}

extension Binder {
    mutating func bindComparison(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        var condition = BoundComparison(
            left: try operand(node.a), right: try operand(node.b),
            op: node.comparison,
            options: ComparisonOptions(rawValue: node.options))
        try check(&condition, node)
        return try bound(&condition, scope)
    }

    /// A Boolean operand that stands alone means `== true` (X11).
    mutating func bindBooleanPath(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        let operand = try operand(node.a)
        guard operand.kind == .bool || operand.kind == .mixed else {
            throw text.syntaxError(
                at: Int(node.start),
                "\(standsAlone(node)); it is of type \(operand.kind.typeWord)")
        }
        var condition = BoundComparison(
            left: operand, right: BoundOperand(BoundConstant(.bool(true)), node: node.a),
            op: .equal, options: [])
        return try bound(&condition, scope)
    }

    private mutating func bound(
        _ condition: inout BoundComparison, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        if let made = try lowered(condition, scope) { return made }
        return try emitted(&condition)
    }

    // MARK: What goes together

    private mutating func check(
        _ condition: inout BoundComparison, _ node: SyntaxNode
    ) throws(RealmError) {
        let op = condition.op
        if op == .inList, condition.right.shape == .single {
            throw invalidArgument(
                "the right side of IN must be a list, '\(spelling(node.b))' is none")
        }
        if condition.left.isConstant, condition.right.isConstant {
            throw invalidQuery(
                "'\(spelling(node))' compares two constants; one side must be a property")
        }
        if op == .text { return try checkWords(&condition) }
        try checkQuantifier(condition.left)
        try checkQuantifier(condition.right)
        if condition.left.shape != .single, condition.right.shape != .single,
            condition.left.quantifier == .unspecified, condition.right.quantifier == .unspecified
        {
            if op == .equal, meansMembership(condition) {
                condition.left.quantifier = .any
                condition.right.quantifier = .any
            } else {
                condition.isPositional = true
            }
        }
        if condition.left.kind == .type || condition.right.kind == .type {
            try checkTypeWords(&condition)
        } else {
            try checkValues(&condition)
        }
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
    private func meansMembership(_ condition: BoundComparison) -> Bool {
        func isCollection(_ side: BoundOperand) -> Bool {
            guard case .path(let place) = side.form else { return false }
            let path = paths[place].path
            return path.value == .member && path.isToMany && path.count == 1
        }
        let (left, right) = (condition.left, condition.right)
        return isCollection(left) && right.isList && !right.members.isEmpty
            || isCollection(right) && left.isList && !left.members.isEmpty
    }

    private mutating func checkValues(_ condition: inout BoundComparison) throws(RealmError) {
        let op = condition.op
        try compareAsAny(&condition.left, with: condition.right, op)
        try compareAsAny(&condition.right, with: condition.left, op)
        if op.isOrdering {
            try checkOrder(condition.left, op)
            try checkOrder(condition.right, op)
        }
        if op == .matches {
            try checkPatterns(condition)
        } else if op.isTextual {
            try requireText(condition.left, op)
            try requireText(condition.right, op)
        }
        if condition.options.effective.contains(.ignoreDiacritics) {
            try checkDiacritics(condition.left)
            try checkDiacritics(condition.right)
        }
        if condition.left.isConstant {
            try coerce(&condition.left, to: condition.right, op, condition.isPositional)
        } else if condition.right.isConstant {
            try coerce(&condition.right, to: condition.left, op, condition.isPositional)
        } else {
            try checkTypes(condition.left, condition.right, op)
        }
    }

    private func checkOrder(
        _ side: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        if side.kind == .link {
            throw invalidQuery(
                "operator \(op.spelling) is not defined for \(subject(side)) of type link")
        }
    }

    private func checkDiacritics(_ side: BoundOperand) throws(RealmError) {
        if side.kind == .binary, !side.isList {
            throw invalidQuery(
                "the option [d] is not defined for binary data such as \(subject(side))")
        }
    }

    /// Values of a dictionary beside what its type does not go with are compared as those of mixed
    /// ones are: nothing equals them (I6, T1).
    private mutating func compareAsAny(
        _ values: inout BoundOperand, with other: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        // Most paths are plain; the whole binder would be copied to ask for them.
        guard case .path(let place) = values.form, values.kind != .mixed, !paths[place].isPlain,
            takesDictionaryValues(paths[place])
        else { return }
        let fits: Bool
        if op.isTextual, !values.kind.holdsText {
            fits = false
        } else if other.isPlainConstant {
            // Of lists, members that do not fit are left out anyway.
            if other.isList { return }
            fits = try coerced(other.constant, to: values, op, inList: true) != nil
        } else {
            fits =
                other.kind == .mixed || other.kind == values.kind
                || other.kind.isNumeric && values.kind.isNumeric
        }
        if !fits { values.kind = .mixed }
    }

    private func requireText(
        _ operand: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        for constant in operand.constants { try checkUTF8(constant, op) }
        if operand.kind.holdsText || operand.kind == .null || operand.isList { return }
        if operand.isPlainConstant { throw noText(op, operand.constant) }
        throw invalidQuery(
            "operator \(op.spelling) is not defined for \(subject(operand)) of type "
                + "'\(operand.kind.typeWord)', it needs a string or binary")
    }

    /// The patterns of MATCHES are known when the query is bound (B4).
    private func checkPatterns(_ condition: BoundComparison) throws(RealmError) {
        guard condition.left.kind == .string || condition.left.kind == .mixed else {
            throw invalidQuery(
                "operator MATCHES is not defined for \(subject(condition.left)) of type "
                    + "'\(condition.left.kind.typeWord)'")
        }
        guard condition.right.isPlainConstant else { throw noPattern(condition.right) }
        for constant in condition.right.constants {
            guard constant.kind == .string else {
                throw invalidQuery(
                    "MATCHES needs a string as its pattern, '\(spelling(constant.node))' is of type "
                        + "'\(constant.typeWord)'")
            }
            try checkUTF8(constant, .matches)
        }
    }

    func noPattern(_ side: BoundOperand) -> RealmError {
        invalidQuery(
            "MATCHES needs a constant as its pattern, '\(spelling(side.node))' is none")
    }

    /// Two operands that are no constants.
    private func checkTypes(
        _ left: BoundOperand, _ right: BoundOperand, _ op: ComparisonOperator
    ) throws(RealmError) {
        if left.kind == .mixed || right.kind == .mixed { return }
        if left.kind.isNumeric, right.kind.isNumeric { return }
        let (a, b) = (spelling(left.node), spelling(right.node))
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

    /// Brings the constants of one side into the type of the other.
    private mutating func coerce(
        _ side: inout BoundOperand, to other: BoundOperand, _ op: ComparisonOperator,
        _ isPositional: Bool = false
    ) throws(RealmError) {
        switch side.form {
        case .constant:
            if side.constant.kind == .null, other.kind == .link, other.shape != .single {
                throw invalidQuery(
                    "'\(spelling(other.node))' leads to many objects and cannot be "
                        + "compared with null; compare its @count with 0")
            }
            guard let coerced = try coerced(side.constant, to: other, op, inList: false) else {
                throw mismatch(other, op, side.constant)
            }
            side.constant = coerced
            if coerced.kind != .null { side.kind = coerced.kind }
        case .list:
            // Members that cannot equal are left out (C4), unless their place counts or all must hold.
            let keeps = isPositional || (side.quantifier == .all && op != .notEqual)
            var members: [BoundConstant] = []
            members.reserveCapacity(side.members.count)
            for var constant in side.members {
                if let coerced = try coerced(constant, to: other, op, inList: true) {
                    members.append(coerced)
                } else if keeps {
                    constant.isForeign = true
                    members.append(constant)
                }
            }
            side.members = members
            // Members that were kept as they are compare as values of any type.
            if other.kind == .decimal { side.kind = .decimal }
        default: try checkTypes(side, other, op)
        }
    }

    /// The words on one side of `@type` become sets of types (K10).
    private mutating func checkTypeWords(_ condition: inout BoundComparison) throws(RealmError) {
        let op = condition.op
        guard op == .equal || op == .notEqual || op == .inList else {
            throw invalidQuery("operator \(op.spelling) is not defined for @type; == and != are")
        }
        try readTypeWords(&condition.left)
        try readTypeWords(&condition.right)
        condition.comparesTypes = true
    }

    private func readTypeWords(_ side: inout BoundOperand) throws(RealmError) {
        if side.kind == .type { return }
        func types(_ constant: BoundConstant) throws(RealmError) -> BoundConstant {
            guard constant.kind == .string,
                let types = TypeSet.named(
                    String(decoding: filter.text(constant.text), as: UTF8.self))
            else {
                throw invalidArgument(
                    "'\(spelling(constant.node))' is no type; one of \(TypeSet.wordList)")
            }
            return BoundConstant(.int(Int64(types)))
        }
        switch side.form {
        case .constant: side.constant = try types(side.constant)
        case .list:
            side.members = try side.members.map { member throws(RealmError) in try types(member) }
        default:
            throw invalidArgument(
                "@type cannot be compared with '\(spelling(side.node))'; "
                    + "it is compared with @type or one of \(TypeSet.wordList)")
        }
        side.kind = .type
    }

    // MARK: BETWEEN

    /// A bound that is null for an object has nothing inside.
    mutating func bindBetween(_ node: SyntaxNode, _ scope: Int32) throws(RealmError) -> Int32 {
        var sides = [try operand(node.a)] + (try bounds(node))
        try checkQuantifier(sides[0])
        guard let first = sides.firstIndex(where: { !$0.isConstant }) else {
            throw invalidQuery("'\(spelling(node))' compares constants; one must be a property")
        }
        for side in sides where !side.isConstant && (side.kind == .link || side.kind == .type) {
            throw invalidQuery(
                "operator BETWEEN is not defined for \(subject(side)) of type "
                    + side.kind.typeWord)
        }
        for place in 1...2 where sides[place].isPlainConstant {
            try compareAsAny(&sides[0], with: sides[place], .less)
        }
        // One between two of them has to fit both.
        if case .constant = sides[0].form {
            for bound in sides[1...] where bound.kind == .int && !bound.isConstant {
                _ = try coerced(sides[0].constant, to: bound, .less, inList: false)
            }
        }
        // Constants take the type of what is none.
        let model = sides[first]
        for place in sides.indices {
            if sides[place].isConstant {
                try coerce(&sides[place], to: model, .less)
            } else {
                try checkTypes(model, sides[place], .less)
            }
        }
        if let made = try loweredBetween(sides, scope) { return made }
        var test = ExpressionTest()
        test.kind = .between
        test.left = side(&sides[0])
        test.right = side(&sides[1])
        test.upper = side(&sides[2])
        test.numberKind = numberKind(sides)
        filter.expressions.stackDepth = max(filter.expressions.stackDepth, 3)
        return add(test)
    }

    /// The two bounds; constants are not null.
    private mutating func bounds(_ node: SyntaxNode) throws(RealmError) -> [BoundOperand] {
        var bounds: [BoundOperand] = []
        let list = syntax(node.b)
        if list.kind == .list {
            for child in tree.members(list) { bounds.append(try operand(child)) }
        } else if isList(node.b) {
            for member in try listMembers(node.b) {
                bounds.append(BoundOperand(member, node: node.b))
            }
        } else {
            throw invalidArgument(
                "BETWEEN needs a list of two values, '\(spelling(node.b))' is none")
        }
        guard bounds.count == 2 else {
            throw invalidQuery("BETWEEN needs a list of exactly 2 values, it has \(bounds.count)")
        }
        for bound in bounds {
            if case .constant = bound.form, bound.constant.kind == .null {
                throw invalid(bound.constant, "a bound of BETWEEN is null")
            }
            guard bound.shape == .single else {
                throw invalidQuery(
                    "a bound of BETWEEN is one value, '\(spelling(bound.node))' is a collection")
            }
        }
        return bounds
    }
}
