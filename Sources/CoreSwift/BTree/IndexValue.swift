// How values become the bytes of an ordered index, so that the order of the bytes is the order of
// the values.
//
//   null                       00
//   int, bool, timestamp …     01, then fixed-width big-endian bytes with the sign bit flipped
//   double, float, decimal     01, then the bits of the nearest double, so that they ascend
//   object id, UUID            01, then their bytes
//   string, binary             01, then the bytes, cut after `IndexLimits.valueBytesMax` - 1
//   mixed                      01, the family of the value (`ValueOrder.Family`), then as above;
//                              numbers of all types as the nearest double, links as class and key
//   link targets (inverse)     the object key, 8 bytes big-endian, without a leading byte; in
//                              mixed columns the class key, 4 bytes big-endian, before it
//
// Two values may share their bytes: long texts that are cut, decimals and mixed numbers that are
// nearest to one double. Who looks one up has to compare the objects then (`isAmbiguous`).

struct IndexValue {
    /// Calls `body` with the index bytes of a value of a column of this kind.
    static func withBytes<R>(
        _ value: RawValue, _ kind: ColumnKind,
        _ body: (UnsafeRawPointer, Int) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        var scratch: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let isMixed = kind == .mixed
        let isText =
            !value.isNull
            && (value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue)
        if !isText {
            let count = withUnsafeMutableBytes(of: &scratch) { buffer -> Int in
                guard let start = buffer.baseAddress else { return 0 }
                return isMixed ? writeMixed(value, start) : write(value, kind, start)
            }
            return try withUnsafeBytesTyped(&scratch) { start throws(RealmError) in
                try body(start, count)
            }
        }
        let bytes = value.bytes
        let lead = isMixed ? 2 : 1
        let length = min(bytes.count, IndexLimits.valueBytesMax - lead)
        if length + lead <= 64 {
            // Most are short.
            var short: Short = (0, 0, 0, 0, 0, 0, 0, 0)
            withUnsafeMutableBytes(of: &short) { buffer in
                guard let target = buffer.baseAddress else { return }
                putText(bytes, length, value, isMixed, target)
            }
            return try withUnsafeMutablePointer(to: &short) { pointer throws(RealmError) in
                try body(UnsafeRawPointer(pointer), length + lead)
            }
        }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: length + lead, alignment: 1)
        defer { buffer.deallocate() }
        putText(bytes, length, value, isMixed, buffer)
        return try body(UnsafeRawPointer(buffer), length + lead)
    }

    /// Appends a change of a value of a column of this kind to those that wait for its index.
    @inline(__always)
    static func append(
        _ value: RawValue, _ kind: ColumnKind, _ key: ObjectKey, isAddition: Bool,
        to pending: inout IndexPending
    ) throws(RealmError) {
        if kind == .mixed {
            return try withBytes(value, kind) { start, count throws(RealmError) in
                pending.append(start, count, key, isAddition: isAddition)
            }
        }
        guard kind.isText, !value.isNull else {
            pending.append(atMost: otherBytesMax, key, isAddition: isAddition) { target in
                write(value, kind, target)
            }
            return
        }
        let bytes = value.bytes
        let length = min(bytes.count, IndexLimits.valueBytesMax - 1)
        pending.append(atMost: length &+ 1, key, isAddition: isAddition) { target in
            putText(bytes, length, value, false, target)
            return length &+ 1
        }
    }

    /// Of a value that is not text, nor mixed.
    private static let otherBytesMax = 17

    private typealias Short = (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
    )

    @inline(__always)
    private static func putText(
        _ bytes: UnsafeRawBufferPointer, _ length: Int, _ value: RawValue, _ isMixed: Bool,
        _ target: UnsafeMutableRawPointer
    ) {
        target.put(1 as UInt8, 0)
        if isMixed { target.put(UInt8(ValueOrder.family(value).rawValue), 1) }
        if length > 0, let start = bytes.baseAddress {
            memcpy(target + (isMixed ? 2 : 1), start, length)
        }
    }

    private static func withUnsafeBytesTyped<R>(
        _ scratch: inout (UInt64, UInt64, UInt64),
        _ body: (UnsafeRawPointer) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try withUnsafeMutablePointer(to: &scratch) { pointer throws(RealmError) in
            try body(UnsafeRawPointer(pointer))
        }
    }

    /// Writes the bytes of a value that is not text; returns how many (at most 17).
    @inline(__always)
    private static func write(
        _ value: RawValue, _ kind: ColumnKind, _ target: UnsafeMutableRawPointer
    ) -> Int {
        if value.isNull {
            target.put(0 as UInt8, 0)
            return 1
        }
        target.put(1 as UInt8, 0)
        let sign: UInt64 = 1 << 63
        switch kind {
        case .bool:
            target.put(value.boolValue ? 1 as UInt8 : 0, 1)
            return 2
        case .timestamp:
            target.put((value.word0 ^ sign).bigEndian, 1)
            let nanoseconds = UInt32(bitPattern: value.nanoseconds) ^ 0x8000_0000
            target.put(nanoseconds.bigEndian, 9)
            return 13
        case .link:
            target.put((value.word1 ^ sign).bigEndian, 1)
            return 9
        case .objectId:
            target.put(value.word0, 1)
            target.put(UInt32(truncatingIfNeeded: value.word1), 9)
            return 13
        case .uuid:
            target.put(value.word0, 1)
            target.put(value.word1, 9)
            return 17
        case .decimal, .double, .float:
            putNumber(value, target + 1)
            return 9
        case .int, .string, .binary, .mixed, .collection:
            target.put((value.word0 ^ sign).bigEndian, 1)
            return 9
        }
    }

    /// The nearest double in eight bytes that ascend with it; NaN comes first, -0 is 0.
    private static func putNumber(_ value: RawValue, _ target: UnsafeMutableRawPointer) {
        let number = ValueOrder.nearestDouble(value)
        let bits = number == 0 ? 0 : number.bitPattern
        let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
        target.put(number.isNaN ? 0 : ordered.bigEndian, 0)
    }

    /// Writes a mixed value that is not text; returns how many bytes (at most 18).
    private static func writeMixed(_ value: RawValue, _ target: UnsafeMutableRawPointer) -> Int {
        let family = ValueOrder.family(value)
        var count = 2
        switch family {
        case .null:
            target.put(0 as UInt8, 0)
            return 1
        case .bool: count = 1 + write(value, .bool, target + 1)
        case .number: count = 1 + write(value, .double, target + 1)
        case .timestamp: count = 1 + write(value, .timestamp, target + 1)
        case .objectId: count = 1 + write(value, .objectId, target + 1)
        case .uuid: count = 1 + write(value, .uuid, target + 1)
        case .link:
            target.put(value.linkClass.rawValue.bigEndian, 2)
            target.put(value.word1.bigEndian, 6)
            count = 14
        case .string, .binary, .list, .dictionary, .unknown: break
        }
        // The family takes the place of the leading byte that `write` put there.
        target.put(1 as UInt8, 0)
        target.put(UInt8(family.rawValue), 1)
        return count
    }

    /// Whether values of `count` index bytes may differ although their bytes are equal.
    static func isAmbiguous(_ count: Int, _ kind: ColumnKind) -> Bool {
        switch kind {
        case .string, .binary: return count >= IndexLimits.valueBytesMax
        case .mixed: return count > 1
        case .decimal: return true
        default: return false
        }
    }
}
