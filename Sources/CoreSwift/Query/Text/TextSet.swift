// A fixed set of texts that a value is looked up in, whatever their number: the members of IN lists.
// Not for single texts, and it folds nothing: members and values come as they are compared.
// `LeafFilter` and `ConstantSet` make one per list and execution.
//
// Open addressing, at most half full. The bytes are hashed eight at a time by multiply and rotate
// with a seed of the process, so that nobody can choose members that meet in one place.

final class TextSet {
    private struct Entry {
        var hash: UInt32 = 0
        /// -1: free.
        var count: Int32 = -1
        var offset = 0
    }
    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private let bytes: UnsafeMutableRawPointer

    /// Sets of fewer texts are searched by halving, or gone through.
    static let countMin = 16

    private static let seed = UInt64.random(in: .min ... .max)

    /// Copies the texts; repeated ones do no harm.
    init(_ texts: [UnsafeRawBufferPointer]) {
        var capacity = 16
        while capacity < texts.count * 2 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
        bytes = .allocate(byteCount: max(1, texts.reduce(0) { $0 + $1.count }), alignment: 1)
        var end = 0
        for text in texts {
            let hash = Self.hash(text)
            var place = Int(truncatingIfNeeded: hash) & mask
            while entries[place].count >= 0, !isSame(entries[place], hash, text) {
                place = (place &+ 1) & mask
            }
            guard entries[place].count < 0 else { continue }
            if let start = text.baseAddress {
                (bytes + end).copyMemory(from: start, byteCount: text.count)
            }
            entries[place] = Entry(
                hash: UInt32(truncatingIfNeeded: hash >> 32),
                count: Int32(truncatingIfNeeded: text.count), offset: end)
            end += text.count
        }
    }

    deinit {
        entries.deallocate()
        bytes.deallocate()
    }

    func contains(_ text: UnsafeRawBufferPointer) -> Bool {
        let hash = Self.hash(text)
        var place = Int(truncatingIfNeeded: hash) & mask
        while entries[place].count >= 0 {
            if isSame(entries[place], hash, text) { return true }
            place = (place &+ 1) & mask
        }
        return false
    }

    @inline(__always)
    private func isSame(_ entry: Entry, _ hash: UInt64, _ text: UnsafeRawBufferPointer) -> Bool {
        guard entry.hash == UInt32(truncatingIfNeeded: hash >> 32), Int(entry.count) == text.count
        else { return false }
        guard let start = text.baseAddress else { return true }
        return equalBytes(bytes + entry.offset, start, text.count)
    }

    @inline(__always)
    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(text.count)
        var left = text.count
        if var next = text.baseAddress {
            while left >= 8 {
                hash = step(hash, next.u64(0))
                next += 8
                left &-= 8
            }
            var rest: UInt64 = 0
            while left > 0 {
                left &-= 1
                rest = rest << 8 | UInt64(next.load(fromByteOffset: left, as: UInt8.self))
            }
            hash = step(hash, rest)
        }
        hash ^= hash >> 32
        hash = hash &* 0x9FB2_1C65_1E98_DF25
        return hash ^ hash >> 29
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0x9FB2_1C65_1E98_DF25
        return product << 31 | product >> 33
    }
}
