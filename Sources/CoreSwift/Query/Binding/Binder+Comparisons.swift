// Comparisons: which side is which, whether the types go together, what lists and quantifiers
// mean (QUERY_RULES T to Q).

extension Binder {
    /// What stands on one side of an operator.
    private enum Side {
        case constant, list
        /// A plain path: what a column test can take.
        case path(Int)
        case general

        var isGeneral: Bool {
            if case .general = self { return true }
            return false
        }
        /// Constants only.
        var isConstant: Bool {
            switch self {
            case .constant, .list: return true
            case .path, .general: return false
            }
        }
    }

    private func side(_ index: Int32) -> Side {
        let node = syntax(index)
        switch node.kind {
        case .path:
            return path(index).isPlain ? .path(place(index)) : .general
        case .aggregate, .subquery, .function, .add, .subtract, .multiply, .divide, .negate:
            return .general
        case .list: return .list
        default: return isList(index) ? .list : .constant
        }
    }

    mutating func bindComparison(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        var left = node.a
        var right = node.b
        var op = ComparisonOperator(rawValue: node.op) ?? .equal
        let options = ComparisonOptions(rawValue: node.options)
        guard runsOnColumns(scope) || (op == .text && scope == 0 && !isInCondition) else {
            return try bindGeneral(node, scope)
        }
        var leftSide = side(left)
        var rightSide = side(right)
        if case .path = leftSide {
        } else if case .path = rightSide, !op.isTextual, op != .text, op != .inList {
            // The operand order is free (C1).
            swap(&left, &right)
            swap(&leftSide, &rightSide)
            op = op.mirrored
        }
        if op == .text { try checkText(leftSide, rightSide, right) }
        switch (leftSide, rightSide) {
        case (.path(let path), .list):
            if looksUpFolded(try target(path, left), options, right) { break }
            return try bindList(
                target(path, left), op, options, right, right: syntax(right).quantifier)
        case (.path(let path), .constant) where op != .inList:
            let constant = try constant(right)
            let target = try target(path, left)
            let test = try test(target, op, options, constant, inList: false)
            return wrap(target, test ?? .constant(false))
        default: break
        }
        if leftSide.isGeneral, rightSide.isConstant, runsOnColumns(scope) {
            if let bound = try bindSome(left, op, options, right) { return bound }
        } else if rightSide.isGeneral, leftSide.isConstant, !op.isTextual, op != .text,
            op != .inList
        {
            if let bound = try bindSome(right, op.mirrored, options, left) { return bound }
        }
        return try bindGeneral(node, scope)
    }

    /// TEXT has a property on its left and words on its right.
    private func checkText(_ left: Side, _ right: Side, _ index: Int32) throws(RealmError) {
        switch (left, right) {
        case (_, .list):
            let problem =
                "TEXT needs a string on its right, '\(spelling(index))' is a list"
            throw syntax(index).kind == .argument
                ? invalidArgument(problem) : invalidQuery(problem)
        case (_, .path), (_, .general):
            throw invalidQuery(
                "TEXT needs words on its right, '\(spelling(index))' is a property"
            )
        default: return
        }
    }

    // MARK: Targets

    /// The column that a comparison tests.
    struct Target {
        var column: Int32
        var kind: ColumnKind
        var isKeyColumn: Bool
        /// The class a link column points to.
        var linkClass = ClassKey.invalid
        /// Links crossed before: range of the binder's `hops`.
        var hopFirst: Int32
        var hopCount: Int32
        /// "Class.property", for messages.
        var name: String
        /// The nanoseconds, size … of the column are not meant but its value.
        var syntax: Int32
        /// The values of a collection or behind links to many: tests are not wrapped, null has no
        /// rules of its own.
        var isMember = false
        var isDirect: Bool { hopCount == 0 && !isMember }
    }

    private func target(_ path: Int, _ node: Int32) throws(RealmError) -> Target {
        let bound = paths[path]
        let owner = shownName(bound.classIndex)
        let property = schema.classes[bound.classIndex].properties[bound.propertyIndex]
        let kind: ColumnKind
        do {
            kind = try ColumnKind(property.type)
        } catch {
            throw notSupported("property '\(owner).\(property.name)' of type \(property.type)")
        }
        var target = Target(
            column: Int32(property.key.column), kind: kind,
            isKeyColumn: schema.classes[bound.classIndex].isObjectKey(property),
            hopFirst: bound.hopFirst, hopCount: bound.hopCount, name: "", syntax: node)
        if kind == .link,
            let link = schema.classes.first(where: { $0.name == property.linkTarget })
        {
            target.linkClass = link.key
        }
        return target
    }

    /// The name of a target for messages; made only when one is needed.
    func name(_ target: Target) -> String { propertyName(target.syntax) }

    func propertyName(_ index: Int32) -> String {
        let bound = path(index)
        let owner = schema.classes[bound.classIndex]
        return "\(owner.shownName).\(owner.properties[bound.propertyIndex].name)"
    }

    /// Adds a test of a target; through links, wrapped in a path node.
    mutating func wrap(_ target: Target, _ test: FilterNode) -> Int32 {
        guard !target.isDirect, !target.isMember, test.constantResult == nil else {
            return filter.add(test)
        }
        let inner = filter.add(test)
        return wrap(target, node: inner, matchesNull: test.matchesNull)
    }

    /// Wraps a node that tests the class at the end of the links. A null link on the way is as
    /// null at the end (U6).
    private mutating func wrap(_ target: Target, node: Int32, matchesNull: Bool) -> Int32 {
        let links = hops[Int(target.hopFirst)..<Int(target.hopFirst + target.hopCount)]
        var path = FilterNode(.path(filter.addLinks(links, to: node)))
        path.matchesNull = matchesNull
        path.column = links[links.startIndex].column
        path.columnKind = .link
        return filter.add(path)
    }

    // MARK: Lists

    /// Mixed values that are looked for in a long list of folded texts: sets of columns hold no
    /// such texts beside values of other types, those of expressions do.
    func looksUpFolded(
        _ target: Target, _ options: ComparisonOptions, _ list: Int32
    ) -> Bool {
        guard target.kind == .mixed, !options.folding.isEmpty else { return false }
        let node = syntax(list)
        if node.kind == .argument, case .list(let values) = arguments[Int(node.payload)] {
            return values.count >= ConstantSet.countMin
        }
        return Int(node.b) >= ConstantSet.countMin
    }

    mutating func bindList(
        _ target: Target, _ op: ComparisonOperator, _ options: ComparisonOptions, _ list: Int32,
        right quantifier: Quantifier
    ) throws(RealmError) -> Int32 {
        try checkOperator(target, op == .inList ? .equal : op)
        let members = try listMembers(list)
        let isEquality = op == .equal || op == .inList
        // To be none of the members is to differ from all.
        let isNone = isEquality ? quantifier == .none : op == .notEqual && quantifier == .all
        if isNone || (isEquality && quantifier != .all),
            let set = try bindSet(target, options, members)
        {
            let found = wrap(target, set)
            return isNone ? filter.negate(found) : found
        }
        var parts: [Int32] = []
        for member in members {
            // Members that cannot equal the property's values never match (C4).
            let test = try test(
                target, isEquality ? .equal : op, options, member, inList: true)
            if let test {
                parts.append(wrap(target, test))
            } else if quantifier == .all, op != .notEqual {
                parts.append(filter.add(.constant(false)))
            }
        }
        switch quantifier {
        case .unspecified, .any: return filter.add(FilterTest.or, parts)
        case .all: return filter.add(FilterTest.and, parts)
        case .none:
            let some = filter.add(FilterTest.or, parts)
            return filter.negate(some)
        }
    }

    /// `== some member of` as one set test; nil when single tests must do it.
    private mutating func bindSet(
        _ target: Target, _ options: ComparisonOptions, _ members: [BoundConstant]
    ) throws(RealmError) -> FilterNode? {
        guard members.count > 1, options.folding.isEmpty || target.kind != .mixed
        else { return nil }
        var values: [(Int64, Int64)] = []
        var matchesNull = false
        // What the members are; they are all of one kind.
        var model = FilterTest.nothing
        for member in members {
            guard let test = try test(target, .equal, options, member, inList: true) else {
                continue
            }
            switch test.test {
            case .nothing:
                if test.constantResult == nil { matchesNull = true }
                continue
            case .intRange(let range):
                guard range.isSingle else { return nil }
                values.append((range.low, 0))
            case .doubleRange(let range), .floatRange(let range):
                // Both zeros are one value; sets hold bits.
                let value = range.low == 0 ? 0 : range.low
                values.append((Int64(bitPattern: value.bitPattern), 0))
            case .timestampRange(let range):
                values.append((range.low.seconds, Int64(range.low.nanoseconds)))
            case .value(.equal, let cell):
                guard
                    FilterBuilder.fuses(target.kind)
                        || (target.kind == .mixed && !member.isInexact)
                else { return nil }
                values.append(cell.member)
            case .text(let text): values.append(text.needle.member)
            default: return nil
            }
            model = test.test
        }
        var node = FilterNode(set(values, like: model, options))
        node.matchesNull = matchesNull
        node.column = target.column
        node.columnKind = target.kind
        node.isKeyColumn = target.isKeyColumn
        return node
    }

    /// The members of single tests as one set.
    private mutating func set(
        _ values: [(Int64, Int64)], like model: FilterTest, _ options: ComparisonOptions
    ) -> FilterTest {
        switch model {
        case .text: return .textSet(filter.addSet(filter.sortedTexts(values)), options.folding)
        case .value: return .valueSet(filter.addSet(filter.sortedValues(values)))
        case .nothing: return .nothing
        default: break
        }
        let set = filter.addSet(FilterBuilder.sortedInts(values))
        switch model {
        case .doubleRange: return .doubleSet(set)
        case .floatRange: return .floatSet(set)
        case .timestampRange: return .timestampSet(set)
        default: return .intSet(set)
        }
    }

    // MARK: BETWEEN and Boolean paths

    mutating func bindBetween(_ node: SyntaxNode, _ scope: Int32) throws(RealmError) -> Int32 {
        guard hasConstantBounds(node) else { return try bindComputedBetween(node, scope) }
        guard runsOnColumns(scope), case .path(let path) = side(node.a) else {
            if runsOnColumns(scope), let bound = try bindSomeBetween(node) { return bound }
            return try bindGeneralBetween(node, scope)
        }
        let target = try target(path, node.a)
        let both = try between(target, node)
        return target.isDirect ? both : wrap(target, node: both, matchesNull: false)
    }

    /// Both ends of BETWEEN as tests of a column.
    mutating func between(_ target: Target, _ node: SyntaxNode) throws(RealmError) -> Int32 {
        let bounds = try betweenBounds(node)
        try checkOperator(target, .less)
        var parts: [Int32] = []
        for (op, bound) in [
            (ComparisonOperator.greaterEqual, bounds[0]), (.lessEqual, bounds[1]),
        ] {
            var test = try test(target, op, [], bound, inList: false) ?? .constant(false)
            // A null value is outside (C8), also where null orders below every string.
            test.matchesNull = false
            parts.append(filter.add(test))
        }
        return filter.add(FilterTest.and, parts)
    }

    /// A Boolean property that stands alone means `== true` (X11).
    mutating func bindBooleanPath(
        _ node: SyntaxNode, _ scope: Int32
    ) throws(RealmError) -> Int32 {
        guard runsOnColumns(scope), case .path(let path) = side(node.a) else {
            return try bindGeneralBoolean(node, scope)
        }
        let target = try target(path, node.a)
        guard target.kind == .bool else { return try bindGeneralBoolean(node, scope) }
        let test = try test(target, .equal, [], BoundConstant(.bool, 1), inList: false)
        return wrap(target, test ?? .constant(false))
    }
}
