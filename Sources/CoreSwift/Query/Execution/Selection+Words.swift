// TEXT from the full-text index: lists of object keys per word are intersected, beginning with the
// shortest; words with long lists are looked up object by object.

import CKernels

extension Selection {
    /// From here on a list costs more to read than as many look-ups as there are candidates.
    private static let entriesPerLookup = 32

    /// How many objects pass before the node's negation.
    func wordCount(_ node: FilterNode, _ number: Int32) throws(RealmError) -> Int {
        let search = program.searches[Int(number)]
        let terms = search.required + search.excluded.flatMap { $0 }
        // Each object has a word once: the entries are the objects.
        if terms.count == 1, !terms[0].isPrefix {
            return try range(terms[0], try wordReader(node)).count
        }
        return try wordKeys(node, number).count
    }

    /// Keys of the objects that pass before the node's negation, ascending.
    func wordKeys(_ node: FilterNode, _ number: Int32) throws(RealmError) -> [ObjectKey] {
        let reader = try wordReader(node)
        let search = program.searches[Int(number)]
        if search.required.isEmpty {
            var keys: [ObjectKey] = []
            for terms in search.excluded {
                keys.append(contentsOf: try self.keys(ofAll: terms, reader))
            }
            return search.excluded.count > 1 ? KeyList.union(keys) : keys
        }
        var keys = try self.keys(ofAll: search.required, reader)
        for terms in search.excluded where !keys.isEmpty {
            if terms.count == 1 {
                let range = try range(terms[0], reader)
                keys = try cut(keys, range, reader, keepsMembers: false)
            } else {
                keys = KeyList.cut(keys, try self.keys(ofAll: terms, reader), keepsMembers: false)
            }
        }
        return keys
    }

    private func keys(
        ofAll terms: [WordSearch.Term], _ reader: IndexReader
    ) throws(RealmError) -> [ObjectKey] {
        var ranges: [WordRange] = []
        for term in terms { ranges.append(try range(term, reader)) }
        ranges.sortFew { $0.count < $1.count }
        guard let first = ranges.first, first.count > 0 else { return [] }
        var keys = try self.keys(first, reader)
        for range in ranges.dropFirst() where !keys.isEmpty {
            keys = try cut(keys, range, reader, keepsMembers: true)
        }
        return keys
    }

    private func keys(_ range: WordRange, _ reader: IndexReader) throws(RealmError) -> [ObjectKey] {
        let keys = try reader.keys(range.range)
        return range.isPrefix ? KeyList.union(keys) : keys
    }

    /// Those of `keys` that a word has, or does not have.
    private func cut(
        _ keys: [ObjectKey], _ range: WordRange, _ reader: IndexReader, keepsMembers: Bool
    ) throws(RealmError) -> [ObjectKey] {
        guard !range.isPrefix, let word = range.range.low,
            range.count / Self.entriesPerLookup > keys.count
        else {
            return KeyList.cut(keys, try self.keys(range, reader), keepsMembers: keepsMembers)
        }
        var kept: [ObjectKey] = []
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(word.count, 1), alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: word, byteCount: word.count)
        var cursor = IndexCursor(reader.tree)
        for key in keys {
            let place = IndexPosition(bytes: UnsafeRawPointer(bytes), count: word.count, key: key)
            if try cursor.contains(place) == keepsMembers { kept.append(key) }
        }
        return kept
    }
}
