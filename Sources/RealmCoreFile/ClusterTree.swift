// Cluster trees, which hold the objects of a table (formats 10 on) in ascending order of their keys. A
// leaf of the tree, a cluster, has the keys of some objects and for each column a leaf with their values.

struct Cluster {
    let node: Node
    let store: NodeStore

    /// The leaf of the column with this slot.
    func leaf(_ slot: Int) throws(CoreFileError) -> Node {
        guard slot < node.count - 1 else {
            throw node.fail("column \(slot) of \(node.count - 1) is named")
        }
        return try store.node(try node.ref(slot + 1), "leaf of a cluster")
    }
}

struct ClusterTree {
    private static let levelsMax = 16
    /// Of one cluster: the library makes them of 256. What is made of more is limited by `NodeStore.hold`.
    private static let objectsMax = 1 << 24

    let store: NodeStore

    init(_ store: NodeStore) { self.store = store }

    /// Hands out each cluster with the keys of its objects. Returns the number of objects.
    @discardableResult
    func read(
        _ root: UInt64, keysAscendFromZero: Bool,
        _ body: (Cluster, [Int64]) throws(CoreFileError) -> Void
    ) throws(CoreFileError) -> Int {
        var state = State(checksKeys: keysAscendFromZero, last: -1, total: 0)
        try visit(root, 0, 0, &state, body)
        return state.total
    }

    private struct State {
        let checksKeys: Bool
        var last: Int64
        var total: Int
    }

    private func visit(
        _ ref: UInt64, _ base: UInt64, _ level: Int, _ state: inout State,
        _ body: (Cluster, [Int64]) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        let node = try store.node(ref, "objects")
        guard node.kind == .integers, node.count >= 1, node.isInner || node.hasRefs else {
            throw node.fail("not a cluster of objects")
        }
        guard node.isInner else {
            let keys = try keys(node, base)
            if state.checksKeys {
                for key in keys {
                    guard key > state.last else {
                        throw node.fail("object \(key) comes after object \(state.last)")
                    }
                    state.last = key
                }
            }
            state.total += keys.count
            return try body(Cluster(node: node, store: store), keys)
        }
        guard level < Self.levelsMax else { throw node.fail("a tree of too many levels") }
        guard node.count >= 3 else { throw node.fail("an inner node of \(node.count) elements") }
        guard node.width >= 8 else { throw node.fail("references of \(node.width) bits") }
        let children = node.count - 3
        let depth = try node.tagged(1)
        let told = try node.tagged(2)
        let offsetsRef = try node.ref(0)
        var refs: [(UInt64, UInt64)] = []
        refs.reserveCapacity(children)
        if offsetsRef == 0 {
            guard depth <= 7 else { throw node.fail("an inner node of depth \(depth)") }
            for index in 0..<children {
                refs.append((try node.ref(index + 3), UInt64(index) << (8 * depth)))
            }
        } else {
            let offsets = try store.integers(offsetsRef, "keys of clusters")
            guard offsets.count == children else {
                throw offsets.fail("\(offsets.count) keys of \(children) clusters")
            }
            for index in 0..<children {
                refs.append((try node.ref(index + 3), try offsets.unsigned(index)))
            }
        }
        // From here on the node is not looked at: its memory may have been given back.
        let before = state.total
        for (child, offset) in refs {
            try visit(child, base &+ offset, level + 1, &state, body)
        }
        guard told == UInt64(state.total - before) else {
            throw node.fail("\(told) objects are told, \(state.total - before) are there")
        }
    }

    /// The objects of a cluster, as it tells.
    func count(_ node: Node) throws(CoreFileError) -> Int {
        let first = UInt64(bitPattern: try node.int(0))
        if first & 1 == 1 { return Int(clamping: min(first >> 1, UInt64(Self.objectsMax))) }
        return try store.integers(first, "keys of objects").count
    }

    private func keys(_ node: Node, _ base: UInt64) throws(CoreFileError) -> [Int64] {
        let first = UInt64(bitPattern: try node.int(0))
        var keys: [Int64] = []
        if first & 1 == 1 {
            let count = first >> 1
            guard count <= Self.objectsMax else { throw node.fail("\(count) objects in a cluster") }
            // Without columns nothing else would tell that they are there.
            guard count <= 256 || node.count > 1 else {
                throw node.fail("\(count) objects without properties in a cluster")
            }
            try store.spend(Int(count), node)
            try store.hold(Int(count) * 8, node)
            keys.reserveCapacity(Int(count))
            for key in 0..<count { keys.append(Int64(bitPattern: base &+ key)) }
        } else {
            let array = try store.integers(first, "keys of objects")
            try store.spend(array.count, array)
            try store.hold(array.count * 8, array)
            keys.reserveCapacity(array.count)
            for index in 0..<array.count {
                keys.append(Int64(bitPattern: base &+ (try array.unsigned(index))))
            }
        }
        return keys
    }
}
