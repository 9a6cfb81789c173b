// From syntax tree to filter: names are looked up, arguments put in, types compared (QUERY_RULES N to S,
// P). Errors come in the order of E2: all names from left to right, then the arguments, then the
// types.
//
// The operands of a condition are typed first (Binder+Operands), and what goes together is checked
// (Binder+Comparisons, Binder+Constants). Then the condition is lowered: one property, or the members of a
// collection, against constants becomes a test of a column (Binder+Lowering, Binder+Members, Binder+Tests).
// Everything else becomes an expression that is evaluated object by object.

/// What the binder finds out about a node of the tree, which stays as the parser made it. Plain numbers:
/// a query has one of these for each node.
struct BoundNode {
    enum Meaning {
        /// What the tree says.
        case itself
        /// Place in `paths`.
        case path(Int32)
        /// Place in `aggregates`.
        case aggregate(Int32)
        case function(ExpressionFunction)
        /// `True` and the like, where no property has that name (X2).
        case truth(Bool)
        /// The filter node of a predicate.
        case filter(Int32)
    }
    var meaning = Meaning.itself
    /// The SUBQUERY that it stands in; 0: none.
    var scope: Int32 = 0
    /// It is of a condition of TERNARY, which is evaluated object by object.
    var isCondition = false
}

/// What canonical text needs of a node: names as they were found, and what a constant was read as.
struct NodeText {
    var text = ""
    var isDecimal = false
    /// An integer that met floats as an integer.
    var isExact = false
    var truth: Bool?
}

struct Binder {
    let text: QueryText
    let schema: Schema
    /// Index of the queried class in `schema.classes`.
    let rootClass: Int
    let arguments: [QueryArgument]
    let tree: SyntaxTree
    var filter: FilterBuilder
    /// By node of the tree.
    var bound: [BoundNode] = []
    var paths: [BoundPath] = []
    var aggregates: [BinderAggregate] = []
    /// The queried objects, then the members of each SUBQUERY.
    var scopes: [BinderScope]
    /// By scope, the scopes around it that something in it says something of.
    var usedScopes: [Int32: Set<Int32>] = [:]
    /// By scope, what its predicate consists of besides constants; empty until it is asked for.
    var termsOfScope: [Int32] = []
    var subqueries: [BinderSubquery] = []
    /// SUBQUERYs that names have not come to yet, the next one last; those around the place.
    var pendingScopes: [Int] = []
    var openSubqueries: [Int] = []
    /// Off: every condition becomes an expression. For tests that compare both forms.
    var usesColumns = true
    /// The predicate that is bound now is of a condition of TERNARY.
    var isInCondition = false
    /// For canonical text, by node; empty when none is wanted.
    var nodeTexts: [NodeText] = []
    /// Of paths: in the order in which they were resolved, then to their nodes.
    var recordsTexts = false
    var texts: [String] = []
    /// What is read at the moment: bytes of the text. Where an error is thrown, the mistake is in it.
    var reading: (start: Int32, end: Int32) = (0, 0)

    init(
        _ text: QueryText, _ tree: SyntaxTree, _ schema: Schema, _ rootClass: Int,
        _ arguments: [QueryArgument], _ filter: FilterBuilder, values: ColumnKind? = nil
    ) {
        self.text = text
        self.tree = tree
        self.schema = schema
        self.rootClass = rootClass
        self.arguments = arguments
        self.filter = filter
        var root = BinderScope(classIndex: values == nil ? rootClass : -1)
        if let values { root.kind = OperandKind(values) }
        scopes = [root]
        // One by one: `Array(repeating:count:)` looks the array's type up when it runs.
        bound.reserveCapacity(tree.nodes.count)
        self.filter.nodes.reserveCapacity(self.filter.nodes.count + 4)
        for _ in 0..<tree.nodes.count { bound.append(BoundNode()) }
    }

    /// Binds the predicate and the suffixes; returns the predicate's node in `filter` (not in
    /// normal form yet) and appends to `ordering`.
    mutating func bind(_ ordering: inout [OrderingStep]) throws(RealmError) -> Int32 {
        try resolveNames()
        try checkArguments()
        let root = try bindPredicate()
        if !tree.suffixes.isEmpty {
            ordering.append(contentsOf: try boundOrdering(try resolveOrdering()))
        }
        return root
    }

    // MARK: Errors

    func invalidQuery(_ problem: String) -> RealmError { text.error(.invalidQuery, problem) }
    func invalidArgument(_ problem: String) -> RealmError {
        text.error(.invalidQueryArg, problem)
    }
    /// What is wrong with a constant, which the text has or the caller gave.
    func invalid(_ constant: BoundConstant, _ problem: String) -> RealmError {
        text.error(constant.isArgument ? .invalidQueryArg : .invalidQuery, problem)
    }
    func spelling(_ node: SyntaxNode) -> String { text.string(node) }
    func spelling(_ index: Int32) -> String { spelling(tree[index]) }

    // MARK: Nodes

    /// A node as it is meant.
    @inline(__always) func syntax(_ index: Int32) -> SyntaxNode {
        var node = tree[index]
        if case .truth(let value) = bound[Int(index)].meaning {
            node.kind = value ? .keywordTrue : .keywordFalse
        }
        return node
    }

    /// Place of a path node's path.
    func place(_ index: Int32) -> Int {
        guard case .path(let place) = bound[Int(index)].meaning else {
            invariant(false, "node \(index) is no path")
            return 0
        }
        return Int(place)
    }

    func path(_ index: Int32) -> BoundPath { paths[place(index)] }

    /// Notes what a constant was read as, for canonical text.
    mutating func note(_ constant: BoundConstant, _ body: (inout NodeText) -> Void) {
        if recordsTexts, constant.node >= 0 { body(&nodeTexts[Int(constant.node)]) }
    }

    // MARK: Arguments

    private mutating func checkArguments() throws(RealmError) {
        if tree.formatArguments > 0 || (tree.dialect == .format && !tree.hasPositionalArguments) {
            let given = tree.argumentCount ?? arguments.count
            if tree.formatArguments != given {
                let more = tree.splicedArguments
                throw invalidArgument(
                    "the format takes \(tree.formatArguments + more) arguments, "
                        + "\(given + more) were given")
            }
        }
        guard tree.hasPositionalArguments || tree.formatArguments > 0 else { return }
        for node in tree.nodes where node.kind == .argument {
            reading = (node.start, node.end)
            _ = try argument(Int64(node.payload), spelling(node))
        }
    }

    /// The argument with this index (P2).
    func argument(_ index: Int64, _ token: String) throws(RealmError) -> QueryArgument {
        guard index >= 0, index < Int64(arguments.count) else {
            let given =
                arguments.isEmpty
                ? "no arguments were given"
                : "only \(arguments.count) \(arguments.count == 1 ? "was" : "were") given"
            throw invalidArgument("argument \(token) has index \(index), but \(given)")
        }
        return arguments[Int(index)]
    }

    // MARK: Constants

    /// Whether the node is a list literal or a list argument.
    func isList(_ index: Int32) -> Bool {
        let node = syntax(index)
        return node.kind == .list || listArgument(node) != nil
    }

    /// The values of a list argument.
    private func listArgument(_ node: SyntaxNode) -> [Value]? {
        guard node.kind == .argument, case .list(let values) = arguments[Int(node.payload)] else {
            return nil
        }
        return values
    }

    /// The members of a list literal or list argument.
    mutating func listMembers(_ index: Int32) throws(RealmError) -> [BoundConstant] {
        let node = syntax(index)
        var members: [BoundConstant] = []
        if let values = listArgument(node) {
            members.reserveCapacity(values.count)
            for value in values { members.append(argumentConstant(value, index)) }
        } else {
            members.reserveCapacity(Int(node.b))
            for child in tree.members(node) { members.append(try constant(child)) }
        }
        return members
    }

    /// The value of a constant node.
    mutating func constant(_ index: Int32) throws(RealmError) -> BoundConstant {
        let node = syntax(index)
        var constant: BoundConstant
        switch node.kind {
        case .integer:
            constant = BoundConstant(.int(Int64(bitPattern: node.payload)))
            if node.options == 1 {
                constant.huge = Double(Literals.decimalDigits(spelling(node)))
            }
            constant.isComputed = node.options == 2
        case .double, .infinity: constant = BoundConstant(.double(node.double))
        case .nan: constant = BoundConstant(.double(.nan))
        case .float: constant = BoundConstant(.float(node.float))
        case .decimal:
            constant = BoundConstant(.decimal(Decimal128(String(inParentheses(node))) ?? .nan))
        case .keywordTrue: constant = BoundConstant(.bool(true))
        case .keywordFalse: constant = BoundConstant(.bool(false))
        case .null: constant = BoundConstant(RawValue.null)
        case .string, .base64: constant = BoundConstant(.string, try text(node))
        case .binary: constant = BoundConstant(.binary, try text(node))
        case .date: constant = BoundConstant(node.date)
        case .objectKey:
            constant = BoundConstant(ObjectKey(rawValue: Int64(bitPattern: node.payload)))
        case .typedLink:
            constant = BoundConstant(
                .link(
                    ClassKey(rawValue: UInt32(bitPattern: node.extra)),
                    ObjectKey(rawValue: Int64(bitPattern: node.payload))))
        case .uuid: constant = BoundConstant(.uuid(try UUIDValue(parsing: inParentheses(node))))
        case .objectId:
            constant = BoundConstant(.objectId(try ObjectId(parsing: inParentheses(node))))
        case .object: constant = try objectConstant(node)
        case .argument:
            guard case .scalar(let value) = try argument(Int64(node.payload), spelling(node))
            else {
                throw invalidArgument(
                    "argument \(spelling(node)) is a list where a single value is required")
            }
            if node.quantifier != .unspecified {
                throw invalidQuery(
                    "the quantifier \(node.quantifier.word) needs a list, "
                        + "argument \(spelling(node)) is a single value")
            }
            return argumentConstant(value, index)
        default: throw invalidQuery("'\(spelling(node))' is no constant")
        }
        constant.node = index
        return constant
    }

    /// What stands between the parentheses of `uuid(…)`, `oid(…)` and `decimal(…)`.
    private func inParentheses(_ node: SyntaxNode) -> Substring {
        let text = spelling(node)
        return (text.split(separator: "(").last ?? "").dropLast()
    }

    /// Puts the bytes of a string, base64 or binary node among the filter's.
    private mutating func text(_ node: SyntaxNode) throws(RealmError) -> FilterText {
        if let plain = Literals.plain(text, node) { return filter.addText(plain) }
        return filter.addText(try Literals.bytes(text, node))
    }

    /// An argument's value.
    private mutating func argumentConstant(_ value: Value, _ node: Int32) -> BoundConstant {
        var constant = BoundConstant(value: value)
        switch value {
        case .string(let text): constant.text = filter.addText(Array(text.utf8))
        case .binary(let bytes): constant.text = filter.addText(bytes)
        default: break
        }
        constant.isArgument = true
        constant.node = node
        return constant
    }

    /// `obj('Class', key)`.
    private mutating func objectConstant(_ node: SyntaxNode) throws(RealmError) -> BoundConstant {
        let name = String(decoding: try Literals.bytes(text, node), as: UTF8.self)
        guard let target = schema.classIndex(called: name) else {
            throw invalidQuery("obj(): there is no class '\(name)'")
        }
        let key = try constant(node.a)
        let shown = shownName(target)
        guard let property = schema.classes[target].primaryKeyProperty else {
            throw invalidQuery("obj(): class '\(shown)' has no primary key")
        }
        guard key.kind == .null ? property.isNullable : key.kind == Self.kind(property.type) else {
            throw invalid(
                key,
                "obj(): the primary key '\(shown).\(property.name)' cannot be of type "
                    + key.typeWord)
        }
        return BoundConstant(
            ObjectName(
                classKey: schema.classes[target].key, column: Int32(property.key.column),
                key: key.kind == .string ? .text(key.text) : .value(key.raw)))
    }

    // MARK: Predicates

    /// The filter node made for a predicate node.
    func result(_ index: Int32) -> Int32 {
        guard case .filter(let node) = bound[Int(index)].meaning else {
            invariant(false, "node \(index) is no predicate")
            return 0
        }
        return node
    }

    /// Binds the predicate, whose names have been resolved.
    mutating func bindPredicate() throws(RealmError) -> Int32 {
        guard tree.root >= 0 else { return filter.add(.constant(true)) }
        let allowsColumns = usesColumns
        // Parents stand behind their children, so one pass in order binds everything.
        for index in tree.nodes.indices {
            let node = tree.nodes[index]
            guard node.kind.isPredicate else { continue }
            reading = (node.start, node.end)
            isInCondition = bound[index].isCondition
            usesColumns = allowsColumns && !isInCondition
            let made: Int32
            switch node.kind {
            case .and, .or:
                let parts = tree.members(node).map { result($0) }
                made = filter.add(
                    node.kind == .and ? FilterTest.and : FilterTest.or, parts)
            case .not: made = filter.negate(result(node.a))
            case .comparison: made = try bindComparison(node, scope(Int32(index)))
            case .between: made = try bindBetween(node, scope(Int32(index)))
            case .booleanPath: made = try bindBooleanPath(node, scope(Int32(index)))
            case .geoWithin: made = try bindGeoWithin(node)
            default: made = filter.add(.constant(node.kind == .truePredicate))
            }
            bound[index].meaning = .filter(made)
        }
        return result(tree.root)
    }
}
