// TEXT: a string property with a full-text index on the left, words on the right (QUERY F1 to F9).

extension Binder {
    /// The rules of the property's full-text index.
    func wordRules(_ target: Target) throws(RealmError) -> WordRules {
        guard target.kind == .string else {
            throw invalidQuery(
                "TEXT needs a string property, '\(name(target))' is of type "
                    + target.kind.typeWord)
        }
        let bound = paths[Int(tree.nodes[Int(target.syntax)].payload)]
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
        var node = FilterNode(.words)
        node.a = filter.addSearch(search)
        // What is excluded makes the set then, and the objects outside of it pass.
        node.negated = search.required.isEmpty
        return node
    }
}
