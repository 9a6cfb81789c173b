// Queries of the values of a collection (QUERY_RULES B11): the predicate calls each one SELF, SORT and
// DISTINCT order and tell apart by SELF, or by what lies in it. `ValueResults` calls it.

struct ValueSelection {
    private let values: [RawValue]
    private let snapshot: SnapshotReader
    /// What a value is of.
    private var member: ExpressionMember
    /// Of those that are chosen, in their order.
    private var positions: [Int]

    /// Positions of the values that the stages choose, in the order that they give them. The values
    /// stay where they are meanwhile.
    static func positions(
        of values: [RawValue], _ place: CollectionPlace, _ stages: [ResultsStage],
        _ snapshot: SnapshotReader
    ) throws(RealmError) -> [Int] {
        let table = try snapshot.table(place.classKey).table
        var selection = ValueSelection(
            values: values, snapshot: snapshot,
            member: ExpressionMember(
                table: table, leaf: LeafView(table.somewhere), column: place.column),
            positions: Array(values.indices))
        for stage in stages {
            if let conditions = stage.conditions { try selection.test(conditions.filter) }
            for step in stage.ordering { try selection.apply(step) }
        }
        return selection.positions
    }

    /// Keeps the positions whose values satisfy conditions.
    private mutating func test(_ filter: FilterProgram) throws(RealmError) {
        let evaluator = try ExpressionEvaluator(snapshot, filter, slot: 0)
        var found: [Int] = []
        for position in positions {
            member.value = values[position]
            evaluator.slots[0] = member
            evaluator.shared.earn(1)
            if try evaluator.holds(root: filter.root) { found.append(position) }
        }
        positions = found
    }

    private mutating func apply(_ step: OrderingStep) throws(RealmError) {
        switch step {
        case .limit(let count):
            if positions.count > count { positions.removeLast(positions.count - count) }
        case .offset(let count): positions.removeFirst(min(count, positions.count))
        case .sort(let by):
            let keys = try keys(by)
            let order = positions.indices.sorted { first, second in
                for (index, key) in by.enumerated() {
                    let comparison = ValueOrder.compare(
                        keys[index][first].value, keys[index][second].value)
                    if comparison != 0 { return (comparison < 0) != key.descending }
                }
                // Ties keep their order.
                return first < second
            }
            positions = order.map { positions[$0] }
        case .distinct(let by):
            let keys = try keys(by)
            var seen = Set<[ValueKey]>()
            let first = positions.indices.filter { index in
                seen.insert(keys.map { $0[index] }).inserted
            }
            positions = first.map { positions[$0] }
        }
    }

    /// For each key its values at the positions.
    private mutating func keys(_ by: [OrderingKey]) throws(RealmError) -> [[ValueKey]] {
        var result: [[ValueKey]] = []
        for key in by {
            guard let program = key.program else { continue }
            let evaluator = try ExpressionEvaluator(snapshot, program, slot: 0)
            var column: [ValueKey] = []
            column.reserveCapacity(positions.count)
            for position in positions {
                member.value = values[position]
                column.append(
                    ValueKey(value: try evaluator.orderingValue(program.paths, member) ?? .null))
            }
            result.append(column)
        }
        return result
    }
}

/// A value that is ordered and told apart as sorting and DISTINCT do.
private struct ValueKey: Hashable {
    let value: RawValue

    static func == (a: ValueKey, b: ValueKey) -> Bool { ValueOrder.equal(a.value, b.value) }
    func hash(into hasher: inout Hasher) { ValueOrder.hash(value, into: &hasher) }
}

extension Query {
    /// Whether a text speaks of SELF, as one over values does and one over objects hardly ever;
    /// also when the text is no query. What stands in strings does not count.
    package static func namesSelf(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = text.baseAddress, text.count <= QueryText.bytesMax else { return false }
        let text = QueryText(base: base, count: text.count)
        var lexer = Lexer(text, .core)
        do throws(RealmError) {
            while true {
                let token = try lexer.next()
                if token.kind == .end { return false }
                if token.kind == .identifier, text.string(token) == "SELF" { return true }
            }
        } catch {
            return false
        }
    }

    /// The same for a text in Swift.
    package static func namesSelf(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { namesSelf($0) }
    }
}
