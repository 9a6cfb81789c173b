// Sorting of packed codes: stable, small ranges by insertion, large ones by radix.

import CKernels

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
        inHalves(range) { part in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 1024) { buffer in
                guard let dense = buffer.baseAddress else { return }
                for start in stride(from: part.lowerBound, to: part.upperBound, by: 1024) {
                    let count = min(1024, part.upperBound - start)
                    dense.initialize(repeating: 0, count: count)
                    ck_append_bits(dense, codes + start, count, 0, mask, false)
                    (codes + start).update(from: dense, count: count)
                }
            }
        }
        return left
    }
}
