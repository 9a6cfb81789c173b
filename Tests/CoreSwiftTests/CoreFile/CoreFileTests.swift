// Files of realm-core (Tests/Fixtures/realm-core), read value by value, and the same files with random
// damage.

import Glibc
import RealmCoreFile
import Testing

struct CoreFileSample: CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }

    static let folder =
        String(#filePath.dropLast("CoreSwiftTests/CoreFile/CoreFileTests.swift".count))
        + "Fixtures/realm-core/"

    static let all = [
        "empty", "empty_schema", "alltypes", "widths", "deep", "holes", "mixed_nested", "migrated",
        "history", "interrupted_commit", "format24_core", "format23_core", "format20_core",
        "format9",
    ].map { CoreFileSample(name: $0) }

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
        let file = try CoreFile(path)
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
        #expect(error(Array(repeating: 7, count: 8192)).hasPrefix("not a file of realm-core"))
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
                let file = try CoreFile(path)
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

/// Damage that goes past the first checks: bits, bytes, integers where references stand, headers of nodes,
/// and the end of the file.
enum CoreFileDamage {
    static func apply<R: RandomNumberGenerator>(to original: [UInt8], _ random: inout R) -> [UInt8]
    {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let words = bytes.count / 8
            if words < 8 { break }
            let word = Int.random(in: 0..<words, using: &random) * 8
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case 1:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            case 2:
                put(UInt64.random(in: 0..<UInt64(words), using: &random) * 8, word, &bytes)
            case 3:
                let values: [UInt64] = [
                    0, 1, 3, 24, UInt64(bytes.count) - 8, UInt64(bytes.count), .max, .max - 7,
                    1 << 63, (1 << 63) - 8, 0xFFFF_FFFF, 0x1_FFFF_FFFF,
                ]
                put(values.randomElement(using: &random) ?? 0, word, &bytes)
            case 4, 5:
                // Nodes begin with "AAAA": their flags, or their size.
                guard let node = nearestNode(bytes, word) else { continue }
                let place = node + Int.random(in: 4...7, using: &random)
                bytes[place] = .random(in: 0...255, using: &random)
            case 6:
                let from = Int.random(in: 0..<words, using: &random) * 8
                let count = min(
                    Int.random(in: 1...8, using: &random) * 8, bytes.count - max(from, word))
                let piece = Array(bytes[from..<from + count])
                bytes.replaceSubrange(word..<word + count, with: piece)
            default:
                if Int.random(in: 0..<4, using: &random) == 0 {
                    bytes.removeLast(bytes.count - word)
                }
            }
        }
        return bytes
    }

    private static func put(_ value: UInt64, _ offset: Int, _ bytes: inout [UInt8]) {
        for index in 0..<8 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
        }
    }

    private static func nearestNode(_ bytes: [UInt8], _ from: Int) -> Int? {
        var place = from
        while place + 8 <= bytes.count {
            if bytes[place] == 0x41, bytes[place + 1] == 0x41, bytes[place + 2] == 0x41 {
                return place
            }
            place += 8
        }
        return nil
    }
}
