// Runs a bound predicate over sealed leaves: selection in, selection out. Chains run on explicit
// frames (the depth of a predicate is the user's); tests of columns are in the extensions.
//
// One filter is used by one thread, for one class in one snapshot.

import CKernels

final class LeafFilter {
    let program: FilterProgram
    let table: TableReader
    let nodes: UnsafeMutablePointer<FilterNode>
    /// Sets that were made for this run, by node: members of `intSet`s, and for paths the keys of
    /// the next objects that pass.
    private var sets: [Int: KeySet] = [:]
    /// Of `reach` nodes without a set: the objects that the first link has to lead to.
    private var targets: [Int: KeySet] = [:]
    /// Nodes whose sets hold for the objects at hand alone, and from how many objects links have
    /// been followed for each node (`Selection.walk`).
    private var walks: [Int] = []
    private var walkedCounts: [Int: Int] = [:]
    /// Of `memberCount` nodes that count backlinks: the class that links here.
    var origins: [Int: TableReader] = [:]
    /// Keys of the objects that `linkToPrimaryKey` nodes name; nil when there is no such object.
    private var links: [Int: ObjectKey?] = [:]
    /// What text tests with options, LIKE and MATCHES are done with, by node, and the one that was
    /// asked for last.
    private var matchers: [Int: TextMatcher] = [:]
    private var lastMatcher: TextMatcher?
    private var lastMatcherNode = -1
    /// For sets of folded texts.
    lazy var folder = TextFolder()
    /// Long lists of texts, by set.
    var textSets: [Int32: TextSet] = [:]
    /// Result of a column test before nulls and negation. Made when the first leaf is tested:
    /// many executions end in an index.
    @inline(__always) var match: Bitmap { scratch.unsafelyUnwrapped }
    private var scratch: Bitmap?
    private var frames: [Frame] = []
    /// The leaf that will be tested next, if known: its columns are prefetched.
    var upcoming: LeafView?
    /// Evaluates `expression` nodes; made when there are some.
    var expressions: ExpressionEvaluator?
    /// What its evaluators share, made when there is the first.
    var expressionState: ExpressionState?
    /// Counts of elements, and rows that are counted apart; made when cells are first counted.
    private var cellCounts: UnsafeMutablePointer<UInt16>?
    private var oddCells: Bitmap?
    /// Three bitmaps for each OR that may be active at a time.
    private var pool: [Bitmap] = []

    private static let bitmapWords = LeafLayout.rowsMax / 64

    private struct Frame {
        var node: Int
        var next: Int
        var target: Bitmap
        /// OR: its bitmaps are `pool[depth]`: passed, left to test, and the child's.
        var depth: Int
    }

    init(_ program: FilterProgram, _ table: TableReader) {
        self.program = program
        self.table = table
        nodes = program.nodes
    }

    deinit {
        if let scratch { scratch.deallocate() }
        cellCounts?.deallocate()
        oddCells?.deallocate()
        for bitmap in pool { bitmap.deallocate() }
    }

    /// Room for what the cells of a leaf are counted to.
    func cellScratch() -> (counts: UnsafeMutablePointer<UInt16>, odd: Bitmap) {
        if let cellCounts, let oddCells { return (cellCounts, oddCells) }
        let made = (
            UnsafeMutablePointer<UInt16>.allocate(capacity: LeafLayout.rowsMax),
            Bitmap.allocate(capacity: Self.bitmapWords)
        )
        (cellCounts, oddCells) = made
        return made
    }

    // MARK: Preparation

    /// To be called before the first leaf.
    func makeScratch() {
        if scratch == nil { scratch = .allocate(capacity: Self.bitmapWords) }
    }

    func setKeys(_ node: Int, _ set: KeySet) { sets[node] = set }
    /// Takes over what another filter of the same program made for the run.
    func adopt(_ other: LeafFilter) {
        sets = other.sets
        targets = other.targets
    }

    /// A set of this node is made for so many objects alone.
    func noteWalk(_ node: Int, _ count: Int) {
        walks.append(node)
        walkedCounts[node, default: 0] += count
    }

    /// From how many objects links were followed for this node.
    func walked(_ node: Int) -> Int { walkedCounts[node] ?? 0 }

    /// Forgets the sets that hold for some objects alone.
    func dropWalks() {
        for node in walks {
            sets[node] = nil
            targets[node] = nil
        }
        walks.removeAll(keepingCapacity: true)
    }

    func setTargets(_ node: Int, _ set: KeySet) { targets[node] = set }
    func targets(_ node: Int) -> KeySet? { targets[node] }
    func setLink(_ node: Int, _ key: ObjectKey?) { links[node] = .some(key) }
    @inline(__always) func keys(_ node: Int) -> KeySet? { sets[node] }

    /// The key that a `linkToPrimaryKey` node means.
    @inline(__always) func link(_ node: Int) -> ObjectKey? { links[node] ?? nil }

    /// The matcher of a text test, made when it is first needed.
    func matcher(_ index: Int, isString: Bool) -> TextMatcher {
        if index == lastMatcherNode, let lastMatcher { return lastMatcher }
        lastMatcherNode = index
        if let matcher = matchers[index] {
            lastMatcher = matcher
            return matcher
        }
        let node = nodes[index]
        let matcher: TextMatcher
        if node.op == .matches {
            matcher = TextMatcher(program.patterns[Int(node.lowExtra)])
        } else {
            matcher = TextMatcher(
                node.op, node.folding, isString: isString, hasEscapes: node.hasEscapes)
            matcher.prepare(program.needle(node), isFolded: true)
        }
        matchers[index] = matcher
        lastMatcher = matcher
        return matcher
    }

    // MARK: Trees

    /// Leaves in `selection` the rows that pass `root`.
    func apply(_ root: Int, _ leaf: LeafView, _ selection: Bitmap) throws(RealmError) {
        let kind = nodes[root].kind
        guard kind == .and || kind == .or else { return try test(root, leaf, selection) }
        let words = Bits.words(leaf.rows)
        frames.removeAll(keepingCapacity: true)
        frames.append(Frame(node: root, next: 0, target: selection, depth: depth(kind, 0)))
        while let top = frames.last {
            let node = nodes[top.node]
            let isAnd = node.kind == .and
            if !isAnd { resumeOr(top, words) }
            let isDone =
                top.next == Int(node.b)
                || Bits.isEmpty(isAnd ? top.target : pool[top.depth * 3 + 1], words)
            if isDone {
                if !isAnd { top.target.update(from: pool[top.depth * 3], count: words) }
                frames.removeLast()
                continue
            }
            let child = Int(program.children[Int(node.a) + top.next])
            frames[frames.count - 1].next += 1
            var target = top.target
            if !isAnd {
                target = pool[top.depth * 3 + 2]
                target.update(from: pool[top.depth * 3 + 1], count: words)
            }
            let childKind = nodes[child].kind
            if childKind == .and || childKind == .or {
                frames.append(
                    Frame(
                        node: child, next: 0, target: target,
                        depth: depth(childKind, top.depth + (isAnd ? 0 : 1))))
            } else {
                try test(child, leaf, target)
            }
        }
    }

    /// Makes room for the bitmaps of an OR at this depth.
    private func depth(_ kind: FilterKind, _ depth: Int) -> Int {
        while kind == .or && pool.count < (depth + 1) * 3 {
            pool.append(.allocate(capacity: Self.bitmapWords))
        }
        return depth
    }

    /// Starts an OR, or takes in what its last child passed.
    private func resumeOr(_ frame: Frame, _ words: Int) {
        let passed = pool[frame.depth * 3]
        let left = pool[frame.depth * 3 + 1]
        if frame.next == 0 {
            Bits.clear(passed, words)
            left.update(from: frame.target, count: words)
        } else {
            let child = pool[frame.depth * 3 + 2]
            for word in 0..<words {
                passed[word] |= child[word]
                left[word] &= ~child[word]
            }
        }
    }

    // MARK: Tests

    /// Removes from `selection` the rows that do not pass a test of a column.
    func test(_ index: Int, _ leaf: LeafView, _ selection: Bitmap) throws(RealmError) {
        let node = nodes[index]
        let words = Bits.words(leaf.rows)
        if let constant = node.constantResult {
            if !constant { Bits.clear(selection, words) }
            return
        }
        if node.kind == .words {
            testKeys(index, node, leaf)
            return finish(node, nil, selection, words)
        }
        if node.kind == .reach {
            if keys(index) == nil, let targets = targets(index) {
                return try testReach(node, targets, leaf, selection)
            }
            testKeys(index, node, leaf)
            return finish(node, nil, selection, words)
        }
        if node.kind == .elements {
            return try testElements(index, node, leaf, selection)
        }
        if node.kind == .memberCount {
            return try testMemberCount(index, node, leaf, selection)
        }
        if node.kind == .expression {
            try expressions?.test(node, table, leaf, selection)
            return
        }
        if node.isKeyColumn, leaf.rows > 0 {
            let last = leaf.key(leaf.rows &- 1)
            if last < IntegerKeys.indirectBase {
                testKeys(index, node, leaf)
                return finish(node, nil, selection, words)
            }
            if leaf.keyBase < IntegerKeys.indirectBase {
                return try testRows(index, node, leaf, selection)
            }
        }
        let info = table.column(Int(node.column))
        guard let column = leaf.column(Int(node.column), info), column.encoding != .absent else {
            let passes = try passes(index, table.table.absent(info))
            if !passes { Bits.clear(selection, words) }
            return
        }
        switch node.kind {
        case .nothing: Bits.clear(match, words)
        case .intRange: maskRange(column, node.low, node.high)
        case .intSet: maskSet(column, keys(index))
        case .path: maskSet(column, keys(index))
        case .linkToPrimaryKey:
            if column.encoding != .packed {
                try maskValues(index, leaf, column, node, selection)
            } else if let key = link(index) {
                maskRange(column, key.rawValue, key.rawValue)
            } else {
                Bits.clear(match, words)
            }
        case .doubleRange: maskDoubles(column, node)
        case .floatRange: maskFloats(column, node)
        case .doubleSet, .floatSet: maskFloatingSet(column, node)
        case .timestampRange: maskTimestamps(column, node)
        case .timestampSet: maskTimestampSet(column, node)
        case .text: try maskText(index, column, node, selection)
        case .textSet: try maskTextSet(column, node, selection)
        case .value, .valueSet, .mixedText:
            try maskValues(index, leaf, column, node, selection)
        case .and, .or, .words, .reach, .elements, .memberCount, .expression: return
        }
        finish(node, column.nulls, selection, words)
    }

    /// Applies negation and the result for nulls to `match` and cuts the selection down to it.
    @inline(__always)
    func finish(
        _ node: FilterNode, _ nulls: UnsafeRawPointer?, _ selection: Bitmap, _ words: Int
    ) {
        let flip: UInt64 = node.negated ? ~0 : 0
        guard let nulls else {
            for word in 0..<words { selection[word] &= match[word] ^ flip }
            return
        }
        if node.matchesNull {
            for word in 0..<words {
                selection[word] &= (match[word] ^ flip) | nulls.u64(word &* 8)
            }
        } else {
            for word in 0..<words {
                selection[word] &= (match[word] ^ flip) & ~nulls.u64(word &* 8)
            }
        }
    }

    /// Row by row, through values: for the one leaf where direct and indirect keys meet.
    private func testRows(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        try Bits.forEach(selection, Bits.words(leaf.rows)) { row throws(RealmError) in
            if try !passes(index, table.value(leaf, row, Int(node.column))) {
                Bits.unset(selection, row)
            }
            return true
        }
    }

    /// What a packed column or one of bits holds of a value.
    @inline(__always)
    private static func number(_ value: RawValue, _ kind: ColumnKind) -> Int64 {
        switch kind {
        case .bool: return value.boolValue ? 1 : 0
        case .link: return value.linkTarget.rawValue
        default: return value.intValue
        }
    }

    /// Whether one value passes a test.
    func passes(_ index: Int, _ value: RawValue) throws(RealmError) -> Bool {
        let node = nodes[index]
        if let constant = node.constantResult { return constant }
        if value.isNull { return node.matchesNull }
        let passed: Bool
        switch node.kind {
        case .nothing: passed = false
        case .intRange:
            let number = Self.number(value, node.columnKind)
            passed = number >= node.low && number <= node.high
        case .intSet, .path:
            passed = keys(index)?.contains(Self.number(value, node.columnKind)) ?? false
        case .linkToPrimaryKey where node.columnKind == .link:
            passed = link(index) == value.linkTarget
        case .linkToPrimaryKey, .value, .valueSet, .mixedText:
            passed = try passesMixed(value, index, node)
        case .doubleRange:
            passed =
                value.doubleValue >= FilterBuilder.double(node.low)
                && value.doubleValue <= FilterBuilder.double(node.high)
        case .floatRange:
            let number = Double(value.floatValue)
            passed =
                number >= FilterBuilder.double(node.low)
                && number <= FilterBuilder.double(node.high)
        case .doubleSet: passed = isMember(value.doubleValue, node)
        case .floatSet: passed = isMember(Double(value.floatValue), node)
        case .timestampRange: passed = isInside(value.seconds, value.nanoseconds, node)
        case .timestampSet: passed = isMember(value.seconds, value.nanoseconds, node)
        case .text:
            passed = try passes(value.bytes, index, node, isString: node.columnKind == .string)
        case .textSet: passed = isMember(value.bytes, node)
        // No value alone tells: `test` asks for the object.
        case .and, .or, .words, .reach, .elements, .memberCount, .expression: return false
        }
        return passed != node.negated
    }
}
