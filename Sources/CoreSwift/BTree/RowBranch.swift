// Inner nodes of the tree of a class, which is keyed by object key.
//
// A branch is one page: keys, row counts and references in three arrays, so that a search touches
// the keys alone. 84 children fit: 64 + 84 * (8 + 8 + 32) = 4096.
//
//   offset  size  field
//        0    16  block header (kind rowBranch; entry count = children)
//       16     2  level: 1 = the children are leaves
//       18    46  0
//       64   672  first key of each child (the first one stands for "minus infinity" in searches)
//      736   672  live rows under each child
//     1408  2688  references

enum TreeLimits {
    /// Rows or entries under one node; a bound that sums over a tree cannot make overflow.
    static let entriesMax = 1 << 48
}

enum RowBranch {
    static let capacity = 84
    static let levelOffset = 16
    static let keysOffset = 64
    static let countsOffset = 736
    static let referencesOffset = 1408

    @inline(__always) static func count(_ node: UnsafeRawPointer) -> Int {
        Int(node.u32(BlockField.count))
    }
    @inline(__always) static func level(_ node: UnsafeRawPointer) -> Int {
        Int(node.u16(levelOffset))
    }
    @inline(__always) static func key(_ node: UnsafeRawPointer, _ index: Int) -> ObjectKey {
        node.objectKey(keysOffset &+ index &* 8)
    }
    @inline(__always) static func rows(_ node: UnsafeRawPointer, _ index: Int) -> Int {
        Int(truncatingIfNeeded: node.u64(countsOffset &+ index &* 8))
    }
    @inline(__always)
    static func reference(_ node: UnsafeRawPointer, _ index: Int) -> UnsafeRawPointer {
        node + (referencesOffset &+ index &* BlockReference.byteCount)
    }

    /// The child that covers `key`: the last one whose first key is not above it, or child 0.
    @inline(__always) static func child(_ node: UnsafeRawPointer, covering key: ObjectKey) -> Int {
        var low = 0
        var length = count(node)
        // Branch-free halving: the comparison becomes a conditional move.
        while length > 1 {
            let half = length >> 1
            low = self.key(node, low &+ half) <= key ? low &+ half : low
            length &-= half
        }
        return low
    }

    /// Structure: one page, a count that fits, the level that the parent demands, keys ascending.
    static func check(
        _ node: UnsafeRawPointer, _ bytes: Int, _ level: Int
    ) throws(RealmError) {
        let count = count(node)
        guard bytes == Page.size, count >= 1, count <= capacity else {
            throw RealmError(
                .invalidDatabase, "row branch has \(count) children in \(bytes) bytes")
        }
        guard self.level(node) == level else {
            throw RealmError(
                .invalidDatabase,
                "row branch has level \(self.level(node)), its parent needs \(level)")
        }
        for index in 0..<count {
            guard BlockReference(reference(node, index)).isStored else {
                throw RealmError(.invalidDatabase, "row branch: child \(index) is no block")
            }
            guard node.u64(countsOffset + index * 8) < UInt64(TreeLimits.entriesMax) else {
                throw RealmError(
                    .invalidDatabase,
                    "row branch: child \(index) has \(node.u64(countsOffset + index * 8)) rows")
            }
        }
        for index in 1..<max(count, 1) where key(node, index - 1) >= key(node, index) {
            throw RealmError(.invalidDatabase, "row branch: key \(index) is out of order")
        }
    }

    // MARK: Changing a branch in memory

    static func make(
        level: Int, tag: BlockTag, _ memory: UnsafeMutablePointer<TransactionMemory>
    ) -> UnsafeMutableRawPointer {
        let node = memory.pointee.blocks.allocate(pages: 1)
        node.put(tag.rawValue, BlockField.tag)
        node.put(UInt32(Page.size), BlockField.bytesUsed)
        node.put(UInt16(level), levelOffset)
        return node
    }

    static func set(
        _ node: UnsafeMutableRawPointer, _ index: Int, key: ObjectKey, rows: Int,
        reference: BlockReference
    ) {
        node.put(key, keysOffset + index * 8)
        node.put(UInt64(rows), countsOffset + index * 8)
        reference.store(node + (referencesOffset + index * BlockReference.byteCount))
    }

    static func setKey(_ node: UnsafeMutableRawPointer, _ index: Int, _ key: ObjectKey) {
        node.put(key, keysOffset + index * 8)
    }

    static func setRows(_ node: UnsafeMutableRawPointer, _ index: Int, _ rows: Int) {
        node.put(UInt64(rows), countsOffset + index * 8)
    }

    static func setCount(_ node: UnsafeMutableRawPointer, _ count: Int) {
        node.put(UInt32(count), BlockField.count)
    }

    /// Moves the children from `index` on by `distance` places; the caller sets the count.
    static func shift(_ node: UnsafeMutableRawPointer, from index: Int, by distance: Int) {
        let moved = count(node) - index
        guard moved > 0 else { return }
        for (offset, size) in [(keysOffset, 8), (countsOffset, 8), (referencesOffset, 32)] {
            let start = node + (offset + index * size)
            memmove(start + distance * size, start, moved * size)
        }
    }

    /// Inserts a child, for which there is room.
    static func insert(
        _ node: UnsafeMutableRawPointer, _ index: Int, key: ObjectKey, rows: Int,
        reference: BlockReference
    ) {
        shift(node, from: index, by: 1)
        set(node, index, key: key, rows: rows, reference: reference)
        setCount(node, count(node) + 1)
    }

    /// Copies children `range` of `source` to `target` from `position` on.
    static func copy(
        _ source: UnsafeRawPointer, _ range: Range<Int>, to target: UnsafeMutableRawPointer,
        at position: Int
    ) {
        for (offset, size) in [(keysOffset, 8), (countsOffset, 8), (referencesOffset, 32)] {
            memcpy(
                target + (offset + position * size), source + (offset + range.lowerBound * size),
                range.count * size)
        }
    }

    // MARK: Placing

    /// Gives the transient blocks of a tree, whose root's reference stands at `place`, their places in the file,
    /// children before parents. `leaf` is called before a leaf is placed: for the blocks that it names.
    static func placeTree(
        _ place: UnsafeMutableRawPointer, _ level: Int,
        _ memory: UnsafeMutablePointer<TransactionMemory>, _ placer: any BlockPlacer,
        isRoot: Bool = true, leaf: (UnsafeMutableRawPointer) -> Void
    ) {
        let reference = BlockReference(place)
        guard reference.isTransient else { return }
        let node = memory.pointee.blocks.pointer(reference)
        var pages = memory.pointee.blocks.pages(reference)
        if level > 0 {
            for index in 0..<count(node) {
                placeTree(
                    UnsafeMutableRawPointer(mutating: self.reference(node, index)), level - 1,
                    memory, placer, isRoot: false, leaf: leaf)
            }
            placer.sealWaiting()
        } else {
            leaf(node)
            // One that was patched had room for tombstones, which it need not have got.
            let used = UnsafeRawPointer(node).u32(BlockField.bytesUsed)
            pages = min(pages, Page.count(forBytes: Int(used)))
            if !isRoot { return placer.placeLeaf(node, pages: pages, at: place) }
        }
        placer.place(node, pages: pages, at: place)
    }
}
