// The types of properties as programs see them.

/// The type of a property, or of the elements of one that is a collection.
public enum PropertyType: Int, Sendable, CustomStringConvertible {
    /// Integers.
    case int = 0
    /// Truth values.
    case bool
    /// Text.
    case string
    /// Bytes.
    case data
    /// Dates.
    case date
    /// Numbers with a fraction, of 32 bits.
    case float
    /// Numbers with a fraction, of 64 bits.
    case double
    /// Links to objects.
    case object
    /// Objects that link here.
    case linkingObjects
    /// Values of any type.
    case any
    /// Object ids.
    case objectId
    /// Decimal numbers.
    case decimal128
    /// UUIDs.
    case UUID

    var engineType: EnginePropertyType {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .data: .binary
        case .date: .timestamp
        case .float: .float
        case .double: .double
        case .object: .object
        case .linkingObjects: .linkingObjects
        case .any: .mixed
        case .objectId: .objectId
        case .decimal128: .decimal128
        case .UUID: .uuid
        }
    }

    init(_ type: EnginePropertyType) {
        let all = (0...PropertyType.UUID.rawValue).lazy.compactMap { PropertyType(rawValue: $0) }
        // Each type of the engine has one.
        self = all.first { $0.engineType == type } ?? .any
    }

    /// The name that realm-swift's messages have for the type.
    public var description: String {
        switch self {
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .float: "float"
        case .double: "double"
        case .object: "object"
        case .linkingObjects: "linking objects"
        case .any: "mixed"
        case .objectId: "object id"
        case .decimal128: "decimal128"
        case .UUID: "uuid"
        }
    }
}
