// What `where` blocks are written with: `$0.age > 5 && $0.owner.name == "Ann"`.

import Foundation

/// Options of comparisons of text.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    /// Capital and small letters are the same.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Letters with and without marks are the same.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    var text: String {
        let letters =
            (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

/// Something in the condition of a `where` block: a property of type `T`, or for `Bool` a condition.
///
/// Properties are reached as on objects; through links, and through collections, where a comparison means
/// that some element satisfies it.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode

    init(_ node: QueryNode) { self.node = node }

    public static func _root() -> Query<T> { Query(.keyPath([], needsAny: false)) }

    /// For tests of conditions: what `where` gives its block for objects of a class.
    public static func _constructForTesting() -> Query<T> { _root() }

    /// The condition as a format string with its arguments.
    public func _constructPredicate() -> (String, [Any]) {
        let made = node.predicate()
        return (made.format, made.arguments)
    }

    fileprivate func compare(
        _ operation: QueryNode.Operator, _ value: Any?, _ options: StringOptions = []
    ) -> Query<Bool> {
        if operation == .equal || operation == .notEqual, let value, !isPlain(type(of: value)),
            let value = unwrapped(value), !(value is EmbeddedObject),
            let members = embeddedForm(value)
        {
            let same = memberwise(members)
            return Query<Bool>(operation == .equal ? same : .not(same))
        }
        return Query<Bool>(.comparison(operation, node, .constant(value), options: options))
    }

    /// A value that is stored as an embedded object: all of its members are the same.
    private func memberwise(_ members: EmbeddedObject) -> QueryNode {
        let info = ClassInfo.of(type(of: members))
        let all = info.stored.map { property -> QueryNode in
            guard property.shape.collection == .none, !property.shape.isLink else {
                misuse(
                    "Unsupported property '\(info.className).\(property.name)' for memberwise "
                        + "equality query: \(property.typeName)")
            }
            return .comparison(
                .equal, node.appending(property.name), .constant(members[property.name]))
        }
        guard let first = all.first else { misuse("'\(info.className)' has no members.") }
        return all.dropFirst().reduce(first) { .comparison(.and, $0, $1) }
    }

    fileprivate func compare<U>(
        _ operation: QueryNode.Operator, _ other: Query<U>, _ options: StringOptions = []
    ) -> Query<Bool> {
        Query<Bool>(.comparison(operation, node, other.node, options: options))
    }
}

// MARK: - Properties

extension Query where T: ObjectBase {
    /// A property of the object.
    public subscript<V: _Persistable>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
        Query<V>(node.appending(KeyPathNames.name(member)))
    }
}

extension Query {
    /// A property of the object that a link leads to.
    public subscript<Target: ObjectBase, V: _Persistable>(
        dynamicMember member: KeyPath<Target, V>
    ) -> Query<V> where T == Target? {
        Query<V>(node.appending(KeyPathNames.name(member)))
    }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
    /// A property of the elements: a comparison means that some element satisfies it.
    public subscript<V: _Persistable>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
        Query<V>(node.appending(KeyPathNames.name(member), needsAny: true))
    }
}

// MARK: - Conditions

extension Query where T == Bool {
    /// Both are true.
    public static func && (a: Query, b: Query) -> Query {
        Query(.comparison(.and, a.node, b.node))
    }
    /// One of them is true.
    public static func || (a: Query, b: Query) -> Query {
        Query(.comparison(.or, a.node, b.node))
    }
    /// It is not true.
    public static prefix func ! (a: Query) -> Query { Query(.not(a.node)) }

    /// How many elements of the collection in the condition satisfy it:
    /// `($0.dogs.age > 3 && $0.dogs.name == "x").count == 1`.
    public var count: Query<Int> { Query<Int>(.subqueryCount(node)) }
}

extension Query where T: RealmCollectionValue {
    /// The value is this one; of links, the object; nil where there is none.
    public static func == (a: Query, b: T) -> Query<Bool> { a.compare(.equal, b) }
    /// The value is another one.
    public static func != (a: Query, b: T) -> Query<Bool> { a.compare(.notEqual, b) }
    /// Both values are the same.
    public static func == (a: Query, b: Query) -> Query<Bool> { a.compare(.equal, b) }
    /// The values differ.
    public static func != (a: Query, b: Query) -> Query<Bool> { a.compare(.notEqual, b) }

    /// The value is one of these.
    public func `in`<S: Sequence>(_ collection: S) -> Query<Bool> where S.Element == T {
        compare(.isIn, collection.map { $0 as Any })
    }
}

extension Query where T: RealmCollectionValue, T.PersistedType: _QueryNumeric {
    /// The value is less.
    public static func < (a: Query, b: T) -> Query<Bool> { a.compare(.less, b) }
    /// The value is less or the same.
    public static func <= (a: Query, b: T) -> Query<Bool> { a.compare(.lessEqual, b) }
    /// The value is greater.
    public static func > (a: Query, b: T) -> Query<Bool> { a.compare(.greater, b) }
    /// The value is greater or the same.
    public static func >= (a: Query, b: T) -> Query<Bool> { a.compare(.greaterEqual, b) }
    /// The value is less than the other one.
    public static func < (a: Query, b: Query) -> Query<Bool> { a.compare(.less, b) }
    /// The value is less than the other one, or the same.
    public static func <= (a: Query, b: Query) -> Query<Bool> { a.compare(.lessEqual, b) }
    /// The value is greater than the other one.
    public static func > (a: Query, b: Query) -> Query<Bool> { a.compare(.greater, b) }
    /// The value is greater than the other one, or the same.
    public static func >= (a: Query, b: Query) -> Query<Bool> { a.compare(.greaterEqual, b) }

    /// The smallest value of the property among the objects of the collection that it is reached through:
    /// `$0.dogs.age.min`.
    public var min: Query { aggregate("@min") }
    /// The largest value of the property among the objects of the collection.
    public var max: Query { aggregate("@max") }
    /// The mean of the property over the objects of the collection.
    public var avg: Query { aggregate("@avg") }
    /// The sum of the property over the objects of the collection.
    public var sum: Query { aggregate("@sum") }

    private func aggregate(_ name: String) -> Query {
        guard case .keyPath(let path, true) = node, path.count > 1 else {
            misuse("'\(name)' needs a property that is reached through a collection.")
        }
        // realm-swift's place for it: behind the collection, which is the first property.
        return Query(.keyPath([path[0], name] + path.dropFirst(), needsAny: false))
    }
}

extension Query where T: Comparable {
    /// The value is in the range.
    public func contains(_ range: Range<T>) -> Query<Bool> {
        isIn(range.lowerBound, before: range.upperBound)
    }
    /// The value is in the range.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
        Query<Bool>(.between(node, range.lowerBound, range.upperBound))
    }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable {
    /// The value is in the range.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
        isIn(range.lowerBound, before: range.upperBound)
    }
    /// The value is in the range.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
        Query<Bool>(.between(node, range.lowerBound, range.upperBound))
    }
}

extension Query {
    fileprivate func isIn(_ low: Any, before high: Any) -> Query<Bool> {
        Query<Bool>(
            .comparison(
                .and, .comparison(.greaterEqual, node, .constant(low)),
                .comparison(.less, node, .constant(high))))
    }
}

extension Query where T: _Persistable, T.PersistedType: _QueryBinary {
    /// The text is in the value.
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.contains, value, options)
    }
    /// The value of the other property is in the value.
    public func contains<U: _Persistable>(
        _ column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> where U.PersistedType: _QueryBinary { compare(.contains, column, options) }

    /// The value begins with the text.
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.beginsWith, value, options)
    }
    /// The value begins with that of the other property.
    public func starts<U: _Persistable>(
        with column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> where U.PersistedType: _QueryBinary { compare(.beginsWith, column, options) }

    /// The value ends with the text.
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.endsWith, value, options)
    }
    /// The value ends with that of the other property.
    public func ends<U: _Persistable>(
        with column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> where U.PersistedType: _QueryBinary { compare(.endsWith, column, options) }

    /// The value is the text.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.equal, value, options)
    }
    /// The value is that of the other property.
    public func equals<U: _Persistable>(
        _ column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> where U.PersistedType: _QueryBinary { compare(.equal, column, options) }

    /// The value is another text.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.notEqual, value, options)
    }
    /// The value is not that of the other property.
    public func notEquals<U: _Persistable>(
        _ column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> where U.PersistedType: _QueryBinary { compare(.notEqual, column, options) }
}

extension Query where T: _Persistable, T.PersistedType: _QueryString {
    /// The value is like a text with `*` for any letters and `?` for one.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
        compare(.like, value, caseInsensitive ? [.caseInsensitive] : [])
    }
    /// The value is like the text of the other property.
    public func like<U: _Persistable>(
        _ column: Query<U>, caseInsensitive: Bool = false
    ) -> Query<Bool> where U.PersistedType: _QueryString {
        compare(.like, column, caseInsensitive ? [.caseInsensitive] : [])
    }

    /// The text has all of these words, by its full-text index: `word*` is a beginning, `-word` must not occur.
    public func matchesText(_ words: String) -> Query<Bool> {
        Query<Bool>(.comparison(.text, node, .constant(words)))
    }
}

extension Query where T: EmbeddedObject {
    /// The place lies in the shape.
    public func geoWithin<Shape: RLMGeospatial>(_ shape: Shape) -> Query<Bool> {
        compare(.geoWithin, shape)
    }
}

extension Query {
    /// The place lies in the shape.
    public func geoWithin<Shape: RLMGeospatial, Place: EmbeddedObject>(
        _ shape: Shape
    ) -> Query<Bool> where T == Place? {
        compare(.geoWithin, shape)
    }
}

extension Query where T: RealmCollection, T.Element: EmbeddedObject {
    /// Some place lies in the shape.
    public func geoWithin<Shape: RLMGeospatial>(_ shape: Shape) -> Query<Bool> {
        Query<Bool>(.comparison(.geoWithin, asAny, .constant(shape)))
    }
}

// MARK: - Mixed values

extension Query where T == AnyRealmValue {
    /// An element of a list in the value.
    public subscript(index: Int) -> Query<AnyRealmValue> { Query(.mapSubscript(node, index)) }
    /// The value of a key of a dictionary in the value.
    public subscript(key: String) -> Query<AnyRealmValue> { Query(.mapSubscript(node, key)) }
    /// Any element of a list or dictionary in the value.
    public var any: Query<AnyRealmValue> { Query(.mapSubscript(node, QueryNode.AnyElement())) }
}
