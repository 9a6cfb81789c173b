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

    /// The object that `obj('Class', key)` names.
    func find(_ name: ObjectName) throws(RealmError) -> ObjectKey? {
        try snapshot.table(name.classKey).find(
            primaryKey: program.primaryKey(name), column: Int(name.column))
    }

    func linkTargets(_ index: Int) throws(RealmError) -> KeySet {
        if let known = run.keys(index) { return known }
        let node = program.nodes[index]
        var keys: [ObjectKey] = []
        switch node.test {
        case .intRange(let range): keys = [ObjectKey(rawValue: range.low)]
        case .object(let name):
            if let object = try find(name) {
                keys = [object]
                run.note(index) { $0.object = object }
            }
        case .path(let linked): keys = try pathKeys(node, linked)
        default: break
        }
        let targets = KeySet(keys)
        run.note(index) { $0.keys = targets }
        return targets
    }

    /// Keys of the objects behind the path's first link for which the rest of the path holds,
    /// before the node's own negation.
    private func pathKeys(
        _ node: FilterNode, _ linked: LinkedTest
    ) throws(RealmError) -> [ObjectKey] {
        let hops = program.links(linked)
        // A null link on the way has the result of null, before negation.
        let nullPasses = node.matchesNull != node.negated
        var keys = try Selection(
            snapshot, program, try snapshot.table(hops[hops.count - 1].target),
            root: Int(linked.test), sharing: run
        ).keys()
        for hop in stride(from: hops.count - 2, through: 0, by: -1) {
            keys = try Self.sources(
                try snapshot.table(hops[hop].target), column: Int(hops[hop + 1].column),
                targets: keys, orNull: nullPasses)
        }
        return keys
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
