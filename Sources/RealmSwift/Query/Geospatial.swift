// The shapes that `geoWithin` takes, and their spelling in the query language.

import CoreSwift
import Foundation

/// A shape on the earth that objects can be asked to lie in: `GeoBox`, `GeoCircle`, `GeoPolygon`.
public protocol RLMGeospatial: Sendable {
    /// The shape in the query language.
    var _rlmQueryText: String { get }
}

/// A place: latitude within ±90 degrees, longitude within ±180, altitude in metres.
///
/// Objects keep places in an embedded object with a text `type`, "Point", and a list of doubles `coordinates`:
/// longitude, latitude, and perhaps altitude.
public struct GeoPoint: Hashable, Sendable {
    /// Degrees north, -90 to 90.
    public let latitude: Double
    /// Degrees east, -180 to 180.
    public let longitude: Double
    /// Meters above the sea; queries leave it out.
    public let altitude: Double

    /// Nil for what is no place.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard abs(latitude) <= 90, abs(longitude) <= 180, altitude >= 0, altitude.isFinite else {
            return nil
        }
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }

    /// From latitude and longitude.
    public init?(_ place: (Double, Double)) { self.init(latitude: place.0, longitude: place.1) }

    var text: String { "[\(longitude), \(latitude)]" }
}

/// A distance on the earth, or the angle that it has from the earth's centre.
public struct Distance: Hashable, Sendable {
    /// The angle in radians.
    public let radians: Double
    /// As the older library has it.
    private static let earthKilometers = 6378.1
    private static let milesPerKilometer = 0.621371

    private init?(checked radians: Double) {
        guard radians >= 0, radians.isFinite else { return nil }
        self.radians = radians
    }

    /// Nil for what is less than nothing.
    public static func kilometers(_ kilometers: Double) -> Distance? {
        Distance(checked: kilometers / earthKilometers)
    }
    /// A distance in miles; nil for negative ones.
    public static func miles(_ miles: Double) -> Distance? {
        kilometers(miles / milesPerKilometer)
    }
    /// A distance in degrees of a great circle; nil for negative ones.
    public static func degrees(_ degrees: Double) -> Distance? {
        Distance(checked: degrees * .pi / 180)
    }
    /// A distance in radians of a great circle; nil for negative ones.
    public static func radians(_ radians: Double) -> Distance? { Distance(checked: radians) }

    /// In kilometers.
    public func asKilometers() -> Double { radians * Self.earthKilometers }
    /// In miles.
    public func asMiles() -> Double { asKilometers() * Self.milesPerKilometer }
    /// In degrees of a great circle.
    public func asDegrees() -> Double { radians * 180 / .pi }
    /// In radians of a great circle.
    public var asRadians: Double { radians }
}

/// The places between two corners.
public struct GeoBox: RLMGeospatial, Hashable {
    /// The corner in the south west.
    public let bottomLeft: GeoPoint
    /// The corner in the north east.
    public let topRight: GeoPoint

    /// A box between two corners.
    public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
        self.bottomLeft = bottomLeft
        self.topRight = topRight
    }

    /// From latitudes and longitudes; nil where one is no place.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let low = GeoPoint(bottomLeft), let high = GeoPoint(topRight) else { return nil }
        self.init(bottomLeft: low, topRight: high)
    }

    public var _rlmQueryText: String { "geoBox(\(bottomLeft.text), \(topRight.text))" }
}

/// The places inside a ring of points, and outside of the rings of its holes.
public struct GeoPolygon: RLMGeospatial, Hashable {
    /// The ring around the area; its last point is the first.
    public let outerRing: [GeoPoint]
    /// The rings around what is left out; nil where none were given.
    public let holes: [[GeoPoint]]?

    /// Each ring ends where it begins; nil for rings of less than four points.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]]? = nil) {
        for ring in [outerRing] + (holes ?? []) {
            guard ring.count >= 4, ring.first == ring.last else { return nil }
        }
        self.outerRing = outerRing
        self.holes = holes
    }

    /// From latitudes and longitudes.
    public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
        func points(_ ring: [(Double, Double)]) -> [GeoPoint]? {
            let points = ring.compactMap { GeoPoint($0) }
            return points.count == ring.count ? points : nil
        }
        let inner = holes.compactMap(points)
        guard let outer = points(outerRing), inner.count == holes.count else { return nil }
        self.init(outerRing: outer, holes: inner)
    }

    /// From latitudes and longitudes, the holes one after the other.
    public init?(
        outerRing: [(Double, Double)], holes first: [(Double, Double)],
        _ others: [(Double, Double)]...
    ) {
        self.init(outerRing: outerRing, holes: [first] + others)
    }

    public var _rlmQueryText: String {
        let rings = ([outerRing] + (holes ?? [])).map { ring in
            "{" + ring.map { $0.text }.joined(separator: ", ") + "}"
        }
        return "geoPolygon(\(rings.joined(separator: ", ")))"
    }
}

/// The places within a distance of a point.
public struct GeoCircle: RLMGeospatial, Hashable {
    /// The point in the middle.
    public let center: GeoPoint
    /// The radius in radians of a great circle.
    public let radiusInRadians: Double
    /// The same, as the older library has it.
    public var radians: Double { radiusInRadians }

    /// Nil for a radius below zero.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0, radiusInRadians.isFinite else { return nil }
        self.center = center
        self.radiusInRadians = radiusInRadians
    }

    /// A circle around a point.
    public init(center: GeoPoint, radius: Distance) {
        self.center = center
        radiusInRadians = radius.radians
    }

    /// From latitude and longitude.
    public init?(center: (Double, Double), radiusInRadians: Double) {
        guard let center = GeoPoint(center) else { return nil }
        self.init(center: center, radiusInRadians: radiusInRadians)
    }

    /// From latitude and longitude.
    public init?(center: (Double, Double), radius: Distance) {
        self.init(center: center, radiusInRadians: radius.radians)
    }

    public var _rlmQueryText: String { "geoCircle(\(center.text), \(radiusInRadians))" }
}
