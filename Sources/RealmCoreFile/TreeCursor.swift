// The leaves of a B+tree, one after the other: of lists, sets and dictionaries, and in format 9 of all
// columns. An inner node has a shape, its children, and the number of elements below. The shape is only
// for finding an element by its index, which nobody does here.

struct TreeCursor {
    private static let levelsMax = 32

    private let store: NodeStore
    /// Children that are still to be visited, the next one last; a list for each level.
    private var levels: [[UInt64]]
    private var root: Node?
    /// The number of elements that the root tells; nil when it is a leaf.
    let total: Int?

    init(_ store: NodeStore, _ ref: UInt64, _ what: StaticString) throws(CoreFileError) {
        try self.init(store, try store.node(ref, what))
    }

    /// `node`: the root.
    init(_ store: NodeStore, _ node: Node) throws(CoreFileError) {
        self.store = store
        root = node.isInner ? nil : node
        levels = []
        guard node.isInner else {
            total = nil
            return
        }
        levels.append(try Self.children(node))
        let told = try node.tagged(node.count - 1)
        guard told < 1 << 48 else { throw node.fail("\(told) elements below") }
        total = Int(told)
    }

    /// Reads again what is looked at after bytes were given back.
    func reload() throws(CoreFileError) { if let root { try store.reload(root) } }

    /// Nil at the end.
    mutating func next() throws(CoreFileError) -> Node? {
        if let leaf = root {
            root = nil
            return leaf
        }
        while let ref = levels.last?.last {
            levels[levels.count - 1].removeLast()
            let node = try store.node(ref, "child of a tree")
            guard node.isInner else { return node }
            guard levels.count < Self.levelsMax else {
                throw node.fail("a tree of too many levels")
            }
            levels.append(try Self.children(node))
            dropFinished()
        }
        dropFinished()
        return levels.isEmpty ? nil : try next()
    }

    private mutating func dropFinished() {
        while let last = levels.last, last.isEmpty { levels.removeLast() }
    }

    private static func children(_ node: Node) throws(CoreFileError) -> [UInt64] {
        guard node.kind == .integers, node.count >= 3 else {
            throw node.fail("an inner node of a tree with \(node.count) elements")
        }
        guard node.width >= 8 else { throw node.fail("references of \(node.width) bits") }
        var refs: [UInt64] = []
        refs.reserveCapacity(node.count - 2)
        var index = node.count - 2
        while index > 0 {
            refs.append(try node.ref(index))
            index -= 1
        }
        return refs
    }
}
