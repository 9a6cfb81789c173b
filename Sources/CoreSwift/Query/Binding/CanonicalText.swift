// The canonical text of a predicate (QUERY_RULES V): arguments put in, so that it parses to the same
// result without them; internal names; lower-case `and` and `or`. How names and constants are
// written is in CanonicalText+Constants.
//
// The text is always one of the core dialect. What means something else in a format string is
// written so that it says there what it said here: Booleans for 0 and 1, the option f behind text
// operators whose right side may be empty or have escapes.

struct CanonicalText {
    /// Has the names: the texts of paths by node, the scopes of SUBQUERYs.
    let binder: Binder
    var tree: SyntaxTree { binder.tree }

    /// What a node's text is made of. The texts of its children are not copied into it but named,
    /// or a chain of 50,000 sums would be copied as often.
    private enum Piece {
        case text(String)
        case node(Int32)
    }

    static func predicate(
        _ part: Query.QueryPart, _ schema: Schema, _ classKey: ClassKey, _ values: ColumnKind?
    ) -> String {
        guard let rootClass = schema.classes.firstIndex(where: { $0.key == classKey }) else {
            return "TRUEPREDICATE"
        }
        let text = try? QueryText.with(part.text) { text throws(RealmError) in
            // Names that were found once are found again.
            var binder = Binder(
                text, part.tree, schema, rootClass, part.arguments, FilterBuilder(),
                values: values)
            binder.recordsTexts = true
            binder.nodeTexts = [NodeText](repeating: NodeText(), count: part.tree.nodes.count)
            try binder.resolveNames()
            if dependsOnTypes(part) { _ = try binder.bindPredicate() }
            return CanonicalText(binder: binder).predicate()
        }
        return text ?? String(decoding: part.text, as: UTF8.self)
    }

    /// Whether some constant is written in a way that depends on what it is compared with: digits
    /// that a decimal takes of a number, integers that are no floats, 0 and 1 beside Booleans.
    private static func dependsOnTypes(_ part: Query.QueryPart) -> Bool {
        func isLong(_ value: Value) -> Bool {
            switch value {
            case .double(let number): return number != number.rounded() || abs(number) >= 1e15
            case .float(let number): return number != number.rounded() || abs(number) >= 1e7
            case .int(let number): return number.magnitude > 1 << 24
            case .decimal128: return true
            default: return false
            }
        }
        return part.tree.dialect == .format
            || part.tree.nodes.contains { $0.kind == .double || $0.kind == .float }
            || part.arguments.contains { argument in
                switch argument {
                case .scalar(let value): return isLong(value)
                case .list(let values): return values.contains { isLong($0) }
                }
            }
    }

    private func predicate() -> String {
        guard tree.root >= 0 else { return "TRUEPREDICATE" }
        var result = ""
        var work = [Piece.node(tree.root)]
        while let next = work.popLast() {
            switch next {
            case .text(let text): result += text
            case .node(let index): work.append(contentsOf: pieces(index).reversed())
            }
        }
        return result
    }

    private func pieces(_ index: Int32) -> [Piece] {
        let node = binder.syntax(index)
        // An expression of constants that is a Boolean in format strings alone.
        if !node.kind.isConstant, let truth = binder.nodeTexts[Int(index)].truth, node.kind != .list
        {
            return [.text(truth ? "true" : "false")]
        }
        switch node.kind {
        case .truePredicate: return [.text("TRUEPREDICATE")]
        case .falsePredicate: return [.text("FALSEPREDICATE")]
        case .and: return joined(node, " and ")
        case .or: return [.text("(")] + joined(node, " or ") + [.text(")")]
        case .not:
            if binder.syntax(node.a).kind == .or { return [.text("!"), .node(node.a)] }
            return [.text("!("), .node(node.a), .text(")")]
        case .comparison: return comparison(node)
        case .between: return [.node(node.a), .text(" BETWEEN "), .node(node.b)]
        case .booleanPath:
            switch binder.syntax(node.a).kind {
            case .keywordTrue: return [.text("TRUEPREDICATE")]
            case .keywordFalse: return [.text("FALSEPREDICATE")]
            default: return [.node(node.a), .text(" == true")]
            }
        case .geoWithin: return [.node(node.a), .text(" GEOWITHIN "), shape(node.b)]
        case .list: return [.text(node.quantifier.prefix + "{")] + joined(node, ", ") + [.text("}")]
        case .arithmetic:
            let sign = node.operation.sign
            return [.text("("), .node(node.a), .text(" \(sign) "), .node(node.b), .text(")")]
        case .negate: return [.text("-("), .node(node.a), .text(")")]
        case .subquery: return subquery(node)
        case .function:
            let name = binder.spelling(node).lowercased()
            return [.text(node.quantifier.prefix + name + "(")] + joined(node, ", ") + [.text(")")]
        case .geoPolygon:
            return [.text("geoPolygon(")] + joined(node, ", ") + [.text(")")]
        default: return [.text(leaf(index))]
        }
    }

    private func joined(_ node: SyntaxNode, _ separator: String) -> [Piece] {
        var result: [Piece] = []
        for child in tree.members(node) {
            if !result.isEmpty { result.append(.text(separator)) }
            // Lists have constants alone, and no calls.
            let isMember = node.kind == .list && binder.syntax(child).kind.isConstant
            result.append(isMember ? .text(leaf(child)) : .node(child))
        }
        return result
    }

    /// The text of a node whose children are constants at most.
    func leaf(_ index: Int32) -> String {
        let node = binder.syntax(index)
        switch node.kind {
        case .path:
            let ending = binder.path(index).ending
            return node.quantifier.prefix + binder.nodeTexts[Int(index)].text
                + (ending == .value ? "" : "." + ending.spelling)
        case .aggregate: return binder.nodeTexts[Int(index)].text
        case .geoBox, .geoCircle: return geo(node, tree.members(node).map { coordinate($0) })
        case .geoRing: return "{" + Self.points(tree.members(node).map { coordinate($0) }) + "}"
        case .argument: return argument(index)
        case .object: return object(node, leaf(node.a))
        default: return constant(node, index)
        }
    }

    private func subquery(_ node: SyntaxNode) -> [Piece] {
        let index = Int(node.a)
        let ending = node.ending
        let scope = binder.subqueries[index].scope
        let members =
            "SUBQUERY(" + binder.subqueries[index].text + ", " + binder.variableText(scope)
        let inner = binder.subqueries[index].innerText.map { "." + $0 } ?? ""
        return [
            .text(members + ", "), .node(tree.subqueries[index].predicate),
            .text(")." + (ending == .size ? "@count" : ending.spelling) + inner),
        ]
    }

    /// A shape that an argument spells stands as it is.
    private func shape(_ index: Int32) -> Piece {
        guard case .scalar(.string(let spelled)) = given(binder.syntax(index)) else {
            return .node(index)
        }
        return .text(spelled)
    }

    /// What is given for an argument.
    func given(_ node: SyntaxNode) -> QueryArgument? {
        node.kind == .argument ? binder.arguments[Int(node.payload)] : nil
    }

    private func geo(_ node: SyntaxNode, _ coordinates: [String]) -> String {
        if node.kind == .geoBox { return "geoBox(" + Self.points(coordinates) + ")" }
        return "geoCircle(" + Self.points(Array(coordinates.prefix(2))) + ", "
            + (coordinates.last ?? "0") + ")"
    }

    private static func points(_ coordinates: [String]) -> String {
        stride(from: 0, to: coordinates.count - 1, by: 2).map {
            "[\(coordinates[$0]), \(coordinates[$0 + 1])]"
        }.joined(separator: ", ")
    }

    private func comparison(_ node: SyntaxNode) -> [Piece] {
        let op = node.comparison
        var options = ComparisonOptions(rawValue: node.options)
        if !dependsOnDialect(op, node.b) { options.remove(.format) }
        var spelling = op.spelling
        // `x == list` says the same as `x IN list` where x is a single value.
        let leftNode = binder.syntax(node.a)
        if op == .equal, binder.syntax(node.b).quantifier == .unspecified, binder.isList(node.b),
            leftNode.kind == .path, binder.path(node.a).isSingle
        {
            spelling = "IN"
        }
        return [.node(node.a), .text(" \(spelling)\(options.spelling) "), .node(node.b)]
    }

    /// Whether a text operator with this right side may mean something else in format strings: an
    /// empty text (X6), or escapes of LIKE (X7).
    private func dependsOnDialect(_ op: ComparisonOperator, _ index: Int32) -> Bool {
        let node = binder.syntax(index)
        let members = node.kind == .list ? tree.members(node) : [index]
        return members.contains { member in
            texts(member).contains { bytes in
                guard let bytes else { return true }
                return op == .like ? bytes.contains(0x5C) : bytes.isEmpty
            }
        }
    }

    /// The bytes of the strings or binaries that a constant stands for; nil for those of others.
    private func texts(_ index: Int32) -> [[UInt8]?] {
        let node = binder.syntax(index)
        func bytes(_ value: Value) -> [UInt8]? {
            switch value {
            case .string(let text): return Array(text.utf8)
            case .binary(let bytes): return bytes
            default: return nil
            }
        }
        switch node.kind {
        case .string, .base64, .binary: return [spelledBytes(node)]
        default: break
        }
        switch given(node) {
        case .scalar(let value): return [bytes(value)]
        case .list(let values): return values.map { bytes($0) }
        case nil: return [nil]
        }
    }
}
