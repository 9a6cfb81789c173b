// Results: what a query finds, kept up to date.

import CoreSwift
import Foundation

/// The objects or values that a query finds. They are found when they are asked for, and follow the realm.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
    let source: _ElementSource
    var core: AnyResults { source.core }

    init(_ core: AnyResults, _ session: _RealmSession) { source = _ElementSource(core, session) }
    init(_ source: _ElementSource) { self.source = source }

    public var realm: Realm? { Realm(source.session) }
    public var isInvalidated: Bool { source.isInvalid }
    public var isFrozen: Bool { source.isFrozen }
    public var count: Int { source.count }

    public subscript(position: Int) -> Element {
        source.check(position)
        return Element._rlmElement(source, position)
    }

    public func makeIterator() -> RLMIterator<Element> { RLMIterator(source) }

    public func freeze() -> Results {
        guard let found = source.resolved(source.session.frozen()) else {
            misuse("Collection is no longer valid")
        }
        return Results(found)
    }

    public func thaw() -> Results? { source.resolved(source.session.live()).map { Results($0) } }

    public var _rlmResults: Results<Element> { self }

    /// How the elements are found: indexes that are used, conditions that are tested. Text for people.
    public func explain() -> String {
        engine(.query, try core.explain())
    }

    /// Results that the engine makes of these.
    func refined(_ make: (AnyResults) throws(RealmError) -> AnyResults) -> Results {
        Results(engine(.query, try make(core)), source.session)
    }

    /// The first elements.
    public func limited(_ count: Int) -> Results {
        refined { core throws(RealmError) in try core.limited(count) }
    }

    /// The elements behind the first ones.
    public func offset(_ count: Int) -> Results {
        refined { core throws(RealmError) in try core.offset(count) }
    }

    /// The elements behind one of them, for paging: `dogs.sorted(by: \.name).after(last).limited(20)`. Its position
    /// counts, as it is now; none where it is no element any more.
    public func after(_ element: Element) -> Results {
        offset(index(of: element).map { $0 + 1 } ?? count)
    }

    /// Whether both are the same results.
    public static func == (a: Results, b: Results) -> Bool { a.source === b.source }
}

extension Results: Encodable where Element: Encodable {}

@available(*, unavailable)
extension Results: @unchecked Sendable {}

/// A type that can make linking objects of the name of a property.
public protocol LinkingObjectsProtocol: _Persistable {
    /// The type of the objects.
    associatedtype Element
    /// Those of a class through one of its properties.
    init(fromType: Element.Type, property: String)
    /// Those through a property of the elements.
    init(origin: String)
    /// The property of the elements.
    var origin: String { get }
}

/// The objects that link to an object through a property of theirs:
/// `@Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>`.
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection,
    LinkingObjectsProtocol
{
    /// The property of the elements that links here.
    public let origin: String
    private let found: _ElementSource?
    /// Of a property without a wrapper.
    let direct: DirectLinks?

    /// Those through a property of the elements; `@Persisted(originProperty:)` makes them.
    public init(origin: String) {
        self.origin = origin
        found = nil
        direct = nil
    }

    /// The objects of a class that link to the owner of this property through one of theirs, as older versions
    /// declare it: `let owners = LinkingObjects(fromType: Person.self, property: "dogs")`.
    public init(fromType type: Element.Type, property: String) {
        origin = property
        found = nil
        direct = DirectLinks()
    }

    private var source: _ElementSource? {
        guard let direct else { return found }
        if let source = direct.source { return source }
        guard let owner = direct.owner, direct.key != -1 else { return nil }
        direct.source = LinkingObjects(owner, direct.key).found
        return direct.source
    }

    init(_ object: ObjectBase, _ key: Int64) {
        let schema = object.binding?.schema
        guard let property = schema?.computedProperties.first(where: { $0.key.rawValue == key })
        else { misuse("Object has no linking objects property with key \(key).") }
        self.init(object, dynamic: property)
    }

    init(_ object: ObjectBase, dynamic property: PropertySchema) {
        let session = object._rlmSession
        origin = property.linkOrigin
        let links = engine { () throws(RealmError) -> EngineResults in
            guard let other = session.core.schema.class_(named: property.linkTarget),
                let there = other.property(named: property.linkOrigin)
            else {
                throw RealmError(
                    .invalidProperty,
                    "Property '\(property.linkTarget).\(property.linkOrigin)' declared as origin of "
                        + "linking objects property '\(property.name)' does not exist")
            }
            return try ObjectHandle(checked: object.slot.unsafelyUnwrapped).backlinks(
                from: other.key, property: there.key)
        }
        found = _ElementSource(links, session)
        direct = nil
    }

    private var known: _ElementSource {
        guard let source else {
            misuse(
                "This method may only be called on RLMLinkingObjects instances retrieved from an "
                    + "RLMRealm")
        }
        return source
    }

    public var realm: Realm? { source.map { Realm($0.session) } }
    public var isInvalidated: Bool { source?.isInvalid ?? false }
    public var isFrozen: Bool { source?.isFrozen ?? false }
    /// Of an object that no realm manages: nothing links to it.
    public var count: Int { source?.count ?? 0 }
    public subscript(position: Int) -> Element {
        known.check(position)
        return Element._rlmElement(known, position)
    }
    public func makeIterator() -> RLMIterator<Element> {
        source.map { RLMIterator($0) } ?? RLMIterator([])
    }
    public func freeze() -> LinkingObjects {
        guard let found = known.resolved(known.session.frozen()) else {
            misuse("Collection is no longer valid")
        }
        return LinkingObjects(origin, found)
    }
    public func thaw() -> LinkingObjects? {
        known.resolved(known.session.live()).map { LinkingObjects(origin, $0) }
    }
    init(_ origin: String, _ source: _ElementSource) {
        self.origin = origin
        found = source
        direct = nil
    }
    public var _rlmResults: Results<Element> { Results(known) }

    public static func == (a: LinkingObjects, b: LinkingObjects) -> Bool {
        a.source === b.source && a.origin == b.origin
    }
}

extension LinkingObjects: _Persistable {
    public typealias PersistedType = LinkingObjects

    public static var _rlmShape: _PropertyShape {
        _PropertyShape(type: .linkingObjects, target: Element.self)
    }
    public static func _rlmDefaultValue() -> LinkingObjects { LinkingObjects(origin: "") }
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> LinkingObjects {
        LinkingObjects(object, key)
    }
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: LinkingObjects) {
        misuse("Linking objects properties are read only.")
    }
    public static func _rlmConvert(_ value: Any) -> LinkingObjects? { nil }
    public static func _rlmAdd(
        _ value: LinkingObjects, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> LinkingObjects? { nil }
    public static func _rlmRecorded(_ recorder: _Recorder) -> LinkingObjects {
        LinkingObjects(origin: "")
    }
}

@available(*, unavailable)
extension LinkingObjects: @unchecked Sendable {}
