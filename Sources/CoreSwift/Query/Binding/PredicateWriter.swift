// From a `Predicate` to the tree that the parser makes of texts. Beside the nodes it writes how they would be
// spelled: names are places in that text, and messages quote it.

struct PredicateWriter {
    private(set) var text: [UInt8] = []
    private(set) var arguments: [QueryArgument] = []
    let tree = SyntaxTree()
    private var depth = 0
    /// So deep may predicates and operands stand in one another: they are gone through by recursion.
    static let depthMax = 1000

    /// `dialect`: what operators mean (QUERY_RULES X).
    init(_ predicate: Predicate, _ dialect: QueryDialect) throws(RealmError) {
        tree.dialect = dialect
        tree.hasPositionalArguments = true
        text.reserveCapacity(120)
        arguments.reserveCapacity(2)
        tree.root = try write(predicate)
        guard text.count <= QueryText.bytesMax else { throw refused("it is too long") }
    }

    private func refused(_ problem: String) -> RealmError {
        RealmError(.invalidQuery, "Invalid predicate: \(problem)")
    }

    private var here: Int32 { Int32(truncatingIfNeeded: text.count) }

    private mutating func put(_ spelling: String) { text.append(contentsOf: spelling.utf8) }

    private mutating func enter() throws(RealmError) {
        guard depth < Self.depthMax else {
            throw refused("its parts stand in one another more than \(Self.depthMax) deep")
        }
        depth += 1
    }

    /// A node that ends here.
    private func closed(_ node: SyntaxNode, of children: [Int32] = []) -> Int32 {
        var node = node
        node.end = here
        return children.isEmpty ? tree.add(node) : tree.add(node, of: children)
    }

    // MARK: Predicates

    private mutating func write(_ predicate: Predicate) throws(RealmError) -> Int32 {
        try enter()
        defer { depth -= 1 }
        var node = SyntaxNode(.not, here, here)
        switch predicate {
        case .always(let value):
            put(value ? "TRUEPREDICATE" : "FALSEPREDICATE")
            node.kind = value ? .truePredicate : .falsePredicate
        case .all(let parts): return try write(parts, .and)
        case .any(let parts): return try write(parts, .or)
        case .not(let inner):
            put("!(")
            node.a = try write(inner)
            put(")")
        case .compare(let left, let op, let right, let options):
            node.kind = .comparison
            node.op = op.rawValue
            var options = op == .text ? [] : options
            node.a = try write(left)
            put(" \(op.spelling)\(options.spelling) ")
            if tree.dialect == .format, op.isTextual, op != .matches { options.insert(.format) }
            node.options = options.rawValue
            node.b = try write(right)
        case .between(let value, let low, let high):
            node.kind = .between
            node.a = try write(value)
            put(" BETWEEN ")
            let list = SyntaxNode(.list, here, here)
            put("{")
            let bounds = try write([low, high])
            put("}")
            node.b = closed(list, of: bounds)
        case .holds(let operand):
            node.kind = .booleanPath
            node.a = try write(operand)
        case .within(let path, let shape):
            node.kind = .geoWithin
            node.a = try write(path, .unspecified)
            put(" GEOWITHIN ")
            node.b = argument(.scalar(.string(shape)), .unspecified)
        }
        return closed(node)
    }

    /// The parts of an AND or OR, those of chains of its kind in it among them.
    private mutating func write(
        _ parts: [Predicate], _ kind: SyntaxKind
    ) throws(RealmError) -> Int32 {
        var node = SyntaxNode(kind, here, here)
        var children: [Int32] = []
        // Programs join condition by condition: such chains are as deep as they are long.
        var work = Array(parts.reversed())
        put("(")
        while let part = work.popLast() {
            switch (part, kind) {
            case (.all(let inner), .and), (.any(let inner), .or):
                if !inner.isEmpty {
                    work.append(contentsOf: inner.reversed())
                    continue
                }
            default: break
            }
            if !children.isEmpty { put(kind == .and ? " and " : " or ") }
            children.append(try write(part))
        }
        put(")")
        switch children.count {
        case 0: node.kind = kind == .and ? .truePredicate : .falsePredicate
        case 1: return children[0]
        default: break
        }
        return closed(node, of: children)
    }

    // MARK: Operands

    private mutating func write(_ operand: Predicate.Operand) throws(RealmError) -> Int32 {
        try enter()
        defer { depth -= 1 }
        var node = SyntaxNode(.negate, here, here)
        switch operand {
        case .value(let value): return argument(.scalar(value), .unspecified)
        case .values(let values, let quantifier): return argument(.list(values), quantifier)
        case .path(let path, let quantifier): return try write(path, quantifier)
        case .aggregate(let path, let aggregate, let names):
            guard aggregate != .count else {
                try checkCount(names)
                return try write(Predicate.Path(path.steps, .count), .unspecified)
            }
            node.kind = .aggregate
            node.range = try steps(path.steps)
            put("." + aggregate.ending.spelling)
            node.op = aggregate.ending.rawValue
            node.extra = Int32(self.names(names).count)
        case .matching(let path, let variable, let condition, let aggregate, let names):
            node.kind = .subquery
            try writeSubquery(&node, path, variable, condition, aggregate, names)
        case .call(let name, let operands): return try call(name, operands)
        case .choose(let condition, let first, let second):
            return try call("TERNARY", if: condition, [first, second])
        case .arithmetic(let left, let operation, let right):
            node.kind = .arithmetic
            node.op = operation.rawValue
            put("(")
            node.a = try write(left)
            put(" \(operation.sign) ")
            node.b = try write(right)
            put(")")
        case .negated(let inner):
            put("-(")
            node.a = try write(inner)
            put(")")
        }
        return closed(node)
    }

    /// Operands with commas between them.
    private mutating func write(
        _ operands: [Predicate.Operand]
    ) throws(RealmError) -> [Int32] {
        var children: [Int32] = []
        for operand in operands {
            if !children.isEmpty { put(", ") }
            children.append(try write(operand))
        }
        return children
    }

    /// Members are counted, not values of a property of theirs.
    private func checkCount(_ names: [String]) throws(RealmError) {
        guard names.isEmpty else {
            throw refused(
                "a count is of no property, but '\(names.joined(separator: "."))' is named")
        }
    }

    private mutating func argument(_ value: QueryArgument, _ quantifier: Quantifier) -> Int32 {
        var node = SyntaxNode(.argument, here, here)
        node.quantifier = quantifier
        node.payload = UInt64(arguments.count)
        put(quantifier.prefix + "$\(arguments.count)")
        arguments.append(value)
        return closed(node)
    }

    private mutating func call(
        _ name: String, if condition: Predicate? = nil, _ operands: [Predicate.Operand]
    ) throws(RealmError) -> Int32 {
        var node = SyntaxNode(.function, here, here)
        // Where the nodes of the operands begin.
        node.extra = Int32(truncatingIfNeeded: tree.nodes.count)
        put(name)
        node.end = here
        put("(")
        var children: [Int32] = []
        if let condition {
            children.append(try write(condition))
            put(", ")
        }
        children += try write(operands)
        put(")")
        return tree.add(node, of: children)
    }

    private mutating func writeSubquery(
        _ node: inout SyntaxNode, _ path: Predicate.Path, _ variable: String,
        _ condition: Predicate, _ aggregate: Predicate.AggregateFunction, _ rest: [String]
    ) throws(RealmError) {
        if aggregate == .count { try checkCount(rest) }
        put("SUBQUERY(")
        let collection = try steps(path.steps)
        put(", ")
        let start = text.count
        put("$" + variable)
        var subquery = SyntaxSubquery(
            collection: collection, variable: Token(.identifier, start, text.count),
            nodeFirst: Int32(truncatingIfNeeded: tree.nodes.count))
        put(", ")
        subquery.predicate = try write(condition)
        put(").")
        put(aggregate == .count ? "@count" : aggregate.ending.spelling)
        node.op = aggregate.ending.rawValue
        if aggregate != .count { subquery.rest = names(rest) }
        node.a = tree.subqueries.add(subquery)
    }

    // MARK: Paths

    private mutating func write(
        _ path: Predicate.Path, _ quantifier: Quantifier
    ) throws(RealmError) -> Int32 {
        var node = SyntaxNode(.path, here, here)
        node.quantifier = quantifier
        put(quantifier.prefix)
        node.range = try steps(path.steps)
        switch path.ending {
        case .value: break
        case .count:
            node.op = PathEnding.size.rawValue
            put(".@count")
        case .type:
            node.op = PathEnding.type.rawValue
            put(".@type")
        }
        return closed(node)
    }

    private mutating func steps(
        _ steps: [Predicate.Path.Step]
    ) throws(RealmError) -> Range<Int> {
        let first = tree.steps.count
        if steps.isEmpty { throw refused("a path has no steps") }
        for (place, step) in steps.enumerated() {
            let isIndex = step.isIndex
            if isIndex { put("[") } else if place > 0 { put(".") }
            switch step {
            case .name(let name): putName(name)
            case .itself, .variable:
                guard place == 0 else { throw refused("a variable is the first step of a path") }
                if case .variable(let name) = step {
                    word(.name, "$" + name)
                } else {
                    word(.name, "SELF")
                }
            case .index(let index):
                word(.index, "\(index)")
                tree.steps[tree.steps.count - 1].index = index
            case .key(let key): word(.key, CanonicalText.key(Array(key.utf8)))
            case .elements: word(.every, "*")
            case .keys: word(.keys, "@keys")
            case .values: word(.values, "@values")
            case .allBacklinks: word(.allLinks, "@links")
            case .backlinks(let name, let property):
                word(.allLinks, "@links")
                put(".")
                putName(name)
                put(".")
                putName(property)
            }
            if isIndex { put("]") }
        }
        return first..<tree.steps.count
    }

    /// Names behind an aggregate word.
    private mutating func names(_ names: [String]) -> Range<Int> {
        let first = tree.steps.count
        for name in names {
            put(".")
            putName(name)
        }
        return first..<tree.steps.count
    }

    /// A step that is spelled so.
    private mutating func word(_ kind: PathStepKind, _ spelling: String) {
        let start = text.count
        put(spelling)
        tree.steps.append(PathStep(kind, Token(.identifier, start, text.count)))
    }

    /// The name of a property or class, any text: in quotes behind `#` where it is no word.
    private mutating func putName(_ name: String) {
        let spelled = CanonicalText.name(name)
        let isEscaped = spelled.utf8.first == UInt8(ascii: "#")
        if isEscaped { put("#") }
        word(.name, isEscaped ? String(spelled.dropFirst()) : spelled)
        tree.steps[tree.steps.count - 1].isEscaped = isEscaped
    }
}

extension Predicate.AggregateFunction {
    fileprivate var ending: PathEnding {
        switch self {
        case .count: return .size
        case .minimum: return .minimum
        case .maximum: return .maximum
        case .sum: return .sum
        case .average: return .average
        }
    }
}

extension Predicate.Path.Step {
    /// Stands between brackets.
    fileprivate var isIndex: Bool {
        switch self {
        case .index, .key, .elements: return true
        default: return false
        }
    }
}
