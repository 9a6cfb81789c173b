// Sorting what is few, or seldom sorted. Of `sorted(by:)` the compiler makes a copy for each type and each order, of
// three kilobytes; of this one the part that is large is there once.

/// An order of positions, behind which the compiler does not look.
private final class PositionOrder {
    private let precedes: (Int, Int) -> Bool

    init(_ precedes: @escaping (Int, Int) -> Bool) { self.precedes = precedes }

    @inline(never)
    func sorted(_ count: Int) -> [Int] {
        var positions = Array(0..<count)
        positions.sort { precedes($0, $1) }
        return positions
    }

    @inline(never)
    static func sorted(_ count: Int, _ precedes: (Int, Int) -> Bool) -> [Int] {
        withoutActuallyEscaping(precedes) { PositionOrder($0).sorted(count) }
    }
}

extension Array {
    /// As `sorted(by:)`, stable.
    func sortedFew(by precedes: (Element, Element) -> Bool) -> [Element] {
        if count < 2 { return self }
        return PositionOrder.sorted(count) { precedes(self[$0], self[$1]) }.map { self[$0] }
    }

    mutating func sortFew(by precedes: (Element, Element) -> Bool) {
        self = sortedFew(by: precedes)
    }
}

extension Sequence {
    func sortedFew(by precedes: (Element, Element) -> Bool) -> [Element] {
        Array(self).sortedFew(by: precedes)
    }
}
