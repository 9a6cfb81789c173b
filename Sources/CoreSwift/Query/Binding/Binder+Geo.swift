// GEOWITHIN: what stands on its two sides (QUERY_RULES G1–G6).

extension Binder {
    mutating func bindGeoWithin(_ node: SyntaxNode) throws(RealmError) -> Int32 {
        var operand = try operand(node.a)
        guard operand.kind == .link,
            let target = schema.classes.first(where: { $0.key == operand.linkClass }),
            target.kind == .embedded, let type = target.property(named: "type"),
            type.type == .string,
            type.collection == .none, let coordinates = target.property(named: "coordinates"),
            coordinates.type == .double, coordinates.collection == .list
        else {
            throw invalidQuery(
                "GEOWITHIN needs links to an embedded class with a string 'type' and a list of "
                    + "doubles 'coordinates'; '\(spelling(node.a))' is none")
        }
        try checkQuantifier(operand)
        var test = ExpressionTest()
        test.kind = .geoWithin
        test.left = side(&operand)
        test.right.first = Int32(filter.shapes.count)
        filter.shapes.append(
            GeoCondition(
                shape: try shape(node.b), typeColumn: Int32(type.key.column),
                coordinatesColumn: Int32(coordinates.key.column)))
        return add(test)
    }

    private func shape(_ index: Int32) throws(RealmError) -> GeoShape {
        let node = syntax(index)
        guard node.kind == .argument else {
            return try shape(tree, index, spelling(node), argumentsAllowed: true)
        }
        let token = spelling(node)
        guard case .scalar(.string(let spelled)) = try argument(Int64(node.payload), token)
        else {
            throw invalidQuery(
                "GEOWITHIN needs a geoBox, geoCircle or geoPolygon, or a string that holds one; "
                    + "argument \(token) is none")
        }
        // One byte more, so that an empty text has an address.
        let bytes = Array(spelled.utf8) + [0]
        return try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            guard let base = buffer.baseAddress else { throw invalidQuery("no shape") }
            var parser = Parser(QueryText(base: base, count: buffer.count - 1), .core)
            try parser.begin()
            let root = try parser.geoShape()
            guard parser.token.kind == .end else {
                throw parser.text.syntaxError(parser.token, expected: "the end of the shape")
            }
            return try shape(parser.tree, root, spelled, argumentsAllowed: false)
        }
    }

    private func shape(
        _ source: SyntaxTree, _ index: Int32, _ spelled: String, argumentsAllowed: Bool
    ) throws(RealmError) -> GeoShape {
        func children(_ node: SyntaxNode) -> ArraySlice<Int32> {
            source.children[Int(node.a)..<Int(node.a + node.b)]
        }
        func numbers(_ node: SyntaxNode) throws(RealmError) -> [Double] {
            var numbers: [Double] = []
            for child in children(node) {
                let item = source.nodes[Int(child)]
                if item.kind == .argument, !argumentsAllowed {
                    throw invalidQuery(
                        "the shape '\(spelled)' is an argument and cannot have arguments itself")
                }
                numbers.append(try coordinate(item))
            }
            return numbers
        }
        let node = source.nodes[Int(index)]
        do throws(GeoShape.Problem) {
            switch node.kind {
            case .geoBox, .geoCircle:
                let numbers = try catching { () throws(RealmError) in try numbers(node) }
                if node.kind == .geoCircle {
                    return try GeoShape.circle((numbers[0], numbers[1]), radius: numbers[2])
                }
                return try GeoShape.box((numbers[0], numbers[1]), (numbers[2], numbers[3]))
            default:
                var rings: [[GeoShape.Place]] = []
                for ring in children(node) {
                    let numbers = try catching { () throws(RealmError) in
                        try numbers(source.nodes[Int(ring)])
                    }
                    rings.append(
                        stride(from: 0, to: numbers.count - 1, by: 2).map {
                            (numbers[$0], numbers[$0 + 1])
                        })
                }
                return try GeoShape.polygon(rings)
            }
        } catch {
            throw error.cause ?? invalidArgument("the shape '\(spelled)': \(error.reason)")
        }
    }

    /// Lets an error of another kind through a block that throws `GeoShape.Problem`.
    private func catching<R>(
        _ body: () throws(RealmError) -> R
    ) throws(GeoShape.Problem) -> R {
        do throws(RealmError) {
            return try body()
        } catch {
            throw GeoShape.Problem(reason: error.message, cause: error)
        }
    }

    /// A literal, or the number that an argument is.
    private func coordinate(_ node: SyntaxNode) throws(RealmError) -> Double {
        switch node.kind {
        case .integer: return Double(Int64(bitPattern: node.payload))
        case .double, .infinity: return Double(bitPattern: node.payload)
        case .float:
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: node.payload)))
        case .argument:
            let token = spelling(node)
            guard case .scalar(let value) = try argument(Int64(node.payload), token),
                let number = NumberFunctions.double(BoundConstant(value: value).raw)
            else { throw invalidQuery("the coordinate \(token) is no number") }
            return number
        default: throw invalidQuery("'\(spelling(node))' is no coordinate")
        }
    }
}
