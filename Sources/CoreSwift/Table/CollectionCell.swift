// What a row holds for a list, a set or a dictionary: its elements themselves while they are few,
// else the root of a tree of their own. A cell is the bytes of a text-like column.
//
//   empty     no bytes
//   inline    elements column by column, at most `inlineBytesMax` in all
//        0     1  1
//        1     1  0
//        2     2  elements
//        4        columns, one behind another, not aligned: the values, or keys and values
//   tree
//        0     1  2
//        1     1  depth: branch levels above the leaves
//        2     6  0
//        8    32  reference of the root
//       40     8  elements
//
// An inline column:
//        0     1  width: integers, links, seconds: bytes of the sign-extended numbers (1, 2, 4,
//                 8); text: bytes of an offset (1, 2); else 0
//        1     1  flags: 1 = some are null, 2 = nanoseconds follow
//        2        bitmap of nulls, (elements + 7) / 8 bytes, if some are null
//                 integers, links: numbers. Timestamps: seconds, then nanoseconds (4 bytes each).
//                 Booleans: a byte each. Text: where each ends in the heap, then the heap. Other
//                 types: their bytes as they are.
//
// Lists keep their order, sets ascend by value (`CollectionOrder`), dictionaries by key. The
// elements of a tree are row leaves without keys (LeafView.swift) under branches that count
// (RowBranch.swift); a branch's keys are just the positions of its children.

enum CollectionCell {
    static let inlineForm: UInt8 = 1
    static let treeForm: UInt8 = 2
    static let treeBytes = 48
    static let rootOffset = 8
    static let countOffset = 40
    /// Inline cells are rewritten whole at a change of one element, and a row leaf should hold a
    /// dozen rows: a sixteenth of a leaf.
    static let inlineBytesMax = 1024
    static let inlineElementsMax = 1000

    @inline(__always) static func isTree(_ cell: UnsafeRawBufferPointer) -> Bool {
        cell.count == treeBytes && cell[0] == treeForm
    }

    /// The number of elements of a checked cell.
    @inline(__always) static func count(_ cell: UnsafeRawBufferPointer) -> Int {
        guard cell.count > 0, let start = cell.baseAddress else { return 0 }
        return start.u8(0) == treeForm
            ? Int(truncatingIfNeeded: start.u64(countOffset)) : Int(start.u16(2))
    }
}

/// The root of a collection's tree, as its cell names it.
struct CollectionRoot {
    var reference: BlockReference
    var depth: Int
    var count: Int

    init(reference: BlockReference, depth: Int, count: Int) {
        self.reference = reference
        self.depth = depth
        self.count = count
    }

    /// Of a checked cell in tree form.
    init(_ cell: UnsafeRawPointer) {
        reference = BlockReference(cell + CollectionCell.rootOffset)
        depth = Int(cell.u8(1))
        count = Int(truncatingIfNeeded: cell.u64(CollectionCell.countOffset))
    }

    func store(_ cell: UnsafeMutableRawPointer) {
        memset(cell, 0, CollectionCell.rootOffset)
        cell.put(CollectionCell.treeForm, 0)
        cell.put(UInt8(depth), 1)
        reference.store(cell + CollectionCell.rootOffset)
        cell.put(UInt64(count), CollectionCell.countOffset)
    }
}

/// The columns of a checked inline cell.
struct InlineCollection {
    let count: Int
    private let first: UnsafeRawPointer

    init(_ cell: UnsafeRawPointer) {
        count = Int(cell.u16(2))
        first = cell + 4
    }

    /// Where column `index` begins; of a dictionary, the values begin behind the keys.
    @inline(__always)
    private func start(
        _ index: Int, _ infos: UnsafePointer<ColumnInfo>
    ) -> UnsafeRawPointer {
        var start = first
        for column in 0..<index {
            start += InlineColumn(start, count, infos[column].kind).byteCount
        }
        return start
    }

    @inline(__always)
    func column(_ index: Int, _ infos: UnsafePointer<ColumnInfo>) -> InlineColumn {
        InlineColumn(start(index, infos), count, infos[index].kind)
    }
}

struct InlineColumn {
    let count: Int
    let kind: ColumnKind
    let width: Int
    let hasNanoseconds: Bool
    private let nulls: UnsafeRawPointer?
    /// Numbers, ends or plain bytes.
    private let data: UnsafeRawPointer
    let headerBytes: Int

    static let nullsFlag: UInt8 = 1
    static let nanosecondsFlag: UInt8 = 2

    @inline(__always)
    init(_ start: UnsafeRawPointer, _ count: Int, _ kind: ColumnKind) {
        self.count = count
        self.kind = kind
        width = Int(start.u8(0))
        let flags = start.u8(1)
        hasNanoseconds = flags & Self.nanosecondsFlag != 0
        let hasNulls = flags & Self.nullsFlag != 0
        nulls = hasNulls ? start + 2 : nil
        headerBytes = hasNulls ? 2 &+ (count &+ 7) >> 3 : 2
        data = start + headerBytes
    }

    @inline(__always) func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return LeafLayout.bit(nulls, row)
    }

    @inline(__always) func integer(_ row: Int) -> Int64 {
        data.signed(width, row)
    }
    @inline(__always) func nanoseconds(_ row: Int) -> Int32 {
        hasNanoseconds ? Int32(bitPattern: data.u32(count &* width &+ row &* 4)) : 0
    }
    @inline(__always) fileprivate func end(_ row: Int) -> Int {
        row < 0 ? 0 : width == 1 ? Int(data.u8(row)) : Int(data.u16(row &* 2))
    }
    @inline(__always) func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        let start = end(row &- 1)
        return UnsafeRawBufferPointer(
            start: data + (count &* width &+ start), count: end(row) &- start)
    }
    @inline(__always) func fixed(_ row: Int) -> UnsafeRawPointer {
        data + row &* kind.openWidth
    }

    /// Bytes of the column, header included.
    @inline(__always) var byteCount: Int { headerBytes &+ dataBytes }

    private var dataBytes: Int {
        switch kind {
        case .int, .link: return width * count
        case .timestamp: return (width + (hasNanoseconds ? 4 : 0)) * count
        case .string, .binary, .mixed, .collection: return width * count + end(count - 1)
        default: return kind.openWidth * count
        }
    }

    func value(_ row: Int, _ info: ColumnInfo) -> RawValue {
        if isNull(row) { return .null }
        switch kind {
        case .int: return .int(integer(row))
        case .link: return .link(info.linkTarget, ObjectKey(rawValue: integer(row)))
        case .timestamp:
            return .timestamp(seconds: integer(row), nanoseconds: nanoseconds(row))
        case .bool: return .bool(fixed(row).u8(0) != 0)
        case .float: return .float(Float(bitPattern: fixed(row).u32(0)))
        case .double: return .double(Double(bitPattern: fixed(row).u64(0)))
        case .mixed: return MixedCell.decode(bytes(row))
        case .decimal, .objectId, .uuid: return RawValue(wide: data, row, kind)
        case .string, .binary, .collection:
            let bytes = bytes(row)
            return RawValue(
                word0: UInt64(UInt(bitPattern: bytes.baseAddress)), word1: UInt64(bytes.count),
                type: kind == .string ? .string : .binary)
        }
    }
}

// MARK: The structural gate

extension CollectionCell {
    /// Checks a cell that came from a file; afterwards its offsets are used unchecked.
    static func check(
        _ cell: UnsafeRawBufferPointer, _ info: ColumnInfo
    ) throws(RealmError) {
        guard let infos = info.elements else { throw bad("column without elements") }
        try check(cell, infos: infos, info.elementColumns, depth: 1)
    }

    /// The same for elements with these columns; `depth`: how many collections this one is in,
    /// itself included.
    static func check(
        _ cell: UnsafeRawBufferPointer, infos: UnsafePointer<ColumnInfo>, _ columns: Int,
        depth: Int
    ) throws(RealmError) {
        guard cell.count > 0, let start = cell.baseAddress else { return }
        switch start.u8(0) {
        case treeForm:
            let root = CollectionRoot(start)
            guard cell.count == treeBytes, root.reference.isStored, root.depth < 16,
                root.count > 0, root.count <= TreeLimits.entriesMax, start.u64(0) >> 16 == 0
            else {
                throw bad(
                    "tree cell of \(cell.count) bytes, depth \(root.depth), \(root.count) elements")
            }
        case inlineForm:
            try checkInline(cell, infos, columns, depth)
        default:
            throw bad("cell has form \(start.u8(0))")
        }
    }

    private static func bad(_ message: String) -> RealmError {
        RealmError(.invalidDatabase, "collection: \(message)")
    }

    private static func checkInline(
        _ cell: UnsafeRawBufferPointer, _ elements: UnsafePointer<ColumnInfo>, _ columns: Int,
        _ depth: Int
    ) throws(RealmError) {
        guard cell.count >= 4, let start = cell.baseAddress else {
            throw bad("cell of \(cell.count) bytes")
        }
        let count = Int(start.u16(2))
        guard count > 0 else { throw bad("inline cell without elements") }
        var offset = 4
        for index in 0..<columns {
            let room = cell.count - offset
            guard room >= 2, start.u8(offset + 1) & 1 == 0 || room >= 2 + (count + 7) / 8 else {
                throw bad("column \(index) does not fit")
            }
            try checkColumn(start + offset, room, count, elements[index], index, depth)
            offset += InlineColumn(start + offset, count, elements[index].kind).byteCount
        }
        guard offset == cell.count else { throw bad("\(cell.count) bytes, its columns \(offset)") }
    }

    private static func checkColumn(
        _ start: UnsafeRawPointer, _ room: Int, _ count: Int, _ info: ColumnInfo, _ index: Int,
        _ depth: Int
    ) throws(RealmError) {
        let column = InlineColumn(start, count, info.kind)
        let flags = start.u8(1)
        guard flags & ~3 == 0, !column.hasNanoseconds || info.kind == .timestamp,
            flags & InlineColumn.nullsFlag == 0 || info.isNullable
        else { throw bad("column \(index) has flags \(flags)") }
        switch info.kind {
        case .int, .link, .timestamp:
            guard [1, 2, 4, 8].contains(column.width) else {
                throw bad("column \(index) has width \(column.width)")
            }
        case .string, .binary, .mixed, .collection:
            guard column.width == 1 || column.width == 2, room >= 2 + column.width * count else {
                throw bad("column \(index) has offsets of \(column.width) bytes")
            }
            let header = column.headerBytes
            guard room >= header + column.width * count else {
                throw bad("column \(index): the offsets do not fit")
            }
            var last = 0
            for row in 0..<count {
                let end = column.end(row)
                guard end >= last else { throw bad("column \(index): end \(row) goes back") }
                last = end
            }
            guard room >= header + column.width * count + last else {
                throw bad("column \(index): the heap does not fit")
            }
            if info.kind == .mixed { try checkMixed(column, index, depth) }
        default:
            guard column.width == 0 else { throw bad("column \(index) has a width") }
        }
        guard column.byteCount <= room else { throw bad("column \(index) does not fit") }
    }
}

extension CollectionCell {
    private static func checkMixed(
        _ column: InlineColumn, _ index: Int, _ depth: Int
    ) throws(RealmError) {
        for row in 0..<column.count where !column.isNull(row) {
            if let problem = MixedCell.problem(column.bytes(row)) {
                throw bad("column \(index), element \(row): \(problem)")
            }
            try NestedCell.check(column.bytes(row), depth: depth)
        }
    }
}

// MARK: Encoding

extension CollectionCell {
    /// The elements of an open leaf as inline cell, or nil when they take more than
    /// `inlineBytesMax` bytes. `target` has room for so many.
    static func encode(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ infos: UnsafePointer<ColumnInfo>,
        _ target: UnsafeMutableRawPointer
    ) -> Int? {
        let rows = leaf.pointee.rows
        guard rows <= inlineElementsMax, !leaf.pointee.hasExternals else { return nil }
        target.put(inlineForm, 0)
        target.put(0 as UInt8, 1)
        target.put(UInt16(rows), 2)
        var offset = 4
        for index in 0..<leaf.pointee.columnCount {
            let column = leaf.pointee.columns[index]
            guard let next = encode(column, rows, target, offset) else { return nil }
            offset = next
        }
        return offset
    }

    private static func encode(
        _ column: OpenColumn, _ rows: Int, _ target: UnsafeMutableRawPointer, _ start: Int
    ) -> Int? {
        var hasNulls = false
        if let nulls = column.nulls {
            for row in 0..<rows where UnsafeRawPointer(nulls).u8(row) != 0 { hasNulls = true }
        }
        var flags: UInt8 = hasNulls ? InlineColumn.nullsFlag : 0
        var offset = start + 2
        let bitmapBytes = (rows + 7) / 8
        if hasNulls {
            guard offset + bitmapBytes <= inlineBytesMax else { return nil }
            memset(target + offset, 0, bitmapBytes)
            for row in 0..<rows where column.isNull(row) {
                LeafLayout.setBit(target + offset, row)
            }
            offset += bitmapBytes
        }
        var width = 0
        switch column.kind {
        case .int, .link, .timestamp:
            width = signedWidth(column, rows)
            guard offset + width * rows <= inlineBytesMax else { return nil }
            for row in 0..<rows { (target + offset).put(column.int(row), width: width, row) }
            offset += width * rows
            if let parts = column.nanoseconds.map({ UnsafeRawPointer($0) }),
                (0..<rows).contains(where: { parts.u32($0 * 4) != 0 })
            {
                guard offset + 4 * rows <= inlineBytesMax else { return nil }
                memcpy(target + offset, parts, 4 * rows)
                flags |= InlineColumn.nanosecondsFlag
                offset += 4 * rows
            }
        case .string, .binary, .mixed, .collection:
            guard let end = encodeText(column, rows, target, offset, &width) else { return nil }
            offset = end
        default:
            let bytes = column.kind.openWidth * rows
            guard offset + bytes <= inlineBytesMax else { return nil }
            memcpy(target + offset, column.data, bytes)
            offset += bytes
        }
        target.put(UInt8(width), start)
        target.put(flags, start + 1)
        return offset
    }

    /// The cell of a list of values that are not null, which are of this kind: Booleans, floats or doubles; nil for other
    /// kinds, for none, and when they take more than `inlineBytesMax` bytes, for which `target` has room.
    static func encode(
        _ values: UnsafePointer<RawValue>, _ count: Int, _ kind: ColumnKind,
        _ target: UnsafeMutableRawPointer
    ) -> Int? {
        guard kind == .bool || kind == .float || kind == .double,
            let start = putHead(count, width: 0, size: kind.openWidth, target)
        else { return nil }
        switch kind {
        case .bool:
            for row in 0..<count { target.put(values[row].boolValue ? 1 as UInt8 : 0, start + row) }
        case .float:
            for row in 0..<count {
                target.put(UInt32(truncatingIfNeeded: values[row].word0), start + row * 4)
            }
        default:
            for row in 0..<count { target.put(values[row].word0, start + row * 8) }
        }
        return start + kind.openWidth * count
    }

    /// The same for integers, or keys of links.
    static func encode(
        _ numbers: UnsafePointer<Int64>, _ count: Int, _ target: UnsafeMutableRawPointer
    ) -> Int? {
        // A number fits into so many bits as a signed one where it and its double differ in these alone.
        var differing: UInt64 = 0
        for row in 0..<count {
            let bits = UInt64(bitPattern: numbers[row])
            differing |= bits ^ (bits &+ bits)
        }
        let width = max(1, differing.byteWidth)
        guard let start = putHead(count, width: width, size: width, target) else { return nil }
        switch width {
        case 1: putAll(Int8.self, numbers, count, target + start)
        case 2: putAll(Int16.self, numbers, count, target + start)
        case 4: putAll(Int32.self, numbers, count, target + start)
        default: memcpy(target + start, numbers, count &* 8)
        }
        return start + width * count
    }

    /// What stands before elements of so many bytes each; where it ends.
    private static func putHead(
        _ count: Int, width: Int, size: Int, _ target: UnsafeMutableRawPointer
    ) -> Int? {
        let start = 6
        guard count > 0, count <= inlineElementsMax, start + size * count <= inlineBytesMax else {
            return nil
        }
        target.put(inlineForm, 0)
        target.put(0 as UInt8, 1)
        target.put(UInt16(count), 2)
        target.put(UInt8(width), 4)
        target.put(0 as UInt8, 5)
        return start
    }

    /// Puts numbers that fit into the type one behind the other.
    @inline(__always)
    private static func putAll<Number: FixedWidthInteger>(
        _ type: Number.Type, _ numbers: UnsafePointer<Int64>, _ count: Int,
        _ target: UnsafeMutableRawPointer
    ) {
        for row in 0..<count {
            target.storeBytes(
                of: Number(truncatingIfNeeded: numbers[row]),
                toByteOffset: row &* MemoryLayout<Number>.size, as: Number.self)
        }
    }

    private static func signedWidth(_ column: OpenColumn, _ rows: Int) -> Int {
        var low: Int64 = 0
        var high: Int64 = 0
        for row in 0..<rows {
            low = min(low, column.int(row))
            high = max(high, column.int(row))
        }
        return max(low.byteWidth, high.byteWidth)
    }

    private static func encodeText(
        _ column: OpenColumn, _ rows: Int, _ target: UnsafeMutableRawPointer, _ offset: Int,
        _ width: inout Int
    ) -> Int? {
        var total = 0
        for row in 0..<rows { total += column.textLength(row).count }
        width = total <= 0xFF ? 1 : 2
        let heap = offset + width * rows
        guard heap + total <= inlineBytesMax else { return nil }
        var end = 0
        for row in 0..<rows {
            let count = column.textLength(row).count
            if count > 0, let source = column.heap {
                memcpy(target + (heap + end), source + column.textOffset(row), count)
            }
            end += count
            (target + offset).put(Int64(end), width: width, row)
        }
        return heap + total
    }

    /// Appends the elements of a checked inline cell to an open leaf that has room.
    static func decode(
        _ cell: UnsafeRawPointer, _ infos: UnsafePointer<ColumnInfo>,
        to leaf: UnsafeMutablePointer<OpenLeaf>
    ) {
        let inline = InlineCollection(cell)
        let first = leaf.pointee.rows
        leaf.pointee.rows += inline.count
        for index in 0..<leaf.pointee.columnCount {
            let source = inline.column(index, infos)
            let target = leaf.pointee.columns + index
            for row in 0..<inline.count {
                target.pointee.nulls?.put(source.isNull(row) ? 1 as UInt8 : 0, first + row)
            }
            let data = target.pointee.data
            switch source.kind {
            case .int, .link, .timestamp:
                for row in 0..<inline.count {
                    data.put(source.integer(row), (first + row) * 8)
                    target.pointee.nanoseconds?.put(
                        UInt32(bitPattern: source.nanoseconds(row)), (first + row) * 4)
                }
            case .string, .binary, .mixed, .collection:
                for row in 0..<inline.count {
                    let bytes = source.bytes(row)
                    guard bytes.count > 0, let start = bytes.baseAddress else { continue }
                    target.pointee.setText(first + row, start, bytes.count)
                }
            default:
                let width = source.kind.openWidth
                memcpy(data + first * width, source.fixed(0), inline.count * width)
            }
        }
    }
}
