// Nodes of ordered indexes: trees of entries (value bytes, object key), ordered by the bytes
// (unsigned, shorter first) and then by the key. Property indexes, the index of a primary key and
// the inverse index of a link column are all this tree; what the bytes mean is theirs
// (`IndexValue`).
//
// Leaf (kind indexLeaf): the common prefix of all values once, then what follows it.
//
//   offset  size  field
//        0    16  block header (tag: class and column; entry count)
//       16     2  length of the common prefix
//       18     2  length of every suffix, or 65535: they differ
//       20     1  key width: 0 (all equal), 1, 2, 4, 8 bytes of (key - base)
//       24     8  key base
//       32     4  offset of the prefix
//       36     4  offset of count + 1 16-bit offsets into the heap, 0 when suffixes are equally long
//       40     4  offset of the heap of suffixes
//       44     4  offset of the keys
//
// Branch (kind indexBranch): children and the separators between them. A separator is the
// shortest text that is above everything left of it and not above anything under its child.
//
//        0    16  block header
//       16     2  level: 1 = the children are leaves
//       24  56*n  children: separator offset (4), separator length (2), 0 (2), separator key (8),
//                 entries under it (8), reference (32)
//                 separators

import CKernels

/// A position in the order of an index: value bytes and object key.
struct IndexPosition {
    var bytes: UnsafeRawPointer
    var count: Int
    var key: ObjectKey
}

/// Trees hold at most this many bytes of a value; equal stored values of this length are told
/// apart by reading the objects.
enum IndexLimits {
    static let valueBytesMax = 513
    static let leafBytesTarget = 16 * 1024
    static let branchBytesTarget = 4096
}

/// Where the fields of a leaf stand.
enum IndexLeafField {
    static let prefixCount = 16
    static let suffixCount = 18
    static let keyWidth = 20
    static let keyBase = 24
    static let prefix = 32
    static let offsets = 36
    static let heap = 40
    static let keys = 44
    /// The suffix count of leaves whose suffixes differ in length.
    static let suffixesDiffer = UInt16.max
}

/// Where the fields of a branch stand, and those of each child.
enum IndexBranchField {
    static let level = 16
    static let separator = 0
    static let separatorCount = 4
    static let separatorKey = 8
    static let entries = 16
}

struct IndexLeaf {
    let base: UnsafeRawPointer
    static let headerSize = 48

    @inline(__always) init(_ base: UnsafeRawPointer) { self.base = base }
    @inline(__always) var count: Int { Int(base.u32(BlockField.count)) }
    @inline(__always) var prefixCount: Int { Int(base.u16(IndexLeafField.prefixCount)) }
    @inline(__always) var suffixCount: Int { Int(base.u16(IndexLeafField.suffixCount)) }
    @inline(__always) var hasOffsets: Bool {
        base.u16(IndexLeafField.suffixCount) == IndexLeafField.suffixesDiffer
    }
    @inline(__always) var keyWidth: Int { Int(base.u8(IndexLeafField.keyWidth)) }
    @inline(__always) var keyBase: ObjectKey { base.objectKey(IndexLeafField.keyBase) }
    @inline(__always) var prefix: UnsafeRawPointer { base + Int(base.u32(IndexLeafField.prefix)) }
    @inline(__always) var offsets: UnsafeRawPointer {
        base + Int(base.u32(IndexLeafField.offsets))
    }
    @inline(__always) var heap: UnsafeRawPointer { base + Int(base.u32(IndexLeafField.heap)) }
    @inline(__always) var keys: UnsafeRawPointer { base + Int(base.u32(IndexLeafField.keys)) }

    @inline(__always) func key(_ index: Int) -> ObjectKey {
        keyBase.advanced(by: Int(truncatingIfNeeded: keys.unsigned(keyWidth, index)))
    }
    /// Appends the keys of a range of entries, a width at a time.
    func appendKeys(_ range: Range<Int>, to result: inout [ObjectKey]) {
        let base = keyBase
        let start = result.count
        let first = range.lowerBound
        result.append(contentsOf: repeatElement(base, count: range.count))
        result.withUnsafeMutableBufferPointer { buffer in
            guard let all = buffer.baseAddress else { return }
            let target = all + start
            let count = range.count
            switch keyWidth {
            case 0: break
            case 1:
                for i in 0..<count { target[i] = base.advanced(by: Int(keys.u8(first &+ i))) }
            case 2:
                for i in 0..<count {
                    target[i] = base.advanced(by: Int(keys.u16((first &+ i) &* 2)))
                }
            case 4:
                for i in 0..<count {
                    target[i] = base.advanced(by: Int(keys.u32((first &+ i) &* 4)))
                }
            default: for i in 0..<count { target[i] = key(first &+ i) }
            }
        }
    }
    @inline(__always) func suffix(_ index: Int) -> UnsafeRawBufferPointer {
        if hasOffsets {
            let start = Int(offsets.u16(index &* 2))
            return UnsafeRawBufferPointer(
                start: heap + start, count: Int(offsets.u16(index &* 2 &+ 2)) &- start)
        }
        let count = suffixCount
        return UnsafeRawBufferPointer(start: heap + index &* count, count: count)
    }

    /// The first entry that is not below `position`.
    func lowerBound(_ position: IndexPosition) -> Int {
        let shared = min(prefixCount, position.count)
        let order = ck_memcmp(position.bytes, prefix, shared)
        if order < 0 { return 0 }
        if order > 0 { return count }
        if position.count < prefixCount { return 0 }
        let rest = position.bytes + prefixCount
        let restCount = position.count - prefixCount
        // Numbers and links: a few bytes each, which a call would take longer for.
        if suffixCount == restCount, 1...8 ~= restCount {
            let heap = heap
            let wanted = Self.word(rest, restCount)
            return (0..<count).partitionPoint { index in
                let word = Self.word(heap + index &* restCount, restCount)
                return word == wanted ? key(index) < position.key : word < wanted
            }
        }
        return (0..<count).partitionPoint { index in
            let suffix = self.suffix(index)
            let order = compareBytes(
                suffix.baseAddress.unsafelyUnwrapped, suffix.count, rest, restCount)
            return order == 0 ? key(index) < position.key : order < 0
        }
    }

    /// A number for one to eight bytes, in the order of the bytes among values of one length.
    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
        switch count {
        case 1: return UInt64(bytes.u8(0))
        case 2...4:
            return UInt64(bytes.u16(0).bigEndian) << 16 | UInt64(bytes.u16(count &- 2).bigEndian)
        default:
            return UInt64(bytes.u32(0).bigEndian) << 32 | UInt64(bytes.u32(count &- 4).bigEndian)
        }
    }

    /// Whether entry `index` has exactly these value bytes.
    func isEqual(_ index: Int, _ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        let suffix = self.suffix(index)
        return prefixCount + suffix.count == count && equalBytes(prefix, bytes, prefixCount)
            && equalBytes(suffix.baseAddress.unsafelyUnwrapped, bytes + prefixCount, suffix.count)
    }

    func isEqual(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return isEqual(index, start, bytes.count)
    }

    /// Whether two entries have the same value.
    @inline(__always) func hasSameValue(_ a: Int, _ b: Int) -> Bool {
        let (a, b) = (suffix(a), suffix(b))
        guard a.count == b.count, let x = a.baseAddress, let y = b.baseAddress else {
            return a.count == b.count
        }
        // Integers differ in a few bytes only, which a call would take longer for.
        switch a.count {
        case 0: return true
        case 1: return x.u8(0) == y.u8(0)
        case 2: return x.u16(0) == y.u16(0)
        case 3: return x.u16(0) == y.u16(0) && x.u8(2) == y.u8(2)
        case 4...8:
            return x.u32(0) == y.u32(0) && x.u32(a.count &- 4) == y.u32(a.count &- 4)
        default: return equalBytes(x, y, a.count)
        }
    }

    static func check(
        _ block: UnsafeRawPointer, _ bytes: Int, _ context: Int
    ) throws(RealmError) {
        let leaf = IndexLeaf(block)
        let used = Int(block.u32(BlockField.bytesUsed))
        let count = leaf.count
        func bad(_ message: String) -> RealmError {
            RealmError(.invalidDatabase, "index leaf: \(message)")
        }
        guard used <= bytes, count >= 1, count <= bytes,
            [0, 1, 2, 4, 8].contains(leaf.keyWidth)
        else { throw bad("\(count) entries in \(used) of \(bytes) bytes") }
        guard Int(block.u32(IndexLeafField.prefix)) + leaf.prefixCount <= used,
            Int(block.u32(IndexLeafField.keys)) + leaf.keyWidth * count <= used
        else { throw bad("prefix or keys leave the block") }
        if leaf.hasOffsets {
            guard Int(block.u32(IndexLeafField.offsets)) + (count + 1) * 2 <= used else {
                throw bad("offsets leave the block")
            }
            var last = 0
            for index in 0...count {
                let offset = Int(leaf.offsets.u16(index * 2))
                guard offset >= last else { throw bad("offset \(index) goes back") }
                last = offset
            }
            guard Int(block.u32(IndexLeafField.heap)) + last <= used else {
                throw bad("heap leaves the block")
            }
        } else {
            guard Int(block.u32(IndexLeafField.heap)) + leaf.suffixCount * count <= used else {
                throw bad("heap leaves the block")
            }
        }
    }
}

struct IndexBranch {
    let base: UnsafeRawPointer
    static let childrenOffset = 24
    static let childSize = 56
    static let referenceOffset = 24

    @inline(__always) init(_ base: UnsafeRawPointer) { self.base = base }
    @inline(__always) var count: Int { Int(base.u32(BlockField.count)) }
    @inline(__always) var level: Int { Int(base.u16(IndexBranchField.level)) }
    @inline(__always) func child(_ index: Int) -> UnsafeRawPointer {
        base + (Self.childrenOffset &+ index &* Self.childSize)
    }
    @inline(__always) func entries(_ index: Int) -> Int {
        Int(truncatingIfNeeded: child(index).u64(IndexBranchField.entries))
    }
    @inline(__always) func reference(_ index: Int) -> UnsafeRawPointer {
        child(index) + Self.referenceOffset
    }
    @inline(__always) func separator(_ index: Int) -> IndexPosition {
        let child = child(index)
        return IndexPosition(
            bytes: base + Int(child.u32(IndexBranchField.separator)),
            count: Int(child.u16(IndexBranchField.separatorCount)),
            key: child.objectKey(IndexBranchField.separatorKey))
    }

    /// The last child whose separator is not above `position`, or child 0.
    func child(covering position: IndexPosition) -> Int {
        (1..<count).partitionPoint { compare(separator($0), position) <= 0 } &- 1
    }

    static func check(
        _ block: UnsafeRawPointer, _ bytes: Int, _ level: Int
    ) throws(RealmError) {
        let branch = IndexBranch(block)
        let used = Int(block.u32(BlockField.bytesUsed))
        guard used <= bytes, branch.count >= 1,
            childrenOffset + branch.count * childSize <= used, branch.level == level
        else {
            throw RealmError(
                .invalidDatabase,
                "index branch: \(branch.count) children at level \(branch.level) in \(used) of "
                    + "\(bytes) bytes, its parent needs level \(level)")
        }
        for index in 0..<branch.count {
            let child = branch.child(index)
            guard BlockReference(branch.reference(index)).isStored,
                child.u64(IndexBranchField.entries) < UInt64(TreeLimits.entriesMax)
            else {
                throw RealmError(
                    .invalidDatabase,
                    "index branch: child \(index) is no block or has "
                        + "\(child.u64(IndexBranchField.entries)) entries")
            }
            let separator = branch.separator(index)
            guard separator.bytes - block + separator.count <= used else {
                throw RealmError(
                    .invalidDatabase, "index branch: separator \(index) leaves the block")
            }
        }
    }
}

/// Order of two positions: bytes, then key.
@inline(__always)
func compare(_ a: IndexPosition, _ b: IndexPosition) -> Int {
    let order = compareBytes(a.bytes, a.count, b.bytes, b.count)
    if order != 0 { return order }
    return a.key < b.key ? -1 : (a.key > b.key ? 1 : 0)
}
