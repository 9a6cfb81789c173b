// A value of any type that a realm can store.

public import CoreSwift
public import Foundation

/// A value of one of several types, in one property: `@Persisted var value: AnyRealmValue`.
///
/// It can also be a list or a dictionary of such values; these are live where the value is in a realm:
/// `it.value = .fromArray([.int(1)])`, then `it.value.listValue?.append(.string("x"))`.
public enum AnyRealmValue: Hashable {
    /// No value.
    case none
    /// An integer.
    case int(Int)
    /// A truth value.
    case bool(Bool)
    /// A number with a fraction, of 32 bits.
    case float(Float)
    /// A number with a fraction, of 64 bits.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A date.
    case date(Date)
    /// An object of any class.
    case object(Object)
    /// An object id.
    case objectId(ObjectId)
    /// A decimal number.
    case decimal128(Decimal128)
    /// A UUID.
    case uuid(UUID)
    /// Values by key.
    case dictionary(Map<String, AnyRealmValue>)
    /// Values in an order.
    case list(List<AnyRealmValue>)

    /// A list of values.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
        .list(List(objectsIn: array))
    }

    /// A dictionary of values.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        .dictionary(Map(.plain(dictionary)))
    }

    /// The list; nil for values of other types.
    public var listValue: List<AnyRealmValue>? {
        if case .list(let value) = self { value } else { nil }
    }
    /// The dictionary; nil for values of other types.
    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }
    /// The integer; nil for values of other types.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    /// The truth value; nil for values of other types.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number; nil for values of other types.
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    /// The number; nil for values of other types.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The text; nil for values of other types.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The bytes; nil for values of other types.
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    /// The date; nil for values of other types.
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    /// The object id; nil for values of other types.
    public var objectIdValue: ObjectId? {
        if case .objectId(let value) = self { value } else { nil }
    }
    /// The decimal number; nil for values of other types.
    public var decimal128Value: Decimal128? {
        if case .decimal128(let value) = self { value } else { nil }
    }
    /// The UUID; nil for values of other types.
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
        case .dictionary(let value): value
        case .list(let value): value
        }
    }
}

extension AnyRealmValue: RealmCollectionValue, _Indexable, SortableType, MinMaxType, AddableType,
    _QueryNumeric, ExpressibleByNilLiteral
{
    public typealias PersistedType = AnyRealmValue

    /// No value.
    public init() { self = .none }

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
            // Where collections can be, they are made with their place: `init(nested:)`.
            misuse("Mixed value of type \(raw.type) cannot be read here.")
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
        // An empty one, which `fill` fills where it is.
        case .dictionary: body(.nested(.dictionary))
        case .list: body(.nested(.list))
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
        if let values = value as? [String: Any] {
            let all = values.compactMapValues { _rlmConvert($0) }
            return all.count == values.count ? .fromDictionary(all) : nil
        }
        if let values = value as? Map<String, AnyRealmValue> { return .dictionary(values) }
        if let values = value as? List<AnyRealmValue> { return .list(values) }
        if let values = anyElements(value) {
            let all = values.compactMap { _rlmConvert($0) }
            return all.count == values.count ? .fromArray(all) : nil
        }
        return nil
    }
}

// MARK: - Lists and dictionaries

extension AnyRealmValue {
    /// The collection that an element or a property is.
    init(nested collection: _ManagedCollection) {
        self =
            collection.core.type == .dictionary
            ? .dictionary(Map(.managed(collection))) : .list(List(.managed(collection)))
    }

    private var nestedType: CollectionType? {
        switch self {
        case .list: .list
        case .dictionary: .dictionary
        default: nil
        }
    }

    /// Puts the elements into the collection that was made for them.
    func fill(_ policy: _AddingPolicy, _ place: (CollectionType) -> _ManagedCollection) {
        guard let type = nestedType else { return }
        switch self {
        case .list(let value):
            _ = List<AnyRealmValue>(.managed(place(type)))._rlmAssign(Array(value), policy)
        case .dictionary(let value):
            let values = Dictionary(
                value.map { ($0.key, $0.value) }, uniquingKeysWith: { _, b in b })
            _ = Map<String, AnyRealmValue>(.managed(place(type)))._rlmAssign(values, policy)
        default: break
        }
    }

    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> AnyRealmValue {
        let raw = object._rlmRead(key)
        guard let type = raw.nestedType else { return _rlmFrom(raw, object._rlmSession) }
        return AnyRealmValue(nested: _ManagedCollection(object, key, type))
    }

    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: AnyRealmValue) {
        _ = _rlmAdd(value, object, key, .error)
    }

    public static func _rlmAdd(
        _ value: AnyRealmValue, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> AnyRealmValue? {
        // What is assigned may be the collection that is there, or a part of it.
        let value = value.detached
        value._rlmWithRaw(object._rlmSession, policy) { object._rlmWrite(key, $0, policy) }
        value.fill(policy) { _ManagedCollection(object, key, $0) }
        return nil
    }

    /// The same with collections that no realm manages.
    var detached: AnyRealmValue {
        switch self {
        case .list(let value): .fromArray(value.map { $0.detached })
        case .dictionary(let value):
            .fromDictionary(
                Dictionary(
                    value.map { ($0.key, $0.value.detached) }, uniquingKeysWith: { _, b in b }))
        default: self
        }
    }
}

extension AnyRealmValue {
    /// Whether it is a list or dictionary of a realm, or has one in it.
    private var holdsManaged: Bool {
        switch self {
        case .list(let value):
            return value._rlmManaged != nil || value.contains { $0.holdsManaged }
        case .dictionary(let value):
            return value._rlmManaged != nil || value.contains { $0.value.holdsManaged }
        default: return false
        }
    }

    /// Elements as they are before anything is written: what is written may be in the place of lists and dictionaries
    /// of theirs.
    @inline(__always)
    static func settled<Element>(_ element: Element) -> Element {
        guard Element.self == AnyRealmValue.self, let value = element as? AnyRealmValue,
            value.holdsManaged, let settled = value.detached as? Element
        else { return element }
        return settled
    }

    static func settled<Element>(_ elements: [Element]) -> [Element] {
        Element.self == AnyRealmValue.self ? elements.map { settled($0) } : elements
    }
}

extension _ManagedCollection {
    /// The element where it is a list or dictionary.
    @inline(__always)
    func nested<Element>(_ raw: RawValue, _ index: Int) -> Element? {
        guard raw.type >= ValueType.list.rawValue, let type = raw.nestedType else {
            return nil
        }
        let found = call(try core.nested(index, type))
        return AnyRealmValue(nested: _ManagedCollection(found, session)) as? Element
    }

    /// Fills an element that was written as an empty list or dictionary.
    @inline(__always)
    func fill<Element>(_ element: Element, _ index: Int, _ policy: _AddingPolicy) {
        guard Element.self == AnyRealmValue.self, let value = element as? AnyRealmValue else {
            return
        }
        value.fill(policy) { type in
            _ManagedCollection(
                call { () throws(RealmError) in try core.nested(index, type) }, session)
        }
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
