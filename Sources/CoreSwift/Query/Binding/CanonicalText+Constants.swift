// How canonical text writes names and constants (QUERY_RULES V2): so that they are read as the same value
// of the same type, whatever stands beside them.

extension CanonicalText {
    // MARK: Names

    /// The name of a property, class or key as a step of a path: bare where that is read as the
    /// name, blanks with a backslash (L3), otherwise behind `#`.
    static func name(_ name: String) -> String {
        var written = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case " ": written += "\\ "
            case "\t": written += "\\t"
            case "\n": written += "\\n"
            case "\r": written += "\\r"
            default: written.unicodeScalars.append(scalar)
            }
        }
        if isBare(written) { return written }
        let isWord =
            name.utf8.allSatisfy {
                $0 == 0x5F || Lexer.isDigit($0) || ($0 | 0x20) &- 0x61 < 26
            } && Lexer.isNameStart(name.utf8.first ?? 0)
        return isWord ? "#" + name : "#" + quoted(name)
    }

    /// Words that are read as something else in some letters or places.
    private static let words = ["not", "any", "some", "all", "none", "anykey"]

    /// Whether a name is one token that is a name and nothing else.
    private static func isBare(_ name: String) -> Bool {
        guard let first = name.utf8.first, Lexer.isNameStart(first), first != UInt8(ascii: "$"),
            !words.contains(name.lowercased())
        else { return false }
        let end = try? QueryText.with(Array(name.utf8)) { text throws(RealmError) in
            var lexer = Lexer(text, .core)
            let token = try lexer.next()
            return token.kind.isName ? Int(token.end) : 0
        }
        return end == name.utf8.count
    }

    /// The key of a dictionary between brackets.
    static func key(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return quoted(text) }
        return "B64\"" + Base64.text(bytes) + "\""
    }

    /// In double quotes with escapes.
    private static func quoted(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || scalar.value == 0x7F {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    // MARK: Literals

    /// A constant of the text.
    func constant(_ node: SyntaxNode, _ index: Int32) -> String {
        let spelling = binder.spelling(node)
        // A decimal takes the digits that the query wrote, beyond those of a double.
        let isDecimal = binder.nodeTexts[Int(index)].isDecimal
        switch node.kind {
        case .integer where node.options == 0:
            return integer(Int64(bitPattern: node.payload), index)
        case .integer where node.options == 1: return Literals.decimalDigits(spelling)
        case .string, .base64: return Self.string(spelledBytes(node))
        case .binary: return Self.binary(spelledBytes(node))
        case .double: return isDecimal ? spelling : Self.double(node.double)
        case .float: return isDecimal ? spelling : Self.float(node.float)
        case .infinity: return Self.double(node.double)
        case .nan: return "nan"
        case .null: return "NULL"
        case .keywordTrue: return "true"
        case .keywordFalse: return "false"
        case .date: return Self.timestamp(node.date)
        case .objectKey: return "O\(node.payload)"
        case .typedLink: return "L\(node.extra):\(Int64(bitPattern: node.payload))"
        default: return spelling
        }
    }

    /// The bytes of a string, base64 or binary node.
    func spelledBytes(_ node: SyntaxNode) -> [UInt8] {
        (try? Literals.bytes(binder.text, node)) ?? []
    }

    func object(_ node: SyntaxNode, _ key: String) -> String {
        let spelled = String(decoding: spelledBytes(node), as: UTF8.self)
        let place = binder.schema.classIndex(called: spelled)
        let name = place.map { binder.schema.classes[$0].name } ?? spelled
        return "obj(" + Self.quoted(name) + "," + key + ")"
    }

    // MARK: Arguments

    func argument(_ index: Int32) -> String {
        let node = binder.syntax(index)
        switch given(node) {
        case .scalar(let value): return node.quantifier.prefix + self.value(value, index)
        case .list(let values):
            return node.quantifier.prefix + "{"
                + values.map { self.value($0, index) }.joined(separator: ", ") + "}"
        case nil: return binder.spelling(node)
        }
    }

    /// A value that node `index` stands for, as what it is compared with sees it: a decimal takes
    /// fewer digits of a binary number than it has (T4), while it reads all those of a text; an
    /// integer stays one beside floats; 0 and 1 beside a Boolean are false and true in format
    /// strings alone (X5).
    private func value(_ value: Value, _ index: Int32) -> String {
        let isBesideDecimals = binder.nodeTexts[Int(index)].isDecimal
        switch value {
        case .null: return "NULL"
        case .int(let number): return integer(number, index)
        case .bool(let v): return v ? "true" : "false"
        case .string(let v): return Self.string(Array(v.utf8))
        case .binary(let v): return Self.binary(v)
        case .timestamp(let v): return Self.timestamp(v)
        case .double(let v):
            return isBesideDecimals && v.isFinite
                ? Self.plain(Decimal128(rounding: v)) : Self.double(v)
        case .float(let v):
            return isBesideDecimals && v.isFinite
                ? Self.plain(Decimal128(rounding: v)) : Self.float(v)
        case .decimal128(let v): return isBesideDecimals ? Self.plain(v) : "decimal(\(v))"
        case .objectId(let v): return "oid(\(v))"
        case .uuid(let v): return "uuid(\(v))"
        case .link(let link): return "L\(link.classKey):\(link.objectKey)"
        }
    }

    private func integer(_ number: Int64, _ index: Int32) -> String {
        if number == 0 || number == 1, binder.nodeTexts[Int(index)].truth != nil {
            return number == 0 ? "false" : "true"
        }
        // A literal beside floats would be rounded to one (T5).
        if binder.nodeTexts[Int(index)].isExact, Int64(exactly: Float(number)) != number {
            return "int(\(number))"
        }
        return "\(number)"
    }

    /// A coordinate, which is a plain number, finite or with a sign.
    func coordinate(_ index: Int32) -> String {
        guard case .scalar(let value) = given(binder.syntax(index)),
            let number = NumberFunctions.double(BoundConstant(value: value).raw)
        else { return leaf(index) }
        return number == .infinity ? "+inf" : Self.double(number)
    }

    // MARK: Values

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

    /// Beside decimals, a number is one: all digits are read.
    private static func plain(_ value: Decimal128) -> String {
        let text = "\(value)"
        if value.isNaN { return "nan" }
        if text.hasSuffix("Infinity") { return text.hasPrefix("-") ? "-inf" : "inf" }
        return text == "-0" ? "decimal(-0)" : text
    }

    /// T5:0 where a date may be written so; values have any nanoseconds.
    private static func timestamp(_ value: Timestamp) -> String {
        let (seconds, nanoseconds) = (value.seconds, value.nanoseconds)
        let isDate =
            nanoseconds.magnitude < 1_000_000_000
            && !(seconds > 0 && nanoseconds < 0) && !(seconds < 0 && nanoseconds > 0)
        return isDate ? "T\(seconds):\(nanoseconds)" : "timestamp(\(seconds):\(nanoseconds))"
    }

    /// In double quotes; as base64 when quotes, backslashes or control bytes are in it, or it is
    /// not UTF-8.
    private static func string(_ bytes: [UInt8]) -> String {
        let isPlain = bytes.allSatisfy {
            $0 >= 0x20 && $0 != 0x22 && $0 != 0x27 && $0 != 0x5C && $0 != 0x7F
        }
        if isPlain, let text = String(validating: bytes, as: UTF8.self) {
            return "\"" + text + "\""
        }
        return "B64\"" + Base64.text(bytes) + "\""
    }

    private static func binary(_ bytes: [UInt8]) -> String {
        let isText = bytes.allSatisfy { $0 < 0x80 }
        return "binary(" + (isText ? string(bytes) : "B64\"" + Base64.text(bytes) + "\"") + ")"
    }
}
