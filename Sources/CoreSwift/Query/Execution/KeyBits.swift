// The objects that a scan finds, as bits by object key: less work than a list of keys, where many pass and
// a set of them is wanted.

final class KeyBits {
    private let low: ObjectKey
    /// Keys that have a bit, and the words of these and one more.
    private let count: Int
    private let words: Int
    private var bits: Bitmap?

    /// Nil where keys lie too far apart, and for a class without objects.
    init?(_ table: TableReader) throws(RealmError) {
        guard let span = try table.keySpan() else { return nil }
        (low, count) = span
        words = Bits.words(count) + 1
        bits = Bits.zeros(words)
    }

    deinit { bits?.deallocate() }

    /// Adds selected rows of a leaf; false when its keys are not between those of the first and the last
    /// leaf, as in no sound tree.
    func add(_ leaf: LeafView, _ selection: Bitmap) -> Bool {
        guard let bits, leaf.rows > 0 else { return leaf.rows == 0 }
        let place = low.distance(to: leaf.keyBase)
        guard place >= 0, leaf.key(leaf.rows &- 1) >= leaf.keyBase,
            low.distance(to: leaf.key(leaf.rows &- 1)) < count
        else { return false }
        if leaf.keyWidth == 0 {
            let first = place >> 6
            let shift = UInt64(place & 63)
            for word in 0..<Bits.words(leaf.rows) {
                let selected = selection[word]
                bits[first &+ word] |= selected &<< shift
                // Two steps, so that none is of 64 places.
                bits[first &+ word &+ 1] |= (selected &>> 1) &>> (63 &- shift)
            }
            return true
        }
        var isSound = true
        Bits.forEach(selection, Bits.words(leaf.rows)) { row in
            let place = low.distance(to: leaf.key(row))
            guard place >= 0, place < count else {
                isSound = false
                return
            }
            Bits.set(bits, place)
        }
        return isSound
    }

    /// What was added. Nothing can be added any more.
    func set() -> KeySet {
        guard let bits else { return KeySet([]) }
        self.bits = nil
        return KeySet(bits: bits, words: words, from: low.rawValue)
    }
}

extension TableReader {
    /// A class may have so many keys per object, gaps included.
    private static let keysPerObject = 8

    /// The least key and how many there are up to the greatest one. Nil where they lie too far apart, and for a
    /// class without objects.
    func keySpan() throws(RealmError) -> (low: ObjectKey, count: Int)? {
        guard let first = try leaf(atPosition: 0)?.leaf,
            let last = try leaf(atPosition: rowCount - 1)?.leaf, last.rows > 0
        else { return nil }
        let low = first.keyBase
        let (distance, overflows) = last.key(last.rows - 1).rawValue
            .subtractingReportingOverflow(low.rawValue)
        guard !overflows, distance >= 0, distance / Int64(Self.keysPerObject) < rowCount
        else { return nil }
        return (low, Int(distance) + 1)
    }
}
