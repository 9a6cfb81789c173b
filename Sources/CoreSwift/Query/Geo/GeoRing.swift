// A closed line of great-circle arcs that does not cross itself, and the smaller of the two areas
// that it parts (QUERY_RULES G3, G4: a ring larger than a hemisphere is inverted).
//
// Whether a point is inside is found by walking from it to a point beside a known arc and counting
// the arcs crossed on the way: each crossing changes sides.

import CKernels

struct GeoRing {
    let arcs: [GeoArc]
    /// The area inside lies left of the arcs.
    private let isLeftInside: Bool
    /// On the first arc, not in its middle, where maps have corners.
    private let anchor: GeoPoint
    /// A cap that holds the inside; radius in radians, pi when there is none smaller.
    private let center: GeoPoint
    private let radius: Double

    /// Corners, the first not repeated at the end; at least three.
    init(_ corners: [GeoPoint]) {
        var arcs: [GeoArc] = []
        arcs.reserveCapacity(corners.count)
        for index in corners.indices {
            arcs.append(GeoArc(corners[index], corners[(index + 1) % corners.count]))
        }
        self.arcs = arcs
        // The area left of the line is 2 pi minus all turns to the left (Gauss–Bonnet): it is the
        // smaller one when the turns add up to something positive.
        var turns = 0.0
        for index in arcs.indices {
            let next = arcs[(index + 1) % arcs.count]
            let turn = arcs[index].normal.cross(next.normal).dot(next.from)
            turns += ck_atan2(turn, arcs[index].normal.dot(next.normal))
        }
        isLeftInside = turns >= 0
        anchor = (arcs[0].from * 0.58603 + arcs[0].to * 0.41397).normalized
        let sum = corners.reduce(GeoPoint(0, 0, 0)) { $0 + $1 }
        let center = sum.length > 1e-9 ? sum.normalized : GeoPoint(0, 0, 1)
        let reach = corners.reduce(0.0) { max($0, center.angle($1)) }
        self.center = center
        // A cap below a hemisphere holds the arcs between its points, and what is outside of it is
        // more than a hemisphere, so that the smaller area is within.
        radius = reach < .pi / 2 - 1e-6 ? reach + 1e-9 : .pi
    }

    func contains(_ point: GeoPoint) -> Bool {
        if radius < .pi, center.angle(point) > radius { return false }
        // The walk goes round a corner when the anchor is far, because an arc to near the antipode
        // has no certain course, and when it would come along the first arc's great circle, from
        // neither of its sides.
        var crossings = 0
        var start = point
        if point.dot(anchor) < -0.5 || arcs[0].normal.dot(point).magnitude < 1e-9 {
            let corner = anchor.perpendicular
            crossings += count(GeoArc(point, corner), skipsFirst: false)
            start = corner
        }
        crossings += count(GeoArc(start, anchor), skipsFirst: true)
        // The anchor is reached from one side of the first arc.
        let isLeft = arcs[0].isLeft(start) != (crossings % 2 != 0)
        return isLeft == isLeftInside
    }

    private func count(_ walk: GeoArc, skipsFirst: Bool) -> Int {
        var count = 0
        for index in (skipsFirst ? 1 : 0)..<arcs.count where walk.crosses(arcs[index]) {
            count += 1
        }
        return count
    }
}
