// Commits of other stores, heard by the thread that listens. Here the stores are of one process: each
// has its own record in the lock file, as if it were of another. To be run with the thread sanitizer as
// well.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ListenerThreadTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> Store {
        var options = StoreOptions()
        options.inMemory = true
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
    }

    private func commit(_ store: Store) throws {
        let begun = try store.beginWrite(wait: true)
        let lease = try #require(begun)
        let commit = try lease.prepareCommit(pages: 0, freed: [])
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        store.unpin(try commit.publish(payload: nothing).version)
    }

    /// Keeps the newest version that a listener told.
    private final class Heard: @unchecked Sendable {
        let changed = Condition()
        var version: UInt64 = 0
        /// A moment of rest after each call.
        var isBusy = false

        func listen(_ store: Store) throws -> CommitListener {
            let listener = try CommitListener(store) { [self] version in
                changed.lock()
                self.version = max(self.version, version)
                changed.wakeAll()
                defer { changed.unlock() }
                return !isBusy
            }
            return try #require(listener)
        }

        /// False when it takes half of the time after which a listener looks by itself.
        func hears(_ wanted: UInt64) -> Bool {
            changed.lock()
            defer { changed.unlock() }
            let end = Condition.deadline(500_000_000)
            while version < wanted {
                if !changed.wait(until: end) { return version >= wanted }
            }
            return true
        }
    }

    @Test func `no commit is missed, however it falls between looking and sleeping`() throws {
        let writers = [try open(), try open()]
        let stores = [try open(), try open(), try open()]
        let heard = stores.map { _ in Heard() }
        heard[2].isBusy = true
        let listeners = try zip(heard, stores).map { try $0.listen($1) }
        var missed = 0
        for number in 0..<TestSettings.number("REALM_RACE_STEPS", 2000) {
            let writer = writers[number % 2]
            try commit(writer)
            // The others sleep by now, or are about to; with the number the moments vary.
            if number % 3 > 0, !heard[number % 3 - 1].hears(writer.newestVersion) { missed += 1 }
            if number % 50 == 0, !heard.allSatisfy({ $0.hears(writer.newestVersion) }) {
                missed += 1
            }
        }
        for one in heard { #expect(one.hears(writers[0].newestVersion)) }
        #expect(missed == 0)
        for listener in listeners { listener.end() }
        for store in stores + writers { try store.close() }
    }

    @Test func `a store's own commits cost nothing while nobody else waits`() throws {
        let store = try open()
        let other = try open()
        let heard = Heard()
        let listener = try heard.listen(store)
        #expect(heard.hears(store.newestVersion))
        try commit(other)
        #expect(heard.hears(store.newestVersion))
        // Its bit may be set, that of the other is not.
        for _ in 0..<20 { try commit(store) }
        #expect(waiting(store) & ~store.lockFile.waitingBit == 0)
        listener.end()
        // What is left of who waited goes with the next commit.
        try commit(other)
        try commit(other)
        #expect(waiting(store) == 0)
        try store.close()
        try other.close()
    }

    /// Who waits, as the lock file says.
    private func waiting(_ store: Store) -> UInt32 {
        UInt32(truncatingIfNeeded: store.lockFile.word(104).pointee)
    }

    @Test func `listeners come and go while others commit`() throws {
        let writer = try open()
        let stores = [try open(), try open()]
        let isDone = Counter()
        let threads = stores.map { store in
            TestThread {
                do {
                    for _ in 0..<60 {
                        let heard = Heard()
                        let listener = try heard.listen(store)
                        let version = store.newestVersion
                        if !heard.hears(version) { Issue.record("nothing was heard") }
                        listener.end()
                    }
                } catch {
                    Issue.record("\(error)")
                }
                isDone.add()
            }
        }
        while isDone.value < 2 { try commit(writer) }
        for thread in threads { thread.join() }
        for store in stores + [writer] { try store.close() }
    }
}
