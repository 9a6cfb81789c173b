// SUBQUERY and aggregates: over what a path leads to (QUERY A8–A14, K3–K8, B5, B6, B12).

extension ExpressionEvaluator {
    // MARK: Aggregates

    func aggregate(_ aggregate: ExpressionAggregate) throws(RealmError) -> RawValue {
        let path = program.paths + Int(aggregate.path)
        let member = slots[Int(path.pointee.slot)]
        if aggregate.inner < 0 {
            let base = values.count
            let groupBase = groups.count
            defer {
                values.cut(to: base)
                groups.cut(to: groupBase)
            }
            let operand = try load(path)
            return try Aggregate.ofValues(
                aggregate.kind, aggregate.valueKind, TableReader(table: slots[slot].table)
            ) {
                add throws(RealmError) in
                for place in operand.first..<operand.first + operand.count { add(values[place]) }
            }
        }
        let base = keys.count
        defer { keys.cut(to: base) }
        let table = try reach(path, member)
        let end = keys.count
        return try Aggregate.ofValues(
            aggregate.kind, aggregate.valueKind, TableReader(table: slots[slot].table)
        ) {
            add throws(RealmError) in
            guard let table else { return }
            for place in base..<end {
                if let value = try innerValue(aggregate, table, keys[place]) { add(value) }
            }
        }
    }

    /// The value that an object gives to an aggregate.
    private func innerValue(
        _ aggregate: ExpressionAggregate, _ table: Table, _ key: Int64
    ) throws(RealmError) -> RawValue? {
        let inner = program.paths + Int(aggregate.inner)
        guard var object = try object(table, key) else { return nil }
        for index in Int(inner.pointee.first)..<Int(inner.pointee.first + inner.pointee.count) {
            let link = try object.table.value(
                object.place, object.key, Int(program.steps[index].column))
            guard !link.isNull, let next = stepTables[index],
                let target = try self.object(next, link.linkTarget.rawValue)
            else { return nil }
            object = target
        }
        return try object.table.value(object.place, object.key, Int(inner.pointee.column))
    }

    // MARK: Subqueries

    func subquery(_ index: Int) throws(RealmError) -> RawValue {
        let subquery = program.subqueries[index]
        guard subquery.aggregate >= 0 else {
            var count: Int64 = 0
            try forEachMember(index, subquery) { _ throws(RealmError) in count += 1 }
            return .int(count)
        }
        let aggregate = program.aggregates[Int(subquery.aggregate)]
        return try Aggregate.ofValues(
            aggregate.kind, aggregate.valueKind, TableReader(table: slots[slot].table)
        ) {
            add throws(RealmError) in
            try forEachMember(index, subquery) { member throws(RealmError) in
                if aggregate.inner < 0 {
                    add(member.value)
                } else if let value = try innerValue(aggregate, member.table, member.key) {
                    add(value)
                }
            }
        }
    }

    /// Calls `body` with the members for which the predicate holds, with repeats.
    private func forEachMember(
        _ index: Int, _ subquery: ExpressionSubquery,
        _ body: (ExpressionMember) throws(RealmError) -> Void
    ) throws(RealmError) {
        let path = program.paths + Int(subquery.path)
        let outer = slots[Int(path.pointee.slot)]
        let slot = Int(subquery.slot)
        guard subquery.target != .invalid else {
            return try forEachValue(subquery, path, outer, body)
        }
        let base = keys.count
        defer { keys.cut(to: base) }
        guard let table = try reach(path, outer) else { return }
        let end = keys.count
        if end == base { return }
        if subquery.isUncorrelated {
            let set = try subquerySet(index, subquery)
            for place in base..<end where set.contains(keys[place]) {
                var member = outer
                member.table = table
                member.key = keys[place]
                try body(member)
            }
            return
        }
        for place in base..<end {
            guard let member = try object(table, keys[place]) else { continue }
            slots[slot] = member
            if try holds(root: Int(subquery.root)) { try body(member) }
        }
    }

    private func forEachValue(
        _ subquery: ExpressionSubquery, _ path: UnsafePointer<ExpressionPath>,
        _ outer: ExpressionMember, _ body: (ExpressionMember) throws(RealmError) -> Void
    ) throws(RealmError) {
        let base = values.count
        let groupBase = groups.count
        defer {
            values.cut(to: base)
            groups.cut(to: groupBase)
        }
        let operand = try load(path)
        for place in operand.first..<operand.first + operand.count {
            var member = outer
            member.value = values[place]
            member.column = Int(path.pointee.column)
            slots[Int(subquery.slot)] = member
            if try holds(root: Int(subquery.root)) { try body(member) }
        }
    }

    /// The members of the whole class for which an uncorrelated predicate holds.
    private func subquerySet(
        _ index: Int, _ subquery: ExpressionSubquery
    ) throws(RealmError) -> KeySet {
        if let set = shared.subquerySets[index] { return set }
        let table = try snapshot.table(subquery.target)
        let passing = try Selection(
            snapshot, program, table, root: Int(subquery.root), slot: Int(subquery.slot),
            sharing: shared
        ).keys()
        let set = KeySet(passing)
        shared.subquerySets[index] = set
        return set
    }
}
