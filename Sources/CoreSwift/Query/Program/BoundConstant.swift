// Constants and arguments as values: from their spelling, or from what the caller passed.

/// A value that a `$n` in a query stands for.
public enum QueryArgument: Sendable {
    case scalar(Value)
    case list([Value])
}

/// A scalar constant of a query.
struct BoundConstant {
    enum Kind: UInt8 {
        case null, int, double, float, bool, string, binary, timestamp
        /// An object of a known class, of the class at hand, or named by its primary key.
        case link, objectKey, objectWithPrimaryKey
        case uuid, objectId, decimal
    }
    var kind: Kind
    /// The value's bits; objects: the key; `objectWithPrimaryKey`: an integer key.
    var bits: UInt64 = 0
    /// Decimals, UUIDs, object ids: the second word of a `RawValue`.
    var high: UInt64 = 0
    /// Timestamps: nanoseconds.
    var extra: Int32 = 0
    /// Integers whose spelling exceeds 64 bits: their value; `bits` is saturated.
    var huge: Double?
    /// Strings and binaries, `objectWithPrimaryKey` with a string key: among the filter's bytes.
    var text = FilterText()
    var classKey = ClassKey.invalid
    /// `objectWithPrimaryKey`: what the key is.
    var primaryKeyKind = Kind.null
    var primaryKeyColumn: Int32 = -1
    var isArgument = false
    /// The value of an expression of constants: its spelling is not the value's.
    var isComputed = false
    /// A member of a list whose type no value of the other side has; it stands for its place.
    var isForeign = false
    /// Where it stands in the text.
    var node: Int32 = -1

    init(_ kind: Kind, _ bits: UInt64 = 0) {
        self.kind = kind
        self.bits = bits
    }

    /// Without the bytes of strings and binaries, which the binder adds.
    init(value: Value) {
        switch value {
        case .null: self.init(.null)
        case .int(let v): self.init(.int, UInt64(bitPattern: v))
        case .bool(let v): self.init(.bool, v ? 1 : 0)
        case .float(let v): self.init(.float, UInt64(v.bitPattern))
        case .double(let v): self.init(.double, v.bitPattern)
        case .timestamp(let v):
            self.init(.timestamp, UInt64(bitPattern: v.seconds))
            extra = v.nanoseconds
        case .string: self.init(.string)
        case .binary: self.init(.binary)
        case .link(let v):
            self.init(.link, UInt64(bitPattern: v.objectKey.rawValue))
            classKey = v.classKey
        case .decimal128(let v): self.init(.decimal, .decimal(v))
        case .objectId(let v): self.init(.objectId, .objectId(v))
        case .uuid(let v): self.init(.uuid, .uuid(v))
        }
    }

    init(_ kind: Kind, _ value: RawValue) {
        self.init(kind, value.word0)
        high = value.word1
    }

    /// The value, of constants that are neither text nor an object to look up.
    var raw: RawValue {
        switch kind {
        case .int: return .int(int)
        case .double: return RawValue(word0: bits, word1: 0, type: .double)
        case .float: return RawValue(word0: bits, word1: 0, type: .float)
        case .bool: return .bool(bits != 0)
        case .timestamp: return .timestamp(seconds: int, nanoseconds: extra)
        case .link: return .link(classKey, ObjectKey(rawValue: int))
        case .uuid: return RawValue(word0: bits, word1: high, type: .uuid)
        case .objectId: return RawValue(word0: bits, word1: high, type: .objectId)
        case .decimal: return RawValue(word0: bits, word1: high, type: .decimal128)
        case .null, .string, .binary, .objectKey, .objectWithPrimaryKey: return .null
        }
    }

    /// Of `objectWithPrimaryKey`.
    var objectName: ObjectName {
        let key: ObjectName.Key
        switch primaryKeyKind {
        case .int: key = .value(.int(int))
        case .uuid: key = .value(RawValue(word0: bits, word1: high, type: .uuid))
        case .objectId: key = .value(RawValue(word0: bits, word1: high, type: .objectId))
        case .string: key = .text(text)
        default: key = .value(.null)
        }
        return ObjectName(classKey: classKey, column: primaryKeyColumn, key: key)
    }

    var int: Int64 { Int64(bitPattern: bits) }
    /// A number that mixed values are compared with pair by pair (`ValueTest`).
    var isInexact: Bool { kind == .double || kind == .float || kind == .decimal || huge != nil }
    /// The value of a double or float.
    var floating: Double {
        kind == .float
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            : Double(bitPattern: bits)
    }
    var timestamp: Timestamp { Timestamp(seconds: int, nanoseconds: extra) }

    /// The type word of messages (T2).
    var typeWord: String { OperandKind(kind).typeWord }
}

extension OperandKind {
    init(_ kind: BoundConstant.Kind) {
        switch kind {
        case .null: self = .null
        case .int: self = .int
        case .double: self = .double
        case .float: self = .float
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .link, .objectKey, .objectWithPrimaryKey: self = .link
        case .uuid: self = .uuid
        case .objectId: self = .objectId
        case .decimal: self = .decimal
        }
    }
}

extension ColumnKind {
    /// The type word of messages (T2).
    var typeWord: String {
        switch self {
        case .int: return "int"
        case .bool: return "bool"
        case .float: return "float"
        case .double: return "double"
        case .string: return "string"
        case .binary: return "binary"
        case .timestamp: return "timestamp"
        case .link: return "link"
        case .decimal: return "decimal128"
        case .objectId: return "objectId"
        case .uuid: return "uuid"
        case .mixed: return "mixed"
        case .collection: return "collection"
        }
    }
    var isNumeric: Bool { self == .int || self == .float || self == .double }
}
