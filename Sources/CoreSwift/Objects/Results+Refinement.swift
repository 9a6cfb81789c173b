// New results from results and queries: filter, sort, distinct, limit, snapshot (docs/C_RULES,
// "Results").

extension Realm {
    /// All objects of a class, by ascending key.
    package func results(_ classKey: ClassKey) throws(RealmError) -> Results {
        guard try readTables().table(classKey) != nil else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(classKey)")
        }
        return Results(self, ResultsDescription(classKey, .objects))
    }

    /// All objects of a class.
    public func objects(_ className: String) throws(RealmError) -> Results {
        _ = try readTables()
        guard let item = schema.class_(named: className) else {
            throw RealmError(.noSuchTable, "'\(path)' has no class '\(className)'")
        }
        return try results(item.key)
    }
}

extension ObjectHandle {
    /// A handle of an object that is not there.
    static func gone(_ session: Session, _ table: Table, _ key: ObjectKey) -> ObjectHandle {
        let nowhere = RowPlace(
            leaf: UnsafeMutableRawPointer(mutating: table.somewhere), row: 0, state: .sealed)
        let handle = make(session, table, key, nowhere)
        // No session has this stamp: the first use looks the object up and fails.
        handle.slot.storeBytes(of: 0, toByteOffset: 32, as: UInt64.self)
        return handle
    }

    /// The objects of a class that link to this one through a property.
    package func backlinks(
        from source: ClassKey, property key: PropertyKey
    ) throws(RealmError) -> Results {
        _ = try row()
        let realm = realm
        guard let table = try realm.readTables().table(source) else {
            throw RealmError(
                .noSuchTable, "'\(realm.path)' has no class with key \(source.rawValue)")
        }
        let column = try Self.column(table, key)
        let info = table.columns[column]
        let values = info.elements.map { $0[info.valueColumn] } ?? info
        guard values.kind == .link, values.linkTarget == classKey else {
            throw RealmError(
                .invalidProperty,
                "property \(realm.schema.named(source, column: column)) does not link to "
                    + realm.schema.named(classKey))
        }
        let links = ResultsDescription.Source.backlinks(
            target: classKey, key: objectKey, column: column)
        return Results(realm, ResultsDescription(source, links))
    }
}

extension Results {
    private var schema: Schema { realm.schema }

    private func checkState() throws(RealmError) { try reading { _, _ throws(RealmError) in } }

    private func check(_ query: Query) throws(RealmError) {
        try checkState()
        guard description.takes(query) else {
            throw RealmError(
                .invalidProperty,
                "a query for \(query.values == nil ? "" : "values in ")"
                    + "\(schema.named(query.classKey)) cannot filter results of "
                    + schema.named(classKey))
        }
    }

    /// The elements that satisfy a query's conditions, and then what its clauses make of them; of
    /// those that a limit left, or a distinct, where these came before.
    package func filter(_ query: Query) throws(RealmError) -> Results {
        try check(query)
        return Results(realm, try description.adding(query))
    }

    /// The same for the text of a query.
    public func filter(
        _ predicate: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> Results {
        try checkState()
        return try filter(
            Query.parse(predicate, arguments: arguments, schema: schema, classKey: classKey))
    }

    /// The same for a condition that was built without text.
    public func filter(_ predicate: Predicate) throws(RealmError) -> Results {
        try filter(predicate, asFormat: false)
    }

    /// `asFormat`: operators mean what they do in format strings.
    package func filter(_ predicate: Predicate, asFormat: Bool) throws(RealmError) -> Results {
        try checkState()
        return try filter(
            Query.make(predicate, schema: schema, classKey: classKey, asFormat: asFormat))
    }

    /// The same for UTF-8 bytes.
    package func filter(
        _ predicate: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument]
    ) throws(RealmError) -> Results {
        try checkState()
        return try filter(
            Query.parse(predicate, arguments: arguments, schema: schema, classKey: classKey))
    }

    /// The same for a format string; see `Query.parse(format:)`.
    package func filter(
        format: [UInt8], _ arguments: [QueryArgument]
    ) throws(RealmError) -> Results {
        try checkState()
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
    package func filteredFirst(by query: LiveQuery) throws(RealmError) -> Results {
        try checkState()
        try query.checkFile(of: realm)
        try check(query.query)
        guard !description.isCut else {
            throw RealmError(
                .illegalOperation, "results with a limit or an offset cannot be filtered")
        }
        let filtered = try description.testingFirst(query.query)
        let source = query.found.source
        if source == .objects || source == description.source { return Results(realm, filtered) }
        guard description.source == .objects else {
            throw RealmError(
                .illegalOperation,
                "a query over some objects of \(schema.named(classKey)) cannot filter results "
                    + "over others")
        }
        return Results(realm, filtered.from(source))
    }

    /// Sorted by `path DIRECTION, …`; an earlier order breaks ties.
    public func sorted(_ text: String) throws(RealmError) -> Results {
        try adding(OrderingText.sort(text, schema: schema, classKey: classKey))
    }

    /// The first element of each combination of the values at `path, …`.
    public func distinct(_ text: String) throws(RealmError) -> Results {
        try adding(OrderingText.distinct(text, schema: schema, classKey: classKey))
    }

    /// The first elements.
    public func limited(_ count: Int) throws(RealmError) -> Results {
        try adding(.limit(max(0, count)))
    }

    /// The elements behind the first `count`.
    public func offset(_ count: Int) throws(RealmError) -> Results {
        try adding(.offset(max(0, count)))
    }

    private func adding(
        _ step: @autoclosure () throws(RealmError) -> OrderingStep
    ) throws(RealmError) -> Results {
        try checkState()
        return Results(realm, description.adding(try step()))
    }

    /// The elements as they are now: later changes don't add, remove or move any; values stay
    /// live, and elements that are deleted become null.
    package func snapshot() throws(RealmError) -> Results {
        let fixed = ResultsDescription.Source.snapshot(try keys(), of: description)
        return Results(realm, ResultsDescription(classKey, fixed))
    }

    /// A query with the conditions alone.
    package func query() throws(RealmError) -> LiveQuery {
        try checkState()
        if let conditions = try description.conditions() {
            return LiveQuery(realm, conditions, in: description.source)
        }
        let all = try Query.all(schema: schema, classKey: classKey)
        return LiveQuery(realm, all, in: description.source)
    }

    /// How the elements would be found now: which index gives the candidates, what is tested, how
    /// they are ordered. Text for people, a line for each step; its form may change.
    public func explain() throws(RealmError) -> String {
        try reading { snapshot, _ throws(RealmError) in
            try description.explain(snapshot, schema)
        }
    }

    // MARK: Aggregates

    /// Minimum, maximum, sum or average of a property. `found`: a value was produced; for sums,
    /// there are elements.
    func aggregate(
        _ kind: AggregateKind, _ propertyKey: PropertyKey
    ) throws(RealmError) -> (value: RawValue, found: Bool) {
        let result: (RawValue, Bool) = try reading {
            (snapshot, table) throws(RealmError) -> (RawValue, Bool) in
            let column = try ObjectHandle.column(table.table, propertyKey)
            if let keys = try keysInside(snapshot, table) {
                let value = try Aggregate.ofObjects(kind, table, column: column, keys)
                return (value, kind == .sum ? !keys.isEmpty : !value.isNull)
            }
            let value = try Aggregate.ofTable(kind, table, column: column)
            return (value, kind == .sum ? table.rowCount > 0 : !value.isNull)
        }
        // Text of a mixed value may lie in memory that the write transaction moves.
        return realm.session.pointee.status == .writing
            ? (realm.keep(result.0), result.1) : result
    }

    package func minimum(_ key: PropertyKey) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.minimum, key)
    }
    package func maximum(_ key: PropertyKey) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.maximum, key)
    }
    package func sum(_ key: PropertyKey) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.sum, key)
    }
    package func average(_ key: PropertyKey) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.average, key)
    }

    // MARK: Deleting

    /// Deletes the objects; needs a write transaction.
    public func deleteAll() throws(RealmError) {
        let keys = try keys()
        let tables = try realm.tablesForWriting()
        if let plain, plain.type == .dictionary {
            // The values of a dictionary are entries of it: they go, the objects stay.
            if plain.isValid { try plain.removeAll() }
            return
        }
        guard let table = tables.table(classKey) else { return }
        // Whatever happens on the way, remembered rows are not good any more.
        defer { realm.session.pointee.stamp.pointee &+= 1 }
        for key in keys {
            if try table.find(key) != nil { try table.deleteRow(key) }
        }
    }
}
