import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// A file whose catalog is found wrong only after the tables were made.
enum DamagedCatalog {
    static func make(_ path: String) throws {
        try SampleFile.make(path, items: 100)
        let surgeon = try FileSurgeon(TestSettings.readFile(path))
        let last = try #require(surgeon.classPlaces.keys.max())
        // More rows than any file of this size can hold.
        surgeon.memory.put(UInt64(1) << 62, surgeon.classPlaces[last]! + 16)
        surgeon.reseal()
        TestSettings.writeFile(path, surgeon.bytes)
    }

    /// Fails when the process keeps memory of tables that could not be made.
    static func openOften(_ path: String, _ count: Int) throws {
        let store = try Store.open(
            path: path, options: StoreOptions(), files: SystemCalls.shared)
        func attempt() throws {
            do throws(RealmError) {
                try TableSet.withNewest(store) { _ in }
            } catch {
                guard error.code == .invalidDatabase else { throw error }
                return
            }
            throw ToyFailure(description: "a damaged catalog was accepted")
        }
        for _ in 0..<100 { try attempt() }
        let before = residentBytes()
        for _ in 0..<count { try attempt() }
        let perAttempt = (residentBytes() - before) / count
        guard perAttempt < 200 else {
            throw ToyFailure(description: "each attempt keeps \(perAttempt) bytes")
        }
        try store.close()
    }

    private static func residentBytes() -> Int {
        let text = String(decoding: TestSettings.readStream("/proc/self/statm"), as: UTF8.self)
        return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
    }
}

@Suite struct TableSetTests {
    @Test func tablesThatCanNotBeMadeLeaveNoMemoryBehind() throws {
        let directory = TemporaryDirectory()
        try DamagedCatalog.make(directory.file())
        // In a process of its own, where no other test allocates meanwhile.
        let child = try ChildProcess("open damaged", path: directory.file(), number: 20_000)
        #expect(child.wait() == 0)
    }

    @Test func allKeysAreThoseOfOpenLeavesToo() throws {
        let world = try TableWorld(
            Schema([ClassSchema("Item", properties: [PropertySchema("number", .int)])]))
        try world.beginWrite()
        let table = try #require(world.tables.table(world.key("Item")))
        var keys: [ObjectKey] = []
        for number in 0..<3000 {
            keys.append(try world.add("Item", ["number": .int(Int64(number))]))
        }
        // Nothing has settled them: they stand behind the tree.
        #expect(try table.allKeys() == keys)
        try world.delete("Item", keys.remove(at: 1500))
        keys.append(try world.add("Item", ["number": .int(1)]))
        #expect(try table.allKeys() == keys)
        try table.deleteAllRows()
        #expect(try table.allKeys().isEmpty && table.rowCount == 0)
        world.tables.rollBack()
    }
}
