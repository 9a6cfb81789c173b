import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Threads of one process on one store and on two stores of a file; to be run with the thread
/// sanitizer as well.
@Suite struct ConcurrencyTests {
    private let directory = TemporaryDirectory()

    private func open(encrypted: Bool = false) throws -> Store {
        var options = StoreOptions()
        options.inMemory = !encrypted
        if encrypted { options.encryptionKey = FileCipherTests.key }
        options.spaceLimits = .tiny
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
    }

    /// Runs the bodies on threads of their own; their errors become issues.
    private func race(_ bodies: [() throws -> Void]) {
        let failures = Lock()
        nonisolated(unsafe) var messages: [String] = []
        nonisolated(unsafe) let bodies = bodies
        DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
            do { try bodies[index]() } catch {
                failures.lock()
                messages.append("\(error)")
                failures.unlock()
            }
        }
        for message in messages { Issue.record("\(message)") }
    }

    @Test(arguments: [false, true])
    func readersPinVersionsWhileWritersCommit(_ encrypted: Bool) throws {
        let stores = [try open(encrypted: encrypted), try open(encrypted: encrypted)]
        let count = TestSettings.number("REALM_RACE_STEPS", 150)
        func write(_ store: Store) throws {
            for _ in 0..<count { _ = try VersionedWorkload.commitNext(store) }
        }
        func read(_ store: Store) throws {
            var seen: UInt64 = 0
            while seen < UInt64(1 + 2 * count) {
                let pin = try store.pinNewest()
                guard pin.version >= seen else {
                    throw ToyFailure(description: "version went back")
                }
                seen = pin.version
                let shared = try store.pin(version: seen)
                try ToyClient.verify(store, shared, VersionedWorkload.model(seen))
                store.unpin(seen)
                store.unpin(seen)
            }
        }
        func pinOnly(_ store: Store) throws {
            while store.newestVersion < UInt64(1 + 2 * count) {
                store.unpin(try store.pinNewest().version)
                _ = store.liveVersionCount()
            }
        }
        race([
            { try write(stores[0]) }, { try write(stores[1]) }, { try read(stores[0]) },
            { try read(stores[1]) }, { try pinOnly(stores[0]) },
        ])
        #expect(stores[0].newestVersion == UInt64(1 + 2 * count))
        #expect(stores[0].liveVersionCount() == 1)
    }

    /// The last to close removes the lock file, too; whoever waits for it then finds the next one.
    @Test func inMemoryRealmsLeaveNothingHoweverTheyAreOpenedAndClosed() throws {
        let count = TestSettings.number("REALM_RACE_STEPS", 150)
        func openOften() throws {
            for _ in 0..<count {
                let store = try open()
                let version = try VersionedWorkload.commitNext(store)
                guard store.newestVersion >= version else {
                    throw ToyFailure(description: "another one has the file")
                }
                try VersionedWorkload.verifyNewest(store)
                try store.close()
            }
        }
        func deleteOften() throws {
            for _ in 0..<count {
                do throws(RealmError) {
                    _ = try Realm.deleteFiles(directory.file())
                } catch {
                    guard error.code == .deleteOpenedRealm else { throw error }
                }
            }
        }
        race([openOften, openOften, openOften, deleteOften])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        let stores = [try open(), try open()]
        try stores[0].close()
        #expect(access(directory.file() + ".lock", F_OK) == 0)
        try stores[1].close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func aLeaseMayEndOnAnotherThread() throws {
        let store = try open()
        let lease = try store.beginWrite(wait: true)
        race([{ lease?.abandon() }])
        #expect(try VersionedWorkload.commitNext(store) == 2)
    }

    @Test func manyVersionsMayBePinned() throws {
        let store = try open()
        var held: [UInt64] = []
        for _ in 0..<600 {
            _ = try VersionedWorkload.commitNext(store)
            held.append(try store.pinNewest().version)
        }
        #expect(store.liveVersionCount() == 600)
        let other = try open()
        #expect(other.liveVersionCount() == 600)
        for version in held.dropLast() { store.unpin(version) }
        #expect(other.liveVersionCount() == 1)
    }
}
