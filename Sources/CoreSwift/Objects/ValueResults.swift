// Live results over the values of a list, set or dictionary that are no objects, or over the keys
// of a dictionary. Filtering and ordering them is an extension (QUERY_RULES B11): the query calls
// an element SELF. Sizes, elements and aggregates are as `Results` has them (docs/C_RULES).
//
// Without conditions and order every access asks the collection. Else the elements that are chosen
// are kept until something changes. Belongs to the realm's thread; those of frozen realms are
// guarded by a lock, because any thread may use them.
//
// Invariants
//   1. `selection` holds for the stamp and the number of patches it was made at, see `Results`.
//   2. The collection's class was settled when it was made, so that its texts stay where they are
//      as long as these two stand.

/// Values of a collection in an order, always up to date.
package final class ValueResults: AnyResults {
    package let collection: RealmCollection
    /// Which of its values they are, or what was kept of them.
    let source: ValueSource
    /// What the values are; of keys, strings.
    var kind: ColumnKind { source.kind }
    /// The elements are the first so many of the collection; nil where conditions or an order
    /// choose.
    private let first: Int?
    private var selection: Selection?

    /// Elements that were chosen.
    struct Selection {
        fileprivate var freshness: Results.Freshness
        /// Where they are in the collection.
        var positions: [Int]
        /// Texts lie in settled rows.
        var values: [RawValue]
    }

    /// `source` is that of the description, whose place is where `collection` is.
    init(
        _ collection: RealmCollection, _ source: ValueSource, _ description: ResultsDescription
    ) {
        self.collection = collection
        self.source = source
        first = description.firstCount
        super.init(collection.realm, description, holdsValues: true)
    }

    // MARK: Validity

    public override var isValid: Bool {
        realm.session.pointee.generation == generation
            && (source.kept == nil ? collection.isValid : !realm.isClosed)
    }

    /// Runs `body` for one thread at a time. A collection that is gone makes the results stale.
    func reading<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        do throws(RealmError) {
            guard !realm.isClosed, realm.session.pointee.generation == generation else {
                throw stale()
            }
            guard let lock else { return try body() }
            return try lock.withLock(body)
        } catch {
            guard error.code == .invalidatedObject else { throw error }
            throw stale()
        }
    }

    private func stale() -> RealmError {
        RealmError(
            .staleAccessor,
            "the results over a \(collection.type) of "
                + "\(collection.realm.schema.named(classKey)) "
                + "of '\(realm.path)' are not valid any more")
    }

    override func check() throws(RealmError) {
        try reading { () throws(RealmError) in
            if source.kept == nil { _ = try collection.count() } else { _ = try realm.readTables() }
        }
    }

    /// What cannot be done with values.
    package func notDefined(_ operation: String, _ code: ErrorCode) -> RealmError {
        do throws(RealmError) {
            try check()
        } catch {
            return error
        }
        return RealmError(code, "\(operation) is not defined for results over values, only objects")
    }

    // MARK: Choosing

    func snapshotReader() throws(RealmError) -> SnapshotReader {
        SnapshotReader(tables: try realm.readTables())
    }

    private func freshness() throws(RealmError) -> Results.Freshness {
        let table = try realm.readTables().table(classKey)
        return Results.Freshness(
            stamp: realm.session.pointee.stamp.pointee,
            patches: table?.patches ?? 0)
    }

    /// What conditions and order choose; nil when the elements are the first ones as they are.
    func chosen() throws(RealmError) -> Selection? {
        if first != nil { return nil }
        // Asking the collection would open a large one in a write transaction, which moves the stamp.
        if let selection, selection.freshness == (try freshness()) { return selection }
        selection = nil
        let found = try description.findValues(try snapshotReader())
        realm.tell(description, "found \(found.positions.count)")
        // Reading may have settled classes, which moves the stamp.
        let made = Selection(
            freshness: try freshness(), positions: found.positions, values: found.values)
        selection = made
        return made
    }

    /// The number of elements, inside of `reading`.
    func countInside() throws(RealmError) -> Int {
        if let chosen = try chosen() { return chosen.positions.count }
        if let kept = source.kept {
            _ = try realm.readTables()
            return min(first ?? .max, kept.values.count)
        }
        return min(first ?? .max, try collection.count())
    }

    // MARK: Elements

    public override func count() throws(RealmError) -> Int {
        try reading { () throws(RealmError) in try countInside() }
    }

    package override func get(_ index: Int) throws(RealmError) -> RawValue {
        try reading { () throws(RealmError) in try value(index) }
    }

    /// The same inside of `reading`.
    private func value(_ index: Int) throws(RealmError) -> RawValue {
        if let chosen = try chosen() {
            guard index >= 0, index < chosen.values.count else {
                throw collection.outOfBounds(index, chosen.values.count)
            }
            return collection.stable(chosen.values[index])
        }
        let limit = first ?? .max
        guard index < limit else {
            // A collection that is gone is told first.
            _ = try countInside()
            throw collection.outOfBounds(index, limit)
        }
        if let kept = source.kept {
            guard index >= 0, index < kept.values.count else {
                throw collection.outOfBounds(index, kept.values.count)
            }
            return try KeptValues.current(kept.values[index], try snapshotReader())
        }
        return source.holdsKeys ? try collection.key(index) : try collection.get(index)
    }

    /// The list or dictionary that the element is; nil for an element of another kind.
    package func nested(
        _ index: Int, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection? {
        try reading { () throws(RealmError) in
            let value = try value(index)
            guard kind == .mixed else {
                throw RealmError(
                    .illegalOperation, "only mixed values can be lists and dictionaries")
            }
            guard NestedCell.type(value) == type else { return nil }
            let place = try chosen()?.positions[index] ?? index
            return RealmCollection(
                collection, type, number: NestedCell.number(value), position: place)
        }
    }

    /// Whether a value could be an element, by its type.
    private func fits(_ value: RawValue) -> Bool {
        if !source.holdsKeys, source.kept == nil { return collection.fits(value) }
        return kind == .mixed || value.isNull || value.type == kind.valueType.rawValue
    }

    package override func find(_ value: RawValue) throws(RealmError) -> Int? {
        try reading { () throws(RealmError) in
            guard fits(value) else {
                _ = try countInside()
                return nil
            }
            let values: [RawValue]
            if let chosen = try chosen() {
                values = chosen.values
            } else if let kept = source.kept {
                values = try kept.current(try snapshotReader())
            } else {
                let found =
                    source.holdsKeys
                    ? try collection.find(key: value) : try collection.find(value)
                return found.flatMap { $0 < first ?? .max ? $0 : nil }
            }
            let count = min(first ?? .max, values.count)
            return values[..<count].firstIndex { CollectionOrder.compare($0, value, kind) == 0 }
        }
    }

    /// That of a link to the object, which only mixed values can be.
    package override func find(_ object: ObjectHandle) throws(RealmError) -> Int? {
        _ = try count()
        guard object.isValid else {
            throw RealmError(.staleAccessor, "the object to find was deleted")
        }
        guard object.realm.file === realm.file else { return nil }
        return try find(.link(object.classKey, object.objectKey))
    }

    // MARK: Refining

    override func with(_ description: ResultsDescription) -> Self {
        unsafeDowncast(ValueResults(collection, source, description), to: Self.self)
    }

    /// The values as they are now. A link whose object is deleted later becomes null; lists and
    /// dictionaries among mixed values stay live.
    package override func fixed() throws(RealmError) -> ValueResults {
        let fixed = try reading { () throws(RealmError) -> KeptValues in
            let count = try countInside()
            if let chosen = try chosen() { return KeptValues(chosen.values.prefix(count)) }
            return KeptValues(try source.all(try snapshotReader()).prefix(count))
        }
        var kept = source
        kept.kept = fixed
        return ValueResults(
            collection, kept, ResultsDescription(classKey, .values(kept)))
    }

    public override func explain() throws(RealmError) -> String {
        try reading { () throws(RealmError) in
            try description.explain(try snapshotReader(), realm.schema)
        }
    }

    /// Without any conditions it selects nothing, as callers of the C ABI
    /// are used to.
    package override func query() throws(RealmError) -> LiveQuery {
        try check()
        guard let conditions = try description.conditions() else {
            return try realm.query(classKey, "FALSEPREDICATE")
        }
        return LiveQuery(realm, conditions.withoutOrdering(), in: description.source)
    }

    /// A query with the conditions and those of a text, in which SELF is the element; the ordering
    /// is that of the text.
    package func query(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        try check()
        let next = try Query.parse(text, arguments, realm.schema, classKey, values: kind)
        let both = try description.conditions()?.withoutOrdering().and(next) ?? next
        return LiveQuery(realm, both, in: description.source)
    }

    /// `.invalidTableRef` when the object of the collection is not there.
    package override func resolved(in target: Realm) throws(RealmError) -> ValueResults {
        let tables = try target.readTables()
        try check()
        guard let there = try collection.resolve(in: target) else {
            throw RealmError(
                .invalidTableRef,
                "object \(collection.objectKey) of "
                    + "\(collection.realm.schema.named(classKey)) is not in "
                    + "that version of '\(target.path)'")
        }
        var live = source
        live.kept = nil
        return ValueResults(
            there, live, try description.resolved(SnapshotReader(tables: tables)))
    }

    // MARK: Deleting

    public override func deleteAll() throws(RealmError) {
        try reading { () throws(RealmError) in
            guard source.kept == nil else {
                throw RealmError(
                    .illegalOperation, "values that were kept cannot be removed from a collection")
            }
            if description.isBare { return try collection.removeAll() }
            try collection.checkWritable()
            var places = Array(0..<(try countInside()))
            if let chosen = try chosen() { places = chosen.positions.sorted() }
            for place in places.reversed() { try collection.remove(at: place) }
        }
    }

    // MARK: Aggregates

    package override func aggregate(
        _ aggregate: AggregateKind, _ key: PropertyKey
    ) throws(RealmError) -> (value: RawValue, found: Bool) {
        try reading { () throws(RealmError) -> (RawValue, Bool) in
            var values = try chosen()?.values
            if values == nil { values = try source.kept?.current(try snapshotReader()) }
            let count = try countInside()
            let table = TableReader(table: try realm.table(classKey))
            let value = try Aggregate.ofValues(aggregate, kind, table) { add throws(RealmError) in
                if let values {
                    for value in values.prefix(count) { add(value) }
                } else {
                    try collection.forEachValue(source.column, first: count, add)
                }
            }
            if aggregate == .sum {
                // What callers of the C ABI are used to.
                let isBare = count == 0 && kind == .mixed && collection.type == .dictionary
                return (isBare ? .int(0) : value, count > 0)
            }
            return (collection.stable(value), !value.isNull)
        }
    }
}
