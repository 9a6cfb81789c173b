// SUBQUERYs in SUBQUERYs that use the variables around them, and paths through several collections:
// right answers at small depth, by naive computation, and bounded work at any (QUERY_RULES B6, Y6).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct NestingTests {
    private static let schema = Schema([
        ClassSchema(
            "Node", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("a", .int),
                PropertySchema("peers", .object, collection: .list, linkTarget: "Node"),
                PropertySchema("marks", .int, collection: .list),
                PropertySchema("words", .string, collection: .list),
            ])
    ])
    /// Seconds, which the slowest build keeps many times over.
    private static let bound = 30.0

    private let directory = TemporaryDirectory()
    private let realm: Realm
    /// By object, whose primary key is its place here.
    private let a: [Int64]
    private let peers: [[Int]]
    private let marks: [[Int64]]

    init() throws {
        a = [3, 1, 4, 1, 5, 9]
        peers = [[1, 2, 5], [0, 2, 3, 3], [4, 5, 0], [1], [], [2, 3, 4, 5]]
        marks = [[1, 4], [], [9, 3, 3], [5], [2, 4], [0]]
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        var objects: [DynamicObject] = []
        for (id, number) in a.enumerated() {
            objects.append(
                try realm.create("Node", primaryKey: .int(Int64(id)), ["a": .int(number)]))
        }
        for (id, object) in objects.enumerated() {
            let links = try object.collection("peers")
            for (place, peer) in peers[id].enumerated() {
                let target = objects[peer]
                try links.insert(.link(target.link.classKey, target.key), at: place)
            }
            let numbers = try object.collection("marks")
            for (place, mark) in marks[id].enumerated() {
                try numbers.insert(.int(mark), at: place)
            }
        }
        try realm.commit()
    }

    private func query(_ text: String, usesColumns: Bool = true) throws -> Query {
        let key = realm.schema.class_(named: "Node")!.key
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer {
            try Query.parse($0, [], realm.schema, key, values: nil, usesColumns: usesColumns)
        }
    }

    private func run(_ query: Query) throws -> [Int] {
        _ = try realm.readTables()
        let snapshot = SnapshotReader(tables: try realm.readTables())
        return try query.findAll(snapshot).map { Int($0.rawValue) }
    }

    /// Primary keys that a query selects, within the bound on time.
    private func ask(_ text: String) throws -> [Int] {
        let start = TestSettings.processorTime()
        let found = try run(try query(text))
        #expect(try run(try query(text, usesColumns: false)) == found, "\(text)")
        let time = TestSettings.processorTime() - start
        #expect(time < Self.bound, "\(time) s: \(text)")
        return found
    }

    // MARK: Random ones, by naive computation

    /// A SUBQUERY in the place of its variable's number among those around it.
    private struct Level {
        /// The variable whose members it goes through, -1: the root's.
        var from: Int
        var isMarks: Bool
        /// Its own number `op` the sum of those of variables around it.
        var others: [Int]
        var op: Int
        /// How its condition is joined to the SUBQUERY within.
        var isOr: Bool
        /// Compares `@count`, or `@sum`, with a number, on this side.
        var isSum: Bool
        var isMirrored: Bool
        var outerOp: Int
        var number: Int64
    }
    private enum Member {
        case object(Int)
        case value(Int64)
    }
    private static let operators = ["==", "!=", "<", "<=", ">", ">="]

    private static func holds(_ left: Int64, _ op: Int, _ right: Int64) -> Bool {
        switch op {
        case 0: return left == right
        case 1: return left != right
        case 2: return left < right
        case 3: return left <= right
        case 4: return left > right
        default: return left >= right
        }
    }

    private func number(_ member: Member) -> Int64 {
        switch member {
        case .object(let id): return a[id]
        case .value(let value): return value
        }
    }

    private func naive(_ levels: [Level], _ level: Int, _ members: [Member]) -> Bool {
        guard level < levels.count else { return true }
        let this = levels[level]
        guard case .object(let owner) = members[this.from + 1] else { return false }
        let all =
            this.isMarks
            ? marks[owner].map { Member.value($0) } : peers[owner].map { Member.object($0) }
        var result: Int64 = 0
        for member in all {
            let sum = this.others.reduce(Int64(0)) { $0 &+ number(members[$1 + 1]) }
            let own = Self.holds(number(member), this.op, sum)
            let isLast = level + 1 == levels.count
            let inner = isLast ? own : naive(levels, level + 1, members + [member])
            if isLast ? own : this.isOr ? own || inner : own && inner {
                result &+= this.isSum ? number(member) : 1
            }
        }
        return this.isMirrored
            ? Self.holds(this.number, this.outerOp, result)
            : Self.holds(result, this.outerOp, this.number)
    }

    private func text(_ levels: [Level]) -> String {
        func name(_ variable: Int, _ isMarks: Bool) -> String {
            variable < 0 ? "SELF.a" : isMarks ? "$v\(variable)" : "$v\(variable).a"
        }
        var text = ""
        for (level, this) in levels.enumerated().reversed() {
            let root = this.from < 0 ? "SELF" : "$v\(this.from)"
            let sum = this.others.map { name($0, $0 >= 0 && levels[$0].isMarks) }
            let own =
                "\(name(level, this.isMarks)) \(Self.operators[this.op]) "
                + (sum.isEmpty ? "0" : sum.joined(separator: " + "))
            let body = text.isEmpty ? own : own + (this.isOr ? " OR " : " AND ") + text
            let result = this.isSum ? this.isMarks ? ".@sum" : ".@sum.a" : ".@count"
            let op = Self.operators[this.outerOp]
            let whole =
                "SUBQUERY(\(root).\(this.isMarks ? "marks" : "peers"), $v\(level), \(body))"
                + result
            text =
                this.isMirrored ? "\(this.number) \(op) \(whole)" : "\(whole) \(op) \(this.number)"
        }
        return text
    }

    @Test func `B6: what SUBQUERYs in SUBQUERYs find is what a naive computation finds`() throws {
        for item in Campaign("nested subqueries", seconds: 1, atLeast: 100) {
            var random = item.random
            var levels: [Level] = []
            for level in 0..<Int.random(in: 1...5, using: &random) {
                let objects = [-1] + levels.indices.filter { !levels[$0].isMarks }
                let around = -1..<level
                levels.append(
                    Level(
                        from: Bool.random(using: &random)
                            ? objects[objects.count - 1] : objects.randomElement(using: &random)!,
                        isMarks: Int.random(in: 0..<4, using: &random) == 0,
                        others: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                            around.randomElement(using: &random)!
                        },
                        op: Int.random(in: 0..<6, using: &random),
                        isOr: Int.random(in: 0..<3, using: &random) == 0,
                        isSum: Int.random(in: 0..<4, using: &random) == 0,
                        isMirrored: Bool.random(using: &random),
                        outerOp: Int.random(in: 0..<6, using: &random),
                        number: Int64.random(in: -1...4, using: &random)))
            }
            let expected = a.indices.filter { naive(levels, 0, [.object($0)]) }
            #expect(
                try ask(text(levels)) == expected, "seed \(item.seed): \(text(levels))")
        }
    }

    // MARK: Deep ones

    private func chain(
        _ depth: Int, _ collection: String = "peers", _ end: String = ".@count > 0",
        _ condition: (Int) -> String
    ) -> String {
        var text = ""
        for level in (0..<depth).reversed() {
            let from = level == 0 || collection != "peers" ? "SELF" : "$v\(level - 1)"
            text =
                "SUBQUERY(\(from).\(collection), $v\(level), \(condition(level))"
                + (text.isEmpty ? "" : " AND " + text) + ")" + end
        }
        return text
    }

    /// Those from which some way of so many steps leads on.
    private func ways(_ depth: Int, _ goes: (_ from: Int, _ to: Int) -> Bool) -> [Int] {
        var good = Set(a.indices)
        for _ in 0..<depth {
            good = Set(
                a.indices.filter { from in
                    peers[from].contains { good.contains($0) && goes(from, $0) }
                })
        }
        return good.sorted()
    }

    @Test func `Y6, B6: a hundred levels that use their parent's variable, or the root`() throws {
        let parents = chain(100) { "$v\($0).a != \($0 == 0 ? "SELF" : "$v\($0 - 1)").a" }
        #expect(try ask(parents) == ways(100) { a[$0] != a[$1] })
        let roots = chain(100) { "$v\($0).a != SELF.a" }
        let expected = a.indices.filter { root in
            ways(100) { _, to in a[to] != a[root] }.contains(root)
        }
        #expect(try ask(roots) == expected)
        // Each level is false for all, so that nothing ends early.
        func none(_ depth: Int) -> String {
            chain(depth, "peers", ".@count > 9") { "$v\($0).a + SELF.a > 0" }
        }
        #expect(try ask(none(100)) == [])
        let sums = chain(100, "peers", ".@sum.a != 9000") { "$v\($0).a + SELF.a > 0" }
        #expect(try ask(sums) == [0, 1, 2, 3, 4, 5])
        // Values, and the levels within a condition of TERNARY.
        let values = chain(100, "marks", ".@count > 9") {
            "$v\($0) >= \($0 == 0 ? "SELF.a" : "$v\($0 - 1)")"
        }
        #expect(try ask(values) == [])
        #expect(try ask("TERNARY(\(none(99)), 1, 2) + a * 0 == 2") == [0, 1, 2, 3, 4, 5])
    }

    @Test func `Y6, B6: counting ends where a comparison is decided`() throws {
        // Each level uses all variables: to go through all of them would take years.
        func all(_ level: Int) -> String {
            (["SELF.a"] + (0...level).map { "$v\($0).a" }).joined(separator: " + ") + " > 0"
        }
        #expect(try ask(chain(20, "peers", ".@count > 0", all)) == [0, 1, 2, 3, 5])
        #expect(try ask(chain(20, "peers", ".@count >= 1", all)) == [0, 1, 2, 3, 5])
        #expect(try ask("NOT " + chain(20, "peers", ".@count != 0", all)) == [4])
    }

    private func refusal(_ text: String, workMax: Int = 1 << 18) throws -> RealmError? {
        let start = TestSettings.processorTime()
        let query = try query(text)
        query.filter.workMax = workMax
        do throws(RealmError) {
            _ = try query.count(SnapshotReader(tables: realm.readTables()))
            return nil
        } catch {
            #expect(TestSettings.processorTime() - start < Self.bound)
            return error
        }
    }

    @Test func `Y6, B6: what would take years is an error that names the query`() throws {
        let all = chain(60, "peers", ".@count > 9") { level in
            (["SELF.a"] + (0...level).map { "$v\($0).a" }).joined(separator: " + ") + " > 0"
        }
        let steps = "peers" + String(repeating: ".peers", count: 60)
        let texts = [
            all, "\(steps).@sum.a > 7",
            "SUBQUERY(\(steps), $x, $x.a > a).@count > 9",
            "a > 0 AND NOT \(steps).@max.a == a",
            "SUBQUERY(peers, $x, $x.a > SELF.a AND \(steps).@sum.a > 7).@count > 9",
        ]
        for text in texts {
            let error = try #require(try refusal(text))
            #expect(error.code == .limitExceeded)
            #expect(error.message.contains(String(text.prefix(200))), "\(error.message)")
            #expect(error.message.contains("gave up"))
        }
        // Two paths that lead to many: their pairs count, too.
        let some = "peers" + String(repeating: ".peers", count: 9)
        for text in [
            "\(some).a < ALL \(some).peers.id", "NONE \(some).a == \(some).peers.id + 100",
            "ANY \(some).words == ANY \(some).peers.words",
        ] {
            #expect(try refusal(text, workMax: 1 << 17)?.code == .limitExceeded, "\(text)")
        }
        // Two levels are a join of the data and have no bound; three have.
        func every(_ level: Int) -> String {
            (["SELF.a"] + (0...level).map { "$v\($0).a" }).joined(separator: " + ") + " > 0"
        }
        let none = -(1 << 40)
        #expect(try refusal(chain(2, "peers", ".@count > 9", every), workMax: none) == nil)
        #expect(try refusal("peers.peers.@sum.a > 1000", workMax: none) == nil)
        for text in [chain(3, "peers", ".@count > 9", every), "peers.peers.peers.@sum.a > 1000"] {
            #expect(try refusal(text, workMax: none)?.code == .limitExceeded, "\(text)")
        }
        // As many steps of a condition that some object passes look at each object once.
        #expect(try refusal("ANY \(steps).a == 9") == nil)
        #expect(try refusal("ALL \(steps).a > 0") == nil)
        // Both parts of a combined query are named.
        let both = try query("a > 0").and(try query(all))
        both.filter.workMax = 1 << 18
        #expect { try run(both) } throws: {
            "\($0)".contains("a > 0 AND SUBQUERY(")
        }
    }

    @Test func `B6: answers are kept for one execution, and little memory is enough`() throws {
        let text = chain(12) { "$v\($0).a != \($0 == 0 ? "SELF" : "$v\($0 - 1)").a" }
        let before = try run(try query(text))
        let kept = try query(text)
        #expect(try run(kept) == before)
        try realm.beginWrite()
        for id in Int64(0)..<6 {
            try realm.find("Node", primaryKey: .int(id))!.set("a", .int(id == 4 ? 8 : 7))
        }
        #expect(try run(kept) == [])
        for id in Int64(0)..<6 {
            try realm.find("Node", primaryKey: .int(id))!.set("a", .int(id))
        }
        #expect(try run(kept) == [0, 1, 2, 3, 5])
        try realm.rollback()
        #expect(try run(kept) == before)
    }
}
