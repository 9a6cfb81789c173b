// How a sequence of elements became another one: which stayed where they were among each other. Of
// those that are in both, the longest part that kept its order stays; the others are told as gone and
// come. The general way to compute what observers of results are told, when the results were made
// anew.

extension ElementChanges {
    /// `isModified`: of an element that stayed, by its positions before and after.
    init(_ difference: SequenceDifference, isModified: (Int, Int) -> Bool) {
        self.init()
        deletions = difference.deletions
        insertions = difference.insertions
        for pair in difference.kept where isModified(pair.before, pair.after) {
            modifications.append(pair.before)
            modificationsAfter.append(pair.after)
        }
    }
}

struct SequenceDifference {
    /// Positions before and after of elements that stayed; both ascend.
    private(set) var kept: [(before: Int, after: Int)] = []
    private(set) var deletions = IndexRanges()
    private(set) var insertions = IndexRanges()

    /// An element may be there several times; the first is taken for the first, and so on.
    init<Element: Hashable & Comparable>(from old: [Element], to new: [Element]) {
        var front = 0
        let shortest = min(old.count, new.count)
        while front < shortest, old[front] == new[front] {
            kept.append((front, front))
            front += 1
        }
        var back = 0
        while back < shortest - front, old[old.count - 1 - back] == new[new.count - 1 - back] {
            back += 1
        }
        let before = front..<old.count - back
        let after = front..<new.count - back
        if Self.ascends(old, before), Self.ascends(new, after) {
            merge(old, before, new, after)
        } else if !before.isEmpty, !after.isEmpty {
            match(old, before, new, after)
        }
        for offset in 0..<back {
            kept.append((old.count - back + offset, new.count - back + offset))
        }
        var stayed = IndexRanges()
        var stays = IndexRanges()
        for pair in kept {
            stayed.append(pair.before)
            stays.append(pair.after)
        }
        deletions = stayed.complement(below: old.count)
        insertions = stays.complement(below: new.count)
    }

    private static func ascends<Element: Comparable>(_ all: [Element], _ range: Range<Int>) -> Bool
    {
        for index in range.dropFirst() where all[index - 1] >= all[index] { return false }
        return true
    }

    private mutating func merge<Element: Comparable>(
        _ old: [Element], _ before: Range<Int>, _ new: [Element], _ after: Range<Int>
    ) {
        var first = before.lowerBound
        var second = after.lowerBound
        while first < before.upperBound, second < after.upperBound {
            if old[first] == new[second] {
                kept.append((first, second))
                first += 1
                second += 1
            } else if old[first] < new[second] {
                first += 1
            } else {
                second += 1
            }
        }
    }

    private mutating func match<Element: Hashable>(
        _ old: [Element], _ before: Range<Int>, _ new: [Element], _ after: Range<Int>
    ) {
        // Where each element was: the first place, and the one that follows it.
        var first: [Element: Int] = [:]
        first.reserveCapacity(before.count)
        var next = [Int](repeating: -1, count: before.count)
        for index in before.reversed() {
            if let later = first.updateValue(index, forKey: old[index]) {
                next[index - before.lowerBound] = later
            }
        }
        var pairs: [(before: Int, after: Int)] = []
        for index in after {
            guard let place = first[new[index]], place >= 0 else { continue }
            pairs.append((place, index))
            first[new[index]] = next[place - before.lowerBound]
        }
        for index in Self.longestAscending(pairs.map(\.before)) { kept.append(pairs[index]) }
    }

    /// Places of a longest ascending part of distinct numbers. O(n log n).
    static func longestAscending(_ numbers: [Int]) -> [Int] {
        // ends[k]: the place of the least number that ends an ascending part of k + 1.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var length = ends.count
            if let last = ends.last, numbers[last] >= number {
                length = ends.partitionPoint { numbers[$0] < number }
            }
            if length > 0 { previous[place] = ends[length - 1] }
            if length == ends.count { ends.append(place) } else { ends[length] = place }
        }
        var result: [Int] = []
        result.reserveCapacity(ends.count)
        var place = ends.last ?? -1
        while place >= 0 {
            result.append(place)
            place = previous[place]
        }
        return result.reversed()
    }
}
