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
        var total = 0
        let dropsNull = rules.type == .link
        while let node = try cursor.next() {
            let leaf = try Leaf(self, node, rules)
            total += leaf.count
            guard total <= Self.elementsMax else {
                throw node.fail("a collection of more than \(Self.elementsMax) elements")
            }
            values.reserveCapacity(total)
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

    /// Hands out the elements of a list or set as cells, leaf by leaf. Not for mixed values.
    func forEachPart(
        _ ref: UInt64, _ rules: LeafRules,
        _ body: (UnsafeBufferPointer<CoreCell>) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        if ref == 0 { return }
        var cursor = try TreeCursor(store, ref, "collection")
        var total = 0
        while let node = try cursor.next() {
            let leaf = try Leaf(self, node, rules)
            total += leaf.count
            guard total <= Self.elementsMax else {
                throw node.fail("a collection of more than \(Self.elementsMax) elements")
            }
            elementCells.reserve(leaf.count)
            try leaf.fill(elementCells.cells, elementCells, defers: false)
            var count = leaf.count
            if rules.type == .link {
                // Links to objects that are not there are left out.
                count = 0
                for index in 0..<leaf.count where elementCells.cells[index].kind != .null {
                    elementCells.cells[count] = elementCells.cells[index]
                    count += 1
                }
            }
            try body(UnsafeBufferPointer(start: elementCells.cells, count: count))
        }
        try check(total, cursor, ref)
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
