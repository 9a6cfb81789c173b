// What a type must offer to be the type of a property or of the elements of a collection. The names with
// an underscore are no API: the compiler needs them to be public.

public import CoreSwift
public import Foundation

/// The type of a property as the file has it.
public struct _PropertyShape {
    var type: EnginePropertyType
    var isOptional = false
    var collection = CollectionType.none
    /// Of links and linking objects: the class at the other end.
    var target: ObjectBase.Type?
    /// Of dictionaries with keys of another type than text.
    var name = ""

    /// A type of the program stands for it.
    var isCustom = false

    var isEmbedded: Bool { target is EmbeddedObject.Type }
    var isLink: Bool { type == .object }
    var isComputed: Bool { type == .linkingObjects }

    func inside(_ collection: CollectionType) -> _PropertyShape {
        var shape = self
        shape.collection = collection
        return shape
    }
    var asOptional: _PropertyShape {
        var shape = self
        shape.isOptional = true
        return shape
    }
}

/// How objects of a graph that is added are treated where one with their primary key is there.
public enum _AddingPolicy: Sendable {
    case error, modified, all
}

/// What is stored as a value of this or of another type.
public protocol _HasPersistedType {
    /// What is stored: the type itself, the raw values of an enumeration, or what a type of the program names.
    associatedtype PersistedType
    /// The value that something of any type stands for; nil if it stands for none.
    static func _rlmConvert(_ value: Any) -> Self?
}

// What sums and the like are wanted as by programs that know no other types.

extension NSNumber: _HasPersistedType, MinMaxType, AddableType {
    public typealias PersistedType = NSNumber
    public static func _rlmConvert(_ value: Any) -> Self? {
        unwrapped(value).flatMap { $0 as? NSNumber } as? Self
    }
}

extension NSDate: _HasPersistedType, MinMaxType {
    public typealias PersistedType = NSDate
    public static func _rlmConvert(_ value: Any) -> Self? {
        unwrapped(value).flatMap { $0 as? NSDate } as? Self
    }
}

/// A type that a `@Persisted` property can have.
public protocol _Persistable: _HasPersistedType {
    static var _rlmShape: _PropertyShape { get }
    /// Collections are kept by the wrapper once they were made, and are filled, not replaced, when
    /// something is assigned.
    static var _rlmIsCollection: Bool { get }
    static func _rlmDefaultValue() -> Self
    static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Self
    static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self)
    /// What an unmanaged property holds after an assignment.
    static func _rlmAssigned(_ old: Self, _ new: Self) -> Self
    /// What a property gives while a key path is being traced.
    static func _rlmRecorded(_ recorder: _Recorder) -> Self
    /// Writes the value of an object that becomes managed. Returns the value that the wrapper keeps,
    /// of collections.
    static func _rlmAdd(
        _ value: Self, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> Self?
    /// Calls the block with the file's form of a value that is a primary key.
    static func _rlmWithKey<R>(
        _ value: Self, _ session: _RealmSession, _ body: (RawValue) -> R
    ) -> R
    // The same by the address of the wrapper. They are requirements so that the types of this module have
    // code of their own for them: what is generic asks the runtime for types, which takes most of an `add`.
    static func _rlmAddAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy)
    static func _rlmWithKeyAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ session: _RealmSession,
        _ body: (RawValue) -> Void)
    /// False for a value that does not convert.
    static func _rlmSetAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ value: Any
    ) -> Bool
}

extension _Persistable {
    public static func _rlmSetAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ value: Any
    ) -> Bool {
        guard let value = _rlmConvert(value) else { return false }
        at.assumingMemoryBound(to: Persisted<Self>.self).pointee.write(object, value)
        return true
    }
    public static func _rlmWithKey<R>(
        _ value: Self, _ session: _RealmSession, _ body: (RawValue) -> R
    ) -> R { misuse("A value of type '\(Self.self)' is no primary key.") }
    public static func _rlmAddAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) {
        let wrapper = at.assumingMemoryBound(to: Persisted<Self>.self)
        let value = wrapper.pointee.read(object)
        // Before the value is written: it may lead back to this object.
        wrapper.pointee.state = _rlmIsCollection ? .collection(key, nil) : .managed(key)
        let kept = _rlmAdd(value, object, key, policy)
        if _rlmIsCollection { wrapper.pointee.state = .collection(key, kept) }
    }
    public static func _rlmWithKeyAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ session: _RealmSession,
        _ body: (RawValue) -> Void
    ) {
        let wrapper = at.assumingMemoryBound(to: Persisted<Self>.self)
        _rlmWithKey(wrapper.pointee.read(object), session, body)
    }
    public static var _rlmIsCollection: Bool { @inlinable get { false } }
    @inlinable public static func _rlmAssigned(_ old: Self, _ new: Self) -> Self { new }
    public static func _rlmRecorded(_ recorder: _Recorder) -> Self { _rlmDefaultValue() }
}

/// A type that the elements of a `List`, `MutableSet`, `Map` or of `Results` can have.
public protocol RealmCollectionValue: _Persistable, Hashable {
    /// The value from the file's form.
    static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Self
    /// Calls the block with the file's form; objects that are not managed are added to the realm.
    func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R
    /// An element of results.
    static func _rlmElement(_ source: _ElementSource, _ index: Int) -> Self
    /// The same for iterations: `last` is the accessor given before.
    static func _rlmElement(
        _ source: _ElementSource, _ index: Int, _ last: inout ObjectBase?
    ) -> Self
}

extension RealmCollectionValue {
    public static func _rlmWithKey<R>(
        _ value: Self, _ session: _RealmSession, _ body: (RawValue) -> R
    ) -> R { value._rlmWithRaw(session, .error, body) }

    public static func _rlmElement(
        _ source: _ElementSource, _ index: Int, _ last: inout ObjectBase?
    ) -> Self { _rlmElement(source, index) }

    public static func _rlmElement(_ source: _ElementSource, _ index: Int) -> Self {
        let raw = source.raw(index)
        return source.nested(raw, index) ?? _rlmFrom(raw, source.session)
    }

    @inlinable
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Self {
        _rlmFrom(object._rlmRead(key), object._rlmSession)
    }

    @inlinable
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self) {
        value._rlmWithRaw(object._rlmSession, .error) { object._rlmWrite(key, $0) }
    }

    public static func _rlmAdd(
        _ value: Self, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> Self? {
        value._rlmWithRaw(object._rlmSession, policy) { object._rlmWrite(key, $0, policy) }
        return nil
    }
}

/// A type whose optional a property can have.
public protocol _PersistableInsideOptional: _Persistable {
    static func _rlmGetOptional(_ object: ObjectBase, _ key: Int64) -> Self?
    static func _rlmSetOptional(
        _ object: ObjectBase, _ key: Int64, _ value: Self?, _ policy: _AddingPolicy)
    static func _rlmRecordedOptional(_ recorder: _Recorder) -> Self?
    /// `_rlmAddAt` of the optional.
    static func _rlmAddOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy)
    /// `_rlmSetAt` of the optional.
    static func _rlmSetOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ value: Any
    ) -> Bool
}

extension _PersistableInsideOptional {
    public static func _rlmSetOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ value: Any
    ) -> Bool {
        var converted: Self?
        if !isNull(value) {
            guard let made = _rlmConvert(value) else { return false }
            converted = made
        }
        at.assumingMemoryBound(to: Persisted<Self?>.self).pointee.write(object, converted)
        return true
    }
    public static func _rlmRecordedOptional(_ recorder: _Recorder) -> Self? { nil }
    public static func _rlmAddOptionalAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) {
        let wrapper = at.assumingMemoryBound(to: Persisted<Self?>.self)
        let value = wrapper.pointee.read(object)
        wrapper.pointee.state = .managed(key)
        _rlmSetOptional(object, key, value, policy)
    }
}

/// A type whose optional can be an element of a collection.
public protocol _RealmCollectionValueInsideOptional:
    _PersistableInsideOptional, RealmCollectionValue
{}

extension _PersistableInsideOptional where Self: RealmCollectionValue {
    @inlinable
    public static func _rlmGetOptional(_ object: ObjectBase, _ key: Int64) -> Self? {
        let raw = object._rlmRead(key)
        return raw.type == 0 ? nil : _rlmFrom(raw, object._rlmSession)
    }

    @inlinable
    public static func _rlmSetOptional(
        _ object: ObjectBase, _ key: Int64, _ value: Self?, _ policy: _AddingPolicy
    ) {
        if let value {
            value._rlmWithRaw(object._rlmSession, policy) { object._rlmWrite(key, $0, policy) }
        } else {
            object._rlmWrite(key, _rlmNull, policy)
        }
    }
}

/// Null in the file's form.
@usableFromInline var _rlmNull: RawValue { .null }

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
    public typealias PersistedType = Wrapped.PersistedType?

    public static func _rlmConvert(_ value: Any) -> Wrapped?? {
        if isNull(value) { return .some(nil) }
        if let wrapped = Wrapped._rlmConvert(value) { return .some(wrapped) }
        return nil
    }
}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
    public static var _rlmShape: _PropertyShape { Wrapped._rlmShape.asOptional }
    public static func _rlmDefaultValue() -> Wrapped? { nil }

    @inlinable
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Wrapped? {
        Wrapped._rlmGetOptional(object, key)
    }
    @inlinable
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Wrapped?) {
        Wrapped._rlmSetOptional(object, key, value, .error)
    }
    public static func _rlmAddAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) {
        Wrapped._rlmAddOptionalAt(at, object, key, policy)
    }
    public static func _rlmSetAt(
        _ at: UnsafeMutableRawPointer, _ object: ObjectBase, _ value: Any
    ) -> Bool { Wrapped._rlmSetOptionalAt(at, object, value) }
    public static func _rlmAdd(
        _ value: Wrapped?, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> Wrapped?? {
        Wrapped._rlmSetOptional(object, key, value, policy)
        return .some(nil)
    }
    public static func _rlmWithKey<R>(
        _ value: Wrapped?, _ session: _RealmSession, _ body: (RawValue) -> R
    ) -> R {
        guard let value else { return body(.null) }
        return Wrapped._rlmWithKey(value, session, body)
    }
    public static func _rlmRecorded(_ recorder: _Recorder) -> Wrapped? {
        Wrapped._rlmRecordedOptional(recorder)
    }
}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Wrapped? {
        raw.isNull ? nil : Wrapped._rlmFrom(raw, session)
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        guard let self else { return body(.null) }
        return self._rlmWithRaw(session, policy, body)
    }
    // Both ancestors have these; those of the wrapped type count.
    @inlinable
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Wrapped? {
        Wrapped._rlmGetOptional(object, key)
    }
    @inlinable
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Wrapped?) {
        Wrapped._rlmSetOptional(object, key, value, .error)
    }
}

/// Whether something of any type is null: `NSNull`, or an optional that is nil, also of several levels.
func isNull(_ value: Any) -> Bool { unwrapped(value) == nil }

/// What is inside optionals; nil for null.
func unwrapped(_ value: Any) -> Any? {
    let kind = type(of: value)
    if isPlain(kind) { return value }
    if kind == NSNull.self { return nil }
    guard let optional = value as? any AnyOptional else { return value }
    return optional.content.flatMap { unwrapped($0) }
}

/// The object that a value is.
func object(_ value: Any) -> ObjectBase? {
    isPlain(type(of: value)) ? nil : unwrapped(value) as? ObjectBase
}

/// The commonest types that are neither optional nor classes: a look at the type spares casts, for which Swift
/// values are first made objects of Foundation.
func isPlain(_ kind: Any.Type) -> Bool {
    kind == String.self || kind == Int.self || kind == Double.self || kind == Bool.self
        || kind == [String: Any].self || kind == [Any].self || kind == Date.self
        || kind == Data.self
}

private protocol AnyOptional {
    var content: Any? { get }
}
extension Optional: AnyOptional {
    fileprivate var content: Any? { self }
}

// Which types can be what: a program with a combination that is not allowed does not compile.

/// A type that a primary key can have.
public protocol _PrimaryKey {}
/// A type that an indexed property can have.
public protocol _Indexable {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}

/// A type whose collections have a minimum and a maximum.
public protocol MinMaxType {}
/// A type whose collections have a sum and an average.
public protocol AddableType {}
/// A type by whose values collections can be sorted.
public protocol SortableType {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}

/// A type that queries compare by size.
public protocol _QueryNumeric {}
/// A type that queries compare as text.
public protocol _QueryString: _QueryBinary {}
/// A type that queries compare as bytes: text and data.
public protocol _QueryBinary {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryString where Wrapped: _QueryString {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}

/// A type that the keys of a `Map` can have: text.
public protocol _MapKey: Hashable, RealmCollectionValue {}
