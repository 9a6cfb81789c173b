// The canonical text of a predicate (QUERY §19): arguments put in, so that it parses to the same
// result without them; internal property names; lower-case `and` and `or`.

struct CanonicalText {
    private let text: QueryText
    private let part: Query.QueryPart
    /// Has the names: the texts of paths by node, the scopes of SUBQUERYs.
    private let binder: Binder
    private var tree: SyntaxTree { binder.tree }

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
                return CanonicalText(text: text, part: part, binder: binder).predicate()
            } catch {
                return text.string(0, text.count)
            }
        }
    }

    /// Children stand before their parents, so that one pass in order writes all. Pieces are taken
    /// over by their parents and not kept.
    private func predicate() -> String {
        var pieces: [String] = Array(repeating: "", count: tree.nodes.count)
        func take(_ index: Int32) -> String {
            var piece = ""
            swap(&piece, &pieces[Int(index)])
            return piece
        }
        for (index, node) in tree.nodes.enumerated() {
            switch node.kind {
            case .truePredicate: pieces[index] = "TRUEPREDICATE"
            case .falsePredicate: pieces[index] = "FALSEPREDICATE"
            case .and:
                pieces[index] = members(node).map { take($0) }.joined(separator: " and ")
            case .or:
                pieces[index] =
                    "(" + members(node).map { take($0) }.joined(separator: " or ") + ")"
            case .not:
                let inner = take(node.a)
                pieces[index] =
                    tree.nodes[Int(node.a)].kind == .or ? "!" + inner : "!(" + inner + ")"
            case .comparison: pieces[index] = comparison(node, take(node.a), take(node.b))
            case .between: pieces[index] = take(node.a) + " BETWEEN " + take(node.b)
            case .booleanPath:
                let operand = take(node.a)
                switch tree.nodes[Int(node.a)].kind {
                case .keywordTrue: pieces[index] = "TRUEPREDICATE"
                case .keywordFalse: pieces[index] = "FALSEPREDICATE"
                default: pieces[index] = operand + " == true"
                }
            case .geoWithin:
                pieces[index] = take(node.a) + " GEOWITHIN " + shape(node.b, take(node.b))
            case .list:
                pieces[index] =
                    quantifier(node) + "{" + members(node).map { take($0) }.joined(separator: ", ")
                    + "}"
            case .add, .subtract, .multiply, .divide:
                let sign: String
                switch node.kind {
                case .add: sign = " + "
                case .subtract: sign = " - "
                case .multiply: sign = " * "
                default: sign = " / "
                }
                pieces[index] = "(" + take(node.a) + sign + take(node.b) + ")"
            case .negate: pieces[index] = "-(" + take(node.a) + ")"
            case .path:
                let ending = binder.paths[Int(node.payload)].ending
                pieces[index] =
                    quantifier(node) + (binder.nodeTexts[index] ?? "")
                    + (ending == .value ? "" : "." + ending.spelling)
            case .aggregate: pieces[index] = binder.nodeTexts[index] ?? ""
            case .subquery: pieces[index] = subquery(node) { take($0) }
            case .function:
                pieces[index] =
                    quantifier(node)
                    + text.string(Int(node.start), Int(node.end)).lowercased() + "("
                    + members(node).map { take($0) }.joined(separator: ", ") + ")"
            case .geoBox, .geoCircle:
                pieces[index] = geo(node, members(node).map { take($0) })
            case .geoPolygon:
                pieces[index] =
                    "geoPolygon(" + members(node).map { take($0) }.joined(separator: ", ") + ")"
            case .geoRing:
                pieces[index] = "{" + Self.points(members(node).map { take($0) }) + "}"
            case .argument: pieces[index] = argument(node)
            case .object: pieces[index] = object(node, take(node.a))
            default: pieces[index] = constant(node)
            }
        }
        return tree.root >= 0 ? pieces[Int(tree.root)] : "TRUEPREDICATE"
    }

    private func subquery(_ node: SyntaxNode, _ take: (Int32) -> String) -> String {
        let index = Int(node.a)
        let ending = PathEnding(rawValue: node.op) ?? .size
        var result =
            "SUBQUERY(" + (binder.subqueryTexts[index] ?? "") + ", "
            + binder.variableText(binder.subqueries[index].scope) + ", "
            + take(tree.subqueries[index].predicate) + ")."
            + (ending == .size ? "@count" : ending.spelling)
        if let inner = binder.subqueryInnerTexts[index] { result += "." + inner }
        return result
    }

    /// A shape that an argument spells stands as it is.
    private func shape(_ index: Int32, _ piece: String) -> String {
        let node = tree.nodes[Int(index)]
        guard node.kind == .argument, Int(node.payload) < part.arguments.count,
            case .scalar(.string(let spelled)) = part.arguments[Int(node.payload)]
        else { return piece }
        return spelled
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

    private func comparison(_ node: SyntaxNode, _ left: String, _ right: String) -> String {
        let op = ComparisonOperator(rawValue: node.op) ?? .equal
        if tree.dialect == .format, let text = formatComparison(node, op, left, right) {
            return text
        }
        let options = ComparisonOptions(rawValue: node.options).spelling
        var spelling = op.spelling
        // `x == list` says the same as `x IN list` where x is a single value.
        let leftNode = tree.nodes[Int(node.a)]
        let rightNode = tree.nodes[Int(node.b)]
        if op == .equal, rightNode.quantifier == .unspecified, isList(rightNode),
            leftNode.kind == .path, binder.paths[Int(leftNode.payload)].isSingle
        {
            spelling = "IN"
        }
        return "\(left) \(spelling)\(options) \(right)"
    }

    /// What a comparison of a format string is called in the other dialect, where that differs.
    private func formatComparison(
        _ node: SyntaxNode, _ op: ComparisonOperator, _ left: String, _ right: String
    ) -> String? {
        if op == .beginsWith || op == .endsWith || op == .contains {
            // Nothing contains null or the empty text (X6).
            return right == "NULL" || right == "\"\"" ? "FALSEPREDICATE" : nil
        }
        if op == .like, let pattern = constantText(node.b), pattern.contains(0x5C) {
            let options = ComparisonOptions(rawValue: node.options).spelling
            return left + " MATCHES" + options + " " + Self.string(Self.expression(pattern))
        }
        // 0 and 1 are Booleans beside one (X5).
        if isBoolean(node.a), let word = Self.booleanWords[right] {
            return "\(left) \(op.spelling) \(word)"
        }
        if isBoolean(node.b), let word = Self.booleanWords[left] {
            return "\(word) \(op.spelling) \(right)"
        }
        return nil
    }

    private static let booleanWords = ["0": "false", "1": "true"]

    private func isBoolean(_ index: Int32) -> Bool {
        let node = tree.nodes[Int(index)]
        return node.kind == .path && binder.paths[Int(node.payload)].path.kind == .bool
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
        case .integer where node.options == 0:
            return "\(Int64(bitPattern: node.payload))"
        case .double:
            // A decimal property reads the digits that the query wrote, beyond those of a double.
            let spelling = text.string(Int(node.start), Int(node.end))
            return spelling.utf8.count > 16
                ? spelling : Self.double(Double(bitPattern: node.payload))
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

    private func argument(_ node: SyntaxNode) -> String {
        guard Int(node.payload) < part.arguments.count else {
            return text.string(Int(node.start), Int(node.end))
        }
        switch part.arguments[Int(node.payload)] {
        case .scalar(let value): return quantifier(node) + self.value(value)
        case .list(let values):
            return quantifier(node) + "{" + values.map { self.value($0) }.joined(separator: ", ")
                + "}"
        }
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
        case .decimal128(let v): return "\(v)"
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
