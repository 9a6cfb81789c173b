// The names that rolled back transactions had given. Later ones give them again, also those of other programs:
// handles from before are dead, whatever has their names by then.

struct AbortedNames {
    private var keys: [ClassKey: [(rollback: UInt32, first: ObjectKey)]] = [:]
    private var numbers: [(rollback: UInt32, first: CollectionNumber)] = []

    /// Rollback number `rollback` undid objects of a class, of this key or greater ones.
    mutating func note(_ rollback: UInt32, _ classKey: ClassKey, from first: ObjectKey) {
        keys[classKey, default: []].append((rollback, first))
    }

    /// It undid collections in mixed values, of this number or greater ones.
    mutating func note(_ rollback: UInt32, from first: CollectionNumber) {
        // Who is older than the last rollback of a version is older than this one.
        if let last = numbers.last, last.first == first { numbers.removeLast() }
        numbers.append((rollback, first))
    }

    /// Whether a handle from before `rollbacks` more rollbacks named an object that one of those
    /// undid.
    func contain(_ classKey: ClassKey, _ key: ObjectKey, since rollbacks: UInt32) -> Bool {
        guard let ranges = keys[classKey] else { return false }
        return ranges.contains { $0.rollback >= rollbacks && key >= $0.first }
    }

    /// The same for a collection in a mixed value.
    func contain(_ number: CollectionNumber, since rollbacks: UInt32) -> Bool {
        numbers.contains { $0.rollback >= rollbacks && number.rawValue >= $0.first.rawValue }
    }
}
