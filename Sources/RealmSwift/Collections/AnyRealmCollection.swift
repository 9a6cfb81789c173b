// A collection whose type does not matter.

public import CoreSwift
public import Foundation

/// Results, a list, a set or linking objects: `AnyRealmCollection(person.dogs)`.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let base: any RealmCollection
    private let makeCount: () -> Int
    private let element: (Int) -> Element
    private let iterator: () -> RLMIterator<Element>
    private let results: () -> Results<Element>
    private let frozen: () -> AnyRealmCollection
    private let thawed: () -> AnyRealmCollection?
    private let begin:
        (
            [String]?, DispatchQueue?,
            @escaping (AnyRealmCollection, _ElementChange) -> Void
        ) -> NotificationToken
    private let isSame: (any RealmCollection) -> Bool

    /// A collection of any type with these elements.
    public init<C: RealmCollection>(_ base: C) where C.Element == Element {
        self.base = base
        makeCount = { base.count }
        element = { base[$0] }
        iterator = { base.makeIterator() }
        results = { base._rlmResults }
        frozen = { AnyRealmCollection(base.freeze()) }
        thawed = { base.thaw().map { AnyRealmCollection($0) } }
        begin = { keyPaths, queue, block in
            base._rlmObserve(keyPaths, queue) { block(AnyRealmCollection($0), $1) }
        }
        isSame = { ($0 as? C) == base }
    }

    public var realm: Realm? { base.realm }
    public var isInvalidated: Bool { base.isInvalidated }
    public var isFrozen: Bool { base.isFrozen }
    public var count: Int { makeCount() }
    public subscript(position: Int) -> Element { element(position) }
    public func makeIterator() -> RLMIterator<Element> { iterator() }
    public func freeze() -> AnyRealmCollection { frozen() }
    public func thaw() -> AnyRealmCollection? { thawed() }
    public var _rlmResults: Results<Element> { results() }

    public func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (AnyRealmCollection, _ElementChange) -> Void
    ) -> NotificationToken { begin(keyPaths, queue, block) }

    public func _rlmReference() -> CoreSwift.ThreadSafeReference {
        _rlmResults._rlmReference()
    }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> AnyRealmCollection? {
        Results<Element>._rlmResolve(reference, session).map { AnyRealmCollection($0) }
    }

    public static func == (a: AnyRealmCollection, b: AnyRealmCollection) -> Bool {
        a.isSame(b.base)
    }
}

extension AnyRealmCollection: Encodable where Element: Encodable {}

@available(*, unavailable)
extension AnyRealmCollection: @unchecked Sendable {}
