// The bytes of a mixed value: one byte that names its type (the raw value of `ValueType`), then the
// value, little-endian. Null has no bytes: it is the null bit of its column. Columns, collections
// and whatever else holds mixed values share this encoding.
//
//   int         1, 2, 4 or 8 bytes, the fewest that hold it
//   bool        1 byte, 0 or 1
//   string, binary  the bytes
//   timestamp   seconds (8), nanoseconds (4)
//   float       4 bytes, double 8, decimal 16 (low word first), object id 12, UUID 16
//   link        class key (4), object key (8)
//
//   list, dictionary  its number (8), then its cell (`CollectionCell`) with mixed values. The
//               number is unlike those of the other collections in the same property; it says which
//               one it is when others come and go around it
//
// A value has one encoding only (collections aside), so equal bytes mean the same value of the same
// type. `check` is the gate for bytes from a file; `decode` and all that use it take checked bytes.
//
// As a `RawValue`, a nested collection has the address of its number and cell in `word0` and their
// length in `word1`; a new one, without elements yet, has 0 and its number.

enum MixedCell {
    /// Bytes of the longest value that is neither string nor binary.
    static let fixedBytesMax = 17

    /// How many bytes a value takes; 0 for null and for types that are not stored.
    @inline(__always)
    static func count(_ value: RawValue) -> Int {
        if value.isNull { return 0 }
        switch ValueType(rawValue: value.type) {
        case .int: return 1 + value.intValue.byteWidth
        case .bool: return 2
        case .string, .binary: return 1 + value.bytes.count
        case .timestamp, .objectId, .link: return 13
        case .float: return 5
        case .double: return 9
        case .decimal128, .uuid: return 17
        case .list, .dictionary: return value.word0 == 0 ? 9 : 1 + Int(value.word1)
        case .null, nil: return 0
        }
    }

    /// Writes the `count(value)` bytes of a value that is not null.
    static func write(_ value: RawValue, to target: UnsafeMutableRawPointer) {
        target.put(UInt8(truncatingIfNeeded: value.type), 0)
        switch ValueType(rawValue: value.type) {
        case .int:
            (target + 1).put(value.intValue, width: value.intValue.byteWidth, 0)
        case .bool:
            target.put(value.boolValue ? 1 as UInt8 : 0, 1)
        case .string, .binary:
            // The value may lie where it is written to.
            if let start = value.bytes.baseAddress { memmove(target + 1, start, value.bytes.count) }
        case .float:
            target.put(UInt32(truncatingIfNeeded: value.word0), 1)
        case .double:
            target.put(value.word0, 1)
        case .timestamp, .objectId:
            target.put(value.word0, 1)
            target.put(UInt32(truncatingIfNeeded: value.word1), 9)
        case .decimal128, .uuid:
            target.put(value.word0, 1)
            target.put(value.word1, 9)
        case .link:
            target.put(UInt32(truncatingIfNeeded: value.word0), 1)
            target.put(value.word1, 5)
        case .list, .dictionary:
            if let start = UnsafeRawPointer(bitPattern: UInt(value.word0)) {
                memmove(target + 1, start, Int(value.word1))
            } else {
                target.put(value.word1, 1)
            }
        case .null, nil:
            break
        }
    }

    /// Calls `body` with the bytes of a value; they live for the call.
    static func withBytes<R>(
        _ value: RawValue, _ body: (UnsafeRawBufferPointer) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let count = count(value)
        var small: (UInt64, UInt64, UInt64) = (0, 0, 0)
        if count <= fixedBytesMax {
            return try withUnsafeMutablePointer(to: &small) { pointer throws(RealmError) in
                let start = UnsafeMutableRawPointer(pointer)
                if count > 0 { write(value, to: start) }
                return try body(UnsafeRawBufferPointer(start: start, count: count))
            }
        }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 8)
        defer { buffer.deallocate() }
        write(value, to: buffer)
        return try body(UnsafeRawBufferPointer(start: buffer, count: count))
    }

    /// The value of checked bytes; strings and binaries point into them.
    @inline(__always)
    static func decode(_ bytes: UnsafeRawBufferPointer) -> RawValue {
        guard bytes.count > 0, let start = bytes.baseAddress else { return .null }
        let payload = start + 1
        let type = ValueType(rawValue: UInt32(start.u8(0))) ?? .null
        switch type {
        case .int: return .int(payload.signed(bytes.count - 1, 0))
        case .bool: return .bool(payload.u8(0) != 0)
        case .string: return .string(payload, bytes.count - 1)
        case .binary: return .binary(payload, bytes.count - 1)
        case .float: return .float(Float(bitPattern: payload.u32(0)))
        case .double: return .double(Double(bitPattern: payload.u64(0)))
        case .timestamp:
            return .timestamp(
                seconds: payload.i64(0), nanoseconds: Int32(bitPattern: payload.u32(8)))
        case .objectId:
            return RawValue(
                word0: payload.u64(0), word1: UInt64(payload.u32(8)), type: .objectId)
        case .decimal128, .uuid:
            return RawValue(word0: payload.u64(0), word1: payload.u64(8), type: type)
        case .link:
            return .link(
                ClassKey(rawValue: payload.u32(0)), ObjectKey(rawValue: payload.i64(4)))
        case .list, .dictionary:
            return RawValue(
                word0: UInt64(UInt(bitPattern: payload)), word1: UInt64(bytes.count - 1),
                type: type)
        case .null: return .null
        }
    }

    /// What is wrong with the bytes of a value that is not null; nil when `decode` may have them.
    /// The cells of nested collections are checked apart (`NestedCell`).
    static func problem(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count > 0, let start = bytes.baseAddress else {
            return "a mixed value has no bytes, but is not null"
        }
        let tag = start.u8(0)
        guard let type = ValueType(rawValue: UInt32(tag)) else {
            return "a mixed value is of unknown type \(tag)"
        }
        if type == .string || type == .binary { return nil }
        if type == .list || type == .dictionary {
            return bytes.count < 9 ? "a nested \(type) has \(bytes.count) bytes" : nil
        }
        let value = isMeasured(type, bytes.count) ? decode(bytes) : .null
        guard count(value) == bytes.count else {
            return "a mixed value of type \(type) has \(bytes.count) bytes"
        }
        if type == .bool, start.u8(1) > 1 { return "a mixed boolean is \(start.u8(1))" }
        if type == .link, value.linkTarget.rawValue < 0 {
            return "a mixed value links to object \(value.linkTarget)"
        }
        return nil
    }

    /// Whether a value of this type can be read from so many bytes.
    private static func isMeasured(_ type: ValueType, _ count: Int) -> Bool {
        switch type {
        case .int: return count == 2 || count == 3 || count == 5 || count == 9
        case .bool: return count == 2
        case .float: return count == 5
        case .double: return count == 9
        case .timestamp, .objectId, .link: return count == 13
        case .decimal128, .uuid: return count == 17
        case .string, .binary: return true
        case .null, .list, .dictionary: return false
        }
    }
}
