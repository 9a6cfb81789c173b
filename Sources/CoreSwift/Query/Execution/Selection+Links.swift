// Objects behind links over which conditions go, and the objects that link to them.

extension Selection {
    /// What a condition over links needs to test any object.
    func prepareLinks(_ index: Int, _ node: FilterNode) throws(RealmError) {
        switch node.test {
        case .path: _ = try linkTargets(index)
        case .reach: try prepareReach(index)
        case .memberCount(let count): try prepareCount(index, count)
        default: break
        }
    }

    func linkTargets(_ index: Int) throws(RealmError) -> KeySet {
        if let known = run.keys(index) { return known }
        let node = program.nodes[index]
        let targets: KeySet
        switch node.test {
        case .intRange(let range): targets = KeySet([ObjectKey(rawValue: range.low)])
        case .intSet(let set):
            targets = KeySet(KeyList.union(program.members(set).map { ObjectKey(rawValue: $0.0) }))
        case .object(let name):
            let object = try program.find(name, snapshot)
            run.note(index) { $0.object = object }
            targets = KeySet(object.map { [$0] } ?? [])
        case .path(let linked):
            // A null link on the way has the result of null, before negation.
            targets = try self.targets(linked, orNull: node.matchesNull != node.negated)
        default: targets = KeySet([])
        }
        run.note(index) { $0.keys = targets }
        return targets
    }

    /// Objects whose link, or some link of whose collection, leads to one of `targets`, ascending; `orNull`: or whose
    /// link is null.
    static func sources(
        _ table: TableReader, column: Int, targets: [ObjectKey], orNull: Bool
    ) throws(RealmError) -> [ObjectKey] {
        var sources: [ObjectKey] = []
        if !orNull, targets.count <= 64 + table.rowCount / 1000 {
            for target in targets {
                sources.append(contentsOf: try table.sources(of: target, column: column))
            }
            return KeyList.union(sources)
        }
        let set = KeySet(targets)
        let isCollection = table.column(column).kind == .collection
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let view = leaf.column(column)
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                let leads: Bool
                if isCollection {
                    leads = try table.contains(leaf, row, column) { set.contains($0) }
                } else if let view, view.encoding == .packed, !view.isNull(row) {
                    leads = set.contains(view.objectKey(row))
                } else {
                    leads = orNull
                }
                if leads { sources.append(leaf.key(row)) }
            }
        }
        return sources
    }
}
