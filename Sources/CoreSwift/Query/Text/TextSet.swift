// A fixed set of texts that a value is looked up in, whatever their number: the members of IN lists.
// Not for single texts, and it folds nothing: members and values come as they are compared.
// `LeafFilter` and `ConstantSet` make one per list and execution.
//
// Open addressing, at most half full; the hash has a seed of the process.

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
    init(_ texts: [some Collection<UInt8>]) {
        var capacity = 16
        while capacity < texts.count * 2 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(), count: capacity)
        bytes = .allocate(byteCount: max(1, texts.reduce(0) { $0 + $1.count }), alignment: 1)
        var end = 0
        for copied in texts {
            let room = UnsafeMutableRawBufferPointer(start: bytes + end, count: copied.count)
            room.copyBytes(from: copied)
            let text = UnsafeRawBufferPointer(room)
            let hash = ByteHash.of(text, seed: Self.seed)
            var place = Int(truncatingIfNeeded: hash) & mask
            while entries[place].count >= 0, !isSame(entries[place], hash, text) {
                place = (place &+ 1) & mask
            }
            guard entries[place].count < 0 else { continue }
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
        let hash = ByteHash.of(text, seed: Self.seed)
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
}
