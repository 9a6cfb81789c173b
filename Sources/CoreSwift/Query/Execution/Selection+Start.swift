// The plan of an execution: which tests an index answers with the fewest candidates. The other
// conditions are tested on those; without such tests all leaves are scanned.
//
// Estimates are exact counts: the number of entries in a range of an index costs two descents.

extension Selection {
    /// Tests that give the candidates.
    struct Start {
        /// One test, or one of each alternative of an OR.
        var tests: [Int]
        /// There are at most so many candidates.
        var count: Int
        /// Every candidate passes: nothing is left to test.
        var isExact: Bool
    }

    /// Candidates that are not worth weighing against others.
    private static let fewCandidates = 16
    /// Objects that a scan is likely to meet soon.
    private static let fewWanted = 64
    /// Chains inside chains that are looked into. Deeper ones are tested.
    private static let depthMax = 4

    /// How many candidates are still cheaper than a scan. Those that have to be tested cost more.
    var candidatesMax: Int {
        program.nodes[root].kind == .and ? table.rowCount / 16 + 16 : table.rowCount / 4 + 64
    }

    /// The passing keys, ascending, when indexes make them cheaper than a scan. When only the
    /// first `wanted` are read, a scan that ends early is better than many candidates.
    func candidates(wanted: Int = .max) throws(RealmError) -> [ObjectKey]? {
        let kind = program.nodes[root].kind
        let limit =
            wanted <= Self.fewWanted
            ? min(candidatesMax, 1024 + table.rowCount / 64) : candidatesMax
        if kind != .and && kind != .or {
            guard let found = try candidates(of: root, limit: limit) else { return nil }
            return found.isExact ? found.keys : try narrow(found.keys)
        }
        guard let start = try start(limit: limit), let keys = try collect(start) else {
            return nil
        }
        return start.isExact ? keys : try narrow(keys)
    }

    /// The cheapest start; nil when a scan is better.
    func start(limit: Int) throws(RealmError) -> Start? {
        guard var start = try start(root, limit: limit, depth: 0) else { return nil }
        // One of several conditions was chosen.
        if program.nodes[root].kind == .and { start.isExact = false }
        return start
    }

    /// Candidates of a start, ascending.
    private func collect(_ start: Start) throws(RealmError) -> [ObjectKey]? {
        var keys: [ObjectKey] = []
        for test in start.tests {
            guard let found = try candidates(of: test, limit: .max) else { return nil }
            keys.append(contentsOf: found.keys)
        }
        return WordKeys.union(keys)
    }

    private func start(_ index: Int, limit: Int, depth: Int) throws(RealmError) -> Start? {
        let node = program.nodes[index]
        switch node.kind {
        case .and where depth < Self.depthMax: return try leastOf(node, limit, depth)
        case .or where depth < Self.depthMax: return try allOf(node, limit, depth)
        case .and, .or: return nil
        default:
            guard let found = try estimate(index, limit: limit) else { return nil }
            return Start(tests: [index], count: found.count, isExact: found.isExact)
        }
    }

    /// The conjunct with the fewest candidates.
    private func leastOf(
        _ node: FilterNode, _ limit: Int, _ depth: Int
    ) throws(RealmError) -> Start? {
        var best: Start?
        // What lies behind a link is looked up only if nothing else is small: it may take a scan
        // of the other class.
        for behindLinks in [false, true] {
            for child in 0..<Int(node.b) {
                let index = Int(program.children[Int(node.a) + child])
                let kind = program.nodes[index].kind
                guard (kind == .path || kind == .reach) == behindLinks else { continue }
                // Nor if the links of the candidates are followed for less.
                if behindLinks, let best, try walks(index, best.count) { continue }
                let limit = best.map { $0.count - 1 } ?? limit
                guard var found = try start(index, limit: limit, depth: depth + 1) else { continue }
                found.isExact = found.isExact && node.b == 1
                if found.count <= Self.fewCandidates { return found }
                best = found
            }
            if let best, best.count <= 64 + table.rowCount / 1000 { return best }
        }
        return best
    }

    /// The candidates of every alternative.
    private func allOf(
        _ node: FilterNode, _ limit: Int, _ depth: Int
    ) throws(RealmError) -> Start? {
        var all = Start(tests: [], count: 0, isExact: true)
        // A scan would begin with what full-text indexes have for words as well.
        let limit = hasWordsAlone(node) ? .max : limit
        for child in 0..<Int(node.b) {
            let index = Int(program.children[Int(node.a) + child])
            guard let found = try start(index, limit: limit - all.count, depth: depth + 1) else {
                return nil
            }
            all.tests.append(contentsOf: found.tests)
            all.count += found.count
            all.isExact = all.isExact && found.isExact
        }
        return all
    }

    private func hasWordsAlone(_ node: FilterNode) -> Bool {
        (0..<Int(node.b)).allSatisfy { child in
            let part = program.nodes[Int(program.children[Int(node.a) + child])]
            return part.kind == .words && !part.negated
        }
    }

    /// How many candidates one test has, if an index knows them and they are at most `limit`.
    private func estimate(
        _ index: Int, limit: Int
    ) throws(RealmError) -> (count: Int, isExact: Bool)? {
        let node = program.nodes[index]
        var count = 0
        switch try source(index) {
        case nil: return nil
        case .keys:
            count = node.kind == .intRange ? 1 : program.members(node).count
            return count <= limit ? (count, true) : nil
        case .ranges(let reader, let ranges, let isExact):
            for range in ranges {
                count += try reader.count(range)
                if count > limit { return nil }
            }
            return (count, isExact)
        case .words:
            count = try wordCountMax(node)
            return count <= limit ? (count, true) : nil
        case .reach: return try reachCount(index, limit: limit).map { ($0, true) }
        case .links:
            guard let targets = try linkTargets(index) else { return nil }
            for target in 0..<targets.count {
                count += try table.sourceCount(of: targets.key(target), column: Int(node.column))
                if count > limit { return nil }
            }
            return (count, true)
        }
    }

    /// Keys that one test can pass, if an index knows them and they are at most `limit`.
    private func candidates(
        of index: Int, limit: Int
    ) throws(RealmError) -> (keys: [ObjectKey], isExact: Bool)? {
        let node = program.nodes[index]
        switch try source(index) {
        case nil: return nil
        case .keys:
            var keys: [ObjectKey] = []
            let values =
                node.kind == .intRange ? [node.low] : program.members(node).map { $0.0 }
            guard values.count <= limit else { return nil }
            for value in values {
                if let key = try table.find(primaryKey: .int(value)) { keys.append(key) }
            }
            return (Self.sortedUnique(keys), true)
        case .ranges(let reader, let ranges, let isExact):
            var count = 0
            for range in ranges {
                count += try reader.count(range)
                if count > limit { return nil }
            }
            var keys: [ObjectKey] = []
            keys.reserveCapacity(count)
            for range in ranges { keys.append(contentsOf: try reader.keys(range)) }
            return (Self.sortedUnique(keys), isExact)
        case .words:
            // The whole answer, which a scan would begin with as well.
            if index != root {
                guard try wordCountMax(node) <= limit else { return nil }
            }
            return (try wordKeys(node), true)
        case .reach:
            guard try reachCount(index, limit: limit) != nil else { return nil }
            return (try reachKeys(index).keys, true)
        case .links:
            guard let targets = try linkTargets(index) else { return nil }
            var count = 0
            for target in 0..<targets.count {
                count += try table.sourceCount(of: targets.key(target), column: Int(node.column))
                if count > limit { return nil }
            }
            var keys: [ObjectKey] = []
            keys.reserveCapacity(count)
            for target in 0..<targets.count {
                keys.append(
                    contentsOf: try table.sources(
                        of: targets.key(target), column: Int(node.column)))
            }
            return (Self.sortedUnique(keys), true)
        }
    }
}
