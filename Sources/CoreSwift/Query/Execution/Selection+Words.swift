// TEXT from the full-text index: lists of object keys per word are intersected, beginning with the
// shortest; words with long lists are looked up object by object.

import CKernels

/// The words of a full-text index that a term means.
private struct WordRange {
    var range: IndexReader.Range
    var isPrefix: Bool
    /// Entries; an object counts several times if several of its words begin so.
    var count: Int
}

extension Selection {
    /// From here on a list costs more to read than as many look-ups as there are candidates.
    private static let entriesPerLookup = 32

    /// The full-text index that a node asks.
    private func wordReader(_ node: FilterNode) throws(RealmError) -> IndexReader {
        guard let reader = table.wordIndex(column: Int(node.column)) else {
            throw RealmError(
                .illegalOperation,
                "property \(table.table.named(column: Int(node.column))) has no full-text "
                    + "index any more")
        }
        return reader
    }

    private func range(
        _ term: WordSearch.Term, _ reader: IndexReader
    ) throws(RealmError) -> WordRange {
        let range =
            term.isPrefix
            ? IndexReader.Range(
                low: term.word, includesLow: true, high: Self.successor(term.word),
                includesHigh: false)
            : IndexReader.Range(equal: term.word)
        return WordRange(
            range: range, isPrefix: term.isPrefix, count: try reader.count(range))
    }

    /// At most so many objects pass before the node's negation; costs two descents per word.
    func wordCountMax(_ node: FilterNode) throws(RealmError) -> Int {
        let reader = try wordReader(node)
        let search = program.search(node.a)
        var counts: [Int] = []
        for term in search.required { counts.append(try range(term, reader).count) }
        if let least = counts.min() { return least }
        var total = 0
        for terms in search.excluded {
            var least = Int.max
            for term in terms { least = min(least, try range(term, reader).count) }
            total += least
        }
        return total
    }

    /// How many objects pass before the node's negation.
    func wordCount(_ node: FilterNode) throws(RealmError) -> Int {
        let search = program.search(node.a)
        let terms = search.required + search.excluded.flatMap { $0 }
        // Each object has a word once: the entries are the objects.
        if terms.count == 1, !terms[0].isPrefix {
            return try range(terms[0], try wordReader(node)).count
        }
        return try wordKeys(node).count
    }

    /// Keys of the objects that pass before the node's negation, ascending.
    func wordKeys(_ node: FilterNode) throws(RealmError) -> [ObjectKey] {
        let reader = try wordReader(node)
        let search = program.search(node.a)
        if search.required.isEmpty {
            var keys: [ObjectKey] = []
            for terms in search.excluded {
                keys.append(contentsOf: try self.keys(ofAll: terms, reader))
            }
            return search.excluded.count > 1 ? WordKeys.union(keys) : keys
        }
        var keys = try self.keys(ofAll: search.required, reader)
        for terms in search.excluded where !keys.isEmpty {
            if terms.count == 1 {
                let range = try range(terms[0], reader)
                keys = try cut(keys, range, reader, keepsMembers: false)
            } else {
                keys = WordKeys.cut(keys, try self.keys(ofAll: terms, reader), keepsMembers: false)
            }
        }
        return keys
    }

    private func keys(
        ofAll terms: [WordSearch.Term], _ reader: IndexReader
    ) throws(RealmError) -> [ObjectKey] {
        var ranges: [WordRange] = []
        for term in terms { ranges.append(try range(term, reader)) }
        ranges.sort { $0.count < $1.count }
        guard let first = ranges.first, first.count > 0 else { return [] }
        var keys = try self.keys(first, reader)
        for range in ranges.dropFirst() where !keys.isEmpty {
            keys = try cut(keys, range, reader, keepsMembers: true)
        }
        return keys
    }

    private func keys(_ range: WordRange, _ reader: IndexReader) throws(RealmError) -> [ObjectKey] {
        let keys = try reader.keys(range.range)
        return range.isPrefix ? WordKeys.union(keys) : keys
    }

    /// Those of `keys` that a word has, or does not have.
    private func cut(
        _ keys: [ObjectKey], _ range: WordRange, _ reader: IndexReader, keepsMembers: Bool
    ) throws(RealmError) -> [ObjectKey] {
        guard !range.isPrefix, let word = range.range.low,
            range.count / Self.entriesPerLookup > keys.count
        else {
            return WordKeys.cut(keys, try self.keys(range, reader), keepsMembers: keepsMembers)
        }
        var kept: [ObjectKey] = []
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(word.count, 1), alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: word, byteCount: word.count)
        for key in keys {
            let place = IndexPosition(bytes: UnsafeRawPointer(bytes), count: word.count, key: key)
            if try reader.tree.contains(place) == keepsMembers { kept.append(key) }
        }
        return kept
    }
}

/// Lists of object keys.
enum WordKeys {
    /// Each key once, ascending.
    static func union(_ keys: [ObjectKey]) -> [ObjectKey] {
        var low = ObjectKey.max
        var high = ObjectKey.min
        var ascends = true
        for key in keys {
            ascends = ascends && key > high
            low = min(low, key)
            high = max(high, key)
        }
        if ascends { return keys }
        let span = UInt(bitPattern: low.distance(to: high))
        // A bitmap with at most 512 bits per key beats sorting.
        guard keys.count > 256, span / 512 < UInt(keys.count) else {
            var result: [ObjectKey] = []
            for key in keys.sorted() where result.last != key { result.append(key) }
            return result
        }
        var bits = [UInt](repeating: 0, count: Int(span / 64) + 1)
        for key in keys {
            let offset = UInt(bitPattern: low.distance(to: key))
            bits[Int(offset >> 6)] |= 1 << (offset & 63)
        }
        var result: [ObjectKey] = []
        result.reserveCapacity(keys.count)
        for (index, word) in bits.enumerated() {
            var left = word
            while left != 0 {
                result.append(low.advanced(by: index << 6 | left.trailingZeroBitCount))
                left &= left &- 1
            }
        }
        return result
    }

    /// The keys that are in `others`, or those that are not; both ascend.
    static func cut(_ keys: [ObjectKey], _ others: [ObjectKey], keepsMembers: Bool) -> [ObjectKey] {
        let room = keepsMembers ? min(keys.count, others.count) : keys.count
        return [ObjectKey](unsafeUninitializedCapacity: room + 1) { target, kept in
            guard let target = target.baseAddress else { return }
            keys.withUnsafeBufferPointer { keys in
                others.withUnsafeBufferPointer { others in
                    kept = merge(keys, others, keepsMembers, target)
                }
            }
        }
    }

    /// Writes what stays to `target`, which has room for one more; returns how many. Without
    /// branches on the keys: which of two lists goes on is a coin toss for the processor.
    private static func merge(
        _ keys: UnsafeBufferPointer<ObjectKey>, _ others: UnsafeBufferPointer<ObjectKey>,
        _ keepsMembers: Bool, _ target: UnsafeMutablePointer<ObjectKey>
    ) -> Int {
        @inline(__always) func number(_ bool: Bool) -> Int {
            Int(truncatingIfNeeded: unsafeBitCast(bool, to: UInt8.self))
        }
        let kept = number(keepsMembers)
        var count = 0
        var i = 0
        var j = 0
        while i < keys.count && j < others.count {
            let key = keys[i]
            let other = others[j]
            let isLess = number(key < other)
            let isEqual = number(key == other)
            // A key is decided when the other list has reached it.
            target[count] = key
            count &+= kept & isEqual | (1 &- kept) & isLess
            i &+= isLess | isEqual
            j &+= 1 &- isLess
        }
        if !keepsMembers {
            while i < keys.count {
                target[count] = keys[i]
                count &+= 1
                i &+= 1
            }
        }
        return count
    }
}
