// What a description of results finds in a snapshot, or in the running write transaction of one:
// keys of objects in their order, or positions and values of a collection.
//
// The first stage begins with what its source offers: of a class, an index, the bounds of leaves,
// or a scan that ends early; see `Selection` and `Ordering.leading`. Every further step works on
// the list of what the one before it left.

extension ResultsDescription {
    /// Keys of elements in their order.
    struct Found {
        var keys: [ObjectKey]
        /// They are all, not only the first ones.
        var isComplete: Bool
    }

    // MARK: Objects

    /// The objects: all of them, or the first `count` at least where that is cheaper. Null links
    /// are among them as `Ordering.nullLink`.
    func find(
        _ snapshot: SnapshotReader, atLeast count: Int = .max
    ) throws(RealmError) -> Found {
        let table = try snapshot.table(classKey)
        let holdsNullLinks = holdsNullLinks
        let firstCount = later.isEmpty ? count : .max
        let start = try start(snapshot, table, atLeast: firstCount)
        var isComplete = start.isComplete
        var keys = start.keys
        if !start.steps.isEmpty {
            keys = try Ordering.apply(
                start.steps, to: keys, snapshot, table, atLeast: firstCount,
                hasNullLinks: holdsNullLinks)
        }
        for (index, stage) in later.enumerated() {
            let isLast = index == later.count - 1
            keys = try stage.conditions?.filter(keys, snapshot) ?? keys
            keys = try Ordering.apply(
                stage.ordering[...], to: keys, snapshot, table, atLeast: isLast ? count : .max,
                hasNullLinks: holdsNullLinks)
            isComplete = count == .max
        }
        return Found(keys: keys, isComplete: isComplete || keys.count < count)
    }

    /// Keys of all objects in their order.
    func keys(_ snapshot: SnapshotReader) throws(RealmError) -> [ObjectKey] {
        try find(snapshot).keys
    }

    /// The first object that is there: null links, and elements of a snapshot that are gone, are
    /// left out.
    func findFirst(_ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        if case .objects = source, first.ordering.isEmpty, later.isEmpty,
            let conditions = first.conditions
        {
            return try conditions.selection(snapshot).first()
        }
        for count in [1, Int.max] {
            let found = try find(snapshot, atLeast: count)
            for key in found.keys where key != Ordering.nullLink {
                guard case .snapshot = source else { return key }
                if try snapshot.table(classKey).row(key) != nil { return key }
            }
            if found.isComplete { break }
        }
        return nil
    }

    /// The number of objects, where it is known without finding them; else nil.
    func countWithoutKeys(_ snapshot: SnapshotReader) throws(RealmError) -> Int? {
        guard later.isEmpty, let most = Ordering.cut(.max, by: first.ordering) else { return nil }
        if most == 0 { return 0 }
        let count: Int
        switch (source, first.conditions) {
        case (.objects, nil): count = try snapshot.table(classKey).rowCount
        case (.objects, let conditions?):
            count = try conditions.selection(snapshot).count(
                atMost: Ordering.counted(first.ordering))
        case (.backlinks(let target, let key, let column), nil):
            guard try snapshot.tables.table(target)?.find(key) != nil else { return 0 }
            count = try snapshot.table(classKey).sourceCount(of: key, column: column)
        default: return nil
        }
        return Ordering.cut(count, by: first.ordering) ?? count
    }

    /// The number of objects.
    func count(_ snapshot: SnapshotReader) throws(RealmError) -> Int {
        if let count = try countWithoutKeys(snapshot) { return count }
        return try keys(snapshot).count
    }

    /// Whether elements may be null links.
    private var holdsNullLinks: Bool {
        switch source {
        case .objects, .backlinks, .values: return false
        case .collection(let place): return place.type == .dictionary
        case .snapshot: return true
        }
    }

    /// What the first stage's steps begin with.
    private struct Start {
        var keys: [ObjectKey]
        /// The steps that are left.
        var steps: ArraySlice<OrderingStep>
        /// The steps find all elements in `keys`, whatever number is asked for.
        var isComplete: Bool
    }

    private func start(
        _ snapshot: SnapshotReader, _ table: TableReader, atLeast count: Int
    ) throws(RealmError) -> Start {
        let all: [ObjectKey]
        switch source {
        case .objects: return try startOfClass(snapshot, table, atLeast: count)
        case .backlinks(let target, let key, let column):
            let isThere = try snapshot.tables.table(target)?.find(key) != nil
            all = isThere ? try table.sources(of: key, column: column) : []
        case .snapshot(let kept, _): all = kept
        case .collection(let place): all = try Self.linkedKeys(place, snapshot)
        case .values:
            throw RealmError(.illegalOperation, "results over values hold no objects")
        }
        let keys = try first.conditions?.filter(all, snapshot) ?? all
        return Start(keys: keys, steps: first.ordering[...], isComplete: count == .max)
    }

    private func startOfClass(
        _ snapshot: SnapshotReader, _ table: TableReader, atLeast count: Int
    ) throws(RealmError) -> Start {
        let ordering = first.ordering
        // One for all: what it finds out about other classes need not be found out again.
        let selection = try first.conditions?.selection(snapshot)
        let tests = selection.flatMap { $0.passesAll ? nil : $0 }
        if tests == nil, let whole = try Ordering.whole(count, ordering, table) {
            return Start(keys: whole, steps: ordering.dropFirst(), isComplete: true)
        }
        if !ordering.isEmpty,
            let leading = try Ordering.leading(count, ordering, selection, table)
        {
            let steps = leading.isOrdered ? ordering.dropFirst() : ordering[...]
            return Start(keys: leading.keys, steps: steps, isComplete: false)
        }
        // Sorting needs all matches, but for LIMITs before it; without it the scan may end early.
        let cuts = ordering.prefix { $0.isCut }
        let onlyCuts = cuts.count == ordering.count
        let needed = Ordering.needed(onlyCuts ? count : .max, before: cuts) ?? .max
        let keys =
            if let tests { try tests.keys(limit: needed) } else {
                try Self.keysOfClass(table, first: needed)
            }
        let isComplete = count == .max || (onlyCuts && keys.count < needed)
        return Start(keys: keys, steps: ordering[...], isComplete: isComplete)
    }

    /// Keys of the first objects of a class.
    private static func keysOfClass(
        _ table: TableReader, first most: Int
    ) throws(RealmError) -> [ObjectKey] {
        let room = min(table.rowCount, most)
        // The array without elements is one for all threads, and its making writes to it.
        if room == 0 { return [] }
        var failure: RealmError?
        let keys = [ObjectKey](unsafeUninitializedCapacity: room) { buffer, count in
            do throws(RealmError) {
                try fill(buffer, &count, table)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return keys
    }

    private static func fill(
        _ buffer: UnsafeMutableBufferPointer<ObjectKey>, _ count: inout Int, _ table: TableReader
    ) throws(RealmError) {
        guard let target = buffer.baseAddress else { return }
        var leaves = table.leaves()
        let capacity = buffer.count
        while let leaf = try leaves.next() {
            guard count + leaf.liveRows <= table.rowCount else {
                throw RealmError(
                    .invalidDatabase, "the leaves of a class hold more rows than its tree counts")
            }
            if leaf.tombstones == nil, leaf.keyWidth == 0 {
                let base = leaf.keyBase
                let rows = min(leaf.rows, capacity - count)
                for row in 0..<rows { target[count &+ row] = base.advanced(by: row) }
                count += rows
            } else {
                for row in 0..<leaf.rows where count < capacity && !leaf.isDead(row) {
                    target[count] = leaf.key(row)
                    count &+= 1
                }
            }
            // Of a whole class the leaves behind the last row are looked at, too.
            if count == capacity, capacity < table.rowCount { return }
        }
    }

    /// The keys of the objects that the elements of a collection link to; none when it is gone.
    private static func linkedKeys(
        _ place: CollectionPlace, _ snapshot: SnapshotReader
    ) throws(RealmError) -> [ObjectKey] {
        guard var view = try place.view(snapshot) else { return [] }
        var keys: [ObjectKey] = []
        keys.reserveCapacity(view.count)
        for index in 0..<view.count {
            let value = try view.value(index, view.valueColumn)
            keys.append(value.isNull ? Ordering.nullLink : value.linkTarget)
        }
        return keys
    }

    // MARK: Other versions

    /// The same for another version or session: what was fixed is determined anew there.
    func resolved(_ snapshot: SnapshotReader) throws(RealmError) -> ResultsDescription {
        switch source {
        case .objects, .backlinks, .collection: return self
        case .snapshot(_, let of):
            let live = try of.resolved(snapshot)
            return isBare ? live : from(.snapshot(try live.keys(snapshot), of: live))
        case .values(var values):
            values.kept = nil
            return from(.values(values))
        }
    }

    // MARK: Values

    /// The values and, of those that are chosen, the positions. Texts lie where they stay as long as nothing
    /// changes. `.invalidatedObject` when the collection is gone.
    func findValues(
        _ snapshot: SnapshotReader
    ) throws(RealmError) -> (positions: [Int], values: [RawValue]) {
        guard let values else {
            throw RealmError(.illegalOperation, "results over objects hold no values")
        }
        let all = try values.all(snapshot)
        let positions = try ValueSelection.positions(of: all, values.place, stages, snapshot)
        return (positions, positions.map { all[$0] })
    }
}

extension ValueSource {
    /// All values, as they lie in settled rows or were kept: they stay there as long as nothing
    /// changes, also while queries settle other classes.
    func all(_ snapshot: SnapshotReader) throws(RealmError) -> [RawValue] {
        if let kept { return try kept.current(snapshot) }
        guard var view = try place.view(snapshot) else {
            throw RealmError(
                .invalidatedObject,
                "property \(snapshot.schema.named(place.classKey, column: place.column)) of object "
                    + "\(place.objectKey) does not hold the \(place.type) of a query any more")
        }
        var values: [RawValue] = []
        values.reserveCapacity(view.count)
        for index in 0..<view.count { values.append(try view.value(index, column)) }
        return values
    }
}
