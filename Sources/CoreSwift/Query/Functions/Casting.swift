// CAST (QUERY_RULES B8): a value as one of another type, null where it cannot be one.

/// The types that CAST names.
enum CastTarget: UInt8 {
    case int, double, decimal, string, date, bool, uuid, objectId
    /// The names of NSPredicate; its dates count from 2001.
    case nsNumber, nsDecimalNumber, nsString, nsDate, nsUUID

    /// In the order of the cases.
    static let names = [
        "Int", "Double", "Decimal", "String", "Date", "Bool", "UUID", "ObjectId",
        "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSUUID",
    ]

    static func named(_ name: String) -> CastTarget? {
        names.firstIndex(of: name).flatMap { CastTarget(rawValue: UInt8($0)) }
    }

    /// Seconds from 1970 to the instant that dates as numbers count from.
    fileprivate var epoch: Int64 {
        switch self {
        case .nsNumber, .nsDecimalNumber, .nsDate: return 978_307_200
        default: return 0
        }
    }
}

enum Casting {
    static func cast(_ value: RawValue, _ target: CastTarget, _ arena: TextArena) -> RawValue {
        value.isNull ? .null : casted(value, target, arena) ?? .null
    }

    private static func casted(
        _ value: RawValue, _ target: CastTarget, _ arena: TextArena
    ) -> RawValue? {
        switch target {
        case .int: return int(value)
        case .double: return number(value, target).map { .double($0) }
        case .decimal, .nsDecimalNumber: return decimal(value, target)
        case .nsNumber: return anyNumber(value, target)
        case .string, .nsString: return string(value, arena)
        case .date, .nsDate: return date(value, target)
        case .bool: return bool(value)
        case .uuid, .nsUUID: return uuid(value)
        case .objectId: return objectId(value)
        }
    }

    /// The whole text, without blanks around it, as the spelling of a number.
    private static func spelledNumber(_ value: RawValue) -> String? {
        guard value.type == ValueType.string.rawValue else { return nil }
        let text = TextFunctions.trimmed(value).bytes
        // No number that a type can hold is longer.
        guard text.count <= 4096, TextMatch.isASCII(text) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Numbers

    /// Fractions are cut; what 64 bits cannot hold is null.
    private static func int(_ value: RawValue) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .int: return value
        case .bool: return .int(value.boolValue ? 1 : 0)
        case .timestamp: return .int(DateFields.floorSeconds(value))
        case .float, .double:
            let number = NumberFunctions.double(value)
            return number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map { .int($0) }
        case .decimal128: return whole(value.decimalValue)
        case .string:
            let text = spelledNumber(value)
            return text.flatMap { Int64($0) }.map { .int($0) }
                ?? text.flatMap { Decimal128($0) }.flatMap { whole($0) }
        default: return nil
        }
    }

    private static func whole(_ value: Decimal128) -> RawValue? {
        NumberFunctions.rounded(value, .towardZero).int64.map { .int($0) }
    }

    private static func number(_ value: RawValue, _ target: CastTarget) -> Double? {
        switch ValueType(rawValue: value.type) {
        case .bool: return value.boolValue ? 1 : 0
        case .timestamp:
            let (seconds, overflow) = value.seconds.subtractingReportingOverflow(target.epoch)
            // So far from all epochs, a double does not tell them apart.
            return Double(overflow ? value.seconds : seconds) + Double(value.nanoseconds) / 1e9
        case .string:
            guard let text = spelledNumber(value), Decimal128(text) != nil else { return nil }
            return Double(text)
        default: return NumberFunctions.double(value)
        }
    }

    private static func decimal(_ value: RawValue, _ target: CastTarget) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .int, .float, .double, .decimal128: return .decimal(ValueTest.decimal(value))
        case .bool: return .decimal(Decimal128(value.boolValue ? 1 : 0))
        case .timestamp:
            let (seconds, overflow) = value.seconds.subtractingReportingOverflow(target.epoch)
            if overflow { return nil }
            let fraction = Decimal128(
                sign: value.nanoseconds < 0, coefficient: UInt128(value.nanoseconds.magnitude),
                exponent: -9)
            let whole = Decimal128(seconds)
            return .decimal(value.nanoseconds == 0 ? whole : whole + fraction)
        case .string:
            return spelledNumber(value).flatMap { Decimal128($0) }.map { .decimal($0) }
        default: return nil
        }
    }

    /// An integer where it is one, else a double; decimals stay.
    private static func anyNumber(_ value: RawValue, _ target: CastTarget) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .int, .float, .double, .decimal128: return value
        case .bool: return .int(value.boolValue ? 1 : 0)
        case .string:
            return spelledNumber(value).flatMap { Int64($0) }.map { .int($0) }
                ?? number(value, target).map { .double($0) }
        default: return number(value, target).map { .double($0) }
        }
    }

    private static func bool(_ value: RawValue) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .bool: return value
        case .int, .float, .double, .decimal128:
            guard let number = NumberFunctions.double(value), !number.isNaN else { return nil }
            return .bool(number != 0)
        case .string:
            guard let text = spelledNumber(value), text.utf8.count <= 5 else { return nil }
            switch text.lowercased() {
            case "true", "yes", "1": return .bool(true)
            case "false", "no", "0": return .bool(false)
            default: return nil
            }
        default: return nil
        }
    }

    // MARK: Texts and the rest

    private static func string(_ value: RawValue, _ arena: TextArena) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .string: return value
        case .int: return arena.string(String(value.intValue))
        case .bool: return arena.string(value.boolValue ? "true" : "false")
        case .float: return arena.string(value.floatValue.description)
        case .double: return arena.string(value.doubleValue.description)
        case .decimal128: return arena.string(value.decimalValue.description)
        case .timestamp:
            let date = Timestamp(seconds: value.seconds, nanoseconds: value.nanoseconds)
            return arena.string(DateFields(date).text)
        case .objectId: return arena.string(value.objectIdValue.description)
        case .uuid: return arena.string(value.uuidValue.description)
        case .binary:
            // The bytes themselves, if they are text.
            guard let start = value.bytes.baseAddress, UTF8Scalars.isValid(value.bytes) else {
                return nil
            }
            return .string(start, value.bytes.count)
        default: return nil
        }
    }

    private static func date(_ value: RawValue, _ target: CastTarget) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .timestamp: return value
        case .string:
            return DateText.parse(TextFunctions.trimmed(value).bytes).map {
                .timestamp(seconds: $0.seconds, nanoseconds: $0.nanoseconds)
            }
        case .int:
            let (seconds, overflow) = value.intValue.addingReportingOverflow(target.epoch)
            return overflow ? nil : .timestamp(seconds: seconds, nanoseconds: 0)
        case .float, .double, .decimal128:
            let number = ValueTest.decimal(value)
            guard number.isFinite else { return nil }
            let whole = NumberFunctions.rounded(number, .towardZero)
            guard let seconds = whole.int64 else { return nil }
            let billion = Decimal128(1_000_000_000)
            let rest = NumberFunctions.rounded((number - whole) * billion, .towardZero).int64 ?? 0
            return sum(seconds, target.epoch, Int32(truncatingIfNeeded: rest))
        default: return nil
        }
    }

    /// Seconds and nanoseconds of one sign.
    private static func sum(_ seconds: Int64, _ epoch: Int64, _ nanoseconds: Int32) -> RawValue? {
        var (total, overflow) = seconds.addingReportingOverflow(epoch)
        if overflow { return nil }
        var rest = nanoseconds
        if total > 0, rest < 0 {
            total -= 1
            rest += 1_000_000_000
        } else if total < 0, rest > 0 {
            total += 1
            rest -= 1_000_000_000
        }
        return .timestamp(seconds: total, nanoseconds: rest)
    }

    private static func uuid(_ value: RawValue) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .uuid: return value
        case .string:
            return spelledNumber(value).flatMap { try? UUIDValue(parsing: $0) }.map { .uuid($0) }
        case .binary:
            return value.bytes.count == 16
                ? (try? UUIDValue(bytes: Array(value.bytes))).map { .uuid($0) } : nil
        default: return nil
        }
    }

    private static func objectId(_ value: RawValue) -> RawValue? {
        switch ValueType(rawValue: value.type) {
        case .objectId: return value
        case .string:
            return spelledNumber(value).flatMap { try? ObjectId(parsing: $0) }.map { .objectId($0) }
        case .binary:
            return value.bytes.count == 12
                ? (try? ObjectId(bytes: Array(value.bytes))).map { .objectId($0) } : nil
        default: return nil
        }
    }
}
