// Comparing bytes as files order them: in tests, which are not optimised, the standard library takes a hundred
// times as long.

@testable import CoreSwift

extension Array where Element == UInt8 {
    func precedes(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { a in other.withUnsafeBytes { b in a.order(b) < 0 } }
    }
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes { $0.order(other) == 0 }
    }
    func isSame(as other: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[offset..<offset + other.count]).order(other) == 0
        }
    }
}

extension String {
    /// By the bytes of UTF-8: less than, equal to or greater than zero.
    func order(_ other: String) -> Int {
        var (a, b) = (self, other)
        return a.withUTF8 { a in
            b.withUTF8 { b in UnsafeRawBufferPointer(a).order(UnsafeRawBufferPointer(b)) }
        }
    }
    func precedes(_ other: String) -> Bool { order(other) < 0 }
}

extension UnsafeRawBufferPointer {
    fileprivate func order(_ other: UnsafeRawBufferPointer) -> Int {
        for place in 0..<Swift.min(count, other.count) where self[place] != other[place] {
            return self[place] < other[place] ? -1 : 1
        }
        return count - other.count
    }
}
