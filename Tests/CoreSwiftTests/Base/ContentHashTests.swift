import Testing

@testable import CoreSwift

@Suite struct ContentHashTests {
    @Test func everyFlippedBitChangesTheHash() {
        let size = 4096
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        defer { block.deallocate() }
        for i in 0..<size { block.put(UInt8(truncatingIfNeeded: i &* 31), i) }
        let clean = ContentHash.of(block, count: size, seed0: 1, seed1: 2)
        for byte in 0..<size {
            for bit in 0..<8 {
                block.put(UnsafeRawPointer(block).u8(byte) ^ UInt8(1 << bit), byte)
                let dirty = ContentHash.of(block, count: size, seed0: 1, seed1: 2)
                #expect(dirty.low != clean.low && dirty.high != clean.high)
                block.put(UnsafeRawPointer(block).u8(byte) ^ UInt8(1 << bit), byte)
            }
        }
    }
}
