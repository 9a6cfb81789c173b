// Gives each different value a number, 0, 1, 2 … in the order in which they come: what groups by keys of any
// type are made with. Open addressing; a hash and the first of the equal values for each number.
//
// Values are equal as for DISTINCT: numbers by value (0 is -0, and all NaN of a float or double
// column are one), texts and binaries by bytes, mixed values as `ValueOrder` has it, null is null.

import CKernels

final class ValueNumbering {
    private enum Equality {
        /// Both words: integers, Booleans, links, instants, object ids, UUIDs.
        case words
        case double, float
        case bytes
        /// Decimals and mixed values.
        case order
    }

    private let equality: Equality
    /// The first value with each number.
    private(set) var values: [RawValue] = []
    private var hashes: [UInt64] = []
    /// Number + 1; 0 is free.
    private var slots: UnsafeMutablePointer<UInt32>
    private var mask: Int
    private var nullNumber: UInt32?
    /// Neighbours are often equal.
    private var last: (value: RawValue, number: UInt32)?

    init(_ kind: ColumnKind) {
        switch kind {
        case .double: equality = .double
        case .float: equality = .float
        case .string, .binary: equality = .bytes
        case .decimal, .mixed, .collection: equality = .order
        case .int, .bool, .timestamp, .link, .objectId, .uuid: equality = .words
        }
        mask = 63
        slots = .allocate(capacity: 64)
        slots.initialize(repeating: 0, count: 64)
    }

    deinit { slots.deallocate() }

    var count: Int { values.count }

    /// The number of a value: a new one if it is different from all before.
    func number(_ value: RawValue) throws(RealmError) -> UInt32 {
        if value.isNull {
            if let nullNumber { return nullNumber }
            let number = try append(.null, 0)
            nullNumber = number
            return number
        }
        if let last, isEqual(last.value, value) { return last.number }
        let hash = hash(value)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let number = slots[slot] &- 1
            if hashes[Int(number)] == hash, isEqual(values[Int(number)], value) {
                last = (value, number)
                return number
            }
            slot = (slot &+ 1) & mask
        }
        let number = try append(value, hash)
        slots[slot] = number + 1
        last = (value, number)
        if values.count * 2 > mask { grow() }
        return number
    }

    private func append(_ value: RawValue, _ hash: UInt64) throws(RealmError) -> UInt32 {
        guard values.count < Int(UInt32.max) - 1 else {
            throw RealmError(.limitExceeded, "there are more than 4,294,967,294 groups")
        }
        values.append(value)
        hashes.append(hash)
        return UInt32(values.count - 1)
    }

    private func grow() {
        slots.deallocate()
        let capacity = (mask + 1) * 4
        mask = capacity - 1
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
        for number in values.indices where nullNumber.map({ Int($0) != number }) ?? true {
            var slot = Int(truncatingIfNeeded: hashes[number]) & mask
            while slots[slot] != 0 { slot = (slot &+ 1) & mask }
            slots[slot] = UInt32(number) + 1
        }
    }

    @inline(__always) private func isEqual(_ a: RawValue, _ b: RawValue) -> Bool {
        switch equality {
        case .words: return a.word0 == b.word0 && a.word1 == b.word1
        case .double:
            return GatheredKey.ordered(a.doubleValue) == GatheredKey.ordered(b.doubleValue)
        case .float:
            return GatheredKey.ordered(Double(a.floatValue))
                == GatheredKey.ordered(Double(b.floatValue))
        case .bytes:
            return a.word1 == b.word1
                && (a.word0 == b.word0
                    || ck_memcmp(a.bytes.baseAddress, b.bytes.baseAddress, a.bytes.count) == 0)
        case .order: return ValueOrder.equal(a, b)
        }
    }

    @inline(__always) private func hash(_ value: RawValue) -> UInt64 {
        switch equality {
        case .words: return Self.mixed(value.word0, value.word1)
        case .double: return Self.mixed(GatheredKey.ordered(value.doubleValue), 0)
        case .float: return Self.mixed(GatheredKey.ordered(Double(value.floatValue)), 0)
        case .bytes: return ByteHash.of(value.bytes)
        case .order:
            var hasher = Hasher()
            ValueOrder.hash(value, into: &hasher)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    private static let prime: UInt64 = 0x9FB2_1C65_1E98_DF25

    @inline(__always) private static func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
        var hash = (a ^ b << 31 ^ b >> 33) &* prime
        hash = (hash ^ hash >> 29) &* prime
        return hash ^ hash >> 32
    }
}
