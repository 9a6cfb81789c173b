import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What child processes do; see `ChildProcess`.
@Suite struct ChildProcessTests {
    @Test(.enabled(if: getenv("REALM_CHILD_ROLE") != nil))
    func playTheRole() throws {
        guard let role = getenv("REALM_CHILD_ROLE"), let file = getenv("REALM_CHILD_PATH") else {
            return
        }
        let path = String(cString: file)
        let number = TestSettings.number("REALM_CHILD_NUMBER", 0)
        do {
            try play(String(cString: role), path, number)
            _exit(0)
        } catch {
            fputs("child: \(error)\n", stderr)
            _exit(1)
        }
    }

    private func play(_ role: String, _ path: String, _ number: Int) throws {
        if role.hasSuffix(" objects") {
            let realm = try CounterWorkload.open(path)
            for _ in 0..<number {
                if role == "count objects" { try CounterWorkload.step(realm) }
                _ = try CounterWorkload.verify(realm)
            }
            realm.close()
            return
        }
        if role == "open damaged" { return try DamagedCatalog.openOften(path, number) }
        var options = StoreOptions()
        options.inMemory = role == "memory"
        let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        switch role {
        case "write":
            for _ in 0..<number { _ = try VersionedWorkload.commitNext(store) }
        case "read":
            for _ in 0..<number { try VersionedWorkload.verifyNewest(store) }
        case "open":
            for _ in 0..<number {
                let other = try Store.open(
                    path: path, options: options, files: SystemCalls.shared)
                _ = try VersionedWorkload.commitNext(other)
                try VersionedWorkload.verifyNewest(other)
                try other.close()
            }
        case "pin", "memory":
            _ = try store.pinNewest()
            ChildProcess.touch(path + ".ready")
            sleep(60)
        case "lock":
            let lease = try store.beginWrite(wait: true)
            ChildProcess.touch(path + ".ready")
            sleep(60)
            lease?.abandon()
        case "lock and fork":
            // The child of this process outlives it; the locks must not.
            let lease = try store.beginWrite(wait: true)
            if forkProcess() == 0 {
                // Before it has run it could not let go of anything.
                TestSettings.writeFile(path + ".child", Array("\(getpid())".utf8))
                ChildProcess.touch(path + ".ready")
                sleep(20)
                _exit(0)
            }
            sleep(60)
            lease?.abandon()
        default:
            throw ToyFailure(description: "unknown role \(role)")
        }
        try store.close()
    }
}

@Suite struct ProcessTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> Store {
        try Store.open(
            path: directory.file(), options: StoreOptions(), files: SystemCalls.shared)
    }

    private var ready: String { directory.file() + ".ready" }

    @Test func severalProcessesWriteAndReadOneFile() throws {
        let store = try open()
        let count = TestSettings.number("REALM_PROCESS_COMMITS", 150)
        var children: [ChildProcess] = []
        for role in ["write", "write", "read", "open"] {
            children.append(try ChildProcess(role, path: directory.file(), number: count))
        }
        for _ in 0..<count {
            _ = try VersionedWorkload.commitNext(store)
            try VersionedWorkload.verifyNewest(store)
        }
        for child in children { #expect(child.wait() == 0) }
        #expect(store.newestVersion == UInt64(1 + 4 * count))
        try VersionedWorkload.verifyNewest(store)
        #expect(store.liveVersionCount() == 1)
    }

    @Test func killedProcessesLoseNothingAndBlockNobody() throws {
        let store = try open()
        var children: [ChildProcess] = []
        for item in Campaign("process storm", seconds: 3, atLeast: 4) {
            var random = item.random
            for role in ["write", "open", "read"] {
                children.append(
                    try ChildProcess(role, path: directory.file(), number: 1_000_000))
            }
            usleep(UInt32(60_000 + random.below(200_000)))
            let before = store.newestVersion
            _ = try VersionedWorkload.commitNext(store)
            #expect(store.newestVersion > before)
            for child in children.shuffled(using: &random) {
                child.kill()
                if item.seed % 2 == 0 { usleep(UInt32(random.below(3000))) }
            }
            for child in children { #expect(child.wait() == -Int(SIGKILL)) }
            children = []
            try VersionedWorkload.verifyNewest(store)
        }
        #expect(store.liveVersionCount() == 1)
        print("process storm: version \(store.newestVersion)")
        // All die, then someone opens the file anew.
        try store.close()
        for _ in 0..<6 {
            let child = try ChildProcess("open", path: directory.file(), number: 1_000_000)
            usleep(UInt32.random(in: 80_000..<160_000))
            child.kill()
            child.wait()
            let again = try open()
            try VersionedWorkload.verifyNewest(again)
            try again.close()
        }
    }

    @Test func whatAKilledReaderPinnedComesBack() throws {
        let store = try open()
        _ = try VersionedWorkload.commitNext(store)
        let child = try ChildProcess("pin", path: directory.file())
        try ChildProcess.waitFor(ready)
        for _ in 0..<50 { _ = try VersionedWorkload.commitNext(store) }
        #expect(store.liveVersionCount() == 2)
        #expect(try store.statistics().pendingPages > 0)
        child.kill()
        child.wait()
        #expect(store.liveVersionCount() == 1)
        for _ in 0..<2 { _ = try VersionedWorkload.commitNext(store) }
        #expect(try store.statistics().pendingPages < 40)
        try VersionedWorkload.verifyNewest(store)
    }

    @Test func aKilledWriterReleasesTheLock() throws {
        let store = try open()
        let child = try ChildProcess("lock", path: directory.file())
        try ChildProcess.waitFor(ready)
        #expect(try store.beginWrite(wait: false) == nil)
        child.kill()
        child.wait()
        #expect(try VersionedWorkload.commitNext(store) == 2)
    }

    @Test func aForkedChildOfAKilledWriterDoesNotKeepTheLock() throws {
        let store = try open()
        let child = try ChildProcess("lock and fork", path: directory.file())
        try ChildProcess.waitFor(ready)
        #expect(try store.beginWrite(wait: false) == nil)
        child.kill()
        child.wait()
        // The child of the killed process lets go of what it inherited as soon as it runs.
        var lease: WriteLease?
        for _ in 0..<500 where lease == nil {
            lease = try store.beginWrite(wait: false)
            if lease == nil { usleep(10_000) }
        }
        #expect(lease != nil)
        lease?.abandon()
        #expect(store.liveVersionCount() == 1)
        let text = String(
            decoding: TestSettings.readFile(directory.file() + ".child"), as: UTF8.self)
        if let orphan = pid_t(text) { kill(orphan, SIGKILL) }
    }

    @Test func aDurableFileAndAnInMemoryRealmExcludeEachOther() throws {
        let child = try ChildProcess("memory", path: directory.file())
        try ChildProcess.waitFor(ready)
        do {
            _ = try open()
            Issue.record("opened an in-memory realm as a durable file")
        } catch {
            #expect((error as? RealmError)?.code == .incompatibleSession)
        }
        child.kill()
        child.wait()
        // In-memory data ends with its last user, also when that was killed.
        let store = try open()
        #expect(store.newestVersion == 1)
    }
}
