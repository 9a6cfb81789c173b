// What a results handle of the C ABI holds: `Results` of objects, or the `ValueResults` of a
// collection; both are a session, a description, and what was found when it was asked last. A class
// and not a protocol, so that a handle that is in hand tells which it is with one load.

public class AnyResults {
    package final let realm: Realm
    private final var given: ResultsDescription
    /// Rollbacks of the session that `given` knows of.
    private final var rollbacks: UInt32
    /// The elements are values of a collection: this is a `ValueResults`, else a `Results`.
    package final let holdsValues: Bool

    init(_ realm: Realm, _ description: ResultsDescription, holdsValues: Bool) {
        self.realm = realm
        given = description
        rollbacks = realm.session.pointee.rollbacks
        self.holdsValues = holdsValues
    }

    /// What the elements are; whatever names them in another session or version takes this.
    final var description: ResultsDescription {
        if rollbacks != realm.session.pointee.rollbacks { given.leaveAborted(realm, &rollbacks) }
        return given
    }
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
