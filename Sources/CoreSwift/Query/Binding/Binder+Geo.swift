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
        return try QueryText.with(Array(spelled.utf8)) { text throws(RealmError) in
            var parser = Parser(text, .core)
            try parser.begin()
            let root = try parser.geoShape()
            guard parser.token.kind == .end else {
                throw text.syntaxError(parser.token, expected: "the end of the shape")
            }
            return try shape(parser.tree, root, spelled, argumentsAllowed: false)
        }
    }

    private func shape(
        _ source: SyntaxTree, _ index: Int32, _ spelled: String, argumentsAllowed: Bool
    ) throws(RealmError) -> GeoShape {
        func numbers(_ node: SyntaxNode) throws(RealmError) -> [Double] {
            try source.members(node).map { child throws(RealmError) in
                if source[child].kind == .argument, !argumentsAllowed {
                    throw invalidQuery(
                        "the shape '\(spelled)' is an argument and cannot have arguments itself")
                }
                return try coordinate(source[child])
            }
        }
        let node = source[index]
        let lines =
            node.kind == .geoPolygon
            ? try source.members(node).map { ring throws(RealmError) in try numbers(source[ring]) }
            : [try numbers(node)]
        do throws(GeoShape.Problem) {
            let values = lines[0]
            switch node.kind {
            case .geoCircle: return try GeoShape.circle((values[0], values[1]), radius: values[2])
            case .geoBox:
                return try GeoShape.box((values[0], values[1]), (values[2], values[3]))
            default:
                return try GeoShape.polygon(
                    lines.map { line in
                        stride(from: 0, to: line.count - 1, by: 2).map { (line[$0], line[$0 + 1]) }
                    })
            }
        } catch {
            throw invalidArgument("the shape '\(spelled)': \(error.reason)")
        }
    }

    /// A literal, or the number that an argument is.
    private func coordinate(_ node: SyntaxNode) throws(RealmError) -> Double {
        switch node.kind {
        case .integer: return Double(Int64(bitPattern: node.payload))
        case .double, .infinity: return node.double
        case .float: return Double(node.float)
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
