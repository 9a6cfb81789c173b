// Results over values against plain Swift arrays: conditions, orders, cuts, snapshots, while the
// collections change; and frozen ones on several threads.

import Dispatch
import Synchronization
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ValueResultsTests {
    private static let schema = Schema([
        ClassSchema(
            "Box", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("list", .int, collection: .list, flags: [.nullable]),
                PropertySchema("bag", .int, collection: .set, flags: [.nullable]),
                PropertySchema("map", .int, collection: .dictionary, flags: [.nullable]),
                PropertySchema("texts", .string, collection: .list),
            ])
    ])

    private let directory = TemporaryDirectory()

    private func open(_ name: String = "values.realm") throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(name), Self.schema))
    }

    private func values(_ results: ValueResults) throws -> [Int64?] {
        try (0..<results.count()).map { index in
            let value = try results.get(index)
            return value.isNull ? nil : value.intValue
        }
    }

    private func elements(_ collection: RealmCollection) throws -> [Int64?] {
        try (0..<collection.count()).map { index in
            let value = try collection.get(index)
            return value.isNull ? nil : value.intValue
        }
    }

    /// Null comes before all others.
    private static func less(_ a: Int64?, _ b: Int64?) -> Bool {
        guard let a else { return b != nil }
        guard let b else { return false }
        return a < b
    }

    private static func distinct(_ values: [Int64?]) -> [Int64?] {
        var seen = Set<Int64?>()
        return values.filter { seen.insert($0).inserted }
    }

    private func change(_ box: DynamicObject, _ random: inout Random) throws {
        let number = Int64.random(in: -5...20, using: &random)
        let value = number < -3 ? RawValue.null : .int(number)
        let list = try box.collection("list")
        let count = try list.count()
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where count > 0: try list.remove(at: Int.random(in: 0..<count, using: &random))
        case 1 where count > 0: try list.set(value, at: Int.random(in: 0..<count, using: &random))
        case 2: _ = try box.collection("bag").insert(value)
        case 3: _ = try box.collection("bag").remove(value)
        case 4:
            let map = try box.collection("map")
            try Value.string("k\(abs(number) % 7)").withRaw { key throws(RealmError) in
                _ = try map.insert(value, key: key)
            }
        default: try list.insert(value, at: Int.random(in: 0...count, using: &random))
        }
    }

    @Test func `results over values are what arrays of them are`() throws {
        for item in Campaign("results over values", seconds: 1, atLeast: 3, seed: 4242) {
            try compare(item, isLarge: item.seed % 3 > 0)
        }
    }

    private func compare(_ item: Campaign.Case, isLarge: Bool) throws {
        var random = item.random
        let realm = try open("\(item.number)")
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        let other = try realm.create("Box", primaryKey: .int(2))
        if isLarge {
            // Large ones have a tree of their own.
            let list = try box.collection("list")
            for number in 0..<3000 { try list.insert(.int(Int64(number % 40)), at: number) }
        }
        let sources = try ["list", "bag", "map"].map { try box.collection($0) }
        let all = try sources.map { try #require(try $0.results() as? ValueResults) }
        let some = try all.map { try $0.filter("SELF > 3 OR SELF == NULL") }
        let sorted = try some.map { try $0.sorted("SELF DESC") }
        let first = try sorted.map { try $0.distinct("SELF").limited(4) }
        for round in 0..<Campaign.rounds(isLarge ? 12 : 60) {
            if round % 5 == 4 {
                try realm.commit()
                try realm.beginWrite()
            }
            for _ in 0..<3 { try change(box, &random) }
            if round.isMultiple(of: 7) { try change(other, &random) }
            for (index, source) in sources.enumerated() {
                let now = try elements(source)
                #expect(try values(all[index]) == now)
                let chosen = now.filter { $0 == nil || $0! > 3 }
                #expect(try values(some[index]) == chosen)
                let down = chosen.sorted { Self.less($1, $0) }
                #expect(try values(sorted[index]) == down)
                let few = Array(Self.distinct(down).prefix(4))
                #expect(try values(first[index]) == few)
                #expect(try first[index].fixed().count() == few.count)
                #expect(
                    try sorted[index].aggregate(.sum, .invalid).value.intValue
                        == down.reduce(0) { $0 + ($1 ?? 0) })
                if let value = now.last {
                    let raw = value.map { RawValue.int($0) } ?? .null
                    #expect(try sorted[index].find(raw) == down.firstIndex(of: value))
                    #expect(try all[index].find(raw) == now.firstIndex(of: value))
                }
            }
        }
        let kept = try sorted[0].fixed()
        let before = try values(sorted[0])
        try some[0].deleteAll()
        #expect(try values(all[0]).allSatisfy { $0 != nil && $0! <= 3 })
        #expect(try values(sorted[0]).isEmpty)
        try box.delete()
        try realm.commit()
        #expect(!sorted[0].isValid)
        #expect(errorCode { _ = try sorted[0].count() } == .staleAccessor)
        #expect(errorCode { _ = try some[1].sorted("SELF ASC") } == .staleAccessor)
        #expect(try values(kept) == before)
        #expect(try realm.check() == [String]())
    }

    /// Texts of snapshots are their own: nothing of the realm's memory.
    @Test func `a snapshot of texts outlives what it was made of`() throws {
        let realm = try open()
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        let texts = try box.collection("texts")
        let expected = ["b", "", "a", String(repeating: "long ", count: 3000), "b"]
        for (index, text) in expected.enumerated() {
            try Value.string(text).withRaw { raw throws(RealmError) in
                try texts.insert(raw, at: index)
            }
        }
        let results = try #require(try texts.results() as? ValueResults)
        let kept = try results.fixed()
        let unique = try kept.distinct("SELF").filter("SELF != 'a'")
        try texts.removeAll()
        for number in 0..<2000 {
            _ = try realm.create("Box", primaryKey: .int(Int64(number + 10)))
        }
        try realm.commit()
        func all(_ results: ValueResults) throws -> [Value] {
            try (0..<results.count()).map { try Value(results.get($0)) }
        }
        #expect(try all(kept) == expected.map { .string($0) })
        #expect(try all(unique) == ["b", "", expected[3]].map { .string($0) })
        #expect(try kept.find(.null) == nil)
        realm.close()
        #expect(errorCode { _ = try kept.count() } == .staleAccessor)
    }

    @Test func `frozen results are read by several threads`() throws {
        let realm = try open()
        try realm.write {
            let box = try realm.create("Box", primaryKey: .int(1))
            let list = try box.collection("list")
            for number in 0..<2000 { try list.insert(.int(Int64(number * 7 % 2000)), at: number) }
        }
        let frozen = try realm.freeze()
        let box = try #require(try frozen.find("Box", primaryKey: .int(1)))
        let results = try #require(try box.collection("list").results() as? ValueResults)
        let sorted = try results.filter("SELF < 500").sorted("SELF ASC")
        let shared = UncheckedResults(results: sorted)
        let sums = Mutex([Int64]())
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            var sum: Int64 = 0
            for index in 0..<500 {
                if let value = try? shared.results.get(index), value.intValue == Int64(index) {
                    sum += value.intValue
                }
            }
            sums.withLock { $0.append(sum) }
        }
        #expect(sums.withLock { $0 } == [Int64](repeating: 500 * 499 / 2, count: 4))
    }
}

private struct UncheckedResults: @unchecked Sendable {
    let results: ValueResults
}
