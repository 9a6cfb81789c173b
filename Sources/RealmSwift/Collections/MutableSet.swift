// Sets: the distinct elements of a property.

import CoreSwift
import Foundation

/// A collection of distinct elements in a property: `@Persisted var tags: MutableSet<String>`.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    var backing: CollectionBacking<PlainSet<Element>>

    init(_ backing: CollectionBacking<PlainSet<Element>>) { self.backing = backing }

    /// An empty set that no realm manages.
    public init() { backing = .plain(PlainSet()) }

    public var count: Int {
        switch backing {
        case .plain(let plain): plain.elements.count
        case .managed(let collection): collection.count
        case .recording: 1
        }
    }

    /// An element by its place in the set's own order.
    public subscript(position: Int) -> Element {
        switch backing {
        case .plain(let plain):
            checkIndex(position, plain.elements.count)
            return plain.elements[position]
        case .managed(let collection):
            collection.check(position)
            let raw = collection.call(try collection.core.get(position))
            return Element._rlmFrom(raw, collection.session)
        case .recording(let recorder): return Element._rlmRecorded(recorder)
        }
    }

    public func makeIterator() -> RLMIterator<Element> {
        switch backing {
        case .plain(let plain): RLMIterator(plain.elements)
        case .managed(let collection): RLMIterator(collection.source())
        case .recording: RLMIterator([self[0]])
        }
    }

    // MARK: Set algebra

    /// Whether the element is in the set.
    public func contains(_ object: Element) -> Bool {
        switch backing {
        case .plain(let plain): return plain.contains(object)
        case .managed(let collection):
            if let object = object as? ObjectBase, object.slot == nil { return false }
            return object._rlmWithRaw(collection.session, .error) { raw in
                collection.call { () throws(RealmError) in
                    try collection.core.findIfFitting(raw) != nil
                }
            }
        case .recording: return false
        }
    }

    /// Whether all elements are in another set.
    public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
        allSatisfy { possibleSuperset.contains($0) }
    }

    /// Whether both have an element in common.
    public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
        contains { otherSet.contains($0) }
    }

    /// In place: the elements must not be held twice.
    private func mutate(_ body: (inout PlainSet<Element>) -> Void) {
        guard case .plain(var plain) = backing else { return }
        backing = .plain(PlainSet())
        body(&plain)
        backing = .plain(plain)
    }

    /// Adds an element, if it is not in the set.
    public func insert(_ object: Element) { insert(object, .error) }

    private func insert(_ object: Element, _ policy: _AddingPolicy) {
        switch backing {
        case .plain: mutate { $0.insert(object) }
        case .managed(let collection):
            if object is EmbeddedObject { misuse("Embedded objects cannot be in a set.") }
            collection.checkWritable()
            object._rlmWithRaw(collection.session, policy) { raw in
                collection.call { () throws(RealmError) in _ = try collection.core.insert(raw) }
            }
        case .recording: misuse("Sets cannot be changed while a key path is read.")
        }
    }

    /// Adds the elements of a sequence.
    public func insert<S: Sequence>(objectsIn objects: S) where S.Iterator.Element == Element {
        for object in Array(objects) { insert(object) }
    }

    /// Removes an element, if it is in the set.
    public func remove(_ object: Element) {
        switch backing {
        case .plain: mutate { $0.remove(object) }
        case .managed(let collection):
            collection.checkWritable()
            if let object = object as? ObjectBase, object.slot == nil { return }
            object._rlmWithRaw(collection.session, .error) { raw in
                collection.call { () throws(RealmError) in _ = try collection.core.remove(raw) }
            }
        case .recording: break
        }
    }

    /// Removes all elements.
    public func removeAll() {
        switch backing {
        case .plain: backing = .plain(PlainSet())
        case .managed(let collection):
            collection.call(try collection.core.removeAll())
        case .recording: break
        }
    }

    /// Keeps what is in both.
    public func formIntersection(_ other: MutableSet<Element>) {
        for element in Array(self) where !other.contains(element) { remove(element) }
    }

    /// Adds what is in the other.
    public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: Array(other)) }

    /// Removes what is in the other.
    public func subtract(_ other: MutableSet<Element>) {
        for element in Array(other) { remove(element) }
    }

}

extension MutableSet: _StoredCollection {
    public typealias PersistedType = MutableSet

    public static var _rlmType: CollectionType { .set }
    public var _rlmManaged: _ManagedCollection? { backing.managed }
    public convenience init(_rlmManaged collection: _ManagedCollection) {
        self.init(.managed(collection))
    }
    public func _rlmBecome(_ collection: _ManagedCollection) { backing = .managed(collection) }

    public static var _rlmShape: _PropertyShape { Element._rlmShape.inside(.set) }
    public static func _rlmRecorded(_ recorder: _Recorder) -> MutableSet {
        MutableSet(.recording(recorder))
    }
    public static func _rlmAssigned(_ old: MutableSet, _ new: MutableSet) -> MutableSet {
        if old != new { old.assign(Array(new), .all) }
        return old
    }
    private func assign(_ elements: [Element], _ policy: _AddingPolicy) {
        if policy == .modified {
            for element in Array(self) where !elements.contains(element) { remove(element) }
        } else if count > 0 {
            removeAll()
        }
        for element in elements { insert(element, policy) }
    }
    public static func _rlmConvert(_ value: Any) -> MutableSet? {
        if let set = value as? MutableSet { return set }
        guard let all = converted(value) else { return nil }
        let set = MutableSet()
        set.insert(objectsIn: all)
        return set
    }
    public static func _rlmAdd(
        _ value: MutableSet, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> MutableSet? {
        let elements = Array(value)
        return added(value, object, key) { $0.assign(elements, policy) }
    }
    public func _rlmAssign(_ value: Any, _ policy: _AddingPolicy) -> Bool {
        guard let all = Self.converted(value) else { return false }
        assign(all, policy)
        return true
    }
}

extension MutableSet: Decodable where Element: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { insert(try container.decode(Element.self)) }
    }
}

extension MutableSet: Encodable where Element: Encodable {}

@available(*, unavailable)
extension MutableSet: @unchecked Sendable {}
