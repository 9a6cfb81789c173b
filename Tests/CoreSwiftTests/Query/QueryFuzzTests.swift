// Random predicates over random tables, against an evaluator that knows nothing of leaves: it takes
// the rules of the language row by row from plain values.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct QueryFuzzTests {
    private static let words = [
        "alpha", "Beta", "gamma ray", "Élan", "ΣΊΣΥΦΟΣ", "x", "", "person-", "naïve", "Zulu",
    ]

    private static func row(_ random: inout Random, _ index: Int, _ style: Int) -> QueryRow {
        func maybe(_ value: Value, _ random: inout Random) -> Value {
            random.below(style == 0 ? 1000 : 5) == 0 ? .null : value
        }
        var row: QueryRow = [:]
        switch random.below(30) {
        case 0: row["id"] = .int(-Int64(index) - 1)
        case 1: row["id"] = .int(.max - Int64(index))
        default: row["id"] = .int(Int64(index) * (style == 2 ? 37 : 1))
        }
        row["tons"] = .int(
            [
                Int64(random.below(100)), Int64(random.below(70_000)) - 5,
                Int64(random.below(1 << 40)),
                7, Int64(bitPattern: random.next()),
            ][index / 300 % 5])
        row["crewed"] = maybe(.int(Int64(random.below(12))), &random)
        row["draft"] = maybe(
            .double([0.5, -0.0, 0, .nan, .infinity, -2.25, 1e300][random.below(7)]), &random)
        row["beam"] = maybe(.float([0.1, -1, 0, .infinity][random.below(4)]), &random)
        row["built"] = maybe(
            .timestamp(
                Timestamp(
                    seconds: Int64(random.below(50)) + 1,
                    nanoseconds: style == 0 ? 0 : Int32(random.below(3)) * 400)), &random)
        row["docked"] = maybe(
            .timestamp(Timestamp(seconds: Int64(random.below(9)), nanoseconds: 0)), &random)
        let title: String
        switch index / 400 % 4 {
        case 0: title = String(format: "person-%07d", index)
        case 1: title = words[random.below(words.count)]
        case 2: title = words[random.below(words.count)] + "\(index % 50)"
        default: title = String(repeating: "ab", count: random.below(5)) + "c"
        }
        row["title"] = maybe(.string(title), &random)
        row["code"] = maybe(.string(words[random.below(words.count)]), &random)
        row["active"] = maybe(.bool(random.below(2) == 0), &random)
        if random.below(40) == 0 {
            // Longer than what leaves hold.
            row["note"] = .string(String(repeating: "long text ", count: 300) + "\(index % 7)")
        } else {
            row["note"] = maybe(.string(words[random.below(words.count)]), &random)
        }
        return row
    }

    private static func schema() -> Schema {
        var classes = shipSchema().classes
        let vessel = classes.firstIndex { $0.name == "Vessel" }!
        classes[vessel].properties.append(
            PropertySchema("note", .string, flags: [.nullable]))
        return Schema(classes)
    }

    @Test func randomPredicatesAgreeWithPlainEvaluation() throws {
        for item in Campaign("predicates", seconds: 4, atLeast: 6, seed: 100) {
            try run(seed: item.seed, rounds: 150)
        }
    }

    private func run(seed: UInt64, rounds: Int) throws {
        // Six kinds: how rows repeat, how many are deleted, what is committed.
        let kind = Int(seed % 6)
        var random = Random(seed)
        let world = try TableWorld(Self.schema())
        let harborKey = world.key("Harbor")
        try world.beginWrite()
        var harbors: [ObjectKey: QueryRow] = [:]
        for index in 0..<40 {
            let row: QueryRow = [
                "name": .string("\(Self.words[index % 10])\(index)"),
                "depth": index % 6 == 0 ? .null : .int(Int64(index % 9)),
            ]
            harbors[try world.add("Harbor", row)] = row
        }
        let harborKeys = harbors.keys.sorted()
        var rows: [ObjectKey: QueryRow] = [:]
        for index in 0..<2500 {
            var row = Self.row(&random, index, kind % 3)
            if random.below(5) != 0 {
                let harbor = harborKeys[random.below(harborKeys.count)]
                row["berth"] = .link(Link(harborKey, harbor))
            }
            rows[try world.add("Vessel", row)] = row
        }
        if kind % 2 == 0 {
            try world.tables.commit()
            try world.beginWrite()
        }
        // Deleted rows, and rows changed in place.
        for key in rows.keys.sorted() where random.below(kind < 3 ? 9 : 60) == 0 {
            if random.below(2) == 0 {
                try world.delete("Vessel", key)
                rows[key] = nil
            } else {
                let table = world.tables.table(world.key("Vessel"))!
                let column = world.schema.class_(named: "Vessel")!.property(named: "tons")!.key
                let place = try table.find(key)!
                let value = Int64(random.below(1 << 20))
                _ = try table.setValue(place, key, column.column, .int(value))
                rows[key]?["tons"] = .int(value)
            }
        }
        if kind % 3 != 1 { try world.tables.commit() }
        var generator = PredicateGenerator(
            random: random, harbors: harbors, rows: rows.keys.sorted().map { rows[$0]! })
        for round in 0..<rounds {
            let predicate = generator.predicate(3)
            let expected = rows.keys.sorted().filter { predicate.passes(rows[$0]!) }
            let query: Query
            do {
                query = try world.query("Vessel", predicate.text)
            } catch {
                Issue.record("seed \(seed), round \(round): \(error)")
                continue
            }
            let found = try query.findAll(world.reader)
            if found != expected {
                let wrong = Set(found).symmetricDifference(expected).sorted()
                Issue.record(
                    """
                    seed \(seed), round \(round): \(predicate.text)
                    \(wrong.count) wrong, \(found.count) found, the first of \(wrong.first ?? -1): \
                    \(rows[wrong.first ?? -1] ?? [:])
                    """)
            }
            #expect(try query.count(world.reader) == expected.count, "\(predicate.text)")
            if round % 4 == 0 {
                let plain = try world.plainQuery("Vessel", predicate.text)
                #expect(
                    try plain.findAll(world.reader) == expected,
                    "seed \(seed), round \(round), with expressions alone: \(predicate.text)")
            }
            #expect(
                try query.findFirst(world.reader) == expected.first,
                "\(predicate.text)")
            if round % 10 == 0 {
                try checkOrder(world, &generator, rows, query, found, harbors)
            }
        }
    }

    private func read(_ row: QueryRow, _ path: String, _ harbors: [ObjectKey: QueryRow]) -> Value? {
        guard path.hasPrefix("berth.") else { return row[path] ?? .null }
        guard case .link(let link)? = row["berth"] else { return nil }
        return harbors[link.objectKey]?[String(path.dropFirst(6))] ?? .null
    }

    /// Nil (a broken path) last, null first, NaN before numbers.
    private func precedes(_ a: Value?, _ b: Value?) -> Int {
        func rank(_ value: Value?) -> Int {
            guard let value else { return 3 }
            if value == .null { return 0 }
            if case .double(let number) = value, number.isNaN { return 1 }
            return 2
        }
        if rank(a) != rank(b) { return rank(a) < rank(b) ? -1 : 1 }
        guard let a, let b, rank(a) == 2 else { return 0 }
        return PredicateGenerator.order(a, b) ?? 0
    }

    private func checkOrder(
        _ world: TableWorld, _ generator: inout PredicateGenerator, _ rows: [ObjectKey: QueryRow],
        _ query: Query,
        _ found: [ObjectKey], _ harbors: [ObjectKey: QueryRow]
    ) throws {
        let names = [
            "tons", "title", "draft", "beam", "built", "code", "active", "berth.depth",
            "berth.name", "id", "note",
        ]
        let keys = (0..<1 + generator.random.below(3)).map { _ in
            (generator.pick(names), generator.random.below(2) == 0)
        }
        let text = keys.map { "\($0.0) \($0.1 ? "DESC" : "ASC")" }.joined(separator: ", ")
        let sorted = found.enumerated().sorted { a, b in
            for (name, descending) in keys {
                let order = precedes(
                    read(rows[a.element]!, name, harbors), read(rows[b.element]!, name, harbors))
                if order != 0 { return descending ? order > 0 : order < 0 }
            }
            return a.offset < b.offset
        }.map { $0.element }
        let step = try Query.ordering(
            text, .sort, schema: world.schema, classKey: query.classKey)
        let table = try world.reader.table(query.classKey)
        let result = try Ordering.apply([step], to: found, world.reader, table)
        #expect(result == sorted, "\(text)")
        let prefix = try Ordering.apply([step], to: found, world.reader, table, atLeast: 10)
        #expect(Array(prefix.prefix(10)) == Array(sorted.prefix(10)), "\(text)")
        let distinct = keys.map { $0.0 }.joined(separator: ", ")
        var seen: [[String]] = []
        var firsts: [ObjectKey] = []
        for key in sorted {
            let values = keys.map { read(rows[key]!, $0.0, harbors) }
            if values.contains(where: { $0 == nil }) { continue }
            let tuple = values.map { value -> String in
                if case .double(let number)? = value, number == 0 { return "zero" }
                if case .string(let text)? = value { return "\(Array(text.utf8))" }
                return "\(value!)"
            }
            if seen.contains(tuple) { continue }
            seen.append(tuple)
            firsts.append(key)
            if firsts.count > 200 { break }
        }
        let unique = try Ordering.apply(
            [
                step,
                try Query.ordering(
                    distinct, .distinct, schema: world.schema, classKey: query.classKey),
            ], to: found, world.reader, table)
        #expect(Array(unique.prefix(firsts.count)) == firsts, "\(text) DISTINCT \(distinct)")
    }

    @Test(arguments: 0..<6)
    func leadingRowsAreThoseOfTheWholeOrder(seed: Int) throws {
        var random = Random(UInt64(seed) &+ 77)
        let world = try TableWorld(Self.schema())
        try world.beginWrite()
        var keys: [ObjectKey] = []
        for index in 0..<7000 {
            var row = Self.row(&random, index, seed % 3)
            if seed == 5, index < 2000 { row["crewed"] = .null }
            keys.append(try world.add("Vessel", row))
        }
        try world.tables.commit()
        try world.beginWrite()
        for key in keys where random.below(seed < 2 ? 500 : 4) == 0 {
            try world.delete("Vessel", key)
        }
        try world.tables.commit()
        let table = try world.reader.table(world.key("Vessel"))
        let all = try world.query("Vessel", "TRUEPREDICATE").findAll(world.reader)
        var used = 0
        for name in ["tons", "crewed", "draft", "built", "id"] {
            for direction in ["ASC", "DESC"] {
                let step = try Query.ordering(
                    "\(name) \(direction), title ASC", .sort, schema: world.schema,
                    classKey: table.classKey)
                guard case .sort(let by) = step else { continue }
                let whole = try Ordering.apply([step], to: all, world.reader, table)
                for minimum in [1, 10, 500, 1500] {
                    guard
                        let leading = try LeadingRows.candidates(minimum, by: by[0], table)
                    else { continue }
                    used += 1
                    let first = try Ordering.apply([step], to: leading, world.reader, table)
                    #expect(
                        first.count >= minimum && first == Array(whole.prefix(first.count)),
                        "\(name) \(direction) \(minimum)")
                }
            }
        }
        #expect(used > 10)
    }
}
