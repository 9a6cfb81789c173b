// Counting the rows whose integer is in a range: nothing but packed bytes is looked at, so that waiting for memory is
// all that costs. What a leaf is asked for is on its way to the cache while those before it are counted.

import CKernels

extension Selection {
    /// Numbers alone are compared faster than another thread starts; from so many rows on not.
    private static let twoCoresNumbers = 5 * twoCoresRows

    /// Counts a range of integers without selections, where leaves allow it.
    func countRange(_ node: FilterNode) throws(RealmError) -> Int? {
        guard case .intRange(let range) = node.test, !node.negated, node.columnKind != .bool,
            !table.isObjectKey(Int(node.column))
        else { return nil }
        let branches = try NodeList(table.table).branches()
        let count = branches.places.count
        guard table.rowCount >= Self.twoCoresNumbers, TwoCores.areThere, count > 1 else {
            return try countRange(range, Int(node.column), branches, 0..<count)
        }
        let counts = try inHalves(count) { selection, part throws(RealmError) in
            try selection.countRange(range, Int(node.column), branches, part)
        }
        return counts.0 + counts.1
    }

    private func countRange(
        _ range: IntRange, _ column: Int, _ branches: NodeList, _ part: Range<Int>
    ) throws(RealmError) -> Int {
        let bitmap = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)
        defer { bitmap.deallocate() }
        let info = table.column(column)
        var count = 0
        for index in part {
            try branches.forEachLeaf(index, ahead: column) { leaf throws(RealmError) in
                if leaf.tombstones == nil, let packed = leaf.column(column, info),
                    packed.encoding == .packed, !packed.flags.contains(.hasNulls)
                {
                    count &+= LeafFilter.countRange(packed, range.low, range.high)
                } else {
                    Bits.live(leaf, bitmap)
                    try filter.test(root, leaf, bitmap)
                    count &+= Bits.count(bitmap, Bits.words(leaf.rows))
                }
            }
        }
        return count
    }
}
