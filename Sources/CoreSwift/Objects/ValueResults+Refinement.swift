// New results and queries from results over values: filter, sort, distinct, limit, snapshot; their
// counterparts in other realms; deleting and aggregates (CONTRACT 14.3, 14.4; QUERY B11).

extension ValueResults {
    private func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument]
    ) throws(RealmError) -> Query {
        try check()
        return try Query.parse(text, arguments, realm.schema, collection.classKey, values: kind)
    }

    /// The elements for which a predicate holds, in the order of its suffixes: the element is
    /// `SELF`, as in `SELF > 3 SORT(SELF DESC)`. Follows conditions that are there already;
    /// `.illegalOperation` behind a limit.
    public func filtered(
        _ text: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> ValueResults {
        let bytes = Array(text.utf8)
        let next = try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try parse(buffer, arguments)
        }
        let conditions = try filter(next).conditions
        return with(conditions: conditions, ordering: ordering + next.ordering)
    }

    /// The elements that satisfy the conditions of a query over values of the same type; its own
    /// ordering is not used.
    public func filter(_ query: Query) throws(RealmError) -> ValueResults {
        try check()
        guard query.values == kind, query.classKey == collection.classKey else {
            throw RealmError(
                .illegalOperation,
                "only a query over values of type \(kind.typeWord), in a collection of the same "
                    + "class, can filter these results")
        }
        guard !ordering.contains(where: { $0.isCut }) else {
            throw RealmError(
                .illegalOperation, "results with a limit or an offset cannot be filtered")
        }
        let plain = query.withoutOrdering()
        return with(conditions: try conditions?.and(plain) ?? plain, ordering: ordering)
    }

    /// The same for a query that may belong to another realm of the file; `.illegalOperation` for
    /// one of another file.
    public func filter(_ query: LiveQuery) throws(RealmError) -> ValueResults {
        try check()
        try query.checkFile(of: realm)
        return try filter(query.query)
    }

    /// Sorted by `SELF DIRECTION`, or by what lies in mixed values; an earlier order breaks ties.
    public func sorted(_ text: String) throws(RealmError) -> ValueResults {
        try check()
        let step = try OrderingText.sort(
            text, schema: realm.schema, classKey: collection.classKey, values: kind)
        return with(conditions: conditions, ordering: ordering + [step])
    }

    /// The first element of each value of `SELF`, or of what lies in mixed values.
    public func distinct(_ text: String) throws(RealmError) -> ValueResults {
        try check()
        let step = try OrderingText.distinct(
            text, schema: realm.schema, classKey: collection.classKey, values: kind)
        return with(conditions: conditions, ordering: ordering + [step])
    }

    /// The first elements.
    public func limited(_ count: Int) throws(RealmError) -> ValueResults {
        try check()
        return with(conditions: conditions, ordering: ordering + [.limit(max(0, count))])
    }

    /// The elements behind the first `count`.
    public func offset(_ count: Int) throws(RealmError) -> ValueResults {
        try check()
        return with(conditions: conditions, ordering: ordering + [.offset(max(0, count))])
    }

    /// The same results: those over values stay live, unlike those over objects, as callers of
    /// the C ABI are used to.
    public func snapshot() throws(RealmError) -> ValueResults {
        try check()
        return with(conditions: conditions, ordering: ordering)
    }

    /// The values as they are now. A link whose object is deleted later becomes null; lists and
    /// dictionaries among mixed values stay live.
    public func fixed() throws(RealmError) -> ValueResults {
        let fixed = try reading { () throws(RealmError) -> KeptValues in
            let count = try countInside()
            let values: [RawValue]
            if let chosen = try chosen() {
                values = chosen.values
            } else if let kept {
                values = try kept.current(in: realm)
            } else {
                values = try collection.settledValues(column)
            }
            return KeptValues(values.prefix(count))
        }
        return ValueResults(collection, kind, holdsKeys: holdsKeys, kept: fixed)
    }

    /// How the elements are found: which values are tested, with what, and how they are ordered.
    /// Text for people; its form may change.
    public func explain() throws(RealmError) -> String {
        try reading { () throws(RealmError) in
            let owner = realm.schema.class_(collection.classKey)
            let property = owner?.properties.first { $0.key.column == collection.column }
            let subject = "\(owner?.shownName ?? "object").\(property?.shownName ?? "collection")"
            let count: Int
            if let kept {
                _ = try realm.readTables()
                count = kept.values.count
            } else {
                count = try collection.count()
            }
            let live = holdsKeys ? "all keys" : "all values"
            return Query.explain(
                values: conditions, ordering, subject: subject, count: count,
                source: kept == nil ? live : "values of a snapshot")
        }
    }

    // MARK: Queries

    /// A query with the conditions alone. Without any it selects nothing, as callers of the C ABI
    /// are used to.
    public func query() throws(RealmError) -> LiveQuery {
        try check()
        guard let conditions else {
            return try realm.query(collection.classKey, "FALSEPREDICATE")
        }
        return LiveQuery(conditions.withoutOrdering(), over: self)
    }

    /// A query with the conditions and those of a text, in which SELF is the element; the ordering
    /// is that of the text.
    public func query(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        let next = try parse(text, arguments)
        return LiveQuery(try conditions?.withoutOrdering().and(next) ?? next, over: self)
    }

    // MARK: Other realms

    /// Results over the same collection in another realm of the file; `.invalidTableRef` when its
    /// object is not there. Values that were fixed are determined anew.
    public func resolved(in target: Realm) throws(RealmError) -> ValueResults {
        _ = try target.readTables()
        try check()
        guard let there = try collection.resolve(in: target) else {
            throw RealmError(
                .invalidTableRef,
                "object \(collection.objectKey) of "
                    + "\(collection.realm.schema.named(collection.classKey)) is not in "
                    + "that version of '\(target.path)'")
        }
        return ValueResults(
            there, kind, holdsKeys: holdsKeys, conditions: conditions, ordering: ordering)
    }

    // MARK: Deleting

    /// Removes the elements from the collection.
    public func deleteAll() throws(RealmError) {
        try reading { () throws(RealmError) in
            guard kept == nil else {
                throw RealmError(
                    .illegalOperation, "values that were kept cannot be removed from a collection")
            }
            if conditions == nil, ordering.isEmpty { return try collection.removeAll() }
            _ = try collection.writable()
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
            let values: [RawValue]?
            if let chosen = try chosen() {
                values = chosen.values
            } else {
                values = try kept?.current(in: realm)
            }
            let count = try countInside()
            guard let table = try realm.readTables().table(collection.classKey) else {
                throw RealmError(
                    .noSuchTable,
                    "'\(realm.path)' has no class with key \(collection.classKey.rawValue)")
            }
            let value = try Aggregate.ofValues(aggregate, kind, TableReader(table: table)) {
                add throws(RealmError) in
                if let values {
                    for value in values.prefix(count) { add(value) }
                } else {
                    try collection.forEachValue(column, first: count, add)
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

    public func minimum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.minimum)
    }
    public func maximum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.maximum)
    }
    public func sum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.sum)
    }
    public func average() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.average)
    }
}
