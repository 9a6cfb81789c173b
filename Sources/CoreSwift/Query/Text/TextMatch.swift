// Texts against texts as bytes, which is what comparisons without options are (QUERY_RULES S2), and what
// those with options come down to once both sides are folded. Also the operators of text tests.

import CKernels

enum TextOperator: UInt8 {
    case equal, less, lessEqual, beginsWith, endsWith, contains, like, matches

    /// What a comparison asks of two texts, or the opposite of that (`isOpposite`).
    init(_ op: ComparisonOperator) {
        switch op {
        case .less, .greaterEqual: self = .less
        case .lessEqual, .greater: self = .lessEqual
        case .beginsWith: self = .beginsWith
        case .endsWith: self = .endsWith
        case .contains: self = .contains
        case .like: self = .like
        case .matches: self = .matches
        case .equal, .notEqual, .inList, .text: self = .equal
        }
    }
}

extension ComparisonOperator {
    /// It holds for texts where their `TextOperator` does not.
    var isOpposite: Bool { self == .notEqual || self == .greater || self == .greaterEqual }
}

enum TextMatch {
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

    static func contains(
        _ value: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer
    ) -> Bool {
        if needle.isEmpty { return true }
        guard let x = value.baseAddress, let y = needle.baseAddress else { return false }
        return ck_contains(
            x.assumingMemoryBound(to: UInt8.self), value.count,
            y.assumingMemoryBound(to: UInt8.self), needle.count)
    }

    @inline(__always)
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        return ck_is_ascii(start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// All operators but LIKE and MATCHES, byte by byte.
    @inline(__always)
    static func passes(
        _ value: UnsafeRawBufferPointer, _ op: TextOperator, _ needle: UnsafeRawBufferPointer
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
        case .like, .matches: return false
        }
    }
}
