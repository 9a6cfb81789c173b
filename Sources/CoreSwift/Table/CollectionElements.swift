// The elements of a list, set or dictionary, wherever they are: the one way to count, read, find and
// change them. Held by `RealmCollection`, which finds the place when the stamp has changed; until
// then one look at the place decides each call. Nothing in it is counted by reference, so that looking
// costs nothing.
//
//   cell     in the row's cell, small and in a write transaction (Table+Cells.swift)
//   pieces   in the collection that the write transaction has open (OpenCollection.swift)
//   view     in the snapshot (CollectionView.swift)
//   shared   the same in a frozen realm, for several threads at once (FrozenElements.swift)

struct CollectionElements {
    private enum Place {
        case unknown
        case cell(RowPlace)
        case pieces(UnsafeMutablePointer<OpenCollection>)
        case view(UnsafeMutablePointer<CollectionView>)
        case shared(FrozenElements)
    }

    private var place: Place
    /// The stamp for which the place holds; 0 = none was found.
    private(set) var stamp: UInt64 = 0
    private var knownInfos = NestedCell.list
    /// Where `.view` points when the place is one.
    private var viewMemory: UnsafeMutablePointer<CollectionView>?
    private let key: ObjectKey
    private let column: Int
    private let valueColumn: Int

    /// Of a property of an object, or of a collection in its mixed value. `isFrozen`: of a realm
    /// that several threads read.
    init(_ key: ObjectKey, _ column: Int, _ type: CollectionType, isFrozen: Bool) {
        self.key = key
        self.column = column
        valueColumn = type == .dictionary ? 1 : 0
        place = isFrozen ? .shared(FrozenElements()) : .unknown
    }

    /// Gives its memory back.
    mutating func deallocate() {
        if case .shared(let frozen) = place { frozen.deallocate() }
        forget()
        viewMemory?.deallocate()
    }

    // MARK: The place

    /// Whether several threads may read them: those of a frozen realm.
    var isShared: Bool {
        if case .shared = place { return true }
        return false
    }

    /// Whether they are in the row's cell, where a write transaction can change them.
    @inline(__always) var isCell: Bool {
        if case .cell = place { return true }
        return false
    }

    /// Columns of the elements, which were found.
    private var infos: UnsafeMutablePointer<ColumnInfo> {
        if case .shared(let frozen) = place { return frozen.infos }
        return knownInfos
    }

    /// The values' column, of elements that no other thread reads.
    @inline(__always) var valueInfo: UnsafeMutablePointer<ColumnInfo> { knownInfos + valueColumn }

    /// Of a frozen realm: has the view made, by `make`, if no thread has yet. False of others.
    func share(_ make: () throws(RealmError) -> CollectionView) throws(RealmError) -> Bool {
        guard case .shared(let frozen) = place else { return false }
        try frozen.share(make)
        return true
    }

    /// Nothing is known of the place any more.
    mutating func forget() {
        if case .view(let view) = place {
            view.pointee.deallocate()
            view.deinitialize(count: 1)
        }
        if case .shared = place { return }
        place = .unknown
        stamp = 0
    }

    /// In the cell of this row.
    @inline(__always)
    mutating func use(_ row: RowPlace, of table: Table) {
        knownInfos = table.state.columns[column].elements.unsafelyUnwrapped
        place = .cell(row)
        stamp = table.state.stamp.pointee
    }

    mutating func use(_ pieces: UnsafeMutablePointer<OpenCollection>, of table: Table) {
        knownInfos = pieces.pointee.infos
        place = .pieces(pieces)
        stamp = table.state.stamp.pointee
    }

    mutating func use(_ found: consuming CollectionView, of table: Table) {
        let view = viewMemory ?? .allocate(capacity: 1)
        view.initialize(to: found)
        view.pointee.keep()
        knownInfos = view.pointee.infos
        viewMemory = view
        place = .view(view)
        stamp = table.state.stamp.pointee
    }

    /// In the collection of this type that a mixed value of the snapshot is.
    mutating func use(nested value: RawValue, _ type: CollectionType, of table: Table) {
        use(
            CollectionView(
                table, column, ElementLayout(nested: type, column: column), NestedCell.cell(value)),
            of: table)
    }

    // MARK: Reading

    /// The number of elements.
    @inline(__always) func count(_ table: Table) -> Int {
        switch place {
        case .view(let view): return view.pointee.count
        case .pieces(let pieces): return pieces.pointee.count
        case .cell(let row): return CollectionCell.count(table.cell(row, column))
        case .shared(let frozen): return frozen.count
        case .unknown: return 0
        }
    }

    /// Where the elements lie in a snapshot that one thread reads; nil elsewhere.
    @inline(__always) var snapshot: UnsafeMutablePointer<CollectionView>? {
        if case .view(let view) = place { return view }
        return nil
    }

    /// Element `index`, which is there: of column 0, or of the values of a dictionary. `isStable`:
    /// its text stays as long as the snapshot.
    @inline(__always)
    func value(
        _ index: Int, _ column: Int, _ table: Table
    ) throws(RealmError) -> (value: RawValue, isStable: Bool) {
        switch place {
        case .pieces(let pieces):
            let found = try pieces.pointee.value(index, column)
            return (found.value, found.isStable || !knownInfos[column].kind.hasHeap)
        case .cell(let row):
            let value = table.element(table.cell(row, self.column), index, column, knownInfos)
            return (value, row.state == .sealed || !knownInfos[column].kind.hasHeap)
        case .view(let view): return (try view.pointee.value(index, column), true)
        case .shared(let frozen): return (try frozen.value(index, column), true)
        case .unknown: return (.null, true)
        }
    }

    /// Calls `body` with elements from `first` on, `count` of them or fewer, until it says false.
    /// Text stays where it is as long as nothing changes.
    func forEach(
        _ column: Int, from first: Int, count: Int, _ table: Table,
        _ body: (RawValue, Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let range = first..<max(first, min(first + min(count, .max - first), self.count(table)))
        switch place {
        case .pieces(let pieces):
            let info = knownInfos[column]
            // Under a pointer that other uses may share: piece by piece, not by position.
            try pieces.pointee.forEachPiece(from: range.lowerBound) {
                place, rows, start throws(RealmError) in
                var place = place
                let low = max(0, range.lowerBound - start)
                for row in low..<max(low, min(rows, range.upperBound - start)) {
                    place.row = row
                    guard try body(try table.value(place, column, info), start + row) else {
                        return false
                    }
                }
                return start + rows < range.upperBound
            }
        case .cell(let row):
            let cell = table.cell(row, self.column)
            for index in range {
                guard try body(table.element(cell, index, column, knownInfos), index) else {
                    return
                }
            }
        case .view(let view):
            for index in range {
                guard try body(try view.pointee.value(index, column), index) else { return }
            }
        case .shared(let frozen):
            // A copy, whose finger is this call's alone.
            var view = frozen.view
            for index in range {
                guard try body(try view.value(index, column), index) else { return }
            }
        case .unknown: return
        }
    }

    /// The position of the first element with this value, or nil; of lists, and of the values of
    /// dictionaries.
    func firstIndex(of value: RawValue, _ table: Table) throws(RealmError) -> Int? {
        var found: Int?
        let kind = infos[valueColumn].kind
        try forEach(valueColumn, from: 0, count: .max, table) { element, index throws(RealmError) in
            if CollectionOrder.compare(element, value, kind) == 0 { found = index }
            return found == nil
        }
        return found
    }

    /// Where a value of a set, or a key of a dictionary, is or would be.
    @inline(__always)
    func search(
        _ value: RawValue, _ table: Table
    ) throws(RealmError) -> (index: Int, isFound: Bool) {
        switch place {
        case .pieces(let pieces): return try pieces.pointee.search(value)
        case .view(let view): return try view.pointee.search(value)
        case .cell(let row): return table.search(table.cell(row, column), value, knownInfos)
        case .shared(let frozen):
            var view = frozen.view
            return try view.search(value)
        case .unknown: return (0, false)
        }
    }
}

// MARK: - Changing

extension CollectionElements {
    /// The pieces; of a collection that was used in its cell, opened for this.
    mutating func opened(_ table: Table) throws(RealmError) -> UnsafeMutablePointer<OpenCollection>
    {
        if case .pieces(let pieces) = place { return pieces }
        let pieces = try table.collection(key, column)
        use(pieces, of: table)
        return pieces
    }

    /// Appends an element that passed its checks to the cell of a list, where that is the matter of
    /// a few bytes; otherwise false, and nothing has changed.
    @inline(__always)
    func append(_ value: RawValue, at index: Int, _ table: Table) throws(RealmError) -> Bool {
        guard case .cell(let row) = place,
            index == CollectionCell.count(table.cell(row, column))
        else { return false }
        try table.checkElementTarget(value)
        return table.appendToCell(row, key, column, value, knownInfos)
    }

    /// Inserts an element that passed its checks; `elementKey`: of a dictionary.
    mutating func insert(
        _ value: RawValue, at index: Int, elementKey: RawValue? = nil, _ table: Table
    ) throws(RealmError) {
        if case .cell(let row) = place,
            try table.insertIntoCell(
                row, key, column, at: index, elementKey: elementKey, value, knownInfos)
        {
            return
        }
        try table.insert(try opened(table), at: index, key: elementKey, value)
    }

    /// Replaces the value of an element; an embedded object that it owned is deleted.
    mutating func replace(
        _ value: RawValue, at index: Int, _ table: Table
    ) throws(RealmError) {
        if case .cell(let row) = place,
            try table.replaceInCell(row, key, column, at: index, value, knownInfos)
        {
            return
        }
        try table.replace(try opened(table), at: index, value)
    }

    /// Removes an element; an embedded object that it owned is deleted.
    mutating func remove(at index: Int, _ table: Table) throws(RealmError) {
        if case .cell(let row) = place {
            return try table.removeFromCell(row, key, column, at: index, knownInfos)
        }
        try table.remove(try opened(table), at: index)
    }

    /// Moves an element of a list so that it ends at index `to`.
    mutating func move(from: Int, to: Int, _ table: Table) throws(RealmError) {
        try table.move(try opened(table), from: from, to: to)
    }

    /// Removes every element, with the embedded objects that they own.
    mutating func removeAll(isAssignment: Bool, _ table: Table) throws(RealmError) {
        if case .cell(let row) = place {
            return try table.emptyCell(row, key, column, isAssignment: isAssignment)
        }
        try table.removeAll(try opened(table), isAssignment: isAssignment)
    }
}

// MARK: - Collections in the elements

extension CollectionElements {
    /// The open collection with this number among the elements, if it is open.
    mutating func openNested(
        _ number: CollectionNumber, _ table: Table
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection>? {
        try opened(table).pointee.children[number]
    }

    /// Element `index`, if it is there and a collection of this type.
    @inline(__always)
    func nested(
        _ index: Int, _ type: CollectionType, _ table: Table
    ) throws(RealmError) -> RawValue? {
        guard index >= 0, index < count(table) else { return nil }
        let value = try value(index, valueColumn, table).value
        return NestedCell.type(value) == type ? value : nil
    }

    /// Whether element `index` is the collection with this number.
    func holds(_ number: CollectionNumber, at index: Int, _ table: Table) throws(RealmError) -> Bool
    {
        guard index >= 0, index < count(table) else { return false }
        return NestedCell.hasNumber(try value(index, valueColumn, table).value, number)
    }

    /// The collection that element `index` is, opened; nil when it is none of the type.
    mutating func nestedPieces(
        _ index: Int, _ type: CollectionType, _ table: Table
    ) throws(RealmError) -> UnsafeMutablePointer<OpenCollection>? {
        try table.nestedCollection(try opened(table), at: index, type)
    }

    /// The view of the snapshot's collection that element `index` is; nil when none of the type is
    /// there.
    func nestedView(
        _ index: Int, _ type: CollectionType, _ table: Table
    ) throws(RealmError) -> CollectionView? {
        CollectionView(table, column, try value(index, valueColumn, table).value, type)
    }

    /// The position of the collection with this number, which was at `hint` once and is looked for
    /// so far around it, or nil.
    func position(
        of number: CollectionNumber, near hint: Int, within reach: Int, _ table: Table
    ) throws(RealmError) -> Int? {
        guard number != .none, infos[valueColumn].kind == .mixed else { return nil }
        return try NestedCell.position(near: hint, of: count(table), within: reach) {
            index throws(RealmError) in
            NestedCell.hasNumber(try value(index, valueColumn, table).value, number)
        }
    }
}
