// Two texts of which neither may be known before: the matchers of text tests in expressions, one per
// test and kind of text, with a needle per row. A needle that is a constant is prepared once.

final class ExpressionTexts {
    private let program: FilterProgram
    /// By test, for strings and for binaries.
    private var matchers: [TextMatcher?]
    /// The needle that a matcher has; only constants, which stay where they are. An empty one lies
    /// where the next begins, so its length counts, too.
    private var needles: [UnsafeRawBufferPointer?]

    init(_ program: FilterProgram) {
        self.program = program
        matchers = Array(repeating: nil, count: program.testCount * 2)
        needles = Array(repeating: nil, count: program.testCount * 2)
    }

    /// Whether `value op needle` holds for two strings, or two binaries.
    func holds(
        _ value: UnsafeRawBufferPointer, _ test: UnsafePointer<ExpressionTest>,
        _ needle: UnsafeRawBufferPointer, isString: Bool
    ) throws(RealmError) -> Bool {
        let (op, negated) = (TextOperator(test.pointee.op), test.pointee.op.isOpposite)
        if test.pointee.emptyNeedleFails, needle.isEmpty,
            op == .beginsWith || op == .endsWith || op == .contains
        {
            return false
        }
        let folding = test.pointee.options.folding
        if folding.isEmpty, op != .like, op != .matches {
            return TextMatch.passes(value, op, needle) != negated
        }
        let index = (test - UnsafePointer(program.tests)) * 2 + (isString ? 0 : 1)
        let matcher: TextMatcher
        if let known = matchers[index] {
            matcher = known
        } else {
            matcher =
                op == .matches
                ? TextMatcher(program.patterns[Int(test.pointee.pattern)])
                : TextMatcher(
                    op, folding, isString: isString, hasEscapes: test.pointee.hasEscapes)
            matchers[index] = matcher
        }
        if op != .matches {
            let known = needles[index]
            if known?.baseAddress != needle.baseAddress || known?.count != needle.count {
                matcher.prepare(needle)
                needles[index] = program.holds(needle.baseAddress) ? needle : nil
            }
        }
        return try matcher.passes(value) != negated
    }

    /// Whether a text has the words of the test's search.
    func hasWords(_ value: RawValue, _ test: UnsafePointer<ExpressionTest>) -> Bool {
        program.searches[Int(test.pointee.search)].matches(WordSet(value, test.pointee.wordRules))
    }
}
