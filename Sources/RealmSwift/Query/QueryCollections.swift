// Conditions on lists, sets and maps: `$0.scores.contains(3)`, `$0.dogs.count > 1`, `$0.ages["Ann"] == 5`.

import Foundation

extension Query where T: RealmCollection {
    /// The number of elements.
    public var count: Query<Int> { Query<Int>(node.appending("@count")) }

    /// The value, or object, is an element.
    public func contains(_ value: T.Element) -> Query<Bool> {
        Query<Bool>(.comparison(.isIn, .constant(value), node))
    }

    /// One of the values is an element.
    public func containsAny<S: Sequence>(in collection: S) -> Query<Bool>
    where S.Element == T.Element {
        Query<Bool>(
            .comparison(.isIn, asAny, .constant(collection.map { $0 as Any })))
    }

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
    /// The smallest element.
    public var min: Query<T.Element> { Query<T.Element>(node.appending("@min")) }
    /// The largest element.
    public var max: Query<T.Element> { Query<T.Element>(node.appending("@max")) }
    /// The mean of the elements.
    public var avg: Query<Double> { Query<Double>(node.appending("@avg")) }
    /// The sum of the elements.
    public var sum: Query<T.Element> { Query<T.Element>(node.appending("@sum")) }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric & AddableType {
    /// The mean of the elements, for values of their type.
    @_disfavoredOverload
    public var avg: Query<T.Element> { Query<T.Element>(node.appending("@avg")) }
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

extension Query where T: RealmCollection, T.Element: Comparable {
    /// All elements are in the range.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All elements are in the range.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: Comparable {
    /// All elements are in the range.
    public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All elements are in the range.
    public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query where T: RealmKeyedCollection {
    /// The number of keys.
    public var count: Query<Int> { Query<Int>(node.appending("@count")) }
    /// The keys: a comparison means that some key satisfies it.
    public var keys: Query<T.Key> { Query<T.Key>(node.appending("@allKeys", needsAny: true)) }
    /// The values: a comparison means that some value satisfies it.
    public var values: Query<T.Value> {
        Query<T.Value>(node.appending("@allValues", needsAny: true))
    }
    /// The value of a key.
    public subscript(key: T.Key) -> Query<T.Value> { Query<T.Value>(.mapSubscript(node, key)) }
    /// The value, or object, is in the map.
    public func contains(_ value: T.Value) -> Query<Bool> {
        Query<Bool>(.comparison(.isIn, .constant(value), node))
    }
    /// One of the values is in the map.
    public func containsAny<S: Sequence>(in collection: S) -> Query<Bool>
    where S.Element == T.Value {
        Query<Bool>(
            .comparison(.isIn, asAny, .constant(collection.map { $0 as Any })))
    }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable {
    /// All values are in the range.
    public func contains(_ range: Range<T.Value>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All values are in the range.
    public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: Comparable {
    /// All values are in the range.
    public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .less)
    }
    /// All values are in the range.
    public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
        areIn(range.lowerBound, range.upperBound, .lessEqual)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
    /// The smallest value.
    public var min: Query<T.Value> { Query<T.Value>(node.appending("@min")) }
    /// The largest value.
    public var max: Query<T.Value> { Query<T.Value>(node.appending("@max")) }
    /// The mean of the values.
    public var avg: Query<Double> { Query<Double>(node.appending("@avg")) }
    /// The sum of the values.
    public var sum: Query<T.Value> { Query<T.Value>(node.appending("@sum")) }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric & AddableType {
    /// The mean of the values, for values of their type.
    @_disfavoredOverload
    public var avg: Query<T.Value> { Query<T.Value>(node.appending("@avg")) }
}
