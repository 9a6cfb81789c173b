// A set of object keys, or of the numbers of an integer column, for membership tests in scans: as
// numbers, like they stand in packed columns, sorted, and a bitmap over their range where that is
// small.

final class KeySet {
    let values: UnsafeMutablePointer<Int64>
    let count: Int
    /// No member is below or above.
    let low: Int64
    let high: Int64
    /// One bit per number from `low` on; nil when the members lie too far apart.
    private let bits: Bitmap?

    /// Bits a bitmap may have per member, plus a start: 8 KB are always cheap.
    private static let bitsPerMember: UInt64 = 512
    private static let bitsFree: UInt64 = 65536

    convenience init(_ keys: [ObjectKey]) {
        self.init(count: keys.count) { keys[$0].rawValue }
    }

    convenience init(numbers: [Int64]) {
        self.init(count: numbers.count) { numbers[$0] }
    }

    /// Members usually ascend. The keys that a damaged index gives may not: they are sorted, because
    /// the bitmap is as long as the last one says.
    @inline(__always)
    private init(count: Int, _ member: (Int) -> Int64) {
        let values = UnsafeMutablePointer<Int64>.allocate(capacity: max(count, 1))
        for index in 0..<count { values[index] = member(index) }
        var all = UnsafeMutableBufferPointer(start: values, count: count)
        let ascends = all.indices.dropFirst().allSatisfy { all[$0 - 1] <= all[$0] }
        if !ascends { all.sort() }
        self.values = values
        self.count = count
        guard let first = all.first, let last = all.last else {
            (low, high) = (0, -1)
            bits = nil
            return
        }
        (low, high) = (first, last)
        let range = UInt64(bitPattern: last &- first)
        guard range < Self.bitsFree + UInt64(count) * Self.bitsPerMember else {
            bits = nil
            return
        }
        let bitmap = Bits.zeros(Int(range >> 6) + 1)
        for value in all { Bits.set(bitmap, Int(value &- first)) }
        bits = bitmap
    }

    /// The numbers `low` + i for which bit i is set. Takes over the memory.
    init(bits: Bitmap, words: Int, from low: Int64) {
        count = Bits.count(bits, words)
        values = .allocate(capacity: max(count, 1))
        var next = values
        Bits.forEach(bits, words) { place in
            next.initialize(to: low &+ Int64(place))
            next += 1
        }
        self.low = low
        high = low &+ Int64(words << 6) &- 1
        self.bits = bits
    }

    deinit {
        values.deallocate()
        bits?.deallocate()
    }

    /// The bits of `low` ... `high`, if there are.
    @inline(__always) var bitmap: UnsafePointer<UInt64>? { bits.map { UnsafePointer($0) } }

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
        if let bits { return Bits.isSet(bits, Int(value &- low)) }
        let position = lowerBound(value)
        return position < count && values[position] == value
    }

    // MARK: Of object keys

    @inline(__always) func contains(_ key: ObjectKey) -> Bool { contains(key.rawValue) }

    @inline(__always) func key(_ position: Int) -> ObjectKey {
        ObjectKey(rawValue: values[position])
    }
    var keys: [ObjectKey] { (0..<count).map { key($0) } }
}

extension RandomAccessCollection where Index == Int {
    /// Whether an element is what is looked for, of ascending ones, of which `order` says whether they come before it
    /// (negative), are it (0), or come behind it.
    @inline(__always) func hasMember(_ order: (Element) -> Int) -> Bool {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low &+ high) >> 1
            let found = order(self[middle])
            if found == 0 { return true }
            if found < 0 { low = middle &+ 1 } else { high = middle }
        }
        return false
    }
}
