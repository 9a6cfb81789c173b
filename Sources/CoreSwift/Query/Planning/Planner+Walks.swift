// Whether links are followed from the few objects that are left to test, instead of finding all
// objects that pass behind them.

extension Planner {
    /// Following one link costs about as much as a scan spends on so many rows.
    static var rowsOfAStep: Int { 64 }

    /// Whether following the links of `count` objects is cheaper than knowing all objects that pass
    /// behind a `path`, `reach` or `memberCount` node.
    func walks(_ index: Int, _ count: Int) throws(RealmError) -> Bool {
        try walkedMost(index).map { count <= $0 } ?? false
    }

    /// Of how many objects following the links of such a node is cheaper; nil when it never is.
    func walkedMost(_ index: Int) throws(RealmError) -> Int? {
        let node = program.nodes[index]
        guard let walked = walked(index), program.endRoot(node) != nil else { return nil }
        let hops = program.hops(node)
        if hops.isEmpty { return nil }
        var rows = 0
        for hop in hops { rows += try snapshot.table(hop.target).rowCount }
        let most = (rows - 1) / (hops.count * Self.rowsOfAStep) - walked
        guard most >= 0, let end = try end(index) else { return nil }
        // An index may know the few that pass. Conditions over further links are not asked: it
        // could take a scan to answer.
        switch program.nodes[end.root].test {
        case .path, .reach, .and, .or, .memberCount: return most
        default:
            // Four times as many that it knows are no dearer.
            guard let known = try end.plan(limit: most * 4 + 16) else { return most }
            return known.count > 16 ? (known.count - 17) / 4 : nil
        }
    }

    /// The nodes under the root whose links would be followed from `count` candidates.
    func walkedNodes(_ count: Int) throws(RealmError) -> [Int] {
        var found: [Int] = []
        var stack = [Int32(root)]
        while let next = stack.popLast() {
            switch program.nodes[Int(next)].test {
            case .and(let parts), .or(let parts):
                stack.append(contentsOf: program.parts(parts).reversed())
            case .path, .reach, .memberCount:
                if try walks(Int(next), count) { found.append(Int(next)) }
            default: break
            }
        }
        return found
    }
}

extension FilterProgram {
    /// The links of a node, in the order in which they are crossed; those that are counted for
    /// their number alone are none.
    func hops(_ node: FilterNode) -> [ExpressionStep] {
        switch node.test {
        case .path(let linked), .reach(let linked): return Array(links(linked))
        case .memberCount(let count) where count.subquery >= 0:
            if count.origin != .invalid {
                return [ExpressionStep(kind: .backlinks, column: node.column, target: count.origin)]
            }
            let target = subqueries[Int(count.subquery)].target
            return [ExpressionStep(kind: .links, column: node.column, target: target)]
        default: return []
        }
    }

    /// The node that the objects at the end of links are tested with; nil when they are named.
    func endRoot(_ node: FilterNode) -> Int? {
        switch node.test {
        case .path(let linked): return Int(linked.test)
        case .reach(let linked):
            return nodes[Int(linked.test)].namesTargets ? nil : Int(linked.test)
        case .memberCount(let count) where count.subquery >= 0:
            return Int(subqueries[Int(count.subquery)].root)
        default: return nil
        }
    }
}
