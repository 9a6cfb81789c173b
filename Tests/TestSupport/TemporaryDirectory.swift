// A directory in memory-backed storage where the system has it, removed at the end of a test. Its
// name holds the process's id: what killed processes left is removed by the next that asks for one.

import Glibc

@testable import CoreSwift

final class TemporaryDirectory {
    let path: String

    private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    private static let prefix = "realm-test-"
    /// Once per process.
    private static let leftovers: Void = removeLeftovers(parent)

    init() {
        _ = Self.leftovers
        let name = "\(Self.parent)/\(Self.prefix)\(getpid())-XXXXXX"
        var template = Array(name.utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = mkdtemp(start) else { return "/tmp" }
            return String(cString: made)
        }
    }

    deinit {
        if path != "/tmp" { Self.removeTree(path) }
    }

    func file(_ name: String = "test.realm") -> String { path + "/" + name }

    /// Removes the directories of processes that are no more.
    static func removeLeftovers(_ parent: String) {
        for name in names(parent) where name.hasPrefix(prefix) {
            let rest = name.dropFirst(prefix.count)
            guard let id = pid_t(rest.prefix { $0 != "-" }), rest.contains("-") else { continue }
            if kill(id, 0) != 0, errno == ESRCH { removeTree(parent + "/" + name) }
        }
    }

    static func names(_ path: String) -> [String] {
        var names: [String] = []
        _ = SystemCalls.shared.list(path, &names)
        return names
    }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for name in names(path) { removeTree(path + "/" + name) }
        rmdir(path)
    }
}
