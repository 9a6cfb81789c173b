// The space map in bytes. Numbers are LEB128: seven bits a byte, low ones first.
//
// Map of a root:
//   0                     inline
//   entries               of all pages
// or
//   1                     chunked
//   count                 chunks; for each:
//     first page, then the 32 bytes of its block's reference
//   count                 operations; for each:
//     page << 2 | kind    0 used, 1 pending, 2 free
//     pages
//     kind 1: version of the root - freed, freed - written
//
// Entries:
//   count; for each:
//     page - end of the entry before (for the first: - first page of the chunk)
//     pages << 1 | pending
//     pending: version - freed, freed - written
//
// Block of a chunk (kind spaceMap):
//        0    16  block header
//       16     8  first page
//       24     8  version, which the entries refer to
//       32        entries

/// Writes LEB128 numbers; with no target it only counts.
private struct SpaceWriter {
    let target: UnsafeMutableRawPointer?
    let capacity: Int
    var count = 0

    @inline(__always) mutating func number(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            byte(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        byte(UInt8(truncatingIfNeeded: value))
    }

    @inline(__always) mutating func byte(_ value: UInt8) {
        if let target, count < capacity { target.put(value, count) }
        count += 1
    }

    mutating func reference(_ value: BlockReference) {
        if let target, count + BlockReference.byteCount <= capacity { value.store(target + count) }
        count += BlockReference.byteCount
    }

    var isFull: Bool { target != nil && count > capacity }
}

/// Reads them back; the bytes passed their check value but may still be hostile.
struct SpaceReader {
    let base: UnsafeRawPointer
    let count: Int
    let subject: String
    var position = 0

    func fail(_ rule: String) -> RealmError {
        RealmError(.invalidDatabase, "\(subject): \(rule) (at byte \(position))")
    }

    mutating func number() throws(RealmError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard position < count else { throw fail("the map ends inside a number") }
            let byte = base.u8(position)
            position += 1
            guard shift < 63 || byte <= 1 else { throw fail("a number is too large") }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    mutating func reference() throws(RealmError) -> BlockReference {
        guard count - position >= BlockReference.byteCount else {
            throw fail("the map ends inside a reference")
        }
        defer { position += BlockReference.byteCount }
        return BlockReference(base + position)
    }

    /// How many operations follow.
    mutating func operations() throws(RealmError) -> Int {
        let count = Int(try pages())
        guard count <= (self.count - position) / 2 else {
            throw fail("\(count) operations don't fit")
        }
        return count
    }

    func misfit(_ operation: SpaceOperation) -> RealmError {
        fail("operation on page \(operation.entry.page) does not fit the map")
    }

    /// A page or a number of pages; bounded, so that sums of a few can't overflow.
    mutating func pages() throws(RealmError) -> UInt64 {
        let value = try number()
        guard value < 1 << 48 else { throw fail("page number \(value) is too large") }
        return value
    }
}

extension SpaceMap {
    static let chunkHeaderBytes = 32
    private static let chunkTag = BlockTag(.spaceMap, classKey: ClassKey(rawValue: 0))
    /// Where the fields of a chunk's header stand.
    private enum ChunkField {
        static let first = 16
        static let version = 24
    }

    // MARK: Writing

    private static func write(
        _ entries: [SpaceEntry], first: UInt64, version: UInt64, _ writer: inout SpaceWriter
    ) {
        writer.number(UInt64(entries.count))
        var end = first
        for entry in entries {
            writer.number(entry.page - end)
            writer.number(entry.count << 1 | (entry.isFree ? 0 : 1))
            if !entry.isFree {
                writer.number(version - entry.freed)
                writer.number(entry.freed - entry.written)
            }
            end = entry.end
        }
    }

    private func write(_ version: UInt64, _ writer: inout SpaceWriter) {
        if isInline {
            writer.byte(0)
            Self.write(
                chunks[0].entries, first: chunks[0].first, version: version, &writer)
            return
        }
        writer.byte(1)
        writer.number(UInt64(chunks.count))
        for chunk in chunks {
            writer.number(chunk.first)
            writer.reference(chunk.reference)
        }
        writer.number(UInt64(operations.count))
        for operation in operations {
            let entry = operation.entry
            let kind: UInt64 = operation.isUse ? 0 : entry.isFree ? 2 : 1
            writer.number(entry.page << 2 | kind)
            writer.number(entry.count)
            if kind == 1 {
                writer.number(version - entry.freed)
                writer.number(entry.freed - entry.written)
            }
        }
    }

    /// Bytes that the map of a root takes now.
    func encodedBytes(_ version: UInt64) -> Int {
        var writer = SpaceWriter(target: nil, capacity: 0)
        write(version, &writer)
        return writer.count
    }

    /// Writes the map of a root; returns its bytes, nil when they are more than `capacity`.
    func encode(
        _ version: UInt64, into target: UnsafeMutableRawPointer, capacity: Int
    ) -> Int? {
        var writer = SpaceWriter(target: target, capacity: capacity)
        write(version, &writer)
        return writer.isFull ? nil : writer.count
    }

    /// Bytes that the block of a chunk takes now.
    func encodedBytes(chunk index: Int, _ version: UInt64) -> Int {
        var writer = SpaceWriter(target: nil, capacity: 0)
        Self.write(
            chunks[index].entries, first: chunks[index].first, version: version, &writer)
        return Self.chunkHeaderBytes + writer.count
    }

    /// Writes the block of a chunk, `capacity` bytes with zeros behind what is used; false when
    /// they are too few.
    func encode(
        chunk index: Int, _ version: UInt64, into target: UnsafeMutableRawPointer, capacity: Int
    ) -> Bool {
        let body = target + Self.chunkHeaderBytes
        var writer = SpaceWriter(target: body, capacity: capacity - Self.chunkHeaderBytes)
        Self.write(
            chunks[index].entries, first: chunks[index].first, version: version, &writer)
        guard !writer.isFull else { return false }
        let used = Self.chunkHeaderBytes + writer.count
        (target + used).initializeMemory(as: UInt8.self, repeating: 0, count: capacity - used)
        target.put(Self.chunkTag.rawValue, BlockField.tag)
        target.put(UInt32(used), BlockField.bytesUsed)
        target.put(UInt32(chunks[index].entries.count), BlockField.count)
        target.put(chunks[index].first, ChunkField.first)
        target.put(version, ChunkField.version)
        return true
    }

    // MARK: Reading

    /// Reads the map of the root at `reference`. `block` gives the verified bytes of a chunk's block; `live` are the
    /// versions in use, sorted, with the root's own; nil leaves every pending entry pending.
    convenience init(
        _ root: VersionRoot, at reference: BlockReference, live: [UInt64]?, limits: SpaceLimits,
        block: (BlockReference) throws(RealmError) -> UnsafeRawPointer
    ) throws(RealmError) {
        self.init(version: root.version, pageCount: root.pageCount, limits: limits)
        var reader = SpaceReader(
            base: root.spaceMap, count: root.spaceMapCount,
            subject: "space map of version \(root.version)")
        switch try reader.number() {
        case 0:
            chunks[0].entries = try Self.readEntries(
                &reader, first: chunks[0].first, end: pageCount, version: version)
        case 1:
            try readChunks(&reader, block)
            try readOperations(&reader)
        default:
            throw reader.fail("unknown form")
        }
        for index in chunks.indices {
            chunks[index].entries = try settled(chunks[index].entries, live)
        }
        rebuildBuckets()
        try checkOwnBlocks(reference, reader)
    }

    /// A map that gives away the blocks it is stored in would destroy itself with the next commit.
    func checkOwnBlocks(
        _ root: BlockReference, _ reader: SpaceReader
    ) throws(RealmError) {
        for reference in [root] + chunks.map(\.reference) where !reference.isNone {
            guard !hasEntries(reference.page, reference.end) else {
                throw reader.fail("page \(reference.page) is free though it holds the map")
            }
        }
    }

    private func hasEntries(_ page: UInt64, _ end: UInt64) -> Bool {
        let chunk = chunkIndex(page)
        let index = chunks[chunk].lowerBound(page)
        if index > 0, chunks[chunk].entries[index - 1].end > page { return true }
        return index < chunks[chunk].entries.count && chunks[chunk].entries[index].page < end
    }

    private func readChunks(
        _ reader: inout SpaceReader,
        _ block: (BlockReference) throws(RealmError) -> UnsafeRawPointer
    ) throws(RealmError) {
        isInline = false
        chunks = try Self.readChunkList(&reader)
        for index in chunks.indices {
            chunks[index].entries = try Self.readChunk(chunks[index], chunkEnd(index), block)
        }
    }

    /// The chunks that a root names, without their entries.
    static func readChunkList(_ reader: inout SpaceReader) throws(RealmError) -> [SpaceChunk] {
        let count = Int(try reader.pages())
        guard count > 0, count <= reader.count / (BlockReference.byteCount + 1) else {
            throw reader.fail("\(count) chunks")
        }
        var chunks: [SpaceChunk] = []
        for _ in 0..<count {
            let first = try reader.pages()
            guard first > chunks.last?.first ?? (FileHeader.firstBlockPage - 1) else {
                throw reader.fail("chunks are not in order")
            }
            chunks.append(SpaceChunk(first: first, reference: try reader.reference()))
        }
        guard chunks[0].first == FileHeader.firstBlockPage else {
            throw reader.fail("the first chunk begins at page \(chunks[0].first)")
        }
        return chunks
    }

    /// The entries in the block of a chunk that reaches to `end`.
    static func readChunk(
        _ chunk: SpaceChunk, _ end: UInt64,
        _ block: (BlockReference) throws(RealmError) -> UnsafeRawPointer
    ) throws(RealmError) -> [SpaceEntry] {
        let reference = chunk.reference
        let base = try block(reference)
        let used = Int(base.u32(BlockField.bytesUsed))
        var body = SpaceReader(
            base: base + chunkHeaderBytes, count: used - chunkHeaderBytes,
            subject: "page \(reference.page): space map")
        guard base.u64(BlockField.tag) == chunkTag.rawValue,
            body.count >= 0, used <= reference.pageCount * Page.size,
            base.u64(ChunkField.first) == chunk.first,
            base.u64(ChunkField.version) == reference.version
        else { throw body.fail("not the chunk of page \(chunk.first)") }
        return try readEntries(&body, first: chunk.first, end: end, version: reference.version)
    }

    private static func readEntries(
        _ reader: inout SpaceReader, first: UInt64, end: UInt64, version: UInt64
    ) throws(RealmError) -> [SpaceEntry] {
        let count = Int(try reader.pages())
        guard count <= (reader.count - reader.position) / 2 else {
            throw reader.fail("\(count) entries don't fit")
        }
        var entries: [SpaceEntry] = []
        entries.reserveCapacity(count)
        var position = first
        for _ in 0..<count {
            var entry = SpaceEntry(page: position + (try reader.pages()), count: 0)
            let pages = try reader.pages()
            entry.count = pages >> 1
            // Bounded as page numbers are, so that no sum overflows.
            guard entry.count > 0, entry.end <= min(end, 1 << 48) else {
                throw reader.fail("entry of page \(entry.page) is out of its range")
            }
            if pages & 1 != 0 { try readVersions(&reader, version, &entry) }
            position = entry.end
            entries.append(entry)
        }
        return entries
    }

    private static func readVersions(
        _ reader: inout SpaceReader, _ version: UInt64, _ entry: inout SpaceEntry
    ) throws(RealmError) {
        let age = try reader.number()
        guard age < version else { throw reader.fail("page \(entry.page) was freed too early") }
        entry.freed = version - age
        let life = try reader.number()
        guard life > 0, life < entry.freed else {
            throw reader.fail("page \(entry.page) was freed before it was written")
        }
        entry.written = entry.freed - life
    }

    private func readOperations(_ reader: inout SpaceReader) throws(RealmError) {
        for _ in 0..<(try reader.operations()) {
            let (operation, chunk) = try readOperation(&reader)
            try apply(operation, toStored: chunk, reader)
        }
    }

    /// Reads the next operation of the list, and adds it to that of this map. With the chunk that it concerns.
    func readOperation(
        _ reader: inout SpaceReader
    ) throws(RealmError) -> (SpaceOperation, chunk: Int) {
        let word = try reader.number()
        var entry = SpaceEntry(page: word >> 2, count: try reader.pages())
        guard entry.page < 1 << 48, entry.count > 0 else {
            throw reader.fail("operation on \(entry.count) pages")
        }
        if word & 3 == 1 { try Self.readVersions(&reader, version, &entry) }
        let operation = SpaceOperation(isUse: word & 3 == 0, entry: entry)
        let chunk = chunkIndex(entry.page)
        chunks[chunk].operations += 1
        operations.append(operation)
        guard entry.page >= FileHeader.firstBlockPage, entry.end <= chunkEnd(chunk) else {
            throw reader.misfit(operation)
        }
        return (operation, chunk)
    }

    /// Applies an operation to a chunk whose entries are as they are stored.
    func apply(
        _ operation: SpaceOperation, toStored chunk: Int, _ reader: SpaceReader
    ) throws(RealmError) {
        guard Self.apply(operation, &chunks[chunk].entries) else {
            throw reader.misfit(operation)
        }
    }

    /// Applies an operation to the stored form, in which free entries are not joined yet.
    private static func apply(
        _ operation: SpaceOperation, _ entries: inout [SpaceEntry]
    ) -> Bool {
        let entry = operation.entry
        var index = lowerBound(entries, entry.page)
        if !operation.isUse {
            guard index == entries.count || entry.end <= entries[index].page,
                index == 0 || entries[index - 1].end <= entry.page
            else { return false }
            entries.insert(entry, at: index)
            return true
        }
        // The pages taken may span several entries, which were joined in the memory of the writer.
        if index > 0, entries[index - 1].end > entry.page { index -= 1 }
        var position = entry.page
        var last = index
        var pieces: [SpaceEntry] = []
        while position < entry.end {
            guard last < entries.count, entries[last].page <= position,
                last == index || entries[last].page == position
            else { return false }
            let old = entries[last]
            if old.page < position { pieces.append(piece(old, old.page, position)) }
            if old.end > entry.end { pieces.append(piece(old, entry.end, old.end)) }
            position = old.end
            last += 1
        }
        entries.replaceSubrange(index..<last, with: pieces)
        return true
    }

    private static func piece(_ entry: SpaceEntry, _ page: UInt64, _ end: UInt64) -> SpaceEntry {
        var piece = entry
        piece.page = page
        piece.count = end - page
        return piece
    }

    /// The entries of a chunk as memory has them: free ones joined, pending ones filed. Counts them; buckets
    /// are the caller's business.
    func settled(
        _ stored: [SpaceEntry], _ live: [UInt64]?
    ) throws(RealmError) -> [SpaceEntry] {
        var entries: [SpaceEntry] = []
        entries.reserveCapacity(stored.count)
        for var entry in stored {
            guard entry.end <= pageCount else {
                throw RealmError(
                    .invalidDatabase,
                    "space map of version \(version): page \(entry.end - 1) is outside the file")
            }
            if !entry.isFree, let live {
                if let blocker = Self.blocker(entry, live) {
                    block(entry, by: blocker)
                } else {
                    entry = SpaceEntry(page: entry.page, count: entry.count)
                }
            }
            count(entry)
            entries.appendJoining(entry)
        }
        return entries
    }
}
