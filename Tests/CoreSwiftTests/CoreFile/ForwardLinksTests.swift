// `ForwardLinks`: which links to later objects wait is the same both times it is asked, and what does not wait is
// promised.

import RealmCoreFile
import Testing

@testable import RealmImport
@testable import TestSupport

@Suite("Links to later objects")
struct ForwardLinksTests {
    private static let columns = 3

    private func cells(_ targets: [Int64]) -> [CoreCell] {
        targets.map { CoreCell(.link, 0, UInt64(bitPattern: $0)) }
    }

    @Test("what did not wait at first does not wait later, and is promised", arguments: 0..<40)
    func answersAgree(_ round: Int) {
        var random = Random(UInt64(round) + 1)
        let count = 300
        // In half of the rounds some links lead where nothing can be promised.
        let far: Int64 = round % 2 == 0 ? 1 << 40 : Int64(count)
        let links = ForwardLinks(promises: round % 5 != 4)
        let endsAt = round % 3 == 2 ? Int64.random(in: 0..<Int64(count), using: &random) : .max
        var lists: [[[Int64]]] = []
        var didWait: [[Bool]] = []
        var promised: Set<Int64> = []
        for key in 0..<Int64(count) {
            lists.append([])
            didWait.append([])
            for column in 0..<Self.columns {
                let targets = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    Int.random(in: 0..<500, using: &random) == 0
                        ? far : Int64.random(in: 0..<Int64(count), using: &random)
                }
                // The first column is a link, the others are lists.
                let own = column == 0 ? Array(targets.prefix(1)) : targets
                lists[Int(key)].append(own)
                // Lists are told as cells or as the keys alone.
                let waits =
                    column == 2
                    ? own.withUnsafeBufferPointer { links.waits($0, column, key) }
                    : cells(own).withUnsafeBufferPointer { cells in
                        column == 0
                            ? cells.first.map { links.waits($0, column, key) } ?? false
                            : links.waits(cells, column, key)
                    }
                didWait[Int(key)].append(waits)
                if !waits { promised.formUnion(own.filter { $0 >= key }) }
                // As an import does when the object was made, before its lists are.
                if key == endsAt, column == 0 { links.endPromises(at: key) }
            }
        }
        for key in 0..<Int64(count) {
            for column in 0..<Self.columns {
                let own = lists[Int(key)][column]
                let waited = cells(own).withUnsafeBufferPointer { cells in
                    column == 0
                        ? cells.first.map { links.waited($0, column, key) } ?? false
                        : links.waited(cells, column, key)
                }
                #expect(waited == didWait[Int(key)][column], "object \(key), column \(column)")
                if waited {
                    #expect(own.contains { $0 >= key } && links.columns.contains(column))
                    #expect(links.first <= key && key <= links.last)
                }
            }
        }
        #expect(promised.allSatisfy { links.promised.contains($0) })
        if far == Int64(count), endsAt == .max, round % 5 != 4 { #expect(links.columns.isEmpty) }
    }

    @Test("keys are a set", arguments: 0..<20)
    func keysAreASet(_ round: Int) {
        var random = Random(UInt64(round) + 1)
        let keys = PromisedKeys()
        var expected: Set<Int64> = []
        let end: Int64 = 300_000
        for _ in 0..<2000 {
            let key = Int64.random(in: 0..<end, using: &random)
            #expect(keys.add(key))
            expected.insert(key)
        }
        for _ in 0..<30 {
            let first = Int64.random(in: 0..<end, using: &random)
            let count = Int64.random(in: 0..<9000, using: &random)
            let range = first..<first + count
            keys.remove(range)
            expected = expected.filter { !range.contains($0) }
        }
        #expect((0..<end).allSatisfy { keys.contains($0) == expected.contains($0) })
        var found: [Int64] = []
        while let key = keys.next(from: (found.last ?? -1) + 1) { found.append(key) }
        #expect(found == expected.sorted())
        keys.remove(0..<Int64.max)
        #expect(keys.next(from: 0) == nil)
    }

    @Test("keys for which there is no room are refused, and memory has a limit")
    func roomIsLimited() {
        let keys = PromisedKeys()
        #expect(!keys.add(-1) && !keys.add(1 << 34) && !keys.add(.max))
        #expect(keys.add(1 << 34 - 1) && keys.contains(1 << 34 - 1) && !keys.contains(.max))
        // Each in a page of its own.
        var taken = 0
        while taken < 100_000, keys.add(Int64(taken) << 16) { taken += 1 }
        #expect(taken == 2047)
        #expect(keys.add(5) && !keys.contains(-1))
    }
}
