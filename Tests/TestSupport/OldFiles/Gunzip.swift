// Unpacks files of gzip (RFC 1951 and 1952), for fixtures. Not by a process of its own: its birth would hold
// the locks of tests that run at the same time.

struct Gunzip {
    private enum Failure: Error { case damaged(String) }

    private let input: [UInt8]
    private var place: Int
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    /// The bytes that were packed; the file has no name or other extras in its header.
    static func unpack(_ packed: [UInt8]) throws -> [UInt8] {
        guard packed.count > 18, packed[0] == 0x1F, packed[1] == 0x8B, packed[3] == 0 else {
            throw Failure.damaged("no plain gzip file")
        }
        var unpacking = Gunzip(packed)
        while try unpacking.block() {}
        let size = packed.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard size == unpacking.output.count else { throw Failure.damaged("another size") }
        return unpacking.output
    }

    private init(_ packed: [UInt8]) {
        input = packed
        place = 10
    }

    private mutating func take(_ count: Int) throws -> Int {
        while bitCount < count {
            guard place < input.count else { throw Failure.damaged("it ends early") }
            bits |= UInt32(input[place]) << UInt32(bitCount)
            place += 1
            bitCount += 8
        }
        let value = bits & ((1 << UInt32(count)) - 1)
        bits >>= UInt32(count)
        bitCount -= count
        return Int(value)
    }

    /// How many codes there are of each length, and the symbols in their order.
    private struct Codes {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths where length > 0 { counts[length] += 1 }
            for length in 1..<16 {
                for (symbol, own) in lengths.enumerated() where own == length {
                    symbols.append(symbol)
                }
            }
        }
    }

    private mutating func symbol(_ codes: Codes) throws -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1..<16 {
            code |= try take(1)
            let count = codes.counts[length]
            if code - count < first { return codes.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Failure.damaged("no such code")
    }

    /// False after the last one.
    private mutating func block() throws -> Bool {
        let isLast = try take(1) == 1
        switch try take(2) {
        case 0:
            bits = 0
            bitCount = 0
            let count = try take(8) | take(8) << 8
            place += 2
            guard place + count <= input.count else { throw Failure.damaged("it ends early") }
            output += input[place..<place + count]
            place += count
        case 1:
            let lengths =
                [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112)
                + [Int](repeating: 7, count: 24) + [Int](repeating: 8, count: 8)
            try contents(Codes(lengths), Codes([Int](repeating: 5, count: 30)))
        case 2:
            let (literals, distances, codes) = (try take(5) + 257, try take(5) + 1, try take(4) + 4)
            let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
            var lengths = [Int](repeating: 0, count: 19)
            for index in 0..<codes { lengths[order[index]] = try take(3) }
            let own = Codes(lengths)
            lengths = []
            while lengths.count < literals + distances {
                let next = try symbol(own)
                switch next {
                case 16:
                    lengths += [Int](repeating: lengths.last ?? 0, count: try take(2) + 3)
                case 17: lengths += [Int](repeating: 0, count: try take(3) + 3)
                case 18: lengths += [Int](repeating: 0, count: try take(7) + 11)
                default: lengths.append(next)
                }
            }
            try contents(
                Codes(Array(lengths[..<literals])),
                Codes(Array(lengths[literals..<literals + distances])))
        default: throw Failure.damaged("no such block")
        }
        return !isLast
    }

    private mutating func contents(_ literals: Codes, _ distances: Codes) throws {
        while true {
            let next = try symbol(literals)
            if next < 256 {
                output.append(UInt8(next))
                continue
            }
            if next == 256 { return }
            var length = 258
            if next < 265 {
                length = next - 254
            } else if next < 285 {
                let extra = (next - 261) / 4
                length = (4 + (next - 265) % 4) << extra + 3 + (try take(extra))
            }
            let code = try symbol(distances)
            var distance = code + 1
            if code > 3 {
                let extra = code / 2 - 1
                distance = (2 + code % 2) << extra + 1 + (try take(extra))
            }
            guard distance <= output.count else { throw Failure.damaged("a copy from before") }
            let start = output.count - distance
            for index in 0..<length { output.append(output[start + index]) }
        }
    }
}
