// The inverse index of columns in which one row may link to an object several times: collections
// and mixed values. The first link from a source to a target is an entry as that of a plain link
// column; further ones have a number behind the target:
//
//   bytes   the target (`InverseBytes`); of the n-th further link, n as 4 bytes, big-endian
//   key     the source's object key
//
// So the links to a target are neighbours, their number is a difference of ranks, and the usual
// case, one link each, takes no more than in a plain column.

import CKernels

enum CountedLinks {
    /// Target with class, and number.
    static let byteCountMax = 16
    static let numberBytes = 4
    static let noClass = ClassKey.invalid

    /// From where a link leads, and where to.
    struct Link {
        /// `noClass` where the index files targets by object key alone.
        var classKey: ClassKey
        var target: ObjectKey
        var source: ObjectKey

        @inline(__always)
        func hasTarget(of other: Link) -> Bool {
            target == other.target && classKey == other.classKey
        }

        @inline(__always)
        func isEqual(_ other: Link) -> Bool { source == other.source && hasTarget(of: other) }

        /// Writes the bytes of link `number`, from 0 on; returns how many.
        @inline(__always)
        func write(_ buffer: UnsafeMutableRawPointer, number: Int, isMixed: Bool) -> Int {
            var count = 8
            if isMixed {
                buffer.put(classKey.rawValue.bigEndian, 0)
                buffer.put(target.word.bigEndian, 4)
                count = 12
            } else {
                buffer.put(target.word.bigEndian, 0)
            }
            if number > 0 {
                buffer.put(UInt32(truncatingIfNeeded: number).bigEndian, count)
                count += CountedLinks.numberBytes
            }
            return count
        }
    }

    // MARK: Reading

    /// How many links lead to the target; also of an index that does not count them.
    static func count(
        of target: ObjectKey, in classKey: ClassKey, isMixed: Bool, _ tree: IndexTree
    ) throws(RealmError) -> Int {
        try InverseBytes.withRange(target, of: classKey, isMixed: isMixed) {
            low, high throws(RealmError) in
            // Only in a damaged tree is the end before the start.
            let end = try tree.rank(high)
            return max(0, end - (try tree.rank(low)))
        }
    }

    /// Calls `body` with the entries of a column of links and the targets that they name.
    @inline(__always)
    static func forEachTarget(
        _ leaf: IndexLeaf, _ entries: Range<Int>, _ body: (Int, ObjectKey) -> Void
    ) {
        let shared = min(leaf.prefixCount, 8)
        let common = common(leaf, shared)
        for entry in entries {
            let suffix = leaf.suffix(entry)
            let own = min(8 &- shared, suffix.count)
            // The eight bytes up to the end of the target; before the suffix there are others of the block.
            let bytes = suffix.baseAddress.unsafelyUnwrapped.u64(own &- 8).byteSwapped
            let mask = own == 8 ? UInt64.max : (1 &<< UInt64(own &* 8)) &- 1
            let upper = own == 8 ? 0 : common &<< UInt64(own &* 8)
            body(entry, ObjectKey(word: upper | bytes & mask))
        }
    }

    /// The first bytes of a target that the entries of a leaf share, as a number.
    private static func common(_ leaf: IndexLeaf, _ shared: Int) -> UInt64 {
        var common: UInt64 = 0
        for index in 0..<shared { common = common << 8 | UInt64(leaf.prefix.u8(index)) }
        return common
    }

    /// The entries of a column of links for a kernel that counts the links to the objects from `first` on.
    static func entries(_ leaf: IndexLeaf, of first: ObjectKey) -> ck_link_entries {
        let shared = min(leaf.prefixCount, 8)
        let length = leaf.hasOffsets ? 0 : leaf.suffixCount
        let own = leaf.hasOffsets ? 8 &- shared : min(8 &- shared, length)
        return ck_link_entries(
            suffixes: leaf.heap.assumingMemoryBound(to: UInt8.self),
            offsets: leaf.hasOffsets ? leaf.offsets : nil, own: own, length: length,
            base: common(leaf, shared) << UInt64(own &* 8) &- first.word)
    }

    /// The sources of all links to the target, ascending, each as often as it links.
    static func sources(
        of target: ObjectKey, in classKey: ClassKey, isMixed: Bool, _ tree: IndexTree
    ) throws(RealmError) -> [ObjectKey] {
        var result: [ObjectKey] = []
        var ascends = true
        let first = isMixed ? 12 : 8
        try InverseBytes.withRange(target, of: classKey, isMixed: isMixed) {
            low, high throws(RealmError) in
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
}
