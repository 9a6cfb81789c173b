import Foundation
import Testing

@testable import CoreSwift

/// Commits that share a sync. What crashes leave of them is shown by `CrashTests`.
@Suite struct CommitGroupTests {
    private let directory = TemporaryDirectory()

    private func open(_ files: FileSystem = SystemCalls.shared) throws -> Store {
        var options = StoreOptions()
        options.reservedBytes = 64 << 20
        return try Store.open(path: directory.file(), options: options, files: files)
    }

    private func syncs(_ files: RecordingFileSystem) -> Int {
        files.events.count { if case .sync = $0 { true } else { false } }
    }

    @Test func softCommitsAreSeenAtOnceAndSyncedTogether() throws {
        let files = RecordingFileSystem()
        let store = try open(files)
        let other = try open()
        var model: ToyModel = [:]
        let before = syncs(files)
        let first = store.newestVersion
        for stamp in 1...10 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(
                store, &model, [Int(stamp): stamp], joinsGroup: true, soft: true)
            #expect(pin.version == first + 2 * stamp - 1)
            store.unpin(pin.version)
            let seen = try other.pinNewest()
            try ToyClient.verify(other, seen, model)
            other.unpin(seen.version)
        }
        #expect(syncs(files) == before)
        try store.makeDurable(store.newestVersion)
        #expect(syncs(files) == before + 1)
        // The next one goes on by one number, in the slot that the group spared.
        let next = try ToyClient.commit(store, &model, [0: 99], joinsGroup: true)
        #expect(next.version == first + 20)
        store.unpin(next.version)
        try store.close()
        try other.close()
    }

    @Test func aDurableCommitCoversThoseBeforeIt() throws {
        let files = RecordingFileSystem()
        let store = try open(files)
        var model: ToyModel = [:]
        for stamp in 1...5 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(
                store, &model, [Int(stamp): stamp], joinsGroup: true, soft: true)
            store.unpin(pin.version)
        }
        let before = syncs(files)
        let waiting = store.newestVersion
        let pin = try ToyClient.commit(store, &model, [7: 7], joinsGroup: true)
        #expect(syncs(files) == before + 1)
        try store.makeDurable(waiting)
        #expect(syncs(files) == before + 1)
        try ToyClient.verify(store, pin, model)
        store.unpin(pin.version)
        try store.close()
    }

    @Test func anotherStoreSyncsWhatItGoesOnFrom() throws {
        let files = RecordingFileSystem()
        let store = try open()
        let other = try open(files)
        var model: ToyModel = [:]
        for round in 1...6 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(
                store, &model, [1: round * 10], joinsGroup: true, soft: true)
            store.unpin(pin.version)
            let before = syncs(files)
            let next = try ToyClient.commit(
                other, &model, [2: round * 10 + 1], joinsGroup: true, soft: true)
            #expect(syncs(files) == before + 1)
            other.unpin(next.version)
        }
        try store.makeDurable(store.newestVersion)
        let pin = try store.pinNewest()
        try ToyClient.verify(store, pin, model)
        store.unpin(pin.version)
        try other.close()
        try store.close()
    }

    @Test func groupsAreBounded() throws {
        let store = try open()
        var model: ToyModel = [:]
        for stamp in 1...200 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(
                store, &model, [Int(stamp % 40): stamp], joinsGroup: true, soft: true)
            store.unpin(pin.version)
            #expect(store.group.state?.versions.count ?? 0 < CommitGroup.commitsMax)
        }
        try store.close()
        let again = try open()
        let pin = try again.pinNewest()
        try ToyClient.verify(again, pin, model)
        again.unpin(pin.version)
        // Nothing stays kept from reuse: one of two versions, and what a commit needs.
        #expect(try again.statistics().filePages < 2000)
        try again.close()
    }

    @Test func aFailedSyncEndsTheFileForAllOfTheGroup() throws {
        let files = RecordingFileSystem()
        let store = try open(files)
        var model: ToyModel = [:]
        let durable = try ToyClient.commit(store, &model, [1: 1])
        store.unpin(durable.version)
        for stamp in 2...4 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(
                store, &model, [Int(stamp): stamp], joinsGroup: true, soft: true)
            store.unpin(pin.version)
        }
        files.resetCalls()
        files.killAtSync = 1
        #expect(throws: RealmError.self) { try store.makeDurable(store.newestVersion) }
        #expect(throws: RealmError.self) { try store.makeDurable(store.newestVersion) }
        #expect(throws: RealmError.self) { try store.beginWrite(wait: true) }
    }

    /// A late failure must not wipe the header of a version that another store made durable.
    @Test func aFailedSyncLeavesWhatOthersCommittedSince() throws {
        let files = RecordingFileSystem()
        let store = try open(files)
        let other = try open()
        var model: ToyModel = [:]
        let waiting = try ToyClient.commit(
            store, &model, [1: 1], joinsGroup: true, soft: true
        ).version
        // The second of these is in the slot that the group had.
        for stamp in 2...3 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(other, &model, [Int(stamp): stamp])
            #expect(pin.version == waiting + stamp - 1)
            other.unpin(pin.version)
        }
        files.resetCalls()
        files.faults[1] = .error(EIO)
        #expect(throws: RealmError.self) { try store.makeDurable(waiting) }
        try? store.close()
        try other.close()
        let again = try open()
        let pin = try again.pinNewest()
        #expect(pin.version == waiting + 2)
        try ToyClient.verify(again, pin, model)
        again.unpin(pin.version)
        try again.close()
    }

    /// After a failed sync a second one says nothing: the kernel may have dropped the pages.
    @Test func aWriterThatCannotSyncWhatItFoundIsRefusedForGood() throws {
        let files = RecordingFileSystem()
        let store = try open()
        let other = try open(files)
        var model: ToyModel = [:]
        store.unpin(
            try ToyClient.commit(store, &model, [1: 1], joinsGroup: true, soft: true).version)
        files.faults[files.calls + 2] = .error(EIO)
        #expect(throws: RealmError.self) { try other.beginWrite(wait: true) }
        #expect(throws: RealmError.self) { try other.beginWrite(wait: true) }
        try? other.close()
        try store.close()
    }

    @Test func threadsShareSyncs() throws {
        let store = try open()
        let first = store.newestVersion
        let count = 8 * 40
        let shared = Shared()
        onThreads(8) { number in
            do {
                for round in 0..<count / 8 {
                    guard let lease = try store.beginWrite(wait: true, joinsGroup: true) else {
                        throw ToyFailure(description: "no lease")
                    }
                    var model: ToyModel = [:]
                    let pin = try ToyClient.commit(
                        lease, &model, [number: UInt64(number * 1000 + round)], soft: true)
                    // Not each time: a sync in memory is done before the next commit comes.
                    if round % 10 == 9 { try store.makeDurable(pin.version) }
                    store.unpin(pin.version)
                }
            } catch { shared.note("\(error)") }
        }
        #expect(shared.failures == [])
        let pin = try store.pinNewest()
        let last = count / 8 - 1
        try ToyClient.verify(
            store, pin,
            Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, UInt64($0 * 1000 + last)) }))
        store.unpin(pin.version)
        // Each that goes on from a version not synced skips a number.
        let shares = Int(store.newestVersion - first) - count
        #expect(shares > count / 8)
        try store.close()
    }

    private final class Shared: @unchecked Sendable {
        private let lock = NSLock()
        private(set) var failures: [String] = []
        func note(_ failure: String) { lock.withLock { failures.append(failure) } }
    }
}
