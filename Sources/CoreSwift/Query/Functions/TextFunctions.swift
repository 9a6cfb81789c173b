// Functions of texts (QUERY_RULES B7), independent of the locale. What is no text gives null.

enum TextFunctions {
    enum Case { case upper, lower }

    /// Full mapping: ß becomes SS.
    static func mapped(_ value: RawValue, _ target: Case, _ arena: TextArena) -> RawValue {
        guard value.type == ValueType.string.rawValue, !value.isNull else { return .null }
        let text = value.bytes
        if TextMatch.isASCII(text) {
            let result = arena.reserve(text.count)
            let first: UInt8 = target == .upper ? 0x61 : 0x41
            for (offset, byte) in text.enumerated() {
                result.storeBytes(
                    of: byte &- first < 26 ? byte ^ 0x20 : byte, toByteOffset: offset,
                    as: UInt8.self)
            }
            return .string(result, text.count)
        }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var offset = 0
        while let start = text.baseAddress, offset < text.count {
            let (scalar, length) = UTF8Scalars.decode(start, offset, text.count)
            if let scalar, let letter = Unicode.Scalar(scalar) {
                let properties = letter.properties
                result.append(
                    contentsOf: target == .upper
                        ? properties.uppercaseMapping.utf8 : properties.lowercaseMapping.utf8)
            } else {
                result.append(text[offset])
            }
            offset &+= length
        }
        return result.withUnsafeBytes { arena.string($0) }
    }

    /// Without the blanks of Unicode (White_Space) at both ends; the same memory.
    static func trimmed(_ value: RawValue) -> RawValue {
        guard value.type == ValueType.string.rawValue, !value.isNull,
            let start = value.bytes.baseAddress
        else { return .null }
        let text = value.bytes
        var first = 0
        while first < text.count {
            let (scalar, length) = UTF8Scalars.decode(start, first, text.count)
            guard let scalar, isBlank(scalar) else { break }
            first &+= length
        }
        var end = text.count
        while end > first {
            var last = end &- 1
            while last > first, text[last] & 0xC0 == 0x80 { last &-= 1 }
            let (scalar, length) = UTF8Scalars.decode(start, last, end)
            guard let scalar, isBlank(scalar), last &+ length == end else { break }
            end = last
        }
        return .string(start + first, end &- first)
    }

    private static func isBlank(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F,
            0x205F, 0x3000:
            return true
        default: return false
        }
    }

    /// Scalars of a string, bytes of binary data.
    static func length(_ value: RawValue) -> RawValue {
        if value.isNull { return .null }
        switch ValueType(rawValue: value.type) {
        case .binary: return .int(Int64(value.bytes.count))
        case .string:
            var count: Int64 = 0
            for byte in value.bytes where byte & 0xC0 != 0x80 { count &+= 1 }
            return .int(count)
        default: return .null
        }
    }
}
