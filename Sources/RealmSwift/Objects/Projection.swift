// Projections: objects as a part of the program wants to see them.

public import CoreSwift
import Foundation

/// A view of an object with some of its properties, or those of objects that it links to.
///
/// ```swift
/// class DogCard: Projection<Dog> {
///     @Projected(\Dog.name) var name
///     @Projected(\Dog.best?.name) var friend
/// }
/// let cards = realm.objects(DogCard.self)
/// ```
open class Projection<Root: _ObservableObject & RealmCollectionValue & ThreadConfined>:
    _ProjectionRoot,
    CustomStringConvertible
{
    /// The object.
    public let rootObject: Root

    /// A view of an object.
    public required init(projecting object: Root) { rootObject = object }

    public var _rlmRoot: ObjectBase { rootObject }
    /// The realm of the object.
    public var realm: Realm? { rootObject.realm }
    /// The object was deleted, or its realm invalidated.
    public var isInvalidated: Bool { rootObject.isInvalidated }
    /// The object belongs to a frozen realm.
    public var isFrozen: Bool { rootObject.isFrozen }
    /// The class, and a line for each property with what it stands for.
    open var description: String { projectionText(self, rootObject) }

    public static func == (a: Projection, b: Projection) -> Bool {
        a === b || a.rootObject.isSameObject(as: b.rootObject)
    }
    public func hash(into hasher: inout Hasher) { rootObject.hash(into: &hasher) }
}

/// A property of a `Projection`: that of its object at a key path.
@propertyWrapper
public struct Projected<Root: _ObservableObject & RealmCollectionValue & ThreadConfined, Value> {
    let path: KeyPath<Root, Value>

    /// The property at a key path; through links it is written as the last object's.
    public init(_ projectedKeyPath: KeyPath<Root, Value>) { path = projectedKeyPath }

    @available(*, unavailable, message: "@Projected can only be used as a property of a Projection")
    public var wrappedValue: Value {
        get { fatalError("@Projected outside of a Projection") }
        set { fatalError("@Projected outside of a Projection") }
    }

    public static subscript<Owner: Projection<Root>>(
        _enclosingInstance object: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Projected<Root, Value>>
    ) -> Value {
        get { object.rootObject[keyPath: object[keyPath: storage].path] }
        set {
            let path = object[keyPath: storage].path
            if let writable = path as? ReferenceWritableKeyPath<Root, Value> {
                object.rootObject[keyPath: writable] = newValue
            } else {
                // Through an optional link: by name.
                object.rootObject.setValue(newValue, forKeyPath: KeyPathNames.name(path))
            }
        }
    }
}

/// What leads from the type of a projection to that of its objects.
protocol ProjectionType {
    static var root: ObjectBase.Type { get }
}

extension Projection: ProjectionType {
    static var root: ObjectBase.Type { Root.self }
}

extension Projection: _KeyPathRoot {
    /// What a projected property reads of an object in recording state names the property.
    public static func _rlmKeyPathRoot(_ recorder: _Recorder) -> Any? {
        self.init(projecting: _Recorder.object(Root.self, recorder))
    }
}

extension Query where T: _ProjectionRoot {
    /// A property by the name that the projection has for it.
    public subscript<V: _Persistable>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
        Query<V>(node.appending(KeyPathNames.name(member)))
    }
}

extension Projection: RealmFetchable, ThreadConfined {
    public typealias PersistedType = Root

    /// The name of the class of the objects.
    public static func className() -> String { Root.className() }

    public static var _rlmShape: _PropertyShape { Root._rlmShape }
    public static func _rlmDefaultValue() -> Self { self.init(projecting: Root._rlmDefaultValue()) }
    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Self {
        self.init(projecting: Root._rlmFrom(raw, session))
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R { rootObject._rlmWithRaw(session, policy, body) }
    public static func _rlmConvert(_ value: Any) -> Self? {
        Root._rlmConvert(value).map { self.init(projecting: $0) }
    }
    public static func _rlmElement(_ source: _ElementSource, _ index: Int) -> Self {
        self.init(projecting: source.object(index, Root.self))
    }

    /// The view of the object as it is now.
    public func freeze() -> Self { Self(projecting: rootObject.freeze()) }
    /// The view of the live object; nil if it was deleted.
    public func thaw() -> Self? { rootObject.thaw().map { Self(projecting: $0) } }

    public func _rlmReference() -> CoreSwift.ThreadSafeReference { rootObject._rlmReference() }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self? {
        ObjectBase.resolve(reference, session, Root.self).map { self.init(projecting: $0) }
    }
}

@available(*, unavailable)
extension Projection: @unchecked Sendable {}
