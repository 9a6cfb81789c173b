// From object keys to rows: a list of keys as runs of neighbouring rows of one leaf, so that
// columns are read in bulk. Lists that ascend without gaps, as scans give them, become one run per
// leaf at no cost per key.

struct RowRun {
    /// Nil when the object is gone; `count` is 1 then.
    var leaf: LeafView?
    var row: Int
    var count: Int
    /// Position of the first row in the list.
    var element: Int
}

struct RowRuns {
    private let table: TableReader
    private let keys: UnsafeBufferPointer<ObjectKey>
    private var position: Int
    private let end: Int
    private var leaf: LeafView?
    private var row = 0

    /// Of the keys of a range, else of all. Their memory must outlive the runs.
    init(
        _ table: TableReader, _ keys: UnsafeBufferPointer<ObjectKey>, _ range: Range<Int>? = nil
    ) {
        self.table = table
        self.keys = keys
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? keys.count
    }

    mutating func next() throws(RealmError) -> RowRun? {
        guard position < end else { return nil }
        let element = position
        let key = keys[position]
        if let leaf, let found = Self.row(leaf, key, after: row), !leaf.isDead(found) {
            row = found
        } else if let place = try table.row(key) {
            leaf = place.leaf
            row = place.row
        } else {
            position += 1
            return RowRun(leaf: nil, row: 0, count: 1, element: element)
        }
        guard let leaf else { return nil }
        let length = length(leaf, row)
        position += length
        let run = RowRun(leaf: leaf, row: row, count: length, element: element)
        row += length - 1
        return run
    }

    /// The row of a key; the row behind the last one is tried first.
    @inline(__always)
    private static func row(_ leaf: LeafView, _ key: ObjectKey, after row: Int) -> Int? {
        let following = row &+ 1
        if following < leaf.rows, leaf.key(following) == key { return following }
        return leaf.row(of: key)
    }

    /// How many of the keys that are left name this row and those that follow it.
    @inline(__always)
    private func length(_ leaf: LeafView, _ row: Int) -> Int {
        let keys = keys.baseAddress.unsafelyUnwrapped + position
        let possible = min(leaf.rows &- row, end &- position)
        var length = 1
        if leaf.tombstones == nil, leaf.keyWidth == 0 {
            // Keys of a dense leaf differ by one; a list whose last key lies as far from the
            // first as its place does may still be out of order in between.
            while length < possible, keys[length] == keys[0].advanced(by: length) { length &+= 1 }
            return length
        }
        while length < possible, keys[length] == leaf.key(row &+ length),
            !leaf.isDead(row &+ length)
        {
            length &+= 1
        }
        return length
    }
}

extension TableReader {
    /// The value of an object; nil when it is gone.
    func value(of key: ObjectKey, column: Int) throws(RealmError) -> RawValue? {
        guard let place = try row(key) else { return nil }
        return try value(place.leaf, place.row, column)
    }

    /// What `body` gives for both halves of so many elements, at the same time where that is worth it.
    func inHalves<T>(
        _ count: Int, _ body: (Range<Int>) throws(RealmError) -> T
    ) throws(RealmError) -> (T, T) {
        let all = 0..<count
        guard count >= Sorter.twoCoresMin, TwoCores.areThere else {
            return (try body(all.half(0)), try body(all.half(1)))
        }
        return try sharing { () throws(RealmError) in
            try TwoCores.run { half throws(RealmError) in
                try body(all.half(half))
            }
        }
    }
}

extension Range<Int> {
    /// The first half, 0, or the second, 1: what each of two cores works on.
    func half(_ number: Int) -> Range<Int> {
        let middle = lowerBound + count / 2
        return number == 0 ? lowerBound..<middle : middle..<upperBound
    }
}
