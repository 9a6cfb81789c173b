// How much of a change of the schema is done: rows that it goes through, of those that it is going to.

final class SchemaProgress {
    private let total: Int
    private var done = 0
    private var toldPart = 0
    private let tell: (Double) -> Bool

    /// Nothing is done yet.
    init(
        _ tables: TableSet, _ differences: [SchemaDifference], _ tell: @escaping (Double) -> Bool
    ) {
        self.tell = tell
        var total = 0
        for difference in differences {
            guard let item = tables.schema.class_(named: difference.className),
                let table = tables.table(item.key)
            else { continue }
            total += Self.passes(difference) * table.rowCount
        }
        self.total = total
    }

    /// How often a difference goes through the rows of its class.
    private static func passes(_ difference: SchemaDifference) -> Int {
        switch difference {
        case .propertyAdded(_, let property), .propertyBecameRequired(_, let property),
            .propertyTypeChanged(_, _, let property):
            let isFilled =
                property.computedDefault != nil
                || (property.hasDefault
                    && (property.collection != .none || property.type == .object))
            let isIndexed = property.hasOwnIndex || property.wordRules != nil
            return (isFilled ? 1 : 0) + (isIndexed ? 1 : 0)
        case .propertyRemoved(_, let property):
            switch property.type {
            case .string, .binary, .mixed, .object: return 1
            default: return property.collection == .none ? 0 : 1
            }
        case .primaryKeyChanged(_, let old, let new):
            return (old.isEmpty ? 0 : 1) + (new.isEmpty ? 0 : 1)
        case .indexAdded, .fullTextIndexAdded: return 1
        case .classAdded, .classRemoved, .classKindChanged, .propertyBecameNullable, .indexRemoved,
            .fullTextIndexRemoved:
            return 0
        }
    }

    func start() throws(RealmError) { try report(0) }
    func end() throws(RealmError) { try report(1) }

    /// So many more rows; told for each hundredth.
    func add(_ rows: Int) throws(RealmError) {
        done += rows
        guard total > 0 else { return }
        let part = min(99, done * 100 / total)
        guard part > toldPart else { return }
        toldPart = part
        try report(Double(part) / 100)
    }

    private func report(_ part: Double) throws(RealmError) {
        guard tell(part) else {
            throw RealmError(.callback, "the change of the schema was given up")
        }
    }
}
