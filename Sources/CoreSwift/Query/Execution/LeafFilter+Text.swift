// Tests of string and binary columns. Words of a dictionary are tested once each; other columns
// are searched in one pass over the leaf's whole heap; values in blocks of their own are fetched.

import CKernels

extension LeafFilter {
    func maskText(
        _ index: Int, _ column: ColumnView, _ place: Int, _ text: TextCondition,
        _ selection: Bitmap
    ) throws(RealmError) {
        let needle = program.text(text.needle)
        if decideByPrefix(column, text, needle) { return }
        func test(_ value: UnsafeRawBufferPointer) throws(RealmError) -> Bool {
            try passes(value, index, text)
        }
        if column.encoding == .stringDictionary { return try maskWords(column, test) }
        // Few rows left: test them alone instead of the whole column.
        if hasKernel(text), Bits.count(selection, Bits.words(column.rows)) &* 16 >= column.rows {
            try maskColumn(index, column, place, text, selection)
        } else {
            try maskRows(selection, column.rows) { row throws(RealmError) in
                try test(column.bytes(row))
            }
        }
        if let externals = column.externals {
            try fetch(externals, column, selection, test)
        }
    }

    /// Whether a value that is not null passes a text test. Its callers are closures, each made several times.
    @inline(never)
    func passes(
        _ value: UnsafeRawBufferPointer, _ index: Int, _ text: TextCondition
    ) throws(RealmError) -> Bool {
        if text.folding.isEmpty, text.op != .like, text.op != .matches {
            return TextMatch.passes(value, text.op, program.text(text.needle))
        }
        return try matcher(index, text).passes(value)
    }

    /// Minimum and maximum of the first eight bytes decide for the whole leaf.
    private func decideByPrefix(
        _ column: ColumnView, _ text: TextCondition, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        guard column.flags.contains(.hasBounds), text.folding.isEmpty,
            let start = needle.baseAddress
        else { return false }
        let low = column.minimumPrefix
        let high = column.maximumPrefix
        let prefix = start.prefix(needle.count)
        let words = Bits.words(column.rows)
        switch text.op {
        case .equal:
            guard prefix < low || prefix > high else { return false }
        case .beginsWith:
            // The least and the greatest prefix a value with this beginning can have.
            let rest: UInt64 = needle.count >= 8 ? 0 : ~0 >> UInt64(needle.count * 8)
            guard prefix | rest < low || prefix > high else { return false }
        case .less, .lessEqual:
            if high < prefix {
                Bits.fill(match, column.rows)
                return true
            }
            guard low > prefix else { return false }
        case .endsWith, .contains, .like, .matches: return false
        }
        Bits.clear(match, words)
        return true
    }

    /// Tests each word of a dictionary once.
    func maskWords(
        _ column: ColumnView, _ test: (UnsafeRawBufferPointer) throws(RealmError) -> Bool
    ) throws(RealmError) {
        try maskTable(column) { table throws(RealmError) in
            for word in 0..<min(column.wordCount, 256) where try test(column.word(word)) {
                table[word] = 1
            }
        }
    }

    /// Fetches selected values that lie in blocks of their own and sets their bits.
    private func fetch(
        _ externals: UnsafeRawPointer, _ column: ColumnView, _ selection: Bitmap,
        _ test: (UnsafeRawBufferPointer) throws(RealmError) -> Bool
    ) throws(RealmError) {
        for word in 0..<Bits.words(column.rows) {
            var outside = externals.u64(word &* 8)
            match[word] &= ~outside
            outside &= selection[word]
            try Bits.forEach(&outside, 1) { bit throws(RealmError) in
                let row = word << 6 &+ bit
                if try test(try table.table.externalBytes(column.bytes(row))) {
                    Bits.set(match, row)
                }
            }
        }
    }

    // MARK: Columns

    /// A column that is no dictionary, as the kernels take it.
    @inline(__always)
    func texts(_ column: ColumnView, _ index: Int) -> ck_texts {
        var ahead = 0
        if let next = upcoming?.column(index), next.encoding.isTexts {
            ahead = next.heap - column.heap
        }
        return column.texts(ahead: ahead)
    }

    /// Bytes in the heap of such a column.
    func heapBytes(_ column: ColumnView) -> Int {
        switch column.encoding {
        case .stringFixed: return column.rows &* column.fixedLength
        case .string16: return Int(column.data.u16(column.rows &* 2))
        default: return Int(column.data.u32(column.rows &* 4))
        }
    }

    /// By a kernel, and one by one the rows that it cannot tell.
    private func maskColumn(
        _ index: Int, _ column: ColumnView, _ place: Int, _ text: TextCondition,
        _ selection: Bitmap
    ) throws(RealmError) {
        let needle = program.text(text.needle)
        guard let start = needle.baseAddress else { return }
        var texts = texts(column, place)
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        let ignoreCase = text.folding.contains(.ignoreCase)
        switch text.op {
        case .equal: ck_mask_equal(&texts, bytes, needle.count, ignoreCase, match)
        case .beginsWith: ck_mask_begins(&texts, bytes, needle.count, ignoreCase, match)
        case .endsWith: ck_mask_ends(&texts, bytes, needle.count, ignoreCase, match)
        default: ck_mask_contains(&texts, bytes, needle.count, ignoreCase, match)
        }
        // The kernels fold ASCII letters only: rows with others are tested one by one.
        guard !text.folding.isEmpty, text.isString,
            !ck_is_ascii(texts.heap, heapBytes(column))
        else { return }
        try Bits.forEach(selection, Bits.words(column.rows)) { row throws(RealmError) in
            let value = column.bytes(row)
            if TextMatch.isASCII(value) { return }
            Bits.unset(match, row)
            if try passes(value, index, text) { Bits.set(match, row) }
        }
    }

    /// Whether a kernel does the test, at least for texts of ASCII.
    func hasKernel(_ text: TextCondition) -> Bool {
        switch text.op {
        case .equal, .beginsWith, .endsWith: return true
        case .contains: return text.needle.count > 0
        case .less, .lessEqual, .like, .matches: return false
        }
    }

    // MARK: Sets

    func maskTextSet(
        _ index: Int, _ column: ColumnView, _ node: FilterNode, _ set: FilterSet,
        _ folding: TextFolding, _ selection: Bitmap
    ) throws(RealmError) {
        let texts = textSet(index, set)
        func test(_ value: UnsafeRawBufferPointer) throws(RealmError) -> Bool {
            isMember(value, node, folding, set, texts)
        }
        if column.encoding == .stringDictionary { return try maskWords(column, test) }
        try maskRows(selection, column.rows) { row throws(RealmError) in
            try test(column.bytes(row))
        }
        if let externals = column.externals {
            try fetch(externals, column, selection, test)
        }
    }

    /// The members of a long list by their hash, made when they are first asked.
    func textSet(_ index: Int, _ set: FilterSet) -> TextSet? {
        if let known = run.texts(index) { return known }
        guard Int(set.count) >= TextSet.countMin else { return nil }
        let made = TextSet(program.members(set).map { program.text($0) })
        run.note(index) { $0.texts = made }
        return made
    }

    /// Members are ordered by length, then bytes. Its callers are closures, each made several times.
    @inline(never)
    func isMember(
        _ value: UnsafeRawBufferPointer, _ node: FilterNode, _ folding: TextFolding,
        _ set: FilterSet, _ texts: TextSet?
    ) -> Bool {
        let value =
            folding.isEmpty
            ? value
            : node.columnKind == .string
                ? folder.fold(value, folding) : folder.foldASCII(value)
        if let texts { return texts.contains(value) }
        return program.members(set).hasMember { member in
            let member = program.text(member)
            return member.count != value.count
                ? member.count - value.count : TextMatch.compare(member, value)
        }
    }
}
