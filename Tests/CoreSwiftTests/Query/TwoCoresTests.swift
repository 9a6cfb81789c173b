// Scans and sorts that are large enough for a second thread give what plain Swift gives.

import Testing

@testable import CoreSwift

@Suite(.serialized) struct TwoCoresTests {
    private static let note = ClassSchema(
        "Note",
        properties: [
            PropertySchema("rank", .int, flags: [.nullable]),
            PropertySchema("text", .string),
        ])

    private struct Row {
        var key: Int64
        var rank: Int?
        var text: String
    }

    /// A realm with so many notes, and what they hold.
    private static func make(_ path: String, _ count: Int) throws -> (Realm, [Row]) {
        let realm = try Realm.open(TestSchema.configuration(path, Schema([note])))
        var random = Random(31)
        var rows: [Row] = []
        try realm.write {
            let owner = realm.schema.class_(named: "Note")!
            let rankKey = owner.property(named: "rank")!.key.rawValue
            let textKey = owner.property(named: "text")!.key.rawValue
            for _ in 0..<count {
                let rank = random.below(40) == 0 ? nil : random.below(90)
                let text = "note \(random.below(30_000)) of \(random.below(7))"
                let object = try realm.createObject(owner.key)
                let value = rank.map { Value.int(Int64($0)) } ?? .null
                try value.withRaw { raw throws(RealmError) in try object.setValue(rankKey, raw) }
                try Value.string(text).withRaw { raw throws(RealmError) in
                    try object.setValue(textKey, raw)
                }
                rows.append(Row(key: object.objectKey, rank: rank, text: text))
                object.release()
            }
        }
        return (realm, rows)
    }

    private func keys(_ results: Results) throws -> [Int64] {
        try results.keys()
    }

    @Test func bothHalvesOfTheWorkAreDone() throws {
        for _ in 0..<50 {
            let results = try TwoCores.run { half in half + 10 }
            #expect(results.0 == 10 && results.1 == 11)
        }
        for failing in 0..<2 {
            #expect(
                errorCode {
                    _ = try TwoCores.run { half throws(RealmError) -> Int in
                        if half == failing { throw RealmError(.logic, "half \(half)") }
                        return half
                    }
                } == .logic)
        }
    }

    @Test func largeSortsOrderAsSwiftDoes() throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), 60_000)
        defer { realm.close() }
        let all = try realm.objects("Note")
        func expect(_ text: String, _ precedes: (Row, Row) -> Bool) throws {
            let sorted = rows.sorted { a, b in
                precedes(a, b) || (!precedes(b, a) && a.key < b.key)
            }
            #expect(try keys(all.sorted(text)) == sorted.map(\.key), "\(text)")
        }
        try expect("rank ASC, text DESC") { a, b in
            (a.rank ?? -1) != (b.rank ?? -1)
                ? (a.rank ?? -1) < (b.rank ?? -1)
                : Array(a.text.utf8) != Array(b.text.utf8)
                    && !a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
        }
        try expect("text ASC") { a, b in a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
        // All equal but for the order of keys, and only two values.
        try expect("rank DESC") { a, b in (a.rank ?? -1) > (b.rank ?? -1) }
        // Results that are frozen may be read by several threads at once.
        let frozen = try all.sorted("rank ASC, text DESC").resolved(in: realm.freeze())
        #expect(try keys(frozen) == keys(all.sorted("rank ASC, text DESC")))
    }

    @Test func largeScansFindWhatALoopFinds() throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), 410_000)
        defer { realm.close() }
        try realm.write {
            // Dead rows in the leaves of both halves.
            let owner = realm.schema.class_(named: "Note")!.key
            for row in stride(from: 3, to: rows.count, by: 4001) {
                try realm.find(owner, key: ObjectKey(rawValue: rows[row].key))?.delete()
            }
        }
        let live = rows.enumerated().filter { $0.offset % 4001 != 3 }.map(\.element)
        let all = try realm.objects("Note")
        let found = live.filter { $0.text.utf8.elementsEqual("note 777 of 3".utf8) }
        #expect(try keys(all.filter("text == 'note 777 of 3'")) == found.map(\.key))
        let many = live.filter { $0.text.contains("77") && ($0.rank ?? 0) > 5 }
        let results = try all.filter("text CONTAINS '77' AND rank > 5")
        #expect(try results.count() == many.count)
        #expect(try keys(results) == many.map(\.key))
        #expect(try all.filter("text CONTAINS[c] 'NOTE 77'").count() > 0)
        #expect(try all.filter("text MATCHES 'note 1[0-9] of 5'").count() > 0)
    }
}
