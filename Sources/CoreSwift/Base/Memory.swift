// `memcpy` and its like under their C names: the engine does not import Glibc above `File`.

import CKernels

@inline(__always)
func memcpy(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ count: Int) {
    ck_memcpy(target, source, count)
}

@inline(__always)
func memmove(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ count: Int) {
    ck_memmove(target, source, count)
}

@inline(__always)
func memset(_ target: UnsafeMutableRawPointer, _ byte: UInt8, _ count: Int) {
    ck_memset(target, Int32(byte), count)
}

extension UnsafeMutablePointer {
    /// Memory with room for `capacity` elements, and the first `count` of this, which ends.
    func grown(_ count: Int, to capacity: Int) -> UnsafeMutablePointer {
        let larger = UnsafeMutablePointer.allocate(capacity: capacity)
        larger.moveInitialize(from: self, count: count)
        deallocate()
        return larger
    }
}

/// Order of byte strings: unsigned bytes, then length.
@inline(__always)
func compareBytes(
    _ a: UnsafeRawPointer, _ aCount: Int, _ b: UnsafeRawPointer, _ bCount: Int
) -> Int {
    let order = ck_memcmp(a, b, min(aCount, bCount))
    return order != 0 ? Int(order) : aCount &- bCount
}

@inline(__always)
func equalBytes(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
    ck_memcmp(a, b, count) == 0
}

/// How many of the first `count` bytes are the same.
@inline(__always)
func sharedBytes(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
    var place = 0
    while place &+ 8 <= count {
        let difference = a.u64(place) ^ b.u64(place)
        if difference != 0 { return place &+ difference.trailingZeroBitCount >> 3 }
        place &+= 8
    }
    if place == count { return count }
    if count >= 8 {
        // The last eight, the first of which are the same.
        let difference = a.u64(count &- 8) ^ b.u64(count &- 8)
        return difference == 0 ? count : count &- 8 &+ difference.trailingZeroBitCount >> 3
    }
    while place < count, a.u8(place) == b.u8(place) { place &+= 1 }
    return place
}
