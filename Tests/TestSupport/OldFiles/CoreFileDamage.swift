// Damaged files of realm-core, for tests and the fuzzer (`Tests/OldFileFuzz`).

/// Damage that goes past the first checks: bits, bytes, integers where references stand, headers of nodes,
/// and the end of the file.
enum CoreFileDamage {
    static func apply<R: RandomNumberGenerator>(to original: [UInt8], _ random: inout R) -> [UInt8]
    {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let words = bytes.count / 8
            if words < 8 { break }
            let word = Int.random(in: 0..<words, using: &random) * 8
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case 1:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            case 2:
                put(UInt64.random(in: 0..<UInt64(words), using: &random) * 8, word, &bytes)
            case 3:
                let values: [UInt64] = [
                    0, 1, 3, 24, UInt64(bytes.count) - 8, UInt64(bytes.count), .max, .max - 7,
                    1 << 63, (1 << 63) - 8, 0xFFFF_FFFF, 0x1_FFFF_FFFF,
                ]
                put(values.randomElement(using: &random) ?? 0, word, &bytes)
            case 4, 5:
                // Nodes begin with "AAAA": their flags, or their size.
                guard let node = nearestNode(bytes, word) else { continue }
                let place = node + Int.random(in: 4...7, using: &random)
                bytes[place] = .random(in: 0...255, using: &random)
            case 6:
                let from = Int.random(in: 0..<words, using: &random) * 8
                let count = min(
                    Int.random(in: 1...8, using: &random) * 8, bytes.count - max(from, word))
                let piece = Array(bytes[from..<from + count])
                bytes.replaceSubrange(word..<word + count, with: piece)
            default:
                if Int.random(in: 0..<4, using: &random) == 0 {
                    bytes.removeLast(bytes.count - word)
                }
            }
        }
        return bytes
    }

    private static func put(_ value: UInt64, _ offset: Int, _ bytes: inout [UInt8]) {
        for index in 0..<8 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8))
        }
    }

    private static func nearestNode(_ bytes: [UInt8], _ from: Int) -> Int? {
        var place = from
        while place + 8 <= bytes.count {
            if bytes[place] == 0x41, bytes[place + 1] == 0x41, bytes[place + 2] == 0x41 {
                return place
            }
            place += 8
        }
        return nil
    }
}
