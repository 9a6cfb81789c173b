// A set of integers for membership tests in scans: sorted values, and a bitmap over their range
// where that is small.

final class KeySet {
    let values: UnsafeMutablePointer<Int64>
    let count: Int
    /// One bit per integer from `low` on; nil when the values lie too far apart.
    private let bits: UnsafeMutablePointer<UInt64>?

    /// Bits a bitmap may have per member, plus a start: 8 KB are always cheap.
    private static let bitsPerMember: UInt64 = 512
    private static let bitsFree: UInt64 = 65536

    /// Values usually ascend. The keys that a damaged index gives may not: they are sorted, because
    /// the bitmap is as long as the last one says.
    init(_ values: [Int64]) {
        let ascends = values.indices.dropFirst().allSatisfy { values[$0 - 1] <= values[$0] }
        let sorted = ascends ? values : values.sorted()
        let copy = UnsafeMutablePointer<Int64>.allocate(capacity: max(sorted.count, 1))
        sorted.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { copy.update(from: start, count: source.count) }
        }
        self.values = copy
        count = sorted.count
        guard let first = sorted.first, let last = sorted.last else {
            bits = nil
            return
        }
        let range = UInt64(bitPattern: last &- first)
        guard range < Self.bitsFree + UInt64(count) * Self.bitsPerMember else {
            bits = nil
            return
        }
        let words = Int(range >> 6) + 1
        let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
        bitmap.initialize(repeating: 0, count: words)
        for value in sorted {
            let offset = UInt64(bitPattern: value &- first)
            bitmap[Int(offset >> 6)] |= 1 << (offset & 63)
        }
        bits = bitmap
    }

    deinit {
        values.deallocate()
        bits?.deallocate()
    }

    /// The bits of `low` ... `high`, if there are.
    @inline(__always) var bitmap: UnsafePointer<UInt64>? { bits.map { UnsafePointer($0) } }
    @inline(__always) var low: Int64 { values[0] }
    @inline(__always) var high: Int64 { values[count &- 1] }

    /// Position of the first member that is not below `value`.
    func lowerBound(_ value: Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if values[middle] < value { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// The members in low ... high.
    func members(from low: Int64, through high: Int64) -> Range<Int> {
        let start = lowerBound(low)
        let end = high == .max ? count : lowerBound(high &+ 1)
        return start..<max(start, end)
    }

    @inline(__always) func contains(_ value: Int64) -> Bool {
        guard count > 0, value >= low, value <= high else { return false }
        if let bits {
            let offset = UInt64(bitPattern: value &- low)
            return bits[Int(offset >> 6)] >> (offset & 63) & 1 != 0
        }
        let position = lowerBound(value)
        return position < count && values[position] == value
    }
}
