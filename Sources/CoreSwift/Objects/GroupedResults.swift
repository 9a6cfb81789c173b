// Groups of results: live as these are. Nothing is computed before it is asked for; what was computed is kept
// until something changes, and then computed anew. Whoever wants to be told of changes observes the
// results with the properties that are grouped by and computed of (docs/QUERIES, "Groups").
//
// Belongs to the realm's thread; groups of a frozen realm are guarded by a lock, because any thread may
// use them.

package final class GroupedResults {
    /// What is grouped.
    package let results: Results
    package let grouping: Grouping
    /// What was found last, and when. Holds for the stamp and the number of patches it was made at, as
    /// in `Results`.
    private var found: (table: GroupTable, freshness: Results.Freshness)?
    private let lock: Lock?

    init(_ results: Results, _ grouping: Grouping) {
        self.results = results
        self.grouping = grouping
        lock = results.realm.isFrozen ? Lock() : nil
    }

    package var realm: Realm { results.realm }

    /// False after the realm was closed or compacted, or the class is gone.
    package var isValid: Bool { results.isValid }

    /// The groups as they are now, in the order in which their first objects are among the results.
    /// `.staleAccessor` when the results are not valid any more.
    package func table() throws(RealmError) -> GroupTable {
        guard let lock else { return try current() }
        return try lock.withLock { () throws(RealmError) in try current() }
    }

    private func current() throws(RealmError) -> GroupTable {
        try results.reading { snapshot, table throws(RealmError) in
            if let found, found.freshness == results.freshness(table) { return found.table }
            found = nil
            let keys = try results.keysInside(snapshot, table)
            let grouper = Grouper(grouping: grouping, snapshot: snapshot, table: table)
            let made = try grouper.table(of: keys)
            // Grouping may have settled other classes, which moves the stamp.
            found = (made, results.freshness(table))
            realm.tell(results.description, "made \(made.count) groups")
            return made
        }
    }

    /// Canonical text: that of the results, and the grouping behind a bar.
    package var description: String { "\(results.description.spelling) | \(grouping.spelling)" }

    /// How the groups would be found now; see `Results.explain`.
    package func explain() throws(RealmError) -> String {
        "\(try results.explain())\nthen: \(grouping.spelling)"
    }

    /// The same groups in another realm of the file, live or frozen; throws as `Results.resolved(in:)`.
    package func resolved(in target: Realm) throws(RealmError) -> GroupedResults {
        try results.resolved(in: target).grouped(by: grouping)
    }
}

extension Results {
    /// Groups of the elements with the same values; see `Grouping`.
    package func grouped(by keys: String, _ aggregates: String) throws(RealmError) -> GroupedResults
    {
        try reading { _, _ throws(RealmError) in }
        return GroupedResults(
            self,
            try Grouping(
                keys: keys, aggregates: aggregates, schema: realm.schema, classKey: classKey))
    }

    func grouped(by grouping: Grouping) throws(RealmError) -> GroupedResults {
        try reading { _, _ throws(RealmError) in }
        return GroupedResults(self, grouping)
    }
}
