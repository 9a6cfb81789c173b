// The values of one property of many objects, as the change log has them (`LogBytes`), from the columns of sealed
// leaves: what is asked of each value elsewhere is asked of each leaf here. Kept logs of large transactions consist
// of little else.

import CKernels

/// Rows of a leaf: those of some objects, ascending.
struct ColumnRun {
    let leaf: LeafView
    /// Of which objects; all have a row here, but those of the first range before `first` and those of the
    /// last one behind `last`.
    let ranges: UnsafeBufferPointer<ClosedRange<ObjectKey>>
    /// The key of an object less its row.
    let base: Int64
    let first: Int
    let last: Int
    /// How many rows.
    let count: Int

    /// Calls `body` with each row, ascending.
    @inline(__always)
    func forEachRow<Failure>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
        for range in ranges {
            var row = max(Int(range.lowerBound.rawValue &- base), first)
            let end = min(Int(range.upperBound.rawValue &- base), last)
            while row <= end {
                try body(row)
                row &+= 1
            }
        }
    }
}

extension Table {
    /// Calls `body` with the rows of objects by leaf, ascending; of a settled table that has them all.
    @inline(__always)
    func forEachRun(
        _ keys: KeyRanges, _ body: (ColumnRun) throws(RealmError) -> Void
    ) throws(RealmError) {
        try keys.ranges.withUnsafeBufferPointer { ranges throws(RealmError) in
            var index = 0
            var key = ranges.first?.lowerBound ?? .first
            while index < ranges.count {
                guard let place = try find(key) else {
                    throw RealmError(
                        .brokenInvariant,
                        "the change log names object \(key) of class \(classKey.rawValue), which is not "
                            + "there")
                }
                let run = place.view.run(ranges, index, key, place.row)
                try body(run)
                index &+= run.ranges.count
                key = ObjectKey(rawValue: run.base &+ Int64(run.last)).advanced(by: 1)
                if key <= ranges[index &- 1].upperBound {
                    index &-= 1
                } else if index < ranges.count {
                    key = ranges[index].lowerBound
                }
            }
        }
    }
}

extension LeafView {
    /// The rows of objects from one on, which has the row `first`; of ranges of which it is in that at `index`.
    fileprivate func run(
        _ ranges: UnsafeBufferPointer<ClosedRange<ObjectKey>>, _ index: Int, _ key: ObjectKey,
        _ first: Int
    ) -> ColumnRun {
        let base = key.rawValue &- Int64(first)
        var end = index &+ 1
        var last = min(Int(ranges[index].upperBound.rawValue &- base), rows &- 1)
        var count = last &- first &+ 1
        if keyWidth == 0, tombstones == nil {
            // All keys up to that of the last row are there.
            while end < ranges.count, ranges[end].lowerBound.rawValue &- base < Int64(rows) {
                last = min(Int(ranges[end].upperBound.rawValue &- base), rows &- 1)
                count &+= last &- Int(ranges[end].lowerBound.rawValue &- base) &+ 1
                end &+= 1
            }
        } else {
            var row = first
            while row < last, self.key(row &+ 1).rawValue == base &+ Int64(row) &+ 1,
                !isDead(row &+ 1)
            {
                row &+= 1
            }
            last = row
            count = last &- first &+ 1
        }
        return ColumnRun(
            leaf: self, ranges: UnsafeBufferPointer(rebasing: ranges[index..<end]), base: base,
            first: first, last: last, count: count)
    }
}

extension LogBytes {
    /// Values of a property, one behind another. `orDefault`: those that a new object has by itself are only marks.
    /// Returns whether all of them are.
    mutating func values(
        _ table: Table, _ run: ColumnRun, _ column: Int, orDefault: Bool
    ) throws(RealmError) -> Bool {
        let info = table.columns[column]
        if info.isKey {
            guard run.leaf.key(run.last) < IntegerKeys.indirectBase else {
                return try eachValue(table, run, column, orDefault)
            }
            integers(run, nil, isZeroDefault: false, 0) { run.leaf.key($0).rawValue }
            return false
        }
        let view = run.leaf.column(column, info)
        if orDefault, view?.encoding ?? .absent == .absent, view?.nulls == nil {
            let size = run.count
            write(atMost: size) {
                $0.initializeMemory(as: UInt8.self, repeating: Self.defaultMark, count: size)
                return $0 + size
            }
            return true
        }
        guard let view, view.externals == nil else {
            return try eachValue(table, run, column, orDefault)
        }
        // Null is what a new object has where null can be, else zero.
        let isZeroDefault = orDefault && !info.isNullable
        let nullByte = orDefault ? Self.defaultMark : UInt8(ValueType.null.rawValue)
        let start = count
        switch (view.encoding, info.kind) {
        case (.packed, .int):
            integers(run, view, isZeroDefault: isZeroDefault, nullByte) { view.packed($0) }
        case (.packed, .link):
            let target = UInt64(info.linkTarget.rawValue)
            rows(run, view, nullByte, bytes: 21, .link) { place, row in
                place.putNumber(target).putNumber(view.objectKey(row).word)
            }
        case (.fixed, .double):
            rows(run, view, nullByte, bytes: 9, .double) { place, row in
                let bits = view.data.u64(row &* 8)
                if isZeroDefault, bits == 0 { return place.becomeMark() }
                place.put(bits, 0)
                return place + 8
            }
        case (.bits, .bool):
            rows(run, view, nullByte, bytes: 2, .bool) { place, row in
                let bit = view.bit(row)
                if isZeroDefault, !bit { return place.becomeMark() }
                place.put(UInt8(bit ? 1 : 0), 0)
                return place + 1
            }
        case (.timestamp, .timestamp):
            rows(run, view, nullByte, bytes: 21, .timestamp) { place, row in
                let seconds = view.packed(row)
                let nanoseconds = view.nanoseconds(row)
                if isZeroDefault, seconds == 0, nanoseconds == 0 { return place.becomeMark() }
                return place.putSigned(seconds).putSigned(Int64(nanoseconds))
            }
        case (.stringFixed, .string), (.string16, .string), (.stringFixed, .binary),
            (.string16, .binary):
            // Texts of a leaf stand one behind another.
            let first = view.bytes(run.first)
            let last = view.bytes(run.last)
            guard let low = first.baseAddress, let high = last.baseAddress else {
                return try eachValue(table, run, column, orDefault)
            }
            rows(
                run, view, nullByte, bytes: 11, more: (high + last.count) - low,
                info.kind == .string ? .string : .binary
            ) { place, row in
                let text = view.bytes(row)
                if text.count == 0, isZeroDefault { return place.becomeMark() }
                let target = place.putNumber(UInt64(text.count))
                if let bytes = text.baseAddress {
                    target.copyMemory(from: bytes, byteCount: text.count)
                }
                return target + text.count
            }
        default:
            return try eachValue(table, run, column, orDefault)
        }
        guard orDefault, count &- start == run.count else { return false }
        for position in start..<count where buffer[position] != Self.defaultMark { return false }
        return true
    }

    /// Values of a property of integers, which need no type. `areInitial`: null and zero change places where null can
    /// be, so that 0 is what a new object has.
    mutating func integers(
        _ table: Table, _ keys: KeyRanges, _ column: Int, areInitial: Bool = false
    ) throws(RealmError) {
        let info = table.columns[column]
        let swapsNull = areInitial && info.isNullable
        try table.forEachRun(keys) { run throws(RealmError) in
            let view = run.leaf.column(column, info)
            if areInitial, view?.encoding ?? .absent == .absent, view?.nulls == nil {
                // What a new object has.
                return write(atMost: run.count) {
                    $0.initializeMemory(as: UInt8.self, repeating: 0, count: run.count)
                    return $0 + run.count
                }
            }
            guard let view, view.encoding == .packed, !info.isKey else {
                return try run.forEachRow { row throws(RealmError) in
                    let value = try table.value(
                        RowPlace(run.leaf, row), run.leaf.key(row), column)
                    integer(swapsNull ? value.swappingNullAndZero : value)
                }
            }
            let nulls = view.nulls
            write(atMost: run.count &* 9) { start in
                var place = start
                run.forEachRow { row in
                    if let nulls, LeafLayout.bit(nulls, row) {
                        place = swapsNull ? place.putInteger(0) : place.putNullInteger()
                    } else {
                        let value = view.packed(row)
                        place =
                            swapsNull && value == 0
                            ? place.putNullInteger() : place.putInteger(value)
                    }
                }
                return place
            }
        }
    }

    /// Asks for each value by itself.
    private mutating func eachValue(
        _ table: Table, _ run: ColumnRun, _ column: Int, _ orDefault: Bool
    ) throws(RealmError) -> Bool {
        var isDefault = orDefault
        try run.forEachRow { row throws(RealmError) in
            let before = count
            try value(
                table, RowPlace(run.leaf, row), run.leaf.key(row), column, orDefault: orDefault)
            if isDefault, count != before &+ 1 || buffer[before] != Self.defaultMark {
                isDefault = false
            }
        }
        return isDefault
    }

    @inline(__always)
    private mutating func integers(
        _ run: ColumnRun, _ view: ColumnView?, isZeroDefault: Bool, _ nullByte: UInt8,
        _ value: (Int) -> Int64
    ) {
        rows(run, view, nullByte, bytes: 11, .int) { place, row in
            let value = value(row)
            if isZeroDefault, value == 0 { return place.becomeMark() }
            return place.putSigned(value)
        }
    }

    /// Writes for each row `nullByte`, or the type and what `body` puts behind it, which returns where that ends.
    /// `bytes`: of one row at most, `more`: of all together.
    @inline(__always)
    private mutating func rows(
        _ run: ColumnRun, _ view: ColumnView?, _ nullByte: UInt8, bytes: Int, more: Int = 0,
        _ type: ValueType,
        _ body: (UnsafeMutableRawPointer, Int) -> UnsafeMutableRawPointer
    ) {
        let tag = UInt8(truncatingIfNeeded: type.rawValue)
        let nulls = view?.nulls
        write(atMost: run.count &* bytes &+ more) { start in
            var place = start
            run.forEachRow { row in
                if let nulls, LeafLayout.bit(nulls, row) {
                    place.put(nullByte, 0)
                    place += 1
                } else {
                    place.put(tag, 0)
                    place = body(place + 1, row)
                }
            }
            return place
        }
    }
}

extension RawValue {
    /// Of integers.
    fileprivate var swappingNullAndZero: RawValue {
        if isNull { return .int(0) }
        return intValue == 0 ? .null : self
    }
}

extension UnsafeMutableRawPointer {
    /// Makes a mark of the type before this place.
    @inline(__always)
    fileprivate func becomeMark() -> UnsafeMutableRawPointer {
        put(LogBytes.defaultMark, -1)
        return self
    }
}
