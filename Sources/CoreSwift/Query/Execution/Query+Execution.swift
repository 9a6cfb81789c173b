// What the conditions of a query find in a snapshot, and what its clauses do to it. Both together:
// ResultsDescription+Execution.

extension Query {
    func selection(_ snapshot: SnapshotReader) throws(RealmError) -> Selection {
        Selection(snapshot, filter, try snapshot.table(classKey), root: filter.root)
    }

    /// Those of `keys`, in their order, whose objects satisfy the conditions. Null links satisfy those
    /// alone that always hold.
    func filter(_ keys: [ObjectKey], _ snapshot: SnapshotReader) throws(RealmError) -> [ObjectKey] {
        if filter.nodes[filter.root].constantResult == true { return keys }
        let table = try snapshot.table(classKey)
        return try Selection(snapshot, filter, table, root: filter.root).narrow(keys)
    }
}

enum Ordering {
    /// Stands for a null link among keys; no object has it.
    static let nullLink = ObjectKey.max

    /// Objects among which are the first `count` of a sequence that begins with a SORT, found
    /// without listing all of them; nil when that is not cheaper. `selection` has the conditions.
    static func leading(
        _ count: Int, _ steps: [OrderingStep], _ selection: Selection?, _ table: TableReader
    ) throws(RealmError) -> LeadingKeys? {
        guard case .sort(let by)? = steps.first, let first = by.first,
            let needed = needed(count, before: steps.dropFirst()), needed < table.rowCount / 4
        else { return nil }
        let conditions = selection.flatMap { $0.passesAll ? nil : $0 }
        if let conditions {
            // The few objects that another index leaves are sorted at once.
            guard IndexOrder.isOrdered(by: first, table),
                try conditions.plan(limit: 64 + needed) == nil
            else { return nil }
            return try IndexOrder.leading(needed, by: by, conditions, table)
        }
        if let leading = try IndexOrder.leading(needed, by: by, nil, table) { return leading }
        return try LeadingRows.candidates(max(needed, 1), by: first, table).map {
            LeadingKeys(keys: $0, isOrdered: false)
        }
    }

    /// How many elements must go into the steps to have `count` behind them, when all of them are
    /// LIMITs and OFFSETs; else nil.
    static func needed(_ count: Int, before steps: ArraySlice<OrderingStep>) -> Int? {
        var needed = count
        for step in steps.reversed() {
            switch step {
            case .limit(let number): needed = min(needed, number)
            case .offset(let number):
                let (sum, overflows) = needed.addingReportingOverflow(number)
                needed = overflows ? .max : sum
            default: return nil
            }
        }
        return needed
    }

    /// From so many elements on, a count that these steps cut is known.
    static func counted(_ steps: [OrderingStep]) -> Int {
        let cuts = steps.filter { $0.isCut }
        return needed(.max, before: cuts[...]) ?? .max
    }

    /// All objects of the class in the order of the first step, where an index has it and more
    /// than a few of `count` elements are needed.
    static func whole(
        _ count: Int, _ steps: [OrderingStep], _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        guard case .sort(let by)? = steps.first,
            needed(count, before: steps.dropFirst()) ?? .max >= table.rowCount / 4
        else { return nil }
        return try IndexOrder.sorted(nil, by: by, table)
    }

    /// What the LIMITs and OFFSETs leave of `count` elements; nil with a DISTINCT, which depends on
    /// the elements.
    static func cut(_ count: Int, by steps: [OrderingStep]) -> Int? {
        var left = count
        for step in steps {
            switch step {
            case .sort: break
            case .limit(let number): left = min(left, number)
            case .offset(let number): left = max(0, left - number)
            case .distinct: return nil
            }
        }
        return left
    }

    /// Applies SORT, DISTINCT, LIMIT and OFFSET one after another. With `atLeast`, the last SORT may order
    /// only the first so many objects. Null links, if there may be any, have no values: SORT and
    /// DISTINCT keep them, behind the objects.
    static func apply(
        _ steps: ArraySlice<OrderingStep>, to keys: consuming [ObjectKey],
        _ snapshot: SnapshotReader,
        _ table: TableReader, atLeast: Int = .max, hasNullLinks: Bool = false
    ) throws(RealmError) -> [ObjectKey] {
        var keys = keys
        for index in steps.indices {
            var nullLinks = 0
            if hasNullLinks, !steps[index].isCut {
                let count = keys.count
                keys.removeAll { $0 == nullLink }
                nullLinks = count - keys.count
            }
            defer {
                if nullLinks > 0 {
                    keys.append(contentsOf: repeatElement(nullLink, count: nullLinks))
                }
            }
            switch steps[index] {
            case .limit(let count):
                if keys.count > count { keys.removeLast(keys.count - count) }
            case .offset(let count): keys.removeFirst(min(count, keys.count))
            case .distinct(let by): keys = try Distinct.first(keys, by: by, snapshot, table)
            case .sort(let by):
                // What the steps behind the SORT leave of a prefix is known when they only cut.
                let needed = needed(atLeast, before: steps[(index + 1)...])
                if let needed, needed < keys.count / 4 {
                    keys = try Sorter.prefix(max(needed, 1), of: keys, by: by, snapshot, table)
                } else if let sorted = try IndexOrder.sorted(keys, by: by, table) {
                    keys = sorted
                } else {
                    keys = try Sorter.sorted(keys, by: by, snapshot, table)
                }
            }
        }
        return keys
    }
}
