// The static types of operands.

/// The static type of an operand.
enum OperandKind: UInt8 {
    case null, int, bool, float, double, string, binary, timestamp, link
    case decimal, objectId, uuid, mixed
    /// A set of types, of `@type`: bits of `TypeSet`.
    case type

    init(_ kind: ColumnKind) {
        switch kind {
        case .int: self = .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .link: self = .link
        case .decimal: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .mixed, .collection: self = .mixed
        }
    }

    var isNumeric: Bool {
        self == .int || self == .float || self == .double || self == .decimal
    }
    var isText: Bool { self == .string || self == .binary }
    var holdsText: Bool { isText || self == .mixed }

    /// The type word of messages (T2).
    var typeWord: String {
        switch self {
        case .null: return "null"
        case .type: return "@type"
        default: return columnKind.typeWord
        }
    }

    /// The kind of a sum, or of what else is computed of two numbers (R2).
    static func ofResult(_ a: OperandKind, _ b: OperandKind) -> OperandKind {
        if a == .mixed || b == .mixed { return .mixed }
        if a == .decimal || b == .decimal { return .decimal }
        if a == .double || b == .double { return .double }
        if a == .float || b == .float { return .float }
        return .int
    }

    /// Of values of this kind in a column; of null and of types, which no column has, that of values of all kinds.
    var columnKind: ColumnKind {
        switch self {
        case .int: return .int
        case .bool: return .bool
        case .float: return .float
        case .double: return .double
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .link: return .link
        case .decimal: return .decimal
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .mixed, .null, .type: return .mixed
        }
    }
}
