// Whether some element of a collection passes a test. Small collections stand in the row: for
// numbers, instants and texts, kernels count what passes, cell after cell (CKernelsCells.h,
// CKernelsElements.h). A text that is looked for within elements, or regardless of case, is first
// looked for in the whole heap, cells and all; only rows that have it somewhere are looked at.

import CKernels

/// What an `elements` node asks: a test of the elements, or of the keys, of a collection.
struct SomeElement {
    var inner: Int
    var column: Int
    var areKeys: Bool
}

extension LeafFilter {
    /// Removes from `selection` the rows for which an `elements` node does not hold.
    func testElements(
        _ elements: SomeElement, _ node: FilterNode, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        if try !maskElements(elements, leaf, selection) {
            try maskEach(elements, leaf, selection)
        }
        finish(node, nil, selection, Bits.words(leaf.rows))
    }

    /// Sets in `match` the rows of which some element passes; false where no kernel can tell.
    private func maskElements(
        _ asked: SomeElement, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) -> Bool {
        let test = nodes[asked.inner]
        let info = table.column(asked.column)
        guard info.kind == .collection, let infos = info.elements else { return false }
        let isDictionary = info.elementColumns == 2
        let takesKeys = asked.areKeys
        guard isDictionary || !takesKeys else { return false }
        let source = infos[takesKeys ? 0 : info.elementColumns &- 1]
        let elements = ck_elements(
            behind_texts: isDictionary && !takesKeys, negated: test.negated,
            nulls_count: test.matchesNull)
        let negated = test.negated
        let kernel: CellKernel
        switch (source.kind, test.test) {
        case (.int, .intRange(let range)), (.link, .intRange(let range)):
            let isPlain = !isDictionary && !source.isNullable
            kernel = { cells, ahead, counts, odd in
                isPlain
                    ? ck_cell_range(cells, ahead, range.low, range.high, negated, counts, odd)
                    : ck_elements_integers(
                        cells, ahead, elements, range.low, range.high, counts, odd)
            }
        case (.int, .intSet), (.link, .intSet):
            guard !isDictionary, let set = run.keys(asked.inner) else { return false }
            try maskMembers(asked.column, leaf, selection, set, negated: negated, Self.some) {
                row throws(RealmError) in
                try self.someElementPasses(asked, leaf, row)
            }
            return true
        case (.bool, .intRange(let range)):
            kernel = {
                ck_elements_bools($0, $1, elements, range.low, range.high, $2, $3)
            }
        case (.double, .doubleRange(let range)):
            kernel = {
                ck_elements_doubles($0, $1, elements, range.low, range.high, $2, $3)
            }
        case (.float, .floatRange(let range)):
            kernel = {
                ck_elements_floats($0, $1, elements, range.low, range.high, $2, $3)
            }
        case (.timestamp, .timestampRange(let range)):
            let (low, high) = (ck_instant(range.low), ck_instant(range.high))
            kernel = { ck_elements_instants($0, $1, elements, low, high, $2, $3) }
        case (.string, .text(let text)), (.binary, .text(let text)):
            let needle = program.text(text.needle)
            guard let op = Self.kernelOperator(text), let start = needle.baseAddress else {
                return try maskCandidates(asked, text, leaf, selection)
            }
            let bytes = start.assumingMemoryBound(to: UInt8.self)
            kernel = {
                ck_elements_texts($0, $1, elements, op, bytes, needle.count, $2, $3)
            }
        default: return false
        }
        try maskCells(asked.column, leaf, selection, Self.some, kernel) { row throws(RealmError) in
            try self.someElementPasses(asked, leaf, row)
        }
        return true
    }

    /// The kernel's name for a test that compares byte by byte; nil when it has none.
    private static func kernelOperator(_ text: TextCondition) -> ck_text_operator? {
        guard text.folding.isEmpty else { return nil }
        switch text.op {
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
        _ asked: SomeElement, _ text: TextCondition, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) -> Bool {
        let test = nodes[asked.inner]
        let needle = program.text(text.needle)
        let words = Bits.words(leaf.rows)
        guard !test.negated, !test.matchesNull, !needle.isEmpty, hasKernel(text),
            let start = needle.baseAddress, let column = leaf.column(asked.column),
            column.encoding.isTexts, column.encoding != .stringDictionary,
            column.externals == nil, Bits.count(selection, words) &* 8 >= leaf.rows
        else { return false }
        var cells = texts(column, asked.column)
        ck_mask_contains(
            &cells, start.assumingMemoryBound(to: UInt8.self), needle.count,
            text.folding.contains(.ignoreCase), match)
        // Elsewhere than in the cell are the texts of a tree.
        let (counts, odd) = cellScratch()
        if ck_cell_sizes(&cells, 0, counts, odd) {
            for word in 0..<words { match[word] |= odd[word] }
        }
        // The kernel folds ASCII letters only.
        let isASCII =
            text.folding.isEmpty || !text.isString
            || ck_is_ascii(cells.heap, heapBytes(column))
        let candidates = match
        try Bits.forEach(selection, words) { row throws(RealmError) in
            let isCandidate =
                Bits.isSet(candidates, row)
                || (!isASCII && !TextMatch.isASCII(column.bytes(row)))
            if isCandidate, try self.someElementPasses(asked, leaf, row) {
                Bits.set(candidates, row)
            } else {
                Bits.unset(candidates, row)
            }
        }
        for word in 0..<words { candidates[word] &= selection[word] }
        return true
    }

    // MARK: One after another

    /// Sets in `match` the selected rows of which some element passes; a cell that many rows share
    /// is looked at once.
    private func maskEach(
        _ asked: SomeElement, _ leaf: LeafView, _ selection: Bitmap
    ) throws(RealmError) {
        if let column = leaf.column(asked.column), column.encoding == .stringDictionary,
            column.externals == nil,
            column.wordCount <= Bits.count(selection, Bits.words(leaf.rows))
        {
            return try maskWords(column) { cell throws(RealmError) in
                try self.someInlineElementPasses(asked, cell)
            }
        }
        try maskRows(selection, leaf.rows) { row throws(RealmError) in
            try self.someElementPasses(asked, leaf, row)
        }
    }

    private func someElementPasses(
        _ asked: SomeElement, _ leaf: LeafView, _ row: Int
    ) throws(RealmError) -> Bool {
        let cell = try table.value(leaf, row, asked.column).bytes
        guard CollectionCell.isTree(cell) else {
            return try someInlineElementPasses(asked, cell)
        }
        var view = try table.collection(leaf, row, asked.column)
        let column = asked.areKeys ? 0 : view.valueColumn
        for index in 0..<view.count where try passes(asked.inner, view.value(index, column)) {
            return true
        }
        return false
    }

    /// Of a cell that holds its elements itself.
    private func someInlineElementPasses(
        _ asked: SomeElement, _ cell: UnsafeRawBufferPointer
    ) throws(RealmError) -> Bool {
        let info = table.column(asked.column)
        guard cell.count > 0, let start = cell.baseAddress, let infos = info.elements else {
            return false
        }
        let column = asked.areKeys ? 0 : info.elementColumns &- 1
        let values = InlineCollection(start).column(column, UnsafePointer(infos))
        let test = nodes[asked.inner]
        if case .text(let text) = test.test, values.kind.isText {
            for place in 0..<values.count {
                let passed =
                    values.isNull(place)
                    ? test.matchesNull
                    : try passes(values.bytes(place), asked.inner, text) != test.negated
                if passed { return true }
            }
            return false
        }
        for place in 0..<values.count
        where try passes(asked.inner, values.value(place, infos[column])) {
            return true
        }
        return false
    }
}

extension ck_instant {
    fileprivate init(_ time: Timestamp) {
        self.init(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}
