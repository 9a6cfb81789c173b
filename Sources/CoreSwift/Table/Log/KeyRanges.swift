// A set of object keys as ranges, ascending: what a commit created, deleted or modified is mostly keys
// that follow each other.
//
// Invariant: ranges ascend, and between two of them a key is missing.

/// A set of object keys of one class.
struct KeyRanges: Equatable {
    private(set) var ranges: [ClosedRange<ObjectKey>] = []

    init() {}

    init(ranges: [ClosedRange<ObjectKey>]) {
        for range in ranges { insert(range) }
    }

    var isEmpty: Bool { ranges.isEmpty }

    /// How many keys; O(ranges).
    var count: Int {
        ranges.reduce(0) { $0 &+ $1.lowerBound.distance(to: $1.upperBound) &+ 1 }
    }

    /// O(log ranges).
    func contains(_ key: ObjectKey) -> Bool {
        let index = firstIndex(endingAt: key)
        return index < ranges.count && ranges[index].lowerBound <= key
    }

    /// The first range that does not end before `key`.
    private func firstIndex(endingAt key: ObjectKey) -> Int {
        ranges.partitionPoint { $0.upperBound < key }
    }

    mutating func insert(_ key: ObjectKey) { insert(key...key) }

    /// O(1) behind all others, else O(ranges).
    mutating func insert(_ range: ClosedRange<ObjectKey>) {
        guard let last = ranges.last, last.upperBound >= range.lowerBound.advanced(by: -1) else {
            ranges.append(range)
            return
        }
        if last.lowerBound <= range.lowerBound {
            if last.upperBound < range.upperBound {
                ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            }
            return
        }
        // All that touch the range become one with it.
        let start = firstIndex(endingAt: range.lowerBound.advanced(by: -1))
        var end = start
        var joined = range
        while end < ranges.count, ranges[end].lowerBound <= range.upperBound.advanced(by: 1) {
            joined =
                min(
                    joined.lowerBound, ranges[end].lowerBound)...max(
                    joined.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(start..<end, with: CollectionOfOne(joined))
    }

    mutating func formUnion(_ other: KeyRanges) {
        if isEmpty {
            self = other
        } else if other.ranges.count <= 2 {
            for range in other.ranges { insert(range) }
        } else {
            var merged = KeyRanges()
            merged.ranges.reserveCapacity(ranges.count + other.ranges.count)
            var left = ranges[...]
            var right = other.ranges[...]
            while let a = left.first, let b = right.first {
                merged.insert(
                    a.lowerBound <= b.lowerBound ? left.removeFirst() : right.removeFirst())
            }
            for range in left { merged.insert(range) }
            for range in right { merged.insert(range) }
            self = merged
        }
    }

    /// Takes out the keys of another set. O(ranges of both, but for those of the other that end before these begin).
    mutating func subtract(_ other: KeyRanges) {
        guard let first = ranges.first, !other.isEmpty else { return }
        var left: [ClosedRange<ObjectKey>] = []
        var next = other.firstIndex(endingAt: first.lowerBound)
        for range in ranges {
            var low = range.lowerBound
            var isOver = false
            while next < other.ranges.count, other.ranges[next].upperBound < low { next += 1 }
            var index = next
            while index < other.ranges.count, other.ranges[index].lowerBound <= range.upperBound {
                let gone = other.ranges[index]
                if gone.lowerBound > low { left.append(low...gone.lowerBound.advanced(by: -1)) }
                if gone.upperBound >= range.upperBound {
                    isOver = true
                    break
                }
                low = gone.upperBound.advanced(by: 1)
                index += 1
            }
            if !isOver { left.append(low...range.upperBound) }
        }
        ranges = left
    }

    func intersection(_ other: KeyRanges) -> KeyRanges {
        var outside = self
        outside.subtract(other)
        var result = self
        result.subtract(outside)
        return result
    }

    /// Calls `body` with each key, ascending.
    func forEach<Failure>(_ body: (ObjectKey) throws(Failure) -> Void) throws(Failure) {
        for range in ranges {
            for key in range { try body(key) }
        }
    }

    /// Of keys in no order, of which some may be there several times. Where they lie close together
    /// a bit for each that could be there takes less time than sorting them.
    init(unordered words: [UInt64]) {
        guard let first = words.first else { return }
        var low = first
        var high = first
        for word in words {
            low = min(low, word)
            high = max(high, word)
        }
        guard (high - low) >> 6 < UInt64(words.count) else {
            for word in words.sorted() { insert(ObjectKey(word: word)) }
            return
        }
        var bits = [UInt64](repeating: 0, count: Int((high - low) >> 6) + 1)
        for word in words {
            let offset = word &- low
            bits[Int(truncatingIfNeeded: offset >> 6)] |= 1 << (offset & 63)
        }
        bits.withUnsafeBufferPointer { addBits($0, low) }
    }

    /// Those of the keys from 0 on whose bits are set.
    init(bits: [UInt64]) {
        bits.withUnsafeBufferPointer { addBits($0, 0) }
    }

    private mutating func addBits(_ bits: UnsafeBufferPointer<UInt64>, _ low: UInt64) {
        var count = 0
        var before: UInt64 = 0
        for word in bits {
            count &+= (word & ~(word << 1 | before)).nonzeroBitCount
            before = word >> 63
        }
        ranges.reserveCapacity(count)
        // The bit before those that are left, where a run of ones goes on.
        var start: UInt64?
        for index in bits.indices {
            var rest = bits[index]
            let base = low &+ UInt64(index) << 6
            var position: UInt64 = 0
            while true {
                if let begin = start {
                    let ones = UInt64((~rest).trailingZeroBitCount)
                    position &+= ones
                    if position >= 64 { break }
                    ranges.append(ObjectKey(word: begin)...ObjectKey(word: base &+ position &- 1))
                    start = nil
                    rest >>= ones
                }
                if rest == 0 { break }
                let zeros = UInt64(rest.trailingZeroBitCount)
                position &+= zeros
                rest >>= zeros
                start = base &+ position
            }
        }
        if let begin = start {
            let end = low &+ UInt64(bits.count) << 6 &- 1
            ranges.append(ObjectKey(word: begin)...ObjectKey(word: end))
        }
    }

    var keys: [ObjectKey] {
        var result: [ObjectKey] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }
}
