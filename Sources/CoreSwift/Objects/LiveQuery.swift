// A query together with the realm it is asked of: what the C ABI's query handles hold.

/// A query of a realm. Each execution sees the realm's current state. Does not keep the realm.
package final class LiveQuery {
    private weak var owner: Realm?
    /// Whose columns the conditions name.
    private weak var file: RealmFile?
    /// What the query finds: in the class, a collection, or what results were made of.
    private(set) var found: ResultsDescription
    private var rollbacks: UInt32
    package var query: Query { found.first.conditions.unsafelyUnwrapped }

    init(_ realm: Realm, _ query: Query, in source: ResultsDescription.Source) {
        owner = realm
        file = realm.file
        found = ResultsDescription(query, in: source)
        rollbacks = realm.session.pointee.rollbacks
    }

    /// The query is over values of a collection, not objects: `findValues` finds them.
    package var isOverValues: Bool { found.values != nil }

    /// Canonical text with arguments put in.
    package var description: String { query.description }

    /// The realm; `.closedRealm` when it was closed or nobody holds it any more.
    package func realm() throws(RealmError) -> Realm {
        guard let owner, !owner.isClosed else {
            throw RealmError(.closedRealm, "the realm of the query was closed")
        }
        noteRollbacks(owner)
        return owner
    }

    /// Throws unless the query was made for the realm's file: conditions name classes and columns
    /// by number, which mean something else in another file.
    func checkFile(of realm: Realm) throws(RealmError) {
        guard let file else {
            throw RealmError(.closedRealm, "the realm of the query was closed")
        }
        guard file === realm.file else {
            throw RealmError(
                .illegalOperation,
                "a query of another file cannot be asked of '\(realm.path)'")
        }
        if let owner { noteRollbacks(owner) }
    }

    private func noteRollbacks(_ realm: Realm) {
        if rollbacks != realm.session.pointee.rollbacks { found.leaveAborted(realm, &rollbacks) }
    }

    private func checkObjects() throws(RealmError) {
        guard !isOverValues else {
            throw RealmError(
                .illegalOperation, "'\(description)' is a query over values, not objects")
        }
    }

    /// Objects or values selected, DISTINCT and LIMIT included.
    package func count() throws(RealmError) -> Int {
        if isOverValues { return try findValues().count() }
        let realm = try realm()
        let count = try found.count(SnapshotReader(tables: try realm.readTables()))
        realm.tell(found, "counted \(count)")
        return count
    }

    /// The first object in the query's order, or nil. LIMIT(0) does not count here without SORT and
    /// DISTINCT, as callers of the C ABI are used to.
    package func findFirst() throws(RealmError) -> Link? {
        try checkObjects()
        let realm = try realm()
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let first =
            try found.first.ordering.isEmpty
            ? found.findFirst(snapshot) : found.withoutEmptyLimits().findFirst(snapshot)
        realm.tell(found, first.map { "the first is object \($0)" } ?? "found none")
        return first.map { Link(found.classKey, $0) }
    }

    /// The same for any query: a link to the first object, or the first value.
    package func findFirstValue() throws(RealmError) -> RawValue? {
        guard isOverValues else {
            return try findFirst().map { .link($0.classKey, $0.objectKey) }
        }
        let values = try values(of: found.withoutEmptyLimits())
        return try values.count() == 0 ? nil : try values.get(0)
    }

    /// How the query would be executed now; see `Results.explain`.
    package func explain() throws(RealmError) -> String {
        try find().explain()
    }

    /// Live results with the query's ordering; `.illegalOperation` for a query over values.
    package func findAll() throws(RealmError) -> Results {
        let realm = try realm()
        try checkObjects()
        return try realm.objects(of: found)
    }

    /// Live results over the values of a collection; `.illegalOperation` for a query over objects.
    package func findValues() throws(RealmError) -> ValueResults {
        try values(of: found)
    }

    private func values(of found: ResultsDescription) throws(RealmError) -> ValueResults {
        guard let source = found.values else {
            throw RealmError(
                .illegalOperation, "'\(description)' is a query over objects, not values")
        }
        let collection = try source.place.collection(in: try realm())
        let results = ValueResults(collection, source, found)
        try results.check()
        return results
    }

    /// Live results of either kind.
    package func find() throws(RealmError) -> AnyResults {
        isOverValues ? try findValues() : try findAll()
    }

    /// Deletes the objects that the query finds, or takes the values out of their collection.
    package func deleteAll() throws(RealmError) {
        try find().deleteAll()
    }

    /// Conditions of both; the ordering of the new text follows.
    package func and(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument]
    ) throws(RealmError) -> LiveQuery {
        let realm = try realm()
        let next = try Query.parse(
            text, arguments, realm.schema, query.classKey, values: query.values)
        return LiveQuery(realm, try query.and(next), in: found.source)
    }
}

extension Realm {
    /// Parses a query of a class; see `Query.parse`.
    package func query(
        _ classKey: ClassKey, _ text: UnsafeBufferPointer<UInt8>,
        arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        _ = try readTables()
        let query = try Query.parse(text, arguments, schema, classKey)
        return LiveQuery(self, query, in: .objects)
    }

    /// Parses a format string of a class; see `Query.parse(format:)`.
    package func query(
        _ classKey: ClassKey, format: [UInt8], arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:]
    ) throws(RealmError) -> LiveQuery {
        _ = try readTables()
        let query = try Query.parse(
            format: format, arguments: arguments, variables: variables, schema: schema,
            classKey: classKey)
        return LiveQuery(self, query, in: .objects)
    }

    package func query(
        _ classKey: ClassKey, _ text: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try query(classKey, buffer, arguments: arguments)
        }
    }
}
