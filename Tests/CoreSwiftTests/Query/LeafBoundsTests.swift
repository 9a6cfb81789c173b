// Leaves whose bounds rule a condition out are not looked at, and nothing that passes is in one of them.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LeafBoundsTests {
    private static let event = ClassSchema(
        "Event",
        properties: [
            PropertySchema("number", .int), PropertySchema("rank", .int, flags: [.nullable]),
            PropertySchema("weight", .double, flags: [.nullable]), PropertySchema("share", .float),
            PropertySchema("time", .timestamp, flags: [.nullable]), PropertySchema("isOpen", .bool),
        ])
    private static let added = [
        PropertySchema("late", .int, flags: [.nullable]), PropertySchema("later", .double),
    ]

    /// What an event has that was created as the one with this number: values ascend, as those of counters
    /// and dates do, some are far off, and some are none.
    private static func values(_ number: Int, _ random: inout Random) -> [String: Value] {
        let near = number + random.below(30)
        let rank: Value = random.below(20) == 0 ? .null : .int(Int64(near))
        let weight: Value =
            random.below(20) == 0
            ? .null : .double(random.below(40) == 0 ? .nan : Double(near) + 0.5)
        let time = Timestamp(seconds: Int64(near), nanoseconds: Int32(random.below(2) * 500))
        return [
            "number": .int(Int64(random.below(600) == 0 ? 1 : number)), "rank": rank,
            "weight": weight, "share": .float(Float(near) / 4),
            "time": random.below(20) == 0 ? .null : .timestamp(time),
            "isOpen": .bool(number % 900 < 450),
        ]
    }

    private static func make(_ path: String, _ count: Int, _ random: inout Random) throws -> Realm {
        let realm = try Realm.open(TestSchema.configuration(path, Schema([event])))
        try realm.write {
            for number in 0..<count { _ = try realm.create("Event", values(number, &random)) }
        }
        return realm
    }

    private static func condition(_ most: Int, _ random: inout Random) -> String {
        let (low, high) = (random.below(most), random.below(most))
        let range = "{\(min(low, high)), \(max(low, high))}"
        let op = ["<", "<=", ">", ">=", "==", "!="][random.below(6)]
        let time = "T\(low):\(random.below(2) * 500)"
        let tests = [
            "number \(op) \(low)", "rank \(op) \(low)", "weight \(op) \(low).5",
            "share \(op) \(low / 4)", "time \(op) \(time)", "isOpen \(op == "!=" ? op : "==") true",
            "late \(op) \(low)", "later \(op) \(low)", "number BETWEEN \(range)",
            "weight BETWEEN \(range)", "!(rank BETWEEN \(range))", "!(number \(op) \(low))",
            "!(weight \(op) \(low).5)", "rank == NULL", "time != NULL", "late == NULL",
        ]
        var text = tests[random.below(tests.count)]
        for _ in 0..<random.below(3) {
            let word = random.below(3) == 0 ? "OR" : "AND"
            text = "(\(text) \(word) \(tests[random.below(tests.count)]))"
        }
        return text
    }

    @Test func whatPassesIsInNoLeafThatIsRuledOut() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var random = Random(17)
        let count = 4_000
        var realm = try Self.make(path, count, &random)
        realm.close()
        // Leaves that were written before have no column of these.
        var grown = Self.event
        grown.properties += Self.added
        realm = try Realm.open(TestSchema.configuration(path, Schema([grown]), version: 2))
        defer { realm.close() }
        var found = 0
        for round in 0..<6 {
            for _ in 0..<60 {
                let text = Self.condition(count, &random)
                let keys = try Query.checkedKeys(text, "Event", in: realm)
                found += keys.count
                #expect(
                    try keys
                        == Query.checkedKeys(text, "Event", in: realm, usesColumns: false),
                    "\(text)")
            }
            // Some values change in their leaves, some leaves are written anew, and some objects go.
            try realm.write {
                let all = try realm.objects("Event")
                for _ in 0..<(20 << round) {
                    let place = random.below(try all.count())
                    let link = try all.get(place).linkTarget
                    let object = try realm.find(all.classKey, key: link)
                    let new = Self.values(random.below(count), &random)
                    for (name, value) in new where random.below(2) == 0 {
                        try object?.set(name, value)
                    }
                    if random.below(3) == 0 {
                        try object?.set("late", .int(Int64(random.below(count))))
                        try object?.set("later", .double(Double(random.below(count))))
                    }
                }
                try realm.deleteSome(50, of: "Event", &random)
            }
        }
        #expect(found > 100_000)
    }

    /// How many leaves are ruled out, of how many.
    private static func ruledOut(_ realm: Realm, _ text: String) throws -> (some: Int, all: Int) {
        let query = try Query.parse(text, "Event", in: realm)
        let scan = try query.selection(SnapshotReader(tables: try realm.readTables()))
        let bounds = LeafBounds(scan)
        var leaves = scan.table.leaves()
        var counts = (some: 0, all: 0)
        while let leaf = try leaves.next() {
            counts.all += 1
            if bounds.ruleOut(leaf) { counts.some += 1 }
        }
        return counts
    }

    @Test func leavesOutsideOfTheRangeAreRuledOut() throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Schema([Self.event])))
        defer { realm.close() }
        try realm.write {
            for number in 0..<4_000 {
                _ = try realm.create(
                    "Event",
                    [
                        "number": .int(Int64(number)), "rank": .int(Int64(number)),
                        "weight": .double(Double(number)), "share": .float(Float(number)),
                        "time": .timestamp(Timestamp(seconds: Int64(number), nanoseconds: 0)),
                    ])
            }
        }
        // The last hundred are in one leaf, or in two.
        for test in [
            "number >= 3900", "rank >= 3900", "weight > 3900.5", "share > 3900", "time >= T3900:0",
            "rank >= 3900 AND isOpen == true", "isOpen == false AND weight > 3900 AND rank > 0",
            "rank BETWEEN {3900, 5000}",
        ] {
            let counts = try Self.ruledOut(realm, test)
            #expect(counts.all >= 5, "\(test)")
            #expect((counts.all - 2..<counts.all).contains(counts.some), "\(test)")
        }
        // Null passes, another part may hold, or no range says what passes.
        for test in [
            "!(rank < 3900)", "number >= 3900 OR rank < 9", "isOpen == true", "number != 3900",
            "rank == NULL", "number == rank",
        ] {
            #expect(try Self.ruledOut(realm, test).some == 0, "\(test)")
        }
    }
}
