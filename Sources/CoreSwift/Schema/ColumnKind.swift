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
    case decimal
    case objectId
    case uuid
    /// A value of any type, encoded into bytes (`MixedCell`).
    case mixed
    /// A list, set or dictionary: the column holds cells (`CollectionCell`), not values.
    case collection

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
        case .decimal128: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .mixed: self = .mixed
        case .linkingObjects:
            throw RealmError(.notSupported, "properties of type \(type) are not stored")
        }
    }

    /// The `ValueType` that a non-null value of the column has; null for mixed columns, whose
    /// values are of any type.
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
        case .decimal: return .decimal128
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .mixed: return .null
        case .collection: return .list
        }
    }

    /// Bytes per row of a decoded column.
    var openWidth: Int {
        switch self {
        case .bool: return 1
        case .float: return 4
        case .objectId: return 12
        case .decimal, .uuid: return 16
        default: return 8
        }
    }
    /// Values are strings or binaries: their bytes are the value.
    @inline(__always) var isText: Bool { self == .string || self == .binary }
    /// Values are bytes of any length in a heap.
    @inline(__always) var hasHeap: Bool { isText || self == .mixed || self == .collection }
    /// Values are strings or binaries, or may be some.
    var holdsText: Bool { isText || self == .mixed }
    /// Values are links, or may be some: the column has an inverse index.
    @inline(__always) var holdsLinks: Bool { self == .link || self == .mixed }
}

extension PropertyType {
    /// The `ValueType` that a non-null value of the property has; nil for mixed properties, whose
    /// values are of any type, and those that are not stored.
    var valueType: ValueType? {
        switch self {
        case .int: return .int
        case .bool: return .bool
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .float: return .float
        case .double: return .double
        case .decimal128: return .decimal128
        case .object: return .link
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .mixed, .linkingObjects: return nil
        }
    }
}
