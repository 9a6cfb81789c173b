// Which handles rollbacks have ended, beside a list of all rollbacks that is gone through.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct AbortedNamesTests {
    @Test(arguments: [1, 2, 3])
    func handlesAreDeadThatALaterRollbackUndid(_ seed: UInt64) {
        var random = Random(seed)
        var names = AbortedNames()
        var all: [(classKey: ClassKey, first: ObjectKey)] = []
        for rollback in 0..<60 as Range<UInt32> {
            let classKey = ClassKey(rawValue: UInt32(random.below(2)))
            let first = ObjectKey(rawValue: Int64(random.below(30)))
            names.note(rollback, classKey, from: first)
            names.note(rollback, from: CollectionNumber(rawValue: UInt64(first.rawValue)))
            all.append((classKey, first))
            for _ in 0..<20 {
                let since = random.below(all.count + 1)
                let key = ObjectKey(rawValue: Int64(random.below(32)))
                let behind = all[since...]
                #expect(
                    names.contain(classKey, key, since: UInt32(since))
                        == behind.contains { $0.classKey == classKey && $0.first <= key })
                #expect(
                    names.contain(
                        CollectionNumber(rawValue: UInt64(key.rawValue)), since: UInt32(since))
                        == behind.contains { $0.first <= key })
            }
        }
    }
}
