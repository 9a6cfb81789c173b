// Tests of collections: whether some element passes, and how many members do. Small collections
// stand in the row; those of integers and links are read where they lie, one cell after another
// without calls and without branches on what is in them.

/// The numbers of a collection that stands in its row, if none of them is null.
private struct CellNumbers {
    let count: Int
    let width: Int
    let data: UnsafeRawPointer

    /// Of a cell that is not empty, of a list or set. Nil: the collection has a tree, or nulls.
    @inline(__always) init?(_ cell: UnsafeRawPointer) {
        guard cell.u8(0) == CollectionCell.inlineForm,
            cell.u8(5) & InlineColumn.nullsFlag == 0
        else { return nil }
        count = Int(cell.u16(2))
        width = Int(cell.u8(4))
        data = cell + 6
    }

    /// How many of the numbers pass. The first four are tested in any case, those that are not
    /// there as the last one once more with no weight: how long short lists are is hard to foresee
    /// for the processor.
    @inline(__always) func passing(_ passes: (Int64) -> Bool) -> Int {
        switch width {
        case 1: return passing({ Int64(Int8(bitPattern: data.u8($0))) }, passes)
        case 2: return passing({ Int64(Int16(bitPattern: data.u16($0 &* 2))) }, passes)
        case 4: return passing({ Int64(Int32(bitPattern: data.u32($0 &* 4))) }, passes)
        default: return passing({ data.i64($0 &* 8) }, passes)
        }
    }

    @inline(__always) private func passing(
        _ number: (Int) -> Int64, _ passes: (Int64) -> Bool
    ) -> Int {
        @inline(__always) func weight(_ bool: Bool) -> Int {
            Int(truncatingIfNeeded: unsafeBitCast(bool, to: UInt8.self))
        }
        let last = count &- 1
        var found = weight(passes(number(0)))
        found &+= weight(passes(number(min(1, last)))) & weight(last >= 1)
        found &+= weight(passes(number(min(2, last)))) & weight(last >= 2)
        found &+= weight(passes(number(min(3, last)))) & weight(last >= 3)
        var index = 4
        while index <= last {
            found &+= weight(passes(number(index)))
            index &+= 1
        }
        return found
    }
}

extension LeafFilter {
    // MARK: Some element

    /// Removes from `selection` the rows for which an `elements` node does not hold.
    func testElements(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        let inner = Int(node.a)
        let test = nodes[inner]
        let isNumber = test.columnKind == .int || test.columnKind == .link
        let slow = { (row: Int) throws(RealmError) -> Bool in
            try self.someElementPasses(inner, node, leaf, row)
        }
        if isNumber, test.kind == .intRange, node.high == 0, test.low <= test.high {
            let low = test.low
            let span = UInt64(bitPattern: test.high &- test.low)
            let negated = test.negated
            try maskCells(
                node, leaf, selection,
                { (UInt64(bitPattern: $0 &- low) <= span) != negated }, { $0 > 0 }, slow)
        } else if isNumber, test.kind == .intSet, node.high == 0, let set = keys(inner) {
            let negated = test.negated
            try maskMembers(node, leaf, selection, set, negated: negated, { $0 > 0 }, slow)
        } else {
            try maskRows(leaf, selection, slow)
        }
        finish(node, nil, selection, Bits.words(leaf.rows))
    }

    private func someElementPasses(
        _ inner: Int, _ node: FilterNode, _ leaf: LeafView, _ row: Int
    ) throws(RealmError) -> Bool {
        var view = try table.collection(leaf, row, Int(node.column))
        let column = node.high != 0 ? 0 : view.valueColumn
        for index in 0..<view.count where try passes(inner, view.value(index, column)) {
            return true
        }
        return false
    }

    // MARK: Links

    /// The rows whose link, or some link of whose collection, leads to one of `targets`.
    func testReach(
        _ node: FilterNode, _ targets: KeySet, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        let hop = program.hops[Int(node.low)]
        var place = node
        place.column = hop.column
        let words = Bits.words(leaf.rows)
        guard hop.kind == .links else {
            guard let column = leaf.column(Int(hop.column)), column.encoding == .packed else {
                Bits.clear(match, words)
                return finish(node, nil, selection, words)
            }
            maskSet(column, targets)
            return finish(node, column.nulls, selection, words)
        }
        try maskMembers(place, leaf, selection, targets, negated: false, { $0 > 0 }) {
            row throws(RealmError) in
            try self.table.contains(leaf, row, Int(hop.column)) { targets.contains($0) }
        }
        finish(node, nil, selection, words)
    }

    // MARK: Numbers of members

    /// The rows for which a `memberCount` node holds.
    func testMemberCount(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        let low = node.low
        let high = node.high
        let isCounted = { (count: Int) -> Bool in Int64(count) >= low && Int64(count) <= high }
        let words = Bits.words(leaf.rows)
        if node.linkClass != .invalid {
            try countSources(index, node, leaf, isCounted)
            return finish(node, nil, selection, words)
        }
        guard node.a >= 0 else {
            try maskSizes(node, leaf, selection, isCounted)
            return finish(node, nil, selection, words)
        }
        guard let set = keys(index) else { return }
        try maskMembers(node, leaf, selection, set, negated: false, isCounted) {
            row throws(RealmError) in
            var count = 0
            _ = try self.table.contains(leaf, row, Int(node.column)) {
                count += set.contains($0) ? 1 : 0
                return false
            }
            return isCounted(count)
        }
        finish(node, nil, selection, words)
    }

    private func maskSizes(
        _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap, _ isCounted: (Int) -> Bool
    ) throws(RealmError) {
        let info = table.column(Int(node.column))
        let layout = ElementLayout(info, column: Int(node.column))
        // Null links do not count; only dictionaries can have them.
        let skipsNulls = layout.valueInfo.kind == .link && layout.valueInfo.isNullable
        guard let column = leaf.column(Int(node.column)), column.encoding != .absent,
            column.externals == nil, !skipsNulls
        else {
            return try maskRows(leaf, selection) { row throws(RealmError) in
                guard skipsNulls else {
                    return isCounted(try self.table.collection(leaf, row, Int(node.column)).count)
                }
                var count = 0
                _ = try self.table.contains(leaf, row, Int(node.column)) { _ in
                    count += 1
                    return false
                }
                return isCounted(count)
            }
        }
        try Self.mask(selection, leaf.rows, match) { row throws(RealmError) in
            isCounted(CollectionCell.count(column.bytes(row)))
        }
    }

    /// Objects that link here, from the inverse index: the entries of the leaf's keys.
    private func countSources(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ isCounted: (Int) -> Bool
    ) throws(RealmError) {
        let rows = leaf.rows
        Bits.clear(match, Bits.words(rows))
        guard rows > 0, let origin = origins[index] else { return }
        let set = node.a >= 0 ? keys(index) : nil
        let counts = UnsafeMutablePointer<Int32>.allocate(capacity: rows)
        defer { counts.deallocate() }
        counts.initialize(repeating: 0, count: rows)
        let first = leaf.keyBase
        let isDense = leaf.keyWidth == 0
        try origin.forEachLink(
            to: first, through: leaf.key(rows &- 1), column: Int(node.column)
        ) { target, source in
            if let set, !set.contains(source) { return }
            if isDense {
                let row = Int(target &- first)
                if row >= 0 && row < rows { counts[row] &+= 1 }
            } else if let row = leaf.row(of: target) {
                counts[row] &+= 1
            }
        }
        for row in 0..<rows where isCounted(Int(counts[row])) { Bits.set(match, row) }
    }

    // MARK: Cells

    /// Sets in `match` the selected rows with as many members of `set` as `isEnough` says.
    @inline(__always)
    private func maskMembers(
        _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap, _ set: KeySet, negated: Bool,
        _ isEnough: (Int) -> Bool, _ slow: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        if let bits = set.bitmap {
            let low = set.low
            let span = UInt64(bitPattern: set.high &- low)
            try maskCells(
                node, leaf, selection,
                { number in
                    let offset = UInt64(bitPattern: number &- low)
                    let isInside = offset <= span
                    let place = isInside ? offset : 0
                    let bit = bits[Int(place >> 6)] >> (place & 63) & 1
                    return (isInside && bit != 0) != negated
                }, isEnough, slow)
        } else {
            try maskCells(
                node, leaf, selection, { set.contains($0) != negated }, isEnough, slow)
        }
    }

    /// Sets in `match` the selected rows of whose numbers enough pass. Collections that do not
    /// stand in their row as plain numbers are left to `slow`.
    @inline(__always)
    private func maskCells(
        _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap, _ passes: (Int64) -> Bool,
        _ isEnough: (Int) -> Bool, _ slow: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        let info = table.column(Int(node.column))
        guard info.kind == .collection, info.elementColumns == 1,
            let column = leaf.column(Int(node.column)), column.encoding != .absent,
            column.externals == nil
        else { return try maskRows(leaf, selection, slow) }
        let none = isEnough(0)
        let heap = column.heap
        if column.encoding == .string16 {
            let offsets = column.data
            try Self.mask(selection, leaf.rows, match) { row throws(RealmError) in
                let start = Int(offsets.u16(row &* 2))
                if start == Int(offsets.u16(row &* 2 &+ 2)) { return none }
                guard let numbers = CellNumbers(heap + start) else { return try slow(row) }
                return isEnough(numbers.passing(passes))
            }
        } else {
            try Self.mask(selection, leaf.rows, match) { row throws(RealmError) in
                let cell = column.bytes(row)
                guard cell.count > 0, let start = cell.baseAddress else { return none }
                guard let numbers = CellNumbers(start) else { return try slow(row) }
                return isEnough(numbers.passing(passes))
            }
        }
    }

    private func maskRows(
        _ leaf: LeafView, _ selection: Bitmap, _ passes: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        try Self.mask(selection, leaf.rows, match, passes)
    }

    /// Sets the bits of the selected rows that pass, and no other.
    @inline(__always)
    private static func mask(
        _ selection: Bitmap, _ rows: Int, _ target: Bitmap,
        _ passes: (Int) throws(RealmError) -> Bool
    ) throws(RealmError) {
        for word in 0..<Bits.words(rows) {
            var bits = selection[word]
            var result: UInt64 = 0
            while bits != 0 {
                let bit = UInt64(truncatingIfNeeded: bits.trailingZeroBitCount)
                bits &= bits &- 1
                let passed = try passes(word << 6 &+ Int(bit))
                result |= UInt64(unsafeBitCast(passed, to: UInt8.self)) << bit
            }
            target[word] = result
        }
    }
}
