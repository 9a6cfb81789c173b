// The wrapper of stored properties. Its accessors are inlined into the program, where the compiler folds
// the key paths away: what is left of a read of a managed integer is a test and one call.

import CoreSwift

/// Where the value of a `@Persisted` property is.
public enum _PersistedState<Value> {
    /// Nothing was read or assigned yet; with the flags of the declaration.
    case unset(UInt8)
    /// In an object that no realm manages.
    case unmanaged(Value, UInt8)
    /// In the realm, by the key of the property.
    case managed(Int64)
    /// A collection in the realm, once it was asked for.
    case collection(Int64, Value?)
    /// Reads note the property, by its number.
    case recording(Int)
}

extension _PersistedState {
    /// The flags of an unmanaged property.
    @inlinable @inline(__always)
    var plainFlags: UInt8? {
        switch self {
        case .unset(let flags), .unmanaged(_, let flags): flags
        default: nil
        }
    }
}

/// What a declaration says besides the type.
struct PersistedFlags {
    static let indexed: UInt8 = 1
    static let primaryKey: UInt8 = 2
    static let fullText: UInt8 = 4
    static let unicodeText: UInt8 = 8
}

/// Which words a full-text index has.
public enum FullTextIndex: Sendable {
    /// Those of Latin letters and digits, as the older library has them.
    case latin
    /// Those of all scripts.
    case unicode

    var flags: UInt8 {
        switch self {
        case .latin: PersistedFlags.fullText
        case .unicode: PersistedFlags.fullText | PersistedFlags.unicodeText
        }
    }
}

/// Makes a property of an `Object` or `EmbeddedObject` one that is stored in the realm.
///
/// ```swift
/// class Dog: Object {
///     @Persisted(primaryKey: true) var id: ObjectId
///     @Persisted var name = ""
///     @Persisted(indexed: true) var age: Int
///     @Persisted var owner: Person?
///     @Persisted var toys: List<String>
/// }
/// ```
///
/// Properties without a default value begin with zero, an empty text, a new `ObjectId` or `UUID`, the first
/// case of an enumeration, or nil. Other properties of the class are not stored.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    @usableFromInline var state: _PersistedState<Value>

    init(state: _PersistedState<Value>) { self.state = state }

    /// A property with the default value of its type.
    public init() { state = .unset(0) }

    /// A property with a default value.
    public init(wrappedValue value: Value) { state = .unmanaged(value, 0) }

    @available(
        *, unavailable, message: "@Persisted can only be used as a property on a Realm object"
    )
    public var wrappedValue: Value {
        get { fatalError("@Persisted outside of a class") }
        set { fatalError("@Persisted outside of a class") }
    }

    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance object: Owner,
        wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Persisted<Value>>
    ) -> Value {
        // The key paths are used nowhere but in brackets, or each access would make them: that takes as long as
        // the engine's part of it.
        @inline(__always) get {
            if case .managed(let key) = object[keyPath: storage].state {
                return Value._rlmGet(object, key)
            }
            // Inline as well: behind the call it would cost a hundred times as much.
            if case .unmanaged(let value, _) = object[keyPath: storage].state { return value }
            var wrapper = object[keyPath: storage]
            let value = wrapper.read(object)
            object[keyPath: storage] = wrapper
            return value
        }
        @inline(__always) set {
            if case .managed(let key) = object[keyPath: storage].state {
                Value._rlmSet(object, key, newValue)
            } else if !Value._rlmIsCollection, let flags = object[keyPath: storage].state.plainFlags
            {
                object[keyPath: storage].state = .unmanaged(newValue, flags)
            } else {
                var wrapper = object[keyPath: storage]
                wrapper.write(object, newValue)
                object[keyPath: storage] = wrapper
            }
        }
    }

    @inline(never) @usableFromInline
    mutating func read(_ object: ObjectBase) -> Value {
        switch state {
        case .unset(let flags):
            let value = Value._rlmDefaultValue()
            state = .unmanaged(value, flags)
            return value
        case .unmanaged(let value, _): return value
        case .managed(let key): return Value._rlmGet(object, key)
        case .collection(let key, let made):
            object._rlmCheckValid()
            if let made { return made }
            let value = Value._rlmGet(object, key)
            state = .collection(key, value)
            return value
        case .recording(let index):
            guard let recorder = object._rlmRecorder else { return Value._rlmDefaultValue() }
            recorder.note(object, index)
            return Value._rlmRecorded(recorder)
        }
    }

    @inline(never) @usableFromInline
    mutating func write(_ object: ObjectBase, _ value: Value) {
        switch state {
        case .unset(let flags):
            if Value._rlmIsCollection {
                state = .unmanaged(Value._rlmAssigned(Value._rlmDefaultValue(), value), flags)
            } else {
                state = .unmanaged(value, flags)
            }
        case .unmanaged(let old, let flags):
            state = .unmanaged(Value._rlmAssigned(old, value), flags)
        case .managed(let key), .collection(let key, _): Value._rlmSet(object, key, value)
        case .recording: misuse("Properties cannot be assigned while a key path is read.")
        }
    }
}

extension Persisted where Value.PersistedType: _Indexable {
    /// A property with an index: it makes queries for equality and ranges fast, and writes slower.
    public init(indexed: Bool) { state = .unset(indexed ? PersistedFlags.indexed : 0) }

    /// A property with an index and a default value.
    public init(wrappedValue: Value, indexed: Bool) {
        state = .unmanaged(wrappedValue, indexed ? PersistedFlags.indexed : 0)
    }
}

extension Persisted where Value.PersistedType: _QueryString {
    /// A text with an index of its words, for `matchesText` in queries.
    public init(fullText: FullTextIndex) { state = .unset(fullText.flags) }

    /// A text with an index of its words, and a default value.
    public init(wrappedValue: Value, fullText: FullTextIndex) {
        state = .unmanaged(wrappedValue, fullText.flags)
    }
}

extension Persisted where Value.PersistedType: _PrimaryKey {
    /// The property that identifies the objects of the class.
    public init(primaryKey: Bool) { state = .unset(primaryKey ? PersistedFlags.primaryKey : 0) }

    /// The property that identifies the objects of the class, with a default value.
    public init(wrappedValue: Value, primaryKey: Bool) {
        state = .unmanaged(wrappedValue, primaryKey ? PersistedFlags.primaryKey : 0)
    }
}

extension Persisted where Value: LinkingObjectsProtocol {
    /// The objects that link to this one through the named property of theirs.
    public init(originProperty: String) { state = .unmanaged(Value(origin: originProperty), 0) }
}

extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        state = .unmanaged(try decoder.decodeStored(Value.self), 0)
    }
}

extension Persisted: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        // Not by the value itself: the encoder may have a form of its own for it, as for dates.
        func write(_ value: Value) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
        switch state {
        case .unmanaged(let value, _): try write(value)
        case .unset: try write(Value._rlmDefaultValue())
        default:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only unmanaged Realm objects can be encoded using "
                        + "automatic Codable synthesis. You must explicitly define encode(to:) on "
                        + "your model class to support managed Realm objects."))
        }
    }
}

extension Decoder {
    /// A value in the decoder's form for it; null where that is a value.
    func decodeStored<T: Decodable>(_ type: T.Type) throws -> T {
        let container = try singleValueContainer()
        if container.decodeNil() {
            if let optional = type as? any ExpressibleByNilLiteral.Type,
                let none = optional.init(nilLiteral: ()) as? T
            {
                return none
            }
            throw DecodingError.typeMismatch(
                type,
                .init(codingPath: codingPath, debugDescription: "Cannot convert nil to \(type)"))
        }
        return try container.decode(type)
    }
}

/// A wrapper whose value may be nil, which it is where the key is missing that it is decoded from.
public protocol OptionalCodingWrapper {
    /// The type of the value.
    associatedtype WrappedType: ExpressibleByNilLiteral
    /// A wrapper of a value.
    init(wrappedValue: WrappedType)
}

extension Persisted: OptionalCodingWrapper where Value: ExpressibleByNilLiteral {}

extension KeyedDecodingContainer {
    /// A missing key of an optional property is nil.
    public func decode<T: Decodable & OptionalCodingWrapper>(
        _ type: T.Type, forKey key: Key
    ) throws -> T {
        try decodeIfPresent(type, forKey: key) ?? T(wrappedValue: nil)
    }
}

// MARK: - By address

/// A wrapper whose type is not known: what discovery, accessors and adding need of it. `at` is the address
/// of the wrapper in an instance.
protocol AnyPersisted {
    static var valueType: any _Persistable.Type { get }
    static func flags(_ at: UnsafeMutableRawPointer) -> UInt8
    static func origin(_ at: UnsafeMutableRawPointer) -> String?
    static func manage(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64)
    static func record(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ index: Int)
    static func get(_ object: ObjectBase, _ at: UnsafeMutableRawPointer) -> Any
    /// False for values that do not convert.
    static func set(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ value: Any) -> Bool
    /// Whether something was assigned, or read, or the declaration has a default.
    static func hasValue(_ at: UnsafeMutableRawPointer) -> Bool
    static func add(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64, _ policy: _AddingPolicy)
    /// The value before the object is managed, for its primary key.
    static func withRaw(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ session: _RealmSession,
        _ body: (RawValue) -> Void)
}

extension Persisted: AnyPersisted {
    static var valueType: any _Persistable.Type { Value.self }

    private static func wrapper(
        _ at: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<Persisted<Value>> {
        // The address comes from the runtime's description of the class, for exactly this type.
        at.assumingMemoryBound(to: Persisted<Value>.self)
    }

    static func flags(_ at: UnsafeMutableRawPointer) -> UInt8 {
        switch wrapper(at).pointee.state {
        case .unset(let flags), .unmanaged(_, let flags): flags
        default: 0
        }
    }

    static func origin(_ at: UnsafeMutableRawPointer) -> String? {
        guard case .unmanaged(let value, _) = wrapper(at).pointee.state,
            let linking = value as? any LinkingObjectsProtocol
        else { return nil }
        return linking.origin
    }

    static func manage(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64) {
        wrapper(at).pointee.state =
            Value._rlmIsCollection ? .collection(key, nil) : .managed(key)
    }

    static func record(_ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ index: Int) {
        wrapper(at).pointee.state = .recording(index)
    }

    static func get(_ object: ObjectBase, _ at: UnsafeMutableRawPointer) -> Any {
        wrapper(at).pointee.read(object)
    }

    static func set(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ value: Any
    ) -> Bool {
        Value._rlmSetAt(at, object, value)
    }

    static func hasValue(_ at: UnsafeMutableRawPointer) -> Bool {
        if case .unset = wrapper(at).pointee.state { return false }
        return true
    }

    static func add(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ key: Int64, _ policy: _AddingPolicy
    ) {
        Value._rlmAddAt(at, object, key, policy)
    }

    static func withRaw(
        _ object: ObjectBase, _ at: UnsafeMutableRawPointer, _ session: _RealmSession,
        _ body: (RawValue) -> Void
    ) {
        Value._rlmWithKeyAt(at, object, session, body)
    }
}
