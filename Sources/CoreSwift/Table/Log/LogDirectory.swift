// Where the change log of a version is: the part of the catalog that says so, and the blocks that it
// names.
//
// The log of small commits stands in the catalog itself, in its *tail*. When that grows beyond a
// kilobyte, it becomes a block (a *segment*), which an *entry* of the catalog names. When there are
// many entries, the oldest go into a block of entries, which one entry names, and so on: the catalog
// stays small however far back the log reaches.
//
// Section of the catalog, behind the classes (formats 3 to 7):
//   offset  size  field
//        0     4  format of the schema block (1 or 2)
//        4     8  the log has what every version above this one did
//       12     2  consumers
//       14     2  entries
//       16     4  bytes of the tail
//       20        per consumer: version that it has acknowledged (8), name (length (2), UTF-8)
//                 per entry: level (1), `LogEntry` (48)
//                 from format 4 on: how many `UnwrittenObjects` there are (2); each: version (8), class key (4), from
//                 format 8 on 1 or 0 (1): the log has their integers or not; runs of keys (4), of each the first and
//                 the last (8 each)
//                 tail: records
//
// Block (kind 9; the level stands in the tag as column): block header, bytes used and number of
// records or entries included; at level 0 records, above it entries of the level below.
//   LogEntry   0  8  version before the first that it is about
//              8  8  last version that it is about
//             16 32  reference of its block
//   record     version (number), bytes (number), log of the version (`RecordEncoder`)
//
// Invariants
//   1. Records ascend by version, within blocks and from block to block to the tail (`RecordOrder`). Those up to `from`
//      may be there, in segments that have later ones, and are not read.
//   2. A version above `from` without a record changed nothing: a commit that was not recorded moves
//      `from` to its version.
//   3. No consumer has acknowledged less than `from`.

struct LogEntry: Equatable {
    static let byteCount = 48
    static let rootOffset = 16

    var from: UInt64
    var last: UInt64
    var root: BlockReference
    /// 0: a segment.
    var level: Int
}

/// Somebody who reads the log, by name: what it has not acknowledged is kept.
public struct ChangeConsumer: Equatable, Sendable {
    public var name: String
    public var acknowledged: UInt64
}

struct LogDirectory: Equatable {
    static let tailBytesMax = 1024
    /// Entries of one level, and how many of them then go into a block.
    static let entriesMax = 64
    static let entriesPacked = 48
    static let levelMax = 8
    static let nameBytesMax = 255
    static let consumersMax = 1000
    /// Bytes of the log that are kept for who only wants to be notified: who lags further behind
    /// compares versions.
    static let notifiedPagesMax = 4096

    var from: UInt64
    var consumers: [ChangeConsumer] = []
    /// Ascending by version; levels descend, but for what trimming took out of blocks in front.
    var entries: [LogEntry] = []
    var tail: [UInt8] = []
    /// What the log does not have; ascending by version.
    var unwritten: [UnwrittenObjects] = []

    init(from version: UInt64) { from = version }

    // MARK: In the catalog

    /// `leavesOut`: the section is of format 4 or a later one, `hasIntegers`: of 8 or a later one.
    init(
        _ reader: inout ByteReader, leavesOut: Bool, hasIntegers: Bool
    ) throws(RealmError) {
        from = try reader.u64()
        let consumerCount = try reader.u16()
        let entryCount = try reader.u16()
        let tailCount = try reader.u32()
        for _ in 0..<consumerCount {
            let acknowledged = try reader.u64()
            consumers.append(
                ChangeConsumer(name: try reader.string(), acknowledged: acknowledged))
        }
        var last = from
        for _ in 0..<entryCount {
            let level = Int(try reader.u8())
            let entry = LogEntry(try reader.bytes(LogEntry.byteCount), level: level)
            guard entry.root.isStored, level <= Self.levelMax, entry.last > last,
                entry.from <= entry.last
            else {
                throw RealmError(
                    .invalidDatabase,
                    "catalog: change log of versions \(entry.from) to \(entry.last) behind \(last)")
            }
            last = entry.last
            entries.append(entry)
        }
        if leavesOut {
            for _ in 0..<(try reader.u16()) {
                unwritten.append(try Self.readUnwritten(&reader, hasIntegers: hasIntegers))
            }
        }
        let start = try reader.bytes(Int(tailCount))
        tail = [UInt8](UnsafeRawBufferPointer(start: start, count: Int(tailCount)))
    }

    private static func readUnwritten(
        _ reader: inout ByteReader, hasIntegers: Bool
    ) throws(RealmError) -> UnwrittenObjects {
        let version = try reader.u64()
        let classKey = ClassKey(rawValue: try reader.u32())
        let integers = hasIntegers ? try reader.u8() : 0
        guard integers <= 1 else {
            throw RealmError(
                .invalidDatabase,
                "catalog: change log without values of version \(version) has the mark \(integers)")
        }
        var keys = KeyRanges()
        for _ in 0..<(try reader.u32()) {
            let first = ObjectKey(rawValue: try reader.i64())
            let last = ObjectKey(rawValue: try reader.i64())
            guard first >= .first, first <= last, last.rawValue < .max else {
                throw RealmError(
                    .invalidDatabase, "catalog: change log without objects \(first) to \(last)")
            }
            keys.insert(first...last)
        }
        return UnwrittenObjects(
            version: version, classKey: classKey, keys: keys, hasIntegers: integers == 1)
    }

    func write(_ writer: inout ByteWriter) {
        writer.u64(from)
        writer.u16(UInt16(consumers.count))
        writer.u16(UInt16(entries.count))
        writer.u32(UInt32(tail.count))
        for consumer in consumers {
            writer.u64(consumer.acknowledged)
            writer.string(consumer.name)
        }
        for entry in entries {
            writer.u8(UInt8(entry.level))
            writer.u64(entry.from)
            writer.u64(entry.last)
            writer.reference(entry.root)
        }
        writer.u16(UInt16(unwritten.count))
        for item in unwritten {
            writer.u64(item.version)
            writer.u32(item.classKey.rawValue)
            writer.u8(item.hasIntegers ? 1 : 0)
            writer.u32(UInt32(item.keys.ranges.count))
            for range in item.keys.ranges {
                writer.i64(range.lowerBound.rawValue)
                writer.i64(range.upperBound.rawValue)
            }
        }
        tail.withUnsafeBytes { writer.raw($0) }
    }
}

extension LogEntry {
    init(_ source: UnsafeRawPointer, level: Int) {
        self.init(
            from: source.u64(0), last: source.u64(8),
            root: BlockReference(source + Self.rootOffset),
            level: level)
    }

    func store(_ target: UnsafeMutableRawPointer) {
        target.put(from, 0)
        target.put(last, 8)
        root.store(target + Self.rootOffset)
    }
}

/// Blocks of the log.
enum LogBlock {
    static func tag(level: Int) -> BlockTag {
        BlockTag(.changeLog, classKey: ClassKey(rawValue: 0), column: level)
    }

    /// The structure that readers rely on; records are read with bounds checks.
    static func check(_ block: UnsafeRawPointer, _ bytes: Int, _ level: Int) throws(RealmError) {
        let used = Int(block.u32(BlockField.bytesUsed))
        let count = Int(block.u32(BlockField.count))
        guard used >= BlockField.end, used <= bytes else {
            throw RealmError(.invalidDatabase, "change log of \(used) bytes in \(bytes)")
        }
        guard level > 0 else { return }
        guard used == BlockField.end + count * LogEntry.byteCount, count > 0 else {
            throw RealmError(.invalidDatabase, "change log: \(count) entries in \(used) bytes")
        }
        var last: UInt64 = 0
        for entry in entries(block, level: level) {
            guard entry.root.isStored, entry.last > last, entry.from <= entry.last else {
                throw RealmError(
                    .invalidDatabase, "change log: version \(entry.last) behind \(last)")
            }
            last = entry.last
        }
    }

    /// Those of a block above the segments.
    static func entries(_ block: UnsafeRawPointer, level: Int) -> [LogEntry] {
        (0..<Int(block.u32(BlockField.count))).map {
            LogEntry(block + BlockField.end + $0 * LogEntry.byteCount, level: level - 1)
        }
    }

    /// Pages of all blocks that the entries of a block name.
    static func entryPages(_ block: UnsafeRawPointer) -> Int {
        (0..<Int(block.u32(BlockField.count))).reduce(0) {
            $0 + BlockReference(block + referenceOffset($1)).pageCount
        }
    }

    /// Where the reference of an entry stands.
    static func referenceOffset(_ index: Int) -> Int {
        BlockField.end + index * LogEntry.byteCount + LogEntry.rootOffset
    }

    /// The records of a segment.
    static func records(_ block: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: block + BlockField.end,
            count: Int(block.u32(BlockField.bytesUsed)) - BlockField.end)
    }

    /// Memory with a block of these bytes one behind another, to be freed by the caller.
    static func make(
        level: Int, count: Int, _ content: [UnsafeRawBufferPointer]
    ) -> (block: UnsafeMutableRawPointer, pages: Int) {
        let size = content.reduce(0) { $0 + $1.count }
        let bytes = BlockField.end + size
        let pages = PageCount.forBytes(bytes)
        let block = TransactionMemory.allocate(pages: pages, content: size)
        block.put(tag(level: level).rawValue, BlockField.tag)
        block.put(UInt32(bytes), BlockField.bytesUsed)
        block.put(UInt32(count), BlockField.count)
        var end = block + BlockField.end
        for piece in content {
            if let start = piece.baseAddress { end.copyMemory(from: start, byteCount: piece.count) }
            end += piece.count
        }
        return (block, pages)
    }
}
