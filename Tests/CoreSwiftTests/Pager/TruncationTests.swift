import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// A file that lost its end after it was closed is refused, also when the version before its newest
/// needs less of it.
@Suite struct TruncationTests {
    private let directory = TemporaryDirectory()

    private func open(
        readOnly: Bool = false, key: [UInt8] = [], _ files: FileSystem = SystemCalls.shared
    ) throws -> Store {
        var options = StoreOptions()
        options.readOnly = readOnly
        options.reservedBytes = 64 << 20
        options.encryptionKey = key
        return try Store.open(path: directory.file(), options: options, files: files)
    }

    /// A few versions, each of which needs more of the file than the one before.
    private func grow(_ store: Store) throws {
        var model: ToyModel = [:]
        for step in 1...3 as ClosedRange<UInt64> {
            var changes: [Int: UInt64?] = [:]
            for leaf in 0..<Int(step) * 13 { changes[leaf] = step }
            store.unpin(try ToyClient.commit(store, &model, changes).version)
        }
    }

    private func expectRefusedAtEveryLength(
        key: [UInt8] = [], keepsLockFile: Bool = true, _ comment: Comment = ""
    ) throws {
        let lock = TestSettings.readFile(directory.file() + ".lock")
        let bytes = TestSettings.readFile(directory.file())
        for count in stride(from: 1, to: bytes.count, by: 2048) {
            TestSettings.writeFile(directory.file(), Array(bytes[..<count]))
            if keepsLockFile {
                TestSettings.writeFile(directory.file() + ".lock", lock)
            } else {
                unlink(directory.file() + ".lock")
            }
            do {
                let store = try open(key: key)
                Issue.record(
                    "\(count) of \(bytes.count) bytes open at version \(store.newestVersion), \(comment)"
                )
                return
            } catch let error as RealmError {
                #expect(error.code == .invalidDatabase)
                // Where both headers are whole, it is known what is missing.
                if count > Page.size + FileHeader.slotBytes {
                    #expect(error.message.contains("realm salvage"), "\(count), \(comment)")
                }
            }
        }
        TestSettings.writeFile(directory.file(), bytes)
    }

    private func each(_ body: ([UInt8], Bool, Comment) throws -> Void) throws {
        for key in [[], FileCipherTests.key] {
            for keepsLockFile in [false, true] {
                unlink(directory.file())
                unlink(directory.file() + ".lock")
                try body(
                    key, keepsLockFile, "encrypted \(!key.isEmpty), lock file \(keepsLockFile)")
            }
        }
    }

    /// Nobody closed it, but its commits had returned.
    @Test func `a file that is cut behind a kill is refused at every length`() throws {
        try each { key, keepsLockFile, comment in
            for isLastSmall in [false, true] {
                let files = RecordingFileSystem()
                let store = try open(key: key, files)
                try grow(store)
                if isLastSmall {
                    var model: ToyModel = [:]
                    store.unpin(try ToyClient.commit(store, &model, [1: 9]).version)
                }
                files.killAfter = 0
                try? store.close()
                try expectRefusedAtEveryLength(key: key, keepsLockFile: keepsLockFile, comment)
                // Uncut it opens.
                try open(key: key).close()
            }
        }
    }

    @Test func `as one is whose growth was made durable with others`() throws {
        try each { key, keepsLockFile, comment in
            let files = RecordingFileSystem()
            let store = try open(key: key, files)
            var model: ToyModel = [:]
            for stamp in 1...3 as ClosedRange<UInt64> {
                let leaves = Int(stamp) * 13
                let changes = Dictionary(
                    uniqueKeysWithValues: (0..<leaves).map { ($0, Optional(stamp)) })
                store.unpin(
                    try ToyClient.commit(store, &model, changes, joinsGroup: true, soft: true)
                        .version)
            }
            try store.makeDurable(store.newestVersion)
            files.killAfter = 0
            try? store.close()
            try expectRefusedAtEveryLength(key: key, keepsLockFile: keepsLockFile, comment)
        }
    }

    /// The file on a disk that got the header of a commit, and not its blocks.
    @Test func `an interrupted commit is not taken for a cut`() throws {
        try each { key, keepsLockFile, comment in
            let files = RecordingFileSystem()
            let store = try open(key: key, files)
            var model: ToyModel = [:]
            let small = try ToyClient.commit(store, &model, [1: 1]).version
            store.unpin(small)
            let before = TestSettings.readFile(directory.file())
            let changes = Dictionary(
                uniqueKeysWithValues: (0..<39).map { ($0, Optional(UInt64(2))) })
            files.killAtSync = files.syncCount + 1
            #expect(throws: RealmError.self) {
                try ToyClient.commit(store, &model, changes)
            }
            try? store.close()
            let after = TestSettings.readFile(directory.file())
            #expect(after.count > before.count)
            let lock = TestSettings.readFile(directory.file() + ".lock")
            for count in stride(from: before.count, to: after.count, by: 4096) {
                TestSettings.writeFile(directory.file(), Array(after[..<count]))
                TestSettings.writeFile(directory.file() + ".lock", lock)
                if !keepsLockFile { unlink(directory.file() + ".lock") }
                let again = try open(key: key)
                #expect(again.newestVersion == small, comment)
                try again.close()
            }
        }
    }

    /// The lock file remembers what was durable until all have closed.
    @Test func `an acknowledged commit that is damaged behind a kill is missed`() throws {
        for key in [[], FileCipherTests.key] {
            unlink(directory.file())
            let files = RecordingFileSystem()
            let store = try open(key: key, files)
            try grow(store)
            var model: ToyModel = [:]
            let older = TestSettings.readFile(directory.file())
            let pin = try ToyClient.commit(store, &model, [1: 9])
            let root = store.codec.offset(pin.root.page)
            files.killAfter = 0
            try? store.close()
            var bytes = TestSettings.readFile(directory.file())
            bytes[root + 100] ^= 1
            TestSettings.writeFile(directory.file(), bytes)
            #expect(errorCode { _ = try open(key: key) } == .invalidDatabase)
            // A copy that was made before, put in its place, is no damage.
            TestSettings.writeFile(directory.file(), older)
            let restored = try open(key: key)
            #expect(restored.newestVersion == pin.version - 1)
            try restored.close()
        }
    }

    @Test func aClosedFileIsRefusedAtEveryShorterLength() throws {
        let store = try open()
        try grow(store)
        try store.close()
        try expectRefusedAtEveryLength()
    }

    @Test func theLastToCloseMayBeAReader() throws {
        let store = try open()
        try grow(store)
        let reader = try open(readOnly: true)
        try store.close()
        try reader.close()
        try expectRefusedAtEveryLength()
    }

    @Test func theLastToCloseMayHaveWrittenNothing() throws {
        let store = try open()
        let other = try open()
        try grow(store)
        try store.close()
        try other.close()
        try expectRefusedAtEveryLength()
    }

    @Test func aReaderThatIsKilledAfterTheWriterClosedDoesNoHarm() throws {
        let child = try ChildProcess("pin", path: directory.file())
        try ChildProcess.waitFor(directory.file() + ".ready")
        let store = try open()
        try grow(store)
        try store.close()
        child.kill()
        child.wait()
        try expectRefusedAtEveryLength()
    }

    @Test func whoClosesWhileAnotherCommitsDoesNotWait() throws {
        let store = try open()
        let other = try open()
        try grow(store)
        let lease = try #require(try store.beginWrite(wait: true))
        try other.close()
        lease.abandon()
        try store.close()
        try expectRefusedAtEveryLength()
    }

    @Test func aFileThatIsCutWhileOthersHaveItOpenIsNotJoined() throws {
        let store = try open()
        try grow(store)
        let bytes = TestSettings.readFile(directory.file())
        #expect(truncate(directory.file(), bytes.count / 2) == 0)
        #expect(errorCode { _ = try open() } == .invalidDatabase)
        TestSettings.writeFile(directory.file(), bytes)
        try open().close()
        try store.close()
    }
}
