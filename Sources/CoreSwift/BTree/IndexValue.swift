// How values become the bytes of an ordered index, so that the order of the bytes is the order of
// the values.
//
//   null                       00
//   int, bool, timestamp …     01, then fixed-width big-endian bytes with the sign bit flipped
//   string, binary             01, then the bytes, cut after `IndexLimits.valueBytesMax` - 1
//   link targets (inverse)     the object key, 8 bytes big-endian, without a leading byte
//
// A stored value of the maximal length may be cut: who looks one up has to compare the objects.

struct IndexValue {
    /// Calls `body` with the index bytes of a value of a column of this kind.
    static func withBytes<R>(
        _ value: RawValue, _ kind: ColumnKind,
        _ body: (UnsafeRawPointer, Int) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        var scratch: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let isText = kind.isText && !value.isNull
        if !isText {
            let count = withUnsafeMutableBytes(of: &scratch) { buffer -> Int in
                guard let start = buffer.baseAddress else { return 0 }
                return write(value, kind, start)
            }
            return try withUnsafeBytesTyped(&scratch) { start throws(RealmError) in
                try body(start, count)
            }
        }
        let bytes = value.bytes
        let length = min(bytes.count, IndexLimits.valueBytesMax - 1)
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: length + 1, alignment: 1)
        defer { buffer.deallocate() }
        buffer.put(1 as UInt8, 0)
        if length > 0, let start = bytes.baseAddress { memcpy(buffer + 1, start, length) }
        return try body(UnsafeRawPointer(buffer), length + 1)
    }

    private static func withUnsafeBytesTyped<R>(
        _ scratch: inout (UInt64, UInt64, UInt64),
        _ body: (UnsafeRawPointer) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try withUnsafeMutablePointer(to: &scratch) { pointer throws(RealmError) in
            try body(UnsafeRawPointer(pointer))
        }
    }

    /// Writes the bytes of a value that is not text; returns how many (at most 13).
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
        default:
            target.put((value.word0 ^ sign).bigEndian, 1)
            return 9
        }
    }

    /// Whether a stored value of `count` index bytes may have been cut.
    static func mayBeCut(_ count: Int) -> Bool { count >= IndexLimits.valueBytesMax }
}
