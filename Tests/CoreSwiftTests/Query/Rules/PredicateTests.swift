// Predicates that are built without text: names that texts would have to quote, joints without parts, depth,
// messages. What they find is compared with texts in all rules (`RuleWorld.ask`).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct PredicateTests {
    private let directory = TemporaryDirectory()
    private let realm: Realm
    private static let odd = "two words, \"quoted\" \\ and #"

    init() throws {
        var configuration = Configuration(path: directory.file())
        configuration.schemaVersion = 1
        configuration.schema = Schema([
            ClassSchema(
                "Thing", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("and", .int),
                    PropertySchema(Self.odd, .string), PropertySchema("SELF", .int),
                    PropertySchema("any", .mixed, flags: [.nullable]),
                    PropertySchema("parts", .object, collection: .list, linkTarget: "Thing"),
                ])
        ])
        realm = try Realm.open(configuration)
        try realm.beginWrite()
        for id in 1...10 {
            _ = try realm.create(
                "Thing", primaryKey: .int(Int64(id)),
                [
                    "and": .int(Int64(id * 10)), Self.odd: .string("t\(id)"),
                    "SELF": .int(Int64(id % 3)),
                ])
        }
        try realm.commit()
    }

    private func ids(_ predicate: Predicate) throws -> [Int64] {
        let found = try realm.objects("Thing").filter(predicate)
        return try (0..<found.count()).map {
            guard case .int(let id) = try found.dynamicObject($0).get("id") else { return -1 }
            return id
        }
    }

    @Test func namesMayBeAnyText() throws {
        #expect(try ids(.compare(.path("and"), .greater, .value(.int(80)))) == [9, 10])
        #expect(try ids(.compare(.path([Self.odd]), .equal, .value(.string("t4")))) == [4])
        #expect(
            try ids(.compare(.path(.init([.name("SELF")])), .equal, .value(.int(2)))) == [2, 5, 8])
        #expect(try ids(.compare(.path("any"), .equal, .value(.null))).count == 10)
        // The canonical text is one that is read as the same.
        let schema = realm.schema
        let key = try #require(schema.class_(named: "Thing")).key
        for name in ["and", Self.odd, "SELF"] {
            let predicate = Predicate.compare(.path([name]), .notEqual, .value(.null))
            let query = try Query.make(predicate, schema: schema, classKey: key)
            let again = try Query.parse(query.description, schema: schema, classKey: key)
            #expect(again.description == query.description)
        }
    }

    @Test func jointsWithoutPartsSayAllOrNothing() throws {
        #expect(try ids(.all([])).count == 10)
        #expect(try ids(.any([])) == [])
        #expect(try ids(.not(.any([.any([]), .all([.always(false)])]))).count == 10)
        let one = Predicate.compare(.path("id"), .equal, .value(.int(7)))
        #expect(try ids(.any([one])) == [7])
        #expect(try ids(.all([.all([one]), .all([])])) == [7])
    }

    @Test func chainsAreAsLongAsMemoryLasts() throws {
        let tests = (0..<20_000).map {
            Predicate.compare(.path("id"), .equal, .value(.int(Int64($0 * 5))))
        }
        #expect(try ids(.any(tests)) == [5, 10])
        // Joined one by one, as operators do.
        let joined = tests.prefix(5000).reduce(Predicate.any([])) { .any([$0, $1]) }
        #expect(try ids(joined) == [5, 10])
    }

    @Test func depthIsBoundedWithAnError() throws {
        var deep = Predicate.compare(.path("id"), .equal, .value(.int(3)))
        for _ in 0..<900 { deep = .not(deep) }
        #expect(try ids(deep) == [3])
        for _ in 0..<200 { deep = .not(deep) }
        let error = #expect(throws: RealmError.self) { try ids(deep) }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.contains("more than 1000 deep") == true)
    }

    @Test func countsAreOfNoProperty() throws {
        let counted = Predicate.Operand.aggregate(["parts"], .count)
        #expect(try ids(.compare(counted, .greaterEqual, .value(.int(0)))).count == 10)
        for operand: Predicate.Operand in [
            .aggregate(["parts"], .count, of: ["heat", "x"]),
            .matching(["parts"], as: "x", .always(true), .count, of: ["heat", "x"]),
        ] {
            let error = #expect(throws: RealmError.self) {
                try ids(.compare(operand, .equal, .value(.int(1))))
            }
            #expect(error?.code == .invalidQuery)
            #expect(error?.message.contains("'heat.x'") == true)
        }
    }

    @Test func messagesSpellThePredicate() throws {
        let unknown = #expect(throws: RealmError.self) {
            try ids(.compare(.path(["parts", "ad"]), .equal, .value(.int(1)), []))
        }
        #expect(unknown?.code == .invalidQuery)
        #expect(unknown?.message.contains("parts.ad == $0") == true)
        let type = #expect(throws: RealmError.self) {
            try ids(.compare(.path("and"), .equal, .value(.string("x"))))
        }
        #expect(type?.code == .invalidQueryArg)
        #expect(type?.message.contains("property 'Thing.and'") == true)
        for path: Predicate.Path in [[], .init([.name("parts"), .itself])] {
            let error = #expect(throws: RealmError.self) {
                try ids(.compare(.path(path), .equal, .value(.null)))
            }
            #expect(error?.code == .invalidQuery)
        }
    }

    /// The rules' texts are asked as predicates without text, too: nearly all kinds of them can be.
    @Test func textsOfRulesBecomePredicates() throws {
        let texts = [
            "tons > 3 AND NOT (title BEGINSWITH[c] 'a' OR logged == true)",
            "ANY crew.name IN {'a', 'b'}", "crew.@count > 1", "crew.@max.age >= $0",
            "SUBQUERY(crew, $x, $x.age > 3 AND $x.name != title).@count == 2",
            "TERNARY(tons > 3, tons, 1 + tons * 2) < length(title)", "tons BETWEEN {1, tons + 2}",
            "@links.Sailor.ship.@count == 1", "cargo['key'][0].x == 'y'", "marks[*] == 3",
        ]
        for text in texts {
            #expect(PredicateFromText.predicate(text, [.scalar(.int(1))]) != nil, "\(text)")
        }
        let world = try RuleWorld()
        _ = try world.ids("tons > 3")
        #expect(world.predicatesBuilt == 1)
    }
}
