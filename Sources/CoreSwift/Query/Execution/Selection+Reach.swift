// Objects from which links lead to some object that passes a test: found from those objects backwards,
// class by class, so that no path is walked for each row. The first step is left to the leaves where
// it leads to many objects.

extension Selection {
    /// The objects behind the first link of a `reach` node from which the others lead to an object
    /// that passes; made once.
    func reachTargets(_ index: Int) throws(RealmError) -> KeySet {
        if let targets = filter.targets(index) { return targets }
        let node = program.nodes[index]
        let hops = program.hops + Int(node.low)
        let count = Int(node.high)
        var keys = try reachEnds(node, hops[count - 1].target)
        for hop in stride(from: count - 1, to: 0, by: -1) where !keys.isEmpty {
            let origin = try snapshot.table(hops[hop - 1].target)
            keys = try step(hops[hop], origin, keys)
        }
        let targets = KeySet(KeyList.union(keys))
        filter.setTargets(index, targets)
        return targets
    }

    /// The objects at the end of the links that pass.
    private func reachEnds(_ node: FilterNode, _ end: ClassKey) throws(RealmError) -> [ObjectKey] {
        let test = program.nodes[Int(node.a)]
        guard test.column < 0, test.columnKind == .link else {
            return try Selection(
                snapshot, program, try snapshot.table(end), root: Int(node.a), slot: slot
            ).keys()
        }
        switch test.kind {
        case .linkToPrimaryKey: return try linkKey(test).map { [$0] } ?? []
        case .intSet: return program.members(test).map { ObjectKey(rawValue: $0.0) }
        default: return [ObjectKey(rawValue: test.low)]
        }
    }

    /// Objects of `origin` from which a step leads to one of `keys`.
    private func step(
        _ hop: FilterHop, _ origin: TableReader, _ keys: [ObjectKey]
    ) throws(RealmError) -> [ObjectKey] {
        let column = Int(hop.column)
        switch hop.kind {
        case .link:
            return try Self.sources(origin, column: column, targets: keys, orNull: false)
        case .links: return try Self.holders(origin, column: column, targets: keys)
        case .backlinks:
            return try Self.targets(try snapshot.table(hop.target), column: column, of: keys)
        }
    }

    /// Keys of the class's objects for which a `reach` node holds, before its negation.
    func reachKeys(_ index: Int) throws(RealmError) -> KeySet {
        if let keys = filter.keys(index) { return keys }
        let hop = program.hops[Int(program.nodes[index].low)]
        let targets = try reachTargets(index)
        let keys = KeySet(KeyList.union(try step(hop, table, targets.keys)))
        filter.setKeys(index, keys)
        return keys
    }

    /// Objects are listed where the inverse index has few, or only it knows them.
    func prepareReach(_ index: Int) throws(RealmError) {
        let hop = program.hops[Int(program.nodes[index].low)]
        let targets = try reachTargets(index)
        if hop.kind == .backlinks || targets.count <= targetsMax { _ = try reachKeys(index) }
    }

    /// The members that a `memberCount` node counts.
    func prepareCount(_ index: Int) throws(RealmError) {
        let node = program.nodes[index]
        if node.linkClass != .invalid {
            filter.origins[index] = try snapshot.table(node.linkClass)
        }
        guard node.a >= 0, filter.keys(index) == nil else { return }
        let subquery = program.subqueries[Int(node.a)]
        let members = try Selection(
            snapshot, program, try snapshot.table(subquery.target), root: Int(subquery.root),
            slot: Int(subquery.slot), sharing: try expressionState())
        filter.setKeys(index, KeySet(try members.keys()))
    }

    /// Objects whose collection holds one of `targets`.
    private static func holders(
        _ table: TableReader, column: Int, targets: [ObjectKey]
    ) throws(RealmError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        if targets.count <= 64 + table.rowCount / 1000 {
            for target in targets {
                keys.append(contentsOf: try table.sources(of: target, column: column))
            }
            return KeyList.union(keys)
        }
        let set = KeySet(targets)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                let holds = try table.contains(leaf, row, column) { set.contains($0) }
                if holds { keys.append(leaf.key(row)) }
            }
        }
        return keys
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
