// TEXT: a string property with a full-text index on the left, words on the right (QUERY_RULES F1 to F9).

extension Binder {
    /// The rules of the property's full-text index.
    func wordRules(_ target: Target) throws(RealmError) -> WordRules {
        guard target.kind == .string else {
            throw invalidQuery(
                "TEXT needs a string property, '\(name(target))' is of type "
                    + target.kind.typeWord)
        }
        let bound = path(target.syntax)
        let property = schema.classes[bound.classIndex].properties[bound.propertyIndex]
        guard let rules = property.wordRules else {
            throw RealmError(
                .illegalOperation, "property '\(name(target))' has no full-text index")
        }
        return rules
    }

    /// Nil when the right side is of a type that cannot be a text.
    mutating func wordsTest(
        _ target: Target, _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode? {
        let rules = try wordRules(target)
        if constant.kind == .null { throw WordSearch.missing() }
        guard constant.kind == .string else { return nil }
        let search = try WordSearch(Array(filter.text(constant.text)), rules)
        var node = FilterNode(.words(add(search)))
        // What is excluded makes the set then, and the objects outside of it pass.
        node.negated = search.required.isEmpty
        return node
    }

    private mutating func add(_ search: WordSearch) -> Int32 {
        filter.searches.append(search)
        return Int32(truncatingIfNeeded: filter.searches.count - 1)
    }

    /// TEXT that is evaluated object by object: of the objects that a path to many leads to, or
    /// within a SUBQUERY.
    mutating func bindWords(
        _ left: BoundOperand, _ right: BoundOperand
    ) throws(RealmError) -> Int32 {
        let spelled = spelling(right.node)
        guard right.isPlainConstant, !right.isList else {
            let problem = "TEXT needs words on its right, '\(spelled)' are none"
            throw syntax(right.node).kind == .argument
                ? invalidArgument(problem) : invalidQuery(problem)
        }
        let rules = try wordRules(left)
        try checkQuantifier(left)
        let constant = filter.expressions.constants[Int(right.constantFirst)]
        if constant.kind == .null { throw WordSearch.missing() }
        guard constant.kind == .string else { throw mismatch(typed(left), .text, constant) }
        let search = try WordSearch(Array(filter.text(constant.text)), rules)
        var test = ExpressionTest()
        test.op = .text
        test.left = side(left)
        test.right = side(right)
        test.search = add(search)
        test.wordRules = rules
        // No object is reached behind a null link; nulls of objects that are reached have no words.
        let code = filter.expressions.code[Int(left.first)]
        filter.expressions.paths[Int(code.a)].needsObject = true
        test.nullNeedleMatches = search.required.isEmpty
        return add(test)
    }

    private func wordRules(_ operand: BoundOperand) throws(RealmError) -> WordRules {
        let node = syntax(operand.node)
        guard operand.kind == .string, node.kind == .path else {
            throw invalidQuery(
                "TEXT needs a string property, '\(spelling(node))' is of type "
                    + operand.kind.typeWord)
        }
        let bound = path(operand.node)
        guard bound.classIndex >= 0, bound.path.value == .column, bound.path.mixedCount == 0 else {
            throw RealmError(
                .illegalOperation, "'\(spelling(node))' is no property with a full-text index")
        }
        let owner = schema.classes[bound.classIndex]
        let property = owner.properties[bound.propertyIndex]
        guard let rules = property.wordRules else {
            throw RealmError(
                .illegalOperation,
                "property '\(owner.shownName).\(property.name)' has no full-text index")
        }
        return rules
    }
}
