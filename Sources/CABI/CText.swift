// C strings that outlive a call.

import CKernels
import CoreSwift

/// An owned C string; the pointer lives as long as the object.
final class CText: @unchecked Sendable {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (i, byte) in bytes.enumerated() { copy[i] = byte }
        pointer = UnsafePointer(copy)
    }

    deinit { pointer.deallocate() }
}

/// Names of classes and properties as C strings that live for ever. Callers may keep the names in
/// info records until the schema changes, whoever still holds a handle by then; as there are few
/// distinct names, keeping each once is cheaper than following that lifetime.
enum CNames {
    private static let lock = ck_lock_new_for_process()
    /// By bytes: Swift finds canonically equivalent strings equal, C callers do not.
    nonisolated(unsafe) private static var names: [[UInt8]: CText] = [:]

    static func of(_ text: String) -> UnsafePointer<CChar> {
        if let lock { ck_lock_acquire(lock) }
        defer { if let lock { ck_lock_release(lock) } }
        let bytes = Array(text.utf8)
        if let known = names[bytes] { return known.pointer }
        let made = CText(text)
        names[bytes] = made
        return made.pointer
    }
}

/// Memory of the C allocator with the text and a NUL, for the caller to free.
func copyForC(_ text: String) -> UnsafeMutablePointer<CChar>? {
    let bytes = Array(text.utf8CString)
    guard let memory = ck_malloc(bytes.count) else { return nil }
    let target = memory.assumingMemoryBound(to: CChar.self)
    for (index, byte) in bytes.enumerated() { target[index] = byte }
    return target
}
