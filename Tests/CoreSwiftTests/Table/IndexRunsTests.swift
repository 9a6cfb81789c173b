// Sorted runs of index entries: what was put into several of them comes out of their merge, in order.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct IndexRunsTests {
    private struct Change {
        let value: [UInt8]
        let key: UInt64
        let isAddition: Bool

        /// Equal ones stay as they came.
        static func isBefore(_ a: Change, _ b: Change) -> Bool {
            a.value != b.value ? a.value.precedes(b.value) : a.key < b.key
        }
    }

    private let directory = TemporaryDirectory()

    /// Keys of all sizes; of a few values with long common beginnings, so that many are equal or nearly so.
    private func change(_ random: inout Random, lengths: ClosedRange<Int>, letters: Int) -> Change {
        let length = lengths.lowerBound + random.below(lengths.count)
        let same = random.below(length + 1)
        let value = [UInt8](repeating: 7, count: same) + random.bytes(length - same, below: letters)
        return Change(
            value: value, key: random.next() >> UInt64(2 + random.below(62)),
            isAddition: random.below(2) == 0)
    }

    private func add(
        _ changes: [Change], _ runs: IndexRuns, _ owner: IndexRuns.Owner,
        _ shape: IndexPending.Shape
    ) throws {
        var pending = IndexPending(shape)
        defer { pending.deallocate() }
        for change in changes {
            let key = ObjectKey(word: change.key)
            change.value.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                if shape == .words {
                    pending.append(
                        start.loadUnaligned(as: UInt64.self).byteSwapped, key,
                        isAddition: change.isAddition)
                } else {
                    pending.append(start, bytes.count, key, isAddition: change.isAddition)
                }
            }
        }
        try runs.add(&pending, of: owner)
        #expect(pending.count == 0)
    }

    @Test(
        "records of several runs come back in order, with values of all sizes",
        arguments: [8...8, 1...12, 1...IndexLimits.valueBytesMax, 500...IndexLimits.valueBytesMax],
        [false, true])
    func merge(lengths: ClosedRange<Int>, isEncrypted: Bool) throws {
        var random = Random(TestSettings.seed("IndexRunsTests"))
        let runs = try IndexRuns(
            directory.file("runs"), isEncrypted: isEncrypted, rollbacks: 0, SystemCalls.shared)
        let shape: IndexPending.Shape = lengths.count == 1 ? .words : .texts
        let owners = (0..<2).map { IndexRuns.Owner(classKey: ClassKey(rawValue: 1), position: $0) }
        var all: [[Change]] = [[], []]
        // Of more than a piece each, of a few records, and of one.
        for count in [9000, 5, 1, 4000] {
            for (number, owner) in owners.enumerated() {
                let changes = (0..<count).map { _ in
                    change(&random, lengths: lengths, letters: number == 0 ? 256 : 2)
                }
                try add(changes, runs, owner, shape)
                all[number] += changes
            }
        }
        for (number, owner) in owners.enumerated() {
            // Sorting is stable.
            let expected = all[number].sorted(by: Change.isBefore)
            let merge = try #require(try runs.take(owner))
            var wrong = 0
            for change in expected {
                try #require(!merge.isEmpty)
                let (value, word) = merge.top
                let expectedWord = change.isAddition ? change.key : change.key | 1 << 63
                if !change.value.isSame(as: value) || word != expectedWord { wrong += 1 }
                try merge.advance()
            }
            #expect(merge.isEmpty && wrong == 0)
            #expect(try runs.take(owner) == nil)
        }
        #expect(runs.isEmpty)
    }
}
