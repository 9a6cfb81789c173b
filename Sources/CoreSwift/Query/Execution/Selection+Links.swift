// Objects behind links over which conditions go, and the objects that link to them.

extension Selection {
    /// What a condition over links needs to test any object.
    func prepareLinks(_ index: Int, _ node: FilterNode) throws(RealmError) {
        switch node.kind {
        case .path: _ = try pathSet(index)
        case .reach: try prepareReach(index)
        default: try prepareCount(index)
        }
    }

    /// The object that `obj('Class', key)` names.
    func linkKey(_ node: FilterNode) throws(RealmError) -> ObjectKey? {
        let target = try snapshot.table(node.linkClass)
        switch node.b {
        case -1: return try target.find(primaryKey: .int(node.low))
        case -2: return try target.find(primaryKey: .null)
        case -3, -4:
            return try target.find(
                primaryKey: RawValue(
                    word0: UInt64(bitPattern: node.low), word1: UInt64(bitPattern: node.high),
                    type: node.b == -3 ? .uuid : .objectId))
        default:
            let text = program.needle(node)
            guard let start = text.baseAddress else { return nil }
            return try target.find(primaryKey: .string(start, text.count))
        }
    }

    /// The set of `pathKeys`, made once.
    func pathSet(_ index: Int) throws(RealmError) -> KeySet {
        if let set = filter.keys(index) { return set }
        let set = KeySet(try pathKeys(program.nodes[index]))
        filter.setKeys(index, set)
        return set
    }

    /// Keys of the objects behind the path's first link for which the rest of the path holds,
    /// before the node's own negation.
    private func pathKeys(_ node: FilterNode) throws(RealmError) -> [ObjectKey] {
        let hops = program.hops + Int(node.low)
        let count = Int(node.high)
        // A null link on the way has the result of null, before negation.
        let nullPasses = node.matchesNull != node.negated
        var keys = try Selection(
            snapshot, program, try snapshot.table(hops[count - 1].target), root: Int(node.a)
        ).keys()
        for hop in stride(from: count - 2, through: 0, by: -1) {
            keys = try Self.sources(
                try snapshot.table(hops[hop].target), column: Int(hops[hop + 1].column),
                targets: keys, orNull: nullPasses)
        }
        return keys
    }

    func linkTargets(_ index: Int) throws(RealmError) -> KeySet {
        if let known = filter.keys(index) { return known }
        let node = program.nodes[index]
        let targets: KeySet
        switch node.kind {
        case .intRange: targets = KeySet(numbers: [node.low])
        case .linkToPrimaryKey:
            let key = try linkKey(node)
            filter.setLink(index, key)
            targets = KeySet(key.map { [$0] } ?? [])
        default: return try pathSet(index)
        }
        filter.setKeys(index, targets)
        return targets
    }

    /// Objects whose link points to one of `targets`, ascending.
    static func sources(
        _ table: TableReader, column: Int, targets: [ObjectKey], orNull: Bool
    ) throws(RealmError) -> [ObjectKey] {
        var sources: [ObjectKey] = []
        if !orNull, targets.count <= 64 + table.rowCount / 1000 {
            for target in targets {
                sources.append(contentsOf: try table.sources(of: target, column: column))
            }
            if targets.count > 1 { sources.sort() }
            return sources
        }
        let set = KeySet(targets)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let view = leaf.column(column)
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                guard let view, view.encoding == .packed, !view.isNull(row) else {
                    if orNull { sources.append(leaf.key(row)) }
                    continue
                }
                if set.contains(view.objectKey(row)) { sources.append(leaf.key(row)) }
            }
        }
        return sources
    }
}
