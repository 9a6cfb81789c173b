// Where the leaves of a large collection's tree begin, decoded from its branches: the element at a
// position is found with a load from a table, a comparison or two and no descent. For collections
// of a snapshot, which stay as they are.
//
// Positions are cut into slots of a power of two, about the average leaf; for each slot it is known
// which leaf holds its first element. Leaves are taken through the gate when they are first read,
// so that the directory costs no more than the branches.
//
// Owned by who made it; a value of raw pointers, so that a read counts no references.

struct CollectionDirectory {
    /// What is known of a leaf.
    struct Leaf {
        /// Its reference, in the branch above it.
        let place: UnsafeRawPointer
        /// Once it passed the gate; nil before.
        var block: UnsafeRawPointer?
        /// The values, if they are numbers of which none is null, as `ColumnView.packed` has them.
        var numbers: UnsafeRawPointer?
        var base: Int64 = 0
        var width = 0
    }

    private(set) var leafCount = 0
    private let starts: UnsafeMutablePointer<Int>
    private let leaves: UnsafeMutablePointer<Leaf>
    private let slots: UnsafeMutablePointer<Int32>
    private let shift: Int

    /// Of the tree with this root, depth and number of elements.
    init(
        _ table: Table, _ layout: ElementLayout, root: UnsafeRawPointer, depth: Int, count: Int
    ) throws(RealmError) {
        var found: [(start: Int, place: UnsafeRawPointer)] = []
        var total = 0
        try table.forEachLeafPlace(root, depth, count, layout) { place, elements in
            if elements > 0 { found.append((total, place)) }
            total += elements
        }
        guard total == count, found.count <= Int(Int32.max) else {
            throw RealmError(
                .invalidDatabase,
                "class \(table.state.classKey): a collection's tree has \(total) "
                    + "elements, its row says \(count)")
        }
        leafCount = found.count
        starts = .allocate(capacity: leafCount + 1)
        leaves = .allocate(capacity: leafCount)
        for (index, leaf) in found.enumerated() {
            starts[index] = leaf.start
            (leaves + index).initialize(to: Leaf(place: leaf.place))
        }
        starts[leafCount] = count
        let average = max(1, count / max(1, leafCount))
        shift = Int.bitWidth - 1 - average.leadingZeroBitCount
        let slotCount = (count >> shift) + 2
        slots = .allocate(capacity: slotCount)
        var leaf = 0
        for slot in 0..<slotCount {
            let position = min(slot << shift, count - 1)
            while leaf + 1 < leafCount, starts[leaf + 1] <= position { leaf += 1 }
            slots[slot] = Int32(truncatingIfNeeded: leaf)
        }
    }

    func deallocate() {
        starts.deallocate()
        leaves.deallocate()
        slots.deallocate()
    }

    // MARK: Reading

    /// The leaf that holds element `index`, which is there.
    @inline(__always)
    func leaf(of index: Int) -> Int {
        let slot = index >> shift
        var low = Int(slots[slot])
        var length = Int(slots[slot &+ 1]) &- low &+ 1
        while length > 4 {
            let half = length >> 1
            low = starts[low &+ half] <= index ? low &+ half : low
            length &-= half
        }
        while index >= starts[low &+ 1] { low &+= 1 }
        return low
    }

    @inline(__always) func start(_ leaf: Int) -> Int { starts[leaf] }
    @inline(__always) func count(_ leaf: Int) -> Int { starts[leaf &+ 1] &- starts[leaf] }
    @inline(__always) func place(_ leaf: Int) -> UnsafeRawPointer { leaves[leaf].place }
    @inline(__always) func block(_ leaf: Int) -> UnsafeRawPointer? { leaves[leaf].block }

    /// Remembers a leaf that passed the gate; `column`: its values. By one thread only.
    func note(_ leaf: Int, _ block: UnsafeRawPointer, _ column: Int, _ kind: ColumnKind) {
        leaves[leaf].block = block
        guard kind == .int || kind == .link, let view = LeafView(block).column(column),
            view.encoding == .packed, view.nulls == nil
        else { return }
        leaves[leaf].numbers = view.data
        leaves[leaf].base = view.base
        leaves[leaf].width = view.width
    }

    /// Element `index` of a leaf whose values are known to be numbers; else nil.
    @inline(__always)
    func number(_ leaf: Int, _ index: Int) -> Int64? {
        guard let numbers = leaves[leaf].numbers else { return nil }
        let row = index &- starts[leaf]
        return leaves[leaf].base
            &+ Int64(bitPattern: numbers.unsigned(leaves[leaf].width, row))
    }
}
