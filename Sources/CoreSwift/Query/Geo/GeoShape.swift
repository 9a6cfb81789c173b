// The shapes of GEOWITHIN (QUERY_RULES G): made from coordinates that the query or its arguments give,
// checked, and asked for points. Immutable.

struct GeoShape: Sendable {
    private enum Form {
        /// Centre and radius in radians of arc.
        case circle(GeoPoint, Double)
        case polygon(GeoPolygon)
    }
    private let form: Form

    /// What is wrong with a shape's coordinates, as a sentence.
    struct Problem: Error {
        let reason: String
    }

    /// A place as a query has it: longitude, latitude in degrees.
    typealias Place = (longitude: Double, latitude: Double)

    private static func point(_ place: Place) throws(Problem) -> GeoPoint {
        guard let point = GeoPoint(longitude: place.longitude, latitude: place.latitude) else {
            throw Problem(
                reason: "[\(place.longitude), \(place.latitude)] is no place: longitudes are "
                    + "within ±180 degrees, latitudes within ±90")
        }
        return point
    }

    /// `radius` in radians of arc.
    static func circle(_ center: Place, radius: Double) throws(Problem) -> GeoShape {
        guard radius >= 0 else {
            throw Problem(reason: "the radius \(radius) of a circle is not 0 or more")
        }
        return GeoShape(form: .circle(try point(center), radius))
    }

    /// The polygon of the four corners; its edges are great circles, not parallels (G3).
    static func box(_ low: Place, _ high: Place) throws(Problem) -> GeoShape {
        let corners = [
            low, (low.longitude, high.latitude), high, (high.longitude, low.latitude), low,
        ]
        return try polygon([corners])
    }

    /// The first ring is the outer one, the others are holes. Each ends where it begins.
    static func polygon(_ rings: [[Place]]) throws(Problem) -> GeoShape {
        var closed: [[GeoPoint]] = []
        for ring in rings {
            var points: [GeoPoint] = []
            points.reserveCapacity(ring.count)
            for place in ring { points.append(try point(place)) }
            closed.append(points)
        }
        return GeoShape(form: .polygon(try GeoPolygon(closed)))
    }

    /// Whether a place lies inside; false for coordinates that are no place.
    func contains(longitude: Double, latitude: Double) -> Bool {
        guard let point = GeoPoint(longitude: longitude, latitude: latitude) else { return false }
        switch form {
        case .circle(let center, let radius): return center.angle(point) <= radius
        case .polygon(let polygon): return polygon.contains(point)
        }
    }
}
