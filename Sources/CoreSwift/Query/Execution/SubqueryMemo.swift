// Answers of a SUBQUERY in a SUBQUERY, by the members that it depends on: a hash table with open
// addresses, in memory that all tables of an execution share the bound of. It lives as long as the
// execution, which sees one state of the data. Used by one thread, by the evaluator.
//
// Objects are known by their keys, since a scope's members are of one class; values by their bits.
// Texts and collections are not, because their bits are addresses: what depends on one is not kept.

final class SubqueryMemo {
    /// Words of a key, and of an entry: the key, then a count + 1, or the type + 1 and two words of
    /// an aggregate's value; 0 there: nothing is kept.
    private let keyWords: Int
    private let entryWords: Int
    private let keySlotCount: Int
    private let isCount: Bool
    private var entries: UnsafeMutablePointer<UInt64>
    private var capacity = 16
    private var count = 0
    private let key: UnsafeMutablePointer<UInt64>

    /// Words that all tables of an execution may have: 64 MiB.
    static let wordsMax = 8 << 20

    init(_ program: FilterProgram, _ subquery: ExpressionSubquery) {
        keySlotCount = Int(subquery.keyCount)
        var words = 0
        for place in Int(subquery.keyFirst)..<Int(subquery.keyFirst) + keySlotCount {
            words += program.keySlots[place].holdsValues ? 3 : 1
        }
        isCount = subquery.aggregate < 0
        keyWords = words
        entryWords = words + (isCount ? 1 : 3)
        key = .allocate(capacity: words)
        entries = Bits.zeros(capacity * entryWords)
    }

    deinit {
        key.deallocate()
        entries.deallocate()
    }

    // MARK: The key

    /// Takes the members at hand as the key; false when one is known by its address alone.
    func setKey(
        _ keySlots: UnsafePointer<ExpressionKeySlot>,
        _ members: UnsafeMutablePointer<ExpressionMember>
    ) -> Bool {
        var place = 0
        for index in 0..<keySlotCount {
            let slot = Int(keySlots[index].slot)
            guard keySlots[index].holdsValues else {
                key[place] = members[slot].key.word
                place &+= 1
                continue
            }
            let value = members[slot].value
            if Self.isAddress(value) { return false }
            key[place] = value.word0
            key[place &+ 1] = value.word1
            key[place &+ 2] = UInt64(value.type)
            place &+= 3
        }
        return true
    }

    private static func isAddress(_ value: RawValue) -> Bool {
        switch ValueType(rawValue: value.type) {
        case .string, .binary, .list, .dictionary, nil: return true
        default: return false
        }
    }

    /// Where an entry of the key is, or would be.
    private func entry(
        of key: UnsafePointer<UInt64>, in table: UnsafeMutablePointer<UInt64>, _ capacity: Int
    ) -> UnsafeMutablePointer<UInt64> {
        var hash: UInt64 = 0
        for index in 0..<keyWords {
            hash = (hash ^ key[index]) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var place = Int(truncatingIfNeeded: hash) & (capacity &- 1)
        while true {
            let entry = table + place &* entryWords
            if entry[keyWords] == 0 { return entry }
            var index = 0
            while index < keyWords, entry[index] == key[index] { index &+= 1 }
            if index == keyWords { return entry }
            place = (place &+ 1) & (capacity &- 1)
        }
    }

    // MARK: Answers

    /// The answer kept for the key.
    func answer() -> RawValue? {
        let entry = entry(of: key, in: entries, capacity) + keyWords
        if entry[0] == 0 { return nil }
        if isCount { return .int(Int64(bitPattern: entry[0] &- 1)) }
        var value = RawValue.null
        value.type = UInt32(truncatingIfNeeded: entry[0] &- 1)
        value.word0 = entry[1]
        value.word1 = entry[2]
        return value
    }

    /// Keeps an answer for the key.
    func keep(_ value: RawValue, _ state: ExpressionState) {
        if !isCount, Self.isAddress(value) { return }
        if count &* 4 >= capacity &* 3 { makeRoom(state) }
        let entry = entry(of: key, in: entries, capacity)
        if entry[keyWords] == 0 { count &+= 1 }
        entry.update(from: key, count: keyWords)
        if isCount {
            entry[keyWords] = value.word0 &+ 1
            return
        }
        entry[keyWords] = UInt64(value.type) &+ 1
        entry[keyWords &+ 1] = value.word0
        entry[keyWords &+ 2] = value.word1
    }

    /// A table of twice the size, or, where that is too much, this one without its answers.
    private func makeRoom(_ state: ExpressionState) {
        let added = capacity &* entryWords
        count = state.memoWords &+ added > Self.wordsMax ? 0 : count
        guard count > 0 else {
            entries.update(repeating: 0, count: capacity &* entryWords)
            return
        }
        state.memoWords &+= added
        let larger = Bits.zeros(capacity &* 2 &* entryWords)
        for place in 0..<capacity {
            let entry = entries + place &* entryWords
            if entry[keyWords] == 0 { continue }
            self.entry(of: entry, in: larger, capacity &* 2).update(from: entry, count: entryWords)
        }
        entries.deallocate()
        entries = larger
        capacity &*= 2
    }
}
