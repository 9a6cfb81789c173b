// The plan of an execution: which tests an index answers with the fewest candidates. The other
// conditions are tested on those; without such tests all leaves are scanned.
//
// Estimates are exact counts: the number of entries in a range of an index costs two descents. What lies
// behind links is known only when it was looked for: the planner asks execution for it, which keeps it.

/// Tests that give the candidates.
struct Plan {
    struct Part {
        var test: Int
        var access: Access
    }
    var part: Part
    /// Those of the other alternatives of an OR.
    var further: [Part] = []
    /// There are at most so many candidates.
    var count: Int
    /// Every candidate passes: nothing is left to test.
    var isExact: Bool

    var parts: [Part] { [part] + further }

    /// Takes in the candidates of another alternative.
    mutating func add(_ other: Plan) {
        further.append(other.part)
        further.append(contentsOf: other.further)
        count += other.count
        isExact = isExact && other.isExact
    }
}

/// How a test is answered without a scan.
enum Access {
    /// Primary keys that are the object keys.
    case keys([Int64])
    /// Ranges of an ordered index; exact unless values may be cut.
    case ranges(IndexReader, [IndexReader.Range], isExact: Bool)
    /// Sources of the objects behind a link.
    case links(KeySet)
    /// Objects that a full-text index has for the words of a search.
    case words(Int32)
    /// Sources of the objects that the links of a collection, or links back, lead to.
    case reach

    /// Every candidate passes.
    var isExact: Bool {
        if case .ranges(_, _, let isExact) = self { return isExact }
        return true
    }
}

/// An execution as the planner sees it: what is asked of which class, and what is known of the objects
/// behind links. `Selection` is the one that carries plans out.
protocol Planner {
    var snapshot: SnapshotReader { get }
    var program: FilterProgram { get }
    var table: TableReader { get }
    /// The node to evaluate.
    var root: Int { get }

    /// The objects that the first link of a `path` node, or a test of a link, has to lead to.
    func linkTargets(_ index: Int) throws(RealmError) -> KeySet
    /// The same of a `reach` node.
    func reachTargets(_ index: Int) throws(RealmError) -> KeySet
    /// Keys of the class's objects for which a `reach` node holds, before its negation.
    func reachKeys(_ index: Int) throws(RealmError) -> KeySet
    /// From how many objects the links of a node were followed until now; nil when all that pass
    /// behind them are known.
    func walked(_ index: Int) -> Int?
    /// What is asked of the objects at the end of a node's links.
    func end(_ index: Int) throws(RealmError) -> Self?
}

extension Planner {
    /// Candidates that are not worth weighing against others.
    private static var fewCandidates: Int { 16 }
    /// Objects that a scan is likely to meet soon.
    private static var fewWanted: Int { 64 }
    /// Chains inside chains that are looked into. Deeper ones are tested.
    private static var depthMax: Int { 4 }

    /// How many candidates are still cheaper than a scan. Those that have to be tested cost more.
    var candidatesMax: Int {
        if case .and = program.nodes[root].test { return table.rowCount / 16 + 16 }
        return table.rowCount / 4 + 64
    }

    /// How many candidates are still good when only the first `wanted` objects are read: a scan that
    /// ends early is better than many.
    func candidatesMax(wanted: Int) -> Int {
        wanted <= Self.fewWanted ? min(candidatesMax, 1024 + table.rowCount / 64) : candidatesMax
    }

    /// The cheapest plan of at most `limit` candidates; nil when a scan is better. `asks`: what lies
    /// behind links may be looked up for it.
    func plan(limit: Int, asks: Bool = true) throws(RealmError) -> Plan? {
        guard var plan = try plan(root, limit: limit, depth: 0, asks) else { return nil }
        // One of several conditions was chosen.
        if case .and = program.nodes[root].test { plan.isExact = false }
        return plan
    }

    @inline(never)
    private func plan(
        _ index: Int, limit: Int, depth: Int, _ asks: Bool
    ) throws(RealmError) -> Plan? {
        if let (isAnd, parts) = program.nodes[index].chain {
            guard depth < Self.depthMax else { return nil }
            return try isAnd
                ? leastOf(parts, limit, depth, asks) : allOf(parts, limit, depth, asks)
        }
        if !asks, program.endRoot(program.nodes[index]) != nil { return nil }
        guard let access = try access(index),
            let count = try count(access, of: index, limit: limit)
        else { return nil }
        let part = Plan.Part(test: index, access: access)
        return Plan(part: part, count: count, isExact: access.isExact)
    }

    /// The conjunct with the fewest candidates.
    private func leastOf(
        _ parts: FilterRange, _ limit: Int, _ depth: Int, _ asks: Bool
    ) throws(RealmError) -> Plan? {
        var best: Plan?
        // What lies behind a link is looked up only if nothing else is small: it may take a scan
        // of the other class.
        for behindLinks in [false, true] {
            for part in program.parts(parts) {
                let index = Int(part)
                guard program.nodes[index].isLinked == behindLinks else { continue }
                // Nor if the links of the candidates are followed for less.
                if behindLinks, let best, try walks(index, best.count) { continue }
                let limit = best.map { $0.count - 1 } ?? limit
                guard var found = try plan(index, limit: limit, depth: depth + 1, asks) else {
                    continue
                }
                found.isExact = found.isExact && parts.count == 1
                if found.count <= Self.fewCandidates { return found }
                best = found
            }
            if let best, best.count <= 64 + table.rowCount / 1000 { return best }
        }
        return best
    }

    /// The candidates of every alternative.
    private func allOf(
        _ parts: FilterRange, _ limit: Int, _ depth: Int, _ asks: Bool
    ) throws(RealmError) -> Plan? {
        var all: Plan?
        // A scan would begin with what full-text indexes have for words as well.
        let limit = hasWordsAlone(parts) ? .max : limit
        for part in program.parts(parts) {
            let rest = limit - (all?.count ?? 0)
            guard let found = try plan(Int(part), limit: rest, depth: depth + 1, asks) else {
                return nil
            }
            if all == nil { all = found } else { all?.add(found) }
        }
        return all
    }

    private func hasWordsAlone(_ parts: FilterRange) -> Bool {
        program.parts(parts).allSatisfy { part in
            if case .words = program.nodes[Int(part)].test {
                return !program.nodes[Int(part)].negated
            }
            return false
        }
    }
}
