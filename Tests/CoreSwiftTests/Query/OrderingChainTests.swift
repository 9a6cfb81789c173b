// Random chains of SORT, DISTINCT, LIMIT and OFFSET against the same steps on a plain array: what
// they count, find first and give, read at once, one by one, and only in part.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct OrderingChainTests {
    private struct Item {
        let id: Int64
        let rank: Int64
        let group: Int64
    }

    private static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: .primaryKey),
                PropertySchema("rank", .int, flags: .indexed),
                PropertySchema("group", .int),
            ])
    ])

    private static func fill(_ realm: Realm, _ random: inout Random) throws -> [Item] {
        let items = (0..<900).map { id in
            Item(
                id: Int64(id), rank: Int64(random.below(400)), group: Int64(random.below(30)))
        }
        try realm.beginWrite()
        for item in items {
            _ = try realm.create(
                "Item", primaryKey: .int(item.id),
                ["rank": .int(item.rank), "group": .int(item.group)])
        }
        try realm.commit()
        return items
    }

    /// One step, as text and on the model.
    private static func step(_ random: inout Random, _ items: inout [Item]) -> String {
        let number = [0, 1, 2, 5, 40, 300, 5000][random.below(7)]
        switch random.below(6) {
        case 0:
            items = stable(items) { $0.rank < $1.rank }
            return " SORT(rank ASC)"
        case 1:
            items = stable(items) { $0.group > $1.group }
            return " SORT(group DESC)"
        case 2:
            var seen = Set<Int64>()
            items = items.filter { seen.insert($0.group).inserted }
            return " DISTINCT(group)"
        case 3:
            items = Array(items.prefix(number))
            return " LIMIT(\(number))"
        default:
            items = Array(items.dropFirst(number))
            return " OFFSET(\(number))"
        }
    }

    private static func stable(_ items: [Item], _ before: (Item, Item) -> Bool) -> [Item] {
        items.enumerated().sorted { a, b in
            before(a.element, b.element)
                || (!before(b.element, a.element) && a.offset < b.offset)
        }.map(\.element)
    }

    private static func ids(_ results: Results, _ range: Range<Int>) throws -> [ObjectKey] {
        try range.map { try results.get($0).linkTarget }
    }

    private static func compare(
        _ realm: Realm, _ text: String, _ wanted: [ObjectKey], part: Int
    ) throws -> Bool {
        let key = realm.schema.class_(named: "Item")!.key
        var copy = text
        let query = try copy.withUTF8 { bytes throws in try realm.query(key, bytes) }
        let first = try query.findFirst().map { $0.objectKey }
        // LIMIT(0) alone is not heeded by findFirst, as the C interface promises.
        let isHeeded = text.contains("SORT") || text.contains("DISTINCT")
        let sameFirst = !isHeeded && text.contains("LIMIT(0)") || first == wanted.first
        let cut = min(part, wanted.count)
        // The same results are read in part and then whole: what is remembered must not pass for all.
        let all = try query.findAll()
        let partly = try ids(all, 0..<cut)
        let counted = try query.count()
        let listed = try ids(all, 0..<wanted.count)
        return try sameFirst && counted == wanted.count && all.count() == wanted.count
            && partly == Array(wanted.prefix(cut)) && listed == wanted
            && text.hasSuffix(suffix(query.query.description))
    }

    /// The clauses of a canonical text.
    private static func suffix(_ text: String) -> String {
        let places = [" SORT(", " DISTINCT(", " LIMIT(", " OFFSET("].compactMap { clause in
            text.range(of: clause)
        }
        return places.min().map { String(text[$0...]) } ?? ""
    }

    @Test func `chains of clauses give what the same steps on an array give`() throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Self.schema))
        defer { realm.close() }
        var start = Random(1)
        let items = try Self.fill(realm, &start)
        for item in Campaign("chains of clauses", seconds: 1, atLeast: 50) {
            var random = item.random
            let least = random.below(3) == 0 ? Int64(random.below(800)) : 0
            var model = items.filter { $0.rank >= least % 400 && $0.id >= least / 2 }
            var text =
                least == 0 ? "TRUEPREDICATE" : "rank >= \(least % 400) AND id >= \(least / 2)"
            for _ in 0..<(1 + random.below(4)) { text += Self.step(&random, &model) }
            let part = random.below(30)
            let same = try Self.compare(realm, text, model.map { ObjectKey($0.id) }, part: part)
            #expect(same, "seed \(item.seed): \(text)")
        }
    }
}

extension String {
    /// Where a text begins in this one.
    fileprivate func range(of text: String) -> String.Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(text) { return index }
            formIndex(after: &index)
        }
        return nil
    }
}
