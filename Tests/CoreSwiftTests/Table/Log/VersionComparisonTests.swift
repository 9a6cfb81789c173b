// Comparison of two versions: it finds all that differs, and nothing else.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct VersionComparisonTests {
    @Test func `a comparison of two versions tells what random programs changed`() throws {
        for item in Campaign("comparison of versions", seconds: 4, atLeast: 3) {
            try compares(seed: item.seed)
        }
    }

    private func compares(seed: UInt64) throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), ChangeDoorTests.schema))
        var program = RandomProgram(realm, seed: seed)
        var before = try realm.freeze()
        for transaction in 0..<6 {
            for _ in 0...program.random.below(2) {
                try realm.beginWrite()
                let steps = transaction < 2 ? 150 : 1 + program.random.below(40)
                for _ in 0..<steps { try program.step() }
                try realm.commit()
            }
            let after = try realm.freeze()
            let comparison = try VersionComparison(
                from: try before.readTables(), to: try after.readTables())
            let check = SummaryCheck(
                before: try ReplayModel(try before.readTables()),
                after: try ReplayModel(try after.readTables()), schema: after.schema)
            let problems = check.problems(try comparison.summary())
            try #require(problems == [], "seed \(seed), transaction \(transaction)")
            before.close()
            before = after
        }
        before.close()
        realm.close()
    }

    @Test func `what a write transaction changed is told before its commit`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try realm.write { _ = try realm.create("Leaf", ["text": .string("a")]) }
        let before = try realm.freeze()
        try realm.beginWrite()
        _ = try realm.create("Leaf", ["text": .string("b")])
        let tables = try realm.readTables()
        let comparison = try VersionComparison(from: try before.readTables(), to: tables)
        let summary = try comparison.summary()
        #expect(summary.classes.count == 1)
        #expect(summary.classes.first?.inserted.keys == [ObjectKey(rawValue: 1)])
        try realm.rollback()
    }

    @Test func `an element put into a large list, and one taken out, are found`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try realm.write {
            let node = try realm.create("Node", primaryKey: .string("n"))
            let list = try node.collection("anys")
            for number in 0..<20_000 { try list.insert(.int(Int64(number)), at: number) }
        }
        let before = try realm.freeze()
        try realm.write {
            let node = try #require(try realm.find("Node", primaryKey: .string("n")))
            let list = try node.collection("anys")
            try list.insert(.int(-1), at: 9_000)
            try list.remove(at: 12_000)
        }
        let comparison = try VersionComparison(
            from: try before.readTables(), to: try realm.readTables())
        let changes = try #require(try comparison.summary().classes.first)
        #expect(changes.collections.count == 1)
        #expect(changes.collections.first?.operations == [.inserted(9_000), .removed(12_000)])
    }

    @Test func `the shortest script leads from one text to another`() {
        var random = Random(7)
        for _ in 0..<500 {
            let a = (0..<random.below(30)).map { _ in random.below(4) }
            let b = (0..<random.below(30)).map { _ in random.below(4) }
            guard let script = EditScript.find(a, b, limit: 100, ==) else {
                Issue.record("no script for \(a) and \(b)")
                continue
            }
            var made: [Int] = []
            var rest = a[...]
            var next = b[...]
            for step in script {
                switch step {
                case .keep:
                    made.append(rest.removeFirst())
                    next.removeFirst()
                case .remove: rest.removeFirst()
                case .insert: made.append(next.removeFirst())
                }
            }
            #expect(made == b && rest.isEmpty)
        }
        #expect(EditScript.find([1, 2, 3], [4, 5, 6], limit: 5, ==) == nil)
    }

    @Test func `sets of keys as ranges do what sets of keys do`() {
        var random = Random(11)
        for _ in 0..<300 {
            var sets: [Set<Int64>] = [[], []]
            var ranges = [KeyRanges(), KeyRanges()]
            for _ in 0..<random.below(30) {
                let which = random.below(2)
                let low = Int64(random.below(60))
                let high = low + Int64(random.below(5))
                sets[which].formUnion(low...high)
                ranges[which].insert(ObjectKey(rawValue: low)...ObjectKey(rawValue: high))
            }
            func keys(_ set: Set<Int64>) -> [ObjectKey] {
                set.sorted().map { ObjectKey(rawValue: $0) }
            }
            #expect(ranges[0].keys == keys(sets[0]))
            #expect(ranges[0].count == sets[0].count)
            var union = ranges[0]
            union.formUnion(ranges[1])
            #expect(union.keys == keys(sets[0].union(sets[1])))
            var rest = ranges[0]
            rest.subtract(ranges[1])
            #expect(rest.keys == keys(sets[0].subtracting(sets[1])))
            #expect(ranges[0].intersection(ranges[1]).keys == keys(sets[0].intersection(sets[1])))
            for key in 0..<70 {
                #expect(
                    ranges[0].contains(ObjectKey(rawValue: Int64(key)))
                        == sets[0].contains(Int64(key)))
            }
        }
    }
}
