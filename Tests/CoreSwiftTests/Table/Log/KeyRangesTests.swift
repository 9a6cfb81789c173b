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
}
