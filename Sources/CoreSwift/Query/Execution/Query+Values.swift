// Queries of the values of a collection (QUERY B11): the predicate calls each one SELF, SORT and
// DISTINCT order and tell apart by SELF, or by what lies in it.

extension Query {
    /// Positions of the values that the query selects, in its order. The values are elements of
    /// property `column` of class `classKey`, and stay where they are meanwhile.
    func positions(
        of values: [RawValue], column: Int, _ snapshot: SnapshotReader
    ) throws(RealmError) -> [Int] {
        let table = try snapshot.table(classKey)
        var member = ExpressionMember(
            table: table.table, leaf: LeafView(UnsafeRawPointer(table.table.pointee.rowPlace)))
        member.column = column
        let evaluator = try ExpressionEvaluator(snapshot, filter, slot: 0)
        var positions: [Int] = []
        for (position, value) in values.enumerated() {
            member.value = value
            evaluator.slots[0] = member
            if try evaluator.holds(root: filter.root) { positions.append(position) }
        }
        for step in ordering {
            switch step {
            case .limit(let count):
                if positions.count > count { positions.removeLast(positions.count - count) }
            case .offset(let count): positions.removeFirst(min(count, positions.count))
            case .sort(let by):
                let keys = try self.keys(by, values, positions, member, snapshot)
                let order = positions.indices.sorted { first, second in
                    for (index, key) in by.enumerated() {
                        let comparison = ValueKey.compare(keys[index][first], keys[index][second])
                        if comparison != 0 { return (comparison < 0) != key.descending }
                    }
                    // Ties keep their order.
                    return first < second
                }
                positions = order.map { positions[$0] }
            case .distinct(let by):
                let keys = try self.keys(by, values, positions, member, snapshot)
                var seen = Set<[ValueKey]>()
                positions = positions.indices.filter { index in
                    seen.insert(keys.map { $0[index] }).inserted
                }.map { positions[$0] }
            }
        }
        return positions
    }

    /// For each key its values at the positions.
    private func keys(
        _ by: [OrderingKey], _ values: [RawValue], _ positions: [Int],
        _ member: ExpressionMember, _ snapshot: SnapshotReader
    ) throws(RealmError) -> [[ValueKey]] {
        var result: [[ValueKey]] = []
        var member = member
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

    static func compare(_ a: ValueKey, _ b: ValueKey) -> Int {
        ValueOrder.compare(a.value, b.value)
    }
    static func == (a: ValueKey, b: ValueKey) -> Bool { ValueOrder.equal(a.value, b.value) }
    func hash(into hasher: inout Hasher) { ValueOrder.hash(value, into: &hasher) }
}
