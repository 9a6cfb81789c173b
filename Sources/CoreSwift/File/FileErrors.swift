// From errno to the codes of errors (docs/C_RULES, "Opening").

import Glibc

enum FileErrors {
    /// The error for a failed call: "grow the file: No space left on device (28)".
    static func make(_ code: Int, _ operation: String, _ path: String) -> RealmError {
        let number = Int32(truncatingIfNeeded: code < 0 ? -code : code)
        let kind: ErrorCode
        switch number {
        case ENOENT, ENOTDIR: kind = .fileNotFound
        case EACCES, EPERM, EROFS: kind = .filePermissionDenied
        case EEXIST: kind = .fileAlreadyExists
        case ENOSPC, EDQUOT: kind = .outOfDiskSpace
        case EFBIG, EOVERFLOW: kind = .maximumFileSizeExceeded
        case ENOMEM: kind = .outOfMemory
        default: kind = .fileOperationFailed
        }
        return RealmError(
            kind, "'\(path)': failed to \(operation): \(text(number)) (\(number))",
            path: kind.namesFile ? path : nil)
    }

    private static func text(_ number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0
            else { return "unknown error" }
            return String(cString: start)
        }
    }
}
