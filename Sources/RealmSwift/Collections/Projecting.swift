// One property of all elements, as projections have it: `list.projectTo.name`.

public import CoreSwift
public import Foundation

/// What `projectTo` gives: the properties of the elements as collections.
@dynamicMemberLookup
public struct CollectionElementMapper<Element: ObjectBase & RealmCollectionValue> {
    fileprivate let elements: any RealmCollection<Element>

    /// The property of all elements.
    public subscript<Value>(
        dynamicMember path: KeyPath<Element, Value>
    ) -> ProjectedCollection<Value> { projected(elements, path) }

    private func projected<Elements: RealmCollection<Element>, Value>(
        _ elements: Elements, _ path: KeyPath<Element, Value>
    ) -> ProjectedCollection<Value> {
        // While a key path is traced, the one element that there is notes the property.
        if elements.isRecording { _ = elements[0][keyPath: path] }
        return ProjectedCollection(ProjectedElements(elements, path))
    }
}

/// One property of the elements of a collection. It is live: it shows what is stored whenever it is asked.
///
/// ```swift
/// class Card: Projection<Person> {
///     @Projected(\Person.dogs.projectTo.name) var dogs: ProjectedCollection<String>
/// }
/// ```
public struct ProjectedCollection<Element>: RandomAccessCollection, CustomStringConvertible,
    ThreadConfined
{
    fileprivate let source: any ProjectedSource<Element>

    fileprivate init(_ source: any ProjectedSource<Element>) { self.source = source }

    public var startIndex: Int { 0 }
    public var endIndex: Int { source.count }
    /// The value of an element. Assigning one writes the property of the object.
    public subscript(position: Int) -> Element {
        get { source[position] }
        nonmutating set { source[position] = newValue }
    }
    /// The values.
    public var description: String {
        "ProjectedCollection<\(Element.self)> {\n"
            + enumerated().map { "\t[\($0)] \($1)\n" }.joined() + "}"
    }

    /// The position of the first object that satisfies a predicate.
    public func index(matching predicate: NSPredicate) -> Int? { source.index(matching: predicate) }

    /// The realm of the collection; nil where none manages it.
    public var realm: Realm? { source.realm }
    /// The collection is not there any more.
    public var isInvalidated: Bool { source.isInvalidated }
    /// It never changes, and any thread may read it.
    public var isFrozen: Bool { source.isFrozen }
    /// The values as they are now.
    public func freeze() -> ProjectedCollection { ProjectedCollection(source.freeze()) }
    /// The live values; nil if the collection is not there any more.
    public func thaw() -> ProjectedCollection? { source.thaw().map { ProjectedCollection($0) } }

    public func _rlmReference() -> CoreSwift.ThreadSafeReference { refuseReference() }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> ProjectedCollection? { nil }
    private func refuseReference() -> Never {
        misuse(
            "A projected collection cannot be passed across threads: pass the collection that it projects."
        )
    }

    /// Calls a block soon with the values as they are, and then after each change of them.
    ///
    /// - Parameter keyPaths: the properties of the elements that count as modifications; nil: the projected one.
    /// - Parameter queue: where the block is called, with the values there; nil: where the realm belongs.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection>) -> Void
    ) -> NotificationToken {
        source.observe(keyPaths, queue) { block($0.of { ProjectedCollection($0) }) }
    }

    /// Calls a block on an actor with what happens to the values, beginning with `.initial`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block:
            @Sendable @escaping (isolated A, RealmCollectionChange<ProjectedCollection>) -> Void
    ) async -> NotificationToken {
        await source.observe(keyPaths, actor, _isolation: _isolation) { actor, change in
            block(actor, change.of { ProjectedCollection($0) })
        }
    }
}

extension ProjectedCollection where Element: Equatable {
    /// The position of the first such value; nil if there is none.
    public func index(of value: Element) -> Int? { firstIndex(of: value) }
}

/// What a projected collection needs of the one behind it, whatever its type.
private protocol ProjectedSource<Value>: AnyObject {
    associatedtype Value
    var count: Int { get }
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    subscript(position: Int) -> Value { get set }
    func index(matching predicate: NSPredicate) -> Int?
    func freeze() -> any ProjectedSource<Value>
    func thaw() -> (any ProjectedSource<Value>)?
    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<any ProjectedSource<Value>>) -> Void
    ) -> NotificationToken
    func observe<A: Actor>(
        _ keyPaths: [String]?, _ actor: A, _isolation: isolated (any Actor)?,
        _ block:
            @Sendable @escaping (
                isolated A, RealmCollectionChange<any ProjectedSource<Value>>
            ) -> Void
    ) async -> NotificationToken
}

private final class ProjectedElements<Elements: RealmCollection, Value>: ProjectedSource
where Elements.Element: ObjectBase {
    private let elements: Elements
    private let path: KeyPath<Elements.Element, Value>

    init(_ elements: Elements, _ path: KeyPath<Elements.Element, Value>) {
        self.elements = elements
        self.path = path
    }

    var count: Int { elements.count }
    var realm: Realm? { elements.realm }
    var isInvalidated: Bool { elements.isInvalidated }
    var isFrozen: Bool { elements.isFrozen }
    subscript(position: Int) -> Value {
        get { elements[position][keyPath: path] }
        set { elements[position].setValue(newValue, forKeyPath: KeyPathNames.name(path)) }
    }
    func index(matching predicate: NSPredicate) -> Int? {
        elements.index(matching: predicate)
    }
    func freeze() -> any ProjectedSource<Value> { ProjectedElements(elements.freeze(), path) }
    func thaw() -> (any ProjectedSource<Value>)? {
        elements.thaw().map { ProjectedElements($0, path) }
    }

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<any ProjectedSource<Value>>) -> Void
    ) -> NotificationToken {
        let path = path
        return elements.observe(keyPaths: keyPaths ?? [KeyPathNames.name(path)], on: queue) {
            block($0.of { ProjectedElements($0, path) })
        }
    }

    func observe<A: Actor>(
        _ keyPaths: [String]?, _ actor: A, _isolation: isolated (any Actor)?,
        _ block:
            @Sendable @escaping (
                isolated A, RealmCollectionChange<any ProjectedSource<Value>>
            ) -> Void
    ) async -> NotificationToken {
        let path = path
        return await Observing.observe(
            elements, on: actor, _isolation: _isolation, block
        ) { there, tell in
            ProjectedElements(there, path).observe(keyPaths, nil, tell)
        }
    }
}

@available(*, unavailable)
extension CollectionElementMapper: @unchecked Sendable {}
@available(*, unavailable)
extension ProjectedCollection: @unchecked Sendable {}

extension RealmCollection where Element: ObjectBase {
    /// One property of all elements: `dogs.projectTo.name`.
    public var projectTo: CollectionElementMapper<Element> {
        CollectionElementMapper(elements: self)
    }
}

extension RealmCollection {
    /// It stands for a property whose key path is traced.
    fileprivate var isRecording: Bool {
        switch self {
        case let list as List<Element>: if case .recording = list.backing { return true }
        case let set as MutableSet<Element>: if case .recording = set.backing { return true }
        default: break
        }
        return false
    }
}
