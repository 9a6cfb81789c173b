// Which index an execution starts from, and that every plan gives what a scan gives: each property
// is there twice, with an index and without one.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct PlannerTests {
    private static let team = ClassSchema(
        "Team", primaryKey: "id",
        properties: [
            PropertySchema("id", .int, flags: [.primaryKey]),
            PropertySchema("name", .string),
        ])
    private static let player = ClassSchema(
        "Player",
        properties: [
            PropertySchema("age", .int, flags: [.nullable, .indexed]),
            PropertySchema("plainAge", .int, flags: [.nullable]),
            PropertySchema("name", .string, flags: [.nullable, .indexed]),
            PropertySchema("plainName", .string, flags: [.nullable]),
            PropertySchema("born", .timestamp, flags: [.indexed]),
            PropertySchema("plainBorn", .timestamp),
            PropertySchema("active", .bool, flags: [.indexed]),
            PropertySchema("plainActive", .bool),
            PropertySchema("score", .double),
            PropertySchema("team", .object, linkTarget: "Team", flags: [.nullable]),
        ])

    private static func makeRealm(
        _ directory: TemporaryDirectory, rows: Int, seed: UInt64
    ) throws -> Realm {
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([team, player])))
        var random = Random(seed)
        try realm.write {
            for id in 0..<50 {
                _ = try realm.create(
                    "Team", primaryKey: .int(Int64(id)), ["name": .string("team \(id % 40)")])
            }
            for _ in 0..<rows {
                let age: Value = random.below(20) == 0 ? .null : .int(Int64(random.below(300)))
                // Names that an index holds cut, too, equal for as long as it holds them.
                let long = String(repeating: "n", count: random.below(50) == 0 ? 600 : 0)
                let name: Value =
                    random.below(20) == 0 ? .null : .string(long + "name \(random.below(2000))")
                let born = Value.timestamp(
                    Timestamp(
                        seconds: Int64(random.below(5000)), nanoseconds: Int32(random.below(2))))
                let active = Value.bool(random.below(100) == 0)
                let object = try realm.create(
                    "Player",
                    [
                        "age": age, "plainAge": age, "name": name, "plainName": name,
                        "born": born, "plainBorn": born, "active": active, "plainActive": active,
                        "score": .double(Double(random.below(1000)) / 8),
                    ])
                if random.below(10) != 0 {
                    let key = Value.int(Int64(random.below(50)))
                    try object.set("team", realm.find("Team", primaryKey: key)!.value)
                }
            }
        }
        // Dead rows and changed ones.
        try realm.write {
            let all = try realm.objects("Player")
            for _ in 0..<(rows / 20) {
                let row = random.below(try all.count())
                let link = try all.get(row).linkTarget
                guard let object = try realm.find(all.classKey, key: link) else { continue }
                if random.below(2) == 0 {
                    try object.delete()
                } else {
                    let age = Value.int(Int64(random.below(300)))
                    try object.set("age", age)
                    try object.set("plainAge", age)
                }
            }
        }
        return realm
    }

    private static func plain(_ text: String) -> String {
        var result = text
        for name in ["age", "name", "born", "active"] {
            let twin = "plain" + name.prefix(1).uppercased() + name.dropFirst()
            var parts = result.split(separator: " ", omittingEmptySubsequences: false).map(
                String.init)
            for index in parts.indices {
                for opening in ["", "(", "!(", "SORT(", "DISTINCT("]
                where parts[index] == opening + name { parts[index] = opening + twin }
            }
            result = parts.joined(separator: " ")
        }
        return result
    }

    /// Whether no indexed property of players stands in it.
    private static func isOfTeamsAlone(_ text: String) -> Bool {
        let own = text.replacing("team.name", with: "team")
        return ["age ", "name ", "born ", "active "].allSatisfy { !own.contains($0) }
    }

    private static func keys(_ realm: Realm, _ text: String) throws -> [Int64] {
        let results = try realm.objects("Player").filter(text)
        return try (0..<results.count()).map { try results.get($0).linkTarget.rawValue }
    }

    private static func condition(_ random: inout Random, _ depth: Int = 0) -> String {
        if depth < 3, random.below(2) == 0 {
            let word = random.below(2) == 0 ? " AND " : " OR "
            let parts = (0..<(2 + random.below(2))).map { _ in
                "( " + condition(&random, depth + 1) + " )"
            }
            return (random.below(8) == 0 ? "!( " : "( ") + parts.joined(separator: word) + " )"
        }
        let operators = ["==", "!=", "<", "<=", ">", ">="]
        let comparison = operators[random.below(random.below(3) == 0 ? 6 : 1)]
        switch random.below(8) {
        case 0, 1: return "age \(comparison) \(random.below(300))"
        case 2: return "name \(comparison) 'name \(random.below(2000))'"
        case 3: return "name BEGINSWITH 'name \(random.below(200))'"
        case 4: return "born \(comparison) T\(random.below(5000)):0"
        case 5: return "active == \(random.below(2) == 0)"
        case 6: return "team.name == 'team \(random.below(45))'"
        default: return "age IN {\(random.below(300)), \(random.below(300)), null}"
        }
    }

    @Test func everyPlanFindsWhatAScanFinds() throws {
        for item in Campaign("plans", seconds: 3, atLeast: 2, seed: 77) {
            try compare(item, rows: 3000, rounds: 150)
        }
    }

    private func compare(_ item: Campaign.Case, rows: Int, rounds: Int) throws {
        let directory = TemporaryDirectory()
        var random = item.random
        let realm = try Self.makeRealm(directory, rows: rows, seed: item.seed &- 77)
        defer { realm.close() }
        for _ in 0..<rounds {
            var text = Self.condition(&random)
            switch random.below(6) {
            case 0: text += " SORT( age ASC) LIMIT(\(1 + random.below(40)))"
            case 1: text += " SORT( name DESC, score ASC) LIMIT(\(1 + random.below(40)))"
            case 2: text += " SORT( born DESC) LIMIT(\(1 + random.below(5)))"
            case 3: text += " SORT( age DESC, name ASC) OFFSET(\(random.below(9)))"
            default: break
            }
            let twin = Self.plain(text)
            #expect(twin != text || Self.isOfTeamsAlone(text))
            let expected = try Self.keys(realm, twin)
            #expect(try Self.keys(realm, text) == expected, "\(text)")
            let query = try realm.query(realm.objects("Player").classKey, text)
            #expect(try query.count() == expected.count, "\(text)")
            _ = try query.explain()
        }
    }

    @Test(arguments: ["age ASC", "age DESC", "name ASC", "name DESC", "born DESC", "active DESC"])
    func theFirstObjectsInTheOrderOfAnIndexAreThoseOfASort(order: String) throws {
        let directory = TemporaryDirectory()
        let realm = try Self.makeRealm(directory, rows: 4000, seed: 5)
        defer { realm.close() }
        for condition in ["TRUEPREDICATE", "score > 20", "score > 120 AND team.name != 'team 3'"] {
            for count in [1, 3, 20, 61, 200] {
                for second in ["", ", score ASC", ", name DESC"] {
                    let text = "\(condition) SORT( \(order)\(second)) LIMIT(\(count))"
                    #expect(
                        try Self.keys(realm, text) == Self.keys(realm, Self.plain(text)), "\(text)")
                }
            }
            // Reading only the first elements.
            let sorted = try realm.objects("Player").filter("\(condition) SORT( \(order))")
            let all = try Self.keys(realm, Self.plain("\(condition) SORT( \(order))"))
            for index in [0, 1, 7, 130, 700] where index < all.count {
                #expect(try sorted.get(index).linkTarget.rawValue == all[index])
            }
        }
    }

    @Test func thePlanIsTheCheapestStart() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.makeRealm(directory, rows: 4000, seed: 9)
        defer { realm.close() }
        func plan(_ text: String) throws -> String {
            try realm.objects("Player").filter(text).explain()
        }
        #expect(try plan("TRUEPREDICATE").hasSuffix("start: all objects"))
        #expect(try plan("plainAge == 3").contains("start: scan of all leaves"))
        let both = try plan("age < 40 AND name == 'name 7'")
        #expect(both.contains("start: index of name (name equal \"name 7\")"), "\(both)")
        #expect(both.contains("test: age"), "\(both)")
        let either = try plan("age == 4 OR name == 'name 7'")
        #expect(
            either.contains("start: union of index of age (age == 4), index of name"), "\(either)")
        #expect(!either.contains("test:"), "\(either)")
        // One alternative without an index makes a scan needed anyway.
        #expect(try plan("age == 4 OR plainAge == 5").contains("start: scan of all leaves"))
        let link = try plan("score > 3 AND team.name == 'team 39'")
        #expect(link.contains("start: objects that link by team with name"), "\(link)")
        let first = try plan("score > 3 SORT(age ASC) LIMIT(5)")
        #expect(first.contains("in the order of the index"), "\(first)")
        #expect(try plan("name == 'x' AND name != 'x'").hasPrefix("Player: "))
        let query = try realm.query(realm.objects("Player").classKey, "age == 4")
        #expect(try query.explain().contains("index of age"))
    }

    @Test func conditionsThroughCollectionsStartFromTheirTargets() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.makeRealm(directory, rows: 4000, seed: 3)
        defer { realm.close() }
        func plan(_ name: String, _ text: String) throws -> String {
            try realm.objects(name).filter(text).explain()
        }
        let back = try plan("Team", "ANY @links.Player.team.score > 120")
        #expect(
            back.contains("start: objects that link to some @links.Player.team with score"),
            "\(back)")
        let count = try plan("Team", "@links.Player.team.@count > 80")
        #expect(count.hasSuffix("test: number of @links.Player.team >= 81"), "\(count)")
    }

    @Test func theWholeOrderIsReadFromTheIndex() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.makeRealm(directory, rows: 6000, seed: 8)
        defer { realm.close() }
        for order in ["age ASC", "age DESC", "born DESC", "born ASC", "active DESC", "name ASC"] {
            for condition in ["TRUEPREDICATE", "score > 20", "score < 60"] {
                for second in ["", ", score DESC"] {
                    let text = "\(condition) SORT( \(order)\(second))"
                    #expect(
                        try Self.keys(realm, text) == Self.keys(realm, Self.plain(text)), "\(text)")
                }
            }
        }
        let plan = try realm.objects("Player").filter("TRUEPREDICATE SORT(age DESC)").explain()
        #expect(plan.hasSuffix("then: SORT(age DESC), in the order of the index"), "\(plan)")
    }
}
