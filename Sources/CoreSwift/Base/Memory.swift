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
