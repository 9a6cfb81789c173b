// Collects the nodes of a filter while the binder works, then brings them into the form that
// execution wants: negation pushed down, flat chains, ranges of one column fused, equalities of one
// column made a set, cheap tests first.
//
// Works without recursion: the depth of a predicate is the user's.

struct FilterBuilder {
    var nodes: [FilterNode] = []
    var children: [Int32] = []
    var members: [(Int64, Int64)] = []
    var patterns: [RegularExpression] = []
    var searches: [WordSearch] = []
    var shapes: [GeoCondition] = []
    var bytes: [UInt8] = []
    var expressions = ExpressionTables()

    mutating func add(_ node: FilterNode) -> Int32 {
        nodes.add(node)
    }

    /// An AND or OR of nodes.
    mutating func add(_ chain: (FilterRange) -> FilterTest, _ parts: [Int32]) -> Int32 {
        add(FilterNode(chain(addChildren(parts))))
    }

    private mutating func addChildren(_ parts: [Int32]) -> FilterRange {
        children.append(contentsOf: parts)
        return FilterRange(children.count - parts.count..<children.count)
    }

    mutating func addText(_ text: some Collection<UInt8>) -> FilterText {
        let place = FilterText(offset: Int32(bytes.count), count: Int32(text.count))
        bytes.append(contentsOf: text)
        return place
    }

    /// The bytes at a place.
    func text(_ place: FilterText) -> ArraySlice<UInt8> {
        bytes[Int(place.offset)..<Int(place.offset + place.count)]
    }

    /// NOT of a node: tests are turned round in place (they have one parent each); `negated` on a
    /// chain means NOT of the whole, which `finish` pushes down.
    mutating func negate(_ index: Int32) -> Int32 {
        nodes[Int(index)].negated.toggle()
        if !nodes[Int(index)].isChain { nodes[Int(index)].matchesNull.toggle() }
        return index
    }

    // MARK: Normal form

    /// Rebuilds the tree under `root` in normal form and returns its new root.
    mutating func finish(_ root: Int32) -> Int32 {
        switch nodes[Int(root)].test {
        case .and, .or, .path: break
        default:
            rate(Int(root))
            return root
        }
        pushNegationDown(root)
        // The commonest tree: a chain of tests.
        if let range = nodes[Int(root)].chain?.parts, children[range.indices].allSatisfy(isTest) {
            for place in range.indices { rate(Int(children[place])) }
            simplify(Int(root))
            return root
        }
        // Children first; a chain inside a chain of its kind belongs to the outer one.
        var order: [Int32] = []
        var stack = [root]
        while let index = stack.popLast() {
            order.append(index)
            switch nodes[Int(index)].test {
            case .and, .or: stack.append(contentsOf: flattened(Int(index)))
            case .path(let linked): stack.append(linked.test)
            default: break
            }
        }
        for index in order.reversed() { simplify(Int(index)) }
        return root
    }

    /// No other nodes are under it that are brought into normal form.
    private func isTest(_ index: Int32) -> Bool {
        switch nodes[Int(index)].test {
        case .and, .or, .path: return false
        default: return true
        }
    }

    /// Takes the members of inner chains of the same kind into the chain; returns its members.
    private mutating func flattened(_ index: Int) -> ArraySlice<Int32> {
        guard let (isAnd, range) = nodes[index].chain else { return [] }
        func isSame(_ part: Int32) -> Bool { nodes[Int(part)].chain?.isAnd == isAnd }
        guard children[range.indices].contains(where: isSame) else {
            return children[range.indices]
        }
        var parts: [Int32] = []
        var stack = Array(children[range.indices].reversed())
        while let child = stack.popLast() {
            if isSame(child), let inner = nodes[Int(child)].chain {
                stack.append(contentsOf: children[inner.parts.indices].reversed())
            } else {
                parts.append(child)
            }
        }
        setParts(index, isAnd, parts)
        return parts[...]
    }

    private mutating func setParts(_ index: Int, _ isAnd: Bool, _ parts: [Int32]) {
        let range = addChildren(parts)
        nodes[index].test = isAnd ? .and(range) : .or(range)
    }

    private mutating func pushNegationDown(_ root: Int32) {
        guard nodes.contains(where: { $0.negated && $0.isChain }) else { return }
        var stack = [root]
        while let index = stack.popLast() {
            let node = nodes[Int(index)]
            guard let (isAnd, range) = node.chain else { continue }
            if node.negated {
                nodes[Int(index)].negated = false
                nodes[Int(index)].test = isAnd ? .or(range) : .and(range)
                for child in children[range.indices] { _ = negate(child) }
            }
            stack.append(contentsOf: children[range.indices])
        }
    }

    /// One chain whose children are in normal form already.
    private mutating func simplify(_ index: Int) {
        guard let (isAnd, range) = nodes[index].chain else { return rate(index) }
        var parts: [Int32] = []
        parts.reserveCapacity(range.indices.count)
        for child in children[range.indices] {
            let part = nodes[Int(child)]
            if let constant = part.constantResult {
                // FALSE decides an AND, TRUE an OR; the other one is left out.
                if constant != isAnd {
                    nodes[index] = .constant(constant)
                    return
                }
            } else {
                parts.append(child)
            }
        }
        if isAnd { fuseRanges(&parts) } else { fuseEqualities(&parts) }
        if isAnd, parts.contains(where: { nodes[Int($0)].constantResult == false }) {
            nodes[index] = .constant(false)
            return
        }
        switch parts.count {
        case 0: nodes[index] = .constant(isAnd)
        case 1: nodes[index] = nodes[Int(parts[0])]
        default:
            let ranked = byCost(parts)
            setParts(index, isAnd, ranked)
            nodes[index].cost = nodes[Int(ranked[ranked.count - 1])].cost
        }
    }

    /// Cheap ones first; those of equal cost keep the order of the text.
    private func byCost(_ parts: [Int32]) -> [Int32] {
        func cost(_ part: Int32) -> UInt8 { nodes[Int(part)].cost }
        if zip(parts, parts.dropFirst()).allSatisfy({ cost($0) <= cost($1) }) { return parts }
        return parts.sortedFew { cost($0) < cost($1) }
    }

    /// `a >= x AND a < y` becomes one range test.
    private mutating func fuseRanges(_ parts: inout [Int32]) {
        var kept = 0
        for place in parts.indices {
            let part = parts[place]
            let node = nodes[Int(part)]
            // Long chains are left alone: the search for a partner is quadratic.
            if !node.negated, !node.matchesNull, kept < 64,
                let (partner, both) = intersection(node, among: parts, kept)
            {
                nodes[partner].test = both
                if case .nothing = both { nodes[partner] = .constant(false) }
            } else {
                parts[kept] = part
                kept += 1
            }
        }
        parts.removeLast(parts.count - kept)
    }

    /// The first of the `kept` parts that is a range of the same column as a node, and what both say;
    /// `nothing` when no value is in both.
    private func intersection(
        _ node: FilterNode, among parts: [Int32], _ kept: Int
    ) -> (partner: Int, both: FilterTest)? {
        for place in 0..<kept {
            let part = parts[place]
            let other = nodes[Int(part)]
            if other.column == node.column, !other.negated, !other.matchesNull,
                let both = Self.intersection(other.test, node.test)
            {
                return (Int(part), both)
            }
        }
        return nil
    }

    private static func intersection(_ a: FilterTest, _ b: FilterTest) -> FilterTest? {
        switch (a, b) {
        case (.intRange(let a), .intRange(let b)):
            return a.intersection(b).map(FilterTest.intRange) ?? .nothing
        case (.doubleRange(let a), .doubleRange(let b)):
            return a.intersection(b).map(FilterTest.doubleRange) ?? .nothing
        case (.floatRange(let a), .floatRange(let b)):
            return a.intersection(b).map(FilterTest.floatRange) ?? .nothing
        case (.timestampRange(let a), .timestampRange(let b)):
            return a.intersection(b).map(FilterTest.timestampRange) ?? .nothing
        default: return nil
        }
    }

    /// Many `a == x OR a == y …` become one set test.
    private mutating func fuseEqualities(_ parts: inout [Int32]) {
        guard parts.count > 2 else { return }
        struct Group: Hashable {
            var column: Int32
            var kind: SetKind
        }
        var groups: [Group: (members: [(Int64, Int64)], positions: [Int])] = [:]
        for (position, part) in parts.enumerated() {
            let node = nodes[Int(part)]
            guard !node.negated, !node.matchesNull, let (kind, member) = member(node),
                kind.isFused
            else { continue }
            let group = Group(column: node.column, kind: kind)
            groups[group, default: ([], [])].members.append(member)
            groups[group]?.positions.append(position)
        }
        var dropped = Set<Int>()
        for (group, found) in groups.sortedFew(by: { $0.value.positions[0] < $1.value.positions[0] }
        )
        where found.members.count > 2 {
            let first = found.positions[0]
            var node = nodes[Int(parts[first])]
            node.test = set(found.members, group.kind)
            parts[first] = add(node)
            rate(Int(parts[first]))
            dropped.formUnion(found.positions.dropFirst())
        }
        if !dropped.isEmpty {
            parts = parts.enumerated().filter { !dropped.contains($0.offset) }.map { $0.element }
        }
    }

    // MARK: Sets

    /// What tests for one value each have in common, for which one set can stand.
    enum SetKind: Hashable {
        case ints, doubles, floats, timestamps, values
        /// Folded so.
        case texts(UInt8)

        /// Also where such tests were written one by one.
        var isFused: Bool {
            switch self {
            case .ints, .values, .texts: return true
            case .doubles, .floats, .timestamps: return false
            }
        }
    }

    /// What a test for one value is in a set; nil where a set does not find what it finds: decimals
    /// and binary numbers among mixed values are compared pair by pair (`ValueTest`).
    func member(_ node: FilterNode) -> (kind: SetKind, member: (Int64, Int64))? {
        func bits(_ range: DoubleRange) -> (Int64, Int64)? {
            // Both zeros are one value; sets hold bits.
            let value = range.low == 0 ? 0 : range.low
            return range.isSingle ? (Int64(bitPattern: value.bitPattern), 0) : nil
        }
        switch node.test {
        case .intRange(let range) where range.isSingle: return (.ints, (range.low, 0))
        case .doubleRange(let range): return bits(range).map { (.doubles, $0) }
        case .floatRange(let range): return bits(range).map { (.floats, $0) }
        case .timestampRange(let range) where range.isSingle:
            return (.timestamps, (range.low.seconds, Int64(range.low.nanoseconds)))
        case .value(.equal, let cell):
            switch node.columnKind {
            case .decimal, .objectId, .uuid: return (.values, cell.member)
            case .mixed: return isExact(cell.member) ? (.values, cell.member) : nil
            default: return nil
            }
        case .text(let text) where text.op == .equal:
            return (.texts(text.folding.rawValue), text.needle.member)
        default: return nil
        }
    }

    /// The set of such members.
    mutating func set(_ members: [(Int64, Int64)], _ kind: SetKind) -> FilterTest {
        let sorted = sorted(members, kind)
        self.members.append(contentsOf: sorted)
        let set = FilterSet(self.members.count - sorted.count..<self.members.count)
        switch kind {
        case .ints: return .intSet(set)
        case .doubles: return .doubleSet(set)
        case .floats: return .floatSet(set)
        case .timestamps: return .timestampSet(set)
        case .values: return .valueSet(set)
        case .texts(let folding): return .textSet(set, TextFolding(rawValue: folding))
        }
    }

    /// In the order of sets, each once.
    private func sorted(_ members: [(Int64, Int64)], _ kind: SetKind) -> [(Int64, Int64)] {
        bytes.withUnsafeBytes { bytes in
            func order(_ a: (Int64, Int64), _ b: (Int64, Int64)) -> Int {
                switch kind {
                case .values:
                    return ValueOrder.compare(Self.value(a, bytes), Self.value(b, bytes))
                case .texts where a.1 == b.1:
                    return TextMatch.compare(Self.text(a, bytes), Self.text(b, bytes))
                case .texts: return a.1 < b.1 ? -1 : 1
                default: return a < b ? -1 : a == b ? 0 : 1
                }
            }
            var sorted = members.sorted { order($0, $1) < 0 }
            var kept = 0
            for index in sorted.indices
            where kept == 0 || order(sorted[kept - 1], sorted[index]) != 0 {
                sorted[kept] = sorted[index]
                kept += 1
            }
            sorted.removeLast(sorted.count - kept)
            return sorted
        }
    }

    private static func text(
        _ member: (Int64, Int64), _ bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Int(member.0)..<Int(member.0 + member.1)])
    }

    private static func value(
        _ member: (Int64, Int64), _ bytes: UnsafeRawBufferPointer
    ) -> RawValue {
        MixedCell.decode(text(member, bytes))
    }

    /// Whether a mixed value that is equal to this one is so by the order of values, too.
    private func isExact(_ member: (Int64, Int64)) -> Bool {
        switch ValueType(rawValue: bytes.withUnsafeBytes { Self.value(member, $0).type }) {
        case .float, .double, .decimal128: return false
        default: return true
        }
    }

    /// Rough cost of a test per row, from what the kernels were measured at.
    private mutating func rate(_ index: Int) {
        let cost: UInt8
        switch nodes[index].test {
        case .nothing: cost = 0
        case .intRange: cost = 1
        case .doubleRange, .floatRange: cost = 2
        case .timestampRange: cost = 3
        case .intSet: cost = 5
        case .doubleSet, .floatSet, .timestampSet: cost = 8
        case .object: cost = 2
        case .words: cost = 4
        case .text(let text):
            switch text.op {
            case .equal, .beginsWith, .endsWith, .less, .lessEqual:
                cost = text.folding.isEmpty ? 10 : 20
            case .contains: cost = text.folding.isEmpty ? 24 : 26
            case .like: cost = 60
            case .matches: cost = 90
            }
        case .textSet: cost = 30
        case .value: cost = nodes[index].columnKind == .mixed ? 20 : 12
        case .valueSet: cost = 28
        case .mixedText: cost = 50
        case .path: cost = 6
        case .reach: cost = 4
        case .elements: cost = 30
        case .memberCount: cost = 32
        case .expression: cost = 200
        case .and, .or: return
        }
        nodes[index].cost = cost
    }
}
