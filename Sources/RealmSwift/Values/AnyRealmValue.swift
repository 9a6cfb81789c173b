// A value of any type that a realm can store.

public import CoreSwift
public import Foundation

/// A value of one of several types, in one property: `@Persisted var value: AnyRealmValue`.
///
/// Lists and dictionaries inside such values are read; they cannot be assigned yet.
public enum AnyRealmValue: Hashable {
    case none
    case int(Int)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case object(Object)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    case uuid(UUID)

    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    public var objectIdValue: ObjectId? {
        if case .objectId(let value) = self { value } else { nil }
    }
    public var decimal128Value: Decimal128? {
        if case .decimal128(let value) = self { value } else { nil }
    }
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

    /// The object, if it is of this class.
    public func object<T: Object>(_ objectType: T.Type) -> T? {
        if case .object(let value) = self { value as? T } else { nil }
    }

    /// The object with its properties by name.
    public var dynamicObject: DynamicObject? {
        guard case .object(let value) = self, let handle = value.handle, let session = value.session
        else { return nil }
        return session.accessor(handle.clone(), DynamicObject.self)
    }

    /// What is inside, nil for none.
    var content: Any? {
        switch self {
        case .none: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .object(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        }
    }
}

extension AnyRealmValue: RealmCollectionValue, _Indexable, SortableType,
    ExpressibleByNilLiteral
{
    public init(nilLiteral: ()) { self = .none }

    public static var _rlmShape: _PropertyShape { _PropertyShape(type: .mixed) }
    public static func _rlmDefaultValue() -> AnyRealmValue { .none }

    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> AnyRealmValue {
        if raw.isNull { return .none }
        switch ValueType(rawValue: raw.type) {
        case .int: return .int(._rlmFrom(raw, session))
        case .bool: return .bool(._rlmFrom(raw, session))
        case .float: return .float(._rlmFrom(raw, session))
        case .double: return .double(._rlmFrom(raw, session))
        case .string: return .string(._rlmFrom(raw, session))
        case .binary: return .data(._rlmFrom(raw, session))
        case .timestamp: return .date(._rlmFrom(raw, session))
        case .objectId: return .objectId(._rlmFrom(raw, session))
        case .decimal128: return .decimal128(._rlmFrom(raw, session))
        case .uuid: return .uuid(._rlmFrom(raw, session))
        case .link: return .object(Object._rlmFrom(raw, session))
        default:
            misuse(
                "Mixed value of type \(raw.type): collections in AnyRealmValue are not available yet."
            )
        }
    }

    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        switch self {
        case .none: body(.null)
        case .int(let value): value._rlmWithRaw(session, policy, body)
        case .bool(let value): value._rlmWithRaw(session, policy, body)
        case .float(let value): value._rlmWithRaw(session, policy, body)
        case .double(let value): value._rlmWithRaw(session, policy, body)
        case .string(let value): value._rlmWithRaw(session, policy, body)
        case .data(let value): value._rlmWithRaw(session, policy, body)
        case .date(let value): value._rlmWithRaw(session, policy, body)
        case .object(let value): value._rlmWithRaw(session, policy, body)
        case .objectId(let value): value._rlmWithRaw(session, policy, body)
        case .decimal128(let value): value._rlmWithRaw(session, policy, body)
        case .uuid(let value): value._rlmWithRaw(session, policy, body)
        }
    }

    public static func _rlmConvert(_ value: Any) -> AnyRealmValue? {
        guard let value = unwrapped(value) else { return AnyRealmValue.none }
        switch value {
        case let value as AnyRealmValue: return value
        case let value as Object: return .object(value)
        case let value as ObjectId: return .objectId(value)
        case let value as Decimal128: return .decimal128(value)
        default: break
        }
        // Swift's own types first: as? makes numbers of each other's.
        if let value = value as? String { return .string(value) }
        if type(of: value) == Bool.self, let flag = truthValue(value) { return .bool(flag) }
        if type(of: value) == Float.self, let float = value as? Float { return .float(float) }
        if type(of: value) == Double.self, let double = value as? Double { return .double(double) }
        if let number = integer(value) { return .int(Int(number)) }
        if let number = number(value) { return .double(number) }
        if let flag = truthValue(value) { return .bool(flag) }
        if let value = value as? Date { return .date(value) }
        if let value = value as? Data { return .data(value) }
        if let value = value as? UUID { return .uuid(value) }
        return nil
    }
}

extension _RealmSession {
    /// The value in the types of Swift; nil for null.
    func any(_ raw: RawValue) -> Any? {
        if !raw.isNull, raw.type == ValueType.link.rawValue {
            return DynamicObject._rlmFrom(raw, self)
        }
        return AnyRealmValue._rlmFrom(raw, self).content
    }
}
