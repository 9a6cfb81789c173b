// Finds free extents by length: one heap of page numbers per length class. Lengths up to 64 have a
// class each, so that for them the first hit is the best fit; longer ones share classes a quarter
// of a power of two wide. Within a class the lowest page comes first, which keeps the end of the
// file free to be given back.
//
// Entries are removed lazily: whoever takes a candidate checks that an extent of that class still
// starts there, and drops it otherwise. `SpaceMap` rebuilds the buckets when stale entries prevail.

struct FreeBuckets {
    private var heaps = [[UInt64]](repeating: [], count: classCount)
    /// Bit per class: its heap is not empty.
    private var occupied: (UInt64, UInt64) = (0, 0)
    /// Entries in all heaps, stale ones included.
    private(set) var count = 0

    private static let classCount = 128

    static func lengthClass(_ pages: UInt64) -> Int {
        if pages <= 64 { return Int(pages) - 1 }
        let log = 63 - pages.leadingZeroBitCount
        let quarter = Int(pages >> UInt64(log - 2)) & 3
        return min(64 + (log - 6) * 4 + quarter, classCount - 1)
    }

    mutating func removeAll() {
        for index in heaps.indices { heaps[index].removeAll(keepingCapacity: true) }
        occupied = (0, 0)
        count = 0
    }

    mutating func add(page: UInt64, pages: UInt64) {
        let index = Self.lengthClass(pages)
        heaps[index].append(page)
        count += 1
        setOccupied(index, true)
        var child = heaps[index].count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heaps[index][child] < heaps[index][parent] else { break }
            heaps[index].swapAt(child, parent)
            child = parent
        }
    }

    /// The first class from `index` up that has entries.
    func firstOccupied(from index: Int) -> Int? {
        guard index < Self.classCount else { return nil }
        if index < 64 {
            let low = occupied.0 >> UInt64(index)
            if low != 0 { return index + low.trailingZeroBitCount }
        }
        let shift = max(index - 64, 0)
        let high = occupied.1 >> UInt64(shift)
        return high == 0 ? nil : 64 + shift + high.trailingZeroBitCount
    }

    /// The last class that has entries.
    func lastOccupied() -> Int? {
        if occupied.1 != 0 { return 127 - occupied.1.leadingZeroBitCount }
        return occupied.0 == 0 ? nil : 63 - occupied.0.leadingZeroBitCount
    }

    /// All entries by class, stale ones included.
    var pagesByClass: [Set<UInt64>] { heaps.map { Set($0) } }

    func lowest(in index: Int) -> UInt64? { heaps[index].first }

    /// Up to `limit` entries of a class, the lowest first, the others in no order.
    func candidates(in index: Int, limit: Int) -> ArraySlice<UInt64> {
        heaps[index].prefix(limit)
    }

    mutating func removeLowest(in index: Int) {
        let last = heaps[index].count - 1
        guard last >= 0 else { return }
        heaps[index].swapAt(0, last)
        heaps[index].removeLast()
        count -= 1
        var parent = 0
        while true {
            var child = parent * 2 + 1
            guard child < last else { break }
            if child + 1 < last, heaps[index][child + 1] < heaps[index][child] { child += 1 }
            guard heaps[index][child] < heaps[index][parent] else { break }
            heaps[index].swapAt(child, parent)
            parent = child
        }
        if last == 0 { setOccupied(index, false) }
    }

    private mutating func setOccupied(_ index: Int, _ value: Bool) {
        let bit: UInt64 = 1 << UInt64(index & 63)
        if index < 64 {
            occupied.0 = value ? occupied.0 | bit : occupied.0 & ~bit
        } else {
            occupied.1 = value ? occupied.1 | bit : occupied.1 & ~bit
        }
    }
}
