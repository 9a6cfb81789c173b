// The values of an old file, and what its classes and properties are: plain data, in terms of the old
// format's own types.

/// The types of properties, by their numbers in the file.
public enum CoreType: Int, Sendable {
    case int = 0
    case bool = 1
    case string = 2
    case binary = 4
    case mixed = 6
    case timestamp = 8
    case float = 9
    case double = 10
    case decimal = 11
    case link = 12
    case objectID = 15
    case typedLink = 16
    case uuid = 17
}

public enum CoreCollection: Sendable { case none, list, set, dictionary }

/// A value of an object, or of a collection.
public enum CoreValue: Equatable, Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(String)
    case binary([UInt8])
    /// Seconds since 1970 and nanoseconds of the same sign.
    case timestamp(Int64, Int32)
    case float(Float)
    case double(Double)
    /// IEEE 754 decimal128 in binary-integer encoding: the high and the low word.
    case decimal(UInt64, UInt64)
    /// 12 bytes.
    case objectID([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// An object, by the index of its table in `CoreFile.tables` and its key. There may be none of that
    /// key: in damaged files.
    case link(Int, Int64)
    case list([CoreValue])
    /// In the order of the file, which depends on its version.
    case set([CoreValue])
    /// Keys are strings, seldom integers.
    case dictionary([CoreEntry])
}

/// An entry of a dictionary.
public struct CoreEntry: Equatable, Sendable {
    public let key: CoreValue
    public let value: CoreValue
}

/// A property of a table.
public struct CoreColumn: Sendable {
    public let name: String
    public let type: CoreType
    public let collection: CoreCollection
    /// Of collections: whether their elements may be null.
    public let isNullable: Bool
    public let isIndexed: Bool
    public let isFullTextIndexed: Bool
    /// The table that links lead to, as index in `CoreFile.tables`.
    public internal(set) var target: Int?
    /// Nil in format 9.
    public let key: Int64?
    /// Of dictionaries.
    public let hasIntKeys: Bool

    /// The slot in clusters; in format 9, in the array of columns.
    let slot: Int
    /// The array with the texts of enumerated strings.
    let texts: UInt64?
    /// Format 9: a list of primitives, which is a table of one column; its own array of columns follows
    /// the rules of this type.
    let isSubtable: Bool
}

/// A table of an old file: a class, or one of the library's own.
public struct CoreTable: Sendable {
    public enum Kind: Sendable { case ordinary, embedded, asymmetric }

    /// As in the file: those of classes begin with `class_`.
    public let name: String
    public let kind: Kind
    /// What links name it by; in format 9 its place.
    public let key: Int64
    public internal(set) var columns: [CoreColumn]
    /// Index in `columns`.
    public internal(set) var primaryKey: Int?
    /// Properties that can't be read, with the reason: those that only programs in C++ could make.
    public internal(set) var omitted: [String] = []

    /// The name of the class; nil for the library's own tables.
    public var className: String? {
        name.hasPrefix("class_") ? String(name.dropFirst("class_".count)) : nil
    }

    /// The root of the cluster tree; in format 9 the array of columns.
    let root: UInt64
}
