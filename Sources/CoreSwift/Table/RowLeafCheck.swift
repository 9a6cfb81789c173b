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
        let used = view.bytesUsed
        let columns = view.columnCount
        let directoryEnd =
            LeafLayout.directoryOffset
            + columns * (LeafLayout.entrySize + LeafLayout.boundsSize)
        guard used <= bytes, directoryEnd <= used, columns <= context.columnCount else {
            throw bad("leaf uses \(used) of \(bytes) bytes for \(columns) columns")
        }
        var layout = LeafExtent(end: directoryEnd, used: used)
        try checkKeys(view, rows, &layout)
        // They stand behind the columns, whose cells are only looked at in rows that live.
        let tombstones = Int(block.u32(LeafField.tombstones))
        guard tombstones == 0 || tombstones <= used - LeafLayout.bitmapBytes(rows) else {
            throw bad("tombstones begin at \(tombstones), the leaf ends at \(used)")
        }
        for index in 0..<columns {
            guard let column = view.column(index) else { continue }
            do throws(RealmError) {
                try checkColumn(column, context.infos[index], rows, &layout)
            } catch {
                throw bad("column \(index): \(error.message)")
            }
        }
        try checkTombstones(view, rows, &layout)
    }

    fileprivate static func bad(_ message: String) -> RealmError {
        RealmError(.invalidDatabase, message)
    }

    private static func checkKeys(
        _ view: LeafView, _ rows: Int, _ layout: inout LeafExtent
    ) throws(RealmError) {
        let width = view.keyWidth
        guard [0, 1, 2, 4, 8].contains(width) else { throw bad("leaf has key width \(width)") }
        guard view.keyBase >= .first, width > 0 || view.keyBase.distance(to: .max) >= rows else {
            throw bad("leaf has first key \(view.keyBase)")
        }
        guard width > 0 else { return }
        try layout.take(Int(view.base.u32(LeafField.keys)), width * rows, "keys")
        for row in 1..<max(rows, 1) where view.key(row - 1) >= view.key(row) {
            throw bad("key of row \(row) is out of order")
        }
        guard view.key(0) >= .first else { throw bad("leaf has first key \(view.key(0))") }
    }

    private static func checkTombstones(
        _ view: LeafView, _ rows: Int, _ layout: inout LeafExtent
    ) throws(RealmError) {
        var dead = 0
        let tombstones = Int(view.base.u32(LeafField.tombstones))
        if tombstones != 0 {
            try layout.take(tombstones, LeafLayout.bitmapBytes(rows), "tombstones")
            for row in 0..<rows where view.isDead(row) { dead += 1 }
        }
        guard view.liveRows == rows - dead else {
            throw bad("leaf counts \(view.liveRows) live rows, \(rows - dead) are")
        }
    }

    private static func checkColumn(
        _ column: ColumnView, _ info: ColumnInfo, _ rows: Int, _ layout: inout LeafExtent
    ) throws(RealmError) {
        let code = column.entry.u8(ColumnField.encoding)
        guard let encoding = ColumnEncoding(rawValue: code) else {
            throw bad("encoding \(code) is unknown")
        }
        if encoding == .absent {
            // Readers look at bitmaps before they look at the encoding.
            guard column.flags.isDisjoint(with: [.hasNulls, .hasExternal]) else {
                throw bad("a column without data has bitmaps")
            }
            return
        }
        guard fits(encoding, info.kind) else {
            throw bad("encoding \(encoding) does not fit a column of kind \(info.kind)")
        }
        let data = Int(column.entry.u32(ColumnField.data))
        let flags = column.flags
        let bitmap = LeafLayout.bitmapBytes(rows)
        if flags.contains(.hasExternal) {
            guard encoding == .string16 || encoding == .string32 else {
                throw bad("external values in encoding \(encoding)")
            }
            try layout.take(
                data - (flags.contains(.hasNulls) ? 2 * bitmap : bitmap), bitmap, "bitmap")
        }
        if flags.contains(.hasNulls) {
            guard info.isNullable else { throw bad("required column has nulls") }
            try layout.take(data - bitmap, bitmap, "bitmap")
        }
        let width = column.width
        let heap = Int(column.entry.u32(ColumnField.heap))
        switch encoding {
        case .absent: break
        case .packed, .timestamp:
            guard [0, 1, 2, 4, 8].contains(width) else { throw bad("width \(width)") }
            var bytes = width * rows
            if encoding == .timestamp && flags.contains(.hasNanoseconds) {
                bytes = LeafLayout.align8(bytes) + rows * 4
            }
            try layout.take(data, bytes, "data")
        case .fixed:
            guard width == info.kind.openWidth else { throw bad("width \(width)") }
            try layout.take(data, width * rows, "data")
        case .bits:
            try layout.take(data, bitmap, "data")
        case .stringFixed:
            try layout.take(data, 0, "data")
            try layout.take(heap, column.fixedLength * rows, "heap")
        case .string16, .string32:
            let width = encoding == .string16 ? 2 : 4
            try layout.take(data, (rows + 1) * width, "offsets")
            try layout.take(heap, try checkOffsets(column, rows, width), "heap")
        case .stringDictionary:
            let words = column.wordCount
            guard words >= 1, words <= 256 else { throw bad("dictionary has \(words) words") }
            try layout.take(data, LeafLayout.align8(rows) + (words + 1) * 2, "dictionary")
            try layout.take(heap, try checkDictionary(column, rows, words), "words")
        }
        if let externals = column.externals { try checkExternals(column, externals, rows) }
        if info.kind == .collection { try checkCells(column, info, rows) }
        if info.kind == .mixed { try checkMixed(column, rows) }
    }

    /// The bytes of every mixed value in the leaf; those in blocks of their own are checked when
    /// they are read.
    private static func checkMixed(_ column: ColumnView, _ rows: Int) throws(RealmError) {
        let externals = column.externals
        // Words of a dictionary are checked once, not for each row that has them.
        var isWordRight = [Bool](repeating: false, count: 256)
        for row in 0..<rows where !column.isNull(row) {
            if let externals, LeafLayout.bit(externals, row) { continue }
            if column.encoding == .stringDictionary {
                let word = Int(column.data.u8(row))
                if isWordRight[word] { continue }
                isWordRight[word] = true
            }
            if let problem = MixedCell.problem(column.bytes(row)) {
                throw bad("row \(row): \(problem)")
            }
            try checkNested(column, row)
        }
    }

    /// Collections in mixed values; those of dead rows may name blocks that never were.
    private static func checkNested(_ column: ColumnView, _ row: Int) throws(RealmError) {
        let value = MixedCell.decode(column.bytes(row))
        guard NestedCell.type(value) != nil, !LeafView(column.leaf).isDead(row) else { return }
        guard column.encoding != .stringDictionary else {
            throw bad("row \(row): a nested collection in a dictionary")
        }
        try NestedCell.check(column.bytes(row), depth: 0)
    }

    /// The cells of collections: those of dead rows may name blocks that never were.
    private static func checkCells(
        _ column: ColumnView, _ info: ColumnInfo, _ rows: Int
    ) throws(RealmError) {
        guard column.externals == nil else { throw bad("collections in blocks of their own") }
        if column.encoding == .stringDictionary {
            for word in 0..<column.wordCount {
                let cell = column.word(word)
                guard !CollectionCell.isTree(cell) else { throw bad("tree in a dictionary") }
                try CollectionCell.check(cell, info)
            }
            return
        }
        let view = LeafView(column.leaf)
        for row in 0..<rows where !view.isDead(row) {
            try CollectionCell.check(column.bytes(row), info)
        }
    }

    private static func checkExternals(
        _ column: ColumnView, _ externals: UnsafeRawPointer, _ rows: Int
    ) throws(RealmError) {
        for row in 0..<rows where LeafLayout.bit(externals, row) {
            let record = column.bytes(row)
            // Rows that died in the transaction that wrote the leaf keep whatever they had.
            guard record.count == LeafLayout.externalRecordSize, let start = record.baseAddress
            else { throw bad("row \(row): external record of \(record.count) bytes") }
            guard BlockReference(start).isStored || LeafView(column.leaf).isDead(row) else {
                throw bad("row \(row): the value's block is none")
            }
        }
    }

    private static func fits(_ encoding: ColumnEncoding, _ kind: ColumnKind) -> Bool {
        switch encoding {
        case .absent: return true
        case .packed: return kind == .int || kind == .link
        case .fixed:
            return kind == .float || kind == .double || kind == .decimal || kind == .objectId
                || kind == .uuid
        case .bits: return kind == .bool
        case .timestamp: return kind == .timestamp
        case .stringFixed, .string16, .string32, .stringDictionary: return kind.hasHeap
        }
    }

    /// Checks the offsets; returns the length of the heap.
    private static func checkOffsets(
        _ column: ColumnView, _ rows: Int, _ width: Int
    ) throws(RealmError) -> Int {
        var last = 0
        for row in 0...rows {
            let offset =
                width == 2 ? Int(column.data.u16(row * 2)) : Int(column.data.u32(row * 4))
            guard offset >= last, row > 0 || offset == 0 else {
                throw bad("offset of row \(row) goes back")
            }
            last = offset
        }
        return last
    }

    /// Checks codes and word offsets; returns the length of all words.
    private static func checkDictionary(
        _ column: ColumnView, _ rows: Int, _ words: Int
    ) throws(RealmError) -> Int {
        for row in 0..<rows where Int(column.data.u8(row)) >= words {
            throw bad("row \(row) names word \(column.data.u8(row)) of \(words)")
        }
        let offsets = column.data + LeafLayout.align8(rows)
        var last = 0
        for word in 0...words {
            let offset = Int(offsets.u16(word * 2))
            guard offset >= last else { throw bad("offset of word \(word) goes back") }
            last = offset
        }
        return last
    }
}

/// Lays out the parts of a leaf one behind another, in the order in which they are written: keys,
/// per column bitmaps, data, heap, and at the end the tombstones. No two overlap then, so a change
/// of one part (`LeafPatch`) cannot break another that was checked.
private struct LeafExtent {
    /// Where the parts so far end.
    var end: Int
    let used: Int

    mutating func take(_ start: Int, _ count: Int, _ what: String) throws(RealmError) {
        guard start >= end, start & 7 == 0 else {
            throw RowLeafCheck.bad("\(what) begins at \(start), what is before ends at \(end)")
        }
        guard count <= used - start else {
            throw RowLeafCheck.bad("\(what) ends at \(start + count), the leaf at \(used)")
        }
        end = start + count
    }
}
