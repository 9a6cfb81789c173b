// What results are: where their elements come from, and the steps that choose and order them. Keys
// and conditions only, no handles and nothing of a session: a description can be copied to another
// session or version of the file, compared, and written as text. Results, queries, references
// between threads and frozen counterparts hold one; what it finds is in
// ResultsDescription+Execution.
//
// Steps apply one after another, in the order written. They are kept as stages, each of them
// conditions and then SORT, DISTINCT, LIMIT and OFFSET, because that is what indexes, bounds and
// early ends can be used for. A step is folded into the last stage as it is added:
//
//   1. SORT, DISTINCT, LIMIT and OFFSET join the steps of the last stage.
//   2. Conditions behind conditions, or with nothing but SORTs in between, join those of the last
//      stage: a SORT neither adds nor drops elements, and equal ones keep their order, so that
//      testing first gives the same elements in the same order and sorts fewer.
//   3. Conditions behind a DISTINCT, LIMIT or OFFSET begin a stage of their own: what these leave
//      depends on the elements that they are given.
//
// A class, then conditions, sorts and cuts are thus one stage, whatever the order of conditions
// and sorts. The C interface knows a second way to add conditions, `testingFirst`.

/// Conditions, and what is done to the elements that satisfy them.
struct ResultsStage {
    /// The ordering of the query itself is not used. Nil: none.
    var conditions: Query?
    var ordering: [OrderingStep] = []

    /// As canonical text has it.
    var spelling: String {
        ([conditions?.predicateText ?? "TRUEPREDICATE"] + ordering.map { $0.spelling })
            .joined(separator: " ")
    }
}

/// Values that are no objects.
struct ValueSource {
    var place: CollectionPlace
    /// What the values are; of keys, strings.
    let kind: ColumnKind
    /// The keys of a dictionary, not its values.
    var holdsKeys = false
    /// The values, when they are not those that the collection has now.
    var kept: KeptValues?

    /// Column of the values among those of the elements.
    var column: Int { place.type == .dictionary && !holdsKeys ? 1 : 0 }
}

struct ResultsDescription {
    /// Cases with much to them stand elsewhere, so that the others are made without allocating.
    enum Source {
        /// All objects of the class, by ascending key.
        case objects
        /// Objects that link to an object through a column.
        case backlinks(target: ClassKey, key: ObjectKey, column: Int)
        /// Objects that the elements of a collection link to, in its order.
        indirect case collection(CollectionPlace)
        /// These objects in this order; some may be gone. They were what `of` found.
        indirect case snapshot([ObjectKey], of: ResultsDescription)
        /// The values of a collection, or its keys.
        indirect case values(ValueSource)
    }

    /// The class of the objects; of values, that of the collection's owner.
    let classKey: ClassKey
    private(set) var source: Source
    /// The first stage, which most descriptions have alone.
    private(set) var first: ResultsStage
    private(set) var later: [ResultsStage] = []

    init(_ classKey: ClassKey, _ source: Source) {
        self.classKey = classKey
        self.source = source
        first = ResultsStage()
    }

    /// What a query finds in a source.
    init(_ query: Query, in source: Source = .objects) {
        classKey = query.classKey
        self.source = source
        first = ResultsStage(conditions: query, ordering: query.ordering)
    }

    /// The one that steps are folded into.
    private var last: ResultsStage {
        get { later.last ?? first }
        set {
            if later.isEmpty {
                first = newValue
            } else {
                later[later.count - 1] = newValue
            }
        }
    }

    var stages: [ResultsStage] { [first] + later }

    /// The elements are those of the source, in its order.
    var isBare: Bool { first.conditions == nil && first.ordering.isEmpty && later.isEmpty }

    /// How many of the source's elements are there, the first ones, when all steps are LIMITs; nil
    /// when others are among them.
    var firstCount: Int? {
        guard first.conditions == nil, later.isEmpty else { return nil }
        var count = Int.max
        for step in first.ordering {
            guard case .limit(let limit) = step else { return nil }
            count = min(count, limit)
        }
        return count
    }

    /// Some LIMIT or OFFSET is among the steps.
    var isCut: Bool {
        first.ordering.contains { $0.isCut }
            || later.contains { $0.ordering.contains { $0.isCut } }
    }

    /// Elements are values, not objects.
    var values: ValueSource? {
        if case .values(let values) = source { return values }
        return nil
    }

    /// The object that the source belongs to; nil for a class or what was kept of one.
    var owner: (classKey: ClassKey, key: ObjectKey)? {
        switch source {
        case .objects, .snapshot: return nil
        case .backlinks(let target, let key, _): return (target, key)
        case .collection(let place): return (place.classKey, place.objectKey)
        case .values(let values): return (values.place.classKey, values.place.objectKey)
        }
    }

    /// The same of an object that is gone for good.
    var withoutOwner: ResultsDescription {
        let gone = ObjectKey.invalid
        switch source {
        case .objects, .snapshot: return self
        case .backlinks(let target, _, let column):
            return from(.backlinks(target: target, key: gone, column: column))
        case .collection(var place):
            place.objectKey = gone
            return from(.collection(place))
        case .values(var values):
            values.place.objectKey = gone
            return from(.values(values))
        }
    }

    /// Whether a query is for elements of this kind: conditions name columns of a class, or a value.
    func takes(_ query: Query) -> Bool {
        query.classKey == classKey && query.values == values?.kind
    }

    // MARK: Steps

    /// With a SORT, DISTINCT, LIMIT or OFFSET as the last step.
    func adding(_ step: OrderingStep) -> ResultsDescription {
        var copy = self
        copy.last.ordering.append(step)
        return copy
    }

    /// With the conditions of a query and then its clauses as the last steps.
    func adding(_ query: Query) throws(RealmError) -> ResultsDescription {
        var copy = self
        try copy.append(query.withoutOrdering())
        copy.last.ordering += query.ordering
        return copy
    }

    private mutating func append(_ conditions: Query) throws(RealmError) {
        guard last.ordering.allSatisfy({ $0.isSort }) else {
            later.append(ResultsStage(conditions: conditions))
            return
        }
        last.conditions = try last.conditions?.and(conditions) ?? conditions
    }

    /// With the conditions of a query before all other steps, where `realm_results_filter` puts
    /// them; its clauses are not used.
    func testingFirst(_ query: Query) throws(RealmError) -> ResultsDescription {
        var copy = self
        let plain = query.withoutOrdering()
        copy.first.conditions = try first.conditions?.and(plain) ?? plain
        return copy
    }

    /// The same steps with another source.
    func from(_ source: Source) -> ResultsDescription {
        var copy = self
        copy.source = source
        return copy
    }

    /// The conditions of all stages; nil without any.
    func conditions() throws(RealmError) -> Query? {
        var all = first.conditions
        for stage in later {
            guard let next = stage.conditions else { continue }
            all = try all?.and(next) ?? next
        }
        return all
    }

    /// The only stage without LIMIT(0)s that decide nothing but the number: those of a query whose
    /// first object is asked for. What callers of the C ABI are used to.
    func withoutEmptyLimits() -> ResultsDescription {
        guard !first.ordering.isEmpty, later.isEmpty, first.ordering.allSatisfy({ $0.isCut })
        else { return self }
        var copy = self
        copy.first.ordering.removeAll {
            if case .limit(0) = $0 { return true }
            return false
        }
        return copy
    }

    // MARK: Text

    /// The steps as canonical text; a bar stands before conditions on what clauses left.
    var spelling: String { stages.map { $0.spelling }.joined(separator: " | ") }
}

extension ResultsDescription: Equatable {
    static func == (a: ResultsDescription, b: ResultsDescription) -> Bool {
        a.classKey == b.classKey && a.source == b.source && a.spelling == b.spelling
    }
}

/// Whether the elements come from the same place.
extension ResultsDescription.Source: Equatable {}

extension ValueSource: Equatable {
    static func == (a: ValueSource, b: ValueSource) -> Bool {
        a.place == b.place && a.holdsKeys == b.holdsKeys && a.kept === b.kept
    }
}
