// Distinct types for the numbers that name things, so that one cannot be taken for another. Each is
// one word and costs what its number costs; as text it is that number.

/// Names a class for the life of the file.
public struct ClassKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32
    @inline(__always) public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// "No class": `RLM_INVALID_CLASS_KEY`.
    public static let invalid = ClassKey(rawValue: 0x7FFF_FFFF)
    @inline(__always) var index: Int { Int(rawValue) }
    public var description: String { rawValue.description }
}

/// Names a property of a class for the life of the file.
///
/// Bits 0–15 hold the column number in the class, so that an access needs no look-up; bits 16–61
/// hold a serial number that is never used again, so that a dropped and recreated property gets a
/// new key. Bit 62 marks computed properties, which a realm numbers as it first shows them.
public struct PropertyKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(column: Int, serial: UInt32) {
        rawValue = Int64(column & 0xFFFF) | Int64(serial) << 16
    }
    public static func computed(_ number: Int) -> PropertyKey {
        PropertyKey(rawValue: 1 << 62 | Int64(number))
    }
    @inline(__always) public var column: Int { Int(truncatingIfNeeded: rawValue & 0xFFFF) }
    public var isComputed: Bool { rawValue >> 62 == 1 }
    /// "No property": `RLM_INVALID_PROPERTY_KEY`.
    public static let invalid = PropertyKey(rawValue: -1)
    public var description: String { rawValue.description }
}

/// Names an object within its class. Never negative in a sound file; rows of a class stand in the
/// order of their keys.
public struct ObjectKey: RawRepresentable, Hashable, Strideable, Sendable,
    CustomStringConvertible
{
    public let rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    /// A number that was put into an unsigned word.
    @inline(__always) init(word: UInt64) { rawValue = Int64(bitPattern: word) }
    /// "No object": `RLM_INVALID_OBJECT_KEY`.
    public static let invalid = ObjectKey(rawValue: -1)
    /// The least key that an object can have.
    static let first = ObjectKey(rawValue: 0)
    /// Not above any key, and not below any: ends of ranges.
    static var min: ObjectKey { @inline(__always) get { ObjectKey(rawValue: .min) } }
    static var max: ObjectKey { @inline(__always) get { ObjectKey(rawValue: .max) } }

    @inline(__always) var word: UInt64 { UInt64(bitPattern: rawValue) }
    /// The key so many places on. Like all that is computed with keys of a file, it may wrap around.
    @inline(__always) public func advanced(by count: Int) -> ObjectKey {
        ObjectKey(rawValue: rawValue &+ Int64(count))
    }
    @inline(__always) public func distance(to other: ObjectKey) -> Int {
        Int(other.rawValue &- rawValue)
    }

    @inline(__always) public static func == (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue == b.rawValue
    }
    @inline(__always) public static func < (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue < b.rawValue
    }
    @inline(__always) public static func <= (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue <= b.rawValue
    }
    @inline(__always) public static func > (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue > b.rawValue
    }
    @inline(__always) public static func >= (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue >= b.rawValue
    }
    public var description: String { rawValue.description }
}

/// Tells the collections in the mixed values of one property apart, so that handles follow them
/// when they move.
struct CollectionNumber: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt64
    @inline(__always) init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Of a collection that is no value's, but a property.
    static let none = CollectionNumber(rawValue: 0)
    var description: String { rawValue.description }
}

extension UnsafeRawPointer {
    @inline(__always) func objectKey(_ offset: Int) -> ObjectKey {
        ObjectKey(rawValue: i64(offset))
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always) func put(_ key: ObjectKey, _ offset: Int) { put(key.rawValue, offset) }
    @inline(__always) func put(_ number: CollectionNumber, _ offset: Int) {
        put(number.rawValue, offset)
    }
}
