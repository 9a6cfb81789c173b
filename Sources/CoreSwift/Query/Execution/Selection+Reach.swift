// Objects from which links lead to some object that passes a test: found from those objects backwards,
// class by class, so that no path is walked for each row.

extension Selection {
    /// Keys of the class's objects for which a `reach` node holds, before its negation; ascending.
    func reachKeys(_ node: FilterNode) throws(RealmError) -> [Int64] {
        let hops = program.hops + Int(node.low)
        let count = Int(node.high)
        let end = try snapshot.table(hops[count - 1].target)
        var keys = try Selection(snapshot, program, end, root: Int(node.a), slot: slot).keys()
        for index in stride(from: count - 1, through: 0, by: -1) {
            if keys.isEmpty { return [] }
            let origin = index == 0 ? table : try snapshot.table(hops[index - 1].target)
            let column = Int(hops[index].column)
            switch hops[index].kind {
            case .link:
                keys = try Self.sources(origin, column: column, targets: keys, orNull: false)
            case .links: keys = try Self.holders(origin, column: column, targets: keys)
            case .backlinks:
                keys = try Self.targets(
                    try snapshot.table(hops[index].target), column: column, of: keys)
            }
        }
        return Self.sortedUnique(keys)
    }

    /// Objects whose collection holds one of `targets`.
    private static func holders(
        _ table: TableReader, column: Int, targets: [Int64]
    ) throws(RealmError) -> [Int64] {
        var keys: [Int64] = []
        if targets.count <= 64 + table.rowCount / 1000 {
            for target in targets {
                keys.append(contentsOf: try table.sources(of: target, column: column))
            }
            return sortedUnique(keys)
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
    private static func targets(
        _ table: TableReader, column: Int, of keys: [Int64]
    ) throws(RealmError) -> [Int64] {
        var targets: [Int64] = []
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
                if !link.isNull { targets.append(link.linkTarget.rawValue) }
            }
        }
        return sortedUnique(targets)
    }
}

extension TableReader {
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
        _ leaf: LeafView, _ row: Int, _ column: Int, _ passes: (Int64) -> Bool
    ) throws(RealmError) -> Bool {
        var view = try collection(leaf, row, column)
        if let links = view.inlineColumn(view.valueColumn) {
            for index in 0..<view.count where !links.isNull(index) {
                if passes(links.integer(index)) { return true }
            }
            return false
        }
        for index in 0..<view.count {
            let link = try view.value(index, view.valueColumn)
            if !link.isNull, passes(link.linkTarget.rawValue) { return true }
        }
        return false
    }
}
