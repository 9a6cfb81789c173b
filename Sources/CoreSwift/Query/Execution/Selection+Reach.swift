// Objects from which links lead to some object that passes a test: found from those objects backwards,
// class by class, so that no path is walked for each row. The first step is left to the leaves where
// it leads to many objects.

extension Selection {
    /// The objects behind the first link of a `reach` node from which the others lead to an object
    /// that passes; made once.
    func reachTargets(_ index: Int) throws(RealmError) -> KeySet {
        if let targets = run.targets(index) { return targets }
        guard case .reach(let linked) = program.nodes[index].test else { return KeySet([]) }
        let targets = try targets(linked, orNull: false)
        run.note(index) { $0.targets = targets }
        return targets
    }

    /// The objects behind the first link from which the others lead to an object that passes, or with `orNull`
    /// to null.
    func targets(_ linked: LinkedTest, orNull: Bool) throws(RealmError) -> KeySet {
        let hops = program.links(linked)
        var targets = try ends(linked, hops[hops.count - 1].target)
        for hop in stride(from: hops.count - 1, to: 0, by: -1) where targets.count > 0 || orNull {
            let origin = try snapshot.table(hops[hop - 1].target)
            let keys = try step(hops[hop], origin, targets.keys, orNull: orNull)
            targets = KeySet(KeyList.union(keys))
        }
        return targets
    }

    /// The objects at the end of the links that pass.
    private func ends(_ linked: LinkedTest, _ end: ClassKey) throws(RealmError) -> KeySet {
        let test = Int(linked.test)
        if program.nodes[test].namesTargets { return try linkTargets(test) }
        return try Selection(
            snapshot, program, try snapshot.table(end), root: test, slot: slot, sharing: run
        ).keySet()
    }

    /// Objects of `origin` from which a step leads to one of `keys`.
    private func step(
        _ hop: ExpressionStep, _ origin: TableReader, _ keys: [ObjectKey], orNull: Bool = false
    ) throws(RealmError) -> [ObjectKey] {
        let column = Int(hop.column)
        return hop.kind == .backlinks
            ? try Self.targets(try snapshot.table(hop.target), column: column, of: keys)
            : try Self.sources(origin, column: column, targets: keys, orNull: orNull)
    }

    /// Keys of the class's objects for which a `reach` node holds, before its negation.
    func reachKeys(_ index: Int) throws(RealmError) -> KeySet {
        if let keys = run.keys(index) { return keys }
        let targets = try reachTargets(index)
        guard let hop = program.hops(program.nodes[index]).first else { return targets }
        let keys = KeySet(KeyList.union(try step(hop, table, targets.keys)))
        run.note(index) { $0.keys = keys }
        return keys
    }

    /// Objects are listed where the inverse index has few, or only it knows them.
    func prepareReach(_ index: Int) throws(RealmError) {
        let targets = try reachTargets(index)
        let isBack = program.hops(program.nodes[index]).first?.kind == .backlinks
        if isBack || targets.count <= targetsMax { _ = try reachKeys(index) }
    }

    /// The members that a `memberCount` node counts.
    func prepareCount(_ index: Int, _ count: MemberCount) throws(RealmError) {
        if count.origin != .invalid {
            let origin = try snapshot.table(count.origin)
            run.note(index) { $0.origin = origin }
        }
        guard count.subquery >= 0, run.keys(index) == nil else { return }
        let members = try end(index)?.keySet()
        run.note(index) { $0.keys = members }
    }

    /// What the objects `keys` link to through a column.
    static func targets(
        _ table: TableReader, column: Int, of keys: [ObjectKey]
    ) throws(RealmError) -> [ObjectKey] {
        var targets: [ObjectKey] = []
        let isCollection = table.column(column).kind == .collection
        for key in keys {
            guard let place = try table.row(key) else { continue }
            if isCollection {
                _ = try table.contains(place.leaf, place.row, column) {
                    targets.append($0)
                    return false
                }
            } else {
                let link = try table.value(place.leaf, place.row, column)
                if !link.isNull { targets.append(link.linkTarget) }
            }
        }
        return KeyList.union(targets)
    }
}

extension TableReader {
    /// Calls `body` with the entries of the links of this class, through `column`, to the objects
    /// `first` ... `last`: in the order of the targets, one that links several times as often.
    func visitLinks(
        to first: ObjectKey, through last: ObjectKey, column: Int,
        _ body: (IndexLeaf, Range<Int>) -> Void
    ) throws(RealmError) {
        guard let tree = try table.inverseTree(column) else { return }
        let target = self.column(column).linkTarget
        try InverseBytes.with(
            first, of: target, isMixed: false
        ) { low, count throws(RealmError) in
            // Object keys are never negative, so there is a next one.
            try InverseBytes.with(
                last.advanced(by: 1), of: target, isMixed: false
            ) { high, _ throws(RealmError) in
                try tree.visit(
                    from: IndexPosition(bytes: low, count: count, key: .min),
                    to: IndexPosition(bytes: high, count: count, key: .min)
                ) { leaf, entries throws(RealmError) in
                    body(leaf, entries)
                    return true
                }
            }
        }
    }

    /// The collection of a row.
    @inline(__always)
    func collection(
        _ leaf: LeafView, _ row: Int, _ column: Int
    ) throws(RealmError) -> CollectionView {
        CollectionView(
            table, column, ElementLayout(self.column(column), column: column),
            try value(leaf, row, column).bytes)
    }

    /// Whether a collection of links holds a key for which `passes`.
    func contains(
        _ leaf: LeafView, _ row: Int, _ column: Int, _ passes: (ObjectKey) -> Bool
    ) throws(RealmError) -> Bool {
        var view = try collection(leaf, row, column)
        if let links = view.inlineColumn(view.valueColumn) {
            for index in 0..<view.count where !links.isNull(index) {
                if passes(ObjectKey(rawValue: links.integer(index))) { return true }
            }
            return false
        }
        for index in 0..<view.count {
            let link = try view.value(index, view.valueColumn)
            if !link.isNull, passes(link.linkTarget) { return true }
        }
        return false
    }
}
