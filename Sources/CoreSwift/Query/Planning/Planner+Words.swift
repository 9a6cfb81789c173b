// What TEXT costs: how many entries the full-text index has for its words.

/// The words of a full-text index that a term means.
struct WordRange {
    var range: IndexReader.Range
    var isPrefix: Bool
    /// Entries; an object counts several times if several of its words begin so.
    var count: Int
}

extension Planner {
    /// The full-text index that a node asks.
    func wordReader(_ node: FilterNode) throws(RealmError) -> IndexReader {
        guard let reader = table.wordIndex(column: Int(node.column)) else {
            throw RealmError(
                .illegalOperation,
                "property \(table.table.named(column: Int(node.column))) has no full-text "
                    + "index any more")
        }
        return reader
    }

    func range(
        _ term: WordSearch.Term, _ reader: IndexReader
    ) throws(RealmError) -> WordRange {
        let range =
            term.isPrefix
            ? IndexReader.Range(beginning: term.word) : IndexReader.Range(equal: term.word)
        return WordRange(
            range: range, isPrefix: term.isPrefix, count: try reader.count(range))
    }

    /// At most so many objects pass before the node's negation; costs two descents per word.
    func wordCountMax(_ node: FilterNode, _ number: Int32) throws(RealmError) -> Int {
        let reader = try wordReader(node)
        let search = program.searches[Int(number)]
        func least(_ terms: [WordSearch.Term]) throws(RealmError) -> Int {
            var least = Int.max
            for term in terms { least = min(least, try range(term, reader).count) }
            return least
        }
        if !search.required.isEmpty { return try least(search.required) }
        var total = 0
        for terms in search.excluded { total += try least(terms) }
        return total
    }
}
