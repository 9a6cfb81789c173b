// The rows of one class as one session sees them: in a snapshot, or with the changes of the
// session's running write transaction on top.
//
// `TableState` is a struct in raw memory and `Table` a pointer to it, so that the calls that
// programs make a million times a second (find, get, set, create) count no references.
//
// Invariants while a write transaction runs
//   1. Every node between the root and a changed leaf is transient (RowTree.swift).
//   2. A leaf is sealed (a block) or open (`OpenLeaf`); open leaves are listed in `openLeaves`.
//   3. `rowCount` is exact. The row counts in transient branches are exact only after
//      `settle()`, which also seals every open leaf and merges all index changes.
//   4. The finger names a leaf that covers fingerLow ..< fingerHigh, or that range is empty.
//   5. Whatever moves rows bumps the session's stamp.

import CKernels

/// An index of a table: of values, of links, or of words.
struct TableIndex {
    let column: Int
    let kind: IndexKind
    var tree: IndexTree
    var pending: IndexPending
    /// Made for a class that may have rows, which are not in it yet.
    var isNew = false
}

/// Memory that columns of a table point to, freed with the table.
struct OwnedByColumns {
    var columns: [UnsafeMutablePointer<ColumnInfo>] = []
    var elements: [UnsafeMutablePointer<ColumnInfo>] = []
    var initials: [UnsafeMutablePointer<InitialColumn>] = []

    func deallocate() {
        for pointer in columns { pointer.deallocate() }
        for pointer in elements { pointer.deallocate() }
        for pointer in initials {
            pointer.pointee.deallocate()
            pointer.deallocate()
        }
    }
}

struct TableState {
    let classKey: ClassKey
    /// Changes of the schema give a table other columns (`TableLayout.reshape`).
    var columnCount: Int
    var columns: UnsafeMutablePointer<ColumnInfo>
    /// What columns own and owned: handles may still look at elements of columns that are gone.
    var ownedByColumns = OwnedByColumns()
    /// Column of the primary key, or -1.
    var primaryKeyColumn: Int
    /// The primary key is an integer, which is the object key where that is possible.
    var hasIntegerKey: Bool
    var isEmbedded: Bool
    /// The rows.
    var tree: RowTree
    /// The session's write transaction.
    var transaction: UnsafeMutablePointer<TransactionState>?
    var rowCount = 0
    /// The next object key that is assigned in sequence.
    var nextKey = ObjectKey.first
    var indexes: UnsafeMutablePointer<TableIndex>
    var indexCount: Int

    var fingerLow = ObjectKey.first
    var fingerHigh = ObjectKey.first
    var fingerLeaf = UnsafeMutableRawPointer(bitPattern: 64).unsafelyUnwrapped
    var fingerState = LeafState.sealed

    /// Several threads read it at once (frozen realms): the finger is not moved.
    var isShared = false

    /// Bumped whenever rows move; handles that remember a place compare it.
    let stamp: UnsafeMutablePointer<UInt64>
    var openLeaves: [UnsafeMutablePointer<OpenLeaf>] = []
    var openRows = 0
    /// The open leaf at the right edge, where appended rows go.
    var appendLeaf: UnsafeMutablePointer<OpenLeaf>?
    /// The first keys of leaves that appended rows filled, sealed since the last early write.
    var sealedFronts: [ObjectKey] = []
    /// Rows that make a leaf of the target size, judged from the last one sealed.
    var rowsPerLeaf = 400 {
        didSet { if appendRows != 0 { appendRows = rowsPerLeaf } }
    }
    /// Up to how many rows the append leaf takes new ones without more ado.
    var appendRows = 400
    var changes = TableChanges()
    /// The session's tables by class key, for links.
    var tables: UnsafeMutablePointer<Table?>
    var tableCapacity: Int
    /// Some column besides the primary key has a value index.
    var hasSecondaryIndexes: Bool
    /// The object created last, while its defaults are not in the value indexes yet, or -1; most
    /// objects get their values at once, and defaults need never be entered then.
    var freshKey = ObjectKey.invalid
    /// Lists, sets and dictionaries in use by the write transaction.
    var openCollections = OpenCollectionSet()
    /// Columns of that object that are in their indexes (bit set), for the first 64 columns.
    var freshColumns: UInt64 = 0
    /// Columns of other classes (or this one) that can link here: (class, column). Those are links
    /// to this class, and every mixed column.
    var incoming: [(table: ClassKey, column: Int)] = []
    /// A new file is filled: see TableSet+Filling.
    var isFilling = false
    /// Links to its objects are not looked up meanwhile.
    var takesLinksUnseen = false
    /// Names for messages; see Table+Names.
    var schema: Schema

    @inline(__always) var nodes: NodeSource { tree.nodes }
}

struct Table: Equatable {
    private let pointer: UnsafeMutablePointer<TableState>

    /// From now on links to its objects are looked up, also while the file is filled.
    func lookUpLinks() { pointer.pointee.takesLinksUnseen = false }

    init(_ state: consuming TableState) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: state)
    }

    /// Gives the memory back. What the fields own has ended before.
    func deallocate() {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }

    /// The fields, for the files of this folder alone (.ci/check-layers); others have what follows
    /// and the verbs.
    var state: TableState {
        @inline(__always) unsafeAddress { UnsafePointer(pointer) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer }
    }

    @inline(__always) var classKey: ClassKey { state.classKey }
    @inline(__always) var columns: UnsafePointer<ColumnInfo> { UnsafePointer(state.columns) }
    @inline(__always) var columnCount: Int { state.columnCount }
    /// Encoded bytes that a leaf of rows aims at. What says where the columns are, whole pages of it, does not count: a
    /// class of many columns, also of properties that were dropped, would have a leaf for each object.
    @inline(__always) var leafBytesTarget: Int {
        LeafLayout.bytesTarget + LeafLayout.directoryBytes(state.columnCount) & ~(Page.size - 1)
    }
    @inline(__always) var primaryKeyColumn: Int { state.primaryKeyColumn }
    @inline(__always) var hasIntegerKey: Bool { state.hasIntegerKey }
    @inline(__always) var isEmbedded: Bool { state.isEmbedded }
    func isCollection(_ column: Int) -> Bool { state.columns[column].kind == .collection }
    @inline(__always) var rowCount: Int { state.rowCount }
    @inline(__always) var depth: Int { state.tree.depth }
    var indexes: UnsafeBufferPointer<TableIndex> {
        UnsafeBufferPointer(start: state.indexes, count: state.indexCount)
    }
    /// Columns of other classes, or of this one, that can link here.
    var incoming: [(table: ClassKey, column: Int)] { state.incoming }
    /// An address that stays while the table does, for values without bytes and leaves not read.
    var somewhere: UnsafeRawPointer { UnsafeRawPointer(state.tree.rootPlace) }
    /// Changes of the transaction so far that need not have moved a row.
    @inline(__always) var patches: Int { state.transaction?.pointee.changes.patches ?? 0 }

    /// The session's table of a class, which links lead to.
    @inline(__always) func table(_ key: ClassKey) -> Table? {
        let index = key.index
        return index < state.tableCapacity ? state.tables[index] : nil
    }

    /// Whether a row with this key comes behind all others, in the open leaf at the right edge.
    @inline(__always) func isAppended(_ key: ObjectKey) -> Bool {
        guard let leaf = state.appendLeaf, leaf.pointee.order == nil, leaf.pointee.rows > 0 else {
            return false
        }
        return key > leaf.pointee.keys[leaf.pointee.rows &- 1]
    }
}

enum LeafState: UInt8 {
    /// A block of the file.
    case sealed
    /// A sealed block in the transaction's memory.
    case transient
    /// An `OpenLeaf`.
    case open
}

/// Where a row is: good until the session's stamp changes.
struct RowPlace {
    var leaf: UnsafeMutableRawPointer
    var row: Int
    var state: LeafState

    @inline(__always) init(leaf: UnsafeMutableRawPointer, row: Int, state: LeafState) {
        self.leaf = leaf
        self.row = row
        self.state = state
    }

    /// Of a leaf that is a block of the file.
    @inline(__always) init(_ leaf: LeafView, _ row: Int) {
        self.init(leaf: UnsafeMutableRawPointer(mutating: leaf.base), row: row, state: .sealed)
    }

    @inline(__always) var view: LeafView { LeafView(UnsafeRawPointer(leaf)) }
    @inline(__always) var open: UnsafeMutablePointer<OpenLeaf> {
        leaf.assumingMemoryBound(to: OpenLeaf.self)
    }
}

extension Table {
    @inline(__always) var memory: UnsafeMutablePointer<TransactionMemory> {
        state.nodes.memory.unsafelyUnwrapped
    }
    @inline(__always) var transaction: UnsafeMutablePointer<TransactionState> {
        state.transaction.unsafelyUnwrapped
    }
    @inline(__always) var isWriting: Bool { state.transaction != nil }

    @inline(__always)
    func leaf(_ place: UnsafeRawPointer) throws(RealmError) -> UnsafeRawPointer {
        if let node = state.nodes.resolved(place, state.tree.leafTag) { return node }
        return try state.nodes.admit(
            BlockReference(place), state.tree.leafTag,
            RowLeafCheck.Context(
                infos: UnsafePointer(state.columns), columnCount: state.columnCount),
            RowLeafCheck.check)
    }

    @inline(__always)
    func branch(_ place: UnsafeRawPointer, _ level: Int) throws(RealmError) -> UnsafeRawPointer {
        try state.tree.branch(place, level)
    }

    @inline(__always)
    func pointFinger(
        at leaf: UnsafeMutableRawPointer, _ leafState: LeafState, _ low: ObjectKey,
        _ high: ObjectKey
    ) {
        state.fingerLeaf = leaf
        state.fingerState = leafState
        state.fingerLow = low
        state.fingerHigh = high
    }

    @inline(__always) func clearFinger() {
        state.fingerLow = .first
        state.fingerHigh = .first
    }

    /// The class is gone: handles find no object any more.
    func retire() {
        state.tree.setRoot(.none, depth: 0)
        state.rowCount = 0
        state.incoming = []
        clearFinger()
    }

    @inline(__always) func rowsMoved() {
        state.stamp.pointee &+= 1
        clearFinger()
    }

    // MARK: Finding

    /// The row with this key, or nil.
    @inline(__always)
    func find(_ key: ObjectKey) throws(RealmError) -> RowPlace? {
        if key >= state.fingerLow && key < state.fingerHigh {
            return Self.row(key, in: state.fingerLeaf, state.fingerState)
        }
        return try findFromRoot(key)
    }

    @inline(__always)
    private static func row(
        _ key: ObjectKey, in leaf: UnsafeMutableRawPointer, _ state: LeafState
    ) -> RowPlace? {
        if state == .open {
            let open = leaf.assumingMemoryBound(to: OpenLeaf.self)
            guard let row = open.pointee.row(of: key), !open.pointee.isDead(row) else {
                return nil
            }
            return RowPlace(leaf: leaf, row: row, state: state)
        }
        let view = LeafView(UnsafeRawPointer(leaf))
        guard let row = view.row(of: key), !view.isDead(row) else { return nil }
        return RowPlace(leaf: leaf, row: row, state: state)
    }

    @inline(never)
    private func findFromRoot(_ key: ObjectKey) throws(RealmError) -> RowPlace? {
        guard let found = try leafFromRoot(key) else { return nil }
        let leaf = UnsafeMutableRawPointer(mutating: found.leaf)
        if !state.isShared {
            pointFinger(at: leaf, found.state, found.low, found.high)
        }
        return Self.row(key, in: leaf, found.state)
    }

    private func leafFromRoot(
        _ key: ObjectKey
    ) throws(RealmError) -> (
        leaf: UnsafeRawPointer, state: LeafState, low: ObjectKey, high: ObjectKey
    )? {
        if state.tree.isEmpty { return nil }
        let (place, low, high) = try state.tree.leafPlace(covering: key)
        let reference = BlockReference(place)
        let leaf = try leaf(place)
        let state: LeafState =
            !reference.isTransient
            ? .sealed : memory.pointee.blocks.isOpenLeaf(reference) ? .open : .transient
        return (leaf, state, low, high)
    }

    /// Points the finger at the leaf that covers `key`; false when the table is empty.
    func moveFinger(_ key: ObjectKey) throws(RealmError) -> Bool {
        if key >= state.fingerLow && key < state.fingerHigh { return true }
        _ = try findFromRoot(key)
        return key >= state.fingerLow && key < state.fingerHigh
    }

    // MARK: Reading values

    /// The value of a column; text of sealed leaves points into the file's mapping.
    @inline(__always)
    func value(_ place: RowPlace, _ key: ObjectKey, _ index: Int) throws(RealmError) -> RawValue {
        let info = state.columns[index]
        if info.isKey && key < IntegerKeys.indirectBase { return .int(key.rawValue) }
        return try value(place, index, info)
    }

    /// The value of a column of any leaf of this class: of its rows, or of the elements of a
    /// collection.
    @inline(__always)
    func value(
        _ place: RowPlace, _ index: Int, _ info: ColumnInfo
    ) throws(RealmError) -> RawValue {
        if place.state == .open { return try openValue(place.open, place.row, index, info) }
        guard let column = place.view.column(index, info) else { return absent(info) }
        let row = place.row
        if column.isNull(row) { return .null }
        switch column.encoding {
        case .packed:
            let integer = column.packed(row)
            return info.kind == .int
                ? .int(integer) : .link(info.linkTarget, ObjectKey(rawValue: integer))
        case .fixed:
            return column.fixed(row, info.kind)
        case .bits:
            return .bool(column.bit(row))
        case .timestamp:
            return .timestamp(
                seconds: column.packed(row), nanoseconds: column.nanoseconds(row))
        case .stringFixed, .string16, .string32, .stringDictionary:
            let bytes = column.bytes(row)
            if let externals = column.externals, LeafLayout.bit(externals, row) {
                return try externalValue(bytes, info)
            }
            return text(bytes, info)
        case .absent:
            return absent(info)
        }
    }

    @inline(__always)
    private func text(_ bytes: UnsafeRawBufferPointer, _ info: ColumnInfo) -> RawValue {
        if info.kind == .mixed { return MixedCell.decode(bytes) }
        let start = bytes.baseAddress.unsafelyUnwrapped
        return RawValue(
            word0: UInt64(UInt(bitPattern: start)), word1: UInt64(bytes.count),
            type: info.kind == .string ? .string : .binary)
    }

    /// What a column without data holds: null, or the default of a required column.
    func absent(_ info: ColumnInfo) -> RawValue {
        info.isNullable ? .null : .zero(of: info.kind, somewhere)
    }

    private func openValue(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ row: Int, _ index: Int, _ info: ColumnInfo
    ) throws(RealmError) -> RawValue {
        let column = leaf.pointee.columns[index]
        if column.isNull(row) { return .null }
        let data = UnsafeRawPointer(column.data)
        switch info.kind {
        case .int: return .int(column.int(row))
        case .link: return .link(info.linkTarget, column.objectKey(row))
        case .bool: return .bool(data.u8(row) != 0)
        case .float: return .float(Float(bitPattern: data.u32(row &* 4)))
        case .double: return .double(Double(bitPattern: data.u64(row &* 8)))
        case .timestamp:
            let parts = column.nanoseconds.map { UnsafeRawPointer($0).u32(row &* 4) } ?? 0
            return .timestamp(seconds: column.int(row), nanoseconds: Int32(bitPattern: parts))
        case .decimal, .objectId, .uuid:
            return RawValue(wide: data, row, info.kind)
        case .string, .binary, .mixed, .collection:
            let (count, isExternal) = column.textLength(row)
            guard let heap = column.heap, count > 0 else { return .zero(of: info.kind, somewhere) }
            let bytes = UnsafeRawBufferPointer(
                start: heap + column.textOffset(row), count: count)
            return isExternal ? try externalValue(bytes, info) : text(bytes, info)
        }
    }

    // MARK: Values in blocks of their own

    static var externalHeader: Int { BlockField.end }

    private func externalTag() -> BlockTag { BlockTag(.bigValue, classKey: state.classKey) }

    /// The structure of a block that holds one value of `length` bytes.
    static func checkExternal(
        _ block: UnsafeRawPointer, _ bytes: Int, _ length: UInt64
    ) throws(RealmError) {
        let used = UInt64(block.u32(BlockField.bytesUsed))
        guard length <= UInt64(bytes - externalHeader), used == length else {
            throw RealmError(
                .invalidDatabase,
                "value of \(used) bytes, its row says \(length), in a block of \(bytes)")
        }
    }

    /// The value behind a 40-byte record.
    func externalValue(
        _ record: UnsafeRawBufferPointer, _ info: ColumnInfo
    ) throws(RealmError) -> RawValue {
        let bytes = try externalBytes(record)
        // The gate of leaves does not see these.
        if info.kind == .mixed, let problem = NestedCell.externalProblem(bytes) {
            throw RealmError(.invalidDatabase, "value of \(bytes.count) bytes: \(problem)")
        }
        return text(bytes, info)
    }

    /// The bytes behind a 40-byte record.
    func externalBytes(
        _ record: UnsafeRawBufferPointer
    ) throws(RealmError) -> UnsafeRawBufferPointer {
        let start = record.baseAddress.unsafelyUnwrapped
        let length = start.u64(LeafLayout.externalLengthOffset)
        let block: UnsafeRawPointer
        if let known = state.nodes.resolved(start, externalTag()) {
            block = known
        } else {
            block = try state.nodes.admit(
                BlockReference(start), externalTag(), length, Self.checkExternal)
        }
        // Known blocks passed the check for the length of some row, not necessarily of this one.
        let used = UInt64(block.u32(BlockField.bytesUsed))
        guard used == length else {
            throw RealmError(
                .invalidDatabase, "value of \(used) bytes, its row says \(length)")
        }
        return UnsafeRawBufferPointer(start: block + Self.externalHeader, count: Int(length))
    }

    /// Makes a transient block for one value of `count` bytes, which `write` writes; returns its
    /// reference.
    func makeExternal(
        _ count: Int, _ write: (UnsafeMutableRawPointer) -> Void
    ) -> BlockReference {
        let pages = PageCount.forBytes(Self.externalHeader + count)
        let block = memory.pointee.blocks.allocate(pages: pages)
        block.put(externalTag().rawValue, BlockField.tag)
        block.put(UInt32(count), BlockField.bytesUsed)
        block.put(1 as UInt32, BlockField.count)
        write(block + Self.externalHeader)
        return memory.pointee.blocks.add(block, pages: pages)
    }
}
