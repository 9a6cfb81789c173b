// Owned values, for everything that outlives a borrowed `RawValue`: query constants, arguments,
// results of Swift calls.

/// A point in time: seconds since 1970-01-01 UTC and nanoseconds of the same sign.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var seconds: Int64
    public var nanoseconds: Int32
    public init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }
    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.seconds != b.seconds ? a.seconds < b.seconds : a.nanoseconds < b.nanoseconds
    }
}

/// An object named by its class and key.
public struct Link: Hashable, Sendable {
    public var classKey: ClassKey
    public var objectKey: ObjectKey
    public init(_ classKey: ClassKey, _ objectKey: ObjectKey) {
        self.classKey = classKey
        self.objectKey = objectKey
    }
}

/// A value that owns its bytes.
public enum Value: Hashable, Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(String)
    case binary([UInt8])
    case timestamp(Timestamp)
    case float(Float)
    case double(Double)
    case decimal128(Decimal128)
    case objectId(ObjectId)
    case uuid(UUIDValue)
    case link(Link)

    /// Copies a borrowed value. String bytes that are not UTF-8 are repaired as Swift does it.
    /// Types that the engine does not store yet throw `.notSupported`.
    public init(_ raw: RawValue) throws(RealmError) {
        if raw.isNull {
            self = .null
            return
        }
        switch ValueType(rawValue: raw.type) {
        case .int: self = .int(raw.intValue)
        case .bool: self = .bool(raw.boolValue)
        case .string: self = .string(String(decoding: raw.bytes, as: UTF8.self))
        case .binary: self = .binary([UInt8](raw.bytes))
        case .timestamp:
            self = .timestamp(Timestamp(seconds: raw.seconds, nanoseconds: raw.nanoseconds))
        case .float: self = .float(raw.floatValue)
        case .double: self = .double(raw.doubleValue)
        case .decimal128: self = .decimal128(raw.decimalValue)
        case .objectId: self = .objectId(raw.objectIdValue)
        case .uuid: self = .uuid(raw.uuidValue)
        case .link: self = .link(Link(raw.linkClass, raw.linkTarget))
        case .some(let other):
            throw RealmError(.notSupported, "values of type \(other) are not supported yet")
        case nil:
            throw RealmError(.invalidArgument, "\(raw.type) is not a value type")
        }
    }

    /// Calls `body` with the value in borrowed form; the bytes live for the call.
    public func withRaw<R>(_ body: (RawValue) throws(RealmError) -> R) throws(RealmError) -> R {
        switch self {
        case .null: return try body(.null)
        case .int(let v): return try body(.int(v))
        case .bool(let v): return try body(.bool(v))
        case .float(let v): return try body(.float(v))
        case .double(let v): return try body(.double(v))
        case .timestamp(let v):
            return try body(.timestamp(seconds: v.seconds, nanoseconds: v.nanoseconds))
        case .decimal128(let v): return try body(.decimal(v))
        case .objectId(let v): return try body(.objectId(v))
        case .uuid(let v): return try body(.uuid(v))
        case .link(let v): return try body(.link(v.classKey, v.objectKey))
        case .string(let text):
            return try Value.withBytes(Array(text.utf8)) { start, count throws(RealmError) in
                try body(.string(start, count))
            }
        case .binary(let bytes):
            return try Value.withBytes(bytes) { start, count throws(RealmError) in
                try body(.binary(start, count))
            }
        }
    }

    private static func withBytes<R>(
        _ bytes: [UInt8], _ body: (UnsafeRawPointer, Int) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        // One byte more, so that an empty array has an address too.
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
        defer { copy.deallocate() }
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress {
                copy.copyMemory(from: start, byteCount: source.count)
            }
        }
        return try body(UnsafeRawPointer(copy), bytes.count)
    }
}

/// A value as a key of a dictionary: a text is compared by its bytes.
package struct ExactValue: Hashable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (a: ExactValue, b: ExactValue) -> Bool {
        if case .string(let a) = a.value, case .string(let b) = b.value {
            return ByteText(a) == ByteText(b)
        }
        return a.value == b.value
    }

    package func hash(into hasher: inout Hasher) {
        if case .string(let text) = value {
            ByteText(text).hash(into: &hasher)
        } else {
            value.hash(into: &hasher)
        }
    }
}
