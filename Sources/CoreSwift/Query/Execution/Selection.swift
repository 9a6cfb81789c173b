// Executing a filter against a class: which index or link to start from, otherwise a scan; then
// counting, finding the first, or listing keys in ascending order.

import CKernels

/// One execution of one filter program over a snapshot.
struct Selection: Planner {
    let snapshot: SnapshotReader
    let program: FilterProgram
    let table: TableReader
    /// The node to evaluate; not the program's root inside paths.
    let root: Int
    let filter: LeafFilter
    /// The scope whose members the rows are, for expressions.
    let slot: Int
    /// Of a conjunction, those of its parts that are asked; nil: the whole.
    let conjuncts: [Int32]?

    /// `sharing`: of the execution that this one is a part of.
    init(
        _ snapshot: SnapshotReader, _ program: FilterProgram, _ table: TableReader, root: Int,
        slot: Int = 0, conjuncts: [Int32]? = nil, sharing run: FilterRun? = nil
    ) {
        self.slot = slot
        self.conjuncts = conjuncts
        self.snapshot = snapshot
        self.program = program
        self.table = table
        self.root = root
        filter = LeafFilter(program, table, run)
    }

    var run: FilterRun { filter.run }

    /// Whether there is no condition.
    var passesAll: Bool { program.nodes[root].constantResult == true }

    // MARK: Results

    /// The number of objects that pass. Beyond `most`, which is enough to know, it need not be
    /// exact.
    func count(atMost most: Int = .max) throws(RealmError) -> Int {
        let node = program.nodes[root]
        if let constant = node.constantResult { return constant ? table.rowCount : 0 }
        if let count = try indexCount() { return count }
        if most == .max, let found = try linkers() { return found.count }
        if let keys = try plannedKeys(wanted: most) { return keys.count }
        try prepare()
        if most == .max, let count = try countRange(node) { return count }
        if most == .max, usesTwoCores {
            let counts = try scanHalves(0) { count, leaf, bitmap in
                count &+= Bits.count(bitmap, Bits.words(leaf.rows))
            }
            return counts.0 + counts.1
        }
        var count = 0
        try forEachLeaf { leaf, bitmap throws(RealmError) in
            count &+= Bits.count(bitmap, Bits.words(leaf.rows))
            return count < most
        }
        return count
    }

    /// Whether some object passes, and the one with the least key.
    func first() throws(RealmError) -> ObjectKey? {
        if program.nodes[root].constantResult == false { return nil }
        if let keys = try candidates(wanted: 1) { return keys.first }
        try prepare()
        var found: ObjectKey?
        try forEachLeaf { leaf, bitmap throws(RealmError) in
            for word in 0..<Bits.words(leaf.rows) where bitmap[word] != 0 {
                found = leaf.key(word << 6 &+ bitmap[word].trailingZeroBitCount)
                return false
            }
            return true
        }
        return found
    }

    /// Keys of the objects that pass, ascending; stops at `limit`.
    func keys(limit: Int = .max) throws(RealmError) -> [ObjectKey] {
        if program.nodes[root].constantResult == false || limit == 0 { return [] }
        if let keys = try candidates(wanted: limit) {
            return keys.count <= limit ? keys : Array(keys[..<limit])
        }
        return try scannedKeys(limit: limit)
    }

    /// The same, by looking at all leaves.
    func scannedKeys(limit: Int) throws(RealmError) -> [ObjectKey] {
        try prepare()
        if limit == .max && usesTwoCores {
            let found = try scanHalves([ObjectKey]()) { keys, leaf, bitmap in
                Self.append(leaf, bitmap, &keys)
            }
            return found.0 + found.1
        }
        var keys: [ObjectKey] = []
        try forEachLeaf { leaf, bitmap throws(RealmError) in
            Self.append(leaf, bitmap, &keys, limit: limit)
            return keys.count < limit
        }
        if keys.count > limit { keys.removeLast(keys.count - limit) }
        return keys
    }

    /// The objects that pass, as a set: of a scan over keys without large gaps its bits as they are found.
    func keySet() throws(RealmError) -> KeySet {
        if program.nodes[root].constantResult != nil { return KeySet(try keys()) }
        if let found = try linkers() { return found.objects }
        if let keys = try plannedKeys() { return KeySet(keys) }
        try prepare()
        guard !usesTwoCores, let bits = try KeyBits(table) else { return KeySet(try keys()) }
        var isSound = true
        try forEachLeaf { leaf, bitmap throws(RealmError) in
            isSound = bits.add(leaf, bitmap)
            return isSound
        }
        return isSound ? bits.set() : KeySet(try keys())
    }

    /// Appends the selected rows of a leaf, hardly more of them than `keys` has to `limit`.
    private static func append(
        _ leaf: LeafView, _ bitmap: Bitmap, _ keys: inout [ObjectKey], limit: Int = .max
    ) {
        for word in 0..<Bits.words(leaf.rows) where keys.count < limit {
            Bits.forEach(bitmap + word, 1) { keys.append(leaf.key(word << 6 &+ $0)) }
        }
    }

    // MARK: Scanning

    private func forEachLeaf(
        _ body: (LeafView, Bitmap) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        defer { bitmap.deallocate() }
        var leaves = table.leaves()
        let isTest = !program.nodes[root].isChain && conjuncts == nil
        let bounds = LeafBounds(self)
        while let leaf = try leaves.next() {
            if bounds.ruleOut(leaf) { continue }
            Bits.live(leaf, bitmap)
            filter.upcoming = leaves.upcoming
            if isTest {
                try filter.test(root, leaf, bitmap)
            } else {
                try ask(leaf, bitmap)
            }
            if Bits.isEmpty(bitmap, Bits.words(leaf.rows)) { continue }
            if try !body(leaf, bitmap) { return }
        }
    }

    /// Leaves in `selection` the rows that pass.
    private func ask(_ leaf: LeafView, _ selection: Bitmap) throws(RealmError) {
        guard let conjuncts else { return try filter.apply(root, leaf, selection) }
        for part in conjuncts { try filter.apply(Int(part), leaf, selection) }
    }

    /// Whether a scan is worth a second thread: it has much to look at, and tests only read leaves.
    var usesTwoCores: Bool {
        guard table.rowCount >= Self.twoCoresRows, TwoCores.areThere else { return false }
        var isSlow = false
        var isSafe = true
        forEachTest { test in
            switch program.nodes[test].test {
            case .text, .textSet, .value, .valueSet, .mixedText, .elements, .memberCount:
                isSlow = true
            // Sets of keys are looked up in no time, but collections are read.
            case .reach: if run.keys(test) == nil { isSlow = true }
            case .nothing, .intRange, .intSet, .doubleRange, .floatRange, .doubleSet, .floatSet,
                .timestampRange, .timestampSet:
                break
            default: isSafe = false
            }
        }
        // Numbers alone are compared faster than another thread starts.
        return isSafe && isSlow
    }

    static let twoCoresRows = 400_000

    /// What `body` gives for both halves of so many nodes, at the same time, each with a selection for its thread.
    func inHalves<T>(
        _ count: Int, _ body: (Selection, Range<Int>) throws(RealmError) -> T
    ) throws(RealmError) -> (T, T) {
        // The scratch memory of a filter is for one thread; the sets are for both.
        let other = Selection(
            snapshot, program, table, root: root, slot: slot, conjuncts: conjuncts,
            sharing: FilterRun(forThread: run))
        try other.prepare()
        return try table.sharing { () throws(RealmError) in
            try TwoCores.run { half throws(RealmError) in
                try body(half == 0 ? self : other, (0..<count).half(half))
            }
        }
    }

    /// Scans both halves of the leaves at once, each into a result of its own.
    private func scanHalves<T>(
        _ initial: T, _ body: (inout T, LeafView, Bitmap) -> Void
    ) throws(RealmError) -> (T, T) {
        let leaves = try NodeList(table.table).leaves()
        return try inHalves(leaves.places.count) { selection, range throws(RealmError) in
            try selection.scan(leaves, range, initial, body)
        }
    }

    private func scan<T>(
        _ leaves: NodeList, _ range: Range<Int>, _ initial: T,
        _ body: (inout T, LeafView, Bitmap) -> Void
    ) throws(RealmError) -> T {
        var result = initial
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        defer { bitmap.deallocate() }
        let bounds = LeafBounds(self)
        var asked = 0
        for index in range {
            let leaf: LeafView
            if let known = leaves.known(index) {
                leaf = known
            } else {
                if index >= asked {
                    asked = min(index + RowBranch.capacity, range.upperBound)
                    leaves.readAhead(index..<asked)
                }
                leaf = try leaves.leaf(index)
            }
            if bounds.ruleOut(leaf) { continue }
            Bits.live(leaf, bitmap)
            filter.upcoming = leaves.known(index + 1)
            try ask(leaf, bitmap)
            if !Bits.isEmpty(bitmap, Bits.words(leaf.rows)) { body(&result, leaf, bitmap) }
        }
        return result
    }

    // MARK: Preparation

    /// Calls `body` with all tests that are asked.
    private func forEachTest<Failure: Error>(
        _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        guard let conjuncts else { return try program.forEachTest(under: root, body) }
        for part in conjuncts.reversed() { try program.forEachTest(under: Int(part), body) }
    }

    /// Resolves what tests need from other classes and makes sets, for all nodes under the root.
    /// `keys`: only these objects will be tested.
    func prepare(for keys: [ObjectKey]? = nil) throws(RealmError) {
        filter.makeScratch()
        try forEachTest { index throws(RealmError) in
            var index = index
            if case .elements(let test, _) = program.nodes[index].test { index = Int(test) }
            let node = program.nodes[index]
            switch node.test {
            case .intSet(let set) where run.keys(index) == nil:
                let numbers = KeySet(numbers: program.members(set).map { $0.0 })
                run.note(index) { $0.keys = numbers }
            case .object(let name):
                let object = try program.find(name, snapshot)
                run.note(index) { $0.object = object }
            case .path, .reach, .memberCount:
                if let keys, try walk(index, from: keys) { return }
                try prepareLinks(index, node)
            case .words(let search) where run.keys(index) == nil:
                let keys = KeySet(try wordKeys(node, search))
                run.note(index) { $0.keys = keys }
            case .expression where filter.expressions == nil:
                let state =
                    if let known = run.expressions { known } else {
                        try ExpressionState(snapshot, program)
                    }
                run.expressions = state
                filter.expressions = try ExpressionEvaluator(
                    snapshot, program, slot: slot, sharing: state)
            default: break
            }
        }
    }

    /// Tests candidates, which need not be in order, leaf by leaf where neighbours share one.
    func verify(_ keys: [ObjectKey]) throws(RealmError) -> [ObjectKey] {
        var passed: [ObjectKey] = []
        passed.reserveCapacity(keys.count)
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        defer { bitmap.deallocate() }
        var position = 0
        while position < keys.count {
            guard let place = try table.row(keys[position]) else {
                position += 1
                continue
            }
            let leaf = place.leaf
            let words = Bits.words(leaf.rows)
            Bits.clear(bitmap, words)
            Bits.set(bitmap, place.row)
            // Following keys that ascend and lie in the same leaf go along.
            var end = position + 1
            while end < keys.count, keys[end] > keys[end - 1],
                let row = leaf.row(of: keys[end])
            {
                if !leaf.isDead(row) { Bits.set(bitmap, row) }
                end += 1
            }
            try filter.apply(root, leaf, bitmap)
            Self.append(leaf, bitmap, &passed)
            position = end
        }
        return passed
    }
}
