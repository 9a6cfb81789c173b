// Results over a list, set or dictionary, and what they need of it: its elements in one go, and
// its counterpart in another realm whether it is there or not.

extension RealmCollection {
    /// Live results over the elements: `Results` for objects, `ValueResults` for other values.
    /// `.invalidatedObject` when the collection is gone.
    public func results() throws(RealmError) -> AnyResults {
        _ = try count()
        let info = try valueInfo()
        guard info.kind == .link else { return ValueResults(copy(), info.kind) }
        return Results(realm, info.linkTarget, .collection(copy()))
    }

    /// Live results over the keys of a dictionary.
    public func keyResults() throws(RealmError) -> ValueResults {
        _ = try count()
        return ValueResults(copy(), .string, holdsKeys: true)
    }

    /// A query over the objects of the collection, in their order. Over other values, if it calls
    /// them SELF: any other text is taken for one over objects, and refused.
    public func query(
        _ text: UnsafeBufferPointer<UInt8>, arguments: [QueryArgument] = []
    ) throws(RealmError) -> LiveQuery {
        _ = try count()
        let info = try valueInfo()
        guard info.kind == .link else {
            guard Query.namesSelf(text) else {
                throw RealmError(
                    .illegalOperation,
                    "property \(realm.schema.named(classKey, column: column)) holds values "
                        + "that are no "
                        + "objects: a query over them calls them SELF")
            }
            return try ValueResults(copy(), info.kind).query(text, arguments: arguments)
        }
        let query = try Query.parse(
            text, arguments: arguments, schema: realm.schema, classKey: info.linkTarget)
        return LiveQuery(realm, query, .collection(copy()))
    }

    /// The same collection in another realm, also when its object is not there: not valid then.
    func counterpart(in other: Realm) throws(RealmError) -> RealmCollection {
        if let there = try resolve(in: other) { return there }
        if let parent {
            return RealmCollection(
                try parent.counterpart(in: other), type, number: number, position: position)
        }
        guard let table = try other.readTables().table(classKey),
            column < table.columnCount
        else {
            throw RealmError(
                .noSuchTable, "'\(other.path)' has no class with key \(classKey.rawValue)")
        }
        return RealmCollection(
            .gone(other.session, table, objectKey), column, type, propertyKey: propertyKey)
    }

    /// Calls `body` with the first elements, of column 0 or of the values of a dictionary. Text
    /// stays where it is as long as nothing changes.
    func forEachValue(
        _ column: Int, first count: Int, _ body: (RawValue) -> Void
    ) throws(RealmError) {
        let info = try elementInfo(column)
        if realm.isWritable {
            if let row = try writableCell() {
                let table = table
                let cell = table.cell(row, self.column)
                for index in 0..<min(count, CollectionCell.count(cell)) {
                    body(table.element(cell, index, column, knownInfos))
                }
                return
            }
            let open = try writable()
            let table = table
            // Under a pointer that other uses may share: piece by piece, not by position.
            try open.pointee.forEachPiece { place, rows, start throws(RealmError) in
                var place = place
                for row in 0..<min(rows, count - start) {
                    place.row = row
                    body(try table.value(place, column, info))
                }
                return start + rows < count
            }
            return
        }
        var view = try sealedView()
        for index in 0..<min(count, view.count) { body(try view.value(index, column)) }
    }

    /// The values of column 0, or of a dictionary, as they lie in settled rows: they stay there as
    /// long as nothing changes, also while queries settle other classes.
    func settledValues(_ column: Int) throws(RealmError) -> [RawValue] {
        var view = try settledView()
        var values: [RawValue] = []
        values.reserveCapacity(view.count)
        for index in 0..<view.count { values.append(try view.value(index, column)) }
        return values
    }

    private func settledView() throws(RealmError) -> CollectionView {
        let table = try SnapshotReader(tables: try realm.readTables()).table(classKey).table
        if let place = try table.find(objectKey) {
            if let parent {
                var outer = try parent.settledView()
                if let index = try outer.position(of: number, near: position),
                    let found = try outer.nested(index, type)
                {
                    return found
                }
            } else if let found = try CollectionView(table, place, column, type) {
                return found
            }
        }
        throw RealmError(
            .invalidatedObject,
            "property \(realm.schema.named(classKey, column: column)) of object "
                + "\(objectKey) does not hold "
                + "the \(type) of a query any more")
    }

    /// The keys of the objects that the elements link to; `Results.nothing` for null links. Empty
    /// when the collection is gone.
    func targetKeys() throws(RealmError) -> [Int64] {
        guard isValid else { return [] }
        var keys: [Int64] = []
        keys.reserveCapacity(try count())
        let column = type == .dictionary ? 1 : 0
        try forEachValue(column, first: .max) { value in
            keys.append(value.isNull ? Results.nothing : value.linkTarget.rawValue)
        }
        return keys
    }

    /// A value that was read, with its text where it stays until the realm moves or changes.
    func stable(_ value: RawValue) -> RawValue { realm.isWritable ? realm.keep(value) : value }
}
