// Stable least-significant-digit radix sort with 11-bit digits; digits that all items share are
// skipped. About 10 ns per item and digit pass at a million items.

/// An item of a radix sort: what to sort by, and what travels with it.
struct RadixItem {
    var key: UInt64
    var payload: UInt64
}

enum RadixSort {
    private static let digitBits: UInt64 = 11
    private static let buckets = 2048

    /// Sorts `items` by key. `scratch` has room for as many.
    static func sort(
        _ items: UnsafeMutablePointer<RadixItem>, _ scratch: UnsafeMutablePointer<RadixItem>,
        _ count: Int
    ) {
        let sorted = sorted(items, scratch, count)
        if sorted != items { items.update(from: sorted, count: count) }
    }

    static func sort(_ items: inout [RadixItem]) {
        let count = items.count
        items.withUnsafeMutableBufferPointer { items in
            guard let start = items.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: RadixItem.self, capacity: count) { scratch in
                guard let second = scratch.baseAddress else { return }
                sort(start, second, count)
            }
        }
    }

    /// The same, but returns where the sorted items are: `items` or `scratch`. The other one has
    /// nothing of use.
    static func sorted(
        _ items: UnsafeMutablePointer<RadixItem>, _ scratch: UnsafeMutablePointer<RadixItem>,
        _ count: Int
    ) -> UnsafeMutablePointer<RadixItem> {
        guard count > 1 else { return items }
        var all: UInt64 = 0
        var common = UInt64.max
        var isSorted = true
        var last: UInt64 = 0
        for i in 0..<count {
            let key = items[i].key
            all |= key
            common &= key
            isSorted = isSorted && key >= last
            last = key
        }
        if isSorted { return items }
        let varying = all & ~common
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: buckets) { counts in
            var source = items
            var target = scratch
            var shift: UInt64 = 0
            while shift < 64 {
                let mask = UInt64(buckets - 1)
                if (varying >> shift) & mask != 0 {
                    counts.update(repeating: 0)
                    for i in 0..<count {
                        counts[Int(truncatingIfNeeded: source[i].key >> shift & mask)] &+= 1
                    }
                    var sum = 0
                    for bucket in 0..<buckets {
                        let size = counts[bucket]
                        counts[bucket] = sum
                        sum &+= size
                    }
                    for i in 0..<count {
                        let bucket = Int(truncatingIfNeeded: source[i].key >> shift & mask)
                        target[counts[bucket]] = source[i]
                        counts[bucket] &+= 1
                    }
                    swap(&source, &target)
                }
                shift += digitBits
            }
            return source
        }
    }
}
