// Object ids: 12 bytes that are unique without asking anybody, and ascend with time.
//
//   offset  size  content
//        0     4  seconds since 1970-01-01 UTC, big-endian
//        4     5  a random number of the process
//        9     3  a counter that starts at a random number, big-endian

import CKernels

/// A 12-byte identifier; ordered bytewise.
public struct ObjectId: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number.
    public let high: UInt64
    /// The last four bytes as a big-endian number.
    public let low: UInt32

    @inline(__always) public init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    public static let zero = ObjectId(high: 0, low: 0)

    /// The id with these 12 bytes; throws `.invalidArgument` for another number of them.
    public init(bytes: [UInt8]) throws(RealmError) {
        guard bytes.count == 12 else {
            throw RealmError(.invalidArgument, "an object id has 12 bytes, not \(bytes.count)")
        }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The id that 24 hexadecimal digits spell; throws `.invalidArgument`.
    public init(parsing text: some StringProtocol) throws(RealmError) {
        guard let digits = HexText.digits(Array(text.utf8)), digits.count == 24 else {
            throw RealmError(
                .invalidArgument, "\"\(text)\" is no object id: that is 24 hexadecimal digits")
        }
        high = digits[..<16].reduce(0) { $0 << 4 | UInt64($1) }
        low = digits[16...].reduce(0) { $0 << 4 | UInt32($1) }
    }

    public var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * $0)) }
            + (0..<4).map { UInt8(truncatingIfNeeded: low >> UInt32(24 - 8 * $0)) }
    }

    /// When the id was made: seconds since 1970-01-01 UTC.
    public var seconds: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }

    public static func < (a: ObjectId, b: ObjectId) -> Bool {
        a.high != b.high ? a.high < b.high : a.low < b.low
    }

    // MARK: Making

    private static let processRandom = UInt64.random(in: 0..<1 << 40)
    private static let lock = Lock()
    private nonisolated(unsafe) static var counter = UInt32.random(in: 0..<1 << 24)

    /// A new id, different from every other: of this second, process and count.
    public static func generate() -> ObjectId { generate(seconds: ck_unix_seconds()) }

    /// A new id as if it were made `seconds` after 1970-01-01 UTC.
    public static func generate(seconds: UInt32) -> ObjectId {
        let count = lock.withLock { () -> UInt32 in
            counter = (counter &+ 1) & 0xFF_FFFF
            return counter
        }
        let random = processRandom
        return ObjectId(
            high: UInt64(seconds) << 32 | random >> 8,
            low: UInt32(truncatingIfNeeded: random & 0xFF) << 24 | count)
    }
}

extension ObjectId: CustomStringConvertible {
    /// 24 lower-case hexadecimal digits.
    public var description: String { HexText.text(bytes) }
}

package enum HexText {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The values of hexadecimal digits in either case; nil if something else is among them.
    package static func digits(_ text: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        for byte in text {
            guard let digit = digit(byte) else { return nil }
            result.append(digit)
        }
        return result
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
