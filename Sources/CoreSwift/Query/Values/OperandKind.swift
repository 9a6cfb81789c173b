// The static types of operands.

/// The static type of an operand: those of columns, in the order of `ColumnKind`, and two more.
enum OperandKind: UInt8 {
    case int, bool, float, double, string, binary, timestamp, link
    case decimal, objectId, uuid, mixed
    case null
    /// A set of types, of `@type`: bits of `TypeSet`.
    case type

    init(_ kind: ColumnKind) {
        self = kind == .collection ? .mixed : OperandKind(rawValue: kind.rawValue) ?? .mixed
    }

    /// Of a value.
    init(_ type: ValueType) {
        switch type {
        case .null: self = .null
        case .int: self = .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .link: self = .link
        case .decimal128: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .list, .dictionary: self = .mixed
        }
    }

    /// Of values of this kind in a column; of null and of types, which no column has, that of values of all kinds.
    var columnKind: ColumnKind {
        self == .null || self == .type ? .mixed : ColumnKind(rawValue: rawValue) ?? .mixed
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
}
