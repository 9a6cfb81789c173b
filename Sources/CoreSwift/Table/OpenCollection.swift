// A list, set or dictionary that a write transaction uses: its elements as a sequence of pieces,
// each a sealed block of the collection's tree or an open leaf in memory. Positions are found by
// counting, so an insertion anywhere moves the elements of one piece only.
//
// Invariants
//   1. `counts[i]` is the number of elements of piece i, and above 0; `count` is their sum.
//   2. A piece is open, or `reference` names its block. The block of a piece that was opened has
//      been dropped.
//   3. `branches` are the level-1 nodes of the tree as it was loaded. One that is not dirty still
//      has exactly its children, next to each other.
//   4. Without `isDirty` the row's cell says what the pieces say.
//   5. The finger's piece begins at element `fingerStart`, if there are pieces.
//   6. `children` are collections that elements of this one are, each under its number.
//
// Made by `Table.collection`, which finds it again by object and column; ended by `flush`, which
// writes the cell. Guarded by the thread that owns the write transaction.

struct CollectionPiece {
    /// First, so that a pointer to the piece is one to the reference.
    var reference: BlockReference
    var open: UnsafeMutablePointer<OpenLeaf>?
    /// The node in `branches` that it is a child of, or -1.
    var origin: Int32
    /// Tells it from the collection's other pieces, also of those that are gone.
    var serial: UInt32 = 0
    /// Of a set or dictionary: whether `word` is known, and the word of the first element.
    var hasWord = false
    var word: UInt64 = 0
}

struct OpenCollection {
    struct Branch {
        var reference: BlockReference
        var children: Int
        var elements: Int
        var isDirty: Bool
    }

    let table: Table
    let key: ObjectKey
    let column: Int
    let layout: ElementLayout
    let infos: UnsafeMutablePointer<ColumnInfo>
    let columnCount: Int
    /// Of a collection in a mixed value: which one; else 0.
    let number: CollectionNumber
    /// Collections in the elements that are open, too, by number; flushed and ended before this
    /// one.
    var children: [CollectionNumber: UnsafeMutablePointer<OpenCollection>] = [:]
    /// The collection that it is an element of, and where it was found there last.
    let parent: UnsafeMutablePointer<OpenCollection>?
    var position = 0
    /// Finds links to objects that are deleted, once that was asked twice; the outermost
    /// collection's, which those in its elements share.
    var finder: UnsafeMutablePointer<LinkFinder>?
    /// Which of the finder's collections it is.
    var member: UInt32 = 0
    var linkSearches = 0
    var count = 0
    var isDirty = false

    var pieces: UnsafeMutablePointer<CollectionPiece>
    var counts: UnsafeMutablePointer<Int32>
    var pieceCount = 0
    private var capacity = 0
    private var nextSerial: UInt32 = 0
    var branches: [Branch] = []
    /// Nodes above the level-1 branches.
    var upper: [BlockReference] = []
    private(set) var fingerPiece = 0
    private(set) var fingerStart = 0
    /// What the texts of a set, or keys of a dictionary, begin with, all of them; see `search`.
    var shared: [UInt8] = []
    var sharedBytes = 0
    var sharesKnown = false

    init(
        _ table: Table, _ key: ObjectKey, _ column: Int, _ layout: ElementLayout,
        number: CollectionNumber = .none,
        parent: UnsafeMutablePointer<OpenCollection>? = nil
    ) {
        self.table = table
        self.key = key
        self.column = column
        self.layout = layout
        self.number = number
        self.parent = parent
        infos = layout.infos
        columnCount = layout.columnCount
        capacity = 2
        pieces = .allocate(capacity: capacity)
        counts = .allocate(capacity: capacity)
    }

    /// Frees the memory; sealed blocks stay what they are.
    func deallocate() {
        if pieceCount == 1, canShareLeaves, let leaf = pieces[0].open,
            table.state.openCollections.keep(leaf, column: column)
        {
            pieces[0].open = nil
        }
        for index in 0..<pieceCount { pieces[index].open.map(OpenLeaf.end) }
        pieces.deallocate()
        counts.deallocate()
    }

    /// All collections of the column have leaves of one form; those in mixed values do not.
    private var canShareLeaves: Bool {
        table.state.columns[column].kind == .collection && number == .none
    }

    var type: CollectionType { layout.type }
    var valueColumn: Int { columnCount - 1 }
    var valueInfo: ColumnInfo { infos[columnCount - 1] }

    // MARK: Loading

    /// Takes over the elements of a checked cell.
    mutating func load(_ cell: UnsafeRawBufferPointer) throws(RealmError) {
        guard cell.count > 0, let start = cell.baseAddress else { return }
        if start.u8(0) == CollectionCell.inlineForm {
            let rows = Int(start.u16(2))
            let leaf = makeLeaf(capacity: max(OpenLeaf.smallRows, rows + rows / 4))
            CollectionCell.decode(start, infos, to: leaf)
            insertPiece(
                at: 0, CollectionPiece(reference: .none, open: leaf, origin: -1), count: rows)
            count = rows
            return
        }
        let root = CollectionRoot(start)
        try loadNode(start + CollectionCell.rootOffset, root.depth, root.count, parent: -1)
        guard count == root.count else {
            throw damaged("has \(count) elements, its row says \(root.count)")
        }
    }

    private mutating func loadNode(
        _ place: UnsafeRawPointer, _ level: Int, _ elements: Int, parent: Int32
    ) throws(RealmError) {
        if level == 0 {
            guard elements > 0, elements <= LeafLayout.rowsMax else {
                throw damaged("leaf of \(elements) elements")
            }
            insertPiece(
                at: pieceCount,
                CollectionPiece(reference: BlockReference(place), open: nil, origin: parent),
                count: elements)
            count += elements
            guard pieceCount <= table.blocksMax else { throw table.state.nodes.endless() }
            return
        }
        let node = try table.collectionBranch(place, level, layout)
        let children = RowBranch.count(node)
        var origin: Int32 = -1
        if level == 1 {
            origin = Int32(branches.count)
            branches.append(
                Branch(
                    reference: BlockReference(place), children: children, elements: elements,
                    isDirty: false))
        } else {
            upper.append(BlockReference(place))
            guard upper.count <= table.blocksMax else { throw table.state.nodes.endless() }
        }
        for child in 0..<children {
            try loadNode(
                RowBranch.reference(node, child), level - 1, RowBranch.rows(node, child),
                parent: origin)
        }
    }

    func damaged(_ what: String) -> RealmError {
        RealmError(
            .invalidDatabase,
            "class \(table.state.classKey), object \(key), property \(column): "
                + "collection \(what)")
    }

    // MARK: Pieces

    private func makeLeaf(capacity: Int) -> UnsafeMutablePointer<OpenLeaf> {
        if capacity <= OpenLeaf.smallRows, canShareLeaves,
            let spare = table.state.openCollections.takeSpare(column: column)
        {
            return spare
        }
        return OpenLeaf.make(
            UnsafePointer(infos), count: columnCount,
            capacity: min(capacity, LeafLayout.rowsMax), lowKey: .first)
    }

    mutating func insertPiece(at index: Int, _ piece: CollectionPiece, count: Int) {
        if pieceCount == capacity { growPieces() }
        let moved = pieceCount - index
        if moved > 0 {
            (pieces + index + 1).moveUpdateOverlapping(pieces + index, moved)
            memmove(counts + index + 1, counts + index, moved * 4)
            // A node that the new piece stands within is no longer what it was.
            if index > 0, pieces[index - 1].origin >= 0,
                pieces[index - 1].origin == pieces[index + 1].origin
            {
                branches[Int(pieces[index - 1].origin)].isDirty = true
            }
        }
        (pieces + index).initialize(to: piece)
        pieces[index].serial = nextSerial
        if count > 0 { finder?.pointee.wait(for: member, nextSerial) }
        nextSerial &+= 1
        counts[index] = Int32(count)
        pieceCount += 1
    }

    private mutating func growPieces() {
        capacity *= 2
        pieces = pieces.grown(pieceCount, to: capacity)
        counts = counts.grown(pieceCount, to: capacity)
    }

    mutating func removePiece(_ index: Int) {
        touch(index)
        pieces[index].open.map(OpenLeaf.end)
        let moved = pieceCount - index - 1
        if moved > 0 {
            (pieces + index).moveUpdateOverlapping(pieces + index + 1, moved)
            memmove(counts + index, counts + index + 1, moved * 4)
        }
        pieceCount -= 1
        fingerPiece = 0
        fingerStart = 0
    }

    /// The node above the piece has to be written anew.
    private mutating func touch(_ index: Int) {
        if pieces[index].origin >= 0 {
            branches[Int(pieces[index].origin)].isDirty = true
            pieces[index].origin = -1
        }
        isDirty = true
    }

    /// Points the finger at the piece with element `index`, which is there.
    @inline(__always)
    private mutating func seek(_ index: Int) {
        let offset = index &- fingerStart
        if offset >= 0 && offset < Int(counts[fingerPiece]) { return }
        seekSlowly(index)
    }

    @inline(never)
    private mutating func seekSlowly(_ index: Int) {
        var piece = 0
        var start = 0
        if index >= fingerStart {
            piece = fingerPiece
            start = fingerStart
        }
        // Eight pieces at a time: a list of a million elements has about five hundred.
        while piece &+ 8 <= pieceCount {
            let eight = UnsafeRawPointer(counts + piece).loadUnaligned(as: SIMD8<Int32>.self)
            let elements = Int(eight.wrappedSum())
            if index &- start < elements { break }
            start &+= elements
            piece &+= 8
        }
        while index &- start >= Int(counts[piece]) {
            start &+= Int(counts[piece])
            piece &+= 1
        }
        fingerPiece = piece
        fingerStart = start
    }

    /// The piece with this serial, if it is still there.
    func piece(serial: UInt32) -> Int? {
        if fingerPiece < pieceCount, pieces[fingerPiece].serial == serial { return fingerPiece }
        return (0..<pieceCount).first { pieces[$0].serial == serial }
    }

    /// The position of a piece's first element.
    mutating func start(ofPiece piece: Int) -> Int {
        pointFinger(at: piece)
        return fingerStart
    }

    /// Tells the finder that the element which was inserted or changed just now holds `value`.
    @inline(__always)
    func note(_ value: RawValue) {
        finder?.pointee.note(value, member, pieces[fingerPiece].serial)
    }

    /// Points the finger at a piece.
    @inline(__always)
    mutating func pointFinger(at piece: Int) {
        var from = 0
        var start = 0
        if piece >= fingerPiece {
            from = fingerPiece
            start = fingerStart
        }
        while from < piece {
            start &+= Int(counts[from])
            from &+= 1
        }
        fingerPiece = piece
        fingerStart = start
    }

    /// Where a piece's rows are.
    @inline(__always)
    func leaf(_ piece: Int) throws(RealmError) -> RowPlace {
        if let open = pieces[piece].open {
            return RowPlace(leaf: UnsafeMutableRawPointer(open), row: 0, state: .open)
        }
        let place = UnsafeRawPointer(pieces + piece)
        let block = try table.collectionLeaf(place, Int(counts[piece]), layout)
        return RowPlace(
            leaf: UnsafeMutableRawPointer(mutating: block), row: 0,
            state: pieces[piece].reference.isTransient ? .transient : .sealed)
    }

    /// The open leaf of a piece; opens it, which drops its block.
    mutating func open(
        _ index: Int, extraRows: Int
    ) throws(RealmError) -> UnsafeMutablePointer<OpenLeaf> {
        if let leaf = pieces[index].open {
            if leaf.pointee.rows + extraRows <= leaf.pointee.capacity {
                touch(index)
                return leaf
            }
            let larger = makeLeaf(
                capacity: max(leaf.pointee.rows + extraRows, leaf.pointee.rows * 2))
            leaf.pointee.copyRows(0..<leaf.pointee.rows, to: larger)
            OpenLeaf.end(leaf)
            pieces[index].open = larger
            touch(index)
            return larger
        }
        let view = try leaf(index).view
        let leaf = LeafDecoder.open(
            view, infos: UnsafePointer(infos), columnCount: columnCount,
            extraRows: max(extraRows, min(view.rows / 2, LeafLayout.rowsMax - view.rows)),
            lowKey: .first)
        table.memory.pointee.drop(pieces[index].reference)
        pieces[index].reference = .none
        pieces[index].open = leaf
        touch(index)
        return leaf
    }

    // MARK: Reading

    /// Element `index`, which is there. `isStable`: its text stays as long as the snapshot.
    @inline(__always)
    mutating func value(
        _ index: Int, _ column: Int
    ) throws(RealmError) -> (value: RawValue, isStable: Bool) {
        seek(index)
        var place = try leaf(fingerPiece)
        place.row = index &- fingerStart
        return (try table.value(place, column, infos[column]), place.state == .sealed)
    }

    /// The position of the nested collection with this number, or nil.
    mutating func position(of number: CollectionNumber, near hint: Int) throws(RealmError) -> Int? {
        guard number != .none, valueInfo.kind == .mixed else { return nil }
        return try NestedCell.position(near: hint, of: count, within: .max) {
            index throws(RealmError) in
            try NestedCell.hasNumber(value(index, valueColumn).value, number)
        }
    }

    /// The collections of `children` by position, which is right of each then.
    mutating func placedChildren() throws(RealmError) -> [UnsafeMutablePointer<OpenCollection>] {
        guard !children.isEmpty else { return [] }
        let placed = sortedChildren()
        for child in placed {
            let position = child.pointee.position
            if position < count,
                try NestedCell.hasNumber(
                    value(position, valueColumn).value, child.pointee.number)
            {
                continue
            }
            // One pass for all of them.
            try findChildren()
            return sortedChildren()
        }
        return placed
    }

    /// By the positions that they have.
    private func sortedChildren() -> [UnsafeMutablePointer<OpenCollection>] {
        var items: [RadixItem] = []
        items.reserveCapacity(children.count)
        for child in children.values {
            items.append(
                RadixItem(
                    key: UInt64(child.pointee.position), payload: UInt64(UInt(bitPattern: child))))
        }
        RadixSort.sort(&items)
        return items.compactMap { UnsafeMutablePointer(bitPattern: UInt($0.payload)) }
    }

    private func findChildren() throws(RealmError) {
        try forEachPiece { place, rows, start throws(RealmError) in
            var place = place
            for row in 0..<rows {
                place.row = row
                let value = try table.value(place, valueColumn, valueInfo)
                guard NestedCell.type(value) != nil else { continue }
                children[NestedCell.number(value)]?.pointee.position = start + row
            }
            return true
        }
    }

    /// Calls `body` with every piece, or those with elements from `first` on: where its rows are,
    /// how many, the position of the first.
    func forEachPiece(
        from first: Int = 0, _ body: (RowPlace, Int, Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        var start = 0
        for piece in 0..<pieceCount {
            let rows = Int(counts[piece])
            if start + rows > first {
                guard try body(try leaf(piece), rows, start) else { return }
            }
            start += rows
        }
    }

    // MARK: Changing

    /// A row of defaults at `index`, at most `count`; the caller sets its values.
    mutating func insertRow(
        at index: Int
    ) throws(RealmError) -> (leaf: UnsafeMutablePointer<OpenLeaf>, row: Int) {
        if pieceCount == 0 {
            insertPiece(
                at: 0,
                CollectionPiece(
                    reference: .none, open: makeLeaf(capacity: OpenLeaf.smallRows), origin: -1),
                count: 0)
            fingerPiece = 0
            fingerStart = 0
        } else if index == count {
            // Behind the last piece's elements, not before a next piece's.
            seek(count - 1)
        } else if index < fingerStart || index > fingerStart + Int(counts[fingerPiece]) {
            // Behind the finger's piece rather than before the next one's first element, whose
            // word stays what it is then.
            seekSlowly(index)
        }
        isDirty = true
        // What is first or last may share less with the others.
        if index == 0 || index == count { sharesKnown = false }
        var row = index - fingerStart
        var leaf = pieces[fingerPiece].open
        if leaf == nil || leaf.unsafelyUnwrapped.pointee.isFull {
            (leaf, row) = try makeRoom(row, isAppending: index == count)
        } else if pieces[fingerPiece].origin >= 0 {
            touch(fingerPiece)
        }
        let open = leaf.unsafelyUnwrapped
        open.pointee.insertRow(at: row)
        counts[fingerPiece] &+= 1
        count &+= 1
        return (open, row)
    }

    /// Rows up to which a piece grows by insertions between its rows.
    private static let filledRowsMax = 512

    /// Opens, enlarges or splits the finger's piece so that a row fits in; moves the finger to
    /// where it belongs.
    @inline(never)
    private mutating func makeRoom(
        _ row: Int, isAppending: Bool
    ) throws(RealmError) -> (UnsafeMutablePointer<OpenLeaf>, Int) {
        let rows = Int(counts[fingerPiece])
        // A piece that insertions fill moves half of its rows at each: better two of them.
        let isGrown = !isAppending && rows >= Self.filledRowsMax && pieces[fingerPiece].open != nil
        if rows < LeafLayout.rowsMax && !isGrown {
            let leaf = try open(fingerPiece, extraRows: 1)
            if leaf.pointee.rows < 32
                || leaf.pointee.estimatedBytes() <= LeafLayout.bytesTarget * 3 / 2
            {
                return (leaf, row)
            }
        }
        let isNext = isAppending && row == rows
        let keep = isNext ? rows : rows / 2
        let right = makeLeaf(
            capacity: isNext ? rows : isGrown ? max(Self.filledRowsMax, rows) : LeafLayout.rowsMax)
        if !isNext {
            let leaf = try open(fingerPiece, extraRows: 0)
            leaf.pointee.copyRows(keep..<rows, to: right)
            leaf.pointee.removeRows(at: keep, count: rows - keep)
            counts[fingerPiece] = Int32(keep)
        }
        let piece = fingerPiece
        insertPiece(
            at: piece + 1, CollectionPiece(reference: .none, open: right, origin: -1),
            count: rows - keep)
        if isNext {
            // What was appended to is full now; sealed, it takes a fraction of the memory.
            let added = sealPiece(piece) - 1
            fingerStart += rows
            fingerPiece = piece + 1 + added
            if added > 0 {
                fingerStart = 0
                for index in 0..<fingerPiece { fingerStart += Int(counts[index]) }
            }
            return (right, 0)
        }
        if row > keep {
            fingerPiece = piece + 1
            fingerStart += keep
            return (right, row - keep)
        }
        return (try open(piece, extraRows: 1), row)
    }

    /// The row of element `index` in an open leaf, to be changed.
    mutating func changeRow(
        at index: Int
    ) throws(RealmError) -> (leaf: UnsafeMutablePointer<OpenLeaf>, row: Int) {
        seek(index)
        let leaf = try open(fingerPiece, extraRows: 0)
        return (leaf, index - fingerStart)
    }

    mutating func removeRow(at index: Int) throws(RealmError) {
        let (leaf, row) = try changeRow(at: index)
        table.dropExternals(leaf, row)
        leaf.pointee.removeRows(at: row, count: 1)
        counts[fingerPiece] &-= 1
        count &-= 1
        if counts[fingerPiece] == 0 { removePiece(fingerPiece) }
    }

    /// Removes every element; blocks are dropped with the values that stand in blocks of their own.
    mutating func removeAll() throws(RealmError) {
        let hasTexts = (0..<columnCount).contains { infos[$0].kind.hasHeap }
        for index in 0..<pieceCount {
            if hasTexts {
                let place = try leaf(index)
                for row in 0..<Int(counts[index]) {
                    for column in 0..<columnCount where infos[column].kind.hasHeap {
                        var place = place
                        place.row = row
                        try table.dropExternal(place, column)
                    }
                }
            }
            if pieces[index].open == nil { table.memory.pointee.drop(pieces[index].reference) }
            pieces[index].open.map(OpenLeaf.end)
        }
        dropBranches()
        pieceCount = 0
        count = 0
        fingerPiece = 0
        fingerStart = 0
        isDirty = true
    }
}

extension UnsafeMutablePointer {
    /// Moves `count` elements from `source`, which may overlap; what is overwritten and not moved
    /// is trivial.
    fileprivate func moveUpdateOverlapping(_ source: UnsafeMutablePointer<Pointee>, _ count: Int) {
        memmove(
            UnsafeMutableRawPointer(self), UnsafeRawPointer(source),
            count * MemoryLayout<Pointee>.stride)
    }
}
