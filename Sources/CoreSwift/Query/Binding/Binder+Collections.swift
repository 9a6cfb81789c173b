// Collections against constants, with ANY, ALL or NONE: tests of the members' column, and whether some
// member passes. ALL is that no member fails, NONE that none passes. Numbers of members against
// constants. What can't be said so goes the general way (Binder+Expressions).

extension Binder {
    /// What the members are tested with: a column of the objects reached, or the elements.
    private enum Members {
        case objects(Target)
        case elements(Target)
        /// The objects themselves; values of a dictionary may be null links.
        case links(Target, isOfDictionary: Bool)

        var target: Target {
            switch self {
            case .objects(let target), .elements(let target), .links(let target, _): return target
            }
        }

        var isOfDictionary: Bool {
            if case .links(_, let isOfDictionary) = self { return isOfDictionary }
            return false
        }

        /// They may be the values of a dictionary.
        var mayBeValues: Bool {
            if case .elements = self { return true }
            return isOfDictionary
        }
    }

    /// `path op constants` for a path to many; nil: not of this kind.
    mutating func bindSome(
        _ path: Int32, _ op: ComparisonOperator, _ options: ComparisonOptions, _ other: Int32
    ) throws(RealmError) -> Int32? {
        let node = syntax(path)
        guard let members = members(path) else { return nil }
        let isList = isList(other)
        if op == .inList, !isList { return nil }
        let quantifier = syntax(other).quantifier
        if isList, node.quantifier == .unspecified, quantifier == .unspecified { return nil }
        let target = members.target
        if isList, looksUpFolded(target, options, other) { return nil }
        if !isList, op != .text, members.mayBeValues,
            try comparesAsAny(target, op, try constant(other))
        {
            return nil
        }
        if target.kind == .link {
            // Errors, and what null means, are said by the general way.
            let constants = isList ? try listMembers(other) : [try constant(other)]
            let isEquality = op == .equal || op == .notEqual || op == .inList
            guard isEquality, constants.allSatisfy({ isObject($0, target.linkClass) }) else {
                return nil
            }
        }
        let inner: Int32
        if isList {
            inner = try bindList(target, op, options, other, right: quantifier)
        } else {
            let constant = try constant(other)
            inner = filter.add(
                try test(target, op, options, constant, inList: false) ?? .constant(false))
        }
        return some(members, inner, node)
    }

    mutating func bindSomeBetween(_ node: SyntaxNode) throws(RealmError) -> Int32? {
        guard let members = members(node.a), members.target.kind != .link else { return nil }
        for bound in try betweenBounds(node)
        where try comparesAsAny(members.target, .lessEqual, bound) {
            return nil
        }
        let inner = try between(members.target, node)
        return some(members, inner, syntax(node.a))
    }

    /// Whether the values of a dictionary are of a type that does not go with the constant: no error,
    /// the general way says what that means.
    private mutating func comparesAsAny(
        _ target: Target, _ op: ComparisonOperator, _ constant: BoundConstant
    ) throws(RealmError) -> Bool {
        guard takesDictionaryValues(path(target.syntax)) else {
            return false
        }
        if op.isTextual { return !target.kind.holdsText }
        if op.isOrdering, target.kind == .link { return true }
        return try test(target, op, ComparisonOptions(), constant, inList: true) == nil
    }

    /// An object of the class, given by whatever names one.
    private func isObject(_ constant: BoundConstant, _ classKey: ClassKey) -> Bool {
        switch constant.kind {
        case .link, .objectWithPrimaryKey: return constant.classKey == classKey
        case .objectKey: return true
        default: return false
        }
    }

    private func members(_ index: Int32) -> Members? {
        let node = syntax(index)
        guard node.kind == .path else { return nil }
        let bound = path(index)
        let path = bound.path
        guard bound.ending == .value, path.mixedCount == 0, path.measure == .none,
            path.slot == scopes[Int(scope(index))].slot, bound.classIndex >= 0
        else { return nil }
        let property = schema.classes[bound.classIndex].properties[bound.propertyIndex]
        let kind = path.value == .keys ? ColumnKind.string : path.kind.columnKind
        var target = Target(
            column: path.column, kind: kind, isKeyColumn: false, hopFirst: 0, hopCount: 0,
            name: "", syntax: index)
        target.isMember = true
        if path.kind == .link { target.linkClass = path.target }
        switch path.value {
        case .column where path.isToMany, .member where path.isToMany && path.kind == .link:
            let steps = Int(path.first)..<Int(path.first + path.count)
            for step in filter.expressions.steps[steps] {
                guard step.kind == .link || step.kind == .links || step.kind == .backlinks else {
                    return nil
                }
            }
            if path.value == .member {
                return .links(target, isOfDictionary: property.collection == .dictionary)
            }
            target.isKeyColumn = schema.classes[bound.classIndex].isObjectKey(property)
            return .objects(target)
        case .elements where path.count == 0, .keys where path.count == 0:
            return .elements(target)
        default: return nil
        }
    }

    /// Some, all or none of the members pass; nil when one node cannot say what is tested.
    private mutating func some(_ members: Members, _ asked: Int32, _ node: SyntaxNode) -> Int32? {
        var inner = asked
        if node.quantifier == .all { inner = filter.negate(inner) }
        inner = filter.finish(inner)
        let path = path(members.target.syntax).path
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
        switch members {
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
            if case .links = members { filter.nodes[Int(inner)].column = -1 }
            let steps = filter.expressions.steps[Int(path.first)..<Int(path.first + path.count)]
            let links = steps.lazy.map { step in
                FilterHop(
                    column: step.column, target: step.target,
                    kind: step.kind == .link ? .link : step.kind == .links ? .links : .backlinks)
            }
            test = .reach(filter.addLinks(links, to: inner))
        case .elements:
            if isChain { return nil }
            test = .elements(test: inner, areKeys: path.value == .keys)
            column = path.column
        }
        let isNone = node.quantifier == .all || node.quantifier == .none
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
    mutating func bindCount(_ test: ExpressionTest, _ scope: Int32) -> Int32? {
        guard runsOnColumns(scope), test.left.shape == .single,
            let (count, op, number) = comparedWithInteger(test),
            let (column, members) = countedMembers(count, scope)
        else { return nil }
        let range = intRange(op, number)
        guard case .intRange(let wanted) = range.test else { return filter.add(range) }
        var counted = members
        counted.wanted = wanted
        var node = range
        node.test = .memberCount(counted)
        node.column = column
        return filter.add(node)
    }

    /// The members of a SUBQUERY are counted until a comparison with a number is decided.
    mutating func noteEnough(_ test: ExpressionTest) {
        guard let (count, op, number) = comparedWithInteger(test), count.kind == .subquery,
            filter.expressions.subqueries[Int(count.a)].aggregate < 0, number < .max
        else { return }
        // So many compare as any more do.
        let isDecided = op == .less || op == .greaterEqual
        filter.expressions.subqueries[Int(count.a)].enough = isDecided ? number : number + 1
    }

    /// What the test compares with an integer, as if that stood on the right; nil where neither side
    /// is one, or the other one is more than a single instruction.
    private func comparedWithInteger(
        _ test: ExpressionTest
    ) -> (ExpressionCode, ComparisonOperator, Int64)? {
        guard test.kind == .compare, !test.comparesTypes,
            test.op == .equal || test.op == .notEqual || test.op.isOrdering,
            test.left.count == 1, test.right.count == 1, test.right.shape == .single
        else { return nil }
        var operand = filter.expressions.code[Int(test.left.first)]
        var number = filter.expressions.code[Int(test.right.first)]
        var op = test.op
        if operand.kind == .constant {
            swap(&operand, &number)
            op = op.mirrored
        }
        guard number.kind == .constant else { return nil }
        let constant = filter.expressions.constants[Int(number.a)]
        guard constant.kind == .int, constant.huge == nil else { return nil }
        return (operand, op, constant.int)
    }

    /// What an instruction counts: a column, here or of the class that links, and which members.
    private func countedMembers(
        _ code: ExpressionCode, _ scope: Int32
    ) -> (column: Int32, MemberCount)? {
        var count = MemberCount()
        var place = code.a
        if code.kind == .subquery {
            let subquery = filter.expressions.subqueries[Int(code.a)]
            guard subquery.isUncorrelated, subquery.aggregate < 0, subquery.target != .invalid
            else { return nil }
            count.subquery = code.a
            place = subquery.path
        } else if code.kind != .path {
            return nil
        }
        let path = filter.expressions.paths[Int(place)]
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
