// Tests of columns of numbers, dates, Booleans and links: `match` gets a bit for each row whose
// value is in a range or set. Minimum and maximum of the column decide first; packed values are
// compared in their packed width.

import CKernels

extension LeafFilter {
    // MARK: Integers

    /// How a range lies to the packed deltas of a column.
    enum PackedRange {
        case none, all
        /// delta - low <= span
        case some(low: UInt64, span: UInt64)
    }

    @inline(__always)
    static func packedRange(_ column: ColumnView, _ low: Int64, _ high: Int64) -> PackedRange {
        let bounded = column.flags.contains(.hasBounds)
        if low > high { return .none }
        if bounded {
            if high < column.minimumInt || low > column.maximumInt { return .none }
            if low <= column.minimumInt && high >= column.maximumInt { return .all }
        }
        let base = column.base
        let width = column.width
        if width == 8 {
            // A value that was patched in may lie below the base: modulo 2^64 that is no matter.
            return .some(
                low: UInt64(bitPattern: low &- base), span: UInt64(bitPattern: high &- low))
        }
        if high < base { return .none }
        if width == 0 { return low <= base ? .all : .none }
        let deltaMax: UInt64 = (1 << UInt64(width &* 8)) &- 1
        let first = low <= base ? 0 : UInt64(bitPattern: low &- base)
        if first > deltaMax { return .none }
        let last = min(UInt64(bitPattern: high &- base), deltaMax)
        return .some(low: first, span: last &- first)
    }

    /// Sends for the same column of the leaf that comes next: packed numbers are compared faster than memory
    /// answers, and each leaf has too few of them for the processor to see where it goes.
    @inline(__always)
    func sendForUpcoming(_ column: ColumnView, _ index: Int, _ info: ColumnInfo) {
        guard column.encoding == .packed, let next = upcoming?.column(index, info) else { return }
        next.sendFor(bytes: next.rows &* next.width)
    }

    func maskRange(_ column: ColumnView, _ low: Int64, _ high: Int64) {
        if column.encoding == .bits { return maskBits(column, low, high) }
        Self.mask(column, low, high, match)
    }

    /// Bits of the rows of a packed column whose value is in the range.
    @inline(__always)
    static func mask(_ column: ColumnView, _ low: Int64, _ high: Int64, _ target: Bitmap) {
        switch packedRange(column, low, high) {
        case .none: Bits.clear(target, Bits.words(column.rows))
        case .all: Bits.fill(target, column.rows)
        case .some(let first, let span):
            ck_mask_range(column.data, column.width, column.rows, first, span, target)
        }
    }

    /// Rows of a packed column in the range, when neither nulls nor dead rows are there.
    @inline(__always)
    static func countRange(_ column: ColumnView, _ low: Int64, _ high: Int64) -> Int {
        switch packedRange(column, low, high) {
        case .none: return 0
        case .all: return column.rows
        case .some(let first, let span):
            return ck_count_range(column.data, column.width, column.rows, first, span)
        }
    }

    /// Booleans: 0 and 1 in the range.
    private func maskBits(_ column: ColumnView, _ low: Int64, _ high: Int64) {
        let words = Bits.words(column.rows)
        let falsePasses = low <= 0 && high >= 0
        let truePasses = low <= 1 && high >= 1
        switch (falsePasses, truePasses) {
        case (true, true): Bits.fill(match, column.rows)
        case (false, false): Bits.clear(match, words)
        default:
            let flip: UInt64 = truePasses ? 0 : ~0
            for word in 0..<words { match[word] = column.data.u64(word &* 8) ^ flip }
        }
    }

    /// The key column of a leaf whose keys are its values.
    func maskKeyColumn(_ index: Int, _ node: FilterNode, _ leaf: LeafView) {
        switch node.test {
        case .intRange(let range): maskKeys(range, leaf)
        case .intSet: maskKeys(run.keys(index), leaf)
        default: Bits.clear(match, Bits.words(leaf.rows))
        }
    }

    private func maskKeys(_ range: IntRange, _ leaf: LeafView) {
        let rows = leaf.rows
        Bits.clear(match, Bits.words(rows))
        let first = leaf.keyBase.rawValue
        let last = leaf.key(rows &- 1).rawValue
        if range.high < first || range.low > last { return }
        if range.low <= first && range.high >= last { return Bits.fill(match, rows) }
        if leaf.keyWidth == 0 {
            let start = range.low <= first ? 0 : Int(range.low &- first)
            let end = range.high >= last ? rows : Int(range.high &- first) &+ 1
            for row in start..<max(start, end) { Bits.set(match, row) }
        } else {
            for row in 0..<rows {
                let key = leaf.key(row).rawValue
                if range.contains(key) { Bits.set(match, row) }
            }
        }
    }

    /// Rows of the objects in a set.
    func maskKeys(_ set: KeySet?, _ leaf: LeafView) {
        let rows = leaf.rows
        Bits.clear(match, Bits.words(rows))
        guard let set, rows > 0 else { return }
        // Both ascend: each member is looked up in the leaf.
        for position in set.members(
            from: leaf.keyBase.rawValue, through: leaf.key(rows &- 1).rawValue)
        {
            if let row = leaf.row(of: set.key(position)) { Bits.set(match, row) }
        }
    }

    /// Sets in `match` the rows that pass; where few are selected, no others are looked at.
    @inline(__always)
    private func maskRows(_ rows: Int, _ selection: Bitmap, where passes: (Int) -> Bool) {
        let words = Bits.words(rows)
        Bits.clear(match, words)
        guard Bits.count(selection, words) < rows >> 3 else {
            for row in 0..<rows where passes(row) { Bits.set(match, row) }
            return
        }
        Bits.forEach(selection, words) { row in
            if passes(row) { Bits.set(match, row) }
        }
    }

    /// Rows whose integer is a member.
    func maskSet(_ column: ColumnView, _ set: KeySet?, _ selection: Bitmap) {
        let rows = column.rows
        let words = Bits.words(rows)
        Bits.clear(match, words)
        guard let set, set.count > 0 else { return }
        if column.encoding == .bits {
            let low: Int64 = set.contains(0) ? 0 : 1
            let high: Int64 = set.contains(1) ? 1 : 0
            return maskBits(column, low, high)
        }
        guard column.encoding == .packed else { return }
        let width = column.width
        if width == 0 {
            if set.contains(column.base) { Bits.fill(match, rows) }
            return
        }
        let bounded = column.flags.contains(.hasBounds)
        let inside = set.members(
            from: bounded ? column.minimumInt : .min, through: bounded ? column.maximumInt : .max)
        if inside.isEmpty { return }
        if inside.count == 1 {
            return maskRange(column, set.values[inside.lowerBound], set.values[inside.lowerBound])
        }
        if width == 1 { return maskBytes(column, set, inside) }
        maskRows(rows, selection) { set.contains(column.packed($0)) }
    }

    /// One-byte deltas: a table of 256 results.
    private func maskBytes(_ column: ColumnView, _ set: KeySet, _ inside: Range<Int>) {
        maskTable(column) { table in
            for position in inside {
                let delta = UInt64(bitPattern: set.values[position] &- column.base)
                if delta < 256 { table[Int(delta)] = 1 }
            }
        }
    }

    /// One byte per row names the result in a table of 256, which is zeros before it is filled.
    func maskTable<Failure: Error>(
        _ column: ColumnView,
        _ fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) {
            table throws(Failure) in
            table.initialize(repeating: 0)
            try fill(table)
            maskTable(column, table)
        }
    }

    private func maskTable(_ column: ColumnView, _ table: UnsafeMutableBufferPointer<UInt8>) {
        let rows = column.rows
        let data = column.data
        for word in 0..<Bits.words(rows) {
            let start = word << 6
            var bits: UInt64 = 0
            for bit in 0..<min(64, rows &- start) {
                bits |= UInt64(table[Int(data.u8(start &+ bit))]) << UInt64(bit)
            }
            match[word] = bits
        }
    }

    // MARK: Floating point

    func maskDoubles(_ column: ColumnView, _ range: DoubleRange) {
        if decideByBounds(column, range) { return }
        ck_mask_range_f64(column.data, column.rows, range.low, range.high, match)
    }

    func maskFloats(_ column: ColumnView, _ range: DoubleRange) {
        if decideByBounds(column, range) { return }
        // The bounds are values of Float: nothing is rounded here.
        ck_mask_range_f32(
            column.data, column.rows, Float(range.low), Float(range.high), match)
    }

    /// Fills `match` when minimum and maximum decide.
    private func decideByBounds(_ column: ColumnView, _ range: DoubleRange) -> Bool {
        let flags = column.flags
        let words = Bits.words(column.rows)
        guard flags.contains(.hasBounds) else {
            // No value, or NaN alone.
            Bits.clear(match, words)
            return true
        }
        if range.high < column.minimumDouble || range.low > column.maximumDouble {
            Bits.clear(match, words)
            return true
        }
        if range.low <= column.minimumDouble && range.high >= column.maximumDouble
            && !flags.contains(.hasNaN)
        {
            Bits.fill(match, column.rows)
            return true
        }
        return false
    }

    /// Rows whose number is a member.
    @inline(__always)
    func maskSet(
        _ column: ColumnView, _ set: FilterSet, _ selection: Bitmap, _ value: (Int) -> Double
    ) {
        maskRows(column.rows, selection) { isMember(value($0), set) }
    }

    /// Sets hold the bits of doubles, zero without sign, ordered as integers.
    func isMember(_ value: Double, _ set: FilterSet) -> Bool {
        let bits = Int64(bitPattern: value == 0 ? 0 : value.bitPattern)
        return program.members(set).hasMember { $0.0 < bits ? -1 : $0.0 == bits ? 0 : 1 }
    }

    // MARK: Dates

    func maskTimestamps(_ column: ColumnView, _ range: TimestampRange) {
        let rows = column.rows
        var low = range.low.seconds
        var high = range.high.seconds
        if !column.flags.contains(.hasNanoseconds) {
            // Whole seconds: the bounds' nanoseconds round inwards.
            if range.low.nanoseconds > 0 {
                if low == .max { return Bits.clear(match, Bits.words(rows)) }
                low += 1
            }
            if range.high.nanoseconds < 0 {
                if high == .min { return Bits.clear(match, Bits.words(rows)) }
                high -= 1
            }
            return maskRange(column, low, high)
        }
        if column.flags.contains(.hasBounds),
            high < column.minimumInt || low > column.maximumInt
        {
            return Bits.clear(match, Bits.words(rows))
        }
        // Rows between the bounds' seconds; those on a bound are looked at again.
        maskRange(column, low, high)
        for row in 0..<rows {
            let seconds = column.packed(row)
            guard seconds == low || seconds == high else { continue }
            let time = Timestamp(seconds: seconds, nanoseconds: column.nanoseconds(row))
            if !range.contains(time) { Bits.unset(match, row) }
        }
    }

    func maskTimestampSet(_ column: ColumnView, _ set: FilterSet, _ selection: Bitmap) {
        maskRows(column.rows, selection) {
            isMember(column.packed($0), column.nanoseconds($0), set)
        }
    }

    func isMember(_ seconds: Int64, _ nanoseconds: Int32, _ set: FilterSet) -> Bool {
        let wanted = (seconds, Int64(nanoseconds))
        return program.members(set).hasMember { $0 < wanted ? -1 : $0 == wanted ? 0 : 1 }
    }
}
