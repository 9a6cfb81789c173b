// What lists, sets and maps have in common: they are in memory, or in a realm.

public import CoreSwift
import Foundation

/// A collection of an object that no realm manages, of one that a realm does, or of a key path.
enum CollectionBacking<Plain> {
    case plain(Plain)
    case managed(_ManagedCollection)
    case recording(_Recorder)

    var managed: _ManagedCollection? {
        if case .managed(let collection) = self { collection } else { nil }
    }
}

/// A collection that can be filled from values of any type.
public protocol _AssignableCollection {
    /// False for what does not convert.
    func _rlmAssign(_ value: Any, _ policy: _AddingPolicy) -> Bool
    /// The elements in an array, or the values by key in a dictionary.
    var _rlmContent: Any { get }
}

/// A collection in a property: `List`, `MutableSet`, `Map`.
public protocol _StoredCollection: AnyObject, ThreadConfined, Equatable, _Persistable,
    _AssignableCollection
{
    static var _rlmType: CollectionType { get }
    /// The collection in the realm; nil of others.
    var _rlmManaged: _ManagedCollection? { get }
    init()
    init(_rlmManaged: _ManagedCollection)
    /// It is from now on that one.
    func _rlmBecome(_ managed: _ManagedCollection)
}

extension CollectionType {
    /// The name that misuse texts have for such a collection.
    var nameInTexts: String {
        switch self {
        case .list, .none: "RLMArray"
        case .set: "RLMSet"
        case .dictionary: "RLMDictionary"
        }
    }
}

extension _StoredCollection {
    public var realm: Realm? { _rlmManaged.map { Realm($0.session) } }
    public var isInvalidated: Bool { _rlmManaged?.isInvalid ?? false }
    public var isFrozen: Bool { _rlmManaged?.session.core.isFrozen ?? false }

    /// The collection in the realm; misuse for others.
    var managed: _ManagedCollection {
        guard let collection = _rlmManaged else {
            misuse(
                "This method may only be called on \(Self._rlmType.nameInTexts) instances retrieved "
                    + "from an RLMRealm")
        }
        return collection
    }

    public func freeze() -> Self {
        counterpart(managed.session.frozen()) ?? { misuse("Collection is no longer valid") }()
    }

    public func thaw() -> Self? { counterpart(managed.session.live()) }

    private func counterpart(_ other: _RealmSession) -> Self? {
        let collection = managed
        if collection.session === other { return self }
        return collection.resolved(other).map { Self(_rlmManaged: $0) }
    }

    /// Whether both are the same collection of the same object; of unmanaged ones, the same collection.
    public static func == (a: Self, b: Self) -> Bool {
        if let one = a._rlmManaged, let other = b._rlmManaged {
            return one.core.isEqual(other.core)
        }
        return a === b
    }

    public func hash(into hasher: inout Hasher) {
        if let collection = _rlmManaged {
            hasher.combine(collection.core.objectKey)
            hasher.combine(collection.core.propertyKey)
        } else {
            hasher.combine(ObjectIdentifier(self))
        }
    }

    // MARK: As the value of a property

    public static var _rlmIsCollection: Bool { true }
    public static func _rlmDefaultValue() -> Self { Self() }
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Self {
        Self(_rlmManaged: _ManagedCollection(object, key, _rlmType))
    }
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self) {
        _ = _rlmAssigned(_rlmGet(object, key), value)
    }

    /// What a collection becomes whose object becomes managed; `fill` gives it what it had.
    static func added(
        _ value: Self, _ object: ObjectBase, _ key: Int64, _ fill: (Self) -> Void
    ) -> Self {
        let collection = _ManagedCollection(object, key, _rlmType)
        if value._rlmManaged == nil { value._rlmBecome(collection) }
        let made =
            value._rlmManaged?.session === object.session ? value : Self(_rlmManaged: collection)
        fill(made)
        return made
    }

    // MARK: References

    public func _rlmReference() -> CoreSwift.ThreadSafeReference { managed.reference() }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self? {
        _ManagedCollection.resolve(reference, _rlmType, session).map { Self(_rlmManaged: $0) }
    }
}

extension _StoredCollection where Self: RealmCollection {
    public var _rlmResults: Results<Element> { Results(managed.source()) }

    public func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _ManagedCollection.observe(_rlmManaged, keyPaths, queue) {
            there, filter throws(RealmError) in
            let collection = Self(_rlmManaged: there)
            var isFirst = true
            return try there.core.observe(filter) { changes in
                defer { isFirst = false }
                block(RealmCollectionChange(collection, changes, isFirst: isFirst))
            }
        }
    }

    // An array: the map of a collection of ours is lazy.
    public var _rlmContent: Any { Array(self).map { $0 as Any } }

    /// The elements of anything that can be assigned; nil where one does not convert.
    static func converted(_ value: Any) -> [Element]? {
        guard let elements = anyElements(value) else { return nil }
        var all: [Element] = []
        for element in elements {
            guard let converted = Element._rlmConvert(element) else { return nil }
            all.append(converted)
        }
        return all
    }
}
