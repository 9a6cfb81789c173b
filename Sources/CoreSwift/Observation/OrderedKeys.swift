// The keys of large results in their order, so that a few can be taken out and put in without moving
// all others: blocks of keys, and where each block begins.

struct OrderedKeys {
    private var blocks: [[ObjectKey]] = []
    private var starts: [Int] = []
    private(set) var count = 0

    private static let blockMax = 1024

    init(_ keys: [ObjectKey]) {
        for start in stride(from: 0, to: keys.count, by: Self.blockMax / 2) {
            starts.append(start)
            blocks.append(Array(keys[start..<min(start + Self.blockMax / 2, keys.count)]))
        }
        count = keys.count
    }

    var keys: [ObjectKey] {
        var result: [ObjectKey] = []
        result.reserveCapacity(count)
        for block in blocks { result += block }
        return result
    }

    subscript(index: Int) -> ObjectKey {
        let block = block(of: index)
        return blocks[block][index - starts[block]]
    }

    /// The block that has a position; the last one for the position behind all.
    private func block(of index: Int) -> Int {
        max(starts.partitionPoint { $0 <= index } - 1, 0)
    }

    /// The first position whose key is not before something; keys that are come first.
    func firstIndex(
        notBefore isBefore: (ObjectKey) throws(RealmError) -> Bool
    ) throws(RealmError) -> Int {
        // The last block that begins with a key before it, then within.
        let behind = try blocks.partitionPoint { block throws(RealmError) in
            try isBefore(block[0])
        }
        guard behind > 0 else { return 0 }
        return starts[behind - 1] + (try blocks[behind - 1].partitionPoint(isBefore))
    }

    mutating func remove(at index: Int) {
        let found = block(of: index)
        blocks[found].remove(at: index - starts[found])
        count -= 1
        if blocks[found].isEmpty {
            blocks.remove(at: found)
            starts.remove(at: found)
        }
        for later in found..<starts.count where starts[later] > index { starts[later] -= 1 }
    }

    mutating func insert(_ key: ObjectKey, at index: Int) {
        count += 1
        guard !blocks.isEmpty else {
            blocks = [[key]]
            starts = [0]
            return
        }
        let found = block(of: index)
        blocks[found].insert(key, at: index - starts[found])
        for later in found + 1..<starts.count { starts[later] += 1 }
        guard blocks[found].count > Self.blockMax else { return }
        let half = blocks[found].count / 2
        blocks.insert(Array(blocks[found][half...]), at: found + 1)
        blocks[found].removeLast(blocks[found].count - half)
        starts.insert(starts[found] + half, at: found + 1)
    }
}
