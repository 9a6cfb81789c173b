// TEXT, rule by rule (QUERY_RULES F1 to F9 and B14).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FullTextTests {
    private let directory = TemporaryDirectory()
    private let realm: Realm

    private static let schema = Schema([
        ClassSchema(
            "Vessel", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("title", .string, flags: [.nullable]),
                PropertySchema("log", .string, flags: [.nullable, .fullTextIndexed]),
                PropertySchema("memo", .string, flags: [.fullTextIndexed, .fullTextUnicode]),
                PropertySchema("tons", .int),
                PropertySchema("captain", .object, linkTarget: "Sailor", flags: [.nullable]),
                PropertySchema("crew", .object, collection: .list, linkTarget: "Sailor"),
                PropertySchema("marks", .string, collection: .list),
            ]),
        ClassSchema(
            "Sailor", primaryKey: "name",
            properties: [
                PropertySchema("name", .string, flags: [.primaryKey, .fullTextIndexed]),
                PropertySchema("bio", .string, flags: [.nullable, .indexed, .fullTextIndexed]),
                PropertySchema("boss", .object, linkTarget: "Sailor", flags: [.nullable]),
            ]),
    ])

    init() throws {
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        let mia = try realm.create(
            "Sailor", primaryKey: .string("Mia Berg"), ["bio": .string("A pilot of old reefs")])
        let jo = try realm.create(
            "Sailor", primaryKey: .string("Jo O'Brien"), ["bio": .null, "boss": mia.value])
        let logs: [(String?, String, DynamicObject?)] = [
            ("Storm near the reef", "Straße am Meer", mia),
            ("Calm sea, no storm", "海洋学", jo),
            ("Dépôt of coal, reef 7", "Σοφός", nil),
            ("", "", mia),
            (nil, "strasse Łódź", nil),
            ("stormy o'brien × reefs", "2×3", jo),
        ]
        for (index, (log, memo, captain)) in logs.enumerated() {
            let vessel = try realm.create(
                "Vessel", primaryKey: .int(Int64(index)),
                [
                    "log": log.map { .string($0) } ?? .null, "memo": .string(memo),
                    "tons": .int(Int64(index) * 10), "captain": captain?.value ?? .null,
                ])
            // Nobody, Mia, Jo, both, nobody …
            let crew = try vessel.collection("crew")
            if index & 1 != 0 { try crew.insert(.link(mia.link.classKey, mia.key), at: 0) }
            if index & 2 != 0 { try crew.insert(.link(jo.link.classKey, jo.key), at: 0) }
        }
        try realm.commit()
    }

    /// Ids of the vessels, found in all ways there are.
    private func ids(
        _ text: String, _ arguments: [QueryArgument] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> [ObjectKey] {
        let key = try #require(realm.schema.class_(named: "Vessel")?.key)
        let query = try Query.parse(
            text, arguments: arguments, schema: realm.schema, classKey: key)
        let reader = SnapshotReader(tables: try realm.readTables())
        let keys = try query.findAll(reader)
        #expect(try query.count(reader) == keys.count, "\(text)", sourceLocation: location)
        #expect(
            try query.findFirst(reader) == keys.first, "\(text)",
            sourceLocation: location)
        #expect(
            try query.filter([0, 1, 2, 3, 4, 5], reader) == keys.sorted(), "\(text)",
            sourceLocation: location)
        // The canonical text means the same (V1).
        let again = try Query.parse(
            query.description, arguments: [], schema: realm.schema, classKey: key)
        #expect(try again.findAll(reader) == keys, "\(text)", sourceLocation: location)
        return keys
    }

    private func code(_ text: String, _ arguments: [QueryArgument] = []) -> ErrorCode? {
        errorCode { _ = try ids(text, arguments) }
    }

    @Test func `F5: all words must occur, in any order`() throws {
        #expect(try ids("log TEXT 'storm'") == [0, 1])
        #expect(try ids("log TEXT 'storm reef'") == [0])
        #expect(try ids("log TEXT 'reef storm'") == [0])
        #expect(try ids("log TEXT '  reef\tstorm '") == [0])
        #expect(try ids("log TEXT 'storm storm'") == [0, 1])
        #expect(try ids("log TEXT 'whale'") == [])
        #expect(try ids("log TEXT 'storm whale'") == [])
        #expect(try ids("log TEXT $0", [.scalar(.string("reef"))]) == [0, 2])
    }

    @Test func `F3, F4, F9: words are runs of letters and digits; case and accents do not matter`()
        throws
    {
        #expect(try ids("log TEXT 'STORM'") == [0, 1])
        #expect(try ids("log TEXT 'depot'") == [2])
        #expect(try ids("log TEXT 'DÉPÔT'") == [2])
        #expect(try ids("log TEXT 'brien'") == [5])
        #expect(try ids("log TEXT '7'") == [2])
    }

    @Test func `F6: a star makes a word a beginning`() throws {
        #expect(try ids("log TEXT 'sto*'") == [0, 1, 5])
        #expect(try ids("log TEXT 'sto* ree*'") == [0, 5])
        #expect(try ids("log TEXT 'storm* reef'") == [0])
        #expect(try ids("log TEXT 'zz*'") == [])
        #expect(try ids("log TEXT 'r* n*'") == [0])
    }

    @Test func `F6, F7: a minus excludes words or beginnings`() throws {
        #expect(try ids("log TEXT 'sto* -reef'") == [1, 5])
        #expect(try ids("log TEXT 'sto* -ree*'") == [1])
        #expect(try ids("log TEXT 'reef -storm -coal'") == [])
        #expect(try ids("log TEXT '-reef'") == [1, 3, 4, 5])
        #expect(try ids("log TEXT '-re*'") == [1, 3, 4])
        #expect(try ids("log TEXT '-reef -storm'") == [3, 4, 5])
        #expect(try ids("log TEXT '-whale'") == [0, 1, 2, 3, 4, 5])
    }

    @Test func textGoesWithOtherConditions() throws {
        #expect(try ids("log TEXT 'storm' AND tons > 5") == [1])
        #expect(try ids("log TEXT 'storm' OR tons == 40") == [0, 1, 4])
        #expect(try ids("log TEXT 'storm' OR log TEXT 'coal'") == [0, 1, 2])
        #expect(try ids("NOT log TEXT 'storm'") == [2, 3, 4, 5])
        #expect(try ids("!(log TEXT '-storm')") == [0, 1])
        #expect(try ids("NOT (log TEXT 'storm' AND tons > 5)") == [0, 2, 3, 4, 5])
        #expect(try ids("log TEXT 'storm' AND log TEXT 'reef'") == [0])
        #expect(try ids("log TEXT 'storm' SORT(tons DESC)").count == 2)
    }

    @Test func `F2: through links`() throws {
        #expect(try ids("captain.bio TEXT 'pilot'") == [0, 3])
        #expect(try ids("captain.bio TEXT '-pilot'") == [1, 5])
        #expect(try ids("NOT captain.bio TEXT 'pilot'") == [1, 2, 4, 5])
        #expect(try ids("captain.name TEXT 'brien'") == [1, 5])
        #expect(try ids("captain.boss.bio TEXT 'PILOT reefs'") == [1, 5])
        #expect(try ids("captain.boss.bio TEXT 'pilot' AND log TEXT 'calm'") == [1])
    }

    @Test func `F2: through collections and backlinks`() throws {
        #expect(try ids("crew.bio TEXT 'pilot'") == [1, 3, 5])
        #expect(try ids("log TEXT 'storm' OR log TEXT 'coal'") == [0, 1, 2])
        #expect(try ids("log TEXT 'storm' OR crew.bio TEXT 'pilot'") == [0, 1, 3, 5])
        // Both are answered by the full-text index: of the objects linked to, and of the class.
        let key = try #require(realm.schema.class_(named: "Vessel")?.key)
        func plan(_ text: String) throws -> String {
            try Query.parse(text, schema: realm.schema, classKey: key)
                .explain(SnapshotReader(tables: realm.readTables()))
        }
        let union = try plan("log TEXT 'storm' OR log TEXT 'coal'")
        #expect(union.contains("start: union of full-text index of log"), "\(union)")
        #expect(!union.contains("test:"), "\(union)")
        let linked = try plan("crew.bio TEXT 'pilot'")
        #expect(!linked.contains("object by object"), "\(linked)")
        #expect(linked.contains("bio TEXT"), "\(linked)")
        #expect(try ids("ANY crew.bio TEXT '-pilot'") == [2, 3])
        #expect(try ids("ALL crew.bio TEXT 'pilot'") == [0, 1, 4, 5])
        #expect(try ids("NONE crew.bio TEXT 'pil*'") == [0, 2, 4])
        #expect(try ids("crew.name TEXT 'brien' AND log TEXT 'coal'") == [2])
        #expect(try ids("captain.@links.Vessel.captain.log TEXT 'reef'") == [0, 3])
        #expect(try ids("ALL crew.bio TEXT '-pilot'") == [0, 2, 4])
        #expect(try ids("NONE crew.bio TEXT '-pilot'") == [0, 1, 4, 5])
        #expect(code("marks TEXT 'a'") == .illegalOperation)
        #expect(code("crew TEXT 'a'") == .invalidQuery)
        #expect(code("crew.bio TEXT ''") == .invalidArgument)
        #expect(code("crew.bio TEXT null") == .invalidArgument)
        #expect(code("crew.bio TEXT 5") == .invalidQuery)
        #expect(code("crew.bio TEXT $0", [.scalar(.int(5))]) == .invalidQueryArg)
        #expect(code("crew.bio TEXT {'a'}") == .invalidQuery)
        #expect(code("crew.bio TEXT title") == .invalidQuery)
    }

    @Test func `F2: in subqueries`() throws {
        #expect(try ids("SUBQUERY(crew, $s, $s.bio TEXT 'pilot').@count > 0") == [1, 3, 5])
        #expect(try ids("SUBQUERY(crew, $s, $s.bio TEXT '-pilot').@count == 1") == [2, 3])
        let correlated = "SUBQUERY(crew, $s, $s.bio TEXT 'PILOT reefs' AND $s == SELF.captain)"
        #expect(try ids(correlated + ".@count > 0") == [3])
        // Links to one are followed for each member: texts that are null have no words, behind
        // a null link there is no text.
        let excluding = "SUBQUERY(crew, $s, $s == $s AND SELF.captain.bio TEXT '-pilot')"
        #expect(try ids(excluding + ".@count > 0") == [1, 5])
        let behindNull = "SUBQUERY(crew, $s, $s == $s AND $s.boss.bio TEXT '-reef')"
        #expect(try ids(behindNull + ".@count > 0 AND tons >= 0") == [2, 3])
        let none = "SUBQUERY(crew, $s, SELF.tons >= 0 AND NOT $s.boss.bio TEXT '-reef')"
        #expect(try ids(none + ".@count > 0") == [1, 3, 5])
    }

    @Test func `F2, B7: as the condition of a choice`() throws {
        #expect(try ids("TERNARY(log TEXT 'storm', 1, 0) == 1") == [0, 1])
        #expect(try ids("TERNARY(log TEXT '-storm', 1, 0) == 1") == [2, 3, 4, 5])
        #expect(try ids("TERNARY(captain.bio TEXT 'pilot', tons, 0) == 30") == [3])
        let several = "TERNARY(NOT log TEXT 'reef' OR crew.bio TEXT 'pilot', 1, 0)"
        #expect(try ids("tons + \(several) == 31") == [3])
        #expect(code("TERNARY(title TEXT 'a', 1, 0) == 1") == .illegalOperation)
        #expect(code("TERNARY(log TEXT '', 1, 0) == 1") == .invalidArgument)
    }

    @Test func `F1: properties need a full-text index`() throws {
        #expect(code("title TEXT 'storm'") == .illegalOperation)
        #expect(code("title TEXT ''") == .illegalOperation)
        #expect(code("captain.bio TEXT 'pilot'") == nil)
        for text in [
            "tons TEXT 'storm'", "captain TEXT 'storm'", "'storm' TEXT log", "log TEXT title",
            "log TEXT log", "'a' TEXT 'b'", "log TEXT {'storm'}", "log TEXT 5",
        ] {
            #expect(code(text) == .invalidQuery, "\(text)")
        }
        #expect(code("log TEXT $0", [.scalar(.int(5))]) == .invalidQueryArg)
        #expect(code("log TEXT $0", [.list([.string("storm")])]) == .invalidQueryArg)
        #expect(code("log TEXT $1", [.scalar(.string("storm"))]) == .invalidQueryArg)
    }

    @Test func `F8: searches are checked word by word`() throws {
        for text in [
            "''", "'  '", "null", "\"o'brien\"", "'storm!'", "'storm,reef'", "'-'", "'*'", "'-*'",
            "'--storm'", "'storm**'", "'×'", "'海'", "'storm -storm'", "'-Storm STORM'",
            "'dépôt -depot'", "'storm* -storm'", "'storm -storm*'",
        ] {
            #expect(code("log TEXT \(text)") == .invalidArgument, "\(text)")
        }
        #expect(code("log TEXT $0", [.scalar(.null)]) == .invalidArgument)
        do {
            _ = try ids("log TEXT 'reef o!brien'")
            Issue.record("no error")
        } catch let error as RealmError {
            #expect(error.message.contains("'o!brien'"))
        }
    }

    @Test func `F9: there are no options`() throws {
        #expect(code("log TEXT[c] 'storm'") == .invalidQueryString)
    }

    @Test func `B14: Unicode indexes know all scripts`() throws {
        #expect(try ids("memo TEXT 'STRASSE'") == [0, 4])
        #expect(try ids("memo TEXT 'straße'") == [0, 4])
        #expect(try ids("memo TEXT '海'") == [1])
        #expect(try ids("memo TEXT '学海'") == [1])
        #expect(try ids("memo TEXT '海学 -straße'") == [1])
        #expect(try ids("memo TEXT 'σοφοσ'") == [2])
        #expect(try ids("memo TEXT 'łodz'") == [4])
        #expect(try ids("memo TEXT 'ł*'") == [4])
        #expect(try ids("memo TEXT '-海船'") == [0, 1, 2, 3, 4, 5])
        #expect(try ids("memo TEXT '-海洋 -straße'") == [2, 3, 5])
        #expect(code("memo TEXT '2×3'") == .invalidArgument)
    }

    @Test func theIndexFollowsChangesWithinATransaction() throws {
        try realm.beginWrite()
        let vessel = try #require(try realm.find("Vessel", primaryKey: .int(0)))
        try vessel.set("log", .string("storm and whale"))
        #expect(try ids("log TEXT 'reef'") == [2])
        #expect(try ids("log TEXT 'whale'") == [0])
        try vessel.set("log", .string("reef"))
        try vessel.set("log", .string("whale"))
        #expect(try ids("log TEXT 'whale'") == [0])
        #expect(try ids("log TEXT 'reef'") == [2])
        try realm.find("Vessel", primaryKey: .int(2))?.delete()
        #expect(try ids("log TEXT 'whale'") == [0])
        #expect(try ids("log TEXT 'coal'") == [])
        try vessel.set("log", .null)
        #expect(try ids("log TEXT 'whale'") == [])
        try realm.rollback()
        #expect(try ids("log TEXT 'reef'") == [0, 2])
        #expect(try realm.check() == [])
    }
}
