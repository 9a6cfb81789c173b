// Maps: the values of a property by key.

import CoreSwift
import Foundation

/// Values by key in a property: `@Persisted var scores: Map<String, Int>`. Keys must not begin with `$`
/// and have no `.` in them.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: ThreadConfined,
    CustomStringConvertible, Equatable, Sequence, _DescribedCollection
{
    var backing: CollectionBacking<[Key: Value]>

    init(_ backing: CollectionBacking<[Key: Value]>) { self.backing = backing }

    /// An empty map that no realm manages.
    public init() { backing = .plain([:]) }

    // MARK: State

    /// There are no keys.
    public var isEmpty: Bool { count == 0 }

    public var count: Int {
        switch backing {
        case .plain(let values): values.count
        case .managed(let collection): collection.count
        case .recording: 1
        }
    }

    // MARK: Reading

    private func key(_ collection: _ManagedCollection, _ index: Int) -> Key {
        Key._rlmFrom(
            collection.call(try collection.core.key(index)),
            collection.session)
    }

    private func value(_ collection: _ManagedCollection, _ index: Int) -> Value {
        let raw = collection.call(try collection.core.get(index))
        return collection.nested(raw, index) ?? Value._rlmFrom(raw, collection.session)
    }

    /// All keys.
    public var keys: [Key] {
        switch backing {
        case .plain(let values): Array(values.keys)
        case .managed(let collection): (0..<collection.count).map { key(collection, $0) }
        case .recording: []
        }
    }

    /// All values, in the order of `keys`.
    public var values: [Value] {
        switch backing {
        case .plain(let values): Array(values.values)
        case .managed(let collection): (0..<collection.count).map { value(collection, $0) }
        case .recording: []
        }
    }

    /// The value of a key; nil removes the key, as well as assigning a value of an object type that is nil
    /// keeps it.
    public subscript(key: Key) -> Value? {
        get {
            switch backing {
            case .plain(let values): return values[key]
            case .managed(let collection):
                return find(collection, key).map { value(collection, $0) }
            case .recording(let recorder): return Value._rlmRecorded(recorder)
            }
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
        }
    }

    private func find(_ collection: _ManagedCollection, _ key: Key) -> Int? {
        key._rlmWithRaw(collection.session, .error) { raw in
            collection.call { () throws(RealmError) in try collection.core.find(key: raw) }
        }
    }

    /// The value of a key.
    public func object(forKey key: Key) -> Value? { self[key] }

    /// The same for programs that have keys as objects.
    @_disfavoredOverload
    public func object(forKey key: AnyObject) -> AnyObject? {
        Key._rlmConvert(key).flatMap { self[$0] }.flatMap { unwrapped($0) }.map { $0 as AnyObject }
    }

    /// The value of a key, nil where there is none; `@count`, `@allKeys` and `@allValues` of the whole map.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "@count": return count
        case "@allKeys": return keys
        case "@allValues": return values
        default: return Key._rlmConvert(key).flatMap { self[$0] }.flatMap { unwrapped($0) }
        }
    }

    /// The keys with their values.
    public func makeIterator() -> RLMMapIterator<SingleMapEntry<Key, Value>> {
        RLMMapIterator(keys, values)
    }

    /// The keys with their values as pairs: `for (key, value) in map.asKeyValueSequence()`.
    public func asKeyValueSequence() -> KeyValueSequence { KeyValueSequence(self) }

    /// Whether an entry satisfies a condition.
    public func contains(
        where predicate: (_ key: Key, _ value: Value) throws -> Bool
    ) rethrows -> Bool {
        try zip(keys, values).contains { try predicate($0.0, $0.1) }
    }

    // MARK: Changing

    /// In place: the dictionary must not be held twice.
    private func mutate(_ body: (inout [Key: Value]) -> Void) {
        guard case .plain(var values) = backing else { return }
        backing = .plain([:])
        body(&values)
        backing = .plain(values)
    }

    /// Gives a key a value.
    public func updateValue(_ value: Value, forKey key: Key) { update(value, key, .error) }

    private func update(_ value: Value, _ key: Key, _ policy: _AddingPolicy) {
        switch backing {
        case .plain: mutate { $0[key] = value }
        case .managed(let collection):
            collection.checkWritable()
            let value = AnyRealmValue.settled(value)
            key._rlmWithRaw(collection.session, .error) { keyRaw in
                if Value._rlmShape.isEmbedded, let object = embeddedForm(value) {
                    if object.slot != nil {
                        misuse("Cannot add an existing managed embedded object to a Dictionary.")
                    }
                    let handle = collection.call { () throws(RealmError) in
                        try collection.core.insertEmbedded(key: keyRaw)
                    }
                    return collection.session.manage(object, handle, policy)
                }
                value._rlmWithRaw(collection.session, policy) { raw in
                    let place = collection.call { () throws(RealmError) in
                        try collection.core.insert(raw, key: keyRaw).index
                    }
                    collection.fill(value, place, policy)
                }
            }
        case .recording: misuse("Maps cannot be changed while a key path is read.")
        }
    }

    /// Gives a key a value.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let key = Key._rlmConvert(key) else {
            misuse("Invalid key '\(key)' for a map with keys of type '\(Key.self)'.")
        }
        guard let converted = Value._rlmConvert(value ?? NSNull()) else {
            misuse("Invalid value '\(String(describing: value))' for a map of '\(Value.self)'.")
        }
        updateValue(converted, forKey: key)
    }

    /// Takes over the entries of a dictionary; the closure decides about keys that are in both.
    public func merge<S: Sequence>(
        _ sequence: S, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where S.Element == (key: Key, value: Value) {
        for (key, value) in sequence {
            if let old = self[key] {
                updateValue(try combine(old, value), forKey: key)
            } else {
                updateValue(value, forKey: key)
            }
        }
    }

    /// Takes over the entries of a sequence of pairs; the closure decides about keys that are in both.
    public func merge<S: Sequence>(
        _ sequence: S, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where S.Element == (Key, Value) {
        let entries: [(key: Key, value: Value)] = sequence.map { (key: $0.0, value: $0.1) }
        try merge(entries, uniquingKeysWith: combine)
    }

    /// Takes over the entries of a map; the closure decides about keys that are in both.
    public func merge(
        _ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows {
        try merge(other.asKeyValueSequence(), uniquingKeysWith: combine)
    }

    /// Removes a key.
    public func removeObject(for key: Key) {
        switch backing {
        case .plain: mutate { $0[key] = nil }
        case .managed(let collection):
            key._rlmWithRaw(collection.session, .error) { raw in
                collection.call { () throws(RealmError) in
                    _ = try collection.core.remove(key: raw)
                }
            }
        case .recording: break
        }
    }

    /// Removes all keys.
    public func removeAll() {
        switch backing {
        case .plain: backing = .plain([:])
        case .managed(let collection):
            collection.call(try collection.core.removeAll())
        case .recording: break
        }
    }

    public func _rlmText(_ depth: Int) -> String {
        let entries = Array(self)
        return Descriptions.collection(
            "Map<\(Key.self), \(Value.self)>", "0x0", entries.count, depth: depth
        ) { "[\(entries[$0].key)]: \(Descriptions.text(entries[$0].value, depth: depth))" }
    }

    /// The type and up to a hundred entries.
    public var description: String { _rlmText(5) }
}

extension Map: _StoredCollection {
    public typealias PersistedType = Map

    public static var _rlmType: CollectionType { .dictionary }
    public var _rlmManaged: _ManagedCollection? { backing.managed }
    public convenience init(_rlmManaged collection: _ManagedCollection) {
        self.init(.managed(collection))
    }
    public func _rlmBecome(_ collection: _ManagedCollection) { backing = .managed(collection) }

    public static var _rlmShape: _PropertyShape { Value._rlmShape.inside(.dictionary) }
    public static func _rlmRecorded(_ recorder: _Recorder) -> Map { Map(.recording(recorder)) }
    public static func _rlmAssigned(_ old: Map, _ new: Map) -> Map {
        if old != new { old.assign(new.map { ($0.key, $0.value) }, .all) }
        return old
    }
    private func assign(_ given: [(Key, Value)], _ policy: _AddingPolicy) {
        let entries = Array(zip(given.map { $0.0 }, AnyRealmValue.settled(given.map { $0.1 })))
        if policy == .modified {
            let kept = Set(entries.map { $0.0 })
            for key in keys where !kept.contains(key) { removeObject(for: key) }
        } else if count > 0 {
            removeAll()
        }
        for (key, value) in entries { update(value, key, policy) }
    }
    private static func converted(_ value: Any) -> [(Key, Value)]? {
        var all: [(Key, Value)] = []
        func add(_ key: Any, _ value: Any) -> Bool {
            guard let key = Key._rlmConvert(key), let value = Value._rlmConvert(value) else {
                return false
            }
            all.append((key, value))
            return true
        }
        guard let value = unwrapped(value) else { return [] }
        if let values = value as? [String: Any] {
            return values.allSatisfy { add($0.key, $0.value) } ? all : nil
        }
        if let values = value as? NSDictionary {
            return values.allSatisfy { add($0.key, $0.value) } ? all : nil
        }
        if let map = value as? Map { return map.map { ($0.key, $0.value) } }
        return nil
    }
    public static func _rlmConvert(_ value: Any) -> Map? {
        if let map = value as? Map { return map }
        return converted(value).map {
            Map(.plain(Dictionary($0, uniquingKeysWith: { _, b in b })))
        }
    }
    public static func _rlmAdd(
        _ value: Map, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> Map? {
        let entries = value.map { ($0.key, $0.value) }
        return added(value, object, key) { $0.assign(entries, policy) }
    }
    public var _rlmContent: Any {
        Dictionary(map { ("\($0.key)", $0.value as Any) }, uniquingKeysWith: { _, b in b })
    }
    public func _rlmAssign(_ value: Any, _ policy: _AddingPolicy) -> Bool {
        guard let all = Self.converted(value) else { return false }
        assign(all, policy)
        return true
    }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init(.plain(try decoder.singleValueContainer().decode([Key: Value].self)))
    }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            Dictionary(map { ($0.key, $0.value) }, uniquingKeysWith: { _, b in b }))
    }
}

@available(*, unavailable)
extension Map: @unchecked Sendable {}

extension Map: Hashable {}
