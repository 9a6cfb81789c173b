// SUBQUERY and aggregates: over what a path leads to (QUERY_RULES A8–A14, K3–K8, B5, B6, B12).

extension ExpressionEvaluator {
    // MARK: Aggregates

    func aggregate(_ aggregate: ExpressionAggregate) throws(RealmError) -> RawValue {
        let path = program.paths + Int(aggregate.path)
        return try result(aggregate) { add throws(RealmError) in
            if aggregate.inner < 0 {
                let base = values.count
                let groupBase = groups.count
                defer {
                    values.cut(to: base)
                    groups.cut(to: groupBase)
                }
                let operand = try load(path)
                for place in operand.first..<operand.first + operand.count { add(values[place]) }
                return
            }
            let base = keys.count
            defer { keys.cut(to: base) }
            guard let table = try reach(path, slots[Int(path.pointee.slot)]) else { return }
            for place in base..<keys.count {
                if let value = try innerValue(aggregate, table, keys[place]) { add(value) }
            }
        }
    }

    private func result(
        _ aggregate: ExpressionAggregate,
        _ visit: ((RawValue) -> Void) throws(RealmError) -> Void
    ) throws(RealmError) -> RawValue {
        try Aggregate.ofValues(
            aggregate.kind, aggregate.valueKind, TableReader(table: slots[slot].table), visit)
    }

    /// The value that an object gives to an aggregate.
    private func innerValue(
        _ aggregate: ExpressionAggregate, _ table: Table, _ key: ObjectKey
    ) throws(RealmError) -> RawValue? {
        let inner = program.paths + Int(aggregate.inner)
        guard let object = try object(table, key),
            case .object(let end) = try end(of: inner, from: object)
        else { return nil }
        return try end.table.value(end.place, end.key, Int(inner.pointee.column))
    }

    // MARK: Subqueries

    func subquery(_ index: Int) throws(RealmError) -> RawValue {
        let subquery = program.subqueries + index
        guard subquery.pointee.keyCount > 0 else {
            return try answer(index, subquery.pointee)
        }
        return try keptAnswer(index, subquery.pointee)
    }

    /// The answer for the members at hand of the scopes that it depends on, counted once.
    @inline(never)
    private func keptAnswer(
        _ index: Int, _ subquery: ExpressionSubquery
    ) throws(RealmError) -> RawValue {
        let memo = shared.memo(index)
        guard memo.setKey(slots) else { return try answer(index, subquery) }
        if let known = memo.answer { return known }
        // SUBQUERYs within have keys of their own.
        let key = memo.key
        let made = try answer(index, subquery)
        memo.keep(made, for: key, shared)
        return made
    }

    private func answer(
        _ index: Int, _ subquery: ExpressionSubquery
    ) throws(RealmError) -> RawValue {
        guard subquery.aggregate >= 0 else {
            var count: Int64 = 0
            guard subquery.enough > 0 else { return .int(0) }
            try forEachMember(index, subquery) { _ throws(RealmError) in
                count += 1
                return count < subquery.enough
            }
            return .int(count)
        }
        let aggregate = program.aggregates[Int(subquery.aggregate)]
        return try result(aggregate) { add throws(RealmError) in
            try forEachMember(index, subquery) { member throws(RealmError) in
                if aggregate.inner < 0 {
                    add(member.value)
                } else if let value = try innerValue(aggregate, member.table, member.key) {
                    add(value)
                }
                return true
            }
        }
    }

    /// Calls `body` with the members for which the predicate holds, with repeats, until it returns
    /// false.
    private func forEachMember(
        _ index: Int, _ subquery: ExpressionSubquery,
        _ body: (ExpressionMember) throws(RealmError) -> Bool
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
            if subquery.weight > 0 { try shared.spend(end - base) }
            for place in base..<end where set.contains(keys[place]) {
                var member = outer
                member.table = table
                member.key = keys[place]
                if try !body(member) { return }
            }
            return
        }
        var place = base
        while place < end {
            let key = keys[place]
            place += 1
            guard let member = try object(table, key) else { continue }
            slots[slot] = member
            if try holds(root: Int(subquery.root)), try !body(member) { break }
        }
        if subquery.weight > 0 { try shared.spend((place - base) * Int(subquery.weight)) }
    }

    private func forEachValue(
        _ subquery: ExpressionSubquery, _ path: UnsafePointer<ExpressionPath>,
        _ outer: ExpressionMember, _ body: (ExpressionMember) throws(RealmError) -> Bool
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
            if subquery.weight > 0 { try shared.spend(Int(subquery.weight)) }
            if try holds(root: Int(subquery.root)), try !body(member) { return }
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
            sharing: FilterRun(program, shared)
        ).keys()
        let set = KeySet(passing)
        shared.subquerySets[index] = set
        return set
    }
}
