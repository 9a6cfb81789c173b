// The bound form of a predicate: what execution runs over leaves. Negation has been pushed into
// the tests, chains of the same operator are flat, and constants are in the type of the column.
// Everything lies in raw memory that the program owns, so that scans touch no reference counts.

/// What a node of a filter does. For tests of a column, the result for a row is
/// `value is null ? matchesNull : passes(value) != negated`; two-valued logic makes NOT exact (U1).
enum FilterKind: UInt8 {
    /// a, b: range of `children`.
    case and, or
    /// Passes for no value: tests against null, and constants (`negated` and `matchesNull` equal).
    case nothing
    /// Integers, Booleans, link keys: low ... high.
    case intRange
    /// Floats and doubles: bits of the bounds in `low` and `high`; NaN is in no range.
    case doubleRange, floatRange
    /// (low, lowExtra) ... (high, highExtra): seconds and nanoseconds.
    case timestampRange
    /// Members of set `a`.
    case intSet, doubleSet, floatSet, timestampSet, textSet
    /// `op` with the needle at `a`, length `b`; MATCHES: with pattern `lowExtra`.
    case text
    /// `comparison` with the value whose `MixedCell` is at `a`, length `b`.
    case value
    /// Members of set `a`, which are such values.
    case valueSet
    /// As `text`, of mixed values that are of type `low`; with `high`, the opposite.
    case mixedText
    /// The object's text has the words of search `a` (`WordSearch`). Objects pass, not values: null
    /// has no words, and `matchesNull` means nothing.
    case words
    /// Link to the object of class `linkClass` whose primary key is constant `a`.
    case linkToPrimaryKey
    /// Node `a`, applied to the object that the links at `hops` lead to.
    case path
    /// Node `a` holds for some object that `hops` lead to, over links to many and back. A test of
    /// links without a column names those objects themselves.
    case reach
    /// Node `a`, a test of values, holds for some element of the collection `column`; `high` 1: for
    /// some key.
    case elements
    /// As many members as low ... high has the collection `column`; with `linkClass`, as many
    /// objects of that class link here through their `column`. `a`: only those that pass this
    /// SUBQUERY count; -1: all.
    case memberCount
    /// Expression test `a`, evaluated object by object.
    case expression
}

struct FilterNode {
    var kind: FilterKind
    var negated = false
    var matchesNull = false
    /// `TextOperator` of text tests.
    var op = TextOperator.equal
    /// Of `value` tests.
    var comparison = ValueComparison.equal
    /// Text tests: what is ignored; the needle at `a` and the texts of sets are folded so.
    var folding: TextFolding = []
    /// LIKE: backslashes are escapes.
    var hasEscapes = false
    /// How the values of `column` are held.
    var columnKind = ColumnKind.int
    /// The column is the integer primary key whose value is the object key.
    var isKeyColumn = false
    /// Order in which conjuncts run: cheap ones first.
    var cost: UInt8 = 0
    var column: Int32 = -1
    var a: Int32 = 0
    var b: Int32 = 0
    var low: Int64 = 0
    var high: Int64 = 0
    var lowExtra: Int32 = 0
    var highExtra: Int32 = 0
    /// Paths: the first link's target class comes with each hop. Links: the target class.
    var linkClass = ClassKey.invalid

    init(_ kind: FilterKind) { self.kind = kind }

    /// A node that passes for all rows or for none.
    static func constant(_ value: Bool) -> FilterNode {
        var node = FilterNode(.nothing)
        node.negated = value
        node.matchesNull = value
        return node
    }

    /// The result that the node has for every row, if it is the same.
    @inline(__always) var constantResult: Bool? {
        kind == .nothing && negated == matchesNull ? negated : nil
    }
}

/// One step over a link.
struct FilterHop {
    enum Kind: UInt8 {
        case link
        /// The links of a collection.
        case links
        /// From the target of a link of class `target` to the object that has it.
        case backlinks
    }
    /// Column of the link in the class the step starts from; backlinks: in `target`.
    var column: Int32
    var target: ClassKey
    var kind = Kind.link
}

/// Members of an IN list, sorted: integers and double bits as they are; timestamps as pairs; texts
/// as (offset, length) into the program's bytes, ordered by length and bytes; values as (offset,
/// length) in the order of values.
struct FilterSet {
    var first: Int32
    var count: Int32
}

/// A place among the bytes of a filter.
struct FilterText {
    var offset: Int32 = 0
    var count: Int32 = 0
}

/// Owns the memory of a bound predicate. Immutable once built.
final class FilterProgram {
    let nodes: UnsafeMutablePointer<FilterNode>
    let children: UnsafeMutablePointer<Int32>
    let hops: UnsafeMutablePointer<FilterHop>
    let sets: UnsafeMutablePointer<FilterSet>
    /// Members of the sets, two words each.
    let members: UnsafeMutablePointer<(Int64, Int64)>
    /// Needles and texts of sets; one spare byte, so that an address always exists.
    let bytes: UnsafeMutableRawPointer
    let root: Int
    /// Compiled patterns of MATCHES.
    let patterns: [RegularExpression]
    /// Shapes of GEOWITHIN.
    let shapes: [GeoCondition]
    // Tables of the expressions, and what their evaluator needs room for.
    let steps: UnsafeMutablePointer<ExpressionStep>
    let paths: UnsafeMutablePointer<ExpressionPath>
    let code: UnsafeMutablePointer<ExpressionCode>
    let aggregates: UnsafeMutablePointer<ExpressionAggregate>
    let subqueries: UnsafeMutablePointer<ExpressionSubquery>
    let keySlots: UnsafeMutablePointer<ExpressionKeySlot>
    let tests: UnsafeMutablePointer<ExpressionTest>
    let constants: UnsafeMutablePointer<BoundConstant>
    let stepCount: Int
    let pathCount: Int
    let subqueryCount: Int
    let constantCount: Int
    let testCount: Int
    private let byteCount: Int
    let slotCount: Int
    let stackDepth: Int
    /// Paths lead into mixed values, which may link to any class.
    let needsAllTables: Bool
    /// What the names were found in; has the public ones, which files do not.
    let schema: Schema
    /// The query, for messages; empty when nothing is evaluated object by object.
    let texts: [[UInt8]]
    /// What nesting may cost (`ExpressionState.spend`). Tests lower it.
    var workMax = NestingCost.most
    private let memory: UnsafeMutableRawPointer

    init(_ builder: FilterBuilder, root: Int32, schema: Schema, texts: [[UInt8]] = []) {
        self.schema = schema
        self.texts = texts
        // One piece of memory: tables first, bytes last.
        var size = 0
        func place<T>(_ array: [T]) -> Int {
            defer { size += (array.count * MemoryLayout<T>.stride + 15) & ~15 }
            return size
        }
        let nodePlace = place(builder.nodes)
        let memberPlace = place(builder.members)
        let childPlace = place(builder.children)
        let hopPlace = place(builder.hops)
        let setPlace = place(builder.sets)
        let expressions = builder.expressions
        let stepPlace = place(expressions.steps)
        let pathPlace = place(expressions.paths)
        let codePlace = place(expressions.code)
        let aggregatePlace = place(expressions.aggregates)
        let subqueryPlace = place(expressions.subqueries)
        let keySlotPlace = place(expressions.keySlots)
        let testPlace = place(expressions.tests)
        let constantPlace = place(expressions.constants)
        let bytePlace = place(builder.bytes)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size + 16, alignment: 16)
        nodes = Self.fill(memory + nodePlace, builder.nodes)
        members = Self.fill(memory + memberPlace, builder.members)
        children = Self.fill(memory + childPlace, builder.children)
        hops = Self.fill(memory + hopPlace, builder.hops)
        sets = Self.fill(memory + setPlace, builder.sets)
        bytes = UnsafeMutableRawPointer(Self.fill(memory + bytePlace, builder.bytes))
        steps = Self.fill(memory + stepPlace, expressions.steps)
        paths = Self.fill(memory + pathPlace, expressions.paths)
        code = Self.fill(memory + codePlace, expressions.code)
        aggregates = Self.fill(memory + aggregatePlace, expressions.aggregates)
        subqueries = Self.fill(memory + subqueryPlace, expressions.subqueries)
        keySlots = Self.fill(memory + keySlotPlace, expressions.keySlots)
        tests = Self.fill(memory + testPlace, expressions.tests)
        constants = Self.fill(memory + constantPlace, expressions.constants)
        stepCount = expressions.steps.count
        pathCount = expressions.paths.count
        needsAllTables = expressions.paths.contains {
            $0.mixedCount > 0 || $0.value == .countAllLinks
        }
        subqueryCount = expressions.subqueries.count
        constantCount = expressions.constants.count
        testCount = expressions.tests.count
        byteCount = builder.bytes.count
        slotCount = expressions.slotCount
        stackDepth = expressions.stackDepth
        self.memory = memory
        patterns = builder.patterns
        shapes = builder.shapes
        self.root = Int(root)
    }

    @inline(__always)
    private static func fill<T>(
        _ target: UnsafeMutableRawPointer, _ array: [T]
    ) -> UnsafeMutablePointer<T> {
        let typed = target.bindMemory(to: T.self, capacity: array.count)
        array.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { typed.update(from: start, count: source.count) }
        }
        return typed
    }

    deinit { memory.deallocate() }

    /// Whether an address is among the constants.
    func holds(_ address: UnsafeRawPointer?) -> Bool {
        guard let address else { return false }
        let start = UnsafeRawPointer(bytes)
        return address >= start && address < start + byteCount
    }

    @inline(__always) func needle(_ node: FilterNode) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(node.a), count: Int(node.b))
    }

    /// The constant of a `value` test.
    @inline(__always) func constant(_ node: FilterNode) -> RawValue {
        MixedCell.decode(needle(node))
    }

    @inline(__always) func members(_ node: FilterNode) -> UnsafeBufferPointer<(Int64, Int64)> {
        let set = sets[Int(node.a)]
        return UnsafeBufferPointer(start: members + Int(set.first), count: Int(set.count))
    }
}
