// Conditions over links, when few objects are left to test: their links are followed and the test is
// put to what they lead to, instead of finding every object of the other class that passes it.
//
// The sets that a walk makes hold for its objects alone: they are dropped when those are tested.

extension Selection {
    /// A condition over links: the steps, and what is asked of the objects at their end.
    private struct Walk {
        var hops: [ExpressionStep]
        var end: Selection
        /// A null link on the way counts as an object that passes.
        var nullPasses = false
    }

    private func walk(_ index: Int) throws(RealmError) -> Walk? {
        let node = program.nodes[index]
        guard let end = try end(index) else { return nil }
        var walk = Walk(hops: program.hops(node), end: end)
        if case .path = node.test { walk.nullPasses = node.matchesNull != node.negated }
        return walk
    }

    func walked(_ index: Int) -> Int? {
        run.keys(index) == nil && run.targets(index) == nil ? run.walked(index) : nil
    }

    func end(_ index: Int) throws(RealmError) -> Selection? {
        let node = program.nodes[index]
        guard let last = program.hops(node).last, let root = program.endRoot(node) else {
            return nil
        }
        var slot = slot
        if case .memberCount(let count) = node.test {
            slot = Int(program.subqueries[Int(count.subquery)].slot)
        }
        return Selection(
            snapshot, program, try snapshot.table(last.target), root: root, slot: slot,
            sharing: run)
    }

    // MARK: Walking

    /// Those of `keys` whose objects pass, in their order; keys of objects that are gone drop out.
    func narrow(_ keys: [ObjectKey]) throws(RealmError) -> [ObjectKey] {
        if let constant = program.nodes[root].constantResult, !constant { return [] }
        defer { filter.dropWalks() }
        try prepare(for: keys)
        return try verify(keys)
    }

    /// Follows the links of a node from the objects `keys`, if that is cheaper; else false. What it
    /// finds out stands where that of all objects would stand.
    func walk(_ index: Int, from keys: [ObjectKey]) throws(RealmError) -> Bool {
        guard try walks(index, keys.count), let walk = try walk(index) else { return false }
        let node = program.nodes[index]
        filter.noteWalk(index, keys.count)
        // What each step leads to, objects once each.
        var levels = [KeyList.union(keys)]
        for (step, hop) in walk.hops.enumerated() {
            let most = try snapshot.table(hop.target).rowCount / Self.rowsOfAStep
            guard
                let ends = try Self.ends(
                    of: levels[step], hop, try origin(step, walk), snapshot, atMost: most)
            else { return false }
            levels.append(ends)
        }
        var passing = KeySet(try walk.end.narrow(levels[walk.hops.count]))
        if case .memberCount(let count) = node.test {
            let origin = count.origin == .invalid ? nil : try snapshot.table(count.origin)
            run.note(index) {
                $0.origin = origin
                $0.keys = passing
            }
            return true
        }
        // The objects behind the first link, of links back those at the start.
        let isBack = walk.hops[0].kind == .backlinks
        for step in stride(from: walk.hops.count - 1, through: isBack ? 0 : 1, by: -1) {
            let origin = try origin(step, walk)
            var leading: [ObjectKey] = []
            for key in levels[step]
            where try Self.leads(
                key, walk.hops[step], origin, snapshot, to: passing, orNull: walk.nullPasses)
            {
                leading.append(key)
            }
            passing = KeySet(leading)
        }
        let isLast: Bool
        if case .path = node.test { isLast = true } else { isLast = isBack }
        run.note(index) {
            if isLast { $0.keys = passing } else { $0.targets = passing }
        }
        return true
    }

    /// The class that a step starts from.
    private func origin(_ step: Int, _ walk: Walk) throws(RealmError) -> TableReader {
        step == 0 ? table : try snapshot.table(walk.hops[step - 1].target)
    }

    /// The objects that one step leads to; nil when there are more than are followed for less than a
    /// scan of their class.
    private static func ends(
        of keys: [ObjectKey], _ hop: ExpressionStep, _ origin: TableReader,
        _ snapshot: SnapshotReader,
        atMost most: Int
    ) throws(RealmError) -> [ObjectKey]? {
        guard hop.kind == .backlinks else {
            let ends = try targets(origin, column: Int(hop.column), of: keys)
            return ends.count <= most ? ends : nil
        }
        let linking = try snapshot.table(hop.target)
        var sources: [ObjectKey] = []
        var count = 0
        for key in keys {
            count += try linking.sourceCount(of: key, column: Int(hop.column))
            guard count <= most else { return nil }
            sources.append(contentsOf: try linking.sources(of: key, column: Int(hop.column)))
        }
        return KeyList.union(sources)
    }

    /// Whether a step leads from an object to one of `passing`.
    private static func leads(
        _ key: ObjectKey, _ hop: ExpressionStep, _ origin: TableReader, _ snapshot: SnapshotReader,
        to passing: KeySet, orNull: Bool
    ) throws(RealmError) -> Bool {
        let column = Int(hop.column)
        switch hop.kind {
        case .link:
            guard let link = try origin.value(of: key, column: column) else { return false }
            return link.isNull ? orNull : passing.contains(link.linkTarget)
        case .links:
            guard let place = try origin.row(key) else { return false }
            return try origin.contains(place.leaf, place.row, column) { passing.contains($0) }
        default:
            let linking = try snapshot.table(hop.target)
            return try linking.sources(of: key, column: column).contains { passing.contains($0) }
        }
    }
}
