// Reading a class as a whole, for queries and results: its sealed leaves in key order, rows by
// position, its indexes. In a write transaction the table must be settled first; a reader is then
// good until the next change.

import CKernels

/// The classes of a session, for queries.
struct SnapshotReader {
    let tables: TableSet

    var schema: Schema { tables.schema }

    /// The class, settled if a write transaction runs.
    func table(_ key: ClassKey) throws(RealmError) -> TableReader {
        guard let table = tables.table(key) else {
            throw RealmError(.noSuchTable, "there is no class with key \(key)")
        }
        if tables.isWriting { try table.settle() }
        return TableReader(table: table)
    }
}

struct TableReader {
    let table: Table

    var classKey: ClassKey { table.state.classKey }
    var columnCount: Int { table.state.columnCount }
    var rowCount: Int { table.state.rowCount }
    var primaryKeyColumn: Int? {
        table.state.primaryKeyColumn >= 0 ? table.state.primaryKeyColumn : nil
    }
    @inline(__always) func column(_ index: Int) -> ColumnInfo { table.state.columns[index] }

    func leaves() -> LeafIterator { LeafIterator(table: table) }
    /// From the one on that has the row at a position, which there is.
    func leaves(fromPosition position: Int) throws(RealmError) -> LeafIterator {
        try LeafIterator(table: table, position: position)
    }

    /// The leaf that covers `key`, and the row if it is there and alive.
    func row(_ key: ObjectKey) throws(RealmError) -> (leaf: LeafView, row: Int)? {
        guard let place = try table.find(key) else { return nil }
        return (place.view, place.row)
    }

    /// While `body` runs, several threads may read this table.
    func sharing<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        if table.state.isShared { return try body() }
        table.state.isShared = true
        defer { table.state.isShared = false }
        return try body()
    }

    /// The value of a row of a leaf; resolves values in blocks of their own and the key column.
    @inline(__always)
    func value(_ leaf: LeafView, _ row: Int, _ column: Int) throws(RealmError) -> RawValue {
        try table.value(RowPlace(leaf, row), leaf.key(row), column)
    }

    /// The values of the column are the object keys. So it may be at the beginning of a migration, and no more at
    /// its end: whoever asks the table is never wrong.
    @inline(__always) func isObjectKey(_ column: Int) -> Bool {
        column >= 0 && table.state.columns[column].isKey
    }

    /// The object with this primary key; the value's type fits the column. Nil also when the primary key is another
    /// column, as it is in a migration until it is done.
    func find(primaryKey value: RawValue, column: Int) throws(RealmError) -> ObjectKey? {
        guard table.primaryKeyColumn == column, column >= 0 else { return nil }
        return try table.findPrimaryKey(value)
    }

    /// The ordered index of a column's values. The primary key of integers has none that is
    /// complete: look those up with `find(primaryKey:column:)` or as object keys.
    func index(column: Int) -> IndexReader? {
        invariant(column < columnCount, "an index of a column that the class does not have")
        let info = table.state.columns[column]
        guard info.valueIndex >= 0, !info.isKey else { return nil }
        return IndexReader(
            tree: table.state.indexes[Int(info.valueIndex)].tree, kind: info.kind)
    }

    /// The full-text index of a column: words to objects.
    func wordIndex(column: Int) -> IndexReader? {
        let info = table.state.columns[column]
        guard info.wordIndex >= 0 else { return nil }
        return IndexReader(
            tree: table.state.indexes[Int(info.wordIndex)].tree, kind: info.kind)
    }

    /// The objects that link to `target` through a link column, ascending.
    func sources(of target: ObjectKey, column: Int) throws(RealmError) -> [ObjectKey] {
        try table.sources(of: target, in: self.column(column).linkTarget, column: column)
    }

    /// How many objects link to `target` through a link column; reads no leaf of the class.
    func sourceCount(of target: ObjectKey, column: Int) throws(RealmError) -> Int {
        try table.sourceCount(of: target, in: self.column(column).linkTarget, column: column)
    }

    /// The row at a position in key order: its leaf, row, and the position of the leaf's first
    /// row. Positions count live rows.
    func leaf(
        atPosition position: Int
    ) throws(RealmError) -> (leaf: LeafView, start: Int)? {
        guard position >= 0, position < rowCount else { return nil }
        let (place, start) = try table.leafPlace(atPosition: position) { _, _ in }
        let leaf = LeafView(try table.leaf(place))
        guard position - start < leaf.liveRows else { throw miscounted(position) }
        return (leaf, start)
    }

    func miscounted(_ position: Int) -> RealmError {
        RealmError(
            .invalidDatabase,
            "class \(classKey): row counts of the tree do not add up at position \(position)")
    }
}

extension Table {
    /// Where the reference of the leaf stands that has the row at a position, which there is, and the position of its
    /// first row; `pass` gets the branches above it with the numbers of the children, from the root down.
    @inline(__always)
    fileprivate func leafPlace(
        atPosition position: Int, _ pass: (_ branch: UnsafeRawPointer, _ child: Int) -> Void
    ) throws(RealmError) -> (place: UnsafeRawPointer, start: Int) {
        var place = UnsafeRawPointer(state.tree.rootPlace)
        var start = 0
        for level in stride(from: state.tree.depth, to: 0, by: -1) {
            let node = try branch(place, level)
            var child = 0
            let last = RowBranch.count(node) - 1
            while child < last {
                let rows = RowBranch.rows(node, child)
                if position < start + rows { break }
                start += rows
                child += 1
            }
            pass(node, child)
            place = RowBranch.reference(node, child)
        }
        return (place, start)
    }
}

extension LeafView {
    /// The row of the `index`-th live row.
    @inline(__always) func liveRow(_ index: Int) -> Int {
        guard let tombstones else { return index }
        var left = index
        var word = 0
        while true {
            let live = ~tombstones.u64(word &* 8)
            let count = live.nonzeroBitCount
            if left < count {
                var bits = live
                while left > 0 {
                    bits &= bits &- 1
                    left &-= 1
                }
                return word &* 64 &+ bits.trailingZeroBitCount
            }
            left &-= count
            word &+= 1
        }
    }
}

/// The leaves of a table in key order.
struct LeafIterator {
    private let table: Table
    /// Branches from the root down and the next child to visit in each.
    private var path: [(node: UnsafeRawPointer, next: Int)] = []
    private var isStarted = false
    private var leavesLeft: Int
    /// Of the first row of the first leaf.
    private(set) var firstPosition = 0
    /// The leaf after the one that `next` gave last, if it has the same parent and has been checked
    /// before. Its directory is on its way to the cache or there: what scans a column asks for the
    /// same column of this leaf line by line, because the processor's own prefetch ends with a page.
    private(set) var upcoming: LeafView?
    /// How many leaves had to be read; from the second one on the disk is asked for those to come.
    private var newLeaves = 0

    init(table: Table) {
        self.table = table
        leavesLeft = table.blocksMax
    }

    /// Begins with the leaf that has the row at a position, which there is; positions count live rows.
    init(table: Table, position: Int) throws(RealmError) {
        self.init(table: table)
        firstPosition = try table.leafPlace(atPosition: position) { path.append(($0, $1 + 1)) }
            .start
        guard let last = path.indices.last else { return }
        path[last].next -= 1
        isStarted = true
    }

    mutating func next() throws(RealmError) -> LeafView? {
        if !isStarted {
            isStarted = true
            if table.state.tree.root.isNone { return nil }
            let leaf = try descend(table.state.tree.rootPlace, table.state.tree.depth)
            lookAhead()
            return LeafView(leaf)
        }
        while let top = path.last {
            if top.next < RowBranch.count(top.node) {
                path[path.count - 1].next += 1
                let level = RowBranch.level(top.node) - 1
                let leaf = try descend(RowBranch.reference(top.node, top.next), level)
                lookAhead()
                return LeafView(leaf)
            }
            path.removeLast()
        }
        return nil
    }

    private mutating func descend(
        _ start: UnsafeRawPointer, _ level: Int
    ) throws(RealmError) -> UnsafeRawPointer {
        var place = start
        for level in stride(from: level, to: 0, by: -1) {
            let node = try table.branch(place, level)
            path.append((node, 1))
            place = RowBranch.reference(node, 0)
            if level == 1, newLeaves > 1 { readAhead(node, from: 0) }
        }
        leavesLeft -= 1
        guard leavesLeft >= 0 else { throw table.state.nodes.endless() }
        return try table.leaf(place)
    }

    /// Finds the next leaf and sends for the directory of the one behind it.
    @inline(__always) private mutating func lookAhead() {
        upcoming = nil
        guard let top = path.last else { return }
        let count = RowBranch.count(top.node)
        guard top.next < count else { return }
        let nodes = table.state.nodes
        let reference = RowBranch.reference(top.node, top.next)
        upcoming = nodes.resolved(reference, table.state.tree.leafTag).map { LeafView($0) }
        if upcoming == nil {
            newLeaves &+= 1
            if newLeaves == 2 { readAhead(top.node, from: top.next) }
        }
        guard top.next &+ 1 < count else { return }
        if let leaf = nodes.address(RowBranch.reference(top.node, top.next &+ 1)) {
            ck_prefetch(leaf)
            ck_prefetch(leaf + 64)
            ck_prefetch(leaf + 128)
        }
    }

    private func readAhead(_ branch: UnsafeRawPointer, from first: Int) {
        table.state.nodes.readAhead(first..<RowBranch.count(branch)) {
            RowBranch.reference(branch, $0)
        }
    }
}

/// An ordered value index. Where entries of different values may have the same bytes, the caller
/// compares the objects (`IndexValue.isAmbiguous`).
struct IndexReader {
    let tree: IndexTree
    let kind: ColumnKind

    /// A range of values: bounds as index bytes (`IndexValue.withBytes`), nil = open.
    struct Range {
        var low: [UInt8]?
        var includesLow = true
        var high: [UInt8]?
        var includesHigh = true

        init(low: [UInt8]?, includesLow: Bool, high: [UInt8]?, includesHigh: Bool) {
            self.low = low
            self.includesLow = includesLow
            self.high = high
            self.includesHigh = includesHigh
        }
        init(equal bytes: [UInt8]) {
            self.init(low: bytes, includesLow: true, high: bytes, includesHigh: true)
        }
    }

    static func bytes(_ value: RawValue, _ kind: ColumnKind) throws(RealmError) -> [UInt8] {
        try IndexValue.withBytes(value, kind) { start, count throws(RealmError) in
            [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    private func withPositions<R>(
        _ range: Range,
        _ body: (IndexPosition?, IndexPosition?) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let low = Self.copy(range.low)
        let high = Self.copy(range.high)
        defer {
            low?.deallocate()
            high?.deallocate()
        }
        // A bound that includes its value begins before the first key of that value, or ends
        // behind the last one.
        let from = low.map {
            IndexPosition(
                bytes: UnsafeRawPointer($0), count: range.low?.count ?? 0,
                key: range.includesLow ? .min : .max)
        }
        let to = high.map {
            IndexPosition(
                bytes: UnsafeRawPointer($0), count: range.high?.count ?? 0,
                key: range.includesHigh ? .max : .min)
        }
        return try body(from, to)
    }

    private static func copy(_ bytes: [UInt8]?) -> UnsafeMutableRawPointer? {
        guard let bytes else { return nil }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 8)
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { memcpy(copy, start, source.count) }
        }
        return copy
    }

    /// The number of entries in the range; two descents.
    func count(_ range: Range) throws(RealmError) -> Int {
        if tree.isEmpty { return 0 }
        return try withPositions(range) { low, high throws(RealmError) in
            let start = if let low { try tree.rank(low) } else { 0 }
            let end = if let high { try tree.rank(high) } else { tree.count }
            return max(0, end - start)
        }
    }

    /// Object keys of the entries in the range, in the order of the index.
    func keys(_ range: Range) throws(RealmError) -> [ObjectKey] {
        var result: [ObjectKey] = []
        try withPositions(range) { low, high throws(RealmError) in
            try tree.visit(from: low, to: high) { leaf, entries throws(RealmError) in
                leaf.appendKeys(entries, to: &result)
                return true
            }
        }
        return result
    }

    /// The key of the first entry with exactly these bytes.
    func first(equal bytes: UnsafeRawBufferPointer) throws(RealmError) -> ObjectKey? {
        guard let start = bytes.baseAddress else { return nil }
        return try tree.first(start, bytes.count)
    }
}

extension TableReader {
    /// How many live rows come before a key; nil when the object is not there.
    func position(of key: ObjectKey) throws(RealmError) -> Int? {
        guard rowCount > 0 else { return nil }
        var place = UnsafeRawPointer(table.state.tree.rootPlace)
        var position = 0
        for level in stride(from: table.depth, to: 0, by: -1) {
            let node = try table.branch(place, level)
            let child = RowBranch.child(node, covering: key)
            for index in 0..<child { position += RowBranch.rows(node, index) }
            place = RowBranch.reference(node, child)
        }
        let leaf = LeafView(try table.leaf(place))
        guard let row = leaf.row(of: key), !leaf.isDead(row) else { return nil }
        guard let dead = leaf.tombstones else { return position + row }
        for earlier in 0..<row where !LeafLayout.bit(dead, earlier) { position += 1 }
        return position
    }
}
