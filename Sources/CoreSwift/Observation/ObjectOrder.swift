// The order of single objects: what sorting does to whole lists, for two objects at a time. Results
// that are kept up to date find by it where an object was and where it belongs.

/// The SORTs of results over a class, the last of which decides first; equal objects stand by key.
struct ObjectOrder {
    private let keys: [OrderingKey]

    /// Nil where comparing two objects takes more than reading properties, over links to one object.
    init?(_ steps: [OrderingStep]) {
        var keys: [OrderingKey] = []
        for step in steps.reversed() {
            guard case .sort(let by) = step else { return nil }
            keys += by
        }
        guard
            keys.allSatisfy({ key in
                key.program == nil && key.hops.allSatisfy { $0.kind == .link }
            })
        else { return nil }
        self.keys = keys
    }

    /// Links that are crossed, as chains from the class on.
    var chains: [[ExpressionStep]] { keys.map(\.hops).filter { !$0.isEmpty } }

    /// What one object is compared by.
    struct Standing {
        let key: ObjectKey
        fileprivate var values: [Place] = []
    }

    fileprivate enum Place {
        case null
        case value(RawValue)
        /// The path crosses a null link.
        case broken

        var rank: Int {
            switch self {
            case .null: return 0
            case .value: return 1
            case .broken: return 2
            }
        }
    }

    /// Texts point into the version.
    func standing(
        _ key: ObjectKey, _ classKey: ClassKey, _ tables: TableSet
    ) throws(RealmError) -> Standing {
        var standing = Standing(key: key)
        for by in keys { standing.values.append(try place(key, by, classKey, tables)) }
        return standing
    }

    private func place(
        _ key: ObjectKey, _ by: OrderingKey, _ classKey: ClassKey, _ tables: TableSet
    ) throws(RealmError) -> Place {
        var key = key
        guard var table = tables.table(classKey), var row = try table.find(key) else {
            return .broken
        }
        for hop in by.hops {
            let link = try table.value(row, key, Int(hop.column))
            guard !link.isNull, let next = tables.table(hop.target),
                let found = try next.find(link.linkTarget)
            else { return .broken }
            key = link.linkTarget
            table = next
            row = found
        }
        let value = try table.value(row, key, by.column)
        return value.isNull ? .null : .value(value)
    }

    /// -1, 0 or 1 as an object stands before another one, is it, or stands behind it.
    func compare(
        _ a: Standing, _ other: ObjectKey, _ classKey: ClassKey, _ tables: TableSet
    ) throws(RealmError) -> Int {
        for (index, by) in keys.enumerated() {
            let order = Self.compare(a.values[index], try place(other, by, classKey, tables))
            if order != 0 { return by.descending ? -order : order }
        }
        return a.key == other ? 0 : a.key < other ? -1 : 1
    }

    private static func compare(_ a: Place, _ b: Place) -> Int {
        if case .value(let first) = a, case .value(let second) = b {
            return ValueOrder.compare(first, second)
        }
        return a.rank == b.rank ? 0 : a.rank < b.rank ? -1 : 1
    }

    func areInOrder(
        _ a: Standing, _ b: Standing
    ) -> Bool {
        for (index, by) in keys.enumerated() {
            let order = Self.compare(a.values[index], b.values[index])
            if order != 0 { return by.descending ? order > 0 : order < 0 }
        }
        return a.key < b.key
    }
}
