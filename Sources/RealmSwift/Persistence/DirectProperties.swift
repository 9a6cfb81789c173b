// Properties that are stored without a wrapper, as programs for older versions of realm-swift declare them:
// `let dogs = List<Dog>()`, `let age = RealmOptional<Int>()`, `let owners = LinkingObjects(fromType: …)`.
// What such a property holds is an object, which learns from the object it belongs to where it is stored.

import CoreSwift
import Foundation

/// A model class whose collections, `RealmOptional`, `RealmProperty` and `LinkingObjects` are stored although
/// they have no wrapper. What needs a wrapper are values: `@objc dynamic var name = ""` becomes
/// `@Persisted var name = ""`.
///
/// ```swift
/// class Person: Object, LegacyDeclarations {
///     @Persisted var name = ""
///     let age = RealmOptional<Int>()
///     let dogs = List<Dog>()
///     override static func primaryKey() -> String? { "name" }
/// }
/// ```
///
/// A class without any `@Persisted` needs no conformance.
public protocol LegacyDeclarations: ObjectBase {}

/// A property without a wrapper. `at` is the address of its value in an instance.
protocol DirectProperty: AnyPersisted {}

extension DirectProperty {
    static func flags(_ at: UnsafeMutableRawPointer) -> UInt8 { 0 }
    static func origin(_ at: UnsafeMutableRawPointer) -> String? { nil }
    /// Of a constant: it is never without a value.
    static func hasValue(_ at: UnsafeMutableRawPointer) -> Bool { true }

    /// What the property holds. The address comes from the runtime's description of the class, for exactly this
    /// type.
    fileprivate static func held(_ at: UnsafeMutableRawPointer) -> Self {
        at.assumingMemoryBound(to: Self.self).pointee
    }
}

// MARK: - Collections

/// A collection that is itself what a property holds.
protocol DirectCollection: DirectProperty, _StoredCollection {
    /// Its elements note the properties that are read.
    func becomes(recording recorder: _Recorder)
}

extension DirectCollection {
    static var valueType: any _Persistable.Type { Self.self }

    static func manage(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64) {
        if key != -1 { held(at)._rlmBecome(_ManagedCollection(object, key, _rlmType)) }
    }

    static func record(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ index: Int) {
        if let recorder = object._rlmRecorder { held(at).becomes(recording: recorder) }
    }

    static func get(_ object: ObjectBase, _ at: UnsafeMutableRawPointer) -> Any { held(at) }

    static func set(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ value: Any) -> Bool {
        let collection = held(at)
        if let other = unwrapped(value) as AnyObject?, other === collection { return true }
        return collection._rlmAssign(value, .all)
    }

    static func add(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64, _ policy: _AddingPolicy
    ) {
        _ = _rlmAdd(held(at), object, key, policy)
    }

    static func withRaw(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ session: _RealmSession,
        _ body: (RawValue) -> Void
    ) { misuse("A value of type '\(Self.self)' is no primary key.") }
}

extension List: AnyPersisted, DirectProperty, DirectCollection {
    func becomes(recording recorder: _Recorder) { backing = .recording(recorder) }
}

extension MutableSet: AnyPersisted, DirectProperty, DirectCollection {
    func becomes(recording recorder: _Recorder) { backing = .recording(recorder) }
}

extension Map: AnyPersisted, DirectProperty, DirectCollection {
    func becomes(recording recorder: _Recorder) { backing = .recording(recorder) }
}

// MARK: - Values

/// A type that `RealmOptional` can have: numbers and `Bool`.
public protocol RealmOptionalType: _PersistableInsideOptional, RealmCollectionValue {}

extension RealmOptionalType {
    /// That of the objects that it stands for: none.
    public static func className() -> String { "" }
}

extension Bool: RealmOptionalType {}
extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}

/// A type that `RealmProperty` can have: optional numbers and `Bool`, optional enumerations, `AnyRealmValue`.
public protocol RealmPropertyType: _Persistable {}

extension Optional: RealmPropertyType where Wrapped: _PersistableInsideOptional {}
extension AnyRealmValue: RealmPropertyType {}

/// A value in an object of its own, which a property holds.
protocol DirectValue: DirectProperty, AnyObject {
    associatedtype Stored: _Persistable
    var storage: DirectStorage<Stored> { get }
}

/// Where the value of a `RealmOptional` or `RealmProperty` is.
final class DirectStorage<Stored: _Persistable> {
    var wrapper = Persisted<Stored>()
    /// Of managed ones: the object that it belongs to, which programs may have let go of.
    private var managed: ObjectBase?
    /// Of those that note reads.
    private weak var recording: ObjectBase?

    init(_ value: Stored) { wrapper = Persisted(wrappedValue: value) }

    /// An unmanaged value needs no object; any will do.
    private var object: ObjectBase { managed ?? recording ?? ObjectBase() }

    var value: Stored {
        get { wrapper.read(object) }
        set { wrapper.write(object, newValue) }
    }

    func belongs(to object: ObjectBase) {
        if object.slot == nil { recording = object } else { managed = object.counterpart() }
    }
}

extension ObjectBase {
    /// Another accessor for a managed object, without properties: it may be held by what this one holds.
    fileprivate func counterpart() -> ObjectBase {
        let other = ObjectBase()
        other.slot = handle?.clone().slot
        other.plan = plan
        other.session = session
        return other
    }
}

extension DirectValue {
    static var valueType: any _Persistable.Type { Stored.self }

    private static func call<R>(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer,
        _ body: (UnsafeMutableRawPointer) -> R
    ) -> R {
        let storage = held(at).storage
        return withUnsafeMutablePointer(to: &storage.wrapper) { body(UnsafeMutableRawPointer($0)) }
    }

    static func manage(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64) {
        if key == -1 { return }
        held(at).storage.belongs(to: object)
        call(object, at) { Persisted<Stored>.manage(object, $0, key) }
    }
    static func record(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ index: Int) {
        held(at).storage.belongs(to: object)
        call(object, at) { Persisted<Stored>.record(object, $0, index) }
    }
    static func get(_ object: ObjectBase, _ at: UnsafeMutableRawPointer) -> Any {
        call(object, at) { Persisted<Stored>.get(object, $0) }
    }
    static func set(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ value: Any) -> Bool {
        call(object, at) { Persisted<Stored>.set(object, $0, value) }
    }
    static func add(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64, _ policy: _AddingPolicy
    ) {
        call(object, at) { Persisted<Stored>.add(object, $0, key, policy) }
        held(at).storage.belongs(to: object)
    }
    static func withRaw(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ session: _RealmSession,
        _ body: (RawValue) -> Void
    ) {
        call(object, at) { Persisted<Stored>.withRaw(object, $0, session, body) }
    }
}

/// An optional number or `Bool` as older versions declare it: `let age = RealmOptional<Int>()`, and then
/// `person.age.value = 28`. Today it is `@Persisted var age: Int?`.
public final class RealmOptional<Value: RealmOptionalType>: DirectValue {
    let storage: DirectStorage<Value?>

    /// One with a value, or with none.
    public init(_ value: Value? = nil) { storage = DirectStorage(value) }

    /// The value, in the realm once the object is managed.
    public var value: Value? {
        get { storage.value }
        set { storage.value = newValue }
    }
}

/// A value of a property as older versions declare it: `let age = RealmProperty<Int?>()`, and then
/// `person.age.value = 28`. Today it is `@Persisted var age: Int?`.
public final class RealmProperty<Value: RealmPropertyType>: DirectValue {
    let storage: DirectStorage<Value>

    /// One with the default value of the type.
    public init() { storage = DirectStorage(Value._rlmDefaultValue()) }
    /// One with a value.
    public convenience init(_ value: Value) {
        self.init()
        storage.value = value
    }

    /// The value, in the realm once the object is managed.
    public var value: Value {
        get { storage.value }
        set { storage.value = newValue }
    }
}

extension RealmProperty: CustomStringConvertible {
    /// The value.
    public var description: String { String(describing: value) }
}

extension RealmOptional: Equatable {
    public static func == (a: RealmOptional, b: RealmOptional) -> Bool { a.value == b.value }
}

extension RealmProperty: Equatable where Value: Equatable {
    public static func == (a: RealmProperty, b: RealmProperty) -> Bool { a.value == b.value }
}

extension RealmOptional: Decodable where Value: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.decodeStored(Value?.self))
    }
}

extension RealmOptional: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension RealmProperty: Decodable where Value: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.decodeStored(Value.self))
    }
}

extension RealmProperty: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

@available(*, unavailable)
extension RealmOptional: @unchecked Sendable {}
@available(*, unavailable)
extension RealmProperty: @unchecked Sendable {}

// MARK: - Linking objects

/// Which object linking objects that have no wrapper belong to. They are found when they are asked for first.
final class DirectLinks {
    var owner: ObjectBase?
    var key: Int64 = -1
    var source: _ElementSource?
}

extension LinkingObjects: AnyPersisted, DirectProperty {
    static var valueType: any _Persistable.Type { Self.self }
    static func origin(_ at: UnsafeMutableRawPointer) -> String? { held(at).origin }

    static func manage(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64) {
        guard let links = held(at).direct else { return }
        links.owner = object.counterpart()
        links.key = key
        links.source = nil
    }
    static func record(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ index: Int) {}
    static func get(_ object: ObjectBase, _ at: UnsafeMutableRawPointer) -> Any { held(at) }
    static func set(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ value: Any) -> Bool {
        misuse("Linking objects properties are read only.")
    }
    static func add(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64, _ policy: _AddingPolicy
    ) {
        manage(object, at, key)
    }
    static func withRaw(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ session: _RealmSession,
        _ body: (RawValue) -> Void
    ) { misuse("A value of type '\(Self.self)' is no primary key.") }
}
