// The inverse index of columns in which one row may link to an object several times: collections
// and mixed values. The first link from a source to a target is an entry as that of a plain link
// column; further ones have a number behind the target:
//
//   bytes   the target (`InverseBytes`); of the n-th further link, n as 4 bytes, big-endian
//   key     the source's object key
//
// So the links to a target are neighbours, their number is a difference of ranks, and the usual
// case, one link each, takes no more than in a plain column.

enum CountedLinks {
    /// Target with class, and number.
    static let byteCountMax = 16
    private static let numberBytes = 4

    /// A change of the links from a source to a target; then an entry to be added or removed.
    struct Change {
        /// 0 where the index files targets by object key alone.
        var classKey: UInt32
        /// 1 or -1: a link more or less. In an entry: above 0 to add it, below to remove it; its
        /// distance from zero is 1 for the first link, 2 for the next one …
        var count: Int32
        var target: UInt64
        var source: UInt64

        @inline(__always)
        func isSameTarget(_ other: Change) -> Bool {
            target == other.target && classKey == other.classKey
        }

        /// Writes the bytes of link `number`, from 0 on; returns how many.
        @inline(__always)
        func write(_ buffer: UnsafeMutableRawPointer, number: Int, isMixed: Bool) -> Int {
            var count = 8
            if isMixed {
                buffer.put(classKey.bigEndian, 0)
                buffer.put(target.bigEndian, 4)
                count = 12
            } else {
                buffer.put(target.bigEndian, 0)
            }
            if number > 0 {
                buffer.put(UInt32(truncatingIfNeeded: number).bigEndian, count)
                count += CountedLinks.numberBytes
            }
            return count
        }
    }

    // MARK: Reading

    /// Calls `body` with the positions before and behind all entries of a target.
    private static func withRange<R>(
        _ target: ObjectKey, _ classKey: ClassKey, _ isMixed: Bool,
        _ body: (IndexPosition, IndexPosition) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        // Object keys are never negative, so there is a next one.
        let next = ObjectKey(rawValue: target.rawValue &+ 1)
        return try InverseBytes.with(target, of: classKey, isMixed: isMixed) {
            low, count throws(RealmError) in
            try InverseBytes.with(next, of: classKey, isMixed: isMixed) {
                high, _ throws(RealmError) in
                try body(
                    IndexPosition(bytes: low, count: count, key: .min),
                    IndexPosition(bytes: high, count: count, key: .min))
            }
        }
    }

    /// How many links lead to the target.
    static func count(
        of target: ObjectKey, in classKey: ClassKey, isMixed: Bool, _ tree: IndexTree
    ) throws(RealmError) -> Int {
        try withRange(target, classKey, isMixed) { low, high throws(RealmError) in
            // Only in a damaged tree is the end before the start.
            let end = try tree.rank(high)
            return max(0, end - (try tree.rank(low)))
        }
    }

    /// Calls `body` with the entries of a column of links and the targets that they name.
    @inline(__always)
    static func forEachTarget(
        _ leaf: IndexLeaf, _ entries: Range<Int>, _ body: (Int, Int64) -> Void
    ) {
        let shared = min(leaf.prefixCount, 8)
        let own = 8 &- shared
        var common: UInt64 = 0
        for index in 0..<shared { common = common << 8 | UInt64(leaf.prefix.u8(index)) }
        let heap = leaf.heap
        let isUniform = !leaf.hasOffsets && leaf.suffixCount == own
        if isUniform, own == 2 {
            for entry in entries {
                let word = common << 16 | UInt64(heap.u16(entry &* 2).byteSwapped)
                body(entry, Int64(bitPattern: word))
            }
        } else if isUniform, own == 3 {
            for entry in entries {
                let place = entry &* 3
                let word = UInt64(heap.u8(place)) << 16 | UInt64(heap.u16(place &+ 1).byteSwapped)
                body(entry, Int64(bitPattern: common << 24 | word))
            }
        } else {
            for entry in entries {
                let suffix = leaf.suffix(entry)
                var word = common
                for index in 0..<min(own, suffix.count) {
                    word = word << 8 | UInt64(suffix[index])
                }
                body(entry, Int64(bitPattern: word))
            }
        }
    }

    /// The sources of all links to the target, ascending, each as often as it links.
    static func sources(
        of target: ObjectKey, in classKey: ClassKey, isMixed: Bool, _ tree: IndexTree
    ) throws(RealmError) -> [Int64] {
        var result: [Int64] = []
        var ascends = true
        let first = isMixed ? 12 : 8
        try withRange(target, classKey, isMixed) { low, high throws(RealmError) in
            try tree.visit(from: low, to: high) { leaf, entries throws(RealmError) in
                for entry in entries {
                    let count = leaf.prefixCount + leaf.suffix(entry).count
                    guard count == first || count == first + numberBytes else {
                        throw RealmError(
                            .invalidDatabase,
                            "inverse index: entry of \(count) bytes, links have \(first) or "
                                + "\(first + numberBytes)")
                    }
                    ascends = ascends && count == first
                    result.append(leaf.key(entry))
                }
                return true
            }
        }
        return ascends ? result : result.sorted()
    }

    // MARK: Changing

    /// Merges changes, which ascend by target and source, into the tree. They are overwritten.
    static func apply(
        _ changes: UnsafeMutablePointer<Change>, _ count: Int, isMixed: Bool,
        to tree: inout IndexTree, memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: byteCountMax, alignment: 8)
        defer { buffer.deallocate() }
        let entries = try makeEntries(changes, count, isMixed, tree, buffer)
        let bytes = UnsafeRawPointer(buffer)
        let batch = IndexBatch(count: entries) { index in
            let entry = changes[index]
            let number = Int(entry.count.magnitude) &- 1
            return IndexBatch.Operation(
                position: IndexPosition(
                    bytes: bytes, count: entry.write(buffer, number: number, isMixed: isMixed),
                    key: Int64(bitPattern: entry.source)),
                isAddition: entry.count > 0)
        }
        try tree.apply(batch, memory: memory)
    }

    /// Turns changes into the entries to add and to remove, in the order of the tree; returns how
    /// many. Each change makes at most one, so they stand where the changes were.
    private static func makeEntries(
        _ changes: UnsafeMutablePointer<Change>, _ count: Int, _ isMixed: Bool,
        _ tree: IndexTree, _ buffer: UnsafeMutableRawPointer
    ) throws(RealmError) -> Int {
        var cursor = IndexCursor(tree)
        let isEmpty = tree.isEmpty
        var written = 0
        var read = 0
        var further: [Change] = []
        while read < count {
            let target = changes[read]
            while read < count, changes[read].isSameTarget(target) {
                var change = changes[read]
                read += 1
                while read < count, changes[read].source == change.source,
                    changes[read].isSameTarget(target)
                {
                    change.count &+= changes[read].count
                    read += 1
                }
                if change.count == 0 { continue }
                let known = isEmpty ? 0 : try links(change, isMixed, &cursor, buffer)
                let wanted = max(0, known + Int(change.count))
                let isAddition = wanted > known
                for number in min(known, wanted)..<max(known, wanted) {
                    change.count = Int32(truncatingIfNeeded: number + 1) * (isAddition ? 1 : -1)
                    if number == 0 {
                        changes[written] = change
                        written += 1
                    } else {
                        further.append(change)
                    }
                }
            }
            if further.isEmpty { continue }
            further.sort {
                let (a, b) = ($0.count.magnitude, $1.count.magnitude)
                return a != b ? a < b : $0.source < $1.source
            }
            for entry in further {
                changes[written] = entry
                written += 1
            }
            further.removeAll(keepingCapacity: true)
        }
        return written
    }

    /// How many links the tree has from the change's source to its target.
    private static func links(
        _ change: Change, _ isMixed: Bool, _ cursor: inout IndexCursor,
        _ buffer: UnsafeMutableRawPointer
    ) throws(RealmError) -> Int {
        func isThere(_ number: Int) throws(RealmError) -> Bool {
            let count = change.write(buffer, number: number, isMixed: isMixed)
            return try cursor.contains(
                IndexPosition(
                    bytes: UnsafeRawPointer(buffer), count: count,
                    key: Int64(bitPattern: change.source)))
        }
        guard try isThere(0) else { return 0 }
        // Link `low` is there, link `high` is not: twice as far each time, then by halves.
        var low = 0
        var high = 1
        while try isThere(high) {
            low = high
            high *= 2
        }
        while high - low > 1 {
            let middle = (low + high) / 2
            if try isThere(middle) { low = middle } else { high = middle }
        }
        return high
    }
}
