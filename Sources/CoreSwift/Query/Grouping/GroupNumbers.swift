// Which group each row belongs to, as a number.
//
// Dense: all keys are integers, Booleans or links of the class itself, and few enough values lie between the
// least and the greatest of each, by the bounds in the leaves. A group's number is computed:
// the sum of (value - least) * stride over the keys, with one number more for null. Which groups there are,
// and which came first, is noted on the way.
//
// Numbered: everything else. Each key numbers its values as they come (`ValueNumbering`), pairs of
// numbers are numbered again, and so on. Groups are then numbered in the order in which they came.

import CKernels

/// Used by one thread.
final class GroupNumbers {
    /// A key of dense numbers.
    struct Range {
        var least: Int64
        /// Values that are possible; null has the last one.
        var count: Int
        var hasNull: Bool
    }

    let columns: [GroupColumn]
    /// Of dense numbers, else none.
    let ranges: [Range]
    /// How many groups there may be, of dense numbers.
    let capacity: Int
    /// Of dense numbers: groups in the order in which they came, and a mark for each that did not.
    private(set) var order: [UInt32] = []
    private let unseen: UnsafeMutablePointer<UInt8>
    private let more: UnsafeMutablePointer<UInt32>
    /// Of keys, and behind them of pairs of the first so many keys.
    private var values: [ValueNumbering] = []
    private var pairs: [ValueNumbering] = []

    init(_ columns: [GroupColumn], _ ranges: [Range]) {
        self.columns = columns
        self.ranges = ranges
        capacity = ranges.reduce(1) { $0 * $1.count }
        unseen = .allocate(capacity: capacity)
        unseen.initialize(repeating: 1, count: capacity)
        more = .allocate(capacity: LeafLayout.rowsMax)
        guard ranges.isEmpty else { return }
        values = columns.map { ValueNumbering($0.kind) }
        pairs = columns.dropFirst().map { _ in ValueNumbering(.int) }
    }

    deinit {
        unseen.deallocate()
        more.deallocate()
    }

    var isDense: Bool { !ranges.isEmpty }

    /// Groups that there are.
    var count: Int { isDense ? order.count : (pairs.last ?? values[0]).count }

    // MARK: Numbering

    /// Writes the number of each row of a run.
    func number(
        _ run: GroupRun, _ numbers: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        guard isDense else { return try numberValues(run, numbers) }
        var stride = 1
        for index in ranges.indices {
            let target = index == 0 ? numbers : more
            try offsets(index, run, target)
            if index > 0 { ck_group_combine(numbers, more, UInt32(stride), run.count) }
            stride *= ranges[index].count
        }
        if order.count < capacity, ck_group_any(numbers, run.count, unseen) != 0 {
            for row in 0..<run.count where unseen[Int(numbers[row])] != 0 {
                unseen[Int(numbers[row])] = 0
                order.append(numbers[row])
            }
        }
    }

    private func offsets(
        _ index: Int, _ run: GroupRun, _ target: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        let range = ranges[index]
        let column = columns[index]
        let view = column.words(run.leaf)
        if run.count >= 8, let view, column.kind != .bool, !view.flags.contains(.hasNulls) {
            let from = UInt64(bitPattern: view.base &- range.least)
            let greatest = ck_group_numbers(
                view.data + run.row &* view.width, Int32(view.width), from, run.count,
                column.ahead(view, run), target)
            guard greatest < UInt64(range.count) else { throw outside() }
            return
        }
        for offset in 0..<run.count {
            let word = try column.word(view, run.leaf, run.row &+ offset)
            // Null has the last number.
            let difference =
                word.map { UInt64(bitPattern: $0 &- range.least) } ?? UInt64(range.count - 1)
            guard difference < UInt64(range.count), word != nil || range.hasNull else {
                throw outside()
            }
            target[offset] = UInt32(difference)
        }
    }

    private func outside() -> RealmError {
        RealmError(.invalidDatabase, "a leaf has a value outside its own bounds")
    }

    private func numberValues(
        _ run: GroupRun, _ numbers: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        for index in columns.indices {
            let target = index == 0 ? numbers : more
            try numberValues(index, run, target)
            if index == 0 { continue }
            for row in 0..<run.count {
                let pair = UInt64(numbers[row]) << 32 | UInt64(more[row])
                numbers[row] = try pairs[index - 1].number(.int(Int64(bitPattern: pair)))
            }
        }
    }

    private func numberValues(
        _ index: Int, _ run: GroupRun, _ target: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        let column = columns[index]
        let values = values[index]
        guard column.kind.isText, let view = column.view(run.leaf) else {
            for offset in 0..<run.count {
                target[offset] = try values.number(
                    try column.value(run.leaf, run.row &+ offset))
            }
            return
        }
        if view.encoding == .stringDictionary, run.count >= 32 {
            return try numberWords(values, view, run, target)
        }
        for offset in 0..<run.count {
            target[offset] = try values.number(
                view.isNull(run.row &+ offset) ? .null : Self.text(view.bytes(run.row &+ offset)))
        }
    }

    /// Texts that stand once in a leaf and are numbered once.
    private func numberWords(
        _ values: ValueNumbering, _ view: ColumnView, _ run: GroupRun,
        _ target: UnsafeMutablePointer<UInt32>
    ) throws(RealmError) {
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) {
            known throws(RealmError) in
            known.initialize(repeating: .max)
            for offset in 0..<run.count {
                if view.isNull(run.row &+ offset) {
                    target[offset] = try values.number(.null)
                    continue
                }
                let word = Int(view.data.u8(run.row &+ offset))
                if known[word] == .max {
                    known[word] = try values.number(Self.text(view.word(word)))
                }
                target[offset] = known[word]
            }
        }
    }

    /// Compared by its bytes alone, so that the type does not matter until it is shown.
    @inline(__always) private static func text(_ bytes: UnsafeRawBufferPointer) -> RawValue {
        // Safe: texts in leaves have an address, the empty one too.
        .string(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
    }

    // MARK: Groups

    /// The key values of the group at a place in the order; `number` is its number.
    func append(_ number: Int, to row: inout [RawValue]) {
        if isDense {
            var left = number
            for (index, range) in ranges.enumerated() {
                let offset = left % range.count
                left /= range.count
                if range.hasNull, offset == range.count - 1 {
                    row.append(.null)
                } else {
                    row.append(shown(.int(range.least &+ Int64(offset)), columns[index]))
                }
            }
            return
        }
        var places = [Int](repeating: 0, count: columns.count)
        var left = number
        for index in stride(from: pairs.count, to: 0, by: -1) {
            let pair = pairs[index - 1].values[left].word0
            places[index] = Int(pair & 0xFFFF_FFFF)
            left = Int(pair >> 32)
        }
        places[0] = left
        for (index, place) in places.enumerated() {
            row.append(shown(values[index].values[place], columns[index]))
        }
    }

    private func shown(_ value: RawValue, _ column: GroupColumn) -> RawValue {
        if value.isNull { return value }
        switch column.kind {
        case .bool: return .bool(value.word0 & 0xFF != 0)
        case .link where isDense:
            return .link(column.info?.linkTarget ?? .invalid, ObjectKey(rawValue: value.intValue))
        case .binary: return .binary(value.bytes.baseAddress.unsafelyUnwrapped, value.bytes.count)
        default: return value
        }
    }
}
