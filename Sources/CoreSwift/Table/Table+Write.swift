// Creating and changing rows in a write transaction, and keeping indexes in step.

extension Table {
    // MARK: Creating

    /// Adds a row of defaults under a key that no live row has.
    @inline(__always)
    func createRow(_ key: ObjectKey) throws(RealmError) -> RowPlace {
        if let leaf = state.appendLeaf, leaf.pointee.order == nil,
            leaf.pointee.rows > 0, key > leaf.pointee.keys[leaf.pointee.rows &- 1],
            leaf.pointee.rows < state.appendRows, !leaf.pointee.isFull
        {
            let row = leaf.pointee.append(key)
            state.rowCount &+= 1
            return finishRow(leaf, row, key)
        }
        return try createRowSlowly(key)
    }

    @inline(__always)
    private func finishRow(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ key: ObjectKey
    ) -> RowPlace {
        if state.hasIntegerKey && key < IntegerKeys.indirectBase {
            let column = leaf.pointee.columns + state.primaryKeyColumn
            column.pointee.data.put(key, row &* 8)
            column.pointee.nulls?.put(0 as UInt8, row)
        }
        return RowPlace(leaf: UnsafeMutableRawPointer(leaf), row: row, state: .open)
    }

    @inline(never)
    private func createRowSlowly(_ key: ObjectKey) throws(RealmError) -> RowPlace {
        try willCreate(key)
        if let leaf = state.appendLeaf, leaf.pointee.order == nil, leaf.pointee.rows > 0,
            key > leaf.pointee.keys[leaf.pointee.rows - 1]
        {
            if leaf.pointee.rows < state.rowsPerLeaf, !leaf.pointee.isFull {
                // The fast way, but for the verb.
                let row = leaf.pointee.append(key)
                state.rowCount += 1
                return finishRow(leaf, row, key)
            }
            // Cells of rows that are sealed would have to open them again.
            try flushCollections()
            try sealAppended(leaf)
            writeEarly()
            if leaf == state.appendLeaf, leaf.pointee.isFull { try sealAll() }
        }
        var leaf = try leafForInsertion(key)
        if let row = leaf.pointee.row(of: key), leaf.pointee.isDead(row) {
            leaf.pointee.revive(row)
            state.rowCount += 1
            return finishRow(leaf, row, key)
        }
        if leaf.pointee.isFull {
            try sealAll()
            leaf = try leafForInsertion(key)
        }
        let row = leaf.pointee.append(key)
        state.rowCount += 1
        return finishRow(leaf, row, key)
    }

    /// The open leaf for a new key; behind a full leaf that is the last one, or the last one of a
    /// client's keys (`ClientKeys`), a new one.
    private func leafForInsertion(
        _ key: ObjectKey
    ) throws(RealmError) -> UnsafeMutablePointer<OpenLeaf> {
        if !state.tree.isEmpty, try moveFinger(key),
            state.fingerState != .open, endsRange(key, state.fingerHigh)
        {
            let isLast = state.fingerHigh == .max
            let view = LeafView(UnsafeRawPointer(state.fingerLeaf))
            let isFull = view.bytesUsed >= leafBytesTarget * 15 / 16
            if isFull, key > view.key(view.rows - 1) {
                _ = try state.tree.mutablePath(key)
                let leaf = makeOpenLeaf(lowKey: key)
                let oldRoot = state.tree.root
                state.tree.insertChild(key: key, rows: 0, reference: leaf.pointee.reference)
                if !oldRoot.isTransient {
                    // The first split: recounting skips children that are not of this transaction.
                    state.tree.setRows(ofRootChild: 0, view.liveRows)
                }
                state.openLeaves.append(leaf)
                state.openRows += leaf.pointee.capacity
                if isLast { state.appendLeaf = leaf }
                state.tree.hasStaleCounts = true
                rowsMoved()
                return leaf
            }
        }
        return try openLeaf(covering: key)
    }

    // MARK: Values

    /// Whether the value may be stored in the column (docs/C_RULES, "Values that fit"), without the
    /// check of a link's target.
    @inline(__always)
    func checkType(_ value: RawValue, _ index: Int) throws(RealmError) {
        try checkType(value, index, state.columns[index])
    }

    /// The same for an element of a collection in column `index`, which `info` describes.
    @inline(__always)
    func checkType(
        _ value: RawValue, _ index: Int, _ info: ColumnInfo
    ) throws(RealmError) {
        if value.type == info.valueType && !value.isNull {
            if info.kind == .link && value.linkClass != info.linkTarget {
                throw RealmError(
                    .propertyTypeMismatch,
                    "property \(named(column: index)) links to "
                        + "\(named(info.linkTarget)), not to \(named(value.linkClass))")
            }
            // Before anything is written: an object with half a primary key must not come to be.
            if info.kind.isText && value.word1 > UInt64(Self.textBytesMax) {
                throw Self.tooLong(value.word1)
            }
            return
        }
        try checkOther(value, index, info)
    }

    @inline(never)
    private static func tooLong(_ count: UInt64) -> RealmError {
        RealmError(
            .limitExceeded, "a value of \(count) bytes is above the limit of \(textBytesMax)")
    }

    @inline(never)
    private func checkOther(
        _ value: RawValue, _ index: Int, _ info: ColumnInfo
    ) throws(RealmError) {
        if info.kind == .collection {
            throw RealmError(
                .propertyTypeMismatch,
                "property \(named(column: index)) is a "
                    + "\(info.collection), not a value")
        }
        if value.isNull {
            if info.isNullable { return }
            throw RealmError(
                .propertyNotNullable,
                "property \(named(column: index)) is required, null is "
                    + "no value for it")
        }
        if info.kind == .mixed { return try checkMixed(value, index) }
        let given = ValueType(rawValue: value.type).map { "\($0)" } ?? "type \(value.type)"
        throw RealmError(
            .propertyTypeMismatch,
            "property \(named(column: index)) is of type "
                + "\(info.kind.valueType), not \(given)")
    }

    private func checkMixed(_ value: RawValue, _ index: Int) throws(RealmError) {
        switch ValueType(rawValue: value.type) {
        case .string, .binary:
            if value.word1 >= UInt64(Self.textBytesMax) { throw Self.tooLong(value.word1) }
        case nil:
            throw RealmError(
                .propertyTypeMismatch,
                "property \(named(column: index)) cannot hold a value of "
                    + "type \(value.type), which there is not")
        default: break
        }
    }

    /// Stores a value that passed `checkType`. Returns where the row is afterwards.
    @inline(__always)
    func setValue(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        let info = state.columns[index]
        guard isPlain(place, info, value) else {
            return try setValueSlowly(place, key, index, value)
        }
        setOpen(place.open, place.row, index, info.kind, value)
        return place
    }

    /// Whether storing the value takes no more than writing to the open leaf.
    @inline(__always)
    private func isPlain(_ place: RowPlace, _ info: ColumnInfo, _ value: RawValue) -> Bool {
        place.state == .open && !info.needsCare && fits(place.open, info, value)
    }

    /// Whether the value takes the place of another in the leaf's columns.
    @inline(__always)
    func fits(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ info: ColumnInfo, _ value: RawValue
    ) -> Bool {
        !info.kind.hasHeap
            || (!leaf.pointee.hasExternals
                && (value.isNull || value.word1 <= UInt64(LeafLayout.inlineBytesMax)))
    }

    /// The value of a column that is an integer, or mixed and holds one; throws where it is not.
    func integer(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int
    ) throws(RealmError) -> Int64 {
        let value = try value(place, key, index)
        guard value.type == ValueType.int.rawValue else {
            throw RealmError(
                .illegalOperation,
                "property \(named(column: index)) holds "
                    + (value.isNull ? "null" : "no integer") + "; there is nothing to add to")
        }
        return value.intValue
    }

    /// Adds to an integer of the column, wrapping around. Returns where the row is afterwards.
    func add(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ delta: Int64
    ) throws(RealmError) -> RowPlace {
        let sum = RawValue.int(try integer(place, key, index) &+ delta)
        let info = state.columns[index]
        if isPlain(place, info, sum) {
            setOpen(place.open, place.row, index, info.kind, sum)
            return place
        }
        try willAdd(place, key, index, delta)
        return try store(place, key, index, info, sum)
    }

    @inline(__always)
    func setOpen(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ index: Int, _ kind: ColumnKind,
        _ value: RawValue
    ) {
        let column = leaf.pointee.columns + index
        if value.isNull {
            setOpenNull(column, row)
            return
        }
        column.pointee.nulls?.put(0 as UInt8, row)
        switch kind {
        case .int, .double:
            column.pointee.data.put(value.word0, row &* 8)
        case .link:
            column.pointee.data.put(value.word1, row &* 8)
        case .bool:
            column.pointee.data.put(value.boolValue ? 1 as UInt8 : 0, row)
        case .float:
            column.pointee.data.put(UInt32(truncatingIfNeeded: value.word0), row &* 4)
        case .timestamp:
            column.pointee.data.put(value.word0, row &* 8)
            column.pointee.nanoseconds.unsafelyUnwrapped.put(
                UInt32(truncatingIfNeeded: value.word1), row &* 4)
        case .decimal, .objectId, .uuid:
            column.pointee.data.put(wide: value, row, kind)
        case .string, .binary, .collection:
            let bytes = value.bytes
            column.pointee.setText(row, bytes.baseAddress.unsafelyUnwrapped, bytes.count)
        case .mixed:
            setOpenMixed(column, row, value)
        }
    }

    /// Not inlined: it is long, and its stack memory is of a size known at run time only.
    @inline(never)
    private func setOpenMixed(
        _ column: UnsafeMutablePointer<OpenColumn>, _ row: Int, _ value: RawValue
    ) {
        let count = MixedCell.count(value)
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { bytes in
            guard let start = bytes.baseAddress else { return }
            MixedCell.write(value, to: start)
            column.pointee.setText(row, start, count)
        }
    }

    private func setOpenNull(_ column: UnsafeMutablePointer<OpenColumn>, _ row: Int) {
        let width = column.pointee.kind.openWidth
        memset(column.pointee.data + row * width, 0, width)
        column.pointee.nanoseconds?.put(0 as UInt32, row * 4)
        column.pointee.nulls?.put(1 as UInt8, row)
    }

    @inline(never)
    private func setValueSlowly(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        let info = state.columns[index]
        if place.state == .open, !info.hasIndexes, fits(place.open, info, value) {
            // The fast way, but for the verb.
            try willSet(place, key, index, value)
            setOpen(place.open, place.row, index, info.kind, value)
            return place
        }
        if place.state == .open, key == state.freshKey, info.isForValues,
            fits(place.open, info, value), try setFresh(place, key, index, info, value)
        {
            return place
        }
        if info.kind == .link, let target = state.tables[info.linkTarget.index],
            target.state.isEmbedded
        {
            return try clearEmbedded(place, key, index, value, target)
        }
        if info.kind.holdsLinks && value.type == ValueType.link.rawValue {
            try checkTarget(value)
        }
        if info.kind == .link, place.state == .open, info.isNullable, info.inverseIndex >= 0,
            info.valueIndex < 0
        {
            try willSet(place, key, index, value)
            setOpenLink(place, key, index, info, value)
            return place
        }
        // A collection in the place of one of the same type is that one.
        if let type = NestedCell.type(value), info.kind == .mixed,
            NestedCell.type(try self.value(place, key, index)) == type
        {
            return place
        }
        try willSet(place, key, index, value)
        return try store(place, key, index, info, value)
    }

    /// The first value of a column of a new object, which its index alone is to hear of: what `store` does, without
    /// a look at the value before. False where it is not the first one.
    @inline(__always)
    private func setFresh(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ info: ColumnInfo, _ value: RawValue
    ) throws(RealmError) -> Bool {
        let bit: UInt64 = index < 64 ? 1 &<< UInt64(index) : 0
        guard bit & ~state.freshColumns != 0 else { return false }
        try willSet(place, key, index, value)
        state.freshColumns |= bit
        try changeValueIndex(info, key, value, isAddition: true)
        setOpen(place.open, place.row, index, info.kind, value)
        return true
    }

    /// A link in an open leaf, which loads of linked objects write one after another: what `store`
    /// does, without the questions of other columns.
    @inline(__always)
    private func setOpenLink(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ info: ColumnInfo, _ value: RawValue
    ) {
        let column = place.open.pointee.columns + index
        let inverse = state.indexes + Int(info.inverseIndex)
        if !column.pointee.isNull(place.row) {
            let old = UInt64(bitPattern: column.pointee.int(place.row))
            if !value.isNull && old == value.word1 { return }
            inverse.pointee.pending.append(old, key, isAddition: false)
        }
        if !value.isNull { inverse.pointee.pending.append(value.word1, key, isAddition: true) }
        setOpen(place.open, place.row, index, .link, value)
    }

    /// Stores a value that passed all checks, after its verb.
    func store(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ info: ColumnInfo, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        var place = place
        var value = value
        if info.kind == .mixed {
            let old = try self.value(place, key, index)
            if NestedCell.type(old) != nil {
                var owned: [OwnedObject] = []
                try dropCollection(place, key, index, &owned)
                place = try find(key) ?? place
            }
            value = fresh(value)
        }
        if info.hasIndexes { try noteChange(place, key, index, info, value) }
        return try put(place, key, index, info, value)
    }

    /// Writes a value to the row, whatever leaf it is in. No index hears of it.
    func put(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ info: ColumnInfo, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        var place = place
        let bytes =
            value.isNull || !info.kind.hasHeap
            ? 0 : info.kind == .mixed ? MixedCell.count(value) : value.bytes.count
        let isExternal = bytes > LeafLayout.inlineBytesMax
        if place.state != .open {
            if !isExternal {
                place = try patchable(place, key)
                if LeafPatch.set(place.view, index, info, place.row, value) { return place }
            }
            let leaf = try openLeaf(covering: key)
            guard let row = leaf.pointee.row(of: key) else { return place }
            place = RowPlace(leaf: UnsafeMutableRawPointer(leaf), row: row, state: .open)
        }
        if info.kind.hasHeap { dropExternal(place.open, place.row, index) }
        if isExternal {
            setExternal(place.open, place.row, index, info.kind, value)
        } else {
            setOpen(place.open, place.row, index, info.kind, value)
        }
        return place
    }

    /// Bytes of a string or binary, 2 GiB.
    static var textBytesMax: Int { 1 << 31 }

    func setExternal(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ index: Int, _ kind: ColumnKind,
        _ value: RawValue
    ) {
        let bytes = value.bytes
        let count = kind == .mixed ? MixedCell.count(value) : bytes.count
        let reference = makeExternal(count) { target in
            if kind == .mixed {
                MixedCell.write(value, to: target)
            } else {
                memcpy(target, bytes.baseAddress.unsafelyUnwrapped, count)
            }
        }
        withUnsafeTemporaryAllocation(
            byteCount: LeafLayout.externalRecordSize, alignment: 8
        ) { record in
            guard let start = record.baseAddress else { return }
            reference.store(start)
            start.put(UInt64(count), LeafLayout.externalLengthOffset)
            leaf.pointee.columns[index].setText(
                row, start, LeafLayout.externalRecordSize, isExternal: true)
        }
        leaf.pointee.columns[index].nulls?.put(0 as UInt8, row)
        leaf.pointee.hasExternals = true
    }

    /// Gives up the block of an external value that is about to be replaced.
    func dropExternal(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ index: Int
    ) {
        guard leaf.pointee.hasExternals else { return }
        let column = leaf.pointee.columns[index]
        guard column.textLength(row).isExternal, let heap = column.heap else { return }
        memory.pointee.drop(BlockReference(heap + column.textOffset(row)))
    }

    // MARK: Indexes

    /// Collects what a change of an indexed or link column means for its trees.
    private func noteChange(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ info: ColumnInfo, _ value: RawValue
    ) throws(RealmError) {
        let old = try self.value(place, key, index)
        if info.inverseIndex >= 0, !isSameLink(old, value) {
            noteLink(info, key, old, isAddition: false)
            noteLink(info, key, value, isAddition: true)
        }
        if info.wordIndex >= 0 { changeWords(info, key, from: old, to: value) }
        if info.valueIndex >= 0 {
            let bit: UInt64 = index < 64 ? 1 << UInt64(index) : 0
            if key == state.freshKey && bit != 0 && state.freshColumns & bit == 0 {
                state.freshColumns |= bit
            } else {
                try changeValueIndex(info, key, old, isAddition: false)
            }
            try changeValueIndex(info, key, value, isAddition: true)
        }
    }

    func changeValueIndex(
        _ info: ColumnInfo, _ key: ObjectKey, _ value: RawValue, isAddition: Bool
    ) throws(RealmError) {
        let index = state.indexes + Int(info.valueIndex)
        try IndexValue.append(
            value, info.kind, key, isAddition: isAddition, to: &index.pointee.pending)
    }

    /// Begins the value index entries of a row just created; `finishFresh` completes them.
    @inline(__always)
    func beginFresh(_ key: ObjectKey) {
        state.freshKey = key
        state.freshColumns = 0
    }

    /// Enters the defaults that the object created last still has into the value indexes.
    @inline(__always)
    func finishFresh() throws(RealmError) {
        if state.freshKey >= .first { try finishFreshSlowly() }
    }

    private func finishFreshSlowly() throws(RealmError) {
        let key = state.freshKey
        state.freshKey = .invalid
        try enterDefaults(key, 0..<min(64, state.columnCount))
    }

    /// Columns that `freshColumns` has no bit for: they note every change, the first one against the default.
    private func enterDistantDefaults(_ key: ObjectKey) throws(RealmError) {
        if state.columnCount > 64 { try enterDefaults(key, 64..<state.columnCount) }
    }

    private func enterDefaults(_ key: ObjectKey, _ columns: Range<Int>) throws(RealmError) {
        for index in columns where index != state.primaryKeyColumn {
            let info = state.columns[index]
            if info.valueIndex < 0 || index < 64 && state.freshColumns >> UInt64(index) & 1 != 0 {
                continue
            }
            try changeValueIndex(info, key, absent(info), isAddition: true)
        }
    }

    /// Index bookkeeping before a row is created, and after.
    @inline(__always)
    func createIndexedRow(_ key: ObjectKey) throws(RealmError) -> RowPlace {
        if !state.hasSecondaryIndexes { return try createRow(key) }
        try finishFresh()
        let place = try createRow(key)
        beginFresh(key)
        try enterDistantDefaults(key)
        return place
    }
}
