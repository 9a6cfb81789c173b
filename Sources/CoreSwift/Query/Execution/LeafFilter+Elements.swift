// Tests of collections: whether some link leads to an object that passes, and how many members do.
// Small collections stand in the row; kernels count what passes, cell after cell (CKernelsCells.h).
// Backlinks are counted from the inverse index. Elements are LeafFilter+SomeElement.swift's.

import CKernels

extension LeafFilter {
    // MARK: Links

    /// The rows whose link, or some link of whose collection, leads to one of `targets`.
    func testReach(
        _ node: FilterNode, _ linked: LinkedTest, _ targets: KeySet, _ leaf: LeafView,
        _ selection: Bitmap
    ) throws(RealmError) {
        let hop = program.links(linked)[0]
        let index = Int(hop.column)
        let words = Bits.words(leaf.rows)
        guard hop.kind == .links else {
            guard let column = leaf.column(index), column.encoding == .packed else {
                Bits.clear(match, words)
                return finish(node, nil, selection, words)
            }
            maskSet(column, targets, selection)
            return finish(node, column.nulls, selection, words)
        }
        try maskMembers(index, leaf, selection, targets, negated: false, Self.some) {
            row throws(RealmError) in
            try self.table.contains(leaf, row, index) { targets.contains($0) }
        }
        finish(node, nil, selection, words)
    }

    // MARK: Numbers of members

    /// The rows for which a `memberCount` node holds.
    func testMemberCount(
        _ index: Int, _ count: MemberCount, _ node: FilterNode, _ leaf: LeafView,
        _ selection: Bitmap
    ) throws(RealmError) {
        let column = Int(node.column)
        let wanted = count.wanted
        if count.origin != .invalid {
            try countSources(index, count, column, leaf, wanted)
        } else if count.subquery < 0 {
            try maskSizes(column, leaf, selection, wanted)
        } else if let set = run.keys(index) {
            try maskMembers(column, leaf, selection, set, negated: false, wanted) {
                row throws(RealmError) in
                wanted.contains(try self.countLinks(leaf, row, column) { set.contains($0) })
            }
        }
        finish(node, nil, selection, Bits.words(leaf.rows))
    }

    private func maskSizes(
        _ index: Int, _ leaf: LeafView, _ selection: Bitmap, _ wanted: IntRange
    ) throws(RealmError) {
        let layout = ElementLayout(table.column(index), column: index)
        // Null links do not count.
        let skipsNulls = layout.valueInfo.kind == .link && layout.valueInfo.isNullable
        let slow = { (row: Int) throws(RealmError) -> Bool in
            guard skipsNulls else {
                let view = try self.table.collection(leaf, row, index)
                return wanted.contains(Int64(view.count))
            }
            return wanted.contains(try self.countLinks(leaf, row, index) { _ in true })
        }
        if skipsNulls { return try maskRows(selection, leaf.rows, slow) }
        try maskCells(index, leaf, selection, wanted, ck_cell_sizes, slow)
    }

    /// How many links of a collection lead to objects that count.
    @inline(never)
    private func countLinks(
        _ leaf: LeafView, _ row: Int, _ column: Int, _ counts: (ObjectKey) -> Bool
    ) throws(RealmError) -> Int64 {
        var count: Int64 = 0
        _ = try table.contains(leaf, row, column) {
            count += counts($0) ? 1 : 0
            return false
        }
        return count
    }

    /// Objects that link here, from the inverse index: the entries of the leaf's keys.
    private func countSources(
        _ index: Int, _ count: MemberCount, _ column: Int, _ leaf: LeafView,
        _ wanted: IntRange
    ) throws(RealmError) {
        let rows = leaf.rows
        Bits.clear(match, Bits.words(rows))
        let low = min(max(wanted.low, 0), 1 << 31)
        let high = min(wanted.high, Int64(Int32.max))
        guard rows > 0, low <= high, let origin = run.origin(index) else { return }
        func mask(_ counts: UnsafeMutablePointer<UInt32>) {
            ck_mask_range_u32(
                counts, rows, UInt32(truncatingIfNeeded: low),
                UInt32(truncatingIfNeeded: high - low), match)
        }
        if count.subquery < 0, leaf.keyWidth == 0,
            let counter = try linkCounter(index, origin, column)
        {
            return mask(try counter.counts(leaf))
        }
        let set = count.subquery >= 0 ? run.keys(index) : nil
        let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: rows)
        defer { counts.deallocate() }
        counts.initialize(repeating: 0, count: rows)
        try origin.visitLinks(
            to: leaf.keyBase, through: leaf.key(rows &- 1), column: column
        ) { links, entries in
            CountedLinks.forEachTarget(links, entries) { entry, target in
                if let set, !set.contains(links.key(entry)) { return }
                if let row = leaf.row(of: target) { counts[row] &+= 1 }
            }
        }
        mask(counts)
    }

    /// What counts the links to leaf after leaf; nil when there are none.
    private func linkCounter(
        _ index: Int, _ origin: TableReader, _ column: Int
    ) throws(RealmError) -> LinkCounter? {
        if let counter = run.linkCounter(index) { return counter }
        let counter = try LinkCounter(origin, column: column)
        if let counter { run.note(index) { $0.linkCounter = counter } }
        return counter
    }

    // MARK: Cells

    /// Counts something of cells: these, what their offsets are ahead of by those that are read next, the counts, and
    /// the rows that it cannot tell; whether there are such.
    typealias CellKernel = (
        UnsafePointer<ck_texts>?, Int, UnsafeMutablePointer<UInt16>?, Bitmap?
    ) -> Bool

    /// One at least.
    static let some = IntRange(low: 1)

    /// Sets in `match` the selected rows that have as many members of `set`, or with `negated` of
    /// other numbers, as are wanted.
    func maskMembers(
        _ index: Int, _ leaf: LeafView, _ selection: Bitmap, _ set: KeySet, negated: Bool,
        _ wanted: IntRange, _ slow: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        // The kernel takes the first column of a cell.
        guard let bits = set.bitmap, table.column(index).elementColumns == 1 else {
            return try maskRows(selection, leaf.rows, slow)
        }
        let kernel: CellKernel = {
            ck_cell_members($0, $1, set.low, set.high, bits, negated, $2, $3)
        }
        try maskCells(index, leaf, selection, wanted, kernel, slow)
    }

    /// Sets in `match` the selected rows of whose cells `kernel` counts as much as is wanted.
    /// Collections that do not stand in their row in a form that it takes are left to `slow`.
    func maskCells(
        _ index: Int, _ leaf: LeafView, _ selection: Bitmap, _ wanted: IntRange,
        _ kernel: CellKernel, _ slow: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let info = table.column(index)
        let words = Bits.words(leaf.rows)
        guard info.kind == .collection, let column = leaf.column(index), column.encoding != .absent,
            column.externals == nil, Bits.count(selection, words) &* 8 >= leaf.rows
        else { return try maskRows(selection, leaf.rows, slow) }
        let (counts, odd) = cellScratch()
        if column.encoding == .stringDictionary {
            var cells = column.texts()
            // Roots of trees are never words of a dictionary, but nulls may be in one.
            if kernel(&cells, 0, counts, odd) { return try maskRows(selection, leaf.rows, slow) }
            return maskTable(column) { table in
                for word in 0..<min(column.wordCount, 256)
                where wanted.contains(Int64(counts[word])) {
                    table[word] = 1
                }
            }
        }
        var cells = texts(column, index)
        var ahead = 0
        if cells.ahead != 0, let next = upcoming?.column(index) { ahead = next.data - column.data }
        let hasOdd = kernel(&cells, ahead, counts, odd)
        let low = min(max(wanted.low, 0), 0x10000)
        let high = min(wanted.high, 0xFFFF)
        if low <= high {
            ck_mask_range_u16(counts, leaf.rows, UInt16(low), UInt16(high - low), match)
        } else {
            Bits.clear(match, words)
        }
        guard hasOdd else { return }
        for word in 0..<words {
            match[word] &= ~odd[word]
            odd[word] &= selection[word]
        }
        try Bits.forEach(odd, words) { row throws(RealmError) in
            if try slow(row) { Bits.set(match, row) }
        }
    }

    /// Sets the bits of the selected rows that pass, and no other.
    func maskRows(
        _ selection: Bitmap, _ rows: Int, _ passes: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        Bits.clear(match, Bits.words(rows))
        try Bits.forEach(selection, Bits.words(rows)) { row throws(RealmError) in
            if try passes(row) { Bits.set(match, row) }
        }
    }
}
