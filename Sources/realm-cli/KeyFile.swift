// An encryption key from a file: on the command line everybody on the machine would see it, and the
// shell would remember it.

import CoreSwift

enum KeyFile {
    private static let keyBytes = 64

    /// The 64 bytes of a key; an error if there are more or fewer.
    static func load(_ path: String) throws(RealmError) -> [UInt8] {
        func fail(_ reason: String) -> RealmError {
            RealmError(.invalidEncryptionKey, "key file '\(path)': \(reason)")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fail(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: keyBytes + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let start = buffer.baseAddress else { return 0 }
                return read(descriptor, start + count, buffer.count - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw fail(String(cString: strerror(errno)))
            }
            if got == 0 { break }
            count += got
        }
        guard count == keyBytes else {
            throw fail(
                "an encryption key has \(keyBytes) bytes, the file has "
                    + (count > keyBytes ? "more" : "\(count)"))
        }
        return Array(bytes[..<keyBytes])
    }
}
