// The values of one property of many objects, as the change log has them (`LogBytes`), from the columns of sealed
// leaves: what is asked of each value elsewhere is asked of each leaf here. Kept logs of large transactions consist
// of little else.

import CKernels

/// Objects with keys one behind another, in rows of a leaf one behind another.
struct ColumnRun {
    let leaf: LeafView
    let rows: Range<Int>
}

extension Table {
    /// Calls `body` with the rows of objects, ascending; of a settled table that has them all.
    @inline(__always)
    func forEachRun(
        _ keys: KeyRanges, _ body: (ColumnRun) throws(RealmError) -> Void
    ) throws(RealmError) {
        for range in keys.ranges {
            var key = range.lowerBound
            var left = range.lowerBound.distance(to: range.upperBound) &+ 1
            while left > 0 {
                guard let place = try find(key) else {
                    throw RealmError(
                        .brokenInvariant,
                        "the change log names object \(key) of class \(classKey.rawValue), which is not "
                            + "there")
                }
                let leaf = place.view
                let limit = min(leaf.rows, place.row &+ left)
                var end = place.row &+ 1
                if leaf.keyWidth == 0, leaf.tombstones == nil {
                    end = limit
                } else {
                    while end < limit, leaf.key(end) == key.advanced(by: end &- place.row),
                        !leaf.isDead(end)
                    {
                        end &+= 1
                    }
                }
                try body(ColumnRun(leaf: leaf, rows: place.row..<end))
                key = key.advanced(by: end &- place.row)
                left &-= end &- place.row
            }
        }
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
            guard run.leaf.key(run.rows.upperBound &- 1) < IntegerKeys.indirectBase else {
                return try eachValue(table, run, column, orDefault)
            }
            integers(run, nil, isZeroDefault: false, 0) { run.leaf.key($0).rawValue }
            return false
        }
        let view = run.leaf.column(column, info)
        if orDefault, view?.encoding ?? .absent == .absent, view?.nulls == nil {
            let size = run.rows.count
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
            let first = view.bytes(run.rows.lowerBound)
            let last = view.bytes(run.rows.upperBound &- 1)
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
        guard orDefault, count &- start == run.rows.count else { return false }
        for position in start..<count where buffer[position] != Self.defaultMark { return false }
        return true
    }

    /// Asks for each value by itself.
    private mutating func eachValue(
        _ table: Table, _ run: ColumnRun, _ column: Int, _ orDefault: Bool
    ) throws(RealmError) -> Bool {
        var isDefault = orDefault
        for row in run.rows {
            let before = count
            let place = RowPlace(
                leaf: UnsafeMutableRawPointer(mutating: run.leaf.base), row: row, state: .sealed)
            try value(table, place, run.leaf.key(row), column, orDefault: orDefault)
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
        write(atMost: run.rows.count &* bytes &+ more) { start in
            var place = start
            for row in run.rows {
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

extension UnsafeMutableRawPointer {
    /// Makes a mark of the type before this place.
    @inline(__always)
    fileprivate func becomeMark() -> UnsafeMutableRawPointer {
        put(LogBytes.defaultMark, -1)
        return self
    }
}
