// A value in the layout of the C ABI's `realm_value_t`: two payload words and a type. The hot
// paths take and give it as it is, so that a value crosses the boundary without conversion.
//
//   offset  size  content
//        0     8  integer / double bits / float bits (low half) / boolean (low byte) / string or
//                 binary address / timestamp seconds / link class key (low half) / decimal's low
//                 word / first bytes of an object id or UUID
//        8     8  string or binary size / timestamp nanoseconds (low half) / link object key /
//                 decimal's high word / other bytes of an object id (low half) or UUID
//       16     4  ValueType
//       20     4  not used

/// The type of a value; raw values of `realm_value_type_e`.
public enum ValueType: UInt32, Sendable {
    case null = 0, int, bool, string, binary, timestamp, float, double
    case decimal128, objectId, link, uuid, list, dictionary
}

/// A borrowed value: strings and binaries point into memory that somebody else keeps alive.
public struct RawValue {
    public var word0: UInt64
    public var word1: UInt64
    /// A `ValueType` raw value; kept as a number because callers of the C ABI may pass anything.
    public var type: UInt32
    public var reserved: UInt32 = 0

    @inline(__always)
    public init(word0: UInt64, word1: UInt64, type: ValueType) {
        self.word0 = word0
        self.word1 = word1
        self.type = type.rawValue
    }

    @inline(__always) public static var null: RawValue {
        RawValue(word0: 0, word1: 0, type: .null)
    }
    @inline(__always) public static func int(_ value: Int64) -> RawValue {
        RawValue(word0: UInt64(bitPattern: value), word1: 0, type: .int)
    }
    @inline(__always) public static func bool(_ value: Bool) -> RawValue {
        RawValue(word0: value ? 1 : 0, word1: 0, type: .bool)
    }
    @inline(__always) public static func float(_ value: Float) -> RawValue {
        RawValue(word0: UInt64(value.bitPattern), word1: 0, type: .float)
    }
    @inline(__always) public static func double(_ value: Double) -> RawValue {
        RawValue(word0: value.bitPattern, word1: 0, type: .double)
    }
    /// `bytes.baseAddress` must not be nil; the empty string has an address too.
    @inline(__always)
    public static func string(_ start: UnsafeRawPointer, _ count: Int) -> RawValue {
        RawValue(word0: UInt64(UInt(bitPattern: start)), word1: UInt64(count), type: .string)
    }
    @inline(__always)
    public static func binary(_ start: UnsafeRawPointer, _ count: Int) -> RawValue {
        RawValue(word0: UInt64(UInt(bitPattern: start)), word1: UInt64(count), type: .binary)
    }
    @inline(__always)
    public static func timestamp(seconds: Int64, nanoseconds: Int32) -> RawValue {
        RawValue(
            word0: UInt64(bitPattern: seconds), word1: UInt64(UInt32(bitPattern: nanoseconds)),
            type: .timestamp)
    }
    @inline(__always)
    public static func link(_ target: ClassKey, _ key: ObjectKey) -> RawValue {
        RawValue(
            word0: UInt64(target.rawValue), word1: UInt64(bitPattern: key.rawValue), type: .link)
    }
    @inline(__always) public static func decimal(_ value: Decimal128) -> RawValue {
        RawValue(word0: value.low, word1: value.high, type: .decimal128)
    }
    @inline(__always) public static func objectId(_ value: ObjectId) -> RawValue {
        RawValue(
            word0: value.high.bigEndian, word1: UInt64(value.low.bigEndian), type: .objectId)
    }
    @inline(__always) public static func uuid(_ value: UUIDValue) -> RawValue {
        RawValue(word0: value.high.bigEndian, word1: value.low.bigEndian, type: .uuid)
    }

    /// Null in any of the ABI's spellings: type NULL, or a string or binary without address.
    @inline(__always) public var isNull: Bool {
        type == ValueType.null.rawValue
            || ((type == ValueType.string.rawValue || type == ValueType.binary.rawValue)
                && word0 == 0)
    }
    @inline(__always) public var intValue: Int64 { Int64(bitPattern: word0) }
    @inline(__always) public var boolValue: Bool { word0 & 0xFF != 0 }
    @inline(__always) public var floatValue: Float {
        Float(bitPattern: UInt32(truncatingIfNeeded: word0))
    }
    @inline(__always) public var doubleValue: Double { Double(bitPattern: word0) }
    @inline(__always) public var seconds: Int64 { Int64(bitPattern: word0) }
    @inline(__always) public var nanoseconds: Int32 { Int32(truncatingIfNeeded: word1) }
    @inline(__always) public var linkClass: ClassKey {
        ClassKey(rawValue: UInt32(truncatingIfNeeded: word0))
    }
    @inline(__always) public var linkTarget: ObjectKey {
        ObjectKey(rawValue: Int64(bitPattern: word1))
    }
    @inline(__always) public var decimalValue: Decimal128 {
        Decimal128(low: word0, high: word1)
    }
    @inline(__always) public var objectIdValue: ObjectId {
        ObjectId(
            high: UInt64(bigEndian: word0),
            low: UInt32(bigEndian: UInt32(truncatingIfNeeded: word1)))
    }
    @inline(__always) public var uuidValue: UUIDValue {
        UUIDValue(high: UInt64(bigEndian: word0), low: UInt64(bigEndian: word1))
    }
    /// The bytes of a non-null string or binary.
    @inline(__always) public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: UInt(word0)), count: Int(word1))
    }
}
