// Sets of keys, also of keys that come in the wrong order.

import Testing

@testable import CoreSwift

@Suite struct KeySetTests {
    @Test(
        arguments: [
            [], [5], [1, 2, 3], [100_000_000, 3], [70, 1 << 40, -9, 12, 70], [900, 5, 1000, 6],
        ] as [[Int64]])
    func membersAreFoundInWhateverOrderTheyCome(values: [Int64]) {
        let set = KeySet(numbers: values)
        for value in values { #expect(set.contains(value)) }
        for value: Int64 in [.min, -1, 4, 7, 69, 999, 1001, .max] where !values.contains(value) {
            #expect(!set.contains(value))
        }
    }
}
