// Tests of the elements of a collection: whether some element passes. Elements that stand in the row
// are read where they lie.

extension LeafFilter {
    /// Removes from `selection` the rows for which an `elements` node does not hold.
    func testElements(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        let inner = Int(node.a)
        let column = Int(node.column)
        try Bits.forEach(selection, Bits.words(leaf.rows)) { row throws(RealmError) in
            var view = try table.collection(leaf, row, column)
            var holds = false
            if view.count > 0 {
                let column = node.high != 0 ? 0 : view.valueColumn
                holds = try somePasses(inner, &view, column)
            }
            if holds == node.negated { Bits.unset(selection, row) }
            return true
        }
    }

    private func somePasses(
        _ inner: Int, _ view: inout CollectionView, _ column: Int
    ) throws(RealmError) -> Bool {
        let test = nodes[inner]
        if test.kind == .intRange, test.columnKind == .int, let values = view.inlineColumn(column) {
            for index in 0..<view.count {
                if values.isNull(index) {
                    if test.matchesNull { return true }
                    continue
                }
                let value = values.integer(index)
                if (value >= test.low && value <= test.high) != test.negated { return true }
            }
            return false
        }
        for index in 0..<view.count where try passes(inner, view.value(index, column)) {
            return true
        }
        return false
    }
}
