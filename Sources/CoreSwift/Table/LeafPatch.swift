// Changing a sealed leaf in memory without decoding it: a fixed-width value that fits its column,
// a string of the same length, a tombstone. The leaf must be a transient block. Minimum and
// maximum then become bounds that no row need have.

enum LeafPatch {
    /// Writes the value if it fits; false means that the leaf has to be opened.
    static func set(
        _ view: LeafView, _ index: Int, _ info: ColumnInfo, _ row: Int, _ value: RawValue
    ) -> Bool {
        guard let column = view.column(index), column.encoding != .absent else { return false }
        let entry = UnsafeMutableRawPointer(mutating: column.entry)
        if value.isNull {
            guard let nulls = column.nulls, column.externals == nil, !info.kind.hasHeap else {
                return false
            }
            LeafLayout.setBit(UnsafeMutableRawPointer(mutating: nulls), row)
            flagInexact(entry)
            return true
        }
        let data = UnsafeMutableRawPointer(mutating: column.data)
        switch column.encoding {
        case .packed:
            let integer = info.kind == .link ? value.linkTarget.rawValue : value.intValue
            guard putPacked(column, data, row, integer) else { return false }
            widen(column, integer)
        case .timestamp:
            let nanoseconds = value.nanoseconds
            guard nanoseconds == 0 || column.flags.contains(.hasNanoseconds),
                putPacked(column, data, row, value.seconds)
            else { return false }
            if column.flags.contains(.hasNanoseconds) {
                let parts = LeafLayout.align8(column.rows * column.width)
                data.put(UInt32(bitPattern: nanoseconds), parts + row * 4)
            }
            widen(column, value.seconds)
        case .bits:
            LeafLayout.setBit(data, row, value.boolValue)
            widen(column, value.boolValue ? 1 : 0)
        case .fixed:
            setFixed(column, entry, data, info.kind, row, value)
        case .stringFixed where info.kind == .mixed:
            guard MixedCell.count(value) == column.fixedLength else { return false }
            MixedCell.write(
                value,
                to: UnsafeMutableRawPointer(mutating: column.heap + row * column.fixedLength))
        case .stringFixed:
            let bytes = value.bytes
            guard bytes.count == column.fixedLength, let start = bytes.baseAddress else {
                return false
            }
            memcpy(
                UnsafeMutableRawPointer(mutating: column.heap + row * bytes.count), start,
                bytes.count)
            widenPrefix(column, start.prefix(bytes.count))
        case .absent, .string16, .string32, .stringDictionary:
            return false
        }
        if let nulls = column.nulls {
            LeafLayout.setBit(UnsafeMutableRawPointer(mutating: nulls), row, false)
        }
        flagInexact(entry)
        return true
    }

    private static func setFixed(
        _ column: ColumnView, _ entry: UnsafeMutableRawPointer, _ data: UnsafeMutableRawPointer,
        _ kind: ColumnKind, _ row: Int, _ value: RawValue
    ) {
        switch kind {
        case .double:
            data.put(value.word0, row * 8)
            widenFloating(column, entry, value.doubleValue)
        case .float:
            data.put(UInt32(truncatingIfNeeded: value.word0), row * 4)
            widenFloating(column, entry, Double(value.floatValue))
        default:
            data.put(wide: value, row, kind)
            if kind != .decimal { widenPrefix(column, value.prefix) }
        }
    }

    private static func putPacked(
        _ column: ColumnView, _ data: UnsafeMutableRawPointer, _ row: Int, _ value: Int64
    ) -> Bool {
        let (delta, overflow) = value.subtractingReportingOverflow(column.base)
        let width = column.width
        if width == 8 {
            data.put(value &- column.base, row * 8)
            return true
        }
        guard !overflow, delta >= 0, UInt64(delta).byteWidth <= width else { return false }
        if width > 0 { data.put(delta, width: width, row) }
        return true
    }

    private static func widen(_ column: ColumnView, _ value: Int64) {
        guard column.flags.contains(.hasBounds) else { return }
        let bounds = UnsafeMutableRawPointer(mutating: column.bounds)
        bounds.put(min(value, column.minimumInt), BoundsField.minimum)
        bounds.put(max(value, column.maximumInt), BoundsField.maximum)
    }

    private static func widenPrefix(_ column: ColumnView, _ prefix: UInt64) {
        guard column.flags.contains(.hasBounds) else { return }
        let bounds = UnsafeMutableRawPointer(mutating: column.bounds)
        bounds.put(min(prefix, column.minimumPrefix), BoundsField.minimum)
        bounds.put(max(prefix, column.maximumPrefix), BoundsField.maximum)
    }

    private static func widenFloating(
        _ column: ColumnView, _ entry: UnsafeMutableRawPointer, _ value: Double
    ) {
        let bounds = UnsafeMutableRawPointer(mutating: column.bounds)
        if value.isNaN {
            entry.put(column.flags.union(.hasNaN).rawValue, ColumnField.flags)
        } else if column.flags.contains(.hasBounds) {
            bounds.put(min(value, column.minimumDouble).bitPattern, BoundsField.minimum)
            bounds.put(max(value, column.maximumDouble).bitPattern, BoundsField.maximum)
        } else {
            bounds.put(value.bitPattern, BoundsField.minimum)
            bounds.put(value.bitPattern, BoundsField.maximum)
            entry.put(column.flags.union(.hasBounds).rawValue, ColumnField.flags)
        }
    }

    private static func flagInexact(_ entry: UnsafeMutableRawPointer) {
        let flags = ColumnFlags(rawValue: UnsafeRawPointer(entry).u8(ColumnField.flags))
        entry.put(flags.subtracting(.boundsExact).rawValue, ColumnField.flags)
    }

    /// Bytes a block needs so that `set` and `kill` always have room.
    static func bytesWithTombstones(_ view: LeafView) -> Int {
        let used = view.bytesUsed
        return view.tombstones == nil
            ? LeafLayout.align8(used) + LeafLayout.bitmapBytes(view.rows) : used
    }

    /// Marks a row dead. The block has room (`bytesWithTombstones`).
    static func kill(_ view: LeafView, _ row: Int) {
        let block = UnsafeMutableRawPointer(mutating: view.base)
        if view.tombstones == nil {
            let offset = LeafLayout.align8(view.bytesUsed)
            memset(block + offset, 0, LeafLayout.bitmapBytes(view.rows))
            block.put(UInt32(offset), LeafField.tombstones)
            block.put(
                UInt32(offset + LeafLayout.bitmapBytes(view.rows)), BlockField.bytesUsed)
        }
        LeafLayout.setBit(block + Int(view.base.u32(LeafField.tombstones)), row)
        block.put(UInt32(view.liveRows - 1), LeafField.liveRows)
        // A value that only this row had may have been the minimum or maximum.
        for index in 0..<view.columnCount {
            flagInexact(block + (LeafLayout.directoryOffset + index * LeafLayout.entrySize))
        }
    }
}
