// What observers of results are told. Results of objects are described by keys in an order; those of a
// whole class need no more than ranks in both versions. The general way is to make the results anew
// and to compare; where only few objects changed, they are kept up to date instead
// (`MaintainedResults`).

/// Results over objects, at the version that was told last.
final class WatchedResults {
    let description: ResultsDescription
    /// All keys in order; nil until they are needed.
    private var keys: [ObjectKey]?
    private var maintained: MaintainedResults?
    /// Tests compare the fast way with the general one.
    nonisolated(unsafe) static var alwaysRunsAgain = false

    init(_ description: ResultsDescription) {
        self.description = description
    }

    private var isWholeClass: Bool {
        if case .objects = description.source { return description.isBare }
        return false
    }

    /// Finds the results in the version that changes will be told from.
    func prepare(_ tables: TableSet) throws(RealmError) {
        if isWholeClass || keys != nil || maintained != nil { return }
        let found = try find(tables)
        if !Self.alwaysRunsAgain, let made = MaintainedResults(description, found) {
            maintained = made
        } else {
            keys = found
        }
    }

    private func find(_ tables: TableSet) throws(RealmError) -> [ObjectKey] {
        guard tables.table(description.classKey) != nil else { return [] }
        return try description.keys(SnapshotReader(tables: tables))
    }

    /// The changes for each of the filters; the results are then those of the new version.
    func changes(
        _ context: ChangeContext, _ filters: [KeyPathFilter?]
    ) throws(RealmError) -> [ElementChanges] {
        let nothing = filters.map { _ in ElementChanges() }
        guard context.old.version != context.new.version else { return nothing }
        let related = context.related(to: description.classKey)
        guard context.touches(related) || isOfOther(context, related) else { return nothing }
        if isWholeClass { return try wholeClass(context, filters) }
        if let maintained {
            if let changes = try maintained.changes(context, filters) { return changes }
            // Too much changed to keep the results up to date.
            keys = maintained.keys
            self.maintained = nil
        }
        let before = if let keys { keys } else { try find(context.old) }
        let after = try find(context.new)
        keys = after
        let difference = SequenceDifference(from: before, to: named(after, context))
        var result: [ElementChanges] = []
        for filter in filters {
            let modified = try context.modified(description.classKey, filter)
            result.append(
                ElementChanges(difference) { place, _ in
                    !modified.isEmpty && modified.holds(before[place])
                })
        }
        if !Self.alwaysRunsAgain, let made = MaintainedResults(description, after) {
            maintained = made
            keys = nil
        }
        return result
    }

    /// Objects that came under the keys of others that went are not those: they get names of their own.
    private func named(_ keys: [ObjectKey], _ context: ChangeContext) -> [ObjectKey] {
        guard let changes = context.changes(of: description.classKey) else { return keys }
        let again = changes.deleted.intersection(changes.inserted)
        if again.isEmpty { return keys }
        return keys.map { again.contains($0) ? ObjectKey(rawValue: ~$0.rawValue) : $0 }
    }

    /// The source belongs to an object of a class that is not connected by the schema's links, or a
    /// change of the schema may have changed what is connected.
    private func isOfOther(_ context: ChangeContext, _ related: Set<ClassKey>) -> Bool {
        if context.summary.changesSchema { return true }
        guard let owner = description.owner else { return false }
        return context.changes(of: owner.classKey) != nil
    }

    /// All objects of the class, by ascending key: positions are ranks.
    private func wholeClass(
        _ context: ChangeContext, _ filters: [KeyPathFilter?]
    ) throws(RealmError) -> [ElementChanges] {
        let classKey = description.classKey
        let old = context.old.table(classKey).map { TableReader(table: $0) }
        let new = context.new.table(classKey).map { TableReader(table: $0) }
        var base = ElementChanges()
        if let changes = context.changes(of: classKey) {
            if let old { base.deletions = try Self.ranks(changes.deleted, old) }
            if let new { base.insertions = try Self.ranks(changes.inserted, new) }
        }
        var result: [ElementChanges] = []
        for filter in filters {
            var changes = base
            for key in try context.modified(classKey, filter) {
                // A new object may lead to a changed one; it is told as new alone.
                guard let before = try old?.position(of: key),
                    let after = try new?.position(of: key),
                    !(context.changes(of: classKey)?.inserted.contains(key) ?? false)
                else { continue }
                changes.modifications.append(before)
                changes.modificationsAfter.append(after)
            }
            result.append(changes)
        }
        return result
    }

    /// Positions of objects, all of which are there.
    private static func ranks(
        _ keys: KeyRanges, _ table: TableReader
    ) throws(RealmError) -> IndexRanges {
        var result = IndexRanges()
        for range in keys.ranges {
            guard let first = try table.position(of: range.lowerBound),
                let last = try table.position(of: range.upperBound)
            else {
                throw RealmError(
                    .invalidDatabase,
                    "the changes of class \(table.classKey) name objects that are not there")
            }
            result.append(first..<last + 1)
        }
        return result
    }
}

/// Results over the values of a collection, or its keys.
struct WatchedValues {
    let description: ResultsDescription
    let source: ValueSource

    private var collection: WatchedCollection { WatchedCollection(place: source.place) }

    /// Nil: the collection is not there and was not.
    func changes(_ context: ChangeContext) throws(RealmError) -> ElementChanges? {
        if description.isBare {
            return try collection.elementChanges(
                context, nil, tellsMoves: source.place.type == .list,
                looksBehind: !source.holdsKeys)
        }
        let old = try chosen(context.old)
        guard let pieces = try collection.pieces(context), let new = try chosen(context.new) else {
            return old.map { ElementChanges(deleted: $0.count) }
        }
        // An element is named by where it was before; those that came, behind all of them.
        let origins = pieces.origins
        let names = new.map { origins[$0] ?? pieces.countBefore + $0 }
        let difference = SequenceDifference(from: old ?? [], to: names)
        let replaced = pieces.replaced
        var result = ElementChanges(difference) { _, place in replaced.contains(names[place]) }
        result.wasCleared = pieces.isCleared && !result.deletions.isEmpty
        return result
    }

    /// Positions of the results in the collection; nil without it.
    private func chosen(_ tables: TableSet) throws(RealmError) -> [Int]? {
        let snapshot = SnapshotReader(tables: tables)
        guard try source.place.view(snapshot) != nil else { return nil }
        return try description.findValues(snapshot).positions
    }
}
