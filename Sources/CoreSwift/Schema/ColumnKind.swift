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
        self == .mixed ? nil : (try? ColumnKind(self))?.valueType
    }
}

extension RawValue {
    /// The value that a required property has where nothing is said; null of links and mixed values, which are never
    /// required. `somewhere`: an address for texts, which have no bytes.
    static func zero(of kind: ColumnKind, _ somewhere: UnsafeRawPointer) -> RawValue {
        switch kind {
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .float: return .float(0)
        case .double: return .double(0)
        case .string: return .string(somewhere, 0)
        case .binary, .collection: return .binary(somewhere, 0)
        case .timestamp: return .timestamp(seconds: 0, nanoseconds: 0)
        case .decimal: return .decimal(.zero)
        case .objectId: return .objectId(.zero)
        case .uuid: return .uuid(.zero)
        case .link, .mixed: return .null
        }
    }
}
