// Tests of decimals, object ids, UUIDs and mixed values, and of binary numbers against decimals:
// the constant becomes the bytes of a mixed value (`MixedCell`), which execution compares with
// (`ValueTest`).

extension Binder {
    /// A comparison with a constant of a fitting type; nil when the constant's type does not fit.
    mutating func valueTest(
        _ target: Target, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode? {
        switch target.kind {
        case .decimal:
            guard let number = decimal(constant) else { return nil }
            return comparison(op, .decimal(number))
        case .float, .double:
            guard constant.kind == .decimal else { return nil }
            return comparison(op, constant.raw)
        case .objectId, .uuid:
            guard constant.kind == (target.kind == .uuid ? .uuid : .objectId) else { return nil }
            return comparison(op, constant.raw)
        case .mixed: return try mixedTest(target, op, options, constant)
        default: return nil
        }
    }

    private mutating func comparison(_ op: ComparisonOperator, _ value: RawValue) -> FilterNode {
        let bytes = [UInt8](unsafeUninitializedCapacity: MixedCell.count(value)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            MixedCell.write(value, to: start)
            count = MixedCell.count(value)
        }
        return comparison(op, cell: filter.addText(bytes))
    }

    private func comparison(_ op: ComparisonOperator, cell: FilterText) -> FilterNode {
        Self.equality(op, .value(ValueComparison(op), cell))
    }

    // MARK: Decimals

    /// The constant as a decimal: literals by their spelling (T5), doubles with 15 digits, floats
    /// with 7 (T4), the whole of a text (T6).
    mutating func decimal(_ constant: BoundConstant) -> Decimal128? {
        if !constant.isComputed { note(constant) { $0.isDecimal = true } }
        switch constant.kind {
        case .decimal: return constant.raw.decimalValue
        case .int:
            if constant.huge != nil {
                return Decimal128(
                    Literals.decimalDigits(spelling(syntax(constant.node))))
            }
            return Decimal128(constant.int)
        case .double, .float:
            let isLiteral =
                !constant.isArgument && !constant.isComputed && constant.node >= 0
            if isLiteral {
                var text = spelling(syntax(constant.node))
                if constant.kind == .float { text.removeLast() }
                if let number = Decimal128(text) { return number }
            }
            return constant.kind == .float
                ? Decimal128(rounding: Float(constant.floating))
                : Decimal128(rounding: constant.floating)
        case .string:
            var text = filter.text(constant.text)
            while let first = text.first, first == 0x20 || (first >= 9 && first <= 13) {
                text.removeFirst()
            }
            while let last = text.last, last == 0x20 || (last >= 9 && last <= 13) {
                text.removeLast()
            }
            return Decimal128(String(decoding: text, as: UTF8.self))
        default: return nil
        }
    }

    /// An integer property against a decimal: exact.
    func intAgainstDecimal(_ op: ComparisonOperator, _ value: Decimal128) -> FilterNode {
        if value.isNaN {
            // Below every integer.
            if op == .greater || op == .greaterEqual { return intRange(.greaterEqual, .min) }
            return .constant(op == .notEqual)
        }
        if let exact = value.int64 { return intRange(op, exact) }
        var range = IntRange()
        // The integers below: none, all, or up to `floor`.
        let isAbove = Decimal128.compare(value, Int64.max) > 0
        let isBelow = Decimal128.compare(value, Int64.min) < 0
        switch op {
        case .less, .lessEqual:
            if isBelow { return .constant(false) }
            if !isAbove { range.high = Self.floor(value) }
        case .greater, .greaterEqual:
            if isAbove { return .constant(false) }
            if !isBelow { range.low = Self.floor(value) + 1 }
        default: return .constant(op == .notEqual)
        }
        return FilterNode(.intRange(range))
    }

    /// The greatest integer not above a decimal that lies between two integers.
    private static func floor(_ value: Decimal128) -> Int64 {
        var low = Int64.min
        var high = Int64.max
        while low < high {
            // Rounded up, so that the range always shrinks.
            let distance = UInt64(bitPattern: high &- low)
            let middle = low &+ Int64(bitPattern: distance >> 1 &+ distance & 1)
            if Decimal128.compare(value, middle) >= 0 { low = middle } else { high = middle - 1 }
        }
        return low
    }

    // MARK: Mixed values

    private mutating func mixedTest(
        _ target: Target, _ op: ComparisonOperator, _ options: ComparisonOptions,
        _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode? {
        switch constant.kind {
        case .string, .binary:
            if op.isTextual || !options.folding.isEmpty {
                return mixedText(op, options, constant)
            }
            let isString = constant.kind == .string
            let tag = isString ? ValueType.string : .binary
            let bytes = [UInt8(tag.rawValue)] + filter.text(constant.text)
            return comparison(op, cell: filter.addText(bytes))
        default: break
        }
        if op.isTextual {
            let problem =
                "operator \(op.spelling) needs a string or binary on its right, "
                + "'\(spelling(syntax(constant.node)))' is of type '\(constant.typeWord)'"
            throw constant.isArgument ? invalidArgument(problem) : invalidQuery(problem)
        }
        let isEquality = op == .equal || op == .notEqual || op == .inList
        switch constant.kind {
        case .link, .objectWithPrimaryKey, .objectKey:
            guard isEquality else {
                throw invalidQuery("operator \(op.spelling) is not defined for links")
            }
            if constant.kind == .link { return comparison(op, constant.raw) }
            guard constant.kind == .objectWithPrimaryKey else { return nil }
            return Self.equality(op, .object(constant.objectName))
        default:
            if constant.huge != nil, let number = decimal(constant) {
                return comparison(op, .decimal(number))
            }
            return comparison(op, constant.raw)
        }
    }

    private mutating func mixedText(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant
    ) -> FilterNode {
        let isString = constant.kind == .string
        return Self.equality(
            op,
            .mixedText(
                textCondition(op, options, constant, isString: isString), isString: isString,
                isOpposite: op == .greater || op == .greaterEqual))
    }
}
