// Names of classes in queries: behind @links, in obj(), public ones, and as key path arguments
// (QUERY_RULES N4, N6, N8).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ClassNameTests {
    private static let schema = Schema([
        ClassSchema(
            "t_person", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("years", .int, publicName: "age"),
            ],
            computedProperties: [
                PropertySchema(
                    "ships", .linkingObjects, collection: .list, linkTarget: "t_ship",
                    linkOrigin: "col_2")
            ], publicName: "Person"),
        ClassSchema(
            "t_ship", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema(
                    "col_2", .object, collection: .list, linkTarget: "t_person",
                    publicName: "crew"),
                PropertySchema(
                    "owner", .object, linkTarget: "t_person", flags: [.nullable]),
                PropertySchema("tons", .int),
            ], publicName: "Ship"),
    ])

    private let directory = TemporaryDirectory()
    private let realm: Realm

    init() throws {
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        for id in [Int64(1), 2] {
            let person = try realm.create(
                "t_person", primaryKey: .int(id), ["years": .int(id * 10)])
            let ship = try realm.create(
                "t_ship", primaryKey: .int(id), ["tons": .int(id * 3), "owner": person.value])
            try ship.collection("col_2").insert(.link(person.link.classKey, person.key), at: 0)
        }
        try realm.commit()
    }

    private func ask(
        _ text: String, _ arguments: [QueryArgument] = [], of className: String = "t_person"
    ) throws -> [ObjectKey] {
        _ = try realm.readTables()
        let key = realm.schema.class_(named: className)!.key
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let query = try Query.parse(
            text, arguments: arguments, schema: realm.schema, classKey: key)
        let found = try query.findAll(snapshot)
        let canonical = query.description
        #expect(!canonical.contains("Ship") && !canonical.contains("Person"), "\(canonical)")
        let again = try Query.parse(canonical, schema: realm.schema, classKey: key)
        #expect(try again.findAll(snapshot) == found, "\(text) as \(canonical)")
        #expect(again.description == canonical)
        return found
    }

    private func path(_ text: String) -> QueryArgument { .scalar(.string(text)) }

    private func message(_ text: String, of className: String = "t_person") -> String {
        do {
            _ = try ask(text, of: className)
            return "accepted"
        } catch let error as RealmError {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    @Test func `N4, N6: both names of a class stand behind @links and in obj()`() throws {
        for name in ["Ship", "t_ship", "#Ship", "#'t_ship'"] {
            #expect(try ask("@links.\(name).crew.tons == 3") == [1])
            #expect(try ask("@links.\(name).col_2.tons == 6") == [2])
            #expect(try ask("@links.\(name).owner.@count == 1 AND age > 10") == [2])
        }
        for name in ["Person", "t_person"] {
            #expect(try ask("owner == obj('\(name)', 2)", of: "t_ship") == [2])
            #expect(try ask("ANY crew == obj(\"\(name)\", 1)", of: "t_ship") == [1])
        }
    }

    @Test func `N4, E3: messages name the public class`() throws {
        #expect(message("nope == 1").contains("'Person' has no property 'nope'"))
        for (name, shown) in [("t_ship", "Ship"), ("Nope", "Nope")] {
            #expect(
                message("@links.\(name).nope.id == 1").contains(
                    "class '\(shown)' links to class 'Person'"))
        }
        #expect(message("owner == obj('t_ship', 1)", of: "t_ship").contains("class 'Person'"))
        #expect(message("owner == obj('Nope', 1)", of: "t_ship").contains("no class 'Nope'"))
        #expect(message("age == 'x'").contains("'Person.years'"))
    }

    @Test func `N4: public names of classes are told apart`() throws {
        func problem(_ first: String, _ second: String) -> String {
            let properties = [PropertySchema("a", .int)]
            let schema = Schema([
                ClassSchema("A", properties: properties, publicName: first),
                ClassSchema("B", properties: properties, publicName: second),
            ])
            do {
                try schema.validate()
                return "valid"
            } catch {
                return error.message
            }
        }
        #expect(problem("X", "Y") == "valid")
        #expect(problem("A", "") == "valid")
        #expect(problem("X", "X").contains("'X' is used more than once"))
        #expect(problem("B", "A").contains("'B' is also the name of a class"))
        #expect(problem("B", "").contains("'B' is also the name of a class"))
    }

    @Test func `N6, N8: key path arguments behind @links`() throws {
        #expect(try ask("@links.Ship.$K0.tons == 3", [path("crew")]) == [1])
        #expect(try ask("@links.Ship.$K0 == 3", [path("crew.tons")]) == [1])
        #expect(try ask("@links.$K0.crew.tons == 6", [path("Ship")]) == [2])
        #expect(try ask("@links.$K0.$K1.$K2 == 6", ["t_ship", "owner", "tons"].map(path)) == [2])
        #expect(try ask("@links.$K0.tons == 6", [path("Ship.crew")]) == [2])
        #expect(try ask("@links.$K0 == 6", [path("Ship.crew.tons")]) == [2])
        #expect(try ask("$K0 == 6", [path("@links.Ship.crew.tons")]) == [2])
        #expect(try ask("$K0 == 2", [path("@links.@count")]) == [1, 2])
        #expect(
            try ask("SUBQUERY(@links.Ship.$K0, $s, $s.tons > 3).@count == 1", [path("crew")])
                == [2])
        for (text, arguments) in [
            ("@links.$K0 == 3", ["Ship"]), ("@links.Ship.$K0 == 3", ["tons"]),
            ("@links.$K0.crew.tons == 3", ["Nope"]), ("@links.$K0.@count == 3", ["Ship"]),
            ("@links.Ship.$K0.tons == 3", ["crew..x"]), ("@links.Ship.$K0.tons == 3", [""]),
        ] {
            #expect(throws: RealmError.self, "\(text)") { try ask(text, arguments.map(path)) }
        }
        let format = try Query.parse(
            format: "@links.Ship.%K.tons == %d AND @links.%K.tons > 1",
            arguments: [path("crew"), .scalar(.int(3)), path("Ship.owner")],
            schema: realm.schema, classKey: realm.schema.class_(named: "t_person")!.key)
        #expect(try format.findAll(SnapshotReader(tables: realm.readTables())) == [1])
    }
}
