// The one total order of values, over borrowed values of any type: what sorting, sets, DISTINCT
// and minimum and maximum of mixed values use.
//
//   1. null, 2. false, true, 3. numbers by mathematical value across types (NaN first, -0 is 0),
//   4. strings by bytes, 5. binaries by bytes, 6. timestamps, 7. object ids, 8. UUIDs, 9. links by
//   class and key, 10. lists, 11. dictionaries (contents are not looked at)
//
// Values that compare equal are one value for sets and have equal hashes.

import CKernels

package enum ValueOrder {
    /// Families in their order. Values of different families are never equal.
    package enum Family: Int, Comparable, Sendable {
        case null, bool, number, string, binary, timestamp, objectId, uuid, link, list, dictionary
        /// No value type: after everything else.
        case unknown

        package static func < (a: Family, b: Family) -> Bool { a.rawValue < b.rawValue }
    }

    @inline(__always)
    package static func family(_ value: RawValue) -> Family {
        if value.isNull { return .null }
        switch ValueType(rawValue: value.type) {
        case .null: return .null
        case .bool: return .bool
        case .int, .float, .double, .decimal128: return .number
        case .string: return .string
        case .binary: return .binary
        case .timestamp: return .timestamp
        case .objectId: return .objectId
        case .uuid: return .uuid
        case .link: return .link
        case .list: return .list
        case .dictionary: return .dictionary
        case nil: return .unknown
        }
    }

    /// -1, 0 or 1 as `a` comes before, with or after `b`.
    package static func compare(_ a: RawValue, _ b: RawValue) -> Int {
        let (left, right) = (family(a), family(b))
        if left != right { return left < right ? -1 : 1 }
        switch left {
        case .null, .list, .dictionary: return 0
        case .bool: return order(a.boolValue ? 1 : 0, b.boolValue ? 1 : 0)
        case .number: return compareNumbers(a, b)
        case .string, .binary: return compareBytes(a.bytes, b.bytes)
        case .timestamp:
            if a.seconds != b.seconds { return order(a.seconds, b.seconds) }
            return order(a.nanoseconds, b.nanoseconds)
        case .objectId:
            let (first, second) = (a.objectIdValue, b.objectIdValue)
            return first == second ? 0 : first < second ? -1 : 1
        case .uuid:
            let (first, second) = (a.uuidValue, b.uuidValue)
            return first == second ? 0 : first < second ? -1 : 1
        case .link:
            if a.linkClass != b.linkClass {
                return order(a.linkClass.rawValue, b.linkClass.rawValue)
            }
            return order(a.linkTarget.rawValue, b.linkTarget.rawValue)
        case .unknown: return order(a.type, b.type)
        }
    }

    /// Whether two values are one for sets, DISTINCT and equality.
    package static func equal(_ a: RawValue, _ b: RawValue) -> Bool { compare(a, b) == 0 }

    @inline(__always) private static func order<T: Comparable>(_ a: T, _ b: T) -> Int {
        a == b ? 0 : a < b ? -1 : 1
    }

    /// Unsigned bytes, the shorter first of two that begin alike.
    package static func compareBytes(
        _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
    ) -> Int {
        if let left = a.baseAddress, let right = b.baseAddress {
            let result = ck_memcmp(left, right, min(a.count, b.count))
            if result != 0 { return result < 0 ? -1 : 1 }
        }
        return order(a.count, b.count)
    }

    // MARK: Numbers

    /// Two numbers of any types, by mathematical value.
    package static func compareNumbers(_ a: RawValue, _ b: RawValue) -> Int {
        switch (Number(a), Number(b)) {
        case (.int(let left), .int(let right)): return order(left, right)
        case (.int(let left), .floating(let right)): return compare(left, right)
        case (.floating(let left), .int(let right)): return -compare(right, left)
        case (.floating(let left), .floating(let right)): return compare(left, right)
        case (.decimal(let left), .decimal(let right)): return Decimal128.compare(left, right)
        case (.decimal(let left), .int(let right)): return Decimal128.compare(left, right)
        case (.int(let left), .decimal(let right)): return -Decimal128.compare(right, left)
        case (.decimal(let left), .floating(let right)): return compare(left, right)
        case (.floating(let left), .decimal(let right)): return -compare(right, left)
        }
    }

    private enum Number {
        case int(Int64)
        case floating(Double)
        case decimal(Decimal128)

        @inline(__always) init(_ value: RawValue) {
            switch value.type {
            case ValueType.int.rawValue: self = .int(value.intValue)
            case ValueType.float.rawValue: self = .floating(Double(value.floatValue))
            case ValueType.double.rawValue: self = .floating(value.doubleValue)
            default: self = .decimal(value.decimalValue)
            }
        }
    }

    /// An integer against a double, without rounding the integer. NaN is below.
    package static func compare(_ a: Int64, _ b: Double) -> Int {
        if b.isNaN || b < -0x1p63 { return 1 }
        if b >= 0x1p63 { return -1 }
        let whole = b.rounded(.down)
        let other = Int64(whole)
        if a != other { return a < other ? -1 : 1 }
        return whole == b ? 0 : -1
    }

    /// Two doubles; NaNs are below the numbers and ordered by their bits.
    package static func compare(_ a: Double, _ b: Double) -> Int {
        if a < b { return -1 }
        if a > b { return 1 }
        if a == b { return 0 }
        guard a.isNaN, b.isNaN else { return a.isNaN ? -1 : 1 }
        return order(a.bitPattern, b.bitPattern)
    }

    /// NaN as a decimal is below NaN as a double.
    private static func compare(_ a: Decimal128, _ b: Double) -> Int {
        if b.isNaN { return a.isNaN ? -1 : 1 }
        return Decimal128.compare(a, b)
    }

    // MARK: Hashing

    /// A double that is the same for all numbers that are equal, and does not fall when a number
    /// rises: the nearest one.
    static func nearestDouble(_ value: RawValue) -> Double {
        switch Number(value) {
        case .int(let number): return Double(number)
        case .floating(let number): return number
        case .decimal(let number): return number.doubleValue
        }
    }

    /// Feeds the value to a hasher; values that compare equal feed it the same.
    package static func hash(_ value: RawValue, into hasher: inout Hasher) {
        let family = family(value)
        hasher.combine(family)
        switch family {
        case .null, .list, .dictionary: break
        case .bool: hasher.combine(value.boolValue)
        case .number:
            let number = nearestDouble(value)
            hasher.combine(number.isNaN ? 0 : number)
        case .string, .binary: hasher.combine(bytes: value.bytes)
        case .timestamp:
            hasher.combine(value.seconds)
            hasher.combine(value.nanoseconds)
        case .objectId: hasher.combine(value.objectIdValue)
        case .uuid: hasher.combine(value.uuidValue)
        case .link:
            hasher.combine(value.linkClass)
            hasher.combine(value.linkTarget)
        case .unknown: hasher.combine(value.type)
        }
    }
}
