// Full-text indexes against the texts. Rows and entries come in different orders, and looking up the
// row of each entry would take many times as long as all the rest: so both are added up, and only
// when the sums differ is each entry compared with its row, to say what is wrong.

import CKernels

/// Entries of a full-text index as a number that does not depend on their order: entries ascend
/// strictly, so the same count and the same sum of hashes means the same entries.
struct WordSum: Equatable {
    private(set) var count = 0
    private var sum: UInt64 = 0

    mutating func add(_ word: UnsafeRawBufferPointer, _ key: ObjectKey) {
        guard let start = word.baseAddress else { return }
        let mixed = ByteHash.of(start, word.count) ^ key.word
        // Odd multipliers; a shift between them, so that sums of keys do not cancel out.
        let once = (mixed ^ mixed >> 31) &* 0x9E37_79B9_7F4A_7C15
        sum &+= (once ^ once >> 29) &* 0xBF58_476D_1CE4_E5B9
        count += 1
    }
}

extension TableCheck {
    /// Adds up the words of a column of a leaf.
    func addWords(_ view: LeafView, _ index: Int, _ table: Table, _ facts: inout ClassFacts) {
        let info = table.state.columns[index]
        var sum = facts.words[index] ?? WordSum()
        for row in 0..<view.rows where !view.isDead(row) {
            let key = view.key(row)
            do throws(RealmError) {
                let value = try table.value(RowPlace(view, row), key, index)
                let words = WordSet(value, info.wordRules)
                words.forEach { start, count in
                    sum.add(UnsafeRawBufferPointer(start: start, count: count), key)
                }
            } catch {
                // The check of the column reports it.
                facts.isReadable = false
            }
        }
        facts.words[index] = sum
    }

    /// Names the entries that no row has; what the rows have and the index lacks is a number.
    func compareWords(
        _ table: Table, _ index: TableIndex, _ expected: WordSum, _ found: WordSum, _ place: String
    ) {
        let rules = table.state.columns[index.column].wordRules
        var wrong = 0
        do throws(RealmError) {
            try index.tree.visit(from: nil, to: nil) { leaf, range throws(RealmError) in
                for entry in range {
                    var word = [UInt8](
                        UnsafeRawBufferPointer(start: leaf.prefix, count: leaf.prefixCount))
                    word.append(contentsOf: leaf.suffix(entry))
                    if let problem = try problem(word, leaf.key(entry), table, index.column, rules)
                    {
                        report.add(
                            "\(place), word '\(String(decoding: word, as: UTF8.self))': "
                                + problem)
                        wrong += 1
                    }
                }
                return true
            }
        } catch {
            report.add("\(place): \(error.message)")
        }
        let missing = expected.count - (found.count - wrong)
        if missing > 0 { report.add("\(place): \(missing) words of objects are missing") }
    }

    private func problem(
        _ word: [UInt8], _ key: ObjectKey, _ table: Table, _ column: Int, _ rules: WordRules
    ) throws(RealmError) -> String? {
        guard let row = try table.find(key) else { return "object \(key) is not there" }
        let value = try table.value(row, key, column)
        return WordSet(value, rules).has(word) ? nil : "object \(key) does not have it"
    }
}
