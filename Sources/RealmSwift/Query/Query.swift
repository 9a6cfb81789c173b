// What `where` blocks are written with: `$0.age > 5 && $0.owner.name == "Ann"`.

import Foundation

/// Options of comparisons of text.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
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
    public static func _constructForTesting<V>() -> Query<V> { Query<V>._root() }

    /// The condition as a format string with its arguments.
    public func _constructPredicate() -> (String, [Any]) {
        let made = node.predicate()
        return (made.format, made.arguments)
    }

    fileprivate func compare(
        _ operation: QueryNode.Operator, _ value: Any?, _ options: StringOptions = []
    ) -> Query<Bool> {
        if let value = value.flatMap({ unwrapped($0) }), !(value is EmbeddedObject),
            operation == .equal || operation == .notEqual, let members = embeddedForm(value)
        {
            let same = memberwise(members)
            return Query<Bool>(operation == .equal ? same : .not(same))
        }
        return Query<Bool>(.comparison(operation, node, .constant(value), options: options.text))
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
                .equal, node.appending(property.name), .constant(members[property.name]),
                options: "")
        }
        guard let first = all.first else { misuse("'\(info.className)' has no members.") }
        return all.dropFirst().reduce(first) { .comparison(.and, $0, $1, options: "") }
    }

    fileprivate func compare<U>(
        _ operation: QueryNode.Operator, _ other: Query<U>, _ options: StringOptions = []
    ) -> Query<Bool> {
        Query<Bool>(.comparison(operation, node, other.node, options: options.text))
    }
}

// MARK: - Properties

extension Query where T: ObjectBase {
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
        Query(.comparison(.and, a.node, b.node, options: ""))
    }
    /// One of them is true.
    public static func || (a: Query, b: Query) -> Query {
        Query(.comparison(.or, a.node, b.node, options: ""))
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

extension Query where T: _QueryNumeric & RealmCollectionValue {
    public static func < (a: Query, b: T) -> Query<Bool> { a.compare(.less, b) }
    public static func <= (a: Query, b: T) -> Query<Bool> { a.compare(.lessEqual, b) }
    public static func > (a: Query, b: T) -> Query<Bool> { a.compare(.greater, b) }
    public static func >= (a: Query, b: T) -> Query<Bool> { a.compare(.greaterEqual, b) }
    public static func < (a: Query, b: Query) -> Query<Bool> { a.compare(.less, b) }
    public static func <= (a: Query, b: Query) -> Query<Bool> { a.compare(.lessEqual, b) }
    public static func > (a: Query, b: Query) -> Query<Bool> { a.compare(.greater, b) }
    public static func >= (a: Query, b: Query) -> Query<Bool> { a.compare(.greaterEqual, b) }
}

extension Query where T: _QueryNumeric & RealmCollectionValue & Comparable {
    /// The value is in the range.
    public func contains(_ range: Range<T>) -> Query<Bool> {
        self >= range.lowerBound && self < range.upperBound
    }
    /// The value is in the range.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
        Query<Bool>(.between(node, range.lowerBound, range.upperBound))
    }
}

extension Query where T: PersistableEnum {
    /// The stored value, for comparisons of its type.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: FailableCustomPersistable {
    /// The stored value, for comparisons of its type.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: _QueryBinary & RealmCollectionValue {
    /// The text is in the value.
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.contains, value, options)
    }
    public func contains<U: _QueryBinary>(
        _ column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> { compare(.contains, column, options) }

    /// The value begins with the text.
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.beginsWith, value, options)
    }
    public func starts<U: _QueryBinary>(
        with column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> { compare(.beginsWith, column, options) }

    /// The value ends with the text.
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.endsWith, value, options)
    }
    public func ends<U: _QueryBinary>(
        with column: Query<U>, options: StringOptions = []
    ) -> Query<Bool> { compare(.endsWith, column, options) }

    /// The value is the text.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.equal, value, options)
    }
    /// The value is another text.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compare(.notEqual, value, options)
    }
}

extension Query where T: _QueryString & RealmCollectionValue {
    /// The value is like a text with `*` for any letters and `?` for one.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
        compare(.like, value, caseInsensitive ? [.caseInsensitive] : [])
    }
}

extension Query where T: _QueryString & RealmCollectionValue {
    /// The text has all of these words, by its full-text index: `word*` is a beginning, `-word` must not occur.
    public func matchesText(_ words: String) -> Query<Bool> {
        Query<Bool>(.comparison(.text, node, .constant(words), options: ""))
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
        Query<Bool>(.comparison(.geoWithin, asAny, .constant(shape), options: ""))
    }
}

// MARK: - Collections

extension Query where T: RealmCollection {
    /// The number of elements.
    public var count: Query<Int> { Query<Int>(node.appending("@count")) }

    /// The value, or object, is an element.
    public func contains(_ value: T.Element) -> Query<Bool> {
        Query<Bool>(.comparison(.isIn, .constant(value), node, options: ""))
    }

    /// One of the values is an element.
    public func containsAny<S: Sequence>(in collection: S) -> Query<Bool>
    where S.Element == T.Element {
        Query<Bool>(
            .comparison(
                .isIn, asAny, .constant(collection.map { $0 as Any }), options: ""))
    }

    fileprivate var asAny: QueryNode {
        guard case .keyPath(let path, _) = node else { return node }
        return .keyPath(path, needsAny: true)
    }

    private func any(_ operation: QueryNode.Operator, _ value: T.Element) -> Query<Bool> {
        Query<Bool>(.comparison(operation, asAny, .constant(value), options: ""))
    }

    /// Some element is this value.
    public static func == (a: Query, b: T.Element) -> Query<Bool> { a.any(.equal, b) }
    /// Some element is another value.
    public static func != (a: Query, b: T.Element) -> Query<Bool> { a.any(.notEqual, b) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric {
    public static func > (a: Query, b: T.Element) -> Query<Bool> { a.any(.greater, b) }
    public static func >= (a: Query, b: T.Element) -> Query<Bool> { a.any(.greaterEqual, b) }
    public static func < (a: Query, b: T.Element) -> Query<Bool> { a.any(.less, b) }
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

/// A map, for conditions on its keys and values.
public protocol RealmKeyedCollection: _Persistable {
    associatedtype MapKey: _MapKey
    associatedtype MapValue: RealmCollectionValue
}
extension Map: RealmKeyedCollection {
    public typealias MapKey = Key
    public typealias MapValue = Value
}

extension Query where T: RealmKeyedCollection {
    /// The number of keys.
    public var count: Query<Int> { Query<Int>(node.appending("@count")) }
    /// The keys: a comparison means that some key satisfies it.
    public var keys: Query<T.MapKey> { Query<T.MapKey>(node.appending("@allKeys", needsAny: true)) }
    /// The values: a comparison means that some value satisfies it.
    public var values: Query<T.MapValue> {
        Query<T.MapValue>(node.appending("@allValues", needsAny: true))
    }
    /// The value of a key.
    public subscript(key: T.MapKey) -> Query<T.MapValue> {
        Query<T.MapValue>(.mapSubscript(node, key))
    }
    /// The value, or object, is in the map.
    public func contains(_ value: T.MapValue) -> Query<Bool> {
        Query<Bool>(.comparison(.isIn, .constant(value), node, options: ""))
    }
}

extension Query where T == AnyRealmValue {
    /// An element of a list in the value.
    public subscript(index: Int) -> Query<AnyRealmValue> { Query(.mapSubscript(node, index)) }
    /// The value of a key of a dictionary in the value.
    public subscript(key: String) -> Query<AnyRealmValue> { Query(.mapSubscript(node, key)) }
    /// Any element of a list or dictionary in the value.
    public var any: Query<AnyRealmValue> { Query(.mapSubscript(node, QueryNode.AnyElement())) }
}
