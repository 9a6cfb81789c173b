// A polygon on the sphere with holes, and what must be true of it (QUERY_RULES G4): rings are closed, have
// three corners at least and none twice, cross neither themselves nor each other, share no edges;
// holes lie inside the outer ring.

struct GeoPolygon {
    private let outer: GeoRing
    private let holes: [GeoRing]

    /// Closed lines: the last point of each is its first.
    init(_ lines: [[GeoPoint]]) throws(GeoShape.Problem) {
        var rings: [GeoRing] = []
        for (index, line) in lines.enumerated() {
            rings.append(try Self.ring(line, index == 0 ? "the outer ring" : "hole \(index)"))
        }
        guard let outer = rings.first else {
            throw GeoShape.Problem(reason: "a polygon has at least one ring")
        }
        try Self.checkCrossings(rings)
        self.outer = outer
        holes = Array(rings.dropFirst())
        for (index, hole) in holes.enumerated() {
            // Nothing crosses, so that one point off all corners tells for the whole ring.
            let middle = (hole.arcs[0].from + hole.arcs[0].to).normalized
            guard outer.contains(middle) else {
                throw GeoShape.Problem(reason: "hole \(index + 1) is not inside the outer ring")
            }
        }
    }

    func contains(_ point: GeoPoint) -> Bool {
        outer.contains(point) && !holes.contains { $0.contains(point) }
    }

    // MARK: Checks

    private static func ring(
        _ line: [GeoPoint], _ name: String
    ) throws(GeoShape.Problem) -> GeoRing {
        guard line.count > 1, line.first == line.last else {
            throw GeoShape.Problem(
                reason: "\(name) is not closed: its last point must be its first")
        }
        let corners = line.dropLast()
        guard corners.count >= 3 else {
            throw GeoShape.Problem(reason: "\(name) has fewer than three different corners")
        }
        var seen: Set<[UInt64]> = []
        for (index, corner) in corners.enumerated() {
            // Adding zero makes both zeros one.
            let bits = [corner.x + 0, corner.y + 0, corner.z + 0].map(\.bitPattern)
            guard seen.insert(bits).inserted else {
                throw GeoShape.Problem(reason: "\(name) has its corner \(index) twice")
            }
            let arc = GeoArc(corner, line[index + 1])
            if arc.normal.length < 1e-15 || corner.dot(line[index + 1]) < -1 + 1e-15 {
                throw GeoShape.Problem(
                    reason: "\(name) has neighbouring corners at opposite ends of the earth, or "
                        + "in one place, at \(index)")
            }
        }
        return GeoRing(Array(corners))
    }

    /// One arc of one ring, and between which heights it lies.
    private struct Edge {
        let arc: GeoArc
        let ring: Int
        let low: Double
        let high: Double
    }

    /// Compares edges whose heights overlap: those of a map are short, so that there are few.
    private static func checkCrossings(_ rings: [GeoRing]) throws(GeoShape.Problem) {
        var edges: [Edge] = []
        for (number, ring) in rings.enumerated() {
            for arc in ring.arcs {
                let heights = arc.heights
                edges.append(
                    Edge(arc: arc, ring: number, low: heights.low, high: heights.high))
            }
        }
        edges.sortFew { $0.low < $1.low }
        var open: [Edge] = []
        for edge in edges {
            // Rounding of a few units must not hide a touch.
            open.removeAll { $0.high < edge.low - 1e-12 }
            for other in open { try check(edge, other) }
            open.append(edge)
        }
    }

    private static func check(_ a: Edge, _ b: Edge) throws(GeoShape.Problem) {
        let sharesFrom = a.arc.from == b.arc.from || a.arc.from == b.arc.to
        let sharesTo = a.arc.to == b.arc.from || a.arc.to == b.arc.to
        if sharesFrom && sharesTo {
            throw GeoShape.Problem(reason: "two edges are the same")
        }
        if sharesFrom || sharesTo {
            // Edges that meet in a corner may still lie on each other.
            let corner = sharesFrom ? a.arc.from : a.arc.to
            let first = sharesFrom ? a.arc.to : a.arc.from
            let second = corner == b.arc.from ? b.arc.to : b.arc.from
            let normals = (corner.cross(first), corner.cross(second))
            let product = normals.0.cross(normals.1).length
            if product <= 1e-15 * normals.0.length * normals.1.length,
                normals.0.dot(normals.1) > 0
            {
                throw GeoShape.Problem(reason: "two edges lie on each other")
            }
            return
        }
        if a.arc.crosses(b.arc) {
            throw GeoShape.Problem(
                reason: a.ring == b.ring ? "a ring crosses itself" : "two rings cross")
        }
    }
}
