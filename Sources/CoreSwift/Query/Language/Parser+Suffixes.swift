// SORT, DISTINCT, LIMIT and OFFSET behind a predicate, the same as texts of their own (the results API
// takes "age ASC, name DESC"), and the shapes of GEOWITHIN.

extension Parser {
    mutating func suffixes() throws(RealmError) {
        while true {
            switch token.kind {
            case .end:
                if tree.formatArguments > 0, tree.hasPositionalArguments {
                    throw RealmError(
                        .invalidQueryArg,
                        "Invalid predicate: '\(text.string(0, text.count))': $n and % arguments "
                            + "cannot stand in one query")
                }
                return
            case .sort:
                try advance()
                try expect(.leftParenthesis, "'('")
                try sortKeys(directionRequired: false)
                try expect(.rightParenthesis, "',' or ')'")
            case .distinct:
                try advance()
                try expect(.leftParenthesis, "'('")
                try distinctKeys()
                try expect(.rightParenthesis, "',' or ')'")
            case .limit, .offset:
                let kind: SyntaxSuffix.Kind = token.kind == .limit ? .limit : .offset
                try advance()
                try expect(.leftParenthesis, "'('")
                guard
                    token.kind == .integer || token.kind == .argument
                        || token.kind == .formatArgument
                else { throw text.syntaxError(token, expected: "a number that is not negative") }
                let number = try constant()
                tree.suffixes.append(SyntaxSuffix(kind: kind, first: number, count: 1))
                try expect(.rightParenthesis, "')'")
            default:
                throw text.syntaxError(
                    token, expected: "SORT, DISTINCT, LIMIT, OFFSET or the end of the query")
            }
        }
    }

    /// The text that `Results.sorted` takes: `path DIRECTION, …`.
    static func sortDescriptor(_ text: QueryText) throws(RealmError) -> SyntaxTree {
        var parser = Parser(text, .core)
        try parser.begin()
        try parser.sortKeys(directionRequired: true)
        guard parser.token.kind == .end else {
            throw text.syntaxError(parser.token, expected: "',' or the end of the sort order")
        }
        return parser.tree
    }

    /// The text that `Results.distinct` takes: `path, …`.
    static func distinctDescriptor(_ text: QueryText) throws(RealmError) -> SyntaxTree {
        var parser = Parser(text, .core)
        try parser.begin()
        try parser.distinctKeys()
        guard parser.token.kind == .end else {
            throw text.syntaxError(parser.token, expected: "',' or the end of the property list")
        }
        return parser.tree
    }

    private mutating func sortKeys(directionRequired: Bool) throws(RealmError) {
        let first = tree.sortKeys.count
        while true {
            var key = try sortKey()
            switch token.kind {
            case .ascending: try advance()
            case .descending:
                key.descending = true
                try advance()
            default:
                if directionRequired {
                    throw text.syntaxError(
                        token, expected: "ASC, ASCENDING, DESC or DESCENDING")
                }
            }
            tree.sortKeys.append(key)
            guard token.kind == .comma else { break }
            try advance()
        }
        tree.suffixes.append(
            SyntaxSuffix(
                kind: .sort, first: Int32(first), count: Int32(tree.sortKeys.count - first)))
    }

    private mutating func distinctKeys() throws(RealmError) {
        let first = tree.sortKeys.count
        while true {
            tree.sortKeys.append(try sortKey())
            guard token.kind == .comma else { break }
            try advance()
        }
        tree.suffixes.append(
            SyntaxSuffix(
                kind: .distinct, first: Int32(first), count: Int32(tree.sortKeys.count - first)))
    }

    private mutating func sortKey() throws(RealmError) -> SyntaxSortKey {
        let start = token.start
        let steps = try pathSteps()
        return SyntaxSortKey(
            first: steps.first, count: steps.count, descending: false, start: start,
            end: steps.end)
    }

    // MARK: Geographic shapes

    /// The right side of GEOWITHIN.
    mutating func geoShape() throws(RealmError) -> Int32 {
        let name = token
        var members: [Int32] = []
        let kind: SyntaxKind
        switch token.kind {
        case .argument, .formatArgument: return try constant()
        case .geoBox:
            kind = .geoBox
            try advance()
            try expect(.leftParenthesis, "'('")
            try geoPoint(&members)
            try expect(.comma, "','")
            try geoPoint(&members)
        case .geoCircle:
            kind = .geoCircle
            try advance()
            try expect(.leftParenthesis, "'('")
            try geoPoint(&members)
            try expect(.comma, "','")
            members.append(try coordinate())
        case .geoPolygon:
            kind = .geoPolygon
            try advance()
            try expect(.leftParenthesis, "'('")
            while true {
                members.append(try geoRing())
                guard token.kind == .comma else { break }
                try advance()
            }
        default:
            throw text.syntaxError(token, expected: "geoBox, geoCircle, geoPolygon or an argument")
        }
        var node = SyntaxNode(kind, name.start, token.end)
        try expect(.rightParenthesis, "')'")
        node.a = Int32(tree.children.count)
        node.b = Int32(members.count)
        tree.children.append(contentsOf: members)
        return append(node)
    }

    private mutating func geoRing() throws(RealmError) -> Int32 {
        let start = token.start
        try expect(.leftBrace, "'{'")
        var members: [Int32] = []
        while true {
            try geoPoint(&members)
            guard token.kind == .comma else { break }
            try advance()
        }
        var node = SyntaxNode(.geoRing, start, token.end)
        try expect(.rightBrace, "',' or '}'")
        node.a = Int32(tree.children.count)
        node.b = Int32(members.count)
        tree.children.append(contentsOf: members)
        return append(node)
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
