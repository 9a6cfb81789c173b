// Conditions over links that few objects are left for: the plan follows their links, and finds what
// is found from the other side and object by object.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LinkWalkTests {
    private static let schema = Schema([
        ClassSchema(
            "Home",
            properties: [
                PropertySchema("level", .int, flags: [.nullable]),
                PropertySchema("street", .string),
            ]),
        ClassSchema(
            "Friend",
            properties: [
                PropertySchema("rank", .int), PropertySchema("name", .string),
                PropertySchema("code", .int, flags: [.indexed]),
                PropertySchema("home", .object, linkTarget: "Home", flags: [.nullable]),
            ]),
        ClassSchema(
            "Note",
            properties: [
                PropertySchema("code", .int, flags: [.indexed]), PropertySchema("plain", .int),
                PropertySchema("friend", .object, linkTarget: "Friend", flags: [.nullable]),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Friend"),
                PropertySchema("others", .object, collection: .set, linkTarget: "Friend"),
            ]),
    ])

    private static func makeRealm(
        _ directory: TemporaryDirectory, friends: Int, notes: Int, _ random: inout Random
    ) throws -> Realm {
        let realm = try Realm.open(TestSchema.configuration(directory.file(), schema))
        try realm.write {
            var homes: [Value] = []
            var people: [Value] = []
            for _ in 0..<friends {
                let level: Value = random.below(9) == 0 ? .null : .int(Int64(random.below(20)))
                let home = try realm.create(
                    "Home", ["level": level, "street": .string("street \(random.below(99))")])
                homes.append(home.value)
            }
            for number in 0..<friends {
                let friend = try realm.create(
                    "Friend",
                    [
                        "rank": .int(Int64(random.below(100))), "code": .int(Int64(number / 3)),
                        "name": .string("name \(random.below(500))"),
                    ])
                if random.below(8) != 0 {
                    try friend.set("home", homes[random.below(homes.count)])
                }
                people.append(friend.value)
            }
            for number in 0..<notes {
                try addNote(realm, number, people, &random)
            }
        }
        return realm
    }

    private static func addNote(
        _ realm: Realm, _ number: Int, _ people: [Value], _ random: inout Random
    ) throws {
        let note = try realm.create(
            "Note", ["code": .int(Int64(number / 4)), "plain": .int(Int64(random.below(50)))])
        if random.below(7) != 0 {
            try note.set("friend", people[random.below(people.count)])
        }
        let friends = try note.collection("friends")
        let others = try note.collection("others")
        for place in 0..<random.below(random.below(30) == 0 ? 12 : 4) {
            try people[random.below(people.count)].withRaw { raw throws(RealmError) in
                try friends.insert(raw, at: place)
                _ = try others.insert(raw)
            }
        }
    }

    private static func condition(_ random: inout Random) -> (owner: String, text: String) {
        if random.below(4) == 0 {
            let back = ["friend", "friends", "others"][random.below(3)]
            let tests = [
                "ANY @links.Note.\(back).plain > \(random.below(50))",
                "NONE @links.Note.\(back).plain < \(random.below(50))",
                "ANY @links.Note.\(back).friend.rank < \(random.below(100))",
                "@links.Note.\(back).@count > \(random.below(3))",
                "@links.Note.\(back).@sum.plain > \(random.below(60))",
                "SUBQUERY(@links.Note.\(back), $n, $n.plain > \(random.below(50))).@count == 1",
            ]
            let start = "code == \(random.below(900))"
            return ("Friend", "\(start) AND \(tests[random.below(tests.count)])")
        }
        let many = ["friends", "others"][random.below(2)]
        let tests = [
            "friend.rank > \(random.below(100))", "friend.rank != \(random.below(100))",
            "!(friend.rank < \(random.below(100)))", "friend.home.level < \(random.below(20))",
            "friend.home.level == NULL", "friend.home.level != \(random.below(20))",
            "!(friend.home.level > \(random.below(20)))",
            "friend.home.street CONTAINS '\(random.below(9))'",
            "friend.code == \(random.below(900))", "friend.code > \(random.below(900))",
            "ANY \(many).rank > \(random.below(100))", "ALL \(many).rank > \(random.below(100))",
            "NONE \(many).name ENDSWITH '\(random.below(9))'",
            "ANY \(many).home.level == \(random.below(20))",
            "ANY \(many).home.level == NULL", "!(ANY \(many).home.level > \(random.below(20)))",
            "SUBQUERY(\(many), $f, $f.rank > \(random.below(100))).@count > \(random.below(3))",
            "SUBQUERY(\(many), $f, $f.rank > 20 AND $f.home.level < 9).@count == 1",
            "\(many).@max.rank > \(random.below(100))",
        ]
        var text = tests[random.below(tests.count)]
        if random.below(3) == 0 {
            let word = random.below(2) == 0 ? "AND" : "OR"
            text = "(\(text) \(word) \(tests[random.below(tests.count)]))"
        }
        let start = ["code == \(random.below(100))", "code IN {3, 7, \(random.below(90))}"]
        return ("Note", "\(start[random.below(2)]) AND \(text)")
    }

    private static func compare(_ realm: Realm, rounds: Int, _ random: inout Random) throws -> Int {
        var walks = 0
        for _ in 0..<rounds {
            let (owner, text) = condition(&random)
            let expected = try Query.checkedKeys(text, owner, in: realm, usesColumns: false)
            #expect(
                try Query.checkedKeys(text, owner, in: realm) == expected, "\(owner): \(text)")
            // Without the index on the code the column is asked for those whose links are followed;
            // where it leaves many, a scan asks from the other side.
            if owner == "Note" {
                let scanned = "plain" + text.dropFirst("code".count)
                #expect(
                    try Query.checkedKeys(scanned, owner, in: realm)
                        == Query.checkedKeys(scanned, owner, in: realm, usesColumns: false),
                    "\(scanned)")
                if try realm.objects(owner).filter(scanned).explain().contains("\nfollow: ") {
                    walks += 1
                }
            }
            if try realm.objects(owner).filter(text).explain().contains("\nfollow: ") { walks += 1 }
        }
        return walks
    }

    @Test func `links followed from candidates give what the other side gives`() throws {
        for item in Campaign("walks", seconds: 3, atLeast: 1) {
            try walk(item.random, rounds: Campaign.rounds(120))
        }
    }

    private func walk(_ start: Random, rounds: Int) throws {
        var random = start
        let directory = TemporaryDirectory()
        let realm = try Self.makeRealm(directory, friends: 2500, notes: 2000, &random)
        defer { realm.close() }
        // How many of a few are, is chance.
        let least = rounds < 100 ? 0 : rounds / 4
        #expect(try Self.compare(realm, rounds: rounds, &random) >= least)
        // Links that a transaction has changed, to objects that it has deleted.
        try realm.beginWrite()
        let friends = try realm.objects("Friend")
        try realm.deleteSome(200, of: "Friend", &random)
        let people = try (0..<50).map { try Value(friends.get($0 * 7)) }
        for number in 0..<100 { try Self.addNote(realm, number, people, &random) }
        #expect(try Self.compare(realm, rounds: rounds / 2, &random) >= least / 2)
        try realm.rollback()
    }

    @Test func `a sort that an index orders follows the links of the objects it reads`() throws {
        let directory = TemporaryDirectory()
        var random = Random(7)
        let realm = try Self.makeRealm(directory, friends: 60_000, notes: 9000, &random)
        defer { realm.close() }
        for test in ["friend.rank > 95", "ANY friends.rank > 97", "NONE others.rank > 10"] {
            let all = try realm.objects("Note").filter(test)
            let sorted = try all.sorted("code DESC")
            let plain = try Query.checkedKeys(test, "Note", in: realm, usesColumns: false)
            let codes = try plain.map {
                try realm.find(all.classKey, key: $0)!.get("code")
            }
            let order = plain.indices.sorted { a, b in
                guard case .int(let x) = codes[a], case .int(let y) = codes[b] else { return false }
                return x != y ? x > y : plain[a] < plain[b]
            }
            for index in [0, 1, 30, 120, 400] where index < plain.count {
                #expect(try sorted.get(index).linkTarget == plain[order[index]], "\(test)")
            }
            #expect(try sorted.keys() == order.map { plain[$0] })
        }
    }

    @Test func `the plan says when links are followed`() throws {
        let directory = TemporaryDirectory()
        var random = Random(11)
        let realm = try Self.makeRealm(directory, friends: 6000, notes: 2000, &random)
        defer { realm.close() }
        func plan(_ text: String) throws -> String {
            try realm.objects("Note").filter(text).explain()
        }
        let followed = try plan("code == 5 AND friend.rank > 90")
        #expect(followed.contains("\nfollow: from each candidate, friend with rank >= 91"))
        let subquery = try plan("code == 5 AND SUBQUERY(friends, $f, $f.rank > 9).@count == 1")
        #expect(subquery.contains("\nfollow: from each candidate, number of friends with"))
        // An index knows the few that pass; many candidates are tested with a set.
        #expect(try !plan("code == 5 AND friend.code == 7").contains("follow:"))
        #expect(try !plan("code < 200 AND friend.rank > 90").contains("follow:"))
        #expect(try !plan("plain < 5 AND friend.rank > 90").contains("follow:"))
        let scanned = try plan("friend.rank > 90 AND plain == 5 AND code > 1")
        #expect(scanned.contains("\nstart: scan of all leaves, plain == 5 and code >= 2; "))
        #expect(scanned.contains("\nfollow: from each candidate, friend with rank >= 91"))
        // Of a class of its own an index knows the objects without a scan.
        #expect(try !plan("plain == 5 AND friend.code == 7").contains("follow:"))
    }
}
