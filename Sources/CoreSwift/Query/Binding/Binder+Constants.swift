// Constants in the type of what they are compared with (QUERY_RULES T, C4): the one place that knows which
// types go together, for tests of columns and for expressions.

extension Binder {
    // MARK: Messages

    /// A property of the object at hand or behind links to one.
    func isProperty(_ side: BoundOperand) -> Bool {
        if case .path(let place) = side.form { return paths[place].isPlain }
        return false
    }

    private func name(_ side: BoundOperand) -> String {
        isProperty(side) ? named(path(side.node)) : spelling(side.node)
    }

    func subject(_ side: BoundOperand) -> String {
        isProperty(side) ? "property '\(name(side))'" : "'\(name(side))'"
    }

    /// A text operator has something else than a text beside it.
    func noText(_ op: ComparisonOperator, _ constant: BoundConstant) -> RealmError {
        invalid(
            constant,
            "operator \(op.spelling) needs a string or binary, "
                + "'\(spelling(constant.node))' is of type '\(constant.typeWord)'")
    }

    func mismatch(
        _ side: BoundOperand, _ op: ComparisonOperator, _ constant: BoundConstant
    ) -> RealmError {
        let spelled = spelling(constant.node)
        if constant.isArgument {
            return invalidArgument(
                "argument \(spelled) with value \(describe(constant)) is of type "
                    + "'\(constant.typeWord)', \(subject(side)) needs '\(side.kind.typeWord)'")
        }
        return invalidQuery(
            "operator \(op.spelling) cannot compare \(subject(side)) of type '\(side.kind.typeWord)' "
                + "with \(spelled) of type '\(constant.typeWord)'")
    }

    /// The value, for messages.
    func describe(_ constant: BoundConstant) -> String {
        switch constant.kind {
        case .int: return "\(constant.raw.intValue)"
        case .double, .float: return "\(constant.floating)"
        case .bool: return "\(constant.raw.boolValue)"
        case .string: return "'\(String(decoding: filter.text(constant.text), as: UTF8.self))'"
        case .binary: return "of \(constant.text.count) bytes"
        case .timestamp: return "T\(constant.raw.seconds):\(constant.raw.nanoseconds)"
        case .link where constant.name == nil && constant.objectKey == nil:
            return "object \(constant.raw.linkTarget) of class \(className(constant.classKey))"
        case .decimal: return "\(constant.raw.decimalValue)"
        case .objectId: return "\(constant.raw.objectIdValue)"
        case .uuid: return "\(constant.raw.uuidValue)"
        default: return constant.typeWord
        }
    }

    func className(_ key: ClassKey) -> String {
        schema.classes.first { $0.key == key }?.shownName ?? "\(key)"
    }

    /// Text operators take texts (S12); any bytes may be given as base64.
    func checkUTF8(
        _ constant: BoundConstant, _ op: ComparisonOperator
    ) throws(RealmError) {
        guard op.isTextual, constant.kind == .string else { return }
        let text = filter.text(constant.text)
        guard !text.withUnsafeBytes(TextMatch.isASCII),
            String(validating: text, as: UTF8.self) == nil
        else { return }
        throw invalidArgument(
            "operator \(op.spelling) needs a text in UTF-8, "
                + "'\(spelling(constant.node))' is none")
    }

    // MARK: Coercion

    /// The constant as the other side's type sees it; nil when it cannot be one of its values.
    mutating func coerced(
        _ constant: BoundConstant, to side: BoundOperand, _ op: ComparisonOperator, inList: Bool
    ) throws(RealmError) -> BoundConstant? {
        if constant.kind == .null { return constant }
        switch side.kind {
        case .int: return try intConstant(constant, side, inList)
        case .float, .double: return try floatingConstant(constant, side, inList)
        case .decimal:
            guard let number = decimal(constant) else { return nil }
            return replacing(constant, .decimal(number))
        case .bool: return boolean(constant)
        case .string, .binary:
            if op.isTextual, !constant.kind.isText { throw noText(op, constant) }
            return constant.kind == side.kind ? constant : nil
        case .timestamp, .objectId, .uuid: return constant.kind == side.kind ? constant : nil
        case .link: return try linkConstant(constant, side)
        case .mixed:
            if constant.objectKey != nil { return nil }
            if constant.huge != nil, let number = decimal(constant) {
                return replacing(constant, .decimal(number))
            }
            return constant
        case .null, .type: return constant
        }
    }

    private mutating func intConstant(
        _ constant: BoundConstant, _ side: BoundOperand, _ inList: Bool
    ) throws(RealmError) -> BoundConstant? {
        switch constant.kind {
        case .int, .decimal: return constant
        case .double, .float:
            let value = constant.floating
            if value.isInfinite || (value.isNaN && constant.isArgument) {
                return try noInt(constant, side, inList)
            }
            return constant
        case .string:
            guard let number = parsed(constant) else { return nil }
            if isProperty(side), number.kind == .double, number.floating.isInfinite {
                return try noInt(number, side, inList)
            }
            return number
        default: return nil
        }
    }

    private func noInt(
        _ constant: BoundConstant, _ side: BoundOperand, _ inList: Bool
    ) throws(RealmError) -> BoundConstant? {
        if inList { return nil }
        throw invalidQuery(
            "\(subject(side)) of type 'int' cannot be compared with \(constant.floating)")
    }

    /// The number that the whole of a string constant spells, blanks around it left out (T6).
    private func parsed(_ constant: BoundConstant) -> BoundConstant? {
        let slice = withoutBlanks(filter.text(constant.text))
        let spelling = String(decoding: slice, as: UTF8.self)
        if let value = Int64(spelling) { return replacing(constant, .int(value)) }
        guard let value = Double(spelling), slice.allSatisfy({ $0 | 0x20 != UInt8(ascii: "x") })
        else { return nil }
        return replacing(constant, .double(value))
    }

    private mutating func floatingConstant(
        _ constant: BoundConstant, _ side: BoundOperand, _ inList: Bool
    ) throws(RealmError) -> BoundConstant? {
        let isFloat = side.kind == .float
        func floating(_ value: Double) -> BoundConstant {
            replacing(constant, isFloat ? .float(Float(value)) : .double(value))
        }
        switch constant.kind {
        case .int:
            if let huge = constant.huge { return floating(huge) }
            if isFloat, !constant.isArgument, !constant.isComputed {
                return replacing(constant, .float(Float(constant.raw.intValue)))
            }
            if isFloat { note(constant) { $0.isExact = true } }
            return constant
        case .double: return isFloat ? floating(constant.floating) : constant
        case .float, .decimal: return constant
        case .string:
            guard let number = parsed(constant) else { return nil }
            if isFloat, number.kind == .int {
                return replacing(constant, .float(Float(number.raw.intValue)))
            }
            return try floatingConstant(number, side, inList)
        default: return nil
        }
    }

    private func linkConstant(
        _ constant: BoundConstant, _ side: BoundOperand
    ) throws(RealmError) -> BoundConstant? {
        guard constant.kind == .link else { return nil }
        if let key = constant.objectKey {
            var link = constant
            link.raw = .link(side.linkClass, key)
            return link
        }
        guard constant.classKey == side.linkClass else {
            var key = constant.raw.linkTarget.rawValue
            if let name = constant.name {
                if case .value(let value) = name.key { key = value.intValue }
            }
            throw invalidArgument(
                "'\(name(side))' links to class '\(className(side.linkClass))', "
                    + "'\(spelling(constant.node))' is an object of class "
                    + "'\(className(constant.classKey))' (key \(key))")
        }
        return constant
    }

    /// A constant as a Boolean; in format strings 0 and 1 are (X5).
    mutating func boolean(_ constant: BoundConstant) -> BoundConstant? {
        if constant.kind == .bool { return constant }
        guard tree.dialect == .format, constant.kind == .int, constant.raw.word0 <= 1 else {
            return nil
        }
        note(constant) { $0.truth = constant.raw.word0 != 0 }
        var result = BoundConstant(.bool(constant.raw.word0 != 0))
        result.isArgument = constant.isArgument
        result.node = constant.node
        return result
    }

    private func withoutBlanks(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13) }
        let end = (text.lastIndex { !isBlank($0) } ?? text.startIndex - 1) + 1
        return text[..<end].drop { isBlank($0) }
    }

    /// The constant as a decimal: literals by their spelling (T5), doubles with 15 digits, floats
    /// with 7 (T4), the whole of a text (T6).
    mutating func decimal(_ constant: BoundConstant) -> Decimal128? {
        if !constant.isComputed { note(constant) { $0.isDecimal = true } }
        switch constant.kind {
        case .decimal: return constant.raw.decimalValue
        case .int:
            if constant.huge != nil {
                return Decimal128(
                    Literals.decimalDigits(spelling(constant.node)))
            }
            return Decimal128(constant.raw.intValue)
        case .double, .float:
            let isLiteral =
                !constant.isArgument && !constant.isComputed && constant.node >= 0
            if isLiteral {
                var text = spelling(constant.node)
                if constant.kind == .float { text.removeLast() }
                if let number = Decimal128(text) { return number }
            }
            return constant.kind == .float
                ? Decimal128(rounding: Float(constant.floating))
                : Decimal128(rounding: constant.floating)
        case .string:
            let text = withoutBlanks(filter.text(constant.text))
            return Decimal128(String(decoding: text, as: UTF8.self))
        default: return nil
        }
    }
}
