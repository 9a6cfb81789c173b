// Properties of many elements read at once, against object after object: columns of every width and form, parts of
// the results that begin and end anywhere in leaves, objects that were deleted, values not committed yet.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct BulkReadTests {
    private static let integers = ["zero", "one", "two", "four", "eight", "maybe"]
    private static let texts = ["fixed", "short", "word", "long", "note"]

    private static let schema = Schema([
        ClassSchema(
            "Thing",
            properties: integers.map {
                PropertySchema($0, .int, flags: $0 == "maybe" ? [.nullable] : [])
            } + texts.map { PropertySchema($0, .string, flags: $0 == "note" ? [.nullable] : []) }
                + [PropertySchema("born", .timestamp), PropertySchema("score", .double)])
    ])

    private let directory = TemporaryDirectory()

    private func open() throws -> Realm {
        var configuration = Configuration(path: directory.file("bulk.realm"))
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        return try Realm.open(configuration)
    }

    private func fill(_ realm: Realm, _ count: Int, _ random: inout Random) throws {
        for _ in 0..<count {
            let bits = Int64(bitPattern: random.next())
            var values: [String: Value] = [:]
            values["zero"] = .int(-5)
            values["one"] = .int(bits & 0xFF - 100)
            values["two"] = .int(bits & 0xFFFF)
            values["four"] = .int(bits & 0xFFFF_FFFF)
            values["eight"] = .int(bits)
            values["maybe"] = bits & 3 == 0 ? .null : .int(bits & 0xFFF)
            values["fixed"] = .string(String(bits & 0xFFFF + 100_000))
            values["short"] = .string(String(repeating: "s", count: random.below(30)))
            values["word"] = .string(["red", "green", "", "blueish"][random.below(4)])
            // Some have blocks of their own.
            let length = random.below(400) == 0 ? 20_000 : 300
            values["long"] = .string(String(repeating: "l", count: length))
            values["note"] = bits & 7 == 0 ? .null : .string(String(bits & 0xFFF))
            values["born"] = .timestamp(
                Timestamp(seconds: bits >> 30, nanoseconds: bits < 0 ? -7 : 7))
            values["score"] = .double(Double(bits) / 3)
            _ = try realm.create("Thing", values)
        }
    }

    private func compare(_ results: Results, _ first: Int, _ count: Int, _ realm: Realm) throws {
        let there = max(0, min(count, try results.count() - first))
        let objects = try (first..<first + there).map { DynamicObject(try results.object($0)) }
        let properties = realm.schema.classes[0]
        func key(_ name: String) -> PropertyKey { properties.property(named: name)!.key }
        for name in Self.integers + ["born"] {
            // One more, which has to stay as it is.
            var values = [Int64](repeating: 99, count: there + 1)
            var nulls = [UInt8](repeating: 9, count: there + 1)
            let got = try results.readIntegers(
                key(name), from: first, count: count, into: &values, isNull: &nulls)
            #expect(got == there)
            let expected: [Int64?] = try objects.map {
                switch try $0.get(name) {
                case .int(let number): number
                case .timestamp(let time): time.seconds
                default: nil
                }
            }
            #expect(values == expected.map { $0 ?? 0 } + [99], "\(name) from \(first)")
            #expect(nulls == expected.map { $0 == nil ? 1 : 0 } + [9], "\(name) from \(first)")
        }
        for name in Self.texts {
            var values = [TextReference](repeating: TextReference(), count: there)
            #expect(
                try results.readTexts(key(name), from: first, count: count, into: &values) == there)
            let found: [Value] = values.map { text in
                guard let start = text.start else { return .null }
                return .string(
                    String(
                        decoding: UnsafeRawBufferPointer(start: start, count: text.count),
                        as: UTF8.self))
            }
            #expect(try found == objects.map { try $0.get(name) }, "\(name) from \(first)")
        }
        var scores = [Double](repeating: 0, count: there)
        _ = try results.readDoubles(
            key("score"), from: first, count: count, into: &scores, isNull: nil)
        #expect(try scores.map { .double($0) } == objects.map { try $0.get("score") })
        var keys = [ObjectKey](repeating: .invalid, count: there)
        #expect(try results.readKeys(from: first, count: count, into: &keys) == there)
        #expect(keys == objects.map(\.key))
    }

    @Test func `what is read at once is what is read one by one`() throws {
        let realm = try open()
        defer { realm.close() }
        var random = Random(TestSettings.seed("BulkReadTests"))
        func compareParts() throws {
            let all = try realm.objects("Thing")
            let count = try all.count()
            for results in [all, try all.filter("one < 40"), try all.sorted("two ASC")] {
                try compare(results, 0, .max, realm)
                for _ in 0..<12 {
                    try compare(results, random.below(count), random.below(700), realm)
                }
                try compare(results, count, 5, realm)
            }
        }
        try realm.write { try fill(realm, 4000, &random) }
        try compareParts()
        try realm.beginWrite()
        let all = try realm.objects("Thing")
        for _ in 0..<300 {
            try DynamicObject(try all.object(random.below(try all.count()))).delete()
        }
        try fill(realm, 500, &random)
        try compareParts()
        try realm.commit()
        try compareParts()
    }
}
