// What a results handle of the C ABI holds: `Results` of objects, or the `ValueResults` of a
// collection. A class and not a protocol, so that a handle that is in hand tells which it is with
// one load.

public class AnyResults {
    public final let realm: Realm
    /// The elements are values of a collection: this is a `ValueResults`, else a `Results`.
    public final let holdsValues: Bool

    init(_ realm: Realm, holdsValues: Bool) {
        self.realm = realm
        self.holdsValues = holdsValues
    }
}
