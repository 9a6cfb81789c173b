// Where positions are in leaves of indexes, beside a search from the beginning.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct IndexLeafTests {
    private struct Entry: Equatable {
        let value: [UInt8]
        let key: UInt64

        static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
            a.value != b.value ? a.value.precedes(b.value) : a.key < b.key
        }
    }

    /// A leaf of these entries, which ascend and begin with `prefix`. Nothing follows its last byte.
    private func withLeaf(
        _ entries: [Entry], prefix: [UInt8], _ body: (IndexLeaf) -> Void
    ) {
        let suffixes = entries.map { $0.value.dropFirst(prefix.count) }
        let lengths = Set(suffixes.map(\.count))
        let offsets = IndexLeaf.headerSize + entries.count * 8
        let text = offsets + (lengths.count == 1 ? 0 : (entries.count + 1) * 2)
        let heap = text + prefix.count
        let size = suffixes.reduce(heap) { $0 + $1.count }
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        defer { block.deallocate() }
        block.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        block.put(UInt32(entries.count), BlockField.count)
        block.put(UInt16(prefix.count), IndexLeafField.prefixCount)
        block.put(
            lengths.count == 1 ? UInt16(suffixes[0].count) : IndexLeafField.suffixesDiffer,
            IndexLeafField.suffixCount)
        block.put(8 as UInt8, IndexLeafField.keyWidth)
        block.put(UInt32(IndexLeaf.headerSize), IndexLeafField.keys)
        block.put(UInt32(offsets), IndexLeafField.offsets)
        block.put(UInt32(text), IndexLeafField.prefix)
        block.put(UInt32(heap), IndexLeafField.heap)
        (block + text).copyMemory(from: prefix, byteCount: prefix.count)
        var end = 0
        for (place, suffix) in suffixes.enumerated() {
            block.put(entries[place].key, IndexLeaf.headerSize + place * 8)
            (block + heap + end).copyMemory(from: Array(suffix), byteCount: suffix.count)
            end += suffix.count
            if lengths.count > 1 { block.put(UInt16(end), offsets + (place + 1) * 2) }
        }
        body(IndexLeaf(block))
    }

    @Test(
        "the first entry that is not below a position, with values of all lengths",
        arguments: (1...9).map { $0...$0 } + [1...10], [2, 256])
    func lowerBound(lengths: ClosedRange<Int>, letters: Int) {
        var random = Random(TestSettings.seed("IndexLeafTests"))
        let prefix: [UInt8] = [7, 9]
        func entry(_ length: Int) -> Entry {
            // A few letters: many values are equal or nearly so.
            Entry(value: prefix + random.bytes(length, below: letters), key: random.next() >> 60)
        }
        let entries = (0..<300)
            .map { _ in entry(lengths.lowerBound + random.below(lengths.count)) }
            .sorted(by: Entry.isBefore)
        var wanted = entries + (0..<300).map { _ in entry(1 + random.below(10)) }
        wanted += [[], [7], [7, 8], [7, 9], [7, 10]].map { Entry(value: $0, key: 3) }
        withLeaf(entries, prefix: prefix) { leaf in
            var wrong = 0
            for position in wanted {
                let expected =
                    entries.firstIndex { !Entry.isBefore($0, position) } ?? entries.count
                // In memory of its own, so that an address sanitizer sees what reads behind it.
                let bytes = UnsafeMutableRawPointer.allocate(
                    byteCount: max(1, position.value.count), alignment: 1)
                defer { bytes.deallocate() }
                bytes.copyMemory(from: position.value, byteCount: position.value.count)
                let key = ObjectKey(word: position.key)
                let found = leaf.lowerBound(
                    IndexPosition(bytes: bytes, count: position.value.count, key: key))
                if found != expected { wrong += 1 }
            }
            #expect(wrong == 0)
        }
    }
}
