// Collections against constants, with ANY, ALL or NONE: tests of the members' column, and whether some
// member passes. ALL is that no member fails, NONE that none passes. What can't be said so goes the
// general way (Binder+Expressions).

extension Binder {
    /// What the members are tested with: a column of the objects reached, or the elements.
    private enum Members {
        case objects(Target)
        case elements(Target)
    }

    /// `path op constants` for a path to many; nil: not of this kind.
    mutating func bindSome(
        _ path: Int32, _ op: ComparisonOperator, _ options: ComparisonOptions, _ other: Int32
    ) throws(RealmError) -> Int32? {
        let node = tree.nodes[Int(path)]
        guard op != .text, let members = members(path) else { return nil }
        let isList = isList(other)
        if op == .inList, !isList { return nil }
        let quantifier = tree.nodes[Int(other)].quantifier
        if isList, node.quantifier == .unspecified, quantifier == .unspecified { return nil }
        let target: Target
        switch members {
        case .objects(let column), .elements(let column): target = column
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
        guard let members = members(node.a) else { return nil }
        let target: Target
        switch members {
        case .objects(let column), .elements(let column): target = column
        }
        let inner = try between(target, node)
        return some(members, inner, tree.nodes[Int(node.a)])
    }

    private func members(_ index: Int32) -> Members? {
        let node = tree.nodes[Int(index)]
        guard node.kind == .path else { return nil }
        let bound = paths[Int(node.payload)]
        let path = bound.path
        guard bound.ending == .value, path.mixedCount == 0, path.measure == .none,
            path.slot == scopes[Int(scope(index))].slot, bound.classIndex >= 0
        else { return nil }
        let property = schema.classes[bound.classIndex].properties[bound.propertyIndex]
        let kind = path.value == .keys ? ColumnKind.string : Self.columnKind(of: path.kind)
        var target = Target(
            column: path.column, kind: kind, isKeyColumn: false, hopFirst: 0, hopCount: 0,
            name: "", syntax: index)
        target.isMember = true
        switch path.value {
        case .column where path.isToMany && path.kind != .link:
            let steps = Int(path.first)..<Int(path.first + path.count)
            for step in filter.expressions.steps[steps] {
                guard step.kind == .link || step.kind == .links || step.kind == .backlinks else {
                    return nil
                }
            }
            target.isKeyColumn = property.isPrimaryKey && property.type == .int
            return .objects(target)
        case .elements where path.count == 0, .keys where path.count == 0:
            return .elements(target)
        default: return nil
        }
    }

    static func columnKind(of kind: OperandKind) -> ColumnKind {
        switch kind {
        case .int: return .int
        case .bool: return .bool
        case .float: return .float
        case .double: return .double
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .link: return .link
        case .decimal: return .decimal
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .mixed, .null, .type: return .mixed
        }
    }

    /// Some, all or none of the members pass; nil when one node cannot say what is tested.
    private mutating func some(_ members: Members, _ test: Int32, _ node: SyntaxNode) -> Int32? {
        var inner = test
        if node.quantifier == .all { inner = filter.negate(inner) }
        inner = filter.finish(inner)
        let kind = filter.nodes[Int(inner)].kind
        let path = paths[Int(node.payload)].path
        var result: FilterNode
        switch members {
        case .objects:
            result = FilterNode(.reach)
            result.low = Int64(filter.hops.count)
            result.high = Int64(path.count)
            for step in filter.expressions.steps[Int(path.first)..<Int(path.first + path.count)] {
                filter.hops.append(
                    FilterHop(
                        column: step.column, target: step.target,
                        kind: step.kind == .link
                            ? .link : step.kind == .links ? .links : .backlinks))
            }
        case .elements:
            if kind == .and || kind == .or { return nil }
            result = FilterNode(.elements)
            result.column = path.column
            result.high = path.value == .keys ? 1 : 0
        }
        result.a = inner
        result.negated = node.quantifier == .all || node.quantifier == .none
        result.matchesNull = result.negated
        return filter.add(result)
    }
}
