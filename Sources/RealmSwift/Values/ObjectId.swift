// Object ids: twelve bytes that name an object, the first four of them a time.

import CoreSwift
public import Foundation

/// A 12-byte identifier that is unique without a server: seconds since 1970, five bytes of the process,
/// and a counter.
public struct ObjectId: Hashable, Comparable, Sendable, CustomStringConvertible,
    LosslessStringConvertible
{
    let core: EngineObjectId

    init(_ core: EngineObjectId) { self.core = core }

    /// The id of twelve zero bytes.
    public init() { core = .zero }

    /// A new id that no other is equal to.
    public static func generate() -> ObjectId { ObjectId(.generate()) }

    /// From 24 hexadecimal digits.
    ///
    /// - Throws: `Realm.Error` with the code `invalidInput` for any other text.
    public init(string: String) throws {
        core = try asRealmError(nil, try EngineObjectId(parsing: string))
    }

    /// From 24 hexadecimal digits that are written in the program.
    public init(_ string: StaticString) {
        do {
            try self.init(string: "\(string)")
        } catch {
            misuse("Invalid Object ID string '\(string)': must be 24 hex digits")
        }
    }

    /// From 24 hexadecimal digits; nil for any other text.
    @_disfavoredOverload
    public init?(_ description: String) {
        guard let core = try? EngineObjectId(parsing: description) else { return nil }
        self.core = core
    }

    /// From a time and two numbers; the rest comes from a counter.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        let seconds = UInt32(clamping: Int64(timestamp.timeIntervalSince1970))
        let made = EngineObjectId.generate(seconds: seconds)
        let machine = UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF
        let process = UInt64(truncatingIfNeeded: processId) & 0xFFFF
        // Four bytes of time, three of the machine, two of the process, three of the counter.
        let high = UInt64(seconds) << 32 | machine << 8 | process >> 8
        let low = UInt32(truncatingIfNeeded: process & 0xFF) << 24 | made.low & 0xFF_FFFF
        core = EngineObjectId(high: high, low: low)
    }

    /// The 24 hexadecimal digits.
    public var stringValue: String { core.description }
    /// The time in the first four bytes.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(core.seconds)) }
    public var description: String { stringValue }

    public static func < (a: ObjectId, b: ObjectId) -> Bool { a.core < b.core }
}

extension ObjectId: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(string: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}
