// Decrypted blocks go and come back while threads read them.

import Testing

@testable import CoreSwift

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
}
