// The structural gate of row leaves: after it, `LeafView` and the query kernels use every offset
// and code unchecked. Run once per block and process, right after the content check.

enum RowLeafCheck {
    struct Context {
        var infos: UnsafePointer<ColumnInfo>
        var columnCount: Int
    }

    static func check(
        _ block: UnsafeRawPointer, _ bytes: Int, _ context: Context
    ) throws(RealmError) {
        let view = LeafView(block)
        let rows = view.rows
        guard rows >= 1, rows <= LeafLayout.rowsMax else {
            throw bad("leaf has \(rows) rows")
        }
        let used = Int(block.u32(8))
        let columns = view.columnCount
        let directoryEnd =
            LeafLayout.directoryOffset
            + columns * (LeafLayout.entrySize + LeafLayout.boundsSize)
        guard used <= bytes, directoryEnd <= used, columns <= context.columnCount else {
            throw bad("leaf uses \(used) of \(bytes) bytes for \(columns) columns")
        }
        try checkKeys(view, rows, used)
        for index in 0..<columns {
            guard let column = view.column(index) else { continue }
            do throws(RealmError) {
                try checkColumn(column, context.infos[index], rows, used)
            } catch {
                throw bad("column \(index): \(error.message)")
            }
        }
    }

    private static func bad(_ message: String) -> RealmError {
        RealmError(.invalidDatabase, message)
    }

    private static func checkKeys(_ view: LeafView, _ rows: Int, _ used: Int) throws(RealmError) {
        let width = view.keyWidth
        guard [0, 1, 2, 4, 8].contains(width) else { throw bad("leaf has key width \(width)") }
        guard view.keyBase >= 0, width > 0 || view.keyBase <= Int64.max - Int64(rows) else {
            throw bad("leaf has first key \(view.keyBase)")
        }
        if width > 0 {
            let offset = Int(view.base.u32(32))
            guard offset >= LeafLayout.directoryOffset, offset + width * rows <= used else {
                throw bad("keys end at \(offset + width * rows), the leaf at \(used)")
            }
            for row in 1..<max(rows, 1) where view.key(row - 1) >= view.key(row) {
                throw bad("key of row \(row) is out of order")
            }
        }
        var dead = 0
        let tombstones = Int(view.base.u32(36))
        if tombstones != 0 {
            guard tombstones & 7 == 0, tombstones + LeafLayout.bitmapBytes(rows) <= used else {
                throw bad("tombstones at \(tombstones) leave the leaf, which ends at \(used)")
            }
            for row in 0..<rows where view.isDead(row) { dead += 1 }
        }
        guard view.liveRows == rows - dead else {
            throw bad("leaf counts \(view.liveRows) live rows, \(rows - dead) are")
        }
    }

    private static func checkColumn(
        _ column: ColumnView, _ info: ColumnInfo, _ rows: Int, _ used: Int
    ) throws(RealmError) {
        guard let encoding = ColumnEncoding(rawValue: column.entry.u8(0)) else {
            throw bad("encoding \(column.entry.u8(0)) is unknown")
        }
        if encoding == .absent { return }
        guard fits(encoding, info.kind) else {
            throw bad("encoding \(encoding) does not fit a column of kind \(info.kind)")
        }
        let data = Int(column.entry.u32(4))
        let flags = column.flags
        let bitmap = LeafLayout.bitmapBytes(rows)
        var before = flags.contains(.hasNulls) ? bitmap : 0
        if flags.contains(.hasExternal) { before += bitmap }
        guard data >= LeafLayout.directoryOffset + before, data <= used, data & 7 == 0 else {
            throw bad("data begins at \(data)")
        }
        if flags.contains(.hasNulls) && !info.isNullable {
            throw bad("required column has nulls")
        }
        let width = column.width
        switch encoding {
        case .absent: break
        case .packed, .timestamp:
            guard [0, 1, 2, 4, 8].contains(width) else { throw bad("width \(width)") }
            var bytes = width * rows
            if encoding == .timestamp && flags.contains(.hasNanoseconds) {
                bytes = LeafLayout.align8(bytes) + rows * 4
            }
            try within(data + bytes, used, "data")
        case .fixed:
            guard width == info.kind.openWidth else { throw bad("width \(width)") }
            try within(data + width * rows, used, "data")
        case .bits:
            try within(data + bitmap, used, "data")
        case .stringFixed:
            try within(Int(column.entry.u32(8)) + column.fixedLength * rows, used, "heap")
        case .string16, .string32:
            try checkOffsets(column, data, rows, encoding == .string16 ? 2 : 4, used)
        case .stringDictionary:
            try checkDictionary(column, data, rows, used)
        }
        if let externals = column.externals {
            guard encoding == .string16 || encoding == .string32 else {
                throw bad("external values in encoding \(encoding)")
            }
            for row in 0..<rows where LeafLayout.bit(externals, row) {
                guard column.bytes(row).count == LeafLayout.externalRecordSize else {
                    throw bad("row \(row): external record of \(column.bytes(row).count) bytes")
                }
            }
        }
    }

    private static func fits(_ encoding: ColumnEncoding, _ kind: ColumnKind) -> Bool {
        switch encoding {
        case .absent: return true
        case .packed: return kind == .int || kind == .link
        case .fixed: return kind == .float || kind == .double
        case .bits: return kind == .bool
        case .timestamp: return kind == .timestamp
        case .stringFixed, .string16, .string32, .stringDictionary: return kind.isText
        }
    }

    private static func within(_ end: Int, _ used: Int, _ what: String) throws(RealmError) {
        guard end <= used else { throw bad("\(what) ends at \(end), the leaf at \(used)") }
    }

    private static func checkOffsets(
        _ column: ColumnView, _ data: Int, _ rows: Int, _ width: Int, _ used: Int
    ) throws(RealmError) {
        try within(data + (rows + 1) * width, used, "offsets")
        let heap = Int(column.entry.u32(8))
        var last = 0
        for row in 0...rows {
            let offset =
                width == 2 ? Int(column.data.u16(row * 2)) : Int(column.data.u32(row * 4))
            guard offset >= last else { throw bad("offset of row \(row) goes back") }
            last = offset
        }
        try within(heap + last, used, "heap")
    }

    private static func checkDictionary(
        _ column: ColumnView, _ data: Int, _ rows: Int, _ used: Int
    ) throws(RealmError) {
        let words = column.wordCount
        guard words >= 1, words <= 256 else { throw bad("dictionary has \(words) words") }
        let offsetsStart = data + LeafLayout.align8(rows)
        try within(offsetsStart + (words + 1) * 2, used, "dictionary offsets")
        for row in 0..<rows where Int(column.data.u8(row)) >= words {
            throw bad("row \(row) names word \(column.data.u8(row)) of \(words)")
        }
        let offsets = column.leaf + offsetsStart
        var last = 0
        for word in 0...words {
            let offset = Int(offsets.u16(word * 2))
            guard offset >= last else { throw bad("offset of word \(word) goes back") }
            last = offset
        }
        try within(Int(column.entry.u32(8)) + last, used, "dictionary")
    }
}
