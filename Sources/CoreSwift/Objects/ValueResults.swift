// Live results over the values of a list, set or dictionary that are no objects, or over the keys
// of a dictionary: every access asks the collection. Filtering and ordering them is an extension
// (QUERY B11): the query calls an element SELF. Sizes, elements and aggregates are as `Results` has
// them (CONTRACT 14).
//
// Belongs to the realm's thread; those of frozen realms may be used by any, as the collection may.

/// Values of a collection in its order, always up to date.
public final class ValueResults: AnyResults {
    public let collection: RealmCollection
    /// The keys of a dictionary, not its values.
    let holdsKeys: Bool
    /// At most so many elements.
    let limit: Int
    /// Which elements, and in which order; nil: all, as they are.
    let conditions: Query?
    /// The positions that the conditions select, and when that was. Frozen realms keep none:
    /// several threads may read them.
    private var selected: (stamp: UInt64, positions: [Int])?
    /// The realm's generation when the results were made; compaction ends it.
    private let generation: UInt32

    init(
        _ collection: RealmCollection, holdsKeys: Bool = false, limit: Int = .max,
        conditions: Query? = nil
    ) {
        self.conditions = conditions
        self.collection = collection
        self.holdsKeys = holdsKeys
        self.limit = limit
        generation = collection.realm.session.pointee.generation
        super.init(collection.realm, holdsValues: true)
    }

    /// False once the object of the collection was deleted, or the realm closed or compacted.
    public var isValid: Bool {
        realm.session.pointee.generation == generation && collection.isValid
    }

    /// The answer of the collection; one that is gone makes the results stale.
    private func reading<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        do throws(RealmError) {
            return try body()
        } catch {
            guard error.code == .invalidatedObject else { throw error }
            throw RealmError(
                .staleAccessor,
                "the results over a \(collection.type) of class \(collection.classKey.rawValue) "
                    + "of '\(realm.path)' are not valid any more")
        }
    }

    private var column: Int { collection.type == .dictionary && !holdsKeys ? 1 : 0 }

    // MARK: Conditions

    /// The elements for which a predicate holds, in the order of its suffixes: the element is
    /// `SELF`, as in `SELF > 3 SORT(SELF DESC)`. Follows conditions that are there already.
    public func filtered(
        _ text: String, _ arguments: [QueryArgument] = []
    ) throws(RealmError) -> ValueResults {
        _ = try reading { () throws(RealmError) in try collection.count() }
        let kind = try collection.elementInfo(column).kind
        let bytes = Array(text.utf8)
        let next = try bytes.withUnsafeBufferPointer { buffer throws(RealmError) in
            try Query.parse(
                buffer, arguments, realm.schema, collection.classKey, values: kind)
        }
        return ValueResults(
            collection, holdsKeys: holdsKeys, limit: limit,
            conditions: try conditions?.and(next) ?? next)
    }

    /// Positions of the elements in the collection; nil when they are all, in its order.
    private func positions() throws(RealmError) -> [Int]? {
        guard let conditions else { return nil }
        let keeps = !realm.isWritable && !realm.isFrozen
        let stamp = realm.session.pointee.stamp.pointee
        if keeps, let selected, selected.stamp == stamp { return selected.positions }
        let values = try collection.settledValues(column)
        let found = try conditions.positions(
            of: values, column: collection.column,
            SnapshotReader(tables: try realm.readTables()))
        if keeps { selected = (realm.session.pointee.stamp.pointee, found) }
        return found
    }

    /// Where an element is in the collection.
    private func place(_ index: Int) throws(RealmError) -> Int {
        guard let positions = try positions() else { return index }
        guard index >= 0, index < positions.count else {
            throw collection.outOfBounds(index, positions.count)
        }
        return positions[index]
    }

    // MARK: Elements

    /// The number of elements.
    public func count() throws(RealmError) -> Int {
        try reading { () throws(RealmError) in
            if let positions = try positions() { return min(limit, positions.count) }
            return min(limit, try collection.count())
        }
    }

    /// The value at a position; text is borrowed until the realm moves or changes.
    public func get(_ index: Int) throws(RealmError) -> RawValue {
        try reading { () throws(RealmError) in
            guard index < limit else { throw collection.outOfBounds(index, limit) }
            let place = try place(index)
            return holdsKeys ? try collection.key(place) : try collection.get(place)
        }
    }

    /// The list or dictionary that the element is; nil for an element of another kind.
    public func nested(
        _ index: Int, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection? {
        let value = try get(index)
        guard !holdsKeys, try collection.holdsMixed() else {
            throw RealmError(.illegalOperation, "only mixed values can be lists and dictionaries")
        }
        guard NestedCell.type(value) == type else { return nil }
        return try collection.nested(place(index), type)
    }

    /// The position of the first element with this value, or nil.
    public func find(_ value: RawValue) throws(RealmError) -> Int? {
        let found = try reading { () throws(RealmError) in
            holdsKeys ? try collection.find(key: value) : try collection.findIfFitting(value)
        }
        if let positions = try reading({ () throws(RealmError) in try positions() }) {
            // An equal element may be among those left out.
            for (index, place) in positions.prefix(limit).enumerated() {
                let element = holdsKeys ? try collection.key(place) : try collection.get(place)
                if ValueOrder.equal(element, value) { return index }
            }
            return nil
        }
        return found.flatMap { $0 < limit ? $0 : nil }
    }

    /// The position of a link to an object, which only mixed values can be.
    public func find(_ object: ObjectHandle) throws(RealmError) -> Int? {
        _ = try count()
        guard object.isValid else {
            throw RealmError(.staleAccessor, "the object to find was deleted")
        }
        guard object.realm.file === realm.file else { return nil }
        return try find(.link(object.classKey, ObjectKey(rawValue: object.objectKey)))
    }

    // MARK: Refinement

    /// The first elements.
    public func limited(_ count: Int) throws(RealmError) -> ValueResults {
        try reading { () throws(RealmError) in _ = try collection.count() }
        return ValueResults(
            collection, holdsKeys: holdsKeys, limit: min(limit, max(0, count)),
            conditions: conditions)
    }

    /// Results over the values stay live, unlike those over objects.
    public func snapshot() throws(RealmError) -> ValueResults { try limited(limit) }

    /// What cannot be done with values.
    public func notDefined(_ operation: String, _ code: ErrorCode) -> RealmError {
        do throws(RealmError) {
            _ = try count()
        } catch {
            return error
        }
        return RealmError(code, "\(operation) is not defined for results over values, only objects")
    }

    /// A query that nothing satisfies: there is none that selects values.
    public func query() throws(RealmError) -> LiveQuery {
        _ = try count()
        return try realm.query(collection.classKey, "FALSEPREDICATE")
    }

    /// Results over the same collection in another realm of the file; `.invalidTableRef` when its
    /// object is not there.
    public func resolved(in target: Realm) throws(RealmError) -> ValueResults {
        _ = try target.readTables()
        _ = try count()
        guard let there = try collection.resolve(in: target) else {
            throw RealmError(
                .invalidTableRef,
                "object \(collection.objectKey) of class \(collection.classKey.rawValue) is not in "
                    + "that version of '\(target.path)'")
        }
        return ValueResults(there, holdsKeys: holdsKeys, limit: limit, conditions: conditions)
    }

    /// Removes the elements from the collection.
    public func deleteAll() throws(RealmError) {
        try reading { () throws(RealmError) in
            if limit == .max, conditions == nil { return try collection.removeAll() }
            _ = try collection.writable()
            var places = Array(0..<min(limit, try collection.count()))
            if let chosen = try positions() { places = Array(chosen.prefix(limit)) }
            for place in places.sorted(by: >) { try collection.remove(at: place) }
        }
    }

    // MARK: Aggregates

    /// Minimum, maximum, sum or average of the elements. `found`: a value was produced; for sums,
    /// there are elements.
    private func aggregate(
        _ kind: AggregateKind
    ) throws(RealmError) -> (value: RawValue, found: Bool) {
        let result: (RawValue, Bool) = try reading { () throws(RealmError) -> (RawValue, Bool) in
            let chosen = try positions()
            var count = try collection.count()
            if let chosen { count = chosen.count }
            count = min(limit, count)
            let info = try collection.elementInfo(column)
            let table = TableReader(table: try collection.ownerTable())
            let value = try Aggregate.ofValues(kind, info, table) { add throws(RealmError) in
                if let chosen {
                    let values = try collection.settledValues(column)
                    for place in chosen.prefix(limit) { add(values[place]) }
                } else {
                    try collection.forEachValue(column, first: count, add)
                }
            }
            if kind == .sum {
                // What callers of the C ABI are used to.
                let isBare = count == 0 && info.kind == .mixed && collection.type == .dictionary
                return (isBare ? .int(0) : value, count > 0)
            }
            return (collection.stable(value), !value.isNull)
        }
        return result
    }

    public func minimum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.minimum)
    }
    public func maximum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.maximum)
    }
    public func sum() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.sum)
    }
    public func average() throws(RealmError) -> (value: RawValue, found: Bool) {
        try aggregate(.average)
    }
}
