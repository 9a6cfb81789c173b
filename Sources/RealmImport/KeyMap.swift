// Which objects of a class became which: where objects keep their keys, nothing needs to be remembered but
// those that could not. Of others 8 bytes of each are, where old keys are 0, 1, 2 and so on, else 16.

import CoreSwift

struct KeyMap {
    /// Objects have their old keys.
    let keepsKeys: Bool
    /// Old keys, ascending; empty as long as they are 0, 1, 2 and so on.
    private var keys: [Int64] = []
    private var made: [ObjectKey] = []
    /// Where keys are kept: those that can't be keys here.
    private var others: [Int64: ObjectKey] = [:]

    init(keepsKeys: Bool) { self.keepsKeys = keepsKeys }

    /// Whether an object can have its old key.
    func keeps(_ key: Int64) -> Bool { keepsKeys && key >= 0 && key < 1 << 62 }

    var hasOthers: Bool { !others.isEmpty }

    /// Notes what became of an object. Where keys are not kept, old keys ascend.
    mutating func add(_ old: Int64, _ new: ObjectKey) {
        if keeps(old) { return }
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

    /// The object's key in the new file; nil where it is known that there is none.
    func counterpart(_ old: Int64) -> ObjectKey? {
        if keeps(old) { return ObjectKey(rawValue: old) }
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
