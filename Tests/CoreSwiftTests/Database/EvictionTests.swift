// Decrypted blocks go and come back while threads read them.

import CKernels
import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct EvictionTests {
    private static let schema = Schema([
        ClassSchema(
            "Note", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("text", .string, flags: [.indexed]),
                PropertySchema("data", .binary),
            ])
    ])
    private static let count = 1200

    private static func bytes(_ id: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(id % 251), count: id % 100 == 0 ? 40_000 : 2500)
    }

    @Test func `threads read what was evicted, beside a writer`() throws {
        let directory = TemporaryDirectory()
        var configuration = Configuration(path: directory.file())
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.encryptionKey = [UInt8](repeating: 5, count: 64)
        // The least: a third of the file.
        configuration.decryptedBytesMax = 1 << 20
        let realm = try Realm.open(configuration)
        try realm.write {
            for id in 0..<Self.count {
                _ = try realm.create(
                    "Note", primaryKey: .int(Int64(id)),
                    ["text": .string("note \(id)"), "data": .binary(Self.bytes(id))])
            }
        }
        realm.close()
        let writer = try Realm.open(configuration)
        let wrong = Counter()
        let read = Counter()
        let threads = try (0..<3).map { number in
            let frozen = try writer.freeze()
            return TestThread {
                var random = Random(UInt64(number))
                for round in 0..<(Self.count / 2) {
                    // One goes through all, the others jump.
                    let id = number == 0 ? round * 2 : random.below(Self.count)
                    let note = try? frozen.find("Note", primaryKey: .int(Int64(id)))
                    if (try? note?.get("data")) != .binary(Self.bytes(id))
                        || (try? note?.get("text")) != .string("note \(id)")
                    {
                        wrong.add()
                    }
                    read.add()
                }
                frozen.close()
            }
        }
        for round in 0..<20 {
            try writer.write {
                let id = Int64(round * 53 % Self.count)
                try writer.find("Note", primaryKey: .int(id))?.set("text", .string("changed"))
            }
        }
        threads.forEach { $0.join() }
        #expect(wrong.value == 0)
        #expect(read.value == 3 * (Self.count / 2))
        let cache = try #require(writer.file.store.mapping.cleartext?.statistics)
        #expect(cache.evictedBytes > 0)
        #expect(try writer.check() == [])
        writer.close()
    }

    /// A block that is in use and was evicted comes back only while it is known: else its readers find zeros.
    @Test func `a block is known until its own pages are written`() throws {
        let directory = TemporaryDirectory()
        var options = StoreOptions()
        options.encryptionKey = [UInt8](repeating: 5, count: 64)
        let store = try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
        let mapping = store.mapping
        let cleartext = try #require(mapping.cleartext)
        func block(_ page: UInt64, _ count: Int) -> BlockReference {
            BlockReference(
                location: BlockReference.location(page: page, count: count), version: page,
                check0: 1000 * page + UInt64(count), check1: 7)
        }
        func write(_ reference: BlockReference) {
            mapping.clear(reference)
            mapping.noteDecrypted(reference)
        }
        let (long, short, behind) = (block(100, 4), block(100, 1), block(102, 1))
        write(long)
        write(short)
        write(behind)
        #expect(!cleartext.holds(long) && cleartext.holds(short) && cleartext.holds(behind))
        write(block(103, 2))
        #expect(cleartext.holds(short) && cleartext.holds(behind))
        // From the middle of one to behind its end.
        write(block(110, 3))
        write(block(112, 2))
        #expect(!cleartext.holds(block(110, 3)) && cleartext.holds(block(112, 2)))
        write(block(111, 1))
        #expect(cleartext.holds(block(112, 2)) && cleartext.holds(block(111, 1)))
        try store.close()
    }

    /// Who has a pointer to an evicted block learns of the damage, also when another reader met it first.
    @Test func `an evicted block that was damaged leaves its place shut`() throws {
        let directory = TemporaryDirectory()
        var options = StoreOptions()
        options.encryptionKey = [UInt8](repeating: 5, count: 64)
        options.decryptedBytesMax = 1 << 20
        let store = try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
        let mapping = store.mapping
        let cleartext = try #require(mapping.cleartext)
        func block(_ page: UInt64, _ count: Int) -> BlockReference {
            BlockReference(
                location: BlockReference.location(page: page, count: count), version: page,
                check0: 1000 * page, check1: 7)
        }
        // As commits leave them, but that nothing of them is in the file.
        func adopt(_ reference: BlockReference) {
            let bytes = [UInt8](repeating: 9, count: reference.pageCount << Page.shift)
            bytes.withUnsafeBytes { mapping.adopt(reference, $0.baseAddress!, keeps: true) }
        }
        let first = block(100, 1)
        adopt(first)
        #expect(cleartext.find(first) == ck_cache_here)
        // 4 MiB more than there is room for.
        for page in 0..<1024 { adopt(block(200 + UInt64(page), 1)) }
        #expect(cleartext.holds(first))
        #expect(try mapping.decrypted(first) == nil)
        #expect(!cleartext.hasLost)
        let pointer = UnsafeRawPointer(cleartext.place(first))
        #expect(pointer.load(as: UInt8.self) == 0)
        #expect(cleartext.hasLost)
        #expect(throws: RealmError.self) { try store.checkUsable() }
        try? store.close()
    }

    /// What a block holds, by its place and version.
    private static func filling(_ page: UInt64, _ version: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: page &* 31 &+ version &* 7 &+ 1)
    }

    /// Blocks that take the places of others, whole and in part, find what they hold, in memory of the size that
    /// was asked for, whoever else reads what is left.
    @Test func `blocks in the places of others hold what was put there`() throws {
        let pages = 512
        let most = 96
        for item in Campaign("decrypted places", seconds: 2, atLeast: 20) {
            var random = item.random
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
            let base = try #require(
                mmap(nil, pages << 12, PROT_READ | PROT_WRITE, flags, -1, 0))
            defer { munmap(base, pages << 12) }
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: pages * 2)
            words.initialize(repeating: 0, count: pages * 2)
            defer { words.deallocate() }
            var setup = ck_cache_setup()
            setup.base = base
            setup.pages = UInt64(pages)
            setup.bytes_max = UInt64(most << 12)
            setup.marks = words
            setup.known = words + pages
            setup.open = { _, page, count, version, _, target in
                guard let target else { return false }
                memset(target, Int32(EvictionTests.filling(page, version)), Int(count) << 12)
                return true
            }
            let cache = try #require(ck_cache_new(&setup))
            defer { ck_cache_free(cache) }
            var alive: [UInt64: (count: UInt64, version: UInt64)] = [:]
            for version in 1...UInt64(400) {
                let count = UInt64([1, 1, 1, 2, 4, 4, 7][random.below(7)])
                let page = UInt64(random.below(pages - 7))
                for (start, block) in alive
                where start < page + count && page < start + block.count {
                    alive[start] = nil
                    words[Int(start)] = 0
                    // What is left of it is nobody's, also where it is still known.
                    if random.below(2) == 0 { words[pages + Int(start)] = 0 }
                }
                #expect(ck_cache_begin(cache, page, UInt32(count), version))
                let isThere = random.below(20) != 0
                if isThere {
                    memset(
                        base + Int(page << 12), Int32(Self.filling(page, version)),
                        Int(count << 12))
                    alive[page] = (count, version)
                    words[pages + Int(page)] = version
                    words[Int(page)] = version
                }
                ck_cache_end(cache, page, isThere)
                // Whoever has an old pointer.
                _ = (base + random.below(pages << 12)).load(as: UInt8.self)
                for (start, block) in alive where random.below(8) == 0 {
                    if random.below(2) == 0 {
                        #expect(
                            ck_cache_find(cache, start, UInt32(block.count), block.version)
                                == ck_cache_here)
                    }
                    let place = Int(start << 12) + random.below(Int(block.count << 12))
                    let found = (base + place).load(as: UInt8.self)
                    #expect(found == Self.filling(start, block.version), "seed \(item.seed)")
                }
                var numbers = ck_cache_numbers()
                ck_cache_count(cache, &numbers)
                // Sixteen blocks stay in any case.
                #expect(numbers.resident <= UInt64(most + 16 * 7) << 12 && numbers.lost == 0)
            }
        }
    }
}
