// What collections with keys have in common: `Map` is the one that there is.

public import Foundation

/// A collection of values by key, for generic code and for conditions on its keys and values.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible,
    _Persistable, _QueryCollection
where _QueryElement == Value {
    /// The type of the keys.
    associatedtype Key: _MapKey
    /// The type of the values.
    associatedtype Value: RealmCollectionValue

    /// The number of keys.
    var count: Int { get }
    /// All keys.
    var keys: [Key] { get }
    /// All values, in the order of `keys`.
    var values: [Value] { get }
    /// The value of a key.
    subscript(key: Key) -> Value? { get set }

    /// Gives a key a value.
    func updateValue(_ value: Value, forKey key: Key)
    /// Removes a key.
    func removeObject(for key: Key)
    /// Removes all keys.
    func removeAll()

    /// The value of a key.
    func value(forKey key: String) -> Any?
    /// What is reached from the value of a key, or what an operator makes of a property of all values.
    func value(forKeyPath path: String) -> Any?
    /// Gives a key a value.
    func setValue(_ value: Any?, forKey key: String)

    /// The values that satisfy a predicate.
    func filter(_ predicate: NSPredicate) -> Results<Value>
    /// Whether an entry satisfies a condition.
    func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool
    /// The values by size.
    func sorted(ascending: Bool) -> Results<Value>
    /// The values sorted by a property.
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
    /// The values in the order of the descriptors, the first of which counts most.
    func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
    where S.Iterator.Element == SortDescriptor

    /// The smallest value of a property; nil of none.
    func min<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType
    /// The largest value of a property; nil of none.
    func max<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType
    /// The sum of a property; zero of none.
    func sum<T: _HasPersistedType>(ofProperty property: String) -> T
    where T.PersistedType: AddableType
    /// The mean of a property; nil of none.
    func average<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: AddableType

    /// Calls a block soon with the collection as it is, and then after each change of it.
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmKeyedCollection {
    /// Calls a block soon with the collection as it is, and then after each change of it.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths, on: queue, block) }
}

extension RealmKeyedCollection where Value.PersistedType: MinMaxType {
    /// The smallest value; nil of none.
    public func min() -> Value? { min(ofProperty: "self") }
    /// The largest value; nil of none.
    public func max() -> Value? { max(ofProperty: "self") }
}

extension RealmKeyedCollection where Value.PersistedType: AddableType {
    /// The sum of the values; zero of none.
    public func sum() -> Value { sum(ofProperty: "self") }
    /// The mean of the values; nil of none.
    public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType {
        average(ofProperty: "self")
    }
}

extension RealmKeyedCollection where Value.PersistedType: SortableType {
    /// The values by size.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        sorted(byKeyPath: "SELF", ascending: ascending)
    }
}

extension RealmKeyedCollection where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The smallest value of a property; nil of none.
    public func min<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType { min(ofProperty: KeyPathNames.name(keyPath)) }

    /// The largest value of a property; nil of none.
    public func max<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType { max(ofProperty: KeyPathNames.name(keyPath)) }

    /// The sum of a property; zero of none.
    public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T
    where T.PersistedType: AddableType { sum(ofProperty: KeyPathNames.name(keyPath)) }

    /// The mean of a property as a value of its type; nil of none.
    public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: AddableType { average(ofProperty: KeyPathNames.name(keyPath)) }

    /// The values sorted by a property.
    public func sorted<T: _HasPersistedType>(
        by keyPath: KeyPath<Value.Wrapped, T>, ascending: Bool
    ) -> Results<Value> where T.PersistedType: SortableType {
        sorted(byKeyPath: KeyPathNames.name(keyPath), ascending: ascending)
    }
}

extension Map: RealmKeyedCollection {}

extension Map {
    /// Calls a block with what happens to the map, beginning with `.initial`.
    public func observe(
        on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken { observe(keyPaths: nil as [String]?, on: queue, block) }

    /// What happens to the map, beginning with `.initial`.
    public var changes: RealmChanges<RealmMapChange<Map>> { RealmChanges { self.observe($0) } }
}
