// The elements of a set that no realm manages.

import CoreSwift

/// Distinct elements, in the order in which they came as long as none is removed. Values are found by their hash;
/// objects and what may be one by looking at all, as what they are equal to is another thing once a realm has them.
struct PlainSet<Element: RealmCollectionValue> {
    private(set) var elements: [Element] = []
    /// Where values are.
    private var places: [Element: Int] = [:]
    private let isHashed = Element._rlmShape.target == nil && Element._rlmShape.type != .mixed

    private func place(_ element: Element) -> Int? {
        isHashed ? places[element] : elements.firstIndex(of: element)
    }

    func contains(_ element: Element) -> Bool { place(element) != nil }

    mutating func insert(_ element: Element) {
        if contains(element) { return }
        if isHashed { places[element] = elements.count }
        elements.append(element)
    }

    /// The last one takes the place of the one that goes.
    mutating func remove(_ element: Element) {
        guard let place = place(element), let last = elements.popLast() else { return }
        if isHashed { places[element] = nil }
        if place == elements.count { return }
        elements[place] = last
        if isHashed { places[last] = place }
    }
}
