// Keeping full-text indexes in step with the texts, and building indexes for a class that has rows.

extension Table {
    /// Collects what the change of a text means for its full-text index: words that are in one of
    /// the texts only. Null has no words.
    func changeWords(
        _ info: ColumnInfo, _ key: ObjectKey, from old: RawValue, to new: RawValue
    ) {
        let index = state.indexes + Int(info.wordIndex)
        let rules = info.wordRules
        if old.isNull || old.bytes.isEmpty {
            addWords(new, rules, key, index)
            return
        }
        let before = WordSet(old, rules)
        let after = WordSet(new, rules)
        before.forEachMissing(in: after) { start, count in
            index.pointee.pending.append(start, count, key, isAddition: false)
        }
        after.forEachMissing(in: before) { start, count in
            index.pointee.pending.append(start, count, key, isAddition: true)
        }
    }

    private func addWords(
        _ value: RawValue, _ rules: WordRules, _ key: ObjectKey,
        _ index: UnsafeMutablePointer<TableIndex>
    ) {
        if value.isNull { return }
        WordScanner.forEachWord(value.bytes, rules) { start, count in
            index.pointee.pending.append(start, count, key, isAddition: true)
        }
    }

    // MARK: Whole indexes

    /// Enters every row into the index at a position, which is empty. The table is settled, before
    /// and after.
    func buildIndex(_ position: Int) throws(RealmError) {
        let index = state.indexes + position
        // A column that is new holds no links.
        if index.pointee.kind == .inverse { return }
        let column = index.pointee.column
        let info = state.columns[column]
        let isWords = index.pointee.kind.isWords
        var leaves = LeafIterator(table: self)
        while let leaf = try leaves.next() {
            try didWork(leaf.rows)
            for row in 0..<leaf.rows where !leaf.isDead(row) {
                let key = leaf.key(row)
                let value = try value(RowPlace(leaf, row), key, column)
                if isWords {
                    addWords(value, info.wordRules, key, index)
                } else {
                    try changeValueIndex(info, key, value, isAddition: true)
                }
            }
        }
        try mergeIndex(position)
    }

    /// Gives up the blocks of the index at a position.
    func dropIndex(_ position: Int) throws(RealmError) {
        let tree = state.indexes[position].tree
        try tree.forEachBlock { memory.pointee.drop($0) }
        BlockReference.none.store(tree.rootPlace)
        state.indexes[position].tree.depth = 0
        state.indexes[position].tree.count = 0
        state.indexes[position].pending.clear()
    }

}

/// The words of one text, each once, in the order of their bytes.
struct WordSet {
    private var heap: [UInt8] = []
    private var words: [(offset: Int, count: Int)] = []

    init(_ value: RawValue, _ rules: WordRules) {
        if value.isNull { return }
        WordScanner.forEachWord(value.bytes, rules) { start, count in
            words.append((heap.count, count))
            heap.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
        }
        heap.withUnsafeBytes { heap in
            guard let base = heap.baseAddress else { return }
            words.sort {
                compareBytes(base + $0.offset, $0.count, base + $1.offset, $1.count) < 0
            }
            var kept = 0
            for index in words.indices {
                if kept > 0 {
                    let last = words[kept - 1]
                    let word = words[index]
                    if compareBytes(
                        base + last.offset, last.count, base + word.offset, word.count) == 0
                    {
                        continue
                    }
                }
                words[kept] = words[index]
                kept += 1
            }
            words.removeLast(words.count - kept)
        }
    }

    var count: Int { words.count }

    func forEach(_ body: (UnsafeRawPointer, Int) -> Void) {
        heap.withUnsafeBytes { heap in
            guard let base = heap.baseAddress else { return }
            for word in words { body(base + word.offset, word.count) }
        }
    }

    /// Whether a word is there, or one that begins so.
    func has(_ bytes: [UInt8], isPrefix: Bool = false) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            var found = false
            forEach { word, count in
                if count == bytes.count || (isPrefix && count > bytes.count),
                    equalBytes(word, start, bytes.count)
                {
                    found = true
                }
            }
            return found
        }
    }

    /// Calls `body` with the words that `other` lacks. Both are in order: one pass.
    func forEachMissing(in other: WordSet, _ body: (UnsafeRawPointer, Int) -> Void) {
        other.heap.withUnsafeBytes { others in
            var next = 0
            forEach { word, count in
                var order = 1
                while next < other.words.count, let base = others.baseAddress {
                    let place = other.words[next]
                    order = compareBytes(base + place.offset, place.count, word, count)
                    if order >= 0 { break }
                    next += 1
                }
                if order != 0 { body(word, count) }
            }
        }
    }
}
