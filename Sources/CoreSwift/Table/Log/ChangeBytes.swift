// Changes as bytes that a program keeps or sends: what leads from one realm to another, or what the change
// log has of some versions; to be applied to a realm with the same schema. docs/CHANGE_LOG.md.
//
//   offset  size  field
//        0     8  magic, the text `RealmChg`
//        8     8  5; 1 to 4 in those of earlier libraries: the records of the first three are without flag 128
//       16    16  content hash of the stored schema, without its counters
//       32    16  check value: content hash of all with this field zero
//       48        but in format 1: values that the records leave out, as a text like the earlier values of a record;
//                 records, as in the change log

struct ChangeBytes {
    private static let magic: UInt64 = 0x6768_436D_6C61_6552
    private static let format: UInt64 = 5
    private static let formatWithUnwritten: UInt64 = 2
    private static let formatBrief: UInt64 = 4
    private static let schemaOffset = 16
    private static let checkOffset = 32
    private static let headerBytes = 48

    private(set) var bytes: [UInt8]

    /// With values: those of a consumer's log, or of a comparison.
    init(_ operations: ChangeOperations, _ tables: TableSet) throws(RealmError) {
        var records = LogBytes()
        defer { records.deallocate() }
        var unwritten = LogBytes()
        defer { unwritten.deallocate() }
        try operations.forEachUnwritten { version, classKey, piece in
            unwritten.earlierValues(version, classKey, piece.keys, piece.values)
        }
        records.text(unwritten.buffer)
        for (version, log) in operations.logs {
            records.number(version)
            records.text(log)
        }
        bytes = [UInt8](repeating: 0, count: Self.headerBytes)
        bytes.append(contentsOf: records.buffer)
        let schema = Self.schemaHash(tables)
        bytes.withUnsafeMutableBytes { all in
            guard let start = all.baseAddress else { return }
            start.put(Self.magic, 0)
            start.put(Self.format, 8)
            Self.put(schema, start + Self.schemaOffset)
        }
        let check = Self.hash(bytes)
        bytes.withUnsafeMutableBytes { all in
            guard let start = all.baseAddress else { return }
            Self.put(check, start + Self.checkOffset)
        }
    }

    /// Those that somebody brings: none that were cut, changed or made with another schema.
    init(checking bytes: [UInt8], _ tables: TableSet) throws(RealmError) {
        guard bytes.count >= Self.headerBytes, Self.word(bytes, 0) == Self.magic else {
            throw RealmError(
                .invalidArgument, "these \(bytes.count) bytes are no changes of a realm")
        }
        guard (1...Self.format).contains(Self.word(bytes, 8)) else {
            throw RealmError(
                .invalidArgument,
                "changes of format \(Self.word(bytes, 8)), known are 1 to \(Self.format)")
        }
        var cleared = bytes
        for index in Self.checkOffset..<Self.headerBytes { cleared[index] = 0 }
        guard Self.hash(cleared) == Self.storedHash(bytes, Self.checkOffset) else {
            throw RealmError(
                .invalidArgument,
                "these changes of a realm were cut or altered: their check value differs")
        }
        guard Self.schemaHash(tables) == Self.storedHash(bytes, Self.schemaOffset) else {
            throw RealmError(
                .schemaMismatch,
                "these changes are of a realm that has another schema than this one")
        }
        self.bytes = bytes
    }

    /// The operations, for `body` alone.
    func withOperations(
        _ body: (ChangeOperations) throws(RealmError) -> Void
    ) throws(RealmError) {
        try bytes.withUnsafeBufferPointer { all throws(RealmError) in
            var content = UnsafeRawBufferPointer(all)[Self.headerBytes...]
            let unwritten = UnwrittenValues(nil)
            let format = Self.word(bytes, 8)
            if format >= Self.formatWithUnwritten {
                var reader = LogByteReader(UnsafeRawBufferPointer(rebasing: content))
                try unwritten.note(
                    0, earlier: try reader.text(), isBrief: format >= Self.formatBrief)
                content = content[(content.startIndex + reader.position)...]
            }
            var records = LogRecords(UnsafeRawBufferPointer(rebasing: content))
            var logs: [(version: UInt64, log: UnsafeRawBufferPointer)] = []
            while let record = try records.next() { logs.append(record) }
            try body(ChangeOperations(logs, unwritten: unwritten))
        }
    }

    // MARK: Hashes

    /// Of the classes and columns with their keys, by which operations name them.
    private static func schemaHash(_ tables: TableSet) -> ContentHash {
        // Block header, next class key, next serial.
        hash(Array(tables.stored.encoded().dropFirst(BlockField.end + 8)))
    }

    private static func hash(_ bytes: [UInt8]) -> ContentHash {
        var padded = bytes
        padded.append(contentsOf: [UInt8](repeating: 0, count: (64 - bytes.count & 63) & 63))
        return padded.withUnsafeBytes { all in
            guard let start = all.baseAddress else { return ContentHash(low: 0, high: 0) }
            return ContentHash.of(start, count: all.count, seed0: UInt64(bytes.count), seed1: magic)
        }
    }

    private static func put(_ hash: ContentHash, _ place: UnsafeMutableRawPointer) {
        place.put(hash.low, 0)
        place.put(hash.high, 8)
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    private static func storedHash(_ bytes: [UInt8], _ offset: Int) -> ContentHash {
        ContentHash(low: word(bytes, offset), high: word(bytes, offset + 8))
    }
}
