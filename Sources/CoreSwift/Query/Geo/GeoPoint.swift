// Points on the unit sphere, and the arcs of great circles between them (QUERY_RULES G). A place on
// earth is a unit vector, so that no test has a seam at the date line or trouble at the poles.
//
// Formulas: a great circle is the plane through the centre with the normal a × b. A point p lies
// left of the arc a → b when (a × b) · p > 0. Angles are atan2(|a × b|, a · b), which is exact to
// the last digits for near and far points alike.

import CKernels

struct GeoPoint: Equatable {
    var x: Double
    var y: Double
    var z: Double

    init(_ x: Double, _ y: Double, _ z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Degrees; nil when they are not on earth.
    init?(longitude: Double, latitude: Double) {
        guard longitude.magnitude <= 180, latitude.magnitude <= 90 else { return nil }
        let lambda = longitude * .pi / 180
        let phi = latitude * .pi / 180
        // The poles are one point each, and the date line is one line.
        if latitude.magnitude == 90 {
            self.init(0, 0, latitude < 0 ? -1 : 1)
        } else if longitude.magnitude == 180 {
            self.init(-ck_cos(phi), 0, ck_sin(phi))
        } else {
            self.init(ck_cos(phi) * ck_cos(lambda), ck_cos(phi) * ck_sin(lambda), ck_sin(phi))
        }
    }

    @inline(__always)
    func dot(_ other: GeoPoint) -> Double { x * other.x + y * other.y + z * other.z }

    @inline(__always)
    func cross(_ other: GeoPoint) -> GeoPoint {
        GeoPoint(
            y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    var length: Double { dot(self).squareRoot() }

    /// The point of the sphere in this direction.
    var normalized: GeoPoint {
        let length = length
        return GeoPoint(x / length, y / length, z / length)
    }

    static func + (a: GeoPoint, b: GeoPoint) -> GeoPoint {
        GeoPoint(a.x + b.x, a.y + b.y, a.z + b.z)
    }
    static func * (a: GeoPoint, factor: Double) -> GeoPoint {
        GeoPoint(a.x * factor, a.y * factor, a.z * factor)
    }

    /// The angle between two points, in radians.
    func angle(_ other: GeoPoint) -> Double { ck_atan2(cross(other).length, dot(other)) }

    /// Some direction at right angles to this one.
    var perpendicular: GeoPoint {
        // Not along this direction: the axis that it is least along; tilted, because the axes
        // themselves are where maps have their corners.
        let axis: GeoPoint
        if x.magnitude <= y.magnitude, x.magnitude <= z.magnitude {
            axis = GeoPoint(1, 0.0107, 0.0043)
        } else if y.magnitude <= z.magnitude {
            axis = GeoPoint(0.0043, 1, 0.0107)
        } else {
            axis = GeoPoint(0.0107, 0.0043, 1)
        }
        return cross(axis).normalized
    }
}

/// The shorter arc of a great circle from one point to another, which is not its antipode.
struct GeoArc {
    let from: GeoPoint
    let to: GeoPoint
    /// Of the plane; its length is the sine of the arc's angle.
    let normal: GeoPoint

    init(_ from: GeoPoint, _ to: GeoPoint) {
        self.from = from
        self.to = to
        normal = from.cross(to)
    }

    /// Whether a point lies left of the great circle; on it counts as right.
    @inline(__always)
    func isLeft(_ point: GeoPoint) -> Bool { normal.dot(point) > 0 }

    /// Whether two arcs cross. A corner that lies on the other arc counts for one of the two arcs
    /// that meet in it, so that crossings of a closed line are counted right.
    @inline(__always)
    func crosses(_ other: GeoArc) -> Bool {
        let isToLeft = isLeft(other.to)
        guard isLeft(other.from) != isToLeft else { return false }
        let isFromLeft = other.isLeft(from)
        guard isFromLeft != other.isLeft(to) else { return false }
        // Else they meet on opposite sides of the sphere.
        return isToLeft == isFromLeft
    }

    /// The lowest and highest z of the arc: those of its ends, unless the great circle turns
    /// between them.
    var heights: (low: Double, high: Double) {
        var low = min(from.z, to.z)
        var high = max(from.z, to.z)
        // Where the circle is highest, relative to the plane.
        let top = GeoPoint(
            -normal.x * normal.z, -normal.y * normal.z,
            normal.x * normal.x + normal.y * normal.y)
        let length = top.length
        if length > 0 {
            let peak = top * (1 / length)
            if isBetween(peak) { high = max(high, peak.z) }
            if isBetween(peak * -1) { low = min(low, -peak.z) }
        }
        return (low, high)
    }

    /// Whether a point of the great circle lies on the arc.
    private func isBetween(_ point: GeoPoint) -> Bool {
        from.cross(point).dot(normal) >= 0 && point.cross(to).dot(normal) >= 0
    }
}
