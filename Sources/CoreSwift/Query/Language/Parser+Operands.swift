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
        let start = Int(token.start)
        let end = Int(token.end)
        if text.matches(start, end, ignoringCase: "anykey") {
            var ahead = lexer
            if try ahead.next().kind == .identifier { throw text.notInLanguage("ANYKEY") }
        } else if nextIsParenthesis {
            if text.matches(start, end, ignoringCase: "function") {
                throw text.notInLanguage("FUNCTION(…)")
            }
            let name = end - start <= 4 ? text.string(token) : ""
            if name == "oid" || name == "uuid" {
                let digits =
                    name == "oid" ? "24 hexadecimal digits" : "8-4-4-4-12 hexadecimal digits"
                throw text.syntaxError(
                    at: start, "'\(name)(' without them", expected: digits + " and ')'")
            }
            if text.matches(start, end, ignoringCase: "fetch") {
                throw text.notInLanguage("FETCH(…)")
            }
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
        case _
        where kind.rawValue >= TokenKind.integer.rawValue
            && kind.rawValue <= TokenKind.null.rawValue:
            return true
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
        let start = Int(token.start)
        let end = Int(token.end)
        guard end - start == 3 || end - start == 4 else { return nil }
        let quantifier: Quantifier
        if text.matches(start, end, ignoringCase: "any")
            || text.matches(start, end, ignoringCase: "some")
        {
            quantifier = .any
        } else if text.matches(start, end, ignoringCase: "all") {
            quantifier = .all
        } else if text.matches(start, end, ignoringCase: "none") {
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
            if tree.nodes[Int(node)].kind == .aggregate {
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
        let current = token
        let kind: SyntaxKind
        switch current.kind {
        case .plus, .minus:
            guard isSignOfNumber() else {
                throw text.syntaxError(current, expected: Parser.operandWords)
            }
            try advance()
            return try signed(current)
        case .integer:
            var node = SyntaxNode(.integer, current)
            if current.isExact {
                node.options = 2
            } else {
                node.payload = UInt64(Int64(clamping: current.payload))
                node.options = current.payload > UInt64(Int64.max) ? 1 : 0
            }
            try advance()
            return append(node)
        case .infinity:
            var node = SyntaxNode(.infinity, current)
            node.payload = Double.infinity.bitPattern
            try advance()
            return append(node)
        case .formatArgument:
            var node = SyntaxNode(.argument, current)
            node.payload = UInt64(tree.formatArguments)
            tree.formatArguments += 1
            try advance()
            return append(node)
        case .argument:
            if !current.flag { tree.hasPositionalArguments = true }
            kind = .argument
        case .double: kind = .double
        case .float: kind = .float
        case .decimal: kind = .decimal
        case .nan: kind = .nan
        case .string: kind = .string
        case .base64: kind = .base64
        case .date: kind = .date
        case .uuid: kind = .uuid
        case .objectId: kind = .objectId
        case .objectKey: kind = .objectKey
        case .typedLink: kind = .typedLink
        case .identifier where isWord(current, "true", "yes"): kind = .keywordTrue
        case .identifier where isWord(current, "false", "no"): kind = .keywordFalse
        case .keywordTrue: kind = .keywordTrue
        case .keywordFalse: kind = .keywordFalse
        case .null: kind = .null
        case .binary: return try binaryConstant()
        case .object: return try objectConstant()
        default: throw text.syntaxError(current, expected: Parser.operandWords)
        }
        try advance()
        return append(SyntaxNode(kind, current))
    }

    /// The number behind a sign.
    private mutating func signed(_ sign: Token) throws(RealmError) -> Int32 {
        let negative = sign.kind == .minus
        let kind: SyntaxKind
        switch token.kind {
        case .integer: kind = .integer
        case .double: kind = .double
        case .float: kind = .float
        case .infinity: kind = .infinity
        case .nan: kind = .nan
        default: throw text.syntaxError(token, expected: "a number")
        }
        var node = SyntaxNode(kind, token)
        node.start = sign.start
        switch kind {
        case .integer:
            let limit = UInt64(Int64.max) + (negative ? 1 : 0)
            node.options = token.payload > limit ? 1 : 0
            let magnitude = min(token.payload, limit)
            node.payload = negative ? 0 &- magnitude : magnitude
        case .float: node.payload ^= negative ? 1 << 31 : 0
        case .infinity:
            node.payload = (negative ? -Double.infinity : Double.infinity).bitPattern
        default: node.payload ^= negative ? 1 << 63 : 0
        }
        try advance()
        return append(node)
    }

    private mutating func binaryConstant() throws(RealmError) -> Int32 {
        try advance()
        try expect(.leftParenthesis, "'('")
        guard token.kind == .string || token.kind == .base64 else {
            throw text.syntaxError(token, expected: "a string")
        }
        var node = SyntaxNode(.binary, token)
        if token.kind == .base64 { node.options |= 2 }
        try advance()
        try expect(.rightParenthesis, "')'")
        return append(node)
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
        return append(node)
    }

    /// Whether a token is one of two words in any case: Booleans where no name can stand (X2).
    private func isWord(_ token: Token, _ first: StaticString, _ second: StaticString) -> Bool {
        let start = Int(token.start)
        let end = Int(token.end)
        return text.matches(start, end, ignoringCase: first)
            || text.matches(start, end, ignoringCase: second)
    }

    /// `{…}`; the opening brace is the current token.
    mutating func list(quantifier: Quantifier) throws(RealmError) -> Int32 {
        let start = token.start
        try advance()
        var members: [Int32] = []
        if token.kind != .rightBrace {
            while true {
                members.append(try constant())
                guard token.kind == .comma else { break }
                try advance()
            }
        }
        guard token.kind == .rightBrace else {
            throw text.syntaxError(token, expected: "',' or '}'")
        }
        var node = SyntaxNode(.list, start, token.end)
        try advance()
        node.quantifier = quantifier
        node.a = Int32(tree.children.count)
        node.b = Int32(members.count)
        tree.children.append(contentsOf: members)
        return append(node)
    }

    // MARK: Functions and subqueries

    /// `name(…)`, an extension (B7).
    private mutating func function() throws(RealmError) -> Int32 {
        let name = token
        // The first argument of TERNARY is a condition.
        let isChoice = text.matches(
            Int(name.start), Int(name.end), ignoringCase: "ternary")
        let firstNode = tree.nodes.count
        try enter()
        try advance()
        if token.kind == .colon { try advance() }
        try expect(.leftParenthesis, "'('")
        var members: [Int32] = []
        if token.kind != .rightParenthesis {
            while true {
                let isCondition = isChoice && members.isEmpty
                members.append(isCondition ? try predicate() : try expression())
                guard token.kind == .comma else { break }
                try advance()
            }
        }
        try expect(.rightParenthesis, "',' or ')'")
        depth -= 1
        var node = SyntaxNode(.function, name)
        // Where the nodes of the arguments begin.
        node.extra = Int32(truncatingIfNeeded: firstNode)
        node.a = Int32(tree.children.count)
        node.b = Int32(members.count)
        tree.children.append(contentsOf: members)
        return append(node)
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
            first: collection.first, count: collection.count, variableStart: token.start,
            variableEnd: token.end, nodeFirst: Int32(tree.nodes.count), predicate: 0)
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
        switch token.kind {
        case .atCount, .atSize: node.op = PathEnding.size.rawValue
        case .atMin: node.op = PathEnding.minimum.rawValue
        case .atMax: node.op = PathEnding.maximum.rawValue
        case .atSum: node.op = PathEnding.sum.rawValue
        case .atAvg: node.op = PathEnding.average.rawValue
        default:
            throw text.syntaxError(
                token, expected: "@count, @size, @min, @max, @sum or @avg")
        }
        node.end = token.end
        try advance()
        if node.op != PathEnding.size.rawValue {
            let rest = try namesBehindAggregate()
            subquery.restFirst = rest.first
            subquery.restCount = rest.count
        }
        node.a = Int32(tree.subqueries.count)
        tree.subqueries.append(subquery)
        return append(node)
    }

    // MARK: Paths

    mutating func path(_ quantifier: Quantifier) throws(RealmError) -> Int32 {
        let start = token.start
        var node = SyntaxNode(.path, start, token.end)
        node.quantifier = quantifier
        let steps = try pathSteps(endings: true)
        node.a = steps.first
        node.b = steps.count
        node.end = steps.end
        node.op = steps.ending.rawValue
        if steps.ending.rawValue >= PathEnding.minimum.rawValue {
            node.kind = .aggregate
            let rest = try namesBehindAggregate()
            node.extra = rest.count
        }
        return append(node)
    }

    /// `.name.name` behind an aggregate word.
    private mutating func namesBehindAggregate() throws(RealmError) -> (first: Int32, count: Int32)
    {
        let first = tree.steps.count
        while token.kind == .dot {
            try advance()
            guard isPlainName(token.kind) else {
                throw text.syntaxError(token, expected: "the name of a property")
            }
            try pathName()
        }
        return (Int32(first), Int32(tree.steps.count - first))
    }

    struct Steps {
        var first: Int32
        var count: Int32
        var end: Int32
        var ending: PathEnding
    }

    /// Reads the steps of a path, with its ending where one is allowed.
    mutating func pathSteps(endings: Bool = false) throws(RealmError) -> Steps {
        var steps = Steps(
            first: Int32(tree.steps.count), count: 0, end: token.end, ending: .value)
        try pathName()
        loop: while true {
            switch token.kind {
            case .dot:
                try advance()
                if endings, let ending = ending() {
                    steps.ending = ending
                    try advance()
                    break loop
                }
                try pathName()
            case .leftBracket:
                if let ending = try pathIndex(endings) {
                    steps.ending = ending
                    break loop
                }
            default: break loop
            }
        }
        steps.count = Int32(tree.steps.count) - steps.first
        steps.end = previousEnd
        return steps
    }

    private func ending() -> PathEnding? {
        switch token.kind {
        case .atCount, .atSize: return .size
        case .atType: return .type
        case .atMin: return .minimum
        case .atMax: return .maximum
        case .atSum: return .sum
        case .atAvg: return .average
        default: return nil
        }
    }

    /// Whether a token begins the name of a property or class, and is no word with an @.
    private func isPlainName(_ kind: TokenKind) -> Bool {
        kind.isName || kind == .keyPathArgument || kind == .formatKeyPath || kind == .hash
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
            step.index = Int64(tree.formatArguments)
            tree.formatArguments += 1
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
        guard isPlainName(token.kind) else {
            throw text.syntaxError(token, expected: "the name of a property")
        }
        try pathName()
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
            if !token.flag { tree.hasPositionalArguments = true }
        case .formatArgument, .formatKeyPath:
            step.kind = token.kind == .formatKeyPath ? .nameIndex : .argumentIndex
            step.index = Int64(tree.formatArguments)
            tree.formatArguments += 1
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
