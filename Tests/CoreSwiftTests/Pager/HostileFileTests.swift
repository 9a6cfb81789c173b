import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Files that are not what they should be: an error or correct data, never a crash.
@Suite struct HostileFileTests {
    private let directory = TemporaryDirectory()

    private var options: StoreOptions {
        var options = StoreOptions()
        options.spaceLimits = .tiny
        options.reservedBytes = 64 << 20
        return options
    }

    private var inMemory: StoreOptions {
        var options = options
        options.inMemory = true
        return options
    }

    private func code(_ bytes: [UInt8], _ options: StoreOptions) -> ErrorCode? {
        let path = directory.file("hostile.realm")
        TestSettings.writeFile(path, bytes)
        do {
            let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
            let pin = try store.pinNewest()
            store.unpin(pin.version)
            return nil
        } catch {
            return error.code
        }
    }

    /// A closed file with some history, and the model of each version.
    private func makeFile(_ commits: Int = 40) throws -> (bytes: [UInt8], models: [ToyModel]) {
        let path = directory.file("good.realm")
        let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        var random = Random(21)
        var models: [ToyModel] = [[:], [:]]
        for step in 1...commits {
            var model = models[models.count - 1]
            let pin = try ToyClient.commit(
                store, &model, ToyClient.randomChanges(&random, UInt64(step)))
            store.unpin(pin.version)
            models.append(model)
        }
        try store.close()
        return (TestSettings.readFile(path), models)
    }

    @Test func filesThatAreNotRealmsAreRefused() {
        #expect(code([], options) == nil)
        #expect(code(Array("hello, world".utf8), options) == .invalidDatabase)
        #expect(code([UInt8](repeating: 0x41, count: 100_000), options) == .invalidDatabase)
        #expect(code([UInt8](repeating: 0, count: 1_000_000), options) == .invalidDatabase)
        // Only no bytes at all are a new realm.
        for count in [1, 300, 512, 4096, 5000, 8192, 12288, 16384] {
            for options in [options, inMemory] {
                #expect(
                    code([UInt8](repeating: 0, count: count), options) == .invalidDatabase,
                    "\(count) zeros")
            }
        }
        #expect(code([], inMemory) == nil)
        // SQLite's magic.
        #expect(
            code(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 8176), options)
                == .invalidDatabase)
    }

    @Test func pathsThatCanNotBeOpenedHaveTheCodesOfTheContract() throws {
        func code(_ path: String, _ options: StoreOptions = StoreOptions()) -> ErrorCode? {
            do {
                _ = try Store.open(path: path, options: options, files: SystemCalls.shared)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(directory.path + "/missing/x.realm") == .fileNotFound)
        #expect(code(directory.path) == .fileOperationFailed)
        var options = StoreOptions()
        options.immutable = true
        #expect(code(directory.file("missing.realm"), options) == .fileNotFound)
        #expect(access(directory.file("missing.realm") + ".lock", F_OK) != 0)
        options.immutable = false
        options.create = false
        #expect(code(directory.file("missing.realm"), options) == .fileNotFound)
        #expect(code("/proc/x.realm") != nil)
        unlink(directory.path + ".lock")
    }

    @Test func otherFormatVersionsAreNamed() throws {
        var bytes = try makeFile(3).bytes
        for slot in 0..<2 {
            bytes.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                let start = base + slot * Page.size
                start.put(UInt32(9), 8)
                repairHeader(start)
            }
        }
        #expect(code(bytes, options) == .unsupportedFileFormatVersion)
    }

    @Test func truncatedFilesAreRefused() throws {
        let bytes = try makeFile().bytes
        for pages in 0..<bytes.count / Page.size where pages != 0 {
            #expect(code(Array(bytes[0..<pages * Page.size]), options) == .invalidDatabase)
        }
        #expect(code(Array(bytes[0..<bytes.count - 1]), options) == .invalidDatabase)
        #expect(code(Array(bytes[0..<300]), options) == .invalidDatabase)
        // Something behind the end does no harm.
        #expect(code(bytes + [1, 2, 3], options) == nil)
    }

    /// Opens, reads all, writes, reads again. Whatever version is found must be right.
    private func use(_ bytes: [UInt8], _ models: [ToyModel]?) throws {
        let path = directory.file("hostile.realm")
        TestSettings.writeFile(path, bytes)
        var immutable = options
        immutable.immutable = true
        for options in [immutable, options] {
            do {
                let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
                let pin = try store.pinNewest()
                if let models {
                    guard pin.version < UInt64(models.count) else {
                        throw ToyFailure(description: "opened at version \(pin.version)")
                    }
                    do {
                        try ToyClient.verify(store, pin, models[Int(pin.version)])
                    } catch let error as ToyFailure {
                        throw error
                    } catch {}
                }
                _ = try store.statistics()
                guard !options.immutable else { continue }
                var model: ToyModel = [:]
                for step in 0..<3 as Range<Int> {
                    let pin = try ToyClient.commit(store, &model, [step: 77, 3: nil])
                    store.unpin(pin.version)
                }
                try store.close()
            } catch is RealmError {
            }
        }
    }

    @Test func everyFlippedBitIsNoticedOrHarmless() throws {
        let (bytes, models) = try makeFile()
        for item in Campaign("flipped bits", seconds: 5, atLeast: 300) {
            var random = item.random
            var copy = bytes
            // Half of them in the places where the pager's own data begins.
            let offset =
                random.below(2) == 0
                ? random.below(bytes.count)
                : min(
                    random.below(bytes.count / Page.size) * Page.size + random.below(200),
                    bytes.count - 1)
            copy[offset] ^= UInt8(1 << random.below(8))
            do { try use(copy, models) } catch {
                Issue.record("bit flipped at \(offset), seed \(item.seed): \(error)")
            }
        }
    }

    @Test func forgedHeadersRootsAndMapsDoNotCrash() throws {
        let (bytes, _) = try makeFile()
        for item in Campaign("forged files", seconds: 4, atLeast: 300) {
            var random = item.random
            try use(forge(bytes, &random), nil)
        }
    }

    private func repairHeader(_ start: UnsafeMutableRawPointer) {
        start.put(UInt64(0), 496)
        start.put(UInt64(0), 504)
        let check = ContentHash.of(start, count: FileHeader.slotBytes, seed0: 0, seed1: 0)
        start.put(check.low, 496)
        start.put(check.high, 504)
    }

    /// Changes a few fields of header, root or space map and makes the check values right again.
    private func forge(_ bytes: [UInt8], _ random: inout Random) -> [UInt8] {
        var copy = bytes
        copy.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            // The newest header.
            var start = base
            for slot in 0..<2 {
                let other = base + slot * Page.size
                if UnsafeRawPointer(other).u64(40) > UnsafeRawPointer(start).u64(40) {
                    start = other
                }
            }
            var reference = BlockReference(start + 48)
            let target = random.below(3)
            if target > 0 {
                let root = base + Int(reference.page) * Page.size
                if target == 1 {
                    mutate(root, fields: 80, &random)
                } else {
                    let map = Int(UnsafeRawPointer(root).u32(68))
                    let count = Int(UnsafeRawPointer(root).u32(72))
                    for _ in 0..<(1 + random.below(4)) {
                        root.put(UInt8(random.below(256)), map + random.below(max(count, 1)))
                    }
                }
                reference = BlockCodec.seal(
                    root, page: reference.page, pages: reference.pageCount,
                    version: reference.version)
                reference.store(start + 48)
            }
            if target == 0 || random.below(8) == 0 { mutate(start + 16, fields: 72, &random) }
            repairHeader(start)
            let slot = (start - base) / Page.size
            if random.below(2) == 0,
                case .valid(let header) = FileHeader.decode(start, slot: slot)
            {
                // As if known to be complete, which skips verification.
                SyncRecord(header).encode(base + SyncRecord.offset(slot: slot))
            }
        }
        return copy
    }

    private func mutate(
        _ base: UnsafeMutableRawPointer, fields bytes: Int, _ random: inout Random
    ) {
        for _ in 0..<(1 + random.below(3)) {
            let offset = random.below(bytes / 4) * 4
            switch random.below(5) {
            case 0: base.put(UInt32(truncatingIfNeeded: random.next()), offset)
            case 1: base.put(UInt32.max, offset)
            case 2: base.put(UInt32(0), offset)
            case 3: base.put(UnsafeRawPointer(base).u32(offset) &+ 1, offset)
            default: base.put(UnsafeRawPointer(base).u32(offset) &- 1, offset)
            }
        }
    }
}
