// Reading a sealed row leaf: the layout of its bytes and unchecked access to them. Views are made
// only of blocks that passed `RowLeafCheck`, so every offset below is inside the block.
//
//   offset  size  field
//        0    16  block header (kind rowLeaf; entry count = rows, dead ones included)
//       16     8  first key (base of the keys)
//       24     4  live rows
//       28     2  columns in the directory
//       30     1  key width: 0 = dense (key = base + row), else 1, 2, 4, 8 bytes of (key - base)
//       31     1  0
//       32     4  offset of the keys, 0 when dense
//       36     4  offset of the tombstone bitmap, 0 when no row is dead (bit set = dead)
//       40     8  0
//       48  16*c  directory: one ColumnEntry per column
//          16*c   bounds: minimum and maximum per column, 8 bytes each
//                 columns, each aligned to 8 bytes
//
// ColumnEntry:
//        0     1  ColumnEncoding
//        1     1  width: bytes per value (packed: 0, 1, 2, 4, 8; fixed: 4, 8, 12, 16)
//        2     1  ColumnFlags
//        3     1  0
//        4     4  offset of the data
//        8     8  packed, timestamp: base. Strings: offset of the heap (4), and (4) the fixed
//                 length or the number of dictionary words
//
// Bitmaps stand directly before the data: external values (if the column has any), then nulls (if
// it has any); each is `bitmapBytes(rows)` long, bit set = external / null.
//
// Bounds hold for non-null live values; with `boundsExact` some row has each of them. Integers and
// links: the value. Timestamps: seconds. Doubles and floats: the bits of a Double, NaN left out
// (the flag `hasNaN` tells). Strings, binaries, object ids and UUIDs: the first eight bytes,
// big-endian, zero-padded. A column without `hasBounds` (no value at all, only NaN, decimals, mixed
// values) has none.
//
// Mixed columns are encoded as strings are; their bytes are those of `MixedCell`.

import CKernels

enum ColumnEncoding: UInt8 {
    /// No data: the value is null, or the type's default in a required column; also the column of
    /// an integer primary key that is the object key itself.
    case absent = 0
    /// Integers and link keys: value = base + unsigned delta of `width` bytes (0: all equal).
    case packed = 1
    /// `width` raw bytes per row.
    case fixed = 2
    /// One bit per row.
    case bits = 3
    /// Seconds as `packed`; with `hasNanoseconds`, Int32 per row follows, aligned to 8 bytes.
    case timestamp = 4
    /// Every value has the same length: bytes one after another.
    case stringFixed = 5
    /// rows + 1 16-bit offsets into the heap.
    case string16 = 6
    /// rows + 1 32-bit offsets into the heap.
    case string32 = 7
    /// One byte per row names a word; words + 1 16-bit offsets follow, aligned to 8 bytes.
    case stringDictionary = 8

    /// Texts one behind another in a heap.
    @inline(__always) var isTexts: Bool {
        self == .stringFixed || self == .string16 || self == .string32
    }
}

struct ColumnFlags: OptionSet {
    let rawValue: UInt8
    static let hasNulls = ColumnFlags(rawValue: 1)
    static let hasBounds = ColumnFlags(rawValue: 2)
    static let boundsExact = ColumnFlags(rawValue: 4)
    static let hasNanoseconds = ColumnFlags(rawValue: 8)
    /// Some values are 40-byte records {BlockReference, length} of a block of their own.
    static let hasExternal = ColumnFlags(rawValue: 16)
    static let hasNaN = ColumnFlags(rawValue: 32)
}

/// Where the fields of a leaf's header stand.
enum LeafField {
    static let keyBase = 16
    static let liveRows = 24
    static let columnCount = 28
    static let keyWidth = 30
    static let keys = 32
    static let tombstones = 36
}

/// Where the fields of a ColumnEntry stand.
enum ColumnField {
    static let encoding = 0
    static let width = 1
    static let flags = 2
    static let data = 4
    static let base = 8
    static let heap = 8
    static let lengthOrWords = 12
}

enum BoundsField {
    static let minimum = 0
    static let maximum = 8
}

enum LeafLayout {
    static let directoryOffset = 48
    static let entrySize = 16
    static let boundsSize = 16
    /// Record of a value in a block of its own: reference and length.
    static let externalRecordSize = 40
    static let externalLengthOffset = 32
    /// Rows a leaf may hold at most; a safety, the byte target is what splits leaves.
    static let rowsMax = 2048
    /// Encoded bytes a leaf aims at; of rows: `Table.leafBytesTarget`.
    static let bytesTarget = 16 * 1024
    /// Values above this (an eighth of the target) get blocks of their own.
    static let inlineBytesMax = 2048

    /// Of the entries and bounds of all columns.
    @inline(__always) static func directoryBytes(_ columns: Int) -> Int {
        columns * (entrySize + boundsSize)
    }
    @inline(__always) static func align8(_ offset: Int) -> Int { (offset + 7) & ~7 }
    @inline(__always) static func bitmapBytes(_ rows: Int) -> Int { ((rows + 63) >> 6) << 3 }
    @inline(__always) static func bit(_ bitmap: UnsafeRawPointer, _ row: Int) -> Bool {
        bitmap.u8(row >> 3) >> UInt8(row & 7) & 1 != 0
    }
    @inline(__always)
    static func setBit(_ bitmap: UnsafeMutableRawPointer, _ row: Int, _ isSet: Bool = true) {
        let byte = UnsafeRawPointer(bitmap).u8(row >> 3)
        let bit = UInt8(1) << UInt8(row & 7)
        bitmap.put(isSet ? byte | bit : byte & ~bit, row >> 3)
    }
}

extension RawValue {
    /// Row `row` of decimals, UUIDs or object ids that stand one after another.
    @inline(__always)
    init(wide data: UnsafeRawPointer, _ row: Int, _ kind: ColumnKind) {
        if kind == .objectId {
            self.init(
                word0: data.u64(row &* 12), word1: UInt64(data.u32(row &* 12 &+ 8)),
                type: .objectId)
        } else {
            self.init(
                word0: data.u64(row &* 16), word1: data.u64(row &* 16 &+ 8),
                type: kind == .uuid ? .uuid : .decimal128)
        }
    }

    /// The first eight bytes of an object id or UUID as a big-endian number: what bounds hold.
    @inline(__always) var prefix: UInt64 { UInt64(bigEndian: word0) }
}

extension UnsafeMutableRawPointer {
    /// Stores a decimal, UUID or object id as `RawValue.init(wide:)` reads it.
    @inline(__always)
    func put(wide value: RawValue, _ row: Int, _ kind: ColumnKind) {
        if kind == .objectId {
            put(value.word0, row &* 12)
            put(UInt32(truncatingIfNeeded: value.word1), row &* 12 &+ 8)
        } else {
            put(value.word0, row &* 16)
            put(value.word1, row &* 16 &+ 8)
        }
    }
}

/// One column of a sealed leaf.
struct ColumnView {
    /// Start of the leaf block.
    let leaf: UnsafeRawPointer
    let rows: Int
    let entry: UnsafeRawPointer
    let bounds: UnsafeRawPointer

    @inline(__always) var encoding: ColumnEncoding {
        unsafeBitCast(entry.u8(ColumnField.encoding), to: ColumnEncoding.self)
    }
    @inline(__always) var width: Int { Int(entry.u8(ColumnField.width)) }
    @inline(__always) var flags: ColumnFlags {
        ColumnFlags(rawValue: entry.u8(ColumnField.flags))
    }
    @inline(__always) var data: UnsafeRawPointer { leaf + Int(entry.u32(ColumnField.data)) }
    @inline(__always) var base: Int64 { entry.i64(ColumnField.base) }
    @inline(__always) var heap: UnsafeRawPointer { leaf + Int(entry.u32(ColumnField.heap)) }
    @inline(__always) var fixedLength: Int { Int(entry.u32(ColumnField.lengthOrWords)) }
    @inline(__always) var wordCount: Int { Int(entry.u32(ColumnField.lengthOrWords)) }

    /// The null bitmap, if the column has nulls.
    @inline(__always) var nulls: UnsafeRawPointer? {
        flags.contains(.hasNulls) ? data - LeafLayout.bitmapBytes(rows) : nil
    }
    /// The bitmap of values in blocks of their own, if there are any.
    @inline(__always) var externals: UnsafeRawPointer? {
        guard flags.contains(.hasExternal) else { return nil }
        let one = LeafLayout.bitmapBytes(rows)
        return data - (flags.contains(.hasNulls) ? 2 * one : one)
    }
    @inline(__always) func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return LeafLayout.bit(nulls, row)
    }

    @inline(__always) var minimumInt: Int64 { bounds.i64(BoundsField.minimum) }
    @inline(__always) var maximumInt: Int64 { bounds.i64(BoundsField.maximum) }
    @inline(__always) var minimumDouble: Double { Double(bitPattern: minimumPrefix) }
    @inline(__always) var maximumDouble: Double { Double(bitPattern: maximumPrefix) }
    @inline(__always) var minimumPrefix: UInt64 { bounds.u64(BoundsField.minimum) }
    @inline(__always) var maximumPrefix: UInt64 { bounds.u64(BoundsField.maximum) }

    /// Value of a packed column (also the seconds of a timestamp column).
    @inline(__always) func packed(_ row: Int) -> Int64 {
        base &+ Int64(bitPattern: data.unsigned(width, row))
    }
    /// The target of a link.
    @inline(__always) func objectKey(_ row: Int) -> ObjectKey {
        ObjectKey(rawValue: packed(row))
    }
    @inline(__always) func nanoseconds(_ row: Int) -> Int32 {
        guard flags.contains(.hasNanoseconds) else { return 0 }
        let start = LeafLayout.align8(rows &* width)
        return Int32(bitPattern: data.u32(start &+ row &* 4))
    }
    @inline(__always) func bit(_ row: Int) -> Bool { LeafLayout.bit(data, row) }
    @inline(__always) func double(_ row: Int) -> Double { Double(bitPattern: data.u64(row &* 8)) }
    @inline(__always) func float(_ row: Int) -> Float { Float(bitPattern: data.u32(row &* 4)) }
    @inline(__always) func decimal(_ row: Int) -> Decimal128 {
        Decimal128(low: data.u64(row &* 16), high: data.u64(row &* 16 &+ 8))
    }
    /// Value of a column of fixed width.
    @inline(__always) func fixed(_ row: Int, _ kind: ColumnKind) -> RawValue {
        if kind == .double { return .double(double(row)) }
        if kind == .float { return .float(float(row)) }
        return RawValue(wide: data, row, kind)
    }

    /// Sends for the first so many bytes of what `data` is, at most a page: the processor's own prefetch ends with one.
    @inline(__always) func sendFor(bytes: Int) {
        var line = data
        let end = line + min(bytes, Page.size)
        while line < end {
            ck_prefetch(line)
            line += 64
        }
    }

    /// The bytes stored for a row of a string or binary column; for external values their record.
    @inline(__always) func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        switch encoding {
        case .stringFixed:
            let length = fixedLength
            return UnsafeRawBufferPointer(start: heap + row &* length, count: length)
        case .string16:
            let start = Int(data.u16(row &* 2))
            return UnsafeRawBufferPointer(
                start: heap + start, count: Int(data.u16(row &* 2 &+ 2)) &- start)
        case .string32:
            let start = Int(data.u32(row &* 4))
            return UnsafeRawBufferPointer(
                start: heap + start, count: Int(data.u32(row &* 4 &+ 4)) &- start)
        case .stringDictionary:
            return word(Int(data.u8(row)))
        default:
            // Absent: the empty value, at an address that exists.
            return UnsafeRawBufferPointer(start: leaf, count: 0)
        }
    }
    /// Word `index` of a dictionary column.
    @inline(__always) func word(_ index: Int) -> UnsafeRawBufferPointer {
        let offsets = data + LeafLayout.align8(rows)
        let start = Int(offsets.u16(index &* 2))
        return UnsafeRawBufferPointer(
            start: heap + start, count: Int(offsets.u16(index &* 2 &+ 2)) &- start)
    }
}

/// A sealed leaf.
struct LeafView {
    let base: UnsafeRawPointer

    @inline(__always) init(_ base: UnsafeRawPointer) { self.base = base }

    /// Rows, dead ones included.
    @inline(__always) var rows: Int { Int(base.u32(BlockField.count)) }
    @inline(__always) var bytesUsed: Int { Int(base.u32(BlockField.bytesUsed)) }
    @inline(__always) var liveRows: Int { Int(base.u32(LeafField.liveRows)) }
    @inline(__always) var columnCount: Int { Int(base.u16(LeafField.columnCount)) }
    @inline(__always) var keyBase: ObjectKey { base.objectKey(LeafField.keyBase) }
    @inline(__always) var keyWidth: Int { Int(base.u8(LeafField.keyWidth)) }
    @inline(__always) var keys: UnsafeRawPointer { base + Int(base.u32(LeafField.keys)) }
    /// The bitmap of dead rows, if any row is dead.
    @inline(__always) var tombstones: UnsafeRawPointer? {
        let offset = Int(base.u32(LeafField.tombstones))
        return offset == 0 ? nil : base + offset
    }

    @inline(__always) func key(_ row: Int) -> ObjectKey {
        let width = keyWidth
        let offset = width == 0 ? row : Int(truncatingIfNeeded: keys.unsigned(width, row))
        return keyBase.advanced(by: offset)
    }

    @inline(__always) func isDead(_ row: Int) -> Bool {
        guard let tombstones else { return false }
        return LeafLayout.bit(tombstones, row)
    }

    /// The column as the leaf has it, or nil when the leaf was written before the column existed:
    /// its rows hold the initial value then, see `column(_:_:)`.
    @inline(__always) func column(_ index: Int) -> ColumnView? {
        let count = columnCount
        guard index < count else { return nil }
        let directory = base + LeafLayout.directoryOffset
        return ColumnView(
            leaf: base, rows: rows, entry: directory + index &* LeafLayout.entrySize,
            bounds: directory
                + (count &* LeafLayout.entrySize &+ index &* LeafLayout.boundsSize))
    }

    /// Calls `body` with the records of values in blocks of their own that live rows have in these columns.
    func forEachExternal<Failure>(
        _ infos: UnsafePointer<ColumnInfo>, _ count: Int,
        _ body: (UnsafeRawPointer) throws(Failure) -> Void
    ) throws(Failure) {
        for index in 0..<min(columnCount, count) where infos[index].kind.hasHeap {
            guard let column = column(index), let externals = column.externals else { continue }
            for row in 0..<rows where LeafLayout.bit(externals, row) && !isDead(row) {
                if let record = column.bytes(row).baseAddress { try body(record) }
            }
        }
    }

    /// The row with this key, dead or alive, or nil.
    @inline(__always) func row(of key: ObjectKey) -> Int? {
        let count = rows
        if keyWidth == 0 {
            let row = keyBase.distance(to: key)
            return row >= 0 && row < count ? row : nil
        }
        let row = (0..<count).partitionPoint { self.key($0) < key }
        return row < count && self.key(row) == key ? row : nil
    }
}
