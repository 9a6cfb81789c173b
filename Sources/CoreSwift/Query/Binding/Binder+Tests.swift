// One column against one constant: the test in the column's own type (QUERY_RULES T to S).

extension Binder {
    /// The test `target op constant`. The constant is in the column's type (`coerced`).
    mutating func test(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode {
        if neverHolds(op, options, constant) { return .constant(false) }
        return at(target, try node(target, op, options, constant))
    }

    private mutating func node(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode {
        if op == .matches { return try matchesTest(target, options, constant) }
        if constant.kind == .null { return nullTest(target, op, options) }
        switch target.kind {
        case .int: return intTest(op, constant)
        case .bool: return intRange(op, Int64(constant.bits))
        case .float, .double: return floatingTest(target, op, constant)
        case .timestamp: return timestampTest(op, constant.timestamp)
        case .string, .binary: return textTest(target, op, options, constant)
        case .link:
            return constant.kind == .objectWithPrimaryKey
                ? Self.equality(op, .object(constant.objectName)) : intRange(op, constant.int)
        case .decimal, .objectId, .uuid: return valueTest(op, constant.raw)
        case .mixed, .collection: return try mixedTest(op, options, constant)
        }
    }

    // MARK: Null

    private func nullTest(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions
    ) -> FilterNode {
        var node = FilterNode(.nothing)
        let isDirectString = target.kind == .string && target.isDirect
        switch op {
        case .equal, .inList: node.matchesNull = true
        case .notEqual: node.negated = true
        case .less: break
        case .lessEqual: node.matchesNull = true
        case .greater: node.negated = isDirectString
        case .greaterEqual:
            node.matchesNull = true
            node.negated = isDirectString
        case .like: node.matchesNull = true
        case .contains:
            // S5, S6.
            node.negated = true
            node.matchesNull =
                target.isDirect
                && !(target.kind == .binary && options.folding.contains(.ignoreCase))
        case .beginsWith, .endsWith:
            node.negated = target.isDirect
            node.matchesNull = target.isDirect
        case .matches, .text: break
        }
        return node
    }

    // MARK: Numbers

    /// Everything that is not null, nothing, or the whole, as ranges cannot say it.
    private func outcome(_ op: ComparisonOperator) -> FilterNode {
        .constant(op == .notEqual)
    }

    func intRange(_ op: ComparisonOperator, _ value: Int64) -> FilterNode {
        switch op {
        case .notEqual: return FilterNode(not: .intRange(IntRange(low: value, high: value)))
        case .less:
            if value == .min { return .constant(false) }
            return FilterNode(.intRange(IntRange(high: value - 1)))
        case .lessEqual: return FilterNode(.intRange(IntRange(high: value)))
        case .greater:
            if value == .max { return .constant(false) }
            return FilterNode(.intRange(IntRange(low: value + 1)))
        case .greaterEqual: return FilterNode(.intRange(IntRange(low: value)))
        default: return FilterNode(.intRange(IntRange(low: value, high: value)))
        }
    }

    /// A test for one value, or for what differs from it.
    static func equality(_ op: ComparisonOperator, _ test: FilterTest) -> FilterNode {
        op == .notEqual ? FilterNode(not: test) : FilterNode(test)
    }

    private func intTest(_ op: ComparisonOperator, _ constant: BoundConstant) -> FilterNode {
        switch constant.kind {
        case .decimal: return intAgainstDecimal(op, constant.raw.decimalValue)
        case .double, .float: return intAgainstDouble(op, constant.floating)
        default: return intRange(op, constant.int)
        }
    }

    /// Exact, by mathematical value (T3).
    private func intAgainstDouble(_ op: ComparisonOperator, _ value: Double) -> FilterNode {
        if value.isNaN { return outcome(op) }
        if let exact = Int64(exactly: value) { return intRange(op, exact) }
        switch op {
        case .less, .lessEqual:
            guard value >= -0x1p63 else { return .constant(false) }
            let high = value < 0x1p63 ? Int64(value.rounded(.down)) : .max
            return FilterNode(.intRange(IntRange(high: high)))
        case .greater, .greaterEqual:
            guard value < 0x1p63 else { return .constant(false) }
            let low = value >= -0x1p63 ? Int64(value.rounded(.up)) : .min
            return FilterNode(.intRange(IntRange(low: low)))
        default: return outcome(op)
        }
    }

    /// In format strings nothing begins with, ends with or contains null or the empty text (X6).
    private func neverHolds(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant
    ) -> Bool {
        guard options.contains(.format), op == .beginsWith || op == .endsWith || op == .contains
        else { return false }
        let isText = constant.kind == .string || constant.kind == .binary
        return constant.kind == .null || (isText && constant.text.count == 0)
    }

    private mutating func floatingTest(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ constant: BoundConstant
    ) -> FilterNode {
        let isFloat = target.kind == .float
        if constant.kind == .decimal { return valueTest(op, constant.raw) }
        if constant.kind == .int { return floatingAgainstInt(isFloat, op, constant.int) }
        let value = constant.floating
        if value.isNaN { return outcome(op) }
        func step(_ up: Bool) -> Double {
            guard isFloat else { return up ? value.nextUp : value.nextDown }
            return Double(up ? Float(value).nextUp : Float(value).nextDown)
        }
        switch op {
        case .less:
            if value == -.infinity { return .constant(false) }
            return floatingRange(isFloat, -.infinity, step(false))
        case .lessEqual: return floatingRange(isFloat, -.infinity, value)
        case .greater:
            if value == .infinity { return .constant(false) }
            return floatingRange(isFloat, step(true), .infinity)
        case .greaterEqual: return floatingRange(isFloat, value, .infinity)
        default: return Self.equality(op, floatingRange(isFloat, value, value).test)
        }
    }

    private func floatingRange(_ isFloat: Bool, _ low: Double, _ high: Double) -> FilterNode {
        let range = DoubleRange(low: low, high: high)
        return FilterNode(isFloat ? .floatRange(range) : .doubleRange(range))
    }

    /// An integer that may have no equal among doubles or floats: compared exactly (T3).
    private func floatingAgainstInt(
        _ isFloat: Bool, _ op: ComparisonOperator, _ value: Int64
    ) -> FilterNode {
        // The nearest value of the column's type, then its neighbour on the other side.
        var below = isFloat ? Double(Float(value)) : Double(value)
        var above = below
        if let rounded = Int64(exactly: below), rounded == value {
            switch op {
            case .less: below = isFloat ? Double(Float(below).nextDown) : below.nextDown
            case .greater: above = isFloat ? Double(Float(above).nextUp) : above.nextUp
            case .equal, .notEqual, .inList:
                return Self.equality(op, floatingRange(isFloat, below, below).test)
            default: break
            }
        } else {
            let isAbove = below >= 0x1p63 || Int64(below) > value
            if isAbove {
                below = isFloat ? Double(Float(below).nextDown) : below.nextDown
            } else {
                above = isFloat ? Double(Float(above).nextUp) : above.nextUp
            }
        }
        switch op {
        case .less, .lessEqual: return floatingRange(isFloat, -.infinity, below)
        case .greater, .greaterEqual: return floatingRange(isFloat, above, .infinity)
        default: return outcome(op)
        }
    }

    // MARK: Dates

    private func timestampTest(_ op: ComparisonOperator, _ value: Timestamp) -> FilterNode {
        var range = TimestampRange()
        switch op {
        case .less:
            if value == range.low { return .constant(false) }
            range.high =
                value.nanoseconds > .min
                ? Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds - 1)
                : Timestamp(seconds: value.seconds - 1, nanoseconds: .max)
        case .lessEqual: range.high = value
        case .greater:
            if value == range.high { return .constant(false) }
            range.low =
                value.nanoseconds < .max
                ? Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds + 1)
                : Timestamp(seconds: value.seconds + 1, nanoseconds: .min)
        case .greaterEqual: range.low = value
        default:
            return Self.equality(op, .timestampRange(TimestampRange(low: value, high: value)))
        }
        return FilterNode(.timestampRange(range))
    }

    // MARK: Texts

    private mutating func textTest(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) -> FilterNode {
        let isString = target.kind == .string
        let text = textCondition(op, options, constant, isString: isString)
        let nullIsLeast = isString && target.isDirect
        var negated = false
        var matchesNull = false
        switch op {
        case .notEqual: (negated, matchesNull) = (true, true)
        case .less, .lessEqual: matchesNull = nullIsLeast
        case .greater, .greaterEqual: negated = true
        default: break
        }
        var node = FilterNode(.text(text))
        if text.needle.count == 0, op == .beginsWith || op == .endsWith || op == .contains {
            // The empty needle is in every value (S4).
            node.test = .nothing
            negated = true
        }
        node.negated = negated
        node.matchesNull = matchesNull
        return node
    }

    /// The operator of a text test, of which `>` and `>=` are opposites.
    private func textOperator(_ op: ComparisonOperator) -> TextOperator {
        switch op {
        case .less, .greaterEqual: return .less
        case .lessEqual, .greater: return .lessEqual
        case .beginsWith: return .beginsWith
        case .endsWith: return .endsWith
        case .contains: return .contains
        case .like: return .like
        case .matches: return .matches
        case .equal, .notEqual, .inList, .text: return .equal
        }
    }

    /// The right side of a text test, folded as its options say.
    mutating func textCondition(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant,
        isString: Bool
    ) -> TextCondition {
        var text = TextCondition(op: textOperator(op))
        // Of binary data, ASCII letters fold, and nothing has diacritics (S11).
        text.folding =
            isString ? options.folding : options.folding.subtracting(.ignoreDiacritics)
        text.hasEscapes = options.contains(.format)
        text.needle = constant.text
        if !text.folding.isEmpty {
            text.needle = filter.addText(
                TextFolder.folded(
                    Array(filter.text(constant.text)), text.folding, isString: isString))
        }
        return text
    }

    private mutating func matchesTest(
        _ target: ColumnTarget, _ options: ComparisonOptions, _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode {
        let text = TextCondition(op: .matches, pattern: try addPattern(options, constant))
        // Mixed values that are no strings do not match.
        return FilterNode(
            target.kind == .string
                ? .text(text) : .mixedText(text, isString: true, isOpposite: false))
    }
}
