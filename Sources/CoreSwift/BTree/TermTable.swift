// The distinct byte strings of the waiting changes of an index, each with a number. A text index
// meets the same words over and over: a change names its word by number and takes 16 bytes.
//
// Used by `IndexPending` alone.

import CKernels

struct TermTable {
    private struct Term {
        var offset: Int
        var count: Int32
        var hash: UInt32
    }
    private var terms: UnsafeMutablePointer<Term>?
    private(set) var count = 0
    private var capacity = 0
    private var heap: UnsafeMutableRawPointer?
    private var heapUsed = 0
    private var heapCapacity = 0
    /// Open addressing: numbers + 1, at most half full.
    private var table: UnsafeMutablePointer<UInt32>?
    private var tableCount = 0

    func deallocate() {
        terms?.deallocate()
        heap?.deallocate()
        table?.deallocate()
    }

    /// The bytes of a term.
    @inline(__always)
    func bytes(_ number: Int) -> UnsafeRawBufferPointer {
        let term = terms.unsafelyUnwrapped[number]
        return UnsafeRawBufferPointer(
            start: heap.unsafelyUnwrapped + term.offset, count: Int(term.count))
    }

    /// The number of a term, which is added if need be.
    mutating func number(_ start: UnsafeRawPointer, _ length: Int) -> UInt64 {
        if count &* 2 >= tableCount { growTable() }
        let hash = UInt32(truncatingIfNeeded: ByteHash.of(start, length))
        let table = table.unsafelyUnwrapped
        let mask = tableCount &- 1
        var place = Int(hash) & mask
        while table[place] != 0 {
            let term = terms.unsafelyUnwrapped[Int(table[place]) &- 1]
            if term.hash == hash, Int(term.count) == length,
                equalBytes(heap.unsafelyUnwrapped + term.offset, start, length)
            {
                return UInt64(table[place]) &- 1
            }
            place = (place &+ 1) & mask
        }
        add(start, length, hash)
        table[place] = UInt32(count)
        return UInt64(count) &- 1
    }

    private mutating func add(_ start: UnsafeRawPointer, _ length: Int, _ hash: UInt32) {
        if count == capacity {
            capacity = max(256, capacity * 2)
            terms = terms?.grown(count, to: capacity) ?? .allocate(capacity: capacity)
        }
        if heapUsed + length > heapCapacity {
            heapCapacity = max(4096, (heapUsed + length) * 2)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity, alignment: 16)
            if let heap {
                memcpy(larger, heap, heapUsed)
                heap.deallocate()
            }
            heap = larger
        }
        memcpy(heap.unsafelyUnwrapped + heapUsed, start, length)
        terms.unsafelyUnwrapped[count] = Term(offset: heapUsed, count: Int32(length), hash: hash)
        heapUsed += length
        count += 1
    }

    private mutating func growTable() {
        table?.deallocate()
        tableCount = max(1024, tableCount * 2)
        let fresh = UnsafeMutablePointer<UInt32>.allocate(capacity: tableCount)
        fresh.initialize(repeating: 0, count: tableCount)
        table = fresh
        fillTable()
    }

    private func fillTable() {
        guard let table, let terms else { return }
        let mask = tableCount - 1
        for number in 0..<count {
            var place = Int(terms[number].hash) & mask
            while table[place] != 0 { place = (place &+ 1) & mask }
            table[place] = UInt32(number + 1)
        }
    }

    // MARK: Order

    /// Numbers the terms anew in the order of their bytes; calls `body` with the new numbers by
    /// old ones.
    mutating func sort(_ body: (UnsafePointer<UInt32>) -> Void) {
        guard let terms, let heap, let table else { return }
        let items = UnsafeMutablePointer<RadixItem>.allocate(capacity: count * 2)
        let sorted = UnsafeMutablePointer<Term>.allocate(capacity: capacity)
        let numbers = UnsafeMutablePointer<UInt32>.allocate(capacity: max(count, 1))
        defer {
            items.deallocate()
            numbers.deallocate()
        }
        for number in 0..<count {
            let term = terms[number]
            items[number] = RadixItem(
                key: UnsafeRawPointer(heap + term.offset).prefix(Int(term.count)),
                payload: UInt64(number))
        }
        RadixSort.sort(items, items + count, count)
        settleTies(items)
        for place in 0..<count {
            let number = Int(items[place].payload)
            sorted[place] = terms[number]
            numbers[number] = UInt32(place)
        }
        terms.deallocate()
        self.terms = sorted
        table.update(repeating: 0, count: tableCount)
        fillTable()
        body(numbers)
    }

    /// Sorts runs that begin with the same eight bytes.
    private func settleTies(_ items: UnsafeMutablePointer<RadixItem>) {
        var start = 0
        while start < count {
            var end = start + 1
            while end < count && items[end].key == items[start].key { end += 1 }
            if end - start > 1 {
                var run = UnsafeMutableBufferPointer(start: items + start, count: end - start)
                run.sort { a, b in
                    let first = bytes(Int(a.payload))
                    let second = bytes(Int(b.payload))
                    return compareBytes(
                        first.baseAddress.unsafelyUnwrapped, first.count,
                        second.baseAddress.unsafelyUnwrapped, second.count) < 0
                }
            }
            start = end
        }
    }
}
