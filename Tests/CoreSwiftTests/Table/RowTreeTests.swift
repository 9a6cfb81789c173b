// The tree of rows in situations that random programs rarely meet.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct RowTreeTests {
    static let schema = Schema([
        ClassSchema("Event", properties: [PropertySchema("kind", .int)]),
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("text", .string),
            ]),
    ])

    private func expectSound(_ world: TableWorld, _ step: String = "") throws {
        let problems = try Realm.check(world.store)
        #expect(problems == [], "\(step)")
    }

    private func expectPositions(_ world: TableWorld, _ name: String) throws {
        let table = try world.reader.table(world.key(name))
        var leaves = table.leaves()
        var position = 0
        while let leaf = try leaves.next() {
            let found = try #require(try table.leaf(atPosition: position))
            #expect(found.leaf.base == leaf.base)
            #expect(found.start == position)
            position += leaf.liveRows
        }
        #expect(position == table.rowCount)
    }

    /// The root is a full leaf of an earlier version; the next row begins a second one.
    @Test func rowCountsAreRightAfterTheFirstSplitByAppending() throws {
        let world = try TableWorld(Self.schema)
        for count in [1000, 1900, 2040, 2048] {
            try world.beginWrite()
            let table = world.tables.table(world.key("Event"))!
            while table.state.rowCount < count {
                try world.add(
                    "Event", ["kind": .int(table.state.nextKey.rawValue &* 7_777_777_777)])
            }
            try world.tables.commit()
            try expectSound(world, "\(count)")
            try expectPositions(world, "Event")
        }
    }

    /// Room for tombstones is made in memory where leaves are patched, and written where there are any.
    @Test func valuesThatChangeInTheirPlaceLeaveTheirLeavesAsLarge() throws {
        let world = try TableWorld(Self.schema)
        try world.beginWrite()
        // Full leaves, whose last page has no room for a bit per row.
        for _ in 0..<60_000 {
            let key = world.tables.table(world.key("Event"))!.state.nextKey
            try world.add("Event", ["kind": .int(key.rawValue &* 7_777_777_777)])
        }
        try world.tables.commit()
        func leafPages() throws -> Int {
            var leaves = try world.reader.table(world.key("Event")).leaves()
            var pages = 0
            while let leaf = try leaves.next() { pages += Page.count(forBytes: leaf.bytesUsed) }
            return pages
        }
        func usedPages() throws -> Int {
            let now = try world.store.statistics()
            return now.filePages - now.freePages - now.pendingPages
        }
        let before = try usedPages()
        let leaves = try leafPages()
        try world.beginWrite()
        let table = world.tables.table(world.key("Event"))!
        for number in stride(from: 0, to: 60_000, by: 50) {
            let key = ObjectKey(rawValue: Int64(number))
            let place = try #require(try table.find(key))
            _ = try table.setValue(place, key, 0, try table.value(place, key, 0))
        }
        try world.tables.commit()
        #expect(try leafPages() == leaves)
        #expect(try usedPages() <= before + 2)
        try expectSound(world)
    }

    /// The first leaf of a branch goes; then smaller keys come than its second leaf began with.
    @Test func keysBelowARemovedFirstLeafComeBack() throws {
        let world = try TableWorld(Self.schema)
        func add(_ range: StrideTo<Int>) throws {
            for id in range {
                try world.add(
                    "Item",
                    [
                        "id": .int(Int64(id)),
                        "text": .string("\(id) \(String(repeating: "x", count: 40))"),
                    ])
            }
        }
        try world.beginWrite()
        try add(stride(from: 0, to: 40_000, by: 20))
        try world.tables.commit()
        try expectSound(world, "filled")
        try world.beginWrite()
        for id in stride(from: 0, to: 20_000, by: 20) { try world.delete("Item", ObjectKey(id)) }
        try world.tables.commit()
        try expectSound(world, "deleted")
        for start in stride(from: 19_990, to: 0, by: -2000) {
            try world.beginWrite()
            try add(stride(from: max(start - 2000, 0), to: start, by: 2))
            try world.tables.commit()
            try expectSound(world, "from \(start)")
            try expectPositions(world, "Item")
        }
    }
}
