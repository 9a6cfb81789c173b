import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What somebody can do to an encrypted file without its key, and the nonces in it.
@Suite struct SealedFileTests {
    private let directory = TemporaryDirectory()
    private static let key = FileCipherTests.key

    private static func options(_ key: [UInt8] = key) -> StoreOptions {
        var options = StoreOptions()
        options.encryptionKey = key
        options.reservedBytes = 64 << 20
        // By two cores, which must not give a nonce twice.
        options.sharedSealingPagesMin = 1
        return options
    }

    private static func open(
        _ path: String, _ files: FileSystem = SystemCalls.shared
    ) throws -> Store {
        try Store.open(path: path, options: options(), files: files)
    }

    /// A file of a few versions; returns what the newest has.
    private func make(_ path: String, steps: Int = 6) throws -> ToyModel {
        let store = try Self.open(path)
        var model: ToyModel = [:]
        var random = Random(5)
        for step in 1...steps {
            let pin = try ToyClient.commit(
                store, &model, ToyClient.randomChanges(&random, UInt64(step)))
            store.unpin(pin.version)
        }
        try store.close()
        return model
    }

    /// The newest version's blocks: where their bytes are in the file.
    private func places(_ path: String) throws -> [(reference: BlockReference, bytes: Range<Int>)] {
        let store = try Self.open(path)
        defer { try? store.close() }
        let pin = try store.pinNewest()
        let (index, leaves) = try ToyClient.references(store, pin)
        return ([pin.root] + [index!] + Array(leaves.values)).map { reference in
            let start = store.codec.offset(reference.page)
            return (
                reference, start..<start + store.codec.sealedBytes(pages: reference.pageCount)
            )
        }
    }

    /// Opens and reads everything; an older version is as good as an error, other data is not.
    private func outcome(_ path: String, _ model: ToyModel) throws -> String {
        _ = unlink(path + ".lock")
        let store: Store
        do {
            store = try Self.open(path)
        } catch let error as RealmError {
            #expect(error.code == .invalidDatabase, "\(error.message)")
            return "refused"
        }
        defer { try? store.close() }
        do {
            let pin = try store.pinNewest()
            try ToyClient.verify(store, pin, model)
            return "unharmed"
        } catch let error as RealmError {
            #expect(error.code == .invalidDatabase, "\(error.message)")
            return "refused"
        } catch {
            return "other data: \(error)"
        }
    }

    @Test func eachFlippedByteOfTheNewestVersionIsFound() throws {
        let path = directory.file()
        let model = try make(path)
        let bytes = TestSettings.readFile(path)
        let blocks = try places(path)
        let target = directory.file("flipped.realm")
        var random = Random(TestSettings.seed("flipped bytes"))
        for (reference, range) in blocks {
            // Each of the first and last, where fields are, and many between.
            let some =
                Array(range.prefix(48)) + Array(range.suffix(130))
                + (0..<60).map { _ in range.lowerBound + random.below(range.count) }
            for place in some {
                var damaged = bytes
                damaged[place] ^= 1 << UInt8(random.below(8))
                TestSettings.replaceFile(target, damaged)
                #expect(
                    try outcome(target, model) == "refused", "byte \(place) of \(reference)")
            }
        }
    }

    @Test func eachFlippedByteOfTheHeaderIsFoundOrDoesNoHarm() throws {
        let path = directory.file()
        let model = try make(path)
        let bytes = TestSettings.readFile(path)
        let target = directory.file("flipped.realm")
        var found = 0
        for slot in [0, Page.size] {
            for place in slot..<slot + FileHeader.slotBytes {
                var damaged = bytes
                damaged[place] ^= 0x10
                TestSettings.replaceFile(target, damaged)
                if try outcome(target, model) == "refused" { found += 1 }
            }
        }
        // One of the slots is that of the newest version; the sync record says that there is one.
        #expect(found >= FileHeader.slotBytes)
    }

    @Test func blocksOfOtherPlacesVersionsAndFilesAreRefused() throws {
        let path = directory.file()
        let model = try make(path)
        let bytes = TestSettings.readFile(path)
        let blocks = try places(path)
        // The same key and content, another file.
        let other = directory.file("other.realm")
        _ = try make(other)
        let foreign = TestSettings.readFile(other)
        #expect(foreign.count == bytes.count)
        let target = directory.file("swapped.realm")
        for (reference, range) in blocks {
            var damaged = bytes
            damaged.replaceSubrange(range, with: foreign[range])
            TestSettings.replaceFile(target, damaged)
            #expect(try outcome(target, model) == "refused", "\(reference) of another file")
            for (another, source) in blocks
            where another != reference && source.count == range.count {
                damaged = bytes
                damaged.replaceSubrange(range, with: bytes[source])
                TestSettings.replaceFile(target, damaged)
                #expect(try outcome(target, model) == "refused", "\(reference) by \(another)")
            }
        }
        // All of the other file but the header.
        var damaged = foreign
        damaged.replaceSubrange(0..<2 * Page.size, with: bytes[0..<2 * Page.size])
        TestSettings.replaceFile(target, damaged)
        #expect(try outcome(target, model) == "refused")
    }

    @Test func slotsThatAreExchangedOrTurnedBackGiveNoMix() throws {
        let path = directory.file()
        var model = try make(path)
        let old = TestSettings.readFile(path)
        let oldModel = model
        let store = try Self.open(path)
        var random = Random(6)
        for step in 100...130 {
            let pin = try ToyClient.commit(
                store, &model, ToyClient.randomChanges(&random, UInt64(step)))
            store.unpin(pin.version)
        }
        try store.close()
        let new = TestSettings.readFile(path)
        let target = directory.file("turned.realm")
        let slots = [0, Page.size].map { $0..<$0 + FileHeader.slotBytes }
        func write(_ change: (inout [UInt8]) -> Void) {
            var damaged = new
            change(&damaged)
            TestSettings.replaceFile(target, damaged)
        }
        write {
            $0.replaceSubrange(slots[0], with: new[slots[1]])
            $0.replaceSubrange(slots[1], with: new[slots[0]])
        }
        #expect(try outcome(target, model) == "refused")
        // One slot of the old file, both, and both with their sync records: never other data than that
        // of some version, and what was overwritten since is missed.
        for pages in [[slots[0]], [slots[1]], slots, [0..<Page.size, Page.size..<2 * Page.size]] {
            write { for range in pages { $0.replaceSubrange(range, with: old[range]) } }
            var now = try outcome(target, model)
            if now.hasPrefix("other data") { now = try outcome(target, oldModel) }
            #expect(now == "unharmed" || now == "refused")
        }
    }

    /// Each message's nonce, of all that was ever written to the file. A message that was written again
    /// as it is counts once.
    private func nonces(_ files: RecordingFileSystem, _ codec: BlockCodec) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var messages: Set<[UInt8]> = []
        func add(_ bytes: ArraySlice<UInt8>) {
            let nonce = Array(bytes.prefix(FileCipher.nonceBytes))
            // Zeros are space that the file grew by, and slots that were wiped.
            guard nonce.contains(where: { $0 != 0 }) else { return }
            // With the tag, which another text would not have.
            if messages.insert(Array(bytes.prefix(FileCipher.prefixBytes))).inserted {
                found.append(nonce)
            }
        }
        for case .write(let offset, let bytes) in files.events {
            if offset % Page.size == 0, offset < 2 * Page.size {
                add(bytes[96...])
            } else if offset < 2 * Page.size {
                add(bytes[...])
            } else {
                // Pages that begin no block hold bytes of one; those are as good as different.
                let stride = Page.size + FileCipher.prefixBytes
                for start in Swift.stride(from: 0, to: bytes.count, by: stride) {
                    add(bytes[start...])
                }
            }
        }
        return found
    }

    @Test func noncesNeverRepeatAlsoAfterFailedCommitsAndReopening() throws {
        let path = directory.file()
        let files = RecordingFileSystem()
        var model: ToyModel = [:]
        var random = Random(7)
        var store = try Self.open(path, files)
        var failures = 0
        for call in 1...60 {
            // Each call of a commit fails in turn, before or after blocks were written: the next commit
            // has the same version and pages.
            let changes = ToyClient.randomChanges(&random, UInt64(call))
            files.faults = [files.calls + 1 + call % 9: .error(EIO)]
            var tried = model
            let pin = try? ToyClient.commit(store, &tried, changes)
            files.faults = [:]
            if let pin {
                model = tried
                store.unpin(pin.version)
                continue
            }
            failures += 1
            if call % 2 == 0 || (try? store.pinNewest()) == nil {
                try? store.close()
                store = try Self.open(path, files)
            }
        }
        #expect(failures > 20)
        let all = nonces(files, store.codec)
        #expect(all.count > 100)
        #expect(Set(all).count == all.count)
        try ToyClient.verify(store, try store.pinNewest(), model)
        try store.close()
    }

    /// Each has the file open for itself, as processes have.
    @Test func writersInTurnsHaveNoNonceInCommon() throws {
        let path = directory.file()
        let files = RecordingFileSystem()
        let stores = try (0..<3).map { _ in try Self.open(path, files) }
        var model: ToyModel = [:]
        for step in 1...30 {
            let writer = stores[step % 3]
            let pin = try ToyClient.commit(
                writer, &model, [step % 5: UInt64(step), 7: UInt64(step)])
            writer.unpin(pin.version)
        }
        let all = nonces(files, stores[0].codec)
        #expect(all.count > 100)
        #expect(Set(all).count == all.count)
        // All three wrote: each has a salt of its own.
        #expect(Set(all.map { $0.prefix(FileCipher.writerSaltBytes) }).count >= 3)
        try ToyClient.verify(stores[2], try stores[2].pinNewest(), model)
        for store in stores { try store.close() }
    }

    @Test func twoCopiesOfAFileThatGoOnHaveNoNonceInCommon() throws {
        let path = directory.file()
        _ = try make(path)
        let copy = directory.file("copy.realm")
        TestSettings.writeFile(copy, TestSettings.readFile(path))
        var all: [[UInt8]] = []
        for file in [path, copy] {
            let files = RecordingFileSystem()
            let store = try Self.open(file, files)
            var model: ToyModel = [:]
            for step in 1...10 {
                // The same in both, at the same versions.
                let pin = try ToyClient.commit(store, &model, [step: UInt64(step)])
                store.unpin(pin.version)
            }
            all += nonces(files, store.codec)
            try store.close()
        }
        #expect(all.count > 40)
        #expect(Set(all).count == all.count)
    }

    /// Leaves are sealed by two cores, which write what was sealed before at the same time.
    @Test func aLargeCommitIsSealedByTwoCores() throws {
        let path = directory.file()
        let files = RecordingFileSystem()
        var model: ToyModel = [:]
        var options = Self.options()
        options.reservedBytes = 256 << 20
        var store = try Store.open(path: path, options: options, files: files)
        let changes = Dictionary(
            uniqueKeysWithValues: (0..<1000).map { ($0, UInt64?.some(UInt64($0) + 1)) })
        // Every fifth call fails first.
        var failures = 0
        var before = 0
        while true {
            files.faults = [files.calls + 3 + 5 * failures: .error(ENOSPC)]
            before = files.events.count
            var tried = model
            let pin = try? ToyClient.commit(store, &tried, changes, capacity: 1000)
            files.faults = [:]
            if let pin, pin.version == 2 {
                model = tried
                store.unpin(pin.version)
                break
            }
            failures += 1
            guard failures < 60 else { throw ToyFailure(description: "never succeeds") }
            if (try? store.pinNewest()) == nil {
                try? store.close()
                store = try Store.open(path: path, options: options, files: files)
            }
            #expect(store.newestVersion == 1)
        }
        #expect(failures > 5)
        // All at once it would be five pieces.
        let writes = files.events[before...].count {
            if case .write(let offset, _) = $0 { offset > 2 * Page.size } else { false }
        }
        #expect(writes > 30)
        let all = nonces(files, store.codec)
        #expect(Set(all).count == all.count)
        try store.close()
        store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        try ToyClient.verify(store, try store.pinNewest(), model)
        try store.close()
    }
}
