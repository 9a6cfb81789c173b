// Folding, decomposition and word classes against Python's over all scalars (`scalar-checksums.txt`)
// and over texts with many marks (`text-vectors.txt`); both are made by .ci/generate-unicode.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct UnicodeTests {
    private static func lines(_ name: String) throws -> [[Substring]] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let bytes = TestSettings.readFile(folder.joined(separator: "/") + "/" + name)
        try #require(!bytes.isEmpty)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ")
        }
    }

    private static func bytes(_ scalar: UInt32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4) { buffer, count in
            count = buffer.baseAddress.map { UTF8Scalars.encode(scalar, $0) } ?? 0
        }
    }

    private struct Checksum {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
            sum = sum &* 0x100_0000_01B3
        }
        var text: String { String(sum, radix: 16) }
    }

    @Test("every scalar folds, decomposes and forms words as Unicode says")
    func allScalars() throws {
        let folder = TextFolder()
        for line in try Self.lines("scalar-checksums.txt") {
            let first = try #require(UInt32(line[0], radix: 16))
            var sums = [Checksum](repeating: Checksum(), count: 4)
            for scalar in first..<first + 4096 where scalar &- 0xD800 >= 0x800 {
                Self.bytes(scalar).withUnsafeBytes { bytes in
                    sums[0].add(folder.fold(bytes, .ignoreCase))
                    sums[1].add(folder.decompose(bytes))
                    sums[2].add(folder.fold(bytes, .ignoreDiacritics))
                }
                [48 + UnicodeTables.wordClass(scalar).rawValue].withUnsafeBytes { sums[3].add($0) }
            }
            #expect(
                sums.map(\.text) == line.dropFirst().map(String.init),
                "scalars from \(line[0]): folding, NFD, without marks, word class")
        }
    }

    @Test("marks come in canonical order before they are deleted or compared")
    func texts() throws {
        func decoded(_ hex: Substring) -> [UInt8] {
            let digits = hex == "-" ? [] : Array(hex.utf8).map { $0 < 0x40 ? $0 - 0x30 : $0 - 0x57 }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
        let folder = TextFolder()
        for line in try Self.lines("text-vectors.txt") {
            let forms = line.map(decoded)
            forms[0].withUnsafeBytes { text in
                #expect(Array(folder.fold(text, .ignoreCase)) == forms[1], "\(line[0])")
                #expect(Array(folder.decompose(text)) == forms[2], "\(line[0])")
                #expect(Array(folder.fold(text, .ignoreDiacritics)) == forms[3], "\(line[0])")
                #expect(
                    Array(folder.fold(text, [.ignoreCase, .ignoreDiacritics])) == forms[4],
                    "\(line[0])")
                #expect(Array(folder.foldWord(text)) == forms[5], "\(line[0])")
            }
        }
    }

    @Test("bytes that are not UTF-8 pass through folding")
    func brokenText() {
        let folder = TextFolder()
        for broken: [UInt8] in [
            [0x80], [0x41, 0xC3], [0xE2, 0x84], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80],
            [0xC0, 0xAF], [0xFF, 0x42],
        ] {
            let lowered = broken.map { $0 < 0x80 ? $0 | 0x20 : $0 }
            broken.withUnsafeBytes { text in
                #expect(Array(folder.fold(text, .ignoreDiacritics)) == broken)
                #expect(Array(folder.fold(text, [.ignoreCase, .ignoreDiacritics])) == lowered)
            }
        }
    }

    @Test("a long run of marks in disorder is put in order without quadratic time")
    func manyMarks() {
        var text: [UInt8] = [0x61]
        for index in 0..<20_000 {
            text += Self.bytes(index % 2 == 0 ? 0x05B0 : 0x0591)
        }
        let folder = TextFolder()
        text.withUnsafeBytes { bytes in
            let ordered = folder.decompose(bytes)
            #expect(ordered.count == bytes.count)
            #expect(Array(ordered[1..<5]) == Self.bytes(0x05B0) + Self.bytes(0x05B0))
        }
    }

    @Test("a folder grows for texts whose folded form is longer")
    func growth() {
        let folder = TextFolder()
        let text = [UInt8](String(repeating: "\u{390}", count: 5000).utf8)
        text.withUnsafeBytes { bytes in
            #expect(folder.fold(bytes, .ignoreCase).count == 30_000)
        }
    }
}
