// Rules G2 to G4 of the query language: shapes on the sphere and what is refused of them.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct GeoShapeTests {
    private func polygon(_ rings: [[(Double, Double)]]) throws -> GeoShape {
        try GeoShape.polygon(rings.map { $0.map { (longitude: $0.0, latitude: $0.1) } })
    }

    @Test("a circle holds what is within its radius, over poles and the date line")
    func circles() throws {
        let oslo = try GeoShape.circle((10.75, 59.91), radius: 310 / 6378.1)
        #expect(oslo.contains(longitude: 5.32, latitude: 60.39), "Bergen is 305 km away")
        #expect(!oslo.contains(longitude: 10.39, latitude: 63.43), "Trondheim is 390")
        let fiji = try GeoShape.circle((179.9, -17), radius: 0.01)
        #expect(fiji.contains(longitude: -179.9, latitude: -17))
        let pole = try GeoShape.circle((0, 90), radius: 0.1)
        #expect(pole.contains(longitude: 123, latitude: 85))
        #expect(!pole.contains(longitude: 123, latitude: 84))
        #expect(try GeoShape.circle((3, 4), radius: 0).contains(longitude: 3, latitude: 4))
        #expect(try GeoShape.circle((3, 4), radius: 9).contains(longitude: -177, latitude: -4))
    }

    @Test("boxes have great circles as edges")
    func boxes() throws {
        let box = try GeoShape.box((0, 0), (2, 2))
        #expect(box.contains(longitude: 1, latitude: 1))
        #expect(!box.contains(longitude: 3, latitude: 1))
        #expect(!box.contains(longitude: 1, latitude: 0 - 1e-9))
        #expect(box.contains(longitude: 1, latitude: 2.0001), "the arc bulges to the pole")
        let wide = try GeoShape.box((-60, 40), (60, 50))
        #expect(!wide.contains(longitude: 0, latitude: 45), "the lower arc passes north of it")
        #expect(wide.contains(longitude: 0, latitude: 65))
        #expect(try GeoShape.box((170, -5), (-170, 5)).contains(longitude: 180, latitude: 1))
    }

    @Test("polygons: direction does not matter, holes are out, poles are in")
    func polygons() throws {
        let square = [(0.0, 0.0), (10, 0), (10, 10), (0, 10), (0, 0)]
        let hole = [(4.0, 4.0), (6, 4), (6, 6), (4, 6), (4, 4)]
        for rings in [[square, hole], [square.reversed(), hole], [square, hole.reversed()]] {
            let shape = try polygon(rings)
            #expect(shape.contains(longitude: 2, latitude: 5))
            #expect(!shape.contains(longitude: 5, latitude: 5))
            #expect(!shape.contains(longitude: 20, latitude: 5))
            #expect(!shape.contains(longitude: 20, latitude: 0.0))
            #expect(!shape.contains(longitude: -20, latitude: 0.0))
            #expect(!shape.contains(longitude: -175, latitude: -5))
        }
        let arctic = try polygon([[(0, 60), (90, 60), (180, 60), (-90, 60), (0, 60)]])
        #expect(arctic.contains(longitude: 33, latitude: 90))
        #expect(arctic.contains(longitude: 33, latitude: 75))
        #expect(!arctic.contains(longitude: 33, latitude: 0))
        #expect(!arctic.contains(longitude: 33, latitude: -75))
        let half = try polygon([[(0, -1), (120, -1), (-120, -1), (0, -1)]])
        #expect(half.contains(longitude: 5, latitude: -80), "the smaller side")
        #expect(!half.contains(longitude: 5, latitude: 80))
    }

    @Test("random polygons agree with a plane projection that keeps great circles straight")
    func gnomonic() throws {
        var random = Random(TestSettings.seed("gnomonic"))
        func unit() -> Double { Double(random.below(2_000_001)) / 1_000_000 - 1 }
        for _ in 0..<200 {
            // In the plane that touches the equator at longitude 0, arcs are straight lines.
            let count = 3 + random.below(8)
            let corners = (0..<count).map { index -> (Double, Double) in
                let angle = (Double(index) + 0.4 * unit()) / Double(count) * 2 * .pi
                let radius = 0.3 + 0.5 * abs(unit())
                return (radius * cos(angle), radius * sin(angle))
            }
            func place(_ x: Double, _ y: Double) -> (Double, Double) {
                (atan2(x, 1) * 180 / .pi, atan2(y, (1 + x * x).squareRoot()) * 180 / .pi)
            }
            let shape = try polygon([(corners + [corners[0]]).map { place($0.0, $0.1) }])
            for _ in 0..<40 {
                let (x, y) = (unit(), unit())
                var isInside = false
                for index in corners.indices {
                    let (a, b) = (corners[index], corners[(index + 1) % count])
                    if (a.1 > y) != (b.1 > y), x < (b.0 - a.0) * (y - a.1) / (b.1 - a.1) + a.0 {
                        isInside.toggle()
                    }
                }
                let (longitude, latitude) = place(x, y)
                #expect(
                    shape.contains(longitude: longitude, latitude: latitude) == isInside,
                    "\(corners) \(x) \(y)")
                #expect(
                    !shape.contains(
                        longitude: longitude > 0 ? longitude - 180 : longitude + 180,
                        latitude: -latitude))
            }
        }
    }

    @Test("bad shapes are refused with the reason")
    func refused() throws {
        typealias Ring = [(Double, Double)]
        let square: Ring = [(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)]
        func refuse(_ reason: String, _ rings: Ring...) {
            let result = Result { try polygon(rings) }
            guard case .failure(let problem as GeoShape.Problem) = result else {
                Issue.record("accepted: \(rings)")
                return
            }
            #expect(problem.reason.contains(reason), "\(problem.reason)")
        }
        refuse("not closed", Array(square.dropLast()))
        refuse("fewer than three", [(0, 0), (1, 1), (0, 0)])
        refuse("twice", [(0, 0), (1, 1), (0, 0), (2, 2), (0, 0)])
        refuse("crosses itself", [(0, 0), (10, 10), (10, 0), (0, 10), (0, 0)])
        refuse("two rings cross", square, [(4, 4), (20, 4), (6, 6), (4, 4)])
        refuse("not inside", square, [(24, 24), (25, 24), (24, 25), (24, 24)])
        refuse("same", square, square)
        refuse("no place", [(0, 0), (90, 0), (200, 1), (0, 0)])
        refuse("opposite", [(0, 0), (180, 0), (90, 10), (0, 0)])
        refuse("lie on each other", [(0, 0), (10, 0), (5, 0), (5, 5), (0, 0)])
        refuse("at least one ring")
        refuse("not closed", [])
        for radius in [-1, Double.nan] {
            #expect(throws: GeoShape.Problem.self) {
                try GeoShape.circle((0, 0), radius: radius)
            }
        }
        #expect(throws: GeoShape.Problem.self) { try GeoShape.circle((0, 91), radius: 1) }
        #expect(throws: GeoShape.Problem.self) { try GeoShape.box((0, 0), (0, 0)) }
    }

    @Test("a polygon of many corners is checked without comparing all pairs of edges")
    func large() throws {
        let count = 5000
        let ring = (0...count).map { index -> (Double, Double) in
            let angle = Double(index % count) / Double(count) * 2 * .pi
            return (30 * cos(angle), 30 * sin(angle))
        }
        let shape = try polygon([ring])
        #expect(shape.contains(longitude: 29, latitude: 1))
        #expect(!shape.contains(longitude: 31, latitude: 1))
    }
}
