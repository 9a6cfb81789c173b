// What waits in a write transaction: text that is set again and again, and link changes that are
// not merged into the inverse index yet.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct PendingChangeTests {
    private static let target = ClassSchema(
        "Target", primaryKey: "_id",
        properties: [
            PropertySchema("_id", .int, flags: [.primaryKey]),
            PropertySchema("text", .string),
        ])
    private static let source = ClassSchema(
        "Source", primaryKey: "_id",
        properties: [
            PropertySchema("_id", .int, flags: [.primaryKey]),
            PropertySchema("to", .object, linkTarget: "Target", flags: [.nullable]),
        ])

    private static func open(_ directory: TemporaryDirectory) throws -> Realm {
        try Realm.open(
            TestSchema.configuration(directory.file(), Schema([target, source])))
    }

    private static func table(_ realm: Realm, _ name: String) throws -> Table {
        let key = try #require(realm.schema.class_(named: name)?.key)
        return try realm.table(key)
    }

    @Test func textThatIsSetAgainAndAgainTakesNoMoreRoomThanItNeeds() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory)
        try realm.beginWrite()
        var objects: [DynamicObject] = []
        for id in 0..<100 {
            objects.append(
                try realm.create(
                    "Target", primaryKey: .int(Int64(id)), ["text": .string("first \(id)")]))
        }
        for round in 0..<5000 {
            let text = String(repeating: "\(round % 10)", count: round % 2000)
            try objects[round % 40].set("text", .string(text))
        }
        // 4,000 kB were set; 40 rows hold at most 2,000 bytes each.
        let table = try Self.table(realm, "Target")
        let leaf = try #require(table.state.openLeaves.first)
        #expect(leaf.pointee.columns[1].heapCapacity < 400_000)
        try realm.commit()
        for id in 0..<100 {
            let object = try #require(try realm.find("Target", primaryKey: .int(Int64(id))))
            let last = 4960 + id
            let expected =
                id < 40
                ? String(repeating: "\(last % 10)", count: last % 2000) : "first \(id)"
            #expect(try object.get("text") == .string(expected))
        }
    }

    @Test func deletingLinkedObjectsDoesNotMergeTheInverseIndexEachTime() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory)
        try realm.write {
            for id in 0..<500 {
                let target = try realm.create("Target", primaryKey: .int(Int64(id)))
                _ = try realm.create(
                    "Source", primaryKey: .int(Int64(id)), ["to": .link(target.link)])
            }
        }
        try realm.beginWrite()
        for id in 0..<500 {
            try #require(try realm.find("Target", primaryKey: .int(Int64(id)))).delete()
        }
        let table = try Self.table(realm, "Source")
        let inverse = Int(table.state.columns[1].inverseIndex)
        #expect(table.state.indexes[inverse].pending.count == 500)
        try realm.commit()
        #expect(try realm.check().isEmpty)
        for id in 0..<500 {
            let source = try #require(try realm.find("Source", primaryKey: .int(Int64(id))))
            #expect(try source.get("to") == .null)
        }
    }

    /// Random changes of links and deletions, against sets; with few targets the chains of
    /// changes grow longer than the engine follows.
    @Test(arguments: [(targets: 3, rounds: 6000), (targets: 200, rounds: 6000)])
    func linksOfDeletedObjectsAreNullWhateverWaits(targets: Int, rounds: Int) throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory)
        var generator = Random(UInt64(targets))
        var linked = [Int: Int]()
        let sources = 60
        try realm.write {
            for id in 0..<sources { _ = try realm.create("Source", primaryKey: .int(Int64(id))) }
            for id in 0..<targets { _ = try realm.create("Target", primaryKey: .int(Int64(id))) }
        }
        try realm.beginWrite()
        for round in 0..<rounds {
            let source = Int.random(in: 0..<sources, using: &generator)
            let target = Int.random(in: 0..<targets, using: &generator)
            let from = try #require(
                try realm.find("Source", primaryKey: .int(Int64(source))))
            let to = try #require(try realm.find("Target", primaryKey: .int(Int64(target))))
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                try to.delete()
                for (source, own) in linked where own == target { linked[source] = nil }
                _ = try realm.create("Target", primaryKey: .int(Int64(target)))
            case 1:
                try from.set("to", .null)
                linked[source] = nil
            default:
                try from.set("to", .link(to.link))
                linked[source] = target
            }
            if round % 1500 == 1499 {
                try realm.commit()
                try realm.beginWrite()
            }
        }
        for source in 0..<sources {
            let from = try #require(
                try realm.find("Source", primaryKey: .int(Int64(source))))
            let expected = linked[source].map { Value.int(Int64($0)) }
            #expect(try from.linked("to")?.get("_id") == expected)
        }
        try realm.commit()
        #expect(try realm.check().isEmpty)
    }
}
