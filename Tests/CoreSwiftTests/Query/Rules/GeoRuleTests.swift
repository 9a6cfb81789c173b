// Section 14 of the query language: GEOWITHIN on objects.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct GeoRuleTests {
    private func world() throws -> RuleWorld {
        let world = try RuleWorld()
        try world.realm.beginWrite()
        let places: [(Int64, [(String, [Double])])] = [
            (1, [("Point", [1, 1]), ("point", [10, 10, 5])]), (2, [("Point", [1, 1])]),
            (3, [("Polygon", [1, 1]), ("point", [1])]),
        ]
        let schema = try #require(world.realm.schema.class_(named: "Vessel"))
        let one = try #require(schema.property(named: "spot")).key
        let many = try #require(schema.property(named: "spots")).key
        for (id, spots) in places {
            let vessel = try #require(try world.realm.find("Vessel", primaryKey: .int(id)))
            for (index, spot) in spots.enumerated() {
                let list = try vessel.handle.collection(many, .list)
                try fill(DynamicObject(list.insertEmbedded(at: index)), spot, world)
                if index == 0 {
                    try fill(DynamicObject(vessel.handle.createEmbedded(one)), spot, world)
                }
            }
        }
        try world.realm.commit()
        return world
    }

    private func fill(
        _ object: DynamicObject, _ spot: (String, [Double]), _ world: RuleWorld
    ) throws {
        try object.set("type", .string(spot.0))
        let point = try #require(world.realm.schema.class_(named: "Point"))
        let key = try #require(point.property(named: "coordinates")).key
        let list = try object.handle.collection(key, .list)
        for (index, number) in spot.1.enumerated() { try list.insert(.double(number), at: index) }
    }

    @Test func `G1, G2, G3, G5: shapes, quantifiers, bad places`() throws {
        let world = try world()
        world.check([
            ("G1", "spot GEOWITHIN geoCircle([1, 1], 0.01)", [1, 2]),
            ("G3", "spot GEOWITHIN geoBox([0, 0], [2, 2])", [1, 2]),
            ("G3", "NOT spot GEOWITHIN geoBox([0, 0], [2, 2])", [3, 4]),
            ("G3", "spots GEOWITHIN geoPolygon({[9, 9], [11, 9], [10, 12], [9, 9]})", [1]),
            ("G5", "ANY spots GEOWITHIN geoBox([0, 0], [2, 2])", [1, 2]),
            ("G5", "ALL spots GEOWITHIN geoBox([0, 0], [2, 2])", [2]),
            ("G5", "NONE spots GEOWITHIN geoBox([0, 0], [2, 2])", [3, 4]),
            ("B13", "spot GEOWITHIN geoBox([-1, -1], [+2, 2.5])", [1, 2]),
            ("G3", "spot GEOWITHIN geoCircle([1, 1], inf)", [1, 2]),
            ("G3", "spot GEOWITHIN geoCircle([1, 1], 1e999)", [1, 2]),
        ])
        let shape = QueryArgument.scalar(.string("geoCircle([1, 1], 0.01)"))
        #expect(try world.ids("spot GEOWITHIN $0", [shape]) == [1, 2])
        let numbers: [QueryArgument] = [
            .scalar(.int(1)), .scalar(.double(1)), .scalar(.float(0.01)),
        ]
        #expect(try world.ids("spot GEOWITHIN geoCircle([$0, $1], $2)", numbers) == [1, 2])
        let bad: [QueryArgument] = [.scalar(.null), .scalar(.string("x")), .list([.int(1)])]
        for argument in bad {
            #expect(throws: RealmError.self) { try world.ids("spot GEOWITHIN $0", [argument]) }
            #expect(throws: RealmError.self) {
                try world.ids("spot GEOWITHIN geoCircle([$0, 1], 1)", [argument])
            }
        }
        #expect(throws: RealmError.self) { try world.ids("spot GEOWITHIN $0", [.scalar(.int(3))]) }
    }

    @Test func `G1, G4, G6: refused`() throws {
        let world = try RuleWorld()
        world.refuse([
            ("G1", "berth GEOWITHIN geoCircle([1, 1], 1)", .invalidQuery, "berth"),
            ("G1", "tons GEOWITHIN geoCircle([1, 1], 1)", .invalidQuery, "tons"),
            (
                "G4", "spot GEOWITHIN geoPolygon({[0, 0], [1, 0], [1, 1]})", .invalidQueryArg,
                "closed"
            ),
            ("G4", "spot GEOWITHIN geoCircle([0, 91], 1)", .invalidQueryArg, "no place"),
            ("G3", "spot GEOWITHIN geoCircle([0, 0], -1)", .invalidQueryArg, "radius"),
            ("G3", "spot GEOWITHIN geoCircle([0, 0], nan)", .invalidQueryString, "a coordinate"),
            ("G4", "spot GEOWITHIN geoCircle([0, -inf], 1)", .invalidQueryArg, "no place"),
            ("G5", "ALL spot GEOWITHIN geoCircle([0, 0], 1)", .invalidQuery, "ALL"),
            ("G6", "spot GEOWITHIN 5", .invalidQueryString, "geoBox"),
            ("G1", "-spot GEOWITHIN geoCircle([1, 1], 1)", .invalidQueryString, "a path"),
            ("G1", "1 + spot GEOWITHIN geoCircle([1, 1], 1)", .invalidQueryString, "a path"),
            ("G1", "2 * spot GEOWITHIN geoCircle([1, 1], 1)", .invalidQueryString, "a path"),
            ("G1", "1 == spot GEOWITHIN geoCircle([1, 1], 1)", .invalidQueryString, "chain"),
        ])
    }
}
