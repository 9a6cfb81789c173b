// The collections of a table that a write transaction uses, found by object and column.

struct OpenCollectionSet {
    /// In order of opening.
    private(set) var items: [UnsafeMutablePointer<OpenCollection>] = []
    /// Open addressing; positions in `items` + 1.
    private var places: [UInt32] = []

    /// Empty leaves of small collections that were closed, by column: programs that fill one
    /// collection per object open and close them by the thousand.
    private var spares: [[UnsafeMutablePointer<OpenLeaf>]] = []
    private static let sparesMax = 1024

    /// Collections in mixed values that are open within those of `items`, and how many of them may
    /// be: each takes a kilobyte or two.
    var nestedCount = 0
    static let nestedMax = 16_384

    var isEmpty: Bool { items.isEmpty }

    /// Keeps a leaf of a closed collection for the next one of the column; false if it is too large
    /// or there are enough.
    mutating func keep(_ leaf: UnsafeMutablePointer<OpenLeaf>, column: Int) -> Bool {
        // One that was opened from a block may have room for fewer.
        guard leaf.pointee.capacity >= OpenLeaf.smallRows,
            leaf.pointee.capacity <= OpenLeaf.smallRowsMax
        else { return false }
        for index in 0..<leaf.pointee.columnCount
        where leaf.pointee.columns[index].heapCapacity > 4096 { return false }
        while spares.count <= column { spares.append([]) }
        guard spares[column].count < Self.sparesMax else { return false }
        // Rows that were removed left their values behind.
        leaf.pointee.rows = leaf.pointee.capacity
        leaf.pointee.reset(lowKey: .first)
        spares[column].append(leaf)
        return true
    }

    /// An empty leaf with room for `OpenLeaf.smallRows` rows.
    mutating func takeSpare(column: Int) -> UnsafeMutablePointer<OpenLeaf>? {
        column < spares.count ? spares[column].popLast() : nil
    }

    /// Gives up the empty leaves; the caller frees them.
    mutating func takeSpares() -> [UnsafeMutablePointer<OpenLeaf>] {
        defer { spares = [] }
        return spares.flatMap { $0 }
    }

    @inline(__always) private static func hash(_ key: ObjectKey, _ column: Int) -> Int {
        let word = key.word &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: (word ^ word >> 32) &+ UInt64(column) &* 0xFF51_AFD7)
    }

    func find(_ key: ObjectKey, _ column: Int) -> UnsafeMutablePointer<OpenCollection>? {
        guard !items.isEmpty else { return nil }
        if let last = items.last, last.pointee.key == key, last.pointee.column == column {
            return last
        }
        let number = places[place(key, column)]
        return number == 0 ? nil : items[Int(number) - 1]
    }

    /// Where a collection is filed, or would be.
    private func place(_ key: ObjectKey, _ column: Int) -> Int {
        let mask = places.count - 1
        var place = Self.hash(key, column) & mask
        while places[place] != 0 {
            let item = items[Int(places[place]) - 1]
            if item.pointee.key == key, item.pointee.column == column { break }
            place = (place + 1) & mask
        }
        return place
    }

    mutating func add(_ item: UnsafeMutablePointer<OpenCollection>) {
        items.append(item)
        if items.count * 2 > places.count {
            places = [UInt32](repeating: 0, count: max(64, places.count * 2))
            for index in items.indices { enter(index) }
        } else {
            enter(items.count - 1)
        }
    }

    private mutating func enter(_ index: Int) {
        places[place(items[index].pointee.key, items[index].pointee.column)] = UInt32(index + 1)
    }

    /// Takes one collection out; the last one gets its place.
    mutating func remove(_ item: UnsafeMutablePointer<OpenCollection>) {
        guard let last = items.last else { return }
        let place = place(item.pointee.key, item.pointee.column)
        let index = places[place]
        guard index != 0 else { return }
        places[self.place(last.pointee.key, last.pointee.column)] = index
        items[Int(index) - 1] = last
        items.removeLast()
        // Others that are no longer reached over this place move up.
        let mask = places.count - 1
        var hole = place
        var next = (place + 1) & mask
        while places[next] != 0 {
            let other = items[Int(places[next]) - 1]
            let wanted = Self.hash(other.pointee.key, other.pointee.column) & mask
            if (next - wanted) & mask >= (next - hole) & mask {
                places[hole] = places[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        places[hole] = 0
    }

    /// Empties the set; the caller ends the collections.
    mutating func takeAll() -> [UnsafeMutablePointer<OpenCollection>] {
        let all = items
        items = []
        places.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { memset(start, 0, bytes.count) }
        }
        return all
    }
}
