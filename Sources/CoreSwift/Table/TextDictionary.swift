// The dictionary encoding of text columns whose values repeat: at most 255 distinct words.

struct TextDictionary {
    struct Word {
        var start: UnsafeRawPointer
        var count: Int
    }
    private(set) var words: [Word] = []
    private(set) var codes: [UInt8] = []
    private(set) var bytes = 0

    static let wordsMax = 255

    /// Builds the dictionary of these rows, or nil as soon as it cannot pay: too many words, or
    /// no repetition among the first sixteen values.
    static func build(
        _ column: OpenColumn, _ rows: RowSelection, totalBytes: Int
    ) -> TextDictionary? {
        guard rows.count >= 16, totalBytes > rows.count, let heap = column.heap else { return nil }
        var dictionary = TextDictionary()
        dictionary.codes.reserveCapacity(rows.count)
        // Open addressing over 512 places; entries are word numbers + 1.
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 512) { table in
            table.initialize(repeating: 0)
            for i in 0..<rows.count {
                let row = rows[i]
                let count = column.textLength(row).count
                let start = UnsafeRawPointer(heap) + column.textOffset(row)
                var place = Int(truncatingIfNeeded: ByteHash.of(start, count) & 511)
                while true {
                    let entry = Int(table[place])
                    if entry == 0 {
                        if dictionary.words.count == wordsMax { return nil }
                        dictionary.words.append(Word(start: start, count: count))
                        dictionary.bytes += count
                        table[place] = UInt16(dictionary.words.count)
                        dictionary.codes.append(UInt8(dictionary.words.count - 1))
                        break
                    }
                    let word = dictionary.words[entry - 1]
                    if word.count == count && equalBytes(word.start, start, count) {
                        dictionary.codes.append(UInt8(entry - 1))
                        break
                    }
                    place = (place + 1) & 511
                }
                if i == 15 && dictionary.words.count == 16 { return nil }
                if dictionary.words.count * 2 > rows.count + 32 { return nil }
            }
            return dictionary.bytes <= 0xFFFF ? dictionary : nil
        }
    }

    /// Writes codes, word offsets and words (layout: LeafView.swift).
    func write(
        _ rows: Int, codes target: UnsafeMutableRawPointer, heap: UnsafeMutableRawPointer
    ) {
        for i in 0..<rows { target.put(codes[i], i) }
        let offsets = target + LeafLayout.align8(rows)
        var used = 0
        for index in 0..<words.count {
            offsets.put(UInt16(used), index * 2)
            memcpy(heap + used, words[index].start, words[index].count)
            used += words[index].count
        }
        offsets.put(UInt16(used), words.count * 2)
    }
}
