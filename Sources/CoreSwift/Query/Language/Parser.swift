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
        /// Of the node.
        var op: UInt8 = 0
        var options: UInt8 = 0
        /// Comparison: an infix NOT stood before it.
        var negated = false
        var start: Int32
        /// AND, OR: operands so far.
        var count: Int32 = 2
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
            throw text.error(
                .invalidQueryArg,
                "the variable '\(name)' at byte \(token.start) is not bound to a value")
        }
        token.kind = .argument
        token.isNamed = true
        token.payload = UInt64(variableFirst + index)
    }

    mutating func expect(_ kind: TokenKind, _ expected: String) throws(RealmError) {
        guard token.kind == kind else { throw text.syntaxError(token, expected: expected) }
        try advance()
    }

    private mutating func push(_ node: SyntaxNode) { values.append(tree.add(node)) }

    /// Reads something, and once more behind each comma.
    mutating func separated(
        _ read: (inout Parser) throws(RealmError) -> Void
    ) throws(RealmError) {
        try read(&self)
        while token.kind == .comma {
            try advance()
            try read(&self)
        }
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

    /// Once in the library: it is large, and most of its callers are small.
    @inline(never)
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
        let prefix: Operator.Kind
        switch token.kind {
        case .not: prefix = .not
        case .identifier where try isLooseNot(): prefix = .not
        case .leftParenthesis: prefix = .parenthesis
        case .minus where !isSignOfNumber(): prefix = .negation
        case .truePredicate, .falsePredicate:
            try requirePredicatePosition(base)
            push(
                SyntaxNode(
                    token.kind == .truePredicate ? .truePredicate : .falsePredicate, token))
            try advance()
            return .predicate
        default:
            values.append(try operand())
            return .expression
        }
        if prefix == .not { try requirePredicatePosition(base) }
        operators.append(Operator(kind: prefix, start: token.start))
        try advance()
        return .operand
    }

    /// Whether the identifier is NOT in mixed case (X2): what follows cannot follow a name.
    private func isLooseNot() throws(RealmError) -> Bool {
        guard text.matches(token, "not") else { return false }
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
        if needsValue(base) { throw text.syntaxError(token, expected: "a value") }
    }

    /// Whether the operator at hand is of a comparison or of arithmetic.
    private func needsValue(_ base: Int) -> Bool {
        guard let top = operators.last, operators.count > base else { return false }
        return top.kind.rawValue >= Operator.Kind.comparison.rawValue
    }

    private mutating func afterExpression(
        _ base: Int, _ wantsPredicate: Bool
    ) throws(RealmError) -> State? {
        if let op = comparisonOperator { return try comparison(op, base) }
        switch token.kind {
        case .plus: return try arithmetic(.additive, .add, base)
        case .minus: return try arithmetic(.additive, .subtract, base)
        case .star: return try arithmetic(.multiplicative, .multiply, base)
        case .slash: return try arithmetic(.multiplicative, .divide, base)
        case .between: return try between(base, negated: false)
        case .geoWithin: return try geoWithin(base)
        case .not: return try infixNot(base)
        case .identifier:
            if text.matches(token, "not") { return try infixNot(base) }
            if text.matches(token, "uti"), lexer.peek(Int(token.end)) == UInt8(ascii: "-") {
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

    /// The operator at hand; MATCHES and, in mixed case, IN are no keywords.
    private var comparisonOperator: ComparisonOperator? {
        guard token.kind == .identifier else { return token.kind.comparison }
        return text.matches(token, "matches") ? .matches : text.matches(token, "in") ? .inList : nil
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
            if depth == 0, !isEnd { throw notEnded }
            return nil
        }
    }

    private var notEnded: RealmError {
        text.syntaxError(
            token, expected: "AND, OR, SORT, DISTINCT, LIMIT, OFFSET or the end of the query")
    }

    private mutating func connect(
        _ kind: Operator.Kind, _ base: Int
    ) throws(RealmError) -> State {
        // Operators that bind more tightly are complete now; one of the same kind goes on.
        try reduce(kind == .and ? .not : .and, base)
        if operators.count > base, operators[operators.count - 1].kind == kind {
            operators[operators.count - 1].count += 1
        } else {
            operators.append(Operator(kind: kind, start: token.start))
        }
        try advance()
        return .operand
    }

    /// Handles `)`: nil when it closes something outside this loop.
    private mutating func closeParenthesis(_ base: Int) throws(RealmError) -> State? {
        try reduce(.or, base)
        guard operators.count > base else {
            if depth == 0 { throw notEnded }
            return nil
        }
        let opening = operators.removeLast()
        let isPredicate = tree[values[values.count - 1]].kind.isPredicate
        if isPredicate, needsValue(base) {
            throw text.syntaxError(
                at: Int(opening.start), "unexpected predicate in parentheses",
                expected: "a value")
        }
        try advance()
        return isPredicate ? .predicate : .expression
    }

    // MARK: Operators

    private mutating func arithmetic(
        _ kind: Operator.Kind, _ operation: Predicate.Operation, _ base: Int
    ) throws(RealmError) -> State {
        try reduce(kind, base)
        operators.append(Operator(kind: kind, op: operation.rawValue, start: token.start))
        try advance()
        return .operand
    }

    private mutating func comparison(
        _ op: ComparisonOperator, _ base: Int, negated: Bool = false
    ) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        var entry = Operator(
            kind: .comparison, op: op.rawValue, negated: negated, start: token.start)
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
                    guard lexer.dialect == .core else { throw text.error(.invalidQuery, problem) }
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
        if token.kind == .between { return try between(base, negated: true) }
        guard let op = comparisonOperator, op.isTextual || token.kind == .inList else {
            throw text.syntaxError(
                token,
                expected: "IN, BETWEEN, BEGINSWITH, ENDSWITH, CONTAINS, LIKE or MATCHES")
        }
        return try comparison(op, base, negated: true)
    }

    private mutating func between(_ base: Int, negated: Bool) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        let operand = values.removeLast()
        try advance()
        guard token.kind == .leftBrace || token.kind == .argument || token.kind == .formatArgument
        else { throw text.syntaxError(token, expected: "a list of two values") }
        let range = token.kind == .leftBrace ? try bounds() : try constant()
        push(tree.node(.between, operand, range))
        if negated { negate() }
        return .predicate
    }

    /// `{low, high}` of BETWEEN, where each is a constant or an expression (B10); the opening brace
    /// is the current token.
    private mutating func bounds() throws(RealmError) -> Int32 {
        let start = token.start
        try enter()
        try advance()
        var members: [Int32] = []
        if token.kind != .rightBrace {
            try separated { parser throws(RealmError) in
                let first = parser.token
                if first.kind == .rightBrace {
                    throw parser.text.syntaxError(first, expected: "a value")
                }
                let member = try parser.expression()
                if parser.tree[member].kind.isPredicate {
                    throw parser.text.syntaxError(
                        at: Int(first.start), "a predicate as a bound", expected: "a value")
                }
                members.append(member)
            }
        }
        try expect(.rightBrace, "',' or '}'")
        depth -= 1
        return tree.add(SyntaxNode(.list, start, previousEnd), of: members)
    }

    private mutating func geoWithin(_ base: Int) throws(RealmError) -> State {
        try reduce(.additive, base)
        try requireNoComparison(base)
        let operand = values.removeLast()
        guard tree[operand].kind == .path else {
            throw text.syntaxError(
                token, expected: "an operator for values; GEOWITHIN needs a path")
        }
        try advance()
        push(tree.node(.geoWithin, operand, try geoShape()))
        return .predicate
    }

    /// NOT of the last predicate.
    private mutating func negate() { push(tree.node(.not, values.removeLast())) }

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
        case .negation: push(tree.node(.negate, from: entry.start, values.removeLast()))
        case .additive, .multiplicative, .comparison:
            let right = values.removeLast()
            let kind: SyntaxKind = entry.kind == .comparison ? .comparison : .arithmetic
            var node = tree.node(kind, values.removeLast(), right)
            node.op = entry.op
            node.options = entry.options
            push(node)
            if entry.negated { negate() }
        case .not:
            try requirePredicate()
            push(tree.node(.not, from: entry.start, values.removeLast()))
        case .and, .or:
            try requirePredicate()
            let first = values.count - Int(entry.count)
            let node = SyntaxNode(
                entry.kind == .and ? .and : .or, tree[values[first]].start,
                tree[values[values.count - 1]].end)
            let made = tree.add(node, of: values[first...])
            values.removeLast(Int(entry.count))
            values.append(made)
        case .parenthesis:
            throw text.syntaxError(token, expected: "')'")
        }
    }

    /// The last value must be a predicate; a path may stand for one (X11).
    private mutating func requirePredicate() throws(RealmError) {
        let kind = tree[values[values.count - 1]].kind
        if kind.isPredicate { return }
        guard kind == .path, endsPredicate else {
            throw text.syntaxError(token, expected: "a comparison operator")
        }
        push(tree.node(.booleanPath, values.removeLast()))
    }
}
