// Memory of write transactions that is used again.

import Testing

@testable import CoreSwift

@Suite struct BlockPoolTests {
    @Test func `blocks are zeros, also in memory that others used before`() {
        BlockPool.beginSeries()
        defer { BlockPool.endSeries() }
        for round in 0..<3 {
            // More than stays, of all sizes that chunks have.
            var pool = BlockPool()
            var bytes = 0
            for number in 0..<4000 {
                let pages = [1, 4, 4, 5][number & 3]
                let count = pages * Page.size
                let block = pool.allocate(pages: pages)
                let read = UnsafeRawPointer(block)
                #expect(read.u64(0) | read.u64(count / 2) | read.u64(count - 8) == 0, "\(round)")
                block.initializeMemory(as: UInt8.self, repeating: 0xFF, count: count)
                if number & 15 == 3 { pool.deallocate(block, pages: pages) }
                bytes += count
            }
            #expect(bytes > 40 << 20)
            pool.deallocate()
        }
    }
}
