// Which objects of a class became which: where objects keep their keys, nothing needs to be remembered but
// those that could not, and which keys there are, so that links need not be looked up. Of others 8 bytes of each are, where old keys are 0, 1, 2 and so on, else 16.

import CoreSwift

struct KeyMap {
    /// Objects have their old keys.
    let keepsKeys: Bool
    /// Old keys, ascending; empty as long as they are 0, 1, 2 and so on.
    private var keys: [Int64] = []
    private var made: [ObjectKey] = []
    /// Where keys are kept: those that can't be keys here.
    private var others: [Int64: ObjectKey] = [:]
    /// Of which there are so many at most: the old library gives no such keys at all.
    static let othersMax = 1 << 20
    /// Where keys are kept: those that objects have, as ranges that ascend.
    private var ranges: [(first: Int64, end: Int64)] = []
    /// The end of the last range, which stands here alone.
    private var lastEnd = Int64.min
    /// Whether `ranges` has all: not where they are too many, and where keys come in no order.
    private(set) var knowsKeys = true
    private static let rangesMax = 1 << 16

    init(keepsKeys: Bool) { self.keepsKeys = keepsKeys }

    /// Whether an object can have its old key.
    func keeps(_ key: Int64) -> Bool { keepsKeys && key >= 0 && key < 1 << 62 }

    var hasOthers: Bool { !others.isEmpty }
    var hasTooManyOthers: Bool { others.count > Self.othersMax }

    /// Notes what became of an object. Where keys are not kept, old keys ascend.
    mutating func add(_ old: Int64, _ new: ObjectKey) {
        if keeps(old) { return note(old) }
        if keepsKeys {
            others[old] = new
            return
        }
        if !keys.isEmpty || old != Int64(made.count) {
            if keys.isEmpty { keys = made.indices.map { Int64($0) } }
            keys.append(old)
        }
        made.append(new)
    }

    @inline(__always)
    private mutating func note(_ key: Int64) {
        guard knowsKeys else { return }
        if key == lastEnd {
            lastEnd += 1
        } else {
            beginRange(key)
        }
    }

    @inline(never)
    private mutating func beginRange(_ key: Int64) {
        guard ranges.count < Self.rangesMax, key > lastEnd else {
            ranges = []
            knowsKeys = false
            return
        }
        if !ranges.isEmpty { ranges[ranges.count - 1].end = lastEnd }
        ranges.append((key, key + 1))
        lastEnd = key + 1
    }

    private func end(_ index: Int) -> Int64 {
        index == ranges.count - 1 ? lastEnd : ranges[index].end
    }

    /// Keys of objects that have them here, too: as a rule all. Others may have theirs as well.
    var first: Range<Int64> {
        guard let range = ranges.first else { return 0..<0 }
        return range.first..<end(0)
    }

    func forEachRange(_ body: (Range<Int64>) -> Void) {
        for (index, range) in ranges.enumerated() { body(range.first..<end(index)) }
    }

    private func isKnown(_ key: Int64) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if end(middle) <= key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].first <= key
    }

    /// The object's key in the new file; nil where it is known that there is none.
    @inline(__always)
    func counterpart(_ old: Int64) -> ObjectKey? {
        if keeps(old) {
            return !knowsKeys || isKnown(old) ? ObjectKey(rawValue: old) : nil
        }
        return counterpartElsewhere(old)
    }

    private func counterpartElsewhere(_ old: Int64) -> ObjectKey? {
        if keepsKeys { return others[old] }
        if keys.isEmpty {
            return old >= 0 && old < Int64(made.count) ? made[Int(old)] : nil
        }
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < old { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == old ? made[low] : nil
    }
}
