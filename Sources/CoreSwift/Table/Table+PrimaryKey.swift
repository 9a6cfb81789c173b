// Finding and creating objects by primary key.

extension Table {
    /// The object with this primary key, whose type fits the column; nil when there is none.
    @inline(__always)
    func findPrimaryKey(_ value: RawValue) throws(RealmError) -> ObjectKey? {
        if state.hasIntegerKey, let key = IntegerKeys.direct(value) {
            return try find(key) != nil ? key : nil
        }
        return try findIndexedKey(value)
    }

    private func findIndexedKey(_ value: RawValue) throws(RealmError) -> ObjectKey? {
        let info = state.columns[state.primaryKeyColumn]
        guard info.valueIndex >= 0 else { return nil }
        let index = state.indexes + Int(info.valueIndex)
        return try IndexValue.withBytes(value, info.kind) { start, count throws(RealmError) in
            if IndexValue.isAmbiguous(count, info.kind) {
                return try findLongKey(value, index, start, count)
            }
            if index.pointee.pending.count > 0 {
                switch index.pointee.pending.latest(start, count) {
                case .added(let key): return key
                case .removed: return nil
                case .unknown: break
                }
            }
            return try index.pointee.tree.first(start, count)
        }
    }

    /// Keys whose index bytes are cut: the objects themselves decide.
    private func findLongKey(
        _ value: RawValue, _ index: UnsafeMutablePointer<TableIndex>, _ start: UnsafeRawPointer,
        _ count: Int
    ) throws(RealmError) -> ObjectKey? {
        if isWriting { try mergeIndex(Int(state.columns[state.primaryKeyColumn].valueIndex)) }
        var candidates: [ObjectKey] = []
        try index.pointee.tree.visit(
            from: IndexPosition(bytes: start, count: count, key: .min),
            to: IndexPosition(bytes: start, count: count, key: .max)
        ) { leaf, range throws(RealmError) in
            for entry in range { candidates.append(leaf.key(entry)) }
            return true
        }
        let wanted = value.bytes
        for key in candidates {
            guard let place = try find(key) else { continue }
            let stored = try self.value(place, key, state.primaryKeyColumn)
            if !stored.isNull, stored.bytes.count == wanted.count,
                let a = stored.bytes.baseAddress, let b = wanted.baseAddress,
                equalBytes(a, b, wanted.count)
            {
                return key
            }
        }
        return nil
    }

    /// Creates an object without primary key.
    @inline(__always)
    func createSequential() throws(RealmError) -> (key: ObjectKey, place: RowPlace) {
        let key = state.nextKey
        let place = try createIndexedRow(key)
        state.nextKey = key.advanced(by: 1)
        return (key, place)
    }

    /// Creates an object with a primary key that no object has.
    @inline(__always)
    func createPrimaryKey(
        _ value: RawValue
    ) throws(RealmError) -> (key: ObjectKey, place: RowPlace) {
        if state.hasIntegerKey, let key = IntegerKeys.direct(value) {
            return (key, try createIndexedRow(key))
        }
        return try createIndexedKey(value)
    }

    private func createIndexedKey(
        _ value: RawValue
    ) throws(RealmError) -> (key: ObjectKey, place: RowPlace) {
        let key = state.nextKey
        let place = try createIndexedRow(key)
        state.nextKey = key.advanced(by: 1)
        return (key, try enterKey(place, key, value))
    }

    /// Gives a fresh row its primary key.
    func enterKey(
        _ place: RowPlace, _ key: ObjectKey, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        let column = state.primaryKeyColumn
        let info = state.columns[column]
        try changeValueIndex(info, key, value, isAddition: true)
        if info.wordIndex >= 0 { changeWords(info, key, from: .null, to: value) }
        return try put(place, key, column, info, value)
    }

    /// Creates an object under a key that it had before; `primaryKey`: nil where it has none.
    func recreateRow(_ key: ObjectKey, primaryKey: RawValue?) throws(RealmError) {
        let place = try createIndexedRow(key)
        if let primaryKey, !(state.hasIntegerKey && key < IntegerKeys.indirectBase) {
            _ = try enterKey(place, key, primaryKey)
        }
    }
}
