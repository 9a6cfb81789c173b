// The canonical text of a predicate (QUERY §19): arguments put in, so that it parses to the same
// result without them; internal property names; lower-case `and` and `or`.

struct CanonicalText {
    private let text: QueryText
    private let part: Query.QueryPart
    /// Has the names: the texts of paths by node, the scopes of SUBQUERYs.
    private let binder: Binder
    private var tree: SyntaxTree { binder.tree }

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
        let bytes = part.text + [0]
        return bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return "TRUEPREDICATE" }
            let text = QueryText(base: base, count: part.text.count)
            do throws(RealmError) {
                // Names that were found once are found again.
                var binder = Binder(
                    text, SyntaxTree(part.tree), schema, rootClass, part.arguments,
                    FilterBuilder(), values: values)
                binder.recordsTexts = true
                try binder.resolveNames()
                if dependsOnTypes(part) { _ = try binder.bindPredicate() }
                return CanonicalText(text: text, part: part, binder: binder).predicate()
            } catch {
                return text.string(0, text.count)
            }
        }
    }

    /// Whether some constant is written in a way that depends on what it is compared with: numbers
    /// with more digits than a decimal takes of them, 0 and 1 beside Booleans.
    private static func dependsOnTypes(_ part: Query.QueryPart) -> Bool {
        func isLong(_ value: Value) -> Bool {
            switch value {
            case .double(let number): return number != number.rounded() || abs(number) >= 1e15
            case .float(let number): return number != number.rounded() || abs(number) >= 1e7
            case .decimal128: return true
            default: return false
            }
        }
        return part.tree.dialect == .format
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
        let node = tree.nodes[Int(index)]
        switch node.kind {
        case .truePredicate: return [.text("TRUEPREDICATE")]
        case .falsePredicate: return [.text("FALSEPREDICATE")]
        case .and: return joined(node, " and ")
        case .or: return [.text("(")] + joined(node, " or ") + [.text(")")]
        case .not:
            if tree.nodes[Int(node.a)].kind == .or { return [.text("!"), .node(node.a)] }
            return [.text("!("), .node(node.a), .text(")")]
        case .comparison: return comparison(node)
        case .between: return [.node(node.a), .text(" BETWEEN "), .node(node.b)]
        case .booleanPath:
            switch tree.nodes[Int(node.a)].kind {
            case .keywordTrue: return [.text("TRUEPREDICATE")]
            case .keywordFalse: return [.text("FALSEPREDICATE")]
            default: return [.node(node.a), .text(" == true")]
            }
        case .geoWithin: return [.node(node.a), .text(" GEOWITHIN "), shape(node.b)]
        case .list: return [.text(quantifier(node) + "{")] + joined(node, ", ") + [.text("}")]
        case .argument: return [.text(decimal(index) ?? leaf(index))]
        case .add: return arithmetic(node, " + ")
        case .subtract: return arithmetic(node, " - ")
        case .multiply: return arithmetic(node, " * ")
        case .divide: return arithmetic(node, " / ")
        case .negate: return [.text("-("), .node(node.a), .text(")")]
        case .subquery: return subquery(node)
        case .function:
            let name = text.string(Int(node.start), Int(node.end)).lowercased()
            return [.text(quantifier(node) + name + "(")] + joined(node, ", ") + [.text(")")]
        case .geoPolygon:
            return [.text("geoPolygon(")] + joined(node, ", ") + [.text(")")]
        default: return [.text(leaf(index))]
        }
    }

    private func arithmetic(_ node: SyntaxNode, _ sign: String) -> [Piece] {
        [.text("("), .node(node.a), .text(sign), .node(node.b), .text(")")]
    }

    private func joined(_ node: SyntaxNode, _ separator: String) -> [Piece] {
        var result: [Piece] = []
        for child in members(node) {
            if !result.isEmpty { result.append(.text(separator)) }
            // Lists have constants alone, and no calls.
            let isMember = node.kind == .list && tree.nodes[Int(child)].kind.isConstant
            result.append(isMember ? .text(leaf(child)) : .node(child))
        }
        return result
    }

    /// The text of a node whose children are constants at most.
    private func leaf(_ index: Int32) -> String {
        let node = tree.nodes[Int(index)]
        switch node.kind {
        case .path:
            let ending = binder.paths[Int(node.payload)].ending
            return quantifier(node) + (binder.nodeTexts[Int(index)] ?? "")
                + (ending == .value ? "" : "." + ending.spelling)
        case .aggregate: return binder.nodeTexts[Int(index)] ?? ""
        case .geoBox, .geoCircle: return geo(node, members(node).map { leaf($0) })
        case .geoRing: return "{" + Self.points(members(node).map { leaf($0) }) + "}"
        case .argument: return argument(index)
        case .object: return object(node, leaf(node.a))
        case .integer where node.options == 0:
            return integer(Int64(bitPattern: node.payload), index)
        default: return constant(node)
        }
    }

    private func subquery(_ node: SyntaxNode) -> [Piece] {
        let index = Int(node.a)
        let ending = PathEnding(rawValue: node.op) ?? .size
        let scope = binder.subqueries[index].scope
        let members =
            "SUBQUERY(" + (binder.subqueryTexts[index] ?? "") + ", " + binder.variableText(scope)
        let inner = binder.subqueryInnerTexts[index].map { "." + $0 } ?? ""
        return [
            .text(members + ", "), .node(tree.subqueries[index].predicate),
            .text(")." + (ending == .size ? "@count" : ending.spelling) + inner),
        ]
    }

    /// A shape that an argument spells stands as it is.
    private func shape(_ index: Int32) -> Piece {
        let node = tree.nodes[Int(index)]
        guard node.kind == .argument, Int(node.payload) < part.arguments.count,
            case .scalar(.string(let spelled)) = part.arguments[Int(node.payload)]
        else { return .node(index) }
        return .text(spelled)
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

    private func members(_ node: SyntaxNode) -> ArraySlice<Int32> {
        tree.children[Int(node.a)..<Int(node.a + node.b)]
    }

    private func quantifier(_ node: SyntaxNode) -> String {
        node.quantifier == .unspecified ? "" : node.quantifier.word + " "
    }

    private func comparison(_ node: SyntaxNode) -> [Piece] {
        let op = ComparisonOperator(rawValue: node.op) ?? .equal
        let options = ComparisonOptions(rawValue: node.options).spelling
        if tree.dialect == .format, let pieces = formatComparison(node, op, options) {
            return pieces
        }
        var spelling = op.spelling
        // `x == list` says the same as `x IN list` where x is a single value.
        let leftNode = tree.nodes[Int(node.a)]
        let rightNode = tree.nodes[Int(node.b)]
        if op == .equal, rightNode.quantifier == .unspecified, isList(rightNode),
            leftNode.kind == .path, binder.paths[Int(leftNode.payload)].isSingle
        {
            spelling = "IN"
        }
        return [.node(node.a), .text(" \(spelling)\(options) "), .node(node.b)]
    }

    /// A comparison of a format string that the other dialect says in another way.
    private func formatComparison(
        _ node: SyntaxNode, _ op: ComparisonOperator, _ options: String
    ) -> [Piece]? {
        if op == .beginsWith || op == .endsWith || op == .contains {
            return emptyNeedle(node, " \(op.spelling)\(options) ")
        }
        if op == .like, let pattern = constantText(node.b), pattern.contains(0x5C) {
            let expression = Self.string(Self.expression(pattern))
            return [.node(node.a), .text(" MATCHES" + options + " " + expression)]
        }
        return nil
    }

    /// Nothing contains null or the empty text (X6); what it would not contain otherwise is
    /// nothing of an empty list.
    private func emptyNeedle(_ node: SyntaxNode, _ op: String) -> [Piece]? {
        let right = tree.nodes[Int(node.b)]
        if right.kind == .argument || right.kind.isConstant {
            guard ["NULL", "\"\"", Self.binary([])].contains(leaf(node.b)) else { return nil }
            switch tree.nodes[Int(node.a)].quantifier {
            case .unspecified, .any: return [.text("FALSEPREDICATE")]
            case .all, .none: return [.node(node.a), .text(" IN {}")]
            }
        }
        guard right.kind == .path, binder.paths[Int(right.payload)].isSingle else { return nil }
        let test: [Piece] = [.node(node.a), .text(op), .node(node.b)]
        let length = "length(" + leaf(node.b) + ") > 0"
        switch tree.nodes[Int(node.a)].quantifier {
        case .unspecified, .any: return test + [.text(" and " + length)]
        case .none: return [.text("(")] + test + [.text(" or !(" + length + "))")]
        case .all:
            // Written twice: a call with conditions in it would double at every level.
            guard tree.nodes[Int(node.a)].kind == .path else { return nil }
            return [.text("(")] + test
                + [.text(" and " + length + " or "), .node(node.a), .text(" IN {})")]
        }
    }

    /// The bytes of a string that is a literal or an argument.
    private func constantText(_ index: Int32) -> [UInt8]? {
        let node = tree.nodes[Int(index)]
        if node.kind == .string {
            var token = Token(.string, Int(node.start), Int(node.end))
            token.flag = node.options & 1 != 0
            return try? Literals.string(text, token)
        }
        guard node.kind == .argument, Int(node.payload) < part.arguments.count,
            case .scalar(.string(let value)) = part.arguments[Int(node.payload)]
        else { return nil }
        return Array(value.utf8)
    }

    /// A pattern of LIKE with escapes as a regular expression.
    private static func expression(_ pattern: [UInt8]) -> [UInt8] {
        var result = Array("(?s)".utf8)
        var index = 0
        while index < pattern.count {
            var byte = pattern[index]
            index += 1
            if byte == UInt8(ascii: "*") {
                result += Array(".*".utf8)
                continue
            }
            if byte == UInt8(ascii: "?") {
                result.append(UInt8(ascii: "."))
                continue
            }
            if byte == 0x5C, index < pattern.count,
                [UInt8(ascii: "*"), UInt8(ascii: "?"), 0x5C].contains(pattern[index])
            {
                byte = pattern[index]
                index += 1
            }
            let isWord = byte >= 0x80 || byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
            if !isWord { result.append(0x5C) }
            result.append(byte)
        }
        return result
    }

    private func isList(_ node: SyntaxNode) -> Bool {
        if node.kind == .list { return true }
        guard node.kind == .argument, Int(node.payload) < part.arguments.count,
            case .list = part.arguments[Int(node.payload)]
        else { return false }
        return true
    }

    // MARK: Constants

    private func constant(_ node: SyntaxNode) -> String {
        switch node.kind {
        case .string:
            var token = Token(.string, Int(node.start), Int(node.end))
            token.flag = node.options & 1 != 0
            return Self.string((try? Literals.string(text, token)) ?? [])
        case .base64:
            let token = Token(.base64, Int(node.start), Int(node.end))
            return Self.string((try? Literals.base64(text, token)) ?? [])
        case .binary:
            var token = Token(.string, Int(node.start), Int(node.end))
            token.flag = node.options & 1 != 0
            let bytes =
                node.options & 2 != 0
                ? try? Literals.base64(text, token) : try? Literals.string(text, token)
            return Self.binary(bytes ?? [])
        case .double:
            // A decimal property reads the digits that the query wrote, beyond those of a double.
            return Self.number(text.string(Int(node.start), Int(node.end)))
        case .float:
            return Self.float(Float(bitPattern: UInt32(truncatingIfNeeded: node.payload)))
        case .infinity: return Double(bitPattern: node.payload) < 0 ? "-inf" : "inf"
        case .nan: return "nan"
        case .null: return "NULL"
        case .keywordTrue: return "true"
        case .keywordFalse: return "false"
        case .date:
            return "T\(Int64(bitPattern: node.payload)):\(node.extra)"
        case .objectKey: return "O\(node.payload)"
        case .typedLink: return "L\(node.extra):\(node.payload)"
        default: return text.string(Int(node.start), Int(node.end))
        }
    }

    private func object(_ node: SyntaxNode, _ key: String) -> String {
        var token = Token(.string, Int(node.start), Int(node.end))
        token.flag = node.options & 1 != 0
        let name = (try? Literals.string(text, token)) ?? []
        return "obj(" + Self.string(name) + "," + key + ")"
    }

    private func argument(_ index: Int32) -> String {
        let node = tree.nodes[Int(index)]
        guard Int(node.payload) < part.arguments.count else {
            return text.string(Int(node.start), Int(node.end))
        }
        switch part.arguments[Int(node.payload)] {
        case .scalar(let value): return quantifier(node) + self.value(value, index)
        case .list(let values):
            return quantifier(node) + "{"
                + values.map { self.value($0, index) }.joined(separator: ", ") + "}"
        }
    }

    /// A value that node `index` stands for, as what it is compared with sees it: a decimal takes
    /// fewer digits of a binary number than it has (T4), while it reads all those of a text; 0 and
    /// 1 beside a Boolean are false and true in format strings alone (X5).
    private func value(_ value: Value, _ index: Int32) -> String {
        switch value {
        case .int(let number): return integer(number, index)
        case .double(let number) where number.isFinite && binder.decimalNodes.contains(index):
            return Self.decimal(Decimal128(rounding: number))
        case .float(let number) where number.isFinite && binder.decimalNodes.contains(index):
            return Self.decimal(Decimal128(rounding: number))
        default: return self.value(value)
        }
    }

    /// An argument that is a decimal, where what it is compared with does not make it one.
    private func decimal(_ index: Int32) -> String? {
        let node = tree.nodes[Int(index)]
        guard !binder.decimalNodes.contains(index), Int(node.payload) < part.arguments.count,
            case .scalar(.decimal128(let number)) = part.arguments[Int(node.payload)]
        else { return nil }
        return "cast(\"\(number)\", \"Decimal\")"
    }

    private func integer(_ number: Int64, _ index: Int32) -> String {
        guard number == 0 || number == 1, binder.booleanNodes.contains(index) else {
            return "\(number)"
        }
        return number == 0 ? "false" : "true"
    }

    private func value(_ value: Value) -> String {
        switch value {
        case .null: return "NULL"
        case .int(let v): return "\(v)"
        case .bool(let v): return v ? "true" : "false"
        case .string(let v): return Self.string(Array(v.utf8))
        case .binary(let v): return Self.binary(v)
        case .timestamp(let v): return "T\(v.seconds):\(v.nanoseconds)"
        case .float(let v): return Self.float(v)
        case .double(let v): return Self.double(v)
        case .decimal128(let v): return Self.decimal(v)
        case .objectId(let v): return "oid(\(v))"
        case .uuid(let v): return "uuid(\(v))"
        case .link(let link):
            return "L\(link.classKey.rawValue):\(link.objectKey.rawValue)"
        }
    }

    /// Shortest text that reads as the same double; always with a point or exponent.
    private static func double(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        return value.description
    }

    /// A number with a point or exponent, from its spelling; kept where a double would lose some.
    private static func number(_ spelling: String) -> String {
        guard spelling.utf8.count <= 16, let value = Double(spelling), value.isFinite, value != 0
        else { return spelling }
        return double(value)
    }

    private static func decimal(_ value: Decimal128) -> String {
        if value.isNaN { return "nan" }
        let text = "\(value)"
        if text.hasSuffix("Infinity") { return text.hasPrefix("-") ? "-inf" : "inf" }
        return text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
            ? number(text) : text
    }

    private static func float(_ value: Float) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        return value.description + "f"
    }

    /// In double quotes; as base64 when quotes, backslashes or control bytes are in it.
    private static func string(_ bytes: [UInt8]) -> String {
        let isPlain = bytes.allSatisfy {
            $0 >= 0x20 && $0 != 0x22 && $0 != 0x27 && $0 != 0x5C && $0 != 0x7F
        }
        if isPlain { return "\"" + String(decoding: bytes, as: UTF8.self) + "\"" }
        return "B64\"" + base64(bytes) + "\""
    }

    /// In double quotes, as keys in brackets have it: escapes instead of base64.
    static func quoted(_ bytes: [UInt8]) -> String {
        var text = "\""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || scalar.value == 0x7F {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    private static func binary(_ bytes: [UInt8]) -> String {
        let isText = bytes.allSatisfy { $0 < 0x80 }
        return "binary(" + (isText ? string(bytes) : "B64\"" + base64(bytes) + "\"") + ")"
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var word = UInt32(bytes[index]) << 16
            if count > 1 { word |= UInt32(bytes[index + 1]) << 8 }
            if count > 2 { word |= UInt32(bytes[index + 2]) }
            for position in 0..<4 {
                text.append(
                    position <= count
                        ? digits[Int(word >> UInt32(18 - 6 * position) & 63)]
                        : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }
}
