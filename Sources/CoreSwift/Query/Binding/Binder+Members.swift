// Lowering of collections against constants, with ANY, ALL or NONE: tests of the members' column, and whether
// some member passes. ALL is that no member fails, NONE that none passes. Numbers of members against
// constants. What can't be said so goes the general way (Binder+Emission).

extension Binder {
    /// What the members are tested with.
    private struct Members {
        /// A column of the objects reached, the elements, or the objects themselves.
        enum Form { case objects, elements, links }
        var form: Form
        var target: ColumnTarget
        /// The values of a dictionary may be null links.
        var isOfDictionary = false
    }

    /// `path op constants` for a path to many; nil: not of this kind.
    mutating func loweredSome(
        _ condition: BoundComparison, _ subject: BoundOperand, _ op: ComparisonOperator,
        _ constants: BoundOperand
    ) throws(RealmError) -> Int32? {
        guard let members = members(subject) else { return nil }
        if members.target.kind == .link {
            // What null means is said by the general way.
            guard op == .equal || op == .notEqual || op == .inList,
                constants.constants.allSatisfy({ isObject($0, subject.linkClass) })
            else { return nil }
        }
        let inner = try lowered(condition, members.target, op, constants)
        return some(members, inner, subject)
    }

    mutating func loweredSomeBetween(_ sides: [BoundOperand]) throws(RealmError) -> Int32? {
        guard let members = members(sides[0]), members.target.kind != .link else { return nil }
        return some(members, try between(members.target, sides), sides[0])
    }

    /// An object of the class, given by whatever names one.
    private func isObject(_ constant: BoundConstant, _ classKey: ClassKey) -> Bool {
        constant.kind == .link
            && (constant.objectKey != nil || constant.classKey == classKey)
    }

    private func members(_ subject: BoundOperand) -> Members? {
        guard case .path(let place) = subject.form else { return nil }
        let bound = paths[place]
        let path = bound.path
        guard bound.ending == .value, path.mixedCount == 0, path.measure == .none,
            path.slot == scopes[Int(scope(subject.node))].slot, let property = property(bound),
            // Values of a dictionary are not compared as of another type.
            path.kind == subject.kind
        else { return nil }
        let kind = path.value == .keys ? ColumnKind.string : path.kind.columnKind
        let target = ColumnTarget(column: path.column, kind: kind, isMember: true)
        switch path.value {
        case .column where path.isToMany, .member where path.isToMany && path.kind == .link:
            for step in filter.expressions.steps[path.steps] {
                guard step.kind == .link || step.kind == .links || step.kind == .backlinks else {
                    return nil
                }
            }
            return Members(
                form: path.value == .member ? .links : .objects, target: target,
                isOfDictionary: path.value == .member && property.collection == .dictionary)
        case .elements where path.count == 0, .keys where path.count == 0:
            return Members(form: .elements, target: target)
        default: return nil
        }
    }

    /// Some, all or none of the members pass; nil when one node cannot say what is tested.
    private mutating func some(
        _ members: Members, _ asked: Int32, _ subject: BoundOperand
    ) -> Int32? {
        guard case .path(let place) = subject.form else { return nil }
        var inner = asked
        if subject.quantifier == .all { inner = filter.negate(inner) }
        inner = filter.finish(inner)
        let path = paths[place].path
        let isChain = filter.nodes[Int(inner)].isChain
        if members.target.kind == .link {
            // A null link leads to no object that could pass (U7); a test that always holds would
            // have it pass.
            if isChain { return nil }
            if filter.nodes[Int(inner)].constantResult == true { return nil }
            // The links of a dictionary are its values: null is another one than an object.
            if !members.isOfDictionary { filter.nodes[Int(inner)].matchesNull = false }
        }
        let test: FilterTest
        var column: Int32 = -1
        switch members.form {
        case .links where !namesObjects(filter.nodes[Int(inner)]):
            // Link by link, where they stand in the rows.
            let step = filter.expressions.steps[Int(path.first)]
            guard path.count == 1, step.kind == .links,
                filter.nodes[Int(inner)].constantResult == nil
            else { return nil }
            filter.nodes[Int(inner)].column = step.column
            test = .elements(test: inner, areKeys: false)
            column = step.column
        case .objects, .links:
            if members.form == .links { filter.nodes[Int(inner)].column = -1 }
            test = .reach(LinkedTest(links: FilterRange(path.steps), test: inner))
        case .elements:
            if isChain { return nil }
            test = .elements(test: inner, areKeys: path.value == .keys)
            column = path.column
        }
        let isNone = subject.quantifier == .all || subject.quantifier == .none
        var result = isNone ? FilterNode(not: test) : FilterNode(test)
        result.column = column
        return filter.add(result)
    }

    /// A test that says which objects pass, not which do not.
    private func namesObjects(_ node: FilterNode) -> Bool {
        switch node.test {
        case .intRange(let range): return !node.negated && range.isSingle
        case .intSet, .object: return !node.negated
        default: return false
        }
    }

    // MARK: Numbers of members

    /// The test of two operands, of which one is the number of members of a collection, of objects
    /// that link here or of a SUBQUERY that needs nothing of the row, and the other a number. Nil:
    /// not of this kind.
    mutating func loweredCount(_ condition: BoundComparison, _ scope: Int32) -> Int32? {
        guard let (count, op, number) = comparedWithInteger(condition),
            let (column, counted) = countedMembers(count, scope)
        else { return nil }
        var node = intRange(op, number)
        guard case .intRange(let wanted) = node.test else { return filter.add(node) }
        var members = counted
        members.wanted = wanted
        node.test = .memberCount(members)
        node.column = column
        return filter.add(node)
    }

    /// The members of a SUBQUERY are counted until a comparison with a number is decided.
    mutating func noteEnough(_ condition: BoundComparison) {
        guard let (form, op, number) = comparedWithInteger(condition),
            case .subquery(let place) = form,
            filter.expressions.subqueries[Int(place)].aggregate < 0, number < .max
        else { return }
        // So many compare as any more do.
        let isDecided = op == .less || op == .greaterEqual
        filter.expressions.subqueries[Int(place)].enough = isDecided ? number : number + 1
    }

    /// What the condition compares with an integer, as if that stood on the right; nil where neither side
    /// is one, or the other one is computed.
    private func comparedWithInteger(
        _ condition: BoundComparison
    ) -> (BoundOperand.Form, ComparisonOperator, Int64)? {
        let op = condition.op
        guard op == .equal || op == .notEqual || op.isOrdering, !condition.comparesTypes,
            condition.left.shape == .single, condition.right.shape == .single
        else { return nil }
        let isMirrored = condition.left.isConstant
        let number = isMirrored ? condition.left : condition.right
        guard case .constant = number.form, number.constant.kind == .int,
            number.constant.huge == nil
        else { return nil }
        let form = isMirrored ? condition.right.form : condition.left.form
        return (form, isMirrored ? op.mirrored : op, number.constant.raw.intValue)
    }

    /// What an operand counts: a column, here or of the class that links, and which members.
    private func countedMembers(
        _ form: BoundOperand.Form, _ scope: Int32
    ) -> (column: Int32, MemberCount)? {
        var count = MemberCount()
        let path: ExpressionPath
        switch form {
        case .path(let place): path = paths[place].path
        case .subquery(let place):
            let subquery = filter.expressions.subqueries[Int(place)]
            guard subquery.isUncorrelated, subquery.aggregate < 0, subquery.target != .invalid
            else { return nil }
            count.subquery = place
            path = filter.expressions.paths[Int(subquery.path)]
        default: return nil
        }
        guard path.slot == scopes[Int(scope)].slot, path.measure == .none, path.mixedCount == 0
        else { return nil }
        if count.subquery < 0 {
            guard path.count == 0 else { return nil }
            switch path.value {
            case .countElements, .countLinks: return (path.column, count)
            case .countBacklinks: count.origin = path.target
            default: return nil
            }
            return linksToOneClass(path.target, path.column) ? (path.column, count) : nil
        }
        guard path.count == 1, path.value == .member else { return nil }
        let step = filter.expressions.steps[Int(path.first)]
        switch step.kind {
        case .links: return (step.column, count)
        case .backlinks: count.origin = step.target
        default: return nil
        }
        return linksToOneClass(step.target, step.column) ? (step.column, count) : nil
    }

    private func linksToOneClass(_ origin: ClassKey, _ column: Int32) -> Bool {
        let owner = schema.classes.first { $0.key == origin }
        let property = owner?.properties.first { $0.key.column == Int(column) }
        return property?.type == .object
    }
}
