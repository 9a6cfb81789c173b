// The bound form of a predicate: what execution runs over leaves. Negation has been pushed into
// the tests, chains of the same operator are flat, and constants are in the type of the column.
// Everything lies in raw memory that the program owns, so that scans touch no reference counts.

/// What a node of a filter asks. Of values, the result for a row is
/// `value is null ? matchesNull : passes(value) != negated`; two-valued logic makes NOT exact (U1).
/// Payloads are plain numbers: scans copy them without counting references.
enum FilterTest {
    /// All, or one, of the nodes in a range of `children`.
    case and(FilterRange), or(FilterRange)
    /// Passes for no value: tests against null, and constants (`negated` and `matchesNull` equal).
    case nothing
    /// Integers, Booleans, link keys.
    case intRange(IntRange)
    /// NaN is in no range. The bounds of floats are values of `Float`.
    case doubleRange(DoubleRange), floatRange(DoubleRange)
    case timestampRange(TimestampRange)
    case intSet(FilterSet), doubleSet(FilterSet), floatSet(FilterSet), timestampSet(FilterSet)
    /// Of texts folded so.
    case textSet(FilterSet, TextFolding)
    case text(TextCondition)
    /// Against the value of a `MixedCell`.
    case value(ComparisonOperator, FilterText)
    /// Members are such values.
    case valueSet(FilterSet)
    /// Of mixed values of the condition's type; `isOpposite`: that fail.
    case mixedText(TextCondition, isOpposite: Bool)
    /// The object's text has the words of a search of `searches`. Objects pass, not values: null has
    /// no words, and `matchesNull` means nothing.
    case words(Int32)
    /// A link to the object that has this primary key.
    case object(ObjectName)
    /// A node, applied to the object that the links lead to.
    case path(LinkedTest)
    /// A node holds for some object that links lead to, over links to many and back. A test of links
    /// without a column names those objects themselves.
    case reach(LinkedTest)
    /// Node `test`, a test of values, holds for some element of the collection `column`, or for some
    /// key.
    case elements(test: Int32, areKeys: Bool)
    case memberCount(MemberCount)
    /// Expression test, evaluated object by object.
    case expression(Int32)
}

/// Places behind one another in a table of the program.
struct FilterRange {
    var first: Int32
    var count: Int32

    @inline(__always) var indices: Range<Int> { Int(first)..<Int(first &+ count) }
}

extension FilterRange {
    init(_ places: Range<Int>) {
        self.init(
            first: Int32(truncatingIfNeeded: places.lowerBound),
            count: Int32(truncatingIfNeeded: places.count))
    }
}

/// What a range may be of.
protocol RangeBound: Comparable {
    static var least: Self { get }
    static var greatest: Self { get }
}

extension Int64: RangeBound {
    static var least: Int64 { .min }
    static var greatest: Int64 { .max }
}

extension Double: RangeBound {
    static var least: Double { -.infinity }
    static var greatest: Double { .infinity }
}

extension Timestamp: RangeBound {
    static var least: Timestamp { Timestamp(seconds: .min, nanoseconds: .min) }
    static var greatest: Timestamp { Timestamp(seconds: .max, nanoseconds: .max) }
}

/// low ... high
struct ValueRange<Bound: RangeBound> {
    var low = Bound.least
    var high = Bound.greatest

    var isSingle: Bool { low == high }

    @inline(__always) func contains(_ value: Bound) -> Bool { value >= low && value <= high }

    func intersection(_ other: ValueRange) -> ValueRange? {
        let both = ValueRange(low: max(low, other.low), high: min(high, other.high))
        return both.low > both.high ? nil : both
    }
}

typealias IntRange = ValueRange<Int64>
typealias DoubleRange = ValueRange<Double>
typealias TimestampRange = ValueRange<Timestamp>

/// An operator with its right side.
struct TextCondition {
    var op = TextOperator.equal
    /// Of strings, not binaries.
    var isString = true
    /// What is ignored; the needle is folded so.
    var folding: TextFolding = []
    /// LIKE: backslashes are escapes.
    var hasEscapes = false
    var needle = FilterText()
    /// MATCHES: place of the compiled pattern.
    var pattern: Int32 = -1
}

/// An object as `obj('Class', key)` names it.
struct ObjectName {
    enum Key {
        case value(RawValue)
        case text(FilterText)
    }
    var classKey: ClassKey
    /// Of the primary key.
    var column: Int32
    var key: Key
}

/// A node that is asked of the objects at the end of links.
struct LinkedTest {
    /// Of the expressions' steps: `link`, `links` and `backlinks`.
    var links: FilterRange
    var test: Int32
}

/// As many members as `wanted` has the collection `column`, or as many objects of class `origin` link
/// here through their `column`.
struct MemberCount {
    var wanted = IntRange()
    var origin = ClassKey.invalid
    /// Only those that pass this SUBQUERY count; -1: all.
    var subquery: Int32 = -1
}

struct FilterNode {
    var test: FilterTest
    var negated = false
    var matchesNull = false
    /// The column that is tested, and how its values are held.
    var column: Int32 = -1
    var columnKind = ColumnKind.int
    /// Order in which conjuncts run: cheap ones first.
    var cost: UInt8 = 0

    init(_ test: FilterTest) { self.test = test }

    /// A test that holds for what does not pass `test`, and for null.
    init(not test: FilterTest) {
        self.test = test
        negated = true
        matchesNull = true
    }

    /// A node that passes for all rows or for none.
    static func constant(_ value: Bool) -> FilterNode {
        value ? FilterNode(not: .nothing) : FilterNode(.nothing)
    }

    /// The result that the node has for every row, if it is the same.
    @inline(__always) var constantResult: Bool? {
        guard case .nothing = test, negated == matchesNull else { return nil }
        return negated
    }

    /// The parts of an AND or OR.
    @inline(__always) var chain: (isAnd: Bool, parts: FilterRange)? {
        switch test {
        case .and(let parts): return (true, parts)
        case .or(let parts): return (false, parts)
        default: return nil
        }
    }

    @inline(__always) var isChain: Bool { chain != nil }

    /// A condition on what links lead to.
    var isLinked: Bool {
        switch test {
        case .path, .reach: return true
        default: return false
        }
    }

    /// A test of links that names their objects, behind a `reach`.
    var namesTargets: Bool { column < 0 && columnKind == .link }
}

/// Members of an IN list, sorted: integers and double bits as they are; timestamps as pairs; texts
/// as (offset, length) into the program's bytes, ordered by length and bytes; values as (offset,
/// length) in the order of values.
typealias FilterSet = FilterRange

/// A place among the bytes of a filter.
struct FilterText {
    var offset: Int32 = 0
    var count: Int32 = 0

    /// As a member of a set.
    var member: (Int64, Int64) { (Int64(offset), Int64(count)) }
}

/// Tables one behind another in a piece of memory.
private struct TableMemory {
    var next: UnsafeMutableRawPointer

    static func size<T>(_ table: [T]) -> Int {
        (table.count * MemoryLayout<T>.stride + 15) & ~15
    }

    /// Copies a table behind those before. Most are empty.
    @inline(__always)
    mutating func take<T>(_ table: [T]) -> UnsafeMutablePointer<T> {
        let start = next.bindMemory(to: T.self, capacity: table.count)
        if !table.isEmpty { table.withUnsafeBytes { copy($0) } }
        return start
    }

    @inline(never)
    private mutating func copy(_ table: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(start: next, count: table.count).copyMemory(from: table)
        next += (table.count + 15) & ~15
    }
}

/// Owns the memory of a bound predicate. Immutable once built.
final class FilterProgram {
    let nodes: UnsafeMutablePointer<FilterNode>
    let children: UnsafeMutablePointer<Int32>
    /// Members of the sets, two words each.
    let members: UnsafeMutablePointer<(Int64, Int64)>
    /// Needles and texts of sets; one spare byte, so that an address always exists.
    let bytes: UnsafeMutableRawPointer
    let root: Int
    /// Compiled patterns of MATCHES.
    let patterns: [RegularExpression]
    /// What TEXT looks for.
    let searches: [WordSearch]
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
    let nodeCount: Int
    let stepCount: Int
    let pathCount: Int
    let subqueryCount: Int
    let constantCount: Int
    let testCount: Int
    private let byteCount: Int
    let slotCount: Int
    let stackDepth: Int
    /// Some condition is on what links lead to.
    let hasLinks: Bool
    /// Paths lead into mixed values, which may link to any class.
    let needsAllTables: Bool
    /// What the names were found in; has the public ones, which files do not.
    let schema: Schema
    /// The query, for messages; empty when nothing is evaluated object by object.
    let texts: [[UInt8]]
    /// What nesting may cost (`ExpressionState.spend`). Tests lower it.
    var workMax = NestingCost.most
    private let memory: UnsafeMutableRawPointer

    init(_ builder: inout FilterBuilder, root: Int32, schema: Schema, texts: [[UInt8]] = []) {
        self.schema = schema
        self.texts = texts
        // One piece of memory: tables first, bytes last.
        let size =
            TableMemory.size(builder.nodes) + TableMemory.size(builder.members)
            + TableMemory.size(builder.children)
            + TableMemory.size(builder.expressions.steps)
            + TableMemory.size(builder.expressions.paths)
            + TableMemory.size(builder.expressions.code)
            + TableMemory.size(builder.expressions.aggregates)
            + TableMemory.size(builder.expressions.subqueries)
            + TableMemory.size(builder.expressions.keySlots)
            + TableMemory.size(builder.expressions.tests)
            + TableMemory.size(builder.expressions.constants)
            + TableMemory.size(builder.bytes)
        memory = UnsafeMutableRawPointer.allocate(byteCount: size + 16, alignment: 16)
        var rest = TableMemory(next: memory)
        nodes = rest.take(builder.nodes)
        members = rest.take(builder.members)
        children = rest.take(builder.children)
        steps = rest.take(builder.expressions.steps)
        paths = rest.take(builder.expressions.paths)
        code = rest.take(builder.expressions.code)
        aggregates = rest.take(builder.expressions.aggregates)
        subqueries = rest.take(builder.expressions.subqueries)
        keySlots = rest.take(builder.expressions.keySlots)
        tests = rest.take(builder.expressions.tests)
        constants = rest.take(builder.expressions.constants)
        bytes = UnsafeMutableRawPointer(rest.take(builder.bytes))
        nodeCount = builder.nodes.count
        stepCount = builder.expressions.steps.count
        pathCount = builder.expressions.paths.count
        hasLinks =
            !builder.expressions.subqueries.isEmpty || builder.nodes.contains { $0.isLinked }
        needsAllTables = builder.expressions.paths.contains {
            $0.mixedCount > 0 || $0.value == .countAllLinks
        }
        subqueryCount = builder.expressions.subqueries.count
        constantCount = builder.expressions.constants.count
        testCount = builder.expressions.tests.count
        byteCount = builder.bytes.count
        slotCount = builder.expressions.slotCount
        stackDepth = builder.expressions.stackDepth
        patterns = builder.patterns
        searches = builder.searches
        shapes = builder.shapes
        self.root = Int(root)
    }

    deinit { memory.deallocate() }

    /// Whether an address is among the constants.
    func holds(_ address: UnsafeRawPointer?) -> Bool {
        guard let address else { return false }
        let start = UnsafeRawPointer(bytes)
        return address >= start && address < start + byteCount
    }

    @inline(__always) func text(_ place: FilterText) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(place.offset), count: Int(place.count))
    }

    /// The value of a `MixedCell`.
    @inline(__always) func value(_ cell: FilterText) -> RawValue { MixedCell.decode(text(cell)) }

    /// The nodes of a chain.
    @inline(__always) func parts(_ range: FilterRange) -> UnsafeBufferPointer<Int32> {
        UnsafeBufferPointer(start: children + Int(range.first), count: Int(range.count))
    }

    /// The links of a condition, in the order in which they are crossed.
    @inline(__always) func links(_ linked: LinkedTest) -> UnsafeBufferPointer<ExpressionStep> {
        UnsafeBufferPointer(start: steps + Int(linked.links.first), count: Int(linked.links.count))
    }

    @inline(__always) func members(_ set: FilterSet) -> UnsafeBufferPointer<(Int64, Int64)> {
        UnsafeBufferPointer(start: members + Int(set.first), count: Int(set.count))
    }

    /// A member of a set of texts or values.
    @inline(__always) func text(_ member: (Int64, Int64)) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(member.0), count: Int(member.1))
    }

    /// The object that `obj('Class', key)` names.
    func find(_ name: ObjectName, _ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        let key: RawValue =
            switch name.key {
            case .value(let value): value
            case .text(let place): .string(bytes + Int(place.offset), Int(place.count))
            }
        return try snapshot.table(name.classKey).find(primaryKey: key, column: Int(name.column))
    }
}
