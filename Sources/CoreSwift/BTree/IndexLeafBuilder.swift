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
}

final class IndexLeafBuilder {
    private struct Entry {
        var offset: Int
        var count: Int
        var key: ObjectKey
    }
    private var entries: [Entry] = []
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
        heap = .allocate(byteCount: heapCapacity, alignment: 16)
        entries.reserveCapacity(4096)
    }

    deinit { heap.deallocate() }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// Bytes of the leaf that `flush` would make.
    var size: Int {
        size(entries.count, byteTotal, prefixCount, sameLength, keyMinimum, keyMaximum)
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
        let range = UInt(bitPattern: low.distance(to: high))
        if range == 0 { return 0 }
        if range <= 0xFF { return 1 }
        if range <= 0xFFFF { return 2 }
        return range <= 0xFFFF_FFFF ? 4 : 8
    }

    /// Adds the next entry; the bytes are copied.
    func add(_ bytes: UnsafeRawPointer, _ count: Int, _ key: ObjectKey) {
        if let last = entries.last, last.count == count,
            equalBytes(heap + last.offset, bytes, count)
        {
            addEqual(last, key)
            return
        }
        addOther(bytes, count, key)
    }

    /// An entry with the bytes of the one before, as common words have by the million.
    @inline(__always)
    private func addEqual(_ last: Entry, _ key: ObjectKey) {
        let low = min(keyMinimum, key)
        let high = max(keyMaximum, key)
        let total = byteTotal &+ last.count
        if size(entries.count &+ 1, total, prefixCount, sameLength, low, high) > target {
            // The bytes stay where they are until the next leaf has copied them.
            flush()
            addOther(heap + last.offset, last.count, key)
            return
        }
        entries.append(Entry(offset: last.offset, count: last.count, key: key))
        byteTotal = total
        keyMinimum = low
        keyMaximum = high
    }

    private func addOther(_ bytes: UnsafeRawPointer, _ count: Int, _ key: ObjectKey) {
        var prefix = count
        var same = true
        if let first = entries.first {
            let limit = min(prefixCount, count)
            prefix = commonPrefix(heap + first.offset, bytes, limit)
            same = sameLength && count == first.count
            let size = size(
                entries.count + 1, byteTotal + count, prefix, same, min(keyMinimum, key),
                max(keyMaximum, key))
            if size > target {
                flush()
                prefix = count
                same = true
            }
        }
        if heapUsed + count > heapCapacity { growHeap(count) }
        memmove(heap + heapUsed, bytes, count)
        entries.append(Entry(offset: heapUsed, count: count, key: key))
        heapUsed += count
        byteTotal += count
        prefixCount = prefix
        sameLength = same
        keyMinimum = min(keyMinimum, key)
        keyMaximum = max(keyMaximum, key)
    }

    private func growHeap(_ count: Int) {
        heapCapacity = (heapCapacity + count) * 2
        let larger = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity, alignment: 16)
        memcpy(larger, heap, heapUsed)
        heap.deallocate()
        heap = larger
    }

    @inline(__always)
    private func commonPrefix(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ limit: Int) -> Int {
        var i = 0
        while i + 8 <= limit {
            let difference = a.u64(i) ^ b.u64(i)
            if difference != 0 { return i + difference.trailingZeroBitCount >> 3 }
            i += 8
        }
        while i < limit && a.u8(i) == b.u8(i) { i += 1 }
        return i
    }

    /// Seals what was added into a leaf and puts it into `output`.
    func flush() {
        guard let first = entries.first, let last = entries.last else { return }
        emitSeparator(first)
        let size = size
        let pages = Page.count(forBytes: size + 8)
        let block = memory.pointee.blocks.allocate(pages: pages)
        write(block)
        output.children[output.children.count - 1].reference = memory.pointee.blocks.add(
            block, pages: pages)
        output.children[output.children.count - 1].entries = entries.count
        previous.removeAll(keepingCapacity: true)
        previous.append(
            contentsOf: UnsafeRawBufferPointer(start: heap + last.offset, count: last.count))
        hasPrevious = true
        entries.removeAll(keepingCapacity: true)
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
                return commonPrefix(base, start, min(old.count, first.count))
            }
            if shared < first.count {
                position.count = shared + 1
                position.key = .min
            }
        }
        output.add(position, entries: 0, reference: .none)
    }

    private func write(_ block: UnsafeMutableRawPointer) {
        let count = entries.count
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
        entries.withUnsafeBufferPointer { entries in
            let keys = block + offset
            for (i, entry) in entries.enumerated() {
                let delta = keyMinimum.distance(to: entry.key)
                switch width {
                case 0: break
                case 1: keys.put(UInt8(truncatingIfNeeded: delta), i)
                case 2: keys.put(UInt16(truncatingIfNeeded: delta), i &* 2)
                case 4: keys.put(UInt32(truncatingIfNeeded: delta), i &* 4)
                default: keys.put(Int64(delta), i &* 8)
                }
            }
            offset += width * count
            if sameLength {
                block.put(
                    UInt16(entries[0].count - prefixCount), IndexLeafField.suffixCount)
            } else {
                block.put(IndexLeafField.suffixesDiffer, IndexLeafField.suffixCount)
                offset = (offset + 1) & ~1
                block.put(UInt32(offset), IndexLeafField.offsets)
                var used = 0
                for (i, entry) in entries.enumerated() {
                    block.put(UInt16(used), offset &+ i &* 2)
                    used &+= entry.count &- prefixCount
                }
                block.put(UInt16(used), offset + count * 2)
                offset += (count + 1) * 2
            }
            block.put(UInt32(offset), IndexLeafField.heap)
            for entry in entries {
                let length = entry.count &- prefixCount
                memcpy(block + offset, heap + (entry.offset &+ prefixCount), length)
                offset &+= length
            }
        }
        block.put(UInt32(offset), BlockField.bytesUsed)
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
