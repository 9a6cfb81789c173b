// Answers of a SUBQUERY in a SUBQUERY, by the members that it depends on, in memory that all of an
// execution share the bound of. It lives as long as the execution, which sees one state of the data.
// Used by one thread, by the evaluator.
//
// Objects are known by their keys, since a scope's members are of one class; values by their bits.
// Texts and collections are not, because their bits are addresses: what depends on one is not kept.

final class SubqueryMemo {
    private let keySlots: UnsafeBufferPointer<ExpressionKeySlot>
    private var answers: [[UInt64]: RawValue] = [:]
    /// That of the members at hand.
    private(set) var key: [UInt64] = []

    /// Words that the answers of an execution may take: 64 MiB.
    static let wordsMax = 8 << 20
    /// What an answer takes beside its key: the array of that, and its place in the table.
    private static let answerWords = 12

    init(_ program: FilterProgram, _ subquery: ExpressionSubquery) {
        keySlots = UnsafeBufferPointer(
            start: program.keySlots + Int(subquery.keyFirst), count: Int(subquery.keyCount))
    }

    /// Takes the members at hand as the key; false when one is known by its address alone.
    func setKey(_ members: UnsafeMutablePointer<ExpressionMember>) -> Bool {
        key.removeAll(keepingCapacity: true)
        for slot in keySlots {
            let member = members + Int(slot.slot)
            guard slot.holdsValues else {
                key.append(member.pointee.key.word)
                continue
            }
            let value = member.pointee.value
            if Self.isAddress(value) { return false }
            key.append(value.word0)
            key.append(value.word1)
            key.append(UInt64(value.type))
        }
        return true
    }

    private static func isAddress(_ value: RawValue) -> Bool {
        switch ValueType(rawValue: value.type) {
        case .string, .binary, .list, .dictionary, nil: return true
        default: return false
        }
    }

    /// The answer kept for the key.
    var answer: RawValue? { answers[key] }

    /// Keeps an answer; where all answers would take too much, without those before.
    func keep(_ value: RawValue, for key: [UInt64], _ state: ExpressionState) {
        if Self.isAddress(value) { return }
        let words = key.count + Self.answerWords
        if state.memoWords + words > Self.wordsMax {
            state.memoWords -= answers.count * words
            answers.removeAll(keepingCapacity: true)
        }
        state.memoWords += words
        answers[key] = value
    }
}
