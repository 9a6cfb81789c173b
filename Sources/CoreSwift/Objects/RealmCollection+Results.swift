// Results and queries over a list, set or dictionary, and what they need of it: its elements in one go.

extension RealmCollection {
    /// Live results over the elements: `Results` for objects, `ValueResults` for other values.
    /// `.invalidatedObject` when the collection is gone.
    package func results() throws(RealmError) -> AnyResults {
        _ = try count()
        let info = try valueInfo()
        guard info.kind == .link else { return valueResults(info.kind) }
        let place = CollectionPlace(self)
        return Results(
            realm, ResultsDescription(info.linkTarget, .collection(place)), plain: copy())
    }

    /// Live results over the keys of a dictionary.
    package func keyResults() throws(RealmError) -> ValueResults {
        _ = try count()
        return valueResults(.string, holdsKeys: true)
    }

    private func valueResults(_ kind: ColumnKind, holdsKeys: Bool = false) -> ValueResults {
        let source = ValueSource(
            place: CollectionPlace(self), kind: kind, holdsKeys: holdsKeys)
        return ValueResults(copy(), source, ResultsDescription(classKey, .values(source)))
    }

    /// A query over the objects of the collection, in their order. Over other values, if it calls
    /// them SELF: any other text is taken for one over objects, and refused.
    package func query(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        _ = try count()
        let info = try valueInfo()
        guard info.kind == .link else {
            guard Query.namesSelf(text) else {
                throw RealmError(
                    .illegalOperation,
                    "property \(realm.schema.named(classKey, column: column)) holds values "
                        + "that are no "
                        + "objects: a query over them calls them SELF")
            }
            return try valueResults(info.kind).query(text, arguments: arguments)
        }
        let query = try Query.parse(text, arguments, realm.schema, info.linkTarget)
        return LiveQuery(realm, query, in: .collection(CollectionPlace(self)))
    }

    /// Calls `body` with the first elements, of column 0 or of the values of a dictionary. Text
    /// stays where it is as long as nothing changes.
    func forEachValue(
        _ column: Int, first count: Int, _ body: (RawValue) -> Void
    ) throws(RealmError) {
        try refresh()
        try elements.forEach(column, from: 0, count: count, table) { value, _ in
            body(value)
            return true
        }
    }

    /// A value that was read, with its text where it stays until the realm moves or changes.
    func stable(_ value: RawValue) -> RawValue { realm.isWritable ? realm.keep(value) : value }
}
