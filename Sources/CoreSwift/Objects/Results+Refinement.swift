// New results from results and queries: filter, sort, distinct, limit, snapshot (CONTRACT 14.3).

extension Realm {
    /// All objects of a class, by ascending key.
    public func results(_ classKey: ClassKey) throws(RealmError) -> Results {
        guard try readTables().table(classKey) != nil else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(classKey.rawValue)")
        }
        return Results(self, classKey, .table)
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
    static func gone(_ session: Session, _ table: Table, _ key: Int64) -> ObjectHandle {
        let nowhere = RowPlace(
            leaf: UnsafeMutableRawPointer(mutating: table.somewhere), row: 0, state: .sealed)
        let handle = make(session, table, key, nowhere)
        // No session has this stamp: the first use looks the object up and fails.
        handle.slot.storeBytes(of: 0, toByteOffset: 32, as: UInt64.self)
        return handle
    }

    /// The objects of a class that link to this one through a property.
    public func backlinks(
        from source: ClassKey, property key: Int64
    ) throws(RealmError) -> Results {
        _ = try row()
        guard let table = try realm.readTables().table(source) else {
            throw RealmError(
                .noSuchTable, "'\(realm.path)' has no class with key \(source.rawValue)")
        }
        let column = try Self.column(table, key)
        let info = table.columns[column]
        let links = info.elements.map { $0[info.valueColumn] } ?? info
        guard links.kind == .link, links.linkTarget == classKey else {
            throw RealmError(
                .invalidProperty,
                "property \(realm.schema.named(source, column: column)) does not link to "
                    + realm.schema.named(classKey))
        }
        return Results(
            realm, source, .backlinks(target: classKey, key: objectKey, column: column))
    }
}

extension Results {
    private var schema: Schema { realm.schema }

    private func refined(
        conditions: Query? = nil, adding step: OrderingStep? = nil
    ) -> Results {
        Results(
            realm, classKey, base, conditions: conditions ?? self.conditions,
            ordering: step.map { ordering + [$0] } ?? ordering)
    }

    /// The elements that satisfy the query's conditions; its own ordering is not used.
    public func filter(_ query: Query) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        guard query.classKey == classKey, query.values == nil else {
            throw RealmError(
                .invalidProperty,
                "a query for \(query.values == nil ? "" : "values in ")"
                    + "\(schema.named(query.classKey)) cannot filter results of "
                    + schema.named(classKey))
        }
        if ordering.contains(where: { $0.isCut }) {
            throw RealmError(
                .illegalOperation, "results with a limit or an offset cannot be filtered")
        }
        let plain = query.withoutOrdering()
        return refined(conditions: try conditions?.and(plain) ?? plain)
    }

    /// The elements that satisfy the conditions of a query, which may belong to another realm of
    /// the same file; `.illegalOperation` for one of another file. A query over a collection, or one
    /// made of results, finds only what is in there: it filters the whole class and results of the
    /// same source; others `.illegalOperation`.
    public func filter(_ query: LiveQuery) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        try query.checkFile(of: realm)
        let filtered = try filter(query.query)
        let source = try query.base(in: realm)
        if case .table = source { return filtered }
        if case .table = base {
            return Results(
                realm, classKey, source, conditions: filtered.conditions, ordering: ordering)
        }
        guard base.isSame(as: source) else {
            throw RealmError(
                .illegalOperation,
                "a query over some objects of \(schema.named(classKey)) cannot filter results "
                    + "over others")
        }
        return filtered
    }

    /// The elements that satisfy a predicate.
    public func filter(
        _ predicate: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> Results {
        let query = try Query.parse(
            predicate, arguments: arguments, schema: schema, classKey: classKey)
        let filtered = try filter(query)
        return Results(
            realm, classKey, base, conditions: filtered.conditions,
            ordering: ordering + query.ordering)
    }

    /// Sorted by `path DIRECTION, …`; an earlier order breaks ties.
    public func sorted(_ text: String) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        return refined(
            adding: try OrderingText.sort(text, schema: schema, classKey: classKey))
    }

    /// The first element of each combination of the values at `path, …`.
    public func distinct(_ text: String) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        return refined(
            adding: try OrderingText.distinct(text, schema: schema, classKey: classKey))
    }

    /// The first elements.
    public func limited(_ count: Int) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        return refined(adding: .limit(max(0, count)))
    }

    /// The elements behind the first `count`.
    public func offset(_ count: Int) throws(RealmError) -> Results {
        try reading { _, _ throws(RealmError) in }
        return refined(adding: .offset(max(0, count)))
    }

    /// The elements as they are now: later changes don't add, remove or move any; values stay
    /// live, and elements that are deleted become null.
    public func snapshot() throws(RealmError) -> Results {
        Results(realm, classKey, .snapshot(try keys(), of: self))
    }

    /// A query with the conditions alone.
    public func query() throws(RealmError) -> LiveQuery {
        try reading { _, _ throws(RealmError) in }
        if let conditions { return LiveQuery(realm, conditions, base) }
        return LiveQuery(realm, try Query.all(schema: schema, classKey: classKey), base)
    }

    /// How the elements would be found now: which index gives the candidates, what is tested, how
    /// they are ordered. Text for people, a line for each step; its form may change.
    public func explain() throws(RealmError) -> String {
        let all = try Query.all(schema: schema, classKey: classKey)
        return try reading { snapshot, _ throws(RealmError) in
            let query = conditions ?? all
            let source: String?
            switch base {
            case .table: source = nil
            case .backlinks(_, let key, _): source = "objects that link to object \(key)"
            case .snapshot(let keys, _):
                source = Query.counted(keys.count, "object") + " of a snapshot"
            case .collection(let collection): source = "the objects of a \(collection.type)"
            }
            return try query.explain(snapshot, ordering, source: source)
        }
    }

    // MARK: Aggregates

    /// Minimum, maximum, sum or average of a property. `found`: a value was produced; for sums,
    /// there are elements.
    func aggregate(
        _ kind: AggregateKind, _ propertyKey: Int64
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

    public func minimum(_ key: Int64) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.minimum, key)
    }
    public func maximum(_ key: Int64) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.maximum, key)
    }
    public func sum(_ key: Int64) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.sum, key)
    }
    public func average(_ key: Int64) throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.average, key)
    }

    // MARK: Deleting

    /// Deletes the objects; needs a write transaction.
    public func deleteAll() throws(RealmError) {
        let keys = try keys()
        let tables = try realm.tablesForWriting()
        if case .collection(let collection) = base, collection.type == .dictionary,
            conditions == nil, ordering.isEmpty
        {
            // The values of a dictionary are entries of it: they go, the objects stay.
            if collection.isValid { try collection.removeAll() }
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
