// How inverse indexes file the objects that are linked to.

/// The bytes under which an inverse index files a target: its object key, or in mixed columns its
/// class key and object key; both big-endian.
enum InverseBytes {
    /// Calls `body` with the bytes; they live for the call.
    @inline(__always)
    static func with<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (UnsafeRawPointer, Int) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        var bytes: (UInt32, UInt32, UInt64) = (
            0, target.rawValue.bigEndian, key.word.bigEndian
        )
        return try withUnsafePointer(to: &bytes) { pointer throws(RealmError) in
            let start = UnsafeRawPointer(pointer)
            return isMixed ? try body(start + 4, 12) : try body(start + 8, 8)
        }
    }

    @inline(__always)
    static func with<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (UnsafeRawPointer, Int) -> R
    ) -> R {
        var bytes: (UInt32, UInt32, UInt64) = (
            0, target.rawValue.bigEndian, key.word.bigEndian
        )
        return withUnsafePointer(to: &bytes) { pointer in
            let start = UnsafeRawPointer(pointer)
            return isMixed ? body(start + 4, 12) : body(start + 8, 8)
        }
    }

    /// Calls `body` with the positions before and behind the entries of a target.
    @inline(__always)
    static func withRange<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (IndexPosition, IndexPosition) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try with(key, of: target, isMixed: isMixed) { start, count throws(RealmError) in
            try body(
                IndexPosition(bytes: start, count: count, key: .min),
                IndexPosition(bytes: start, count: count, key: .max))
        }
    }
}
