// New results and queries from results over values: filter, sort, distinct, limit, snapshot; their
// counterparts in other realms; deleting and aggregates (docs/C_RULES, "Results"; QUERY_RULES B11).

extension ValueResults {
    private func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument]
    ) throws(RealmError) -> Query {
        try check()
        return try Query.parse(text, arguments, realm.schema, collection.classKey, values: kind)
    }

    private func check(_ query: Query) throws(RealmError) {
        try check()
        guard description.takes(query) else {
            throw RealmError(
                .illegalOperation,
                "only a query over values of type \(kind.typeWord), in a collection of the same "
                    + "class, can filter these results")
        }
    }

    private func with(_ description: ResultsDescription) -> ValueResults {
        ValueResults(collection, source, description)
    }

    /// The elements that satisfy the conditions of a query over values of the same type, and then
    /// what its clauses make of them; of those that a limit left, or a distinct, where these came
    /// before.
    package func filter(_ query: Query) throws(RealmError) -> ValueResults {
        try check(query)
        return with(try description.adding(query))
    }

    /// The same for the text of a query: the element is `SELF`, as in `SELF > 3 SORT(SELF DESC)`.
    package func filter(
        _ text: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument]
    ) throws(RealmError) -> ValueResults {
        try filter(try parse(text, arguments))
    }

    /// The same for a condition that was built without text, in which `Path.Step.itself` is the element.
    package func filter(_ predicate: Predicate) throws(RealmError) -> ValueResults {
        try check()
        return try filter(
            Query.make(
                predicate, schema: realm.schema, classKey: collection.classKey, values: kind))
    }

    package func filter(
        _ text: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> ValueResults {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try filter(buffer, arguments)
        }
    }

    /// Conditions before all steps, see `Results.filteredFirst(by:)`; `.illegalOperation` behind a
    /// limit, and for a query of another file.
    package func filteredFirst(by query: LiveQuery) throws(RealmError) -> ValueResults {
        try check()
        try query.checkFile(of: realm)
        try check(query.query)
        guard !description.isCut else {
            throw RealmError(
                .illegalOperation, "results with a limit or an offset cannot be filtered")
        }
        return with(try description.testingFirst(query.query))
    }

    /// Sorted by `SELF DIRECTION`, or by what lies in mixed values; an earlier order breaks ties.
    package func sorted(_ text: String) throws(RealmError) -> ValueResults {
        try adding(
            OrderingText.sort(
                text, schema: realm.schema, classKey: collection.classKey, values: kind))
    }

    /// The first element of each value of `SELF`, or of what lies in mixed values.
    package func distinct(_ text: String) throws(RealmError) -> ValueResults {
        try adding(
            OrderingText.distinct(
                text, schema: realm.schema, classKey: collection.classKey, values: kind))
    }

    /// The first elements.
    package func limited(_ count: Int) throws(RealmError) -> ValueResults {
        try adding(.limit(max(0, count)))
    }

    /// The elements behind the first `count`.
    package func offset(_ count: Int) throws(RealmError) -> ValueResults {
        try adding(.offset(max(0, count)))
    }

    private func adding(
        _ step: @autoclosure () throws(RealmError) -> OrderingStep
    ) throws(RealmError) -> ValueResults {
        try check()
        return with(description.adding(try step()))
    }

    /// The same results: those over values stay live, unlike those over objects, as callers of
    /// the C ABI are used to.
    package func snapshot() throws(RealmError) -> ValueResults {
        try check()
        return with(description)
    }

    /// The values as they are now. A link whose object is deleted later becomes null; lists and
    /// dictionaries among mixed values stay live.
    package func fixed() throws(RealmError) -> ValueResults {
        let fixed = try reading { () throws(RealmError) -> KeptValues in
            let count = try countInside()
            if let chosen = try chosen() { return KeptValues(chosen.values.prefix(count)) }
            return KeptValues(try source.all(try snapshotReader()).prefix(count))
        }
        var kept = source
        kept.kept = fixed
        return ValueResults(
            collection, kept, ResultsDescription(collection.classKey, .values(kept)))
    }

    /// How the elements are found: which values are tested, with what, and how they are ordered.
    /// Text for people; its form may change.
    package func explain() throws(RealmError) -> String {
        try reading { () throws(RealmError) in
            try description.explain(try snapshotReader(), realm.schema)
        }
    }

    // MARK: Queries

    /// A query with the conditions alone. Without any it selects nothing, as callers of the C ABI
    /// are used to.
    package func query() throws(RealmError) -> LiveQuery {
        try check()
        guard let conditions = try description.conditions() else {
            return try realm.query(collection.classKey, "FALSEPREDICATE")
        }
        return LiveQuery(realm, conditions.withoutOrdering(), in: description.source)
    }

    /// A query with the conditions and those of a text, in which SELF is the element; the ordering
    /// is that of the text.
    package func query(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        let next = try parse(text, arguments)
        let both = try description.conditions()?.withoutOrdering().and(next) ?? next
        return LiveQuery(realm, both, in: description.source)
    }

    // MARK: Other realms

    /// Results over the same collection in another realm of the file; `.invalidTableRef` when its
    /// object is not there. Values that were fixed are determined anew.
    package func resolved(in target: Realm) throws(RealmError) -> ValueResults {
        let tables = try target.readTables()
        try check()
        guard let there = try collection.resolve(in: target) else {
            throw RealmError(
                .invalidTableRef,
                "object \(collection.objectKey) of "
                    + "\(collection.realm.schema.named(collection.classKey)) is not in "
                    + "that version of '\(target.path)'")
        }
        var live = source
        live.kept = nil
        return ValueResults(
            there, live, try description.resolved(SnapshotReader(tables: tables)))
    }

    // MARK: Deleting

    /// Removes the elements from the collection.
    package func deleteAll() throws(RealmError) {
        try reading { () throws(RealmError) in
            guard source.kept == nil else {
                throw RealmError(
                    .illegalOperation, "values that were kept cannot be removed from a collection")
            }
            if description.isBare { return try collection.removeAll() }
            try collection.checkWritable()
            var places = Array(0..<(try countInside()))
            if let chosen = try chosen() { places = chosen.positions.sorted() }
            for place in places.reversed() { try collection.remove(at: place) }
        }
    }

    // MARK: Aggregates

    /// Minimum, maximum, sum or average of the elements. `found`: a value was produced; for sums,
    /// there are elements.
    private func aggregate(
        _ aggregate: AggregateKind
    ) throws(RealmError) -> (value: RawValue, found: Bool) {
        let result: (RawValue, Bool) = try reading { () throws(RealmError) -> (RawValue, Bool) in
            var values = try chosen()?.values
            if values == nil { values = try source.kept?.current(try snapshotReader()) }
            let count = try countInside()
            guard let table = try realm.readTables().table(collection.classKey) else {
                throw RealmError(
                    .noSuchTable,
                    "'\(realm.path)' has no class with key \(collection.classKey)")
            }
            let value = try Aggregate.ofValues(aggregate, kind, TableReader(table: table)) {
                add throws(RealmError) in
                if let values {
                    for value in values.prefix(count) { add(value) }
                } else {
                    try collection.forEachValue(source.column, first: count, add)
                }
            }
            if aggregate == .sum {
                // What callers of the C ABI are used to.
                let isBare = count == 0 && kind == .mixed && collection.type == .dictionary
                return (isBare ? .int(0) : value, count > 0)
            }
            return (collection.stable(value), !value.isNull)
        }
        return result
    }

    package func minimum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.minimum)
    }
    package func maximum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.maximum)
    }
    package func sum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.sum)
    }
    package func average() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.average)
    }
}
