import Testing

@testable import CoreSwift
@testable import TestSupport

/// The disk begins with the first parts of a large commit before the others are ready.
@Suite struct BeginWritingTests {
    private let directory = TemporaryDirectory()

    /// What was written and begun since the last sync that the file had.
    private final class WatchedFiles: PassingFileSystem {
        var begun: [Range<Int64>] = []
        private var written: Int64 = 0

        override func write(
            _ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64
        ) -> Int {
            let count = super.write(descriptor, vectors, offset)
            if count > 0 { written = max(written, offset + Int64(count)) }
            return count
        }

        override func beginWriting(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
            #expect(offset + Int64(count) <= written)
            begun.append(offset..<(offset + Int64(count)))
            super.beginWriting(descriptor, offset, count)
        }
    }

    private static let schema = Schema([
        ClassSchema("Thing", properties: [PropertySchema("data", .binary)])
    ])

    private func commits(
        _ name: String, key: [UInt8] = [], inMemory: Bool = false, things: Int
    ) throws -> [Range<Int64>] {
        let files = WatchedFiles(SystemCalls.shared)
        var configuration = Configuration(path: directory.file(name))
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.encryptionKey = key
        configuration.isInMemory = inMemory
        let realm = try Realm.open(configuration, files: files)
        defer { realm.close() }
        var made: [DynamicObject] = []
        try realm.write {
            for _ in 0..<things { made.append(try realm.create("Thing", ["data": .binary([1])])) }
        }
        files.begun = []
        // Objects that were there: their new values wait for the commit.
        let bytes = [UInt8](repeating: 7, count: 20_000)
        try realm.write {
            for thing in made { try thing.set("data", .binary(bytes)) }
        }
        #expect(try realm.check() == [])
        return files.begun
    }

    @Test(arguments: [[], FileCipherTests.key])
    func `the disk begins while a large commit is written`(key: [UInt8]) throws {
        let begun = try commits("large.realm", key: key, things: 500)
        #expect(begun.count > 2)
        #expect(begun.reduce(0) { $0 + $1.count } > 7_000_000)
        #expect(begun.allSatisfy { $0.count < 4 << 20 })
        let sorted = begun.sorted { $0.lowerBound < $1.lowerBound }
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
    }

    @Test func `it doesn't for small ones, nor where nothing is synced`() throws {
        #expect(try commits("small.realm", things: 20) == [])
        #expect(try commits("memory.realm", inMemory: true, things: 500) == [])
    }
}
