// Tests of decimals, object ids, UUIDs and mixed values, and of binary numbers against decimals:
// the constant becomes the bytes of a mixed value (`MixedCell`), which execution compares with
// (`ValueTest`).

extension Binder {
    mutating func valueTest(_ op: ComparisonOperator, _ value: RawValue) -> FilterNode {
        let bytes = [UInt8](unsafeUninitializedCapacity: MixedCell.count(value)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            MixedCell.write(value, to: start)
            count = MixedCell.count(value)
        }
        return comparison(op, cell: filter.addText(bytes))
    }

    private func comparison(_ op: ComparisonOperator, cell: FilterText) -> FilterNode {
        Self.equality(op, .value(op == .notEqual ? .equal : op, cell))
    }

    // MARK: Integers

    /// An integer property against a decimal: exact.
    func intAgainstDecimal(_ op: ComparisonOperator, _ value: Decimal128) -> FilterNode {
        if value.isNaN {
            // Below every integer.
            if op == .greater || op == .greaterEqual { return intRange(.greaterEqual, .min) }
            return .constant(op == .notEqual)
        }
        if let exact = value.int64 { return intRange(op, exact) }
        if Decimal128.compare(value, Int64.max) > 0 {
            return Self.range(op, .max, nil, nil, FilterTest.intRange)
        }
        if Decimal128.compare(value, Int64.min) < 0 {
            return Self.range(op, nil, nil, .min, FilterTest.intRange)
        }
        // Between two integers.
        let floor = NumberFunctions.rounded(value, .down).int64
        return Self.range(op, floor, nil, floor.map { $0 + 1 }, FilterTest.intRange)
    }

    // MARK: Mixed values

    mutating func mixedTest(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant
    ) throws(RealmError) -> FilterNode {
        switch constant.kind {
        case .string, .binary:
            if op.isTextual || !options.folding.isEmpty {
                return mixedText(op, options, constant)
            }
            let tag = constant.kind == .string ? ValueType.string : .binary
            let bytes = [UInt8(tag.rawValue)] + filter.text(constant.text)
            return comparison(op, cell: filter.addText(bytes))
        case _ where op.isTextual: throw noText(op, constant)
        default:
            return constant.name.map { Self.equality(op, .object($0)) }
                ?? valueTest(op, constant.raw)
        }
    }

    private mutating func mixedText(
        _ op: ComparisonOperator, _ options: ComparisonOptions, _ constant: BoundConstant
    ) -> FilterNode {
        Self.equality(
            op,
            .mixedText(
                textCondition(op, options, constant),
                isOpposite: op == .greater || op == .greaterEqual))
    }
}
