// Collections, also nested ones, and what values need of the file as a whole.

final class ValueReader {
    private static let nestingMax = 100
    /// Elements of one collection, which is handed out as a whole: 24 bytes each.
    static let elementsMax = 1 << 24

    let store: NodeStore
    /// Tables by their keys.
    var tables: [Int64: Int] = [:]
    /// Dictionaries of formats 21 and 22 are cluster trees.
    var hasDictionaryClusters = false
    private var nesting = 0
    /// Of the cluster that is read.
    let keeper = TextKeeper()
    /// Cells of the cluster, and of the elements of one collection.
    let clusterCells = CellBuffer()
    let elementCells = CellBuffer()

    init(_ store: NodeStore) { self.store = store }

    func timestamp(
        _ seconds: Int64, _ nanoseconds: Int64, _ node: Node
    ) throws(CoreFileError) -> CoreValue {
        guard nanoseconds.magnitude < 1_000_000_000 else {
            throw node.fail("\(nanoseconds) nanoseconds")
        }
        return .timestamp(seconds, Int32(nanoseconds))
    }

    /// A link that names its table; null when its object is not there.
    func link(tableKey: Int64, _ key: Int64, _ node: Node) throws(CoreFileError) -> CoreValue {
        guard key >= 0 else { return .null }
        guard let table = tables[tableKey] else {
            throw node.fail("a link to table \(tableKey), which there is not")
        }
        return .link(table, key)
    }

    /// The elements of a list or set.
    func elements(_ ref: UInt64, _ rules: LeafRules) throws(CoreFileError) -> [CoreValue] {
        if ref == 0 { return [] }
        var cursor = try TreeCursor(store, ref, "collection")
        var values: [CoreValue] = []
        // All at once: making room leaf by leaf copies what is there each time.
        if let told = cursor.total {
            guard told <= Self.elementsMax else {
                throw .damaged(
                    "tree at \(ref): a collection of more than \(Self.elementsMax) elements")
            }
            try hold(told, at: ref)
            values.reserveCapacity(told)
        }
        var total = 0
        let dropsNull = rules.type == .link
        while let node = try cursor.next() {
            let leaf = try Leaf(self, node, rules)
            total += leaf.count
            if let told = cursor.total {
                guard total <= told else {
                    throw node.fail("element \(total) of a tree of \(told)")
                }
            } else {
                try hold(total, at: ref)
                values.reserveCapacity(total)
            }
            for index in 0..<leaf.count {
                let value = try leaf.value(index)
                // A link to an object that is not there.
                if dropsNull && value == .null { continue }
                values.append(value)
            }
        }
        try check(total, cursor, ref)
        return values
    }

    private func hold(_ values: Int, at ref: UInt64) throws(CoreFileError) {
        try store.hold(values * MemoryLayout<CoreValue>.stride, at: ref)
    }

    /// Hands out the elements of a list or set as cells, leaf by leaf, until `body` says false; it is told
    /// whether they are all. Not for mixed values. A leaf that has all of them is offered as integers first, where
    /// they are nothing else: keys below 0 are of objects that are not there. What `numbers` says false to becomes cells.
    @inline(__always)
    func forEachPart(
        _ ref: UInt64, _ rules: ElementRules,
        numbers: (UnsafeBufferPointer<Int64>) throws(CoreFileError) -> Bool,
        _ body: (UnsafeBufferPointer<CoreCell>, Bool) throws(CoreFileError) -> Bool
    ) throws(CoreFileError) {
        if ref == 0 { return }
        let root = try store.node(ref, "collection")
        var total = 0
        guard root.isInner else {
            if isNumbers(root, rules) {
                let words = UnsafeBufferPointer(
                    start: try words(root, &total), count: root.count)
                if try numbers(words) { return }
                let count = fillNumbers(words, rules)
                _ = try body(UnsafeBufferPointer(start: elementCells.cells, count: count), true)
                return
            }
            let count = try fillElements(root, rules, &total)
            _ = try body(UnsafeBufferPointer(start: elementCells.cells, count: count), true)
            return
        }
        var cursor = try TreeCursor(store, root)
        while let node = try cursor.next() {
            let count = try fillElements(node, rules, &total)
            let cells = UnsafeBufferPointer(start: elementCells.cells, count: count)
            guard try body(cells, false) else { return }
        }
        try check(total, cursor, ref)
    }

    /// Makes cells of a leaf; how many. `total` grows by the elements of the leaf.
    private func fillElements(
        _ node: Node, _ rules: ElementRules, _ total: inout Int
    ) throws(CoreFileError) -> Int {
        if isNumbers(node, rules) {
            let words = UnsafeBufferPointer(start: try words(node, &total), count: node.count)
            return fillNumbers(words, rules)
        }
        let leaf = try Leaf(self, node, rules.leaf)
        try note(leaf.count, node, &total)
        elementCells.reserve(leaf.count)
        try leaf.fill(elementCells.cells, elementCells, defers: false)
        guard rules.type == .link else { return leaf.count }
        var count = 0
        for index in 0..<leaf.count where elementCells.cells[index].kind != .null {
            elementCells.cells[count] = elementCells.cells[index]
            count += 1
        }
        return count
    }

    /// The most common leaves, whose elements are integers as they are: they go without what others need.
    @inline(__always)
    private func isNumbers(_ node: Node, _ rules: ElementRules) -> Bool {
        guard node.kind == .integers, !node.hasRefs, !node.isInner else { return false }
        switch rules.type {
        case .int: return !rules.isNullable
        case .link: return rules.target != nil
        default: return false
        }
    }

    /// The integers of such a leaf.
    @inline(__always)
    private func words(
        _ node: Node, _ total: inout Int
    ) throws(CoreFileError) -> UnsafePointer<Int64> {
        try store.spend(node.count, node)
        try note(node.count, node, &total)
        let words = elementCells.words(node.count)
        try node.decode(into: words)
        return UnsafePointer(words)
    }

    /// Makes cells of them; how many.
    private func fillNumbers(_ words: UnsafeBufferPointer<Int64>, _ rules: ElementRules) -> Int {
        elementCells.reserve(words.count)
        let cells = elementCells.cells
        guard rules.type == .link, let target = rules.target.map({ UInt64($0) }) else {
            for index in words.indices {
                cells[index] = CoreCell(.int, UInt64(bitPattern: words[index]))
            }
            return words.count
        }
        // Links to objects that are not there are left out.
        var count = 0
        for word in words where word >= 0 {
            cells[count] = CoreCell(.link, target, UInt64(bitPattern: word))
            count &+= 1
        }
        return count
    }

    /// Counts the elements of a leaf. Cells of it, and what is made of them, are held until the next one.
    @inline(__always)
    private func note(_ count: Int, _ node: Node, _ total: inout Int) throws(CoreFileError) {
        let held = store.held
        try store.hold(count * 64, node)
        store.letGo(to: held)
        total += count
        guard total <= Self.elementsMax else {
            throw node.fail("a collection of more than \(Self.elementsMax) elements")
        }
    }

    private func check(_ total: Int, _ cursor: TreeCursor, _ ref: UInt64) throws(CoreFileError) {
        if let told = cursor.total, told != total {
            throw .damaged("tree at \(ref): \(told) elements are told, \(total) are there")
        }
    }

    func dictionary(_ ref: UInt64, hasIntKeys: Bool) throws(CoreFileError) -> [CoreEntry] {
        if ref == 0 { return [] }
        let keyRules = LeafRules(type: hasIntKeys ? .int : .string, isNullable: false)
        let valueRules = LeafRules(type: .mixed, isNullable: true, isInCollection: true)
        var keys: [CoreValue] = []
        var values: [CoreValue] = []
        if hasDictionaryClusters {
            try ClusterTree(store).read(ref, keysAscendFromZero: false) {
                (cluster, objects) throws(CoreFileError) in
                let names = try Leaf(self, try cluster.leaf(0), keyRules)
                let contents = try Leaf(self, try cluster.leaf(1), valueRules)
                guard names.count == objects.count, contents.count == objects.count else {
                    throw cluster.node.fail("a dictionary with unequal numbers of keys and values")
                }
                // Room for them may be twice what is needed.
                try hold(names.count * 4, at: ref)
                for index in 0..<names.count {
                    keys.append(try names.value(index))
                    values.append(try contents.value(index))
                }
            }
        } else {
            let pair = try store.references(ref, "dictionary", atLeast: 2)
            keys = try elements(try pair.ref(0), keyRules)
            values = try elements(try pair.ref(1), valueRules)
        }
        guard keys.count == values.count else {
            throw .damaged("dictionary at \(ref): \(keys.count) keys, \(values.count) values")
        }
        try hold(keys.count * 2, at: ref)
        guard !keys.contains(.null) else { throw .damaged("dictionary at \(ref): a key is null") }
        return zip(keys, values).map { CoreEntry(key: $0, value: $1) }
    }

    func nestedList(_ ref: UInt64, _ node: Node) throws(CoreFileError) -> [CoreValue] {
        try enter(node)
        defer { nesting -= 1 }
        return try elements(ref, LeafRules(type: .mixed, isNullable: true, isInCollection: true))
    }

    func nestedDictionary(_ ref: UInt64, _ node: Node) throws(CoreFileError) -> [CoreEntry] {
        try enter(node)
        defer { nesting -= 1 }
        return try dictionary(ref, hasIntKeys: false)
    }

    private func enter(_ node: Node) throws(CoreFileError) {
        guard nesting < Self.nestingMax else {
            throw node.fail("collections within collections more than \(Self.nestingMax) deep")
        }
        nesting += 1
    }
}
