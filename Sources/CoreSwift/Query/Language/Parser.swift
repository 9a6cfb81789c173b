// Text to syntax tree: an operator-precedence parser with its own stacks, so that neither a chain
// of 50,000 terms nor 50,000 parentheses recurse. Only SUBQUERY and functions call the parser
// again, to a bounded depth.
//
// One loop serves predicates and expressions alike, because an opening parenthesis does not tell
// which of both it opens (Y2). Whether a value is a predicate is checked where an operator takes
// it as its operand.

struct Parser {
    let text: QueryText
    var lexer: Lexer
    /// The token looked at.
    var token: Token
    /// Where the token before it ends.
    private(set) var previousEnd: Int32 = 0
    let tree = SyntaxTree()
    private var operators: [Operator] = []
    private var values: [Int32] = []
    /// SUBQUERY and function calls around the current place.
    var depth = 0
    static let depthMax = 100
    /// Names that `$NAME` may have in format strings (X14); the first is argument `variableFirst`.
    private var variables: [String] = []
    private var variableFirst = 0
    /// Variables of the SUBQUERYs around the current place.
    var subqueryVariables: [String] = []
    /// The next name is a SUBQUERY's variable.
    var declaresVariable = false
    /// Off behind `#`: a name that begins with `$` is the property's.
    var namesVariables = true

    /// What is looked at when an operand ends.
    private enum State { case operand, expression, predicate }

    private struct Operator {
        enum Kind: UInt8 {
            case parenthesis, or, and, not, comparison, additive, multiplicative, negation
        }
        var kind: Kind
        /// Comparison: operator; arithmetic: the node's kind.
        var op: UInt8 = 0
        var options: UInt8 = 0
        /// Comparison: an infix NOT stood before it.
        var negated = false
        var start: Int32
        /// AND, OR: operands so far.
        var count: Int32 = 2

        @inline(__always) init(_ kind: Kind, _ start: Int32) {
            self.kind = kind
            self.start = start
        }
    }

    init(_ text: QueryText, _ dialect: QueryDialect) {
        self.text = text
        lexer = Lexer(text, dialect)
        token = Token(.end, 0, 0)
        operators.reserveCapacity(8)
        values.reserveCapacity(8)
    }

    /// The whole query with its suffixes.
    static func parse(
        _ text: QueryText, dialect: QueryDialect = .core, variables: [String] = [],
        argumentCount: Int? = nil
    ) throws(RealmError) -> SyntaxTree {
        var parser = Parser(text, dialect)
        parser.tree.dialect = dialect
        parser.variables = variables
        parser.variableFirst = argumentCount ?? 0
        parser.tree.argumentCount = argumentCount
        try parser.begin()
        if parser.token.kind == .end {
            throw text.syntaxError(at: 0, "the query is empty", expected: "a predicate")
        }
        parser.tree.root = try parser.predicate()
        try parser.suffixes()
        return parser.tree
    }

    /// Reads the first token.
    mutating func begin() throws(RealmError) {
        guard text.count <= QueryText.bytesMax else {
            throw RealmError(
                .invalidQueryString,
                "the query is \(text.count) bytes long, at most \(QueryText.bytesMax) are allowed")
        }
        try advance()
    }

    @inline(__always) mutating func advance() throws(RealmError) {
        previousEnd = token.end
        token = try lexer.next()
        if lexer.dialect == .format, namesVariables, token.kind == .identifier,
            text[Int(token.start)] == UInt8(ascii: "$")
        {
            try substitute()
        }
    }

    /// `$NAME` in a format string: an argument given by name, unless a SUBQUERY has such a variable.
    private mutating func substitute() throws(RealmError) {
        if declaresVariable {
            declaresVariable = false
            return
        }
        let name = text.string(token)
        if subqueryVariables.contains(name) { return }
        guard let index = variables.firstIndex(of: String(name.dropFirst())) else {
            throw RealmError(
                .invalidQueryArg,
                "Invalid predicate: '\(text.string(0, text.count))': the variable '\(name)' at byte "
                    + "\(token.start) is not bound to a value")
        }
        token.kind = .argument
        token.flag = true
        token.payload = UInt64(variableFirst + index)
    }

    mutating func expect(_ kind: TokenKind, _ expected: String) throws(RealmError) {
        guard token.kind == kind else { throw text.syntaxError(token, expected: expected) }
        try advance()
    }

    @inline(__always) mutating func append(_ node: SyntaxNode) -> Int32 {
        tree.nodes.append(node)
        return Int32(truncatingIfNeeded: tree.nodes.count - 1)
    }

    // MARK: The loop

    /// Parses up to what cannot continue a predicate: the end, a suffix, or the parenthesis that
    /// closes a surrounding SUBQUERY or function.
    mutating func predicate() throws(RealmError) -> Int32 {
        try operatorLoop(wantsPredicate: true)
    }

    /// Parses an argument of a function.
    mutating func expression() throws(RealmError) -> Int32 {
        try operatorLoop(wantsPredicate: false)
    }

    private mutating func operatorLoop(wantsPredicate: Bool) throws(RealmError) -> Int32 {
        let base = operators.count
        var state = State.operand
        while true {
            switch state {
            case .operand: state = try operandPosition(base)
            case .expression:
                guard let following = try afterExpression(base, wantsPredicate) else {
                    return values.removeLast()
                }
                state = following
            case .predicate:
                guard let following = try afterPredicate(base) else {
                    return values.removeLast()
                }
                state = following
            }
        }
    }

    private mutating func operandPosition(_ base: Int) throws(RealmError) -> State {
        switch token.kind {
        case .not:
            try requirePredicatePosition(base)
            operators.append(Operator(.not, token.start))
            try advance()
            return .operand
        case .leftParenthesis:
            operators.append(Operator(.parenthesis, token.start))
            try advance()
            return .operand
        case .truePredicate, .falsePredicate:
            try requirePredicatePosition(base)
            let kind: SyntaxKind =
                token.kind == .truePredicate ? .truePredicate : .falsePredicate
            values.append(append(SyntaxNode(kind, token)))
            try advance()
            return .predicate
        case .minus where !isSignOfNumber():
            operators.append(Operator(.negation, token.start))
            try advance()
            return .operand
        case .identifier where try isLooseNot():
            try requirePredicatePosition(base)
            operators.append(Operator(.not, token.start))
            try advance()
            return .operand
        default:
            values.append(try operand())
            return .expression
        }
    }

    /// Whether the identifier is NOT in mixed case (X2): what follows cannot follow a name.
    private func isLooseNot() throws(RealmError) -> Bool {
        guard text.matches(Int(token.start), Int(token.end), ignoringCase: "not") else {
            return false
        }
        var ahead = lexer
        let following = try ahead.next().kind
        if following == .leftParenthesis { return true }
        return try beginsOperand(following, ahead)
    }

    /// A sign that stands directly before a number belongs to it.
    func isSignOfNumber() -> Bool {
        let next = lexer.peek(Int(token.end))
        if Lexer.isDigit(next) || next == UInt8(ascii: ".") { return true }
        guard next | 0x20 == UInt8(ascii: "i") || next | 0x20 == UInt8(ascii: "n") else {
            return false
        }
        var ahead = lexer
        guard let following = try? ahead.next() else { return false }
        return following.start == token.end
            && (following.kind == .infinity || following.kind == .nan)
    }

    /// A predicate may not be the operand of a comparison or of arithmetic.
    private func requirePredicatePosition(_ base: Int) throws(RealmError) {
        if let top = operators.last, operators.count > base,
            top.kind.rawValue >= Operator.Kind.comparison.rawValue
        {
            throw text.syntaxError(token, expected: "a value")
        }
    }

    private mutating func afterExpression(
        _ base: Int, _ wantsPredicate: Bool
    ) throws(RealmError) -> State? {
        switch token.kind {
        case .plus: return try arithmetic(.additive, .add, base)
        case .minus: return try arithmetic(.additive, .subtract, base)
        case .star: return try arithmetic(.multiplicative, .multiply, base)
        case .slash: return try arithmetic(.multiplicative, .divide, base)
        case .equal: return try comparison(.equal, base)
        case .notEqual: return try comparison(.notEqual, base)
        case .less: return try comparison(.less, base)
        case .lessEqual: return try comparison(.lessEqual, base)
        case .greater: return try comparison(.greater, base)
        case .greaterEqual: return try comparison(.greaterEqual, base)
        case .inList: return try comparison(.inList, base)
        case .beginsWith: return try comparison(.beginsWith, base)
        case .endsWith: return try comparison(.endsWith, base)
        case .contains: return try comparison(.contains, base)
        case .like: return try comparison(.like, base)
        case .text: return try comparison(.text, base)
        case .between: return try between(base, negated: false)
        case .geoWithin: return try geoWithin(base)
        case .not: return try infixNot(base)
        case .identifier:
            if text.matches(Int(token.start), Int(token.end), ignoringCase: "matches") {
                return try comparison(.matches, base)
            }
            if text.matches(Int(token.start), Int(token.end), ignoringCase: "in") {
                return try comparison(.inList, base)
            }
            if text.matches(Int(token.start), Int(token.end), ignoringCase: "not") {
                return try infixNot(base)
            }
            if text.matches(Int(token.start), Int(token.end), ignoringCase: "uti"),
                lexer.peek(Int(token.end)) == UInt8(ascii: "-")
            {
                throw text.notInLanguage("UTI-CONFORMS-TO and UTI-EQUALS")
            }
        case .colon where lexer.peek(Int(token.end)) == UInt8(ascii: "="):
            throw text.notInLanguage("the assignment ':='")
        case .rightParenthesis where operators.count > base || depth == 0:
            if let state = try closeParenthesis(base) { return state }
            // The parenthesis belongs to a SUBQUERY or a function around this.
            if wantsPredicate { try requirePredicate() }
            return nil
        default: break
        }
        try reduce(.comparison, base)
        if !wantsPredicate, operators.count == base { return nil }
        try requirePredicate()
        return .predicate
    }

    /// Whether the token can stand behind a whole predicate.
    private var isEnd: Bool {
        switch token.kind {
        case .end, .sort, .distinct, .limit, .offset: return true
        default: return false
        }
    }

    /// Whether the token can stand behind a predicate.
    private var endsPredicate: Bool {
        switch token.kind {
        case .and, .or, .rightParenthesis, .comma: return true
        default: return isEnd
        }
    }

    private mutating func afterPredicate(_ base: Int) throws(RealmError) -> State? {
        switch token.kind {
        case .and: return try connect(.and, base)
        case .or: return try connect(.or, base)
        case .rightParenthesis: return try closeParenthesis(base)
        default:
            try reduce(.or, base)
            if operators.count > base {
                throw text.syntaxError(token, expected: "AND, OR or ')'")
            }
            if depth == 0, !isEnd {
                throw text.syntaxError(
                    token,
                    expected: "AND, OR, SORT, DISTINCT, LIMIT, OFFSET or the end of the query")
            }
            return nil
        }
    }

    private mutating func connect(
        _ kind: Operator.Kind, _ base: Int
    ) throws(RealmError) -> State {
        // Operators that bind more tightly are complete now; one of the same kind goes on.
        try reduce(kind == .and ? .not : .and, base)
        if operators.count > base, operators[operators.count - 1].kind == kind {
            operators[operators.count - 1].count += 1
        } else {
            operators.append(Operator(kind, token.start))
        }
        try advance()
        return .operand
    }

    /// Handles `)`: nil when it closes something outside this loop.
    private mutating func closeParenthesis(_ base: Int) throws(RealmError) -> State? {
        try reduce(.or, base)
        guard operators.count > base else {
            if depth == 0 {
                throw text.syntaxError(
                    token,
                    expected: "AND, OR, SORT, DISTINCT, LIMIT, OFFSET or the end of the query")
            }
            return nil
        }
        let opening = operators.removeLast()
        let isPredicate = tree.nodes[Int(values[values.count - 1])].kind.isPredicate
        if isPredicate, let top = operators.last, operators.count > base,
            top.kind.rawValue >= Operator.Kind.comparison.rawValue
        {
            throw text.syntaxError(
                at: Int(opening.start), "unexpected predicate in parentheses",
                expected: "a value")
        }
        try advance()
        return isPredicate ? .predicate : .expression
    }

    // MARK: Operators

    private mutating func arithmetic(
        _ kind: Operator.Kind, _ node: SyntaxKind, _ base: Int
    ) throws(RealmError) -> State {
        try reduce(kind, base)
        var entry = Operator(kind, token.start)
        entry.op = node.rawValue
        operators.append(entry)
        try advance()
        return .operand
    }

    private mutating func comparison(
        _ op: ComparisonOperator, _ base: Int, negated: Bool = false
    ) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        var entry = Operator(.comparison, token.start)
        entry.op = op.rawValue
        entry.negated = negated
        try advance()
        // TEXT takes no options: the bracket is no operand then.
        if token.kind == .leftBracket, op != .text { entry.options = try options().rawValue }
        if tree.dialect == .format, op.isTextual, op != .matches {
            entry.options |= ComparisonOptions.format.rawValue
        }
        operators.append(entry)
        return .operand
    }

    private func requireNoComparison(_ base: Int) throws(RealmError) {
        if operators.count > base, operators[operators.count - 1].kind == .comparison {
            throw text.syntaxError(
                token, expected: "AND or OR: comparisons do not chain")
        }
    }

    /// `[c]` and its extensions; the opening bracket is the current token.
    private mutating func options() throws(RealmError) -> ComparisonOptions {
        var options: ComparisonOptions = []
        try advance()
        let start = token.start
        while token.kind != .rightBracket {
            guard token.kind == .identifier || token.kind.isName else {
                throw text.syntaxError(token, expected: "one of c, d, n and ']'")
            }
            for offset in Int(token.start)..<Int(token.end) {
                switch text[offset] | 0x20 {
                case UInt8(ascii: "c"): options.insert(.ignoreCase)
                case UInt8(ascii: "d"): options.insert(.ignoreDiacritics)
                case UInt8(ascii: "n"): options.insert(.normalized)
                case UInt8(ascii: "f") where lexer.dialect == .core: options.insert(.format)
                default:
                    let problem = "the comparison option '\(text.string(token))' is unknown"
                    // What NSPredicate has, and this language not, is no error of syntax (X8).
                    guard lexer.dialect == .core else {
                        throw RealmError(
                            .invalidQuery,
                            "Invalid predicate: '\(text.string(0, text.count))': \(problem)")
                    }
                    throw text.syntaxError(at: offset, problem, expected: "c, d or n")
                }
            }
            try advance()
        }
        if token.start == start {
            throw text.syntaxError(token, expected: "one of c, d, n")
        }
        try advance()
        return options
    }

    /// NOT between operand and operator (B9).
    private mutating func infixNot(_ base: Int) throws(RealmError) -> State {
        try advance()
        switch token.kind {
        case .inList: return try comparison(.inList, base, negated: true)
        case .beginsWith: return try comparison(.beginsWith, base, negated: true)
        case .endsWith: return try comparison(.endsWith, base, negated: true)
        case .contains: return try comparison(.contains, base, negated: true)
        case .like: return try comparison(.like, base, negated: true)
        case .between: return try between(base, negated: true)
        case .identifier
        where text.matches(Int(token.start), Int(token.end), ignoringCase: "matches"):
            return try comparison(.matches, base, negated: true)
        default:
            throw text.syntaxError(
                token,
                expected: "IN, BETWEEN, BEGINSWITH, ENDSWITH, CONTAINS, LIKE or MATCHES")
        }
    }

    private mutating func between(_ base: Int, negated: Bool) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        let operand = values.removeLast()
        try advance()
        guard token.kind == .leftBrace || token.kind == .argument || token.kind == .formatArgument
        else { throw text.syntaxError(token, expected: "a list of two values") }
        let range = token.kind == .leftBrace ? try bounds() : try constant()
        var node = SyntaxNode(
            .between, tree.nodes[Int(operand)].start, tree.nodes[Int(range)].end)
        node.a = operand
        node.b = range
        values.append(negate(append(node), negated))
        return .predicate
    }

    /// `{low, high}` of BETWEEN, where each is a constant or an expression (B10); the opening brace
    /// is the current token.
    private mutating func bounds() throws(RealmError) -> Int32 {
        let start = token.start
        try enter()
        try advance()
        var members: [Int32] = []
        while token.kind != .rightBrace {
            let place = Int(token.start)
            let member = try expression()
            if tree.nodes[Int(member)].kind.isPredicate {
                throw text.syntaxError(at: place, "a predicate as a bound", expected: "a value")
            }
            members.append(member)
            guard token.kind == .comma else { break }
            try advance()
            if token.kind == .rightBrace { throw text.syntaxError(token, expected: "a value") }
        }
        try expect(.rightBrace, "',' or '}'")
        depth -= 1
        var node = SyntaxNode(.list, start, previousEnd)
        node.a = Int32(tree.children.count)
        node.b = Int32(members.count)
        tree.children.append(contentsOf: members)
        return append(node)
    }

    private mutating func geoWithin(_ base: Int) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        let operand = values.removeLast()
        guard tree.nodes[Int(operand)].kind == .path else {
            throw text.syntaxError(
                token, expected: "an operator for values; GEOWITHIN needs a path")
        }
        try advance()
        let shape = try geoShape()
        var node = SyntaxNode(
            .geoWithin, tree.nodes[Int(operand)].start, tree.nodes[Int(shape)].end)
        node.a = operand
        node.b = shape
        values.append(append(node))
        return .predicate
    }

    private mutating func negate(_ predicate: Int32, _ negated: Bool) -> Int32 {
        guard negated else { return predicate }
        let inner = tree.nodes[Int(predicate)]
        var node = SyntaxNode(.not, inner.start, inner.end)
        node.a = predicate
        return append(node)
    }

    // MARK: Reducing

    /// Completes all operators down to `level` that were pushed since `base`.
    @inline(__always)
    private mutating func reduce(_ level: Operator.Kind, _ base: Int) throws(RealmError) {
        while operators.count > base, let top = operators.last,
            top.kind.rawValue >= level.rawValue
        {
            try apply(operators.removeLast())
        }
    }

    private mutating func apply(_ entry: Operator) throws(RealmError) {
        switch entry.kind {
        case .negation:
            let operand = values.removeLast()
            var node = SyntaxNode(.negate, entry.start, tree.nodes[Int(operand)].end)
            node.a = operand
            values.append(append(node))
        case .additive, .multiplicative:
            let right = values.removeLast()
            let left = values.removeLast()
            let kind = SyntaxKind(rawValue: entry.op) ?? .add
            var node = SyntaxNode(
                kind, tree.nodes[Int(left)].start, tree.nodes[Int(right)].end)
            node.a = left
            node.b = right
            values.append(append(node))
        case .comparison:
            let right = values.removeLast()
            let left = values.removeLast()
            var node = SyntaxNode(
                .comparison, tree.nodes[Int(left)].start, tree.nodes[Int(right)].end)
            node.op = entry.op
            node.options = entry.options
            node.a = left
            node.b = right
            values.append(negate(append(node), entry.negated))
        case .not:
            try requirePredicate()
            let operand = values.removeLast()
            var node = SyntaxNode(.not, entry.start, tree.nodes[Int(operand)].end)
            node.a = operand
            values.append(append(node))
        case .and, .or:
            try requirePredicate()
            let first = values.count - Int(entry.count)
            var node = SyntaxNode(
                entry.kind == .and ? .and : .or, tree.nodes[Int(values[first])].start,
                tree.nodes[Int(values[values.count - 1])].end)
            node.a = Int32(tree.children.count)
            node.b = entry.count
            tree.children.append(contentsOf: values[first...])
            values.removeLast(Int(entry.count))
            values.append(append(node))
        case .parenthesis:
            throw text.syntaxError(token, expected: "')'")
        }
    }

    /// The last value must be a predicate; a path may stand for one (X11).
    private mutating func requirePredicate() throws(RealmError) {
        let last = values[values.count - 1]
        let node = tree.nodes[Int(last)]
        if node.kind.isPredicate { return }
        guard node.kind == .path, endsPredicate else {
            throw text.syntaxError(token, expected: "a comparison operator")
        }
        var predicate = SyntaxNode(.booleanPath, node.start, node.end)
        predicate.a = last
        values[values.count - 1] = append(predicate)
    }
}
