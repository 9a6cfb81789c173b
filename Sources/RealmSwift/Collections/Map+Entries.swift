// The entries of maps, and what goes through them.

import Foundation

/// An entry of a map, for `RLMMapIterator`.
public protocol _RealmMapValue {
    /// The type of the key.
    associatedtype Key: _MapKey
    /// The type of the value.
    associatedtype Value: RealmCollectionValue
    init(_rlmKey: Key, _rlmValue: Value)
}

/// A key of a map with its value.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: _RealmMapValue, Hashable {
    /// The key.
    public var key: Key
    /// The value.
    public var value: Value

    public init(_rlmKey key: Key, _rlmValue value: Value) {
        self.key = key
        self.value = value
    }
}

/// The position of an entry in a map.
public struct MapIndex {
    /// The number of entries before it.
    public var offset: UInt
}

/// Goes through the entries of a map as it was when the iteration began.
public struct RLMMapIterator<Element: _RealmMapValue>: IteratorProtocol {
    private var entries: IndexingIterator<[(Element.Key, Element.Value)]>

    init(_ keys: [Element.Key], _ values: [Element.Value]) {
        entries = Array(zip(keys, values)).makeIterator()
    }

    public mutating func next() -> Element? {
        entries.next().map { Element(_rlmKey: $0.0, _rlmValue: $0.1) }
    }
}

/// Goes through the entries of a map as pairs, as it was when the iteration began.
public struct RLMKeyValueIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
    /// A key with its value.
    public typealias Element = (key: Key, value: Value)
    private var entries: IndexingIterator<[(Key, Value)]>

    init(_ keys: [Key], _ values: [Value]) { entries = Array(zip(keys, values)).makeIterator() }

    public mutating func next() -> Element? {
        entries.next().map { (key: $0.0, value: $0.1) }
    }
}

extension Map {
    /// The entries of a map as pairs.
    public struct KeyValueSequence: Sequence {
        private let map: Map

        init(_ map: Map) { self.map = map }

        public func makeIterator() -> RLMKeyValueIterator<Key, Value> {
            RLMKeyValueIterator(map.keys, map.values)
        }
    }
}

@available(*, unavailable)
extension SingleMapEntry: @unchecked Sendable {}
@available(*, unavailable)
extension Map.KeyValueSequence: @unchecked Sendable {}
