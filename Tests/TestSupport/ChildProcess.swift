// Runs parts of tests in processes of their own: the test executable starts itself again with only
// `ChildProcessTests` selected, and the environment tells it what to do.

import Glibc
import Testing

@testable import CoreSwift

struct ChildProcess {
    let id: pid_t

    /// Starts this executable with a role. The child's output is dropped.
    init(_ role: String, path: String, number: Int = 0) throws {
        var arguments = ["/proc/self/exe"]
        // The options of this run, apart from which tests to run.
        let own = CommandLine.arguments
        if let index = own.firstIndex(of: "--testing-library"), index + 1 < own.count {
            arguments += [own[index], own[index + 1]]
        }
        arguments += ["--filter", "ChildProcessTests"]
        var variables: [String] = []
        var entry = environ
        while let text = entry.pointee {
            variables.append(String(cString: text))
            entry += 1
        }
        variables += [
            "REALM_CHILD_ROLE=\(role)", "REALM_CHILD_PATH=\(path)", "REALM_CHILD_NUMBER=\(number)",
        ]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions, 2, getenv("REALM_CHILD_TRACE") == nil ? "/dev/null" : "/dev/stderr", O_WRONLY,
            0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = variables.map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, "/proc/self/exe", &actions, nil, &argv, &envp)
        guard code == 0 else { throw ToyFailure(description: "posix_spawn: \(code)") }
        self.id = id
    }

    func kill() { _ = Glibc.kill(id, SIGKILL) }

    /// Waits for its end: the exit code, or minus the signal.
    @discardableResult
    func wait() -> Int {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? Int(status >> 8) & 0xFF : -Int(signal)
    }

    /// Waits until the file exists; the children's way to say that they got somewhere.
    static func waitFor(_ path: String) throws {
        for _ in 0..<3000 {
            if access(path, F_OK) == 0 { return }
            usleep(10_000)
        }
        throw ToyFailure(description: "'\(path)' does not appear")
    }

    static func touch(_ path: String) {
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644))
    }
}

/// fork() is marked unavailable in Swift; tests of what happens after it get it from the loader.
func forkProcess() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork") else { return -1 }
    return unsafeBitCast(symbol, to: Fork.self)()
}

/// A workload whose content follows from the version alone, so that any process can check it.
enum VersionedWorkload {
    static let leaves = 30

    static func changes(_ version: UInt64) -> [Int: UInt64?] {
        var random = Random(version)
        var changes: [Int: UInt64?] = [:]
        for _ in 0..<(1 + random.below(4)) {
            changes[random.below(leaves)] = random.below(8) == 0 ? .some(nil) : .some(version)
        }
        return changes
    }

    static func model(_ version: UInt64) -> ToyModel {
        var model: ToyModel = [:]
        guard version > 1 else { return model }
        for version in 2...version {
            for (leaf, stamp) in changes(version) { model[leaf] = stamp }
        }
        return model
    }

    static func commitNext(_ store: Store) throws -> UInt64 {
        guard let lease = try store.beginWrite(wait: true) else {
            throw ToyFailure(description: "no lease")
        }
        var model: ToyModel = [:]
        do {
            let pin = try ToyClient.commit(lease, &model, changes(lease.base.version + 1))
            store.unpin(pin.version)
            return pin.version
        } catch {
            lease.abandon()
            throw error
        }
    }

    static func verifyNewest(_ store: Store) throws {
        let pin = try store.pinNewest()
        defer { store.unpin(pin.version) }
        try ToyClient.verify(store, pin, model(pin.version))
    }
}
