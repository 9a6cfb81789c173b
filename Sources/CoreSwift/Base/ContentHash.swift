// The check value of blocks in plain files: 128 bits from eight independent multiply-rotate lanes
// over 64-bit words, finished with the finalizer of MurmurHash3. Each step is a bijection of its
// lane for a given word, so a change confined to one word always changes the result; the rotation
// carries differences out of the top bit, which a bare multiply would keep there.
//
// Eight lanes because one multiply-rotate-xor chain takes five cycles for eight bytes: eight of
// them in flight reach about 30 GB/s, so checking blocks costs less than their page faults.

struct ContentHash: Equatable {
    var low: UInt64
    var high: UInt64

    private static let prime: UInt64 = 0x9FB2_1C65_1E98_DF25

    /// Hashes `count` bytes (a multiple of 64) with `seed0` and `seed1` mixed in.
    static func of(
        _ base: UnsafeRawPointer, count: Int, seed0: UInt64, seed1: UInt64
    ) -> ContentHash {
        invariant(count & 63 == 0)
        var a = seed0 ^ 0x243F_6A88_85A3_08D3
        var b = seed1 ^ 0x1319_8A2E_0370_7344
        var c = seed0 ^ 0xA409_3822_299F_31D0
        var d = seed1 ^ 0x082E_FA98_EC4E_6C89
        var e: UInt64 = 0x4528_21E6_38D0_1377
        var f: UInt64 = 0xBE54_66CF_34E9_0C6C
        var g: UInt64 = 0xC0AC_29B7_C97C_50DD
        var h: UInt64 = 0x3F84_D5B5_B547_0917
        var p = base
        let end = base + count
        while p < end {
            a = step(a, p.u64(0))
            b = step(b, p.u64(8))
            c = step(c, p.u64(16))
            d = step(d, p.u64(24))
            e = step(e, p.u64(32))
            f = step(f, p.u64(40))
            g = step(g, p.u64(48))
            h = step(h, p.u64(56))
            p += 64
        }
        var low = finish(a) &+ UInt64(count)
        var high = finish(e) ^ seed1
        low = finish(step(low, b))
        high = finish(step(high, f))
        low = finish(step(low, c))
        high = finish(step(high, g))
        low = finish(step(low, d) ^ high)
        high = finish(step(high, h) ^ low)
        low = finish(step(low, high))
        return ContentHash(low: low, high: high)
    }

    @inline(__always)
    private static func step(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        let product = (lane ^ word) &* prime
        return product << 31 | product >> 33
    }

    @inline(__always)
    private static func finish(_ value: UInt64) -> UInt64 {
        var x = value
        x ^= x >> 33
        x = x &* 0xFF51_AFD7_ED55_8CCD
        x ^= x >> 33
        x = x &* 0xC4CE_B9FE_1A85_EC53
        x ^= x >> 33
        return x
    }
}
