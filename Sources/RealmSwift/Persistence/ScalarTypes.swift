// The scalar types of properties: numbers, text, bytes, dates, identifiers. Reads and writes of the
// small ones are inlined into the program down to the one call into the engine.

public import CoreSwift
public import Foundation

/// A type that is stored as one value without a class behind it.
public protocol _RealmScalar:
    _RealmCollectionValueInsideOptional, Sendable
where PersistedType == Self {
    static var _rlmType: PropertyType { get }
    static func _rlmRead(_ raw: RawValue) -> Self
}

extension _RealmScalar {
    public static var _rlmShape: _PropertyShape { _PropertyShape(type: _rlmType.engineType) }
    @inlinable @inline(__always)
    public static func _rlmFrom(_ raw: RawValue, _ session: _RealmSession) -> Self {
        _rlmRead(raw)
    }
    // Without the session, to which a reference would be counted.
    @inlinable @inline(__always)
    public static func _rlmGet(_ object: ObjectBase, _ key: Int64) -> Self {
        _rlmRead(object._rlmRead(key))
    }
}

/// Values that are one word of the file's form.
public protocol _RealmWord: _RealmScalar {
    var _rlmWord: UInt64 { get }
    /// The number of the type in the file's form.
    static var _rlmTag: UInt32 { get }
}

extension _RealmWord {
    @inlinable @inline(__always)
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self) {
        object._rlmWriteWord(key, value._rlmWord, _rlmTag)
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        var raw = RawValue.null
        raw.word0 = _rlmWord
        raw.type = Self._rlmTag
        return body(raw)
    }
}

/// The number of something of any type that holds an exact integer. Truth values are none.
func integer(_ value: Any) -> Int64? {
    if type(of: value) == Int.self { return (value as? Int).map { Int64($0) } }
    guard let value = unwrapped(value) else { return nil }
    if let number = foundationNumber(value) {
        if number.isTruthValue { return nil }
        return number.isBroken ? Int64(exactly: number.doubleValue) : number.int64Value
    }
    switch value {
    case let number as any BinaryInteger: return Int64(exactly: number)
    case let number as Double: return Int64(exactly: number)
    case let number as Float: return Int64(exactly: number)
    default: return nil
    }
}

/// The number of something of any type that holds one.
func number(_ value: Any) -> Double? {
    if type(of: value) == Double.self { return value as? Double }
    guard let value = unwrapped(value) else { return nil }
    if let number = foundationNumber(value) {
        return number.isTruthValue ? nil : number.doubleValue
    }
    switch value {
    case let number as Double: return number
    case let number as Float: return Double(number)
    case let number as any BinaryInteger: return Double(exactly: number)
    default: return nil
    }
}

/// The truth value of something of any type that holds one, or 0 or 1 in Foundation's form.
func truthValue(_ value: Any) -> Bool? {
    if type(of: value) == Bool.self { return value as? Bool }
    guard let value = unwrapped(value) else { return nil }
    if let number = foundationNumber(value) {
        return number.doubleValue == 0 || number.doubleValue == 1 ? number.boolValue : nil
    }
    return value as? Bool
}

/// `as?` makes an `NSNumber` of Swift's numbers, too: the type itself decides.
private func foundationNumber(_ value: Any) -> NSNumber? {
    type(of: value) is NSNumber.Type ? value as? NSNumber : nil
}

extension NSNumber {
    /// What it was made of decides: B and c are truth values, f and d numbers with a fraction.
    fileprivate var typeLetter: String { String(cString: objCType) }
    fileprivate var isTruthValue: Bool { typeLetter == "B" || typeLetter == "c" }
    fileprivate var isBroken: Bool { typeLetter == "d" || typeLetter == "f" }
}

/// The integers that a column of 64 bits holds; smaller ones keep their low bits of what others wrote there.
public protocol _RealmInteger:
    _RealmScalar, FixedWidthInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType,
    _QueryNumeric
{}

extension _RealmInteger {
    public static var _rlmType: PropertyType { .int }
    public static func _rlmDefaultValue() -> Self { 0 }
    @inlinable @inline(__always)
    public static func _rlmRead(_ raw: RawValue) -> Self {
        Self(truncatingIfNeeded: raw.word0)
    }
    @inlinable @inline(__always)
    public static func _rlmSet(_ object: ObjectBase, _ key: Int64, _ value: Self) {
        object._rlmWriteInt(key, Int64(value))
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        body(.int(Int64(self)))
    }
    public static func _rlmConvert(_ value: Any) -> Self? {
        integer(value).flatMap { Self(exactly: $0) }
    }
}

extension Int: _RealmInteger { public typealias PersistedType = Int }
extension Int8: _RealmInteger { public typealias PersistedType = Int8 }
extension Int16: _RealmInteger { public typealias PersistedType = Int16 }
extension Int32: _RealmInteger { public typealias PersistedType = Int32 }
extension Int64: _RealmInteger { public typealias PersistedType = Int64 }

extension Bool: _RealmWord, _Indexable, SortableType {
    public typealias PersistedType = Bool

    public static var _rlmType: PropertyType { .bool }
    public static func _rlmDefaultValue() -> Bool { false }
    public static func _rlmConvert(_ value: Any) -> Bool? { truthValue(value) }
    @inlinable @inline(__always)
    public static func _rlmRead(_ raw: RawValue) -> Bool {
        raw.word0 & 0xFF != 0
    }
    @inlinable public var _rlmWord: UInt64 { self ? 1 : 0 }
    @inlinable public static var _rlmTag: UInt32 { 2 }
}

extension Float: _RealmWord, MinMaxType, AddableType, SortableType, _QueryNumeric {
    public typealias PersistedType = Float

    public static var _rlmType: PropertyType { .float }
    public static func _rlmDefaultValue() -> Float { 0 }
    public static func _rlmConvert(_ value: Any) -> Float? { number(value).map { Float($0) } }
    @inlinable @inline(__always)
    public static func _rlmRead(_ raw: RawValue) -> Float {
        Float(bitPattern: UInt32(truncatingIfNeeded: raw.word0))
    }
    @inlinable public var _rlmWord: UInt64 { UInt64(bitPattern) }
    @inlinable public static var _rlmTag: UInt32 { 6 }
}

extension Double: _RealmWord, MinMaxType, AddableType, SortableType, _QueryNumeric {
    public typealias PersistedType = Double

    public static var _rlmType: PropertyType { .double }
    public static func _rlmDefaultValue() -> Double { 0 }
    public static func _rlmConvert(_ value: Any) -> Double? { number(value) }
    @inlinable @inline(__always)
    public static func _rlmRead(_ raw: RawValue) -> Double {
        Double(bitPattern: raw.word0)
    }
    @inlinable public var _rlmWord: UInt64 { bitPattern }
    @inlinable public static var _rlmTag: UInt32 { 7 }
}

extension String: _RealmScalar, _PrimaryKey, _Indexable, SortableType, _QueryString, _QueryBinary,
    _MapKey
{
    public typealias PersistedType = String

    public static var _rlmType: PropertyType { .string }
    public static func _rlmDefaultValue() -> String { "" }
    public static func _rlmRead(_ raw: RawValue) -> String {
        String(decoding: raw.bytes, as: UTF8.self)
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        var text = self
        return text.withUTF8 { bytes in
            body(.string(UnsafeRawPointer(bytes.baseAddress ?? somewhere), bytes.count))
        }
    }
    public static func _rlmConvert(_ value: Any) -> String? {
        (unwrapped(value) as? String) ?? (unwrapped(value) as? NSString).map { $0 as String }
    }
}

extension Data: _RealmScalar, SortableType, _QueryBinary {
    public typealias PersistedType = Data

    public static var _rlmType: PropertyType { .data }
    public static func _rlmDefaultValue() -> Data { Data() }
    public static func _rlmRead(_ raw: RawValue) -> Data { Data(raw.bytes) }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        withUnsafeBytes { bytes in
            body(.binary(bytes.baseAddress ?? UnsafeRawPointer(somewhere), bytes.count))
        }
    }
    public static func _rlmConvert(_ value: Any) -> Data? {
        (unwrapped(value) as? Data) ?? (unwrapped(value) as? NSData).map { $0 as Data }
    }
}

extension Date: _RealmScalar, _Indexable, MinMaxType, SortableType, _QueryNumeric {
    public typealias PersistedType = Date

    public static var _rlmType: PropertyType { .date }
    public static func _rlmDefaultValue() -> Date { Date(timeIntervalSince1970: 0) }
    public static func _rlmRead(_ raw: RawValue) -> Date {
        Date(
            timeIntervalSinceReferenceDate: Double(raw.seconds - Self.referenceSeconds)
                + Double(raw.nanoseconds) / 1e9)
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R { withRawValue(body) }

    func withRawValue<R>(_ body: (RawValue) -> R) -> R {
        let time = timeIntervalSinceReferenceDate
        guard time.isFinite, abs(time) < 9e15 else {
            misuse("Invalid value '\(time) s' of type 'Date': it is no point in time")
        }
        // Whole seconds towards zero of 1970, so that both parts have the same sign.
        let whole = time.rounded(.down)
        var seconds = Int64(whole) + Self.referenceSeconds
        var nanoseconds = Int64(((time - whole) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (seconds, nanoseconds) = (seconds + 1, 0) }
        if seconds < 0, nanoseconds > 0 {
            (seconds, nanoseconds) = (seconds + 1, nanoseconds - 1_000_000_000)
        }
        return body(.timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
    }
    public static func _rlmConvert(_ value: Any) -> Date? {
        (unwrapped(value) as? Date) ?? (unwrapped(value) as? NSDate).map { $0 as Date }
    }

    /// From 1970 to the reference date of Foundation, 2001.
    private static var referenceSeconds: Int64 { 978_307_200 }
}

extension UUID: _RealmScalar, _PrimaryKey, _Indexable, SortableType {
    public typealias PersistedType = UUID

    public static var _rlmType: PropertyType { .UUID }
    public static func _rlmDefaultValue() -> UUID { UUID() }
    public static func _rlmRead(_ raw: RawValue) -> UUID {
        withUnsafeBytes(of: (raw.word0, raw.word1)) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R { withRawValue(body) }

    func withRawValue<R>(_ body: (RawValue) -> R) -> R {
        let words = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: (UInt64, UInt64).self) }
        return body(RawValue(word0: words.0, word1: words.1, type: .uuid))
    }
    public static func _rlmConvert(_ value: Any) -> UUID? {
        (unwrapped(value) as? UUID) ?? (unwrapped(value) as? NSUUID).map { $0 as UUID }
    }
}

extension ObjectId: _RealmScalar, _PrimaryKey, _Indexable, SortableType {
    public typealias PersistedType = ObjectId

    public static var _rlmType: PropertyType { .objectId }
    public static func _rlmDefaultValue() -> ObjectId { ObjectId.generate() }
    public static func _rlmRead(_ raw: RawValue) -> ObjectId { ObjectId(raw.objectIdValue) }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        body(.objectId(core))
    }
    public static func _rlmConvert(_ value: Any) -> ObjectId? {
        unwrapped(value) as? ObjectId
    }
}

extension Decimal128: _RealmScalar, MinMaxType, AddableType, SortableType, _QueryNumeric {
    public typealias PersistedType = Decimal128

    public static var _rlmType: PropertyType { .decimal128 }
    public static func _rlmDefaultValue() -> Decimal128 { Decimal128() }
    public static func _rlmRead(_ raw: RawValue) -> Decimal128 { Decimal128(raw.decimalValue) }
    public func _rlmWithRaw<R>(
        _ session: _RealmSession, _ policy: _AddingPolicy, _ body: (RawValue) -> R
    ) -> R {
        body(.decimal(core))
    }
    public static func _rlmConvert(_ value: Any) -> Decimal128? {
        Decimal128(converting: value)
    }
}

/// An address for bytes that are none: null has no address.
nonisolated(unsafe) let somewhere: UnsafePointer<UInt8> = {
    let byte = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return UnsafePointer(byte)
}()
