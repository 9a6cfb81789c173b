// Makes the nodes of an index from entries that arrive in order: leaves filled to a byte target,
// branches over them.

import CKernels

/// Children on their way into a branch; separators lie in one heap.
struct IndexChildren {
    struct Child {
        var separatorOffset: Int
        var separatorCount: Int
        var separatorKey: ObjectKey
        var entries: Int
        var reference: BlockReference
    }
    var children: [Child] = []
    var heap: [UInt8] = []

    mutating func add(_ separator: IndexPosition, entries: Int, reference: BlockReference) {
        children.append(
            Child(
                separatorOffset: heap.count, separatorCount: separator.count,
                separatorKey: separator.key, entries: entries, reference: reference))
        heap.append(
            contentsOf: UnsafeRawBufferPointer(start: separator.bytes, count: separator.count))
    }

    mutating func add(_ others: IndexChildren) {
        for var child in others.children {
            child.separatorOffset += heap.count
            children.append(child)
        }
        heap += others.heap
    }
}

final class IndexLeafBuilder {
    private struct Entry {
        var offset: Int
        var count: Int
        var key: ObjectKey
    }
    // Not an array: each entry looks at the last one.
    private var entries: UnsafeMutablePointer<Entry>
    private(set) var count = 0
    private var capacity = 4096
    /// With room for a word behind what it has.
    private var heap: UnsafeMutableRawPointer
    private var heapUsed = 0
    /// Bytes of all entries; equal neighbours share theirs in the heap.
    private var byteTotal = 0
    private var heapCapacity: Int
    private var prefixCount = 0
    private var sameLength = true
    private var keyMinimum = ObjectKey.max
    private var keyMaximum = ObjectKey.min
    /// The last entry of the previous leaf, to cut the next separator short.
    private var previous: [UInt8] = []
    private var hasPrevious = false
    private let tag: BlockTag
    private let memory: UnsafeMutablePointer<TransactionMemory>
    var output = IndexChildren()
    /// Bytes a leaf is filled to.
    var target = IndexLimits.leafBytesTarget

    init(tag: BlockTag, memory: UnsafeMutablePointer<TransactionMemory>) {
        self.tag = tag
        self.memory = memory
        heapCapacity = 64 * 1024
        heap = .allocate(byteCount: heapCapacity + 8, alignment: 16)
        entries = .allocate(capacity: capacity)
    }

    deinit {
        heap.deallocate()
        entries.deallocate()
    }

    var isEmpty: Bool { count == 0 }
    /// Bytes of the leaf that `flush` would make.
    var size: Int {
        size(count, byteTotal, prefixCount, sameLength, keyMinimum, keyMaximum)
    }

    @inline(__always)
    private func size(
        _ count: Int, _ bytes: Int, _ prefix: Int, _ same: Bool, _ low: ObjectKey, _ high: ObjectKey
    ) -> Int {
        if count == 0 { return 0 }
        let width = Self.width(low, high)
        return IndexLeaf.headerSize &+ prefix &+ 24 &+ (bytes &- count &* prefix)
            &+ (same ? 0 : 2 &* (count &+ 1)) &+ count &* width
    }

    @inline(__always) private static func width(_ low: ObjectKey, _ high: ObjectKey) -> Int {
        (high.word &- low.word).byteWidth
    }

    /// What an entry has in common with the one before.
    enum Likeness { case none, value, all }

    /// Adds the next entry; the bytes are copied. One that is the same as the one before is not added again.
    @inline(__always)
    @discardableResult
    func add(_ bytes: UnsafeRawPointer, _ length: Int, _ key: ObjectKey) -> Likeness {
        guard count > 0 else {
            let likeness: Likeness = repeatsPrevious(bytes, length) ? .value : .none
            addOther(bytes, length, key)
            return likeness
        }
        let last = entries[count &- 1]
        guard last.count == length, isLike(heap + last.offset, bytes, length) else {
            addOther(bytes, length, key)
            return .none
        }
        if last.key == key { return .all }
        addEqual(last, key)
        return .value
    }

    /// Takes back the last entry if it is this one.
    func remove(_ bytes: UnsafeRawPointer, _ length: Int, _ key: ObjectKey) {
        guard count > 0 else { return }
        let last = entries[count - 1]
        guard last.key == key, last.count == length, isLike(heap + last.offset, bytes, length)
        else { return }
        count -= 1
        byteTotal -= length
        if count == 0 { clear() }
    }

    /// Neighbours differ in their ends more often than before.
    @inline(__always)
    private func isLike(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ length: Int) -> Bool {
        if length >= 8 {
            if a.u64(length &- 8) != b.u64(length &- 8) { return false }
            if length == 8 { return true }
        }
        return equalBytes(a, b, length)
    }

    /// Whether these are the bytes of the last entry of the leaf before.
    private func repeatsPrevious(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
        guard hasPrevious, previous.count == length else { return false }
        return previous.withUnsafeBytes { old in
            guard let start = old.baseAddress else { return false }
            return equalBytes(start, bytes, length)
        }
    }

    /// An entry with the bytes of the one before, as common words have by the million.
    @inline(__always)
    private func addEqual(_ last: Entry, _ key: ObjectKey) {
        let low = min(keyMinimum, key)
        let high = max(keyMaximum, key)
        let total = byteTotal &+ last.count
        if size(count &+ 1, total, prefixCount, sameLength, low, high) > target {
            // The bytes stay where they are until the next leaf has copied them.
            flush()
            addOther(heap + last.offset, last.count, key)
            return
        }
        append(Entry(offset: last.offset, count: last.count, key: key))
        byteTotal = total
        keyMinimum = low
        keyMaximum = high
    }

    private func addOther(_ bytes: UnsafeRawPointer, _ length: Int, _ key: ObjectKey) {
        var prefix = length
        var same = true
        if count > 0 {
            let first = entries[0]
            prefix = sharedBytes(heap + first.offset, bytes, min(prefixCount, length))
            same = sameLength && length == first.count
            let size = size(
                count &+ 1, byteTotal &+ length, prefix, same, min(keyMinimum, key),
                max(keyMaximum, key))
            if size > target {
                flush()
                prefix = length
                same = true
            }
        }
        if heapUsed &+ length > heapCapacity { growHeap(length) }
        memmove(heap + heapUsed, bytes, length)
        append(Entry(offset: heapUsed, count: length, key: key))
        heapUsed &+= length
        byteTotal &+= length
        prefixCount = prefix
        sameLength = same
        keyMinimum = min(keyMinimum, key)
        keyMaximum = max(keyMaximum, key)
    }

    @inline(__always)
    private func append(_ entry: Entry) {
        if count == capacity { grow() }
        entries[count] = entry
        count &+= 1
    }

    @inline(never)
    private func grow() {
        capacity *= 2
        entries = entries.grown(count, to: capacity)
    }

    private func growHeap(_ length: Int) {
        heapCapacity = (heapCapacity + length) * 2
        let larger = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity + 8, alignment: 16)
        memcpy(larger, heap, heapUsed)
        heap.deallocate()
        heap = larger
    }

    /// Seals what was added into a leaf and puts it into `output`.
    func flush() {
        guard count > 0 else { return }
        let last = entries[count - 1]
        emitSeparator(entries[0])
        let size = size
        let pages = Page.count(forBytes: size + 8)
        let block = memory.pointee.blocks.allocate(pages: pages)
        write(block)
        output.children[output.children.count - 1].reference = memory.pointee.blocks.add(
            block, pages: pages)
        output.children[output.children.count - 1].entries = count
        previous.removeAll(keepingCapacity: true)
        previous.append(
            contentsOf: UnsafeRawBufferPointer(start: heap + last.offset, count: last.count))
        hasPrevious = true
        clear()
    }

    private func clear() {
        count = 0
        heapUsed = 0
        byteTotal = 0
        keyMinimum = .max
        keyMaximum = .min
    }

    /// The leaf after one that was kept as it is needs its separator in full.
    func forgetPrevious() { hasPrevious = false }

    private func emitSeparator(_ first: Entry) {
        let start = UnsafeRawPointer(heap + first.offset)
        var position = IndexPosition(bytes: start, count: first.count, key: first.key)
        if hasPrevious {
            let shared = previous.withUnsafeBytes { old -> Int in
                guard let base = old.baseAddress else { return 0 }
                return sharedBytes(base, start, min(old.count, first.count))
            }
            if shared < first.count {
                position.count = shared + 1
                position.key = .min
            }
        }
        output.add(position, entries: 0, reference: .none)
    }

    private func write(_ block: UnsafeMutableRawPointer) {
        block.put(tag.rawValue, BlockField.tag)
        block.put(UInt32(count), BlockField.count)
        block.put(UInt16(prefixCount), IndexLeafField.prefixCount)
        let width = Self.width(keyMinimum, keyMaximum)
        block.put(UInt8(width), IndexLeafField.keyWidth)
        block.put(keyMinimum, IndexLeafField.keyBase)
        var offset = IndexLeaf.headerSize
        block.put(UInt32(offset), IndexLeafField.prefix)
        memcpy(block + offset, heap, prefixCount)
        offset = LeafAlign.align8(offset + prefixCount)
        // Keys before the heap: they are aligned to their width then.
        block.put(UInt32(offset), IndexLeafField.keys)
        writeKeys(block + offset, width)
        offset += width * count
        if sameLength {
            block.put(UInt16(entries[0].count - prefixCount), IndexLeafField.suffixCount)
        } else {
            block.put(IndexLeafField.suffixesDiffer, IndexLeafField.suffixCount)
            offset = (offset + 1) & ~1
            block.put(UInt32(offset), IndexLeafField.offsets)
            var used = 0
            for index in 0..<count {
                block.put(UInt16(used), offset &+ index &* 2)
                used &+= entries[index].count &- prefixCount
            }
            block.put(UInt16(used), offset + count * 2)
            offset += (count + 1) * 2
        }
        block.put(UInt32(offset), IndexLeafField.heap)
        offset = writeSuffixes(block, offset)
        block.put(UInt32(offset), BlockField.bytesUsed)
    }

    private func writeKeys(_ keys: UnsafeMutableRawPointer, _ width: Int) {
        if width == 0 { return }
        for index in 0..<count {
            let delta = keyMinimum.distance(to: entries[index].key)
            keys.put(Int64(delta), width: width, index)
        }
    }

    /// Returns the end of the last one.
    private func writeSuffixes(_ block: UnsafeMutableRawPointer, _ start: Int) -> Int {
        var offset = start
        let end = start + byteTotal - count * prefixCount
        for index in 0..<count {
            let length = entries[index].count &- prefixCount
            let suffix = UnsafeRawPointer(heap) + (entries[index].offset &+ prefixCount)
            // The next ones take the place of what is too much.
            if length <= 8, offset &+ 8 <= end {
                block.put(suffix.u64(0), offset)
            } else {
                memcpy(block + offset, suffix, length)
            }
            offset &+= length
        }
        return offset
    }
}

enum LeafAlign {
    @inline(__always) static func align8(_ offset: Int) -> Int { (offset + 7) & ~7 }
}

enum IndexBranchBuilder {
    /// Packs children into branches of about one page each; returns the branches as children.
    static func build(
        _ source: IndexChildren, level: Int, tag: BlockTag,
        memory: UnsafeMutablePointer<TransactionMemory>
    ) -> IndexChildren {
        var output = IndexChildren()
        let total = source.children.reduce(0) {
            $0 + IndexBranch.childSize + $1.separatorCount
        }
        // Even parts rather than full ones and a rest, so that the next change rarely splits.
        let room = IndexLimits.branchBytesTarget - IndexBranch.childrenOffset
        let parts = (total + room - 1) / room
        let goal = parts > 0 ? total / parts : 0
        var start = 0
        while start < source.children.count {
            var end = start
            var size = 0
            while end < source.children.count {
                let next = IndexBranch.childSize + source.children[end].separatorCount
                if end > start + 1 && (size + next > room || size >= goal) { break }
                size += next
                end += 1
            }
            append(source, start..<end, size, level, tag, memory, to: &output)
            start = end
        }
        return output
    }

    private static func append(
        _ source: IndexChildren, _ range: Range<Int>, _ size: Int, _ level: Int, _ tag: BlockTag,
        _ memory: UnsafeMutablePointer<TransactionMemory>, to output: inout IndexChildren
    ) {
        let bytes = IndexBranch.childrenOffset + size
        let pages = Page.count(forBytes: bytes)
        let block = memory.pointee.blocks.allocate(pages: pages)
        block.put(tag.rawValue, BlockField.tag)
        block.put(UInt32(bytes), BlockField.bytesUsed)
        block.put(UInt32(range.count), BlockField.count)
        block.put(UInt16(level), IndexBranchField.level)
        var heap = IndexBranch.childrenOffset + range.count * IndexBranch.childSize
        var entries = 0
        source.heap.withUnsafeBytes { separators in
            for (i, index) in range.enumerated() {
                let child = source.children[index]
                let place = block + (IndexBranch.childrenOffset + i * IndexBranch.childSize)
                place.put(UInt32(heap), IndexBranchField.separator)
                place.put(UInt16(child.separatorCount), IndexBranchField.separatorCount)
                place.put(child.separatorKey, IndexBranchField.separatorKey)
                place.put(UInt64(child.entries), IndexBranchField.entries)
                child.reference.store(place + IndexBranch.referenceOffset)
                if child.separatorCount > 0, let base = separators.baseAddress {
                    memcpy(block + heap, base + child.separatorOffset, child.separatorCount)
                }
                heap += child.separatorCount
                entries += child.entries
            }
            let first = source.children[range.lowerBound]
            let empty = UnsafeRawPointer(block)
            output.add(
                IndexPosition(
                    bytes: separators.baseAddress.map { $0 + first.separatorOffset } ?? empty,
                    count: first.separatorCount, key: first.separatorKey),
                entries: entries, reference: memory.pointee.blocks.add(block, pages: pages))
        }
    }
}
