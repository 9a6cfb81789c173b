// From conditions whose operands go together to tests of columns: one property, of the object at hand or behind
// links, against constants. Members of collections: Binder+Members; the tests themselves: Binder+Tests.

/// The column that a test asks.
struct ColumnTarget {
    var column: Int32
    var kind: ColumnKind
    /// Links crossed before: range of the expressions' steps.
    var links = 0..<0
    /// The values of a collection or behind links to many: tests are not wrapped, null has no
    /// rules of its own.
    var isMember = false
    var isDirect: Bool { links.isEmpty && !isMember }
}

extension Binder {
    /// The test of columns that says the condition; nil where none does.
    mutating func lowered(
        _ condition: BoundComparison, _ scope: Int32
    ) throws(RealmError) -> Int32? {
        let onColumns = runsOnColumns(scope)
        // The words of a search are looked up in the index also where nothing else runs on columns.
        guard onColumns || (condition.search != nil && scope == 0 && !isInCondition),
            !condition.isPositional, !condition.comparesTypes
        else { return nil }
        let op = condition.op
        if condition.right.isPlainConstant {
            return try lowered(condition, condition.left, op, condition.right, scope)
        }
        // The operand order is free (C1).
        guard condition.left.isPlainConstant, !op.isTextual, op != .inList else { return nil }
        return try lowered(condition, condition.right, op.mirrored, condition.left, scope)
    }

    /// With the constants on the right.
    private mutating func lowered(
        _ condition: BoundComparison, _ subject: BoundOperand, _ op: ComparisonOperator,
        _ constants: BoundOperand, _ scope: Int32
    ) throws(RealmError) -> Int32? {
        let looksUp = looksUpByValue(condition, subject, constants)
        if case .path(let place) = subject.form, paths[place].isPlain {
            return looksUp ? nil : try lowered(condition, target(paths[place]), op, constants)
        }
        guard runsOnColumns(scope) else { return nil }
        if let made = loweredCount(condition, scope) { return made }
        return looksUp ? nil : try loweredSome(condition, subject, op, constants)
    }

    /// The tests of a target.
    mutating func lowered(
        _ condition: BoundComparison, _ target: ColumnTarget, _ op: ComparisonOperator,
        _ constants: BoundOperand
    ) throws(RealmError) -> Int32 {
        if let search = condition.search {
            var node = FilterNode(.words(filter.searches.add(search)))
            // What is excluded makes the set then, and the objects outside of it pass.
            node.negated = search.required.isEmpty
            return wrap(target, at(target, node))
        }
        if constants.isList { return try loweredList(target, op, condition.options, constants) }
        return wrap(target, try test(target, op, condition.options, constants.constant))
    }

    @inline(__always) private func target(_ bound: BoundPath) -> ColumnTarget {
        ColumnTarget(
            column: bound.path.column, kind: bound.path.kind.columnKind,
            links: bound.path.steps)
    }

    /// A test of a target's column.
    func at(_ target: ColumnTarget, _ test: FilterNode) -> FilterNode {
        var node = test
        node.column = target.column
        node.columnKind = target.kind
        return node
    }

    /// Adds a test of a target; through links, wrapped in a path node.
    mutating func wrap(_ target: ColumnTarget, _ test: FilterNode) -> Int32 {
        guard !target.isDirect, !target.isMember, test.constantResult == nil else {
            return filter.add(test)
        }
        let inner = filter.add(test)
        return wrap(target, node: inner, matchesNull: test.matchesNull)
    }

    /// Wraps a node that tests the class at the end of the links. A null link on the way is as
    /// null at the end (U6).
    private mutating func wrap(_ target: ColumnTarget, node: Int32, matchesNull: Bool) -> Int32 {
        var path = FilterNode(.path(LinkedTest(links: FilterRange(target.links), test: node)))
        path.matchesNull = matchesNull
        path.column = filter.expressions.steps[target.links.lowerBound].column
        path.columnKind = .link
        return filter.add(path)
    }

    /// Both ends of BETWEEN, by constants.
    mutating func loweredBetween(
        _ sides: [BoundOperand], _ scope: Int32
    ) throws(RealmError) -> Int32? {
        guard case .path(let place) = sides[0].form, runsOnColumns(scope),
            case .constant = sides[1].form, case .constant = sides[2].form
        else { return nil }
        guard paths[place].isPlain else { return try loweredSomeBetween(sides) }
        let target = target(paths[place])
        let both = try between(target, sides)
        return target.isDirect ? both : wrap(target, node: both, matchesNull: false)
    }

    mutating func between(
        _ target: ColumnTarget, _ sides: [BoundOperand]
    ) throws(RealmError) -> Int32 {
        var low = try test(target, .greaterEqual, [], sides[1].constant)
        var high = try test(target, .lessEqual, [], sides[2].constant)
        // A null value is outside (C8), also where null orders below every string.
        low.matchesNull = false
        high.matchesNull = false
        return filter.add(FilterTest.and, [filter.add(low), filter.add(high)])
    }

    // MARK: Lists

    /// A long list that is looked up by expressions alone: sets of columns hold no folded texts beside values of
    /// other types, and no numbers that are rounded when they meet. Numbers are found by an index, one by one.
    private func looksUpByValue(
        _ condition: BoundComparison, _ subject: BoundOperand, _ list: BoundOperand
    ) -> Bool {
        guard list.isList, list.members.count >= ConstantSet.countMin else { return false }
        if subject.kind == .mixed, !condition.options.folding.isEmpty { return true }
        guard looksUp(condition) else { return false }
        switch subject.kind {
        case .mixed:
            if case .path(let place) = subject.form,
                property(paths[place])?.flags.contains(.indexed) == true
            {
                return false
            }
            return list.members.contains { $0.isInexact }
        case .double, .float: return list.members.contains { $0.kind == .decimal }
        default: return false
        }
    }

    private mutating func loweredList(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ list: BoundOperand
    ) throws(RealmError) -> Int32 {
        let isEquality = op == .equal || op == .inList
        // To be none of the members is to differ from all.
        let isNone =
            isEquality ? list.quantifier == .none : op == .notEqual && list.quantifier == .all
        if isNone || (isEquality && list.quantifier != .all),
            let set = try set(target, options, list.members)
        {
            let found = wrap(target, set)
            return isNone ? filter.negate(found) : found
        }
        var parts: [Int32] = []
        for member in list.members {
            if member.isForeign {
                parts.append(filter.add(.constant(false)))
            } else {
                let test = try test(target, isEquality ? .equal : op, options, member)
                parts.append(wrap(target, test))
            }
        }
        switch list.quantifier {
        case .unspecified, .any: return filter.add(FilterTest.or, parts)
        case .all: return filter.add(FilterTest.and, parts)
        case .none: return filter.negate(filter.add(FilterTest.or, parts))
        }
    }

    /// `== some member of` as one set test; nil when single tests must do it.
    private mutating func set(
        _ target: ColumnTarget, _ options: ComparisonOptions, _ members: [BoundConstant]
    ) throws(RealmError) -> FilterNode? {
        guard members.count > 1, options.folding.isEmpty || target.kind != .mixed
        else { return nil }
        var values: [(Int64, Int64)] = []
        var kind: FilterBuilder.SetKind?
        var matchesNull = false
        for member in members {
            let test = try test(target, .equal, options, member)
            if case .nothing = test.test {
                if test.constantResult == nil { matchesNull = true }
                continue
            }
            guard let found = filter.member(test) else { return nil }
            values.append(found.member)
            // They are all of one kind.
            kind = found.kind
        }
        var node = at(target, FilterNode(kind.map { filter.set(values, $0) } ?? .nothing))
        node.matchesNull = matchesNull
        return node
    }
}
