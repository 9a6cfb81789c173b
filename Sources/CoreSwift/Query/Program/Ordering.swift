// SORT, DISTINCT, LIMIT and OFFSET as data: what a query's suffixes and the calls on results become. They
// apply one after another to a sequence of object keys (D1).

/// A property that objects are ordered or told apart by, over to-one links if need be.
struct OrderingKey {
    /// Links crossed before the property.
    var hops: [ExpressionStep]
    var column: Int
    var kind: ColumnKind
    var isNullable: Bool
    var descending: Bool
    /// Internal names joined by points, for canonical text.
    var path: String
    /// Keys that are no plain property: the path, as the only one of its program (D5).
    var program: FilterProgram?

    /// Reads a column of the objects themselves.
    var isDirect: Bool { hops.isEmpty && program == nil }
}

enum OrderingStep {
    case sort([OrderingKey])
    case distinct([OrderingKey])
    case limit(Int)
    /// Leaves out the first so many.
    case offset(Int)

    /// LIMIT or OFFSET, which look at no element.
    var isCut: Bool {
        switch self {
        case .limit, .offset: return true
        case .sort, .distinct: return false
        }
    }

    /// SORT, which keeps all elements.
    var isSort: Bool {
        if case .sort = self { return true }
        return false
    }

    /// As canonical text has it.
    var spelling: String {
        switch self {
        case .sort(let keys):
            return "SORT("
                + keys.map { "\($0.path) \($0.descending ? "DESC" : "ASC")" }
                .joined(separator: ", ") + ")"
        case .distinct(let keys):
            return "DISTINCT(" + keys.map { $0.path }.joined(separator: ", ") + ")"
        case .limit(let count): return "LIMIT(\(count))"
        case .offset(let count): return "OFFSET(\(count))"
        }
    }
}
