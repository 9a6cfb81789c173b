// Which waiting changes of an index concern one 8-byte value: a hash of the values, with the
// changes of each in a chain, latest first. So the objects that link to a target are known without
// merging an index first, which counts when many linked objects are deleted one after another.
//
// Belongs to an `IndexPending`, whose changes it names by their numbers.

struct WordChains {
    /// Open addressing: number + 1 of the latest change of a value.
    private var heads: [UInt32] = []
    private var used = 0
    /// By change: number + 1 of the change of the same value before it.
    private var previous: [UInt32] = []

    /// Changes that are in the chains.
    var count: Int { previous.count }

    @inline(__always)
    private static func hash(_ value: UInt64) -> Int {
        let mixed = value &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed ^ mixed >> 32)
    }

    /// Where the head of this value's chain is, or would be.
    @inline(__always)
    private func place(_ value: UInt64, _ changes: UnsafePointer<RadixItem>) -> Int {
        let mask = heads.count - 1
        var place = Self.hash(value) & mask
        while heads[place] != 0, changes[Int(heads[place]) - 1].key != value {
            place = (place + 1) & mask
        }
        return place
    }

    /// Takes in the changes that came since the last call; `total` are there.
    mutating func extend(_ changes: UnsafePointer<RadixItem>, total: Int) {
        while previous.count < total {
            if heads.count < (used + 1) * 2 { grow(changes) }
            let number = previous.count
            let place = place(changes[number].key, changes)
            if heads[place] == 0 { used += 1 }
            previous.append(heads[place])
            heads[place] = UInt32(number + 1)
        }
    }

    private mutating func grow(_ changes: UnsafePointer<RadixItem>) {
        let old = heads
        heads = [UInt32](repeating: 0, count: max(256, old.count * 4))
        for head in old where head != 0 {
            heads[place(changes[Int(head) - 1].key, changes)] = head
        }
    }

    /// Calls `body` with the changes of `value`, the latest first; false if there are more than
    /// `limit`.
    func visit(
        _ value: UInt64, _ changes: UnsafePointer<RadixItem>, limit: Int,
        _ body: (RadixItem) -> Void
    ) -> Bool {
        guard !heads.isEmpty else { return true }
        var left = limit
        var next = heads[place(value, changes)]
        while next != 0 {
            if left == 0 { return false }
            left -= 1
            body(changes[Int(next) - 1])
            next = previous[Int(next) - 1]
        }
        return true
    }
}
