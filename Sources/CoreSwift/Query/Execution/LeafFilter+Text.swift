// Tests of string and binary columns. Words of a dictionary are tested once each; other columns
// are searched in one pass over the leaf's whole heap; values in blocks of their own are fetched.

import CKernels

extension LeafFilter {
    func maskText(
        _ column: ColumnView, _ node: FilterNode, _ selection: Bitmap
    ) throws(RealmError) {
        let needle = program.needle(node)
        if decideByPrefix(column, node, needle) { return }
        if column.encoding == .stringDictionary {
            maskWords(column) { self.passes($0, node, needle) }
            return
        }
        let words = Bits.words(column.rows)
        // Few rows left: test them alone instead of the whole column.
        if Bits.count(selection, words) &* 16 < column.rows {
            Bits.clear(match, words)
            try Bits.forEach(selection, words) { row throws(RealmError) in
                if self.passes(column.bytes(row), node, needle) { Bits.set(match, row) }
                return true
            }
        } else if node.ignoreCase {
            maskIgnoringCase(column, node, needle)
        } else {
            maskExact(column, node, needle)
        }
        try fetchExternals(column, node, selection) { self.passes($0, node, needle) }
    }

    @inline(__always)
    private func passes(
        _ value: UnsafeRawBufferPointer, _ node: FilterNode, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        TextMatch.passes(
            value, node.op, needle, ignoreCase: node.ignoreCase,
            isString: node.columnKind == .string)
    }

    /// Minimum and maximum of the first eight bytes decide for the whole leaf.
    private func decideByPrefix(
        _ column: ColumnView, _ node: FilterNode, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        guard column.flags.contains(.hasBounds), !node.ignoreCase,
            let start = needle.baseAddress
        else { return false }
        let low = column.minimumPrefix
        let high = column.maximumPrefix
        let prefix = LeafEncoder.prefix(start, needle.count)
        let words = Bits.words(column.rows)
        switch node.op {
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
        case .endsWith, .contains, .like: return false
        }
        Bits.clear(match, words)
        return true
    }

    /// Tests each word of a dictionary once.
    private func maskWords(_ column: ColumnView, _ test: (UnsafeRawBufferPointer) -> Bool) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { table in
            table.initialize(repeating: 0)
            for word in 0..<min(column.wordCount, 256) where test(column.word(word)) {
                table[word] = 1
            }
            maskTable(column, table)
        }
    }

    /// Fetches selected values that lie in blocks of their own and sets their bits.
    private func fetchExternals(
        _ column: ColumnView, _ node: FilterNode, _ selection: Bitmap,
        _ test: (UnsafeRawBufferPointer) -> Bool
    ) throws(RealmError) {
        guard let externals = column.externals else { return }
        for word in 0..<Bits.words(column.rows) {
            let outside = externals.u64(word &* 8)
            match[word] &= ~outside
            var bits = outside & selection[word]
            while bits != 0 {
                let row = word << 6 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let value = try table.external(column.bytes(row), column: Int(node.column))
                if test(value) { Bits.set(match, row) }
            }
        }
    }

    // MARK: Columns

    /// The heap of a column that is no dictionary: its start and its length.
    @inline(__always)
    private func heap(_ column: ColumnView) -> (UnsafePointer<UInt8>, Int) {
        let start = column.heap.assumingMemoryBound(to: UInt8.self)
        switch column.encoding {
        case .stringFixed: return (start, column.rows &* column.fixedLength)
        case .string16: return (start, Int(column.data.u16(column.rows &* 2)))
        default: return (start, Int(column.data.u32(column.rows &* 4)))
        }
    }

    /// Where the bytes of a row end in the heap.
    @inline(__always) private func end(_ column: ColumnView, _ row: Int) -> Int {
        switch column.encoding {
        case .stringFixed: return (row &+ 1) &* column.fixedLength
        case .string16: return Int(column.data.u16(row &* 2 &+ 2))
        default: return Int(column.data.u32(row &* 4 &+ 4))
        }
    }

    private func maskExact(
        _ column: ColumnView, _ node: FilterNode, _ needle: UnsafeRawBufferPointer
    ) {
        switch node.op {
        case .equal: maskEqual(column, needle)
        case .contains:
            maskOccurrences(column, needle) { heap, count, from, needle, needleCount in
                ck_find(heap, count, from, needle, needleCount)
            }
        default: maskEach(column) { self.passes($0, node, needle) }
        }
    }

    private func maskIgnoringCase(
        _ column: ColumnView, _ node: FilterNode, _ needle: UnsafeRawBufferPointer
    ) {
        let (start, count) = heap(column)
        // Bytes beyond ASCII may fold to other lengths: then row by row.
        let isPlain =
            CaseFolding.isASCII(needle)
            && (node.columnKind == .binary
                || CaseFolding.isASCII(UnsafeRawBufferPointer(start: start, count: count)))
        guard isPlain, node.op == .contains else {
            return maskEach(column) { self.passes($0, node, needle) }
        }
        maskOccurrences(column, needle) { heap, count, from, needle, needleCount in
            ck_find_nocase(heap, count, from, needle, needleCount)
        }
    }

    private func maskEach(_ column: ColumnView, _ test: (UnsafeRawBufferPointer) -> Bool) {
        Bits.clear(match, Bits.words(column.rows))
        for row in 0..<column.rows where test(column.bytes(row)) { Bits.set(match, row) }
    }

    private func maskEqual(_ column: ColumnView, _ needle: UnsafeRawBufferPointer) {
        let rows = column.rows
        if column.encoding == .stringFixed {
            let length = column.fixedLength
            if length != needle.count { return Bits.clear(match, Bits.words(rows)) }
            guard length > 0, let bytes = needle.baseAddress else {
                return Bits.fill(match, rows)
            }
            ck_mask_equal_fixed(
                column.heap.assumingMemoryBound(to: UInt8.self), rows, length,
                bytes.assumingMemoryBound(to: UInt8.self), match)
            return
        }
        Bits.clear(match, Bits.words(rows))
        guard let bytes = needle.baseAddress else { return }
        let heap = column.heap
        let count = needle.count
        // Lengths and last bytes tell most values apart before any call.
        let last = count > 0 ? needle[count &- 1] : 0
        var start = 0
        for row in 0..<rows {
            let end = end(column, row)
            if end &- start == count,
                count == 0 || (heap.u8(end &- 1) == last && equalBytes(heap + start, bytes, count))
            {
                Bits.set(match, row)
            }
            start = end
        }
    }

    /// One pass over the heap; each occurrence that lies inside one row selects it.
    @inline(__always)
    private func maskOccurrences(
        _ column: ColumnView, _ needle: UnsafeRawBufferPointer,
        _ find: (UnsafePointer<UInt8>, Int, Int, UnsafePointer<UInt8>, Int) -> Int
    ) {
        Bits.clear(match, Bits.words(column.rows))
        guard let start = needle.baseAddress, needle.count > 0 else {
            return Bits.fill(match, column.rows)
        }
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        let (heap, count) = heap(column)
        let length = column.encoding == .stringFixed ? column.fixedLength : 0
        var from = 0
        var row = 0
        while true {
            let place = find(heap, count, from, bytes, needle.count)
            if place >= count { return }
            let rowEnd: Int
            if length > 0 {
                row = place / length
                rowEnd = (row &+ 1) &* length
            } else {
                row = self.row(column, at: place, from: row)
                rowEnd = end(column, row)
            }
            if place &+ needle.count <= rowEnd {
                Bits.set(match, row)
                from = rowEnd
            } else {
                from = place &+ 1
            }
            if from >= count { return }
        }
    }

    /// The row that holds a byte of the heap; steps that double from `start`, then halves.
    private func row(_ column: ColumnView, at place: Int, from start: Int) -> Int {
        var low = start
        var step = 1
        while low &+ step < column.rows, end(column, low &+ step) <= place {
            low &+= step
            step &*= 2
        }
        var high = min(low &+ step, column.rows &- 1)
        // The first row that ends behind the place.
        while low < high {
            let middle = (low &+ high) >> 1
            if end(column, middle) <= place { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    // MARK: Sets

    func maskTextSet(
        _ column: ColumnView, _ node: FilterNode, _ selection: Bitmap
    ) throws(RealmError) {
        if column.encoding == .stringDictionary {
            maskWords(column) { self.isMember($0, node) }
            return
        }
        let words = Bits.words(column.rows)
        Bits.clear(match, words)
        try Bits.forEach(selection, words) { row throws(RealmError) in
            if self.isMember(column.bytes(row), node) { Bits.set(match, row) }
            return true
        }
        try fetchExternals(column, node, selection) { self.isMember($0, node) }
    }

    /// Members are ordered by length, then bytes.
    func isMember(_ value: UnsafeRawBufferPointer, _ node: FilterNode) -> Bool {
        let members = program.members(node)
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low &+ high) >> 1
            let member = UnsafeRawBufferPointer(
                start: program.bytes + Int(members[middle].0), count: Int(members[middle].1))
            let order =
                member.count != value.count
                ? member.count - value.count : TextMatch.compare(member, value)
            if order == 0 { return true }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return false
    }
}
