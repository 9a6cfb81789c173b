import Glibc
import Testing

@testable import CoreSwift

/// A file that lost its end after it was closed is refused, also when the version before its newest
/// needs less of it.
@Suite struct TruncationTests {
    private let directory = TemporaryDirectory()

    private func open(readOnly: Bool = false) throws -> Store {
        var options = StoreOptions()
        options.readOnly = readOnly
        options.reservedBytes = 64 << 20
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
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

    private func expectRefusedAtEveryLength() throws {
        let bytes = TestSettings.readFile(directory.file())
        for count in stride(from: 1, to: bytes.count, by: 2048) {
            TestSettings.writeFile(directory.file(), Array(bytes[..<count]))
            do {
                let store = try open()
                Issue.record(
                    "\(count) of \(bytes.count) bytes open at version \(store.newestVersion)")
                return
            } catch let error as RealmError {
                #expect(error.code == .invalidDatabase)
            }
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
