// TEXT: a string property with a full-text index on the left, words on the right (QUERY_RULES F1 to F9).

extension Binder {
    mutating func checkWords(_ condition: inout BoundComparison) throws(RealmError) {
        let right = condition.right
        guard case .constant = right.form else {
            throw text.error(
                syntax(right.node).kind == .argument ? .invalidQueryArg : .invalidQuery,
                "TEXT needs words on its right, '\(spelling(right.node))' is a "
                    + (right.isList ? "list" : "property"))
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
        guard let property = property(bound), bound.path.value == .column,
            bound.path.mixedCount == 0
        else {
            throw RealmError(
                .illegalOperation,
                "'\(spelling(operand.node))' is no property with a full-text index")
        }
        guard let rules = property.wordRules else {
            throw RealmError(
                .illegalOperation, "property '\(named(bound))' has no full-text index")
        }
        return rules
    }
}
