// Rule Y6: chains of 50,000 terms, lists as long, and deep nesting, in every form of a condition.
// Costs grow with the length of the text and not with its square: each query has a bound on processor
// time, which the slowest build keeps many times over.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ChainRuleTests {
    private let world: RuleWorld
    private static let many = 50_000
    /// Seconds.
    private static let bound = 30.0

    init() throws { world = try RuleWorld() }

    /// Ids that a query selects and that its canonical text selects.
    private func found(_ text: String, _ title: String) throws -> [Int64] {
        let start = TestSettings.processorTime()
        let snapshot = SnapshotReader(tables: try world.realm.readTables())
        let query = try world.query(text, [], "Vessel")
        let keys = try query.findAll(snapshot)
        #expect(try query.count(snapshot) == keys.count, "\(title)")
        let description = query.description
        let again = try world.query(description, [], "Vessel")
        #expect(try again.findAll(snapshot) == keys, "\(title): the canonical text")
        #expect(try !query.explain(snapshot).isEmpty)
        let time = TestSettings.processorTime() - start
        #expect(time < Self.bound, "\(title): \(time) s")
        return try keys.map {
            let object = try world.realm.find(query.classKey, key: $0)!
            guard case .int(let id) = try object.get("id") else { return -1 }
            return id
        }
    }

    private func chain(_ separator: String, _ term: (Int) -> String) -> String {
        (0..<Self.many).map(term).joined(separator: separator)
    }

    private func nested(_ open: String, _ inner: String, _ close: String) -> String {
        String(repeating: open, count: Self.many) + inner
            + String(repeating: close, count: Self.many)
    }

    @Test func `Y6: chains of conditions`() throws {
        #expect(
            try found(chain(" OR ") { "tons + \($0) == id + 999" }, "sums") == [1, 2, 3, 4])
        #expect(try found(chain(" OR ") { "tons == id * \($0 + 1)" }, "properties") == [1, 4])
        #expect(try found(chain(" AND ") { "tons != id + \($0)" }, "inequalities") == [2])
        #expect(try found(chain(" OR ") { "ANY marks == \($0 + 5)" }, "elements") == [4])
        #expect(try found(chain(" OR ") { "crew.age == \($0 + 46)" }, "links") == [3, 4])
        #expect(try found(chain(" OR ") { "crew.@count == \($0 + 3)" }, "sizes") == [1])
        #expect(try found(chain(" OR ") { "notes[0] ==[c] 'A\($0)'" }, "texts") == [])
        #expect(
            try found(chain(" OR ") { "tons BETWEEN {id + \($0), id + \($0 + 1)}" }, "bounds")
                == [1, 3, 4])
        #expect(try found(chain(" AND ") { "NOT tons + id IN {\($0), -1}" }, "lists") == [2])
    }

    @Test func `Y6: chains of functions and subqueries`() throws {
        #expect(try found(chain(" OR ") { "abs(tons - \($0)) == 3" }, "functions") == [1, 3, 4])
        #expect(
            try found(chain(" OR ") { "TERNARY(tons > \($0), id, 0) == 4" }, "choices") == [4])
        #expect(
            try found(
                chain(" OR ") { "SUBQUERY(crew, $s, $s.age + \($0) == 50019).@count > 0" },
                "subqueries") == [1, 3, 4])
        #expect(
            try found(
                chain(" OR ") { "SUBQUERY(crew, $s, $s.age == SELF.tons + \($0)).@count == 1" },
                "correlated subqueries") == [1, 3])
    }

    @Test func `Y6: deep nesting`() throws {
        #expect(try found(nested("(", "tons + 1 == 6", ")"), "parentheses") == [1, 3])
        #expect(try found(nested("!(", "tons + 1 == 6", ")"), "negations") == [1, 3])
        #expect(try found(nested("-(", "tons", ")") + " == 5", "signs") == [1, 3])
        #expect(try found(nested("(1 + ", "tons", ")") + " == 50005", "sums") == [1, 3])
        #expect(
            try found("tons" + nested("", "", " + 1") + " == 50005", "a chain of sums") == [1, 3])
        #expect(
            try found(
                nested("(tons + 1 == 6 AND (id * 1 == 3 OR ", "id + 0 == 1", "))"), "alternating")
                == [1, 3])
        #expect(
            try found(nested("!(ALL marks > 1 AND ", "tons == 5", ")"), "inverted").count <= 4)
        #expect(
            try found(
                "SUBQUERY(marks, $m, " + nested("!($m > 1 OR ", "$m == 5", ")") + ").@count >= 0",
                "within a subquery") == [1, 2, 3, 4])
        #expect(
            try found("captain" + nested("", "", ".boss") + ".age == null", "links")
                == [1, 2, 3, 4])
        #expect(try found("crew" + nested("", "", ".boss") + ".age == 1", "many links") == [])
        #expect(try found("cargo" + nested("", "", "[0]") + " == 1", "indexes") == [])
        #expect(
            try found("id > 2" + nested("", "", " LIMIT(3)"), "suffixes") == [3, 4])
    }

    @Test func `Y6: long lists`() throws {
        let list = "{" + chain(", ") { "\($0)" } + "}"
        let texts = "{'starling', " + chain(", ") { "'x\($0)'" } + "}"
        #expect(try found("tons + 1 IN \(list)", "integers") == [1, 3, 4])
        #expect(try found("tons + 1 NOT IN \(list)", "not one of them") == [2])
        #expect(try found("tons + 1 != ALL \(list)", "different from all") == [2])
        #expect(try found("tons + 1 == NONE \(list)", "equal to none") == [2])
        #expect(try found("tons + 1 != \(list)", "different from some") == [1, 2, 3, 4])
        #expect(try found("ALL crew.age + 1 IN ANY \(list)", "members") == [1, 2, 3, 4])
        #expect(try found("NONE crew.age - 21 IN ANY \(list)", "no member") == [2])
        #expect(try found("draft * 2 IN \(list)", "doubles") == [1, 4])
        #expect(try found("price * 1 IN \(list)", "decimals") == [4])
        #expect(try found("bag[0] IN \(list)", "mixed values") == [1])
        #expect(try found("lowercase(title) IN \(texts)", "texts") == [1])
        #expect(try found("title IN[c] \(texts)", "texts without case") == [1])
        #expect(try found("tons IN \(list)", "a property") == [1, 3, 4])
    }

    /// What a set of constants finds is what comparing with each finds.
    @Test func `C2: a value is found among constants of any types`() throws {
        func decimal(_ text: String) -> RawValue { .decimal(Decimal128(text)!) }
        let numbers: [RawValue] = [
            .int(3), .double(3), .double(0.1), .float(0.1), .double(.nan), decimal("0.1"),
            decimal("3.0"), decimal("NaN"), .int(.max), .double(0x1p63), .double(-0.0), .int(0),
            .float(2.5), decimal("2.5"), .double(.infinity),
        ]
        let others: [RawValue] = [
            .null, .bool(true), .bool(false), .timestamp(seconds: 3, nanoseconds: 1),
            .link(ClassKey(rawValue: 1), 3),
            .link(ClassKey(rawValue: 2), 3), .uuid(UUIDValue.random()),
        ]
        let isDecimal = { (value: RawValue) in value.type == ValueType.decimal128.rawValue }
        let isInt = { (value: RawValue) in value.type == ValueType.int.rawValue }
        for members in [
            numbers.filter { !isDecimal($0) }, numbers.filter { isDecimal($0) || isInt($0) },
            numbers.filter { isInt($0) }, numbers, others, others + [.int(7)],
        ] {
            // Without NaN, and with it.
            for hasNaN in [false, true] {
                var list = members.filter { hasNaN || !ValueTest.isNaN($0) }
                for filler in 0..<20 { list.append(.int(Int64(1000 + filler))) }
                let set = list.withUnsafeMutableBufferPointer {
                    ConstantSet($0.baseAddress!, $0.count)
                }
                for value in numbers + others {
                    guard let found = set?.contains(value) else { continue }
                    let expected = list.contains {
                        value.isNull
                            ? $0.isNull : ValueTest.passes(value, .equal, $0, .double)
                    }
                    #expect(found == expected)
                }
            }
        }
    }

    @Test func `Y6: subqueries and functions have a depth that is not exceeded`() throws {
        func subqueries(_ depth: Int) -> String {
            var text = "SUBQUERY(crew, $v0, "
            for level in 1..<depth {
                let name = level % 2 == 1 ? "ships" : "crew"
                text += "SUBQUERY($v\(level - 1).\(name), $v\(level), "
            }
            return text + "TRUEPREDICATE" + String(repeating: ").@count > 0", count: depth)
        }
        #expect(try found(subqueries(100), "a hundred subqueries") == [1, 3, 4])
        world.refuse([("Y6", subqueries(101), .invalidQueryString, "nested more than 100 deep")])
        #expect(try found(functions(100), "a hundred functions") == [1, 3])
        world.refuse([("Y6", functions(101), .invalidQueryString, "nested more than 100 deep")])
        world.refuse([
            ("Y6", nested("(", "tons + 1", ""), .invalidQueryString, "a comparison operator"),
            ("Y6", nested("(", "tons == 1", "") + ")", .invalidQueryString, "')'"),
            ("Y6", nested("{", "tons == 1", "}"), .invalidQueryString, "a value"),
        ])
    }

    @Test func `Y6, B6: nested subqueries that speak of all around them`() throws {
        func subqueries(_ depth: Int) -> String {
            var text = "SUBQUERY(crew, $v0, "
            for level in 1..<depth {
                let isSailor = level % 2 == 1
                let outer = level == 1 ? "SELF" : "$v\(level - 2)"
                text += "$v\(level - 1).\(isSailor ? "age" : "tons") + \(outer)."
                text += "\(isSailor ? "tons" : "age") > SELF.id - 5000 AND "
                text += "SUBQUERY($v\(level - 1).\(isSailor ? "ships" : "crew"), $v\(level), "
            }
            return text + "$v0.age > 0" + String(repeating: ").@count > 0", count: depth)
        }
        // What they find costs the members of one to the power of the depth: few levels run.
        #expect(try found(subqueries(4), "correlated subqueries") == [1, 3, 4])
        let start = TestSettings.processorTime()
        let deep = try world.query(subqueries(100), [], "Vessel").description
        #expect(try world.query(deep, [], "Vessel").description == deep)
        #expect(TestSettings.processorTime() - start < Self.bound)
        for depth in [101, 200, 10_000] {
            world.refuse([
                ("Y6", subqueries(depth), .invalidQueryString, "nested more than 100 deep")
            ])
        }
        // Side by side, and each with a chain in it.
        let wide = (0..<2_000).map {
            "SUBQUERY(crew, $s, SUBQUERY($s.ships, $t, $t.tons > \($0) AND $s.age > SELF.id)"
                + ".@count > 0).@count > \($0)"
        }
        #expect(try found(wide.joined(separator: " OR "), "correlated side by side") == [1, 3, 4])
    }

    private func functions(_ depth: Int) -> String {
        String(repeating: "abs(", count: depth) + "tons - 10" + String(repeating: ")", count: depth)
            + " == 5"
    }

    /// Sampled when it is first asked for, and then the same for all that runs within a query.
    @Test func `B7: now() is one moment of a query`() throws {
        let snapshot = SnapshotReader(tables: try world.realm.readTables())
        let query = try world.query(
            "SUBQUERY(crew, $s, $s.age + 0 > 1 AND now() != null).@count + 0 > 0", [], "Vessel")
        let selection = try query.selection(snapshot)
        let inner = try Selection(
            snapshot, query.filter, snapshot.table(world.realm.schema.class_(named: "Sailor")!.key),
            root: Int(query.filter.subqueries[0].root), slot: 1, sharing: selection.run)
        try selection.prepare()
        try inner.prepare()
        let evaluators = try [selection, inner].map { try #require($0.filter.expressions) }
        #expect(evaluators[0] !== evaluators[1])
        let first = evaluators[0].functions.now
        while QueryClock().now.nanoseconds == first.nanoseconds {}
        let second = evaluators[1].functions.now
        #expect(ValueOrder.equal(first, second))
        #expect(try query.count(snapshot) == 3)
    }
}
