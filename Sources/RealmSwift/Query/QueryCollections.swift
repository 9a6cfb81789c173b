// Conditions on lists, sets and maps: `$0.scores.contains(3)`, `$0.dogs.count > 1`, `$0.ages["Ann"] == 5`.

import Foundation

/// What conditions on the elements of a collection, or the values of a map, need to know.
public protocol _QueryCollection {
    associatedtype _QueryElement: RealmCollectionValue
}

extension Query where T: _QueryCollection {
    /// The number of elements, or keys.
    public var count: Query<Int> { Query<Int>(node.appending("@count")) }

    /// The value, or object, is an element.
    public func contains(_ value: T._QueryElement) -> Query<Bool> {
        Query<Bool>(.comparison(.isIn, .constant(value), node))
    }

    /// One of the values is an element.
    public func containsAny<S: Sequence>(in collection: S) -> Query<Bool>
    where S.Element == T._QueryElement {
        Query<Bool>(
            .comparison(.isIn, asAny, .constant(collection.map { $0 as Any })))
    }
}

extension Query where T: _QueryCollection, T._QueryElement.PersistedType: _QueryNumeric {
    /// The smallest element.
    public var min: Query<T._QueryElement> { Query<T._QueryElement>(node.appending("@min")) }
    /// The largest element.
    public var max: Query<T._QueryElement> { Query<T._QueryElement>(node.appending("@max")) }
    /// The mean of the elements.
    public var avg: Query<Double> { Query<Double>(node.appending("@avg")) }
    /// The sum of the elements.
    public var sum: Query<T._QueryElement> { Query<T._QueryElement>(node.appending("@sum")) }
}

extension Query
where T: _QueryCollection, T._QueryElement.PersistedType: _QueryNumeric & AddableType {
    /// The mean of the elements, for values of their type.
    @_disfavoredOverload
    public var avg: Query<T._QueryElement> { Query<T._QueryElement>(node.appending("@avg")) }
}

extension Query where T: _QueryCollection, T._QueryElement: Comparable {
    /// All elements are in the range.
    public func contains(_ range: Range<T._QueryElement>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All elements are in the range.
    public func contains(_ range: ClosedRange<T._QueryElement>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query
where
    T: _QueryCollection, T._QueryElement: OptionalProtocol, T._QueryElement.Wrapped: Comparable
{
    /// All elements are in the range.
    public func contains(_ range: Range<T._QueryElement.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All elements are in the range.
    public func contains(_ range: ClosedRange<T._QueryElement.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query {
    /// A collection of which some element is meant.
    var asAny: QueryNode {
        guard case .keyPath(let path, _) = node else { return node }
        return .keyPath(path, needsAny: true)
    }

    /// All elements of a collection are in a range: its smallest and its largest one are.
    fileprivate func areIn(
        _ low: Any, _ high: Any, _ operation: QueryNode.Operator
    ) -> Query<Bool> {
        Query<Bool>(
            .comparison(
                .and,
                .comparison(.greaterEqual, bound("@min"), .constant(low)),
                .comparison(operation, bound("@max"), .constant(high))))
    }

    private func bound(_ name: String) -> QueryNode {
        guard case .keyPath(let path, _) = node else { return node.appending(name) }
        return .keyPath(path + [name], needsAny: false)
    }
}

extension Query where T: RealmCollection {
    fileprivate func any(_ operation: QueryNode.Operator, _ value: T.Element) -> Query<Bool> {
        Query<Bool>(.comparison(operation, asAny, .constant(value)))
    }

    /// Some element is this value.
    public static func == (a: Query, b: T.Element) -> Query<Bool> { a.any(.equal, b) }
    /// Some element is another value.
    public static func != (a: Query, b: T.Element) -> Query<Bool> { a.any(.notEqual, b) }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
    /// Some element is greater.
    public static func > (a: Query, b: T.Element) -> Query<Bool> { a.any(.greater, b) }
    /// Some element is greater or the same.
    public static func >= (a: Query, b: T.Element) -> Query<Bool> { a.any(.greaterEqual, b) }
    /// Some element is less.
    public static func < (a: Query, b: T.Element) -> Query<Bool> { a.any(.less, b) }
    /// Some element is less or the same.
    public static func <= (a: Query, b: T.Element) -> Query<Bool> { a.any(.lessEqual, b) }
}

extension Query where T: RealmKeyedCollection {
    /// The keys: a comparison means that some key satisfies it.
    public var keys: Query<T.Key> { Query<T.Key>(node.appending("@allKeys", needsAny: true)) }
    /// The values: a comparison means that some value satisfies it.
    public var values: Query<T.Value> {
        Query<T.Value>(node.appending("@allValues", needsAny: true))
    }
    /// The value of a key.
    public subscript(key: T.Key) -> Query<T.Value> { Query<T.Value>(.mapSubscript(node, key)) }
}
