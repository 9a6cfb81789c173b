// Scopes: the queried objects, and the members of each SUBQUERY around a place (QUERY_RULES B6, K3–K6).
// The names of a path are looked up from the innermost scope outwards.

struct BinderScope {
    /// The scope around it; -1 for the queried objects.
    var parent: Int32 = -1
    /// Where the evaluator keeps the member at hand.
    var slot: Int32 = 0
    /// The members' class; -1: they are values of `kind`.
    var classIndex: Int
    var kind = OperandKind.link
    var isNullable = false
    /// Where the variable is named.
    var variable = Token(.identifier, 0, 0)
    /// What is said of the members says something of an outer scope, too.
    var isCorrelated = false
    /// Collections gone through, one in another, on the way from a queried object to a member.
    var levels: Int32 = 0
}

/// What is known of a SUBQUERY besides its syntax.
struct BinderSubquery {
    /// Its members' path, and their scope.
    var path = BoundPath()
    var scope: Int32 = -1
    /// Aggregates: from a member to its value.
    var inner: BoundPath?
    // For canonical text: the collection, and what stands behind an aggregate word.
    var text = ""
    var innerText: String?
}

extension Binder {
    // MARK: Which node is in which scope

    @inline(__always) func scope(_ node: Int32) -> Int32 {
        bound[Int(node)].scope
    }

    /// The scopes that are gone through where a SUBQUERY stands: those around its own, up to the
    /// one whose members are rows of a class.
    private func scopesAround(_ inner: Int32) -> [Int32] {
        var around = [scopes[Int(inner)].parent]
        while let last = around.last, last > 0, !runsOnColumns(last) {
            around.append(scopes[Int(last)].parent)
        }
        return around
    }

    /// Notes what a SUBQUERY's answer depends on, if it depends on less than there is around it,
    /// and what its members cost, if there is another one around it.
    mutating func noteNesting(_ subquery: inout ExpressionSubquery, _ bound: BinderSubquery) {
        let around = scopesAround(bound.scope)
        guard around.count > 1 else { return }
        if termsOfScope.isEmpty { countTerms() }
        if scopes[Int(bound.scope)].levels > NestingCost.freeLevels {
            subquery.weight =
                subquery.isUncorrelated
                ? 1 : NestingCost.perMember + termsOfScope[Int(bound.scope)]
        }
        let used = (usedScopes[bound.scope] ?? []).union([bound.path.path.slot])
        guard used.count < around.count else { return }
        subquery.keyFirst = Int32(truncatingIfNeeded: filter.expressions.keySlots.count)
        subquery.keyCount = Int32(used.count)
        for scope in used.sortedFew(by: <) {
            filter.expressions.keySlots.append(
                ExpressionKeySlot(
                    slot: scope, holdsValues: scopes[Int(scope)].classIndex < 0))
        }
    }

    private mutating func countTerms() {
        termsOfScope = [Int32](repeating: 0, count: scopes.count)
        for index in 0..<Int32(tree.nodes.count) where !syntax(index).kind.isConstant {
            termsOfScope[Int(scope(index))] += 1
        }
    }

    /// Conditions in the scope can run on columns: its members are objects of one class, and
    /// nothing else is asked for.
    func runsOnColumns(_ scope: Int32) -> Bool {
        usesColumns && scopes[Int(scope)].classIndex >= 0 && !scopes[Int(scope)].isCorrelated
    }

    mutating func openScopes() {
        subqueries = [BinderSubquery](repeating: BinderSubquery(), count: tree.subqueries.count)
        // Outer ones first where several begin at a node; taken from the end.
        pendingScopes = tree.subqueries.indices.sortedFew {
            let (a, b) = (tree.subqueries[$0], tree.subqueries[$1])
            return a.nodeFirst != b.nodeFirst
                ? a.nodeFirst > b.nodeFirst : a.predicate < b.predicate
        }
    }

    /// Leaves the scopes that end before a node and enters those that begin there.
    mutating func enterScopes(at node: Int32) throws(RealmError) {
        while let last = openSubqueries.last, tree.subqueries[last].predicate < node {
            openSubqueries.removeLast()
        }
        while let next = pendingScopes.last, tree.subqueries[next].nodeFirst == node {
            pendingScopes.removeLast()
            try enter(next)
        }
        bound[Int(node)].scope = currentScope
    }

    private var currentScope: Int32 {
        openSubqueries.last.map { subqueries[$0].scope } ?? 0
    }

    private mutating func enter(_ index: Int) throws(RealmError) {
        let syntax = tree.subqueries[index]
        let outer = currentScope
        let path = try resolve(syntax.collection, outer, .value)
        if recordsTexts { subqueries[index].text = texts.removeLast() }
        var scope = BinderScope(classIndex: -1)
        scope.parent = outer
        scope.slot = Int32(scopes.count)
        scope.variable = syntax.variable
        guard path.path.shape != .single, path.path.measure == .none,
            path.path.value != .column
        else { throw noMembers(path) }
        if path.path.kind == .link, path.path.value == .member {
            scope.classIndex = classIndex(path.path.target)
        } else {
            scope.kind = path.path.kind
        }
        scope.levels = scopes[Int(outer)].levels + collections(path.path)
        try checkVariable(scope)
        subqueries[index].path = path
        subqueries[index].scope = Int32(scopes.count)
        scopes.append(scope)
        openSubqueries.append(index)
        filter.expressions.slotCount = max(filter.expressions.slotCount, scopes.count)
    }

    /// The collections that a path goes through, those of its last values included.
    private func collections(_ path: ExpressionPath) -> Int32 {
        var count: Int32 = path.value == .member ? 0 : 1
        for step in filter.expressions.steps[path.steps]
        where step.kind == .links || step.kind == .backlinks {
            count += 1
        }
        return count
    }

    private func classIndex(_ key: ClassKey) -> Int {
        schema.classes.firstIndex { $0.key == key } ?? rootClass
    }

    private func noMembers(_ path: BoundPath) -> RealmError {
        guard path.classIndex >= 0 else {
            return invalidQuery("a SUBQUERY needs a collection")
        }
        return invalidQuery(
            "a SUBQUERY needs a collection, property '\(named(path))' is of type "
                + path.path.kind.typeWord)
    }

    /// A variable may not be used again for the same class (K6).
    private func checkVariable(_ scope: BinderScope) throws(RealmError) {
        let name = text.string(scope.variable)
        var outer = scope.parent
        while outer > 0 {
            let item = scopes[Int(outer)]
            if item.classIndex == scope.classIndex, isVariable(item, name.utf8) {
                throw invalidQuery(
                    "the variable '\(name)' is already used by a surrounding SUBQUERY")
            }
            outer = item.parent
        }
    }

    private func isVariable(_ scope: BinderScope, _ name: some Sequence<UInt8>) -> Bool {
        text.bytes(scope.variable).elementsEqual(name)
    }

    // MARK: The head of a path

    /// Notes that a path in one scope starts from another one around it.
    private mutating func useScope(_ used: Int32, from inner: Int32) {
        var scope = inner
        while scope != used, scope > 0 {
            scopes[Int(scope)].isCorrelated = true
            // Known here, known in those around.
            if !usedScopes[scope, default: []].insert(used).inserted { return }
            scope = scopes[Int(scope)].parent
        }
    }

    mutating func takeHead(
        _ walk: inout PathWalk, _ name: UnsafeBufferPointer<UInt8>
    ) throws(RealmError) {
        if !walk.isEscaped, name.count > 1, name[0] == UInt8(ascii: "$") {
            var scope = walk.scope
            while scope > 0 {
                if isVariable(scopes[Int(scope)], name) {
                    return start(&walk, at: scope, text: variableText(scope))
                }
                scope = scopes[Int(scope)].parent
            }
        }
        if let found = visibleProperty(name, from: walk.scope) {
            useScope(found.scope, from: walk.scope)
            let scope = scopes[Int(found.scope)]
            walk.bound.path.slot = scope.slot
            walk.classIndex = scope.classIndex
            if recordsTexts, found.scope != 0 { walk.text = variableText(found.scope) }
            let isRootInside = recordsTexts && found.scope == 0 && walk.scope != 0
            let hidesSelf =
                isRootInside
                && visibleProperty("SELF", from: walk.scope) != nil
            if isRootInside, !hidesSelf { walk.text = "SELF" }
            setProperty(&walk, (found.index, found.isComputed))
            if hidesSelf { writeVisibly(&walk, found, name) }
            return
        }
        if !walk.isEscaped, String(decoding: name, as: UTF8.self) == "SELF" {
            return start(&walk, at: 0, text: "SELF")
        }
        var scope = walk.scope
        while scope > 0, scopes[Int(scope)].classIndex < 0 { scope = scopes[Int(scope)].parent }
        guard scopes[Int(scope)].classIndex >= 0 else {
            throw invalidQuery(
                "'\(String(decoding: name, as: UTF8.self))' is no property: the elements are "
                    + "values; SELF names them")
        }
        throw unknown(scopes[Int(scope)].classIndex, name)
    }

    /// SELF is a property in this scope, so that the text names a property of the queried objects
    /// without it. The name in the file may be that of a member's property: then the name by which
    /// the property was found, its public one, stays.
    private func writeVisibly(
        _ walk: inout PathWalk, _ found: VisibleProperty, _ name: UnsafeBufferPointer<UInt8>
    ) {
        let owner = schema.classes[walk.classIndex]
        let stored =
            found.isComputed
            ? owner.computedProperties[found.index].name : owner.properties[found.index].name
        let again = visibleProperty(stored, from: walk.scope)
        if let again, again == found { return }
        walk.text = CanonicalText.name(String(decoding: name, as: UTF8.self))
    }

    /// A property, and the scope whose objects have it.
    typealias VisibleProperty = (scope: Int32, index: Int, isComputed: Bool)

    /// A property of the innermost class around that has the name.
    func visibleProperty(
        _ name: UnsafeBufferPointer<UInt8>, from scope: Int32
    ) -> VisibleProperty? {
        var scope = scope
        while scope >= 0 {
            let item = scopes[Int(scope)]
            if item.classIndex >= 0, let found = property(item.classIndex, name) {
                return (scope, found.index, found.isComputed)
            }
            scope = item.parent
        }
        return nil
    }

    private func visibleProperty(_ name: String, from scope: Int32) -> VisibleProperty? {
        Array(name.utf8).withUnsafeBufferPointer { visibleProperty($0, from: scope) }
    }

    /// A variable or SELF: the member itself.
    private mutating func start(_ walk: inout PathWalk, at scope: Int32, text: String) {
        useScope(scope, from: walk.scope)
        let item = scopes[Int(scope)]
        if recordsTexts { walk.text = text }
        walk.bound.path.slot = item.slot
        walk.bound.path.value = .member
        walk.classIndex = item.classIndex
        if item.classIndex >= 0 {
            walk.state = .object
        } else {
            walk.bound.path.kind = item.kind
            walk.state = item.kind == .mixed ? .mixed : .values
        }
    }

    /// Variables in canonical text: $x, $y, $z, $a, $b …
    func variableText(_ scope: Int32) -> String {
        let letters = Array("xyzabcdefghijklmnopqrstuvw")
        let number = Int(scope) - 1
        let round = number / letters.count
        return "$" + String(letters[number % letters.count]) + (round > 0 ? "\(round)" : "")
    }

    // MARK: Aggregates

    /// `path.@max.name`.
    mutating func resolveAggregate(_ index: Int) throws(RealmError) {
        let node = tree.nodes[index]
        let scope = scope(Int32(index))
        var aggregate = BinderAggregate(ending: node.ending)
        aggregate.path = try resolve(node.range, scope, .value)
        if node.extra > 0 {
            reachObjects(&aggregate.path)
            guard aggregate.path.path.kind == .link, aggregate.path.path.value == .member else {
                throw invalidQuery(
                    "'\(spelling(node))': \(aggregate.ending.spelling) of a property needs objects")
            }
            let target = aggregate.path.path.target
            aggregate.inner = try resolveInner(node.rest, target, aggregate.ending)
        } else {
            guard aggregate.path.path.shape != .single, aggregate.path.path.value == .elements
            else {
                throw invalidQuery(
                    "'\(spelling(node))': \(aggregate.ending.spelling) needs a collection of "
                        + "numbers, or the name of a property behind it")
            }
            try checkAggregated(aggregate.path.path.kind, aggregate.ending, spelling(node))
        }
        if recordsTexts {
            let inner = aggregate.inner == nil ? "" : "." + texts.removeLast()
            nodeTexts[index].text = texts.removeLast() + "." + aggregate.ending.spelling + inner
        }
        bound[index].meaning = .aggregate(aggregates.add(aggregate))
    }

    /// A path that ends in a to-one link goes on to the object.
    private mutating func reachObjects(_ bound: inout BoundPath) {
        guard bound.path.value == .column, bound.path.kind == .link else { return }
        filter.expressions.steps.append(
            ExpressionStep(kind: .link, column: bound.path.column, target: bound.path.target))
        bound.path.count += 1
        bound.path.value = .member
    }

    /// The property behind an aggregate word, over to-one links if need be (B12).
    private mutating func resolveInner(
        _ range: Range<Int>, _ target: ClassKey, _ ending: PathEnding
    ) throws(RealmError) -> BoundPath {
        var walk = PathWalk(
            classIndex: classIndex(target), scope: 0)
        walk.state = .object
        let inner = try resolve(range, &walk, .value)
        guard inner.classIndex >= 0, inner.path.value == .column, inner.path.mixedCount == 0,
            !inner.path.isToMany
        else {
            throw invalidQuery(
                "\(ending.spelling) needs a property that is no collection, of class "
                    + "'\(shownName(max(0, inner.classIndex)))'")
        }
        try checkAggregated(inner.path.kind, ending, named(inner))
        return inner
    }

    private func checkAggregated(
        _ kind: OperandKind, _ ending: PathEnding, _ name: String
    ) throws(RealmError) {
        if kind.isNumeric || kind == .mixed { return }
        if kind == .timestamp, ending == .minimum || ending == .maximum { return }
        throw invalidQuery(
            "\(ending.spelling) is not defined for '\(name)' of type \(kind.typeWord)")
    }

    /// The property behind the aggregate word of a SUBQUERY.
    mutating func resolveSubqueryResult(_ index: Int) throws(RealmError) {
        let node = tree.nodes[index]
        let syntax = tree.subqueries[Int(node.a)]
        let ending = node.ending
        guard ending != .size else { return }
        let path = subqueries[Int(node.a)].path.path
        if !syntax.rest.isEmpty {
            guard path.kind == .link, path.value == .member else {
                throw invalidQuery("the members of '\(spelling(node))' have no properties")
            }
            subqueries[Int(node.a)].inner = try resolveInner(syntax.rest, path.target, ending)
            if recordsTexts { subqueries[Int(node.a)].innerText = texts.removeLast() }
        } else {
            try checkAggregated(path.kind, ending, spelling(node))
        }
    }
}

/// An aggregate of a path whose names are known.
struct BinderAggregate {
    var ending: PathEnding
    var path = BoundPath()
    var inner: BoundPath?
}
