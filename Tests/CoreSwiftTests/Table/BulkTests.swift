// Larger tables: the tree's shape under bulk loads, random orders and mass deletions.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct BulkTests {
    let directory = TemporaryDirectory()

    static let schema = Schema([
        ClassSchema(
            "Row", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("text", .string, flags: [.indexed]),
                PropertySchema("number", .int),
                PropertySchema("next", .object, linkTarget: "Row", flags: [.nullable]),
            ]),
        ClassSchema(
            "Named", primaryKey: "name",
            properties: [
                PropertySchema("name", .string, flags: [.primaryKey]),
                PropertySchema("number", .int),
            ]),
    ])

    private func open() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
    }

    /// Object keys in tree order, and whether the counts of the branches add up.
    private func keys(_ realm: Realm, _ name: String) throws -> [ObjectKey] {
        let tables = try realm.readTables()
        let key = try #require(realm.schema.class_(named: name)).key
        let reader = try SnapshotReader(tables: tables).table(key)
        var result: [ObjectKey] = []
        var leaves = reader.leaves()
        while let leaf = try leaves.next() {
            for row in 0..<leaf.rows where !leaf.isDead(row) { result.append(leaf.key(row)) }
        }
        for position in stride(from: 0, to: result.count, by: max(1, result.count / 97)) {
            let found = try #require(try reader.leaf(atPosition: position))
            #expect(found.leaf.key(found.leaf.liveRow(position - found.start)) == result[position])
        }
        #expect(reader.rowCount == result.count)
        return result
    }

    @Test(arguments: [1, 2, 3])
    func randomOrdersOfInsertionGiveOneSortedTable(seed: UInt64) throws {
        var random = Random(seed)
        let realm = try open()
        let order = Array(0..<20_000).map { Int64($0 * 3) }.shuffled(using: &random)
        var start = 0
        while start < order.count {
            let end = min(order.count, start + [1, 500, 9_000].randomElement(using: &random)!)
            try realm.write {
                for id in order[start..<end] {
                    _ = try realm.create(
                        "Row", primaryKey: .int(id),
                        ["text": .string("text \(id % 1000)"), "number": .int(id &* id)])
                }
            }
            start = end
        }
        #expect(try keys(realm, "Row") == order.sorted().map { ObjectKey($0) })
        for id in order.prefix(500) {
            let row = try #require(try realm.find("Row", primaryKey: .int(id)))
            #expect(try row.get("number") == .int(id &* id))
        }
        #expect(try realm.find("Row", primaryKey: .int(1)) == nil)
    }

    @Test(arguments: [11, 12])
    func massDeletionsLeaveTheRest(seed: UInt64) throws {
        var random = Random(seed)
        let realm = try open()
        let count: Int64 = 30_000
        try realm.write {
            var last: DynamicObject?
            for id in 0..<count {
                let row = try realm.create(
                    "Row", primaryKey: .int(id), ["text": .string("t\(id % 77)")])
                if let last { try row.set("next", .link(last.link)) }
                last = row
            }
        }
        var left = Array(0..<count)
        for round in 0..<6 {
            let isRange = round % 2 == 0
            let gone =
                isRange
                ? Array(left[(left.count / 4)..<(left.count / 2)])
                : left.filter { _ in random.below(3) == 0 }
            let set = Set(gone)
            try realm.write {
                for id in gone {
                    try #require(try realm.find("Row", primaryKey: .int(id))).delete()
                }
            }
            left.removeAll { set.contains($0) }
            #expect(try keys(realm, "Row") == left.map { ObjectKey($0) })
        }
        let alive = Set(left)
        for id in left {
            let row = try #require(try realm.find("Row", primaryKey: .int(id)))
            let next = try row.linked("next")?.key.rawValue
            #expect(next == (id > 0 && alive.contains(id - 1) ? id - 1 : nil))
        }
        try realm.write {
            for id in left { try #require(try realm.find("Row", primaryKey: .int(id))).delete() }
        }
        #expect(try keys(realm, "Row").isEmpty)
    }

    @Test func stringKeysAreFoundBeforeAndAfterTheCommit() throws {
        var random = Random(5)
        let realm = try open()
        let names = (0..<15_000).map { "name \($0 &* 7919 % 100_003)" }.shuffled(using: &random)
        try realm.beginWrite()
        for (number, name) in names.enumerated() {
            _ = try realm.create(
                "Named", primaryKey: .string(name), ["number": .int(Int64(number))])
            if number % 1000 == 999 {
                let probe = Int.random(in: 0...number, using: &random)
                let found = try realm.find("Named", primaryKey: .string(names[probe]))
                #expect(try found?.get("number") == .int(Int64(probe)))
                let isThere = errorCode {
                    _ = try realm.create("Named", primaryKey: .string(names[probe]))
                }
                #expect(isThere == .objectAlreadyExists)
            }
        }
        try realm.commit()
        for (number, name) in names.enumerated() {
            let found = try realm.find("Named", primaryKey: .string(name))
            #expect(try found?.get("number") == .int(Int64(number)))
        }
        #expect(try realm.find("Named", primaryKey: .string("name")) == nil)
    }

    @Test func longStringKeysAreToldApart() throws {
        let realm = try open()
        let stem = String(repeating: "x", count: 600)
        try realm.write {
            for number in 0..<50 {
                _ = try realm.create(
                    "Named", primaryKey: .string(stem + "\(number)"),
                    ["number": .int(Int64(number))])
            }
            let again = errorCode {
                _ = try realm.create("Named", primaryKey: .string(stem + "7"))
            }
            #expect(again == .objectAlreadyExists)
        }
        for number in 0..<50 {
            let found = try realm.find("Named", primaryKey: .string(stem + "\(number)"))
            #expect(try found?.get("number") == .int(Int64(number)))
        }
        #expect(try realm.find("Named", primaryKey: .string(stem)) == nil)
    }
}
