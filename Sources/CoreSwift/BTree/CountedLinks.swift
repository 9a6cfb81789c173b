// The inverse index of columns in which one row may link to an object several times: collections
// and mixed values. The n-th link from a source to a target is the entry
//
//   bytes   the target (`InverseBytes`), then the source's object key, 8 bytes big-endian
//   key     n, from 0 on
//
// so every entry is distinct, the links to a target are neighbours, and their number is a
// difference of ranks.

enum CountedLinks {
    /// Target with class, and source.
    static let byteCountMax = 20

    /// The change of the number of links from a source to a target.
    struct Change {
        /// 0 where the index files targets by object key alone.
        var classKey: UInt32
        var target: UInt64
        var source: UInt64
        var delta: Int

        func isSameLink(_ other: Change) -> Bool {
            target == other.target && source == other.source && classKey == other.classKey
        }

        /// Writes the bytes of the entry; returns how many.
        @inline(__always)
        func write(_ buffer: UnsafeMutableRawPointer, isMixed: Bool) -> Int {
            if isMixed { buffer.put(classKey.bigEndian, 0) }
            let start = isMixed ? 4 : 0
            buffer.put(target.bigEndian, start)
            buffer.put(source.bigEndian, start + 8)
            return start + 16
        }
    }

    /// Adds a change to a list that ascends; several of one link become one, and none if they
    /// cancel out.
    static func append(_ change: Change, to changes: inout [Change]) {
        guard let last = changes.last, last.isSameLink(change) else {
            changes.append(change)
            return
        }
        changes[changes.count - 1].delta += change.delta
        if changes[changes.count - 1].delta == 0 { changes.removeLast() }
    }

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

    /// The sources of all links to the target, ascending, each as often as it links.
    static func sources(
        of target: ObjectKey, in classKey: ClassKey, isMixed: Bool, _ tree: IndexTree
    ) throws(RealmError) -> [Int64] {
        var result: [Int64] = []
        try withRange(target, classKey, isMixed) { low, high throws(RealmError) in
            try tree.visit(from: low, to: high) { leaf, entries throws(RealmError) in
                for entry in entries { result.append(try source(leaf, entry, isMixed)) }
                return true
            }
        }
        return result
    }

    /// The last eight bytes of an entry.
    private static func source(
        _ leaf: IndexLeaf, _ index: Int, _ isMixed: Bool
    ) throws(RealmError) -> Int64 {
        let suffix = leaf.suffix(index)
        let prefixCount = leaf.prefixCount
        let total = isMixed ? 20 : 16
        guard prefixCount + suffix.count == total else {
            throw RealmError(
                .invalidDatabase,
                "inverse index: entry of \(prefixCount + suffix.count) bytes, links have \(total)")
        }
        var word: UInt64 = 0
        for byte in (total - 8)..<total {
            let next =
                byte < prefixCount ? leaf.prefix.u8(byte) : suffix[byte - prefixCount]
            word = word << 8 | UInt64(next)
        }
        return Int64(bitPattern: word)
    }

    /// Merges changes, which ascend by target and source, into the tree.
    static func apply(
        _ changes: [Change], isMixed: Bool, to tree: inout IndexTree,
        memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        var operations: [(change: Int, number: Int, isAddition: Bool)] = []
        operations.reserveCapacity(changes.count)
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: byteCountMax, alignment: 8)
        defer { buffer.deallocate() }
        let bytes = UnsafeRawPointer(buffer)
        for (index, change) in changes.enumerated() {
            var number = 0
            if !tree.isEmpty {
                let count = change.write(buffer, isMixed: isMixed)
                let end = try tree.rank(IndexPosition(bytes: bytes, count: count, key: .max))
                number =
                    end - (try tree.rank(IndexPosition(bytes: bytes, count: count, key: .min)))
            }
            if change.delta > 0 {
                for next in number..<(number + change.delta) {
                    operations.append((index, next, true))
                }
            } else {
                for next in max(0, number + change.delta)..<max(0, number) {
                    operations.append((index, next, false))
                }
            }
        }
        let batch = IndexBatch(count: operations.count) { index in
            let operation = operations[index]
            let count = changes[operation.change].write(buffer, isMixed: isMixed)
            return IndexBatch.Operation(
                position: IndexPosition(
                    bytes: bytes, count: count, key: Int64(operation.number)),
                isAddition: operation.isAddition)
        }
        try tree.apply(batch, memory: memory)
    }
}
