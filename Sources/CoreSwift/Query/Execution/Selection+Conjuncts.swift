// A conjunction of tests of columns and conditions over links, when no index answers the former: they are
// asked first, by themselves. Where they leave few objects, the links of those are followed
// (`Selection.walk`), and no other class is looked through.

extension Selection {
    /// For so many times as many objects as are wanted a passing one is hoped for among the first.
    private static var hopedFor: Int { 16 }

    /// The passing keys, ascending, or the first of them that are `wanted`, when following links is
    /// cheaper than knowing what passes behind them.
    func followed(wanted: Int) throws(RealmError) -> [ObjectKey]? {
        guard let plain = try plainConjuncts() else { return nil }
        let (first, overflows) = wanted.multipliedReportingOverflow(by: Self.hopedFor)
        if !overflows, first < plain.most {
            let keys = try plain.conjuncts.scannedKeys(limit: first)
            let found = try narrow(keys)
            if found.count >= wanted || keys.count < first { return found }
        }
        return try fewLeft(plain).map { keys throws(RealmError) in try narrow(keys) }
    }

    /// How many objects the tests of columns leave, when their links are followed; for explanations.
    func followedCount() throws(RealmError) -> (conjuncts: [Int], count: Int)? {
        guard let plain = try plainConjuncts(), let keys = try fewLeft(plain) else { return nil }
        return ((plain.conjuncts.conjuncts ?? []).map { Int($0) }, keys.count)
    }

    private func fewLeft(
        _ plain: (conjuncts: Selection, most: Int)
    ) throws(RealmError) -> [ObjectKey]? {
        let keys = try plain.conjuncts.scannedKeys(limit: plain.most + 1)
        return keys.count <= plain.most ? keys : nil
    }

    /// The tests of columns, and of how many objects the links can be followed.
    private func plainConjuncts() throws(RealmError) -> (conjuncts: Selection, most: Int)? {
        guard program.hasLinks, case .and(let parts) = program.nodes[root].test, conjuncts == nil
        else { return nil }
        var plain: [Int32] = []
        var linked: [Int] = []
        for part in program.parts(parts) {
            var testsColumns = true
            program.forEachTest(under: Int(part)) { index in
                switch program.nodes[index].test {
                case .path, .reach, .memberCount:
                    linked.append(index)
                    testsColumns = false
                case .expression, .words: testsColumns = false
                default: break
                }
            }
            if testsColumns { plain.append(part) }
        }
        if plain.isEmpty || linked.isEmpty { return nil }
        var most = 0
        for node in linked { most = max(most, try walkedMost(node) ?? 0) }
        guard most > 0, try plan(limit: candidatesMax, asks: false) == nil else {
            return nil
        }
        let asked = Selection(
            snapshot, program, table, root: root, slot: slot, conjuncts: plain, sharing: run)
        // What two threads go through in one scan is not gone through by one before it.
        return asked.usesTwoCores ? nil : (asked, most)
    }
}

extension FilterProgram {
    /// Calls `body` with the tests at and under a node.
    func forEachTest<Failure: Error>(
        under root: Int, _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        guard nodes[root].isChain else { return try body(root) }
        var stack = [Int32(root)]
        while let next = stack.popLast() {
            if let (_, parts) = nodes[Int(next)].chain {
                stack.append(contentsOf: self.parts(parts))
            } else {
                try body(Int(next))
            }
        }
    }
}
