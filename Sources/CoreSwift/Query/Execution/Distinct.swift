// Objects of which each combination of values is there once.

/// DISTINCT: the first object of each combination of values, in their order (D7, D8).
enum Distinct {
    static func first(
        _ objects: [ObjectKey], by ordering: [OrderingKey], _ snapshot: SnapshotReader,
        _ table: TableReader
    ) throws(RealmError) -> [ObjectKey] {
        guard !ordering.isEmpty else { return objects }
        let gathered = try Sorter.gather(objects, ordering, snapshot, table)
        var capacity = 16
        while capacity < objects.count * 2 { capacity *= 2 }
        var slots = [UInt32](repeating: .max, count: capacity)
        var result: [ObjectKey] = []
        element: for element in objects.indices {
            var hash: UInt64 = 0
            for key in gathered {
                if key.presence[element] == GatheredKey.Presence.broken { continue element }
                hash = key.hash(element, hash)
            }
            var slot = Int(hash & UInt64(capacity - 1))
            while slots[slot] != .max {
                let other = Int(slots[slot])
                if gathered.allSatisfy({ $0.isEqual(element, other) }) { continue element }
                slot = (slot + 1) & (capacity - 1)
            }
            slots[slot] = UInt32(truncatingIfNeeded: element)
            result.append(objects[element])
        }
        return result
    }
}
