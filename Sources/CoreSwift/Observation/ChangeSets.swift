// What observers are told: which elements of a collection or of results came, went, changed and
// moved, by position; which keys of a dictionary; which properties of an object.

/// Positions in ascending order, kept as ranges.
package struct IndexRanges: Equatable, Sendable {
    package private(set) var ranges: [Range<Int>] = []
    package private(set) var count = 0

    package init() {}

    init(_ range: Range<Int>) { append(range) }

    /// From positions in any order, each of them once.
    init(unordered positions: [Int]) {
        for position in positions.sorted() { append(position) }
    }

    package var isEmpty: Bool { ranges.isEmpty }

    mutating func append(_ index: Int) { append(index..<index + 1) }

    /// The range lies behind all others.
    mutating func append(_ range: Range<Int>) {
        if range.isEmpty { return }
        count += range.count
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    /// The positions below `end` that are not in the set.
    func complement(below end: Int) -> IndexRanges {
        var result = IndexRanges()
        var start = 0
        for range in ranges {
            result.append(start..<max(start, range.lowerBound))
            start = range.upperBound
        }
        result.append(start..<max(start, end))
        return result
    }

    package var indexes: [Int] {
        var result: [Int] = []
        result.reserveCapacity(count)
        for range in ranges { result.append(contentsOf: range) }
        return result
    }
}

/// What happened to a list, a set or results. Deletions, modifications and starts of moves are
/// positions before the change, the others after it. The k-th modification before is the element of
/// the k-th after. Both ends of a move are among the deletions and insertions, too.
package struct ElementChanges: Equatable, Sendable {
    package struct Move: Equatable, Sendable {
        package var from: Int
        package var to: Int
    }

    package var deletions = IndexRanges()
    package var insertions = IndexRanges()
    package var modifications = IndexRanges()
    package var modificationsAfter = IndexRanges()
    package var moves: [Move] = []
    /// Emptied by a call that does that, and left empty.
    package var wasCleared = false
    /// The collection is not there any more.
    package var wasDeleted = false

    package init() {}

    /// Everything of a collection that is gone.
    init(deleted count: Int) {
        deletions = IndexRanges(0..<count)
        wasDeleted = true
    }

    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && !wasDeleted
    }
}

/// What happened to a dictionary, by key, in the order of keys.
package struct KeyChanges: Equatable, Sendable {
    package var deletions: [String] = []
    package var insertions: [String] = []
    package var modifications: [String] = []
    package var wasCleared = false
    package var wasDeleted = false

    package init() {}

    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && !wasDeleted
    }
}

/// What happened to an object.
package struct ObjectChanges: Equatable, Sendable {
    package var isDeleted = false
    /// In the order of columns.
    package var properties: [PropertyKey] = []

    package init() {}

    package var isEmpty: Bool { !isDeleted && properties.isEmpty }
}
