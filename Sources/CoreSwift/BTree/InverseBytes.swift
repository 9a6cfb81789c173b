// How inverse indexes file the objects that are linked to.

/// The bytes under which an inverse index files a target: its object key, or in mixed columns its
/// class key and object key; both big-endian.
enum InverseBytes {
    /// Calls `body` with the bytes; they live for the call.
    @inline(__always)
    static func with<R, Failure>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (UnsafeRawPointer, Int) throws(Failure) -> R
    ) throws(Failure) -> R {
        var bytes: (UInt32, UInt32, UInt64) = (
            0, target.rawValue.bigEndian, key.word.bigEndian
        )
        return try withUnsafePointer(to: &bytes) { pointer throws(Failure) in
            let start = UnsafeRawPointer(pointer)
            return isMixed ? try body(start + 4, 12) : try body(start + 8, 8)
        }
    }

    /// Calls `body` with the positions before and behind all entries of a target.
    static func withRange<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (IndexPosition, IndexPosition) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try with(key, of: target, isMixed: isMixed) { low, count throws(RealmError) in
            // Object keys are never negative, so there is a next one.
            try with(key.advanced(by: 1), of: target, isMixed: isMixed) {
                high, _ throws(RealmError) in
                try body(
                    IndexPosition(bytes: low, count: count, key: .min),
                    IndexPosition(bytes: high, count: count, key: .min))
            }
        }
    }
}
