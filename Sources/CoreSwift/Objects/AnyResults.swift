// What a results handle of the C ABI holds: `Results` of objects, or the `ValueResults` of a
// collection; both are a session, a description, and what was found when it was asked last. A class
// and not a protocol, so that a handle that is in hand tells which it is with one load.
//
// What is the same of both is an extension: AnyResults+Refinement.swift.

public class AnyResults {
    package final let realm: Realm
    /// The class of the objects; of values, that of the collection's owner.
    package final let classKey: ClassKey
    private final var given: ResultsDescription
    /// Rollbacks of the session that `given` knows of.
    private final var rollbacks: UInt32
    /// The elements are values of a collection: this is a `ValueResults`, else a `Results`.
    package final let holdsValues: Bool
    /// The realm's generation when the results were made; compaction ends it.
    final let generation: UInt32
    /// Any thread may use those of a frozen realm.
    final let lock: Lock?

    init(_ realm: Realm, _ description: ResultsDescription, holdsValues: Bool) {
        self.realm = realm
        classKey = description.classKey
        given = description
        let session = realm.session
        rollbacks = session.pointee.rollbacks
        generation = session.pointee.generation
        lock = realm.isFrozen ? Lock() : nil
        self.holdsValues = holdsValues
    }

    /// What the elements are; whatever names them in another session or version takes this.
    final var description: ResultsDescription {
        if rollbacks != realm.session.pointee.rollbacks { given.leaveAborted(realm, &rollbacks) }
        return given
    }

    // MARK: What each of the two has in a way of its own
    // Both override all of it, and nothing else derives from this class: its initializer is the engine's.

    /// False after the realm was closed or compacted, or the class is gone, or the object of the collection.
    public var isValid: Bool { unwritten() }

    /// Throws `.staleAccessor` when the results are not valid any more.
    func check() throws(RealmError) { unwritten() }

    /// The same elements, chosen and ordered by other steps.
    func with(_ description: ResultsDescription) -> Self { unwritten() }

    /// The number of elements, DISTINCT, LIMIT and OFFSET included.
    public func count() throws(RealmError) -> Int { unwritten() }

    /// The element at a position: a link, or a value, whose text is borrowed until the realm moves or
    /// changes. Null where an element of a snapshot is gone.
    package func get(_ index: Int) throws(RealmError) -> RawValue { unwritten() }

    /// The position of the first element that is this value, or nil.
    package func find(_ value: RawValue) throws(RealmError) -> Int? { unwritten() }

    /// The position of an object, or nil.
    package func find(_ object: ObjectHandle) throws(RealmError) -> Int? { unwritten() }

    /// Results over the same source with the same conditions and ordering in another realm of the file.
    /// Elements that were kept are determined anew.
    package func resolved(in target: Realm) throws(RealmError) -> AnyResults { unwritten() }

    /// The elements as they are now: those of a snapshot, or values that stay what they are.
    package func fixed() throws(RealmError) -> AnyResults { try snapshot() }

    /// A query with the conditions alone.
    package func query() throws(RealmError) -> LiveQuery { unwritten() }

    /// How the elements would be found now: which index gives the candidates, what is tested, how
    /// they are ordered. Text for people, a line for each step; its form may change.
    public func explain() throws(RealmError) -> String { unwritten() }

    /// Minimum, maximum, sum or average of a property, or of the values themselves, whatever `key` is then.
    /// `found`: a value was produced; for sums, there are elements.
    package func aggregate(
        _ kind: AggregateKind, _ key: PropertyKey
    ) throws(RealmError) -> (value: RawValue, found: Bool) { unwritten() }

    /// Deletes the objects, or takes the values out of their collection; needs a write transaction.
    public func deleteAll() throws(RealmError) { unwritten() }

    private func unwritten() -> Never { fatalError("Results and ValueResults have it") }
}

extension ResultsDescription {
    /// The key of an object whose creation was rolled back may name another one since then, which
    /// these results are not of: `rollbacks` are those of the session that were looked at.
    mutating func leaveAborted(_ realm: Realm, _ rollbacks: inout UInt32) {
        if let (classKey, key) = owner, realm.aborted.contain(classKey, key, since: rollbacks) {
            self = withoutOwner
        }
        rollbacks = realm.session.pointee.rollbacks
    }
}

extension Realm {
    /// Live results of what a description says. The collection of values may be gone: they are not
    /// valid then.
    func results(of description: ResultsDescription) throws(RealmError) -> AnyResults {
        guard let values = description.values else { return try objects(of: description) }
        return ValueResults(try values.place.collection(in: self), values, description)
    }

    /// The same where the elements are objects.
    func objects(of description: ResultsDescription) throws(RealmError) -> Results {
        guard description.isBare, case .collection(let place) = description.source else {
            return Results(self, description)
        }
        return Results(self, description, plain: try place.collection(in: self))
    }
}
