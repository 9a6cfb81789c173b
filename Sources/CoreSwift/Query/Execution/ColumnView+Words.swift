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

    /// Numbers as words in their order; false where the column has another form.
    func orderedWords(
        _ first: Int, _ count: Int, _ target: UnsafeMutablePointer<UInt64>
    ) -> Bool {
        switch encoding {
        case .bits:
            for row in 0..<count { target[row] = bit(first &+ row) ? 1 : 0 }
        case .timestamp where flags.contains(.hasNanoseconds): return false
        case .packed, .timestamp:
            // Adding a delta to the ordered word of the base orders like the sum.
            unpack(first, count, from: UInt64(bitPattern: base) ^ 1 << 63, target)
        case .fixed where width == 8:
            for row in 0..<count { target[row] = GatheredKey.ordered(double(first &+ row)) }
        default: return false
        }
        return true
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

extension RawValue {
    /// What a packed column, or one of bits, of a kind holds of the value.
    @inline(__always) func number(_ kind: ColumnKind) -> Int64 {
        switch kind {
        case .bool: return boolValue ? 1 : 0
        case .link: return linkTarget.rawValue
        default: return intValue
        }
    }
}
