// The classes that models derive from.

public import CoreSwift
import Foundation

/// The base of model classes.
///
/// ```swift
/// class Dog: Object {
///     @Persisted var name: String
///     @Persisted var age: Int
/// }
/// ```
///
/// A new object is an ordinary one; `Realm.add(_:)` stores it, and from then on its properties read from
/// the realm and, in write transactions, write to it. A managed object belongs to the thread of its realm.
public typealias Object = RealmSwiftObject

/// A part of one other object: it is stored with its owner and goes with it. Embedded objects have no
/// primary key and are not added themselves, but assigned to a property of their owner.
public typealias EmbeddedObject = RealmSwiftEmbeddedObject

/// The class behind `Object`.
open class RealmSwiftObject: ObjectBase, RealmCollectionValue, _RealmCollectionValueInsideOptional {
    public typealias PersistedType = RealmSwiftObject

    /// An object that no realm manages, with the default values of its properties.
    public required init() {
        super.init()
        assignDefaults()
    }

    /// An unmanaged object with values: of a dictionary by the names of properties, of an array in the
    /// order of their declaration, or of another object.
    public convenience init(value: Any) {
        self.init()
        assign(value, isInitializer: true)
    }
}

/// The class behind `EmbeddedObject`.
open class RealmSwiftEmbeddedObject: ObjectBase, RealmCollectionValue,
    _RealmCollectionValueInsideOptional
{
    public typealias PersistedType = RealmSwiftEmbeddedObject

    /// An object without an owner, with the default values of its properties.
    public required init() {
        super.init()
        assignDefaults()
    }

    /// An object without an owner, with values as for `Object.init(value:)`.
    public convenience init(value: Any) {
        self.init()
        assign(value, isInitializer: true)
    }

    /// They are.
    public final override class func isEmbedded() -> Bool { true }
}

extension ObjectBase {
    /// What `defaultPropertyValues` of a class gives; not to the instance that its properties are found with.
    @inline(__always)
    fileprivate final func assignDefaults() {
        let values = type(of: self).defaultPropertyValues()
        if !values.isEmpty, !ClassInfo.isDiscovering { setValuesForKeys(values) }
    }
}

// MARK: - Objects as values of properties

extension ObjectBase {
    @usableFromInline
    static func shape(_ type: ObjectBase.Type) -> _PropertyShape {
        _PropertyShape(type: .object, target: type)
    }

    /// An object of the class from anything that stands for one.
    static func convert<T: ObjectBase>(_ value: Any, _ type: T.Type) -> T? {
        guard let value = unwrapped(value) else { return nil }
        if let object = value as? T { return object }
        if let projected = value as? any _ProjectionRoot { return projected._rlmRoot as? T }
        let isTree =
            value is [String: Any] || value is NSDictionary || value is [Any] || value is NSArray
            || value is ObjectBase
        guard isTree else { return nil }
        let made = T()
        made.assign(value, isInitializer: true)
        return made
    }

    /// The accessor for a link in the file's form.
    static func from<T: ObjectBase>(_ raw: RawValue, _ session: _RealmSession, _ type: T.Type) -> T
    {
        guard raw.type == ValueType.link.rawValue else {
            misuse("Value of type \(raw.type) is no link to '\(T.self)'.")
        }
        let handle = engine(.object, try session.core.object(raw.linkClass, raw.linkTarget))
        return session.accessor(handle, type)
    }

    static func get<T: ObjectBase>(_ object: ObjectBase, _ key: Int64, _ type: T.Type) -> T? {
        guard let slot = object.slot else { return nil }
        do throws(RealmError) {
            guard
                let found = try ObjectHandle(checked: slot).linkedObject(
                    CoreSwift.PropertyKey(rawValue: key))
            else { return nil }
            let plan = object.plan.unsafelyUnwrapped
            if let made = plan.accessor(found, type) { return made }
            return object._rlmSession.accessor(found, type)
        } catch {
            object._rlmFail(error)
        }
    }

    /// Assigns a link, or an embedded object.
    static func set(
        _ object: ObjectBase, _ key: Int64, _ value: ObjectBase?, _ policy: _AddingPolicy
    ) {
        guard let value else { return object._rlmWrite(key, .null, policy) }
        guard value is EmbeddedObject || value.binding?.schema.kind == .embedded else {
            let link = object._rlmSession.link(value, policy)
            return object._rlmWrite(key, link, policy)
        }
        if value.slot != nil {
            if let old = get(object, key, ObjectBase.self), old.isSameObject(as: value) { return }
            misuse("Can't set link to existing managed embedded object")
        }
        if policy == .modified, let old = get(object, key, ObjectBase.self),
            object._rlmSession.update(old, from: value, policy)
        {
            return
        }
        let handle = engine(
            .object,
            try ObjectHandle(checked: object.slot.unsafelyUnwrapped).createEmbedded(
                CoreSwift.PropertyKey(rawValue: key)))
        object._rlmSession.manage(value, handle, policy)
    }
}

// What both classes have as values: they inherit what gives a `Self`. What takes one fits the requirements only
// where the class is named, also in a protocol extension, and stands below, twice.

extension ObjectBase {
    public class var _rlmShape: _PropertyShape { shape(self) }
    public static func _rlmDefaultValue() -> Self { self.init() }
    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Self {
        from(raw, session, self)
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        body(session.link(self, policy))
    }
    public static func _rlmElement(_ source: _ElementSource, _ index: Int) -> Self {
        source.object(index, self)
    }
    public static func _rlmElement(
        _ source: _ElementSource, _ index: Int, _ last: inout ObjectBase?
    ) -> Self {
        source.object(index, self, &last)
    }
    public static func _rlmConvert(_ value: Any) -> Self? { convert(value, self) }
    public static func _rlmRecorded(_ recorder: _Recorder) -> Self {
        _Recorder.object(self, recorder)
    }
    public static func _rlmRecordedOptional(_ recorder: _Recorder) -> Self? {
        _Recorder.object(self, recorder)
    }
    public static func _rlmGetOptional(_ object: ObjectBase, _ key: Int64) -> Self? {
        get(object, key, self)
    }

    /// A reference to an object of any class has the same form.
    fileprivate static func addLink<T: ObjectBase & _PersistableInsideOptional>(
        _ wrapper: UnsafeMutablePointer<Persisted<T?>>, _ object: ObjectBase, _ key: Int64,
        _ policy: _AddingPolicy
    ) {
        let value = wrapper.pointee.read(object)
        wrapper.pointee.state = .managed(key)
        set(object, key, value, policy)
    }
}

extension RealmSwiftObject {
    public static func _rlmSetOptional(
        _ object: ObjectBase, _ key: Int64, _ value: RealmSwiftObject?, _ policy: _AddingPolicy
    ) {
        set(object, key, value, policy)
    }
    public static func _rlmAddOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) {
        addLink(
            at.assumingMemoryBound(to: Persisted<RealmSwiftObject?>.self), object, key, policy)
    }
}

extension RealmSwiftEmbeddedObject {
    public static func _rlmSetOptional(
        _ object: ObjectBase, _ key: Int64, _ value: RealmSwiftEmbeddedObject?,
        _ policy: _AddingPolicy
    ) {
        set(object, key, value, policy)
    }
    public static func _rlmAddOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) {
        addLink(
            at.assumingMemoryBound(to: Persisted<RealmSwiftEmbeddedObject?>.self), object, key,
            policy)
    }
}

/// Gives an object an `id` for lists that show it: `class Dog: Object, ObjectKeyIdentifiable`.
public protocol ObjectKeyIdentifiable: Identifiable {
    var id: UInt64 { get }
}

/// The older spelling.
@available(*, deprecated, renamed: "ObjectKeyIdentifiable")
public typealias ObjectKeyIdentifable = ObjectKeyIdentifiable

extension ObjectBase {
    fileprivate final var rowIdentity: UInt64 {
        guard let handle else { return UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue)) }
        return UInt64(handle.classKey.rawValue) << 48
            ^ UInt64(bitPattern: handle.objectKey.rawValue)
    }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    /// The same for all accessors of an object; of an unmanaged one, for the instance.
    public var id: UInt64 { rowIdentity }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
    /// That of the object.
    public var id: UInt64 { rootObject.rowIdentity }
}
