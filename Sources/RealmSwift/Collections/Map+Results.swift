// The values of a map as results: filtered, sorted, summed up.

import CoreSwift
public import Foundation

extension Map {
    var results: Results<Value> { Results(managed.source()) }

    /// The values of a map that no realm manages.
    private var plain: List<Value>? {
        if case .plain(let values) = backing { List(.plain(Array(values.values))) } else { nil }
    }

    /// The values that satisfy a format string.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
        results.filter(PredicateText(predicateFormat, args))
    }

    /// The values that satisfy a predicate.
    public func filter(_ predicate: NSPredicate) -> Results<Value> { results.filter(predicate) }

    /// The values that satisfy a condition.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        results.where(isIncluded)
    }

    /// The values by size; misuse for objects, which have none.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        results.sorted(byKeyPath: "SELF", ascending: ascending)
    }

    /// The values sorted by a property.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        results.sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The values in the order of the descriptors, the first of which counts most.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
    where S.Iterator.Element == SortDescriptor { results.sorted(by: sortDescriptors) }

    /// The values sorted by a property: `sorted(by: \.name)`.
    public func sorted<T: ObjectBase, Property: _Persistable>(
        by keyPath: KeyPath<T, Property>, ascending: Bool = true
    ) -> Results<Value> where Value == T?, Property.PersistedType: SortableType {
        sorted(byKeyPath: KeyPathNames.name(keyPath), ascending: ascending)
    }

    /// The first value of each combination of properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value>
    where S.Iterator.Element == String { results.distinct(by: keyPaths) }

    /// The first value of each combination of properties.
    public func distinct<T: ObjectBase, S: Sequence>(by keyPaths: S) -> Results<Value>
    where S.Iterator.Element == PartialKeyPath<T>, Value == T? {
        results.distinct(by: keyPaths.map { KeyPathNames.name($0) })
    }

    /// The value of a key, or what is reached from there: `mother.name`. With an operator in front, what that makes of
    /// a property of all values: `@sum.age`.
    public func value(forKeyPath path: String) -> Any? {
        guard let dot = path.firstIndex(of: ".") else { return value(forKey: path) }
        if path.hasPrefix("@") {
            return plain.map { $0.value(forKeyPath: path) } ?? results.value(forKeyPath: path)
        }
        return value(forKey: String(path[..<dot])).flatMap {
            reached(from: $0, by: path[path.index(after: dot)...])
        }
    }

    // MARK: Aggregates of a property

    /// The smallest value of a property; nil of none.
    public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType {
        plain.map { $0.min(ofProperty: property) } ?? results.min(ofProperty: property)
    }

    /// The largest value of a property; nil of none.
    public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType {
        plain.map { $0.max(ofProperty: property) } ?? results.max(ofProperty: property)
    }

    /// The sum of a property; zero of none.
    public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
    where T.PersistedType: AddableType {
        plain.map { $0.sum(ofProperty: property) } ?? results.sum(ofProperty: property)
    }

    /// The mean of a property; nil of none.
    public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: AddableType {
        plain.map { $0.average(ofProperty: property) } ?? results.average(ofProperty: property)
    }

    /// The mean of a property; nil of none.
    public func average<Object: ObjectBase, T: _HasPersistedType>(
        of keyPath: KeyPath<Object, T>
    ) -> Double? where Value == Object?, T.PersistedType: AddableType {
        average(ofProperty: KeyPathNames.name(keyPath))
    }
}

extension Map where Value.PersistedType: SortableType {
    /// Each value once.
    public func distinct() -> Results<Value> { results.distinct() }
}
