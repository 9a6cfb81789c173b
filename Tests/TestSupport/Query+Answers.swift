@testable import CoreSwift

/// What a query answers on a snapshot, without a session.
extension Query {
    func count(_ snapshot: SnapshotReader) throws(RealmError) -> Int {
        try ResultsDescription(self).count(snapshot)
    }

    /// How the conditions would be tested.
    func explain(_ snapshot: SnapshotReader) throws(RealmError) -> String {
        try ResultsDescription(withoutOrdering()).explain(snapshot, schema)
    }

    /// Keys of all objects selected, in the query's order.
    func findAll(_ snapshot: SnapshotReader) throws(RealmError) -> [ObjectKey] {
        try ResultsDescription(self).keys(snapshot)
    }

    /// The first object selected, in the query's order.
    func findFirst(_ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        try ResultsDescription(self).findFirst(snapshot)
    }
}
