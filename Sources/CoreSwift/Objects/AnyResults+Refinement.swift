// New results from results: filter, sort, distinct, limit, snapshot (docs/C_RULES, "Results"); of values,
// in which the element is SELF, as of objects (QUERY_RULES B11).

extension AnyResults {
    private var schema: Schema { realm.schema }
    /// What the values are; nil of objects.
    private var valueKind: ColumnKind? { description.values?.kind }

    private func check(_ query: Query) throws(RealmError) {
        try check()
        if description.takes(query) { return }
        if let valueKind {
            throw RealmError(
                .illegalOperation,
                "only a query over values of type \(valueKind.typeWord), in a collection of the same "
                    + "class, can filter these results")
        }
        throw RealmError(
            .invalidProperty,
            "a query for \(query.values == nil ? "" : "values in ")"
                + "\(schema.named(query.classKey)) cannot filter results of "
                + schema.named(classKey))
    }

    /// The elements that satisfy a query's conditions, and then what its clauses make of them; of
    /// those that a limit left, or a distinct, where these came before.
    package func filter(_ query: Query) throws(RealmError) -> Self {
        try check(query)
        return with(try description.adding(query))
    }

    /// The same for the text of a query. A value is `SELF`, as in `SELF > 3 SORT(SELF DESC)`.
    public func filter(
        _ predicate: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> Self {
        let bytes = Array(predicate.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try filter(buffer, arguments)
        }
    }

    /// The same for UTF-8 bytes.
    package func filter(
        _ predicate: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument]
    ) throws(RealmError) -> Self {
        try check()
        return try filter(Query.parse(predicate, arguments, schema, classKey, values: valueKind))
    }

    /// The same for a condition that was built without text. A value is `Path.Step.itself`.
    public func filter(_ predicate: Predicate) throws(RealmError) -> Self {
        try filter(predicate, asFormat: false)
    }

    /// `asFormat`: operators mean what they do in format strings; of objects alone.
    package func filter(_ predicate: Predicate, asFormat: Bool) throws(RealmError) -> Self {
        try check()
        return try filter(
            Query.make(
                predicate, schema: schema, classKey: classKey, values: valueKind,
                asFormat: asFormat && !holdsValues))
    }

    /// The same for a format string, of objects alone; see `Query.parse(format:)`.
    package func filter(
        format: [UInt8], _ arguments: [QueryArgument]
    ) throws(RealmError) -> Self {
        try check()
        return try filter(
            Query.parse(
                format: format, arguments: arguments, variables: [:], schema: schema,
                classKey: classKey))
    }

    /// Conditions before all steps, as callers of `realm_results_filter` are used to: the elements
    /// that satisfy those of a query, sorted and made distinct after that; the query's own ordering
    /// is not used. It may belong to another realm of the file. A query over a collection, or one
    /// made of results, finds only what is in there: it filters the whole class and results of the
    /// same source. `.illegalOperation` for others, and behind a limit.
    package func filteredFirst(by query: LiveQuery) throws(RealmError) -> Self {
        try check()
        try query.checkFile(of: realm)
        try check(query.query)
        guard !description.isCut else {
            throw RealmError(
                .illegalOperation, "results with a limit or an offset cannot be filtered")
        }
        let filtered = try description.testingFirst(query.query)
        let source = query.found.source
        if holdsValues || source == .objects || source == description.source {
            return with(filtered)
        }
        guard description.source == .objects else {
            throw RealmError(
                .illegalOperation,
                "a query over some objects of \(schema.named(classKey)) cannot filter results "
                    + "over others")
        }
        return with(filtered.from(source))
    }

    /// Sorted by `path DIRECTION, …`; an earlier order breaks ties. Values are sorted by `SELF DIRECTION`,
    /// or by what lies in mixed ones.
    public func sorted(_ text: String) throws(RealmError) -> Self {
        try adding(
            Query.ordering(text, .sort, schema: schema, classKey: classKey, values: valueKind))
    }

    /// The first element of each combination of the values at `path, …`; of values, at `SELF` or what lies in
    /// mixed ones.
    public func distinct(_ text: String) throws(RealmError) -> Self {
        try adding(
            Query.ordering(text, .distinct, schema: schema, classKey: classKey, values: valueKind))
    }

    /// The first elements.
    public func limited(_ count: Int) throws(RealmError) -> Self {
        try adding(.limit(max(0, count)))
    }

    /// The elements behind the first `count`.
    public func offset(_ count: Int) throws(RealmError) -> Self {
        try adding(.offset(max(0, count)))
    }

    private func adding(
        _ step: @autoclosure () throws(RealmError) -> OrderingStep
    ) throws(RealmError) -> Self {
        try check()
        return with(description.adding(try step()))
    }

    /// The elements as they are now: later changes don't add, remove or move any; values of objects stay
    /// live, and elements that are deleted become null. Results over values stay live altogether, as
    /// callers of the C ABI are used to.
    package func snapshot() throws(RealmError) -> Self {
        guard let objects = self as? Results else {
            try check()
            return with(description)
        }
        return with(ResultsDescription(classKey, .snapshot(try objects.keys(), of: description)))
    }
}
