// A directory in memory-backed storage where the system has it, removed at the end of a test.

import Glibc

final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/dev/shm/realm-XXXXXX".utf8CString)
        if access("/dev/shm", W_OK) != 0 { template = Array("/tmp/realm-XXXXXX".utf8CString) }
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = mkdtemp(start) else { return "/tmp" }
            return String(cString: made)
        }
    }

    deinit {
        guard path != "/tmp", let stream = opendir(path) else { return }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(path + "/" + name)
        }
        closedir(stream)
        rmdir(path)
    }

    func file(_ name: String = "test.realm") -> String { path + "/" + name }
}
