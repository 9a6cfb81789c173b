// A scan of an encrypted file has the kernel read the leaves that come next while others are decrypted.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ReadAheadTests {
    private let directory = TemporaryDirectory()

    /// What was asked for, and what was read; on two threads.
    private final class WatchedFiles: PassingFileSystem {
        private let lock = Lock()
        private var ranges: [Range<Int64>] = []

        override func beginReading(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
            lock.withLock { ranges.append(offset..<(offset + Int64(count))) }
            super.beginReading(descriptor, offset, count)
        }

        /// Since the last call, in the order of the file.
        func take() -> [Range<Int64>] {
            lock.withLock {
                defer { ranges = [] }
                return ranges.sorted { $0.lowerBound < $1.lowerBound }
            }
        }
    }

    /// Things with numbers and texts, opened anew.
    private func reopened(_ rows: Int, _ key: [UInt8], _ files: WatchedFiles) throws -> Realm {
        var configuration = Configuration(path: directory.file(key.isEmpty ? "plain" : "sealed"))
        configuration.schemaVersion = 1
        configuration.schema = Schema([
            ClassSchema(
                "Thing", properties: [PropertySchema("n", .int), PropertySchema("t", .string)])
        ])
        configuration.encryptionKey = key
        let first = try Realm.open(configuration)
        try first.write {
            for number in 0..<rows {
                _ = try first.create(
                    "Thing", ["n": .int(Int64(number)), "t": .string("thing \(number)")])
            }
        }
        // Leaves that follow one another lie far from one another in the file.
        try first.write {
            let all = try first.objects("Thing")
            for number in stride(from: 0, to: rows, by: 10_000) {
                try all.dynamicObject(number).set("t", .string("changed"))
            }
        }
        first.close()
        return try Realm.open(configuration, files: files)
    }

    /// Numbers are looked at by one thread, texts in so many objects by two.
    @Test(arguments: ["n == 77", "t == 'thing 77'"])
    func `a scan asks for the leaves to come, each once`(query: String) throws {
        let files = WatchedFiles(SystemCalls.shared)
        let realm = try reopened(420_000, FileCipherTests.key, files)
        defer { realm.close() }
        _ = files.take()
        #expect(try realm.objects("Thing").filter(query).count() == 1)
        let asked = files.take()
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        let bytes = asked.reduce(0) { $0 + $1.count }
        let leaves = try realm.statistics().classes[0].rowBytes
        #expect(bytes > leaves * 9 / 10 && bytes < leaves * 11 / 10)
        // What was read before is not asked for.
        #expect(try realm.objects("Thing").filter(query).count() == 1)
        #expect(files.take() == [])
    }

    @Test func `a look-up asks for nothing, nor does a plain file`() throws {
        let files = WatchedFiles(SystemCalls.shared)
        let sealed = try reopened(60_000, FileCipherTests.key, files)
        _ = files.take()
        #expect(try sealed.objects("Thing").dynamicObject(30_000).get("n") != .null)
        #expect(files.take() == [])
        sealed.close()
        let plain = try reopened(60_000, [], files)
        defer { plain.close() }
        #expect(try plain.objects("Thing").filter("n == 77").count() == 1)
        #expect(files.take() == [])
    }
}
