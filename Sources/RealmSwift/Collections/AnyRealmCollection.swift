// A collection whose type does not matter.

public import CoreSwift
public import Foundation

/// Results, a list, a set or linking objects: `AnyRealmCollection(person.dogs)`.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let base: any RealmCollection<Element>

    /// A collection of any type with these elements.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element { self.base = base }

    public var realm: Realm? { base.realm }
    public var isInvalidated: Bool { base.isInvalidated }
    public var isFrozen: Bool { base.isFrozen }
    public var count: Int { base.count }
    public subscript(position: Int) -> Element { base[position] }
    public func makeIterator() -> RLMIterator<Element> { base.makeIterator() }
    public func freeze() -> AnyRealmCollection { AnyRealmCollection(base.freeze()) }
    public func thaw() -> AnyRealmCollection? { base.thaw().map { AnyRealmCollection($0) } }
    public var _rlmResults: Results<Element> { base._rlmResults }

    public func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<AnyRealmCollection>) -> Void
    ) -> NotificationToken {
        func begin<C: RealmCollection<Element>>(_ base: C) -> NotificationToken {
            base._rlmObserve(keyPaths, queue) { block($0.of { AnyRealmCollection($0) }) }
        }
        return begin(base)
    }

    public func _rlmReference() -> CoreSwift.ThreadSafeReference {
        _rlmResults._rlmReference()
    }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> AnyRealmCollection? {
        Results<Element>._rlmResolve(reference, session).map { AnyRealmCollection($0) }
    }

    public static func == (a: AnyRealmCollection, b: AnyRealmCollection) -> Bool {
        func isSame<C: RealmCollection<Element>>(_ base: C) -> Bool { base == b.base as? C }
        return isSame(a.base)
    }
}

extension AnyRealmCollection: Encodable where Element: Encodable {}

@available(*, unavailable)
extension AnyRealmCollection: @unchecked Sendable {}
