// Changes one element of an inline cell (CollectionCell.swift) without decoding the others: a copy
// of the cell in a buffer is opened up, or closed, where the element's bytes stand. Numbers get
// wider columns when they need them and never narrower ones; sealing a collection that was open
// chooses anew.
//
// Every step that makes the cell longer first looks whether it stays a small one. When it does not,
// the step says so and the buffer is of no use any more; the cell that was copied is untouched.
//
// Used by `Table+Cells`. Not for mixed elements, which may be collections of their own.

struct CellEditor {
    /// What the buffer has room for: no step writes beyond the largest inline cell.
    static let bufferBytes = CollectionCell.inlineBytesMax

    private let cell: UnsafeMutableRawPointer
    private let infos: UnsafePointer<ColumnInfo>
    private let columns: Int
    /// Bytes of the cell; 0 for one without elements.
    private(set) var byteCount: Int
    private(set) var elements: Int

    /// `source` is empty or a checked inline cell of elements with these columns.
    @inline(__always)
    init(
        _ source: UnsafeRawBufferPointer, to buffer: UnsafeMutableRawPointer,
        _ infos: UnsafePointer<ColumnInfo>, _ columns: Int
    ) {
        cell = buffer
        self.infos = infos
        self.columns = columns
        elements = 0
        byteCount = source.count
        if byteCount > 0, let start = source.baseAddress {
            memcpy(buffer, start, byteCount)
            elements = Int(start.u16(2))
        }
    }

    private var bytes: UnsafeRawPointer { UnsafeRawPointer(cell) }

    // MARK: Elements

    /// Adds an element before `row`, at most `elements`; `key`: of a dictionary. False when the
    /// cell would be too large.
    mutating func insert(_ value: RawValue, key: RawValue? = nil, at row: Int) -> Bool {
        guard elements < CollectionCell.inlineElementsMax else { return false }
        if byteCount == 0 { begin() }
        var offset = 4
        if let key {
            guard insert(key, offset, infos[0].kind, row) else { return false }
            offset += InlineColumn(bytes + offset, elements + 1, infos[0].kind).byteCount
        }
        guard insert(value, offset, infos[columns - 1].kind, row) else { return false }
        setElements(elements + 1)
        return true
    }

    /// Gives element `row` another value; false when the cell would be too large.
    mutating func replace(_ value: RawValue, at row: Int) -> Bool {
        let offset = start(columns - 1)
        let kind = infos[columns - 1].kind
        remove(offset, kind, row)
        elements -= 1
        guard insert(value, offset, kind, row) else { return false }
        elements += 1
        return true
    }

    mutating func remove(at row: Int) {
        if elements == 1 {
            elements = 0
            byteCount = 0
            return
        }
        var offset = 4
        for index in 0..<columns {
            remove(offset, infos[index].kind, row)
            offset += InlineColumn(bytes + offset, elements - 1, infos[index].kind).byteCount
        }
        setElements(elements - 1)
    }

    private mutating func setElements(_ count: Int) {
        elements = count
        cell.put(UInt16(count), 2)
    }

    /// A cell without elements, which only exists until one is inserted.
    private mutating func begin() {
        cell.put(CollectionCell.inlineForm, 0)
        cell.put(0 as UInt8, 1)
        byteCount = 4
        for index in 0..<columns {
            let hasWidth: Bool
            switch infos[index].kind {
            case .int, .link, .timestamp, .string, .binary, .mixed, .collection: hasWidth = true
            default: hasWidth = false
            }
            cell.put(hasWidth ? 1 as UInt8 : 0, byteCount)
            cell.put(0 as UInt8, byteCount + 1)
            byteCount += 2
        }
    }

    private func start(_ column: Int) -> Int {
        column == 0 ? 4 : 4 + InlineColumn(bytes + 4, elements, infos[0].kind).byteCount
    }

    // MARK: Columns, which begin at `start` and have `elements` values

    @inline(__always)
    private mutating func insert(
        _ value: RawValue, _ start: Int, _ kind: ColumnKind, _ row: Int
    ) -> Bool {
        var header = start + 2
        if value.isNull || bytes.u8(start + 1) & InlineColumn.nullsFlag != 0 {
            guard insertNullBit(value.isNull, start, row) else { return false }
            header += (elements + 8) >> 3
        }
        switch kind {
        case .int: return insertNumber(value.isNull ? 0 : value.intValue, start, header, row)
        case .link:
            return insertNumber(
                value.isNull ? 0 : value.linkTarget.rawValue, start, header, row)
        case .string, .binary, .mixed, .collection:
            return insertText(value, start, header, row)
        case .timestamp: return insertTimestamp(value, start, header, row)
        default: return insertFixed(value, kind, header, row)
        }
    }

    private mutating func remove(_ start: Int, _ kind: ColumnKind, _ row: Int) {
        let flags = bytes.u8(start + 1)
        var header = start + 2
        if flags & InlineColumn.nullsFlag != 0 {
            removeNullBit(start, row)
            header += (elements + 6) >> 3
        }
        let width = Int(bytes.u8(start))
        switch kind {
        case .int, .link: close(header + row * width, width)
        case .timestamp:
            if flags & InlineColumn.nanosecondsFlag != 0 {
                close(header + elements * width + row * 4, 4)
            }
            close(header + row * width, width)
        case .string, .binary, .mixed, .collection:
            let first = end(header, width, row - 1)
            let count = end(header, width, row) - first
            close(header + elements * width + first, count)
            close(header + row * width, width)
            addToEnds(-count, header, width, row..<max(row, elements - 1))
        default: close(header + row * kind.openWidth, kind.openWidth)
        }
    }

    // MARK: Numbers

    @inline(__always)
    private mutating func insertNumber(
        _ number: Int64, _ start: Int, _ header: Int, _ row: Int
    ) -> Bool {
        var width = Int(bytes.u8(start))
        let needed = number.byteWidth
        if needed > width {
            guard widen(start, header, width, needed) else { return false }
            width = needed
        }
        guard open(header + row &* width, width) else { return false }
        (cell + header).put(number, width: width, row)
        return true
    }

    private mutating func widen(_ start: Int, _ header: Int, _ old: Int, _ new: Int) -> Bool {
        guard open(header + elements * old, elements * (new - old)) else { return false }
        // From the last one on: each moves up.
        for row in (0..<elements).reversed() {
            (cell + header).put((bytes + header).signed(old, row), width: new, row)
        }
        cell.put(UInt8(new), start)
        return true
    }

    private mutating func insertTimestamp(
        _ value: RawValue, _ start: Int, _ header: Int, _ row: Int
    ) -> Bool {
        let seconds = value.isNull ? 0 : value.seconds
        guard insertNumber(seconds, start, header, row) else { return false }
        let parts = value.isNull ? 0 : value.nanoseconds
        let flags = bytes.u8(start + 1)
        let offset = header + (elements + 1) * Int(bytes.u8(start))
        if flags & InlineColumn.nanosecondsFlag != 0 {
            guard open(offset + row * 4, 4) else { return false }
        } else {
            if parts == 0 { return true }
            guard open(offset, (elements + 1) * 4) else { return false }
            memset(cell + offset, 0, (elements + 1) * 4)
            cell.put(flags | InlineColumn.nanosecondsFlag, start + 1)
        }
        cell.put(UInt32(bitPattern: parts), offset + row * 4)
        return true
    }

    private mutating func insertFixed(
        _ value: RawValue, _ kind: ColumnKind, _ header: Int, _ row: Int
    ) -> Bool {
        let width = kind.openWidth
        let offset = header + row * width
        guard open(offset, width) else { return false }
        if value.isNull {
            memset(cell + offset, 0, width)
            return true
        }
        switch kind {
        case .bool: cell.put(value.boolValue ? 1 as UInt8 : 0, offset)
        case .float: cell.put(UInt32(truncatingIfNeeded: value.word0), offset)
        case .decimal, .objectId, .uuid: (cell + offset).put(wide: value, 0, kind)
        default: cell.put(value.word0, offset)
        }
        return true
    }

    // MARK: Text

    @inline(__always)
    private func end(_ header: Int, _ width: Int, _ row: Int) -> Int {
        row < 0 ? 0 : Int(truncatingIfNeeded: (bytes + header).unsigned(width, row))
    }

    @inline(__always)
    private func addToEnds(_ count: Int, _ header: Int, _ width: Int, _ rows: Range<Int>) {
        for row in rows {
            (cell + header).put(Int64(end(header, width, row) + count), width: width, row)
        }
    }

    private mutating func insertText(
        _ value: RawValue, _ start: Int, _ header: Int, _ row: Int
    ) -> Bool {
        let text = value.isNull ? UnsafeRawBufferPointer(start: nil, count: 0) : value.bytes
        // Long ones first: their length is not to be added to anything.
        guard text.count <= CollectionCell.inlineBytesMax else { return false }
        var width = Int(bytes.u8(start))
        if width == 1, end(header, 1, elements - 1) + text.count > 0xFF {
            guard open(header + elements, elements) else { return false }
            for row in (0..<elements).reversed() {
                cell.put(UInt16(bytes.u8(header + row)), header + row * 2)
            }
            width = 2
            cell.put(2 as UInt8, start)
        }
        let first = end(header, width, row - 1)
        guard open(header + elements * width + first, text.count) else { return false }
        if text.count > 0, let source = text.baseAddress {
            memcpy(cell + (header + elements * width + first), source, text.count)
        }
        guard open(header + row * width, width) else { return false }
        (cell + header).put(Int64(first + text.count), width: width, row)
        addToEnds(text.count, header, width, row + 1..<max(row, elements) + 1)
        return true
    }

    // MARK: Nulls

    private mutating func insertNullBit(_ isNull: Bool, _ start: Int, _ row: Int) -> Bool {
        let flags = bytes.u8(start + 1)
        let bitmap = start + 2
        let size = (elements + 7) >> 3
        if flags & InlineColumn.nullsFlag == 0 {
            guard open(bitmap, size) else { return false }
            memset(cell + bitmap, 0, size)
            cell.put(flags | InlineColumn.nullsFlag, start + 1)
        }
        if elements & 7 == 0 {
            guard open(bitmap + size, 1) else { return false }
            cell.put(0 as UInt8, bitmap + size)
        }
        for later in stride(from: elements, to: row, by: -1) {
            LeafLayout.setBit(cell + bitmap, later, LeafLayout.bit(bytes + bitmap, later - 1))
        }
        LeafLayout.setBit(cell + bitmap, row, isNull)
        return true
    }

    private mutating func removeNullBit(_ start: Int, _ row: Int) {
        let bitmap = start + 2
        for later in row..<max(row, elements - 1) {
            LeafLayout.setBit(cell + bitmap, later, LeafLayout.bit(bytes + bitmap, later + 1))
        }
        LeafLayout.setBit(cell + bitmap, elements - 1, false)
        if elements & 7 == 1 { close(bitmap + elements >> 3, 1) }
    }

    // MARK: Room

    /// Moves what stands from `offset` on `size` bytes up; false when the cell would be too large.
    @inline(__always)
    private mutating func open(_ offset: Int, _ size: Int) -> Bool {
        guard byteCount &+ size <= CollectionCell.inlineBytesMax else { return false }
        if offset < byteCount {
            memmove(cell + (offset &+ size), cell + offset, byteCount &- offset)
        }
        byteCount &+= size
        return true
    }

    @inline(__always)
    private mutating func close(_ offset: Int, _ size: Int) {
        memmove(cell + offset, cell + (offset &+ size), byteCount &- offset &- size)
        byteCount &-= size
    }
}

extension OpenColumn {
    /// Appends an element to the cell of a list, in the leaf's heap itself: the way that lists are
    /// filled. Only of numbers and texts that are not null and need no wider column, and where the
    /// cell is the last in the heap; otherwise false, and nothing has changed.
    @inline(__always)
    mutating func appendElement(_ row: Int, _ kind: ColumnKind, _ value: RawValue) -> Bool {
        switch kind {
        case .int: return appendNumber(row, value.intValue)
        case .link: return appendNumber(row, value.linkTarget.rawValue)
        case .string, .binary: return appendText(row, value.bytes)
        default: return false
        }
    }

    /// Where the row's cell begins, if the heap ends with it and has room for `room` bytes more.
    @inline(__always)
    private func lastCell(_ row: Int, _ room: Int) -> (cell: UnsafeMutableRawPointer, count: Int)? {
        guard let heap, heapCapacity &- heapUsed >= room &+ Self.emptyCellBytes else {
            return nil
        }
        let count = textLength(row).count
        if count == 0 {
            let cell = heap + heapUsed
            // One element of a column of one byte each; the caller's element comes behind.
            cell.put(UInt32(CollectionCell.inlineForm) | 1 << 16, 0)
            cell.put(1 as UInt16, 4)
            return (cell, 0)
        }
        let offset = textOffset(row)
        guard offset &+ count == heapUsed, count &+ room <= CollectionCell.inlineBytesMax,
            UnsafeRawPointer(heap).u16(offset &+ 2) < CollectionCell.inlineElementsMax,
            UnsafeRawPointer(heap).u8(offset &+ 5) == 0
        else { return nil }
        return (heap + offset, count)
    }

    /// Header and column header.
    private static var emptyCellBytes: Int { 6 }

    @inline(__always)
    private mutating func setLast(
        _ row: Int, _ cell: UnsafeMutableRawPointer, _ old: Int, _ count: Int
    ) {
        if old == 0 {
            data.put(UInt32(truncatingIfNeeded: heapUsed), row &* 8)
        } else {
            cell.put(UnsafeRawPointer(cell).u16(2) &+ 1, 2)
        }
        data.put(UInt32(truncatingIfNeeded: count), row &* 8 &+ 4)
        heapUsed &+= count &- old
    }

    @inline(__always)
    private mutating func appendNumber(_ row: Int, _ number: Int64) -> Bool {
        guard let (cell, old) = lastCell(row, 8) else { return false }
        let needed = number.byteWidth
        var width = needed
        if old == 0 {
            cell.put(UInt8(needed), 4)
        } else {
            width = Int(UnsafeRawPointer(cell).u8(4))
            guard needed <= width else { return false }
        }
        let end = old == 0 ? Self.emptyCellBytes : old
        // The bytes of a narrow number are the low ones; what is behind them is not used yet.
        cell.put(number, end)
        setLast(row, cell, old, end &+ width)
        return true
    }

    @inline(__always)
    private mutating func appendText(_ row: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count <= 0xFF, let (cell, old) = lastCell(row, text.count &+ 1) else {
            return false
        }
        let bytes = UnsafeRawPointer(cell)
        let header = Self.emptyCellBytes
        var heap = header &+ 1
        var end = 0
        if old > 0 {
            let count = Int(bytes.u16(2))
            end = Int(bytes.u8(header &+ count &- 1))
            guard bytes.u8(4) == 1, end &+ text.count <= 0xFF else { return false }
            heap = header &+ count
            memmove(cell + (heap &+ 1), cell + heap, end)
            heap &+= 1
        }
        cell.put(UInt8(truncatingIfNeeded: end &+ text.count), heap &- 1)
        if text.count > 0, let source = text.baseAddress {
            memcpy(cell + (heap &+ end), source, text.count)
        }
        setLast(row, cell, old, heap &+ end &+ text.count)
        return true
    }
}
