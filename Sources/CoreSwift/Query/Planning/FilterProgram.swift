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
    /// `op` with the needle at `a`, length `b`.
    case text
    /// Link to the object of class `linkClass` whose primary key is constant `a`.
    case linkToPrimaryKey
    /// Node `a`, applied to the object that the links at `hops` lead to.
    case path
}

struct FilterNode {
    var kind: FilterKind
    var negated = false
    var matchesNull = false
    /// `TextOperator` of text tests.
    var op = TextOperator.equal
    /// ASCII and simple Unicode letters match in either case.
    var ignoreCase = false
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

enum TextOperator: UInt8 {
    case equal, less, lessEqual, beginsWith, endsWith, contains, like
}

/// One step over a link.
struct FilterHop {
    /// Column of the link in the class the step starts from.
    var column: Int32
    var target: ClassKey
}

/// Members of an IN list, sorted: integers and double bits as they are; timestamps as pairs; texts
/// as (offset, length) into the program's bytes, ordered by length and bytes.
struct FilterSet {
    var first: Int32
    var count: Int32
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
    let nodeCount: Int
    let hasPaths: Bool

    init(_ builder: FilterBuilder, root: Int32) {
        nodes = Self.copy(builder.nodes)
        children = Self.copy(builder.children)
        hops = Self.copy(builder.hops)
        sets = Self.copy(builder.sets)
        members = Self.copy(builder.members)
        let texts = UnsafeMutableRawPointer.allocate(
            byteCount: builder.bytes.count + 16, alignment: 16)
        builder.bytes.withUnsafeBytes { source in
            if let start = source.baseAddress {
                texts.copyMemory(from: start, byteCount: source.count)
            }
        }
        bytes = texts
        self.root = Int(root)
        nodeCount = builder.nodes.count
        hasPaths = !builder.hops.isEmpty
    }

    private static func copy<T>(_ array: [T]) -> UnsafeMutablePointer<T> {
        let copy = UnsafeMutablePointer<T>.allocate(capacity: max(array.count, 1))
        array.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { copy.update(from: start, count: source.count) }
        }
        return copy
    }

    deinit {
        nodes.deallocate()
        children.deallocate()
        hops.deallocate()
        sets.deallocate()
        members.deallocate()
        bytes.deallocate()
    }

    @inline(__always) func needle(_ node: FilterNode) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(node.a), count: Int(node.b))
    }

    @inline(__always) func members(_ node: FilterNode) -> UnsafeBufferPointer<(Int64, Int64)> {
        let set = sets[Int(node.a)]
        return UnsafeBufferPointer(start: members + Int(set.first), count: Int(set.count))
    }
}
