// Universally unique identifiers (RFC 4122) as values. Not called UUID, because programs that also
// import Foundation would have to say which of two types of that name they mean.

/// A 16-byte identifier; ordered bytewise.
public struct UUIDValue: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number.
    public let high: UInt64
    /// The last eight bytes as a big-endian number.
    public let low: UInt64

    @inline(__always) public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static let zero = UUIDValue(high: 0, low: 0)

    /// The UUID with these 16 bytes; throws `.invalidArgument` for another number of them.
    public init(bytes: [UInt8]) throws(RealmError) {
        guard bytes.count == 16 else {
            throw RealmError(.invalidArgument, "a UUID has 16 bytes, not \(bytes.count)")
        }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads 8-4-4-4-12 hexadecimal digits in either case; throws `.invalidArgument`.
    public init(parsing text: some StringProtocol) throws(RealmError) {
        guard let value = Self.parsed(Array(text.utf8)) else {
            throw RealmError(
                .invalidArgument,
                "\"\(text)\" is no UUID: that is 8-4-4-4-12 hexadecimal digits")
        }
        self = value
    }

    private static func parsed(_ text: [UInt8]) -> UUIDValue? {
        guard text.count == 36 else { return nil }
        var words: [UInt64] = [0, 0]
        var digits = 0
        for (index, byte) in text.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = HexText.digit(byte) else { return nil }
            words[digits / 16] = words[digits / 16] << 4 | UInt64(digit)
            digits += 1
        }
        return UUIDValue(high: words[0], low: words[1])
    }

    /// A random UUID: version 4.
    public static func random() -> UUIDValue {
        UUIDValue(
            high: UInt64.random(in: 0 ... .max) & ~0xF000 | 0x4000,
            low: UInt64.random(in: 0 ... .max) & ~(0b11 << 62) | 0b10 << 62)
    }

    public var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * $0)) }
    }

    public static func < (a: UUIDValue, b: UUIDValue) -> Bool {
        a.high != b.high ? a.high < b.high : a.low < b.low
    }
}

extension UUIDValue: CustomStringConvertible {
    /// 8-4-4-4-12 lower-case hexadecimal digits.
    public var description: String {
        let bytes = bytes
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            .map { HexText.text(bytes[$0]) }.joined(separator: "-")
    }
}
