// Looking things up by halves where they stand in order.

extension Range<Int> {
    /// The first number that `isBefore` does not hold of, or the end; those that it holds of come first.
    @inline(__always)
    func partitionPoint<Failure>(
        _ isBefore: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = (low &+ high) >> 1
            if try isBefore(middle) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// The number at which `order` is 0; it is negative before and positive behind that. Where there is none, the one
    /// that it would be.
    @inline(__always)
    func search<Failure>(
        _ order: (Int) throws(Failure) -> Int
    ) throws(Failure) -> (index: Int, isFound: Bool) {
        var low = lowerBound
        var high = upperBound
        while low < high {
            let middle = (low &+ high) >> 1
            let found = try order(middle)
            if found == 0 { return (middle, true) }
            if found < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }
}

extension RandomAccessCollection where Index == Int {
    /// The place of the first element that `isBefore` does not hold of, or the end.
    @inline(__always)
    func partitionPoint<Failure>(
        _ isBefore: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        try (startIndex..<endIndex).partitionPoint { place throws(Failure) in
            try isBefore(self[place])
        }
    }
}

extension Array where Element: Comparable {
    /// Whether it is among them; they ascend.
    func holds(_ element: Element) -> Bool {
        let place = partitionPoint { $0 < element }
        return place < count && self[place] == element
    }
}
