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
    func setValue(_ value: Any?, forKey key: Key)

    /// The values that satisfy a predicate.
    func filter(_ predicate: NSPredicate) -> Results<Value>
    /// Whether an entry satisfies a condition.
    func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool
    /// The values sorted by a property.
    func sorted(byKeyPath keyPath: String, ascending: Bool) -> Results<Value>
    /// The values in the order of the descriptors, the first of which counts most.
    func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
    where S.Iterator.Element == SortDescriptor

    /// The smallest value of a property; nil of none.
    func min<T: RealmCollectionValue>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType
    /// The largest value of a property; nil of none.
    func max<T: RealmCollectionValue>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType
    /// The sum of a property; zero of none.
    func sum<T: RealmCollectionValue>(ofProperty property: String) -> T
    where T.PersistedType: AddableType
    /// The mean of a property; nil of none.
    func average<T: RealmCollectionValue>(ofProperty property: String) -> T?
    where T.PersistedType: AddableType

    /// Calls a block soon with the collection as it is, and then after each change of it.
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
    /// The same for all that can change.
    func observe(
        on queue: DispatchQueue?, _ block: @escaping (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
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
