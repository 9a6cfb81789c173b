// Carrying out a plan: the keys that indexes give, or their number alone.

import CKernels

extension Selection {
    /// The passing keys, ascending, when indexes make them cheaper than a scan; `wanted`: only the
    /// first so many are read.
    func candidates(wanted: Int = .max) throws(RealmError) -> [ObjectKey]? {
        if wanted == .max, let found = try linkers() { return found.objects.keys }
        return try plannedKeys(wanted: wanted)
    }

    /// The same without a look at all links (`linkers`), for who has asked for that before.
    func plannedKeys(wanted: Int = .max) throws(RealmError) -> [ObjectKey]? {
        let node = program.nodes[root]
        // The whole answer, which a scan would begin with as well.
        if case .words(let search) = node.test, !node.negated { return try wordKeys(node, search) }
        if let keys = try followed(wanted: wanted) { return keys }
        guard let plan = try plan(limit: candidatesMax(wanted: wanted)) else { return nil }
        var keys = try keys(of: plan.part)
        for part in plan.further { keys.append(contentsOf: try self.keys(of: part)) }
        keys = KeyList.union(keys)
        return plan.isExact ? keys : try narrow(keys)
    }

    private func keys(of part: Plan.Part) throws(RealmError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        switch part.access {
        case .keys(let values):
            for value in values {
                if let key = try table.find(
                    primaryKey: .int(value), column: Int(program.nodes[part.test].column))
                {
                    keys.append(key)
                }
            }
        case .ranges(let reader, let ranges, _):
            if ranges.count == 1 { return try reader.keys(ranges[0]) }
            for range in ranges { keys.append(contentsOf: try reader.keys(range)) }
        case .words(let search): return try wordKeys(program.nodes[part.test], search)
        case .reach: return try reachKeys(part.test).keys
        case .links(let targets):
            return try Self.sources(
                table, column: Int(program.nodes[part.test].column), targets: targets.keys,
                orNull: false)
        }
        return keys
    }

    // MARK: Counting without objects

    /// The count when the whole filter is one test that an index answers exactly.
    func indexCount() throws(RealmError) -> Int? {
        let node = program.nodes[root]
        switch node.test {
        case .text(let text):
            if let count = try equalTextCount(node, text) { return count }
        case .words(let search):
            let count = try wordCount(node, search)
            return node.negated ? max(0, table.rowCount - count) : count
        // What these name may not be there.
        case .reach: return nil
        default: break
        }
        guard let access = try access(root), access.isExact else { return nil }
        if case .keys = access { return nil }
        return try self.count(access, of: root)
    }

    /// The commonest look-up, `text == constant`, without intermediate ranges.
    private func equalTextCount(
        _ node: FilterNode, _ text: TextCondition
    ) throws(RealmError) -> Int? {
        guard text.op == .equal, text.folding.isEmpty, !node.negated, !node.matchesNull,
            Int(text.needle.count) + 1 < IndexLimits.valueBytesMax,
            let reader = table.index(column: Int(node.column))
        else { return nil }
        if reader.tree.isEmpty { return 0 }
        let count = Int(text.needle.count) + 1
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 8)
        defer { bytes.deallocate() }
        bytes.put(1 as UInt8, 0)
        memcpy(bytes + 1, program.bytes + Int(text.needle.offset), count - 1)
        let start = UnsafeRawPointer(bytes)
        let low = try reader.tree.rank(IndexPosition(bytes: start, count: count, key: .min))
        return try reader.tree.rank(IndexPosition(bytes: start, count: count, key: .max)) - low
    }
}
