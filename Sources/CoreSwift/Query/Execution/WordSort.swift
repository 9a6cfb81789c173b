// Sorts words by a part of their bits, large ranges on two cores: by the upper digit into ranges that fit into the
// cache, and these from the lowest digit on. Words that are alike in that part stay in their order, if they ascend
// in what lies below it.

struct WordSort {
    typealias Words = UnsafeMutablePointer<UInt64>
    /// Turns sorted words into results, which may be where the words are.
    typealias Finish = (_ source: Words, _ target: UnsafeMutableBufferPointer<UInt64>) -> Void

    private let words: Words
    private let other: Words
    private let count: Int
    private let lowBit: Int
    private let bits: Int

    /// Words to be sorted: in `words`, or where they were moved to; and by how many of the lower bits.
    private struct Part {
        var range: Range<Int>
        var isMoved: Bool
        var bits: Int
    }

    private static let upperDigitBits = 8
    private static let upperDigits = 1 << upperDigitBits
    /// A range and as much room again fit into the cache of a core.
    private static let cachedMax = 16 * 1024
    /// From so many words on a range is divided by both cores.
    private static let sharedMin = 4 * Sorter.twoCoresMin
    /// So few are compared.
    private static let comparedMax = 192

    /// `other`: room for as many words.
    init(_ words: Words, _ other: Words, count: Int, lowBit: Int, bits: Int) {
        self.words = words
        self.other = other
        self.count = count
        self.lowBit = lowBit
        self.bits = bits
    }

    /// Sorts, and writes the results to where the words were. To be called once.
    func run(_ finish: Finish) {
        let all = Part(range: 0..<count, isMoved: false, bits: bits)
        guard count >= Sorter.twoCoresMin, TwoCores.areThere else { return sort(all, finish) }
        var large = [all]
        var small: [Part] = []
        while let part = large.popLast() {
            if part.range.count < Self.sharedMin || part.bits == 0 {
                small.append(part)
            } else {
                large.append(contentsOf: divide(part, onTwoCores: true))
            }
        }
        var first = 0
        var taken = 0
        while first < small.count, taken + small[first].range.count / 2 < count / 2 {
            taken += small[first].range.count
            first += 1
        }
        TwoCores.run { half in
            for part in half == 0 ? small[..<first] : small[first...] { sort(part, finish) }
        }
    }

    // MARK: Ranges

    private func source(_ part: Part) -> Words { part.isMoved ? other : words }

    private func end(_ part: Part, _ finish: Finish) {
        finish(
            source(part) + part.range.lowerBound,
            UnsafeMutableBufferPointer(
                start: words + part.range.lowerBound, count: part.range.count))
    }

    private func sort(_ part: Part, _ finish: Finish) {
        if part.range.count <= Self.comparedMax {
            var range = UnsafeMutableBufferPointer(
                start: source(part) + part.range.lowerBound, count: part.range.count)
            if part.bits > 0 { range.sort() }
            end(part, finish)
        } else if part.bits > 0, part.range.count > Self.cachedMax {
            for piece in divide(part, onTwoCores: false) { sort(piece, finish) }
        } else {
            end(part.bits > 0 ? distribute(part) : part, finish)
        }
    }

    /// Moves the words of a range to where those of the same upper digit are.
    private func divide(_ part: Part, onTwoCores: Bool) -> [Part] {
        let digitBits = min(part.bits, Self.upperDigitBits)
        let shift = UInt64(lowBit + part.bits - digitBits)
        let mask = UInt64(1) << UInt64(digitBits) - 1
        let (from, to) = part.isMoved ? (other, words) : (words, other)
        let places = UnsafeMutablePointer<Int>.allocate(capacity: 2 * Self.upperDigits)
        defer { places.deallocate() }
        places.initialize(repeating: 0, count: 2 * Self.upperDigits)
        let range = part.range
        func halves(_ body: (Range<Int>, UnsafeMutablePointer<Int>) -> Void) {
            guard onTwoCores else { return body(range, places) }
            TwoCores.run { half in body(range.half(half), places + half * Self.upperDigits) }
        }
        halves { range, places in
            for index in range {
                places[Int(truncatingIfNeeded: from[index] &>> shift & mask)] &+= 1
            }
        }
        var parts: [Part] = []
        var place = range.lowerBound
        for digit in 0..<Self.upperDigits {
            let start = place
            for half in [digit, digit + Self.upperDigits] {
                let count = places[half]
                places[half] = place
                place += count
            }
            if place > start {
                parts.append(
                    Part(
                        range: start..<place, isMoved: !part.isMoved, bits: part.bits - digitBits))
            }
        }
        halves { range, places in
            for index in range {
                let word = from[index]
                let digit = Int(truncatingIfNeeded: word &>> shift & mask)
                to[places[digit]] = word
                places[digit] &+= 1
            }
        }
        return parts
    }

    /// From the least significant digit on; tells where the words are then.
    private func distribute(_ part: Part) -> Part {
        let passes = (part.bits + 9) / 10
        let digitBits = (part.bits + passes - 1) / passes
        let digits = 1 << digitBits
        let mask = UInt64(digits - 1)
        let count = part.range.count
        let start = part.range.lowerBound
        var from = source(part) + start
        var to = (part.isMoved ? words : other) + start
        var isMoved = part.isMoved
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: passes * digits) { buffer in
            guard let counts = buffer.baseAddress else { return }
            counts.initialize(repeating: 0, count: passes * digits)
            for index in 0..<count {
                var word = from[index] &>> UInt64(lowBit)
                for pass in 0..<passes {
                    counts[pass &* digits &+ Int(truncatingIfNeeded: word & mask)] &+= 1
                    word &>>= UInt64(digitBits)
                }
            }
            for pass in 0..<passes {
                let places = counts + pass * digits
                let shift = UInt64(lowBit + pass * digitBits)
                var place: UInt32 = 0
                for digit in 0..<digits {
                    let count = places[digit]
                    places[digit] = place
                    place &+= count
                }
                // The last pass may reach into upper bits, which are alike in the range.
                for index in 0..<count {
                    let word = from[index]
                    let digit = Int(truncatingIfNeeded: word &>> shift & mask)
                    let place = Int(places[digit])
                    places[digit] &+= 1
                    to[place] = word
                }
                swap(&from, &to)
                isMoved.toggle()
            }
        }
        return Part(range: part.range, isMoved: isMoved, bits: 0)
    }
}

extension WordSort {
    /// No word that is greater is among the first `minimum` ones of some; about as many are not.
    static func bound(_ minimum: Int, of words: UnsafeBufferPointer<UInt64>) -> UInt64 {
        var least = UInt64.max
        var greatest: UInt64 = 0
        for word in words {
            least = min(least, word)
            greatest = max(greatest, word)
        }
        guard least < greatest else { return greatest }
        let bits = 64 - (greatest - least).leadingZeroBitCount
        let bucketBits = min(12, 63 - words.count.leadingZeroBitCount)
        let shift = UInt64(max(0, bits - bucketBits))
        var counts = [Int](repeating: 0, count: 1 << bucketBits)
        for word in words { counts[Int(truncatingIfNeeded: (word &- least) >> shift)] += 1 }
        var bucket = 0
        var total = counts[0]
        while total < minimum, bucket + 1 < counts.count {
            bucket += 1
            total += counts[bucket]
        }
        // The last word of the bucket.
        let (end, overflows) = least.addingReportingOverflow(
            UInt64(bucket) << shift | (1 << shift - 1))
        return overflows ? .max : end
    }
}
