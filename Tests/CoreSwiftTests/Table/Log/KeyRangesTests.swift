import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct KeyRangesTests {
    /// Close together (by bits) and far apart (sorted), with runs up to the ends of words, and repeated.
    @Test func keysInNoOrderBecomeTheRangesOfTheirSet() {
        var random = Random(1_822_311)
        for round in 0..<3000 {
            var keys: [UInt64] = []
            let low = UInt64(random.below(1 << 40))
            let spread = 1 + random.below(round % 3 == 0 ? 40_000_000 : 400)
            for _ in 0..<(1 + random.below(12)) {
                let start = low + UInt64(random.below(spread))
                for key in start...start + UInt64(random.below(140)) { keys.append(key) }
            }
            keys.shuffle(using: &random)
            var expected = KeyRanges()
            for key in Set(keys).sorted() { expected.insert(ObjectKey(word: key)) }
            #expect(KeyRanges(unordered: keys) == expected, "\(keys)")
        }
        #expect(KeyRanges(unordered: []).isEmpty)
        let words = KeyRanges(unordered: Array((64..<192).reversed()))
        #expect(words.count == 128 && words.ranges.count == 1)
    }

    /// As a commit collects them from what was noted: runs first, then in no order, as bits that grow, with some
    /// far away from the others.
    @Test func keysSetInAnyOrderAreCollected() {
        var random = Random(31_880_417)
        for round in 0..<600 {
            let record = CommitRecord.make(.values)
            defer { CommitRecord.end(record) }
            var expected = Set<UInt64>()
            func note(_ key: UInt64) {
                expected.insert(key)
                record.pointee.noteSet(
                    ClassKey(rawValue: 7), ObjectKey(word: key), 3, isDerived: false)
            }
            for start in (0..<random.below(4)).map({ UInt64($0 * 500 + random.below(90)) }) {
                for key in start..<start + UInt64(random.below(400)) { note(key) }
            }
            var spread = 1 + random.below(round % 2 == 0 ? 300 : 100_000)
            for _ in 0..<random.below(6) {
                for _ in 0..<random.below(2500) { note(UInt64(random.below(spread))) }
                spread *= 1 + random.below(3)
                if random.below(3) == 0 { note(1 << 62 + UInt64(random.below(1000))) }
            }
            let end = record.pointee.used
            if end == 0 { continue }
            var column = RecordedColumn(name: 0, classKey: ClassKey(rawValue: 7), column: 3)
            let base = UnsafeRawPointer(record.pointee.base)
            #expect(column.noteSets(base, 0, end) == end)
            column.closeRun()
            column.closeUnordered()
            #expect(column.keys.keys.map(\.word) == expected.sorted(), "round \(round)")
        }
    }

    /// Whatever the next key of the class is: where integers are primary keys it says nothing of those there are.
    @Test func keysSetInNoOrderBecomeBits() {
        var random = Random(77_104)
        let record = CommitRecord.make(.values)
        defer { CommitRecord.end(record) }
        for key in (0..<50_000).shuffled(using: &random) {
            record.pointee.noteSet(
                ClassKey(rawValue: 7), ObjectKey(rawValue: Int64(key)), 3, isDerived: false)
        }
        var column = RecordedColumn(name: 0, classKey: ClassKey(rawValue: 7), column: 3)
        let base = UnsafeRawPointer(record.pointee.base)
        _ = column.noteSets(base, 0, record.pointee.used)
        #expect(column.bits.count >= 50_000 / 64 && column.unordered.isEmpty)
        #expect(column.keys.isEmpty)
        column.closeUnordered()
        #expect(column.keys.ranges.count == 1 && column.bits.isEmpty)
    }
}
