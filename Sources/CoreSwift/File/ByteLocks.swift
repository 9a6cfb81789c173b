// Locks on single bytes of a file that belong to an open file description ("OFD locks", Linux):
// unlike the older POSIX locks they also exclude two descriptions within one process, and closing
// another descriptor of the same file does not drop them. The kernel releases them when the last
// descriptor of the description is closed, however the process ends. Used by `SystemCalls` only.

import Glibc

enum ByteLocks {
    // Linux values; the C library declares them only for _GNU_SOURCE.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37
    private static let setLockWait: Int32 = 38

    static func lock(_ descriptor: Int32, _ byte: Int64, _ kind: LockKind, wait: Bool) -> Int32 {
        var request = description(byte, kind == .shared ? Int32(F_RDLCK) : Int32(F_WRLCK))
        let outcome = fcntl(descriptor, wait ? setLockWait : setLock, &request)
        guard outcome < 0 else { return 0 }
        return errno == EACCES ? -EAGAIN : -errno
    }

    static func unlock(_ descriptor: Int32, _ byte: Int64) -> Int32 {
        var request = description(byte, Int32(F_UNLCK))
        return fcntl(descriptor, setLock, &request) < 0 ? -errno : 0
    }

    static func isLocked(_ descriptor: Int32, _ byte: Int64, _ count: Int64) -> Int32 {
        var request = description(byte, Int32(F_WRLCK))
        request.l_len = Int(count)
        guard fcntl(descriptor, getLock, &request) >= 0 else { return -errno }
        return Int32(request.l_type) == Int32(F_UNLCK) ? 0 : 1
    }

    private static func description(_ byte: Int64, _ type: Int32) -> flock {
        var request = flock()
        request.l_type = Int16(type)
        request.l_whence = Int16(SEEK_SET)
        request.l_start = Int(byte)
        request.l_len = 1
        request.l_pid = 0  // must be zero for OFD locks
        return request
    }
}
