// Whether some element of a collection passes a test. Small collections stand in the row: for
// numbers, instants and texts, kernels count what passes, cell after cell (CKernelsCells.h,
// CKernelsElements.h). A text that is looked for within elements, or regardless of case, is first
// looked for in the whole heap, cells and all; only rows that have it somewhere are looked at.

import CKernels

extension LeafFilter {
    /// Removes from `selection` the rows for which an `elements` node does not hold.
    func testElements(
        _ index: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        let inner = Int(node.a)
        if try !maskElements(inner, node, leaf, selection) {
            try maskEach(inner, node, leaf, selection)
        }
        finish(node, nil, selection, Bits.words(leaf.rows))
    }

    /// Sets in `match` the rows of which some element passes; false where no kernel can tell.
    private func maskElements(
        _ inner: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) -> Bool {
        let test = nodes[inner]
        let info = table.column(Int(node.column))
        guard info.kind == .collection, let infos = info.elements else { return false }
        let isDictionary = info.elementColumns == 2
        let takesKeys = node.high != 0
        guard isDictionary || !takesKeys else { return false }
        let source = infos[takesKeys ? 0 : info.elementColumns &- 1]
        let elements = ck_elements(
            behind_texts: isDictionary && !takesKeys, negated: test.negated,
            nulls_count: test.matchesNull)
        let slow = { (row: Int) throws(RealmError) -> Bool in
            try self.someElementPasses(inner, node, leaf, row)
        }
        switch (source.kind, test.kind) {
        case (.int, .intRange), (.link, .intRange):
            let isPlain = !isDictionary && !source.isNullable
            try maskCells(node, leaf, selection, Self.some, slow) { cells, ahead, counts, odd in
                isPlain
                    ? ck_cell_range(cells, ahead, test.low, test.high, test.negated, counts, odd)
                    : ck_elements_integers(
                        cells, ahead, elements, test.low, test.high, counts, odd)
            }
        case (.int, .intSet), (.link, .intSet):
            guard !isDictionary, let set = keys(inner) else { return false }
            try maskMembers(
                node, leaf, selection, set, negated: test.negated, Self.some, slow)
        case (.bool, .intRange):
            try maskCells(node, leaf, selection, Self.some, slow) { cells, ahead, counts, odd in
                ck_elements_bools(cells, ahead, elements, test.low, test.high, counts, odd)
            }
        case (.double, .doubleRange), (.float, .floatRange):
            let low = FilterBuilder.double(test.low)
            let high = FilterBuilder.double(test.high)
            let isFloat = source.kind == .float
            try maskCells(node, leaf, selection, Self.some, slow) { cells, ahead, counts, odd in
                isFloat
                    ? ck_elements_floats(cells, ahead, elements, low, high, counts, odd)
                    : ck_elements_doubles(cells, ahead, elements, low, high, counts, odd)
            }
        case (.timestamp, .timestampRange):
            let low = ck_instant(seconds: test.low, nanoseconds: test.lowExtra)
            let high = ck_instant(seconds: test.high, nanoseconds: test.highExtra)
            try maskCells(node, leaf, selection, Self.some, slow) { cells, ahead, counts, odd in
                ck_elements_instants(cells, ahead, elements, low, high, counts, odd)
            }
        case (.string, .text), (.binary, .text):
            let needle = program.needle(test)
            guard let op = Self.kernelOperator(test), let start = needle.baseAddress else {
                return try maskCandidates(inner, node, leaf, selection)
            }
            let bytes = start.assumingMemoryBound(to: UInt8.self)
            try maskCells(node, leaf, selection, Self.some, slow) { cells, ahead, counts, odd in
                ck_elements_texts(
                    cells, ahead, elements, op, bytes, needle.count, counts, odd)
            }
        default: return false
        }
        return true
    }

    /// The kernel's name for a test that compares byte by byte; nil when it has none.
    private static func kernelOperator(_ test: FilterNode) -> ck_text_operator? {
        guard test.folding.isEmpty else { return nil }
        switch test.op {
        case .equal: return CK_EQUAL
        case .less: return CK_LESS
        case .lessEqual: return CK_LESS_EQUAL
        case .beginsWith: return CK_BEGINS
        case .endsWith: return CK_ENDS
        case .contains, .like, .matches: return nil
        }
    }

    // MARK: Texts within texts

    /// Looks only at rows whose cell has the bytes of the needle somewhere; false where that says
    /// nothing.
    private func maskCandidates(
        _ inner: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) -> Bool {
        let test = nodes[inner]
        let needle = program.needle(test)
        let words = Bits.words(leaf.rows)
        guard !test.negated, !test.matchesNull, !needle.isEmpty, hasKernel(test, needle),
            let start = needle.baseAddress, let column = leaf.column(Int(node.column)),
            column.encoding.isTexts, column.encoding != .stringDictionary,
            column.externals == nil, Bits.count(selection, words) &* 8 >= leaf.rows
        else { return false }
        var cells = texts(column, Int(node.column))
        ck_mask_contains(
            &cells, start.assumingMemoryBound(to: UInt8.self), needle.count,
            test.folding.contains(.ignoreCase), match)
        // Elsewhere than in the cell are the texts of a tree.
        let (counts, odd) = cellScratch()
        if ck_cell_sizes(&cells, 0, counts, odd) {
            for word in 0..<words { match[word] |= odd[word] }
        }
        // The kernel folds ASCII letters only.
        let isASCII =
            test.folding.isEmpty || test.columnKind != .string
            || ck_is_ascii(cells.heap, heapBytes(column))
        let candidates = match
        try Bits.forEach(selection, words) { row throws(RealmError) in
            let isCandidate =
                candidates[row >> 6] >> UInt64(row & 63) & 1 != 0
                || (!isASCII && !TextMatch.isASCII(column.bytes(row)))
            if isCandidate, try self.someElementPasses(inner, node, leaf, row) {
                Bits.set(candidates, row)
            } else {
                Bits.unset(candidates, row)
            }
            return true
        }
        for word in 0..<words { candidates[word] &= selection[word] }
        return true
    }

    // MARK: One after another

    /// Sets in `match` the selected rows of which some element passes; a cell that many rows share
    /// is looked at once.
    private func maskEach(
        _ inner: Int, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        if let column = leaf.column(Int(node.column)), column.encoding == .stringDictionary,
            column.externals == nil,
            column.wordCount <= Bits.count(selection, Bits.words(leaf.rows))
        {
            return try maskWords(column) { cell throws(RealmError) in
                try self.someInlineElementPasses(inner, node, cell)
            }
        }
        try maskRows(selection, leaf.rows) { row throws(RealmError) in
            try self.someElementPasses(inner, node, leaf, row)
        }
    }

    private func someElementPasses(
        _ inner: Int, _ node: FilterNode, _ leaf: LeafView, _ row: Int
    ) throws(RealmError) -> Bool {
        let cell = try table.value(leaf, row, Int(node.column)).bytes
        guard CollectionCell.isTree(cell) else {
            return try someInlineElementPasses(inner, node, cell)
        }
        var view = try table.collection(leaf, row, Int(node.column))
        let column = node.high != 0 ? 0 : view.valueColumn
        for index in 0..<view.count where try passes(inner, view.value(index, column)) {
            return true
        }
        return false
    }

    /// Of a cell that holds its elements itself.
    private func someInlineElementPasses(
        _ inner: Int, _ node: FilterNode, _ cell: UnsafeRawBufferPointer
    ) throws(RealmError) -> Bool {
        let info = table.column(Int(node.column))
        guard cell.count > 0, let start = cell.baseAddress, let infos = info.elements else {
            return false
        }
        let column = node.high != 0 ? 0 : info.elementColumns &- 1
        let values = InlineCollection(start).column(column, UnsafePointer(infos))
        let test = nodes[inner]
        if test.kind == .text, values.kind == .string || values.kind == .binary {
            let isString = values.kind == .string
            for place in 0..<values.count {
                let passed =
                    values.isNull(place)
                    ? test.matchesNull
                    : try passes(values.bytes(place), inner, test, isString: isString)
                        != test.negated
                if passed { return true }
            }
            return false
        }
        for place in 0..<values.count
        where try passes(inner, values.value(place, infos[column])) {
            return true
        }
        return false
    }
}
