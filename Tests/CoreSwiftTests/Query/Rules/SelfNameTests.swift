// A property called SELF hides the word for the object that is asked for: canonical texts of
// SUBQUERYs name the properties of the queried objects in another way then (QUERY_RULES B6, V1).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct SelfNameTests {
    /// `Hull` and `Port` have a property called SELF, which is no link and a link; `Berth` has a
    /// property of which `SELF` is the public name.
    private static let schema = Schema([
        ClassSchema(
            "Hull", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("SELF", .int), PropertySchema("tons", .int),
                PropertySchema("none", .int),
                PropertySchema("stored", .int, publicName: "shown"),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
                PropertySchema("peers", .object, collection: .list, linkTarget: "Hull"),
                PropertySchema("marks", .int, collection: .list),
            ]),
        ClassSchema(
            "Part", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("kg", .int),
                PropertySchema("stored", .int),
                PropertySchema("hulls", .object, collection: .list, linkTarget: "Hull"),
            ],
            computedProperties: [
                PropertySchema(
                    "ports", .linkingObjects, collection: .list, linkTarget: "Port",
                    linkOrigin: "parts")
            ]),
        ClassSchema(
            "Port", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("tons", .int),
                PropertySchema("SELF", .object, linkTarget: "Port", flags: [.nullable]),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            ]),
        ClassSchema(
            "Berth", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("tons", .int),
                PropertySchema("own", .int, publicName: "SELF"),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            ]),
        ClassSchema(
            "Yard", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("tons", .int),
                PropertySchema("hulls", .object, collection: .list, linkTarget: "Hull"),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            ]),
    ])

    private let directory = TemporaryDirectory()
    private let realm: Realm

    init() throws {
        realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        try realm.beginWrite()
        var parts: [DynamicObject] = []
        for id in Int64(1)...4 {
            parts.append(
                try realm.create(
                    "Part", primaryKey: .int(id), ["kg": .int(id * 10), "stored": .int(id % 2)]))
        }
        var hulls: [DynamicObject] = []
        var firstPort = Value.null
        for id in Int64(1)...4 {
            let own = Array(parts[..<Int(id)])
            let hull = try realm.create(
                "Hull", primaryKey: .int(id),
                [
                    "SELF": .int(40 - id * 10), "tons": .int(id * 8), "none": .int(id * 9),
                    "stored": .int(id / 2),
                ])
            try fill(hull, "parts", own)
            for mark in 0..<id { try hull.collection("marks").insert(.int(mark * 8), at: 0) }
            hulls.append(hull)
            let port = try realm.create(
                "Port", primaryKey: .int(id), ["tons": .int(id * 7 + 8), "SELF": firstPort])
            if id == 1 { firstPort = port.value }
            try fill(port, "parts", own)
            let berth = try realm.create(
                "Berth", primaryKey: .int(id), ["tons": .int(id * 9), "own": .int(id * 7)])
            try fill(berth, "parts", own)
            let yard = try realm.create("Yard", primaryKey: .int(id), ["tons": .int(id * 6)])
            try fill(yard, "parts", own)
            try fill(yard, "hulls", hulls)
        }
        for (place, hull) in hulls.enumerated() { try fill(hull, "peers", Array(hulls[place...])) }
        for part in parts { try fill(part, "hulls", hulls) }
        try realm.commit()
    }

    private func fill(
        _ object: DynamicObject, _ property: String, _ members: [DynamicObject]
    ) throws {
        let list = try object.collection(property)
        for (place, member) in members.enumerated() {
            try list.insert(.link(member.link.classKey, member.key), at: place)
        }
    }

    /// What a query finds, which its canonical text finds, too.
    private func ask(_ text: String, of className: String) throws -> [ObjectKey] {
        let key = realm.schema.class_(named: className)!.key
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let query = try Query.parse(text, schema: realm.schema, classKey: key)
        let found = try query.findAll(snapshot)
        let canonical = query.description
        let again = try Query.parse(canonical, schema: realm.schema, classKey: key)
        #expect(try again.findAll(snapshot) == found, "\(text) as \(canonical)")
        #expect(again.description == canonical, "\(text)")
        return found
    }

    @Test func `V1, B6: a property of the root beside one called SELF`() throws {
        // kg 10, 20, 30, 40 of the parts; tons 8, 16, 24, 32; SELF 30, 20, 10, 0.
        #expect(try ask("SUBQUERY(parts, $p, $p.kg < tons).@count > 1", of: "Hull") == [3, 4])
        #expect(try ask("SUBQUERY(parts, $p, $p.kg > SELF).@count > 1", of: "Hull") == [3, 4])
        #expect(try ask("SUBQUERY(parts, $p, $p.kg > #SELF).@count > 1", of: "Hull") == [3, 4])
        #expect(try ask("SUBQUERY(parts, $p, kg < #'tons').@count > 2", of: "Hull") == [4])
        #expect(
            try ask("SUBQUERY(parts, $p, $p.kg > #none).@count > 0", of: "Hull") == [1, 2, 3, 4])
        #expect(try ask("SELF > 10 AND tons > 8", of: "Hull") == [2])
        #expect(try ask("SUBQUERY(marks, $m, $m < tons - SELF).@count > 1", of: "Hull") == [3, 4])
        // Properties of the root as the members of an inner SUBQUERY.
        #expect(
            try ask(
                "SUBQUERY(parts, $p, SUBQUERY(marks, $m, $m >= $p.kg).@count > 0).@count == 2",
                of: "Hull") == [4])
        // Links called SELF: to the first port, of 15 tons.
        #expect(try ask("SUBQUERY(parts, $p, $p.kg > tons).@count > 0", of: "Port") == [3, 4])
        #expect(try ask("SUBQUERY(parts, $p, $p.kg > SELF.tons).@count > 1", of: "Port") == [3, 4])
        #expect(
            try ask("SUBQUERY(parts, $p, ANY $p.ports.SELF.tons == 15).@count == 4", of: "Port")
                == [4])
    }

    @Test func `V1, B6: a class within has the property called SELF, or it is a public name`()
        throws
    {
        let text = "SUBQUERY(hulls, $h, $h.SELF < tons).@count"
        #expect(try ask(text + " > 0", of: "Yard") == [3, 4])
        #expect(try ask("SUBQUERY(hulls, $h, SELF < 20).@count == 2", of: "Yard") == [4])
        #expect(
            try ask("SUBQUERY(parts, $p, kg > SELF.tons).@count == 1", of: "Yard") == [1, 2])
        // SELF is the yard outside of the inner SUBQUERY, and the hull's property in it.
        #expect(
            try ask(
                "SUBQUERY(parts, $p, kg > SELF.tons AND SUBQUERY(hulls, $h, SELF < 20).@count > 1)"
                    + ".@count > 0", of: "Yard") == [1, 2, 3, 4])
        #expect(try ask("SUBQUERY(parts, $p, kg > tons).@count == 1", of: "Berth") == [1, 2, 3, 4])
        #expect(try ask("SUBQUERY(parts, $p, kg > SELF).@count == 2", of: "Berth") == [4])
    }

    @Test func `V1, B6: members have a property named as that of the root is in the file`() throws {
        // stored: 0, 1, 1, 2 of the hulls, 1, 0, 1, 0 of the parts.
        #expect(try ask("SUBQUERY(parts, $p, stored == shown).@count == 2", of: "Hull") == [3])
        #expect(
            try ask("SUBQUERY(parts, $p, $p.stored == 1 AND shown > 1).@count > 0", of: "Hull") == [
                4
            ])
        #expect(
            try ask("SUBQUERY(peers, $h, stored == shown).@count > 1", of: "Hull") == [1, 2, 3])
    }
}
