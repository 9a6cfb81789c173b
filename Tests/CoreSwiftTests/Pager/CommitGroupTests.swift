import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

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
            #expect(pin.version == first + stamp)
            store.unpin(pin.version)
            let seen = try other.pinNewest()
            try ToyClient.verify(other, seen, model)
            other.unpin(seen.version)
        }
        #expect(syncs(files) == before)
        try store.makeDurable(store.newestVersion)
        #expect(syncs(files) == before + 1)
        // The next one is in the slot that the group spared.
        let next = try ToyClient.commit(store, &model, [0: 99], joinsGroup: true)
        #expect(next.version == first + 11)
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

    /// While a version becomes durable, another thread makes the next one: its blocks are written, its header is
    /// not. Whatever of it a crash leaves, the file has a version, and the durable one or a later one.
    @Test(arguments: [false, true], [0, 1])
    func `the next commit writes its blocks while the group is synced`(
        _ isEncrypted: Bool, _ syncsBefore: Int
    ) throws {
        let files = RecordingFileSystem()
        var options = StoreOptions()
        options.reservedBytes = 64 << 20
        if isEncrypted { options.encryptionKey = FileCipherTests.key }
        func open(_ path: String, _ files: FileSystem) throws -> Store {
            try Store.open(path: path, options: options, files: files)
        }
        let store = try open(directory.file(), files)
        // A sync whose number is odd covers nothing that is written meanwhile.
        while files.syncCount % 2 != syncsBefore { try store.file.sync() }
        var model: ToyModel = [:]
        var models: [UInt64: ToyModel] = [store.newestVersion: model]
        func commit(_ stamp: UInt64) throws {
            var changes: [Int: UInt64?] = [:]
            for leaf in 0..<6 { changes[Int(stamp) % 3 + leaf * 2] = stamp }
            let pin = try ToyClient.commit(store, &model, changes, joinsGroup: true, soft: true)
            models[pin.version] = model
            store.unpin(pin.version)
        }
        try commit(1)
        try commit(2)
        let waiting = store.newestVersion
        var next: TestThread?
        var writtenMeanwhile = 0
        files.duringSync = {
            files.duringSync = nil
            let before = files.eventsSoFar.count
            next = TestThread {
                do { try commit(3) } catch { Issue.record("\(error)") }
            }
            for _ in 0..<2000 where files.eventsSoFar.count == before { usleep(1000) }
            // It waits for the end of the sync now.
            usleep(20_000)
            for event in files.eventsSoFar[before...] {
                guard case .write(let offset, _) = event else { continue }
                #expect(offset >= Int(FileHeader.firstBlockPage) * Page.size)
                writtenMeanwhile += 1
            }
            #expect(store.newestVersion == waiting)
        }
        try store.makeDurable(waiting)
        let durableEvents = files.eventsSoFar.count
        let thread = try #require(next)
        thread.join()
        #expect(writtenMeanwhile > 0)
        #expect(store.newestVersion == waiting + 1)
        // Its slot is the other one, and its root lists nothing of the group that is durable.
        let newest = try store.pinNewest()
        #expect(try VersionRoot(store.admit(newest.root), newest.root).olderVersionsListed.isEmpty)
        try ToyClient.verify(store, newest, model)
        store.unpin(newest.version)

        var random = Random(7)
        var replay = CrashReplay()
        let path = directory.file("image.realm")
        for (number, event) in files.events.enumerated() {
            replay.advance(event)
            guard number > durableEvents - 30 else { continue }
            for attempt in 0..<12 {
                try (attempt == 0 ? replay.least : replay.image(&random)).save(path)
                let image = try open(path, SystemCalls.shared)
                let pin = try image.pinNewest()
                try ToyClient.verify(image, pin, try #require(models[pin.version]))
                if number >= durableEvents { #expect(pin.version >= waiting) }
                image.unpin(pin.version)
                try image.close()
                unlink(path + ".lock")
            }
        }
        try store.close()
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
        let files = RecordingFileSystem()
        let store = try open(files)
        let before = syncs(files)
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
        #expect(Int(store.newestVersion - first) == count)
        // At most those that waited, and one for each full group.
        #expect(syncs(files) - before <= count / 10 + count / CommitGroup.commitsMax)
        try store.close()
    }

    /// The version of each header slot, whatever the other one is.
    private func slots(_ path: String) throws -> [FileHeader?] {
        let file = try OpenFile(path, .readOnly, SystemCalls.shared)
        return try (0...1).map {
            guard case .valid(let header) = try Store.readSlot(file, $0) else { return nil }
            return header
        }
    }

    /// A commit that counts as several, as those of transactions that were joined do.
    @discardableResult
    private func commit(
        _ store: Store, _ model: inout ToyModel, _ changes: [Int: UInt64?], versions: UInt64,
        soft: Bool = false
    ) throws -> UInt64 {
        let begun = try store.beginWrite(wait: true, joinsGroup: true)
        let lease = try #require(begun)
        let pin = try ToyClient.commit(
            lease, &model, changes, soft: soft, versions: versions)
        store.unpin(pin.version)
        return pin.version
    }

    @Test func `the slot is the one that does not hold the durable version, whatever the number`()
        throws
    {
        let store = try open()
        let reader = try open()
        var model: ToyModel = [:]
        var durable = store.newestVersion
        var random = Random(7)
        for round in 1...60 as ClosedRange<UInt64> {
            let step = UInt64(1 + random.below(5))
            let soft = random.below(3) > 0
            let isFirst = store.group.state == nil
            let before = store.newestVersion
            let version = try commit(
                store, &model, [Int(round % 40): round], versions: step, soft: soft)
            #expect(version == before + step)
            let now = try slots(directory.file())
            #expect(now.contains { $0?.version == version })
            // The durable one stays as long as the new one is not.
            if soft || isFirst { #expect(now.contains { $0?.version == durable }) }
            if store.group.state == nil { durable = version }
            let pin = try reader.pinNewest()
            #expect(pin.version == version)
            try ToyClient.verify(reader, pin, model)
            reader.unpin(pin.version)
            if random.below(4) == 0 {
                try store.makeDurable(version)
                durable = version
            }
        }
        let last = store.newestVersion
        try store.close()
        try reader.close()
        let again = try open()
        #expect(again.newestVersion == last)
        let pin = try again.pinNewest()
        try ToyClient.verify(again, pin, model)
        again.unpin(pin.version)
        try again.close()
    }

    @Test func `headers say format 2 only where format 1 would be wrong`() throws {
        func formats() throws -> [UInt32] {
            let bytes = TestSettings.readFile(directory.file())
            return bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map { [$0.u32(8), ($0 + Page.size).u32(8)] } ?? []
            }
        }
        let store = try open()
        var model: ToyModel = [:]
        for stamp in 1...3 as ClosedRange<UInt64> {
            try commit(store, &model, [1: stamp], versions: 1)
        }
        #expect(try formats() == [1, 1])
        // Two numbers: the slot is not that of the parity; another two: it is again.
        try commit(store, &model, [1: 4], versions: 2)
        #expect(try formats().sorted() == [1, 2])
        try commit(store, &model, [1: 5], versions: 1)
        #expect(try formats() == [2, 2])
        try commit(store, &model, [1: 6], versions: 2)
        try commit(store, &model, [1: 7], versions: 1)
        #expect(try formats() == [1, 1])
        // The list of a group has distances of two bytes or more.
        try commit(store, &model, [2: 8], versions: 1, soft: true)
        #expect(try formats() == [1, 1])
        try commit(store, &model, [2: 9], versions: 70_000, soft: true)
        #expect(try formats().contains(2))
        let pin = try store.pinNewest()
        let root = try VersionRoot(try store.admit(pin.root), pin.root)
        #expect(root.olderVersionsListed == [pin.version - 70_000])
        try ToyClient.verify(store, pin, model)
        store.unpin(pin.version)
        try store.close()
    }

    /// What is left when a process is killed between the header of a version and its publication.
    @Test func `a header over that of the committed version is put right before work goes on`()
        throws
    {
        let store = try open()
        let other = try open()
        var model: ToyModel = [:]
        try commit(store, &model, [1: 1], versions: 1)
        let durable = store.newestVersion
        try commit(store, &model, [1: 2], versions: 1, soft: true)
        let committed = store.newestVersion
        let kept = try #require(
            try slots(directory.file()).first { $0?.version == committed } ?? nil)
        // Its successor in the same slot, complete but never published.
        var dead = kept
        dead.version += 1
        try store.writeHeader(dead)
        let pin = try other.pinNewest()
        #expect(pin.version == committed)
        try ToyClient.verify(other, pin, model)
        other.unpin(pin.version)
        try other.beginWrite(wait: true)?.abandon()
        let now = try slots(directory.file())
        #expect(now.contains { $0?.version == committed && $0?.root == kept.root })
        #expect(now.contains { $0?.version == durable })
        try commit(other, &model, [3: 3], versions: 1)
        let newest = try other.pinNewest()
        try ToyClient.verify(other, newest, model)
        other.unpin(newest.version)
        // So is one that was wiped after a failure.
        try commit(other, &model, [3: 4], versions: 1, soft: true)
        let wiped = other.newestVersion
        other.wipeHeader(try #require(other.group.state?.slot))
        try store.beginWrite(wait: true)?.abandon()
        #expect(try slots(directory.file()).contains { $0?.version == wiped })
        try store.close()
        try other.close()
    }

    private final class Shared: @unchecked Sendable {
        private let lock = NSLock()
        private(set) var failures: [String] = []
        func note(_ failure: String) { lock.withLock { failures.append(failure) } }
    }
}
