// Files of realm-core (Tests/Fixtures/realm-core), read value by value, and the same files with random
// damage.

import Glibc
import RealmCoreFile
import Testing

@testable import TestSupport

struct CoreFileSample: CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }

    static let folder =
        String(#filePath.dropLast("CoreSwiftTests/CoreFile/CoreFileTests.swift".count))
        + "Fixtures/realm-core/"

    static let all = [
        "empty", "empty_schema", "alltypes", "widths", "deep", "holes", "mixed_nested", "migrated",
        "history", "interrupted_commit", "encrypted", "convert_encrypted", "format24_core",
        "format23_core", "format20_core", "format9",
    ].map { CoreFileSample(name: $0) }

    /// That of all encrypted samples.
    static let anyKey = (0..<64).map { UInt8($0) }

    /// Empty where the file is not encrypted.
    var key: [UInt8] { name.hasSuffix("encrypted") ? Self.anyKey : [] }

    /// The bytes of the file as the old library wrote it.
    func bytes() throws -> [UInt8] { try Self.unpacked(name + ".realm.gz") }

    /// What the old library read of it.
    func contents() throws -> [Substring] {
        String(decoding: try Self.unpacked(name + ".jsonl.gz"), as: UTF8.self)
            .split(separator: "\n")
    }

    private static func unpacked(_ name: String) throws -> [UInt8] {
        try Gunzip.unpack(TestSettings.readFile(folder + name))
    }
}

@Suite struct CoreFileTests {
    @Test(
        "a file of the old library holds what that library reads of it",
        arguments: CoreFileSample.all)
    func sample(_ sample: CoreFileSample) throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/old.realm"
        TestSettings.writeFile(path, try sample.bytes())
        let file = try CoreFile(path, key: sample.key)
        let dump = try CoreFileDump(file, allTables: sample.name.hasPrefix("format"))
        let expected = try sample.contents()
        #expect(dump.lines.count == expected.count)
        for (number, (line, due)) in zip(dump.lines, expected).enumerated() where line != due {
            Issue.record("line \(number + 1) is \(line.prefix(2000)), not \(due.prefix(2000))")
            break
        }
        #expect(file.tables.allSatisfy { $0.omitted.isEmpty })
        #expect(file.repairedTexts == 0)
    }

    @Test("a class can be read again, and the file is left as it was")
    func again() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/old.realm"
        let bytes = try CoreFileSample(name: "format24_core").bytes()
        TestSettings.writeFile(path, bytes)
        chmod(path, 0o444)
        let file = try CoreFile(path)
        #expect(file.formatVersion == 24)
        #expect(file.schemaVersion == 42)
        let first = try CoreFileDump(file, allTables: true).lines
        #expect(try CoreFileDump(file, allTables: true).lines == first)
        #expect(TestSettings.readFile(path) == bytes)
    }

    @Test("what an old file can't be is told")
    func refusals() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/old.realm"
        func error(_ bytes: [UInt8]) -> String {
            TestSettings.writeFile(path, bytes)
            do throws(CoreFileError) {
                _ = try CoreFile(path)
                return "none"
            } catch {
                return error.message
            }
        }
        let bytes = try CoreFileSample(name: "migrated").bytes()
        #expect(error(bytes) == "none")
        #expect(error(Array(bytes[..<20])) == "the file has 20 bytes, a header alone has 24")
        #expect(error(Array(bytes[..<4096])).contains("truncated"))
        #expect(error(Array(bytes[..<4099])).contains("truncated"))
        #expect(error(Array(repeating: 7, count: 8184)) == "not a file of realm-core")
        var other = bytes
        other[20] = 12
        other[21] = 12
        #expect(error(other).hasPrefix("format 12 of realm-core"))
        // A streaming file without its end.
        other = try CoreFileSample(name: "format24_core").bytes()
        #expect(error(other) == "none")
        #expect(error(Array(other.dropLast(16))).contains("truncated"))
        #expect(throws: CoreFileError.self) { try CoreFile(directory.path) }
        #expect(throws: CoreFileError.self) { try CoreFile(directory.path + "/none") }
    }

    @Test("a damaged file is an error or values")
    func mutations() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/old.realm"
        let names = CoreFileSample.all.map(\.name).filter { $0 != "deep" && $0 != "empty" }
        var originals: [String: [UInt8]] = [:]
        for name in names { originals[name] = try CoreFileSample(name: name).bytes() }
        var errors = 0
        for item in Campaign("old files", seconds: 2, atLeast: 10) {
            var random = item.random
            let name = names[random.below(names.count)]
            let damaged = CoreFileDamage.apply(to: originals[name] ?? [], &random)
            TestSettings.writeFile(path, damaged)
            do throws(CoreFileError) {
                let file = try CoreFile(path, key: CoreFileSample(name: name).key)
                for index in file.tables.indices {
                    try file.forEachObject(of: index) { (_, _) in }
                }
            } catch {
                #expect(!error.message.isEmpty)
                errors += 1
            }
        }
        TestSettings.say("old files: \(errors) were refused")
    }
}
