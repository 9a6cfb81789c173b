// One property of all elements, as projections have it: `list.projectTo.name`.

import CoreSwift
import Foundation

/// What `projectTo` gives: the properties of the elements as collections.
@dynamicMemberLookup
public struct CollectionElementMapper<Elements: RealmCollection>
where Elements.Element: ObjectBase {
    let elements: Elements

    /// The property of all elements.
    public subscript<Value>(
        dynamicMember path: KeyPath<Elements.Element, Value>
    ) -> ProjectedCollection<Value> {
        // While a key path is traced, the one element that there is notes the property.
        if elements.isRecording { _ = elements[0][keyPath: path] }
        return ProjectedCollection(
            count: { elements.count }, value: { elements[$0][keyPath: path] })
    }
}

/// One property of the elements of a collection. It is live: it shows what is stored whenever it is asked.
///
/// ```swift
/// class Card: Projection<Person> {
///     @Projected(\Person.dogs.projectTo.name) var dogs: ProjectedCollection<String>
/// }
/// ```
public struct ProjectedCollection<Element>: RandomAccessCollection, CustomStringConvertible {
    private let size: () -> Int
    private let value: (Int) -> Element

    init(count: @escaping () -> Int, value: @escaping (Int) -> Element) {
        size = count
        self.value = value
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { size() }
    public subscript(position: Int) -> Element { value(position) }
    public var description: String { "ProjectedCollection<\(Element.self)> \(Array(self))" }
}

@available(*, unavailable)
extension CollectionElementMapper: @unchecked Sendable {}
@available(*, unavailable)
extension ProjectedCollection: @unchecked Sendable {}

extension RealmCollection where Element: ObjectBase {
    /// One property of all elements: `dogs.projectTo.name`.
    public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(elements: self) }
}

extension RealmCollection {
    /// It stands for a property whose key path is traced.
    fileprivate var isRecording: Bool {
        switch self {
        case let list as List<Element>: if case .recording = list.backing { return true }
        case let set as MutableSet<Element>: if case .recording = set.backing { return true }
        default: break
        }
        return false
    }
}
