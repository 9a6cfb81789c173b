// What must hold between two operands: quantifiers over their members, or place by place; and
// between two values (QUERY_RULES U to Q).

extension ExpressionEvaluator {
    /// Whether a test holds for the members at hand.
    func holds(_ test: UnsafePointer<ExpressionTest>) throws(RealmError) -> Bool {
        let valueBase = values.count
        let groupBase = groups.count
        let textMark = functionContext?.texts.mark
        defer {
            if let textMark { functionContext?.texts.cut(to: textMark) }
            values.cut(to: valueBase)
            groups.cut(to: groupBase)
        }
        let left = try run(test.pointee.left)
        if test.pointee.kind == .geoWithin { return try isWithin(test, left) }
        if let found = isListed(test, left) { return found }
        let right = try run(test.pointee.right)
        if test.pointee.kind == .between {
            let upper = try run(test.pointee.upper)
            let low = right.isPresent ? right.value : .null
            let high = upper.isPresent ? upper.value : .null
            return try quantified(left, test.pointee.left.quantifier) {
                isInside($0, low, high, test)
            }
        }
        if left.shape == .single, right.shape == .single {
            guard left.isPresent, right.isPresent else { return false }
            return try compare(left.value, right.value, test)
        }
        if left.shape == .groups {
            let work = shared.workOfPairs(left.groupCount, right.groupCount, perStep: 1)
            for place in left.groupFirst..<left.groupFirst + left.groupCount {
                if try holds(test, member(left, place), right) { return true }
                if work > 0 { try shared.spend(work) }
            }
            return false
        }
        return try holds(test, left, right)
    }

    /// Values that are looked for in a list of constants; nil when the test says something else.
    private func isListed(
        _ test: UnsafePointer<ExpressionTest>, _ left: ExpressionOperand
    ) -> Bool? {
        guard test.pointee.looksUpList, left.shape != .groups, left.isPresent,
            let set = shared.set(
                program.code[Int(test.pointee.right.first)], test.pointee.options.folding)
        else { return nil }
        let wanted = test.pointee.op == .equal && test.pointee.right.quantifier != .none
        if left.shape == .single { return set.contains(left.value).map { $0 == wanted } }
        let quantifier = test.pointee.left.quantifier
        let isAll = quantifier == .all
        for place in left.first..<left.first + left.count {
            guard let isMember = set.contains(values[place]) else { return nil }
            if (isMember == wanted) != isAll { return !isAll && quantifier != .none }
        }
        return isAll || quantifier == .none
    }

    /// One collection of several.
    private func member(_ operand: ExpressionOperand, _ group: Int) -> ExpressionOperand {
        var result = operand
        result.shape = .many
        result.first = groups[group].first
        result.count = groups[group].count
        return result
    }

    private func holds(
        _ test: UnsafePointer<ExpressionTest>, _ left: ExpressionOperand,
        _ right: ExpressionOperand
    ) throws(RealmError) -> Bool {
        guard right.shape == .groups else { return try joins(test, left, right) }
        for place in right.groupFirst..<right.groupFirst + right.groupCount
        where try joins(test, left, member(right, place)) {
            return true
        }
        return false
    }

    /// Two operands, each one value or one collection.
    private func joins(
        _ test: UnsafePointer<ExpressionTest>, _ left: ExpressionOperand,
        _ right: ExpressionOperand
    ) throws(RealmError) -> Bool {
        if test.pointee.isPositional, left.shape == .many, right.shape == .many {
            return try isPositional(test, left, right)
        }
        guard left.shape == .many else {
            guard left.isPresent else {
                return try quantified(test.pointee.right.quantifier, right.count) {
                    _ throws(RealmError) in false
                }
            }
            return try inner(test, left.value, right)
        }
        let work = shared.workOfPairs(left.count, right.count, perStep: 2)
        return try quantified(test.pointee.left.quantifier, left.count) {
            index throws(RealmError) in
            if work > 0 { try shared.spend(work) }
            return try inner(test, values[left.first + index], right)
        }
    }

    @inline(__always)
    private func inner(
        _ test: UnsafePointer<ExpressionTest>, _ value: RawValue, _ right: ExpressionOperand
    ) throws(RealmError) -> Bool {
        guard right.shape == .many else {
            return right.isPresent ? try compare(value, right.value, test) : false
        }
        return try quantified(test.pointee.right.quantifier, right.count) {
            index throws(RealmError) in
            try compare(value, values[right.first + index], test)
        }
    }

    /// Without a quantifier, some member is meant (Q2, C7).
    @inline(__always)
    private func quantified(
        _ quantifier: Quantifier, _ count: Int, _ holds: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) -> Bool {
        let isAll = quantifier == .all
        for index in 0..<count where try holds(index) != isAll {
            return !isAll && quantifier != .none
        }
        return isAll || quantifier == .none
    }

    /// Whether the values of an operand pass, of several collections those of one.
    @inline(never)
    func quantified(
        _ operand: ExpressionOperand, _ quantifier: Quantifier,
        _ holds: (RawValue) throws(RealmError) -> Bool
    ) throws(RealmError) -> Bool {
        switch operand.shape {
        case .single: return operand.isPresent ? try holds(operand.value) : false
        case .many:
            return try quantified(quantifier, operand.count) { index throws(RealmError) in
                try holds(values[operand.first + index])
            }
        case .groups:
            for place in operand.groupFirst..<operand.groupFirst + operand.groupCount
            where try quantified(member(operand, place), quantifier, holds) {
                return true
            }
            return false
        }
    }

    /// Equal lengths, and every place satisfies the operator; `!=` is the opposite of `==` (Q6, Q7).
    private func isPositional(
        _ test: UnsafePointer<ExpressionTest>, _ left: ExpressionOperand,
        _ right: ExpressionOperand
    ) throws(RealmError) -> Bool {
        let isUnequal = test.pointee.op == .notEqual
        guard left.count == right.count else { return isUnequal }
        for index in 0..<left.count {
            let holds = try compare(
                values[left.first + index], values[right.first + index], test)
            if holds == isUnequal { return isUnequal }
        }
        return !isUnequal
    }

    // MARK: BETWEEN

    @inline(never)
    private func isInside(
        _ value: RawValue, _ low: RawValue, _ high: RawValue,
        _ test: UnsafePointer<ExpressionTest>
    ) -> Bool {
        if value.isNull { return false }
        let kind = test.pointee.numberKind
        // Links have no order.
        if value.type == ValueType.link.rawValue {
            return ValueOrder.equal(value, low) && ValueOrder.equal(value, high)
        }
        return ValueTest.passes(value, .greaterEqual, low, kind)
            && ValueTest.passes(value, .lessEqual, high, kind)
    }

    // MARK: Two values

    /// Whether `a op b` holds.
    @inline(__always)
    func compare(
        _ a: RawValue, _ b: RawValue, _ test: UnsafePointer<ExpressionTest>
    ) throws(RealmError) -> Bool {
        let int = ValueType.int.rawValue
        if a.type == int, b.type == int, !test.pointee.comparesTypes {
            return test.pointee.op.holds(a.intValue, b.intValue)
        }
        return try compareSlowly(a, b, test)
    }

    @inline(never)
    private func compareSlowly(
        _ a: RawValue, _ b: RawValue, _ test: UnsafePointer<ExpressionTest>
    ) throws(RealmError) -> Bool {
        let op = test.pointee.op
        if test.pointee.comparesTypes { return (a.word0 & b.word0 != 0) != (op == .notEqual) }
        if a.isNull || b.isNull { return compareNulls(a.isNull, b.isNull, test) }
        let family = ValueOrder.family(a)
        let isText = family == .string || family == .binary
        if op == .text { return texts.hasWords(a, test) }
        if op.isTextual || (isText && !test.pointee.options.folding.isEmpty) {
            guard isText, family == ValueOrder.family(b) else { return op == .notEqual }
            if op == .matches, family == .binary { return false }
            return try texts.holds(a.bytes, test, b.bytes, isString: family == .string)
        }
        return ValueTest.passes(a, op, b, test.pointee.numberKind)
    }

    /// At least one side is null (U2–U4, S5, S6).
    private func compareNulls(
        _ left: Bool, _ right: Bool, _ test: UnsafePointer<ExpressionTest>
    ) -> Bool {
        let both = left && right
        let least = test.pointee.nullIsLeast
        let isNever = test.pointee.emptyNeedleFails
        switch test.pointee.op {
        case .equal, .inList, .like: return both
        case .notEqual: return !both
        case .less: return least && left && !right
        case .greater: return least && right && !left
        case .lessEqual: return both || (least && left)
        case .greaterEqual: return both || (least && right)
        case .contains:
            return right && (!left || test.pointee.nullNeedleMatches) && !isNever
        case .beginsWith, .endsWith:
            return right && test.pointee.nullNeedleMatches && !isNever
        case .text: return test.pointee.nullNeedleMatches
        case .matches: return false
        }
    }
}
