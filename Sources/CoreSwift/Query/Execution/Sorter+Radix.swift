// Sorting of packed codes: stable, small ranges by insertion, large ones by radix.

extension Sorter {
    private static let digitBits = 11
    private static let digits = 1 << digitBits

    mutating func sortCodes(_ range: Range<Int>, _ bits: Int) {
        switch range.count {
        case ...32: insert(range)
        case ...2048: compare(range)
        default: distribute(range, dense(range, bits))
        }
    }

    private func insert(_ range: Range<Int>) {
        let start = range.lowerBound
        for index in start + 1..<range.upperBound {
            let code = codes[index]
            let element = order[index]
            var hole = index
            while hole > start, codes[hole - 1] > code {
                codes[hole] = codes[hole - 1]
                order[hole] = order[hole - 1]
                hole -= 1
            }
            codes[hole] = code
            order[hole] = element
        }
    }

    private func compare(_ range: Range<Int>) {
        let start = range.lowerBound
        let sorted = range.sorted { codes[$0] != codes[$1] ? codes[$0] < codes[$1] : $0 < $1 }
        for (offset, index) in sorted.enumerated() {
            otherCodes[start + offset] = codes[index]
            otherOrder[start + offset] = order[index]
        }
        (codes + start).update(from: otherCodes + start, count: range.count)
        (order + start).update(from: otherOrder + start, count: range.count)
    }

    /// From the least significant digit on. Both halves of the range are counted, and then moved, at the
    /// same time: equal digits of the second half go behind those of the first.
    private mutating func distribute(_ range: Range<Int>, _ bits: Int) {
        let places = UnsafeMutablePointer<UInt32>.allocate(capacity: 2 * Self.digits)
        defer { places.deallocate() }
        var isSwapped = false
        for shift in stride(from: 0, to: bits, by: Self.digitBits) {
            let moved =
                isSwapped
                ? pass(
                    range, (otherCodes, otherOrder), (codes, order), UInt64(shift), places)
                : pass(range, (codes, order), (otherCodes, otherOrder), UInt64(shift), places)
            if moved { isSwapped.toggle() }
        }
        guard isSwapped else { return }
        // Parts of the work have copies of the pointers.
        if usesTwoCores, range.count == count {
            swap(&codes, &otherCodes)
            swap(&order, &otherOrder)
            return
        }
        let start = range.lowerBound
        (codes + start).update(from: otherCodes + start, count: range.count)
        (order + start).update(from: otherOrder + start, count: range.count)
    }

    private typealias Elements = (
        codes: UnsafeMutablePointer<UInt64>, order: UnsafeMutablePointer<UInt32>
    )

    /// False when all digits are equal and nothing was moved.
    private func pass(
        _ range: Range<Int>, _ from: Elements, _ to: Elements, _ shift: UInt64,
        _ places: UnsafeMutablePointer<UInt32>
    ) -> Bool {
        let mask = UInt64(Self.digits - 1)
        places.initialize(repeating: 0, count: 2 * Self.digits)
        /// The places of the half that begins with an element.
        func half(_ part: Range<Int>) -> UnsafeMutablePointer<UInt32> {
            part.lowerBound == range.lowerBound ? places : places + Self.digits
        }
        inHalves(range) { part in
            let places = half(part)
            for index in part {
                places[Int(truncatingIfNeeded: from.codes[index] >> shift & mask)] &+= 1
            }
        }
        let some = Int(truncatingIfNeeded: from.codes[range.lowerBound] >> shift & mask)
        if Int(places[some]) + Int(places[some + Self.digits]) == range.count { return false }
        var place = UInt32(truncatingIfNeeded: range.lowerBound)
        for digit in 0..<Self.digits {
            for half in [places + digit, places + digit + Self.digits] {
                let count = half.pointee
                half.pointee = place
                place &+= count
            }
        }
        inHalves(range) { part in
            let places = half(part)
            for index in part {
                let code = from.codes[index]
                let digit = Int(truncatingIfNeeded: code >> shift & mask)
                let place = Int(places[digit])
                places[digit] &+= 1
                to.codes[place] = code
                to.order[place] = from.order[index]
            }
        }
        return true
    }

    // MARK: Dense codes

    /// Takes the bits out of the codes that are the same in all of them, if that spares a pass; returns
    /// how many bits are left. Digits, say, differ in four bits of eight.
    private func dense(_ range: Range<Int>, _ bits: Int) -> Int {
        if range.isEmpty || bits <= Self.digitBits { return bits }
        let codes = codes
        let first = codes[range.lowerBound]
        let mask = inHalves(
            range,
            { part in
                var differing: UInt64 = 0
                for index in part { differing |= codes[index] ^ first }
                return differing
            }, |)
        let left = mask.nonzeroBitCount
        let passes = { (bits: Int) in (bits + Self.digitBits - 1) / Self.digitBits }
        if passes(left) >= passes(bits) { return bits }
        let steps = Self.steps(mask)
        inHalves(range) { part in
            // A piece at a time, which stays in the cache for all steps.
            for start in stride(from: part.lowerBound, to: part.upperBound, by: 1024) {
                let piece = start..<min(start + 1024, part.upperBound)
                for index in piece { codes[index] &= mask }
                for (shift, moved) in steps {
                    for index in piece {
                        let bits = codes[index] & moved
                        codes[index] = codes[index] ^ bits | bits >> shift
                    }
                }
            }
        }
        return left
    }

    /// How to move the bits of a mask together at the lower end: those in `moved` go down by `shift`, for one
    /// power of two after another. A bit goes down by as many places as the mask has zeros below it; which have an
    /// odd number of them, the parities of all prefixes say (Warren, Hacker's Delight, "Compress, or generalized extract").
    private static func steps(_ mask: UInt64) -> [(shift: UInt64, moved: UInt64)] {
        var result: [(shift: UInt64, moved: UInt64)] = []
        var mask = mask
        var zeros = ~mask << 1
        for power in 0..<6 {
            var parity = zeros
            for distance in [1, 2, 4, 8, 16, 32] as [UInt64] { parity ^= parity << distance }
            let moved = parity & mask
            let shift = UInt64(1) << UInt64(power)
            if moved != 0 { result.append((shift, moved)) }
            mask = mask ^ moved | moved >> shift
            zeros &= ~parity
        }
        return result
    }
}
