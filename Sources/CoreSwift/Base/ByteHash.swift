// The hash of bytes for tables in memory: of terms, texts and binaries. Not for what is stored or
// checked, which is what `ContentHash` is for.

enum ByteHash {
    /// Eight bytes at a time, by a product whose halves are folded together: what a difference
    /// between two texts becomes depends on what came before it. With a `seed` that nobody knows
    /// nobody can choose texts that meet in one place.
    static func of(_ start: UnsafeRawPointer, _ count: Int, seed: UInt64 = 0) -> UInt64 {
        var value = seed ^ 0x9E37_79B9_7F4A_7C15
        var i = 0
        while i &+ 8 <= count {
            value = folded(value ^ start.u64(i))
            i &+= 8
        }
        if i < count {
            // What is left; reads what was read before once more rather than byte by byte.
            var rest: UInt64
            if count >= 8 {
                rest = start.u64(count &- 8)
            } else if count >= 4 {
                rest = UInt64(start.u32(0)) | UInt64(start.u32(count &- 4)) << 32
            } else {
                rest = UInt64(start.u8(0)) | UInt64(start.u8(count >> 1)) << 8
                rest |= UInt64(start.u8(count &- 1)) << 16
            }
            value = folded(value ^ rest)
        }
        return folded(value ^ UInt64(count))
    }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        guard let start = bytes.baseAddress else { return seed }
        return of(start, bytes.count, seed: seed)
    }

    @inline(__always) private static func folded(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xFF51_AFD7_ED55_8CCD)
        return product.high ^ product.low
    }
}
