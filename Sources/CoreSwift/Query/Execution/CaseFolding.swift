// Letters without case: ASCII at once, others through the simple one-to-one mappings of Unicode
// (QUERY S9). The folded form of a needle is made once, when the query is bound.

import CKernels

enum CaseFolding {
    @inline(__always) static func lower(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    @inline(__always) static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        return ck_is_ascii(start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The folded form of a constant. Binary data fold ASCII letters only (S11).
    static func folded(_ bytes: [UInt8], isString: Bool) -> [UInt8] {
        bytes.withUnsafeBytes { buffer in
            var result: [UInt8] = []
            append(buffer, isString: isString, to: &result)
            return result
        }
    }

    /// Appends the folded form of a text.
    static func append(
        _ bytes: UnsafeRawBufferPointer, isString: Bool, to result: inout [UInt8]
    ) {
        if !isString || isASCII(bytes) {
            for byte in bytes { result.append(lower(byte)) }
            return
        }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            result.append(contentsOf: String(folded(scalar)).utf8)
        }
    }

    /// The lower-case letter of a scalar, where that is one scalar.
    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.value < 0x80 { return Unicode.Scalar(lower(UInt8(scalar.value))) }
        let mapping = scalar.properties.lowercaseMapping.unicodeScalars
        guard let first = mapping.first, mapping.count == 1 else { return scalar }
        return first
    }
}
