// The names that rolled back transactions had given. Later ones give them again, also those of other programs:
// handles from before are dead, whatever has their names by then.

struct AbortedNames {
    private var keys: [ClassKey: UndoneNames] = [:]
    private var numbers = UndoneNames()

    /// Rollback number `rollback` undid objects of a class, of this key or greater ones.
    mutating func note(_ rollback: UInt32, _ classKey: ClassKey, from first: ObjectKey) {
        keys[classKey, default: UndoneNames()].note(rollback, from: first.rawValue)
    }

    /// It undid collections in mixed values, of this number or greater ones.
    mutating func note(_ rollback: UInt32, from first: CollectionNumber) {
        numbers.note(rollback, from: Int64(bitPattern: first.rawValue))
    }

    /// Whether a handle from before `rollbacks` more rollbacks named an object that one of those
    /// undid.
    func contain(_ classKey: ClassKey, _ key: ObjectKey, since rollbacks: UInt32) -> Bool {
        keys[classKey]?.contain(key.rawValue, since: rollbacks) ?? false
    }

    /// The same for a collection in a mixed value.
    func contain(_ number: CollectionNumber, since rollbacks: UInt32) -> Bool {
        numbers.contain(Int64(bitPattern: number.rawValue), since: rollbacks)
    }
}

/// Which rollback undid names from which on. Who is older than a rollback is older than those behind it: kept are
/// those behind which none undid as much, so both numbers ascend.
private struct UndoneNames {
    private var entries: [(rollback: UInt32, first: Int64)] = []

    mutating func note(_ rollback: UInt32, from first: Int64) {
        while let last = entries.last, last.first >= first { entries.removeLast() }
        entries.append((rollback, first))
    }

    func contain(_ name: Int64, since rollbacks: UInt32) -> Bool {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) >> 1
            if entries[middle].rollback < rollbacks { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && name >= entries[low].first
    }
}
