// One text against one needle. The kernels in `LeafFilter+Text` do whole columns; what they leave
// over (dictionary words, external values, rare operators) comes here.

import CKernels

enum TextMatch {
    /// Whether the test passes for a value that is not null.
    static func passes(
        _ value: UnsafeRawBufferPointer, _ op: TextOperator, _ needle: UnsafeRawBufferPointer,
        ignoreCase: Bool, isString: Bool
    ) -> Bool {
        guard ignoreCase else { return passes(value, op, needle, isString: isString) }
        var folded: [UInt8] = []
        folded.reserveCapacity(value.count + 1)
        CaseFolding.append(value, isString: isString, to: &folded)
        // An address also for the empty text.
        let count = folded.count
        folded.append(0)
        return folded.withUnsafeBytes {
            passes(
                UnsafeRawBufferPointer(rebasing: $0[..<count]), op, needle, isString: isString)
        }
    }

    private static func passes(
        _ value: UnsafeRawBufferPointer, _ op: TextOperator, _ needle: UnsafeRawBufferPointer,
        isString: Bool
    ) -> Bool {
        switch op {
        case .equal: return equal(value, needle)
        case .less: return compare(value, needle) < 0
        case .lessEqual: return compare(value, needle) <= 0
        case .beginsWith:
            return value.count >= needle.count
                && equal(UnsafeRawBufferPointer(rebasing: value[..<needle.count]), needle)
        case .endsWith:
            return value.count >= needle.count
                && equal(
                    UnsafeRawBufferPointer(rebasing: value[(value.count - needle.count)...]),
                    needle)
        case .contains: return contains(value, needle)
        case .like: return like(value, needle, isString: isString)
        }
    }

    @inline(__always)
    static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard let x = a.baseAddress, let y = b.baseAddress else { return true }
        return equalBytes(x, y, a.count)
    }

    @inline(__always)
    static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        guard let x = a.baseAddress, let y = b.baseAddress else { return a.count - b.count }
        return compareBytes(x, a.count, y, b.count)
    }

    private static func contains(
        _ value: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        if needle.isEmpty { return true }
        guard let x = value.baseAddress, let y = needle.baseAddress else { return false }
        return ck_contains(
            x.assumingMemoryBound(to: UInt8.self), value.count,
            y.assumingMemoryBound(to: UInt8.self), needle.count)
    }

    /// `*` is any run, `?` one scalar (in binary data one byte); the whole value must fit (S7).
    /// Goes back only to the last star, so the time is at most value times pattern.
    private static func like(
        _ value: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer, isString: Bool
    ) -> Bool {
        var v = 0
        var p = 0
        var starPattern = -1
        var starValue = 0
        while v < value.count {
            if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                starPattern = p
                starValue = v
                p += 1
            } else if p < pattern.count, pattern[p] == UInt8(ascii: "?") {
                v += scalarLength(value, v, isString)
                p += 1
            } else if p < pattern.count, pattern[p] == value[v] {
                v += 1
                p += 1
            } else if starPattern >= 0 {
                // The star takes one scalar more.
                starValue += scalarLength(value, starValue, isString)
                v = starValue
                p = starPattern + 1
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == UInt8(ascii: "*") { p += 1 }
        return p == pattern.count
    }

    @inline(__always)
    private static func scalarLength(
        _ value: UnsafeRawBufferPointer, _ offset: Int, _ isString: Bool
    ) -> Int {
        guard isString else { return 1 }
        var length = 1
        while offset + length < value.count, value[offset + length] & 0xC0 == 0x80 { length += 1 }
        return length
    }
}
