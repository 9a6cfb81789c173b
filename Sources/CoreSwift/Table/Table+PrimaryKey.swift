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
        guard info.valueIndex >= 0, !state.isFilling else { return nil }
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
        let (key, place) = try createSequential()
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
        if place.state == .open, info.kind != .mixed, fits(place.open, info, value) {
            setOpen(place.open, place.row, column, info.kind, value)
            return place
        }
        return try put(place, key, column, info, value)
    }

    // MARK: Keys in sequence

    /// Whether the key was given in sequence, not by an integer primary key.
    @inline(__always)
    func isGiven(_ key: ObjectKey) -> Bool {
        !state.hasIntegerKey || key >= IntegerKeys.indirectBase
    }

    /// The next key to give, where the file says what it would be: that one, unless this client
    /// has another range (`ClientKeys`). The tree is there.
    func nextKey(continuing key: ObjectKey) throws(RealmError) -> ObjectKey {
        let client = state.nodes.clientNumber
        let first = ClientKeys.first(client, hasIntegerKey: state.hasIntegerKey)
        if client == 0 || ClientKeys.of(key) == ClientKeys.of(first) { return key }
        // Objects of the range may be there, made before or on another machine.
        let end = ObjectKey(rawValue: first.rawValue + 1 << ClientKeys.bits)
        if state.tree.isEmpty { return first }
        let greatest = try greatestKey(
            from: first, below: end, state.tree.rootPlace, state.tree.depth)
        return greatest?.advanced(by: 1) ?? first
    }

    /// The greatest key of a row, dead ones included, within bounds.
    private func greatestKey(
        from first: ObjectKey, below end: ObjectKey, _ place: UnsafeRawPointer, _ level: Int
    ) throws(RealmError) -> ObjectKey? {
        guard level == 0 else {
            let node = try branch(place, level)
            var child = RowBranch.child(node, covering: end.advanced(by: -1))
            while true {
                let below = RowBranch.reference(node, child)
                let found = try greatestKey(from: first, below: end, below, level - 1)
                // Leaves in front have lower keys.
                if found != nil || child == 0 || RowBranch.key(node, child) <= first {
                    return found
                }
                child -= 1
            }
        }
        let view = LeafView(try leaf(place))
        for row in stride(from: view.rows - 1, through: 0, by: -1) where view.key(row) < end {
            return view.key(row) >= first ? view.key(row) : nil
        }
        return nil
    }

    /// The next key to give once this one is taken, which another file gave.
    func nextKey(after key: ObjectKey) -> ObjectKey {
        let isOwn = isGiven(key) && ClientKeys.of(key) == ClientKeys.of(state.nextKey)
        return isOwn ? max(state.nextKey, key.advanced(by: 1)) : state.nextKey
    }

    /// Has the next object in sequence get `key`, which no object has; the sequence goes on behind it.
    @inline(__always)
    func withNextKey<Made>(
        _ key: ObjectKey, _ create: () throws(RealmError) -> Made
    ) throws(RealmError) -> Made {
        let before = state.nextKey
        state.nextKey = key
        defer {
            let isTaken = state.nextKey != key
            state.nextKey = before
            if isTaken { state.nextKey = nextKey(after: key) }
        }
        return try create()
    }

    /// That no more keys were given than the range has.
    func checkKeysGiven() throws(RealmError) {
        let client = state.nodes.clientNumber
        if client == 0 { return }
        let first = ClientKeys.first(client, hasIntegerKey: state.hasIntegerKey)
        if state.nextKey.rawValue - first.rawValue > 1 << ClientKeys.bits {
            throw RealmError(
                .limitExceeded,
                "class \(named) has no more object keys for client \(client)")
        }
    }

    /// Whether rows with keys from `key` to `high` are given in sequence no more: those behind this one
    /// are of another range.
    @inline(__always)
    func endsRange(_ key: ObjectKey, _ high: ObjectKey) -> Bool {
        high == .max || (isGiven(key) && ClientKeys.of(key) != ClientKeys.of(high))
    }

    /// Creates an object under a key that it had before; `primaryKey`: nil where it has none.
    func recreateRow(_ key: ObjectKey, primaryKey: RawValue?) throws(RealmError) {
        let place = try createIndexedRow(key)
        if let primaryKey, !(state.hasIntegerKey && key < IntegerKeys.indirectBase) {
            _ = try enterKey(place, key, primaryKey)
        }
    }
}
