// Conditions over links that the inverse index answers, gone through beside the objects that are linked to: what
// they find is what reading the collections of each object finds.

import CKernels
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MemberSweepTests {
    private static let schema = Schema([
        ClassSchema("Friend", properties: [PropertySchema("rank", .int)]),
        ClassSchema(
            "Note",
            properties: [
                PropertySchema("plain", .int),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Friend"),
                PropertySchema("others", .object, collection: .set, linkTarget: "Friend"),
                PropertySchema(
                    "named", .object, collection: .dictionary, linkTarget: "Friend",
                    flags: [.nullable]),
            ]),
    ])

    /// What a world is like.
    private struct World {
        var friends: Int
        var notes: Int
        /// Ranks are below it.
        var ranks: Int
        /// Conditions are for the ranks of such a part, or one.
        var part = 12
        /// One of so many links is one of many to the same object; 0: none.
        var repeats = 0
        /// So many of a hundred friends are deleted, before anything links to them.
        var gaps = 0
    }

    private static func makeRealm(
        _ directory: TemporaryDirectory, _ world: World, _ random: inout Random
    ) throws -> Realm {
        var configuration = TestSchema.configuration(directory.file(), schema)
        if random.below(3) == 0 { configuration.encryptionKey = [UInt8](repeating: 7, count: 64) }
        let realm = try Realm.open(configuration)
        try realm.write {
            var people: [Value] = []
            for _ in 0..<world.friends {
                let rank = Value.int(Int64(random.below(world.ranks)))
                let friend = try realm.create("Friend", ["rank": rank])
                if random.below(100) < world.gaps {
                    try friend.delete()
                } else {
                    people.append(friend.value)
                }
            }
            for _ in 0..<world.notes { try addNote(realm, people, world, &random) }
        }
        return realm
    }

    private static func addNote(
        _ realm: Realm, _ people: [Value], _ world: World, _ random: inout Random
    ) throws {
        let note = try realm.create("Note", ["plain": .int(Int64(random.below(50)))])
        let friends = try note.collection("friends")
        let others = try note.collection("others")
        let named = try note.collection("named")
        for place in 0..<random.below(random.below(30) == 0 ? 25 : 5) {
            try people[random.below(people.count)].withRaw { raw throws(RealmError) in
                let isRepeated = world.repeats > 0 && random.below(world.repeats) == 0
                for _ in 0...(isRepeated ? random.below(random.below(9) == 0 ? 400 : 20) : 0) {
                    try friends.insert(raw, at: 0)
                }
                _ = try others.insert(raw)
                try Value.string("key \(place)").withRaw { key throws(RealmError) in
                    _ = try named.insert(raw, key: key)
                }
            }
        }
        if random.below(9) == 0 {
            try Value.string("nobody").withRaw { key throws(RealmError) in
                _ = try named.insert(.null, key: key)
            }
        }
    }

    private static func condition(_ world: World, _ random: inout Random) -> String {
        let many = ["friends", "friends", "others", "named.@values"][random.below(4)]
        let least = random.below(max(world.ranks / world.part, 2))
        let rank = ["rank <= \(least)", "rank == \(least)", "rank >= \(world.ranks - least)"][
            random.below(3)]
        let path = many == "named.@values" ? "named.@values.\(rank)" : "\(many).\(rank)"
        let numbers = [
            "> \(random.below(4))", ">= \(random.below(25))", "== \(1 + random.below(5))",
            "== \(random.below(300))", "< \(random.below(4))", "!= \(random.below(3))",
            "BETWEEN {\(random.below(3)), \(random.below(20))}", "> \(random.below(300))",
        ]
        let tests = [
            "ANY \(path)", "ANY \(path)", "NONE \(path)", "!(ANY \(path))",
            "SUBQUERY(\(many), $f, $f.\(rank)).@count \(numbers[random.below(8)])",
            "SUBQUERY(friends, $f, $f.\(rank)).@count \(numbers[random.below(8)])",
            "SUBQUERY(others, $f, $f.\(rank)).@count \(numbers[random.below(8)])",
        ]
        let test = tests[random.below(tests.count)]
        switch random.below(6) {
        case 0: return "\(test) AND plain < 40"
        case 1: return "\(test) OR plain > 45"
        default: return test
        }
    }

    private static func keys(
        _ realm: Realm, _ text: String, usesColumns: Bool
    ) throws -> [ObjectKey]? {
        let query: Query
        do throws(RealmError) {
            query = try Query.parse(text, "Note", in: realm, usesColumns: usesColumns)
        } catch {
            // A form that is not for this kind of collection.
            #expect(error.code == .invalidQuery, "\(text): \(error.message)")
            return nil
        }
        let reader = SnapshotReader(tables: try realm.readTables())
        let found = try query.findAll(reader)
        #expect(try query.count(reader) == found.count, "\(text)")
        #expect(try query.firstMatch(reader) == found.first, "\(text)")
        return found
    }

    /// How many were answered by the index.
    private static func compare(
        _ realm: Realm, _ world: World, rounds: Int, _ random: inout Random
    ) throws -> Int {
        var swept = 0
        for _ in 0..<rounds {
            let text = condition(world, &random)
            guard let expected = try keys(realm, text, usesColumns: false) else { continue }
            #expect(try keys(realm, text, usesColumns: true) == expected, "\(text)")
            let plan = try realm.objects("Note").filter(text).explain()
            if plan.contains("start: inverse index of ") { swept += 1 }
        }
        return swept
    }

    private static let worlds = [
        World(friends: 3000, notes: 2500, ranks: 60),
        World(friends: 2600, notes: 1500, ranks: 90, repeats: 3),
        World(friends: 9000, notes: 3000, ranks: 80, repeats: 40, gaps: 60),
        // Keys of more than two bytes, of which a leaf can have some and others.
        World(friends: 140_000, notes: 3000, ranks: 1500, part: 150, repeats: 500),
    ]

    @Test(arguments: worlds.indices)
    func `the index finds what the collections hold`(_ number: Int) throws {
        let world = Self.worlds[number]
        let rounds = Campaign.rounds(60)
        var swept = 0
        for item in Campaign("members \(number)", seconds: 2, atLeast: 1) {
            var random = item.random
            let directory = TemporaryDirectory()
            let realm = try Self.makeRealm(directory, world, &random)
            defer { realm.close() }
            swept += try Self.compare(realm, world, rounds: rounds, &random)
            // Links that a transaction has changed, to objects that it has deleted.
            try realm.beginWrite()
            let friends = try realm.objects("Friend")
            try realm.deleteSome(200, of: "Friend", &random)
            let people = try (0..<50).map { try Value(friends.get($0 * 7)) }
            for _ in 0..<100 { try Self.addNote(realm, people, world, &random) }
            swept += try Self.compare(realm, world, rounds: rounds / 2, &random)
            try realm.rollback()
        }
        // How many of a few are, is chance.
        #expect(swept > 0 || rounds < 60)
    }

    @Test func `counts stay at what their fields hold, and are added up so`() {
        for width in [1, 2, 4, 8] {
            let most = UInt64(1 << width - 1)
            let fields = 64 / width
            var random = Random(UInt64(width))
            for _ in 0..<200 {
                let a = (0..<fields).map { _ in UInt64(random.below(Int(most) + 1)) }
                let b = (0..<fields).map { _ in UInt64(random.below(Int(most) + 1)) }
                func word(_ all: [UInt64]) -> UInt64 {
                    all.indices.reduce(0) { $0 | all[$1] << UInt64($1 * width) }
                }
                var sum = word(a)
                var more = word(b)
                ck_add_counts(&sum, &more, 1, UInt32(width))
                #expect(sum == word(zip(a, b).map { min($0 + $1, most) }))
            }
        }
    }
}
