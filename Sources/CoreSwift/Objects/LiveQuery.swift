// A query together with the realm it is asked of: what the C ABI's query handles hold.

/// A query of a realm. Each execution sees the realm's current state. Does not keep the realm.
public final class LiveQuery {
    private weak var owner: Realm?
    /// Whose columns the conditions name.
    private weak var file: RealmFile?
    public let query: Query
    /// What is searched: the class, or what results were made of. Nil for a collection, which would
    /// hold the realm.
    private let base: Results.Base?
    private let place: CollectionPlace?
    /// Queries over values, not objects: what of the collection they are.
    private let values: ValuesBase?

    private struct ValuesBase {
        let kind: ColumnKind
        let holdsKeys: Bool
        let kept: KeptValues?
    }

    init(_ realm: Realm, _ query: Query, _ base: Results.Base) {
        owner = realm
        file = realm.file
        self.query = query
        values = nil
        if case .collection(let collection) = base {
            place = CollectionPlace(collection)
            self.base = nil
        } else {
            place = nil
            self.base = base
        }
    }

    /// Over values: `query` has all conditions.
    init(_ query: Query, over results: ValueResults) {
        owner = results.realm
        file = results.realm.file
        self.query = query
        base = nil
        place = CollectionPlace(results.collection)
        values = ValuesBase(
            kind: results.kind, holdsKeys: results.holdsKeys, kept: results.kept)
    }

    private init(_ realm: Realm, _ query: Query, like other: LiveQuery) {
        owner = realm
        file = realm.file
        self.query = query
        base = other.base
        place = other.place
        values = other.values
    }

    /// The query is over values of a collection, not objects: `findValues` finds them.
    public var isOverValues: Bool { values != nil }

    func base(in realm: Realm) throws(RealmError) -> Results.Base {
        if let place { return .collection(try place.collection(in: realm)) }
        return base ?? .table
    }

    /// Canonical text with arguments put in.
    public var description: String { query.description }

    /// The realm; `.closedRealm` when it was closed or nobody holds it any more.
    public func realm() throws(RealmError) -> Realm {
        guard let owner, !owner.isClosed else {
            throw RealmError(.closedRealm, "the realm of the query was closed")
        }
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
    }

    private func results(_ realm: Realm) throws(RealmError) -> Results {
        guard values == nil else {
            throw RealmError(
                .illegalOperation, "'\(description)' is a query over values, not objects")
        }
        return Results(
            realm, query.classKey, try base(in: realm), conditions: query,
            ordering: query.ordering)
    }

    private func results(
        over values: ValuesBase, _ ordering: [OrderingStep]
    ) throws(RealmError) -> ValueResults {
        guard let place else {
            throw RealmError(.illegalOperation, "'\(description)' is over no collection")
        }
        return ValueResults(
            try place.collection(in: try realm()), values.kind, holdsKeys: values.holdsKeys,
            kept: values.kept, conditions: query, ordering: ordering)
    }

    /// Objects or values selected, DISTINCT and LIMIT included.
    public func count() throws(RealmError) -> Int {
        let realm = try realm()
        if let values { return try results(over: values, query.ordering).count() }
        if case .table? = base {
            return try query.count(SnapshotReader(tables: try realm.readTables()))
        }
        return try results(realm).count()
    }

    /// The first object in the query's order, or nil. LIMIT(0) does not count here without SORT and
    /// DISTINCT, as callers of the C ABI are used to.
    public func findFirst() throws(RealmError) -> Link? {
        let realm = try realm()
        let limited = orderingForFirst
        if case .table? = base, limited.isEmpty {
            let snapshot = SnapshotReader(tables: try realm.readTables())
            return try query.firstMatch(snapshot).map {
                Link(query.classKey, ObjectKey(rawValue: $0))
            }
        }
        let results = Results(
            realm, query.classKey, try base(in: realm), conditions: query, ordering: limited)
        do throws(RealmError) {
            // A collection may begin with null links.
            var first = try results.get(0)
            var index = 1
            while first.isNull {
                first = try results.get(index)
                index += 1
            }
            return Link(query.classKey, first.linkTarget)
        } catch {
            if error.code == .indexOutOfBounds { return nil }
            throw error
        }
    }

    private var orderingForFirst: [OrderingStep] {
        if query.ordering.contains(where: { !$0.isCut }) { return query.ordering }
        return query.ordering.filter {
            if case .limit(0) = $0 { return false }
            return true
        }
    }

    /// The same for any query: a link to the first object, or the first value.
    public func findFirstValue() throws(RealmError) -> RawValue? {
        guard let values else {
            return try findFirst().map { .link($0.classKey, $0.objectKey) }
        }
        let results = try results(over: values, orderingForFirst)
        return try results.count() == 0 ? nil : try results.get(0)
    }

    /// How the query would be executed now; see `Results.explain`.
    public func explain() throws(RealmError) -> String {
        isOverValues ? try findValues().explain() : try findAll().explain()
    }

    /// Live results with the query's ordering; `.illegalOperation` for a query over values.
    public func findAll() throws(RealmError) -> Results {
        try results(try realm())
    }

    /// Live results over the values of a collection; `.illegalOperation` for a query over objects.
    public func findValues() throws(RealmError) -> ValueResults {
        guard let values else {
            throw RealmError(
                .illegalOperation, "'\(description)' is a query over objects, not values")
        }
        let found = try results(over: values, query.ordering)
        try found.check()
        return found
    }

    /// Live results of either kind.
    public func find() throws(RealmError) -> AnyResults {
        isOverValues ? try findValues() : try findAll()
    }

    /// Deletes the objects that the query finds, or takes the values out of their collection.
    public func deleteAll() throws(RealmError) {
        isOverValues ? try findValues().deleteAll() : try findAll().deleteAll()
    }

    /// Conditions of both; the ordering of the new text follows.
    public func and(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument]
    ) throws(RealmError) -> LiveQuery {
        let realm = try realm()
        let next = try Query.parse(
            text, arguments, realm.schema, query.classKey, values: query.values)
        return LiveQuery(realm, try query.and(next), like: self)
    }
}

extension Realm {
    /// Parses a query of a class; see `Query.parse`.
    public func query(
        _ classKey: ClassKey, _ text: UnsafeBufferPointer<UInt8>,
        arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        _ = try readTables()
        let query = try Query.parse(
            text, arguments: arguments, schema: schema, classKey: classKey)
        return LiveQuery(self, query, .table)
    }

    /// Parses a format string of a class; see `Query.parse(format:)`.
    public func query(
        _ classKey: ClassKey, format: [UInt8], arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:]
    ) throws(RealmError) -> LiveQuery {
        _ = try readTables()
        let query = try Query.parse(
            format: format, arguments: arguments, variables: variables, schema: schema,
            classKey: classKey)
        return LiveQuery(self, query, .table)
    }

    public func query(
        _ classKey: ClassKey, _ text: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try query(classKey, buffer, arguments: arguments)
        }
    }
}
