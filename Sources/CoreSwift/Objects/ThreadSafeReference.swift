// Hand-over between threads (docs/C_RULES, "References between threads"): what names a realm,
// object, collection or results without belonging to the thread that they belong to. A reference
// holds keys and conditions, never handles; resolving it finds the counterpart in a realm of the
// other thread.
//
// Any thread may hold and end a reference. References to results keep a frozen realm, and with it
// the file and the version; those to realms keep the realm; others keep nothing.
//
// Called by the C ABI and by programs in Swift.

/// Carries a realm, object, collection or results to another thread.
public final class ThreadSafeReference: @unchecked Sendable {
    private enum Target {
        case realm(Realm)
        /// A realm that was handed over already.
        case handedOver
        case object(ClassKey, ObjectKey)
        case collection(CollectionPlace)
        /// `keeping`: the version that they were made at.
        case results(ResultsDescription, keeping: Realm)
    }

    private let lock = Lock()
    private var target: Target
    private let path: String
    /// The least version to resolve it in: what the source read, or will have written.
    private let version: UInt64

    private init(_ target: Target, _ realm: Realm, version: UInt64) {
        self.target = target
        self.version = version
        path = realm.path
    }

    deinit {
        switch target {
        case .realm(let realm), .results(_, let realm): realm.prepareForRelease()
        default: break
        }
    }

    // MARK: Making

    /// `.wrongTransactionState` during a write transaction, which stays with its thread.
    package convenience init(_ realm: Realm) throws(RealmError) {
        if realm.isClosed {
            throw RealmError(.closedRealm, "the realm at '\(realm.path)' was closed")
        }
        guard !realm.isWritable else {
            throw RealmError(
                .wrongTransactionState, "a realm cannot be handed over in a write transaction")
        }
        self.init(.realm(realm), realm, version: 0)
    }

    /// Also of an object that was deleted.
    package convenience init(_ object: ObjectHandle) throws(RealmError) {
        let realm = object.realm
        let version = try Self.version(of: realm)
        self.init(.object(object.classKey, object.objectKey), realm, version: version)
    }

    /// `.invalidatedObject` when the collection is gone.
    package convenience init(_ collection: RealmCollection) throws(RealmError) {
        _ = try collection.count()
        let version = try Self.version(of: collection.realm)
        self.init(
            .collection(CollectionPlace(collection)), collection.realm, version: version)
    }

    /// `.staleAccessor` for results that are not valid any more; `.wrongTransactionState` for those
    /// over objects of a collection that nobody else can see yet.
    package convenience init(_ results: AnyResults) throws(RealmError) {
        let realm = results.realm
        try results.check()
        let frozen = try realm.freeze()
        if realm.isWritable, case .collection(let place) = results.description.source,
            try place.view(SnapshotReader(tables: try realm.readTables())) != nil
        {
            let owner = try frozen.handle(place.classKey, place.objectKey)
            defer { owner.release() }
            guard owner.isValid else {
                throw RealmError(
                    .wrongTransactionState,
                    "the object that holds the collection was created in this transaction")
            }
        }
        let version = try Self.version(of: realm)
        self.init(
            .results(results.description, keeping: frozen), realm, version: version)
    }

    /// The version that a realm reads; in a write transaction the one that its commit will make.
    private static func version(of realm: Realm) throws(RealmError) -> UInt64 {
        let version = try realm.readTables().version
        return realm.isWritable ? version + 1 : version
    }

    // MARK: Resolving

    /// The realm itself, which belongs to `scheduler` from now on, or to the calling thread without
    /// one; of a cached realm the one that this scheduler has already. Once only.
    public func realm(_ scheduler: (any Scheduler)?) throws(RealmError) -> Realm {
        let found = try lock.withLock { () throws(RealmError) -> Realm in
            guard case .realm(let realm) = target else {
                if case .handedOver = target {
                    throw RealmError(.illegalOperation, "the realm was handed over already")
                }
                throw other("realm")
            }
            target = .handedOver
            return realm
        }
        return found.handedOver(to: scheduler ?? ThreadScheduler.ofThisThread)
    }

    /// The object in a realm; an invalid handle when it is not there.
    package func object(in realm: Realm) throws(RealmError) -> ObjectHandle {
        guard case .object(let classKey, let key) = target else { throw other("object") }
        try prepare(realm)
        return try realm.handle(classKey, key)
    }

    /// The collection in a realm; one that is not valid when its object is not there.
    package func collection(
        _ type: CollectionType, in realm: Realm
    ) throws(RealmError) -> RealmCollection {
        guard case .collection(let place) = target, place.type == type else {
            throw other("\(type)")
        }
        try prepare(realm)
        return try place.collection(in: realm)
    }

    /// Results from the same source with the same conditions and order, in a realm.
    package func results(in realm: Realm) throws(RealmError) -> AnyResults {
        guard case .results(let description, _) = target else { throw other("results") }
        try prepare(realm)
        let snapshot = SnapshotReader(tables: try realm.readTables())
        return try realm.results(of: description.resolved(snapshot))
    }

    private func other(_ wanted: String) -> RealmError {
        RealmError(.illegalOperation, "the reference does not name a \(wanted)")
    }

    /// Has the realm read at least what the source read.
    private func prepare(_ realm: Realm) throws(RealmError) {
        try realm.checkUsable()
        // By path: references do not keep the file open, which may have been opened anew.
        guard realm.path == path else {
            throw RealmError(
                .illegalOperation,
                "the reference names something of '\(path)', which is not in '\(realm.path)'")
        }
        try realm.reach(version)
    }
}
