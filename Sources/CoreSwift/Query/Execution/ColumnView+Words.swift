// Columns of leaves as kernels, and loops over words, take them.

import CKernels

extension ColumnView {
    /// The numbers of `count` rows of a packed column from `first` on, with `base` in the place of the column's.
    @inline(__always)
    func unpack<Word: FixedWidthInteger>(
        _ first: Int, _ count: Int, from base: Word, _ target: UnsafeMutablePointer<Word>
    ) {
        let data = data
        @inline(__always) func fill<Delta: FixedWidthInteger>(_ delta: (Int) -> Delta) {
            for row in 0..<count {
                target[row] = base &+ Word(truncatingIfNeeded: delta(first &+ row))
            }
        }
        switch width {
        case 0: for row in 0..<count { target[row] = base }
        case 1: fill { data.u8($0) }
        case 2: fill { data.u16($0 &* 2) }
        case 4: fill { data.u32($0 &* 4) }
        default: fill { data.u64($0 &* 8) }
        }
    }

    /// Texts that lie one behind another; of a dictionary its words. `ahead`: see `ck_texts`.
    @inline(__always)
    func texts(ahead: Int = 0) -> ck_texts {
        let isDictionary = encoding == .stringDictionary
        let offsets16 = isDictionary ? data + LeafLayout.align8(rows) : data
        return ck_texts(
            heap: heap.assumingMemoryBound(to: UInt8.self), rows: isDictionary ? wordCount : rows,
            length: encoding == .stringFixed ? fixedLength : 0,
            offsets16: isDictionary || encoding == .string16 ? offsets16 : nil,
            offsets32: encoding == .string32 ? data : nil, ahead: ahead)
    }

    /// Of a dictionary: the number of the word of each row.
    var wordNumbers: UnsafePointer<UInt8>? {
        encoding == .stringDictionary ? data.assumingMemoryBound(to: UInt8.self) : nil
    }
}
