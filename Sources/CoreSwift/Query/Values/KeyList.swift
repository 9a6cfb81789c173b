// Lists of object keys: what indexes give, made one.

enum KeyList {
    /// Each key once, ascending.
    static func union(_ keys: [ObjectKey]) -> [ObjectKey] {
        var low = ObjectKey.max
        var high = ObjectKey.min
        var ascends = true
        for key in keys {
            ascends = ascends && key > high
            low = min(low, key)
            high = max(high, key)
        }
        if ascends { return keys }
        let span = low.distance(to: high)
        // A bitmap with at most 512 bits per key beats sorting.
        guard keys.count > 256, UInt(bitPattern: span) / 512 < UInt(keys.count) else {
            var result: [ObjectKey] = []
            for key in keys.sorted() where result.last != key { result.append(key) }
            return result
        }
        let words = span / 64 + 1
        let bits = Bits.zeros(words)
        defer { bits.deallocate() }
        for key in keys { Bits.set(bits, low.distance(to: key)) }
        var result: [ObjectKey] = []
        result.reserveCapacity(keys.count)
        Bits.forEach(bits, words) { result.append(low.advanced(by: $0)) }
        return result
    }

    /// The keys that are in `others`, or those that are not; both ascend.
    static func cut(_ keys: [ObjectKey], _ others: [ObjectKey], keepsMembers: Bool) -> [ObjectKey] {
        let room = keepsMembers ? min(keys.count, others.count) : keys.count
        return [ObjectKey](unsafeUninitializedCapacity: room + 1) { target, kept in
            guard let target = target.baseAddress else { return }
            keys.withUnsafeBufferPointer { keys in
                others.withUnsafeBufferPointer { others in
                    kept = merge(keys, others, keepsMembers, target)
                }
            }
        }
    }

    /// Writes what stays to `target`, which has room for one more; returns how many. Without
    /// branches on the keys: which of two lists goes on is a coin toss for the processor.
    private static func merge(
        _ keys: UnsafeBufferPointer<ObjectKey>, _ others: UnsafeBufferPointer<ObjectKey>,
        _ keepsMembers: Bool, _ target: UnsafeMutablePointer<ObjectKey>
    ) -> Int {
        @inline(__always) func number(_ bool: Bool) -> Int {
            Int(truncatingIfNeeded: unsafeBitCast(bool, to: UInt8.self))
        }
        let kept = number(keepsMembers)
        var count = 0
        var i = 0
        var j = 0
        while i < keys.count && j < others.count {
            let key = keys[i]
            let other = others[j]
            let isLess = number(key < other)
            let isEqual = number(key == other)
            // A key is decided when the other list has reached it.
            target[count] = key
            count &+= kept & isEqual | (1 &- kept) & isLess
            i &+= isLess | isEqual
            j &+= 1 &- isLess
        }
        if !keepsMembers {
            while i < keys.count {
                target[count] = keys[i]
                count &+= 1
                i &+= 1
            }
        }
        return count
    }
}
