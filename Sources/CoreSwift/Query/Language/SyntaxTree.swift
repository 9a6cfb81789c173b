// What the parser makes of a text: flat tables instead of a graph of objects, so that chains of
// tens of thousands of terms and deep parentheses cost no recursion, neither to build nor to walk
// nor to free. Children stand before their parents.

enum SyntaxKind: UInt8 {
    // Constants. `token` gives the spelling of strings.
    case integer, double, float, decimal, string, base64, date, uuid, objectId, objectKey
    case typedLink, infinity, nan, keywordTrue, keywordFalse, null
    /// Bytes: `operand` is a string or base64 token.
    case binary
    /// payload: index of the argument.
    case argument
    /// `obj('Class', key)`: start and end name the class token, a: node of the key.
    case object
    /// a, b: range of `children`.
    case list
    // Operands.
    /// a, b: first step and count; `op` is a `PathEnding`.
    case path
    /// As path; extra: count of the steps after the aggregate word.
    case aggregate
    /// a: index into `subqueries`; `op` as in path.
    case subquery
    /// start, end: the name; a, b: range of `children`.
    case function
    /// `op` is a `Predicate.Operation`; a, b: operands.
    case arithmetic
    /// a: operand.
    case negate
    // Geographic shapes: a, b: range of `children` (coordinates; polygons: rings).
    case geoBox, geoPolygon, geoCircle, geoRing
    // Predicates from here on.
    case truePredicate, falsePredicate
    /// a, b: range of `children`.
    case and, or
    /// a: operand.
    case not
    /// `op` is a `ComparisonOperator`; a, b: operands.
    case comparison
    /// a: operand, b: list (whose members may be operands here) or argument.
    case between
    /// a: path, b: shape or argument.
    case geoWithin
    /// a: the Boolean path that stands alone.
    case booleanPath

    @inline(__always) var isPredicate: Bool { rawValue >= SyntaxKind.truePredicate.rawValue }
    @inline(__always) var isConstant: Bool { rawValue <= SyntaxKind.object.rawValue }

    /// The constant that one token is; both kinds have them in the same order.
    init?(constant token: TokenKind) {
        guard token.isConstant else { return nil }
        self.init(rawValue: token.rawValue - TokenKind.integer.rawValue)
    }
}

/// What must hold between two operands.
public enum ComparisonOperator: UInt8, Sendable {
    case equal, notEqual, less, lessEqual, greater, greaterEqual
    case inList
    case beginsWith, endsWith, contains, like, matches, text

    /// The operator as canonical text has it.
    var spelling: String {
        switch self {
        case .equal: return "=="
        case .notEqual: return "!="
        case .less: return "<"
        case .lessEqual: return "<="
        case .greater: return ">"
        case .greaterEqual: return ">="
        case .inList: return "IN"
        case .beginsWith: return "BEGINSWITH"
        case .endsWith: return "ENDSWITH"
        case .contains: return "CONTAINS"
        case .like: return "LIKE"
        case .matches: return "MATCHES"
        case .text: return "TEXT"
        }
    }

    var isOrdering: Bool {
        rawValue >= ComparisonOperator.less.rawValue
            && rawValue <= ComparisonOperator.greaterEqual.rawValue
    }
    /// BEGINSWITH, ENDSWITH, CONTAINS, LIKE and MATCHES.
    var isTextual: Bool {
        rawValue >= ComparisonOperator.beginsWith.rawValue
            && rawValue <= ComparisonOperator.matches.rawValue
    }

    /// The operator with its operands exchanged; textual operators have none.
    var mirrored: ComparisonOperator {
        switch self {
        case .less: return .greater
        case .lessEqual: return .greaterEqual
        case .greater: return .less
        case .greaterEqual: return .lessEqual
        default: return self
        }
    }
}

/// The letters in the brackets behind an operator.
public struct ComparisonOptions: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `A` is `a`.
    public static let ignoreCase = ComparisonOptions(rawValue: 1)
    /// `é` is `e`.
    public static let ignoreDiacritics = ComparisonOptions(rawValue: 2)
    static let normalized = ComparisonOptions(rawValue: 4)
    /// The text operator means what it does in format strings: nothing begins with, ends with or
    /// contains null or the empty text (X6), and LIKE knows escapes (X7). The parser sets it there;
    /// in other texts it is the letter f, which canonical text has where it makes a difference.
    static let format = ComparisonOptions(rawValue: 8)

    /// What the options amount to: `n` overrides the others (B3).
    var effective: ComparisonOptions {
        contains(.normalized) ? [] : intersection([.ignoreCase, .ignoreDiacritics])
    }
    /// What a comparison with these options ignores.
    var folding: TextFolding { TextFolding(rawValue: effective.rawValue) }
    /// As canonical text has them.
    var spelling: String {
        var letters = ""
        if effective.contains(.ignoreCase) { letters += "c" }
        if effective.contains(.ignoreDiacritics) { letters += "d" }
        if contains(.format) { letters += "f" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

/// For how many members of a collection a comparison is to hold; `unspecified` means any, but for whole lists
/// beside lists.
public enum Quantifier: UInt8, Sendable {
    case unspecified, any, all, none

    var word: String { self == .unspecified ? "" : "\(self)".uppercased() }
    /// As canonical text has it before what it is of.
    var prefix: String { self == .unspecified ? "" : word + " " }
}

/// What stands behind the steps of a path.
enum PathEnding: UInt8, CaseIterable {
    case value, size, type, minimum, maximum, sum, average

    var spelling: String {
        switch self {
        case .value: return ""
        case .size: return "@size"
        case .type: return "@type"
        case .minimum: return "@min"
        case .maximum: return "@max"
        case .sum: return "@sum"
        case .average: return "@avg"
        }
    }

    static func named(_ word: String) -> PathEnding? {
        word == "@count" ? .size : allCases.first { $0 != .value && $0.spelling == word }
    }
}

struct SyntaxNode: Spelled {
    var kind: SyntaxKind
    var op: UInt8 = 0
    /// Comparisons: `ComparisonOptions`. Integers: 1 when the spelling exceeds 64 bits, 2 when they
    /// stay integers beside floats (`int(…)`).
    var options: UInt8 = 0
    var quantifier = Quantifier.unspecified
    var a: Int32 = 0
    var b: Int32 = 0
    /// Byte offsets of the spelling (for errors, and for the values of strings).
    var start: Int32
    var end: Int32
    var extra: Int32 = 0
    var payload: UInt64 = 0

    init(_ kind: SyntaxKind, _ start: Int32, _ end: Int32) {
        self.kind = kind
        self.start = start
        self.end = end
    }
    init(_ kind: SyntaxKind, _ token: Token) {
        self.init(kind, token.start, token.end)
        payload = token.payload
        extra = token.extra
    }

    /// The range that `a` and `b` are: of children, or of steps.
    var range: Range<Int> {
        get { Int(a)..<Int(a + b) }
        set {
            a = Int32(truncatingIfNeeded: newValue.lowerBound)
            b = Int32(truncatingIfNeeded: newValue.count)
        }
    }
    /// Of aggregates: the steps behind the word.
    var rest: Range<Int> { Int(a + b)..<Int(a + b + extra) }
    /// Of paths, aggregates and SUBQUERYs.
    var ending: PathEnding { PathEnding(rawValue: op) ?? .value }
    /// Values of constants.
    var double: Double { Double(bitPattern: payload) }
    var float: Float { Float(bitPattern: UInt32(truncatingIfNeeded: payload)) }
    var date: Timestamp { Timestamp(seconds: Int64(bitPattern: payload), nanoseconds: extra) }
    /// Of comparisons, and of arithmetic.
    var comparison: ComparisonOperator { ComparisonOperator(rawValue: op) ?? .equal }
    var operation: Predicate.Operation { Predicate.Operation(rawValue: op) ?? .divide }
}

enum PathStepKind: UInt8 {
    case name
    /// `[n]`; negative counts from the end.
    case index
    case first, last
    /// `[*]`
    case every
    /// `['key']`, or in base64.
    case key
    /// `[$n]`
    case argumentIndex
    /// `[%K]`: a key, or `#any` for `[*]`.
    case nameIndex
    /// `@links`, before `@count` or the names of a class and a property.
    case allLinks
    case keys, values
    /// `$Kn` or `%K`: index is the argument's.
    case keyPathArgument
}

struct PathStep: Spelled {
    var kind: PathStepKind
    /// Names: written behind `#`, which any text in quotes may follow. No variable is meant.
    var isEscaped = false
    var start: Int32
    var end: Int32
    var index: Int64 = 0

    init(_ kind: PathStepKind, _ token: Token) {
        self.kind = kind
        start = token.start
        end = token.end
    }
}

struct SyntaxSubquery {
    /// The collection: range of `steps`.
    var collection: Range<Int>
    /// The variable's spelling.
    var variable: Token
    /// Nodes of the predicate are `nodeFirst...predicate`.
    var nodeFirst: Int32
    var predicate: Int32 = 0
    /// Steps behind an aggregate word: range of `steps`.
    var rest = 0..<0
}

struct SyntaxSuffix {
    enum Kind: UInt8 { case sort, distinct, limit, offset }
    var kind: Kind
    /// SORT and DISTINCT: range of `sortKeys`.
    var keys = 0..<0
    /// LIMIT and OFFSET: node of the number.
    var number: Int32 = -1
}

struct SyntaxSortKey {
    /// Range of `steps`.
    var steps: Range<Int>
    var descending = false
}

/// A class, so that passing it on costs one reference count and not one per table. Written by the
/// parser; after that nobody changes it.
final class SyntaxTree {
    var nodes: [SyntaxNode] = []
    var steps: [PathStep] = []
    var children: [Int32] = []
    var subqueries: [SyntaxSubquery] = []
    var suffixes: [SyntaxSuffix] = []
    var sortKeys: [SyntaxSortKey] = []
    var root: Int32 = -1
    /// The dialect decides what some operators mean (QUERY_RULES X), too.
    var dialect = QueryDialect.core
    /// Format strings: how many arguments there are before the values of variables.
    var argumentCount: Int?
    /// How many arguments of a format string the text consumes.
    var formatArguments = 0
    /// How many more were key paths and stand in the text.
    var splicedArguments = 0
    /// Whether `$n` arguments occur.
    var hasPositionalArguments = false

    init() {
        // Two comparisons.
        nodes.reserveCapacity(8)
        steps.reserveCapacity(2)
    }

    @inline(__always) subscript(_ index: Int32) -> SyntaxNode { nodes[Int(index)] }

    /// A node of one operand or two: it begins where it is said to, or with the first one, and ends with
    /// the last one.
    func node(
        _ kind: SyntaxKind, from start: Int32? = nil, _ a: Int32, _ b: Int32? = nil
    ) -> SyntaxNode {
        var node = SyntaxNode(kind, start ?? self[a].start, self[b ?? a].end)
        node.a = a
        node.b = b ?? 0
        return node
    }

    /// Adds a node; returns its place.
    @inline(__always) func add(_ node: SyntaxNode) -> Int32 {
        nodes.add(node)
    }

    /// Adds a node with these children.
    func add(_ node: SyntaxNode, of members: some Collection<Int32>) -> Int32 {
        var node = node
        node.range = children.count..<children.count + members.count
        children.append(contentsOf: members)
        return add(node)
    }

    /// The children of a node that has a range of them.
    func members(_ node: SyntaxNode) -> ArraySlice<Int32> { children[node.range] }
}

extension Array {
    /// Appends an element; returns its place, as the tables of queries name it.
    @inline(__always) mutating func add(_ element: Element) -> Int32 {
        append(element)
        return Int32(truncatingIfNeeded: count - 1)
    }
}
