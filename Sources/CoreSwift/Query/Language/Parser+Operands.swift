// Operands: constants, lists, paths, aggregates, SUBQUERY, functions (QUERY_RULES Y).

extension Parser {
    private static let operandWords = "a property, a value or '('"

    mutating func operand() throws(RealmError) -> Int32 {
        switch token.kind {
        case .leftBrace: return try list(quantifier: .unspecified)
        case .any: return try quantified(.any)
        case .all: return try quantified(.all)
        case .none: return try quantified(.none)
        case .subquery: return try subquery()
        case .binary where nextIsParenthesis: return try constant()
        case .keyPathArgument, .formatKeyPath, .atLinks, .atKeys, .atValues:
            return try path(.unspecified)
        case .hash: return try path(.unspecified)
        case .identifier:
            if let quantifier = try looseQuantifier() { return try quantified(quantifier) }
            try refuseForeignWord()
            if nextIsParenthesis { return try function() }
            return try path(.unspecified)
        default:
            return token.kind.isName ? try path(.unspecified) : try constant()
        }
    }

    private var nextIsParenthesis: Bool {
        var offset = Int(token.end)
        // NSPredicate prints functions as `name:(…)`.
        if lexer.peek(offset) == UInt8(ascii: ":") { offset += 1 }
        while true {
            switch lexer.peek(offset) {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case let byte: return byte == UInt8(ascii: "(")
            }
        }
    }

    /// Words of NSPredicate that the language leaves out (X15), where no property is meant.
    private func refuseForeignWord() throws(RealmError) {
        if text.matches(token, "anykey") {
            var ahead = lexer
            if try ahead.next().kind == .identifier { throw text.notInLanguage("ANYKEY") }
        } else if nextIsParenthesis {
            if text.matches(token, "function") { throw text.notInLanguage("FUNCTION(…)") }
            let name = token.end - token.start <= 4 ? text.string(token) : ""
            if name == "oid" || name == "uuid" {
                let digits =
                    name == "oid" ? "24 hexadecimal digits" : "8-4-4-4-12 hexadecimal digits"
                throw text.syntaxError(
                    at: Int(token.start), "'\(name)(' without them", expected: digits + " and ')'")
            }
            if text.matches(token, "fetch") { throw text.notInLanguage("FETCH(…)") }
        }
    }

    /// Whether a word begins an operand and cannot follow a name. Of a keyword that may be a name,
    /// what follows says which of the two it is.
    func beginsOperand(_ kind: TokenKind, _ lexer: Lexer) throws(RealmError) -> Bool {
        switch kind {
        case .identifier, .leftBrace, .hash, .argument, .keyPathArgument, .formatArgument,
            .formatKeyPath, .atLinks, .not, .any, .all, .none, .truePredicate, .falsePredicate,
            .subquery, .object:
            return true
        case _ where kind.isConstant: return true
        case _ where kind.isName:
            var ahead = lexer
            let following = try ahead.next().kind
            return following == .dot || following == .inList
                || (kind == .binary && following == .leftParenthesis)
                || (following.rawValue >= TokenKind.equal.rawValue
                    && following.rawValue <= TokenKind.greaterEqual.rawValue)
        default:
            return false
        }
    }

    /// A quantifier in mixed case (X2): an identifier before what cannot follow a name.
    private func looseQuantifier() throws(RealmError) -> Quantifier? {
        let quantifier: Quantifier
        if text.matches(token, "any") || text.matches(token, "some") {
            quantifier = .any
        } else if text.matches(token, "all") {
            quantifier = .all
        } else if text.matches(token, "none") {
            quantifier = .none
        } else {
            return nil
        }
        var ahead = lexer
        return try beginsOperand(try ahead.next().kind, ahead) ? quantifier : nil
    }

    private mutating func quantified(_ quantifier: Quantifier) throws(RealmError) -> Int32 {
        let start = token.start
        try advance()
        switch token.kind {
        case .leftBrace: return try list(quantifier: quantifier)
        case .argument, .formatArgument:
            let node = try constant()
            tree.nodes[Int(node)].quantifier = quantifier
            tree.nodes[Int(node)].start = start
            return node
        case .keyPathArgument, .formatKeyPath, .atLinks, .hash: return try path(quantifier)
        default:
            guard token.kind.isName else {
                throw text.syntaxError(token, expected: "a property, a list or an argument")
            }
            if token.kind == .identifier, nextIsParenthesis {
                let node = try function()
                tree.nodes[Int(node)].quantifier = quantifier
                return node
            }
            let node = try path(quantifier)
            if tree[node].kind == .aggregate {
                throw text.syntaxError(
                    at: Int(start), "'\(quantifier.word)' before an aggregate",
                    expected: "the aggregate alone")
            }
            return node
        }
    }

    // MARK: Constants

    /// A constant or an argument.
    mutating func constant() throws(RealmError) -> Int32 {
        var node = SyntaxNode(.argument, token)
        switch token.kind {
        case .plus, .minus:
            guard isSignOfNumber() else {
                throw text.syntaxError(token, expected: Parser.operandWords)
            }
            let sign = token
            try advance()
            return try number(sign)
        case .integer, .double, .float, .infinity, .nan: return try number()
        case .binary: return try binaryConstant()
        case .object: return try objectConstant()
        case .formatArgument: node.payload = nextFormatArgument()
        case .argument: if !token.isNamed { tree.hasPositionalArguments = true }
        default:
            let truth = token.kind == .identifier ? text.truth(token) : nil
            let kind =
                truth.map { $0 ? SyntaxKind.keywordTrue : .keywordFalse }
                ?? SyntaxKind(constant: token.kind)
            guard let kind else { throw text.syntaxError(token, expected: Parser.operandWords) }
            node.kind = kind
        }
        try advance()
        return tree.add(node)
    }

    /// The place of the next argument that a format string takes.
    private func nextFormatArgument() -> UInt64 {
        defer { tree.formatArguments += 1 }
        return UInt64(tree.formatArguments)
    }

    /// A number, perhaps behind a sign.
    private mutating func number(_ sign: Token? = nil) throws(RealmError) -> Int32 {
        let isNegative = sign?.kind == .minus
        var node = SyntaxNode(.integer, token)
        node.start = sign?.start ?? token.start
        switch token.kind {
        case .integer where token.isExact: node.options = 2
        case .integer:
            let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
            node.options = token.payload > limit ? 1 : 0
            let magnitude = min(token.payload, limit)
            node.payload = isNegative ? 0 &- magnitude : magnitude
        case .double, .nan:
            node.kind = token.kind == .nan ? .nan : .double
            node.payload ^= isNegative ? 1 << 63 : 0
        case .float:
            node.kind = .float
            node.payload ^= isNegative ? 1 << 31 : 0
        case .infinity:
            node.kind = .infinity
            node.payload = (isNegative ? -Double.infinity : Double.infinity).bitPattern
        default: throw text.syntaxError(token, expected: "a number")
        }
        try advance()
        return tree.add(node)
    }

    private mutating func binaryConstant() throws(RealmError) -> Int32 {
        try advance()
        try expect(.leftParenthesis, "'('")
        guard token.kind == .string || token.kind == .base64 else {
            throw text.syntaxError(token, expected: "a string")
        }
        let node = SyntaxNode(.binary, token)
        try advance()
        try expect(.rightParenthesis, "')'")
        return tree.add(node)
    }

    private mutating func objectConstant() throws(RealmError) -> Int32 {
        try advance()
        try expect(.leftParenthesis, "'('")
        guard token.kind == .string else {
            throw text.syntaxError(token, expected: "the name of a class in quotes")
        }
        var node = SyntaxNode(.object, token)
        try advance()
        try expect(.comma, "','")
        switch token.kind {
        case .integer, .plus, .minus, .string, .base64, .uuid, .objectId, .null, .argument,
            .formatArgument:
            node.a = try constant()
        default:
            throw text.syntaxError(token, expected: "a primary key")
        }
        try expect(.rightParenthesis, "')'")
        return tree.add(node)
    }

    /// `{…}`; the opening brace is the current token.
    mutating func list(quantifier: Quantifier) throws(RealmError) -> Int32 {
        var node = SyntaxNode(.list, token)
        node.quantifier = quantifier
        try advance()
        var members: [Int32] = []
        if token.kind != .rightBrace {
            try separated { parser throws(RealmError) in members.append(try parser.constant()) }
        }
        node.end = token.end
        try expect(.rightBrace, "',' or '}'")
        return tree.add(node, of: members)
    }

    // MARK: Functions and subqueries

    /// `name(…)`, an extension (B7).
    private mutating func function() throws(RealmError) -> Int32 {
        let name = token
        // The first argument of TERNARY is a condition.
        let isChoice = text.matches(name, "ternary")
        let firstNode = tree.nodes.count
        try enter()
        try advance()
        if token.kind == .colon { try advance() }
        try expect(.leftParenthesis, "'('")
        var members: [Int32] = []
        if token.kind != .rightParenthesis {
            try separated { parser throws(RealmError) in
                let isCondition = isChoice && members.isEmpty
                members.append(isCondition ? try parser.predicate() : try parser.expression())
            }
        }
        try expect(.rightParenthesis, "',' or ')'")
        depth -= 1
        var node = SyntaxNode(.function, name)
        // Where the nodes of the arguments begin.
        node.extra = Int32(truncatingIfNeeded: firstNode)
        return tree.add(node, of: members)
    }

    mutating func enter() throws(RealmError) {
        guard depth < Parser.depthMax else {
            throw text.syntaxError(
                at: Int(token.start),
                "subqueries and functions are nested more than \(Parser.depthMax) deep")
        }
        depth += 1
    }

    private mutating func subquery() throws(RealmError) -> Int32 {
        let start = token.start
        try enter()
        try advance()
        try expect(.leftParenthesis, "'('")
        let collection = try pathSteps()
        declaresVariable = true
        try expect(.comma, "','")
        declaresVariable = false
        guard token.kind == .identifier, text[Int(token.start)] == UInt8(ascii: "$"),
            token.end - token.start > 1
        else { throw text.syntaxError(token, expected: "a variable such as $x") }
        var subquery = SyntaxSubquery(
            collection: collection.range, variable: token, nodeFirst: Int32(tree.nodes.count))
        subqueryVariables.append(text.string(token))
        try advance()
        try expect(.comma, "','")
        subquery.predicate = try predicate()
        // The variable ends here, before the next token is read.
        subqueryVariables.removeLast()
        try expect(.rightParenthesis, "AND, OR or ')'")
        depth -= 1
        try expect(.dot, "'.@count'")
        var node = SyntaxNode(.subquery, start, token.end)
        guard let ending = ending(), ending != .type else {
            throw text.syntaxError(
                token, expected: "@count, @size, @min, @max, @sum or @avg")
        }
        node.op = ending.rawValue
        try advance()
        if ending != .size { subquery.rest = try namesBehindAggregate() }
        node.a = tree.subqueries.add(subquery)
        return tree.add(node)
    }

    // MARK: Paths

    mutating func path(_ quantifier: Quantifier) throws(RealmError) -> Int32 {
        let start = token.start
        var node = SyntaxNode(.path, start, token.end)
        node.quantifier = quantifier
        let steps = try pathSteps(endings: true)
        node.range = steps.range
        node.end = previousEnd
        node.op = steps.ending.rawValue
        if steps.ending.rawValue >= PathEnding.minimum.rawValue {
            node.kind = .aggregate
            node.extra = Int32(try namesBehindAggregate().count)
        }
        return tree.add(node)
    }

    /// `.name.name` behind an aggregate word.
    private mutating func namesBehindAggregate() throws(RealmError) -> Range<Int> {
        let first = tree.steps.count
        while token.kind == .dot {
            try advance()
            try plainName()
        }
        return first..<tree.steps.count
    }

    /// Reads the steps of a path, with its ending where one is allowed; `previousEnd` is its end then.
    mutating func pathSteps(
        endings: Bool = false
    ) throws(RealmError) -> (range: Range<Int>, ending: PathEnding) {
        let first = tree.steps.count
        var found = PathEnding.value
        try pathName()
        loop: while true {
            switch token.kind {
            case .dot:
                try advance()
                if endings, let ending = ending() {
                    found = ending
                    try advance()
                    break loop
                }
                try pathName()
            case .leftBracket:
                if let ending = try pathIndex(endings) {
                    found = ending
                    break loop
                }
            default: break loop
            }
        }
        return (first..<tree.steps.count, found)
    }

    private func ending() -> PathEnding? {
        token.kind == .atEnding ? PathEnding(rawValue: UInt8(token.payload)) : nil
    }

    /// Whether a token begins the name of a property or class, and is no word with an @.
    private func isPlainName(_ kind: TokenKind) -> Bool {
        kind.isName || kind == .keyPathArgument || kind == .formatKeyPath || kind == .hash
    }

    private mutating func plainName() throws(RealmError) {
        guard isPlainName(token.kind) else {
            throw text.syntaxError(token, expected: "the name of a property")
        }
        try pathName()
    }

    private mutating func pathName() throws(RealmError) {
        switch token.kind {
        case .keyPathArgument:
            var step = PathStep(.keyPathArgument, token)
            step.index = Int64(token.payload)
            tree.steps.append(step)
            tree.hasPositionalArguments = true
        case .formatKeyPath:
            var step = PathStep(.keyPathArgument, token)
            step.index = Int64(nextFormatArgument())
            tree.steps.append(step)
        case .atKeys: tree.steps.append(PathStep(.keys, token))
        case .atValues: tree.steps.append(PathStep(.values, token))
        case .atLinks: return try backlinks()
        case .hash: try escapedName()
        default:
            guard token.kind.isName else {
                throw text.syntaxError(token, expected: "the name of a property")
            }
            tree.steps.append(PathStep(.name, token))
        }
        try advance()
    }

    /// `#word` makes any word a name, `#'text'` any text; the `#` is the current token, and the name
    /// is afterwards.
    private mutating func escapedName() throws(RealmError) {
        let first = lexer.peek(Int(token.end))
        guard Lexer.isNameStart(first) || first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        else {
            throw text.syntaxError(
                token, expected: "a word or a text in quotes directly behind '#'")
        }
        namesVariables = false
        try advance()
        namesVariables = true
        var step = PathStep(.name, token)
        step.isEscaped = true
        tree.steps.append(step)
    }

    /// `@links.Class.property`, or `@links` before `.@count`. A key path argument in the place of the
    /// class may hold the property, too.
    private mutating func backlinks() throws(RealmError) {
        tree.steps.append(PathStep(.allLinks, token))
        try advance()
        var ahead = lexer
        guard token.kind == .dot, isPlainName(try ahead.next().kind) else { return }
        try advance()
        let isArgument = token.kind == .keyPathArgument || token.kind == .formatKeyPath
        try pathName()
        if isArgument { return }
        try expect(.dot, "'.' and the name of a property")
        try plainName()
    }

    /// `[…]` behind a path; the opening bracket is the current token. Returns the ending `[SIZE]`.
    private mutating func pathIndex(_ endings: Bool) throws(RealmError) -> PathEnding? {
        try advance()
        var step = PathStep(.index, token)
        switch token.kind {
        case .integer where !token.isExact: step.index = Int64(clamping: token.payload)
        case .minus:
            try advance()
            guard token.kind == .integer, !token.isExact else {
                throw text.syntaxError(token, expected: "a number")
            }
            step.index =
                token.payload > UInt64(Int64.max) ? .min : -Int64(clamping: token.payload)
            step.end = token.end
        case .first: step.kind = .first
        case .last: step.kind = .last
        case .star: step.kind = .every
        case .string, .base64: step.kind = .key
        case .argument:
            step.kind = .argumentIndex
            step.index = Int64(token.payload)
            if !token.isNamed { tree.hasPositionalArguments = true }
        case .formatArgument, .formatKeyPath:
            step.kind = token.kind == .formatKeyPath ? .nameIndex : .argumentIndex
            step.index = Int64(nextFormatArgument())
        case .hash:
            try advance()
            guard token.kind == .any else { throw text.syntaxError(token, expected: "any") }
            step.kind = .every
        case .size where endings:
            try advance()
            try expect(.rightBracket, "']'")
            return .size
        default:
            throw text.syntaxError(
                token, expected: "a number, FIRST, LAST, SIZE, *, a string or an argument")
        }
        try advance()
        try expect(.rightBracket, "']'")
        tree.steps.append(step)
        return nil
    }
}
