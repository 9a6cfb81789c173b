// What a commit does to the change log: adds what it recorded, drops what nobody needs any more, and
// keeps the directory small. Planned before the commit's pages are reserved, placed with its blocks.

import CKernels

struct LogCommit {
    /// A block that the commit writes.
    private struct Block {
        let memory: UnsafeMutableRawPointer
        let pages: Int
        /// Its entry in the directory, which gets the reference.
        let from: UInt64
        let last: UInt64
        let level: Int
    }

    /// A log of a single commit above this is not kept: with what stands beside it in a block, whose length has 32
    /// bits.
    private static let recordBytesMax = (1 << 32) - (1 << 20)

    /// Nil: the version has no log.
    private(set) var directory: LogDirectory?
    /// Blocks that it gives up.
    private(set) var freed: [BlockReference] = []
    private var blocks: [Block] = []
    private let told: ToldObjects?
    private let nodes: NodeSource
    /// The one that the commit makes, and the one that it goes on from.
    private let version: UInt64
    private let before: UInt64

    var pages: Int { blocks.reduce(0) { $0 + $1.pages } }

    /// `encoder`: of what the commit recorded; nil when it recorded nothing, though it may have changed
    /// something. `needed`: the oldest version from which on somebody wants to be notified.
    init(
        _ base: LogDirectory?, version: UInt64, before: UInt64, _ encoder: RecordEncoder?,
        needed: UInt64?, consumers: [ChangeConsumer], _ nodes: NodeSource
    ) throws(RealmError) {
        told = encoder?.known
        self.nodes = nodes
        self.version = version
        self.before = before
        directory = base ?? LogDirectory(from: before)
        directory?.consumers = consumers
        let acknowledged = consumers.map(\.acknowledged).min()
        guard let oldest = [needed, acknowledged].compactMap({ $0 }).min() else {
            try drop()
            directory = nil
            return
        }
        let size = encoder.map { $0.supplement.count + $0.bytes.count } ?? 0
        guard let encoder, size <= Self.recordBytesMax else {
            guard encoder == nil || consumers.isEmpty else {
                throw RealmError(
                    .limitExceeded,
                    "the log of the commit would have \(size) bytes of at most "
                        + "\(Self.recordBytesMax), and is kept for '\(consumers[0].name)'")
            }
            try drop()
            directory?.from = version
            return
        }
        // Before the first failure that leaves blocks behind.
        try trim(to: min(oldest, before))
        append([encoder.supplement.buffer, encoder.bytes.buffer].filter { !$0.isEmpty })
        do throws(RealmError) {
            if !blocks.isEmpty { try limit(acknowledged) }
            try pack()
        } catch {
            deallocate()
            throw error
        }
        // Also when the last consumer has gone: others may need the records.
        guard let from = directory?.from else { return }
        directory?.unwritten = encoder.unwritten.filter { $0.version > from }
    }

    /// Frees the memory of the blocks.
    func deallocate() {
        for block in blocks { block.memory.deallocate() }
    }

    // MARK: Adding

    private mutating func append(_ logs: [UnsafeRawBufferPointer]) {
        guard var directory, !logs.isEmpty else { return }
        var heads = logs.map { log in
            var head = LogBytes()
            head.number(version)
            head.number(log.count)
            return head
        }
        defer { for index in heads.indices { heads[index].deallocate() } }
        let records = zip(heads, logs).flatMap { [$0.buffer, $1] }
        let size = records.reduce(0) { $0 + $1.count }
        if directory.tail.count + size <= LogDirectory.tailBytesMax {
            for piece in records { directory.tail.append(contentsOf: piece) }
            self.directory = directory
            return
        }
        let tail = directory.tail
        let from = directory.entries.last?.last ?? directory.from
        directory.tail = []
        self.directory = directory
        tail.withUnsafeBytes {
            add(level: 0, count: 0, [$0] + records, from: from, last: version)
        }
    }

    private mutating func add(
        level: Int, count: Int, _ content: [UnsafeRawBufferPointer], from: UInt64, last: UInt64
    ) {
        let (memory, pages) = LogBlock.make(level: level, count: count, content)
        blocks.append(Block(memory: memory, pages: pages, from: from, last: last, level: level))
    }

    /// Moves the oldest entries of a level into a block, where there are many.
    private mutating func pack() throws(RealmError) {
        guard var directory else { return }
        for level in 0..<LogDirectory.levelMax {
            // Those that trimming took out of blocks stand in front of higher levels, and stay.
            let behind = directory.entries.lastIndex { $0.level > level }.map { $0 + 1 } ?? 0
            let rest = directory.entries[behind...]
            guard let start = rest.firstIndex(where: { $0.level == level }) else { continue }
            let end = rest[start...].firstIndex { $0.level != level } ?? rest.endIndex
            guard end - start >= LogDirectory.entriesMax else { continue }
            let packed = directory.entries[start..<start + LogDirectory.entriesPacked]
            var content = LogBytes()
            defer { content.deallocate() }
            for entry in packed {
                content.write(atMost: LogEntry.byteCount) {
                    entry.store($0)
                    return $0 + LogEntry.byteCount
                }
            }
            add(
                level: level + 1, count: packed.count, [content.buffer],
                from: packed[start].from, last: packed[packed.endIndex - 1].last)
            directory.entries.removeSubrange(start..<start + LogDirectory.entriesPacked)
            // One level at a time: the new entry's reference is not known yet.
            break
        }
        self.directory = directory
    }

    /// Gives the blocks their places in the commit; returns the log that it makes.
    mutating func place(_ builder: CommitBuilder) -> LogDirectory? {
        invariant(builder.version == version)
        for block in blocks {
            let entry = LogEntry(
                from: block.from, last: block.last,
                root: builder.place(block.memory, pages: block.pages), level: block.level)
            let entries = directory?.entries ?? []
            let index = entries.firstIndex { $0.last > entry.last } ?? entries.count
            directory?.entries.insert(entry, at: index)
        }
        told?.put(into: nodes.store.takeUnretainedValue(), directory)
        return directory
    }

    /// Has blocks written anew that shall not stay where they are. Those of segments that a block of higher level
    /// names stay, until that is given up.
    mutating func move(_ moves: (BlockReference) -> Bool) {
        for entry in directory?.entries ?? [] where moves(entry.root) {
            // What can't be read is left to who needs it.
            guard let block = try? nodes.logBlock(entry) else { continue }
            let pages = entry.root.pageCount
            let memory = TransactionMemory.allocate(pages: pages)
            memcpy(memory, block, pages << Page.shift)
            blocks.append(
                Block(
                    memory: memory, pages: pages, from: entry.from, last: entry.last,
                    level: entry.level))
            freed.append(entry.root)
            directory?.entries.removeAll { $0.last == entry.last }
        }
    }

    // MARK: Dropping

    private mutating func drop() throws(RealmError) {
        for entry in directory?.entries ?? [] { try free(entry) }
        directory?.entries = []
        directory?.tail = []
        directory?.unwritten = []
    }

    private mutating func free(_ entry: LogEntry) throws(RealmError) {
        freed.append(entry.root)
        guard freed.count <= nodes.blocksMax else { throw nodes.endless() }
        guard entry.level > 0 else { return }
        for child in try nodes.logEntries(entry) { try free(child) }
    }

    /// Drops the oldest of what is kept for nobody but those who want to be notified, where that is too much.
    private mutating func limit(_ acknowledged: UInt64?) throws(RealmError) {
        while let directory, acknowledged.map({ $0 > directory.from }) ?? true,
            var oldest = directory.entries.first,
            // One is left for a block of entries.
            try nodes.logPages(directory.entries) + pages >= LogDirectory.notifiedPagesMax
        {
            // Not much at a time: what remains serves those who lag less.
            while oldest.level > 0,
                try nodes.logPages([oldest]) > LogDirectory.notifiedPagesMax / 16,
                let first = try nodes.logEntries(oldest).first
            {
                oldest = first
            }
            try trim(to: min(oldest.last, acknowledged ?? .max))
        }
    }

    /// Drops what versions up to this one did. Blocks of entries of which only some are needed are
    /// given up for the entries in them; segments stay until nothing in them is.
    private mutating func trim(to oldest: UInt64) throws(RealmError) {
        guard var directory, oldest > directory.from else { return }
        var kept: [LogEntry] = []
        var waiting = Array(directory.entries.reversed())
        while let entry = waiting.popLast() {
            if entry.last <= oldest {
                try free(entry)
            } else if entry.level > 0, entry.from < oldest {
                freed.append(entry.root)
                guard freed.count <= nodes.blocksMax else { throw nodes.endless() }
                waiting += try nodes.logEntries(entry).reversed()
            } else {
                kept.append(entry)
                kept += waiting.reversed()
                break
            }
        }
        directory.entries = kept
        directory.from = oldest
        directory.tail = try LogRecords.dropping(directory.tail, to: oldest)
        self.directory = directory
    }
}

extension NodeSource {
    /// A block of the log.
    func logBlock(_ entry: LogEntry) throws(RealmError) -> UnsafeRawPointer {
        let tag = LogBlock.tag(level: entry.level)
        if let known = resolved(entry.root, tag) { return known }
        return try admit(entry.root, tag, entry.level, LogBlock.check)
    }

    /// What an entry above the segments stands for.
    func logEntries(_ entry: LogEntry) throws(RealmError) -> [LogEntry] {
        LogBlock.entries(try logBlock(entry), level: entry.level)
    }

    /// Pages of all blocks that entries stand for.
    func logPages(_ entries: [LogEntry]) throws(RealmError) -> Int {
        var pages = 0
        var waiting = entries
        while let entry = waiting.popLast() {
            pages += entry.root.pageCount
            if entry.level == 1 {
                // Most blocks are segments, and commits ask: no list of those is made.
                pages += LogBlock.entryPages(try logBlock(entry))
            } else if entry.level > 1 {
                waiting += try logEntries(entry)
            }
            guard pages <= blocksMax else { throw endless() }
        }
        return pages
    }
}

/// Whether records ascend by version. One that supplements those before it may stand in front of that of its version.
struct RecordOrder {
    private(set) var last: UInt64
    private var isSupplement = false

    init(behind version: UInt64) { last = version }

    mutating func follows(_ version: UInt64, _ log: UnsafeRawBufferPointer) -> Bool {
        let supplements = RecordHead.isSupplement(log)
        let follows = version > last || version == last && isSupplement && !supplements
        last = version
        isSupplement = supplements
        return follows
    }
}

/// The records of a segment or tail.
struct LogRecords {
    private var reader: LogByteReader

    init(_ bytes: UnsafeRawBufferPointer) { reader = LogByteReader(bytes) }

    mutating func next() throws(RealmError) -> (version: UInt64, log: UnsafeRawBufferPointer)? {
        if reader.isAtEnd { return nil }
        return (try reader.number(), try reader.text())
    }

    /// The records of a tail without those up to a version.
    static func dropping(_ tail: [UInt8], to version: UInt64) throws(RealmError) -> [UInt8] {
        var start = 0
        try tail.withUnsafeBufferPointer { bytes throws(RealmError) in
            var records = LogRecords(UnsafeRawBufferPointer(bytes))
            while let record = try records.next(), record.version <= version {
                start = records.reader.position
            }
        }
        return start == 0 ? tail : Array(tail[start...])
    }
}
