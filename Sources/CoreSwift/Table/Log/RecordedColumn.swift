// What a transaction did to a property of a class, while the bytes of its log are made (`RecordEncoder`).

/// What happened to a column: as long as that is values set, of which objects.
struct RecordedColumn {
    let name: UInt64
    let classKey: ClassKey
    let column: Int
    /// Where the column stands among those of its class that follows in the record: programs
    /// set the same properties of one object after another.
    var following = 0
    /// As long as values were set and nothing else: of which objects. Those of the run that
    /// ends with `high`, and those in no order are not in it yet.
    var keys = KeyRanges()
    var low = ObjectKey.invalid
    var high = ObjectKey.invalid
    /// From the first object on that came out of order: a bit for each key, as far as the bits go, and those
    /// behind them. When these are as many as there would be words of bits for them, they become bits.
    var bits: [UInt64] = []
    var unordered: [UInt64] = []
    var highest: UInt64 = 0
    var isUnordered = false
    /// Something else happened: all that did, apart.
    var hasCells = false
    var cells: [RadixItem] = []
    var isAscending = true

    /// Notes something that happened to an object, by where it is noted.
    mutating func note(_ key: UInt64, _ payload: UInt64) {
        if let last = cells.last, last.key > key { isAscending = false }
        cells.append(RadixItem(key: key, payload: payload))
    }

    /// Notes the values set that the entry at a position tells of; returns where it ends.
    mutating func noteSets(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) -> Int {
        var position = start &+ 8
        var next: ObjectKey? = (base + position).objectKey(0)
        while let key = next {
            position &+= 8
            if hasCells {
            } else if isUnordered {
                noteUnordered(key.word)
                position = noteBits(base, position, end)
            } else if key == high.advanced(by: 1), low >= .first {
                var last = key
                while position < end, (base + position).objectKey(0) == last.advanced(by: 1) {
                    last = last.advanced(by: 1)
                    position &+= 8
                }
                high = last
            } else if key > high {
                closeRun()
                low = key
                high = key
            } else if key < high {
                isUnordered = true
                noteUnordered(key.word)
            }
            next = CommitRecord.furtherKey(base, position, end)
        }
        return position
    }

    private mutating func noteUnordered(_ word: UInt64) {
        let place = Int(truncatingIfNeeded: word >> 6)
        if place < bits.count {
            bits.withUnsafeMutableBufferPointer { $0[place] |= 1 << (word & 63) }
        } else {
            unordered.append(word)
            highest = max(highest, word)
            if UInt64(unordered.count) > highest >> 6 { addBits() }
        }
    }

    /// Notes keys in no order up to the first that has no bit; returns where that is.
    private mutating func noteBits(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) -> Int {
        bits.withUnsafeMutableBufferPointer { bits in
            var position = start
            while position < end {
                let word = (base + position).u64(0)
                // That of an entry is greater than any.
                guard word >> 6 < UInt64(bits.count) else { break }
                bits[Int(truncatingIfNeeded: word >> 6)] |= 1 << (word & 63)
                position &+= 8
            }
            return position
        }
    }

    @inline(never)
    private mutating func addBits() {
        closeRun()
        // Somewhat more, for those a bit behind.
        let words = Int(highest >> 6 &+ highest >> 9) &+ 1
        bits.append(contentsOf: repeatElement(0, count: words &- bits.count))
        let noted = unordered
        unordered = []
        highest = 0
        for word in noted { noteUnordered(word) }
        if let last = keys.ranges.last, last.upperBound.word >> 6 < UInt64(words) {
            keys.forEach { noteUnordered($0.word) }
            keys = KeyRanges()
        }
    }

    /// Puts the keys that came in no order to the others.
    mutating func closeUnordered() {
        guard isUnordered else { return }
        keys.formUnion(KeyRanges(bits: bits))
        keys.formUnion(KeyRanges(unordered: unordered))
        bits = []
        unordered = []
        isUnordered = false
    }

    mutating func closeRun() {
        if low >= .first { keys.insert(low...high) }
        low = .invalid
    }
}
