// Random queries over random objects with collections: the planned form (columns, sets of keys, key
// sets found backwards over links) against expressions evaluated object by object.

import Testing

@testable import CoreSwift
@testable import TestSupport

private struct ExpressionGenerator {
    var random: Random

    mutating func pick(_ items: [String]) -> String { items[random.below(items.count)] }

    private mutating func int() -> String { "\(random.below(9) - 2)" }

    private mutating func number() -> String {
        switch random.below(9) {
        case 0: return int()
        case 1: return pick(["tons", "id", "draft", "captain.age", "captain.wage"])
        case 2: return count()
        case 3: return pick(["marks.@max", "marks.@sum", "crew.@avg.age", "crew.@min.wage"])
        case 4:
            return "(" + number() + pick([" + ", " - ", " * ", " / "]) + number() + ")"
        case 5: return "SUBQUERY(crew, $s, \(member())).@count"
        case 6: return "SUBQUERY(marks, $m, $m \(comparison()) \(int())).@count"
        case 7: return pick(["marks[0]", "marks[LAST]", "marks[2]", "crew[0].age"])
        default: return pick(["tons", "id", "draft"])
        }
    }

    private mutating func count() -> String {
        let names = ["marks", "crew", "guests", "roster", "notes", "bag", "title", "captain.ships"]
        return pick(names) + ".@count"
    }

    private mutating func sailor() -> String {
        "obj('Sailor', '\(pick(["Mia", "Jo", "Ann", "Bob", "Nobody"]))')"
    }

    /// Objects that links lead to.
    private mutating func links() -> String {
        let names = [
            "crew", "guests", "roster", "crew.boss", "crew.boss.boss", "crew.ships.captain",
        ]
        return pick(["", "ANY ", "ALL ", "NONE "]) + pick(names)
            + (random.below(3) == 0
                ? pick([" IN ", " == ", " != "]) + pick(["ANY ", "NONE ", "ALL "])
                    + "{\(sailor()), \(sailor())}"
                : pick([" == ", " != "]) + sailor())
    }

    /// A condition on sailors: backlinks and their number.
    mutating func aboutSailors() -> String {
        switch random.below(5) {
        case 0: return "ships.@count \(comparison()) \(random.below(40))"
        case 1: return "@links.Vessel.captain.@count \(comparison()) \(random.below(30))"
        case 2: return "@links.Vessel.guests.@count \(comparison()) \(random.below(50))"
        case 3:
            return "SUBQUERY(ships, $v, $v.tons \(comparison()) \(int())).@count "
                + "\(comparison()) \(random.below(30))"
        default: return "ANY boss.ships.tons \(comparison()) \(int())"
        }
    }

    private mutating func member() -> String {
        switch random.below(6) {
        case 0: return "$s.age \(comparison()) \(random.below(60))"
        case 1: return "$s.wage \(comparison()) \(int())"
        case 2: return "$s.age > SELF.tons"
        case 3: return "ANY $s.ships.tons \(comparison()) \(int())"
        case 4: return "$s.skills == 'cook'"
        default: return "NOT (\(member()))"
        }
    }

    private mutating func comparison() -> String { pick(["==", "!=", "<", "<=", ">", ">="]) }

    private mutating func many() -> String {
        pick([
            "marks", "codes", "crew.age", "crew.wage", "guests.age", "roster.age",
            "crew.boss.age", "crew.ships.tons", "captain.ships.id", "crew.ships.marks",
        ])
    }

    mutating func predicate(_ depth: Int) -> String {
        if depth > 0, random.below(2) == 0 {
            switch random.below(3) {
            case 0: return "(\(predicate(depth - 1)) AND \(predicate(depth - 1)))"
            case 1: return "(\(predicate(depth - 1)) OR \(predicate(depth - 1)))"
            default: return "NOT (\(predicate(depth - 1)))"
            }
        }
        let quantifier = pick(["", "ANY ", "ALL ", "NONE "])
        switch random.below(11) {
        case 8: return links()
        case 9: return count() + " \(comparison()) \(random.below(5))"
        case 10:
            return "SUBQUERY(\(pick(["crew", "guests", "roster"])), $s, \(member())).@count "
                + "\(comparison()) \(random.below(4))"
        case 0, 1: return quantifier + many() + " \(comparison()) \(int())"
        case 2: return number() + " \(comparison()) " + number()
        case 3:
            return quantifier + many() + pick([" IN ", " == ", " != ", " < "])
                + pick(["", "ANY ", "ALL ", "NONE "]) + "{\(int()), \(int()), null}"
        case 4: return quantifier + many() + " BETWEEN {\(int()), \(random.below(70))}"
        case 5:
            return quantifier + pick(["notes", "crew.name", "crew.skills", "extras.@keys"])
                + pick([" == ", " != ", " BEGINSWITH ", " CONTAINS[c] ", " < "])
                + pick(["'a'", "'cook'", "'A'", "''", "null", "'c'"])
        case 6:
            return pick(["bag", "extras", "cargo", "ANY bag", "ALL bag"])
                + " \(comparison()) " + pick(["1", "2.5", "'x'", "null", "false"])
        default: return many() + " \(comparison()) " + pick(["tons", "id", "marks.@count"])
        }
    }
}

@Suite struct ExpressionFuzzTests {
    /// 84 vessels with random contents.
    private static func world(_ random: inout Random) throws -> RuleWorld {
        let world = try RuleWorld()
        try world.realm.beginWrite()
        let sailors = ["Mia", "Jo", "Ann", "Bob"]
        func some(_ random: inout Random) -> RuleItem {
            .list((0..<random.below(4)).map { _ in .sailor(sailors[random.below(4)]) })
        }
        for id in 10..<90 {
            try world.add(
                Int64(id),
                [
                    ("tons", .int(Int64(random.below(9) - 2))),
                    ("draft", random.below(4) == 0 ? .null : .value(.double(0.5))),
                    ("captain", random.below(3) == 0 ? .null : .sailor(sailors[random.below(4)])),
                    ("crew", some(&random)), ("guests", some(&random)),
                    ("marks", .list((0..<random.below(4)).map { .int(Int64($0 * 2 - 1)) })),
                    ("codes", .list((0..<random.below(3)).map { .int(Int64($0)) })),
                    (
                        "notes",
                        .list(
                            (0..<random.below(3)).map {
                                $0 == 1 ? .null : .string(["a", "Ab", ""][($0 + id) % 3])
                            })
                    ), ("bag", .list((0..<random.below(3)).map { .int(Int64($0)) })),
                    (
                        "extras",
                        .dictionary(random.below(2) == 0 ? [] : [("cook", .int(1)), ("a", .null)])
                    ),
                    (
                        "roster",
                        .dictionary(random.below(2) == 0 ? [] : [("x", .sailor("Ann"))])
                    ),
                ])
        }
        try world.realm.commit()
        return world
    }

    @Test func `planned queries select what expressions select`() throws {
        for item in Campaign("expressions", seconds: 2, atLeast: 1, seed: 77) {
            try compare(seed: item.seed)
        }
    }

    private func compare(seed: UInt64) throws {
        var random = Random(seed)
        let world = try Self.world(&random)
        var generator = ExpressionGenerator(random: random)
        var accepted = 0
        for round in 0..<250 {
            let text = generator.predicate(2)
            let planned: Query
            do {
                planned = try world.query(text, [], "Vessel")
            } catch let error as RealmError {
                // Both forms refuse alike.
                let other = errorCode {
                    _ = try world.query(text, [], "Vessel", usesColumns: false)
                }
                #expect(other == error.code, "seed \(seed), round \(round): \(text)")
                continue
            }
            accepted += 1
            let snapshot = SnapshotReader(tables: try world.realm.readTables())
            let plain = try world.query(text, [], "Vessel", usesColumns: false)
            let expected = try plain.findAll(snapshot)
            #expect(
                try planned.findAll(snapshot) == expected, "seed \(seed), round \(round): \(text)")
            #expect(try planned.count(snapshot) == expected.count)
            let again = try world.query(planned.description, [], "Vessel")
            #expect(
                try again.findAll(snapshot) == expected,
                "seed \(seed), round \(round): \(text) as \(planned.description)")
        }
        #expect(accepted > 150)
    }

    @Test func `planned queries of backlinks select what expressions select`() throws {
        var random = Random(5)
        let world = try Self.world(&random)
        var generator = ExpressionGenerator(random: random)
        let snapshot = SnapshotReader(tables: try world.realm.readTables())
        for _ in 0..<100 {
            let text = generator.aboutSailors()
            let plain = try world.query(text, [], "Sailor", usesColumns: false)
            let planned = try world.query(text, [], "Sailor")
            #expect(try planned.findAll(snapshot) == plain.findAll(snapshot), "\(text)")
            #expect(try planned.count(snapshot) == plain.count(snapshot), "\(text)")
        }
    }
}
