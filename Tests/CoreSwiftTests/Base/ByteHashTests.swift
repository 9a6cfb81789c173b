import Testing

@testable import CoreSwift

/// The hash of bytes that tables in memory use.
struct ByteHashTests {
    private func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { ByteHash.of($0, seed: seed) }
    }

    @Test func eachBitAndTheLengthCount() {
        for count in 1...40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            #expect(hash(bytes) != hash(bytes, seed: 1))
            var seen: Set<UInt64> = [hash(bytes), hash(bytes + [0])]
            for bit in 0..<(count * 8) {
                var other = bytes
                other[bit / 8] ^= 1 << (bit % 8)
                seen.insert(hash(other))
            }
            #expect(seen.count == count * 8 + 2)
        }
    }

    /// Each bit of the hash is as often 1 as 0, and places of a table fill evenly.
    @Test(arguments: ["%", "value-%", "a-long-name-of-something-%-or-other"])
    func numberedTextsSpread(pattern: String) {
        let number = 1 << 14
        var ones = [Int](repeating: 0, count: 64)
        var places = [Int](repeating: 0, count: number)
        for index in 0..<number {
            let text = pattern.split(separator: "%", omittingEmptySubsequences: false)
                .joined(separator: String(index))
            let found = hash(Array(text.utf8))
            for bit in 0..<64 { ones[bit] += Int(found >> UInt64(bit) & 1) }
            places[Int(truncatingIfNeeded: found) & (number - 1)] += 1
        }
        // Eight standard deviations of 64.
        for count in ones { #expect(abs(count - number / 2) < 512) }
        // A random table has 36.8 % empty places, give or take 0.3.
        let empty = places.count { $0 == 0 }
        #expect(empty > number * 35 / 100 && empty < number * 39 / 100)
        #expect((places.max() ?? 0) < 12)
    }

    /// Texts that a hash of products and shifts confuses whatever its seed is.
    @Test func highBitsOfTwoWordsDoNotCancel() {
        var seen: Set<UInt64> = []
        for first: UInt8 in [0, 0x80] {
            for low: UInt8 in [0, 0x80] {
                for high: UInt8 in [0, 0x80] {
                    var bytes = [UInt8](repeating: 7, count: 16)
                    bytes[7] ^= first
                    bytes[11] ^= low
                    bytes[15] ^= high
                    seen.insert(hash(bytes, seed: 5))
                }
            }
        }
        #expect(seen.count == 8)
    }
}
