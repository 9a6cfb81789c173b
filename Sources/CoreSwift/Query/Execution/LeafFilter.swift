// Runs a bound predicate over sealed leaves: selection in, selection out. Chains run on explicit
// frames (the depth of a predicate is the user's); tests of columns are in the extensions.
//
// One filter is used by one thread, for one class in one snapshot.

import CKernels

final class LeafFilter {
    let program: FilterProgram
    let table: TableReader
    let nodes: UnsafeMutablePointer<FilterNode>
    /// What is known of the nodes. Made when it is first needed: many executions end in an index.
    var run: FilterRun {
        if let knownRun { return knownRun }
        let made = FilterRun(program)
        knownRun = made
        return made
    }
    private var knownRun: FilterRun?
    /// Nodes whose sets hold for the objects at hand alone (`Selection.walk`).
    private var walks: [Int] = []
    /// For sets of folded texts.
    lazy var folder = TextFolder()
    /// Result of a column test before nulls and negation. Made when the first leaf is tested:
    /// many executions end in an index.
    @inline(__always) var match: Bitmap { scratch.unsafelyUnwrapped }
    private var scratch: Bitmap?
    private var frames: [Frame] = []
    /// The leaf that will be tested next, if known: its columns are prefetched.
    var upcoming: LeafView?
    /// Evaluates `expression` nodes; made when there are some.
    var expressions: ExpressionEvaluator?
    /// Counts of elements, and rows that are counted apart; made when cells are first counted.
    private var cellCounts: UnsafeMutablePointer<UInt16>?
    private var oddCells: Bitmap?
    /// For each OR that may be active at a time.
    private var pool: [(left: Bitmap, child: Bitmap)] = []

    private static let bitmapWords = LeafLayout.rowsMax / 64

    private struct Frame {
        let isAnd: Bool
        /// Places among the children of its nodes that are to be tested.
        var parts: Range<Int>
        let target: Bitmap
        /// Rows that are left to test, and those that a node is tested with. AND: the target.
        var left: Bitmap
        var child: Bitmap
        /// ORs around it.
        let depth: Int
    }

    init(_ program: FilterProgram, _ table: TableReader, _ run: FilterRun?) {
        self.program = program
        knownRun = run
        self.table = table
        nodes = program.nodes
    }

    deinit {
        if let scratch { scratch.deallocate() }
        cellCounts?.deallocate()
        oddCells?.deallocate()
        for (left, child) in pool {
            left.deallocate()
            child.deallocate()
        }
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

    /// The set of this node is made for so many objects alone.
    func noteWalk(_ node: Int, _ count: Int) {
        walks.append(node)
        run.note(node) { $0.walked += count }
    }

    /// Forgets the sets that hold for some objects alone.
    func dropWalks() {
        for node in walks {
            run.note(node) {
                $0.keys = nil
                $0.targets = nil
            }
        }
        walks.removeAll(keepingCapacity: true)
    }

    /// The matcher of a text test, made when it is first needed.
    @inline(__always)
    func matcher(_ index: Int, _ text: TextCondition) -> TextMatcher {
        run.matcher(index) ?? makeMatcher(index, text)
    }

    private func makeMatcher(_ index: Int, _ text: TextCondition) -> TextMatcher {
        let matcher: TextMatcher
        if text.op == .matches {
            matcher = TextMatcher(program.patterns[Int(text.pattern)])
        } else {
            matcher = TextMatcher(
                text.op, text.folding, isString: text.isString, hasEscapes: text.hasEscapes)
            matcher.prepare(program.text(text.needle), isFolded: true)
        }
        run.note(index) { $0.matcher = matcher }
        return matcher
    }

    // MARK: Trees

    /// Leaves in `selection` the rows that pass `root`.
    func apply(_ root: Int, _ leaf: LeafView, _ selection: Bitmap) throws(RealmError) {
        guard let chain = nodes[root].chain else { return try test(root, leaf, selection) }
        let words = Bits.words(leaf.rows)
        frames.removeAll(keepingCapacity: true)
        begin(chain, selection, depth: 0, words)
        while let top = frames.last {
            if !top.isAnd {
                // What the last node passed need not be tested with others.
                for word in 0..<words { top.left[word] &= ~top.child[word] }
            }
            guard let part = top.parts.first, !Bits.isEmpty(top.left, words) else {
                if !top.isAnd {
                    for word in 0..<words { top.target[word] &= ~top.left[word] }
                }
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].parts.removeFirst()
            if !top.isAnd { top.child.update(from: top.left, count: words) }
            let index = Int(program.children[part])
            if let inner = nodes[index].chain {
                begin(inner, top.child, depth: top.depth + (top.isAnd ? 0 : 1), words)
            } else {
                try test(index, leaf, top.child)
            }
        }
    }

    /// A chain to go through; an OR gets room for its bitmaps at this depth.
    private func begin(
        _ chain: (isAnd: Bool, parts: FilterRange), _ target: Bitmap, depth: Int, _ words: Int
    ) {
        var frame = Frame(
            isAnd: chain.isAnd, parts: chain.parts.indices, target: target, left: target,
            child: target, depth: depth)
        if !chain.isAnd {
            if pool.count == depth {
                pool.append(
                    (.allocate(capacity: Self.bitmapWords), .allocate(capacity: Self.bitmapWords)))
            }
            (frame.left, frame.child) = pool[depth]
            frame.left.update(from: target, count: words)
            Bits.clear(frame.child, words)
        }
        frames.append(frame)
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
        switch node.test {
        case .words:
            maskKeys(run.keys(index), leaf)
            return finish(node, nil, selection, words)
        case .reach(let linked):
            if run.keys(index) == nil, let targets = run.targets(index) {
                return try testReach(node, linked, targets, leaf, selection)
            }
            maskKeys(run.keys(index), leaf)
            return finish(node, nil, selection, words)
        case .elements(let inner, let areKeys):
            return try testElements(
                SomeElement(inner: Int(inner), column: Int(node.column), areKeys: areKeys), node,
                leaf, selection)
        case .memberCount(let count):
            return try testMemberCount(index, count, node, leaf, selection)
        case .expression(let test):
            try expressions?.test(test, negated: node.negated, table, leaf, selection)
            return
        default: break
        }
        let info = table.column(Int(node.column))
        if info.isKey, leaf.rows > 0 {
            let last = leaf.key(leaf.rows &- 1)
            if last < IntegerKeys.indirectBase {
                maskKeyColumn(index, node, leaf)
                return finish(node, nil, selection, words)
            }
            if leaf.keyBase < IntegerKeys.indirectBase {
                return try testRows(index, node, leaf, selection)
            }
        }
        guard let column = leaf.column(Int(node.column), info), column.encoding != .absent else {
            let passes = try passes(index, table.table.absent(info))
            if !passes { Bits.clear(selection, words) }
            return
        }
        switch node.test {
        case .nothing: Bits.clear(match, words)
        case .intRange(let range):
            sendForUpcoming(column, Int(node.column), info)
            maskRange(column, range.low, range.high)
        case .intSet, .path: maskSet(column, run.keys(index), selection)
        case .object:
            if column.encoding != .packed {
                try maskValues(index, leaf, column, node, selection)
            } else if let key = run.object(index) {
                maskRange(column, key.rawValue, key.rawValue)
            } else {
                Bits.clear(match, words)
            }
        case .doubleRange(let range): maskDoubles(column, range)
        case .floatRange(let range): maskFloats(column, range)
        case .doubleSet(let set): maskSet(column, set, selection) { column.double($0) }
        case .floatSet(let set): maskSet(column, set, selection) { Double(column.float($0)) }
        case .timestampRange(let range): maskTimestamps(column, range)
        case .timestampSet(let set): maskTimestampSet(column, set, selection)
        case .text(let text): try maskText(index, column, Int(node.column), text, selection)
        case .textSet(let set, let folding):
            try maskTextSet(index, column, node, set, folding, selection)
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
        }
    }

    /// Whether one value passes a test.
    func passes(_ index: Int, _ value: RawValue) throws(RealmError) -> Bool {
        let node = nodes[index]
        if let constant = node.constantResult { return constant }
        if value.isNull { return node.matchesNull }
        let passed: Bool
        switch node.test {
        case .nothing: passed = false
        case .intRange(let range): passed = range.contains(value.number(node.columnKind))
        case .intSet, .path:
            passed = run.keys(index)?.contains(value.number(node.columnKind)) ?? false
        case .object where node.columnKind == .link:
            passed = run.object(index) == value.linkTarget
        case .object, .value, .valueSet, .mixedText:
            passed = try passesMixed(value, index, node)
        case .doubleRange(let range): passed = range.contains(value.doubleValue)
        case .floatRange(let range): passed = range.contains(Double(value.floatValue))
        case .doubleSet(let set): passed = isMember(value.doubleValue, set)
        case .floatSet(let set): passed = isMember(Double(value.floatValue), set)
        case .timestampRange(let range):
            passed = range.contains(
                Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds))
        case .timestampSet(let set): passed = isMember(value.seconds, value.nanoseconds, set)
        case .text(let text):
            passed = try passes(value.bytes, index, text)
        case .textSet(let set, let folding):
            passed = isMember(value.bytes, node, folding, set, textSet(index, set))
        // No value alone tells: `test` asks for the object.
        case .and, .or, .words, .reach, .elements, .memberCount, .expression: return false
        }
        return passed != node.negated
    }
}
