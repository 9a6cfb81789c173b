// Collects the nodes of a filter while the binder works, then brings them into the form that
// execution wants: negation pushed down, flat chains, ranges of one column fused, equalities of one
// column made a set, cheap tests first.
//
// Works without recursion: the depth of a predicate is the user's.

struct FilterBuilder {
    var nodes: [FilterNode] = []
    var children: [Int32] = []
    var hops: [FilterHop] = []
    var sets: [FilterSet] = []
    var members: [(Int64, Int64)] = []
    var patterns: [RegularExpression] = []
    var shapes: [GeoCondition] = []
    var bytes: [UInt8] = []
    var expressions = ExpressionTables()

    mutating func add(_ node: FilterNode) -> Int32 {
        nodes.append(node)
        return Int32(truncatingIfNeeded: nodes.count - 1)
    }

    mutating func add(_ kind: FilterKind, _ parts: [Int32]) -> Int32 {
        var node = FilterNode(kind)
        node.a = Int32(children.count)
        node.b = Int32(parts.count)
        children.append(contentsOf: parts)
        return add(node)
    }

    mutating func addText(_ text: [UInt8]) -> FilterText {
        let place = FilterText(offset: Int32(bytes.count), count: Int32(text.count))
        bytes.append(contentsOf: text)
        return place
    }

    mutating func addText(_ text: UnsafeBufferPointer<UInt8>) -> FilterText {
        let place = FilterText(offset: Int32(bytes.count), count: Int32(text.count))
        bytes.append(contentsOf: text)
        return place
    }

    /// The bytes at a place.
    func text(_ place: FilterText) -> ArraySlice<UInt8> {
        bytes[Int(place.offset)..<Int(place.offset + place.count)]
    }

    /// Adds a set; members must be sorted and distinct.
    mutating func addSet(_ sorted: [(Int64, Int64)]) -> Int32 {
        sets.append(FilterSet(first: Int32(members.count), count: Int32(sorted.count)))
        members.append(contentsOf: sorted)
        return Int32(sets.count - 1)
    }

    /// NOT of a node: tests are turned round in place (they have one parent each), chains are
    /// wrapped as a marker that `finish` resolves.
    mutating func negate(_ index: Int32) -> Int32 {
        switch nodes[Int(index)].kind {
        case .and, .or:
            // `negated` on a chain means NOT of the whole; `finish` pushes it down.
            nodes[Int(index)].negated.toggle()
        default:
            nodes[Int(index)].negated.toggle()
            nodes[Int(index)].matchesNull.toggle()
        }
        return index
    }

    // MARK: Normal form

    /// Rebuilds the tree under `root` in normal form and returns its new root.
    mutating func finish(_ root: Int32) -> Int32 {
        switch nodes[Int(root)].kind {
        case .and, .or, .path: break
        default:
            rate(Int(root))
            return root
        }
        pushNegationDown(root)
        // Children first; a chain inside a chain of its kind belongs to the outer one.
        var order: [Int32] = []
        var stack = [root]
        while let index = stack.popLast() {
            order.append(index)
            let kind = nodes[Int(index)].kind
            if kind == .and || kind == .or {
                flatten(Int(index))
                let node = nodes[Int(index)]
                stack.append(contentsOf: children[Int(node.a)..<Int(node.a + node.b)])
            } else if kind == .path {
                stack.append(nodes[Int(index)].a)
            }
        }
        for index in order.reversed() { simplify(Int(index)) }
        return root
    }

    /// Takes the members of inner chains of the same kind into the chain.
    private mutating func flatten(_ index: Int) {
        let node = nodes[index]
        let range = Int(node.a)..<Int(node.a + node.b)
        guard children[range].contains(where: { nodes[Int($0)].kind == node.kind }) else { return }
        var parts: [Int32] = []
        var stack = Array(children[range].reversed())
        while let child = stack.popLast() {
            let inner = nodes[Int(child)]
            if inner.kind == node.kind {
                stack.append(
                    contentsOf: children[Int(inner.a)..<Int(inner.a + inner.b)].reversed())
            } else {
                parts.append(child)
            }
        }
        nodes[index].a = Int32(children.count)
        nodes[index].b = Int32(parts.count)
        children.append(contentsOf: parts)
    }

    private mutating func pushNegationDown(_ root: Int32) {
        var stack = [root]
        while let index = stack.popLast() {
            let node = nodes[Int(index)]
            guard node.kind == .and || node.kind == .or else { continue }
            let range = Int(node.a)..<Int(node.a + node.b)
            if node.negated {
                nodes[Int(index)].negated = false
                nodes[Int(index)].kind = node.kind == .and ? .or : .and
                for child in children[range] { _ = negate(child) }
            }
            stack.append(contentsOf: children[range])
        }
    }

    /// One chain whose children are in normal form already.
    private mutating func simplify(_ index: Int) {
        let node = nodes[index]
        guard node.kind == .and || node.kind == .or else {
            rate(index)
            return
        }
        let isAnd = node.kind == .and
        var parts: [Int32] = []
        for child in children[Int(node.a)..<Int(node.a + node.b)] {
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
            // Stable, so that equal costs keep the order of the text.
            let ranked = parts.enumerated().sorted {
                let a = nodes[Int($0.element)].cost
                let b = nodes[Int($1.element)].cost
                return a != b ? a < b : $0.offset < $1.offset
            }
            nodes[index].a = Int32(children.count)
            nodes[index].b = Int32(parts.count)
            children.append(contentsOf: ranked.map { $0.element })
            nodes[index].cost = parts.reduce(UInt8(0)) {
                max($0, nodes[Int($1)].cost)
            }
        }
    }

    /// `a >= x AND a < y` becomes one range test.
    private mutating func fuseRanges(_ parts: inout [Int32]) {
        var kept: [Int32] = []
        for part in parts {
            let node = nodes[Int(part)]
            let isRange =
                node.kind == .intRange || node.kind == .doubleRange || node.kind == .floatRange
                || node.kind == .timestampRange
            // Long chains are left alone: the search for a partner is quadratic.
            if isRange, !node.negated, !node.matchesNull, kept.count < 64,
                let partner = kept.first(where: {
                    let other = nodes[Int($0)]
                    return other.kind == node.kind && other.column == node.column
                        && !other.negated && !other.matchesNull
                })
            {
                intersect(Int(partner), node)
            } else {
                kept.append(part)
            }
        }
        parts = kept
    }

    private mutating func intersect(_ index: Int, _ other: FilterNode) {
        var node = nodes[index]
        switch node.kind {
        case .doubleRange, .floatRange:
            let low = max(Self.double(node.low), Self.double(other.low))
            let high = min(Self.double(node.high), Self.double(other.high))
            node.low = Int64(bitPattern: low.bitPattern)
            node.high = Int64(bitPattern: high.bitPattern)
            if low > high { node = .constant(false) }
        case .timestampRange:
            if (other.low, other.lowExtra) > (node.low, node.lowExtra) {
                (node.low, node.lowExtra) = (other.low, other.lowExtra)
            }
            if (other.high, other.highExtra) < (node.high, node.highExtra) {
                (node.high, node.highExtra) = (other.high, other.highExtra)
            }
            if (node.low, node.lowExtra) > (node.high, node.highExtra) { node = .constant(false) }
        default:
            node.low = max(node.low, other.low)
            node.high = min(node.high, other.high)
            if node.low > node.high { node = .constant(false) }
        }
        nodes[index] = node
    }

    static func double(_ bits: Int64) -> Double { Double(bitPattern: UInt64(bitPattern: bits)) }

    /// Many `a == x OR a == y …` become one set test.
    private mutating func fuseEqualities(_ parts: inout [Int32]) {
        guard parts.count > 2 else { return }
        struct Group {
            var members: [(Int64, Int64)] = []
            var positions: [Int] = []
        }
        var groups: [Int64: Group] = [:]
        for (position, part) in parts.enumerated() {
            let node = nodes[Int(part)]
            guard !node.negated, !node.matchesNull else { continue }
            let slot =
                Int64(node.column) << 16 | Int64(node.folding.rawValue) << 8
                | Int64(node.kind.rawValue)
            switch node.kind {
            case .intRange where node.low == node.high:
                groups[slot, default: Group()].members.append((node.low, 0))
            case .value where node.comparison == .equal && FilterBuilder.fuses(node.columnKind):
                groups[slot, default: Group()].members.append((Int64(node.a), Int64(node.b)))
            case .text where node.op == .equal:
                groups[slot, default: Group()].members.append((Int64(node.a), Int64(node.b)))
            default: continue
            }
            groups[slot]?.positions.append(position)
        }
        var dropped = Set<Int>()
        for slot in groups.keys.sorted() {
            guard let group = groups[slot], group.members.count > 2 else { continue }
            let first = group.positions[0]
            let model = nodes[Int(parts[first])]
            let isValue = model.kind == .value
            var node = FilterNode(
                isValue ? .valueSet : model.kind == .text ? .textSet : .intSet)
            node.column = model.column
            node.columnKind = model.columnKind
            node.isKeyColumn = model.isKeyColumn
            node.linkClass = model.linkClass
            node.folding = model.folding
            node.a = addSet(
                isValue
                    ? sortedValues(group.members)
                    : model.kind == .text
                        ? sortedTexts(group.members) : Self.sortedInts(group.members))
            parts[first] = add(node)
            rate(Int(parts[first]))
            dropped.formUnion(group.positions.dropFirst())
        }
        if !dropped.isEmpty {
            parts = parts.enumerated().filter { !dropped.contains($0.offset) }.map { $0.element }
        }
    }

    static func sortedInts(_ values: [(Int64, Int64)]) -> [(Int64, Int64)] {
        var sorted = values.sorted { $0.0 != $1.0 ? $0.0 < $1.0 : $0.1 < $1.1 }
        removeRepeats(&sorted) { $0.0 == $1.0 && $0.1 == $1.1 }
        return sorted
    }

    /// Texts, given by place, in order of length and bytes, each once.
    func sortedTexts(_ places: [(Int64, Int64)]) -> [(Int64, Int64)] {
        bytes.withUnsafeBytes { buffer in
            func slice(_ place: (Int64, Int64)) -> Slice<UnsafeRawBufferPointer> {
                buffer[Int(place.0)..<Int(place.0 + place.1)]
            }
            var sorted = places.sorted {
                $0.1 != $1.1 ? $0.1 < $1.1 : slice($0).lexicographicallyPrecedes(slice($1))
            }
            Self.removeRepeats(&sorted) { $0.1 == $1.1 && slice($0).elementsEqual(slice($1)) }
            return sorted
        }
    }

    /// Whether a set finds what single tests of such a column find. Decimals and binary numbers
    /// among mixed values are compared pair by pair (`ValueTest`).
    static func fuses(_ kind: ColumnKind) -> Bool {
        kind == .decimal || kind == .objectId || kind == .uuid
    }

    /// Values, given by place of their `MixedCell`s, in their order, each once.
    func sortedValues(_ places: [(Int64, Int64)]) -> [(Int64, Int64)] {
        bytes.withUnsafeBytes { buffer in
            func value(_ place: (Int64, Int64)) -> RawValue {
                MixedCell.decode(
                    UnsafeRawBufferPointer(
                        rebasing: buffer[Int(place.0)..<Int(place.0 + place.1)]))
            }
            var sorted = places.sorted { ValueOrder.compare(value($0), value($1)) < 0 }
            Self.removeRepeats(&sorted) { ValueOrder.equal(value($0), value($1)) }
            return sorted
        }
    }

    private static func removeRepeats(
        _ values: inout [(Int64, Int64)], _ same: ((Int64, Int64), (Int64, Int64)) -> Bool
    ) {
        var kept = 0
        for index in values.indices where kept == 0 || !same(values[kept - 1], values[index]) {
            values[kept] = values[index]
            kept += 1
        }
        values.removeLast(values.count - kept)
    }

    /// Rough cost of a test per row, from what the kernels were measured at.
    private mutating func rate(_ index: Int) {
        let node = nodes[index]
        let cost: UInt8
        switch node.kind {
        case .nothing: cost = 0
        case .intRange: cost = 1
        case .doubleRange, .floatRange: cost = 2
        case .timestampRange: cost = 3
        case .intSet: cost = 5
        case .doubleSet, .floatSet, .timestampSet: cost = 8
        case .linkToPrimaryKey: cost = 2
        case .words: cost = 4
        case .text:
            switch node.op {
            case .equal, .beginsWith, .endsWith, .less, .lessEqual:
                cost = node.folding.isEmpty ? 10 : 20
            case .contains: cost = node.folding.isEmpty ? 24 : 26
            case .like: cost = 60
            case .matches: cost = 90
            }
        case .textSet: cost = 30
        case .value: cost = node.columnKind == .mixed ? 20 : 12
        case .valueSet: cost = 28
        case .mixedText: cost = 50
        case .path: cost = 6
        case .reach: cost = 4
        case .elements: cost = 30
        case .memberCount: cost = 32
        case .expression: cost = 200
        case .and, .or: cost = node.cost
        }
        nodes[index].cost = cost
    }
}
