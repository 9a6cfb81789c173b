// SORT, DISTINCT, LIMIT and OFFSET behind a predicate, the same as texts of their own (the results API
// takes "age ASC, name DESC"), and the shapes of GEOWITHIN.

extension Parser {
    mutating func suffixes() throws(RealmError) {
        while true {
            switch token.kind {
            case .end:
                if tree.formatArguments > 0, tree.hasPositionalArguments {
                    throw text.error(
                        .invalidQueryArg, "$n and % arguments cannot stand in one query")
                }
                return
            case .sort, .distinct:
                let kind: SyntaxSuffix.Kind = token.kind == .sort ? .sort : .distinct
                try advance()
                try expect(.leftParenthesis, "'('")
                try orderingKeys(kind)
                try expect(.rightParenthesis, "',' or ')'")
            case .limit, .offset:
                let kind: SyntaxSuffix.Kind = token.kind == .limit ? .limit : .offset
                try advance()
                try expect(.leftParenthesis, "'('")
                guard
                    token.kind == .integer || token.kind == .argument
                        || token.kind == .formatArgument
                else { throw text.syntaxError(token, expected: "a number that is not negative") }
                tree.suffixes.append(SyntaxSuffix(kind: kind, number: try constant()))
                try expect(.rightParenthesis, "')'")
            default:
                throw text.syntaxError(
                    token, expected: "SORT, DISTINCT, LIMIT, OFFSET or the end of the query")
            }
        }
    }

    /// The text that `Results.sorted` takes, `path DIRECTION, …`, or `Results.distinct`, `path, …`.
    static func orderingDescriptor(
        _ text: QueryText, _ kind: SyntaxSuffix.Kind
    ) throws(RealmError) -> SyntaxTree {
        var parser = Parser(text, .core)
        try parser.begin()
        try parser.orderingKeys(kind, directionRequired: kind == .sort)
        guard parser.token.kind == .end else {
            let end = kind == .sort ? "sort order" : "property list"
            throw text.syntaxError(parser.token, expected: "',' or the end of the \(end)")
        }
        return parser.tree
    }

    private mutating func orderingKeys(
        _ kind: SyntaxSuffix.Kind, directionRequired: Bool = false
    ) throws(RealmError) {
        let first = tree.sortKeys.count
        try separated { parser throws(RealmError) in
            var key = SyntaxSortKey(steps: try parser.pathSteps().range)
            let direction = parser.token
            if kind == .sort, direction.kind == .ascending || direction.kind == .descending {
                key.descending = direction.kind == .descending
                try parser.advance()
            } else if directionRequired {
                throw parser.text.syntaxError(
                    direction, expected: "ASC, ASCENDING, DESC or DESCENDING")
            }
            parser.tree.sortKeys.append(key)
        }
        tree.suffixes.append(SyntaxSuffix(kind: kind, keys: first..<tree.sortKeys.count))
    }

    // MARK: Geographic shapes

    /// The right side of GEOWITHIN.
    mutating func geoShape() throws(RealmError) -> Int32 {
        let kind: SyntaxKind
        switch token.kind {
        case .argument, .formatArgument: return try constant()
        case .geoBox: kind = .geoBox
        case .geoCircle: kind = .geoCircle
        case .geoPolygon: kind = .geoPolygon
        default:
            throw text.syntaxError(token, expected: "geoBox, geoCircle, geoPolygon or an argument")
        }
        var node = SyntaxNode(kind, token)
        var members: [Int32] = []
        try advance()
        try expect(.leftParenthesis, "'('")
        if kind == .geoPolygon {
            try separated { parser throws(RealmError) in members.append(try parser.geoRing()) }
        } else {
            try geoPoint(&members)
            try expect(.comma, "','")
            if kind == .geoBox {
                try geoPoint(&members)
            } else {
                members.append(try coordinate())
            }
        }
        node.end = token.end
        try expect(.rightParenthesis, "')'")
        return tree.add(node, of: members)
    }

    private mutating func geoRing() throws(RealmError) -> Int32 {
        var node = SyntaxNode(.geoRing, token)
        try expect(.leftBrace, "'{'")
        var members: [Int32] = []
        try separated { parser throws(RealmError) in try parser.geoPoint(&members) }
        node.end = token.end
        try expect(.rightBrace, "',' or '}'")
        return tree.add(node, of: members)
    }

    /// `[longitude, latitude, altitude]`: appends two nodes, the altitude is checked and dropped.
    private mutating func geoPoint(_ members: inout [Int32]) throws(RealmError) {
        try expect(.leftBracket, "'['")
        members.append(try coordinate())
        try expect(.comma, "','")
        members.append(try coordinate())
        if token.kind == .comma {
            try advance()
            _ = try coordinate()
        }
        try expect(.rightBracket, "',' or ']'")
    }

    private mutating func coordinate() throws(RealmError) -> Int32 {
        switch token.kind {
        case .integer, .double, .float, .infinity, .argument, .formatArgument:
            return try constant()
        case .plus where isSignOfNumber(), .minus where isSignOfNumber(): return try constant()
        default: throw text.syntaxError(token, expected: "a coordinate")
        }
    }
}
