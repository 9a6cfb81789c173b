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

    init(_ realm: Realm, _ query: Query, _ base: Results.Base) {
        owner = realm
        file = realm.file
        self.query = query
        if case .collection(let collection) = base {
            place = CollectionPlace(collection)
            self.base = nil
        } else {
            place = nil
            self.base = base
        }
    }

    private init(_ realm: Realm, _ query: Query, like other: LiveQuery) {
        owner = realm
        file = realm.file
        self.query = query
        base = other.base
        place = other.place
    }

    private func base(in realm: Realm) throws(RealmError) -> Results.Base {
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
        Results(
            realm, query.classKey, try base(in: realm), conditions: query,
            ordering: query.ordering)
    }

    /// Objects selected, DISTINCT and LIMIT included.
    public func count() throws(RealmError) -> Int {
        let realm = try realm()
        if case .table? = base {
            return try query.count(SnapshotReader(tables: try realm.readTables()))
        }
        return try results(realm).count()
    }

    /// The first object in the query's order, or nil. LIMIT(0) does not count here, as callers of
    /// the C ABI are used to.
    public func findFirst() throws(RealmError) -> Link? {
        let realm = try realm()
        let limited = query.ordering.filter {
            if case .limit(0) = $0 { return false }
            return true
        }
        if case .table? = base, limited.isEmpty {
            let snapshot = SnapshotReader(tables: try realm.readTables())
            return try query.firstMatch(snapshot).map {
                Link(query.classKey, ObjectKey(rawValue: $0))
            }
        }
        let results = Results(
            realm, query.classKey, try base(in: realm), conditions: query, ordering: limited)
        do throws(RealmError) {
            return Link(query.classKey, try results.get(0).linkTarget)
        } catch {
            if error.code == .indexOutOfBounds { return nil }
            throw error
        }
    }

    /// How the query would be executed now; see `Results.explain`.
    public func explain() throws(RealmError) -> String { try findAll().explain() }

    /// Live results with the query's ordering.
    public func findAll() throws(RealmError) -> Results {
        try results(try realm())
    }

    /// Conditions of both; the ordering of the new text follows.
    public func and(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument]
    ) throws(RealmError) -> LiveQuery {
        let realm = try realm()
        let next = try Query.parse(
            text, arguments: arguments, schema: realm.schema, classKey: query.classKey)
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
