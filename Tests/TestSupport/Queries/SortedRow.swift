// What sorting by several properties gives, from plain values.

@testable import CoreSwift

struct SortedRow {
    var key: ObjectKey
    var values: [String: Value]

    /// -1, 0 or 1; what is missing is null.
    private static func order(_ a: Value?, _ b: Value?) -> Int {
        switch (a ?? .null, b ?? .null) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.int(let x), .int(let y)): return x < y ? -1 : x > y ? 1 : 0
        case (.bool(let x), .bool(let y)): return x == y ? 0 : y ? -1 : 1
        case (.double(let x), .double(let y)): return x < y ? -1 : x > y ? 1 : 0
        case (.timestamp(let x), .timestamp(let y)):
            return x.seconds < y.seconds ? -1 : x.seconds > y.seconds ? 1 : 0
        case (.string(let x), .string(let y)):
            return x.order(y).signum()
        default: return 0
        }
    }

    static func sorted(_ rows: [SortedRow], _ keys: [(String, Bool)]) -> [SortedRow] {
        rows.enumerated().sorted { a, b in
            for (name, descends) in keys {
                let order = order(a.element.values[name], b.element.values[name])
                if order != 0 { return (order < 0) != descends }
            }
            return a.offset < b.offset
        }.map(\.element)
    }
}
