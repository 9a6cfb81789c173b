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
        case .bool: return intRange(op, constant.raw.intValue)
        case .float, .double: return floatingTest(target, op, constant)
        case .timestamp:
            let value = constant.timestamp
            return Self.range(op, value.below, value, value.above, FilterTest.timestampRange)
        case .string, .binary: return textTest(target, op, options, constant)
        case .link:
            return constant.name.map { Self.equality(op, .object($0)) }
                ?? intRange(op, constant.raw.linkTarget.rawValue)
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

    /// `op value` as a range of a column's type, between the neighbours that the value has there; without
    /// a value, what lies between two neighbours is compared, which equals nothing.
    @inline(__always)
    static func range<Bound: RangeBound>(
        _ op: ComparisonOperator, _ below: Bound?, _ value: Bound?, _ above: Bound?,
        _ test: (ValueRange<Bound>) -> FilterTest
    ) -> FilterNode {
        let bound: Bound?
        switch op {
        case .less: bound = below
        case .lessEqual: bound = value ?? below
        case .greater: bound = above
        case .greaterEqual: bound = value ?? above
        default:
            return value.map { equality(op, test(ValueRange(low: $0, high: $0))) }
                ?? .constant(op == .notEqual)
        }
        guard let bound else { return .constant(false) }
        let isUpper = op == .less || op == .lessEqual
        return FilterNode(test(isUpper ? ValueRange(high: bound) : ValueRange(low: bound)))
    }

    func intRange(_ op: ComparisonOperator, _ value: Int64) -> FilterNode {
        Self.range(
            op, value == .min ? nil : value - 1, value, value == .max ? nil : value + 1,
            FilterTest.intRange)
    }

    /// A test for one value, or for what differs from it.
    static func equality(_ op: ComparisonOperator, _ test: FilterTest) -> FilterNode {
        op == .notEqual ? FilterNode(not: test) : FilterNode(test)
    }

    private func intTest(_ op: ComparisonOperator, _ constant: BoundConstant) -> FilterNode {
        switch constant.kind {
        case .decimal: return intAgainstDecimal(op, constant.raw.decimalValue)
        case .double, .float: return intAgainstDouble(op, constant.floating)
        default: return intRange(op, constant.raw.intValue)
        }
    }

    /// Exact, by mathematical value (T3).
    private func intAgainstDouble(_ op: ComparisonOperator, _ value: Double) -> FilterNode {
        if value.isNaN { return .constant(op == .notEqual) }
        if let exact = Int64(exactly: value) { return intRange(op, exact) }
        let below = value >= 0x1p63 ? Int64.max : Int64(exactly: value.rounded(.down))
        let above = value < -0x1p63 ? Int64.min : Int64(exactly: value.rounded(.up))
        return Self.range(op, below, nil, above, FilterTest.intRange)
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
        let test = isFloat ? FilterTest.floatRange : FilterTest.doubleRange
        func neighbour(_ value: Double, up: Bool) -> Double? {
            if value == (up ? .infinity : -.infinity) { return nil }
            guard isFloat else { return up ? value.nextUp : value.nextDown }
            return Double(up ? Float(value).nextUp : Float(value).nextDown)
        }
        var value = constant.floating
        if constant.kind == .int {
            // An integer that may have no equal among doubles or floats: compared exactly (T3), with the
            // nearest value of the column's type, then its neighbour on the other side.
            let int = constant.raw.intValue
            value = isFloat ? Double(Float(int)) : Double(int)
            if Int64(exactly: value) != int {
                let isAbove = value >= 0x1p63 || Int64(value) > int
                let other = neighbour(value, up: !isAbove)
                return isAbove
                    ? Self.range(op, other, nil, value, test)
                    : Self.range(op, value, nil, other, test)
            }
        }
        if value.isNaN { return .constant(op == .notEqual) }
        return Self.range(
            op, neighbour(value, up: false), value, neighbour(value, up: true), test)
    }

    // MARK: Texts

    private mutating func textTest(
        _ target: ColumnTarget, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) -> FilterNode {
        let text = textCondition(op, options, constant)
        var node = FilterNode(.text(text))
        node.negated = op.isOpposite
        node.matchesNull =
            op == .notEqual || (op == .less || op == .lessEqual) && text.isString && target.isDirect
        if text.needle.count == 0, op == .beginsWith || op == .endsWith || op == .contains {
            // The empty needle is in every value (S4).
            node.test = .nothing
            node.negated = true
        }
        return node
    }

    /// The right side of a text test, folded as its options say.
    mutating func textCondition(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant
    ) -> TextCondition {
        let isString = constant.kind == .string
        var text = TextCondition(op: TextOperator(op), isString: isString)
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
            target.kind == .string ? .text(text) : .mixedText(text, isOpposite: false))
    }
}

extension Timestamp {
    /// The neighbours, counting all nanoseconds that 32 bits can be.
    fileprivate var below: Timestamp? {
        if nanoseconds > .min { return Timestamp(seconds: seconds, nanoseconds: nanoseconds - 1) }
        return seconds > .min ? Timestamp(seconds: seconds - 1, nanoseconds: .max) : nil
    }
    fileprivate var above: Timestamp? {
        if nanoseconds < .max { return Timestamp(seconds: seconds, nanoseconds: nanoseconds + 1) }
        return seconds < .max ? Timestamp(seconds: seconds + 1, nanoseconds: .min) : nil
    }
}
