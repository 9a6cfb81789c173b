// Minimum and maximum of a leaf's column, asked before anything else of the leaf is looked at: where values
// come in some order, as dates of creation and counters do, most leaves of a scan end here.

/// Ranges that a row has to have its values in to pass.
struct LeafBounds {
    private enum Bounds {
        case integers(IntRange)
        case doubles(DoubleRange)
        /// Seconds; what nanoseconds say besides is for those who look at the rows.
        case seconds(Int64, Int64)
    }

    private struct Condition {
        let column: Int
        let bounds: Bounds
    }

    /// Most scans have one.
    private var first: Condition?
    private var others: [Condition] = []

    /// Those of a scan's test, or of the parts of its conjunction.
    init(_ scan: Selection) {
        let program = scan.program
        if let parts = scan.conjuncts {
            for part in parts { add(program.nodes[Int(part)], scan.table) }
        } else if case .and(let parts) = program.nodes[scan.root].test {
            for part in program.parts(parts) { add(program.nodes[Int(part)], scan.table) }
        } else {
            add(program.nodes[scan.root], scan.table)
        }
    }

    private mutating func add(_ node: FilterNode, _ table: TableReader) {
        guard !node.negated, !node.matchesNull, node.columnKind != .bool else { return }
        let bounds: Bounds
        switch node.test {
        case .intRange(let range): bounds = .integers(range)
        case .doubleRange(let range), .floatRange(let range): bounds = .doubles(range)
        case .timestampRange(let range): bounds = .seconds(range.low.seconds, range.high.seconds)
        default: return
        }
        // Keys that are values are in no column.
        guard node.column >= 0, !table.isObjectKey(Int(node.column)) else { return }
        let condition = Condition(column: Int(node.column), bounds: bounds)
        if first == nil { first = condition } else { others.append(condition) }
    }

    /// Whether no row of the leaf passes.
    @inline(__always) func ruleOut(_ leaf: LeafView) -> Bool {
        guard let first else { return false }
        if Self.ruleOut(first, leaf) { return true }
        return !others.isEmpty && others.contains { Self.ruleOut($0, leaf) }
    }

    @inline(__always) private static func ruleOut(_ condition: Condition, _ leaf: LeafView) -> Bool
    {
        guard let column = leaf.column(condition.column), column.encoding != .absent,
            column.flags.contains(.hasBounds)
        else { return false }
        switch condition.bounds {
        case .integers(let range):
            return range.high < column.minimumInt || range.low > column.maximumInt
        case .doubles(let range):
            return range.high < column.minimumDouble || range.low > column.maximumDouble
        case .seconds(let low, let high):
            return high < column.minimumInt || low > column.maximumInt
        }
    }
}
