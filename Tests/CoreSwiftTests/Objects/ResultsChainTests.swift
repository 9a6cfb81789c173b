// Random chains of conditions, orders and cuts against the same steps on a plain array, over every
// source of results: in the order written, with conditions first as the C interface has it, frozen,
// handed to another session, and while the data changes.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ResultsChainTests {
    private struct Item: Equatable {
        let id: Int64
        var rank: Int64
        let group: Int64
    }

    private static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: .primaryKey),
                PropertySchema("rank", .int, flags: .indexed),
                PropertySchema("group", .int),
                PropertySchema("box", .object, linkTarget: "Box", flags: [.nullable]),
            ]),
        ClassSchema(
            "Box", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: .primaryKey),
                PropertySchema("items", .object, collection: .list, linkTarget: "Item"),
                PropertySchema("ranks", .int, collection: .list),
            ]),
    ])

    /// One step: on results over objects, on those over ranks, and on the model.
    private struct Step {
        enum Kind {
            case filter(String)
            case sort(String)
            case distinct(String)
            case limit(Int)
            case offset(Int)
        }
        let kind: Kind
        let model: ([Item]) -> [Item]

        static func random(_ random: inout Random, onlyRanks: Bool = false) -> Step {
            let number = [0, 1, 2, 5, 40, 300, 5000][random.below(7)]
            let bound = Int64(random.below(400))
            switch random.below(onlyRanks ? 8 : 10) {
            case 0: return Step(kind: .limit(number)) { Array($0.prefix(number)) }
            case 1: return Step(kind: .offset(number)) { Array($0.dropFirst(number)) }
            case 2, 3:
                return Step(kind: .filter("rank >= \(bound)")) { $0.filter { $0.rank >= bound } }
            case 4:
                return Step(kind: .filter("rank < \(bound) SORT(rank DESC) LIMIT(\(number))")) {
                    let found = $0.filter { $0.rank < bound }
                    return Array(stable(found) { $0.rank > $1.rank }.prefix(number))
                }
            case 5: return Step(kind: .sort("rank ASC")) { stable($0) { $0.rank < $1.rank } }
            case 6: return Step(kind: .sort("rank DESC")) { stable($0) { $0.rank > $1.rank } }
            case 7: return Step(kind: .distinct("rank")) { first($0, \.rank) }
            case 8: return Step(kind: .distinct("group")) { first($0, \.group) }
            default:
                return Step(kind: .sort("group DESC, id ASC")) {
                    $0.sorted { $0.group != $1.group ? $0.group > $1.group : $0.id < $1.id }
                }
            }
        }

        private static func stable(
            _ items: [Item], _ before: (Item, Item) -> Bool
        ) -> [Item] {
            items.enumerated().sorted { a, b in
                before(a.element, b.element)
                    || (!before(b.element, a.element) && a.offset < b.offset)
            }.map(\.element)
        }

        private static func first(_ items: [Item], _ key: (Item) -> Int64) -> [Item] {
            var seen = Set<Int64>()
            return items.filter { seen.insert(key($0)).inserted }
        }

        func apply(_ results: Results) throws -> Results {
            switch kind {
            case .filter(let text): return try results.filter(text)
            case .sort(let text): return try results.sorted(text)
            case .distinct(let text): return try results.distinct(text)
            case .limit(let count): return try results.limited(count)
            case .offset(let count): return try results.offset(count)
            }
        }

        func apply(_ results: ValueResults) throws -> ValueResults {
            func ofSelf(_ text: String) -> String {
                text.split(separator: "rank", omittingEmptySubsequences: false)
                    .joined(separator: "SELF")
            }
            switch kind {
            case .filter(let text): return try results.filter(ofSelf(text))
            case .sort(let text): return try results.sorted(ofSelf(text))
            case .distinct(let text): return try results.distinct(ofSelf(text))
            case .limit(let count): return try results.limited(count)
            case .offset(let count): return try results.offset(count)
            }
        }
    }

    private let directory = TemporaryDirectory()
    private let realm: Realm
    private let box: DynamicObject
    private var items: [Item] = []
    /// Positions of `items` as the list has them.
    private var listed: [Int] = []
    private var random: Random

    init() throws {
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        random = Random(700)
        try realm.beginWrite()
        box = try realm.create("Box", primaryKey: .int(1))
        for id in 0..<700 {
            let item = Item(
                id: Int64(id), rank: Int64(random.below(400)), group: Int64(random.below(30)))
            let object = try realm.create(
                "Item", primaryKey: .int(item.id),
                ["rank": .int(item.rank), "group": .int(item.group)])
            if item.id % 3 == 0 { try object.set("box", .link(box.link)) }
            items.append(item)
        }
        let list = try box.collection("items")
        let ranks = try box.collection("ranks")
        for position in 0..<500 {
            let index = random.below(items.count)
            listed.append(index)
            let object = try #require(try realm.find("Item", primaryKey: .int(Int64(index))))
            try list.insert(.link(object.link.classKey, object.key), at: position)
            try ranks.insert(.int(items[index].rank), at: position)
        }
        try realm.commit()
    }

    private enum Source: CaseIterable { case all, links, list, snapshot }

    private func results(_ source: Source) throws -> (Results, [Item]) {
        let all = try realm.objects("Item")
        switch source {
        case .all: return (all, items)
        case .links:
            let item = try #require(realm.schema.class_(named: "Item"))
            let property = try #require(item.property(named: "box"))
            let links = try box.handle.backlinks(from: item.key, property: property.key)
            return (links, items.filter { $0.id % 3 == 0 })
        case .list:
            let list = try #require(try box.collection("items").results() as? Results)
            return (list, listed.map { items[$0] })
        case .snapshot:
            let some = try all.sorted("rank DESC").limited(300).filter("group < 20").snapshot()
            let ordered = items.sorted { $0.rank != $1.rank ? $0.rank > $1.rank : $0.id < $1.id }
            return (some, ordered.prefix(300).filter { $0.group < 20 })
        }
    }

    private func ids(_ results: Results, _ range: Range<Int>? = nil) throws -> [Int64] {
        try (range ?? 0..<results.count()).map { try results.get($0).linkTarget.rawValue }
    }

    private func ranks(_ results: ValueResults) throws -> [Int64] {
        try (0..<results.count()).map { try results.get($0).intValue }
    }

    @Test mutating func `chains work on what the step before left`() throws {
        let frozen = try realm.freeze()
        let other = try Realm.open(TestSchema.configuration(directory.file(), nil))
        defer { other.close() }
        for item in Campaign("chains of results", seconds: 1, atLeast: 40) {
            random = item.random
            let source = Source.allCases[random.below(Source.allCases.count)]
            var (results, model) = try results(source)
            var steps: [Step] = []
            for _ in 0..<(1 + random.below(5)) {
                let step = Step.random(&random)
                steps.append(step)
                results = try step.apply(results)
                model = step.model(model)
            }
            let expected = model.map(\.id)
            let text = "\(source): \(steps.map(\.kind))"
            // In part and then whole: what was found for the part must not pass for all.
            let part = random.below(30)
            let cut = min(part, expected.count)
            #expect(try ids(results, 0..<cut) == Array(expected.prefix(cut)), "\(text)")
            #expect(try results.count() == expected.count, "\(text)")
            #expect(try ids(results) == expected, "\(text)")
            let there = try results.resolved(in: frozen)
            #expect(try ids(there) == expected, "frozen, \(text)")
            let reference = try ThreadSafeReference(results)
            let handed = try #require(try reference.results(in: other) as? Results)
            #expect(try ids(handed) == expected, "handed over, \(text)")
            if source != .snapshot {
                #expect(handed.description == results.description, "\(text)")
            }
        }
    }

    @Test mutating func `chains over values work on what the step before left`() throws {
        let frozen = try realm.freeze()
        for item in Campaign("chains of values", seconds: 1, atLeast: 40) {
            random = item.random
            var results = try #require(try box.collection("ranks").results() as? ValueResults)
            var model = listed.map { items[$0] }
            if random.below(4) == 0 { results = try results.fixed() }
            var steps: [Step] = []
            for _ in 0..<(1 + random.below(5)) {
                let step = Step.random(&random, onlyRanks: true)
                steps.append(step)
                results = try step.apply(results)
                model = step.model(model)
            }
            let text = "\(steps.map(\.kind))"
            #expect(try ranks(results) == model.map(\.rank), "\(text)")
            #expect(try ranks(results.resolved(in: frozen)) == model.map(\.rank), "\(text)")
        }
    }

    @Test mutating func `chains see what a write transaction changes`() throws {
        var chains: [(results: Results, source: Source, steps: [Step])] = []
        for round in 0..<24 {
            let source: Source = [.all, .links, .list][round % 3]
            var results = try results(source).0
            let steps = (0..<4).map { _ in Step.random(&random) }
            for step in steps { results = try step.apply(results) }
            chains.append((results, source, steps))
        }
        let list = try box.collection("items")
        for round in 0..<40 {
            if round % 8 == 0 { try realm.beginWrite() }
            let index = random.below(items.count)
            let object = try #require(try realm.find("Item", primaryKey: .int(Int64(index))))
            if round % 2 == 0 {
                items[index].rank = Int64(random.below(400))
                try object.set("rank", .int(items[index].rank))
            } else {
                let position = random.below(listed.count)
                listed[position] = index
                try list.set(.link(object.link.classKey, object.key), at: position)
            }
            if round % 8 == 7 { try realm.commit() }
            for chain in chains {
                var model = try results(chain.source).1
                for step in chain.steps { model = step.model(model) }
                #expect(
                    try ids(chain.results) == model.map(\.id),
                    "\(round), \(chain.source): \(chain.steps.map(\.kind))")
            }
        }
    }

    /// The second way to filter, which the C interface has: what was sorted, made distinct and
    /// not cut is tested before all of that.
    @Test mutating func `conditions can be put before all steps`() throws {
        for round in 0..<60 {
            let source = Source.allCases[round % Source.allCases.count]
            let (start, model) = try results(source)
            var results = start
            var steps: [Step] = []
            for _ in 0..<3 {
                let step = Step.random(&random)
                switch step.kind {
                case .sort, .distinct: break
                default: continue
                }
                steps.append(step)
                results = try step.apply(results)
            }
            let bound = Int64(random.below(400))
            let query = try realm.query(start.classKey, "rank > \(bound) SORT(id DESC) LIMIT(2)")
            let filtered = try results.filteredFirst(by: query)
            var expected = model.filter { $0.rank > bound }
            for step in steps { expected = step.model(expected) }
            #expect(try ids(filtered) == expected.map(\.id), "\(source): \(steps.map(\.kind))")
            let limited = try filtered.filter("rank > 0").limited(3).filter("rank > 1")
            #expect(errorCode { _ = try limited.filteredFirst(by: query) } == .illegalOperation)
        }
    }

    @Test func `a description says what it is made of`() throws {
        let all = try realm.objects("Item")
        let few = try all.filter("rank > 3").sorted("rank ASC").filter("group == 1 LIMIT(4)")
        // Conditions before and behind a SORT are one stage.
        #expect(few.description.spelling == "rank > 3 and group == 1 SORT(rank ASC) LIMIT(4)")
        let some = try few.filter("rank < 9").distinct("group").filter("TRUEPREDICATE OFFSET(1)")
        #expect(
            some.description.spelling
                == "rank > 3 and group == 1 SORT(rank ASC) LIMIT(4) | rank < 9 DISTINCT(group)"
                + " | TRUEPREDICATE OFFSET(1)")
        let lines = try some.explain().split(separator: "\n")
        #expect(
            lines.suffix(6) == [
                "then: SORT(rank ASC), the first objects in the order of the index",
                "then: LIMIT(4)",
                "then: test rank <= 8", "then: DISTINCT(group)", "then: test true",
                "then: OFFSET(1)",
            ])
        let again = try all.filter("rank > $0", [.scalar(.int(3))]).filter("group == 1")
        #expect(try again.sorted("rank ASC").limited(4).description == few.description)
        #expect(try again.limited(4).sorted("rank ASC").description != few.description)
        #expect(try all.snapshot().filter("rank > 3").description != again.description)
        let list = try box.collection("items").results()
        #expect(list.description == (try box.collection("items").results()).description)
        #expect(list.description != all.description)
        #expect(list.description != (try box.collection("ranks").results()).description)
        // The conditions alone, of all stages.
        #expect(
            try some.query().description == "rank > 3 and group == 1 and rank < 9")
    }
}
