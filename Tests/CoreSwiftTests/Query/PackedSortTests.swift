// Sorts whose keys fit into one word together with the number of the object give what plain Swift gives; what does
// not fit is left to others.

import CKernels
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct PackedSortTests {
    private static let schema = Schema([
        ClassSchema(
            "Row",
            properties: [
                PropertySchema("small", .int), PropertySchema("wide", .int),
                PropertySchema("maybe", .int, flags: [.nullable]),
                PropertySchema("flag", .bool), PropertySchema("weight", .double),
                PropertySchema("share", .double),
                PropertySchema("day", .timestamp, flags: [.nullable]),
                PropertySchema("code", .string), PropertySchema("word", .string),
                PropertySchema("note", .string, flags: [.nullable]),
                PropertySchema("next", .object, linkTarget: "Row", flags: [.nullable]),
            ])
    ])

    private static func values(_ number: Int, _ random: inout Random) -> [String: Value] {
        let words = ["", "a", "a\0", "a\0\0b", "b", "abcdefgh", "abcdefghi", "zz", "\u{e9}t\u{e9}"]
        let digits = String(random.below(100_000))
        var values: [String: Value] = [
            "small": .int(Int64(random.below(100)) - 50),
            "wide": .int(Int64(random.below(3)) * 1_000_000_007 - 7),
            "flag": .bool(random.below(2) == 0),
            "weight": .double(Double(random.below(200) - 100) / 4),
            "share": .double(Double(random.below(200)) / 4),
            "code": .string("code-" + String(repeating: "0", count: 7 - digits.count) + digits),
            "word": .string(words[random.below(words.count)]),
        ]
        if random.below(5) != 0 { values["maybe"] = .int(Int64(random.below(9)) - 4) }
        if random.below(9) != 0 {
            values["day"] = .timestamp(Timestamp(seconds: Int64(random.below(90)), nanoseconds: 0))
        }
        if random.below(4) != 0 { values["note"] = .string(words[random.below(words.count)]) }
        return values
    }

    private static func make(
        _ directory: TemporaryDirectory, _ count: Int, _ random: inout Random
    ) throws -> (Realm, [SortedRow]) {
        let realm = try Realm.open(TestSchema.configuration(directory.file(), schema))
        var rows: [SortedRow] = []
        try realm.write {
            for number in 0..<count {
                let values = values(number, &random)
                let object = try realm.create("Row", values)
                rows.append(SortedRow(key: object.handle.objectKey, values: values))
            }
            // Rows that are gone: gaps, and tombstones in leaves.
            for number in stride(from: 3, to: count, by: 97).reversed() {
                try realm.find(realm.schema.class_(named: "Row")!.key, key: rows[number].key)?
                    .delete()
                rows.remove(at: number)
            }
        }
        return (realm, rows)
    }

    private static func text(_ keys: [(String, Bool)]) -> String {
        keys.map { "\($0.0) \($0.1 ? "DESC" : "ASC")" }.joined(separator: ", ")
    }

    @Test(arguments: [255, 256, 257, 1700, 9001, 52_003])
    func packedSortsOrderAsSwiftDoes(count: Int) throws {
        let directory = TemporaryDirectory()
        var random = Random(UInt64(count))
        let (realm, rows) = try Self.make(directory, count, &random)
        defer { realm.close() }
        let names = [
            "small", "wide", "maybe", "flag", "weight", "share", "day", "code", "word", "note",
        ]
        let all = try realm.objects("Row")
        for round in 0..<(count > 20_000 ? 12 : 40) {
            var keys: [(String, Bool)] = []
            for name in [names[round % names.count], names[random.below(names.count)]]
            where !keys.contains(where: { $0.0 == name }) {
                keys.append((name, random.below(2) == 0))
            }
            let expected = SortedRow.sorted(rows, keys)
            let ordered = try all.sorted(Self.text(keys))
            #expect(try ordered.keys() == expected.map(\.key), "\(count): \(Self.text(keys))")
            // Objects that do not come in the order of their keys keep their order, too.
            let again = [(names[random.below(names.count)], random.below(2) == 0)]
            #expect(
                try ordered.sorted(Self.text(again)).keys()
                    == SortedRow.sorted(expected, again).map(\.key),
                "\(count): \(Self.text(keys)), then \(Self.text(again))")
        }
    }

    @Test func `keys that fit are packed, others are not`() throws {
        let directory = TemporaryDirectory()
        var random = Random(5)
        let (realm, rows) = try Self.make(directory, 3000, &random)
        defer { realm.close() }
        let key = realm.schema.class_(named: "Row")!.key
        func packs(_ text: String) throws -> Bool {
            let bytes = Array("TRUEPREDICATE SORT(\(text))".utf8)
            let query = try bytes.withUnsafeBufferPointer {
                try Query.parse($0, [], realm.schema, key, values: nil)
            }
            guard case .sort(let by)? = query.ordering.first else { return false }
            let table = try SnapshotReader(tables: realm.readTables()).table(key)
            return try PackedSort.sorted(rows.map(\.key), by: by, table) != nil
        }
        for text in [
            "small ASC, code DESC", "maybe ASC", "flag DESC, share ASC", "day ASC, code ASC",
        ] {
            #expect(try packs(text), "\(text)")
        }
        // Behind a link, floating point on both sides of zero, and texts that differ in too many places.
        for text in ["next.small ASC", "weight ASC", "code ASC, word ASC, note ASC"] {
            #expect(try !packs(text), "\(text)")
        }
        try realm.write {
            let object = try #require(try realm.find(key, key: rows[0].key))
            try object.set("word", .string(String(repeating: "long", count: 20)))
        }
        #expect(try !packs("word ASC"))
    }

    @Test(arguments: [1, 190, 300, 16_500, 230_001])
    func wordsAreSortedByTheirUpperBits(count: Int) {
        for (seed, bits) in [(1, 3), (2, 17), (3, 33), (4, 44)] {
            var random = Random(UInt64(seed))
            let lowBit = 20
            let skews = seed % 2 == 0
            let words = (0..<count).map { number -> UInt64 in
                var code = random.next() >> UInt64(64 - bits)
                // Nearly all of them in one part.
                if skews, random.below(1000) != 0 { code &= 0xFF }
                return code << UInt64(lowBit) | UInt64(number)
            }
            let result = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * count)
            defer { result.deallocate() }
            for (index, word) in words.enumerated() { result[index] = word }
            let sort = WordSort(result, result + count, count: count, lowBit: lowBit, bits: bits)
            sort.run { source, target in
                for index in 0..<target.count { target[index] = source[index] ^ 1 }
            }
            let found = Array(UnsafeBufferPointer(start: result, count: count))
            #expect(found == words.sorted().map { $0 ^ 1 }, "\(bits) bits")
        }
    }

    // MARK: Kernels

    @Test func bitsOfAMaskAreMovedTogether() {
        var random = Random(9)
        for round in 0..<400 {
            let masks = [random.next(), random.next() & random.next(), .max, 1, 1 << 63, 0, 0xF0F0]
            let mask = masks[round % masks.count]
            let base = round % 3 == 0 ? 0 : random.next()
            let flips = round % 2 == 0
            let count = 1 + random.below(600)
            let words = (0..<count).map { _ in random.next() }
            let start = (0..<count).map { _ in mask.nonzeroBitCount > 32 ? 0 : random.next() >> 33 }
            var codes = start
            ck_append_bits(&codes, words, count, base, mask, flips)
            let expected = (0..<count).map { index -> UInt64 in
                var code = start[index]
                for bit in (0..<64).reversed() where mask >> UInt64(bit) & 1 != 0 {
                    let isSet = (words[index] &- base) >> UInt64(bit) & 1 != 0
                    code = code << 1 | (isSet != flips ? 1 : 0)
                }
                return code
            }
            #expect(codes == expected, "mask \(mask)")
            var (any, all) = (UInt64(0), UInt64.max)
            ck_words_bits(words, count, &any, &all)
            #expect(any == words.reduce(0, |) && all == words.reduce(.max, &))
        }
    }

    @Test func linksAreCountedAsALoopCountsThem() {
        var random = Random(17)
        for round in 0..<600 {
            let own = round % 9
            let rows = 1 + random.below(min(300, 1 << min(own * 8, 20)))
            let first = own == 0 ? 0 : random.below(1 << min(own * 8 - 1, 40))
            let hasOffsets = round % 2 == 0
            let length = own + (round % 5 == 0 ? 4 : 0)
            var bytes = [UInt8](repeating: 0xEE, count: 8)
            var offsets: [UInt16] = [0]
            var expected = [UInt32](repeating: 0, count: rows)
            var entries = 0
            for row in -2..<(rows + 2) where first + row >= 0 && (first + row) >> (own * 8) == 0 {
                let links = random.below(5)
                if (0..<rows).contains(row) { expected[row] = UInt32(links) }
                for link in 0..<links {
                    bytes += (0..<own).reversed().map {
                        UInt8(truncatingIfNeeded: (first + row) >> ($0 * 8))
                    }
                    let more = hasOffsets ? (link > 0 ? 4 : 0) : length - own
                    bytes += [UInt8](repeating: 0xDD, count: more)
                    offsets.append(UInt16(bytes.count - 8))
                    entries += 1
                }
            }
            let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: rows)
            defer { counts.deallocate() }
            counts.initialize(repeating: 0, count: rows)
            bytes.withUnsafeBufferPointer { bytes in
                offsets.withUnsafeBytes { offsets in
                    var links = ck_link_entries(
                        suffixes: bytes.baseAddress! + 8,
                        offsets: hasOffsets ? offsets.baseAddress : nil,
                        own: own, length: length, base: 0 &- UInt64(first))
                    var run = ck_link_run(row: .max, count: 0)
                    // As if they stood in several leaves.
                    var place = 0
                    while place < entries {
                        let end = min(entries, place + 1 + random.below(40))
                        let stop = ck_count_links(&links, place, end, rows, counts, &run)
                        if stop < end { break }
                        place = end
                    }
                }
            }
            #expect(
                Array(UnsafeBufferPointer(start: counts, count: rows)) == expected, "\(own) bytes")
        }
    }
}
