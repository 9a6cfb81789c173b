// Distinct types for the numbers that name things, so that one cannot be taken for another.

/// Names a class for the life of the file.
public struct ClassKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// "No class": `RLM_INVALID_CLASS_KEY`.
    public static let invalid = ClassKey(rawValue: 0x7FFF_FFFF)
}

/// Names a property of a class for the life of the file.
///
/// Bits 0–15 hold the column number in the class, so that an access needs no look-up; bits 16–61
/// hold a serial number that is never used again, so that a dropped and recreated property gets a
/// new key. Bit 62 marks computed properties, whose low bits are their position among those.
public struct PropertyKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(column: Int, serial: UInt32) {
        rawValue = Int64(column & 0xFFFF) | Int64(serial) << 16
    }
    public static func computed(_ position: Int) -> PropertyKey {
        PropertyKey(rawValue: 1 << 62 | Int64(position))
    }
    @inline(__always) public var column: Int { Int(truncatingIfNeeded: rawValue & 0xFFFF) }
    public var isComputed: Bool { rawValue >> 62 == 1 }
    /// "No property": `RLM_INVALID_PROPERTY_KEY`.
    public static let invalid = PropertyKey(rawValue: -1)
}

/// Names an object within its class.
public struct ObjectKey: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: Int64
    @inline(__always) public init(rawValue: Int64) { self.rawValue = rawValue }
    /// "No object": `RLM_INVALID_OBJECT_KEY`.
    public static let invalid = ObjectKey(rawValue: -1)
    @inline(__always) public static func < (a: ObjectKey, b: ObjectKey) -> Bool {
        a.rawValue < b.rawValue
    }
}
