// Selections of rows: one bit per row of a leaf, in 64-bit words; bits behind the last row are 0. Sets of
// keys: one bit per key from the least one on.

import CKernels

typealias Bitmap = UnsafeMutablePointer<UInt64>

enum Bits {
    @inline(__always) static func words(_ rows: Int) -> Int { (rows &+ 63) >> 6 }

    /// Memory of zeros.
    static func zeros(_ words: Int) -> Bitmap {
        let made = Bitmap.allocate(capacity: words)
        made.initialize(repeating: 0, count: words)
        return made
    }

    /// Ones for all rows.
    @inline(__always) static func fill(_ bitmap: Bitmap, _ rows: Int) {
        let whole = rows >> 6
        for word in 0..<whole { bitmap[word] = ~0 }
        if rows & 63 != 0 { bitmap[whole] = (1 << UInt64(rows & 63)) &- 1 }
    }

    @inline(__always) static func clear(_ bitmap: Bitmap, _ words: Int) {
        for word in 0..<words { bitmap[word] = 0 }
    }

    @inline(__always) static func isEmpty(_ bitmap: Bitmap, _ words: Int) -> Bool {
        var any: UInt64 = 0
        for word in 0..<words { any |= bitmap[word] }
        return any == 0
    }

    @inline(__always) static func count(_ bitmap: Bitmap, _ words: Int) -> Int {
        ck_popcount(bitmap, words)
    }

    @inline(__always) static func set(_ bitmap: Bitmap, _ row: Int) {
        bitmap[row >> 6] |= 1 << UInt64(row & 63)
    }

    @inline(__always) static func isSet(_ bitmap: Bitmap, _ row: Int) -> Bool {
        bitmap[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    @inline(__always) static func unset(_ bitmap: Bitmap, _ row: Int) {
        bitmap[row >> 6] &= ~(1 << UInt64(row & 63))
    }

    /// The rows of a sealed leaf that are alive.
    static func live(_ leaf: LeafView, _ bitmap: Bitmap) {
        let rows = leaf.rows
        fill(bitmap, rows)
        guard let dead = leaf.tombstones else { return }
        for word in 0..<words(rows) { bitmap[word] &= ~dead.u64(word &* 8) }
    }

    /// Calls `body` for each selected row, in order.
    @inline(__always)
    static func forEach<Failure: Error>(
        _ bitmap: Bitmap, _ words: Int, _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        for word in 0..<words {
            var bits = bitmap[word]
            while bits != 0 {
                let row = word << 6 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                try body(row)
            }
        }
    }
}
