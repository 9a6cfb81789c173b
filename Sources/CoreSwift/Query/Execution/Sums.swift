// Sum, average, minimum and maximum of values of one type, as aggregates of objects and of groups have them. Nulls and
// NaN are left out by who adds.

/// Sums wrap, averages don't.
struct IntegerSums {
    var count = 0
    var total: Int128 = 0
    var least = Int64.max
    var greatest = Int64.min

    @inline(__always) mutating func add(_ value: Int64) {
        count &+= 1
        total &+= Int128(value)
        addRange(value, value)
    }

    @inline(__always) mutating func addRange(_ low: Int64, _ high: Int64) {
        least = min(least, low)
        greatest = max(greatest, high)
    }

    func result(_ kind: AggregateKind) -> RawValue {
        switch kind {
        case .sum: return .int(Int64(truncatingIfNeeded: total))
        case .average: return count == 0 ? .null : .double(Double(total) / Double(count))
        case .minimum: return greatest < least ? .null : .int(least)
        case .maximum: return greatest < least ? .null : .int(greatest)
        }
    }
}

struct DoubleSums {
    var count = 0
    var total = 0.0
    var least = Double.infinity
    var greatest = -Double.infinity

    @inline(__always) mutating func add(_ value: Double) {
        count &+= 1
        total += value
        addRange(value, value)
    }

    @inline(__always) mutating func addRange(_ low: Double, _ high: Double) {
        least = low < least ? low : least
        greatest = high > greatest ? high : greatest
    }

    func result(_ kind: AggregateKind, isFloat: Bool) -> RawValue {
        switch kind {
        case .sum: return .double(total)
        case .average: return count == 0 ? .null : .double(total / Double(count))
        case .minimum, .maximum:
            if greatest < least { return .null }
            let extreme = kind == .minimum ? least : greatest
            return isFloat ? .float(Float(extreme)) : .double(extreme)
        }
    }
}

/// Of decimals, and of the numbers among mixed values, which are added as decimals; the extremes of values of any type.
struct ValueSums {
    var count = 0
    var total = Decimal128.zero
    var least: RawValue?
    var greatest: RawValue?

    mutating func add(_ value: RawValue, sums: Bool, ranges: Bool) {
        if value.isNull || ValueTest.isNaN(value) { return }
        if ranges {
            if least.map({ ValueOrder.compare(value, $0) < 0 }) ?? true { least = value }
            if greatest.map({ ValueOrder.compare($0, value) < 0 }) ?? true { greatest = value }
        }
        if sums, ValueOrder.family(value) == .number {
            count &+= 1
            total = total + ValueTest.decimal(value)
        }
    }

    func result(_ kind: AggregateKind) -> RawValue {
        switch kind {
        case .sum: return .decimal(total)
        case .average: return count == 0 ? .null : .decimal(total / Decimal128(Int64(count)))
        case .minimum: return least ?? .null
        case .maximum: return greatest ?? .null
        }
    }
}
