// Kinds of columns: how the values of a property are stored. What leaves, indexes and queries
// agree on; a property's collections and nullability are not part of it.

/// How values of a column are held.
enum ColumnKind: UInt8 {
    case int
    case bool
    case float
    case double
    case string
    case binary
    case timestamp
    case link

    init(_ type: PropertyType) throws(RealmError) {
        switch type {
        case .int: self = .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .object: self = .link
        default:
            throw RealmError(.notSupported, "properties of type \(type) are not supported yet")
        }
    }

    /// The `ValueType` that a non-null value of the column has.
    var valueType: ValueType {
        switch self {
        case .int: return .int
        case .bool: return .bool
        case .float: return .float
        case .double: return .double
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .link: return .link
        }
    }

    /// Bytes per row of a decoded column.
    var openWidth: Int {
        switch self {
        case .bool: return 1
        case .float: return 4
        default: return 8
        }
    }
    var isText: Bool { self == .string || self == .binary }
}
