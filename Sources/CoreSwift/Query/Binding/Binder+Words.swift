// TEXT: a string property with a full-text index on the left, words on the right (QUERY_RULES F1 to F9).

extension Binder {
    mutating func checkWords(_ condition: inout BoundComparison) throws(RealmError) {
        let right = condition.right
        guard case .constant = right.form else {
            let problem =
                "TEXT needs words on its right, '\(spelling(right.node))' is a "
                + (right.isList ? "list" : "property")
            throw syntax(right.node).kind == .argument
                ? invalidArgument(problem) : invalidQuery(problem)
        }
        let rules = try wordRules(condition.left)
        try checkQuantifier(condition.left)
        if right.constant.kind == .null { throw WordSearch.missing() }
        guard right.constant.kind == .string else {
            throw mismatch(condition.left, .text, right.constant)
        }
        condition.search = try WordSearch(Array(filter.text(right.constant.text)), rules)
        condition.wordRules = rules
    }

    /// The rules of the property's full-text index.
    private func wordRules(_ operand: BoundOperand) throws(RealmError) -> WordRules {
        guard operand.kind == .string, case .path(let place) = operand.form else {
            throw invalidQuery(
                "TEXT needs a string property, \(subject(operand)) is of type "
                    + operand.kind.typeWord)
        }
        let bound = paths[place]
        guard bound.classIndex >= 0, bound.path.value == .column, bound.path.mixedCount == 0 else {
            throw RealmError(
                .illegalOperation,
                "'\(spelling(operand.node))' is no property with a full-text index")
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
