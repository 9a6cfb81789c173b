// What a query answers on a snapshot.

extension Query {
    /// The number of objects selected, DISTINCT and LIMIT included.
    func count(_ snapshot: SnapshotReader) throws(RealmError) -> Int {
        // Without DISTINCT the order does not matter: LIMITs cut the plain count.
        var limit = Int.max
        for step in ordering {
            switch step {
            case .sort: break
            case .limit(let count): limit = min(limit, count)
            case .distinct: return try findAll(snapshot).count
            }
        }
        if limit == 0 { return 0 }
        return min(limit, try selection(snapshot).count())
    }

    /// The first object selected, in the query's order.
    func findFirst(_ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        let key =
            ordering.isEmpty
            ? try selection(snapshot).first() : try findAll(snapshot, atLeast: 1).first
        return key.map { ObjectKey(rawValue: $0) }
    }

    /// Keys of all objects selected, in the query's order.
    func findAll(_ snapshot: SnapshotReader) throws(RealmError) -> [Int64] {
        try findAll(snapshot, atLeast: .max)
    }

    /// The first `count` keys at least, in the query's order, where fewer than all are cheaper.
    func findAll(
        _ snapshot: SnapshotReader, atLeast count: Int
    ) throws(RealmError) -> [Int64] {
        let table = try snapshot.table(classKey)
        let selection = try Selection(snapshot, filter, table, root: filter.root)
        if let leading = try Ordering.leading(count, ordering, selection, table) {
            return try Ordering.apply(ordering[...], to: leading, snapshot, table, atLeast: count)
        }
        var limit = ordering.isEmpty ? count : Int.max
        if case .limit(let number)? = ordering.first { limit = number }
        let keys = try selection.keys(limit: limit)
        return try Ordering.apply(ordering[...], to: keys, snapshot, table, atLeast: count)
    }

    /// The number of objects that satisfy the conditions, without the ordering.
    func countMatches(_ snapshot: SnapshotReader) throws(RealmError) -> Int {
        try selection(snapshot).count()
    }

    /// The least key of an object that satisfies the conditions.
    func firstMatch(_ snapshot: SnapshotReader) throws(RealmError) -> Int64? {
        try selection(snapshot).first()
    }

    /// Ascending keys of the objects that satisfy the conditions, at most `limit` of them.
    func matches(_ snapshot: SnapshotReader, limit: Int) throws(RealmError) -> [Int64] {
        try selection(snapshot).keys(limit: limit)
    }

    func selection(_ snapshot: SnapshotReader) throws(RealmError) -> Selection {
        try Selection(snapshot, filter, try snapshot.table(classKey), root: filter.root)
    }

    /// Those of `keys`, in their order, whose objects satisfy the conditions.
    func filter(_ keys: [Int64], _ snapshot: SnapshotReader) throws(RealmError) -> [Int64] {
        let table = try snapshot.table(classKey)
        return try Selection(snapshot, filter, table, root: filter.root).narrow(keys)
    }
}

enum Ordering {
    /// Ascending keys of objects among which are the first `count` of a sequence that begins with a
    /// SORT, found without listing all of them; nil when that is not cheaper. `selection` has the
    /// conditions.
    static func leading(
        _ count: Int, _ steps: [OrderingStep], _ selection: Selection?, _ table: TableReader
    ) throws(RealmError) -> [Int64]? {
        guard case .sort(let by)? = steps.first, let first = by.first,
            let needed = prefixNeeded(count, steps), needed < table.rowCount / 4
        else { return nil }
        let conditions = selection.flatMap { $0.passesAll ? nil : $0 }
        if let conditions {
            // The few objects that another index leaves are sorted at once.
            guard IndexOrder.isOrdered(by: first, table),
                try conditions.start(limit: 64 + needed) == nil
            else { return nil }
            return try IndexOrder.candidates(needed, by: first, conditions, table)
        }
        if let keys = try IndexOrder.candidates(needed, by: first, nil, table) { return keys }
        return try LeadingRows.candidates(max(needed, 1), by: first, table)
    }

    /// How many objects behind the first SORT are needed to have `count` elements, when nothing
    /// but LIMITs follows it.
    private static func prefixNeeded(_ count: Int, _ steps: [OrderingStep]) -> Int? {
        var needed = count
        for step in steps.dropFirst() {
            guard case .limit(let number) = step else { return nil }
            needed = min(needed, number)
        }
        return needed
    }

    /// Applies SORT, DISTINCT and LIMIT one after another. With `atLeast`, the last SORT may order
    /// only the first so many objects.
    static func apply(
        _ steps: ArraySlice<OrderingStep>, to keys: [Int64], _ snapshot: SnapshotReader,
        _ table: TableReader, atLeast: Int = .max
    ) throws(RealmError) -> [Int64] {
        var keys = keys
        for index in steps.indices {
            switch steps[index] {
            case .limit(let count):
                if keys.count > count { keys.removeLast(keys.count - count) }
            case .distinct(let by): keys = try Distinct.first(keys, by: by, snapshot, table)
            case .sort(let by):
                // What the steps behind the SORT leave of a prefix is known when they only cut.
                var needed = atLeast
                var cutsOnly = true
                for step in steps[(index + 1)...] {
                    if case .limit(let count) = step {
                        needed = min(needed, count)
                    } else {
                        cutsOnly = false
                    }
                }
                if cutsOnly, needed < keys.count / 4 {
                    keys = try Sorter.prefix(max(needed, 1), of: keys, by: by, snapshot, table)
                } else {
                    keys = try Sorter.sorted(keys, by: by, snapshot, table)
                }
            }
        }
        return keys
    }
}
