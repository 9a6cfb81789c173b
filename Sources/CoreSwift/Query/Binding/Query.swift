// A query: parsed, bound to a class, immutable. Results and the C ABI hold it; it can be executed
// against any snapshot whose schema is the one it was bound to.

/// A parsed query of one class, or of the values of a collection.
package final class Query: @unchecked Sendable {
    /// The class whose objects the query selects.
    package let classKey: ClassKey
    /// Queries of a collection of values, not objects: what the values are. `classKey` is then the
    /// class of the collection's owner.
    let values: ColumnKind?
    let schema: Schema
    let filter: FilterProgram
    /// SORT, DISTINCT and LIMIT in the order of the text.
    let ordering: [OrderingStep]
    /// What the query was made of; several when queries were combined.
    let parts: [QueryPart]

    /// One text with its arguments.
    struct QueryPart {
        var text: [UInt8]
        var tree: SyntaxTree
        var arguments: [QueryArgument]
    }

    /// Parses and binds `text`; `$n` stands for `arguments[n]`. With `values`, for the values of a collection
    /// whose owner is of class `classKey` (QUERY_RULES B11): the predicate calls them SELF. Without
    /// `usesColumns` every condition is evaluated object by object, without indexes: the slow way that
    /// tests compare with. `format`: the text is a format string.
    ///
    /// Throws `.invalidQueryString` for texts that are not of the grammar, `.invalidQuery` and
    /// `.invalidQueryArg` for names and types that do not fit the schema, `.noSuchTable` for an
    /// unknown class, `.notSupported` for constructs that cannot be executed yet.
    static func parse(
        _ text: UnsafeBufferPointer<UInt8>, _ arguments: [QueryArgument], _ schema: Schema,
        _ classKey: ClassKey, values: ColumnKind? = nil, usesColumns: Bool = true,
        format: Format? = nil
    ) throws(RealmError) -> Query {
        // Unknown classes are an error before bad texts.
        _ = try index(of: classKey, in: schema)
        return try QueryText.with(text) { text throws(RealmError) in
            let tree = try Parser.parse(
                text, dialect: format == nil ? .core : .format, variables: format?.names ?? [],
                argumentCount: format?.argumentCount)
            tree.splicedArguments = format?.splicedCount ?? 0
            let part = QueryPart(
                text: Array(UnsafeBufferPointer(start: text.base, count: text.count)), tree: tree,
                arguments: arguments)
            return try bind(part, text, schema, classKey, values, usesColumns)
        }
    }

    /// Binds a predicate that was built without text, for objects of a class or for the values of a
    /// collection.
    ///
    /// Throws as `parse`, but for what only texts can have.
    static func make(
        _ predicate: Predicate, schema: Schema, classKey: ClassKey, values: ColumnKind? = nil,
        asFormat: Bool = false
    ) throws(RealmError) -> Query {
        let writer = try PredicateWriter(predicate, asFormat ? .format : .core)
        let part = QueryPart(text: writer.text, tree: writer.tree, arguments: writer.arguments)
        return try QueryText.with(writer.text) { text throws(RealmError) in
            try bind(part, text, schema, classKey, values, true)
        }
    }

    /// One part, which most queries have alone: its tables go into the program as they are.
    private static func bind(
        _ part: QueryPart, _ text: QueryText, _ schema: Schema, _ classKey: ClassKey,
        _ values: ColumnKind?, _ usesColumns: Bool
    ) throws(RealmError) -> Query {
        var binder = Binder(
            text, part.tree, schema, try index(of: classKey, in: schema), part.arguments,
            FilterBuilder(), values: values)
        binder.usesColumns = usesColumns
        var ordering: [OrderingStep] = []
        let root = try binder.bind(&ordering)
        return Query(classKey, values, schema, &binder.filter, root, ordering, [part])
    }

    /// A query that selects every object of a class.
    package static func all(
        schema: Schema, classKey: ClassKey
    ) throws(RealmError) -> Query {
        try Query(classKey, nil, schema, [], [])
    }

    /// Conditions of both queries; the ordering of `next` follows that of this query (D13).
    package func and(_ next: Query) throws(RealmError) -> Query {
        guard next.classKey == classKey, next.values == values else {
            throw RealmError(
                .invalidProperty, "the queries to combine are for different classes")
        }
        return try Query(
            classKey, values, schema, parts + next.parts, ordering + next.ordering)
    }

    /// The conditions alone, without SORT, DISTINCT and LIMIT.
    package func withoutOrdering() -> Query {
        ordering.isEmpty ? self : Query(sharing: self, ordering: [])
    }

    private init(
        _ classKey: ClassKey, _ values: ColumnKind?, _ schema: Schema,
        _ builder: inout FilterBuilder, _ root: Int32, _ ordering: [OrderingStep],
        _ parts: [QueryPart]
    ) {
        self.classKey = classKey
        self.values = values
        self.schema = schema
        let root = builder.finish(root)
        let hasTests = !builder.expressions.tests.isEmpty
        filter = FilterProgram(
            &builder, root: root, schema: schema,
            texts: hasTests ? parts.map { $0.text } : [])
        self.ordering = ordering
        self.parts = parts
    }

    private init(sharing other: Query, ordering: [OrderingStep]) {
        classKey = other.classKey
        values = other.values
        schema = other.schema
        filter = other.filter
        parts = other.parts
        self.ordering = ordering
    }

    /// Binds several parts anew, as one conjunction.
    private convenience init(
        _ classKey: ClassKey, _ values: ColumnKind?, _ schema: Schema, _ parts: [QueryPart],
        _ ordering: [OrderingStep]
    ) throws(RealmError) {
        let classIndex = try Self.index(of: classKey, in: schema)
        var builder = FilterBuilder()
        var roots: [Int32] = []
        for part in parts {
            try QueryText.with(part.text) { text throws(RealmError) in
                var binder = Binder(
                    text, part.tree, schema, classIndex, part.arguments, builder, values: values)
                var ignored: [OrderingStep] = []
                roots.append(try binder.bind(&ignored))
                builder = binder.filter
            }
        }
        let root = roots.isEmpty ? builder.add(.constant(true)) : builder.add(FilterTest.and, roots)
        self.init(classKey, values, schema, &builder, root, ordering, parts)
    }

    static func index(of key: ClassKey, in schema: Schema) throws(RealmError) -> Int {
        // Classes that are not in the file have the invalid key.
        for index in schema.classes.indices
        where schema.classes[index].key == key && key != .invalid {
            return index
        }
        throw RealmError(.noSuchTable, "there is no class with key \(key)")
    }

    /// Canonical text: arguments put in, internal names, then the ordering (V1, V2).
    package var description: String {
        ordering.reduce(predicateText) { $0 + " " + $1.spelling }
    }

    /// The same without the ordering.
    var predicateText: String {
        var predicates: [String] = []
        for part in parts {
            let text = CanonicalText.predicate(part, schema, classKey, values)
            if text != "TRUEPREDICATE" { predicates.append(text) }
        }
        return predicates.isEmpty ? "TRUEPREDICATE" : predicates.joined(separator: " and ")
    }
}

extension Query {
    /// What a text for `Results.sorted` or `Results.distinct` says. `values`: of a collection of these,
    /// whose owner is of the class.
    static func ordering(
        _ text: String, _ kind: SyntaxSuffix.Kind, schema: Schema, classKey: ClassKey,
        values: ColumnKind? = nil
    ) throws(RealmError) -> OrderingStep {
        let classIndex = try index(of: classKey, in: schema)
        return try QueryText.with(Array(text.utf8)) { text throws(RealmError) in
            let tree = try Parser.orderingDescriptor(text, kind)
            var binder = Binder(
                text, tree, schema, classIndex, [], FilterBuilder(), values: values)
            var steps: [OrderingStep] = []
            _ = try binder.bind(&steps)
            return steps[0]
        }
    }
}
