// Enumerations and types of the program as types of properties.

public import CoreSwift

/// An enumeration with raw values that a realm can store them by.
///
/// ```swift
/// enum Color: String, PersistableEnum { case red, green }
/// class Car: Object { @Persisted var color: Color }
/// ```
///
/// The first case is the default. A stored value that is no case is misuse to read, or nil where the property
/// is optional.
public protocol PersistableEnum: RealmEnum, Comparable, MinMaxType {}

extension PersistableEnum {
    /// The first case.
    public init() { self = Self._rlmDefaultValue() }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What all enumerations have that can be stored, also those that are not `Comparable`: the older name.
public protocol RealmEnum: RawRepresentable, CaseIterable, Hashable, RealmOptionalType,
    _RealmCollectionValueInsideOptional
where RawValue: _RealmScalar & Comparable, PersistedType == RawValue {
    // What it follows from.
    associatedtype PersistedType = RawValue
}

extension RealmEnum {
    public static var _rlmShape: _PropertyShape { RawValue._rlmShape }
    public static func _rlmDefaultValue() -> Self {
        guard let first = allCases.first else { misuse("Enumeration '\(Self.self)' has no cases.") }
        return first
    }
    public static func _rlmFrom(_ raw: CoreSwift.RawValue, _ session: _RealmSession) -> Self {
        let value = RawValue._rlmFrom(raw, session)
        guard let found = Self(rawValue: value) else {
            misuse("Invalid value '\(value)' of type '\(RawValue.self)' for enum '\(Self.self)'.")
        }
        return found
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (CoreSwift.RawValue) -> R
    ) -> R {
        rawValue._rlmWithRaw(session, policy, body)
    }
    public static func _rlmConvert(_ value: Any) -> Self? {
        if let value = unwrapped(value) as? Self { return value }
        return RawValue._rlmConvert(value).flatMap { Self(rawValue: $0) }
    }
    public static func _rlmGetOptional(_ object: ObjectBase, _ key: Int64) -> Self? {
        let raw = object._rlmRead(key)
        return raw.isNull ? nil : Self(rawValue: RawValue._rlmFrom(raw, object._rlmSession))
    }
}

/// What types of the program have in common that are stored as other ones.
public protocol _CustomPersistable: _RealmCollectionValueInsideOptional
where PersistedType: _RealmCollectionValueInsideOptional {}

/// A type of the program that is stored as another one, with values that may not convert.
public protocol FailableCustomPersistable: _CustomPersistable, Hashable {
    // Again, so that it follows from the members.
    associatedtype PersistedType
    /// The value for what is stored; nil if there is none.
    init?(persistedValue: PersistedType)
    /// What is stored for the value.
    var persistableValue: PersistedType { get }
}

/// A type of the program that is stored as another one.
///
/// ```swift
/// struct Celsius: CustomPersistable {
///     var degrees: Double
///     init(persistedValue: Double) { degrees = persistedValue }
///     var persistableValue: Double { degrees }
/// }
/// ```
public protocol CustomPersistable: FailableCustomPersistable {
    init(persistedValue: PersistedType)
}

extension FailableCustomPersistable {
    /// That of what is stored.
    public func hash(into hasher: inout Hasher) { persistableValue.hash(into: &hasher) }

    public static var _rlmShape: _PropertyShape {
        var shape = PersistedType._rlmShape
        shape.isCustom = true
        return shape
    }

    // Those that are stored as embedded objects have one made for each value. One that is not there stands for
    // the default.

    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Self {
        guard PersistedType.self is EmbeddedObject.Type else {
            return _rlmFrom(object._rlmRead(key), object._rlmSession)
        }
        guard let stored = PersistedType._rlmGetOptional(object, key) else {
            return _rlmDefaultValue()
        }
        return from(stored)
    }
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self) {
        PersistedType._rlmSetOptional(object, key, value.persistableValue, .error)
    }
    public static func _rlmSetOptional(
        _ object: ObjectBase, _ key: Int64, _ value: Self?, _ policy: _AddingPolicy
    ) {
        PersistedType._rlmSetOptional(object, key, value?.persistableValue, policy)
    }
    public static func _rlmAdd(
        _ value: Self, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> Self? {
        PersistedType._rlmSetOptional(object, key, value.persistableValue, policy)
        return nil
    }

    private static func from(_ stored: PersistedType) -> Self {
        guard let value = Self(persistedValue: stored) else {
            misuse(
                "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a "
                    + "non-optional context.")
        }
        return value
    }

    public static func _rlmDefaultValue() -> Self {
        let stored = PersistedType._rlmDefaultValue()
        guard let value = Self(persistedValue: stored) else {
            misuse("Could not convert value '\(stored)' to type '\(Self.self)'.")
        }
        return value
    }
    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Self {
        from(PersistedType._rlmFrom(raw, session))
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        persistableValue._rlmWithRaw(session, policy, body)
    }
    public static func _rlmConvert(_ value: Any) -> Self? {
        if let value = unwrapped(value) as? Self { return value }
        return PersistedType._rlmConvert(value).flatMap { Self(persistedValue: $0) }
    }
    public static func _rlmGetOptional(_ object: ObjectBase, _ key: Int64) -> Self? {
        PersistedType._rlmGetOptional(object, key).flatMap { Self(persistedValue: $0) }
    }
}

/// The embedded object of an element: itself, or what a type of the program is stored as.
func embeddedForm<Element>(_ element: Element) -> EmbeddedObject? {
    guard let value = unwrapped(element) else { return nil }
    return value as? EmbeddedObject
        ?? (value as? any FailableCustomPersistable)?.persistableValue as? EmbeddedObject
}
