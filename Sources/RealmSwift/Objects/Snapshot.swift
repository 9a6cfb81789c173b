// Values of an object as they are now: a copy that any thread may have.

public import Foundation

/// A value in a `Snapshot`.
public indirect enum SnapshotValue: Sendable, Hashable, Codable {
    /// No value, or no object.
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
    /// An object id.
    case objectId(ObjectId)
    /// A decimal number.
    case decimal128(Decimal128)
    /// A UUID.
    case uuid(UUID)
    /// The elements of a list, or those of a set in its order.
    case list([SnapshotValue])
    /// The values of a map by key, or those of an embedded object by property.
    case dictionary([String: SnapshotValue])

    /// From the value of a property.
    fileprivate init(_ value: Any?) {
        guard let value = value.flatMap({ unwrapped($0) }) else {
            self = .none
            return
        }
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as any BinaryInteger: self = .int(Int(value))
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as Decimal128: self = .decimal128(value)
        case let value as UUID: self = .uuid(value)
        case let value as AnyRealmValue: self.init(value.content)
        case let value as any PersistableEnum: self.init(value.rawValue)
        case let value as any FailableCustomPersistable: self.init(value.persistableValue)
        case let value as EmbeddedObject: self = .dictionary(Self.members(value))
        case let value as ObjectBase: self.init(value.keyValue)
        case let value as any _ProjectionRoot: self.init(value._rlmRoot)
        case let value as any _AssignableCollection: self.init(content: value._rlmContent)
        default: misuse("Values of type '\(type(of: value))' have no snapshot.")
        }
    }

    private init(content: Any) {
        if let values = content as? [String: Any] {
            self = .dictionary(values.mapValues { SnapshotValue($0) })
        } else {
            self = .list((anyElements(content) ?? []).map { SnapshotValue($0) })
        }
    }

    /// The stored properties of an object by name, without those that others make: linking objects.
    static func members(_ object: ObjectBase) -> [String: SnapshotValue] {
        let names =
            object is DynamicObject
            ? object.objectSchema.properties.filter { $0.type != .linkingObjects }.map { $0.name }
            : object.classInfo.stored.map { $0.name }
        return Dictionary(
            names.map { ($0, SnapshotValue(object.value(forKey: $0))) },
            uniquingKeysWith: { a, _ in a })
    }

    /// In a form that all types of properties are made from.
    fileprivate var content: Any {
        switch self {
        case .none: NSNull()
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        case .list(let values): values.map { $0.content }
        case .dictionary(let values): values.mapValues { $0.content }
        }
    }
}

extension ObjectBase {
    /// The value of its primary key; nil of classes without one.
    fileprivate var keyValue: Any? {
        objectSchema.primaryKeyProperty.flatMap { value(forKey: $0.name) }
    }
}

/// The values of an object as they were when it was made: `let card = dog.snapshot()`. It may go to any thread, is
/// compared and hashed by its values, and is `Codable`.
///
/// Lists, sets and maps are whole, as are embedded objects. Of other objects that are linked to there are the primary
/// keys, nothing of those that have none.
@dynamicMemberLookup
public struct Snapshot<T: ObjectBase>: Sendable, Hashable, Codable {
    /// The values by the names of properties.
    public let values: [String: SnapshotValue]

    fileprivate init(_ object: ObjectBase) { values = SnapshotValue.members(object) }

    /// From what `encode` wrote.
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: SnapshotValue].self)
    }

    /// As an object with a value for each property.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    /// A value by the name of its property; nil where there is none of the name.
    public subscript(name: String) -> SnapshotValue? { values[name] }

    /// A value by its property: `card.name`. A collection or embedded object is one that no realm manages.
    public subscript<Value: _Persistable>(dynamicMember path: KeyPath<T, Value>) -> Value {
        let name = KeyPathNames.name(path)
        let found = values[name] ?? .none
        guard let value = Value._rlmConvert(found.content) else {
            misuse("The snapshot has no value of type '\(Value.self)' for '\(name)'.")
        }
        return value
    }
}

extension _ObservableObject {
    /// A copy of the values as they are now, which any thread may have.
    public func snapshot() -> Snapshot<Self> {
        _rlmCheckValid()
        return Snapshot(self)
    }
}
