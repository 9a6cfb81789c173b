// The bound form of what columns alone cannot answer: operands as instructions for a stack machine,
// paths as steps, and tests that put two operands together. Everything is plain data that the
// filter's program owns; `ExpressionEvaluator` runs it, object by object.
//
// An operand is one value, many values, or several collections of values that are tested one by one
// (`OperandShape`). Instructions stand behind those of their operands, so that nothing recurses
// however deep an expression is; a SUBQUERY runs its own predicate, to the parser's bounded depth.

/// How many values an operand has for one object.
enum OperandShape: UInt8 {
    /// One value, which may be null; or none at all (an index into an empty list).
    case single
    /// One collection: quantifiers apply to its members.
    case many
    /// Collections that are tested one by one; some passing one suffices (QUERY_RULES Q12).
    case groups
}

/// One step of a path. The first ones lead from object to object, the others into mixed values.
struct ExpressionStep {
    enum Kind: UInt8 {
        /// The link in `column`.
        case link
        /// The links in the collection at `column`, null ones left out.
        case links
        /// The link at `index` of the list at `column`.
        case linkAt
        /// The link under the key `text` in the dictionary at `column`.
        case linkForKey
        /// The objects of class `target` that link here through their `column`.
        case backlinks
        // Into mixed values: the entry of a key (or the property of a linked object), the item
        // at an index, all children, all keys.
        case entry, item, children, keys
    }
    var kind: Kind
    var column: Int32 = -1
    /// The class arrived at.
    var target = ClassKey.invalid
    /// Negative: from the end.
    var index: Int64 = 0
    var text = FilterText()
}

/// What is taken of the objects that the steps of a path lead to.
enum PathValue: UInt8 {
    /// The object itself; of a scope whose members are values, the member.
    case member
    case column
    /// Of a collection: its values, its keys, the value at an index, the value under a key.
    case elements, keys, elementAt, elementForKey
    /// Sizes: elements, links that are not null, 1 or 0 of a link, objects that link here through
    /// a column of `target`, and all links there are.
    case countElements, countLinks, countLink, countBacklinks, countAllLinks
}

/// What is made of each value of a path.
enum PathMeasure: UInt8 {
    case none
    /// Bytes of a text, elements of a nested collection; null of other values.
    case size
    /// Bytes of each text, 0 for null; other values drop out (S13).
    case length
    /// The value's types as bits of `TypeSet`.
    case type
}

struct ExpressionPath {
    /// The scope it starts from.
    var slot: Int32 = 0
    /// Range of steps from object to object, and behind them those into mixed values.
    var first: Int32 = 0
    var count: Int32 = 0
    var mixedCount: Int32 = 0
    /// Collections that are gone through around it (`BinderScope.levels`).
    var outerLevels: Int32 = 0
    var value = PathValue.member
    var measure = PathMeasure.none
    var shape = OperandShape.single
    /// Some step leads to many objects: null links then contribute nothing (U7).
    var isToMany = false
    /// Behind a null link there is no value, not even null.
    var needsObject = false
    /// Of the values, before `measure`.
    var kind = OperandKind.null
    var column: Int32 = -1
    var index: Int64 = 0
    var text = FilterText()
    /// Of links: the class. `countBacklinks`: the class that links.
    var target = ClassKey.invalid

    /// From object to object.
    var steps: Range<Int> { Int(first)..<Int(first + count) }
}

/// One instruction.
struct ExpressionCode {
    enum Kind: UInt8 {
        /// Constant `a`.
        case constant
        /// Constants a ..< a + b as a collection.
        case list
        /// Path, aggregate, subquery `a`.
        case path, aggregate, subquery
        /// Function `a` of the last `b` operands.
        case function
        /// The operation `a` (`Predicate.Operation`) on the last two operands; minus of the last.
        case arithmetic, negate
        /// Filter node `a` chooses between the last two operands.
        case choose
    }
    var kind: Kind
    var a: Int32
    var b: Int32 = 0

    /// Of `arithmetic`.
    @inline(__always) var operation: Predicate.Operation {
        Predicate.Operation(rawValue: UInt8(truncatingIfNeeded: a)) ?? .divide
    }
}

/// Minimum, maximum, sum or average over what a path leads to.
struct ExpressionAggregate {
    /// The path to the objects or values.
    var path: Int32
    /// From each object to its value; -1: the path's values themselves.
    var inner: Int32
    var kind: AggregateKind
    /// Of the values taken in.
    var valueKind: ColumnKind
}

/// SUBQUERY: the members of `path` for which a predicate holds, counted or aggregated.
struct ExpressionSubquery {
    var path: Int32
    /// Where the members stand while the predicate runs.
    var slot: Int32
    /// The predicate.
    var root: Int32
    /// The predicate says nothing of other scopes: it is answered once for the whole class.
    var isUncorrelated: Bool
    /// Members are objects of this class; invalid: they are values.
    var target: ClassKey
    /// Into `aggregates` (whose `path` is not used); -1: the members are counted.
    var aggregate: Int32
    /// Range of `keySlots`: the scopes around that the answer depends on, where members of others
    /// are gone through, too, so that the answer is asked for again. Empty: it is not kept.
    var keyFirst: Int32 = 0
    var keyCount: Int32 = 0
    /// What going to one member costs (`ExpressionState.spend`); 0: its members are gone through for
    /// those of one collection at most.
    var weight: Int32 = 0
    /// As many members decide the comparison that the count is made for.
    var enough = Int64.max
}

/// A scope that the answer of a SUBQUERY depends on.
struct ExpressionKeySlot {
    var slot: Int32
    /// Its members are values.
    var holdsValues: Bool
}

/// What nesting may cost in one execution (`ExpressionState.spend`).
enum NestingCost {
    /// Steps: five to ten seconds. To go to a member of a SUBQUERY beyond `freeLevels` is
    /// `perMember` and one for each term of its condition, to go on along a path is 1 for each object
    /// it leads to.
    static let most = 1 << 29
    /// So many collections, one in another, are gone through without counting.
    static let freeLevels: Int32 = 2
    static let perMember: Int32 = 16
}

/// A shape of GEOWITHIN, and where the objects that are tested keep their place.
struct GeoCondition: Sendable {
    let shape: GeoShape
    let typeColumn: Int32
    let coordinatesColumn: Int32
}

/// Two operands and what must hold between them.
struct ExpressionTest {
    enum Kind: UInt8 {
        case compare
        /// Left between right and `upper`, both included.
        case between
        /// `GEOWITHIN`: the objects of the left operand against shape `right.first`.
        case geoWithin
    }
    struct Side {
        /// Range of instructions.
        var first: Int32 = 0
        var count: Int32 = 0
        var shape = OperandShape.single
        var quantifier = Quantifier.unspecified
    }
    var kind = Kind.compare
    var op = ComparisonOperator.equal
    var options = ComparisonOptions()
    /// Two collections meet place by place (Q6); else each member by itself, quantifiers outside.
    var isPositional = false
    var left = Side()
    var right = Side()
    var upper = Side()
    /// How numbers that are not numbers compare (`ValueTest`).
    var numberKind = ColumnKind.double
    /// Null is below every string (U4).
    var nullIsLeast = false
    /// A null needle is in every value, null too (S5).
    var nullNeedleMatches = false
    /// MATCHES: the pattern's place in the program.
    var pattern: Int32 = -1
    /// TEXT: the search (`WordSearch`), and how its index cuts texts into words.
    var search: Int32 = -1
    var wordRules = WordRules.latin
    /// The right side is a list of constants that the left side is, or is not, one of.
    var looksUpList = false
    /// The operands are sets of types: they are equal when they have one in common.
    var comparesTypes = false

    /// LIKE: a backslash takes wildcards literally (X7).
    @inline(__always) var hasEscapes: Bool { options.contains(.format) }
    /// Nothing begins with, ends with or contains null or the empty text (X6).
    @inline(__always) var emptyNeedleFails: Bool { options.contains(.format) }
}

/// The types that `@type` tells apart (K9), one bit each.
enum TypeSet {
    static func bit(_ type: ValueType) -> UInt64 { 1 << UInt64(type.rawValue) }

    private static let words: [(words: String, types: UInt64)] = [
        ("null", bit(.null)),
        ("int integer int16 int32 int64 short long byte char", bit(.int)),
        ("bool boolean", bit(.bool)),
        ("string", bit(.string)),
        ("binary data bytearray byte[] bindata", bit(.binary)),
        ("date datetimeoffset timestamp", bit(.timestamp)),
        ("float", bit(.float)),
        ("double", bit(.double)),
        ("decimal decimal128", bit(.decimal128)),
        ("objectid", bit(.objectId)),
        ("uuid guid", bit(.uuid)),
        ("link objectlink", bit(.link)),
        ("object dictionary", bit(.dictionary)),
        ("array list", bit(.list)),
        ("numeric", bit(.int) | bit(.float) | bit(.double) | bit(.decimal128)),
        ("collection", bit(.list) | bit(.dictionary)),
    ]

    static var wordList: String {
        words.flatMap { $0.words.split(separator: " ") }.joined(separator: ", ")
    }

    /// The types that a word names.
    static func named(_ word: String) -> UInt64? {
        let lowered = word.lowercased()
        return words.first { $0.words.split(separator: " ").contains { $0 == lowered } }?.types
    }

    static func of(_ kind: OperandKind) -> UInt64 { bit(kind.columnKind.valueType) }

    static func of(_ value: RawValue) -> UInt64 {
        bit(value.isNull ? .null : ValueType(rawValue: value.type) ?? .null)
    }
}

/// The tables of all expressions of a filter while it is built.
struct ExpressionTables {
    var steps: [ExpressionStep] = []
    var paths: [ExpressionPath] = []
    var code: [ExpressionCode] = []
    var aggregates: [ExpressionAggregate] = []
    var subqueries: [ExpressionSubquery] = []
    var keySlots: [ExpressionKeySlot] = []
    var tests: [ExpressionTest] = []
    var constants: [BoundConstant] = []
    /// Scopes that the evaluator needs places for: the root and each SUBQUERY.
    var slotCount = 1
    /// The greatest number of operands that wait for an instruction.
    var stackDepth = 1
}
