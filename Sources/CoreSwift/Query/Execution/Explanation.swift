// How a query would be executed, as text for people: which index gives the candidates, what is
// tested on them or on every leaf, and how the order is made. The decisions are those of
// `Planner.plan` and `Ordering.leading`, asked of the same data.

extension ResultsDescription {
    /// A line each for what the elements are taken from, the start, tests and steps.
    func explain(_ snapshot: SnapshotReader, _ schema: Schema) throws(RealmError) -> String {
        if let values { return try explain(values, snapshot, schema) }
        let everything = try Query.all(schema: schema, classKey: classKey)
        var source: String?
        switch self.source {
        case .objects, .values: break
        case .backlinks(_, let key, _): source = "objects that link to object \(key)"
        case .snapshot(let keys, _):
            source = Query.counted(keys.count, "object") + " of a snapshot"
        case .collection(let place): source = "the objects of a \(place.type)"
        }
        var lines = try (first.conditions ?? everything).explain(
            snapshot, first.ordering, source: source)
        for stage in later {
            lines += stage.conditions.map { ["then: test \($0.tests)"] } ?? []
            lines += stage.ordering.map { "then: \($0.spelling)" }
        }
        return lines.joined(separator: "\n")
    }

    /// Of values, which are always tested one by one.
    private func explain(
        _ values: ValueSource, _ snapshot: SnapshotReader, _ schema: Schema
    ) throws(RealmError) -> String {
        let owner = schema.class_(classKey)
        let property = owner?.properties.first { $0.key.column == values.place.column }
        let subject = "\(owner?.shownName ?? "object").\(property?.shownName ?? "collection")"
        let live = values.holdsKeys ? "all keys" : "all values"
        let count =
            if let kept = values.kept { kept.values.count } else {
                try values.all(snapshot).count
            }
        var lines = [
            "\(subject): \(Query.counted(count, "value"))",
            "start: \(values.kept == nil ? live : "values of a snapshot")",
        ]
        for (index, stage) in stages.enumerated() {
            let test = stage.conditions?.predicateText ?? "TRUEPREDICATE"
            if test != "TRUEPREDICATE" {
                let isLong = test.unicodeScalars.count > 400
                let shown = isLong ? "\(test.unicodeScalars.prefix(400))..." : test
                lines.append((index == 0 ? "test: " : "then: test ") + shown)
            }
            lines += stage.ordering.map { "then: \($0.spelling)" }
        }
        return lines.joined(separator: "\n")
    }
}

extension Query {
    /// The conditions as explanations show them.
    fileprivate var tests: String { describe(filter.root, classKey) }

    /// A line each for class, start, tests and the steps of ordering. `source`: what the objects
    /// are taken from, if not all of their class.
    fileprivate func explain(
        _ snapshot: SnapshotReader, _ steps: [OrderingStep], source: String?
    ) throws(RealmError) -> [String] {
        let table = try snapshot.table(classKey)
        let selection = try selection(snapshot)
        var lines = ["\(name(classKey)): \(Self.counted(table.rowCount, "object"))"]
        if let source {
            lines.append("start: \(source)")
            if !selection.passesAll { lines.append("test: \(tests)") }
            lines.append(contentsOf: steps.map { "then: \($0.spelling)" })
        } else {
            lines.append(contentsOf: try access(selection, table))
            lines.append(contentsOf: try order(steps, selection, table))
        }
        return lines
    }

    static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private func name(_ key: ClassKey) -> String {
        schema.class_(key)?.shownName ?? "class \(key)"
    }

    private func column(_ node: FilterNode, _ owner: ClassKey) -> String {
        property(Int(node.column), owner)?.name ?? "column \(node.column)"
    }

    private func property(_ column: Int, _ owner: ClassKey) -> PropertySchema? {
        schema.class_(owner)?.properties.first { $0.key.column == column }
    }

    // MARK: Start

    private func access(
        _ selection: Selection, _ table: TableReader
    ) throws(RealmError) -> [String] {
        switch filter.nodes[filter.root].constantResult {
        case true?: return ["start: all objects"]
        case false?: return ["start: nothing, the conditions are never true"]
        case nil: break
        }
        let conditions = describe(filter.root, classKey)
        if let asked = try selection.linkerMembers() {
            let name = property(asked.column, classKey)?.name ?? "\(asked.column)"
            let members = Self.counted(asked.members.count, "object")
            return ["start: inverse index of \(name), links to \(members) (\(conditions))"]
        }
        if let followed = try selection.followedCount() {
            let tests = followed.conjuncts.map { describe($0, classKey, depth: 1) }
            let candidates = Self.counted(followed.count, "candidate")
            return [
                "start: scan of all leaves, \(tests.joined(separator: " and ")); \(candidates)",
                "test: \(conditions)",
            ] + (try follows(selection, followed.count))
        }
        guard let plan = try selection.plan(limit: selection.candidatesMax) else {
            return ["start: scan of all leaves", "test: \(conditions)"]
        }
        let tests = plan.parts.prefix(8).map(source)
        let more = plan.parts.count > 8 ? " and \(plan.parts.count - 8) more" : ""
        let union = plan.parts.count > 1 ? "union of " : ""
        let candidates = "at most \(Self.counted(plan.count, "candidate"))"
        var lines = ["start: \(union)\(tests.joined(separator: ", "))\(more); \(candidates)"]
        if plan.isExact { return lines }
        lines.append("test: \(conditions)")
        return lines + (try follows(selection, plan.count))
    }

    private func follows(_ selection: Selection, _ count: Int) throws(RealmError) -> [String] {
        try selection.walkedNodes(count).prefix(8).map {
            "follow: from each candidate, \(describe($0, classKey))"
        }
    }

    private func source(_ part: Plan.Part) -> String {
        let node = filter.nodes[part.test]
        let test = describe(part.test, classKey)
        if case .keys = part.access { return "primary key (\(test))" }
        switch node.test {
        case .words: return "full-text index of \(column(node, classKey)) (\(test))"
        case .path, .object: return "objects that link by \(test)"
        case .reach: return "objects that link to \(test)"
        case .intRange where node.columnKind == .link: return "objects that link by \(test)"
        default: return "index of \(column(node, classKey)) (\(test))"
        }
    }

    // MARK: Order

    private func order(
        _ steps: [OrderingStep], _ selection: Selection, _ table: TableReader
    ) throws(RealmError) -> [String] {
        var lines: [String] = []
        for (position, step) in steps.enumerated() {
            var line = "then: \(step.spelling)"
            if position == 0, case .sort(let by) = step, let first = by.first,
                IndexOrder.isOrdered(by: first, table)
            {
                let plan = selection.passesAll ? nil : try selection.plan(limit: 128)
                if selection.passesAll, by.count == 1 {
                    line += ", in the order of the index"
                } else if plan == nil {
                    line += ", the first objects in the order of the index"
                }
            }
            lines.append(line)
        }
        return lines
    }

    // MARK: Conditions

    /// A condition of the filter, chains to a bounded depth and length.
    private func describe(_ index: Int, _ owner: ClassKey, depth: Int = 0) -> String {
        let node = filter.nodes[index]
        if let constant = node.constantResult { return constant ? "true" : "false" }
        if let (isAnd, range) = node.chain {
            guard depth < 4 else { return "(...)" }
            var parts = filter.parts(range).prefix(8).map {
                describe(Int($0), owner, depth: depth + 1)
            }
            if range.count > 8 { parts.append("\(range.count - 8) more") }
            let text = parts.joined(separator: isAnd ? " and " : " or ")
            return depth > 0 ? "(\(text))" : text
        }
        let subject = column(node, owner)
        var text: String
        switch node.test {
        case .nothing:
            return node.matchesNull ? "\(subject) == NULL" : "\(subject) != NULL"
        case .path(let linked): text = path(linked, owner, depth)
        case .reach(let linked): text = "some " + path(linked, owner, depth, reaches: true)
        case .elements(let inner, _):
            text = "some element of \(subject) \(test(filter.nodes[Int(inner)]))"
        case .memberCount(let count): text = memberCount(count, node, owner, depth)
        case .expression: text = "an expression, object by object"
        default: text = "\(subject) \(test(node))"
        }
        if node.negated { text = "!(\(text))" }
        return node.matchesNull ? "(\(text) or \(subject) == NULL)" : text
    }

    private func path(
        _ linked: LinkedTest, _ owner: ClassKey, _ depth: Int, reaches: Bool = false
    ) -> String {
        var names: [String] = []
        var current = owner
        for step in filter.links(linked) {
            let owner = step.kind == .backlinks ? step.target : current
            let name = property(Int(step.column), owner)?.name ?? "\(step.column)"
            names.append(
                step.kind == .backlinks ? "@links.\(self.name(step.target)).\(name)" : name)
            current = step.target
        }
        let end = filter.nodes[Int(linked.test)]
        if reaches, end.namesTargets { return "\(names.joined(separator: ".")) \(test(end))" }
        let inner = depth < 4 ? describe(Int(linked.test), current, depth: depth + 1) : "..."
        return "\(names.joined(separator: ".")) with \(inner)"
    }

    private func memberCount(
        _ count: MemberCount, _ node: FilterNode, _ owner: ClassKey, _ depth: Int
    ) -> String {
        let isBacklinks = count.origin != .invalid
        let name =
            property(Int(node.column), isBacklinks ? count.origin : owner)?.name
            ?? "\(node.column)"
        var text = "number of "
        text += isBacklinks ? "@links.\(self.name(count.origin)).\(name)" : name
        if count.subquery >= 0 {
            let subquery = filter.subqueries[Int(count.subquery)]
            let inner =
                depth < 4
                ? describe(Int(subquery.root), subquery.target, depth: depth + 1) : "..."
            text += " with \(inner)"
        }
        return "\(text) \(range(count.wanted, node))"
    }

    private func test(_ node: FilterNode) -> String {
        switch node.test {
        case .intRange(let range): return self.range(range, node)
        case .doubleRange(let range), .floatRange(let range):
            return range.isSingle ? "== \(range.low)" : "in \(range.low)...\(range.high)"
        case .timestampRange(let range):
            return "in T\(range.low.seconds):\(range.low.nanoseconds)"
                + "...T\(range.high.seconds):\(range.high.nanoseconds)"
        case .intSet(let set), .doubleSet(let set), .floatSet(let set), .timestampSet(let set),
            .textSet(let set, _), .valueSet(let set):
            return "IN {\(set.count) values}"
        case .text(let text), .mixedText(let text, _):
            return "\(text.op) \(quoted(filter.text(text.needle)))"
        case .value(let op, _): return "\(op) a value"
        case .object(let object): return "== an object of \(name(object.classKey))"
        case .words: return "TEXT"
        default: return "test"
        }
    }

    private func range(_ range: IntRange, _ node: FilterNode) -> String {
        if node.columnKind == .bool && range.isSingle {
            return range.low == 0 ? "== false" : "== true"
        }
        if range.isSingle { return "== \(range.low)" }
        if range.low == .min { return "<= \(range.high)" }
        return range.high == .max ? ">= \(range.low)" : "in \(range.low)...\(range.high)"
    }

    private func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
        let text = String(decoding: bytes.prefix(40), as: UTF8.self)
        return bytes.count > 40 ? "\"\(text)...\"" : "\"\(text)\""
    }
}
